# numpy: functions by name, windows, polynomials, and statistics that leave nan out.
import math
import numpy
import torch

_of, _wrap, _array = numpy.tensor_of, numpy.wrap, numpy.ndarray
_pow = pow


def _float(x):
    t = _of(x)
    return t if t.dtype.is_floating_point else t.double()


def _one(f):
    def call(x, *rest):
        return _wrap(f(_float(x), *rest))

    return numpy.ufunc(call, 1)


def _two(f, real=False):
    def call(x1, x2):
        one, other = numpy.pair(x1, x2)
        if real and not one.dtype.is_floating_point:
            one, other = one.double(), other.double()
        return _wrap(f(one, other))

    return numpy.ufunc(call, 2)


arcsinh = asinh = _one(torch.asinh)
arccosh = acosh = _one(torch.acosh)
arctanh = atanh = _one(torch.atanh)
asin, acos, atan = numpy.arcsin, numpy.arccos, numpy.arctan
atan2 = numpy.arctan2
cbrt = _one(lambda t: torch.sign(t) * t.abs() ** (1.0 / 3.0))
i0 = _one(torch.special.i0)
signbit = _one(torch.signbit)
isneginf = _one(torch.isneginf)
isposinf = _one(torch.isposinf)
copysign = _two(torch.copysign, True)
logaddexp2 = _two(torch.logaddexp2, True)
nextafter = _two(torch.nextafter, True)
gcd = _two(torch.gcd)
lcm = _two(torch.lcm)
left_shift = bitwise_left_shift = _two(torch.bitwise_left_shift)
right_shift = bitwise_right_shift = _two(torch.bitwise_right_shift)
bitwise_not = bitwise_invert = numpy.invert
pow = numpy.power
asanyarray = numpy.asarray
row_stack = numpy.vstack
permute_dims = numpy.transpose
ushort, uint = numpy.uint16, numpy.uint64
uintp = ulong = ulonglong = uint
True_, False_ = numpy.bool_(True), numpy.bool_(False)


def positive(x):
    return numpy.array(x)


def modf(x):
    t = _float(x)
    return _wrap(t.frac()), _wrap(t.trunc())


def divmod(x1, x2):
    return numpy.floor_divide(x1, x2), numpy.mod(x1, x2)


def ldexp(x1, x2):
    return _wrap(_float(x1) * 2.0 ** _of(x2))


def angle(z, deg=False):
    made = numpy.arctan2(imag(z), real(z))
    return numpy.degrees(made) if deg else made


def real(val):
    return val.real if isinstance(val, (_array, torch.Tensor, complex)) else val


def imag(val):
    return val.imag if isinstance(val, (_array, torch.Tensor, complex)) else 0


def iscomplexobj(x):
    return isinstance(x, complex) or _of(x).is_complex()


def isrealobj(x):
    return not iscomplexobj(x)


def isreal(x):
    return numpy.ones_like(x, dtype=bool) if isrealobj(x) else imag(x) == 0


def iscomplex(x):
    return ~isreal(x)


def iterable(y):
    return hasattr(y, "__iter__")


def array_equiv(a1, a2):
    one, other = numpy.broadcast_arrays(a1, a2)
    return numpy.array_equal(one, other)


def may_share_memory(a, b):
    return a is b or a._tensor is b._tensor


shares_memory = may_share_memory


def broadcast_shapes(*args):
    return tuple(torch.broadcast_shapes(*args))


def atleast_3d(x):
    return numpy.dstack((x,))


def vsplit(ary, indices_or_sections):
    return numpy.split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    return numpy.split(ary, indices_or_sections, 1 if numpy.ndim(ary) > 1 else 0)


def dsplit(ary, indices_or_sections):
    return numpy.split(ary, indices_or_sections, 2)


def unstack(x, *, axis=0):
    return tuple([_wrap(t) for t in _of(x).unbind(axis)])


def fromiter(iter, dtype, count=-1):
    return numpy.array([x for i, x in zip(range(count), iter)] if count >= 0 else list(iter), dtype=dtype)


def fromfunction(function, shape, *, dtype=float):
    return function(*[g.astype(dtype) for g in numpy.indices(shape)])


def block(arrays):
    if not isinstance(arrays, list):
        return numpy.array(arrays)
    if not isinstance(arrays[0], list):
        return numpy.hstack(arrays)
    return numpy.vstack([numpy.hstack(row) for row in arrays])


def setxor1d(ar1, ar2):
    return numpy.setdiff1d(numpy.union1d(ar1, ar2), numpy.intersect1d(ar1, ar2))


def ediff1d(ary):
    return numpy.diff(numpy.ravel(ary))


def trim_zeros(filt):
    places = [i for i, x in enumerate(filt) if x != 0]
    return filt[places[0] : places[-1] + 1] if places else filt[:0]


def array_str(a):
    return str(a)


def array_repr(arr):
    return repr(arr)


def array2string(a):
    return str(a)


def binary_repr(num, width=None):
    return format(num, "b").zfill(width or 0)


