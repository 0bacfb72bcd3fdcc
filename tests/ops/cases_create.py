"""References and calls of new tensors, random numbers, types and questions."""
import math

import naive
from naive import ALL, FLOATS, INTS, INF, NAN, Nd, cast, promote, result_type
from table import B, C, I, P, S, U, V, X, row, untried


def default(v):
    return naive.scalar_dtype(v)


def sizes_in(args):
    return list(args[0]) if args and isinstance(args[0], (tuple, list)) else list(args)


def filled(v):
    return lambda *size, dtype="float32": naive.full(sizes_in(size), v, dtype)


ONCE = dict(dtypes=("float32",))
SIZES = [C("(2, 3)"), C("(0,)"), C("()"), C("2, 3"), C("(2,), dtype=torch.int64"), C("(2,), dtype=torch.bool"), C("(2,), dtype=torch.bfloat16"), C("4")]
row("tensor", lambda data, dtype=None: literal(data, dtype), C("[1, 2, 3]"), C("[[1.5, 2.0]]"), C("2.5"), C("True"), C("[]"), C("[1, 2.5]"), C("[True, 2]"), C("[1, 2], dtype=torch.float16"), C("[[1, 2], [3]]", raises="length"), **ONCE)


def literal(data, dtype=None):
    shape, flat = [], [data]
    while isinstance(flat[0] if flat else None, list):
        shape.append(len(flat[0]))
        flat = [v for part in flat for v in part]
    for v in flat:
        dtype = dtype or None
    found = dtype
    if found is None:
        found = "float32" if not flat else default(flat[0])
        for v in flat:
            found = promote(found, default(v))
    return Nd(shape, found, [cast(v, found) for v in flat])


row("full", lambda size, v, dtype=None: naive.full(sizes_in([size]), v, dtype or default(v)), C("(2, 3), 1.5"), C("(2,), 3"), C("(2,), True"), C("(), 2.0"), C("(0, 2), 1"), C("(2,), 1, dtype=torch.float16"), **ONCE)
row("zeros", filled(0), *[C(c.text, skip=("torch.empty",)) for c in SIZES], C("(0, 2)", spellings=("torch.empty",)), **ONCE)
row("ones", filled(1), *SIZES, **ONCE)
LIKES = [C("x", X(2, 3)), C("x", X()), C("x", X(0)), C("x, dtype=torch.float64", X(2)), C("x, dtype=torch.bool", X(2))]
row("zeros_like", lambda x, dtype=None: naive.full(x.shape, 0, dtype or x.dtype), *[C(c.text, *c.inputs, skip=("torch.empty_like", "Tensor.zero")) for c in LIKES], C("x", X(0, 2), spellings=("torch.empty_like",)), C("x", X(2, 3), inplace=True, spellings=("Tensor.zero",), only="inplace"), dtypes=ALL)
row("ones_like", lambda x, dtype=None: naive.full(x.shape, 1, dtype or x.dtype), *LIKES, dtypes=ALL)
row("full_like", lambda x, v, dtype=None: naive.full(x.shape, v, dtype or x.dtype), C("x, 2", X(2, 3)), C("x, 1.5", X(2), dtypes=FLOATS), C("x, 1", X(0)), C("x, 3, dtype=torch.float64", X(2)), dtypes=ALL)
NEWS = [C("x, (2, 3)", X(1)), C("x, (0,)", X()), C("x, (2,), dtype=torch.float64", X(1)), C("x, 2, 3", X(1))]
row("new_zeros", lambda x, *s, dtype=None: naive.full(sizes_in(s), 0, dtype or x.dtype), *[C(c.text, *c.inputs, skip=("Tensor.new_empty",)) for c in NEWS], C("x, (0, 2)", X(1), spellings=("Tensor.new_empty",)), dtypes=ALL)
row("new_ones", lambda x, *s, dtype=None: naive.full(sizes_in(s), 1, dtype or x.dtype), *NEWS, dtypes=ALL)
row("new_full", lambda x, s, v, dtype=None: naive.full(s, v, dtype or x.dtype), C("x, (2,), 3", X(1)), C("x, (2,), 1, dtype=torch.float64", X(1)), dtypes=ALL)
row("new_tensor", lambda x, data, dtype=None: literal(data, dtype or x.dtype), C("x, [1, 2]", X(1)), C("x, [1.5], dtype=torch.float64", X(1)), **ONCE)
row("new", lambda x, data: literal(data, x.dtype), C("x, [1, 2]", X(1)), **ONCE)


def arange(*bounds, dtype=None, start=None, end=None, step=None):
    bounds = list(bounds)
    if end is not None:
        bounds = [start or 0, end]
    if len(bounds) == 1:
        bounds = [0] + bounds
    if len(bounds) == 2:
        bounds.append(1 if step is None else step)
    a, b, s = bounds
    n = max(0, math.ceil((b - a) / s))
    made = dtype or ("float32" if any(isinstance(v, float) for v in bounds) else "int64")
    return Nd((n,), made, [a + k * s for k in range(n)])


row("arange", arange, C("5"), C("2, 7"), C("1, 10, 3"), C("5, 0, -2"), C("0.5, 2.0, 0.25"), C("3, dtype=torch.float32"), C("0"), C("1, 2, 0.3, dtype=torch.float64"), C("start=1, end=4"), C("3.5"), C("0, 5, 0", raises="step"), **ONCE)


def linspace(start, end, steps, dtype="float32"):
    a, b, n = start, end, steps
    return Nd((n,), dtype, [a + (b - a) * k / (n - 1) if n > 1 else a for k in range(n)])


row("linspace", linspace, C("0, 1, 5"), C("-1.5, 2.5, 4"), C("3, 3, 2"), C("0, 1, 1"), C("0, 1, 0"), C("0, 10, 3, dtype=torch.float64"), C("start=0, end=1, steps=3"), tol=2, **ONCE)
row("logspace", lambda a, b, n, base=10.0, dtype="float32": Nd((n,), dtype, [base**v for v in linspace(a, b, n).flat()]), C("0, 2, 3"), C("-1, 1, 4"), C("0, 3, 4, base=2.0"), C("0, 1, 0"), tol=2, **ONCE)
row("eye", lambda n, m=None, dtype="float32": Nd((n, n if m is None else m), dtype, [i == j for i in range(n) for j in range(n if m is None else m)]), C("3"), C("2, 3"), C("2, dtype=torch.int64"), C("0"), C("3, 1"), **ONCE)

# ---- types

