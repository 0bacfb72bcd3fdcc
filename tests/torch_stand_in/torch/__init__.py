"""A stand-in for torch, for machines that have none: tests of engine torch use it.

It has what profiler/torch/script.py and profiler/torch/worker.py call, and the few ops
of the tests' programs, over lists of Python numbers.  torch.compile() compiles nothing:
it counts, and writes lines as TORCH_TRACE has them.  No figure of it means anything.
"""
import ctypes
import itertools
import json
import math
import os
import struct
import sys
import types

__version__ = "2.11.0+stand.in"


class dtype:
    def __init__(self, name, code):
        self.name, self.code = name, code

    def __repr__(self):
        return "torch." + self.name

    is_floating_point = property(lambda self: "float" in self.name)


for _name, _code in (("bool", "?"), ("uint8", "B"), ("int8", "b"), ("int16", "h"), ("int32", "i"), ("int64", "q"),
                     ("float16", "e"), ("bfloat16", "H"), ("float32", "f"), ("float64", "d")):
    globals()[_name] = dtype(_name, _code)
strided = object()


class device:
    def __init__(self, name):
        self.type = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def rounded(x, kind):
    if kind.is_floating_point:
        return struct.unpack("f", struct.pack("f", x))[0] if kind is float32 else float(x)  # noqa: F821
    return bool(x) if kind.name == "bool" else int(x)


class Tensor:
    layout = strided

    def __init__(self, flat, shape, kind):
        self.flat, self.shape, self.dtype = [rounded(x, kind) for x in flat], list(shape), kind
        self.requires_grad, self.grad, self.back = False, None, None
        self.device = "cpu"

    def numel(self):
        return len(self.flat)

    def element_size(self):
        return struct.calcsize(self.dtype.code)

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def to(self, what):
        if isinstance(what, dtype):
            return Tensor(self.flat, self.shape, what)
        if what.type == self.device:
            return self
        there = Tensor(self.flat, self.shape, self.dtype)
        there.device = what.type
        return there

    @property
    def data(self):
        return self

    @data.setter
    def data(self, other):
        self.flat, self.device = other.flat, other.device

    def double(self):
        return self.to(float64)  # noqa: F821

    def clone(self):
        return Tensor(self.flat, self.shape, self.dtype)

    def requires_grad_(self, wanted=True):
        self.requires_grad = wanted
        return self

    def copy_(self, other):
        self.flat = other.to(self.dtype).flat
        return self

    def data_ptr(self):
        self.kept = ctypes.create_string_buffer(struct.pack(str(len(self.flat)) + self.dtype.code, *self.flat))
        return ctypes.addressof(self.kept)

    def same(self, *_):
        return self

    detach = resolve_conj = contiguous = cpu = same

    def reshape(self, *shape):
        shape = list(shape[0]) if isinstance(shape[0], (list, tuple)) else list(shape)
        if -1 in shape:
            shape[shape.index(-1)] = len(self.flat) // -math.prod(shape)
        return Tensor(self.flat, shape, self.dtype)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        axes = [range(n)[k] if isinstance(k, slice) else range(n)[k : k + 1 or None]
                for n, k in itertools.zip_longest(self.shape, key, fillvalue=slice(None))]
        steps = [math.prod(self.shape[d + 1 :]) for d in range(len(self.shape))]
        flat = [self.flat[sum(i * s for i, s in zip(at, steps))] for at in itertools.product(*axes)]
        kept = [len(a) for a, k in itertools.zip_longest(axes, key, fillvalue=slice(None)) if isinstance(k, slice)]
        return Tensor(flat, kept, self.dtype)

    def index_select(self, dim, index):
        rows = [self.narrow(dim, i) for i in index.flat]
        return cat(rows, dim)

    def narrow(self, dim, i):
        return self[tuple(slice(None) if d != dim else slice(i, i + 1) for d in range(len(self.shape)))]

    def tolist(self):
        return list(self.flat)

    def item(self):
        return self.flat[0]

    def sum(self):
        out = Tensor([math.fsum(self.flat) if self.is_floating_point() else sum(self.flat)], [], self.dtype)
        out.back = (self, lambda g: [g[0]] * len(self.flat))
        return out

    def backward(self):
        g, at = [1.0] * len(self.flat), self
        while at.back:
            at, step = at.back
            g = step(g)
            if at.requires_grad:
                at.grad = Tensor(g, at.shape, at.dtype)

    def __iadd__(self, other):
        self.flat = (self + other).flat
        return self

    def __bool__(self):
        return bool(self.flat[0])


