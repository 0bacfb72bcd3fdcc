"""References and calls of searches, sorts, counts, embeddings."""
import math

import naive
from cases_pointwise import NUMBERS
from cases_reduce import arg_of, largest, order, smallest
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, along, cast, places, reduction
from table import B, C, I, P, S, U, V, X, Input, row, untried


def arg(best):
    def call(x, dim=None, keepdim=False):
        if dim is None:
            made = reduction(lambda r: arg_of(best, r), lambda d: "int64")(x.reshape(-1))
            return made.reshape([1] * x.ndim) if keepdim else made
        return reduction(lambda r: arg_of(best, r), lambda d: "int64")(x, dim, keepdim)

    return call


ARGS = [C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, dim=0, keepdim=True", X(4, 2)), C("x", X()), C("x", S(10), dtypes=FLOATS), C("x, -1", S(4, 5), dtypes=FLOATS), C("x, 1", X(0, 3)), C("x, 1", X(3, 40)), C("x", X(0), raises="empty"), C("x, 2", X(2, 3), raises="dim")]
row("argmax", arg(max), *ARGS, dtypes=NUMBERS)
row("argmin", arg(min), *ARGS, dtypes=NUMBERS)


def ordered(r, descending):
    """NaN is the largest; equals stay in their order."""
    if not descending:
        return order(r)
    return sorted(range(len(r)), key=lambda i: (r[i] == r[i], -r[i] if r[i] == r[i] else 0, i))


def sort(x, dim=-1, descending=False, stable=False):
    def one(r):
        at = ordered(r, descending)
        return [r[i] for i in at], at

    return along(one, None, "int64")(x, dim)


D = lambda *s: Input(s, "distinct")
SORTS = [C("x", D(6)), C("x, 0", D(4, 3)), C("x, -1, True", D(2, 5)), C("x", X()), C("x", X(0)), C("x, stable=True", X(2, 9)), C("x, dim=0, descending=True, stable=True", X(9, 2)), C("x, stable=True", S(10), dtypes=FLOATS), C("x, descending=True, stable=True", S(10), dtypes=FLOATS), C("x", D(300), dtypes=("float32", "int64")), C("x, 2", X(2, 3), raises="dim")]
row("sort_values", sort, *SORTS, dtypes=ALL[:-1])
row("argsort", lambda *a, **k: sort(*a, **k)[1], *SORTS, dtypes=ALL[:-1])
row("msort", lambda x: sort(x, 0)[0], C("x", D(4, 3)), C("x", D(5)), dtypes=ALL[:-1])


def topk(x, k, dim=-1, largest=True, sorted=True):
    def one(r):
        at = ordered(r, largest)[:k]
        return [r[i] for i in at], at

    return along(one, None, "int64")(x, dim)


row("topk_values", topk, C("x, 2", D(6)), C("x, 3", D(70)), C("x, 20, -1, False", D(2, 131)), C("x, 1, 0", D(4, 3)), C("x, 3, largest=False", D(2, 5)), C("x, 0", D(3)), C("x, 1", X()), C("x, 5", D(5)), C("x, 2, sorted=True", V([1.0, NAN, 3.0, -INF]), dtypes=FLOATS), C("x, 7", X(5), raises="5"), dtypes=ALL[:-1])
untried("topk_indices", "a part of what torch.topk gives")


def mode(x, dim=-1, keepdim=False):
    def one(r):
        best = min(set(r), key=lambda v: (-r.count(v), v))
        return [best], [len(r) - 1 - r[::-1].index(best)]

    values, indices = along(one, None, "int64")(x, dim)
    if not keepdim and x.ndim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return (values, indices)


row("mode", lambda *a, **k: mode(*a, **k)[0], C("x", V([1, 2, 2, 3, 1, 2])), C("x, 0", V([1, 2, 1, 3, 1, 2], None, (3, 2))), C("x, 1, True", V([1, 2, 2, 3, 1, 3], None, (2, 3))), C("x", X()), dtypes=NUMBERS, wrap="{}[0]")


def quantile(x, q, dim=None, keepdim=False, interpolation="linear", skip_nan=False):
    qs = q.flat() if isinstance(q, Nd) else [q]

    def one(r):
        r = [v for v in r if v == v] if skip_nan else r
        if not r or any(v != v for v in r):
            return [NAN] * len(qs)
        r, made = sorted(r), []
        for p in qs:
            at = p * (len(r) - 1)
            a, b = r[math.floor(at)], r[math.ceil(at)]
            f = at - math.floor(at)
            made.append({"linear": a + (b - a) * f, "lower": a, "higher": b, "midpoint": (a + b) / 2, "nearest": r[round(at)]}[interpolation])
        return made

    if dim is None:
        x, rank, dim = x.reshape(-1), x.ndim, 0
        made = along(one)(x, 0)
        made = made.reshape([len(qs)] + [1] * (rank if keepdim else 0))
    else:
        d = x.dim(dim)
        made = along(one)(x, d)
        made = made.permute([d] + [k for k in range(x.ndim) if k != d]).contiguous()
        if keepdim:
            made = made.unsqueeze(d + 1)
    return made.contiguous() if isinstance(q, Nd) and q.ndim else made.select(0, 0).contiguous()


QUANTILES = [C("x, 0.5", X(2, 3)), C("x, 0.25, 1", X(2, 5)), C("x, y, 0", X(5, 2), V([0.0, 0.3, 1.0])), C("x, 0.6, dim=1, keepdim=True", X(2, 5)), C("x, 0.4, 0, interpolation='lower'", X(5)), C("x, 0.4, 0, interpolation='higher'", X(4)), C("x, 0.4, 0, interpolation='midpoint'", X(4)), C("x, 0.4, 0, interpolation='nearest'", X(4)), C("x, 0.5", V([1.0, NAN, 2.0]))]
row("quantile", quantile, *QUANTILES, dtypes=("float32", "float64"), tol=3)
row("nanquantile", lambda *a, **k: quantile(*a, skip_nan=True, **k), *QUANTILES[:4], *QUANTILES[-1:], dtypes=("float32", "float64"), tol=3)
row("nanmedian", lambda x, dim=None, keepdim=False: nanmedian(x, dim, keepdim), C("x", V([1.0, NAN, 2.0, 0.5])), C("x", X(2, 3)), C("x, 1", V([1.0, NAN, 2.0, NAN, 0.5, 4.0], None, (2, 3))), C("x", V([NAN, NAN])))


def nanmedian(x, dim, keepdim):
    def one(r):
        some = [i for i in order(r) if r[i] == r[i]]
        i = some[(len(some) - 1) // 2] if some else 0
        return [r[i]], [i]

    if dim is None:
        return along(one, None, "int64")(x.reshape(-1), 0)[0].squeeze(0)
    values, indices = along(one, None, "int64")(x, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def bound(sorted_, v, right):
    n = 0
    for b in sorted_:
        n += b <= v if right else b < v or v != v
    return n


def searchsorted(edges, v, out_int32=False, right=False, side=None):
    right = right or side == "right"
    made = "int32" if out_int32 else "int64"
    values = v if isinstance(v, Nd) else Nd((), "float64", [v])
    if edges.ndim == 1:
        return Nd(values.shape, made, [bound(edges.flat(), x, right) for x in values.flat()])
    rows = edges.reshape(-1, edges.shape[-1])
    each = values.reshape(rows.shape[0], -1)
    return Nd(values.shape, made, [bound(rows.select(0, i).flat(), x, right) for i in range(rows.shape[0]) for x in each.select(0, i).flat()])


EDGES = V([-2.0, -1.0, 0.0, 0.0, 1.5])
row("searchsorted", searchsorted, C("x, y", EDGES, X(7)), C("x, y, right=True", EDGES, V([0.0, -2.0, 1.5, 9.0])), C("x, y, side='right'", EDGES, V([0.0])), C("x, 0.5", EDGES), C("x, y, out_int32=True", EDGES, X(2, 3)), C("x, y", V([0.0, 1.0, 2.0, 1.0, 2.0, 3.0], None, (2, 3)), X(2, 2)), C("x, y", EDGES, X(0)), dtypes=("float32", "float64", "int64"))
row("bucketize", lambda v, edges, out_int32=False, right=False: searchsorted(edges, v, out_int32, right), C("x, y", X(7), EDGES), C("x, y, right=True", V([0.0, -2.0, 1.5, 9.0]), EDGES), C("0.5, x", EDGES), C("x, y, out_int32=True", X(2, 3), EDGES), dtypes=("float32", "float64", "int64"))


def histc(x, bins=100, min=0, max=0):
    values = x.flat()
    if min == max:
        min, max = (smallest(values), largest(values)) if values else (0, 0)
    if min == max:
        min, max = min - 1, max + 1
    made = [0.0] * bins
    for v in values:
        if min <= v <= max:
            made[int((v - min) / (max - min) * bins) if v < max else bins - 1] += 1
    return Nd((bins,), x.dtype, made)


row("histc", histc, C("x, 4, -2, 2", X(37)), C("x, bins=5", X(20)), C("x, 3, 0, 1", V([0.0, 1.0, 0.5, 2.0])), C("x, 2", V([1.0, 1.0])), dtypes=("float32", "float64"))


def bincount(x, weights=None, minlength=0):
    n = max([v + 1 for v in x.flat()] + [minlength])
    made = [0] * n
    for i, v in enumerate(x.flat()):
        made[v] += weights.flat()[i] if weights else 1
    return Nd((n,), "int64" if weights is None else weights.dtype if weights.dtype == "float32" else "float64", made)


row("bincount", bincount, C("x", I(7, high=5)), C("x, minlength=9", I(4)), C("x, y", I(5), X(5)), C("x", I(0)), C("x", V([-1], "int64"), raises="negative"), dtypes=("float32",))
row("isin", lambda x, y, assume_unique=False, invert=False: Nd(x.shape, "bool", [(v in y.flat()) != invert for v in x.flat()]), C("x, y", X(2, 9), X(5)), C("x, y, invert=True", X(9), X(5)), C("x, y", X(3), X(0)), dtypes=("float32", "int64", "int32"))


in_order = sorted


def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return runs(x, in_order(set(x.flat())), return_inverse, return_counts)


def runs(x, values, inverse, counts):
    made = [Nd((len(values),), x.dtype, values)]
    if inverse:
        made.append(Nd(x.shape, "int64", [values.index(v) for v in x.flat()]))
    if counts:
        made.append(Nd((len(values),), "int64", [x.flat().count(v) for v in values]))
    return tuple(made) if len(made) > 1 else made[0]


row("unique", unique, C("x", X(2, 9)), C("x, return_inverse=True", X(2, 5)), C("x, return_counts=True", X(9)), C("x, sorted=True, return_inverse=True, return_counts=True", X(9)), C("x", X(0)), C("x", X()), dtypes=ALL)


def unique_runs(x, return_inverse=False, return_counts=False, dim=None):
    values, at, counts = [], [], []
    for v in x.flat():
        if not values or values[-1] != v:
            values.append(v)
            counts.append(0)
        counts[-1] += 1
        at.append(len(values) - 1)
    made = [Nd((len(values),), x.dtype, values)]
    made += [Nd(x.shape, "int64", at)] if return_inverse else []
    made += [Nd((len(values),), "int64", counts)] if return_counts else []
    return tuple(made) if len(made) > 1 else made[0]


row("unique_runs", unique_runs, C("x", V([1, 1, 2, 0, 0, 1])), C("x, return_inverse=True, return_counts=True", V([1, 1, 2, 0, 0, 1])), C("x", X(0)), dtypes=ALL)

# ---- rows of a table


def embedding(x, weight, padding_idx=None):
    n = weight.shape[1]
    return Nd(x.shape + (n,), weight.dtype, [v for i in x.flat() for v in weight.select(0, i).flat()])


row("embedding", embedding, C("x, y", I(4), X(3, 2)), C("x, y", I(2, 3), X(3, 5)), C("x, y, 0", I(2), X(3, 2)), C("x, y", I(), X(3, 2)), C("x, y", I(0), X(3, 2)), C("x, y", I(3, dtype="int32"), X(3, 2)), C("x, y", V([0, 5], "int64"), X(3, 2), raises="5"), C("x, y", X(2), X(3, 2), raises="int"))


def embedding_bag(x, weight, offsets=None, mode="mean", per_sample_weights=None):
    flat = x.flat()
    starts = offsets.flat() if offsets else [i * x.shape[1] for i in range(x.shape[0])]
    ends = starts[1:] + [len(flat)]
    scale = per_sample_weights.flat() if per_sample_weights else [1.0] * len(flat)
    made = []
    for a, b in zip(starts, ends):
        rows = [[v * scale[k] for v in weight.select(0, flat[k]).flat()] for k in range(a, b)]
        for column in zip(*rows) if rows else [[0.0]] * weight.shape[1]:
            made.append(max(column) if mode == "max" else math.fsum(column) / (len(column) if mode == "mean" else 1))
    return Nd((len(starts), weight.shape[1]), weight.dtype, made)


row("embedding_bag", embedding_bag, C("x, y", I(2, 3), X(3, 4)), C("x, y, mode='sum'", I(2, 3), X(3, 4)), C("x, y, mode='max'", I(2, 3), X(3, 4)), C("x, y, z", I(5), X(3, 4), V([0, 2], "int64")), C("x, y, z, mode='sum'", I(5), X(3, 4), V([0, 2, 2], "int64")), C("x, y, mode='sum', per_sample_weights=z", I(2, 3), X(3, 4), X(2, 3)), tol=2, dtypes=("float32", "float64"))


def one_hot(x, num_classes=-1):
    n = num_classes if num_classes >= 0 else max(x.flat()) + 1
    return Nd(x.shape + (n,), "int64", [v == k for v in x.flat() for k in range(n)])


row("one_hot", one_hot, C("x, 3", I(4)), C("x, 5", I(2, 3)), C("x, num_classes=3", I()), C("x, 3", I(0)), C("x", V([0, 2, 1], "int64")), dtypes=("float32",))
untried("divisor", "x // y and x % y of ints are made of it: test_fusion_binding")
untried("factor", "torch.linalg is made of it: tests/oracle/function_programs.py")
untried("solve", "torch.linalg.solve is made of it: tests/oracle/function_programs.py")
untried("bits", "x.view(dtype) is it: tests/oracle/function_programs.py")
untried("number", "Python's floats that a graph computes")
for name in ("input", "constant", "loop_carried", "loop_operands", "while_loop", "loop_result"):
    untried(name, "a node of graphs; no call reaches it")
