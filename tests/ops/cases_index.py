"""References and calls of indexing, scatters, gathers, triangles."""
import math

import naive
from cases_shape import flip, pieces
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, cast, places, pointwise
from table import B, C, I, P, S, U, V, X, row, untried


def wrapped(i, n):
    assert -n <= i < n
    return i % n


def gather(x, dim, index, sparse_grad=False):
    if not x.ndim:
        return x.reshape(1).expand(index.shape) if index.ndim else x.contiguous()
    d = x.dim(dim)
    return Nd(index.shape, x.dtype, [x.at(tuple(wrapped(index.at(p), x.shape[d]) if k == d else i for k, i in enumerate(p))) for p in places(index.shape)])


def index_select(x, dim, index):
    d = x.dim(dim)
    shape = tuple(index.numel() if k == d else n for k, n in enumerate(x.shape))
    at = index.flat()
    return Nd(shape, x.dtype, [x.at(tuple(wrapped(at[i], x.shape[d]) if k == d else i for k, i in enumerate(p))) for p in places(shape)])


ROWS2 = V([1, 0, 1], "int64")
BAD = V([0, 5], "int64")
row("gather", gather, C("x, 0, y", X(3, 4), I(2, 4)), C("x, 1, y", X(2, 3), I(2, 5)), C("x, -1, y", X(2, 2, 3), I(2, 2, 2)), C("x, 0, y", X(5), I(3)), C("x, 0, y", X(3), I(0)), C("x, 0, y", X(2), BAD, raises="5"), C("x, 0, y", X(2), X(2), raises="int"), dtypes=ALL)
row("index_select", index_select, C("x, 0, y", X(3, 4), I(2)), C("x, 1, y", X(2, 3), I(5)), C("x, -1, y", X(2, 3), I(2, dtype="int32")), C("x, 0, y", X(3), I(0)), C("x, 0, y", X(2), BAD, raises="5"), dtypes=ALL)
untried("lookup", "pass decompose makes it of gather, index_select and x[i]: their calls run it")


def getitem(x, *key):
    """x[key] with at most one run of tensors, or a mask."""
    key = list(key)
    key = [k if not isinstance(k, (list,)) else Nd((len(k),), "int64", k) for k in key]
    key = [k.to("bool") if isinstance(k, Nd) and k.dtype == "uint8" else k for k in key]
    if Ellipsis in [k for k in key if not isinstance(k, Nd)]:
        at = next(n for n, k in enumerate(key) if k is Ellipsis)
        used = sum(k.ndim if isinstance(k, Nd) and k.dtype == "bool" else k is not None for k in key) - 1
        key[at : at + 1] = [slice(None)] * (x.ndim - used)
    made, d, tensors, first = x, 0, [], None
    apart = False
    for k in key:
        if isinstance(k, bool):
            raise AssertionError
        if isinstance(k, Nd) and k.dtype == "bool":
            hits = [p for p in places(k.shape) if k.at(p)]
            for axis in range(k.ndim):
                tensors.append((d, Nd((len(hits),), "int64", [p[axis] for p in hits])))
                d += 1
        elif isinstance(k, Nd):
            apart |= bool(tensors) and tensors[-1][0] != d - 1
            tensors.append((d, k))
            d += 1
        elif isinstance(k, int):
            made = made.select(d, k)
        elif k is None:
            made = made.unsqueeze(d)
            d += 1
        else:
            made = made.slice(d, k.start, k.stop, k.step or 1)
            d += 1
    if not tensors:
        return made
    shape = naive.broadcast_shapes(*(t.shape for _, t in tensors))
    indices = {d: t.expand(shape) for d, t in tensors}
    kept = [d for d in range(made.ndim) if d not in indices]
    lead = 0 if apart else min(indices)
    outer = [made.shape[d] for d in kept]
    whole = outer[:lead] + list(shape) + outer[lead:]
    values = []
    for p in places(whole):
        q = p[lead : lead + len(shape)]
        rest = iter(p[:lead] + p[lead + len(shape) :])
        values.append(made.at(tuple(wrapped(indices[d].at(q), made.shape[d]) if d in indices else next(rest) for d in range(made.ndim))))
    return Nd(whole, x.dtype, values)


