"""Rows of the op test: for each op its reference and the calls that are tried.

row(id, reference, calls...) where a call is C("x, 1, keepdim=True", X(2, 3)):
its arguments as text, in which x, y, z, w are the inputs.  The text is spelt in
every way that ops.def says and evaluated here too, with the reference in the
place of the op.
"""
import math
import random

from naive import ALL, FLOATS, INTS, INF, NAN, Nd, cast

ROWS = {}
NAMES = "xyzw"


class Input:
    """Numbers for a tensor: `kind` any, positive, unit (0..1), special, ints below `high`, mask."""

    def __init__(self, shape, kind="any", dtype=None, high=3, low=0, values=None):
        self.shape, self.kind, self.dtype = tuple(shape), kind, dtype
        self.high, self.low, self.values = high, low, values

    def numbers(self, dtype, salt):
        dtype = self.dtype or dtype
        rng = random.Random(salt * 7919 + len(self.shape))
        n = math.prod(self.shape)
        if self.values is not None:
            values = [self.values[i % len(self.values)] for i in range(n)]
        elif self.kind == "special" and dtype in FLOATS:
            some = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0]
            values = [some[(i + 3 * salt) % len(some)] for i in range(n)]
        elif self.kind == "index":
            values = [rng.randrange(self.low, self.high) for _ in range(n)]
        elif dtype == "bool" or self.kind == "mask":
            values = [rng.random() < 0.5 for _ in range(n)]
        elif self.kind == "distinct":
            values = [v - n // 2 for v in rng.sample(range(n), n)]
            values = [v / 4 if dtype in FLOATS else v + n // 2 for v in values]
        else:
            lo, hi = {"positive": (1, 64), "unit": (1, 15), "small": (-16, 16)}.get(self.kind, (-56, 56))
            values = [rng.randint(lo, hi) for _ in range(n)]
            values = [v / 16 if dtype in FLOATS else v // 8 for v in values]
            if dtype == "uint8" or (self.kind == "positive" and dtype in INTS):
                values = [abs(v) + (self.kind == "positive") for v in values]
        return Nd(self.shape, dtype, [cast(v, dtype) for v in values])


def X(*shape, **how):
    return Input(shape, **how)


def P(*shape):
    return Input(shape, "positive")


def U(*shape):
    return Input(shape, "unit")


def S(*shape):
    return Input(shape, "special")


def I(*shape, high=3, low=0, dtype="int64"):
    return Input(shape, "index", dtype, high, low)


def B(*shape):
    return Input(shape, "mask", "bool")


def V(values, dtype=None, shape=None):
    """These numbers."""
    return Input(shape if shape is not None else (len(values),), values=values, dtype=dtype)


class Call:
    def __init__(self, text, inputs, how):
        self.text, self.inputs = text, inputs
        self.dtypes = how.get("dtypes")
        self.tol = how.get("tol", 1)
        self.skip = how.get("skip", ())  # spellings that do not take this call
        self.spellings = how.get("spellings")
        self.raises = how.get("raises")
        self.inplace = how.get("inplace")
        self.only = how.get("only")  # "inplace": torch has x.f_() alone
        self.wrap = how.get("wrap")  # what the program says around the call
        self.flat = how.get("flat", False)  # x must lie row by row


def C(text, *inputs, **how):
    return Call(text, inputs, how)


class Row:
    def __init__(self, ref, calls, how):
        self.ref, self.calls = ref, list(calls)
        self.dtypes = how.get("dtypes", FLOATS)
        self.inplace = how.get("inplace", False)
        self.view = how.get("view", False)
        self.modules = how.get("modules", ())  # ("nn.ReLU()", "x")
        self.tol = how.get("tol", 1)
        self.wrap = how.get("wrap")
        self.why = how.get("why")  # why there is nothing to call
        self.differs = how.get("differs", False)  # from mode to mode
        self.property = how.get("property")  # a check of the result instead of numbers


def row(name, ref, *calls, **how):
    assert name not in ROWS, name
    ROWS[name] = Row(ref, calls, how)


def untried(name, why, differs=False):
    """A row that no program can call: passes make it, or it is the test's own machinery; or, with `differs`, one
    whose answer is another in each mode."""
    ROWS[name] = Row(None, (), {"why": why, "differs": differs})


SHAPES = [(2, 3), (), (1,), (0, 3), (37,), (2, 1, 3)]
PAIRS = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((1,), (0,)), ((), ()), ((37,), (37,))]


def unary(name, f, kind="any", dtypes=ALL, special=True, extra=(), **how):
    calls = [C("x", Input(s, kind)) for s in SHAPES]
    if special:
        calls.append(C("x", S(10), dtypes=FLOATS))
    how.setdefault("inplace", True)
    row(name, f, *calls, *extra, dtypes=dtypes, **how)


def binary(name, f, kind="any", other=None, dtypes=ALL, special=True, numbers=True, mixed=True, extra=(), **how):
    other = other or kind
    calls = [C("x, y", Input(a, kind), Input(b, other)) for a, b in PAIRS]
    if special:
        # Each special number with each.
        calls.append(C("x, y", Input((10, 1), "special"), Input((1, 10), "special"), dtypes=FLOATS))
    if numbers:
        calls += [C("x, 2", Input((2, 3), kind)), C("x, 1.5", Input((2, 3), kind), dtypes=FLOATS)]
        calls.append(C("x, 2.5", Input((3,), kind), dtypes=("int32", "bool") if "bool" in dtypes else ("int32",)))
    # Mixed dtypes: dims with dims, and a 0-d tensor of a higher or lower category.
    for a, b in (("int32", "float32"), ("uint8", "int8"), ("float16", "bfloat16"), ("bool", "int16")):
        if mixed and a in dtypes and b in dtypes:
            calls.append(C("x, y", Input((2, 3), kind, a), Input((3,), other, b), dtypes=("float32",)))
            calls.append(C("x, y", Input((2, 3), kind, b), Input((), other, a), dtypes=("float32",)))
            calls.append(C("x, y", Input((2, 3), kind, a), Input((), other, b), dtypes=("float32",), inplace=False))
    how.setdefault("inplace", True)
    row(name, f, *calls, *extra, dtypes=dtypes, **how)
