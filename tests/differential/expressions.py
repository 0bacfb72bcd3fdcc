"""Expressions of tensors: each rule gives the text, and the shape and dtype in every setting."""
import os
import sys

from scope import INTS, Invalid, Var, broadcast, is_float, numel, promote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
import table  # noqa: E402

for part in ("pointwise", "reduce", "shape", "index", "matrix", "window", "loss", "create", "search", "signal"):
    __import__("cases_" + part)

# Keep values near 1, whatever came in.
TAME = ["torch.sin({})", "torch.tanh({})", "torch.cos({})", "torch.sigmoid({})", "torch.erf({})", "torch.atan({})", "torch.nn.functional.softsign({})"]
SMOOTH = ["{}.relu()", "torch.abs({})", "-{}", "{} * 0.5", "{} + 1", "{}.square() * 0.25", "torch.exp(-{}.abs())", "torch.log1p({}.abs())", "torch.sqrt({}.abs() + 0.5)",
          "torch.rsqrt({}.abs() + 0.5)", "1 / ({}.abs() + 1)", "torch.nn.functional.gelu({})", "torch.nn.functional.silu({})", "torch.nn.functional.softplus({})",
          "torch.nn.functional.leaky_relu({}, 0.2)", "torch.nn.functional.elu({})", "{}.clamp(-1.0, 1.0)", "{}.clamp(min=-0.5)", "2 - {}", "{} / 3", "{} ** 2 * 0.1",
          "torch.nan_to_num({})", "torch.nn.functional.hardtanh({})", "torch.nn.functional.mish({})", "{}.clone()", "torch.expm1({}.clamp(-2.0, 1.0))"]
