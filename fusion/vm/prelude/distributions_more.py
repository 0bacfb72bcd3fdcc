# torch.distributions: those of several numbers at once, of counts, and of transformed numbers.
import math
import torch
import torch.nn.functional as F
from _distribution_parts import positive, real, tensors
from _gamma_draws import dirichlet, standard_gamma
from torch.distributions import Bernoulli, Categorical, Distribution, Exponential, Independent, Normal

_EULER = 0.57721566490153286060


class MultivariateNormal(Distribution):
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if given[0].dim() < 2:
            raise ValueError("the matrix must be at least two-dimensional, with optional leading batch dimensions")
        if scale_tril is None:
            matrix = covariance_matrix if precision_matrix is None else torch.linalg.inv(precision_matrix)
            scale_tril = torch.linalg.cholesky(matrix)
        batch = torch.broadcast_shapes(scale_tril.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(batch + loc.shape[-1:])
        self.scale_tril = scale_tril.expand(batch + scale_tril.shape[-2:])
        super().__init__(batch, loc.shape[-1:], validate_args)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def covariance_matrix(self):
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self):
        return torch.linalg.inv(self.covariance_matrix)

    @property
    def variance(self):
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape=()):
        eps = torch.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self.scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        far = (value - self.loc).unsqueeze(-1)
        tril = self.scale_tril.expand(far.shape[:-2] + self.scale_tril.shape[-2:])
        far = torch.linalg.solve_triangular(tril, far, upper=False).squeeze(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + far.pow(2).sum(-1)) - self._half_log_det()

    def entropy(self):
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()

    def __repr__(self):
        return f"MultivariateNormal(loc: {self.loc.size()}, scale_tril: {self.scale_tril.size()})"

    def expand(self, batch_shape):
        batch, event = torch.Size(batch_shape), self._event_shape
        return MultivariateNormal(self.loc.expand(batch + event), scale_tril=self.scale_tril.expand(batch + event + event), validate_args=False)


class Gamma(Distribution):
    has_rsample = True
    _parameters = (("concentration", positive), ("rate", positive))

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = tensors(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn.detach().clamp_(min=torch.finfo(drawn.dtype).tiny)
        return drawn

    def log_prob(self, value):
        a, b = self.concentration, self.rate
        return torch.xlogy(a, b) + torch.xlogy(a - 1, value) - b * value - torch.lgamma(a)

    def entropy(self):
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)


class Chi2(Gamma):
    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * tensors(df)[0], 0.5, validate_args=validate_args)

    @property
    def df(self):
        return self.concentration * 2

    def expand(self, batch_shape):
        return Chi2(self.df.expand(batch_shape), validate_args=False)


class Dirichlet(Distribution):
    has_rsample = True
    _parameters = (("concentration", positive),)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self):
        a = self.concentration
        total = a.sum(-1)
        return (
            torch.lgamma(a).sum(-1)
            - torch.lgamma(total)
            - (a.size(-1) - total) * torch.digamma(total)
            - ((a - 1.0) * torch.digamma(a)).sum(-1)
        )

    @property
    def mode(self):
        over = (self.concentration - 1).clamp(min=0.0)
        found = over / over.sum(-1, True)
        none = (self.concentration < 1).all(dim=-1, keepdim=True)
        largest = F.one_hot(found.argmax(dim=-1), self.concentration.shape[-1]).to(found)
        return torch.where(none, largest, found)

    def expand(self, batch_shape):
        return Dirichlet(self.concentration.expand(torch.Size(batch_shape) + self._event_shape), validate_args=False)


class Beta(Distribution):
    has_rsample = True
    _parameters = (("concentration1", positive), ("concentration0", positive))

    def __init__(self, concentration1, concentration0, validate_args=None):
        self._dirichlet = Dirichlet(torch.stack(tensors(concentration1, concentration0), -1), validate_args=False)
        super().__init__(self._dirichlet.batch_shape, (), validate_args)

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    def expand(self, batch_shape):
        return Beta(self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape), validate_args=False)


class Poisson(Distribution):
    _parameters = (("rate", positive),)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        rate, value = torch.broadcast_tensors(self.rate, value)
        return torch.xlogy(value, rate) - rate - torch.lgamma(value + 1)

    @property
    def mode(self):
        return self.rate.floor()