def binary(name, f, kind=None, slope=None):
    def op(a, b):
        xs = b.flat if isinstance(b, Tensor) and b.numel() == a.numel() else itertools.repeat(b.flat[0] if isinstance(b, Tensor) else b)
        wide = float32 if not a.is_floating_point() and isinstance(b, float) else a.dtype  # noqa: F821
        out = Tensor([f(x, y) for x, y in zip(a.flat, xs)], a.shape, kind or wide)
        if slope and not isinstance(b, Tensor):
            out.back = (a, lambda g: [slope(x, b) * y for x, y in zip(a.flat, g)])
        return out

    setattr(Tensor, "__%s__" % name, op)
    if name in ("add", "mul", "and", "or", "xor"):
        setattr(Tensor, "__r%s__" % name, op)


binary("add", lambda x, y: x + y, slope=lambda x, y: 1.0)
binary("sub", lambda x, y: x - y, slope=lambda x, y: 1.0)
binary("mul", lambda x, y: x * y, slope=lambda x, y: y)
binary("mod", lambda x, y: x % y)
binary("and", lambda x, y: x & y)
binary("xor", lambda x, y: x ^ y)
binary("or", lambda x, y: x | y)
binary("lshift", lambda x, y: x << y)
binary("rshift", lambda x, y: x >> y)
binary("gt", lambda x, y: x > y, globals()["bool"])
Tensor.__rsub__ = lambda a, b: a * -1 + b


def unary(f, slope=None):
    def op(x):
        out = Tensor([f(v) for v in x.flat], x.shape, x.dtype if x.is_floating_point() else float32)  # noqa: F821
        if slope:
            out.back = (x, lambda g: [slope(v) * y for v, y in zip(x.flat, g)])
        return out

    return op


sin, cos, sqrt, log = unary(math.sin, math.cos), unary(math.cos), unary(math.sqrt), unary(math.log)
floor, relu = unary(math.floor), unary(lambda v: max(v, 0.0))
exp, log1p, tan, sigmoid, erf = unary(math.exp), unary(math.log1p), unary(math.tan), unary(lambda v: 1 / (1 + math.exp(-v))), unary(math.erf)
nan_to_num = unary(lambda v: 0.0 if math.isnan(v) else v)


def arange(n, dtype=None, device=None):
    return Tensor(range(n), [n], dtype or int64)  # noqa: F821


def filled(value):
    return lambda *n, dtype=None, device=None: Tensor([value] * math.prod(n), n, dtype or float32)  # noqa: F821


zeros, ones = filled(0), filled(1)


def zeros_like(t):
    return Tensor([0] * t.numel(), t.shape, t.dtype)


def tensor(data, dtype=None, device=None):
    flat = data if isinstance(data, list) else [data]
    return Tensor(flat, [len(flat)] if isinstance(data, list) else [], dtype or float32)  # noqa: F821


def cat(parts, dim):
    shape = list(parts[0].shape)
    inner = math.prod(shape[dim + 1 :])
    outer = math.prod(shape[:dim])
    rows = [p.flat[o * p.shape[dim] * inner : (o + 1) * p.shape[dim] * inner] for o in range(outer) for p in parts]
    shape[dim] = sum(p.shape[dim] for p in parts)
    return Tensor(itertools.chain(*rows), shape, parts[0].dtype)


def stack(parts, dim):
    shape = list(parts[0].shape)
    return cat([p.reshape(shape[:dim] + [1] + shape[dim:]) for p in parts], dim)


def equal(a, b):
    return a.flat == b.flat


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def get_num_threads():
    return 1


def set_num_threads(n):
    return None


_GLOBAL_DEVICE_CONTEXT = types.SimpleNamespace()


def set_default_device(where):
    _GLOBAL_DEVICE_CONTEXT.device_context = where and types.SimpleNamespace(device=where)


def get_default_device():  # raises once None was set, as torch 2.11's does
    return _GLOBAL_DEVICE_CONTEXT.device_context.device if hasattr(_GLOBAL_DEVICE_CONTEXT, "device_context") else "cpu"


