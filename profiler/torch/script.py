"""A Breakeven experiment for PyTorch: the same source, inputs, rounds and statistics.

    python3 THIS_FILE [--json report.json]

Needs torch 2.x and a C++ compiler for torch.compile.  static is
torch.compile(dynamic=False), dynamic is torch.compile(dynamic=True), auto is
torch.compile(), graphs is torch.compile(mode="reduce-overhead").  Files of weights are looked
for in the current folder.
"""
import argparse
import contextlib
import copy as copylib
import functools
import importlib
import itertools
import json
import linecache
import math
import os
import random
import re
import sys
import tempfile
import time
import types

import torch

SOURCE, WORKLOAD = "", {}
SIZE_IS_N = False  # a sweep's size is n in the expressions of the calls
# {{experiment}}

SAMPLE_S, WARM_UP_S, BUDGET_S, TOTAL_S = 0.5e-3, 25e-3, 2.0, 30.0
MIN_ROUNDS, MAX_ROUNDS, MIN_POINT_S, HALF_WIDTH, MIN_SAMPLES = 30, 400, 0.35, 0.01, 6
COMPILING_CYCLES, COMPILING_S = 12, 15.0
MAX_SETS, SETS_BYTES = 256, 1 << 30  # of arguments that take turns, where a GPU's are written
DTYPES = {name: getattr(torch, name) for name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")}
MODES = {"eager": None, "static": {"dynamic": False}, "dynamic": {"dynamic": True}, "auto": {}, "graphs": {"mode": "reduce-overhead"}}
DEVICE = torch.device(WORKLOAD.get("device") or "cpu")
MASK = 0xFFFFFFFF
OWN_MODULES = set()  # names of the program's
# A default device costs each call of torch some time: only where the program makes tensors.
FACTORIES = r"\b(zeros|ones|empty|full|arange|range|tensor|as_tensor|rand|randn|randint|randperm|eye|linspace|logspace|\w+_window|tri[lu]_indices)\s*\("


def multiply(a, b):
    """High and low 32 bits of a * b; a constant, b an int64 tensor of 32-bit words."""
    low = (a & 0xFFFF) * b
    high = (a >> 16) * b + (low >> 16)
    return high >> 16, ((high << 16) | (low & 0xFFFF)) & MASK


def philox(seed, blocks):
    """Philox 4x32-10 of counters 0 .. blocks-1 under the key `seed`, as rows of four words."""
    c = torch.arange(blocks, dtype=torch.int64, device="cpu")
    c0, c1, c2, c3 = c & MASK, c >> 32, torch.zeros_like(c), torch.zeros_like(c)
    k0, k1 = seed & MASK, (seed >> 32) & MASK
    for _ in range(10):
        h0, l0 = multiply(0xD2511F53, c0)
        h1, l1 = multiply(0xCD9E8D57, c2)
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return torch.stack([c0, c1, c2, c3], dim=1)


def random_tensor(spec):
    shape, dtype = spec["shape"], DTYPES[spec.get("dtype", "float32").replace("torch.", "")]
    kind, numel = spec.get("kind", "randn"), math.prod(spec["shape"])
    low = spec.get("low") or 0
    high = spec.get("high")
    high = (10 if kind == "randint" else 1) if high is None else high
    if kind in ("zeros", "ones", "arange"):
        flat = {"zeros": torch.zeros, "ones": torch.ones}.get(kind, torch.arange)(numel, dtype=torch.float64, device="cpu")
        return (flat + low if kind == "arange" else flat).to(dtype).reshape(shape).to(DEVICE)
    words = philox(spec.get("seed") or 0, (numel + 3) // 4)
    if kind == "randn":
        unit = (words.double() + 0.5) * 2.0**-32
        radius, angle = torch.sqrt(-2.0 * torch.log(unit[:, 0::2])), 2.0 * math.pi * unit[:, 1::2]
        flat = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=2)
    elif kind == "randint":
        flat = low + torch.floor(words.double() * 2.0**-32 * (high - low))
    else:
        unit = (words >> 8).double() * 2.0**-24 if dtype == torch.float32 else words.double() * 2.0**-32
        flat = low + unit * (high - low)
    return flat.reshape(-1)[:numel].to(dtype).reshape(shape).to(DEVICE)


def evaluate(text, scope):
    """An expression in the scope of the program: its numbers are a seed's, and the program's go on as they were."""
    before = torch.random.get_rng_state()
    torch.random.default_generator.manual_seed(scope["seed"])
    with torch.device("cpu") if DEVICE.type != "cpu" else contextlib.nullcontext():
        value = eval(compile(text.strip(), "<input>", "eval"), dict(scope["program"].scope, **scope["names"]))
    torch.random.set_rng_state(before)
    if DEVICE.type != "cpu":
        move([value], set(scope["program"].modules), {})
    return value


def make(spec, scope):
    """The value of a spec."""
    kind, inner = next(iter(spec.items()))
    if kind == "python":
        return evaluate(inner, scope)
    if kind == "random":
        return random_tensor(inner).requires_grad_(bool(inner.get("requires_grad")))
    if kind == "tensor":
        numbers = [float(x) if isinstance(x, str) else x for x in inner["data"]]
        dtype = DTYPES[inner.get("dtype", "float32").replace("torch.", "")]
        made = torch.tensor(numbers, dtype=dtype, device="cpu").reshape(inner["shape"]).to(DEVICE)
        return made.requires_grad_(bool(inner.get("requires_grad")))
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(make(x, scope) for x in inner)
    return {k: make(x, scope) for k, x in inner.items()} if kind == "dict" else inner


def copy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(copy, value))
    if isinstance(value, (tuple, list)):
        return type(value)(copy(x) for x in value)
    if type(value) is dict:
        return {k: copy(x) for k, x in value.items()}
    if own(value):
        new = copylib.copy(value)
        for name, held in vars(value).items():
            object.__setattr__(new, name, copy(held))
        return new
    return value


