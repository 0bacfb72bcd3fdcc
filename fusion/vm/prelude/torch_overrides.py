# torch.overrides: which arguments say themselves what a function of torch makes of them.
import _tensor_class
import torch


def is_tensor_like(inp):
    return isinstance(inp, torch.Tensor)


def _overrides(value):
    kind = type(value)
    return kind is not torch.Tensor and kind is not torch.nn.Parameter and hasattr(kind, "__torch_function__")


def has_torch_function(args):
    return any([_overrides(arg) for arg in args])


def has_torch_function_unary(arg):
    return _overrides(arg)


def has_torch_function_variadic(*args):
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    return _tensor_class.handle(public_api, args, kwargs)


class TorchFunctionMode:
    """Within it every function of torch asks its __torch_function__."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError()

    def __enter__(self):
        _tensor_class.enter_mode(self)
        return self

    def __exit__(self, kind, error, trace):
        _tensor_class.leave_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def resolve_name(f):
    return f"{f.__module__}.{f.__name__}"


def is_tensor_method_or_property(func):
    return not hasattr(torch, func.__name__) or func.__name__ == "__get__"


def _get_current_function_mode_stack():
    return _tensor_class.open_modes()


def _get_current_function_mode():
    return ([None] + _tensor_class.open_modes())[-1]


def _push_mode(mode):
    _tensor_class.enter_mode(mode)


def _pop_mode():
    return _tensor_class.leave_mode()
