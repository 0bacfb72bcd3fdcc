# Numbers as PyTorch draws them, from the CPU's generator or from a GPU's.
import torch


def by_gpu(place):
    """Whether a GPU's generator draws for a tensor, or for what device= names."""
    return torch._C._draws(place) == "gpu"


def by(generator, function, *args, **keywords):
    """The function, whose numbers that generator draws."""
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, not {type(generator).__name__}")
    return generator._draw(function, *args, **keywords)


def wide(dtype):
    """The dtype of what a GPU draws."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def order(tensor):
    """The dims of a tensor in the order of memory: most numbers are drawn in that order."""
    return sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d))


def in_order(tensor):
    """Whether the elements lie in memory in the order of their places."""
    return tensor.is_contiguous() or order(tensor) == list(range(tensor.dim()))


def in_memory(tensor):
    dims = order(tensor)
    return tensor if dims == list(range(tensor.dim())) else tensor.permute(dims)


def back(drawn, tensor):
    """What was drawn for in_memory(tensor), as the tensor lies."""
    dims = order(tensor)
    return drawn if dims == list(range(len(dims))) else drawn.permute([dims.index(d) for d in range(len(dims))])


def kept(input, p):
    """What a GPU's dropout multiplies a tensor by.  It loads several elements at once, and draws in the
    order of memory then, of what has no gaps; of all else it draws row by row."""
    at, load = torch._C.storage_offset(input) * input.element_size(), 16
    while at % load != 0:
        load //= 2
    place = in_memory(input)
    if load >= 2 * input.element_size() and input.numel() % 2 == 0 and place.is_contiguous():
        return back(torch._C.keep(tuple(place.shape), p, input.dtype, load), input)
    return torch._C.keep(tuple(input.shape), p, input.dtype, 0)


def scaled_noise(input, p):
    """What a dropout in place multiplies by: its numbers are those of bernoulli_()."""
    if input.dtype == torch.float64:
        return noise(input, p) / (1.0 - p)
    if input.is_contiguous():
        return torch._C.keep(tuple(input.shape), p, input.dtype, 0)
    return back(torch._C.keep(tuple(in_memory(input).shape), p, input.dtype, 0), input)


def at_once(input):
    """Whether a dropout in place of elements in a row is one kernel: where they have no gradient."""
    return input.dtype != torch.float64 and not (torch.is_grad_enabled() and input.requires_grad)


def noise(input, p):
    """What bernoulli_() leaves of a tensor's elements."""
    return back(unit(input, in_memory(input).shape) < 1.0 - p, input).to(input.dtype)


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
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if by_gpu(device):
        return torch._C.uniform(tuple(shape), dtype, "gpu", -bound, bound)
    # The bound in float32, one rounding for both steps.
    bound = torch.tensor(bound).item()
    return (torch.rand(*shape).double() * (2 * bound) - bound).to(dtype)


def draw_again(module, fan_in):
    """The weight and the bias of a layer, uniform within 1 / sqrt(fan_in)."""
    bound = 1 / fan_in**0.5 if fan_in > 0 else 0.0
    with torch.no_grad():
        for p in (module.weight, module.bias):
            if p is not None:
                p.copy_(even(p.shape, bound, p.dtype, p))


def normal(shape, dtype, device):
    """Those of normal_(), which embeddings begin with."""
    if by_gpu(device):
        return torch._C.normal(tuple(shape), torch.get_default_dtype() if dtype is None else dtype, False, "gpu")
    made = torch.randn(*shape)
    return made if dtype is None else made.to(dtype)