def own(value):
    """An object of a class of the program, which holds what the call may write."""
    return getattr(type(value), "__module__", None) in OWN_MODULES and hasattr(value, "__dict__")


def same(a, b):
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if own(a) and type(a) is type(b):
        return same(vars(a), vars(b))
    return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a) if isinstance(a, dict) else a == b


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if own(value):
        value = vars(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [t for x in items for t in tensors(x)]


def prepare(args, specs, compiled):
    """Inputs that want a gradient, and sizes that are said to be dynamic."""
    for value, spec in zip(args, specs):
        if WORKLOAD.get("grad"):
            for t in tensors(value):
                t.requires_grad_(t.is_floating_point())
        inner = spec.get("tensor") or spec.get("random") or {}
        for dim in (inner.get("dynamic_dims") or []) if compiled else []:
            torch._dynamo.mark_dynamic(value, dim)


def backward(function, entry):
    """Each call with the gradients of its inputs and parameters, where the workload wants them."""
    if not WORKLOAD.get("grad"):
        return function
    parameters = list(entry.parameters()) if isinstance(entry, torch.nn.Module) else []

    def call(*args, **named):
        for t in tensors(args) + tensors(named) + parameters:
            t.grad = None
        out = function(*args, **named)
        sum(t.sum() for t in tensors(out) if t.is_floating_point()).backward()
        return out

    return call


def set_params(entry, specs):
    """The workload's parameters and buffers in place of those that the module was made with."""
    places = dict(itertools.chain(entry.named_parameters(), entry.named_buffers())) if specs else {}
    with torch.no_grad():
        for name, spec in specs.items():
            places[name].copy_(make(spec, None))


def compilations():
    """Frames that TorchDynamo has compiled, or tried to."""
    return torch._dynamo.utils.counters["frames"]["total"]


def wait():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def seconds(body):
    """What body() takes: between two events on a GPU, else by the clock."""
    if DEVICE.type != "cuda":
        begin = time.perf_counter()
        body()
        return time.perf_counter() - begin
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    body()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def resize(spec, dim, size):
    kind, inner = next(iter(spec.items()))
    inner = dict(inner, shape=list(inner["shape"]))
    old = inner["shape"][dim]
    inner["shape"][dim] = size
    if kind == "tensor":
        whole = torch.arange(len(inner["data"]), device="cpu").reshape(spec["tensor"]["shape"])
        chosen = whole.index_select(dim, torch.arange(size, device="cpu") % max(old, 1)).reshape(-1)
        inner["data"] = [inner["data"][i] for i in chosen.tolist()]
    return {kind: inner}


def parts(call):
    """The specs of a call, and the names of the last of them."""
    args, named = (call, {}) if isinstance(call, list) else (call.get("args") or [], call.get("kwargs") or {})
    return [*args, *named.values()], list(named)


def by_name(function, calls):
    """A function that takes all arguments by place: the last of a call have names, which its number of arguments tells."""
    names = {}
    for specs, named in calls:
        if names.setdefault(len(specs), named) != named:
            raise ValueError("calls with as many arguments give others by name; give the same ones by name in each")
    if not any(names.values()):
        return function

    def call(*args):
        named = names[len(args)]
        first = len(args) - len(named)
        return function(*args[:first], **dict(zip(named, args[first:])))

    return call


def resized(call, arg, dim, n):
    specs, names = parts(call)
    specs[arg] = resize(specs[arg], dim, n)
    first = len(specs) - len(names)
    return {"args": specs[:first], "kwargs": dict(zip(names, specs[first:]))}


def points():
    """(n, source, calls) of each point of the sweep; n is None without one."""
    sweep = WORKLOAD.get("sweep") or {}
    if "statements" in sweep:
        pool = sweep["statements"]["pool"]
        for n in sorted(sweep["statements"]["counts"]):
            lines = []
            for line in SOURCE.split("\n"):
                indent = line[: len(line) - len(line.lstrip())]
                lines += [indent + s for s in itertools.islice(itertools.cycle(pool), n)] if line.strip() == "..." else [line]
            yield n, "\n".join(lines), WORKLOAD["calls"]
    elif "input" in sweep:
        arg, dim = sweep["input"].get("arg") or 0, sweep["input"].get("dim") or 0
        for n in sorted(sweep["input"]["sizes"]):
            yield n, SOURCE, WORKLOAD["calls"] if SIZE_IS_N else [resized(call, arg, dim, n) for call in WORKLOAD["calls"]]
    else:
        yield None, SOURCE, WORKLOAD["calls"]


def median_interval(samples):
    """Median and its 95 % interval from order statistics."""
    x, n, k = sorted(samples), len(samples), -1
    total = term = 2.0**-n
    while 2 * total <= 0.05 and k + 1 < n // 2:
        k += 1
        term *= (n - k) / (k + 1)
        total += term
    k = max(k, 0)
    middle = x[n // 2] if n % 2 else (x[n // 2 - 1] + x[n // 2]) / 2
    return middle, x[k], x[n - 1 - k]


def narrow(samples):
    def wide(x):
        middle, low, high = median_interval(x)
        return (high - low) / 2 > HALF_WIDTH * middle

    first = next(iter(samples.values()))
    return not any(wide(s) or wide([a / b for a, b in zip(first, s)]) for s in samples.values())


def mixed(function):
    """Each call in torch.autocast, where the workload has a dtype of it."""
    if not WORKLOAD.get("autocast"):
        return function
    dtype = getattr(torch, WORKLOAD["autocast"].replace("torch.", ""))

    def call(*args, **named):
        with torch.autocast(DEVICE.type, dtype=dtype):
            return function(*args, **named)

    return call


def move(value, modules, seen):
    """What the sources of `modules` hold, in place to DEVICE: optimisers and ties keep their parameters."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    own = getattr(value, "__module__", None) in modules
    held = ()
    if isinstance(value, torch.Tensor):
        value.data = value.data.to(DEVICE)
    elif isinstance(value, (tuple, list, set)):
        held = list(value)
    elif isinstance(value, dict):
        held = list(value.values())
    elif own and isinstance(value, types.FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if c != types.CellType()]  # but empty ones
        held = cells + list(value.__defaults__ or ()) + list((value.__kwdefaults__ or {}).values())
    elif own or isinstance(value, torch.nn.Module):
        held = list(getattr(value, "__dict__", {}).values())
    for inner in held:
        move(inner, modules, seen)
    if isinstance(value, torch.nn.Module):
        value.to(DEVICE)  # some, as LSTM, lay out again what was moved


def entry_of(module, name):
    """What is called; of an entry such as Net(3) a class, which makes that where it is called."""
    if "(" not in name:
        return getattr(module, name)
    return type("Entry", (), {"__new__": lambda cls: eval(name, module.__dict__)})


class OneFile:
    """A program of one source, as a module of its own."""

    def __init__(self, label, source):
        name = "<%s>" % label
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        module = types.ModuleType("experiment_" + re.sub(r"\W+", "_", label))
        sys.modules[module.__name__] = module  # dataclasses look for it there
        self.modules = {module.__name__: module}
        exec(compile(source, name, "exec"), module.__dict__)
        self.scope = module.__dict__
        self.entry = entry_of(module, WORKLOAD.get("entry") or "model")

    def enter(self):
        """Its modules stay where they are."""


class Folder:
    """A program of several files, written to a folder of its own.  All such programs have the same
    names of modules: those of one are in sys.modules at a time, and its folders in sys.path."""

    inside = None

    def __init__(self, label, source):
        path, _, name = WORKLOAD["entry"].partition(":")
        self.held = tempfile.TemporaryDirectory(prefix="experiment-")
        self.folder, self.modules = os.path.join(os.path.realpath(self.held.name), "<%s>" % label), {}
        for file, text in WORKLOAD["files"].items():
            full = os.path.join(self.folder, file)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="") as out:
                out.write(source if file == path else text)
        top = os.path.dirname(path)  # of the outermost package that the entry is in
        while top and os.path.join(top, "__init__.py") in WORKLOAD["files"]:
            top = os.path.dirname(top)
        roots = [os.path.join(self.folder, top), self.folder, os.path.join(self.folder, "src")]
        self.paths = list(dict.fromkeys(os.path.normpath(root) for root in roots))
        tops = {os.path.relpath(os.path.join(self.folder, file), path).split(os.sep)[0].removesuffix(".py")
                for file in WORKLOAD["files"] for path in self.paths}
        self.tops = tops - {"..", "torch", "__main__", __name__}
        self.enter()
        dotted = os.path.relpath(path, top or ".")[: -len(".py")].replace("/", ".")
        module = importlib.import_module(dotted[: -len(".__init__")] if dotted.endswith(".__init__") else dotted)
        self.scope, self.entry = module.__dict__, entry_of(module, name or "model")
        self.modules = {name: sys.modules[name] for name in self.own()}

    def own(self):
        """The names in sys.modules that its files and folders may have."""
        return [name for name in sys.modules if name.split(".")[0] in self.tops]

    def enter(self):
        if Folder.inside is self:
            return
        self.leave()
        Folder.inside = self
        self.hidden = {name: sys.modules.pop(name) for name in self.own()}
        sys.path[:0] = self.paths
        sys.modules.update(self.modules)
        importlib.invalidate_caches()

    @classmethod
    def leave(cls):
        """As it was before the last one was entered."""
        was, cls.inside = cls.inside, None
        if was is None:
            return
        was.modules = {name: sys.modules.pop(name) for name in was.own()}
        sys.modules.update(was.hidden)
        for path in was.paths:
            sys.path.remove(path)


def named(path, places):
    """Where a file of weights lies: a path is a file's name or ends in it."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    names = [name for name in places if text is not None and (text == name or text.endswith("/" + name))]
    return places[max(names, key=len)] if names else path


def use_weights(places):
    """The files that the program reads are those of `places`, by name.  What it gives puts all back."""
    was = []

    def put(owner, attribute, change):
        function = getattr(owner, attribute)
        was.append((owner, attribute, function))
        setattr(owner, attribute, functools.wraps(function)(change(function)))

    def torch_load(load):
        def call(f, *args, **kwargs):
            found = named(f, places)
            return load(found, *args, **kwargs) if found is f else load(found, **dict(kwargs, map_location=DEVICE))

        return call

    def by_url(load):
        def call(url, *args, **kwargs):
            found = named("/" + url.rsplit("/", 1)[-1], places)
            return load(url, *args, **kwargs) if found not in places.values() else torch.load(found, map_location=DEVICE)

        return call

    if places:
        put(torch, "load", torch_load)
        put(torch.hub, "load_state_dict_from_url", by_url)
        with contextlib.suppress(ImportError):
            import safetensors.torch

            put(safetensors.torch, "load_file", lambda load: lambda f, *a, **k: load(named(f, places), *a, **k))
            put(safetensors.torch, "load_model", lambda load: lambda m, f, *a, **k: load(m, named(f, places), *a, **k))
            put(safetensors, "safe_open", lambda load: lambda f, *a, **k: load(named(f, places), *a, **k))

    def put_back():
        for owner, attribute, function in was:
            setattr(owner, attribute, function)

    return put_back


class Lane:
    """One mode of one point, with inputs of its own."""

    def __init__(self, mode, source, calls, n=None):
        # A seed's numbers are those of the CPU, here as in Breakeven; so what is made before the first call moves.
        with torch.device("cpu") if DEVICE.type != "cpu" else contextlib.nullcontext():
            program = (Folder if WORKLOAD.get("files") else OneFile)("%s%s" % (mode, "" if n is None else ", n = %d" % n), source)
            entry = program.entry() if isinstance(program.entry, type) else program.entry
        if DEVICE.type != "cpu":
            move([[m.__dict__ for m in program.modules.values()], entry], set(program.modules), {})
        self.program = program
        OWN_MODULES.update(program.modules)
        self.mode, self.n, self.entry = mode, n, entry
        set_params(entry, WORKLOAD.get("params") or {})
        compiled = entry if mode == "eager" else torch.compile(entry, **MODES[mode])
        self.function = by_name(backward(mixed(compiled), entry), list(map(parts, calls)))
        self.specs = [parts(call)[0] for call in calls]
        names = {"n": n} if SIZE_IS_N else {}
        self.originals = [[make(v, {"program": program, "names": names, "seed": 1000 * i + k}) for k, v in enumerate(specs)] for i, specs in enumerate(self.specs)]
        self.timed = (WORKLOAD.get("time") or {}).get(mode) or list(range(len(calls)))
        self.samples, self.cycles, self.compiled, self.error, self.sets = [], 1, 0, None, []
        self.args = [self.fresh(i) for i in range(len(calls))]

    def fresh(self, i):
        args = copy(self.originals[i])
        prepare(args, self.specs[i], self.mode != "eager")
        return args

    def first_calls(self, keep=None):
        """The calls once in order; keep(lane, i, output) looks at each."""
        self.first_s = []
        self.program.enter()
        for i, call in enumerate(self.args):
            begin = time.perf_counter()
            out = self.function(*call)
            wait()
            self.first_s.append(time.perf_counter() - begin)
            if keep:
                keep(self, i, out)
        self.written = [[k for k, (a, b) in enumerate(zip(*pair)) if not same(a, b)] for pair in zip(self.originals, self.args)]
        self.writes = any(self.written)
        self.args = [self.fresh(i) for i in range(len(self.args))]

    def restore(self, args, i):
        """What was written is put back in place, from the originals where they lie; what was not is left alone."""
        for k in self.written[i]:
            live, was = args[i][k], self.originals[i][k]
            if isinstance(live, torch.Tensor) and live.shape == was.shape and live.dtype == was.dtype:
                with torch.no_grad():
                    live.copy_(was)
            else:
                args[i] = self.fresh(i)
                return

    def make_sets(self):
        """On a GPU: arguments that take turns, so that calls follow each other and none is put back between."""
        each = sum(t.numel() * t.element_size() for i in self.timed for k in self.written[i] for t in tensors(self.originals[i][k]))
        wanted = min(self.cycles, MAX_SETS, max(SETS_BYTES // max(each, 1), 1))

        def another():
            args = list(self.args)
            for i in self.timed:
                fresh, args[i] = self.fresh(i), list(args[i])
                for k in self.written[i]:
                    args[i][k] = fresh[k]
            return args

        self.sets = [self.args] + [another() for _ in range(int(wanted) - 1)]

    def run_sets(self, cycles):
        function, timed, total = self.function, self.timed, 0.0
        while cycles > 0:
            now = self.sets[:cycles]
            for args in now:
                for i in timed:
                    self.restore(args, i)

            def all_calls():
                for args in now:
                    for i in timed:
                        function(*args[i])

            total += seconds(all_calls)
            cycles -= len(now)
        return total

    def run(self, cycles):
        """Seconds that `cycles` over the timed calls take; inputs are restored outside the clock."""
        function, args, timed = self.function, self.args, self.timed

        def all_calls():
            for _ in range(cycles):
                for i in timed:
                    function(*args[i])

        if not self.writes:
            return seconds(all_calls)
        if self.sets:
            return self.run_sets(cycles)
        total = 0.0
        for _ in range(cycles):
            for i in timed:
                self.restore(args, i)
                total += seconds(lambda: function(*args[i]))
        return total

    def warm_up(self):
        self.program.enter()
        begin = settled = time.perf_counter()
        best = math.inf
        for cycle in itertools.count():
            had, now_s = compilations(), self.run(1)
            best, now = min(best, now_s), time.perf_counter()
            if compilations() > had and cycle < COMPILING_CYCLES and now - begin < COMPILING_S:
                settled = now
            elif now_s > 0.5 or (cycle and now - settled > WARM_UP_S):
                break
        # Of the calls that are timed: what they compiled is theirs to repay.
        first_s = sum(self.first_s[i] for i in set(self.timed))
        self.compile_s = max(first_s - best, 0.0) if self.mode != "eager" else 0.0
        self.cycles = min(max(math.ceil(SAMPLE_S / max(best, 1e-9)), 1), 100000)
        if self.writes and DEVICE.type == "cuda" and len(set(self.timed)) == len(self.timed):
            self.make_sets()
            self.run(len(self.sets))

    def sample(self):
        self.program.enter()
        if not self.samples or self.samples[-1] < 50e-3:
            if self.writes:
                self.restore(self.args, self.timed[0])
            self.function(*self.args[self.timed[0]])
        had = compilations()
        self.samples.append(self.run(self.cycles) / self.cycles / len(self.timed))
        self.compiled += compilations() - had


def budget_s(n_points):
    """Seconds of sampling for a point."""
    return WORKLOAD.get("seconds") or min(BUDGET_S, TOTAL_S / n_points)


def attempt(lane, step):
    """Whether it went well; an error is that mode's own, the others go on."""
    try:
        step()
    except Exception as e:
        lane.error = e.with_traceback(None)  # else it keeps what the call held
    return lane.error is None


def measure(lanes, budget_s, tick=lambda lane, rounds: None):
    """Rounds of one sample a lane, in an order drawn again each time, until the intervals are narrow."""
    draw = random.Random(7)
    for lane in lanes:
        tick(lane, 0)
        attempt(lane, lane.warm_up)
    begin = time.perf_counter()
    order = [lane for lane in lanes if not lane.error]
    for rounds in range(MAX_ROUNDS if order else 0):
        elapsed = time.perf_counter() - begin
        if elapsed >= budget_s and (rounds >= MIN_SAMPLES or elapsed >= 3 * budget_s):
            break
        if rounds >= MIN_ROUNDS and rounds % 5 == 0 and elapsed >= MIN_POINT_S and narrow({l.mode: l.samples for l in lanes if not l.error}):
            break
        draw.shuffle(order)
        for lane in order:
            tick(lane, rounds + 1)
            attempt(lane, lane.sample)
        order = [lane for lane in order if not lane.error]
        if not order:
            break


def report(n, lanes):
    rows = {}
    for lane in lanes:
        if lane.error:
            rows[lane.mode] = {"error": "%s: %s" % (type(lane.error).__name__, lane.error)}
            print("%6s  %-8s failed: %s" % ("" if n is None else n, lane.mode, rows[lane.mode]["error"]), flush=True)
            continue
        middle, low, high = median_interval([1e6 * s for s in lane.samples])
        row = {"median_us": middle, "ci_us": [low, high], "n": len(lane.samples), "compile_ms": 1e3 * lane.compile_s}
        text = "%6s  %-8s %10.2f us (%.2f-%.2f)" % ("" if n is None else n, lane.mode, middle, low, high)
        if lanes[0].mode == "eager" and lane is not lanes[0] and not lanes[0].error:
            ratio = median_interval([a / b for a, b in zip(lanes[0].samples, lane.samples)])
            saved = median_interval([1e6 * (a - b) for a, b in zip(lanes[0].samples, lane.samples)])
            repay = math.ceil(1e6 * lane.compile_s / saved[0]) if saved[1] > 0 else None
            row.update(speedup=ratio[0], speedup_ci=list(ratio[1:]), calls_to_repay=repay)
            text += "  %6.3fx (%.3f-%.3f)  compile %.0f ms, repaid after %s calls" % (*ratio, 1e3 * lane.compile_s, "unknown" if repay is None else repay)
        print(text, flush=True)
        rows[lane.mode] = row
    return {"n": n, "modes": rows}


def set_up():
    """Threads, precision and default device, before anything is made."""
    if WORKLOAD.get("threads"):
        torch.set_num_threads(WORKLOAD["threads"])
    if DEVICE.type == "cuda":  # products of matrices are in float32 unless told otherwise; convolutions were not
        torch.backends.cudnn.allow_tf32 = False
    if set(WORKLOAD.get("modes") or MODES) != {"eager"}:
        from torch._inductor import config

        config.fallback_random = True  # compiled code draws the numbers that eager draws
    if DEVICE.type != "cpu" and re.search(FACTORIES, "\n".join([SOURCE, *(WORKLOAD.get("files") or {}).values()])):
        torch.set_default_device(DEVICE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    set_up()
    use_weights({name: name for name in WORKLOAD.get("weights") or {}})
    modes = [m for m in MODES if m in (WORKLOAD.get("modes") or ["eager", "static", "dynamic"])]
    print("torch %s, %d threads: %s" % (torch.__version__, torch.get_num_threads(), WORKLOAD.get("name", "workload")))
    if modes != ["eager"]:
        begin = time.perf_counter()
        torch.compile(lambda x: torch.sin(x) + 1)(torch.ones(3, device=DEVICE))
        print("the first compile of the process took %.1f s and is left out" % (time.perf_counter() - begin))
    every, found = list(points()), []
    for n, source, calls in every:
        torch._dynamo.reset()
        lanes = [Lane(mode, source, calls, n) for mode in modes]
        measure([lane for lane in lanes if attempt(lane, lane.first_calls)], budget_s(len(every)))
        found.append(report(n, lanes))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "points": found}, file)


if __name__ == "__main__":
    main()
