# numpy's functions: of arrays, of tensors (which stay tensors), and of plain numbers.
import math
import numpy
import torch

_sum, _abs, _min, _max, _all, _any, _round = sum, abs, min, max, all, any, round
_of, _wrap, _array = numpy.tensor_of, numpy.wrap, numpy.ndarray


def _elementwise(number, function, real=True):
    """A function of one: `number` of a plain number, `function` of a tensor."""

    def call(x):
        if numpy.is_number(x):
            return numpy.as_number(number(numpy.python_number(x)), x)
        t = _of(x)
        if real and not t.dtype.is_floating_point:
            t = t.double()
        made = function(t)
        return made if isinstance(x, torch.Tensor) else _wrap(made)

    return numpy.ufunc(call, 1)


def _positive(f, at_zero):
    """A logarithm or root as numpy has it: nan, not an error, where there is none."""

    def number(x):
        if x > 0 or x != x:
            return f(x)
        return at_zero if x == 0 else math.nan

    return number


def _exp(x):
    return math.exp(x) if x < 709.78 else math.inf


def _sign(x):
    return (x > 0) - (x < 0) if numpy.is_whole(x) else float((x > 0) - (x < 0))


sqrt = _elementwise(_positive(math.sqrt, 0.0), torch.sqrt)
exp = _elementwise(_exp, torch.exp)
log = _elementwise(_positive(math.log, -math.inf), torch.log)
log2 = _elementwise(_positive(math.log2, -math.inf), torch.log2)
log10 = _elementwise(_positive(math.log10, -math.inf), torch.log10)
log1p = _elementwise(math.log1p, torch.log1p)
expm1 = _elementwise(math.expm1, torch.expm1)
exp2 = _elementwise(lambda x: 2.0**x, torch.exp2)
sin = _elementwise(math.sin, torch.sin)
cos = _elementwise(math.cos, torch.cos)
tan = _elementwise(math.tan, torch.tan)
arcsin = _elementwise(math.asin, torch.asin)
arccos = _elementwise(math.acos, torch.acos)
arctan = _elementwise(math.atan, torch.atan)
sinh = _elementwise(math.sinh, torch.sinh)
cosh = _elementwise(math.cosh, torch.cosh)
tanh = _elementwise(math.tanh, torch.tanh)
floor = _elementwise(lambda x: float(math.floor(x)), torch.floor)
ceil = _elementwise(lambda x: float(math.ceil(x)), torch.ceil)
trunc = _elementwise(lambda x: float(math.trunc(x)), torch.trunc)
rint = _elementwise(lambda x: float(_round(x)), torch.round)
fix = trunc
radians = _elementwise(math.radians, torch.deg2rad)
deg2rad = radians
degrees = _elementwise(math.degrees, torch.rad2deg)
rad2deg = degrees
abs = _elementwise(_abs, torch.abs, False)
absolute = abs
fabs = _elementwise(lambda x: float(_abs(x)), torch.abs)
negative = _elementwise(lambda x: -x, torch.neg, False)
sign = _elementwise(_sign, torch.sign, False)
square = _elementwise(lambda x: x * x, torch.square, False)
reciprocal = _elementwise(lambda x: 1 / x, torch.reciprocal)
isnan = _elementwise(lambda x: x != x, torch.isnan, False)
isinf = _elementwise(math.isinf, torch.isinf, False)
isfinite = _elementwise(math.isfinite, torch.isfinite, False)
logical_not = _elementwise(lambda x: not x, torch.logical_not, False)
invert = _elementwise(lambda x: ~x, torch.bitwise_not, False)


sinc = _elementwise(lambda x: torch.sinc(torch.tensor(float(x), dtype=torch.float64)).item(), torch.sinc)


def _binary(function, real=False):
    def call(x1, x2):
        return numpy.operate(function, x1, x2, real)

    return numpy.ufunc(call, 2)


def _tensors(f):
    """f, which takes tensors only, for operands that may be numbers."""

    def call(a, b):
        if numpy.is_number(a):
            a = torch.tensor(a, dtype=b.dtype)
        if numpy.is_number(b):
            b = torch.tensor(b, dtype=a.dtype)
        return f(a, b)

    return call


