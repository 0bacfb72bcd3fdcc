"""References and calls of Fourier transforms, windows, and parts of floating numbers."""
import cmath
import math
import struct

from naive import FLOATS, INF, NAN, Nd, cast, places, pointwise
from table import C, P, S, V, X, row

WIDE = ("float32", "float64")


class Spectrum:
    """Complex numbers by place."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), values


def spectrum(x):
    return Spectrum(x.shape, {p: complex(x.at(p)) for p in places(x.shape)})


def resized(s, dim, n):
    shape = list(s.shape)
    shape[dim] = n
    return Spectrum(shape, {p: s.values.get(p, 0) for p in places(shape)})


def along(s, dim, f, n):
    """f of every line along dim, which gives n numbers."""
    shape = list(s.shape)
    have, shape[dim] = shape[dim], n
    made = {}
    for p in places([k for d, k in enumerate(shape) if d != dim]):
        line = f([s.values[p[:dim] + (i,) + p[dim:]] for i in range(have)])
        made.update({p[:dim] + (i,) + p[dim:]: v for i, v in enumerate(line)})
    return Spectrum(shape, made)


def scale(n, norm, inverse):
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if inverse == (norm in (None, "backward")) else 1


def dft(s, n, dim, norm, inverse, bins=None):
    n = s.shape[dim] if n is None else n
    sign = 2j if inverse else -2j
    f = lambda line: [scale(n, norm, inverse) * sum(v * cmath.exp(sign * math.pi * j * k / n) for j, v in enumerate(line)) for k in range(bins or n)]
    return along(resized(s, dim, n), dim, f, bins or n)


def half(s, n, dim, norm):
    n = s.shape[dim] if n is None else n
    return dft(s, n, dim, norm, False, n // 2 + 1)


def hermitian(s, n, dim, norm, inverse=True):
    n = 2 * (s.shape[dim] - 1) if n is None else n
    f = lambda line: [line[k] if k <= n // 2 else line[n - k].conjugate() for k in range(n)]
    full = along(resized(s, dim, n // 2 + 1), dim, f, n)
    for p, v in full.values.items():  # what the frequency 0 and the half have of i is lost
        if p[dim] == 0 or 2 * p[dim] == n:
            full.values[p] = complex(v.real, 0)
    return dft(full, n, dim, norm, inverse)


def axes(x, s, dim):
    dim = list(range(len(x.shape))) if dim is None and s is None else list(range(len(x.shape) - len(s), len(x.shape))) if dim is None else dim
    return [d % len(x.shape) for d in dim], s or [None] * len(dim)


def view(s, dtype):
    """As torch.view_as_real."""
    return Nd(s.shape + (2,), dtype, [cast(part, dtype) for p in places(s.shape) for part in (s.values[p].real, s.values[p].imag)])


def real(s, dtype):
    return Nd(s.shape, dtype, [cast(s.values[p].real, dtype) for p in places(s.shape)])


def one(inverse):
    return lambda x, n=None, dim=-1, norm=None: view(dft(spectrum(x), n, dim % x.ndim, norm, inverse), x.dtype)


def many(f):
    def call(x, s=None, dim=None, norm=None):
        made = spectrum(x)
        dims, sizes = axes(x, s, dim)
        return f(made, dims, sizes, norm, x.dtype)

    return call


def every(inverse):
    def f(made, dims, sizes, norm, dtype):
        for d, n in zip(dims, sizes):
            made = dft(made, n, d, norm, inverse)
        return view(made, dtype)

    return f


def half_first(made, dims, sizes, norm, dtype):
    made = half(made, sizes[-1], dims[-1], norm)
    for d, n in zip(dims[:-1], sizes[:-1]):
        made = dft(made, n, d, norm, False)
    return view(made, dtype)


def half_last(made, dims, sizes, norm, dtype):
    for d, n in zip(dims[:-1], sizes[:-1]):
        made = dft(made, n, d, norm, True)
    return real(hermitian(made, sizes[-1], dims[-1], norm), dtype)


def hermitian_last(made, dims, sizes, norm, dtype):
    for d, n in zip(dims[:-1], sizes[:-1]):
        made = dft(made, n, d, norm, False)
    return real(hermitian(made, sizes[-1], dims[-1], norm, False), dtype)


def half_of_inverse(made, dims, sizes, norm, dtype):
    for d, n in zip(dims, sizes):
        made = dft(made, n, d, norm, True, (n or made.shape[d]) // 2 + 1 if d == dims[-1] else None)
    return view(made, dtype)


def two(f):
    return lambda x, s=None, dim=(-2, -1), norm=None: many(f)(x, s, dim, norm)


SEEN = "torch.view_as_real({})"
ONE = [C("x", X(5)), C("x, 4", X(2, 7)), C("x, 6, 0", X(4, 3)), C("x, norm='ortho'", X(3, 8)), C("x, None, 1, 'forward'", X(2, 6, 2)), C("x", X(1)), C("x, dim=-2, norm='backward'", X(4, 2))]
SOME = {"dtypes": WIDE, "tol": 8}
row("fft", one(False), *ONE, wrap=SEEN, **SOME)
row("ifft", one(True), *ONE, wrap=SEEN, **SOME)
row("rfft", lambda x, n=None, dim=-1, norm=None: view(half(spectrum(x), n, dim % x.ndim, norm), x.dtype), *ONE, C("x, 0", X(3), raises="Invalid number"), wrap=SEEN, **SOME)
row("irfft", lambda x, n=None, dim=-1, norm=None: real(hermitian(spectrum(x), n, dim % x.ndim, norm), x.dtype), *[c for c in ONE if c.inputs[0].shape != (1,)], C("x, 7", X(3)), C("x", X(1), raises="Invalid number"), **SOME)
TWO = [C("x", X(3, 4)), C("x, (2, 6)", X(2, 3, 4)), C("x, dim=(0, 1), norm='ortho'", X(3, 2, 2))]
MANY = [C("x", X(2, 3, 2)), C("x, (4,)", X(2, 3)), C("x, dim=(0, 2), norm='forward'", X(3, 2, 4))]
row("fft2", two(every(False)), *TWO, wrap=SEEN, **SOME)
row("ifft2", two(every(True)), *TWO, wrap=SEEN, **SOME)
row("rfft2", two(half_first), *TWO, wrap=SEEN, **SOME)
row("irfft2", two(half_last), *TWO, **SOME)
row("fftn", many(every(False)), *MANY, wrap=SEEN, **SOME)
row("ifftn", many(every(True)), *MANY, wrap=SEEN, **SOME)
row("rfftn", many(half_first), *MANY, wrap=SEEN, **SOME)
row("irfftn", many(half_last), *MANY, **SOME)
row("hfft", lambda x, n=None, dim=-1, norm=None: real(hermitian(spectrum(x), n, dim % x.ndim, norm, False), x.dtype), *[c for c in ONE if c.inputs[0].shape != (1,)], C("x, 7", X(3)), **SOME)
row("ihfft", lambda x, n=None, dim=-1, norm=None: half_of_inverse(spectrum(x), [dim % x.ndim], [n], norm, x.dtype), *ONE, wrap=SEEN, **SOME)
row("hfft2", two(hermitian_last), *TWO, **SOME)
row("ihfft2", two(half_of_inverse), *TWO, wrap=SEEN, **SOME)
row("hfftn", many(hermitian_last), *MANY, **SOME)
row("ihfftn", many(half_of_inverse), *MANY, wrap=SEEN, **SOME)
NONE = {"dtypes": ("float32",)}
row("fftfreq", lambda n, d=1.0, dtype="float32": Nd((n,), dtype, [cast((k if k < (n + 1) // 2 else k - n) / (n * d), dtype) for k in range(n)]), C("5"), C("6, 0.5"), C("4, d=2.0, dtype=torch.float64"), **NONE)
row("rfftfreq", lambda n, d=1.0, dtype="float32": Nd((n // 2 + 1,), dtype, [cast(k / (n * d), dtype) for k in range(n // 2 + 1)]), C("5"), C("6, 0.5"), C("1, dtype=torch.float64"), **NONE)


def shifted(amount):
    def call(x, dim=None):
        dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
        by = {d % x.ndim: amount(x.shape[d]) for d in dims}
        return Nd(x.shape, x.dtype, [x.at(tuple((i - by.get(d, 0)) % x.shape[d] for d, i in enumerate(p))) for p in places(x.shape)])

    return call


SHIFTS = [C("x", X(5)), C("x", X(2, 3)), C("x, 1", X(3, 4)), C("x, dim=(0, -1)", X(2, 3, 5))]
row("fftshift", shifted(lambda n: n // 2), *SHIFTS, dtypes=FLOATS)
row("ifftshift", shifted(lambda n: (n + 1) // 2), *SHIFTS, dtypes=FLOATS)


# ---- windows


def window(f):
    def call(n, periodic=True, *shape, dtype="float32", **named):
        last = n if periodic else n - 1
        return Nd((n,), dtype, [cast(1.0 if n == 1 else f(k / last, *shape, **named), dtype) for k in range(n)])

    return call


def bessel(x):
    return math.fsum((x / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(60))


WINDOWS = [C("8"), C("7, False"), C("5, periodic=False, dtype=torch.float64"), C("1"), C("0"), C("2")]
row("hann_window", window(lambda t: 0.5 - 0.5 * math.cos(2 * math.pi * t)), *WINDOWS, **NONE)
row("hamming_window", window(lambda t, alpha=0.54, beta=0.46: alpha - beta * math.cos(2 * math.pi * t)), *WINDOWS, C("6, True, 0.6, 0.4"), **NONE)
row("blackman_window", window(lambda t: 0.42 - 0.5 * math.cos(2 * math.pi * t) + 0.08 * math.cos(4 * math.pi * t)), *WINDOWS, **NONE)
row("bartlett_window", window(lambda t: 1 - abs(2 * t - 1)), *WINDOWS, **NONE)
row("kaiser_window", window(lambda t, beta=12.0: bessel(beta * math.sqrt(max(0, 1 - (2 * t - 1) ** 2))) / bessel(beta)), *WINDOWS, C("6, True, 4.5"), tol=16, **NONE)


def framed(weights, win_length, n_fft):
    weights = weights.flat() if weights is not None else [1.0] * win_length
    left = (n_fft - win_length) // 2
    return [0.0] * left + list(weights) + [0.0] * (n_fft - win_length - left)


def reflected(line, pad):
    return [line[abs(k) if k < len(line) else 2 * len(line) - 2 - k] for k in range(-pad, len(line) + pad)]


def stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=True, return_complex=True):
    hop = hop_length or n_fft // 4
    weights = framed(window, win_length or n_fft, n_fft)
    bins = n_fft // 2 + 1 if onesided else n_fft
    made = {}
    for p in places(x.shape[:-1]):
        line = [x.at(p + (k,)) for k in range(x.shape[-1])]
        line = reflected(line, n_fft // 2) if center else line
        count = (len(line) - n_fft) // hop + 1
        for t in range(count):
            for k in range(bins):
                v = sum(line[t * hop + j] * weights[j] * cmath.exp(-2j * math.pi * j * k / n_fft) for j in range(n_fft))
                made[p + (k, t)] = v * (scale(n_fft, "ortho", False) if normalized else 1)
    return view(Spectrum(x.shape[:-1] + (bins, count), made), x.dtype)


STFT = [
    C("x, 4, return_complex=True", X(9), wrap=SEEN),
    C("x, 4, 2, window=y, return_complex=True", X(2, 8), P(4), wrap=SEEN),
    C("x, 6, 2, 4, y, normalized=True, return_complex=True", X(2, 9), P(4), wrap=SEEN),
    C("x, 4, 3, center=False, onesided=False, return_complex=True", X(11), wrap=SEEN),
    C("x, 4, 2, return_complex=False", X(8)),
    C("x, 4", X(8), raises="return_complex"),
    C("x, 9, center=False, return_complex=True", X(8), raises="n_fft"),
]
row("stft", stft, *STFT, **SOME)


def istft(s, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, length=None):
    hop = hop_length or n_fft // 4
    weights = framed(window, win_length or n_fft, n_fft)
    lead, count = s.shape[:-3], s.shape[-2]
    total = n_fft + hop * (count - 1)
    made = {}
    start, end = (n_fft // 2, total - n_fft // 2) if center else (0, total)
    end = end if length is None else min(start + length, total)
    for p in places(lead):
        y, w = [0.0] * total, [0.0] * total
        for t in range(count):
            bins = {(k,): complex(s.at(p + (k, t, 0)), s.at(p + (k, t, 1))) for k in range(s.shape[-3])}
            frame = hermitian(Spectrum((s.shape[-3],), bins), n_fft, 0, "ortho" if normalized else None)
            for j in range(n_fft):
                y[t * hop + j] += frame.values[(j,)].real * weights[j]
                w[t * hop + j] += weights[j] ** 2
        made.update({p + (k - start,): y[k] / w[k] for k in range(start, end)})
    size = end - start if length is None else length
    return Nd(lead + (size,), s.dtype, [cast(made.get(p, 0.0), s.dtype) for p in places(lead + (size,))])


row("istft", istft, C("x, 4", X(3, 5, 2)), C("x, 4, 2, window=y", X(2, 3, 4, 2), P(4)), C("x, 6, 2, 4, y, normalized=True", X(4, 6, 2), P(4)), C("x, 4, 2, center=False, length=9", X(3, 5, 2)), C("x, 4, 1, length=12", X(3, 4, 2)), **SOME)


# ---- parts of floating numbers


def parts(x):
    pairs = [math.frexp(v) if math.isfinite(v) else (v, 0) for v in x.flat()]
    return (Nd(x.shape, x.dtype, [m for m, _ in pairs]), Nd(x.shape, "int32", [n for _, n in pairs]))


EDGES = [1.0, 0.5, -0.5, 2.0, 3.0, -0.75, 0.0, 1e-30, 6e-5, 60000.0, -8.0]
row("frexp", parts, C("x", X(2, 3)), C("x", X()), C("x", X(0)), C("x", S(9)), C("x", V(EDGES)), C("x", V([1e-42, 3e38, 2.0**-149, 1e-310], "float64")), C("x", V([1], "int64"), raises="floating"), dtypes=FLOATS)


def after(bits, pack):
    """The neighbour of a towards b, by the integers that the numbers are in memory."""

    def f(a, b):
        if a != a or b != b or a == b:
            return NAN if a != a or b != b else b
        n = struct.unpack(pack[0], struct.pack(pack[1], a))[0] >> (16 if bits == 17 else 0)
        top = 1 << ((16 if bits == 17 else bits) - 1)
        ordered = n if n < top else top - n
        ordered += 1 if b > a else -1
        n = ordered if ordered >= 0 else top - ordered
        return struct.unpack(pack[1], struct.pack(pack[0], n << (16 if bits == 17 else 0)))[0]

    return f


NEXT = {"float32": after(32, ("I", "f")), "bfloat16": after(17, ("I", "f")), "float16": after(16, ("H", "e"))}


def nextafter(x, y):
    return pointwise(NEXT[x.dtype])(x, y)


NUMBERS = V([1.0, 0.0, -1.0, 2.0, 0.5, 0.0, 3.0, 6e-5, INF, -INF, NAN, 1.5], shape=(12,))
TOWARDS = V([2.0, -1.0, 0.0, 0.0, INF, 1.0, 3.0, 0.0, 0.0, 7.0, 1.0, NAN], shape=(12,))
row("nextafter", nextafter, C("x, y", NUMBERS, TOWARDS), C("x, y", X(2, 3), X(2, 3)), C("x, y", X(2, 1), X(3)), C("x, y", X(0), X(0)), dtypes=("float32", "bfloat16", "float16"))
