"""What the torch engine runs (profiler/torch/host.h): the roles of a servant (host.py).

    probe    the version, and what it runs on
    run      the workload of experiment.py: values and times
    trace    the same, watched by torch.profiler and TORCH_TRACE

Each line that a role tells is a JSON object: hello, progress, point, trace, error, done.
"""
import contextlib
import ctypes
import gc
import io
import json
import math
import os
import platform
import sys
import time

OLDEST = (2, 5)
MAX_STDOUT = 1 << 16
TRACED_CALLS, TRACED_POINTS = 3, 4
OUT = 1  # where messages go
FIRST_S = {}  # what the first compilation of this process took, by kind of device


def write_line(fd, message):
    line = ("\n" + json.dumps(message) + "\n").encode()  # whatever stands half written before it
    while line:
        line = line[os.write(fd, line) :]


def tell(**message):
    write_line(OUT, message)


class Refused(Exception):
    """A line for the user."""


def import_torch():
    python = "%s (Python %s)" % (sys.executable, sys.version.split()[0])
    try:
        import torch
    except ModuleNotFoundError as e:
        if e.name != "torch":
            raise
        raise Refused(
            "%s has no torch: install torch %d.%d or newer for it, or name another Python with --torch-python" % (python, *OLDEST)
        ) from None
    version = tuple(int(x) for x in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise Refused(
            "%s has torch %s, which is too old: it needs torch %d.%d or newer" % (python, torch.__version__, *OLDEST)
        )
    return torch


def build_of(torch):
    """Who made this torch, and with what: programs get other random numbers from builds without
    MKL, whose generators of normal numbers differ."""
    from importlib import metadata

    try:
        found = metadata.distribution("torch")
        tags = [line[5:] for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")]
        installer = (found.read_text("INSTALLER") or "").strip() or None
    except metadata.PackageNotFoundError:
        tags, installer = [], None
    mkl, cpu = getattr(torch.backends, "mkl", None), getattr(torch.backends, "cpu", None)
    mkl, machine = bool(mkl and mkl.is_available()), platform.machine()
    official = mkl and machine in ("x86_64", "AMD64") and any("manylinux" in tag for tag in tags)
    what = [tags[0] if tags else "no wheel", "with MKL" if mkl else "without MKL", machine]
    note = None if official else (
        "torch %s (%s) is no official x86 wheel: random numbers of the CPU that ours equal are those of such wheels" % (
            torch.__version__, ", ".join(what)))
    return {
        "wheel": tags[0] if tags else None, "installer": installer, "mkl": mkl, "machine": machine, "official": official, "note": note,
        "vector_unit": cpu.get_cpu_capability() if cpu else None,
    }


def hello(torch, device=None):
    cuda = torch.cuda.is_available()
    if device == "cuda" and not cuda:
        raise Refused("torch %s of %s sees no GPU: device cuda needs a build of torch for CUDA and a driver" % (torch.__version__, sys.executable))
    name = torch.cuda.get_device_name() if cuda and device != "cpu" else None
    tell(hello={
        "version": torch.__version__, "python": sys.version.split()[0], "executable": sys.executable,
        "cuda": torch.version.cuda if cuda else None, "device_name": name, "threads": torch.get_num_threads(),
        "build": build_of(torch),
    })


def probe(_options):
    hello(import_torch())
    tell(done={})


# ---- values


ALIGN = 64
SEED = 67280421310721  # what torch begins with where nobody seeds it


class Values:
    """The bytes of tensors, whole, in a file that whoever started us reads.  What a mode has to
    the bit as one before it stands there once."""

    def __init__(self, path, most_bytes):
        self.file, self.at, self.most_bytes = open(path, "wb"), 0, most_bytes
        self.written, self.place, self.first = {}, 0, True  # by position in what a mode gives

    def begin_mode(self):
        self.first, self.place = not self.written, 0

    def tensor(self, torch, t):
        t = t.detach()
        inner = {"shape": list(t.shape), "dtype": str(t.dtype)[6:]}
        size, self.place = t.numel() * t.element_size(), self.place + 1
        if t.layout != torch.strided:
            return {"tensor": inner}
        held = t.resolve_conj().contiguous().cpu()
        before, at = self.written.get(self.place, (None, None))
        if before is not None and before.dtype == held.dtype and torch.equal(before, held):
            inner["at"] = at
        elif self.at + size <= self.most_bytes:
            if self.first:
                self.written[self.place] = (held.clone() if held.data_ptr() == t.data_ptr() else held, self.at)
            self.file.write((ctypes.c_char * size).from_address(held.data_ptr()) if size else b"")
            inner["at"], pad = self.at, -size % ALIGN
            self.file.write(b"\0" * pad)
            self.at += size + pad
        return {"tensor": inner}

    def spec(self, torch, v):
        if isinstance(v, torch.Tensor):
            return self.tensor(torch, v)
        if isinstance(v, (tuple, list)):
            return {"tuple" if isinstance(v, tuple) else "list": [self.spec(torch, x) for x in v]}
        if isinstance(v, dict):
            return {"dict": {str(k): self.spec(torch, x) for k, x in v.items()}}
        if isinstance(v, float) and not math.isfinite(v):
            return {"value": "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"}
        if v is None or isinstance(v, (bool, int, float, str)):
            return {"value": v}
        return {"repr": repr(v)[:200]}


def argument(values, lane, i, k, same):
    """What a call left in an argument; most are as they were."""
    now, was = lane.args[i][k], lane.originals[i][k]
    return {"unchanged": True} if same(was, now) else values.spec(lane.torch, now)


def parameters(values, torch, lane):
    if not lane.grads or not isinstance(lane.entry, torch.nn.Module):
        return None
    return values.spec(torch, {name: p.grad for name, p in lane.entry.named_parameters() if p.grad is not None})


def gradients(values, torch, lane, i):
    if not lane.grads:
        return None
    found = [t.grad for t in lane.tensors(lane.args[i]) if t.requires_grad]
    return [None if g is None else values.tensor(torch, g) for g in found]


# ---- runs


class Clipped(io.TextIOBase):
    """What a program prints, as far as it is looked at."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text[: MAX_STDOUT - len(self.text)]
        return len(text)


def why_of(e):
    return "%s: %s" % (type(e).__name__, str(e).strip()[:2000])


class Run:
    """The points of experiment.py, mode by mode."""

    def __init__(self, options):
        self.options, self.torch = options, import_torch()
        import experiment

        self.x = experiment
        hello(self.torch, experiment.DEVICE.type)
        experiment.set_up()
        places = {}
        if options.get("weights"):
            with open(options["weights"], encoding="utf-8") as file:
                places = json.load(file)
        self.put_back = experiment.use_weights(places)
        self.cuda = experiment.DEVICE.type == "cuda"
        if self.cuda and options.get("device_share"):
            self.torch.cuda.set_per_process_memory_fraction(options["device_share"])
        wanted = experiment.WORKLOAD.get("modes") or ["eager", "static", "dynamic"]
        self.modes = [m for m in experiment.MODES if m in wanted]
        self.points = [p for p in experiment.points() if options.get("only") is None or p[0] == options["only"]]
        self.told = 0.0

    def progress(self, share, mode, n, rounds):
        if time.monotonic() - self.told > 0.1:
            self.told = time.monotonic()
            place = "" if n is None else " at n = %d" % n
            what = "torch, %s%s, %s" % (mode, place, "round %d" % rounds if rounds else "first calls")
            tell(progress={"share": share, "what": what})

    def begin_compiling(self):
        """The first compilation of the process, which loads the compiler, is no mode's to pay."""
        kind = self.x.DEVICE.type
        if self.modes in ([], ["eager"]) or kind in FIRST_S:
            return
        begin = time.perf_counter()
        self.progress(0, "the first compilation", None, 0)
        with contextlib.suppress(Exception):  # the modes will say so themselves
            self.torch.compile(lambda x: self.torch.sin(x) + 1)(self.torch.ones(3, device=self.x.DEVICE))
        FIRST_S[kind] = time.perf_counter() - begin

    def leave(self):
        """Modules, paths and functions of torch are as they were."""
        self.x.Folder.leave()
        self.put_back()

    def draws(self):
        """The state of the generators, which a program that draws changes."""
        torch = self.torch
        return [torch.random.get_rng_state().sum().item(), torch.cuda.get_rng_state().sum().item() if self.cuda else 0]

    def lane(self, mode, n, source, calls, values):
        """A lane that has made its calls once, and what they gave."""
        torch, row = self.torch, {"calls": []}
        printed = Clipped()

        def keep(lane, i, out):
            row["calls"].append({
                "output": values.spec(torch, out),
                "inputs_after": [argument(values, lane, i, k, self.x.same) for k in range(len(lane.args[i]))],
                "grads": gradients(values, torch, lane, i), "param_grads": parameters(values, torch, lane),
                "stdout": printed.text,
            })
            printed.text = ""

        torch.manual_seed(SEED)
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated() if self.cuda else 0
        with contextlib.redirect_stdout(printed):
            lane = self.x.Lane(mode, source, calls, n)
            lane.grads, lane.tensors, lane.torch = bool(self.x.WORKLOAD.get("grad")), self.x.tensors, torch
            values.begin_mode()
            drawn = self.draws()
            before = self.x.compilations()
            lane.first_calls(keep)
            row["draws"] = self.draws() != drawn
        row["frames"] = self.x.compilations() - before
        row["first_call_ms"] = [1e3 * s for s in lane.first_s]
        row["peak_bytes"] = torch.cuda.max_memory_allocated() - held if self.cuda else None
        return lane, row

    def point(self, number, n, source, calls):
        path = os.path.join(self.options["folder"], "values-%d" % number)
        values, rows, lanes = Values(path, self.options["value_bytes"]), {}, []
        self.torch._dynamo.reset()
        for mode in self.modes:
            self.progress(number / len(self.points), mode, n, 0)
            try:
                lane, rows[mode] = self.lane(mode, n, source, calls, values)
                lanes.append(lane)
            except Exception as e:  # that mode's own; the others go on
                rows[mode] = {"error": why_of(e)}
        values.file.close()
        if self.options["timing"] and lanes:
            self.time(number, lanes, rows)
        tell(point={"n": n, "values": path, "modes": rows})

    def time(self, number, lanes, rows):
        def tick(lane, rounds):
            self.progress((number + 0.2 + 0.8 * min(rounds / 60, 1)) / len(self.points), lane.mode, lane.n, rounds)

        with contextlib.redirect_stdout(Null()):
            self.x.measure(lanes, self.x.budget_s(len(self.points)), tick)
        for lane in lanes:
            if lane.error:
                rows[lane.mode] = {"error": why_of(lane.error)}
                continue
            rows[lane.mode].update(
                samples_ns=[round(1e9 * s) for s in lane.samples], compiled=lane.compiled,
                calls_a_sample=lane.cycles * len(lane.timed), compile_ms=1e3 * lane.compile_s,
            )


class Null(io.TextIOBase):
    def write(self, text):
        return len(text)


def run(options):
    r = Run(options)
    r.begin_compiling()
    try:
        for number, (n, source, calls) in enumerate(r.points):
            r.point(number, n, source, calls)
    finally:
        r.leave()
    first_s = FIRST_S.get(r.x.DEVICE.type)
    tell(done={"first_compile_ms": None if first_s is None else 1e3 * first_s})


# ---- traces


def spread(points, most):
    """At most so many, the first and the last among them."""
    if len(points) <= most:
        return points
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]


def table(torch, prof):
    """torch.profiler's own sums, beside which those of the imported trace can be laid."""
    rows = []
    for e in prof.key_averages():
        device = getattr(e, "self_device_time_total", None)
        device = e.self_cuda_time_total if device is None else device
        if str(e.device_type).endswith("CUDA") and device:
            rows.append({"name": e.key, "count": e.count, "total_us": device})
    return sorted(rows, key=lambda r: -r["total_us"])


def trace(options):
    """A few calls of each mode in one process: TORCH_TRACE has the compilations, the
    profile what they ran.  A lane's file is named for its mode and point."""
    r = Run(options)
    torch, lanes, failed = r.torch, [], {}
    chosen = spread(r.points, TRACED_POINTS)
    with contextlib.redirect_stdout(Null()):
        for n, source, calls in chosen:
            for mode in r.modes:
                r.progress(len(lanes) / len(chosen) / len(r.modes), "watched, " + mode, n, 0)
                try:
                    lane = r.x.Lane(mode, source, calls, n)
                    lane.first_calls()
                    for _ in range(TRACED_CALLS):  # a CUDA graph is recorded by then
                        lane.run(1)
                    lanes.append(lane)
                except Exception as e:
                    failed[mode] = why_of(e)
        kinds = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if r.cuda else [])
        with torch.profiler.profile(activities=kinds, record_shapes=False) as prof:
            for lane in lanes:
                lane.program.enter()
                with torch.profiler.record_function(lane.mode + ("" if lane.n is None else ", n = %d" % lane.n)):
                    if not r.x.attempt(lane, lambda: lane.run(TRACED_CALLS)):
                        failed[lane.mode] = why_of(lane.error)
            r.x.wait()
    r.leave()
    prof.export_chrome_trace(os.path.join(options["folder"], "trace.json"))
    tell(trace={"points": [n for n, _, _ in chosen], "calls": TRACED_CALLS, "table": table(torch, prof), "failed": failed})
    tell(done={})


