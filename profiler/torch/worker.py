"""What the torch engine runs (profiler/torch/child.h): PyTorch, in a process of its own.

    python3 worker.py guard LIMITS ROLE [OPTIONS]   the limits, then the next line within them
    python3 worker.py probe                         the version, and what it runs on
    python3 worker.py run OPTIONS                   the workload of experiment.py: values and times
    python3 worker.py trace OPTIONS                 the same, watched by torch.profiler and TORCH_TRACE

LIMITS and OPTIONS are JSON.  Each line on the standard output is a JSON object: hello,
progress, point, trace, error, done.  What the program prints goes elsewhere.
"""
import contextlib
import ctypes
import io
import json
import math
import os
import resource
import select
import signal
import subprocess
import sys
import time

OLDEST = (2, 5)
MAX_STDOUT = 1 << 16
WATCH_S = 0.5
TRACED_CALLS, TRACED_POINTS = 3, 4


# ---- the guard: knows nothing of torch, so that it is there whatever happens


def held_bytes(group):
    """Memory of all processes of the group that is theirs or shared."""
    total, page = 0, os.sysconf("SC_PAGE_SIZE")
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[21]) * page
        except OSError:
            continue  # it has ended
    return total


def limit(what, most):
    """A lower limit; the hard one of an operator stays where it is lower yet."""
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def end_all(message=None):
    if message:
        tell(error={"code": "worker", "message": message})
    os.killpg(0, signal.SIGKILL)


def guard(limits, *role):
    """Starts the role and ends the whole group: when it ends, when whoever started us is
    gone (the standard input closes), or when it holds more memory than it may."""
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_CPU, limits["cpu_s"])
    limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != hard:  # who started us is bounded so; torch maps more than it uses
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    child = subprocess.Popen([sys.executable, "-u", __file__, *role], stdin=subprocess.DEVNULL)
    poll = select.poll()
    poll.register(0, select.POLLIN)
    ended = os.pidfd_open(child.pid)
    poll.register(ended, select.POLLIN)
    while True:
        ready = dict(poll.poll(WATCH_S * 1000))
        if ended in ready:
            break
        if 0 in ready and not os.read(0, 1):
            end_all()
        held = held_bytes(os.getpgrp())
        if held > limits["memory_bytes"]:
            end_all("torch held %d MiB of memory; the limit is %d MiB: use smaller inputs or fewer modes"
                    % (held >> 20, limits["memory_bytes"] >> 20))
    status = child.wait()
    if status == -signal.SIGXCPU:
        end_all("torch used %d s of processor time, its limit: measure fewer points or smaller inputs" % limits["cpu_s"])
    if status < 0:
        end_all("torch crashed (signal %d, %s); the server is not affected" % (-status, signal.strsignal(-status)))
    if status > 0:
        end_all("torch's process ended with status %d" % status)
    end_all()


# ---- what all roles share


def tell(**message):
    line = ("\n" + json.dumps(message) + "\n").encode()  # whatever stands half written before it
    while line:
        line = line[os.write(OUT, line) :]


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


def hello(torch, device=None):
    cuda = torch.cuda.is_available()
    if device == "cuda" and not cuda:
        raise Refused("torch %s of %s sees no GPU: device cuda needs a build of torch for CUDA and a driver" % (torch.__version__, sys.executable))
    name = torch.cuda.get_device_name() if cuda and device != "cpu" else None
    tell(hello={
        "version": torch.__version__, "python": sys.version.split()[0], "executable": sys.executable,
        "cuda": torch.version.cuda if cuda else None, "device_name": name, "threads": torch.get_num_threads(),
    })


def probe():
    hello(import_torch())
    tell(done={})


# ---- values


class Values:
    """The bytes of tensors, in a file that whoever started us reads."""

    def __init__(self, path, most_bytes):
        self.file, self.at, self.most_bytes = open(path, "wb"), 0, most_bytes

    def tensor(self, torch, t):
        t = t.detach()
        inner = {"shape": list(t.shape), "dtype": str(t.dtype)[6:]}
        size = t.numel() * t.element_size()
        if self.at + size <= self.most_bytes and t.layout == torch.strided:
            t = t.resolve_conj().contiguous().cpu()
            self.file.write(ctypes.string_at(t.data_ptr(), size) if size else b"")
            inner["at"] = self.at
            self.at += size
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

    def first_compile_s(self):
        """What the first compilation of a process takes, which loads the compiler."""
        if self.modes in ([], ["eager"]):
            return None
        begin = time.perf_counter()
        self.progress(0, "the first compilation", None, 0)
        with contextlib.suppress(Exception):  # the modes will say so themselves
            self.torch.compile(lambda x: self.torch.sin(x) + 1)(self.torch.ones(3, device=self.x.DEVICE))
        return time.perf_counter() - begin

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
                "output": values.spec(torch, out), "inputs_after": [values.spec(torch, v) for v in lane.args[i]],
                "grads": gradients(values, torch, lane, i), "stdout": printed.text,
            })
            printed.text = ""

        torch.manual_seed(0)
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated() if self.cuda else 0
        with contextlib.redirect_stdout(printed):
            lane = self.x.Lane(mode, source, calls, n)
            lane.grads, lane.tensors = bool(self.x.WORKLOAD.get("grad")), self.x.tensors
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
            self.x.measure(lanes, min(self.x.BUDGET_S, self.x.TOTAL_S / len(self.points)), tick)
        for lane in lanes:
            rows[lane.mode].update(
                samples_ns=[round(1e9 * s) for s in lane.samples], compiled=lane.compiled,
                calls_a_sample=lane.cycles * len(lane.timed), compile_ms=1e3 * lane.compile_s,
            )


class Null(io.TextIOBase):
    def write(self, text):
        return len(text)


def run(options):
    r = Run(options)
    first_s = r.first_compile_s()
    for number, (n, source, calls) in enumerate(r.points):
        r.point(number, n, source, calls)
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
                with torch.profiler.record_function(lane.mode + ("" if lane.n is None else ", n = %d" % lane.n)):
                    lane.run(TRACED_CALLS)
            r.x.wait()
    prof.export_chrome_trace(os.path.join(options["folder"], "trace.json"))
    tell(trace={"points": [n for n, _, _ in chosen], "calls": TRACED_CALLS, "table": table(torch, prof), "failed": failed})
    tell(done={})


def main():
    role, arguments = sys.argv[1], sys.argv[2:]
    if role == "guard":
        return guard(json.loads(arguments[0]), *arguments[1:])
    try:
        {"probe": probe, "run": run, "trace": trace}[role](*map(json.loads, arguments))
    except Refused as e:
        tell(error={"code": "no-device", "message": str(e)})
    except BaseException as e:
        tell(error={"code": "worker", "message": why_of(e)})
        raise
    sys.stderr.flush()
    os._exit(0)  # threads of compilers are not waited for


if __name__ == "__main__":
    # The messages' own way out: what a program prints by other means is no message.
    OUT = os.dup(1)
    if sys.argv[1] != "guard":
        os.dup2(2, 1)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
