"""References and calls of views, joins, and copies made of views."""
import math

import naive
from cases_pointwise import NUMBERS
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, cast, places, promote, strides_of
from table import B, C, I, P, S, U, V, X, row, untried


def sizes_in(args):
    return list(args[0]) if args and isinstance(args[0], (tuple, list)) else list(args)


def as_view(x, shape):
    """The same elements under another shape; None where no strides say so."""
    at = [x.place(p) for p in places(x.shape)]
    where = dict(zip(places(shape), at))
    if not at:
        return x.window(shape, strides_of(shape), x.offset)
    zero = (0,) * len(shape)
    strides = []
    for d, n in enumerate(shape):
        one = tuple(1 if k == d else 0 for k in range(len(shape)))
        strides.append(where[one] - where[zero] if n > 1 else 1)
    made = x.window(shape, strides, where[zero])
    return made if all(made.place(p) == w for p, w in where.items()) else None


def reshape(x, *shape):
    wanted = x.reshape(*sizes_in(shape)).shape
    made = as_view(x, wanted)
    return made if made is not None else x.reshape(wanted)


def view(x, *shape):
    if shape and isinstance(shape[0], str):
        assert False
    made = as_view(x, x.reshape(*sizes_in(shape)).shape)
    assert made is not None
    return made


def flatten(x, start_dim=0, end_dim=-1):
    if not x.ndim:
        return reshape(x, 1)
    a, b = x.dim(start_dim), x.dim(end_dim)
    return reshape(x, *x.shape[:a], math.prod(x.shape[a : b + 1]), *x.shape[b + 1 :])


def unflatten(x, dim, sizes):
    d = x.dim(dim)
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[d] // math.prod(s for s in sizes if s != -1)
    return view(x, *x.shape[:d], *sizes, *x.shape[d + 1 :])


def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else [x.dim(d) for d in ([dim] if isinstance(dim, int) else dim)]
    for d in sorted(set(dims), reverse=True):
        x = x.squeeze(d)
    return x.window(x.shape, x.strides, x.offset)


def permute(x, *dims):
    return x.permute(sizes_in(dims))


def movedim(x, source, destination):
    source = [x.dim(d) for d in ([source] if isinstance(source, int) else source)]
    destination = [x.dim(d) for d in ([destination] if isinstance(destination, int) else destination)]
    order = [d for d in range(x.ndim) if d not in source]
    for to, d in sorted(zip(destination, source)):
        order.insert(to, d)
    return x.permute(order)


def diagonal(x, offset=0, dim1=0, dim2=1):
    a, b = x.dim(dim1), x.dim(dim2)
    n = max(0, min(x.shape[a], x.shape[b] - offset) if offset >= 0 else min(x.shape[a] + offset, x.shape[b]))
    kept = [d for d in range(x.ndim) if d not in (a, b)]
    start = x.offset + (offset * x.strides[b] if offset > 0 else -offset * x.strides[a]) * (n > 0)
    return x.window([x.shape[d] for d in kept] + [n], [x.strides[d] for d in kept] + [x.strides[a] + x.strides[b]], start)


def unfold(x, dimension, size, step):
    if not x.ndim:
        return x.window((1,), (1,), x.offset)
    d = x.dim(dimension)
    shape, strides = list(x.shape), list(x.strides)
    shape[d] = (shape[d] - size) // step + 1
    strides[d] *= step
    return x.window(shape + [size], strides + [x.strides[d]], x.offset)