def manual_seed(seed):
    return None


# ---- compiling: counted, and told as TORCH_TRACE is

frames, told = [], []


def tell(record, payload=None):
    folder = os.environ.get("TORCH_TRACE")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    if payload is not None:
        record["has_payload"] = "0"
    told.append(record)
    with open(os.path.join(folder, "dedicated_log_torch_trace_stand_in.log"), "a", encoding="utf-8") as file:
        head = "V1122 10:00:%02d.%06d %d torch/_dynamo/x.py:1] " % (len(told) // 1000000, len(told) % 1000000, os.getpid())
        file.write(head + json.dumps(record) + "\n")
        if payload is not None:
            file.write("".join("\t" + line + "\n" for line in payload.split("\n")))


def tell_frame(function, line):
    code, frame = function.__code__, len(frames)
    frames.append(code.co_filename)
    ids = {"frame_id": frame, "frame_compile_id": 0, "attempt": 0}
    tell({"str": [code.co_filename, frame]})
    tell({"dynamo_start": {"stack": [{"line": code.co_firstlineno, "name": code.co_name, "filename": frame}]}, **ids})
    if line:
        reason = "Graph break in user code at %s:%d\nGraph Break Reason: Failed to trace builtin operator\n  Explanation: made up\n\n please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html\n\nUser code traceback:\n  File \"%s\", line %d, in %s\n"
        reason %= (code.co_filename, line, code.co_filename, line, code.co_name)
        tell({"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, **ids}, reason)
    tell({"dynamo_output_graph": {"sizes": {}}, **ids}, "graph():\n    return ()")
    tell({"compilation_metrics": {"compile_id": "%d/0" % frame, "co_filename": code.co_filename, "co_name": code.co_name, "guard_count": 1, "graph_op_count": 1}, **ids})
    return frame


def compile(function, **_):
    if not _inductor.config.fallback_random:
        raise RuntimeError("compiled code is to draw eager's numbers")
    seen = {}
    source = sys.modules["linecache"].getlines(function.__code__.co_filename) if "linecache" in sys.modules else []
    line = next((i + 1 for i, text in enumerate(source) if "print(" in text), 0)

    def call(*args):
        key = str([getattr(a, "shape", a) for a in args])
        if key not in seen:
            _dynamo.utils.counters["frames"]["total"] += 1
            seen[key] = tell_frame(function, line)
        profiler.region("Torch-Compiled Region: %d/0" % seen[key])
        return function(*args)

    return call


_dynamo = types.SimpleNamespace(
    reset=lambda: None, mark_dynamic=lambda t, d: None,
    utils=types.SimpleNamespace(counters={"frames": {"total": 0}}),
)
_inductor = types.ModuleType("torch._inductor")
_inductor.config = types.SimpleNamespace(fallback_random=False)
sys.modules["torch._inductor"] = _inductor
random = types.SimpleNamespace(get_rng_state=lambda: zeros(1))
version = types.SimpleNamespace(cuda=None)
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(benchmark=False))
cuda = types.SimpleNamespace(is_available=lambda: False)


class Module:
    def __call__(self, *args):
        return self.forward(*args)

    def to(self, where):
        for value in vars(self).values():
            if isinstance(value, Tensor):
                value.data = value.to(where)
            elif isinstance(value, Module):
                value.to(where)
        return self


nn = types.ModuleType("torch.nn")
nn.Module = Module
sys.modules["torch.nn"] = nn


class Profile:
    current = None
    clock = 0

    def __init__(self, **_):
        self.events = []

    def __enter__(self):
        Profile.current = self
        return self

    def __exit__(self, *_):
        Profile.current = None

    def add(self, category, name):
        Profile.clock += 10
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": os.getpid(), "tid": 1, "ts": Profile.clock, "dur": 5})

    def export_chrome_trace(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": self.events}, file)

    def key_averages(self):
        return []


class record_function:
    def __init__(self, name):
        profiler.region(name, "user_annotation")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


profiler = types.ModuleType("torch.profiler")
profiler.region = lambda name, category="cpu_op": Profile.current and Profile.current.add(category, name)
profiler.profile, profiler.record_function = Profile, record_function
profiler.ProfilerActivity = types.SimpleNamespace(CPU=0, CUDA=1)
sys.modules["torch.profiler"] = profiler
