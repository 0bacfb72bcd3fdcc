# torch: what of it is easiest to say in Python.
import _prelude
import _random_numbers
import math
import torch


def _assert(condition, message):
    assert condition, message


def set_float32_matmul_precision(precision):
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"precision must be highest, high or medium, not {precision}")


def get_float32_matmul_precision():
    return "highest"


# Memory formats: every tensor lies row by row here.
contiguous_format = "torch.contiguous_format"
channels_last = "torch.channels_last"
channels_last_3d = "torch.channels_last_3d"
preserve_format = "torch.preserve_format"
strided = "torch.strided"


def set_default_dtype(dtype):
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _prelude.set_mode(dtype)


_devices = [None]  # of set_default_device() and the `with torch.device(...)` inside it


def _default(device):
    _devices[-1] = None if device is None else torch.device(device)
    if device is not None:
        torch.empty(0, device=device)  # says what is wrong with it
    torch._C._default_gpu("cpu" if device is None else str(device))


def set_default_device(device):
    _default(device)


def get_default_device():
    return torch.device("cpu") if _devices[-1] is None else _devices[-1]


def enter_device(device):
    _devices.append(None)
    try:
        _default(device)
    except BaseException:
        _devices.pop()
        raise
    return device


def leave_device(device, kind, value, trace):
    _devices.pop()
    _default(_devices[-1])


