"""What a generated program has at hand: variables, with their shape and dtype in every call.

Sizes, dtypes and None change between the calls of a program.  A `setting` is what one kind
of call passes; a variable knows its shape and dtype in each setting, so that a statement is
valid in all of them.
"""

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
WIDTH = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4}


class Invalid(Exception):
    """The expression has no meaning for these operands; another one is tried."""


def is_float(dtype):
    return dtype in FLOATS


def category(dtype):
    return 2 if dtype in FLOATS else 1 if dtype in INTS else 0


def promote_pair(a, b):
    if a == b:
        return a
    if category(a) != category(b):
        return max(a, b, key=category)
    if category(a) == 2:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        return max(a, b, key=FLOATS.index)
    if "uint8" in (a, b):
        other = b if a == "uint8" else a
        return "int16" if other == "int8" else other
    return max(a, b, key=WIDTH.get)


def promote(operands):
    """torch.result_type: `operands` are (dtype, dims), dims None for a Python number."""
    best = None
    for rank in ("dims", "zero", "number"):
        part = None
        for dtype, dims in operands:
            if rank == ("number" if dims is None else "dims" if dims else "zero"):
                part = dtype if part is None else promote_pair(part, dtype)
        if part is None:
            continue
        if best is None:
            best = part
        elif category(part) > category(best):
            # A number or a 0-d tensor of a higher category brings the default dtype of it.
            best = part if rank == "zero" else "float32" if category(part) == 2 else "int64"
    return best


def broadcast(*shapes):
    rank = max(len(s) for s in shapes)
    out = []
    for k in range(rank):
        dims = {s[k - rank + len(s)] for s in shapes if k - rank + len(s) >= 0}
        dims.discard(1)
        if len(dims) > 1:
            raise Invalid
        out.append(dims.pop() if dims else 1)
    return tuple(out)


def numel(shape):
    n = 1
    for d in shape:
        n *= d
    return n


class Var:
    """A tensor of the program: `leaf` is an input or a parameter, `shares` one whose memory
    another variable may share."""

    def __init__(self, name, shapes, dtypes, leaf=False, shares=False):
        self.name, self.shapes, self.dtypes = name, tuple(shapes), tuple(dtypes)
        self.leaf, self.shares = leaf, shares

    @property
    def rank(self):
        return len(self.shapes[0])

    @property
    def float(self):
        return all(is_float(d) for d in self.dtypes)

    @property
    def narrow(self):
        return any(d in ("float16", "bfloat16") for d in self.dtypes)

    @property
    def number(self):
        return all(d != "bool" for d in self.dtypes)

    def like(self, other):
        return self.shapes == other.shapes and self.dtypes == other.dtypes


class Scope:
    """The variables of a block, those of its outer blocks below."""

    def __init__(self, outer=None):
        self.outer, self.own = outer, []

    def all(self):
        return (self.outer.all() if self.outer else []) + self.own

    def add(self, var):
        self.own = [v for v in self.own if v.name != var.name] + [var]
        return var
