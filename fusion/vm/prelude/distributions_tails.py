# torch.distributions: those of long tails, and transforms that few programs use.
import math
import torch
import torch.nn.functional as F
from _distribution_parts import positive, tensors
from torch.distributions import Cauchy, Distribution, Gamma, Normal, Transform, TransformedDistribution

_EULER = 0.57721566490153286060


class AbsTransform(Transform):
    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = tensors(exponent)[0]

    @property
    def sign(self):
        return self.exponent.sign()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class SoftplusTransform(Transform):
    sign = 1

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class SoftmaxTransform(Transform):
    def _call(self, x):
        odds = (x - x.max(-1, True)[0]).exp()
        return odds / odds.sum(-1, True)

    def _inverse(self, y):
        return y.log()


class ReshapeTransform(Transform):
    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])


class StickBreakingTransform(Transform):
    def _left(self, x):
        """How many parts each breaks a share of."""
        n = x.shape[-1]
        return (n + 1 - torch.arange(1, n + 1, dtype=x.dtype)).log()

    def _call(self, x):
        info = torch.finfo(x.dtype)
        share = torch.clamp(torch.sigmoid(x - self._left(x)), min=info.tiny, max=1.0 - info.eps)
        return F.pad(share, [0, 1], value=1) * F.pad((1 - share).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        kept = y[..., :-1]
        rest = torch.clamp(1 - kept.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return kept.log() - rest.log() + self._left(kept)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._left(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)


class HalfCauchy(Distribution):
    has_rsample = True
    _parameters = (("scale", positive),)

    def __init__(self, scale, validate_args=None):
        (self.scale,) = tensors(scale)
        self.base_dist = Cauchy(0, self.scale, validate_args=False)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self):
        return torch.full_like(self.scale, math.inf)

    @property
    def mode(self):
        return torch.zeros_like(self.scale)

    @property
    def variance(self):
        return self.base_dist.variance

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value):
        value = torch.as_tensor(value, dtype=self.scale.dtype)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class InverseGamma(Distribution):
    has_rsample = True
    _parameters = (("concentration", positive), ("rate", positive))

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = tensors(concentration, rate)
        self.base_dist = Gamma(self.concentration, self.rate, validate_args=False)
        super().__init__(self.concentration.shape, (), validate_args)

    @property
    def mean(self):
        return torch.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        return torch.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).reciprocal()

    def log_prob(self, value):
        return self.base_dist.log_prob(value.reciprocal()) - 2 * value.log()

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Pareto(Distribution):
    has_rsample = True
    _parameters = (("alpha", positive), ("scale", positive))

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = tensors(scale, alpha)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self):
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        return self.scale

    @property
    def variance(self):
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def rsample(self, sample_shape=()):
        drawn = self.alpha.new_empty(self._extended_shape(sample_shape)).exponential_()
        return self.scale * (drawn / self.alpha).exp()

    def log_prob(self, value):
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def cdf(self, value):
        return 1 - (self.scale / value).pow(self.alpha)

    def icdf(self, value):
        return self.scale * (1 - value).pow(-1 / self.alpha)

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(Distribution):
    has_rsample = True
    _parameters = (("scale", positive), ("concentration", positive))

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = tensors(scale, concentration)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self):
        return self.scale * torch.exp(torch.lgamma(1 + 1 / self.concentration))

    @property
    def mode(self):
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self):
        k = self.concentration
        return self.scale.pow(2) * (torch.exp(torch.lgamma(1 + 2 / k)) - torch.exp(2 * torch.lgamma(1 + 1 / k)))

    def rsample(self, sample_shape=()):
        drawn = self.scale.new_empty(self._extended_shape(sample_shape)).exponential_()
        return self.scale * drawn.pow(self.concentration.reciprocal())

    def log_prob(self, value):
        k, far = self.concentration, value / self.scale
        return k.log() - self.scale.log() + (k - 1) * far.log() - far.pow(k)

    def cdf(self, value):
        return 1 - torch.exp(-(value / self.scale).pow(self.concentration))

    def icdf(self, value):
        return self.scale * (-torch.log1p(-value)).pow(self.concentration.reciprocal())

    def entropy(self):
        one = self.concentration.reciprocal()
        return _EULER * (1 - one) + torch.log(self.scale * one) + 1


