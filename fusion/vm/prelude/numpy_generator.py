# numpy.random.default_rng: number for number what Generator draws for a seed (PCG64).
import _numpy_draws
import _prelude
import math
import numpy
import torch

_draws = _prelude.draws


def _words(entropy):
    """The words of 32 bits of a seed, the lowest first; None: a run is the same each time."""
    if entropy is None:
        return [0]
    if isinstance(entropy, numpy.ndarray):
        entropy = entropy.tolist()
    if isinstance(entropy, (list, tuple, range)):
        found = []
        for each in entropy:
            found.extend(_words(each))
        return found
    if not numpy.is_whole(entropy):
        raise TypeError("SeedSequence expects int or sequence of ints for entropy not " + str(entropy))
    if entropy < 0:
        raise ValueError("expected non-negative integer")
    high = entropy >> 32
    return [entropy & 0xFFFFFFFF] + ([high] if high else [])


class SeedSequence:
    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        if pool_size != 4:
            raise NotImplementedError("SeedSequence(pool_size=...) is 4 in the language; leave it out")
        self.entropy = entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned

    def _of_words(self):
        words = _words(self.entropy)
        if self.spawn_key:
            words = words + [0] * (self.pool_size - len(words)) + _words(self.spawn_key)
        return words

    def spawn(self, n_children):
        first = self.n_children_spawned
        self.n_children_spawned = first + n_children
        return [SeedSequence(self.entropy, spawn_key=self.spawn_key + (i,)) for i in range(first, first + n_children)]


class PCG64:
    @_draws
    def __init__(self, seed=None):
        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        self._number = _prelude.random_new()
        _prelude.pcg_seed(self._number, self.seed_seq._of_words())

    def spawn(self, n_children):
        return [PCG64(s) for s in self.seed_seq.spawn(n_children)]

    @property
    def state(self):
        return {"bit_generator": "PCG64", "state": _prelude.random_state(self._number)}

    @state.setter
    def state(self, value):
        if not isinstance(value, dict) or value.get("bit_generator") != "PCG64":
            raise ValueError("state must be for a PCG64 RNG")
        _prelude.random_restore(self._number, value["state"])