CASTS = {"float": "float32", "double": "float64", "long": "int64", "bool": "bool", "half": "float16", "bfloat16": "bfloat16", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8"}
for name, dtype in CASTS.items():
    row(name, lambda x, dtype=dtype: x.to(dtype), C("x", X(2, 3)), C("x", X()), C("x", X(0)), dtypes=ALL)
row("type", lambda x, dtype: x.to(dtype), C("x, torch.float64", X(2, 3)), C("x, dtype=torch.int32", X(2)), dtypes=ALL)
row("type_as", lambda x, y: x.to(y.dtype), C("x, y", X(2), X(1, dtype="float64")), C("x, y", X(2), X(1, dtype="int8")), dtypes=ALL)
row("device_of", lambda x: x, C("x", X(2), spellings=("Tensor.cpu", "Tensor.cuda")), dtypes=ALL)
row("is_floating", lambda x: x.dtype in FLOATS, C("x", X(2)), dtypes=ALL)
row("is_complex", lambda x: False, C("x", X(2)), dtypes=ALL)

# ---- questions: their answers as text


def asked(text, *inputs):
    return C(text, *inputs, wrap="str({})")


def torch_name(f):
    return lambda *a: "torch." + f(*a)


def can_cast(a, b):
    return naive.category(a) <= naive.category(b)


DTYPES = [f"torch.{d}" for d in ALL]
row("default_dtype", torch_name(lambda: "float32"), asked(""), **ONCE)
row("promote_types", torch_name(promote), *[asked(f"{a}, {b}") for a in DTYPES for b in DTYPES], **ONCE)
row("can_cast", can_cast, *[C(f"{a}, {b}") for a in DTYPES for b in DTYPES], **ONCE)
row("result_type", torch_name(result_type), *[asked("x, y", X(2, dtype=a), X(*s, dtype=b)) for a in ALL for b in ALL for s in ((2,), ())], *[asked(f"x, {v}", X(*s, dtype=a)) for a in ALL for v in ("True", "2", "1.5") for s in ((2,), ())], **ONCE)
FINFO = {"float16": (11, -14, 5), "bfloat16": (8, -126, 8), "float32": (24, -126, 8), "float64": (53, -1022, 11)}


def finfo(dtype="float32"):
    digits, low, _ = FINFO[dtype]
    most = (2 - 2.0 ** (1 - digits)) * 2.0 ** (1 - low)
    return (2.0 ** (1 - digits), most, -most, 2.0**low, naive.FLOATS.index(dtype) >= 2 and 32 * (naive.FLOATS.index(dtype) - 1) or 16)


def iinfo(dtype):
    n = naive.BITS[dtype]
    return (0, 255, 8) if dtype == "uint8" else (-(2 ** (n - 1)), 2 ** (n - 1) - 1, n)


row("finfo", finfo, *[C(f"torch.{d}", wrap="(lambda i: (i.eps, i.max, i.min, i.tiny, i.bits))({})") for d in FLOATS], **ONCE)
row("iinfo", iinfo, *[C(f"torch.{d}", wrap="(lambda i: (i.min, i.max, i.bits))({})") for d in INTS], **ONCE)
row("device", lambda name: name, C("'cpu'", wrap="str({})"), **ONCE)
row("manual_seed", lambda n: True, C("7", wrap="({}, True)[1]"), **ONCE)
row("equal", lambda x, y: x.shape == y.shape and all(a == b for a, b in zip(x.flat(), y.flat())), C("x, y", X(2), X(2)), C("x, x", X(2, 3)), C("x, y", X(2), X(3)), C("x, x", S(10), dtypes=FLOATS), C("x, y", X(0), X(0)), dtypes=ALL)
row("allclose", lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: all(a == b or (equal_nan and a != a and b != b) or abs(a - b) <= atol + rtol * abs(b) for a, b in zip(*naive.tensors(x, y)[1])), C("x, x", X(2)), C("x, y", X(2), X(2)), C("x, y, 9.0, 9.0", X(2), X(2)), C("x, x", S(10)), C("x, x, equal_nan=True", S(10)), dtypes=("float32", "float64"))
row("tolist", lambda x: nested(x), C("x", X(2, 3)), C("x", X()), C("x", X(0)), C("x", X(2, 0)), dtypes=ALL)


def nested(x):
    return x.at(()) if not x.ndim else [nested(x.select(0, i)) for i in range(x.shape[0])]


row("size", lambda x, d=None: tuple(x.shape) if d is None else x.shape[d], C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, -1", X(2, 3)), C("x", X()), C("x, 5", X(2), raises="dim"), wrap="tuple({}) if not isinstance({}, int) else {}", **ONCE)
row("dim", lambda x: x.ndim, C("x", X(2, 3)), C("x", X()), **ONCE)
row("numel", lambda x: x.numel(), C("x", X(2, 3)), C("x", X()), C("x", X(0, 3)), **ONCE)
row("item", lambda x: x.flat()[0], C("x", X()), C("x", X(1, 1)), C("x", X(2), raises="2 elements"), dtypes=ALL)
row("stride", lambda x, d=None: tuple(x.strides) if d is None else x.strides[d], C("x", X(2, 3)), C("x, 0", X(2, 3)), C("x", X()), **ONCE)
row("is_contiguous", lambda x: x.numel() <= 1 or all(n == 1 or a == b for n, a, b in zip(x.shape, x.strides, naive.strides_of(x.shape))), C("x", X(2, 3)), C("x", X()), **ONCE)
row("storage_offset", lambda x: x.offset, C("x", X(2, 3)), **ONCE)
row("element_size", lambda x: {"b": 1, "u": 1}.get(x.dtype[0]) or int(x.dtype[-2:].lstrip("t")) // 8, C("x", X(2)), dtypes=("float64", "float32", "float16", "int8", "int64", "int32", "int16"))
row("is_tensor", lambda x: isinstance(x, Nd), C("x", X(2)), C("3"), C("[1]"), **ONCE)
row("is_nonzero", lambda x: x.flat()[0] != 0, C("x", X(1)), C("x", V([0.0])), **ONCE)
row("requires_grad_", lambda x: x, C("x", X(2), spellings=("Tensor.requires_grad_",)), **ONCE)
for name, why in (("tensor_type", ""),):
    pass

# ---- random numbers: shape, dtype and bounds; test_fusion_language.c has the sequence


def drawn(shape, dtype, low, high, whole=False, mean=None):
    """low <= v < high, with the mean that so many numbers have."""

    def holds(ours):
        t = ours["tensor"]
        if t["shape"] != list(shape) or t["dtype"] != dtype:
            return f"{t['dtype']}{t['shape']} for {dtype}{list(shape)}"
        data = [float(v) for v in t["data"]]
        if any(not low <= v < high or (whole and v != int(v)) for v in data):
            return f"{data[:8]} are not all in [{low}, {high})"
        if mean is not None and len(data) > 999 and abs(sum(data) / len(data) - mean) > 0.15 * (min(high, 3) - max(low, -3)):
            return f"mean {sum(data) / len(data)} for {mean}"
        return None if len(set(data)) > 1 or len(data) < 9 else "one number alone"

    return holds


def draws(low, high, mean):
    return lambda *size, dtype="float32": drawn(sizes_in(size), dtype, low, high, False, mean)


def like(low, high, mean):
    return lambda x, dtype=None: drawn(x.shape, dtype or x.dtype, low, high, False, mean)


DRAWS = [C("(2, 3)"), C("30, 40"), C("()"), C("(0,)"), C("(9, 9), dtype=torch.float64"), C("4, dtype=torch.float16")]
row("rand", draws(0, 1, 0.5), *DRAWS, **ONCE)
row("randn", draws(-9, 9, 0), *DRAWS, **ONCE)
row("randint", lambda *a, dtype="int64": drawn(a[-1], dtype, *([0] + list(a[:-1]))[-2:], True), C("5, (20,)"), C("-3, 4, (3, 30)"), C("0, 2, (9,), dtype=torch.int32"), C("3, (0,)"), **ONCE)
LIKE = [C("x", X(2, 3)), C("x", X()), C("x", X(40, 40)), C("x, dtype=torch.float64", X(9))]
row("rand_like", like(0, 1, 0.5), *LIKE, dtypes=FLOATS)
row("randn_like", like(-9, 9, 0), *LIKE, dtypes=FLOATS)
row("randint_like", lambda x, *b, dtype=None: drawn(x.shape, dtype or x.dtype, *([0] + list(b))[-2:], True), C("x, 5", X(20)), C("x, -2, 3", X(3, 9)), C("x, 0, 9, dtype=torch.int64", X(20)), dtypes=("float32", "int64"))
for name in ("uniform", "random_ints", "permutation"):
    untried(name, "torch.rand and its like make it")
untried("keep", "dropout multiplies by it")
for name in ("drop", "dropped"):
    untried(name, "a dropout by itself on a GPU: tests/cuda and test_fusion_emulated")
row("randperm", lambda n, dtype="int64": lambda ours: None if sorted(ours["tensor"]["data"]) == list(range(n)) and ours["tensor"]["dtype"] == dtype else f"{ours}", C("6"), C("0"), C("40"), C("3, dtype=torch.int32"), **ONCE)
row("bernoulli", lambda x, p=None: lambda ours: None if ours["tensor"]["shape"] == list(x.shape) and ours["tensor"]["dtype"] == x.dtype and all(a in (0, 1) and a == q or 0 < q < 1 for a, q in zip(ours["tensor"]["data"], x.flat() if p is None else [p] * x.numel())) else f"{ours}", C("x", V([0.0, 1.0, 0.5, 1.0, 0.0, 0.25])), C("x, 1.0", X(2, 3)), C("x", X(0)), dtypes=FLOATS)
row("multinomial", lambda x, n, replacement=False: lambda ours: None if ours["tensor"]["shape"] == list(x.shape[:-1]) + [n] and ours["tensor"]["dtype"] == "int64" and all(x.flat()[i] > 0 for i in ours["tensor"]["data"]) and (replacement or len(set(ours["tensor"]["data"])) == n) else f"{ours}", C("x, 2", V([0.0, 1.0, 3.0, 0.0])), C("x, 9, replacement=True", V([0.5, 0.0, 0.25])), C("x, 1", P(5)), dtypes=("float32", "float64"))
row("normal_", lambda x, mean=0, std=1: drawn(x.shape, x.dtype, -9 * std + mean, 9 * std + mean, False, mean), C("x", X(40, 40)), C("x, 2, 0.5", X(9)), dtypes=FLOATS)
row("uniform_", lambda x, a=0, b=1: drawn(x.shape, x.dtype, a, b + 1e-6, False, (a + b) / 2), C("x", X(40, 40)), C("x, -2, 3", X(9)), dtypes=("float32", "float64"))
row("normal", lambda mean, std=1.0, size=None: drawn(size if size is not None else mean.shape, "float32", -99, 99), C("0.0, 1.0, (2, 3)"), C("2.0, 0.5, (40,)"), C("x", X(7)), C("x, y", X(7), P(7)), **ONCE)
untried("data_ptr", "an address: tests/prelude/addresses.py compares those of views", differs=True)
for name in ("custom", "custom_kernel"):
    untried(name, "a plugin's op: test_plugins has one")
