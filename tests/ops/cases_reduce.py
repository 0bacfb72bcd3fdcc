"""References and calls of reductions, scans, statistics and normalisations."""
import math

import naive
from cases_pointwise import NUMBERS, exponential, logarithm, sigmoid
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, along, as_float, dims_of, groups, pointwise, reduced_shape, reduction
from table import B, C, I, P, S, U, V, X, row, untried


def total(row):
    return math.fsum(row) if all(isinstance(v, float) and math.isfinite(v) for v in row) else sum(row)


def int_sum(dtype):
    return dtype if dtype in FLOATS else "int64"


def largest(row):
    return next((v for v in row if v != v), None) if any(v != v for v in row) else max(row)


def smallest(row):
    return next((v for v in row if v != v), None) if any(v != v for v in row) else min(row)


def mean_of(row):
    return total(row) / len(row) if row else NAN


def variance(row, correction=1):
    n = len(row) - correction
    m = mean_of(row)
    s = total([(v - m) * (v - m) for v in row])
    return NAN if n <= 0 and s == 0 else INF if n <= 0 else s / n


def root(v):
    return math.sqrt(v) if v >= 0 else NAN


DIMS = [C("x", X(2, 3)), C("x", X()), C("x", X(1)), C("x", X(37)), C("x, 1", X(2, 3)), C("x, dim=0", X(2, 3)), C("x, -1, True", X(2, 3, 4)), C("x, 1", X(2, 300)), C("x, 0", X(70, 5)), C("x", X(20, 70))]
MANY = [C("x, (0, 2)", X(2, 3, 4)), C("x, dim=(0, 1), keepdim=True", X(2, 3)), C("x, (1, -1)", X(2, 3, 4))]
EMPTY = [C("x", X(0, 3)), C("x, 0", X(0, 3)), C("x, 1", X(0, 3)), C("x, 1", X(2, 0))]
SPECIAL = [C("x", S(10), dtypes=FLOATS), C("x, 1", S(4, 5), dtypes=FLOATS)]
BAD_DIM = [C("x, 2", X(2, 3), raises="dim")]
SCALAR_DIM = [C("x, 0", X()), C("x, -1", X())]

row("sum", reduction(total, int_sum), *DIMS, *MANY, *EMPTY, *SPECIAL, *SCALAR_DIM, *BAD_DIM, C("x, 1, dtype=torch.float64", X(2, 3)), C("x, dtype=torch.int32", X(2, 3), dtypes=INTS), dtypes=ALL)
SMALL = [C("x", V([1.5, -0.5, 2.0, 1.25])), C("x, 1", X(2, 3)), C("x, 0, True", X(2, 3)), C("x", X()), C("x, 0", X(0, 3)), C("x", X(0)), C("x", X(1)), C("x, 0", X()), C("x, 1, dtype=torch.float64", X(2, 3)), C("x, 2", X(2, 3), raises="dim")]
row("prod", reduction(math.prod, int_sum), *SMALL, C("x", S(6), dtypes=FLOATS), dtypes=ALL)
FULL = [C("x, 1", X(0, 3)), C("x", X(0, 3), raises="empty"), C("x, 0", X(0, 3), raises="empty")]
AMAX = [C("x, ()", X(2, 3))] + DIMS + MANY + SPECIAL + SCALAR_DIM + FULL[:1]
row("amax", reduction(largest), *AMAX, *BAD_DIM, dtypes=ALL)
row("amin", reduction(smallest), *AMAX, *BAD_DIM, dtypes=ALL)
BOOLS = DIMS + MANY + EMPTY + SPECIAL + SCALAR_DIM
uint8_stays = lambda dtype: "uint8" if dtype == "uint8" else "bool"
row("any", reduction(lambda r: any(v != 0 for v in r), uint8_stays), *BOOLS, *BAD_DIM, dtypes=ALL)
row("all", reduction(lambda r: all(v != 0 for v in r), uint8_stays), *BOOLS, *BAD_DIM, dtypes=ALL)
row("mean", reduction(mean_of), *DIMS, *MANY, *EMPTY, *SPECIAL, *SCALAR_DIM, *BAD_DIM, C("x, 1, dtype=torch.float64", X(2, 3)), C("x", X(2, dtype="int64"), raises="int64"), C("x, dtype=torch.float32", X(2, 3), dtypes=("int64", "bool")), tol=2)