class Generator(_numpy_draws.Distributions):
    def __init__(self, bit_generator):
        if not isinstance(bit_generator, PCG64):
            raise NotImplementedError("numpy.random.Generator draws from PCG64 in the language; write np.random.default_rng(seed)")
        self.bit_generator = bit_generator
        self._number = bit_generator._number

    def __repr__(self):
        return "Generator(PCG64)"

    def spawn(self, n_children):
        return [Generator(b) for b in self.bit_generator.spawn(n_children)]

    @_draws
    def _fill(self, draw, size, dtype=torch.float64, out=None):
        if out is not None:
            size = out.shape
        if size is None:
            return draw()
        size = _numpy_draws.sizes(size)
        made = torch.tensor([draw() for _ in range(_numpy_draws.count(size))], dtype=dtype).reshape(size)
        if out is not None:
            out._tensor.copy_(made)
            return out
        return numpy.wrap(made)

    @_draws
    def _unit(self):
        return _prelude.pcg_unit(self._number)

    @_draws
    def _narrow_unit(self):
        return (_prelude.pcg_bits(self._number) >> 8) / 16777216.0

    @_draws
    def _gauss(self):
        return _prelude.pcg_normal(self._number)

    @_draws
    def _decay(self):
        return _prelude.pcg_exponential(self._number)

    @_draws
    def random(self, size=None, dtype=float, out=None):
        of = numpy.dtype(dtype).torch
        return self._fill(self._narrow_unit if of == torch.float32 else self._unit, size, of, out)

    def _wide(self, name, dtype):
        if numpy.dtype(dtype).torch != torch.float64:
            raise NotImplementedError(
                f"Generator.{name}(dtype=...) draws float64 in the language; write .astype(np.float32) after it"
            )

    @_draws
    def standard_normal(self, size=None, dtype=float, out=None):
        self._wide("standard_normal", dtype)
        return self._fill(self._gauss, size, torch.float64, out)

    @_draws
    def standard_exponential(self, size=None, dtype=float, method="zig", out=None):
        self._wide("standard_exponential", dtype)
        if method == "inv":
            return self._fill(lambda: -math.log1p(-self._unit()), size, torch.float64, out)
        return self._fill(self._decay, size, torch.float64, out)

    @_draws
    def standard_gamma(self, shape, size=None, dtype=float, out=None):
        self._wide("standard_gamma", dtype)
        return self._spread(self._gamma, size if out is None else out.shape, shape)

    @_draws
    def exponential(self, scale=1.0, size=None):
        return self._spread(lambda scale: scale * self._decay(), size, scale)

    @_draws
    def _logistic(self, loc, scale):
        u = self._unit()
        return loc + scale * math.log(u / (1.0 - u))

    @_draws
    def logistic(self, loc=0.0, scale=1.0, size=None):
        return self._spread(self._logistic, size, loc, scale)

    @_draws
    def rayleigh(self, scale=1.0, size=None):
        return self._spread(lambda scale: scale * math.sqrt(2.0 * self._decay()), size, scale)

    @_draws
    def weibull(self, a, size=None):
        return self._spread(lambda a: self._decay() ** (1.0 / a), size, a)

    @_draws
    def pareto(self, a, size=None):
        return self._spread(lambda a: math.expm1(self._decay() / a), size, a)

    @_draws
    def standard_cauchy(self, size=None):
        return self._fill(lambda: self._gauss() / self._gauss(), size)

    @_draws
    def integers(self, low, high=None, size=None, dtype=int, endpoint=False):
        of = numpy.dtype(dtype)
        if high is None:
            low, high = 0, low
        more = 0 if endpoint else 1
        below = self._small(of) if of.itemsize < 4 else self._below

        def draw(low, high):
            most = int(high) - more - int(low)
            if most < 0:
                raise ValueError("low > high" if endpoint else "low >= high")
            return int(low) + below(most)

        made = self._spread(draw, size, low, high, dtype=of.torch)
        return numpy.as_number(made, of.name) if _numpy_draws.plain(made) else made

    @_draws
    def _below(self, most):
        return _prelude.pcg_below(self._number, most)

    def _small(self, of):
        """Numbers of 8 and 16 bits, and truths, are parts of words of 32 bits, within one call."""
        bits = 1 if of.kind == "b" else 8 * of.itemsize
        kept = []

        @_draws
        def part():
            if not kept:
                word = _prelude.pcg_bits(self._number)
                kept.extend([word >> at & ((1 << bits) - 1) for at in range(32 - bits, -1, -bits)])
            return kept.pop()

        @_draws
        def below(most):
            if most == 0 or most == (1 << bits) - 1:
                return part() if most else 0
            n = most + 1
            product = part() * n
            while (product & ((1 << bits) - 1)) < (1 << bits) % n:
                product = part() * n
            return product >> bits

        return below

    @_draws
    def _mix(self, x, first=1):
        for i in range(len(x) - 1, first - 1, -1):
            j = self._below(i)
            x[i], x[j] = x[j], x[i]

    @_draws
    def _up_to(self, most):
        """As shuffle() draws: the lowest bits of words, until one is not too large."""
        mask = (1 << most.bit_length()) - 1
        while True:
            found = _prelude.pcg_bits(self._number) & mask
            if found <= most:
                return found

    @_draws
    def _shuffled(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._up_to(i)
            x[i], x[j] = x[j], x[i]

    @_draws
    def shuffle(self, x, axis=0):
        if not isinstance(x, numpy.ndarray):
            self._shuffled(x)
            return
        order = list(range(x.shape[axis]))
        self._shuffled(order)
        x._tensor.copy_(x._tensor.index_select(axis, torch.tensor(order, dtype=torch.int64)))

    @_draws
    def permutation(self, x, axis=0):
        order = list(range(x if numpy.is_whole(x) else numpy.shape(x)[axis]))
        self._shuffled(order)
        index = torch.tensor(order, dtype=torch.int64)
        return numpy.ndarray(index if numpy.is_whole(x) else numpy.tensor_of(x).index_select(axis, index))

    @_draws
    def permuted(self, x, *, axis=None, out=None):
        t = numpy.tensor_of(x)
        if axis is None:
            made = self.permutation(numpy.ndarray(t.reshape(-1)))._tensor.reshape(t.shape)
        else:
            rows = t.movedim(axis, -1)
            flat = [self.permutation(numpy.ndarray(row))._tensor for row in rows.reshape(-1, rows.shape[-1])]
            made = torch.stack(flat).reshape(rows.shape).movedim(-1, axis)
        if out is None:
            return numpy.ndarray(made)
        out._tensor.copy_(made)
        return out

    @_draws
    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        n = a if numpy.is_whole(a) else len(a) if axis == 0 else numpy.shape(a)[axis]
        if n <= 0 and size != 0:
            raise ValueError("a must be a positive integer unless no samples are taken" if numpy.is_whole(a) else "a cannot be empty unless no samples are taken")
        count = 1 if size is None else _numpy_draws.count(_numpy_draws.sizes(size))
        if not replace and count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if p is not None:
            picked = self._weighted(numpy.tensor_of(p).double(), n, count, replace)
        elif replace:
            picked = [self._below(n - 1) for _ in range(count)]
        else:
            picked = self._apart(n, count, shuffle)
        if size is None:
            return picked[0] if numpy.is_whole(a) else a[picked[0]] if axis == 0 else numpy.take(a, picked[0], axis)
        if isinstance(a, (list, tuple)) and isinstance(a[0], str):
            return [a[i] for i in picked]
        index = torch.tensor(picked, dtype=torch.int64)
        if numpy.is_whole(a):
            return numpy.ndarray(index.reshape(_numpy_draws.sizes(size)))
        t = numpy.tensor_of(a).index_select(axis, index)
        return numpy.ndarray(t.unflatten(axis, _numpy_draws.sizes(size)) if len(_numpy_draws.sizes(size)) > 1 else t)

    @_draws
    def _apart(self, n, count, shuffle):
        """Numbers below n, none twice: the end of a shuffled row, or Floyd's way."""
        if n > 10000 and count > n // (50 if shuffle else 20):
            order = list(range(n))
            self._mix(order, max(n - count, 1))
            return order[n - count :]
        picked, seen = [], set()
        for last in range(n - count, n):
            i = self._below(last)
            if i in seen:
                i = last
            seen.add(i)
            picked.append(i)
        if shuffle:
            self._mix(picked)
        return picked

    @_draws
    def _weighted(self, p, n, count, replace):
        if p.numel() != n:
            raise ValueError("a and p must have same size")
        if (p < 0).any():
            raise ValueError("Probabilities are not non-negative")
        if abs(p.sum().item() - 1.0) > 1.5e-8:
            raise ValueError("Probabilities do not sum to 1")
        if not replace and int((p > 0).sum()) < count:
            raise ValueError("Fewer non-zero entries in p than size")
        found = []
        p = p.clone()
        while len(found) < count:
            units = torch.tensor([self._unit() for _ in range(count - len(found))], dtype=torch.float64)
            if found and not replace:
                p[torch.tensor(found)] = 0
            ends = p.cumsum(0)
            for i in torch.searchsorted(ends / ends[-1], units, right=True).tolist():
                if replace or i not in found:
                    found.append(i)
        return found

    @_draws
    def bytes(self, length):
        found = []
        for _ in range((length + 3) // 4):
            word = _prelude.pcg_bits(self._number)
            found.extend([word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24])
        return bytes(found[:length])


BitGenerator = PCG64


def default_rng(seed=None):
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, PCG64) else PCG64(seed))
