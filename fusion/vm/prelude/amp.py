# torch.amp: autocast, and the scaler of losses.
import functools
import math
import torch
import torch.cuda
import warnings


def is_autocast_available(device_type):
    return device_type == "cpu" or device_type == "cuda"


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = torch._C._autocast_mode("dtype", device_type) if dtype is None else dtype
        self._cache_enabled = torch._C._autocast_mode("cache", "cpu") if cache_enabled is None else bool(cache_enabled)
        if enabled and device_type == "cuda" and not torch.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            enabled = False
        if enabled and self.fast_dtype is not torch.bfloat16 and self.fast_dtype is not torch.float16:
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.")
            enabled = False
        self._enabled = bool(enabled)

    def __enter__(self):
        self.before = torch._C._autocast_enter(self.device, self.fast_dtype, self._enabled, self._cache_enabled)
        return self

    def __exit__(self, kind, value, trace):
        torch._C._autocast_exit(self.before)
        return False

    def __call__(self, function):
        device, dtype, enabled, cache_enabled = self.device, self.fast_dtype, self._enabled, self._cache_enabled

        @functools.wraps(function)
        def decorate_autocast(*args, **kwargs):
            with autocast(device, dtype, enabled, cache_enabled):
                return function(*args, **kwargs)

        return decorate_autocast


def _cast(value, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype is not torch.float64 else value
    if isinstance(value, dict):
        return {k: _cast(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, dtype) for v in value])
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        if cast_inputs is None or not torch.is_autocast_enabled(device_type):
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type, enabled=False):
            return bwd(*args, **kwargs)

    return decorate_bwd


class GradScaler:
    """Scales losses up, so that small gradients are no zeros in float16; skips a step
    whose gradients are not finite, and then scales less.  TorchDynamo follows none of
    its methods."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        if device != "cpu" and device != "cuda":
            raise RuntimeError(f"GradScaler: the device {device} is not one of cpu, cuda")
        if enabled and device == "cuda" and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            enabled = False
        self._device = device
        self._enabled = enabled
        if enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale = None
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._growth_tracker = 0
            self._found = {}  # by optimiser: whether a gradient is not finite, 1.0 or 0.0
            self._stepped = {}

    def _make_scale(self):
        if self._scale is None:
            self._scale = torch.tensor(self._init_scale, dtype=torch.float32)

    @torch._C._skip
    def scale(self, outputs):
        if not self._enabled:
            return outputs
        self._make_scale()
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(each) for each in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    @torch._C._skip
    def unscale_(self, optimizer):
        if not self._enabled:
            return
        if optimizer in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if optimizer in self._found:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if self._scale is None:
            raise AssertionError("Attempted unscale_ but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.")
        inverse = self._scale.double().reciprocal().float()
        found = torch.zeros(())
        checked = False
        with torch.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype is torch.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    checked = True
                    found = torch.maximum(found, torch.logical_not(torch.isfinite(p.grad).all()).float())
                    p.grad.mul_(inverse)
        self._found[optimizer] = found if checked else None

    @torch._C._skip
    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if optimizer in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if optimizer not in self._found:
            self.unscale_(optimizer)
        found = self._found[optimizer]
        if found is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None
        if not found.item():
            result = optimizer.step(*args, **kwargs)
        self._stepped[optimizer] = True
        return result

    @torch._C._skip
    def update(self, new_scale=None):
        if not self._enabled:
            return
        if self._scale is None:
            raise AssertionError("Attempted update but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.")
        if new_scale is not None:
            self._scale = new_scale.float().clone() if isinstance(new_scale, torch.Tensor) else torch.tensor(float(new_scale))
        else:
            found = [f for f in self._found.values() if f is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any([f.item() != 0 for f in found]):
                self._scale = self._scale * self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = self._scale * self._growth_factor
                    if math.isfinite(grown.item()):
                        self._scale = grown
                    self._growth_tracker = 0
        self._found = {}
        self._stepped = {}

    @torch._C._skip
    def get_scale(self):
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    @torch._C._skip
    def is_enabled(self):
        return self._enabled

    @torch._C._skip
    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    @torch._C._skip
    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
