"""tests/ops/check.py BINARY [--all] [ID...] -- every op against a reference in float64.

The rows are those of fusion/graph/ops.def and of natives.def, read from the
files: a row without a reference, and a spelling that no call uses, fail by
name.  Calls are tried in all their dtypes and layouts, in every mode on the interpreter
and, as C is slow to compile, in one on backend cpu: static and dynamic by turns, and in
every mode with --all.  On the interpreter memory is watched (run --poison).  Values, shapes, dtypes, writes and aliases must be the
reference's.  One program has all calls of an op.  Needs nothing but Python 3.
"""
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import naive
import table
from naive import FLOATS, INTS, Nd

for module in ("pointwise", "reduce", "shape", "index", "matrix", "window", "loss", "create", "search", "signal"):
    __import__("cases_" + module)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODES = ["eager", "static", "dynamic", "lazy", "graphs"]
TURNS = ["static", "dynamic"]  # of backend cpu, from row to row
LINES = 96  # of a program; more would be one compilation too long
TIMEOUT_S = 1800  # nothing takes that long, however busy the machine: it hangs
# Relative and absolute distance from the reference; a call may ask for a multiple.
TOLERANCE = {"float16": (3e-3, 2e-3), "bfloat16": (2e-2, 1.6e-2), "float32": (3e-6, 2e-6), "float64": (1e-12, 1e-13)}


PRELUDES = (
    ("torch.nn.functional", "functional_embedding functional functional_more functional_sample functional_random"),
    ("torch", "torch torch_ops torch_math torch_signal"),
    ("torch.linalg", "torch_linalg"),
    ("torch.special", "torch_special"),
    ("torch.fft", "torch_fft"),
    ("Tensor", "tensor tensor_ops"),
)
# Forms in place of other rows, which are tried with these.
IN_PLACE = "index_put_ scatter_reduce_ index_reduce_ addbmm_ addr_ digamma_ erfinv_ lcm_ renorm_ masked_scatter_".split()
# Several nodes to FX, as in torch.
SEVERAL = "meshgrid normal_ uniform_".split()
# Layers, complex numbers, factors of matrices, sparse matrices: recorded programs of tests/oracle hold these.
ELSEWHERE = (
    "multi_head_attention_forward polar view_as_complex view_as_real adaptive_max_pool3d max_unpool1d max_unpool3d "
    "solve solve_triangular inv inv_ex tensorinv tensorsolve det slogdet cholesky cholesky_ex lu_factor lu_solve lu qr svd "
    "svdvals eig eigvals eigh eigvalsh matrix_exp pinv matrix_rank cond lstsq householder_product "
    "norm vander diagonal is_inference to_sparse to_sparse_coo to_sparse_csr to_dense spmm"
).split()


def rows_of(path, pattern):
    with open(os.path.join(ROOT, path)) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return re.findall(pattern, text)


def op_rows():
    """id -> spellings, as the tables of the engine say."""
    found = {}
    kinds = "UNARY|BINARY|TERNARY|REDUCE|COMPOSITE|CAST|CONSTANT|CREATE|LIBRARY|VIEW|JOIN|CONTROL|INTERNAL|PRELUDE"
    for kind, name, rest in rows_of("fusion/graph/ops.def", rf"(?m)^({kinds})\(\s*(\w+),(.*)"):
        spelt = re.search(r'"([^"]*)"', rest) if kind not in ("CONTROL", "INTERNAL") else None
        found[name] = (kind, spelt.group(1).split() if spelt else [])
    for name, spelt in rows_of("fusion/torch/natives.def", r'(?m)^NATIVE\((\w+),\s*"([^"]*)"'):
        found[name.lower()] = ("NATIVE", spelt.split())
    natives = {}
    for name, native in rows_of("fusion/torch/torch_host.c", r'\{ "([\w.]+)", NATIVE_(\w+) \}'):
        if name == "torch.Tensor":  # a type
            continue
        natives.setdefault(native.lower(), []).append(name if "." in name else "Tensor." + name)
    for name, spelt in natives.items():
        found.setdefault(name, ("NATIVE", []))[1].extend(spelt)
    for owner, files in PRELUDES:
        for file in files.split():
            for name in prelude_names(file):
                kind, spelt = found.setdefault(name, ("PRELUDE", []))
                if f"{owner}.{name}" not in spelt:
                    spelt.append(f"{owner}.{name}")
    for kind, spelt in found.values():  # what our prelude alone calls
        spelt[:] = [s for s in spelt if not s.startswith("torch._C.")]
    return {n: row for n, row in found.items() if row[1] or row[0] not in ("NATIVE", "PRELUDE")}


