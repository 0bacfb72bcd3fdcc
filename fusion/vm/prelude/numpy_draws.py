# What numpy's generators of old and of today have in common: distributions made of _unit() and _gauss().
import math

import _prelude
import numpy
import torch

_draws = _prelude.draws


def count(size):
    total = 1
    for n in size:
        total *= n
    return total


def sizes(size):
    return (size,) if numpy.is_whole(size) else tuple(size)


def plain(x):
    return numpy.is_number(x)


class Distributions:
    """Its classes have _fill(draw, size, dtype), _unit(), _gauss() and _decay()."""

    @_draws
    def _spread(self, draw, size, *parameters, dtype=torch.float64):
        """Draws of a shape that the parameters agree on, with each draw's own parameters."""
        if all([plain(p) for p in parameters]):
            return self._fill(lambda: draw(*parameters), size, dtype)
        parts = torch.broadcast_tensors(*[numpy.tensor_of(p) for p in parameters])
        shape = tuple(parts[0].shape) if size is None else sizes(size)
        rows = zip(*[p.expand(shape).reshape(-1).tolist() for p in parts])
        return numpy.wrap(torch.tensor([draw(*row) for row in rows], dtype=dtype).reshape(shape))

    @_draws
    def normal(self, loc=0.0, scale=1.0, size=None):
        if plain(scale) and scale < 0:
            raise ValueError("scale < 0")
        return self._spread(lambda loc, scale: loc + scale * self._gauss(), size, loc, scale)

    @_draws
    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return self._spread(lambda m, s: math.exp(m + s * self._gauss()), size, mean, sigma)

    @_draws
    def uniform(self, low=0.0, high=1.0, size=None):
        return self._spread(lambda low, high: low + (high - low) * self._unit(), size, low, high)

    @_draws
    def _laplace(self, loc, scale):
        while True:
            u = self._unit()
            if u >= 0.5:
                return loc - scale * math.log(2.0 - u - u)
            if u > 0.0:
                return loc + scale * math.log(u + u)

    @_draws
    def laplace(self, loc=0.0, scale=1.0, size=None):
        return self._spread(self._laplace, size, loc, scale)

    @_draws
    def gumbel(self, loc=0.0, scale=1.0, size=None):
        return self._spread(lambda loc, s: loc - s * math.log(-math.log(1.0 - self._unit())), size, loc, scale)

    @_draws
    def _gamma(self, shape):
        """Marsaglia and Tsang's way, and Ahrens and Dieter's for shapes below 1."""
        if shape == 1.0:
            return self._decay()
        if shape == 0.0:
            return 0.0
        if shape < 1.0:
            while True:
                u = self._unit()
                v = self._decay()
                if u <= 1.0 - shape:
                    x = u ** (1.0 / shape)
                    if x <= v:
                        return x
                else:
                    y = -math.log((1.0 - u) / shape)
                    x = (1.0 - shape + shape * y) ** (1.0 / shape)
                    if x <= v + y:
                        return x
        b = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * b)
        while True:
            x = self._gauss()
            v = 1.0 + c * x
            while v <= 0.0:
                x = self._gauss()
                v = 1.0 + c * x
            v = v * v * v
            u = self._unit()
            if u < 1.0 - 0.0331 * (x * x) * (x * x):
                return b * v
            if u == 0.0 or math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
                return b * v

    @_draws
    def gamma(self, shape, scale=1.0, size=None):
        return self._spread(lambda shape, scale: scale * self._gamma(shape), size, shape, scale)

    @_draws
    def chisquare(self, df, size=None):
        return self._spread(lambda df: 2.0 * self._gamma(df / 2.0), size, df)

    @_draws
    def standard_t(self, df, size=None):
        return self._spread(self._student, size, df)

    @_draws
    def _student(self, df):
        top = self._gauss()
        return math.sqrt(df / 2.0) * top / math.sqrt(self._gamma(df / 2.0))

    @_draws
    def _beta(self, a, b):
        if a > 1.0 or b > 1.0:
            x = self._gamma(a)
            return x / (x + self._gamma(b))
        while True:
            x = self._unit() ** (1.0 / a)
            y = self._unit() ** (1.0 / b)
            if 0.0 < x + y <= 1.0:
                return x / (x + y)

    @_draws
    def beta(self, a, b, size=None):
        return self._spread(self._beta, size, a, b)

    @_draws
    def _poisson(self, lam):
        if lam >= 10:
            raise NotImplementedError("numpy's poisson() draws rates below 10 in the language")
        if lam == 0:
            return 0
        least, product, found = math.exp(-lam), self._unit(), 0
        while product > least:
            product *= self._unit()
            found += 1
        return found

    @_draws
    def poisson(self, lam=1.0, size=None):
        return self._spread(self._poisson, size, lam, dtype=torch.int64)
