# numpy.random: number for number what RandomState draws for a seed (MT19937, the sequence of old).
import _numpy_draws
import _prelude
import math
import numpy
import torch

_random_numbers = _prelude.draws


class RandomState(_numpy_draws.Distributions):
    def __init__(self, seed=None):
        self._start(seed)

    @_random_numbers
    def _start(self, seed):
        self._number = _prelude.random_new()
        self.seed(seed)

    @_random_numbers
    def seed(self, seed=None):
        seed = 0 if seed is None else int(seed)
        if not 0 <= seed < 2**32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        words = [seed]
        for i in range(1, 624):
            last = words[-1]
            words.append((1812433253 * (last ^ (last >> 30)) + i) & 0xFFFFFFFF)
        _prelude.random_restore(self._number, tuple(words + [624]))
        _prelude.random_keep(self._number, None)

    @_random_numbers
    def _fill(self, draw, size, dtype=torch.float64):
        if size is None:
            return draw()
        size = _numpy_draws.sizes(size)
        made = torch.tensor([draw() for _ in range(_numpy_draws.count(size))], dtype=dtype)
        return numpy.wrap(made.reshape(size)) if size else draw()

    @_random_numbers
    def _unit(self):
        return _prelude.random_unit(self._number)

    @_random_numbers
    def random_sample(self, size=None):
        return self._fill(self._unit, size)

    @_random_numbers
    def random(self, size=None):
        return self._fill(self._unit, size)

    @_random_numbers
    def ranf(self, size=None):
        return self._fill(self._unit, size)

    @_random_numbers
    def rand(self, *size):
        return self._fill(self._unit, size or None)

    @_random_numbers
    def _gauss(self):
        kept = _prelude.random_kept(self._number)
        if kept is not None:
            return kept
        while True:
            x = 2.0 * self._unit() - 1.0
            y = 2.0 * self._unit() - 1.0
            r = x * x + y * y
            if 0.0 < r < 1.0:
                break
        f = math.sqrt(-2.0 * math.log(r) / r)
        _prelude.random_keep(self._number, f * x)
        return f * y

    @_random_numbers
    def randn(self, *size):
        return self._fill(self._gauss, size or None)

    @_random_numbers
    def standard_normal(self, size=None):
        return self._fill(self._gauss, size)

    @_random_numbers
    def _decay(self):
        return -math.log(1.0 - self._unit())

    @_random_numbers
    def exponential(self, scale=1.0, size=None):
        return self._spread(lambda scale: self._decay() * scale, size, scale)

    @_random_numbers
    def standard_gamma(self, shape, size=None):
        return self._spread(self._gamma, size, shape)

    @_random_numbers
    def standard_exponential(self, size=None):
        return self._fill(self._decay, size)

    @_random_numbers
    def dirichlet(self, alpha, size=None):
        shape = () if size is None else _numpy_draws.sizes(size)
        rows = []
        for _ in range(_numpy_draws.count(shape)):
            drawn = [self._gamma(float(a)) for a in alpha]
            rows.append([x / sum(drawn) for x in drawn])
        return numpy.wrap(torch.tensor(rows, dtype=torch.float64).reshape(shape + (len(alpha),)))

    @_random_numbers
    def _below(self, most):
        """A whole number up to `most`, by throwing away what is above."""
        if most == 0:
            return 0
        mask = (1 << most.bit_length()) - 1
        wide = most > 0xFFFFFFFF
        while True:
            if wide:
                value = (_prelude.random_bits(self._number, 32) << 32) | _prelude.random_bits(self._number, 32)
            else:
                value = _prelude.random_bits(self._number, 32)
            if value & mask <= most:
                return value & mask

    @_random_numbers
    def randint(self, low, high=None, size=None, dtype=int):
        if high is None:
            low, high = 0, low
        low, high = int(low), int(high)
        if low >= high:
            raise ValueError("low >= high")
        return self._fill(lambda: low + self._below(high - 1 - low), size, numpy.dtype(dtype).torch)

    @_random_numbers
    def random_integers(self, low, high=None, size=None):
        return self.randint(low, high + 1, size) if high is not None else self.randint(1, low + 1, size)

    @_random_numbers
    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._below(i)
            if isinstance(x, numpy.ndarray):
                kept = x._tensor[i].clone()
                x._tensor[i] = x._tensor[j]
                x._tensor[j] = kept
            else:
                x[i], x[j] = x[j], x[i]

    @_random_numbers
    def permutation(self, x):
        order = list(range(x if numpy.is_whole(x) else len(x)))
        self.shuffle(order)
        index = torch.tensor(order, dtype=torch.int64)
        return numpy.ndarray(index if numpy.is_whole(x) else numpy.tensor_of(x)[index])

    @_random_numbers
    def choice(self, a, size=None, replace=True, p=None):
        n = a if numpy.is_whole(a) else len(a)
        if n <= 0:
            raise ValueError("a must be greater than 0 unless no samples are taken" if numpy.is_whole(a) else "'a' cannot be empty unless no samples are taken")
        count = 1 if size is None else _numpy_draws.count(_numpy_draws.sizes(size))
        if not replace and count > n:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        if p is not None:
            picked = self._weighted(numpy.tensor_of(p).double(), n, count, replace)
        elif replace:
            picked = [self._below(n - 1) for _ in range(count)]
        else:
            order = list(range(n))
            self.shuffle(order)
            picked = order[:count]
        if size is None:
            return picked[0] if numpy.is_whole(a) else a[picked[0]]
        if isinstance(a, (list, tuple)) and isinstance(a[0], str):
            return [a[i] for i in picked]
        index = torch.tensor(picked, dtype=torch.int64).reshape(_numpy_draws.sizes(size))
        return numpy.ndarray(index if numpy.is_whole(a) else numpy.tensor_of(a)[index])

    @_random_numbers
    def _weighted(self, p, n, count, replace):
        if p.numel() != n:
            raise ValueError("'a' and 'p' must have same size")
        if abs(p.sum().item() - 1.0) > 1.5e-8:
            raise ValueError("probabilities do not sum to 1")
        found = []
        p = p.clone()
        while len(found) < count:
            ends = p.cumsum(0)
            ends = ends / ends[-1]
            units = torch.tensor([self._unit() for _ in range(count - len(found))], dtype=torch.float64)
            for i in torch.searchsorted(ends, units, right=True).tolist():
                if replace or i not in found:
                    found.append(i)
            if not replace:
                p[torch.tensor(found)] = 0
        return found

    @_random_numbers
    def binomial(self, n, p, size=None):
        raise NotImplementedError("numpy.random.binomial() is not in the language; write (np.random.rand(n) < p).sum()")

    @_random_numbers
    def get_state(self):
        return ("MT19937", _prelude.random_state(self._number))

    @_random_numbers
    def set_state(self, state):
        _prelude.random_restore(self._number, state[1])


_shared = _prelude.instance(RandomState)
_shared._number = _prelude.random_new()
seed = _shared.seed
random_sample = _shared.random_sample
sample = random_sample
random = _shared.random
ranf = _shared.ranf
rand = _shared.rand
randn = _shared.randn
standard_normal = _shared.standard_normal
normal = _shared.normal
lognormal = _shared.lognormal
uniform = _shared.uniform
exponential = _shared.exponential
laplace = _shared.laplace
gumbel = _shared.gumbel
standard_gamma = _shared.standard_gamma
gamma = _shared.gamma
chisquare = _shared.chisquare
standard_t = _shared.standard_t
beta = _shared.beta
dirichlet = _shared.dirichlet
poisson = _shared.poisson
standard_exponential = _shared.standard_exponential
randint = _shared.randint
random_integers = _shared.random_integers
shuffle = _shared.shuffle
permutation = _shared.permutation
choice = _shared.choice
binomial = _shared.binomial
get_state = _shared.get_state
set_state = _shared.set_state