# ---- one job after the other


def log_to(folder):
    """TORCH_TRACE, for a torch that was loaded before: a log of its own, complete in itself."""
    os.environ["TORCH_TRACE"] = folder
    logs, structured = (sys.modules.get("torch._logging." + name) for name in ("_internal", "structured"))
    if logs:
        if logs.LOG_TRACE_HANDLER:
            logs.LOG_TRACE_HANDLER.close()
        logs.LOG_TRACE_HANDLER = None
        logs._init_logs()
    for table in ("INTERN_TABLE", "DUMPED_FILES"):  # what was told once is not told again
        getattr(structured, table, set()).clear()


SETTINGS = ("get_default_dtype", "get_num_threads", "is_grad_enabled", "is_inference_mode_enabled",
            "get_float32_matmul_precision", "are_deterministic_algorithms_enabled", "is_anomaly_enabled", "is_autocast_enabled")


def settings(torch):
    """What a program can leave for the next one."""
    functions = getattr(torch.nn, "functional", None)
    cudnn = [getattr(torch.backends.cudnn, name, None) for name in ("enabled", "benchmark", "deterministic")]
    return cudnn + [str(getattr(torch, name)()) for name in SETTINGS if hasattr(torch, name)], {
        name: value for name, value in vars(functions or torch.nn).items() if callable(value)}