def subscript(text, *inputs, **how):
    """x[...] is no spelling of ops.def: the call says it itself."""
    return C(text, *inputs, spellings=("op:[]",), **how)


KEYS = [
    ("0", (2, 3)), ("-1", (2, 3)), ("1:", (3, 2)), ("::2", (5, 2)), ("-2:", (5,)), (":, 1", (2, 3)), ("..., 0", (2, 3, 2)), ("None", (3,)), ("None, :, None", (3,)),
    ("1, ..., None", (2, 3, 2)), ("5:", (3,)), ("2:1", (3,)), ("-9:9", (3,)), ("...", ()), ("None", ()), ("0, 1, 1", (2, 3, 2)), (":, 1:3, ::2", (2, 3, 4)),
]
row("index", getitem, *[subscript(f"x, {k}", X(*s)) for k, s in KEYS],
    *[subscript(f"x, {k}", X(3, 4, 2), *t) for k, t in (
        ("y", [I(2)]), ("y", [I(2, 2)]), (":, y", [I(3)]), ("y, z", [I(2), I(2)]), ("y, 1", [I(2)]), ("y, z", [I(2, 1), I(3)]), ("y, :, z", [I(2), I(2, high=2)]), ("..., y", [I(3, high=2)]), ("1, y", [I(2)]), ("1:, y, None", [I(2)]), ("[0, 2]", []), ("y, z, w", [I(2), I(2), I(2, high=2)]), ("y", [I(0)]), ("y", [I()]), ("y", [V([-1, -3], "int64")]), ("y", [I(2, dtype="int32")]), ("y", [V([1, 0, 1], "uint8")]))],
    subscript("x, 3", X(3), raises="3"), subscript("x, 0, 0", X(3), raises="2"), subscript("x, y", X(2), BAD, raises="5"), subscript("x, y", X(2), X(2), raises="float32"), dtypes=ALL)


def scatter_with(f):
    def call(x, dim, index, src, reduce=None, include_self=True):
        made = x.contiguous()
        d = x.dim(dim) if x.ndim else 0
        hits = {}
        for p in places(index.shape):
            v = src.at(p) if isinstance(src, Nd) else src
            at = tuple(wrapped(index.at(p), x.shape[d]) if k == d else i for k, i in enumerate(p))
            hits.setdefault(at, []).append(v)
        for at, values in hits.items():
            values = ([made.at(at)] if include_self else []) + values
            made.put(at, f(reduce, values))
        return made

    return call


def folded(reduce, values):
    if reduce == "sum" or reduce == "add":
        return any(values) if isinstance(values[0], bool) else sum(values)
    if reduce in ("prod", "multiply"):
        return math.prod(values)
    if reduce == "mean":
        s = sum(values) / len(values) if isinstance(values[0], float) else sum(values) // len(values)
        return s
    best = max if reduce == "amax" else min
    return next((v for v in values if v != v), best(values))