def set_default_tensor_type(t):
    name = (t if isinstance(t, str) else t.__name__).split(".")[-1]
    of = {"HalfTensor": torch.float16, "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "BFloat16Tensor": torch.bfloat16}
    if name not in of:
        raise TypeError("only floating-point types are supported as the default type")
    _prelude.set_mode(of[name])


def use_deterministic_algorithms(mode, *, warn_only=False):
    torch.backends.cudnn.algorithms_deterministic = bool(mode)
    torch.backends.cudnn.algorithms_warn_only = bool(warn_only)
    _prelude.set_mode(bool(mode))


def are_deterministic_algorithms_enabled():
    return torch.backends.cudnn.algorithms_deterministic


def is_deterministic_algorithms_warn_only_enabled():
    return torch.backends.cudnn.algorithms_warn_only


def set_num_threads(n):
    pass


__version__ = "2.11.0"
inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
e = 2.718281828459045


_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}
_printed = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80}
_PRINT_BOUNDS = {"precision": (0, 40), "threshold": (0, 2**62), "edgeitems": (1, 2**31), "linewidth": (1, 1000000)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    options = dict(zip(_printed, _PROFILES.get(profile, _printed.values())))  # another name changes nothing, as in PyTorch
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    options.update({name: value for name, value in given.items() if value is not None})
    for name, value in options.items():
        low, high = _PRINT_BOUNDS[name]
        if name == "threshold" and value == math.inf:
            options[name] = high
        elif not isinstance(value, (int, float)) or not low <= value <= high:
            raise ValueError(f"set_printoptions: {name} is a number from {low} to {high}, not {value}")
    _printed.update(options)
    _prelude.set_print(*[int(value) for value in options.values()], -1 if sci_mode is None else int(sci_mode))


def as_tensor(data, dtype=None, device=None):
    if isinstance(data, torch.Tensor):
        return data if dtype is None or data.dtype == dtype else data.to(dtype)
    return torch.tensor(data, dtype=dtype)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    made = torch.as_tensor(obj, dtype)
    if copy is False and isinstance(obj, torch.Tensor) and made is not obj:
        raise ValueError("cannot alias tensor with different dtype")
    if copy is False and isinstance(obj, (bool, int, float, list, tuple)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if copy and made is obj:
        made = made.clone()
    return made.requires_grad_() if requires_grad else made


def meshgrid(*tensors, indexing="ij"):
    """One call."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
    if any([t.dtype != tensors[0].dtype for t in tensors]):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    tensors = [t.reshape(-1) for t in tensors]
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors[0], tensors[1] = tensors[1], tensors[0]
    sizes = [t.numel() for t in tensors]
    grids = []
    for i, t in enumerate(tensors):
        grids.append(t.view([-1 if k == i else 1 for k in range(len(tensors))]).expand(sizes))
    if swap:
        grids = [grids[1], grids[0]] + grids[2:]
    return tuple([torch._C.getitem(g) for g in grids])


def _in_order(input, device):
    return _random_numbers.by_gpu(input if device is None else device) or _random_numbers.in_order(input)


def rand_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """One call."""
    if _in_order(input, device):
        return torch._C.rand_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
    drawn = torch.rand(_random_numbers.in_memory(input).shape, dtype=input.dtype if dtype is None else dtype)
    return _random_numbers.back(drawn, input).requires_grad_(requires_grad)


def randn_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """One call."""
    if _in_order(input, device):
        return torch._C.randn_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
    # one after the other, in double
    drawn = torch._C.normal(_random_numbers.in_memory(input).shape, torch.float64, True)
    drawn = drawn.to(input.dtype if dtype is None else dtype)
    return _random_numbers.back(drawn, input).requires_grad_(requires_grad)


def bernoulli(input, p=None, *, generator=None):
    """One call."""
    if generator is not None:
        return _random_numbers.by(generator, bernoulli, input, p)
    if _random_numbers.by_gpu(input):
        if p is not None:
            return (_random_numbers.unit(input, input.shape) < p).to(input.dtype)
        return (torch._C.uniform(tuple(input.shape), torch.float32, "fours") <= input).to(input.dtype)
    wide = torch.float64 if p is not None or input.dtype == torch.float64 else torch.float32
    return (torch.rand(input.shape, dtype=wide) < (input if p is None else p)).to(input.dtype)


def multinomial(input, num_samples, replacement=False, *, generator=None):
    """One call.  By the race of exponential clocks, or by where a number falls."""
    if generator is not None:
        return _random_numbers.by(generator, multinomial, input, num_samples, replacement)
    if num_samples < 1:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if replacement and num_samples > 1:
        ends = (input / input.sum(-1, keepdim=True)).cumsum(-1)
        if _random_numbers.by_gpu(input):
            drawn = torch._C.uniform(tuple(input.shape[:-1]) + (num_samples,), torch.float32, "rows")
            fallen = (ends.unsqueeze(-2) < drawn.to(input.dtype).unsqueeze(-1)).sum(-1)
            return fallen.clamp(max=input.shape[-1] - 1)
        drawn = torch.rand(tuple(input.shape[:-1]) + (num_samples, 1), dtype=torch.float64)
        fallen = (ends.unsqueeze(-2) <= drawn).sum(-1)
        return fallen.clamp(max=input.shape[-1] - 1)
    if num_samples > input.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    race = input / _random_numbers.exponential(input).to(input.dtype)
    if num_samples == 1:
        return race.argmax(-1, keepdim=True)
    return race.topk(num_samples, dim=-1)[1]


def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False):
    """One call."""
    if generator is not None:
        return _random_numbers.by(generator, randperm, n, dtype=dtype, device=device, requires_grad=requires_grad)
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    made = torch._C.permutation((n,), torch.int64 if dtype is None else dtype, torch._C._draws(device))
    return made.requires_grad_() if requires_grad else made


def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """One call."""
    if generator is not None:
        return _random_numbers.by(generator, normal, mean, std, size, dtype=dtype, device=device, requires_grad=requires_grad)
    if size is None and (dtype is not None or requires_grad):
        raise TypeError("normal() takes dtype= and requires_grad= with a size alone")
    if isinstance(std, (int, float)) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {float(std)}")
    if isinstance(std, torch.Tensor) and not torch._C._is_traced() and bool((std < 0).any()):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if size is not None and _random_numbers.by_gpu(device):
        made = torch._C.normal(tuple(size), torch.get_default_dtype() if dtype is None else dtype, False, "gpu", float(mean), float(std))
        return made.requires_grad_() if requires_grad else made
    if size is not None:
        made = torch.randn(size, dtype=dtype) * std + mean
        return made.requires_grad_() if requires_grad else made
    like = mean if isinstance(mean, torch.Tensor) else std
    if like is mean and not isinstance(std, torch.Tensor) and _random_numbers.by_gpu(like):
        return torch._C.normal(tuple(like.shape), like.dtype, False, "gpu", 0.0, float(std)) + mean
    return torch.randn(like.shape, dtype=like.dtype) * std + mean
