# Numbers as PyTorch draws them, from the CPU's generator or from a GPU's.
import torch


def by_gpu(place):
    """Whether a GPU's generator draws for a tensor, or for what device= names."""
    return torch._C._draws(place) == "gpu"


def wide(dtype):
    """The dtype of what a GPU draws."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def unit(like, shape):
    """Numbers from 0 to 1, as most of PyTorch's distributions take them: those of the CPU have 53 bits."""
    if by_gpu(like):
        return torch._C.uniform(tuple(shape), wide(like.dtype), "open")
    return torch.rand(shape, dtype=torch.float64)


def exponential(like, lambd=1.0):
    """Those of exponential_() for a tensor's shape, in a dtype that may have more digits."""
    if by_gpu(like):
        return torch._C.uniform(tuple(like.shape), like.dtype, "log", 0.0, float(lambd))
    return torch.log1p(-torch.rand(like.shape, dtype=torch.float64)) * (-1.0 / lambd)


def even(shape, bound, dtype, device):
    """Those of uniform_(-bound, bound), which layers begin with."""
    dtype = torch.float32 if dtype is None else dtype
    if by_gpu(device):
        return torch._C.uniform(tuple(shape), dtype, "gpu", -bound, bound)
    # The bound in float32, one rounding for both steps.
    bound = torch.tensor(bound).item()
    return (torch.rand(*shape).double() * (2 * bound) - bound).to(dtype)


def normal(shape, dtype, device):
    """Those of normal_(), which embeddings begin with."""
    if by_gpu(device):
        return torch._C.normal(tuple(shape), torch.float32 if dtype is None else dtype, False, "gpu")
    made = torch.randn(*shape)
    return made if dtype is None else made.to(dtype)