class Kumaraswamy(Distribution):
    has_rsample = True
    _parameters = (("concentration1", positive), ("concentration0", positive))

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = tensors(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        inner = 1 + n / a
        return torch.exp(b.log() + torch.lgamma(inner) + torch.lgamma(b) - torch.lgamma(inner + b))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        found = a.reciprocal() * (-b).log1p() - (-a * b).log1p() / a
        return found.exp().masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self):
        return self._moment(2) - torch.pow(self.mean, 2)

    def rsample(self, sample_shape=()):
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.concentration1.dtype))

    def log_prob(self, value):
        a, b = self.concentration1, self.concentration0
        return a.log() + b.log() + (a - 1) * value.log() + (b - 1) * torch.log1p(-value.pow(a))

    def cdf(self, value):
        return 1 - (1 - value.pow(self.concentration1)).pow(self.concentration0)

    def icdf(self, value):
        return (1 - (1 - value).pow(self.concentration0.reciprocal())).pow(self.concentration1.reciprocal())

    def entropy(self):
        one, zero = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = torch.digamma(self.concentration0 + 1) + _EULER
        return zero + one * harmonic - torch.log(self.concentration1) - torch.log(self.concentration0)


class FisherSnedecor(Distribution):
    has_rsample = True
    _parameters = (("df1", positive), ("df2", positive))

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = tensors(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    @property
    def mean(self):
        return torch.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self):
        return torch.where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self):
        a, b = self.df1, self.df2
        return torch.where(b > 4, 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4)), math.nan)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        above = Gamma(self.df1 * 0.5, self.df1, validate_args=False).rsample(sample_shape).view(shape)
        below = Gamma(self.df2 * 0.5, self.df2, validate_args=False).rsample(sample_shape).view(shape)
        tiny = torch.finfo(self.df1.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value):
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        t = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log() + (a - 1) * value.log()
        return t - (a + b) * torch.log1p(ratio * value)


class LogisticNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        self._breaking = StickBreakingTransform()
        super().__init__(base, [self._breaking], validate_args=validate_args)
        self._batch_shape = base.batch_shape[:-1]
        self._event_shape = torch.Size((base.batch_shape[-1] + 1,))

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    def log_prob(self, value):
        x = self._breaking._inverse(value)
        return self.base_dist.log_prob(x).sum(-1) - self._breaking.log_abs_det_jacobian(x, value)


class LowRankMultivariateNormal(Distribution):
    """Its covariance is cov_factor @ cov_factor.mT + diag(cov_diag)."""

    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch + event)
        super().__init__(batch, event, validate_args)

    @property
    def _inner(self):
        """The Cholesky factor of I + W' D^-1 W, as wide as cov_factor."""
        narrow = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        return torch.linalg.cholesky(narrow @ self.cov_factor + torch.eye(self.cov_factor.shape[-1], dtype=self.loc.dtype))

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self):
        return self.cov_factor @ self.cov_factor.mT + torch.diag_embed(self.cov_diag)

    @property
    def scale_tril(self):
        return torch.linalg.cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self):
        return torch.linalg.inv(self.covariance_matrix)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        wide = torch.randn(shape[:-1] + self.cov_factor.shape[-1:], dtype=self.loc.dtype)
        each = torch.randn(shape, dtype=self.loc.dtype)
        return self.loc + (self.cov_factor @ wide.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * each

    def _log_det(self, inner):
        return 2 * inner.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def log_prob(self, value):
        far, inner = value - self.loc, self._inner
        side = (self.cov_factor.mT / self.cov_diag.unsqueeze(-2)) @ far.unsqueeze(-1)
        side = torch.linalg.solve_triangular(inner.expand(side.shape[:-2] + inner.shape[-2:]), side, upper=False).squeeze(-1)
        away = (far.pow(2) / self.cov_diag).sum(-1) - side.pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det(inner) + away)

    def entropy(self):
        return 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det(self._inner))

    def expand(self, batch_shape):
        batch, event = torch.Size(batch_shape), self._event_shape
        factor = self.cov_factor.expand(batch + self.cov_factor.shape[-2:])
        return LowRankMultivariateNormal(self.loc.expand(batch + event), factor, self.cov_diag.expand(batch + event), validate_args=False)