class Geometric(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._bernoulli = Bernoulli(probs, logits, validate_args=False)
        super().__init__(self._bernoulli.batch_shape, (), validate_args)

    @property
    def probs(self):
        return self._bernoulli.probs

    @property
    def logits(self):
        return self._bernoulli.logits

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        with torch.no_grad():
            probs = self.probs.expand(self._extended_shape(sample_shape))
            u = torch.rand(probs.shape, dtype=probs.dtype).clamp(min=torch.finfo(probs.dtype).tiny)
            return (u.log() / (-probs).log1p()).floor()

    def log_prob(self, value):
        value, probs = torch.broadcast_tensors(value, self.probs)
        return value * (-probs.masked_fill((probs == 1) & (value == 0), 0)).log1p() + probs.log()

    def entropy(self):
        return self._bernoulli.entropy() / self.probs

    def __repr__(self):
        return f"Geometric(probs: {self.probs if self.probs.numel() == 1 else self.probs.size()})"

    @property
    def mode(self):
        return torch.zeros_like(self.probs)

    def expand(self, batch_shape):
        return Geometric(probs=self.probs.expand(batch_shape), validate_args=False)


class OneHotCategorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.probs.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        return F.one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    @property
    def mode(self):
        return F.one_hot(self.probs.argmax(dim=-1), self._event_shape[0]).to(self.probs)

    @property
    def param_shape(self):
        return self.probs.size()

    def expand(self, batch_shape):
        return type(self)(probs=self.probs.expand(torch.Size(batch_shape) + self._event_shape), validate_args=False)

    def enumerate_support(self, expand=True):
        n = self._event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype).view((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n,) + self._batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class HalfNormal(Distribution):
    has_rsample = True
    _parameters = (("scale", positive),)

    def __init__(self, scale, validate_args=None):
        (self.scale,) = tensors(scale)
        self.base_dist = Normal(0, self.scale, validate_args=False)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value):
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)

    @property
    def mode(self):
        return torch.zeros_like(self.scale)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)


class LogNormal(Distribution):
    has_rsample = True
    _parameters = (("loc", real), ("scale", positive))

    def __init__(self, loc, scale, validate_args=None):
        self.base_dist = Normal(loc, scale, validate_args=False)
        self.loc, self.scale = self.base_dist.loc, self.base_dist.scale
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def variance(self):
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value):
        return self.base_dist.log_prob(value.log()) - value.log()

    def entropy(self):
        return self.base_dist.entropy() + self.loc

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    def cdf(self, value):
        return self.base_dist.cdf(value.log())

    def icdf(self, value):
        return self.base_dist.icdf(value).exp()


class Gumbel(Distribution):
    has_rsample = True
    _parameters = (("loc", real), ("scale", positive))

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self):
        return self.loc + self.scale * _EULER

    @property
    def variance(self):
        return (math.pi / math.sqrt(6) * self.scale).pow(2)

    def rsample(self, sample_shape=()):
        info = torch.finfo(self.loc.dtype)
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc - self.scale * (-(info.tiny + u * (1 - info.eps - info.tiny)).log()).log()

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self):
        return self.scale.log() + (1 + _EULER)

    @property
    def mode(self):
        return self.loc

    def cdf(self, value):
        return torch.exp(-torch.exp((self.loc - value) / self.scale))

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()


class Cauchy(Distribution):
    has_rsample = True
    _parameters = (("loc", real), ("scale", positive))

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self):
        return torch.full_like(self.loc, math.nan)

    @property
    def variance(self):
        return torch.full_like(self.loc, math.inf)

    def rsample(self, sample_shape=()):
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + torch.tan(math.pi * (u - 0.5)) * self.scale

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()

    @property
    def mode(self):
        return self.loc

    def cdf(self, value):
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc


class StudentT(Distribution):
    has_rsample = True
    _parameters = (("df", positive), ("loc", real), ("scale", positive))

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = tensors(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    @property
    def mean(self):
        return torch.where(self.df <= 1, math.nan, self.loc)

    @property
    def variance(self):
        some = torch.where(self.df > 1, math.inf, math.nan)
        return torch.where(self.df > 2, self.scale.pow(2) * self.df / (self.df - 2), some)

    def rsample(self, sample_shape=()):
        x = torch.randn(self._extended_shape(sample_shape), dtype=self.df.dtype)
        z = Chi2(self.df).rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        z = z + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - z

    @property
    def mode(self):
        return self.loc

    def entropy(self):
        half = 0.5 * (self.df + 1)
        beta = torch.lgamma(0.5 * self.df) + 0.5 * math.log(math.pi) - torch.lgamma(half)
        return self.scale.log() + half * (torch.digamma(half) - torch.digamma(0.5 * self.df)) + 0.5 * self.df.log() + beta


class Transform:
    """One number into another; what several make together is an event of its base."""

    def __init__(self, cache_size=0):
        self._cache_size = cache_size

    def __call__(self, x):
        return self._call(x)

    @property
    def inv(self):
        return _Inverse(self)

    @property
    def sign(self):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError


class _Inverse(Transform):
    def __init__(self, of):
        self._of = of

    def _call(self, x):
        return self._of._inverse(x)

    def _inverse(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)

    @property
    def inv(self):
        return self._of

    @property
    def sign(self):
        return self._of.sign


class ExpTransform(Transform):
    sign = 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(Transform):
    sign = 1

    def _call(self, x):
        info = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=info.tiny, max=1.0 - info.eps)

    def _inverse(self, y):
        info = torch.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(Transform):
    sign = 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AffineTransform(Transform):
    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def sign(self):
        if isinstance(self.scale, torch.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale if isinstance(self.scale, torch.Tensor) else torch.tensor(float(self.scale))
        result = torch.abs(scale).log().expand(x.shape)
        return result.sum(tuple(range(-self._event_dim, 0))) if self._event_dim else result


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = parts

    @property
    def sign(self):
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            y = part(x)
            total = total + part.log_abs_det_jacobian(x, y)
            x = y
        return total


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if not isinstance(transforms, list) else list(transforms)
        self.has_rsample = base_distribution.has_rsample
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, validate_args)

    def _transformed(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        n = len(self._event_shape)
        total, y = 0.0, value
        for transform in reversed(self.transforms):
            x = transform._inverse(y)
            change = transform.log_abs_det_jacobian(x, y)
            total = total - (change.sum(tuple(range(-n, 0))) if n else change)
            y = x
        return total + self.base_dist.log_prob(y)

    def __repr__(self):
        return f"TransformedDistribution({self.base_dist}, {self.transforms})"

    def _sign(self):
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def _rising(self, p):
        """A probability, or 1 less it where the numbers fall as the base's rise."""
        sign = self._sign()
        return p if isinstance(sign, int) and sign == 1 else sign * (p - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform._inverse(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._transformed(self.base_dist.icdf(self._rising(value)))

    def expand(self, batch_shape):
        return TransformedDistribution(self.base_dist.expand(batch_shape), self.transforms, validate_args=False)


def _kl_more(p, q):
    """Of kl_divergence(): pairs of these; None where there is no rule."""
    if isinstance(p, MultivariateNormal) and isinstance(q, MultivariateNormal):
        far = torch.linalg.solve_triangular(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False)
        ratio = torch.linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False)
        total = ratio.pow(2).sum((-2, -1)) + far.pow(2).sum((-2, -1)) - p.event_shape[0]
        return q._half_log_det() - p._half_log_det() + 0.5 * total
    if isinstance(p, Gamma) and isinstance(q, Gamma):
        a = q.concentration * (p.rate / q.rate).log()
        b = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
        c = (p.concentration - q.concentration) * torch.digamma(p.concentration)
        return a + b + c + (q.rate - p.rate) * (p.concentration / p.rate)
    if isinstance(p, Beta) and isinstance(q, Beta):
        return _kl_more(p._dirichlet, q._dirichlet)
    if isinstance(p, Dirichlet) and isinstance(q, Dirichlet):
        total = p.concentration.sum(-1)
        a = torch.lgamma(total) - torch.lgamma(q.concentration.sum(-1))
        b = (torch.lgamma(p.concentration) - torch.lgamma(q.concentration)).sum(-1)
        c = p.concentration - q.concentration
        d = torch.digamma(p.concentration) - torch.digamma(total).unsqueeze(-1)
        return a - b + (c * d).sum(-1)
    if isinstance(p, Poisson) and isinstance(q, Poisson):
        return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
    if isinstance(p, OneHotCategorical) and isinstance(q, OneHotCategorical):
        return kl_divergence(p._categorical, q._categorical)
    if isinstance(p, (HalfNormal, LogNormal)) and type(p) is type(q):
        return kl_divergence(p.base_dist, q.base_dist)
    return None


def _kl_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _kl_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = torch.where((q.probs == 0).expand_as(t), math.inf, t)
    return torch.where((p.probs == 0).expand_as(t), 0.0, t).sum(-1)


def _kl_bernoulli(p, q):
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    return one + (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))


def _kl_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


def kl_divergence(p, q):
    if isinstance(p, Independent) and isinstance(q, Independent):
        if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
            raise NotImplementedError
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    for kind, rule in ((Normal, _kl_normal), (Categorical, _kl_categorical), (Bernoulli, _kl_bernoulli), (Exponential, _kl_exponential)):
        if isinstance(p, kind) and isinstance(q, kind):
            return rule(p, q)
    found = _kl_more(p, q)
    if found is not None:
        return found
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )
