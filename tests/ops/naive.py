"""Arrays as PyTorch's, written for reading: a list of numbers, sizes, strides, an offset.

The references of the op test are made of these.  Floats are Python's float64
whatever the dtype says; ints wrap as their dtype's do.  Nothing here knows the
engine.
"""
import itertools
import math
import struct

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
BITS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
ALL = FLOATS + INTS + ("bool",)
NAN, INF = math.nan, math.inf


def category(dtype):
    return 2 if dtype in FLOATS else 1 if dtype in INTS else 0


def promote(a, b):
    """The dtype of two, PyTorch's table: https://docs.pytorch.org/docs/stable/tensor_attributes.html"""
    if a == b:
        return a
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if {a, b} == {"float16", "bfloat16"}:
        return "float32"
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    order = FLOATS if category(a) == 2 else INTS
    return a if order.index(a) > order.index(b) else b


def bfloat16(v):
    bits = struct.unpack("<I", struct.pack("<f", v))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def cast(v, dtype):
    """A number as that dtype holds it."""
    if dtype == "bool":
        return v != 0
    if dtype in INTS:
        if isinstance(v, float):
            v = int(v) if math.isfinite(v) else 0
        n = 1 << BITS[dtype]
        v = int(v) % n
        return v - n if dtype != "uint8" and v >= n // 2 else v
    v = float(v)
    if dtype == "float64" or not math.isfinite(v):
        return v
    try:
        v = struct.unpack("<f", struct.pack("<f", v))[0]
        if dtype == "float16":
            return struct.unpack("<e", struct.pack("<e", v))[0]
        return bfloat16(v) if dtype == "bfloat16" else v
    except OverflowError:
        return math.copysign(INF, v)


def strides_of(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def places(shape):
    return itertools.product(*(range(n) for n in shape))


class Nd:
    def __init__(self, shape, dtype, data, exact=False):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.store = list(data) if exact or dtype in FLOATS else [cast(v, dtype) for v in data]
        self.strides = strides_of(self.shape)
        self.offset = 0
        assert len(self.store) == math.prod(self.shape), (len(self.store), shape)

    @property
    def ndim(self):
        return len(self.shape)

    def window(self, shape, strides, offset):
        made = Nd((), self.dtype, [0])
        made.store, made.shape, made.strides, made.offset = self.store, tuple(shape), tuple(strides), offset
        return made

    def place(self, at):
        return self.offset + sum(i * s for i, s in zip(at, self.strides))

    def at(self, at):
        return self.store[self.place(at)]

    def put(self, at, v):
        self.store[self.place(at)] = cast(v, self.dtype)

    def flat(self):
        return [self.at(p) for p in places(self.shape)]

    def numel(self):
        return math.prod(self.shape)

    def contiguous(self):
        return Nd(self.shape, self.dtype, self.flat(), True)

    def to(self, dtype):
        return Nd(self.shape, dtype, [cast(v, dtype) for v in self.flat()])

    def dim(self, d):
        assert -max(self.ndim, 1) <= d < max(self.ndim, 1), d
        return d % self.ndim if self.ndim else 0

    def reshape(self, *shape):
        shape = list(shape[0] if shape and isinstance(shape[0], (tuple, list)) else shape)
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape[shape.index(-1)] = self.numel() // known if known else 0
        return Nd(shape, self.dtype, self.flat(), True)

    def view(self, *shape):
        """True aliasing, of what lies row by row."""
        made = self.reshape(*shape)
        assert self.strides == strides_of(self.shape)
        return self.window(made.shape, made.strides, self.offset)

    def permute(self, dims):
        dims = [self.dim(d) for d in dims]
        return self.window([self.shape[d] for d in dims], [self.strides[d] for d in dims], self.offset)

    def transpose(self, a=-1, b=-2):
        order = list(range(self.ndim))
        if self.ndim:
            a, b = self.dim(a), self.dim(b)
            order[a], order[b] = order[b], order[a]
        return self.permute(order)

    def unsqueeze(self, d):
        d = d % (self.ndim + 1)
        return self.window(
            self.shape[:d] + (1,) + self.shape[d:],
            self.strides[:d] + (1,) + self.strides[d:],
            self.offset,
        )

    def squeeze(self, d):
        d = self.dim(d)
        if not self.ndim or self.shape[d] != 1:
            return self.window(self.shape, self.strides, self.offset)
        return self.window(self.shape[:d] + self.shape[d + 1 :], self.strides[:d] + self.strides[d + 1 :], self.offset)

    def select(self, d, i):
        d = self.dim(d)
        i = i + self.shape[d] if i < 0 else i
        assert 0 <= i < self.shape[d]
        return self.window(
            self.shape[:d] + self.shape[d + 1 :],
            self.strides[:d] + self.strides[d + 1 :],
            self.offset + i * self.strides[d],
        )

    def slice(self, d, start=None, end=None, step=1):
        d = self.dim(d)
        r = range(self.shape[d])[start:end:step]
        return self.window(
            self.shape[:d] + (len(r),) + self.shape[d + 1 :],
            self.strides[:d] + (self.strides[d] * step,) + self.strides[d + 1 :],
            self.offset + (r.start * self.strides[d] if len(r) else 0),
        )

    def expand(self, shape):
        shape = list(shape)
        lead = len(shape) - self.ndim
        strides = [0] * lead + list(self.strides)
        for i, n in enumerate(self.shape):
            if shape[lead + i] == -1:
                shape[lead + i] = n
            elif n != shape[lead + i]:
                assert n == 1, (self.shape, shape)
                strides[lead + i] = 0
        return self.window(shape, strides, self.offset)

    def copy_(self, other):
        other = other.expand(self.shape) if isinstance(other, Nd) else full(self.shape, other, self.dtype)
        values = other.flat()
        for p, v in zip(places(self.shape), values):
            self.put(p, v)
        return self

    def __getitem__(self, key):
        made = self
        d = 0
        for k in key if isinstance(key, tuple) else (key,):
            if isinstance(k, int):
                made = made.select(d, k)
            elif k is None:
                made = made.unsqueeze(d)
                d += 1
            else:
                made = made.slice(d, k.start, k.stop, k.step or 1)
                d += 1
        return made


def full(shape, v, dtype):
    return Nd(shape, dtype, [cast(v, dtype)] * math.prod(shape))


def scalar_dtype(v):
    return "bool" if isinstance(v, bool) else "int64" if isinstance(v, int) else "float32"


def result_type(*operands):
    """Dims decide, then 0-d tensors, then Python numbers: each where its category is higher."""
    found = [None, None, None]
    for x in operands:
        if x is None:
            continue
        at = (0 if x.ndim else 1) if isinstance(x, Nd) else 2
        dtype = x.dtype if isinstance(x, Nd) else scalar_dtype(x)
        found[at] = dtype if found[at] is None else promote(found[at], dtype)
    made = None
    for dtype in found:
        if dtype is not None and (made is None or category(dtype) > category(made)):
            made = dtype
    return made


def broadcast_shapes(*shapes):
    rank = max((len(s) for s in shapes), default=0)
    made = []
    for d in range(rank):
        sizes = {s[len(s) - rank + d] for s in shapes if len(s) - rank + d >= 0} - {1}
        assert len(sizes) <= 1, shapes
        made.append(sizes.pop() if sizes else 1)
    return tuple(made)


def tensors(*operands):
    """All broadcast to one shape, numbers too; lists of values, and the shape."""
    shape = broadcast_shapes(*(x.shape for x in operands if isinstance(x, Nd)))
    return shape, [x.expand(shape).flat() if isinstance(x, Nd) else [x] * math.prod(shape) for x in operands]


def as_float(dtype):
    return dtype if dtype in FLOATS else "float32"


def pointwise(f, rule="same"):
    """f of numbers as a function of tensors; rule as in ops.def."""

    def call(*operands):
        computed = result_type(*operands)
        if rule in ("float",):
            computed = as_float(computed)
        shape, columns = tensors(*operands)
        if rule != "logic":
            columns = [[cast(v, computed) for v in c] for c in columns]
        values = [f(*row) for row in zip(*columns)]
        return Nd(shape, "bool" if rule in ("bool", "logic") else computed, values)

    return call


def dims_of(x, dim):
    if dim is None or dim == ():
        return list(range(x.ndim))
    return sorted({x.dim(d) for d in ([dim] if isinstance(dim, int) else dim)} if x.ndim else set())


def groups(x, dims):
    """(place among the kept dims, values over the reduced ones), for each."""
    kept = [d for d in range(x.ndim) if d not in dims]
    for p in places([x.shape[d] for d in kept]):
        row = []
        for q in places([x.shape[d] for d in dims]):
            at = [0] * x.ndim
            for d, i in list(zip(kept, p)) + list(zip(dims, q)):
                at[d] = i
            row.append(x.at(at))
        yield row


def reduced_shape(x, dims, keepdim):
    return tuple(1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims)


def reduction(f, out=lambda dtype: dtype):
    def call(x, dim=None, keepdim=False, dtype=None):
        if dtype:
            x = x.to(dtype)
        dims = dims_of(x, dim)
        made = dtype or out(x.dtype)
        return Nd(reduced_shape(x, dims, keepdim), made, [f(row) for row in groups(x, dims)])

    return call


def along(f, *dtypes):
    """f of the list along a dim gives a list (or one for each dtype, None: that of x)."""

    def call(x, dim, *rest, **named):
        if x.ndim == 0:
            made = call(x.unsqueeze(0), 0, *rest, **named)
            made = made if isinstance(made, tuple) else (made,)
            made = tuple(m.reshape(()) for m in made)
            return made if len(made) > 1 else made[0]
        d = x.dim(dim)
        rest_dims = [k for k in range(x.ndim) if k != d]
        rows = [f(row, *rest, **named) for row in groups(x.permute(rest_dims + [d]), [x.ndim - 1])]
        rows = [r if isinstance(r, tuple) else (r,) for r in rows]
        made = []
        for k, dtype in enumerate(dtypes or (None,)):
            n = len(rows[0][k]) if rows else x.shape[d]
            shape = [x.shape[r] for r in rest_dims] + [n]
            order = list(range(x.ndim - 1))
            order.insert(d, x.ndim - 1)
            values = [v for r in rows for v in r[k]]
            made.append(Nd(shape, dtype or x.dtype, values).permute(order).contiguous())
        return tuple(made) if len(made) > 1 else made[0]

    return call
