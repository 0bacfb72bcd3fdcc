# Draws of torch.distributions that are made of gamma's, as PyTorch draws them on a CPU, with their gradients.
import math
import torch

_THIRD, _SQUEEZE = 0.3333333432674408, 0.03310000151395798  # 1 / 3 and 0.0331 in float32
_LEAST_SHARE = 1e-17  # of a sum, of the terms that end it


def _one(d, power, unit, normal):
    """A draw by Marsaglia's and Tsang's rejection; power: of the share of one more, where the shape is below 1."""
    scale = 1.0 if power is None else (1 - unit()) ** power
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v, u, square = y * y * y, 1 - unit(), x * x
        if u < 1.0 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _draws(alpha):
    """In float64; the arithmetic before a draw is of alpha's dtype."""
    unit = lambda: torch.rand((), dtype=torch.float64).item()
    normal = lambda: torch.randn((), dtype=torch.float64).item()
    flat = alpha.detach().reshape(-1)
    ds = (torch.where(flat < 1, flat + 1, flat) - _THIRD).tolist()
    powers = (1.0 / flat).tolist()
    made = [
        0.0 if a == 0 else _one(d, power if a < 1 else None, unit, normal)
        for a, d, power in zip(flat.tolist(), ds, powers)
    ]
    return torch.tensor(made, dtype=torch.float64).reshape(alpha.shape)


def _gamma_slope(x, a):
    """How a draw of gamma's moves with its shape, where as much lies below it as before: both are in float64."""
    more, term, n = torch.log(x) - torch.digamma(a + 1), torch.ones_like(x), 0
    total, size = more.clone(), term.clone()
    while bool((term > _LEAST_SHARE * size).any()):
        n += 1
        term = term * x / (a + n)
        more = more - 1 / (a + n)
        total, size = total + term * more, size + term
    return -x / a * total


def _sum_of_beta(x, p, total, more, falls):
    """Of the series of beta's share below x, each term times the slope of its logarithm, which begins as `more`."""
    term, n = torch.ones_like(x), 0
    found, size = more.clone(), term.clone()
    while bool((term > _LEAST_SHARE * size).any()):
        n += 1
        term = term * x * (total + n - 1) / (p + n)
        more = more + 1 / (total + n - 1) - (1 / (p + n) if falls else 0.0)
        found, size = found + term * more, size + term
    return found


def _beta_slope(x, a, total):
    """Likewise of a draw of beta's with its first number, over 1 - x."""
    b, y, low = total - a, 1 - x, x * total <= a
    base = torch.log(x) - torch.digamma(a) + torch.digamma(total)
    below = _sum_of_beta(torch.where(low, x, 0.0), a, total, base - 1 / a, True)
    above = _sum_of_beta(torch.where(low, 0.0, y), b, total, base, False)
    return torch.where(low, -x / a * below, x / b * above)


class _StandardGamma(torch.autograd.Function):
    @staticmethod
    def forward(ctx, alpha):
        made = _draws(alpha).to(alpha.dtype).clamp(min=torch.finfo(alpha.dtype).tiny)
        ctx.save_for_backward(made, alpha)
        return made

    @staticmethod
    def backward(ctx, g):
        made, alpha = ctx.saved_tensors
        return g * _gamma_slope(made.double(), alpha.double()).to(g.dtype)


class _Dirichlet(torch.autograd.Function):
    @staticmethod
    def forward(ctx, alpha):
        drawn = _draws(alpha.double()).clamp(min=torch.finfo(torch.float64).tiny)
        made = (drawn / drawn.sum(-1, True)).to(alpha.dtype)
        limits = torch.finfo(alpha.dtype)
        made = made.clamp(limits.tiny, 1 - limits.eps / 2)
        ctx.save_for_backward(made, alpha)
        return made

    @staticmethod
    def backward(ctx, g):
        made, alpha = ctx.saved_tensors
        wide = alpha.double()
        slope = _beta_slope(made.double(), wide, wide.sum(-1, True).expand(wide.shape)).to(g.dtype)
        return slope * (g - (made * g).sum(-1, True))


def standard_gamma(alpha):
    return _StandardGamma.apply(alpha)


def dirichlet(alpha):
    return _Dirichlet.apply(alpha)
