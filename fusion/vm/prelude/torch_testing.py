# torch.testing: comparisons that raise, and tensors to try functions with.
import math

import torch

_CLOSE = {
    torch.float16: (0.001, 1e-5),
    torch.bfloat16: (0.016, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float)


class _Options:
    def __init__(self, rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses):
        if (rtol is None) != (atol is None):
            missing = "rtol" if rtol is None else "atol"
            raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
        self.rtol = rtol
        self.atol = atol
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype
        self.check_stride = check_stride
        self.allow_subclasses = allow_subclasses

    def bounds(self, *dtypes):
        if self.rtol is not None:
            return self.rtol, self.atol
        both = [_CLOSE.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max([r for r, _ in both]), max([a for _, a in both])


def _said(what, extra, bounds, absolute, relative, place):
    rtol, atol = bounds
    exact = rtol == 0 and atol == 0
    text = f"{what} are not {'equal' if exact else 'close'}!\n\n{extra}\n"
    for kind, difference, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        at = "" if place is None else f" at index {place[kind]}"
        begin = f"{kind.title()} difference: " if place is None else f"Greatest {kind} difference: "
        text += f"{begin}{difference}{at}" + ("\n" if exact else f" (up to {tolerance} allowed)\n")
    return text.strip()


def _numbers_differ(a, b, options):
    kinds = [torch.float64 if isinstance(v, float) else torch.int64 for v in (a, b)]
    if options.check_dtype and type(a) is not type(b):
        return f"The (d)types do not match: {type(a)} != {type(b)}."
    rtol, atol = options.bounds(*kinds)
    if a == b or (options.equal_nan and a != a and b != b):
        return None
    apart = abs(a - b)
    if math.isfinite(apart) and apart <= atol + rtol * abs(b):
        return None
    return _said("Scalars", f"Expected {b} but got {a}.", (rtol, atol), apart, math.inf if b == 0 else apart / abs(b), None)


def _index(flat, shape):
    made = []
    for n in reversed(shape):
        made.append(flat % n)
        flat = flat // n
    return tuple(reversed(made))


def _tensors_differ(a, b, options):
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if a.device != b.device:
        return f"The values for attribute 'device' do not match: {a.device} != {b.device}."
    if options.check_dtype and a.dtype != b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if options.check_stride and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
    bounds = options.bounds(a.dtype, b.dtype)
    if a.dtype != b.dtype:
        dtype = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(dtype), b.to(dtype)
    a, b = a.detach(), b.detach()
    if torch.allclose(a, b, rtol=bounds[0], atol=bounds[1], equal_nan=options.equal_nan):
        return None
    close = torch.isclose(a, b, rtol=bounds[0], atol=bounds[1], equal_nan=options.equal_nan).flatten()
    if a.dim() == 0:
        return _numbers_differ(a.item(), b.item(), _Options(bounds[0], bounds[1], options.equal_nan, False, False, True))
    wrong, n = close.numel() - int(close.sum()), close.numel()
    x, y = a.flatten(), b.flatten()
    if not torch.is_complex(x) and not x.dtype.is_floating_point:
        x, y = x.to(torch.int64), y.to(torch.int64)
    apart = torch.abs(x - y)
    apart = torch.where(close, torch.zeros_like(apart), apart)
    ratio = apart / torch.abs(y)
    ratio = torch.where(close, torch.zeros_like(ratio), ratio)
    absolute, relative = torch.max(apart, 0), torch.max(ratio, 0)
    place = {"absolute": _index(int(absolute[1]), a.shape), "relative": _index(int(relative[1]), a.shape)}
    extra = f"Mismatched elements: {wrong} / {n} ({wrong / n:.1%})"
    return _said("Tensor-likes", extra, bounds, absolute[0].item(), relative[0].item(), place)


def _difference(a, b, options, path):
    """What is wrong, as an error, or None."""
    at = f"\n\nThe failure occurred for item {''.join([f'[{part}]' for part in path])}" if path else ""
    if isinstance(a, dict) and isinstance(b, dict):
        if set(a) != set(b):
            return AssertionError(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(set(b) - set(a))}\nAdditional keys in the actual mapping: {sorted(set(a) - set(b))}" + at)
        parts = [(key, a[key], b[key]) for key in a]
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return AssertionError(f"The length of the sequences mismatch: {len(a)} != {len(b)}" + at)
        parts = [(i, a[i], b[i]) for i in range(len(a))]
    else:
        text = None
        if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
            text = _numbers_differ(a, b, options)
        elif a is None or b is None:
            text = None if a is b else f"None mismatch: {a} is not {b}"
        elif isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor) or isinstance(a, str):
            return TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
        elif not options.allow_subclasses and type(a) is not type(b):
            return TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
        else:
            text = _tensors_differ(torch.as_tensor(a), torch.as_tensor(b), options)
        return None if text is None else AssertionError(text + at)
    for key, x, y in parts:
        wrong = _difference(x, y, options, path + [key])
        if wrong is not None:
            return wrong
    return None


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
    check_dtype=True, check_layout=True, check_stride=False, msg=None,
):
    wrong = _difference(actual, expected, _Options(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses), [])
    if wrong is None:
        return
    if msg is not None and isinstance(wrong, AssertionError):
        wrong = AssertionError(msg(str(wrong)) if callable(msg) else msg)
    raise wrong


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    actual, expected = torch.as_tensor(actual), torch.as_tensor(expected)
    if rtol is None and atol is None:
        close = {torch.float16: (1e-3, 1e-3), torch.float32: (1e-4, 1e-5), torch.float64: (1e-5, 1e-8)}
        both = [close.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max([r for r, _ in both]), max([a for _, a in both])
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _range(low, high, dtype, least, past, usual):
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low > high or (low == high and not dtype.is_floating_point):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= past:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {past})")
    return min(max(low, least), past), min(max(high, least), past)


def make_tensor(
    *shape, dtype, device=None, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
    memory_format=None,
):
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = shape[0]
    shape = tuple(shape)
    if requires_grad and not dtype.is_floating_point and not dtype.is_complex:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}")
    spread = noncontiguous and math.prod(shape) > 1
    drawn = shape[:-1] + (2 * shape[-1],) if spread else shape
    if dtype.is_floating_point or dtype.is_complex:
        limits = torch.finfo(dtype)
        low, high = _range(low, high, dtype, limits.min, limits.max, (-9, 9))
        if dtype.is_complex:
            made = torch.view_as_complex(torch.empty(drawn + (2,), device=device, dtype=dtype.of).uniform_(low, high))
        else:
            made = torch.empty(drawn, device=device, dtype=dtype).uniform_(low, high)
    else:
        least, past = (0, 2) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max + (dtype is not torch.int64))
        low, high = _range(low, high, dtype, least, past, (0, 2) if dtype is torch.bool else (-9, 10))
        made = torch.randint(math.ceil(low), math.ceil(high), drawn, device=device, dtype=dtype)
    if spread:
        made = made[..., 1::2]
    if exclude_zero:
        made[made == 0] = torch.finfo(dtype).tiny if dtype.is_floating_point else 1
    return made.requires_grad_() if requires_grad else made
