# torch.autograd, beside what the host has.
import torch


class VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, torch.Tensor)


class Variable(metaclass=VariableMeta):
    """What old programs wrap a tensor in: the tensor."""

    @torch._C._skip
    def __new__(cls, data, requires_grad=False, volatile=False):
        return data.requires_grad_() if requires_grad else data


anomaly = {"on": False}


class detect_anomaly:
    """Nothing is looked for: an error of a backward says its line as it is."""

    def __init__(self, check_nan=True):
        self.before = anomaly["on"]

    def __enter__(self):
        anomaly["on"] = True

    def __exit__(self, kind, value, trace):
        anomaly["on"] = self.before


class set_detect_anomaly(detect_anomaly):
    def __init__(self, mode, check_nan=True):
        self.before = anomaly["on"]
        anomaly["on"] = mode

    def __enter__(self):
        pass


no_grad = torch.no_grad
enable_grad = torch.enable_grad
set_grad_enabled = torch.set_grad_enabled
inference_mode = torch.inference_mode


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **options):
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    made = func(*inputs)
    for output in (made,) if isinstance(made, torch.Tensor) else made:
        if not output.requires_grad:
            continue
        at = [o is output for o in (made,) if isinstance(made, torch.Tensor)] or [o is output for o in made]
        which = at.index(True)
        for x in [t for t in inputs if isinstance(t, torch.Tensor) and t.requires_grad]:
            for k in range(output.numel()):
                g = torch.autograd.grad(output.reshape(-1)[k], x, retain_graph=True, allow_unused=True)[0]
                g = torch.zeros_like(x) if g is None else g
                for i in range(x.numel()):
                    ends = []
                    for step in (eps, -eps):
                        moved = x.detach().clone()
                        moved.view(-1)[i] += step
                        there = func(*[moved if t is x else t for t in inputs])
                        there = there if isinstance(there, torch.Tensor) else there[which]
                        ends.append(there.reshape(-1)[k].item())
                    numeric, analytic = (ends[0] - ends[1]) / (2 * eps), g.reshape(-1)[i].item()
                    if abs(numeric - analytic) > atol + rtol * abs(numeric):
                        if raise_exception:
                            raise RuntimeError(f"Jacobian mismatch for output {which}: numerical {numeric}, analytical {analytic}")
                        return False
    return True


def _profiler_enabled():
    return False


class FunctionCtx:
    def __init__(self):
        self._saved = ()
        self._dirty = ()
        self._constant = ()
        self._materialize = True
        self._packed = None

    def save_for_backward(self, *tensors):
        self._saved = tensors

    def _pack(self, pack, unpack):
        """Of saved_tensors_hooks that are open where the function is applied."""
        with torch.no_grad():
            self._packed = [pack(t) if isinstance(t, torch.Tensor) else t for t in self._saved]
        self._are_tensors = [isinstance(t, torch.Tensor) for t in self._saved]
        self._unpack = unpack
        self._saved = ()

    @property
    def saved_tensors(self):
        if self._packed is None:
            return self._saved
        with torch.no_grad():
            return tuple([self._unpack(p) if is_tensor else p for p, is_tensor in zip(self._packed, self._are_tensors)])

    saved_variables = saved_tensors

    def mark_dirty(self, *args):
        self._dirty = args

    def mark_non_differentiable(self, *args):
        self._constant = args

    def set_materialize_grads(self, value):
        self._materialize = value


def _among(tensor, others):
    return any([tensor is other for other in others])


class Function:
    """Its gradient is what backward() says: a node of the tape of its own."""

    @classmethod
    def _run(cls, ctx, args):
        if not hasattr(cls, "setup_context"):
            return cls.forward(ctx, *args)
        out = cls.forward(*args)
        cls.setup_context(ctx, args, out)
        return out

    @classmethod
    def apply(cls, *args):
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(
            [isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args]
        )
        if not torch.is_grad_enabled() or not any(ctx.needs_input_grad):
            torch._C._function_context()
            return cls._run(ctx, args)
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        torch._C._function_context(ctx, tensors)
        with torch.no_grad():
            out = cls._run(ctx, args)
            made = list(out) if isinstance(out, tuple) else [out]
            if any([not _among(each, made) for each in ctx._dirty]):
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as output. "
                    "The inputs that are modified inplace must all be outputs of the Function."
                )
            for i, each in enumerate(made):
                if _among(each, tensors) and not _among(each, ctx._dirty):
                    made[i] = each.view_as(each)
        results = [
            each
            if isinstance(each, torch.Tensor)
            and each.dtype.is_floating_point
            and not _among(each, ctx._constant)
            else None
            for each in made
        ]
        shapes = [(each.shape, each.dtype) if isinstance(each, torch.Tensor) else None for each in made]

        def backward(*grads):
            given = list(grads)
            for i, shape in enumerate(shapes):
                if given[i] is None and shape is not None and ctx._materialize:
                    given[i] = torch.zeros(shape[0], dtype=shape[1])
            rule = getattr(cls, "backward", None) or getattr(cls, "vjp", None)
            if rule is None:
                raise NotImplementedError(
                    "You must implement either the backward or vjp method for your custom "
                    "autograd.Function to use it with backward mode AD."
                )
            if hasattr(cls, "vjp") and hasattr(cls, "backward"):
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                    "You should only implement one of them."
                )
            found = rule(ctx, *given)
            found = list(found) if isinstance(found, (tuple, list)) else [found]
            while len(found) > len(args) and found[-1] is None:
                found.pop()
            if len(found) != len(args):
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of gradients "
                    f"(expected {len(args)}, got {len(found)})"
                )
            return [g for arg, g in zip(args, found) if isinstance(arg, torch.Tensor)]

        torch._C._function(
            tensors, results, backward, cls.__name__ + "Backward", ctx._saved, ctx
        )
        return tuple(made) if isinstance(out, tuple) else made[0]
