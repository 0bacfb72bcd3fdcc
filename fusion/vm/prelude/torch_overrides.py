# torch.overrides: no class of this language stands in for a tensor.
import torch


def is_tensor_like(inp):
    return isinstance(inp, torch.Tensor)


def has_torch_function(args):
    return False


def has_torch_function_unary(arg):
    return False


def has_torch_function_variadic(*args):
    return False