def make_ready(folder):
    """Compilers begin cold: caches on disk are the job's own, those in memory are emptied."""
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"), TRITON_CACHE_DIR=os.path.join(folder, "cache"))
    utils = sys.modules.get("torch._inductor.utils")
    for name in ("clear_caches", "clear_inductor_caches"):  # by release
        if hasattr(utils, name):
            getattr(utils, name)()
            break
    gc.collect()
    gc.freeze()  # what others left is not looked through while this one is timed


def left_as_found(torch, threads, before):
    """Whether the process can take another job: the device works, and what a program can set is
    as it was.  Gives back what this one held."""
    for name in [m for m in sys.modules if m == "experiment" or m.startswith("experiment_")]:
        del sys.modules[name]
    try:
        context = getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None)
        if hasattr(context, "device_context"):
            torch.set_default_device(None)
            del context.device_context  # else get_default_device() fails from here on
        torch.set_num_threads(threads)
        torch._dynamo.reset()
        gc.unfreeze()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        (own, functions), (after, there) = before, settings(torch)
        same = own == after and all(there.get(name) is f for name, f in functions.items())
    except Exception as e:
        print("torch is not to be used again: %s" % why_of(e), file=sys.stderr)
        return False
    if not same:
        print("the program left torch with other settings: the next one gets a new process", file=sys.stderr)
    return same


def perform(order):
    """One job.  Whether the process can take another."""
    role, folder = order["role"], order["folder"]
    sys.path.insert(0, folder)
    make_ready(folder)
    if role == "trace":
        log_to(os.path.join(folder, "torch_trace"))
    try:
        torch = import_torch()
        threads, before = torch.get_num_threads(), settings(torch)
        {"probe": probe, "run": run, "trace": trace}[role](order["options"])
        return left_as_found(torch, threads, before)
    except Refused as e:
        tell(error={"code": "no-device", "message": str(e)})
    except BaseException as e:
        tell(error={"code": "worker", "message": why_of(e)})
        sys.excepthook(*sys.exc_info())
    finally:
        sys.path.remove(folder)
        sys.stderr.flush()
    return False