last = scatter_with(lambda reduce, values: folded(reduce, values) if reduce else values[-1])
ONCE = V([2, 0, 1, 1, 2, 0], "int64", (2, 3))
row("scatter", last, C("x, 1, y, z", X(2, 3), ONCE, X(2, 3)), C("x, 0, y, z", X(3, 3), V([2, 0, 1, 1, 2, 0], "int64", (2, 3)), X(2, 3)), C("x, 1, y, 2", X(2, 3), I(2, 1)), C("x, 1, y, z, reduce='add'", X(2, 3), I(2, 3), X(2, 3), dtypes=FLOATS + INTS), C("x, 0, y, 3, reduce='add'", X(2, 3), I(4, 3, high=2), dtypes=FLOATS + INTS), C("x, 0, y, z, reduce='multiply'", X(2, 3), I(1, 3, high=2), X(1, 3), raises="prod"), C("x, 0, y, z, reduce='mean'", X(2, 3), I(1, 3, high=2), X(1, 3), raises="reduce"), C("x, 1, y, 1.5", X(2, 3), I(2, 2), dtypes=FLOATS), C("x, 0, y, z", X(4), V([3, 1], "int64"), X(2)), C("x, 0, y, z", X(4), I(0), X(0)), C("x, 0, y, z", X(2), BAD, X(2), raises="5"), dtypes=ALL, inplace=True)
ADD = lambda x, dim, index, src: scatter_with(lambda r, v: folded("sum", v))(x, dim, index, src)
row("scatter_add", ADD, C("x, 1, y, z", X(2, 3), I(2, 3), X(2, 3)), C("x, 1, y, z", X(2, 3, 4), I(2, 2, 3), X(2, 2, 3)), C("x, 0, y, z", X(3, 3), I(2, 3), X(2, 3)), C("x, 0, y, z", X(4), I(7), X(7)), C("x, 0, y, z", X(4), I(0), X(0)), C("x, 0, y, z", X(2), BAD, X(2), raises="5"), dtypes=ALL, inplace=True, tol=2)
REDUCES = [C(f"x, 1, y, z, {r!r}{s}", X(2, 3), I(2, 4), X(2, 4)) for r in ("sum", "prod", "amax", "amin") for s in ("", ", include_self=False")]
row("scatter_reduce", scatter_with(folded), *REDUCES, *[C(f"x, 0, y, z, 'mean'{s}", X(3, 2), I(4, 2), X(4, 2), dtypes=FLOATS) for s in ("", ", include_self=False")], C("x, 0, y, z, reduce='sum'", X(3), I(0), X(0)), C("x, 0, y, z, 'most'", X(3), I(2), X(2), raises="reduce"), dtypes=FLOATS + INTS, inplace=True, tol=2)


def stored(x, value, *key):
    """x[key] = value, as a copy."""
    made = x.contiguous()
    marks = Nd(x.shape, "int64", range(x.numel()))
    where = getitem(marks, *key)
    value = value if isinstance(value, Nd) else naive.full((), value, x.dtype)
    for n, v in zip(where.flat(), value.expand(where.shape).flat()):
        made.store[n] = cast(v, x.dtype)
    return made


STORES = [("0", (2, 3), (3,)), (":, 1", (2, 3), (2,)), ("1:", (3, 2), (2, 2)), ("..., ::2", (2, 5), (3,)), ("None, 0", (2, 3), (1, 3)), ("1, 2", (2, 3), ())]
row("put_view", stored, *[C(f"x, y, {k}", X(*s), X(*v), spellings=("op:[]=",)) for k, s, v in STORES], *[C(f"x, 2, {k}", X(*s), spellings=("op:[]=",)) for k, s, _ in STORES],
    C("x, y, 0", X(2, 3), X(3, dtype="int32"), spellings=("op:[]=",)), C("x, y, 0", X(2, 3), X(4), spellings=("op:[]=",), raises="4"), dtypes=ALL)
row("index_put", lambda x, *a, **k: put(x, *a, **k) if isinstance(a[0], (tuple, list)) else stored(x, *a), *[C(f"x, {v}, {k}", X(3, 4, 2), *t, spellings=("op:[]=",)) for v, k, t in (
        ("y", "z", [X(2, 4, 2), V([2, 0], "int64")]), ("1", "y", [I(2)]), ("y", ":, z", [X(3, 2, 2), V([3, 1], "int64")]), ("y", "z, w", [X(2, 2), V([0, 2], "int64"), V([1, 1], "int64")]), ("2", "y", [B(3)]), ("2", "y", [B(3, 4, 2)]), ("y", "..., z", [X(2), V([1, 0], "int64")]), ("y", "z, 1", [X(2, 2), V([1, 0], "int64")]))],
    C("x, (y,), z", X(3, 2), V([2, 0], "int64"), X(2, 2), spellings=("Tensor.index_put", "torch.index_put")), C("x, (y, z), w", X(3, 2), V([2, 0], "int64"), V([1, 1], "int64"), X(2), spellings=("Tensor.index_put",)), C("x, (y,), z, accumulate=True", X(3), V([1, 1, 0], "int64"), X(3), spellings=("Tensor.index_put",), tol=2), dtypes=ALL, inplace=True)