VIEW = dict(dtypes=ALL, view=True)
untried("alias", "x itself: made where a call gives x back")
untried("kept", "x itself: what the backward pass of take, prelu and others saves")
untried("native_batch_norm", "running_mean itself")
untried("parts", "x itself: what split, chunk and unbind cut")
row("detach", lambda x: x.window(x.shape, x.strides, x.offset), C("x", X(2, 3)), C("x", X()), C("x", X(0)), **VIEW)
RESHAPES = [C("x, (3, 2)", X(2, 3)), C("x, (-1,)", X(2, 3)), C("x, (2, -1, 1)", X(2, 3)), C("x, (1,)", X()), C("x, ()", X(1)), C("x, (3, 0)", X(0, 3)), C("x, (2, 2, 2)", X(4, 2))]
row("reshape", reshape, *RESHAPES, C("x, 3, 2", X(2, 3), spellings=("Tensor.reshape",)), C("x, (4, 2)", X(2, 3), raises="[2, 3]"), C("x, (-1, -1)", X(2, 3), raises="-1"), **VIEW)
row("view", view, *[C(c.text, *c.inputs, flat=True) for c in RESHAPES], C("x, 3, 2", X(2, 3), flat=True), C("x, (4, 2)", X(2, 3), raises="[2, 3]"), **VIEW)
row("view_as", lambda x, y: view(x, y.shape), C("x, y", X(2, 3), X(3, 2), flat=True), C("x, y", X(1), X(), flat=True), **VIEW)
row("flatten", flatten, C("x", X(2, 3)), C("x, 1", X(2, 3, 2)), C("x, 0, 1", X(2, 3, 2)), C("x", X()), C("x", X(0, 3)), C("x, start_dim=-2", X(2, 3, 2)), C("x, 2", X(2, 3), raises="dim"), modules=[("nn.Flatten()(x)", "x, 1"), ("nn.Flatten(0, 1)(x)", "x, 0, 1")], **VIEW)
row("unflatten", unflatten, C("x, 0, (2, 3)", X(6)), C("x, 1, (2, -1)", X(3, 4)), C("x, -1, (2, 2)", X(3, 4)), C("x, 1, (3, 2)", X(2, 4), raises="4"), modules=[("nn.Unflatten(0, (2, 3))(x)", "x, 0, (2, 3)")], **VIEW)
row("squeeze", squeeze, C("x", X(2, 1, 3, 1)), C("x, 1", X(2, 1, 3)), C("x, 0", X(2, 3)), C("x, -1", X(2, 1)), C("x, (0, 2)", X(1, 2, 1)), C("x", X()), C("x", X(1, 0)), C("x, 0", X()), C("x, 2", X(2, 3), raises="dim"), **VIEW)
row("unsqueeze", lambda x, d: x.unsqueeze(d), C("x, 0", X(2, 3)), C("x, 1", X(2, 3)), C("x, -1", X(2, 3)), C("x, 0", X()), C("x, 0", X(0)), C("x, 4", X(2, 3), raises="dim"), **VIEW)
row("permute", permute, C("x, (1, 0)", X(2, 3)), C("x, (2, 0, 1)", X(2, 3, 4)), C("x, (-1, 0, 1)", X(2, 3, 4)), C("x, ()", X()), C("x, (1, 0)", X(0, 3)), C("x, 1, 0", X(2, 3), spellings=("Tensor.permute",)), C("x, (0, 0)", X(2, 3), raises="dim"), **VIEW)
row("transpose", lambda x, a, b: x.transpose(a, b), C("x, 0, 1", X(2, 3)), C("x, -1, 0", X(2, 3, 4)), C("x, 1, 1", X(2, 3)), C("x, 0, 1", X(0, 3)), C("x, 0, -1", X()), C("x, 0, 2", X(2, 3), raises="dim"), **VIEW)
row("t", lambda x: x.transpose() if x.ndim == 2 else x.window(x.shape, x.strides, x.offset), C("x", X(2, 3)), C("x", X(3)), C("x", X()), C("x", X(2, 3, 4), raises="2"), **VIEW)
row("movedim", movedim, C("x, 0, 2", X(2, 3, 4)), C("x, (0, 1), (2, 0)", X(2, 3, 4)), C("x, -1, 0", X(2, 3)), **VIEW)
EXPAND = dict(dtypes=ALL)
row("expand", lambda x, *s: x.expand(sizes_in(s)), C("x, (2, 3)", X(3)), C("x, (2, -1)", X(2, 1)), C("x, (4, 2, 3)", X(2, 1)), C("x, (3,)", X()), C("x, (2, 0)", X(1)), C("x, 2, 3", X(1, 3), spellings=("Tensor.expand",)), C("x, (4, 2)", X(4, 3), raises="3"), **EXPAND)
row("expand_as", lambda x, y: x.expand(y.shape), C("x, y", X(1, 3), X(2, 3)), C("x, y", X(), X(2)), **EXPAND)
row("select", lambda x, d, i: x.select(d, i), C("x, 0, 1", X(2, 3)), C("x, 1, -1", X(2, 3)), C("x, -1, 0", X(2, 3, 4)), C("x, 0, 2", X(3)), C("x, 0, 5", X(2, 3), raises="5"), C("x, 2, 0", X(2, 3), raises="dim"), **VIEW)
row("narrow", lambda x, d, s, n: x.slice(d, s if s >= 0 else s + x.shape[d], (s if s >= 0 else s + x.shape[d]) + n), C("x, 0, 1, 2", X(4, 3)), C("x, 1, 0, 2", X(2, 3)), C("x, -1, 2, 0", X(2, 3)), C("x, 1, -2, 2", X(2, 3)), C("x, 0, 2, 3", X(4), raises="narrow"), **VIEW)
untried("slice", "x[a:b:c]: getitem has it")
untried("reverse", "pass decompose makes it of flip")
row("diagonal", diagonal, C("x", X(3, 3)), C("x, 1", X(2, 3)), C("x, -1", X(3, 2)), C("x, 0, 1, 2", X(2, 3, 3)), C("x, offset=0, dim1=-2, dim2=-1", X(2, 3, 4)), C("x, 5", X(2, 3)), C("x, 0, 1, 1", X(2, 3), raises="dim"), **VIEW)
row("unfold", unfold, C("x, 0, 2, 1", X(5)), C("x, 1, 2, 2", X(2, 5)), C("x, -1, 3, 1", X(2, 3)), C("x, 0, 6, 1", X(5), raises="6"), dtypes=ALL)
BEHIND = "(lambda x: {})(torch.cat((x.new_zeros(2), x))[2:])"
row("as_strided", lambda x, size, stride, storage_offset=0: Nd(size, x.dtype, [x.flat()[storage_offset + sum(i * s for i, s in zip(p, stride))] for p in places(size)]), C("x, (2, 2), (1, 2), 1", X(6), flat=True), C("x, (3, 2), (1, 1)", X(2, 3), flat=True), C("x, (), ()", X(2), flat=True), C("x, (2, 0), (1, 9)", X(2), flat=True), C("x, (2, 2), (2, 1), storage_offset=2", X(2, 3), flat=True), C("x, (2,), (1,)", X(7), wrap=BEHIND, flat=True), C("x, (4,), (1,)", X(3), raises="after", flat=True), dtypes=ALL, inplace=False)