def spread_of(after):
    def call(x, dim=None, unbiased=None, keepdim=False, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        c = correction if correction is not None else 1 if unbiased in (None, True) else 0
        return reduction(lambda r: after(variance(r, c)))(x, dim, keepdim)

    return call


VARS = [c for c in DIMS if "True" not in c.text] + EMPTY[:1] + EMPTY[2:] + [C("x, 1, keepdim=True", X(2, 3)), C("x, (0, 2), unbiased=False", X(2, 3, 4)), C("x, 1, correction=0", X(2, 5)), C("x, 1, correction=2", X(2, 5)), C("x, False", X(2, 3)), C("x, 0", X(1, 3)), C("x, 1", S(2, 5)), C("x, correction=0", X(1))]
row("var", spread_of(lambda v: v), *VARS, *BAD_DIM, C("x", X(2, dtype="int64"), raises="int64"), tol=4)
row("std", spread_of(root), *VARS, *BAD_DIM, tol=4)


def pair_of(spread):
    def call(x, dim=None, unbiased=None, keepdim=False, correction=None):
        return (spread(x, dim, unbiased, keepdim, correction), reduction(mean_of)(x, dim, keepdim))

    return call


PAIRS = [C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, (0, 2), unbiased=False", X(2, 3, 4)), C("x, 1, keepdim=True", X(2, 5)), C("x, 1, correction=0", X(2, 5)), C("x, 1, correction=2", X(2, 5)), C("x", S(5))]
row("var_mean", pair_of(spread_of(lambda v: v)), *PAIRS, tol=4)
row("std_mean", pair_of(spread_of(root)), *PAIRS, tol=4)


def p_norm(p):
    def one(r):
        r = [abs(v) for v in r]
        if any(v != v for v in r):
            return NAN
        if p == INF:
            return max(r)
        if p == -INF:
            return min(r)
        if p == 0:
            return float(sum(v != 0 for v in r))
        return sum(v**p for v in r) ** (1 / p) if INF not in r else INF

    return one


def norm(x, p=2, dim=None, keepdim=False, dtype=None):
    return reduction(p_norm({"fro": 2, None: 2}.get(p, p)))(x, dim, keepdim)


NORMS = [C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, 2, 1", X(2, 3)), C("x, math.inf, 1", X(2, 3)), C("x, -math.inf, 1", X(2, 3)), C("x, 3, 0", X(4, 2)), C("x, 0, 1", X(2, 3)), C("x, 0.5, 1", X(2, 3)), C("x, 2, (0, 1), True", X(2, 3)), C("x", X()), C("x", X(0)), C("x, 1, 1", X(2, 0)), C("x", X(1)), C("x", S(5)), C("x, 2, 1", X(3, 80))]
row("norm", norm, *NORMS, C("x, 'fro'", X(2, 3)), C("x, p=1, dim=0", X(2, 3)), *[C("x, 2, 2", X(2, 3), raises="dim")], tol=4)
row("vector_norm", norm, *NORMS, tol=4)
row("linalg_norm", lambda x, ord=None, dim=None, keepdim=False: norm(x, 2 if ord is None else ord, dim, keepdim), C("x", X(2, 3)), C("x", X(5)), C("x, 1, 1", X(2, 3)), C("x, math.inf, 0", X(2, 3)), C("x, dim=1, keepdim=True", X(2, 3)), C("x, 3", X(4)), tol=4)


def arg_of(best, row):
    return next((i for i, v in enumerate(row) if v != v), None) if any(v != v for v in row) else row.index(best(row))


def extreme(best):
    def call(x, other=None, keepdim=False, dim=None):
        if isinstance(other, Nd):
            return pointwise(lambda a, b: a if a != a else b if b != b else best(a, b))(x, other)
        dim = other if other is not None else dim
        safe = largest if best is max else smallest
        if dim is None:
            return reduction(safe)(x)
        index = reduction(lambda r: arg_of(best, r), lambda d: "int64")(x, dim, keepdim)
        return (reduction(safe)(x, dim, keepdim), index)

    return call


# Equal numbers: torch does not say which; the first, as its CPU kernels.
MAXES = [C("x", X(2, 3)), C("x", X()), C("x", S(10), dtypes=FLOATS), C("x", X(37)), C("x, 1", X(2, 3)), C("x, 0, True", X(4, 2)), C("x, dim=-1", X(2, 3, 5)), C("x, y", X(2, 3), X(3)), C("x, 1", S(4, 5), dtypes=FLOATS), C("x, 0", X()), C("x, 1", X(0, 3)), C("x", X(0), raises="empty"), C("x, 2", X(2, 3), raises="dim")]
row("max", extreme(max), *MAXES, dtypes=ALL)
row("min", extreme(min), *MAXES, dtypes=ALL)
for name in ("max_dim", "min_dim", "item_of"):
    untried(name, "a part of what torch.max(x, dim) and their like give")


def aminmax(x, dim=None, keepdim=False):
    return (reduction(smallest)(x, dim, keepdim), reduction(largest)(x, dim, keepdim))


row("aminmax", aminmax, C("x", X(2, 3)), C("x, dim=1", X(2, 3)), C("x, dim=0, keepdim=True", X(2, 3)), C("x", S(10), dtypes=FLOATS), C("x", X()), dtypes=ALL)


def soft(f):
    """Of the list along a dim; the logarithm of the sum is taken from the largest."""

    def one(r):
        m = max(r) if not any(v != v for v in r) else NAN
        if m != m or m == INF:
            return [NAN] * len(r) if m != m or f != "log" else [NAN if v == INF else -INF if True else 0 for v in r]
        if m == -INF:
            return [NAN] * len(r)
        e = [math.exp(v - m) for v in r]
        s = math.fsum(e)
        return [v / s for v in e] if f != "log" else [v - m - math.log(s) for v in r]

    def call(x, dim=None, dtype=None):
        if dtype:
            x = x.to(dtype)
        return along(one)(x, dim)

    return call


def softmax(x, dim=None, dtype=None):
    def one(r):
        if any(v != v or v == INF for v in r) or all(v == -INF for v in r):
            return [NAN] * len(r)
        m = max(r)
        e = [math.exp(v - m) for v in r]
        return [v / math.fsum(e) for v in e]

    return along(one)(x.to(dtype) if dtype else x, dim)


def log_softmax(x, dim=None, dtype=None):
    made = softmax(x, dim, dtype)

    def one(r):
        if any(v != v or v == INF for v in r) or all(v == -INF for v in r):
            return [NAN] * len(r)
        m = max(r)
        s = math.log(math.fsum(math.exp(v - m) for v in r))
        return [v - m - s for v in r]

    return along(one)(x.to(dtype) if dtype else x, dim)


SOFT = [C("x, 1", X(2, 3)), C("x, 0", X(2, 3)), C("x, -1", X(2, 3, 40)), C("x, 0", X(5)), C("x, 0", X()), C("x, 1", X(0, 3)), C("x, 1", X(2, 0)), C("x, 1", X(2, 1)), C("x, dim=1", S(5, 4)), C("x, 1, dtype=torch.float64", X(2, 3)), C("x, 0", V([-INF, -INF])), C("x, 0", V([-INF, 1.0, 2.0])), C("x, 2", X(2, 3), raises="dim")]
row("softmax", softmax, *SOFT, modules=[("nn.Softmax(dim=1)(x)", "x, 1")])
row("log_softmax", log_softmax, *SOFT, tol=2, modules=[("nn.LogSoftmax(dim=1)(x)", "x, 1")])
negated = lambda x: Nd(x.shape, x.dtype, [-v for v in x.flat()])
row("softmin", lambda x, dim=None, dtype=None: softmax(negated(x), dim, dtype), *SOFT[:8])


def logsumexp(x, dim, keepdim=False):
    def one(r):
        if any(v != v for v in r):
            return NAN
        if not r:
            return -INF
        m = max(r)
        return m if math.isinf(m) else m + math.log(math.fsum(math.exp(v - m) for v in r))

    return reduction(one, as_float)(x, dim, keepdim)


row("logsumexp", logsumexp, C("x, 1", X(2, 3)), C("x, (0, 2)", X(2, 3, 4)), C("x, 0, True", X(2, 3)), C("x, 0", X()), C("x, 1", S(5, 2)), C("x, 0", V([-INF, -INF])), C("x, 1", X(0, 3)), C("x, 0", V([INF, 1.0])), C("x, 0", X(5), dtypes=("int64",)), tol=2)
row("count_nonzero", reduction(lambda r: sum(v != 0 for v in r), lambda d: "int64"), C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, (0, 1)", X(2, 3)), C("x", X()), C("x", X(0)), C("x", S(10), dtypes=FLOATS), dtypes=ALL)
row("nansum", reduction(lambda r: total([v for v in r if v == v]), int_sum), C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x", S(10), dtypes=FLOATS), C("x, 1, True", S(5, 2), dtypes=FLOATS), C("x", X(0)), C("x", X()), dtypes=ALL)
row("nanmean", reduction(lambda r: mean_of([v for v in r if v == v])), C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, 0, True", V([1.0, NAN, 2.0, 3.0, NAN, NAN], shape=(2, 3))), C("x", X(0)), C("x", X()), tol=2)
row("trace", lambda x: Nd((), int_sum(x.dtype), [total([x.at((i, i)) for i in range(min(x.shape))])]), C("x", X(3, 3)), C("x", X(2, 4)), C("x", X(1, 1)), C("x", X(0, 3)), C("x", X(3), raises="trace"), dtypes=("float32", "float64") + INTS)

# ---- scans


def scan(f):
    def one(r):
        made = []
        for v in r:
            made.append(f(made[-1], v) if made else v)
        return made

    def call(x, dim, dtype=None):
        return along(one)(x.to(dtype or int_sum(x.dtype)), dim)

    return call


SCANS = [C("x, 0", X(5)), C("x, 1", X(2, 3)), C("x, 0", X(4, 2)), C("x, -2", X(2, 3, 4)), C("x, 0", X()), C("x, 0", X(0)), C("x, 1", X(2, 0)), C("x, 0", S(10), dtypes=FLOATS), C("x, 0", X(40)), C("x, 1, dtype=torch.float64", X(2, 3)), C("x, 2", X(2, 3), raises="dim")]
row("cumsum", scan(lambda a, b: a + b), *SCANS, dtypes=ALL, inplace=True)
row("cumprod", scan(lambda a, b: a * b), *[c for c in SCANS if "40" not in str(c.inputs[0].shape)], dtypes=ALL, inplace=True)


def logcumsumexp(r):
    def add(a, b):
        if a != a or b != b:
            return NAN
        m = max(a, b)
        return m if math.isinf(m) else m + math.log(math.exp(a - m) + math.exp(b - m))

    return scan(add)(Nd((len(r),), "float64", r), 0).flat()


row("logcumsumexp", along(logcumsumexp), *[c for c in SCANS if "dtype" not in c.text], tol=2)


def best_so_far(better):
    def one(r):
        values, indices = [], []
        for i, v in enumerate(r):
            # Among equals the last; NaN stays.
            if not values or v != v or (values[-1] == values[-1] and better(v, values[-1])):
                values.append(v)
                indices.append(i)
            else:
                values.append(values[-1])
                indices.append(indices[-1])
        return values, indices

    return along(one, None, "int64")


RUNS = [c for c in SCANS if "dtype" not in c.text]
row("cummax_values", best_so_far(lambda a, b: a >= b), *RUNS, dtypes=ALL)
row("cummin_values", best_so_far(lambda a, b: a <= b), *RUNS, dtypes=ALL)
for name in ("cummax_indices", "cummin_indices"):
    untried(name, "a part of what torch.cummax gives")


def diff(x, n=1, dim=-1, prepend=None, append=None):
    for _ in range(n):
        one = lambda r: [(b != a) if isinstance(a, bool) else b - a for a, b in zip(r, r[1:])]
        x = along(one)(x, dim)
    return x


row("diff", diff, C("x", X(5)), C("x, 1, 0", X(3, 2)), C("x, 2", X(2, 5)), C("x, n=0", X(4)), C("x", X(1)), C("x, dim=1", X(2, 3)), dtypes=ALL)

# ---- normalisations


def normalize(x, p=2.0, dim=1, eps=1e-12):
    n = norm(x, p, dim, True)
    return pointwise(lambda a, b: a / max(b, eps))(x, n)


row("normalize", normalize, C("x", X(2, 3)), C("x, 1.0, 0", X(2, 3)), C("x, dim=-1", X(2, 3, 4)), C("x, dim=0", X(5)), C("x", V([0.0, 0.0], shape=(1, 2)), dtypes=("float32", "float64")), C("x", X(0, 3)), tol=3)


def cosine_similarity(x, y, dim=1, eps=1e-8):
    shape = naive.broadcast_shapes(x.shape, y.shape)
    x, y = x.expand(shape), y.expand(shape)
    dims = [len(shape) + dim if dim < 0 else dim]
    made = []
    for a, b in zip(groups(x, dims), groups(y, dims)):
        made.append(sum(p * q for p, q in zip(a, b)) / (max(p_norm(2)(a), eps) * max(p_norm(2)(b), eps)))
    return Nd(reduced_shape(x, dims, False), x.dtype, made)


row("cosine_similarity", cosine_similarity, C("x, y", X(2, 3), X(2, 3)), C("x, y, 0", X(5), X(5)), C("x, y, dim=-1", X(2, 3, 4), X(3, 4)), C("x, y, dim=0", V([0.0, 0.0]), X(2), dtypes=("float32", "float64")), C("x, y", X(0, 3), X(0, 3)), modules=[("nn.CosineSimilarity(dim=1)(x, y)", "x, y")], tol=4)


def standardized(x, dims, eps):
    """(x - mean) / sqrt(var + eps) over dims."""
    dims = sorted(dims)
    mean = reduction(mean_of)(x, dims, True).expand(x.shape)
    var = reduction(lambda r: variance(r, 0))(x, dims, True).expand(x.shape)
    return Nd(x.shape, x.dtype, [(a - m) / math.sqrt(v + eps) if v == v else NAN for a, m, v in zip(x.flat(), mean.flat(), var.flat())])


def scaled(x, weight, bias, dim=None):
    """x * weight + bias, whose elements lie along dim (None: the last dims)."""
    shape = None if dim is None else [-1 if d == dim else 1 for d in range(x.ndim)]
    for other, f in ((weight, lambda a, b: a * b), (bias, lambda a, b: a + b)):
        if other is not None:
            x = pointwise(f)(x, other.reshape(shape) if shape else other)
    return x


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    n = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return scaled(standardized(x, range(x.ndim - n, x.ndim), eps), weight, bias)


row("layer_norm", layer_norm, C("x, (3,)", X(2, 3)), C("x, (3,), y, z", X(2, 3), X(3), X(3)), C("x, (2, 3)", X(4, 2, 3)), C("x, (4,), y", X(2, 4), X(4)), C("x, (3,), None, y", X(2, 3), X(3)), C("x, (3,), eps=0.5", X(2, 3)), C("x, (80,)", X(3, 80)), C("x, (3,)", X(0, 3)), C("x, (5,)", S(2, 5)), C("x, (4,)", X(2, 3), raises="normalized_shape"), tol=8, modules=[("nn.LayerNorm(3)(x)", "x, (3,)")])


def rms_norm(x, normalized_shape, weight=None, eps=None):
    dims = list(range(x.ndim - len(normalized_shape), x.ndim))
    least = {"float64": 2.220446049250313e-16}.get(x.dtype, 1.1920928955078125e-07) if eps is None else eps
    mean = reduction(lambda r: mean_of([v * v for v in r]))(x, dims, True).expand(x.shape)
    return scaled(Nd(x.shape, x.dtype, [a / math.sqrt(m + least) for a, m in zip(x.flat(), mean.flat())]), weight, None)


row("rms_norm", rms_norm, C("x, (3,)", X(2, 3)), C("x, (3,), y", X(2, 3), X(3)), C("x, (2, 3), None, 0.5", X(4, 2, 3)), C("x, (80,), y, 1e-5", X(3, 80), X(80)), C("x, (3,)", X(0, 3)), tol=6)


def batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        return scaled(standardized(x, [d for d in range(x.ndim) if d != 1], eps), weight, bias, 1)
    shape = [-1 if d == 1 else 1 for d in range(x.ndim)]
    made = pointwise(lambda a, m, v: (a - m) / math.sqrt(v + eps))(x, mean.reshape(shape), var.reshape(shape))
    return scaled(made, weight, bias, 1)


row("batch_norm", batch_norm, C("x, y, z", X(4, 3), X(3), P(3)), C("x, y, z, w, y", X(2, 3, 2, 2), X(3), P(3), X(3)), C("x, None, None, training=True", X(4, 3)), C("x, None, None, y, z, True, eps=0.5", X(2, 3, 4), X(3), X(3)), C("x, y, z, training=True", X(4, 3), X(3), P(3)), tol=8)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    n, c = x.shape[:2]
    apart = x.reshape(n, num_groups, c // num_groups, *x.shape[2:])
    return scaled(standardized(apart, range(2, apart.ndim), eps).reshape(x.shape), weight, bias, 1)


row("group_norm", group_norm, C("x, 2", X(2, 4, 3)), C("x, 4, y, z", X(2, 4), X(4), X(4)), C("x, 1, y", X(2, 4, 2, 2), X(4)), C("x, 2, None, None, 0.5", X(2, 4, 3)), C("x, 3", X(2, 4, 3), raises="divisible"), tol=8)


def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    return scaled(standardized(x, range(2, x.ndim), eps), weight, bias, 1)


row("instance_norm", instance_norm, C("x", X(2, 3, 4)), C("x, None, None, y, z", X(2, 3, 4, 2), X(3), X(3)), C("x, eps=0.5", X(2, 3, 4)), tol=8)


def cdist(x, y, p=2.0):
    x3, y3 = (t.unsqueeze(0) if t.ndim == 2 else t.reshape(-1, *t.shape[-2:]) for t in (x, y))
    made = []
    for b in range(max(x3.shape[0], y3.shape[0])):
        xs, ys = x3.select(0, min(b, x3.shape[0] - 1)), y3.select(0, min(b, y3.shape[0] - 1))
        for i in range(x.shape[-2]):
            for j in range(y.shape[-2]):
                made.append(p_norm(p)([a - c for a, c in zip(xs.select(0, i).flat(), ys.select(0, j).flat())]))
    return Nd(naive.broadcast_shapes(x.shape[:-2], y.shape[:-2]) + (x.shape[-2], y.shape[-2]), x.dtype, made)


row("cdist", cdist, C("x, y", X(2, 3), X(4, 3)), C("x, y, 1.0", X(2, 3), X(4, 3)), C("x, y, math.inf", X(2, 3), X(4, 3)), C("x, y, 3.0", X(2, 2, 3), X(2, 4, 3)), C("x, y", X(0, 3), X(4, 3)), C("x, y", X(2, 3), X(4, 2), raises="cdist"), dtypes=("float32", "float64"), tol=4)

# ---- order statistics


def order(r):
    return sorted(range(len(r)), key=lambda i: (r[i] != r[i], r[i] if r[i] == r[i] else 0, i))


def nth(k):
    def one(r):
        i = len(r) and order(r)[k(r)]
        return [r[i]], [i]

    return one


def kth(x, at, dim, keepdim):
    values, indices = along(nth(at), None, "int64")(x, dim)
    if not keepdim and x.ndim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return (values, indices)


def median(x, dim=None, keepdim=False):
    def at(r):
        return next(k for k, i in enumerate(order(r)) if r[i] != r[i]) if any(v != v for v in r) else (len(r) - 1) // 2

    if dim is None:
        return kth(x.reshape(-1), at, 0, False)[0]
    return kth(x, at, dim, keepdim)


row("median", median, C("x", X(2, 3)), C("x", X(4)), C("x", X()), C("x, 1", X(2, 3, kind="distinct")), C("x, 0, True", X(4, 3, kind="distinct")), C("x, 0", V([1.0, NAN, 0.5, 2.0]), dtypes=FLOATS), C("x", V([1.0, NAN, 0.5, 2.0]), dtypes=FLOATS), C("x, 0", X()), dtypes=NUMBERS)
row("kthvalue", lambda x, k, dim=-1, keepdim=False: kth(x, lambda r: k - 1, dim, keepdim), C("x, 1", X(2, 3, kind="distinct")), C("x, 2, 0", X(3, 4, kind="distinct")), C("x, 3, 1, True", X(2, 3, kind="distinct")), C("x, 1", X()), C("x, 4", X(3), raises="k"), C("x, 3", V([NAN, 1.0, 0.0]), dtypes=FLOATS), dtypes=NUMBERS)
