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
    """Its classes have _fill(draw, size, dtype), _unit() and _gauss()."""

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