STEPS = ["torch.floor({} * 2) / 2", "torch.sign({})", "torch.round({} * 4) / 4", "torch.trunc({} * 3)"]
INTEGERS = ["{} + 1", "{} * 2", "-{}", "{} - 3", "{} % 5", "{} // 2", "{}.abs()", "{}.clamp(-4, 4)", "{} & 7", "{} ^ 3", "~{}"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.minimum({}, {})", "torch.add({}, {}, alpha=2)", "{} / ({}.abs() + 1)"]
COMPARE = ["{} > {}", "{} < {}", "{} >= {}", "{} <= {}", "{} == {}", "{} != {}"]
REDUCE = ["sum", "mean", "amax", "amin", "prod", "logsumexp", "std", "var", "norm", "any", "all", "argmax", "cumsum", "softmax", "log_softmax", "flip", "sort", "max", "cumprod"]


def unary(gen):
    v = gen.pick(lambda v: v.number)
    if v.float:
        form = gen.rng.choice(TAME if gen.rng.random() < 0.35 else SMOOTH if gen.rng.random() < 0.93 else STEPS)
        dtypes = v.dtypes
    elif all(d in INTS for d in v.dtypes):
        form, dtypes = gen.rng.choice(INTEGERS), v.dtypes
        if "-" in form[:1] and "uint8" in dtypes:
            raise Invalid
    else:
        raise Invalid
    return form.replace("{}", v.name), v.shapes, dtypes


def binary(gen):
    a, b = gen.pick(lambda v: v.number), gen.pick(lambda v: v.number)
    form = gen.rng.choice(BINARY)
    if "/" in form and not (a.float or b.float):
        raise Invalid
    shapes = [broadcast(x, y) for x, y in zip(a.shapes, b.shapes)]
    dtypes = [promote([(p, len(s)), (q, len(t))]) for p, q, s, t in zip(a.dtypes, b.dtypes, a.shapes, b.shapes)]
    if any(d == "bool" for d in dtypes) or "torch.m" in form and any(p != q for p, q in zip(a.dtypes, b.dtypes)):
        raise Invalid
    return form.format(a.name, b.name), shapes, dtypes


def number(gen):
    """With a Python number, that a parameter or an attribute may be."""
    v = gen.pick(lambda v: v.float)
    n = gen.rng.choice(gen.numbers() + ["0.25", "-1.5", "2", "3"])
    return gen.rng.choice(["{} * {}", "{} + {}", "{} - {}", "{1} - {0}", "torch.pow({}.abs() + 0.5, {}) * 0.1"]).format(v.name, n), v.shapes, v.dtypes


def compare(gen):
    a = gen.pick(lambda v: v.number)
    if gen.rng.random() < 0.5:
        return gen.rng.choice(COMPARE).format(a.name, gen.rng.choice(["0", "0.3", "1"])), a.shapes, ["bool"] * len(a.shapes)
    b = gen.pick(lambda v: v.number)
    return gen.rng.choice(COMPARE).format(a.name, b.name), [broadcast(x, y) for x, y in zip(a.shapes, b.shapes)], ["bool"] * len(a.shapes)


def where(gen):
    m, a = gen.pick(lambda v: set(v.dtypes) == {"bool"}), gen.pick(lambda v: v.float)
    shapes = [broadcast(x, y) for x, y in zip(m.shapes, a.shapes)]
    form = gen.rng.choice(["torch.where({0}, {1}, {1} * 0.5)", "torch.where({0}, {1}, 0.25)", "{1}.masked_fill({0}, 0.5)", "torch.where({0}, {1}, torch.zeros_like({1}))", "torch.logical_not({0}) * {1}"])
    if "masked_fill" in form and shapes != list(a.shapes):
        raise Invalid
    return form.format(m.name, a.name), shapes, a.dtypes


def reduced(shape, dim, keep):
    if not shape:
        return ()
    dim %= len(shape)
    return shape[:dim] + ((1,) if keep else ()) + shape[dim + 1:]


def reduce(gen):
    v = gen.pick(lambda v: v.float)
    f = gen.rng.choice(REDUCE)
    if f in ("sum", "mean", "amax", "amin", "any", "all", "norm", "prod") and gen.rng.random() < 0.3:
        if f in ("amax", "amin") and any(not numel(s) for s in v.shapes):
            raise Invalid
        if f in ("any", "all"):
            return f"({v.name} > 0).{f}()", [()] * len(v.shapes), ["bool"] * len(v.shapes)
        text = f"({v.name} * 0.5).prod()" if f == "prod" else f"{v.name}.{f}()"
        return text, [()] * len(v.shapes), v.dtypes
    if not v.rank:
        raise Invalid
    dim, keep = gen.rng.randrange(-v.rank, v.rank), gen.rng.random() < 0.4
    if f in ("cumsum", "softmax", "log_softmax", "cumprod"):
        return f"torch.{f}({v.name}, {dim})", v.shapes, v.dtypes
    if f == "flip":
        return f"{v.name}.flip({dim})", v.shapes, v.dtypes
    if f == "sort":
        return f"torch.sort({v.name}, dim={dim}, stable=True)[0]", v.shapes, v.dtypes
    if any(s[dim] == 0 for s in v.shapes) or f in ("std", "var") and any(s[dim] < 2 for s in v.shapes):
        raise Invalid
    shapes = [reduced(s, dim, keep) for s in v.shapes]
    k = f", keepdim={keep}" if keep or gen.rng.random() < 0.2 else ""
    if f in ("any", "all"):
        return f"({v.name} > 0).{f}({dim}{k})", shapes, ["bool"] * len(shapes)
    if f == "argmax":
        return f"{v.name}.argmax({dim}{k})", shapes, ["int64"] * len(shapes)
    if f == "max":
        return f"{v.name}.max({dim}{k})[0]", shapes, v.dtypes
    if f in ("std", "var"):
        return f"{v.name}.{f}({dim}{k}) * 0.5", shapes, v.dtypes
    if f == "norm":
        return f"torch.linalg.vector_norm({v.name}, dim={dim}{k})", shapes, v.dtypes
    return f"torch.{f}({v.name}, dim={dim}{k})", shapes, v.dtypes


def view(gen, of=None):
    """A view, or what may be one."""
    v = of or gen.pick()
    r, rng = v.rank, gen.rng
    form = rng.choice(["reshape", "view", "slice", "slice", "select", "chunk", "split", "transpose", "transpose", "permute", "expand", "unfold", "unsqueeze", "squeeze", "narrow", "flatten",
                       "diagonal", "t", "movedim", "unbind", "view_as", "ellipsis", "step", "newaxis", "unflatten", "detach", "T", "contiguous", "alias", "swapaxes"])
    n, shapes = v.name, v.shapes
    d = rng.randrange(r) if r else 0
    if form == "reshape":
        text, out = f"{n}.reshape(-1)", [(numel(s),) for s in shapes]
    elif form == "view":
        if r == 2 and rng.random() < 0.6:
            text, out = f"{n}.reshape({n}.shape[1], {n}.shape[0])", [(s[1], s[0]) for s in shapes]
        elif all(numel(s) % 2 == 0 and numel(s) for s in shapes):
            text, out = f"{n}.reshape(2, -1)", [(2, numel(s) // 2) for s in shapes]
        else:
            raise Invalid
    elif form == "flatten":
        text, out = f"{n}.flatten()", [(numel(s),) for s in shapes]
    elif form == "unsqueeze":
        d = rng.randrange(r + 1)
        text, out = f"{n}.unsqueeze({d})", [s[:d] + (1,) + s[d:] for s in shapes]
    elif form == "newaxis":
        text, out = f"{n}[None]", [(1,) + s for s in shapes]
    elif form == "ellipsis":
        text, out = f"{n}[...]", shapes
    elif form == "alias":
        text, out = rng.choice([f"{n}.view_as({n})", f"{n}.expand_as({n})"]), shapes
    elif form == "detach":
        text, out = f"{n}.detach()", shapes
    elif form == "contiguous":
        text, out = f"{n}.contiguous()", shapes
    elif not r:
        raise Invalid
    elif form == "slice":
        if any(s[d] < 2 for s in shapes):
            raise Invalid
        text, out = rng.choice([(f"{n}[{':, ' * d}1:]", [s[:d] + (s[d] - 1,) + s[d + 1:] for s in shapes]), (f"{n}[{':, ' * d}:2]", [s[:d] + (2,) + s[d + 1:] for s in shapes]),
                                (f"{n}[{':, ' * d}:-1]", [s[:d] + (s[d] - 1,) + s[d + 1:] for s in shapes])])
    elif form == "step":
        text, out = f"{n}[{':, ' * d}::2]", [s[:d] + ((s[d] + 1) // 2,) + s[d + 1:] for s in shapes]
    elif form == "select":
        if any(s[d] < 1 for s in shapes):
            raise Invalid
        text = rng.choice([f"{n}[{':, ' * d}{rng.choice([0, -1])}]", f"{n}.select({d}, 0)"])
        out = [s[:d] + s[d + 1:] for s in shapes]
    elif form in ("chunk", "split"):
        if any(s[d] < 2 for s in shapes):
            raise Invalid
        if form == "chunk":
            text, out = f"{n}.chunk(2, {d})[0]", [s[:d] + ((s[d] + 1) // 2,) + s[d + 1:] for s in shapes]
        else:
            text, out = f"torch.split({n}, 1, {d})[1]", [s[:d] + (1,) + s[d + 1:] for s in shapes]
    elif form in ("transpose", "movedim", "swapaxes"):
        e = rng.randrange(r)
        text = f"{n}.{form}({d}, {e})"
        out = []
        for s in shapes:
            s = list(s)
            if form == "movedim":
                s.insert(e, s.pop(d))
            else:
                s[d], s[e] = s[e], s[d]
            out.append(tuple(s))
    elif form in ("t", "T"):
        if r != 2:
            raise Invalid
        text, out = n + (".t()" if form == "t" else ".T"), [s[::-1] for s in shapes]
    elif form == "permute":
        order = rng.sample(range(r), r)
        text, out = f"{n}.permute({', '.join(map(str, order))})", [tuple(s[o] for o in order) for s in shapes]
    elif form == "expand":
        text, out = f"{n}.unsqueeze(0).expand(2, {', '.join(['-1'] * r)})", [(2,) + s for s in shapes]
    elif form == "unfold":
        if any(s[d] < 2 for s in shapes):
            raise Invalid
        # Parts that lie over each other are not written to: PyTorch leaves open what that gives.
        over = rng.random() < 0.5
        text = f"({n}.unfold({d}, 2, 1) * 1)" if over else f"{n}.unfold({d}, 2, 2)"
        out = [s[:d] + (s[d] - 1 if over else s[d] // 2,) + s[d + 1:] + (2,) for s in shapes]
    elif form == "squeeze":
        if not all(s[d] == 1 for s in shapes):
            raise Invalid
        text, out = f"{n}.squeeze({d})", [s[:d] + s[d + 1:] for s in shapes]
    elif form == "narrow":
        if any(s[d] < 2 for s in shapes):
            raise Invalid
        text, out = f"{n}.narrow({d}, 1, 1)", [s[:d] + (1,) + s[d + 1:] for s in shapes]
    elif form == "diagonal":
        if r != 2:
            raise Invalid
        text, out = f"{n}.diagonal()", [(min(s),) for s in shapes]
    elif form == "unbind":
        if any(s[d] < 1 for s in shapes):
            raise Invalid
        text, out = f"{n}.unbind({d})[0]", [s[:d] + s[d + 1:] for s in shapes]
    elif form == "view_as":
        w = gen.pick(lambda w: all(numel(a) == numel(b) for a, b in zip(w.shapes, v.shapes)))
        text, out = f"{n}.reshape_as({w.name})", w.shapes
    elif form == "unflatten":
        if any(s[d] % 2 or not s[d] for s in shapes):
            raise Invalid
        text, out = f"{n}.unflatten({d}, (2, -1))", [s[:d] + (2, s[d] // 2) + s[d + 1:] for s in shapes]
    if any(len(s) > 5 for s in out):
        raise Invalid
    return text, out, v.dtypes


def join(gen):
    a = gen.pick(lambda v: v.rank > 0)
    b = gen.pick(lambda w: w.dtypes == a.dtypes and w.rank == a.rank and w.shapes == a.shapes)
    d = gen.rng.randrange(a.rank)
    form = gen.rng.choice(["cat", "cat", "stack", "hstack"])
    if form == "stack":
        return f"torch.stack([{a.name}, {b.name}], {d})", [s[:d] + (2,) + s[d:] for s in a.shapes], a.dtypes
    if form == "hstack":
        d = 0 if a.rank == 1 else 1
        return f"torch.hstack(({a.name}, {b.name}))", [s[:d] + (2 * s[d],) + s[d + 1:] for s in a.shapes], a.dtypes
    return f"torch.cat([{a.name}, {b.name}], dim={d})", [s[:d] + (2 * s[d],) + s[d + 1:] for s in a.shapes], a.dtypes


def product(gen):
    a = gen.pick(lambda v: v.float and v.rank in (1, 2, 3))
    if a.rank == 2 and gen.rng.random() < 0.5:
        return f"torch.matmul({a.name}, {a.name}.t()) * 0.3", [(s[0], s[0]) for s in a.shapes], a.dtypes
    b = gen.pick(lambda w: w.dtypes == a.dtypes and w.rank in (1, 2))
    shapes = []
    for s, t in zip(a.shapes, b.shapes):
        if s[-1] != t[0] or len(s) == 1 and len(t) == 1:
            raise Invalid
        shapes.append(s[:-1] + t[1:])
    return f"({a.name} @ {b.name}) * 0.3", shapes, a.dtypes


OLD_TYPES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int", "bool": "Bool", "int16": "Short", "uint8": "Byte"}
PYTHON_TYPES = {"int64": "int", "float64": "float", "bool": "bool"}


def cast(gen):
    v = gen.pick()
    to = gen.rng.choice(["float32", "float32", "float64", "float16", "bfloat16", "int64", "int64", "int32", "bool", "uint8", "int16"])
    n = v.name if is_float(to) or to == "bool" or not v.float else f"({v.name} * 3).nan_to_num().clamp(0, 40)"
    short = {"float32": "float", "float64": "double", "float16": "half", "bfloat16": "bfloat16", "int64": "long", "int32": "int", "bool": "bool", "int16": "short", "uint8": "byte"}[to]
    forms = [f"{n}.to(torch.{to})", f"{n}.{short}()", f"{n}.type(torch.{to})", f"{n}.to(dtype=torch.{to})"]
    if not gen.on_gpu:  # there these types are of other names
        forms += [f"{n}.type(torch.{OLD_TYPES[to]}Tensor)", f"{n}.type('torch.{OLD_TYPES[to]}Tensor')"]
    if to in PYTHON_TYPES:
        forms += [f"{n}.to({PYTHON_TYPES[to]})"] * 2
    form = gen.rng.choice(forms)
    return form, v.shapes, [to] * len(v.shapes)


def create(gen):
    v = gen.pick(lambda v: v.float)
    form = gen.rng.choice(["torch.zeros_like({0})", "torch.ones_like({0})", "torch.full_like({0}, 0.5)", "{0}.new_zeros({0}.shape)", "torch.zeros({0}.shape, dtype={0}.dtype)", "torch.arange({0}.numel(), dtype={0}.dtype).reshape({0}.shape) * 0.1",
                           "torch.rand_like({0})", "torch.randn({0}.shape, dtype={0}.dtype)", "{0}.new_full({0}.size(), 0.25)", "torch.nn.functional.dropout({0}, 0.5)"])
    return form.format(v.name), v.shapes, v.dtypes


def index(gen):
    v = gen.pick(lambda v: v.rank > 0 and all(s[0] > 0 for s in v.shapes))
    if gen.rng.random() < 0.5:
        return f"{v.name}[torch.tensor([0, -1])]", [(2,) + s[1:] for s in v.shapes], v.dtypes
    d = gen.rng.randrange(v.rank)
    if any(s[d] == 0 for s in v.shapes):
        raise Invalid
    return f"torch.index_select({v.name}, {d}, torch.tensor([0, 0, 0]))", [s[:d] + (3,) + s[d + 1:] for s in v.shapes], v.dtypes


def lookup(gen):
    """What a kernel may read where it needs it: rolls, pads of them, indices of indices."""
    v = gen.pick(lambda v: v.float and v.rank > 0 and all(all(s) for s in v.shapes))
    n, d, k = v.name, gen.rng.randrange(v.rank), gen.rng.randint(-3, 3)
    grown = [s[:-1] + (s[-1] + 3,) for s in v.shapes]
    forms = [(f"torch.roll({n}, {k}, {d})", v.shapes), (f"torch.nn.functional.pad(torch.roll({n}, {k}, {d}), (1, 2))", grown), (f"torch.nn.functional.pad({n}.flip({d}) * 2, (2, 1))", grown),
             (f"torch.nn.functional.pad(torch.roll({n}, {k}, {d}) + 1, (3, 0), value=0.5)", grown), (f"torch.gather({n}, {d}, torch.zeros({n}.shape, dtype=torch.int64))", v.shapes),
             (f"torch.index_select(torch.index_select({n}, {d}, torch.tensor([0, 0, 0])), {d}, torch.tensor([2, 1]))", [s[:d] + (2,) + s[d + 1:] for s in v.shapes])]
    if v.rank < 4:
        forms.append((f"{n}[torch.tensor([[0, -1], [-1, 0]])]", [(2, 2) + s[1:] for s in v.shapes]))
    if v.rank == 2:
        forms.append((f"torch.nn.functional.embedding(torch.tensor([[0, 0, 0]]), {n})", [(1, 3) + s[1:] for s in v.shapes]))
    text, shapes = gen.rng.choice(forms)
    return text, shapes, v.dtypes


def layer(gen):
    v = gen.pick(lambda v: v.float and not v.narrow and v.rank >= 1 and all(s[-1] > 1 for s in v.shapes))
    n = v.name
    form = gen.rng.choice(["torch.nn.functional.layer_norm({0}, {0}.shape[-1:])", "torch.nn.functional.normalize({0}, dim=-1)", "torch.nn.functional.softmax({0}, -1)",
                           "torch.nn.functional.rms_norm({0}, {0}.shape[-1:])", "torch.nn.functional.pad({0}, (1, 0))[..., 1:]", "torch.nn.functional.glu(torch.cat([{0}, {0}], -1), -1)"])
    return form.format(n), v.shapes, v.dtypes


def loss(gen):
    """A loss as one number or element by element, said in the old words too; targets may be 0."""
    v = gen.pick(lambda v: v.float and not v.narrow)
    how = gen.rng.choice(["", "reduce=False", "reduce=False", "reduce=True", "size_average=False", "reduce=False, size_average=True", "reduction='none'", "reduction='sum'"])
    whole = "reduce=False" in how or "'none'" in how
    kind = gen.rng.choice(["mse", "l1", "smooth_l1", "hinge_embedding", "soft_margin", "cross_entropy"])
    if kind == "cross_entropy":
        v = gen.pick(lambda v: v.float and not v.narrow and v.rank == 2 and all(s[0] and s[1] for s in v.shapes))
        target, out = f"torch.zeros({v.name}.shape[0], dtype=torch.int64)", [s[:1] for s in v.shapes]
    else:
        target, out = f"({v.name}.detach() * 0.5).round()" + (".sign()" if kind in ("hinge_embedding", "soft_margin") else ""), v.shapes
    name = {"mse": "MSE", "l1": "L1", "smooth_l1": "SmoothL1", "hinge_embedding": "HingeEmbedding", "soft_margin": "SoftMargin", "cross_entropy": "CrossEntropy"}[kind]
    function = kind if kind == "cross_entropy" else kind + "_loss"
    call = f"nn.{name}Loss({how})({v.name}, {target})" if gen.rng.random() < 0.5 else f"nn.functional.{function}({v.name}, {target}{', ' + how if how else ''})"
    return call, out if whole else [()] * gen.settings, v.dtypes


def operator(gen):
    """A call of the op test's table, of any row, on numbers of a variable brought to its shapes."""
    name = gen.row()
    row = table.ROWS[name]
    call = gen.rng.choice(row.calls)
    if call.raises or call.only or not gen.spellings.get(name):
        raise Invalid
    able = list(call.spellings or [s for s in gen.spellings[name] if s not in call.skip])
    able = [s for s in able if not s.startswith("op:")] or able
    if not able:
        raise Invalid
    spelling = gen.rng.choice(able)
    dtypes = call.dtypes or row.dtypes
    dtype = "float32" if "float32" in dtypes and gen.rng.random() < 0.8 else gen.rng.choice(dtypes)
    if dtype == "bool" and gen.rng.random() < 0.7:
        raise Invalid
    text = call.text
    made = []
    for k, given in enumerate(call.inputs):
        made.append(fitted(gen, given, given.dtype or dtype))
    from check import spelt  # the op test's own way of spelling a call

    if spelling.startswith("op:") and spelling[3:] not in ("neg", "~", "[]") and not __import__("re").fullmatch(r"[-\w.]+, [-\w.]+", text) or spelling == "op:[]=":
        raise Invalid
    if spelling.startswith("Tensor.") and not text.startswith("x"):
        raise Invalid
    line = spelt(spelling, text)
    wrap = call.wrap or row.wrap
    if wrap:
        line = wrap.replace("{}", line)
    args = ", ".join(made)
    names = ", ".join("xyzw"[: len(made)])
    gen.used.add(name)
    return f"score((lambda {names}: {line})({args}))", [()] * gen.settings, ["float32"] * gen.settings


def fitted(gen, given, dtype):
    shape = "(" + "".join(f"{d}, " for d in given.shape) + ")"
    if given.values is not None or given.kind in ("index", "special", "distinct") or not is_float(dtype):
        numbers = given.numbers(dtype, 1 + gen.rng.randrange(3))
        data = [("math.nan" if x != x else "math.inf" if x == float("inf") else "-math.inf" if x == -float("inf") else repr(x)) for x in numbers.flat()]
        return f"torch.tensor([{', '.join(data)}], dtype=torch.{dtype}).reshape({shape})"
    v = gen.pick(lambda v: v.float)
    low, high = {"positive": (0.1, 3.0), "unit": (0.05, 0.95)}.get(given.kind, (-3.0, 3.0))
    return f"fit({v.name}, {shape}, {low}, {high}).to(torch.{dtype})"


def random(gen):
    v = gen.pick(lambda v: v.float)
    form = gen.rng.choice(["torch.rand(3) * {0}.sum().tanh()", "torch.bernoulli(torch.full((4,), 0.5)) + {0}.mean()", "torch.randint(0, 5, (3,)) * {0}.sum().tanh()", "torch.randperm(4) + {0}.sum().tanh()"])
    return form.format(v.name), [(4,) if "4" in form else (3,)] * gen.settings, [promote([("float32", 1), (d, 0)]) for d in v.dtypes]


RULES = {"unary": unary, "binary": binary, "number": number, "compare": compare, "where": where, "reduce": reduce, "view": view, "join": join, "product": product,
         "cast": cast, "create": create, "index": index, "lookup": lookup, "layer": layer, "loss": loss, "operator": operator}