add = _binary(lambda a, b: a + b)
subtract = _binary(lambda a, b: a - b)
multiply = _binary(lambda a, b: a * b)
divide = _binary(lambda a, b: a / b, True)
true_divide = divide
floor_divide = _binary(lambda a, b: a // b)
mod = _binary(lambda a, b: a % b)
remainder = mod
fmod = _binary(_tensors(torch.fmod))
maximum = _binary(_tensors(torch.maximum))
minimum = _binary(_tensors(torch.minimum))
fmax = _binary(_tensors(torch.fmax))
fmin = _binary(_tensors(torch.fmin))
arctan2 = _binary(_tensors(torch.atan2), True)
hypot = _binary(_tensors(torch.hypot), True)
logaddexp = _binary(_tensors(torch.logaddexp), True)
equal = _binary(lambda a, b: a == b)
not_equal = _binary(lambda a, b: a != b)
less = _binary(lambda a, b: a < b)
less_equal = _binary(lambda a, b: a <= b)
greater = _binary(lambda a, b: a > b)
greater_equal = _binary(lambda a, b: a >= b)
logical_and = _binary(_tensors(torch.logical_and))
logical_or = _binary(_tensors(torch.logical_or))
logical_xor = _binary(_tensors(torch.logical_xor))
bitwise_and = _binary(lambda a, b: a & b)
bitwise_or = _binary(lambda a, b: a | b)
bitwise_xor = _binary(lambda a, b: a ^ b)
matmul = _binary(torch.matmul)


def power(x1, x2):
    if numpy.is_number(x1) and numpy.is_number(x2):
        return numpy.as_number(x1**x2, None)
    return numpy.operate(lambda a, b: a**b, x1, x2)


float_power = power


def dot(a, b):
    if numpy.is_number(a) or numpy.is_number(b):
        return numpy.operate(lambda a, b: a * b, a, b)
    if len(_of(a).shape) > 1 and len(_of(b).shape) > 2:
        raise NotImplementedError("numpy.dot() of more than 2 dimensions is not here; write np.matmul")
    return numpy.operate(torch.matmul, a, b)


def vdot(a, b):
    return numpy.operate(torch.dot, ravel(a), ravel(b))


def inner(a, b):
    return numpy.operate(torch.inner, a, b)


def outer(a, b):
    return numpy.operate(torch.outer, ravel(a), ravel(b))


def cross(a, b, axis=-1):
    return numpy.operate(lambda a, b: torch.linalg.cross(a, b, dim=axis), a, b)


def kron(a, b):
    return numpy.operate(torch.kron, a, b)


def einsum(subscripts, *operands):
    return _wrap(torch.einsum(subscripts, *_joined(operands)))


def tensordot(a, b, axes=2):
    return numpy.operate(lambda a, b: torch.tensordot(a, b, dims=axes), a, b)


def _new(f):
    def make(shape, dtype=None):
        return _wrap(f(shape if isinstance(shape, (list, tuple)) else (shape,), dtype=_dtype(dtype)))

    return make


def _dtype(of):
    return torch.float64 if of is None else numpy.dtype(of).torch


zeros = _new(torch.zeros)
ones = _new(torch.ones)
empty = _new(torch.zeros)


def full(shape, fill_value, dtype=None):
    value = _of(fill_value)
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    made = value.expand(shape).clone()
    return _wrap(made if dtype is None else made.to(_dtype(dtype)))


def _like(a, dtype):
    t = _of(a)
    return t if dtype is None else t.to(_dtype(dtype))


def zeros_like(a, dtype=None):
    return _wrap(torch.zeros_like(_like(a, dtype)))


def ones_like(a, dtype=None):
    return _wrap(torch.ones_like(_like(a, dtype)))


def empty_like(a, dtype=None):
    return _wrap(torch.zeros_like(_like(a, dtype)))


def full_like(a, fill_value, dtype=None):
    return _wrap(torch.full_like(_like(a, dtype), fill_value))


def eye(N, M=None, k=0, dtype=None):
    M = N if M is None else M
    made = torch.ones(N, M, dtype=_dtype(dtype))
    return _array(made.triu(k).tril(k))


def identity(n, dtype=None):
    return eye(n, dtype=dtype)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        start, stop = 0, start
    whole = _all([numpy.is_whole(x) for x in (start, stop, step)])
    count = _max(0, math.ceil((stop - start) / step))
    steps = torch.arange(count, dtype=torch.int64 if whole else torch.float64)
    made = steps * step + start
    return _array(made if dtype is None else made.to(_dtype(dtype)))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None):
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else math.nan
    made = torch.arange(num, dtype=torch.float64)
    made = made * step + start if parts > 0 else made + start
    if endpoint and num > 1:
        made[-1] = stop
    made = _array(made if dtype is None else made.to(_dtype(dtype)))
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    made = base ** linspace(start, stop, num, endpoint)
    return made if dtype is None else made.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True):
    return logspace(math.log10(start), math.log10(stop), num, endpoint)