def put(x, indices, values, accumulate=False):
    if not accumulate:
        return stored(x, values, *indices)
    made = x.contiguous()
    where = getitem(Nd(x.shape, "int64", range(x.numel())), *indices)
    for n, v in zip(where.flat(), values.expand(where.shape).flat()):
        made.store[n] = cast((made.store[n] or v) if x.dtype == "bool" else made.store[n] + v, x.dtype)
    return made


def along_rows(f):
    def call(x, dim, index, source, alpha=1):
        made = x.contiguous()
        for n, i in enumerate(index.flat()):
            part = made.select(dim, i) if x.ndim else made
            src = source if not isinstance(source, Nd) else source.select(dim, n) if source.ndim else source
            part.copy_(f(part.contiguous(), src, alpha))
        return made

    return call


either = lambda p, q, alpha: (p or q) if isinstance(p, bool) else p + alpha * q
row("index_add", along_rows(lambda a, b, alpha: pointwise(lambda p, q: either(p, q, alpha))(a, b)), C("x, 0, y, z", X(3, 2), V([2, 0], "int64"), X(2, 2)), C("x, 1, y, z, alpha=2", X(2, 3), V([1, 1, 0], "int64"), X(2, 3), dtypes=FLOATS + INTS), C("x, 0, y, z", X(4), V([3, 3], "int64"), X(2)), C("x, 0, y, z", X(2), BAD, X(2), raises="5"), dtypes=ALL, inplace=True, tol=2)
row("index_copy", along_rows(lambda a, b, alpha: b), C("x, 0, y, z", X(3, 2), V([2, 0], "int64"), X(2, 2)), C("x, 1, y, z", X(2, 3), V([1, 0], "int64"), X(2, 2)), C("x, 0, y, z", X(4), V([3], "int64"), X(1)), dtypes=ALL, inplace=True)
row("index_fill", along_rows(lambda a, b, alpha: b if isinstance(b, Nd) else naive.full(a.shape, b, a.dtype)), C("x, 0, y, 2", X(3, 2), V([2, 0], "int64")), C("x, 1, y, 1.5", X(2, 3), V([1], "int64"), dtypes=FLOATS), C("x, 0, y, z", X(4), V([3, 1], "int64"), X()), dtypes=ALL, inplace=True)


def index_reduce(x, dim, index, source, reduce, include_self=True):
    made = x.contiguous()
    hits = {}
    for n, i in enumerate(index.flat()):
        hits.setdefault(i, []).append(source.select(dim, n))
    for i, parts in hits.items():
        part = made.select(dim, i)
        columns = ([part.flat()] if include_self else []) + [p.flat() for p in parts]
        part.copy_(Nd(part.shape, x.dtype, [folded(reduce, list(c)) for c in zip(*columns)]))
    return made


row("index_reduce", index_reduce, *[C(f"x, 0, y, z, {r!r}{s}", X(3, 2), V([2, 0, 2], "int64"), X(3, 2)) for r in ("prod", "amax", "amin") for s in ("", ", include_self=False")], C("x, 1, y, z, 'mean'", X(2, 3), V([1, 1], "int64"), X(2, 2), dtypes=FLOATS), dtypes=FLOATS, inplace=True, tol=2)
def masked_scatter(x, mask, source):
    rest = iter(source.flat())
    return Nd(x.shape, x.dtype, [next(rest) if m else v for v, m in zip(x.flat(), mask.flat())])


row("masked_scatter", masked_scatter, C("x, y, z", X(2, 3), V([True, False, True, True, False, False], "bool", (2, 3)), X(4)), C("x, y, z", X(3), V([False, False, True], "bool"), X(2)), dtypes=ALL, inplace=True)
row("take", lambda x, i: Nd(i.shape, x.dtype, [x.flat()[wrapped(k, x.numel())] for k in i.flat()]), C("x, y", X(2, 3), V([5, 0, -1, 2], "int64", (2, 2))), C("x, y", X(3), I(0)), C("x, y", X(), V([0], "int64")), dtypes=ALL)


def take_along(x, index, dim=None):
    if dim is None:
        return gather(x.reshape(-1), 0, index.reshape(-1))
    d = x.dim(dim)
    shape = naive.broadcast_shapes(x.shape[:d] + (1,) + x.shape[d + 1 :], index.shape[:d] + (1,) + index.shape[d + 1 :])
    return gather(x.expand(shape[:d] + (x.shape[d],) + shape[d + 1 :]), d, index.expand(shape[:d] + (index.shape[d],) + shape[d + 1 :]))


