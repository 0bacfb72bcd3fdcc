# The module random, number for number as CPython 3.11 draws: each method takes as many
# random() or bits from the generator as CPython's does, in the same order.

import _prelude
import itertools
import math

_random_numbers = _prelude.draws

_TWO_PI = 2.0 * math.pi
_NORMAL = 4 * math.exp(-0.5) / math.sqrt(2.0)
_LOG4 = math.log(4.0)
_GAMMA = 1.0 + math.log(4.5)


class Random:
    VERSION = 3

    def __init__(self, x=None):
        self._start(x)

    @_random_numbers
    def _start(self, x):
        self._number = _prelude.random_new()
        self.seed(x)

    @_random_numbers
    def seed(self, a=None, version=2):
        if version != 2:
            raise NotImplementedError("random.seed() with version=1 is not in the language")
        _prelude.random_seed(self._number, a)
        _prelude.random_keep(self._number, None)

    @_random_numbers
    def getstate(self):
        kept = _prelude.random_kept(self._number)
        _prelude.random_keep(self._number, kept)
        return self.VERSION, _prelude.random_state(self._number), kept

    @_random_numbers
    def setstate(self, state):
        version, words, kept = state
        if version != 3:
            raise ValueError(
                f"state with version {version} passed to Random.setstate() of version {self.VERSION}"
            )
        _prelude.random_restore(self._number, words)
        _prelude.random_keep(self._number, kept)

    @_random_numbers
    def random(self):
        return _prelude.random_unit(self._number)

    @_random_numbers
    def getrandbits(self, k):
        return _prelude.random_bits(self._number, k)

    @_random_numbers
    def _below(self, n):
        k = n.bit_length()
        r = self.getrandbits(k)
        while r >= n:
            r = self.getrandbits(k)
        return r

    @_random_numbers
    def randrange(self, start, stop=None, step=1):
        if stop is None:
            if step != 1:
                raise TypeError("Missing a non-None stop argument")
            if start > 0:
                return self._below(start)
            raise ValueError("empty range for randrange()")
        width = stop - start
        if step == 1:
            if width > 0:
                return start + self._below(width)
            raise ValueError("empty range for randrange() (%d, %d, %d)" % (start, stop, width))
        if step == 0:
            raise ValueError("zero step for randrange()")
        n = (width + step - 1) // step if step > 0 else (width + step + 1) // step
        if n <= 0:
            raise ValueError("empty range for randrange()")
        return start + step * self._below(n)

    @_random_numbers
    def randint(self, a, b):
        return self.randrange(a, b + 1)

    @_random_numbers
    def choice(self, seq):
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._below(len(seq))]

    @_random_numbers
    def shuffle(self, x):
        for i in reversed(range(1, len(x))):
            j = self._below(i + 1)
            x[i], x[j] = x[j], x[i]

    @_random_numbers
    def sample(self, population, k, *, counts=None):
        if isinstance(population, (set, frozenset, dict)):
            raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
        if counts is not None:
            return self._sample_counted(population, k, list(itertools.accumulate(counts)))
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("Sample larger than population or is negative")
        limit = 21
        if k > 5:
            limit += 4 ** math.ceil(math.log(k * 3, 4))
        if n > limit:
            return self._sample_few(population, n, k)
        pool, result = list(population), []
        for i in range(k):
            j = self._below(n - i)
            result.append(pool[j])
            pool[j] = pool[n - i - 1]
        return result

    @_random_numbers
    def _sample_few(self, population, n, k):
        selected, result = set(), []
        for _ in range(k):
            j = self._below(n)
            while j in selected:
                j = self._below(n)
            selected.add(j)
            result.append(population[j])
        return result

    @_random_numbers
    def _sample_counted(self, population, k, ends):
        if len(ends) != len(population):
            raise ValueError("The number of counts does not match the population")
        total = ends.pop()
        if total <= 0:
            raise ValueError("Total of counts must be greater than zero")
        return [population[_bisect(ends, s, len(ends))] for s in self.sample(range(total), k=k)]

    @_random_numbers
    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        n = len(population)
        if cum_weights is None:
            if weights is None:
                return [population[math.floor(self.random() * (n + 0.0))] for _ in range(k)]
            cum_weights = list(itertools.accumulate(weights))
        elif weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        if len(cum_weights) != n:
            raise ValueError("The number of weights does not match the population")
        total = cum_weights[-1] + 0.0
        if total <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        if not math.isfinite(total):
            raise ValueError("Total of weights must be finite")
        return [population[_bisect(cum_weights, self.random() * total, n - 1)] for _ in range(k)]

    @_random_numbers
    def uniform(self, a, b):
        return a + (b - a) * self.random()

    @_random_numbers
    def triangular(self, low=0.0, high=1.0, mode=None):
        u = self.random()
        if mode is not None and high == low:
            return low
        c = 0.5 if mode is None else (mode - low) / (high - low)
        if u > c:
            u = 1.0 - u
            c = 1.0 - c
            low, high = high, low
        return low + (high - low) * math.sqrt(u * c)

    @_random_numbers
    def normalvariate(self, mu=0.0, sigma=1.0):
        while True:
            u1 = self.random()
            u2 = 1.0 - self.random()
            z = _NORMAL * (u1 - 0.5) / u2
            if z * z / 4.0 <= -math.log(u2):
                return mu + z * sigma

    @_random_numbers
    def gauss(self, mu=0.0, sigma=1.0):
        z = _prelude.random_kept(self._number)
        if z is None:
            angle = self.random() * _TWO_PI
            radius = math.sqrt(-2.0 * math.log(1.0 - self.random()))
            z = math.cos(angle) * radius
            _prelude.random_keep(self._number, math.sin(angle) * radius)
        return mu + z * sigma

    @_random_numbers
    def lognormvariate(self, mu, sigma):
        return math.exp(self.normalvariate(mu, sigma))

    @_random_numbers
    def expovariate(self, lambd):
        return -math.log(1.0 - self.random()) / lambd

    @_random_numbers
    def vonmisesvariate(self, mu, kappa):
        if kappa <= 1e-6:
            return _TWO_PI * self.random()
        s = 0.5 / kappa
        r = s + math.sqrt(1.0 + s * s)
        while True:
            z = math.cos(math.pi * self.random())
            d = z / (r + z)
            u = self.random()
            if u < 1.0 - d * d or u <= (1.0 - d) * math.exp(d):
                break
        q = 1.0 / r
        f = (q + z) / (1.0 + q * z)
        if self.random() > 0.5:
            return (mu + math.acos(f)) % _TWO_PI
        return (mu - math.acos(f)) % _TWO_PI

    @_random_numbers
    def gammavariate(self, alpha, beta):
        if alpha <= 0.0 or beta <= 0.0:
            raise ValueError("gammavariate: alpha and beta must be > 0.0")
        if alpha > 1.0:
            return self._gamma_above(alpha) * beta
        if alpha == 1.0:
            return -math.log(1.0 - self.random()) * beta
        return self._gamma_below(alpha) * beta

    @_random_numbers
    def _gamma_above(self, alpha):
        spread = math.sqrt(2.0 * alpha - 1.0)
        shift = alpha - _LOG4
        slope = alpha + spread
        while True:
            u1 = self.random()
            if not 1e-7 < u1 < 0.9999999:
                continue
            u2 = 1.0 - self.random()
            v = math.log(u1 / (1.0 - u1)) / spread
            x = alpha * math.exp(v)
            z = u1 * u1 * u2
            r = shift + slope * v - x
            if r + _GAMMA - 4.5 * z >= 0.0 or r >= math.log(z):
                return x

    @_random_numbers
    def _gamma_below(self, alpha):
        while True:
            b = (math.e + alpha) / math.e
            p = b * self.random()
            x = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
            u1 = self.random()
            if p > 1.0:
                if u1 <= x ** (alpha - 1.0):
                    return x
            elif u1 <= math.exp(-x):
                return x

    @_random_numbers
    def betavariate(self, alpha, beta):
        y = self.gammavariate(alpha, 1.0)
        return y / (y + self.gammavariate(beta, 1.0)) if y else 0.0

    @_random_numbers
    def paretovariate(self, alpha):
        return (1.0 - self.random()) ** (-1.0 / alpha)

    @_random_numbers
    def weibullvariate(self, alpha, beta):
        return alpha * (-math.log(1.0 - self.random())) ** (1.0 / beta)


def _bisect(ends, x, high):
    """How many of the ends, up to `high`, are at most x."""
    low = 0
    while low < high:
        middle = (low + high) // 2
        if x < ends[middle]:
            high = middle
        else:
            low = middle + 1
    return low


_shared = _prelude.instance(Random)
_shared._number = _prelude.random_new()
seed = _shared.seed
getstate = _shared.getstate
setstate = _shared.setstate
random = _shared.random
getrandbits = _shared.getrandbits
randrange = _shared.randrange
randint = _shared.randint
choice = _shared.choice
choices = _shared.choices
shuffle = _shared.shuffle
sample = _shared.sample
uniform = _shared.uniform
triangular = _shared.triangular
normalvariate = _shared.normalvariate
gauss = _shared.gauss
lognormvariate = _shared.lognormvariate
expovariate = _shared.expovariate
vonmisesvariate = _shared.vonmisesvariate
gammavariate = _shared.gammavariate
betavariate = _shared.betavariate
paretovariate = _shared.paretovariate
weibullvariate = _shared.weibullvariate