def meshgrid(*xi, indexing="xy"):
    return tuple([_array(t) for t in torch.meshgrid(*[ravel(x)._tensor for x in xi], indexing=indexing)])


def indices(dimensions):
    return stack(meshgrid(*[arange(n) for n in dimensions], indexing="ij"))


def diag(v, k=0):
    return _array(torch.diag(_of(v), k))


def diagonal(a, offset=0, axis1=0, axis2=1):
    return _array(torch.diagonal(_of(a), offset, axis1, axis2))


def trace(a):
    return _wrap(_of(a).diagonal().sum())


def tril(m, k=0):
    return _array(_of(m).tril(k))


def triu(m, k=0):
    return _array(_of(m).triu(k))


def triu_indices(n, k=0):
    return tuple([_array(t) for t in torch.triu_indices(n, n, k)])


def tril_indices(n, k=0):
    return tuple([_array(t) for t in torch.tril_indices(n, n, k)])


def copy(a):
    return numpy.array(a)


def _joined(arrays):
    parts = [_of(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    common = parts[0].dtype
    for part in parts[1:]:
        common = _common(common, part.dtype)
    return [part.to(common) for part in parts]


def _common(a, b):
    one, other = numpy.pair(_array(torch.zeros(1, dtype=a)), _array(torch.zeros(1, dtype=b)))
    return one.dtype


def concatenate(arrays, axis=0):
    parts = _joined(arrays)
    if axis is None:
        return _array(torch.cat([p.reshape(-1) for p in parts]))
    if parts[0].dim() == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return _array(torch.cat(parts, axis))


concat = concatenate


def stack(arrays, axis=0):
    parts = _joined(arrays)
    if _any([p.shape != parts[0].shape for p in parts]):
        raise ValueError("all input arrays must have the same shape")
    return _array(torch.stack(parts, axis))


def _deep(x, n):
    """At least n dimensions, as vstack and dstack see an array."""
    t = _of(x)
    if t.dim() == 0:
        t = t.reshape(1)
    if t.dim() < 2 and n >= 2:
        t = t.unsqueeze(0)
    return t.unsqueeze(-1) if t.dim() < 3 and n >= 3 else t


def vstack(tup):
    return concatenate([_array(_deep(x, 2)) for x in tup], 0)


def hstack(tup):
    parts = [_deep(x, 1) for x in tup]
    return concatenate([_array(p) for p in parts], 0 if parts[0].dim() == 1 else 1)


def dstack(tup):
    return concatenate([_array(_deep(x, 3)) for x in tup], 2)


def column_stack(tup):
    parts = [_of(x) for x in tup]
    return concatenate([_array(p.reshape(-1, 1) if p.dim() < 2 else p) for p in parts], 1)


def atleast_1d(x):
    return _array(_deep(x, 1))


def atleast_2d(x):
    return _array(_deep(x, 2))


def split(ary, indices_or_sections, axis=0):
    t = _of(ary)
    n = t.shape[axis]
    if numpy.is_whole(indices_or_sections):
        if n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        size = n // indices_or_sections
        ends = [size * (i + 1) for i in range(indices_or_sections - 1)]
    else:
        ends = [int(i) for i in indices_or_sections]
    starts = [0] + ends
    return [_array(t.narrow(axis, a, b - a)) for a, b in zip(starts, ends + [n])]


def array_split(ary, indices_or_sections, axis=0):
    if not numpy.is_whole(indices_or_sections):
        return split(ary, indices_or_sections, axis)
    parts = indices_or_sections
    if parts <= 0:
        raise ValueError("number sections must be larger than 0.")
    n = _of(ary).shape[axis]
    ends, at = [], 0
    for i in range(parts - 1):
        at += n // parts + (i < n % parts)
        ends.append(at)
    return split(ary, ends, axis)


def reshape(a, shape):
    return _array(_of(a)).reshape(shape)


def ravel(a):
    return _array(_of(a).reshape(-1))


def transpose(a, axes=None):
    return _array(_of(a)).transpose(axes)


def swapaxes(a, axis1, axis2):
    return _array(_of(a).transpose(axis1, axis2))


def moveaxis(a, source, destination):
    return _array(torch.movedim(_of(a), source, destination))


def rollaxis(a, axis, start=0):
    return _array(torch.movedim(_of(a), axis, start - 1 if axis < start else start))


def expand_dims(a, axis):
    t = _of(a)
    for each in sorted(axis) if isinstance(axis, (list, tuple)) else [axis]:
        t = t.unsqueeze(each)
    return _array(t)


def squeeze(a, axis=None):
    return _array(_of(a)).squeeze(axis)


def broadcast_to(array, shape):
    return _array(_of(array).expand(shape))


def broadcast_arrays(*args):
    return tuple([_array(t) for t in torch.broadcast_tensors(*[_of(a) for a in args])])


def flip(m, axis=None):
    t = _of(m)
    axes = range(t.dim()) if axis is None else [axis] if numpy.is_whole(axis) else axis
    return _array(t.flip(list(axes)))


def fliplr(m):
    return flip(m, 1)


def flipud(m):
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    return _array(torch.rot90(_of(m), k, list(axes)))


def roll(a, shift, axis=None):
    t = _of(a)
    return _array(t.reshape(-1).roll(shift).reshape(t.shape) if axis is None else t.roll(shift, axis))


def tile(A, reps):
    t = _of(A)
    reps = tuple(reps) if isinstance(reps, (list, tuple)) else (reps,)
    return _array(t.repeat((1,) * (t.dim() - len(reps)) + reps))


def repeat(a, repeats, axis=None):
    return _array(_of(a)).repeat(repeats, axis)


def pad(array, pad_width, mode="constant", constant_values=0):
    t = _of(array)
    if numpy.is_whole(pad_width):
        pad_width = [(pad_width, pad_width)] * t.dim()
    elif numpy.is_whole(pad_width[0]):
        pad_width = [tuple(pad_width) if len(pad_width) == 2 else (pad_width[0],) * 2] * t.dim()
    if mode == "constant":
        widths = [n for pair in reversed(pad_width) for n in pair]
        return _array(torch.nn.functional.pad(t, widths, value=constant_values))
    if mode not in ("reflect", "edge", "wrap", "symmetric"):
        raise NotImplementedError(f"numpy.pad(mode='{mode}') is not here")
    for axis, (before, after) in enumerate(pad_width):
        n = t.shape[axis]
        t = t.index_select(axis, torch.tensor([_inside(i, n, mode) for i in range(-before, n + after)], dtype=torch.int64))
    return _array(t)


def _inside(i, n, mode):
    """The index that a place beside the array's edge has its number from."""
    if mode == "edge":
        return _min(_max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        i = i % (2 * n)
        return i if i < n else 2 * n - 1 - i
    if n == 1:
        return 0
    i = i % (2 * n - 2)
    return i if i < n else 2 * n - 2 - i


def where(condition, x=None, y=None):
    condition = _of(condition)
    if x is None:
        return _array(condition).nonzero()
    numbers = numpy.is_number(x) and numpy.is_number(y)
    if numbers:
        x, y = _of(x), _of(y)
    x, y = numpy.pair(x, y)
    return _wrap(torch.where(condition != 0 if condition.dtype != torch.bool else condition, x, y))


def nonzero(a):
    return _array(_of(a)).nonzero()


def argwhere(a):
    return _array(torch.nonzero(_of(a)))


def flatnonzero(a):
    return ravel(a).nonzero()[0]


def count_nonzero(a, axis=None):
    return numpy.summed(lambda t, axis, keep: (t != 0).sum(axis), a, axis)


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    a_min, a_max = min if a_min is None else a_min, max if a_max is None else a_max
    if out is not None:
        out[...] = clip(a, a_min, a_max)
        return out
    if numpy.is_number(a):
        if numpy.is_plain(a) and numpy.is_plain(a_min) and numpy.is_plain(a_max):
            return numpy.as_number(_min(_max(a, a_min), a_max) + 0 * (a + a_min + a_max), None)
    return _wrap(_array(_of(a)).clip(a_min, a_max)._tensor)


def round(a, decimals=0):
    if numpy.is_number(a):
        return numpy.as_number(_round(a, decimals) if decimals else numpy.python_number(a) if numpy.is_whole(a) else float(_round(a)), a)
    return _wrap(_array(_of(a)).round(decimals)._tensor)


around = round


def _method(name):
    def call(a, *args, **keywords):
        t = _of(a)
        if t.dim() == 0:
            t = t.reshape(1)
        return getattr(_array(t), name)(*args, **keywords)

    return call


sum = _method("sum")
mean = _method("mean")
std = _method("std")
var = _method("var")
prod = _method("prod")
min = _method("min")
max = _method("max")
amin = min
amax = max
any = _method("any")
all = _method("all")
argmax = _method("argmax")
argmin = _method("argmin")
argsort = _method("argsort")
cumsum = _method("cumsum")
cumprod = _method("cumprod")
take = _method("take")


def average(a, axis=None, weights=None):
    if weights is None:
        return mean(a, axis)
    a, weights = numpy.asarray(a), numpy.asarray(weights)
    if axis is not None and weights.ndim == 1 and a.ndim > 1:
        weights = weights.reshape([-1 if i == axis % a.ndim else 1 for i in range(a.ndim)])
    return (a * weights).sum(axis) / (weights + zeros_like(a)).sum(axis)


def ptp(a, axis=None):
    return max(a, axis) - min(a, axis)


def _ignoring(f):
    return lambda a, axis=None, keepdims=False: numpy.summed(f, a, axis, keepdims)


nansum = _ignoring(lambda t, axis, keep: torch.nansum(t, axis, keep))
nanmean = _ignoring(lambda t, axis, keep: torch.nanmean(t, axis, keep))
nanmax = _ignoring(lambda t, axis, keep: torch.where(torch.isnan(t), -math.inf, t).amax(axis, keep))
nanmin = _ignoring(lambda t, axis, keep: torch.where(torch.isnan(t), math.inf, t).amin(axis, keep))


def _quantile(a, q, axis, keepdims):
    t = _of(a)
    t = t if t.dtype.is_floating_point else t.double()
    wanted = _of(q).to(t.dtype)
    return _wrap(torch._quantile(t, wanted, axis, keepdims, "linear", False))  # as torch._numpy: the graph goes on


def quantile(a, q, axis=None, keepdims=False):
    return _quantile(a, q, axis, keepdims)


def percentile(a, q, axis=None, keepdims=False):
    q = q / 100 if numpy.is_number(q) else numpy.asarray(q) / 100
    return _quantile(a, q, axis, keepdims)


def median(a, axis=None, keepdims=False):
    return _quantile(a, 0.5, axis, keepdims)


def sort(a, axis=-1):
    return _array(torch.sort(_of(a), dim=axis).values)


def diff(a, n=1, axis=-1):
    return _array(torch.diff(_of(a), n, axis))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    t = _of(ar)
    if axis is not None:
        found = torch.unique(t, return_inverse=True, return_counts=True, dim=axis)
    else:
        found = torch.unique(t, return_inverse=True, return_counts=True)
    parts = [_array(found[0])]
    if return_index:
        inverse = found[1].reshape(-1).tolist()
        parts.append(_array(torch.tensor([inverse.index(i) for i in range(found[2].numel())], dtype=torch.int64)))
    if return_inverse:
        parts.append(_array(found[1]))
    if return_counts:
        parts.append(_array(found[2]))
    return parts[0] if len(parts) == 1 else tuple(parts)


def isin(element, test_elements):
    return _wrap(torch.isin(_of(element), _of(test_elements)))


in1d = isin


def intersect1d(ar1, ar2):
    one = unique(ar1)
    return one[isin(one, ar2)]


def setdiff1d(ar1, ar2):
    one = unique(ar1)
    return one[~isin(one, ar2)]


def union1d(ar1, ar2):
    return unique(concatenate((ravel(ar1), ravel(ar2))))


def searchsorted(a, v, side="left"):
    made = torch.searchsorted(_of(a), _of(v).to(_of(a).dtype) if not numpy.is_number(v) else torch.tensor(v, dtype=torch.float64), side=side)
    return _wrap(made)


def digitize(x, bins, right=False):
    return _wrap(torch.bucketize(_of(x).double(), _of(bins).double(), right=not right))


def bincount(x, weights=None, minlength=0):
    return _array(torch.bincount(_of(x), None if weights is None else _of(weights), minlength))


def histogram(a, bins=10, range=None):
    t = _of(a).double().reshape(-1)
    if not numpy.is_whole(bins):
        edges = _of(bins).double()
    else:
        low, high = (t.min().item(), t.max().item()) if range is None else range
        edges = linspace(low, high, bins + 1)._tensor
    inside = t[(t >= edges[0]) & (t <= edges[-1])]
    at = (torch.bucketize(inside, edges, right=True) - 1).clamp(max=edges.numel() - 2)
    return _array(torch.bincount(at, minlength=edges.numel() - 1)), _array(edges)


def interp(x, xp, fp):
    x, xp, fp = _of(x).double(), _of(xp).double(), _of(fp).double()
    at = (torch.searchsorted(xp, x, right=True) - 1).clamp(0, xp.numel() - 2)
    slope = (fp[at + 1] - fp[at]) / (xp[at + 1] - xp[at])
    made = fp[at] + slope * (x - xp[at])
    made = torch.where(x <= xp[0], fp[0], torch.where(x >= xp[-1], fp[-1], made))
    return _wrap(made)


def gradient(f):
    return _array(torch.gradient(_of(f).double())[0])


def trapezoid(y, x=None, dx=1.0):
    return _wrap(torch.trapz(_of(y), dx=dx) if x is None else torch.trapz(_of(y), _of(x)))


trapz = trapezoid


def convolve(a, v, mode="full"):
    a, v = ravel(a)._tensor.double(), ravel(v)._tensor.double()
    full = torch.nn.functional.conv1d(a.reshape(1, 1, -1), v.flip(0).reshape(1, 1, -1), padding=v.numel() - 1).reshape(-1)
    if mode == "full":
        return _array(full)
    n, m = _max(a.numel(), v.numel()), _min(a.numel(), v.numel())
    return _array(full[m - 1 : n] if mode == "valid" else full[(m - 1) // 2 : (m - 1) // 2 + n])


def cov(m, rowvar=True):
    t = _of(m).double()
    return _wrap(torch.cov(t if rowvar else t.T))


def corrcoef(x, rowvar=True):
    t = _of(x).double()
    return _wrap(torch.corrcoef(t if rowvar else t.T))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(_of(isclose(a, b, rtol, atol, equal_nan)).all())


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _of(a).double(), _of(b).double()
    return _wrap(torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


def array_equal(a1, a2):
    one, other = _of(a1), _of(a2)
    return tuple(one.shape) == tuple(other.shape) and bool((one == other).all())


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    return _wrap(torch.nan_to_num(_of(x), nan, posinf, neginf))


def heaviside(x1, x2):
    return numpy.operate(_tensors(torch.heaviside), x1, x2, True)


def apply_along_axis(func1d, axis, arr):
    t = torch.movedim(_of(arr), axis, -1)
    rows = [func1d(_array(row)) for row in t.reshape(-1, t.shape[-1])]
    return numpy.array(rows).reshape([*t.shape[:-1], *numpy.asarray(rows[0]).shape])


def vectorize(pyfunc):
    def call(*args):
        parts = torch.broadcast_tensors(*[_of(a) for a in args])
        flat = zip(*[p.reshape(-1).tolist() for p in parts])
        return _wrap(_of([pyfunc(*each) for each in flat]).reshape(parts[0].shape))

    return call


def ndim(a):
    return _of(a).dim()


def shape(a):
    return tuple(_of(a).shape)


def size(a, axis=None):
    return _of(a).numel() if axis is None else _of(a).shape[axis]


def isscalar(element):
    return isinstance(element, (int, float, str, numpy.generic))


def unravel_index(indices, shape):
    found = torch.unravel_index(_of(indices), tuple(shape))
    return tuple([_wrap(t) for t in found])


def issubdtype(arg1, arg2):
    of = arg1 if isinstance(arg1, type) and issubclass(arg1, numpy.generic) else numpy.dtype(arg1).type
    return issubclass(of, arg2 if isinstance(arg2, type) and issubclass(arg2, numpy.generic) else numpy.dtype(arg2).type)


def result_type(*args):
    parts = _joined([a if isinstance(a, _array) else numpy.asarray([a]) for a in args])
    return _array(parts[0]).dtype


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, sign=None, floatmode=None
):
    given = {"precision": precision, "linewidth": linewidth, "suppress": suppress}
    numpy.print_options.update({name: value for name, value in given.items() if value is not None})


def seterr(**options):
    return {}


class errstate:
    def __init__(self, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False