# ---- side by side


def cat(tensors, dim=0):
    tensors = list(tensors)
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = promote(dtype, t.dtype)
    tensors = [t for t in tensors if t.shape != (0,)] or tensors[:1]
    d = tensors[0].dim(dim)
    shape = list(tensors[0].shape)
    shape[d] = sum(t.shape[d] for t in tensors)
    made = Nd(shape, dtype, [0] * math.prod(shape))
    at = 0
    for t in tensors:
        made.slice(d, at, at + t.shape[d]).copy_(t)
        at += t.shape[d]
    return made


def stack(tensors, dim=0):
    return cat([t.unsqueeze(dim % (t.ndim + 1)) for t in tensors], dim % (tensors[0].ndim + 1))


def at_least(n):
    def one(x):
        if n == 1:
            return x if x.ndim else x.reshape(1)
        if n == 2:
            return x if x.ndim >= 2 else x.reshape(1, -1)
        return x if x.ndim >= 3 else x.reshape(1, -1, 1) if x.ndim < 2 else x.unsqueeze(2)

    def call(*xs):
        xs = xs[0] if isinstance(xs[0], (tuple, list)) else xs
        made = tuple(one(x) for x in xs)
        return made if len(made) > 1 else made[0]

    return call


def many(n):
    made = at_least(n)
    return lambda xs: [made(x) for x in xs]