def _window(*weights):
    def call(M):
        if M < 1:
            return numpy.zeros(0)
        n = torch.arange(M, dtype=torch.float64) * (2 * math.pi / max(M - 1, 1))
        made = torch.zeros(M, dtype=torch.float64)
        for i, w in enumerate(weights):
            made = made + w * torch.cos(i * n)
        return _array(made if M > 1 else torch.ones(1, dtype=torch.float64))

    return call


hanning = _window(0.5, -0.5)
hamming = _window(0.54, -0.46)
blackman = _window(0.42, -0.5, 0.08)


def bartlett(M):
    n = torch.arange(M, dtype=torch.float64)
    return _array(1 - (2 * n / max(M - 1, 1) - 1).abs() if M > 1 else torch.ones(M, dtype=torch.float64))


def kaiser(M, beta):
    n = torch.arange(M, dtype=torch.float64) * 2 / max(M - 1, 1) - 1
    top = torch.special.i0(beta * (1 - n * n).clamp(min=0).sqrt())
    return _array(top / torch.special.i0(torch.tensor(float(beta), dtype=torch.float64)))


def vander(x, N=None, increasing=False):
    return _array(torch.vander(_of(x), N, increasing))


def polyfit(x, y, deg):
    rows = torch.vander(_float(x).double(), deg + 1)
    return _wrap(torch.linalg.lstsq(rows, _float(y).double().unsqueeze(-1)).solution.squeeze(-1))


def polyval(p, x):
    made = numpy.zeros_like(x) if isinstance(x, _array) else 0
    for c in p:
        made = made * x + c
    return made


def polyder(p, m=1):
    p = numpy.array(p)
    for _ in range(m):
        p = p[:-1] * numpy.arange(len(p) - 1, 0, -1)
    return p


def polyadd(a1, a2):
    a1, a2 = list(a1), list(a2)
    n = max(len(a1), len(a2))
    return numpy.array([x + y for x, y in zip([0] * (n - len(a1)) + a1, [0] * (n - len(a2)) + a2)])


def polymul(a1, a2):
    made = numpy.convolve(a1, a2)
    return made.astype(numpy.result_type(numpy.array(a1), numpy.array(a2)))


def unwrap(p, axis=-1):
    t = _float(p)
    step = t.diff(dim=axis)
    turned = torch.remainder(step + math.pi, 2 * math.pi) - math.pi
    turned = torch.where((turned == -math.pi) & (step > 0), math.pi, turned)
    correct = torch.where(step.abs() < math.pi, 0.0, turned - step).cumsum(axis)
    return _array(torch.cat((t.narrow(axis, 0, 1), t.narrow(axis, 1, t.shape[axis] - 1) + correct), axis))


def _known(a, axis):
    """The elements that are no nan, and how many there are."""
    t = _float(a)
    known = ~torch.isnan(t)
    axis = tuple(range(t.dim())) if axis is None else axis
    return torch.where(known, t, 0.0), known, known.sum(axis), axis


def nanvar(a, axis=None, ddof=0):
    t, known, n, axis = _known(a, axis)
    mean = t.sum(axis, keepdim=True) / known.sum(axis, keepdim=True)
    return _wrap(torch.where(known, (t - mean) ** 2, 0.0).sum(axis) / (n - ddof))


def nanstd(a, axis=None, ddof=0):
    return numpy.sqrt(nanvar(a, axis, ddof))


def nanprod(a, axis=None):
    return numpy.prod(_array(torch.where(torch.isnan(_float(a)), 1.0, _float(a))), axis=axis)


def nancumsum(a, axis=None):
    return numpy.cumsum(_array(_known(a, 0)[0]), axis=axis)


def _without(a):
    t = _float(a).reshape(-1)
    return _array(t[~torch.isnan(t)])


def nanmedian(a, axis=None):
    if axis is None:
        return numpy.median(_without(a))
    return numpy.apply_along_axis(lambda row: numpy.median(_without(row)), axis, a)


def nanpercentile(a, q, axis=None):
    if axis is None:
        return numpy.percentile(_without(a), q)
    return numpy.apply_along_axis(lambda row: numpy.percentile(_without(row), q), axis, a)


def nanquantile(a, q, axis=None):
    return nanpercentile(a, q * 100, axis)


def nanargmax(a, axis=None):
    return numpy.argmax(_array(torch.where(torch.isnan(_float(a)), -math.inf, _float(a))), axis=axis)


def nanargmin(a, axis=None):
    return numpy.argmin(_array(torch.where(torch.isnan(_float(a)), math.inf, _float(a))), axis=axis)


def histogram_bin_edges(a, bins=10, range=None):
    return numpy.histogram(a, bins, range)[1]


def histogram2d(x, y, bins=10):
    n, m = bins if isinstance(bins, (tuple, list)) else (bins, bins)
    rows, columns = histogram_bin_edges(x, n), histogram_bin_edges(y, m)
    i = numpy.clip(numpy.digitize(x, rows) - 1, 0, n - 1)
    j = numpy.clip(numpy.digitize(y, columns) - 1, 0, m - 1)
    counts = numpy.bincount(i * m + j, minlength=n * m).reshape(n, m)
    return counts.astype(float), rows, columns
