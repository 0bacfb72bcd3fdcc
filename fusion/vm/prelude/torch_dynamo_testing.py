# torch._dynamo.testing: what programs about captures use.
import torch

same = torch._dynamo.utils.same


@torch._C._skip
def unsupported(first, second):
    """A call that no capture follows; the second argument."""
    return second


def reset():
    torch._dynamo.reset()


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    most = 1 + sum([(n - 1) * s for n, s in zip(size, stride)]) + extra_size if 0 not in size else extra_size
    made = torch.randn(most, dtype=dtype) if dtype.is_floating_point else torch.zeros(most, dtype=dtype)
    return torch.as_strided(made, size, stride)