row("take_along_dim", take_along, C("x, y, 1", X(2, 3), I(2, 2)), C("x, y, 0", X(3, 4), I(2, 1)), C("x, y", X(2, 3), V([5, 0], "int64")), C("x, y, dim=-1", X(2, 3), I(1, 4)), dtypes=ALL)


def triangle(upper):
    def call(x, diagonal=0):
        keep = lambda p: p[-1] - p[-2] >= diagonal if upper else p[-1] - p[-2] <= diagonal
        return Nd(x.shape, x.dtype, [x.at(p) if keep(p) else cast(0, x.dtype) for p in places(x.shape)])

    return call


TRI = [C("x", X(3, 3)), C("x, 1", X(2, 4)), C("x, -1", X(4, 2)), C("x, diagonal=2", X(2, 3, 3)), C("x", X(0, 3)), C("x", S(4, 4), dtypes=FLOATS), C("x, 9", X(2, 2)), C("x", X(3), raises="2")]
row("tril", triangle(False), *TRI, dtypes=ALL, inplace=True)
row("triu", triangle(True), *TRI, dtypes=ALL, inplace=True)


def fill_diagonal(x, value):
    return Nd(x.shape, x.dtype, [cast(value, x.dtype) if p[0] == p[1] else x.at(p) for p in places(x.shape)])


row("fill_diagonal_", fill_diagonal, C("x, 2", X(3, 3)), C("x, 0", X(2, 4)), C("x, 5", X(4, 2)), C("x, 1", X(0, 3)), C("x, 1", X(1, 1)), C("x, math.inf", S(4, 4), dtypes=FLOATS), C("x, 1", X(3), raises="matrix"), dtypes=ALL)


def tri_indices(upper):
    def call(r, c, offset=0, dtype="int64"):
        hits = [p for p in places((r, c)) if (p[1] - p[0] >= offset if upper else p[1] - p[0] <= offset)]
        return Nd((2, len(hits)), dtype, [p[0] for p in hits] + [p[1] for p in hits])

    return call


for name, upper in (("tril_indices", False), ("triu_indices", True)):
    row(name, tri_indices(upper), C("3, 3"), C("2, 4, 1"), C("4, 2, offset=-1"), C("0, 3"), dtypes=("float32",))

# ---- answers whose size the values decide


def nonzero(x, as_tuple=False):
    hits = [p for p in places(x.shape) if x.at(p) != 0]
    if as_tuple:
        rank = max(x.ndim, 1)
        return tuple(Nd((len(hits),), "int64", [p[d] if p else 0 for p in hits]) for d in range(rank))
    return Nd((len(hits), x.ndim), "int64", [i for p in hits for i in p])


def nonzero_static(x, size, fill_value=-1):
    hits = [p for p in places(x.shape) if x.at(p) != 0][:size]
    return Nd((size, x.ndim), "int64", [i for p in hits for i in p] + [fill_value] * ((size - len(hits)) * x.ndim))


row("nonzero_static", nonzero_static, C("x, size=3", X(2, 3)), C("x, size=8, fill_value=7", X(2, 3)), C("x, size=2", X()), C("x, size=0", X(3)), C("x, size=2", X(0, 2)), dtypes=ALL)
row("nonzero", nonzero, C("x", X(2, 3)), C("x, as_tuple=True", X(2, 3)), C("x", X()), C("x", X(0, 2)), C("x", S(10), dtypes=FLOATS), dtypes=ALL)
row("argwhere", nonzero, C("x", X(2, 3)), C("x", B(4)), dtypes=ALL)
row("masked_select", lambda x, m: Nd((sum(naive.tensors(x, m)[1][1]),), x.dtype, [v for v, k in zip(*naive.tensors(x, m)[1]) if k]), C("x, y", X(2, 3), B(2, 3)), C("x, y", X(2, 3), B(3)), C("x, y", X(0), B(0)), C("x, y", X(3), B(2, 3)), dtypes=ALL)