hstack = lambda xs: cat(many(1)(xs), 0 if max(x.ndim for x in many(1)(xs)) == 1 else 1)
CATS = [C("[x, y]", X(2, 3), X(1, 3)), C("(x, y), 1", X(2, 3), X(2, 1)), C("[x, y], -1", X(3), X(2)), C("[x]", X(2)), C("[x, y], dim=0", X(0, 3), X(2, 3)), C("[x, y]", X(2, dtype="int32"), X(2, dtype="float32"), dtypes=("float32",)), C("[x, y, x, y, x, y, x, y, x]", X(2), X(1)), C("[x, y]", X(2, 3), X(2), raises="dim"), C("[x, y]", X(2, 3), X(2, 4), raises="4"), C("[x, y]", X(0), X(2, 3))]
row("cat", cat, *[c for c in CATS], dtypes=ALL)
row("stack", stack, C("[x, y]", X(2, 3), X(2, 3)), C("[x, y], 1", X(2, 3), X(2, 3)), C("[x, y], dim=-1", X(2), X(2)), C("[x, x]", X()), C("[x, y]", X(2), X(3), raises="3"), dtypes=ALL)
row("hstack", hstack, C("[x, y]", X(2, 3), X(2, 1)), C("[x, y]", X(2), X(3)), C("[x, y]", X(), X()), dtypes=ALL)
row("vstack", lambda xs: cat(many(2)(xs), 0), C("[x, y]", X(2, 3), X(1, 3)), C("[x, y]", X(3), X(3)), C("[x, y]", X(), X()), dtypes=ALL)
row("dstack", lambda xs: cat(many(3)(xs), 2), C("[x, y]", X(2, 3), X(2, 3)), C("[x, y]", X(3), X(3)), C("[x, y]", X(), X()), dtypes=ALL)
row("column_stack", lambda xs: hstack([x if x.ndim >= 2 else x.reshape(-1, 1) for x in xs]), C("[x, y]", X(2, 3), X(2, 1)), C("[x, y]", X(2), X(2)), C("[x, y]", X(), X()), dtypes=ALL)
for n in (1, 2, 3):
    row(f"atleast_{n}d", at_least(n), C("x", X()), C("x", X(3)), C("x", X(2, 3)), C("x", X(2, 3, 4)), C("[x, y]", X(), X(2)), dtypes=ALL)

# ---- apart


def pieces(x, d, cuts):
    return tuple(x.slice(d, a, b) for a, b in zip([0] + cuts, cuts))


def split(x, how, dim=0):
    d = x.dim(dim)
    n = x.shape[d]
    if isinstance(how, int):
        return pieces(x, d, list(range(how, n, how)) + [n])
    return pieces(x, d, [sum(how[: k + 1]) for k in range(len(how))])