def prelude_names(file):
    """Functions of tensors that a prelude defines, whole or by another name."""
    with open(os.path.join(ROOT, "fusion/vm/prelude", file + ".py")) as opened:
        text = opened.read()
    defined = re.findall(r'(?m)^def ([a-z]\w*)\((?:[^()]|\([^()]*\))*\):\n(    """One call)?', text)
    whole = file not in ("torch", "tensor")
    names = [n for n, one in defined if one or n in SEVERAL or (whole and not n.endswith("_"))]
    names += re.findall(r"(?m)^([a-z]\w*) = (?:torch|F)\.", text)
    return [n for n in names if n not in IN_PLACE + ELSEWHERE]


class torch:
    """What the arguments of calls name."""

    inf, nan, pi = math.inf, math.nan, math.pi


for dtype in naive.ALL:
    setattr(torch, dtype, dtype)


def spelt(spelling, text, inplace=False):
    """The call of these arguments in that spelling."""
    if spelling == "op:[]":
        return "%s[%s]" % tuple(text.split(", ", 1))
    if spelling == "op:[]=":
        self, value, key = text.split(", ", 2)
        return f"{self}[{key}] = {value}"
    if spelling.startswith("op:"):
        sign = spelling[3:]
        if sign == "neg":
            return f"(-{text})"
        if sign == "~":
            return f"(~{text})"
        left, right = text.split(", ")
        return f"({left} {sign} {right})"
    if spelling.startswith("Tensor."):
        self, _, rest = text.partition(", ")
        name = spelling[len("Tensor.") :]
        return f"{self}.{name}{'_' if inplace else ''}({rest})"
    return f"{spelling}({text})"


class Key:
    """KEY[1:, None] is the tuple of what stands there."""

    def __getitem__(self, key):
        return key if isinstance(key, tuple) else (key,)


def argued(spelling, text):
    """The arguments for the reference: a subscript's key by its items."""
    if spelling not in ("op:[]", "op:[]="):
        return text
    *first, key = text.split(", ", len(spelling) - 4)
    return ", ".join(first + [f"*KEY[{key}]"])


def takes(spelling, call):
    """Whether the spelling can say the call."""
    if call.spellings:
        return spelling in call.spellings
    if spelling in call.skip:
        return False
    if spelling.startswith("op:") and spelling[3:] not in ("neg", "~"):
        return re.fullmatch(r"[-\w.]+, [-\w.]+", call.text) is not None
    if spelling.startswith("op:"):
        return call.text == "x"
    return not spelling.startswith("Tensor.") or call.text.startswith("x")


