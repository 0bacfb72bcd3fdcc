# torch.overrides: which arguments say themselves what a function of torch makes of them.
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
