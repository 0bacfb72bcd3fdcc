# torch.autograd.function.
import torch

Function = torch.autograd.Function
FunctionCtx = torch.autograd.FunctionCtx


def once_differentiable(fn):
    """A backward pass that has no gradient itself."""

    def wrapper(ctx, *args):
        with torch.no_grad():
            return fn(ctx, *args)

    return wrapper