class Tried:
    """One call in one spelling, dtype and layout."""

    def __init__(self, row, call, spelling, dtype, layout="rows", form="plain"):
        self.row, self.call, self.spelling, self.dtype = row, call, spelling, dtype
        self.line = spelt(spelling, call.text, form == "inplace") if spelling else ""
        wrap = call.wrap or row.wrap
        if wrap:
            self.line = wrap.replace("{}", self.line)
        self.layout, self.form, self.compiled = layout, form, True
        if spelling == "op:[]=":
            self.form = "inplace"
        self.bases, self.made = [], None

    def name(self):
        shapes = [list(b.shape) for b in self.bases]
        return f"{self.line}  of {self.dtype}{shapes}{'' if self.layout == 'rows' else ' ' + self.layout}"

    def inputs(self):
        """Base tensors, and how the program and the reference make x, y, z, w of them."""
        self.bases, made, lines = [], {}, []
        for k, given in enumerate(self.call.inputs):
            base = given.numbers(self.dtype, k + 1)
            name = table.NAMES[k]
            if self.layout == "turned" and base.ndim >= 2:
                base = base.transpose().contiguous()
                made[name] = base.transpose()
                lines.append((name, ".transpose(-1, -2)"))
            elif self.layout == "stepped" and base.ndim >= 1:
                twice = Nd(base.shape[:-1] + (base.shape[-1] * 2,), base.dtype, [v for v in base.flat() for _ in range(2)])
                base = twice
                made[name] = base.slice(-1, 0, None, 2)
                lines.append((name, f"[{':, ' * (base.ndim - 1)}::2]"))
            else:
                made[name] = base
                lines.append((name, ""))
            self.bases.append(base)
        return made, lines

    def source(self, at):
        """Lines of the program; at[k] is where input k stands.  What it expects."""
        made, lines = self.inputs()
        text = []
        writes = self.form != "plain"
        for k, (name, how) in enumerate(lines):
            copied = ".clone()" if writes and k == 0 else ""
            if copied:
                text.append(f"    base = v[{at + k}]{copied}")
                text.append(f"    {name} = base{how}")
            else:
                text.append(f"    {name} = v[{at + k}]{how}")
        if self.form == "plain":
            text.append(f"    r.append({self.line})")
        elif self.spelling == "op:[]=":
            text += [f"    {self.line}", "    r.append((True, x, base))"]
        elif self.form == "inplace":
            text += [f"    o = {self.line}", "    r.append((o is x, x, base))"]
        elif self.form == "view":
            text += [f"    o = {self.line}", "    o.fill_(1)", "    r.append((o, base))"]
        return text, made

    def expected(self, made):
        env = dict(made, REF=self.row.ref, torch=torch, math=math, KEY=Key())
        want = eval(f"REF({argued(self.spelling, self.call.text)})", {"__builtins__": {}}, env)
        if self.form == "inplace":
            made["x"].copy_(want)
            return (True, made["x"], self.bases[0])
        if self.form == "view":
            want.copy_(1)
            return (want, self.bases[0])
        return want


def layouts(call):
    ranks = [] if call.flat else [len(i.shape) for i in call.inputs]
    return ["rows"] + (["turned"] if max(ranks, default=0) >= 2 else []) + (["stepped"] if max(ranks, default=0) >= 1 else [])


def tries(row, kind, spellings):
    """Every call once in each of its spellings; in each dtype; in each layout.

    The compiler sees each call once, and each dtype once.
    """
    seen = set()
    for n, call in enumerate(row.calls):
        for t in tries_of(row, call, n, spellings):
            key = (n, t.layout, t.form) if t.dtype == main_dtype(row, call) else t.dtype
            t.compiled = key not in seen
            seen.add(key)
            yield t
    for line, text in row.modules:
        call = next(c for c in row.calls if c.text.startswith("x"))
        made = Tried(row, table.C(text, *call.inputs[: text.count(",") + 1]), None, "float32")
        made.line = line
        yield made


def main_dtype(row, call):
    dtypes = call.dtypes or row.dtypes
    return "float32" if "float32" in dtypes else dtypes[0]


def tries_of(row, call, n, spellings):
    able = [s for s in spellings if takes(s, call)]
    if call.spellings:
        able = list(call.spellings)
    dtypes, main = call.dtypes or row.dtypes, main_dtype(row, call)
    if call.only == "inplace":
        for layout in layouts(call):
            yield Tried(row, call, able[0], main, layout, "inplace")
        return
    for s in able:
        yield Tried(row, call, s, main)
    for dtype in dtypes:
        if dtype != main and able:
            yield Tried(row, call, able[n % len(able)], dtype)
    for k, layout in enumerate(layouts(call)[1:]):
        if able:
            yield Tried(row, call, able[(n + k) % len(able)], main, layout)
    methods = [s for s in able if s.startswith("Tensor.")]
    wanted = row.inplace if call.inplace is None else call.inplace
    if methods and wanted and can_write(row, call, main):
        for layout in layouts(call):
            yield Tried(row, call, methods[0], main, layout, "inplace")
    if row.view:
        for layout in layouts(call):
            yield Tried(row, call, able[n % len(able)], main, layout, "view")


