# numpy.random.default_rng: what numpy 2.2 draws; normal and exponential numbers agree within rounding.

import numpy as np

def show(*shown):
    print(*[near(x) for x in shown])

def near(x):
    if isinstance(x, list):
        return [near(y) for y in x]
    return round(float(x), 9) if isinstance(x, float) else x

def model():
    r = np.random.default_rng(0)
    show(r.random(), r.random(3).tolist(), r.integers(0, 10, 5).tolist(), r.integers(7), r.standard_normal(4).tolist())
    show(r.normal(1.0, 2.0, (2, 2)).tolist(), r.uniform(-1, 1, 3).tolist(), r.exponential(2.0, 3).tolist())
    show(r.permutation(6).tolist(), r.choice(5, 3).tolist(), r.choice(9, 4, replace=False).tolist(), r.choice([1.5, 2.5, 3.5], p=[0.2, 0.3, 0.5]))
    show(r.choice(5, 3, replace=False, p=[0.1, 0.2, 0.3, 0.2, 0.2]).tolist())
    x = np.arange(6); r.shuffle(x); show(x.tolist())
    y = [1, 2, 3, 4]; r.shuffle(y); show(y)
    m = np.arange(6).reshape(3, 2); r.shuffle(m); show(m.tolist(), r.permutation(m).tolist())
    show(r.integers(0, 2**40, 3).tolist(), r.integers(1, 6, size=(2, 2), endpoint=True).tolist(), r.integers(0, 2**32, 2).tolist())
    show(r.integers(0, [3, 100]).tolist(), int(r.integers(5, dtype=np.int32)), r.integers(-3, 4, 5, dtype=np.int32).tolist())
    show(r.random(3, dtype=np.float32).tolist(), r.random(dtype=np.float32) < 1)
    show(r.laplace(size=2).tolist(), r.gumbel(size=2).tolist(), r.lognormal(0.0, 0.5, 2).tolist(), r.standard_exponential(2).tolist())
    a, b = r.spawn(2); show(a.random(), b.random())
    s = np.random.SeedSequence(12345); show([np.random.default_rng(c).random() for c in s.spawn(2)])
    show(np.random.default_rng([1, 2, 3]).random(), np.random.default_rng(2**40 + 5).random(), np.random.Generator(np.random.PCG64(3)).random())
    show(isinstance(r, np.random.Generator), np.random.default_rng(r) is r)
    g = np.random.default_rng(42); show(sum(g.standard_normal(3000).tolist()), sum(g.standard_exponential(3000).tolist()), max(g.standard_normal(20000).tolist()))
    show(g.choice(20000, 3, replace=False).tolist(), g.choice(20000, 500, replace=False)[:3].tolist(), g.permutation([4, 5, 6]).tolist())
    show(g.choice(np.arange(12).reshape(4, 3), 2).tolist(), str(g.choice(['a', 'b', 'c'])), g.integers(0, 256, 5, dtype=np.uint8).tolist(), g.integers(0, 2, 4, dtype=bool).tolist(), g.integers(0, 2, 4).tolist())
    show(g.standard_normal(), g.gamma(2.5, 2.0), g.gamma(0.5), g.beta(0.5, 0.7), g.beta(2.0, 3.0), g.poisson(3.0, 4).tolist(), g.chisquare(3.0), g.standard_t(4.0))
    show(g.rayleigh(2.0), g.weibull(1.5), g.pareto(3.0), g.logistic(), g.standard_cauchy())
    show(g.permuted(np.arange(5)).tolist(), g.bytes(5))

