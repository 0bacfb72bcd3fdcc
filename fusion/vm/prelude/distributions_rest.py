# torch.distributions: mixtures, counts, and what stands for choices that have a gradient.
import torch
import torch.nn.functional as F
from _distribution_parts import tensors
from torch.distributions import Categorical, Distribution, Gamma, Poisson


def _inside(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def _either(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class MixtureSameFamily(Distribution):
    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        shape = component_distribution.batch_shape[:-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(shape, component_distribution.event_shape, validate_args)

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + torch.Size((1,) * self._event_ndims))

    @property
    def mean(self):
        return torch.sum(self._weights() * self._component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self):
        weights, dim = self._weights(), -1 - self._event_ndims
        inner = torch.sum(weights * self._component_distribution.variance, dim=dim)
        apart = self._component_distribution.mean - self.mean.unsqueeze(dim)
        return inner + torch.sum(weights * apart.pow(2.0), dim=dim)

    def cdf(self, value):
        inside = self._component_distribution.cdf(value.unsqueeze(-1 - self._event_ndims))
        return torch.sum(inside * self._mixture_distribution.probs, dim=-1)

    def log_prob(self, value):
        inside = self._component_distribution.log_prob(value.unsqueeze(-1 - self._event_ndims))
        weights = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(inside + weights, dim=-1)

    def sample(self, sample_shape=()):
        shape = torch.Size(sample_shape)
        with torch.no_grad():
            chosen = self._mixture_distribution.sample(shape)
            drawn = self._component_distribution.sample(shape)
            place = len(shape) + len(self.batch_shape)
            chosen = chosen.reshape(chosen.shape + torch.Size((1,) * (self._event_ndims + 1)))
            chosen = chosen.expand(chosen.shape[: place + 1] + self.event_shape)
            return torch.gather(drawn, place, chosen).squeeze(place)


class Multinomial(Distribution):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits
        super().__init__(self._categorical.batch_shape, self.probs.shape[-1:], validate_args)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = torch.Size(sample_shape)
        with torch.no_grad():
            drawn = self._categorical.sample(torch.Size((self.total_count,)) + shape)
            drawn = drawn.permute(*range(1, drawn.dim()), 0)
            counts = torch.zeros(self._extended_shape(shape), dtype=torch.int64)
            return counts.scatter_add_(-1, drawn, torch.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits = torch.where((value == 0) & (logits == -float("inf")), torch.zeros_like(logits), logits)
        return ways + (logits * value).sum(-1)


class _Counted(Distribution):
    """Of a number of tries, each of which succeeds with a probability."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _either(probs, logits)
        if probs is not None:
            self.total_count, self.probs = tensors(total_count, probs)
            kept = _inside(self.probs)
            self.logits = torch.log(kept) - torch.log1p(-kept)
        else:
            self.total_count, self.logits = tensors(total_count, logits)
            self.probs = torch.sigmoid(self.logits)
        super().__init__(self.probs.shape, (), validate_args)

    @property
    def param_shape(self):
        return self.probs.size()

    def expand(self, batch_shape):
        return type(self)(self.total_count.expand(batch_shape), probs=self.probs.expand(batch_shape), validate_args=False)


class Binomial(_Counted):
    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            shape = self._extended_shape(sample_shape)
            most, probs = int(self.total_count.max()), self.probs.expand(shape)
            tries = torch.rand((most,) + shape, dtype=probs.dtype) < probs
            tried = torch.arange(most).view((-1,) + (1,) * len(shape)) < self.total_count
            return (tries & tried).sum(0).to(probs.dtype)

    def enumerate_support(self, expand=True):
        most = int(self.total_count.max())
        if int(self.total_count.min()) != most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + most, dtype=self.probs.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def entropy(self):
        chances = self.log_prob(self.enumerate_support(False))
        return -(chances.exp() * chances).sum(0)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def log_prob(self, value):
        n = self.total_count
        ways = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        positive = (self.logits.clamp(min=0) + self.logits - self.logits.clamp(max=0)) / 2
        return value * self.logits + ways - n * positive - n * torch.log1p(torch.exp(-torch.abs(self.logits)))


class NegativeBinomial(_Counted):
    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            rate = Gamma(self.total_count, torch.exp(-self.logits), validate_args=False).sample(sample_shape)
            return Poisson(rate, validate_args=False).sample()

    @property
    def mean(self):
        return self.total_count * torch.exp(self.logits)

    @property
    def variance(self):
        return self.mean / torch.sigmoid(-self.logits)

    def log_prob(self, value):
        n = self.total_count
        chance = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        norm = -torch.lgamma(n + value) + torch.lgamma(1.0 + value) + torch.lgamma(n)
        return chance - norm.masked_fill(n + value == 0.0, 0.0)


class RelaxedOneHotCategorical(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = tensors(temperature)[0]
        self._categorical = Categorical(probs=probs, logits=logits)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits
        super().__init__(self._categorical.batch_shape, self.probs.shape[-1:], validate_args)

    def rsample(self, sample_shape=()):
        uniforms = _inside(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-uniforms.log()).log()) / self.temperature
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

    def log_prob(self, value):
        count = self.logits.size(-1)
        logits, value = torch.broadcast_tensors(self.logits, value.log())
        scale = torch.full_like(self.temperature, float(count)).lgamma() - self.temperature.log() * (1 - count)
        score = logits - value * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale - value.sum(-1)


class RelaxedBernoulli(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        _either(probs, logits)
        self.temperature = tensors(temperature)[0]
        self.probs = tensors(probs)[0] if logits is None else torch.sigmoid(tensors(logits)[0])
        kept = _inside(self.probs)
        self.logits = torch.log(kept) - torch.log1p(-kept) if logits is None else tensors(logits)[0]
        super().__init__(self.probs.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = _inside(self.probs.expand(shape))
        uniforms = _inside(torch.rand(shape, dtype=probs.dtype))
        made = uniforms.log() - (-uniforms).log1p() + probs.log() - (-probs).log1p()
        return torch.sigmoid(made / self.temperature)

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        kept = _inside(value)
        back = torch.log(kept) - torch.log1p(-kept)
        apart = logits - back.mul(self.temperature)
        density = self.temperature.log() + apart - 2 * apart.exp().log1p()
        return density + F.softplus(-back) + F.softplus(back)