def can_write(row, call, dtype):
    """Whether the result fits into x."""
    tried = Tried(row, call, "", dtype)
    made, _ = tried.inputs()
    want = tried.expected(made)
    x = made["x"]
    return isinstance(x, Nd) and isinstance(want, Nd) and want.shape == x.shape and (naive.category(want.dtype) <= naive.category(x.dtype) and (want.dtype != "bool" or x.dtype == "bool"))


def encode(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    return v


def tensor(x):
    return {"tensor": {"shape": list(x.shape), "dtype": x.dtype, "data": [encode(v) for v in x.flat()]}}


def number(v):
    return float(v) if isinstance(v, str) else v


def tensor_fault(ours, want, tol):
    if ours["shape"] != list(want.shape):
        return f"shape {ours['shape']} for {list(want.shape)}"
    if ours["dtype"] != want.dtype:
        return f"dtype {ours['dtype']} for {want.dtype}"
    bounds = TOLERANCE.get(want.dtype)
    wanted = want.flat()
    for k, (a, b) in enumerate(zip(ours["data"], wanted)):
        a = number(a)
        if bounds and not math.isfinite(naive.cast(b, want.dtype)):
            b = naive.cast(b, want.dtype)
            same = a == b or (math.isnan(b) and math.isnan(a))
        elif bounds:
            same = abs(a - b) <= tol * (bounds[0] * abs(b) + bounds[1])
        else:
            same = a == b
        if not same:
            return f"[{k}] {a} for {b}; {[number(d) for d in ours['data']][:8]} for {wanted[:8]}"
    return None if len(ours["data"]) == len(wanted) else "too few numbers"


def fault(ours, want, tol):
    if callable(want):
        return want(ours)
    if isinstance(want, Nd):
        return tensor_fault(ours["tensor"], want, tol) if "tensor" in ours else f"{ours} is no tensor"
    if isinstance(want, (tuple, list)):
        items = ours.get("tuple", ours.get("list"))
        if items is None or len(items) != len(want):
            return f"{str(ours)[:100]} for {len(want)} values"
        return next(filter(None, (fault(a, b, tol) for a, b in zip(items, want))), None)
    same = ours.get("value") == want or (isinstance(want, float) and abs(number(ours.get("value", 0)) - want) <= 1e-6 * abs(want))
    return None if same else f"{ours} for {want!r}"


def computed(t):
    """What a try's lines make, the tensors that it is given, and what it must come to: computed once, for all ways."""
    if t.made is None:
        text, made = t.source(0)
        bases = [tensor(b) for b in t.bases]
        t.made = text, bases, t.expected(made)
    return t.made


def program(some):
    lines = ["import torch", "import torch.nn as nn", "import math", "def model(v):", "    r = []"]
    at, values, wants = 0, [], []
    for t in some:
        text, bases, want = computed(t)
        lines += [re.sub(r"\bv\[(\d+)\]", lambda k: f"v[{at + int(k[1])}]", line) for line in text]
        values += bases
        at += len(bases)
        wants.append(want)
    return "\n".join(lines + ["    return r"]), values, wants


def run(binary, source, values, modes, backend):
    work = {"name": "ops", "source": source, "calls": [[{"list": values}]], "modes": modes}
    done = subprocess.run(
        [binary, "run", "-", "--json", "--poison" if backend == "interp" else "--no-timing", "--backend", backend],
        input=json.dumps(work), capture_output=True, text=True, timeout=TIMEOUT_S,
    )
    if done.returncode not in (0, 1):
        return None, f"exit {done.returncode}: {done.stderr[-300:]}"
    if done.returncode == 1:
        return None, done.stderr.strip().split("\n")[0]
    modes = json.loads(done.stdout)["modes"]
    return {m: modes[m]["calls"][0]["output"] for m in modes}, None


def faults_of(binary, name, some, ways):
    """Faults of some tries of one row: each with the first way it fails in, and how many do."""
    bad, every = {}, some
    for backend, modes in ways.items():
        some = every if backend == "interp" else [t for t in every if t.compiled]
        if not some:
            continue
        source, values, wants = program(some)
        outs, why = run(binary, source, values, modes, backend)
        if why and len(some) == 1:
            return [f"{name}: {some[0].name()}: {backend}: {why}"]
        if why:
            half = len(some) // 2
            found = faults_of(binary, name, some[:half], ways) + faults_of(binary, name, some[half:], ways)
            return found or [f"{name}: {len(some)} calls together: {backend}: {why}"]
        for mode in modes:
            got = outs[mode].get("list", [])
            if len(got) != len(some):
                return [f"{name}: {len(got)} results of {len(some)}"]
            for t, ours, want in zip(some, got, wants):
                why = fault(ours, want, t.row.tol * t.call.tol)
                if why:
                    bad.setdefault(t, []).append(f"{mode}, {backend}: {why}")
    n = sum(map(len, ways.values()))
    return [f"{name}: {t.name()}: in {len(why)} of {n} ways: {why[0]}" for t, why in bad.items()]


def refusals(binary, name, row, spellings):
    """Calls that must be refused, and in which words."""
    found = []
    calls = [c for c in row.calls if c.raises]
    if not calls:
        return found
    lines = ["import torch", "def model(v):", "    r = []"]
    values, at = [], 0
    for c in calls:
        t = Tried(row, c, "", "float32")
        _, how = t.inputs()
        for k, (n, _) in enumerate(how):
            lines.append(f"    {n} = v[{at + k}]")
        at += len(how)
        values += [tensor(b) for b in t.bases]
        s = next(s for s in (c.spellings or spellings) if takes(s, c))
        lines += ["    try:", f"        {spelt(s, c.text)}", "        r.append('nothing was raised')"]
        lines += ["    except Exception as e:", "        r.append(type(e).__name__ + ': ' + str(e))"]
    outs, why = run(binary, "\n".join(lines + ["    return r"]), values, ["eager"], "interp")
    if why:
        return [f"{name}: refusals: {why}"]
    for c, ours in zip(calls, outs["eager"]["list"]):
        if c.raises not in ours["value"]:
            found.append(f"{name}({c.text}): {ours['value']!r} does not say {c.raises!r}")
    return found


def check_row(task):
    binary, name, (kind, spellings), ways = task
    try:
        return checked(binary, name, kind, spellings, ways)
    except Exception as e:
        return [f"{name}: its reference fails: {type(e).__name__}: {e}"], 0


def checked(binary, name, kind, spellings, ways):
    row = table.ROWS.get(name)
    if row is None:
        return [f"{name}: no reference and no call in tests/ops"], 0
    if row.why:
        return ([f"{name}: it has spellings, so it must be tried"] if spellings and not row.differs else []), 0
    refused = [c for c in row.calls if c.raises]
    plain = table.Row(row.ref, [c for c in row.calls if not c.raises], vars(row))
    every = list(tries(plain, kind, spellings))
    found = refusals(binary, name, row, spellings)
    used = {t.spelling for t in every}
    found += [f"{name}: no call is spelt {s}" for s in spellings if s not in used]
    for at in range(0, len(every), LINES):
        found += faults_of(binary, name, every[at : at + LINES], ways)
    return found, len(every) + len(refused)


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "build/breakeven"
    rows = op_rows()
    every_way = "--all" in sys.argv
    wanted = [n for n in sys.argv[2:] if n in rows] or list(rows)
    ways = [{"interp": MODES, "cpu": MODES if every_way else [turn]} for turn in TURNS]
    faults = [f"{n}: tests/ops has it, the tables have no such row" for n in table.ROWS if n not in rows and len(wanted) == len(rows)]
    count = 0
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for found, n in pool.map(check_row, [(binary, n, rows[n], ways[i % 2]) for i, n in enumerate(wanted)]):
            for line in found:
                print(line[:400], flush=True)
            faults += found
            count += n
    print(f"{len(wanted)} rows, {count} calls, {sum(map(len, ways[0].values()))} ways each")
    failed = len({f.split(':')[0] for f in faults})
    print(f"{len(wanted) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
