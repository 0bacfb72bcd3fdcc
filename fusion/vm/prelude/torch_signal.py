# torch: windows and short-time Fourier transforms, and the parts of floating numbers.
# What begins with "One call" is one node to FX.
import math

import torch
import torch.nn.functional as F


def _cosines(window_length, periodic, weights, dtype):
    """weights[0] - weights[1] cos(2 pi k / n) + weights[2] cos(4 pi k / n)"""
    dtype = dtype or torch.get_default_dtype()
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype)
    n = window_length if periodic else window_length - 1
    turns = torch.arange(window_length).double() * (2 * math.pi / n)
    made = weights[0] - weights[1] * torch.cos(turns)
    if weights[2]:
        made = made + weights[2] * torch.cos(2 * turns)
    return made.to(dtype)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """One call."""
    return _cosines(window_length, periodic, (0.5, 0.5, 0), dtype)


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None,
    pin_memory=False, requires_grad=False,
):
    """One call."""
    return _cosines(window_length, periodic, (alpha, beta, 0), dtype)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """One call."""
    return _cosines(window_length, periodic, (0.42, 0.5, 0.08), dtype)


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """One call."""
    dtype = dtype or torch.get_default_dtype()
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype)
    n = window_length if periodic else window_length - 1
    return (1 - torch.abs(torch.arange(window_length).double() * (2 / n) - 1)).to(dtype)


def kaiser_window(
    window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None,
    pin_memory=False, requires_grad=False,
):
    """One call."""
    dtype = dtype or torch.get_default_dtype()
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype)
    n = window_length if periodic else window_length - 1
    x = torch.arange(window_length).double() * (2 / n) - 1
    height = torch.i0(torch.tensor(float(beta), dtype=torch.float64))
    return (torch.i0(beta * torch.sqrt((1 - x * x).clamp(min=0))) / height).to(dtype)


def _whole_window(window, win_length, n_fft, dtype):
    """The window in the middle of n_fft places."""
    if win_length < 1 or win_length > n_fft:
        raise RuntimeError(f"expected 0 < win_length <= n_fft, but got win_length={win_length}")
    made = torch.ones(win_length, dtype=dtype) if window is None else window
    if made.dim() != 1 or made.shape[0] != win_length:
        raise RuntimeError(f"expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(made.shape)}")
    left = (n_fft - win_length) // 2
    return F.pad(made, (left, n_fft - win_length - left)) if win_length < n_fft else made


def stft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
    normalized=False, onesided=None, return_complex=None, align_to_window=None,
):
    """One call."""
    if return_complex is None:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop < 1:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    x = input.unsqueeze(0) if input.dim() == 1 else input
    if center:
        x = F.pad(x.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    if n_fft < 1 or n_fft > x.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x.shape[-1]}, but got n_fft={n_fft}")
    frames = x.unfold(-1, n_fft, hop)
    frames = frames * _whole_window(window, n_fft if win_length is None else win_length, n_fft, x.dtype)
    norm = "ortho" if normalized else None
    made = torch.fft.rfft(frames, norm=norm) if onesided is not False else torch.fft.fft(frames, norm=norm)
    made = made.transpose(-1, -2)
    made = made.squeeze(0) if input.dim() == 1 else made
    return made if return_complex else torch.view_as_real(made)


def istft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False,
    onesided=None, length=None, return_complex=False,
):
    """One call."""
    if return_complex or onesided is False:
        raise NotImplementedError("istft gives real signals of one-sided spectra here: leave return_complex and onesided out")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if input.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    if not 0 < hop <= width:
        raise RuntimeError(f"istft: Expected 0 < hop_length <= win_length, but got hop_length={hop}")
    spectra = input if torch.is_complex(input) else torch.view_as_complex(input)
    single = spectra.dim() == 2
    spectra = spectra.unsqueeze(0) if single else spectra
    real = spectra.real
    whole = _whole_window(window, n_fft if win_length is None else win_length, n_fft, real.dtype)
    frames = torch.fft.irfft(spectra.transpose(-1, -2), n_fft, norm="ortho" if normalized else None) * whole
    batch, count = frames.shape[0], frames.shape[1]
    total = n_fft + hop * (count - 1)
    places = (torch.arange(count).unsqueeze(1) * hop + torch.arange(n_fft)).reshape(-1)
    y = frames.new_zeros((batch, total)).index_add(1, places, frames.reshape(batch, -1))
    weight = (whole * whole).expand(count, n_fft).reshape(-1)
    envelope = frames.new_zeros(total).index_add(0, places, weight)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    if not torch._C._is_traced() and not bool(envelope[start:end].abs().min() > 1e-11):
        raise RuntimeError("istft: window overlap add min: 1")
    made = y[:, start:end] / envelope[start:end]
    if length is not None and made.shape[1] < length:
        made = F.pad(made, (0, length - made.shape[1]))
    return made.squeeze(0) if single else made


# ---- mantissa and exponent


def _two_to(n):
    """2 ** n in float64, exactly, in two steps: one alone may leave the range."""
    half = torch.floor(n * 0.5)
    return torch.exp2(half) * torch.exp2(n - half)


def _exponent(x):
    """Of float64: the n of |x| = m 2^n, 0.5 <= m < 1; 0 for 0, infinities and NaN."""
    usual = torch.isfinite(x) & (x != 0)
    size = torch.where(usual, torch.abs(x), 1.0)
    small = size < 2.0**-900
    size = torch.where(small, size * 2.0**200, size)
    n = torch.floor(torch.log2(size)) + 1
    m = size * torch.exp2(-n * 0.5 // 1) * torch.exp2(-n - (-n * 0.5 // 1))
    n = torch.where(m >= 1, n + 1, torch.where(m < 0.5, n - 1, n))
    return torch.where(usual, torch.where(small, n - 200, n), 0.0)


def frexp(input, *, out=None):
    """One call."""
    if not input.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    x = input.double()
    n = _exponent(x)
    half = torch.floor(-n * 0.5)
    mantissa = x * torch.exp2(half) * torch.exp2(-n - half)
    return torch._C.pair("frexp", torch._C.getitem(mantissa.to(input.dtype)), torch._C.getitem(n.to(torch.int32)))


_SPACING = {torch.float32: (24, -149, 2.0**128), torch.bfloat16: (8, -133, 2.0**128), torch.float16: (11, -24, 65536.0)}


def nextafter(input, other, *, out=None):
    """One call."""
    dtype = torch.promote_types(input.dtype, other.dtype)
    if dtype not in _SPACING:
        raise NotImplementedError(f"nextafter is not in the language for {dtype}: float32, bfloat16 and float16 are")
    digits, least, past = _SPACING[dtype]
    x, y = torch.broadcast_tensors(input.to(dtype).double(), other.to(dtype).double())
    n = _exponent(x)
    inward = torch.abs(x) == _two_to(n - 1)  # a power of two: the numbers below lie closer
    up = y > x
    towards_zero = (x > 0) != up
    step = torch.exp2(torch.clamp(n - digits - (inward & towards_zero).double(), min=float(least)))
    step = torch.where(x == 0, 2.0**least, step)
    made = torch.where(up, x + step, x - step)
    most = past - past * 2.0**-digits
    made = torch.where(torch.isinf(x), torch.where(up, -most, most), made)
    made = torch.where(torch.abs(made) >= past, torch.where(up, torch.inf, -torch.inf), made)
    made = torch.where(x == y, y, torch.where(torch.isnan(x) | torch.isnan(y), torch.nan, made))
    return made.to(dtype)
