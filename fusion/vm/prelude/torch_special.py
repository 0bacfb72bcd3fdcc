# torch.special: other names of functions of torch, one node to FX each.
import math

import torch


def expit(input, *, out=None):
    """One call: special_expit."""
    return torch.sigmoid(input)


def exp2(input, *, out=None):
    """One call: special_exp2."""
    return torch.exp2(input)


def expm1(input, *, out=None):
    """One call: special_expm1."""
    return torch.expm1(input)


def log1p(input, *, out=None):
    """One call: special_log1p."""
    return torch.log1p(input)


def erf(input, *, out=None):
    """One call: special_erf."""
    return torch.erf(input)


def erfc(input, *, out=None):
    """One call: special_erfc."""
    return torch.erfc(input)


def erfinv(input, *, out=None):
    """One call: special_erfinv."""
    return torch.erfinv(input)


def gammaln(input, *, out=None):
    """One call: special_gammaln."""
    return torch.lgamma(input)


def digamma(input, *, out=None):
    """One call: special_digamma."""
    return torch.digamma(input)


def psi(input, *, out=None):
    """One call: special_psi."""
    return torch.digamma(input)


def i0(input, *, out=None):
    """One call: special_i0."""
    return torch.i0(input)


def sinc(input, *, out=None):
    """One call: special_sinc."""
    return torch.sinc(input)


def round(input, *, decimals=0, out=None):
    """One call: special_round."""
    return torch.round(input, decimals=decimals)


def logit(input, eps=None, *, out=None):
    """One call: special_logit."""
    return torch.logit(input, eps)


def xlogy(input, other, *, out=None):
    """One call: special_xlogy."""
    return torch.xlogy(input, other)


def xlog1py(input, other, *, out=None):
    """One call: special_xlog1py."""
    input, other = torch.as_tensor(input), torch.as_tensor(other)
    return torch.where(torch.isnan(other), math.nan, torch.where(input == 0, 0.0, input * torch.log1p(other)))


def entr(input, *, out=None):
    """One call: special_entr."""
    made = -input * torch.log(torch.where(input > 0, input, 1.0))
    root = torch.sqrt(torch.where(input > 0, 1.0, input))  # its derivative is infinite at 0, as that of entr
    return torch.where(input > 0, made, torch.where(input == 0, root, torch.where(input < 0, -math.inf, input)))


def ndtr(input, *, out=None):
    """One call: special_ndtr."""
    return 0.5 * torch.erfc(-input * math.sqrt(0.5))


def erfcx(input, *, out=None):
    """One call: special_erfcx."""
    x = input.double()
    near = x.clamp(max=25)
    far = x.clamp(min=25)
    square = 1 / (far * far)
    tail = (1 - square * (0.5 - square * (0.75 - square * 1.875))) / (far * math.sqrt(math.pi))
    made = torch.where(x < 25, torch.exp(near * near) * torch.erfc(near), tail)
    return made.to(input.dtype if input.dtype.is_floating_point else torch.get_default_dtype())


def log_ndtr(input, *, out=None):
    """One call: special_log_ndtr."""
    t = input * math.sqrt(0.5)
    low = torch.log(erfcx(-t.clamp(max=-0.5)) / 2) - t * t
    return torch.where(input < -1, low, torch.log1p(-torch.erfc(t.clamp(min=-1)) / 2))


def polygamma(n, input, *, out=None):
    """One call: special_polygamma."""
    return torch.polygamma(n, input)


def multigammaln(input, p, *, out=None):
    """One call: special_multigammaln."""
    return torch.mvlgamma(input, p)


def ndtri(input, *, out=None):
    """One call: special_ndtri."""
    return torch.erfinv(2 * input - 1) * math.sqrt(2.0)


def logsumexp(input, dim, keepdim=False, *, out=None):
    """One call: special_logsumexp."""
    return torch.logsumexp(input, dim, keepdim)


def softmax(input, dim, *, dtype=None):
    """One call: softmax."""
    return torch.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """One call: log_softmax."""
    return torch.log_softmax(input, dim, dtype=dtype)
