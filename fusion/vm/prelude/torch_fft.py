# torch.fft: discrete Fourier transforms, as products with a matrix of cosines and one of
# sines in float64.  A complex tensor is a pair of real ones (torch.complex).
import math

import torch


def _parts(input):
    if not torch.is_complex(input):
        return input, None
    return input.real, input.imag


def _scale(n, norm, inverse):
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(f"Invalid normalization mode: {norm!r}; 'backward', 'ortho' and 'forward' are")
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if inverse == (norm in (None, "backward")) else 1.0


def _last(x, dim, n):
    """x in float64 with dim as the last one, cut or filled up with zeros to n places."""
    x = x.movedim(dim, -1).double()
    have = x.shape[-1]
    if n < have:
        return x.narrow(-1, 0, n)
    return torch.cat((x, x.new_zeros(list(x.shape[:-1]) + [n - have])), -1) if n > have else x


def _waves(rows, columns, n):
    """Cosines and sines of 2 pi j k / n."""
    turns = torch.arange(rows).unsqueeze(1) * torch.arange(columns) % n
    angles = turns.double() * (2 * math.pi / n)
    upright, flat = turns * 4 % n == 0, turns * 2 % n == 0  # quarters of a turn are exact
    return torch.where(upright & ~flat, 0.0, torch.cos(angles)), torch.where(flat, 0.0, torch.sin(angles))


def _float(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _length(x, n, dim):
    n = x.shape[dim] if n is None else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _transform(input, n, dim, norm, inverse, bins=None):
    """The transform along one dim; of the first `bins` frequencies, where given."""
    a, b = _parts(input)
    dtype = _float(a)
    n = _length(a, n, dim)
    cosines, sines = _waves(n, n if bins is None else bins, n)
    if not inverse:
        sines = -sines
    re, scale = _last(a, dim, n), _scale(n, norm, inverse)
    real, imag = re @ cosines, re @ sines
    if b is not None:
        im = _last(b, dim, n)
        real, imag = real - im @ sines, imag + im @ cosines
    real, imag = (real * scale).to(dtype), (imag * scale).to(dtype)
    return torch.complex(real.movedim(-1, dim), imag.movedim(-1, dim))


def _back(input, n, dim, norm):
    """Real numbers of the frequencies up to the half."""
    a, b = _parts(input)
    dtype = _float(a)
    n = 2 * (a.shape[dim] - 1) if n is None else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    bins = n // 2 + 1
    cosines, sines = _waves(bins, n, n)
    twice = torch.full((bins,), 2.0, dtype=torch.float64)
    twice[0] = 1.0
    if n % 2 == 0:
        twice[-1] = 1.0
    made = (_last(a, dim, bins) * twice) @ cosines
    if b is not None:
        made = made - (_last(b, dim, bins) * twice) @ sines
    return (made * _scale(n, norm, True)).to(dtype).movedim(-1, dim)


def _axes(input, s, dim):
    rank = input.dim()
    if isinstance(dim, int):
        dim = (dim,)
    if isinstance(s, int):
        s = (s,)
    if dim is not None and s is not None and len(dim) != len(s):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if s is not None and len(s) > rank:
        raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {rank} dimensions.")
    for d in () if dim is None else dim:
        if not -rank <= d < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {d})")
    if dim is not None and len(set([d % rank for d in dim])) != len(dim):
        raise RuntimeError("FFT dims must be unique")
    if dim is None:
        dim = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    return [d % rank for d in dim], [None] * len(dim) if s is None else list(s)


def _every(input, s, dim, norm, inverse):
    dims, sizes = _axes(input, s, dim)
    for d, n in zip(dims, sizes):
        input = _transform(input, n, d, norm, inverse)
    return input


def _half(input, s, dim, norm):
    if torch.is_complex(input):
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {input.dtype}")
    dims, sizes = _axes(input, s, dim)
    n = _length(input, sizes[-1], dims[-1])
    made = _transform(input, n, dims[-1], norm, False, n // 2 + 1)
    for d, n in zip(dims[:-1], sizes[:-1]):
        made = _transform(made, n, d, norm, False)
    return made


def _back_every(input, s, dim, norm):
    dims, sizes = _axes(input, s, dim)
    for d, n in zip(dims[:-1], sizes[:-1]):
        input = _transform(input, n, d, norm, True)
    return _back(input, sizes[-1], dims[-1], norm)


def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_fft."""
    return _transform(input, n, dim, norm, False)


def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_ifft."""
    return _transform(input, n, dim, norm, True)


def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_rfft."""
    return _half(input, [n], [dim], norm)


def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_irfft."""
    return _back(input, n, dim, norm)


_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward"}  # whose sum is scaled


def _conj(x):
    return torch.conj(x) if torch.is_complex(x) else x


def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_hfft."""
    return _back(_conj(input), n, dim, _OTHER_WAY.get(norm, norm))


def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    """One call: fft_ihfft."""
    return torch.conj(_half(input, [n], [dim], _OTHER_WAY.get(norm, norm)))


def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_hfft2."""
    return _back_every(_conj(input), s, dim, _OTHER_WAY.get(norm, norm))


def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_ihfft2."""
    return torch.conj(_half(input, s, dim, _OTHER_WAY.get(norm, norm)))


def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_hfftn."""
    return _back_every(_conj(input), s, dim, _OTHER_WAY.get(norm, norm))


def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_ihfftn."""
    return torch.conj(_half(input, s, dim, _OTHER_WAY.get(norm, norm)))


def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_fft2."""
    return _every(input, s, dim, norm, False)


def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_ifft2."""
    return _every(input, s, dim, norm, True)


def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_rfft2."""
    return _half(input, s, dim, norm)


def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """One call: fft_irfft2."""
    return _back_every(input, s, dim, norm)


def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_fftn."""
    return _every(input, s, dim, norm, False)


def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_ifftn."""
    return _every(input, s, dim, norm, True)


def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_rfftn."""
    return _half(input, s, dim, norm)


def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """One call: fft_irfftn."""
    return _back_every(input, s, dim, norm)


def fftfreq(n, d=1.0, *, out=None, dtype=None, device=None, requires_grad=False):
    """One call: fft_fftfreq."""
    places = torch.arange(n)
    places = torch.where(places < (n + 1) // 2, places, places - n)
    return places.to(dtype or torch.get_default_dtype()) * (1.0 / (n * d))


def rfftfreq(n, d=1.0, *, out=None, dtype=None, device=None, requires_grad=False):
    """One call: fft_rfftfreq."""
    return torch.arange(n // 2 + 1).to(dtype or torch.get_default_dtype()) * (1.0 / (n * d))


def _shifted(input, dim, half):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return torch.roll(input, [half(input.shape[d]) for d in dims], dims)


def fftshift(input, dim=None):
    """One call: fft_fftshift."""
    return _shifted(input, dim, lambda n: n // 2)


def ifftshift(input, dim=None):
    """One call: fft_ifftshift."""
    return _shifted(input, dim, lambda n: (n + 1) // 2)