def chunk(x, chunks, dim=0):
    n = x.shape[x.dim(dim)]
    return split(x, -(-n // chunks) or 1, dim)


def tensor_split(x, how, dim=0):
    d = x.dim(dim)
    n = x.shape[d]
    if isinstance(how, int):
        each = [n // how + (k < n % how) for k in range(how)]
        return split(x, each, dim)
    cuts = [min(max(c + n if c < 0 else c, 0), n) for c in how] + [n]
    return tuple(x.slice(d, a, max(a, b)) for a, b in zip([0] + cuts, cuts))


WITH = ("Tensor.split_with_sizes",)
row("split", split, C("x, 2", X(5, 3), skip=WITH), C("x, 2, 1", X(2, 3), skip=WITH), C("x, [1, 3], dim=1", X(2, 4)), C("x, [0, 2]", X(2)), C("x, 4", X(2), skip=WITH), C("x, 0", X(2), raises="split"), C("x, [1, 3]", X(5), raises="sum"), dtypes=ALL)
row("chunk", chunk, C("x, 2", X(5, 3)), C("x, 3, 1", X(2, 4)), C("x, 5", X(2)), C("x, 0", X(2), raises="chunk"), dtypes=ALL)
row("tensor_split", tensor_split, C("x, 3", X(5, 3)), C("x, (1, 3), 1", X(2, 4)), C("x, [3, 1]", X(4)), C("x, 4", X(2)), dtypes=ALL)
row("unbind", lambda x, dim=0: tuple(x.select(dim, i) for i in range(x.shape[dim])), C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x", X(3)), C("x", X(), raises="dim"), dtypes=ALL)
row("hsplit", lambda x, how: tensor_split(x, how, 0 if x.ndim == 1 else 1), C("x, 2", X(4)), C("x, 3", X(2, 3)), C("x, [1, 2]", X(2, 4)), dtypes=ALL)
row("vsplit", lambda x, how: tensor_split(x, how, 0), C("x, 2", X(4, 3)), C("x, [1]", X(2, 4)), dtypes=ALL)
row("dsplit", lambda x, how: tensor_split(x, how, 2), C("x, 2", X(1, 2, 4)), C("x, [1]", X(1, 2, 4)), dtypes=ALL)

# ---- copies


def flip(x, *dims):
    dims = [x.dim(d) for d in sizes_in(dims)]
    shape = x.shape
    return Nd(shape, x.dtype, [x.at(tuple(n - 1 - i if d in dims else i for d, (i, n) in enumerate(zip(p, shape)))) for p in places(shape)])


def roll(x, shifts, dims=()):
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        return roll(x.reshape(-1), shifts, 0).reshape(x.shape)
    for s, d in zip(shifts, dims):
        d = x.dim(d)
        n = x.shape[d]
        x = Nd(x.shape, x.dtype, [x.at(tuple((i - s) % n if k == d else i for k, i in enumerate(p))) for p in places(x.shape)])
    return x


def repeat(x, *times):
    times = sizes_in(times)
    shape = (1,) * (len(times) - x.ndim) + x.shape
    x = x.reshape(shape)
    made = [n * t for n, t in zip(shape, times)]
    return Nd(made, x.dtype, [x.at(tuple(i % n for i, n in zip(p, shape))) for p in places(made)])


def tile(x, *dims):
    dims = sizes_in(dims)
    return repeat(x, [1] * (x.ndim - len(dims)) + dims)


row("flip", flip, C("x, (0,)", X(2, 3)), C("x, (0, 1)", X(2, 3)), C("x, (-1,)", X(2, 3)), C("x, (0,)", X(0, 2)), C("x, ()", X()), C("x, (0, 0)", X(2, 3), raises="dim"), dtypes=ALL)
row("fliplr", lambda x: flip(x, 1), C("x", X(2, 3)), dtypes=ALL)
row("flipud", lambda x: flip(x, 0), C("x", X(2, 3)), C("x", X(3)), dtypes=ALL)
row("roll", roll, C("x, 1, 0", X(4)), C("x, 1", X(2, 3)), C("x, (1, -2), (0, 1)", X(2, 3)), C("x, 7, 1", X(2, 3)), C("x, 1, 0", X(0, 3)), C("x, (1, 2), 0", X(2, 3), raises="roll"), dtypes=ALL)
row("repeat", repeat, C("x, (2, 3)", X(2)), C("x, (2, 1)", X(2, 3)), C("x, 2, 2", X(1, 3)), C("x, (0, 1)", X(2, 3)), C("x, (2,)", X()), C("x, (2,)", X(2, 3), raises="repeat"), dtypes=ALL)
row("tile", tile, C("x, (2,)", X(2, 3)), C("x, (2, 2)", X(3)), C("x, (2,)", X()), dtypes=ALL)
FILLS = [("x, 2", [X(2, 3)], {}), ("x, 1.5", [X(3)], {"dtypes": FLOATS}), ("x, y", [X(2, 3), X()], {}), ("x, 0", [X()], {}), ("x, 1", [X(0, 3)], {})]
ONLY = ("Tensor.fill", "Tensor.copy")
row("fill", lambda x, v: naive.full(x.shape, 0, x.dtype).copy_(v if isinstance(v, Nd) else naive.full((), v, x.dtype)), *[C(t, *i, skip=ONLY, **h) for t, i, h in FILLS], *[C(t, *i, spellings=ONLY[:1], only="inplace", **h) for t, i, h in FILLS], C("x, y", X(2, 3), X(3), spellings=ONLY[1:], only="inplace"), C("x, y", X(2, 3), X(2, 3, dtype="int32"), spellings=ONLY[1:], only="inplace"), dtypes=ALL)
row("masked_fill", lambda x, m, v: Nd(*(lambda s, c: (s, x.dtype, [cast(b if k else a, x.dtype) for a, k, b in zip(*c)]))(*naive.tensors(x, m, v if not isinstance(v, Nd) else v))), C("x, y, 2", X(2, 3), B(2, 3)), C("x, y, 1.5", X(2, 3), B(3), dtypes=FLOATS), C("x, y, z", X(2, 3), B(2, 1), X()), C("x, y, 0", X(3), B(2, 3), inplace=False), C("x, y, -math.inf", S(10), B(10), dtypes=FLOATS), C("x, y, 0", X(), B()), C("x, y, 0", X(0), B(0)), C("x, y, 0", X(2), X(2), raises="bool"), dtypes=ALL, inplace=True)
row("diag", lambda x, d=0: diagonal(x, d).contiguous() if x.ndim == 2 else diag_embed(x, d, 0, 1), C("x", X(3)), C("x, 1", X(2)), C("x, -1", X(2)), C("x", X(2, 3)), C("x, 1", X(3, 3)), C("x", X(2, 2, 2), raises="diag"), dtypes=ALL)


def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    rank = x.ndim + 1
    a, b = dim1 % rank, dim2 % rank
    kept = iter(x.shape[:-1])
    shape = [n if d in (a, b) else next(kept) for d in range(rank)]
    made = Nd(shape, x.dtype, [0] * math.prod(shape))
    diagonal(made, offset, a, b).copy_(x)
    return made


row("diag_embed", diag_embed, C("x", X(3)), C("x", X(2, 3)), C("x, 1", X(2, 2)), C("x, -1, 0, 2", X(2, 3)), dtypes=ALL)
row("diagflat", lambda x, offset=0: diag_embed(x.reshape(-1), offset), C("x", X(3)), C("x, 1", X(2, 2)), C("x", X()), dtypes=ALL)
row("rot90", lambda x, k=1, dims=(0, 1): {0: lambda: x.contiguous(), 1: lambda: flip(x, dims[1]).transpose(*dims), 2: lambda: flip(x, dims), 3: lambda: flip(x.transpose(*dims), dims[1])}[k % 4]().contiguous(), C("x", X(2, 3)), C("x, 2", X(2, 3)), C("x, -1", X(2, 3)), C("x, 3, (1, 2)", X(2, 3, 4)), C("x, 4", X(2, 3)), dtypes=ALL)


def repeat_interleave(x, repeats, dim=None, output_size=None):
    if dim is None:
        x, dim = x.reshape(-1), 0
    d = x.dim(dim)
    times = repeats.flat() if isinstance(repeats, Nd) else [repeats] * x.shape[d]
    if len(times) == 1:
        times = times * x.shape[d]
    return cat([x.slice(d, i, i + 1) for i, t in enumerate(times) for _ in range(t)] or [x.slice(d, 0, 0)], d)


row("repeat_interleave", repeat_interleave, C("x, 2", X(3)), C("x, 2, 0", X(2, 3)), C("x, 3, dim=1", X(2, 3)), C("x, 2", X(2, 3)), C("x, 0, 0", X(2, 3)), C("x, y, 0", X(3, 2), I(3)), C("x, y, dim=1, output_size=4", X(2, 3), V([1, 0, 3], "int64")), dtypes=ALL)
row("broadcast", lambda *xs: tuple(x.expand(naive.broadcast_shapes(*(y.shape for y in xs))) for x in xs), C("x, y", X(2, 1), X(3)), C("x, y, z", X(), X(2), X(1, 1)), C("x, y", X(2), X(3), raises="3"), dtypes=ALL)


def meshgrid(*xs, indexing="ij"):
    xs = list(xs[0]) if isinstance(xs[0], (tuple, list)) else list(xs)
    swap = indexing == "xy" and len(xs) > 1
    if swap:
        xs[:2] = xs[1::-1]
    shape = [x.numel() for x in xs]
    made = [x.reshape([-1 if k == d else 1 for k in range(len(xs))]).expand(shape) for d, x in enumerate(xs)]
    if swap:
        made[:2] = made[1::-1]
    return tuple(made)


row("meshgrid", meshgrid, C("x, y", X(2), X(3)), C("x, y, indexing='ij'", X(2), X(3)), C("[x, y], indexing='xy'", X(2), X(3)), C("x, y, z, indexing='xy'", X(2), X(3), X(2)), dtypes=ALL)
row("cartesian_prod", lambda *xs: stack([m.reshape(-1) for m in meshgrid(*xs)], 1) if len(xs) > 1 else xs[0], C("x, y", X(2), X(3)), C("x, y, z", X(2), X(1), X(2)), C("x", X(3)), dtypes=ALL)


def combinations(x, r=2, with_replacement=False):
    import itertools

    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(pick(x.flat(), r))
    return Nd((len(rows), r), x.dtype, [v for t in rows for v in t])


row("combinations", combinations, C("x", X(4)), C("x, 3", X(4)), C("x, r=2, with_replacement=True", X(3)), C("x, 1", X(2)), dtypes=ALL)


def block_diag(*xs):
    xs = [x.reshape(1, -1) if x.ndim < 2 else x for x in xs]
    made = Nd((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)), xs[0].dtype, [0] * (sum(x.shape[0] for x in xs) * sum(x.shape[1] for x in xs)))
    i = j = 0
    for x in xs:
        made.slice(0, i, i + x.shape[0]).slice(1, j, j + x.shape[1]).copy_(x)
        i, j = i + x.shape[0], j + x.shape[1]
    return made


row("block_diag", block_diag, C("x, y", X(2, 3), X(1, 2)), C("x, y, z", X(2), X(), X(2, 2)), dtypes=ALL)


def scattered(part):
    """x with src in a view of it, as a copy."""

    def call(x, src, *how, **named):
        made = x.contiguous()
        part(made, *how, **named).copy_(src)
        return made

    return call


row("select_scatter", scattered(lambda x, dim, index: x.select(dim, index)), C("x, y, 0, 1", X(2, 3), X(3)), C("x, y, 1, -1", X(2, 3), X(2)), dtypes=ALL)
row("slice_scatter", scattered(lambda x, dim=0, start=None, end=None, step=1: x.slice(dim, start, end, step)), C("x, y", X(2, 3), X(2, 3)), C("x, y, 1, 1", X(2, 3), X(2, 2)), C("x, y, dim=0, start=1, end=4, step=2", X(5), X(2)), dtypes=ALL)
row("diagonal_scatter", scattered(diagonal), C("x, y", X(3, 3), X(3)), C("x, y, 1", X(2, 3), X(2)), dtypes=ALL)
row("as_strided_scatter", scattered(lambda x, size, stride, offset=0: x.window(size, stride, offset)), C("x, y, (2, 2), (1, 2)", X(3, 3), X(2, 2), flat=True), dtypes=ALL)
row("narrow_copy", lambda x, d, s, n: x.slice(d, s, s + n).contiguous(), C("x, 0, 1, 2", X(4, 3)), C("x, 1, 0, 2", X(2, 3)), dtypes=ALL)
row("ravel", lambda x: reshape(x, -1), C("x", X(2, 3)), C("x", X()), C("x", X(0, 2)), dtypes=ALL)


def sum_to_size(x, *size):
    size = sizes_in(size)
    made = naive.full(size, 0, x.dtype)
    for p in places(x.shape):
        q = [0 if n == 1 else i for i, n in zip(p[len(p) - len(size) :], size)]
        made.store[made.place(q)] += x.at(p)
    return made


row("sum_to_size", sum_to_size, C("x, (1, 3)", X(2, 3)), C("x, (3,)", X(2, 3)), C("x, 2, 1", X(4, 2, 3)), dtypes=FLOATS, tol=4)
row("broadcast_shapes", lambda *s: naive.broadcast_shapes(*[(v,) if isinstance(v, int) else v for v in s]), C("(2, 1), (3,)", wrap="tuple({})"), C("(1,), 4", wrap="tuple({})"), C("()", wrap="tuple({})"), dtypes=("float32",))
