# Methods of tensors that are easiest to say in Python; the first parameter is the tensor.
import math

import _prelude
import _random_numbers
import torch


def _fill(tensor, values):
    return tensor.copy_(values)


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, normal_, self, mean, std)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {float(std)}")
    place = _random_numbers.in_memory(self)
    if _random_numbers.by_gpu(self):
        _fill(place, torch._C.normal(tuple(place.shape), self.dtype, False, "gpu", float(mean), float(std)))
    elif self.numel() >= 16 and self.is_contiguous():
        drawn = torch.randn(self.shape, dtype=self.dtype)
        _fill(self, drawn * std + mean)
    else:  # one after the other, in double
        _fill(place, torch._C.normal(place.shape, torch.float64, True) * std + mean)
    return self


def _rounded(number):
    return _prelude.numpy_python(_prelude.numpy_number(float(number), "float32"))


def uniform_(self, a=0.0, b=1.0, *, generator=None, **bounds):
    if generator is not None:
        return _random_numbers.by(generator, uniform_, self, a, b, **bounds)
    a, b = bounds.get("from", a), bounds.get("to", b)
    if not a <= b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    largest = torch.finfo(self.dtype).max
    if b - a > largest:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<>::max(), but found to={b} and from={a} which result in to-from to exceed the limit")
    place = _random_numbers.in_memory(self)
    if _random_numbers.by_gpu(self):
        _fill(place, torch._C.uniform(tuple(place.shape), self.dtype, "gpu", float(a), float(b)))
        return self
    if self.dtype == torch.float64:
        _fill(place, torch.rand(place.shape, dtype=torch.float64) * (b - a) + a)
        return self
    # The bounds in float32, one rounding for both steps, as PyTorch's.
    a, b = _rounded(a), _rounded(b)
    drawn = torch.rand(place.shape, dtype=self.dtype).double()
    _fill(place, (drawn * (b - a) + a).float())
    return self


def bernoulli_(self, p=0.5, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, bernoulli_, self, p)
    place = _random_numbers.in_memory(self)
    if isinstance(p, torch.Tensor) and _random_numbers.by_gpu(self):
        _fill(self, torch._C.uniform(tuple(self.shape), torch.float32, "fours") <= p)
    elif isinstance(p, torch.Tensor):
        _fill(self, torch.rand(self.shape, dtype=_random_numbers.wide(p.dtype)) < p)
    else:
        _fill(place, _random_numbers.unit(self, place.shape) < p)
    return self


def exponential_(self, lambd=1.0, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, exponential_, self, lambd)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={float(lambd)}")
    place = _random_numbers.in_memory(self)
    _fill(place, _random_numbers.exponential(place, lambd))
    return self


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, cauchy_, self, median, sigma)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={float(sigma)}")
    place = _random_numbers.in_memory(self)
    if _random_numbers.by_gpu(self):
        wide = _random_numbers.wide(self.dtype)
        _fill(place, torch._C.uniform(tuple(place.shape), wide, "cauchy", float(median), float(sigma)))
    else:
        drawn = _random_numbers.unit(self, place.shape)
        _fill(place, torch.tan((drawn - 0.5) * math.pi) * sigma + median)
    return self


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, log_normal_, self, mean, std)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={float(std)}")
    place = _random_numbers.in_memory(self)
    if _random_numbers.by_gpu(self):
        wide = _random_numbers.wide(self.dtype)
        _fill(place, torch._C.normal(tuple(place.shape), wide, False, "exp", float(mean), float(std)))
    else:
        _fill(place, torch.exp(torch._C.normal(place.shape, torch.float64, True) * std + mean))
    return self


def geometric_(self, p, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, geometric_, self, p)
    if not 0.0 < p < 1.0:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={float(p)}")
    place = _random_numbers.in_memory(self)
    if _random_numbers.by_gpu(self):
        _fill(place, torch._C.uniform(tuple(place.shape), _random_numbers.wide(self.dtype), "geometric", float(p)))
    else:
        _fill(place, torch.ceil(torch.log(_random_numbers.unit(self, place.shape)) / math.log1p(-p)))
    return self


def _largest(dtype):
    """How many numbers random_() draws from where no bound is given."""
    bits = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}
    if dtype in bits:
        return 2 ** bits[dtype] + 1
    widths = {torch.bool: 1, torch.uint8: 8, torch.int8: 7, torch.int16: 15, torch.int32: 31}
    return 2 ** widths[dtype]


def random_(self, low=None, high=None, *, generator=None, **bounds):
    if generator is not None:
        return _random_numbers.by(generator, random_, self, low, high, **bounds)
    low, high = bounds.get("from", low), bounds.get("to", high)
    place = _random_numbers.in_memory(self)
    if low is not None and high is None:
        low, high = 0, low
    how = "cpu"
    if _random_numbers.by_gpu(self):
        how = "gpu" if low is not None else "wide" if self.dtype in (torch.int64, torch.float64) else "narrow"
    if low is None and self.dtype == torch.int64 and how == "wide":
        most = 9223372036854775807
        drawn = torch._C.random_ints(-most - 1, most, tuple(place.shape), torch.int64, False, how) & most
    elif low is None and self.dtype == torch.int64:
        halves = torch._C.random_ints(0, 2**32, tuple(place.shape) + (2,), torch.int64, True)
        drawn = halves[..., 0] % 2**31 * 2**32 + halves[..., 1]
    elif low is None:
        drawn = torch._C.random_ints(0, _largest(self.dtype), tuple(place.shape), torch.int64, how == "cpu", how)
    elif low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    else:
        drawn = torch._C.random_ints(low, high, tuple(place.shape), torch.int64, False, how)
    _fill(place, drawn)
    return self


def bernoulli(self, p=None, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, bernoulli, self, p)
    if p is not None and not _random_numbers.by_gpu(self):
        return torch.bernoulli(torch.full_like(self, p))
    return torch.bernoulli(self, p)


def multinomial(self, num_samples, replacement=False, *, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, multinomial, self, num_samples, replacement)
    return torch.multinomial(self, num_samples, replacement)


def share_memory_(self):
    return self


def pin_memory(self):
    return self


def is_shared(self):
    return False


def get_device(self):
    return 0 if self.is_cuda else -1


class _Handle:
    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.hook = hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def _hook(hooks, hook):
    hooks.append(hook)
    return _Handle(hooks, hook)


def register_hook(self, hook):
    return _hook(torch._C._hooks(self), hook)


def register_post_accumulate_grad_hook(self, hook):
    return _hook(torch._C._hooks(self, True), hook)
