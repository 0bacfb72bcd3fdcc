# torch.signal.windows, each by its formula; sym=False: one period of a periodic window.
import math

import torch


def _places(name, M, dtype):
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    dtype = dtype or torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"expected float32 or float64 dtype, got: {dtype}")
    return dtype, torch.ones(M, dtype=dtype) if M < 2 else None


def _line(start, step, M, dtype):
    return torch.linspace(start * step, (start + (M - 1)) * step, M, dtype=dtype)


def _middle(M, sym):
    return -(M - 1 if sym or M < 2 else M) / 2.0


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False
):
    dtype, short = _places("exponential", M, dtype)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if short is not None:
        return short
    return torch.exp(-torch.abs(_line(_middle(M, sym) if center is None else -center, 1 / tau, M, dtype)))


def cosine(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    dtype, short = _places("cosine", M, dtype)
    if short is not None:
        return short
    return torch.sin(_line(0.5, math.pi / (M if sym else M + 1), M, dtype))


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    dtype, short = _places("gaussian", M, dtype)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if short is not None:
        return short
    return torch.exp(-(_line(_middle(M, sym), 1 / (std * math.sqrt(2)), M, dtype) ** 2))


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    dtype, short = _places("kaiser", M, dtype)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if short is not None:
        return short
    beta_of = torch.tensor(float(beta), dtype=dtype)
    step = 2.0 * beta / (M - 1 if sym else M)
    k = torch.linspace(-beta, min(beta, -beta + (M - 1) * step), M, dtype=dtype)
    return torch.i0(torch.sqrt(beta_of * beta_of - k * k)) / torch.i0(beta_of)


def bartlett(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    dtype, short = _places("bartlett", M, dtype)
    if short is not None:
        return short
    step = 2.0 / (M - 1 if sym else M)
    return 1 - torch.abs(torch.linspace(-1, -1 + (M - 1) * step, M, dtype=dtype))


def general_cosine(M, *, a, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    dtype, short = _places("general_cosine", M, dtype)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if short is not None:
        return short
    k = _line(0, 2 * math.pi / (M - 1 if sym else M), M, dtype)
    signed = torch.tensor([(-1) ** i * w for i, w in enumerate(a)], dtype=dtype)
    return (signed.unsqueeze(-1) * torch.cos(torch.arange(len(a), dtype=dtype).unsqueeze(-1) * k)).sum(0)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype)


def hamming(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return general_hamming(M, sym=sym, dtype=dtype)


def hann(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype)


def blackman(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype)


def nuttall(M, *, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype)
