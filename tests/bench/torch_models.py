"""tests/bench/torch_models.py [BINARY] -- the workloads and models of tests/, PyTorch beside Breakeven.

    python3 tests/bench/torch_models.py build/breakeven [--threads 1,16] [--rounds 3] [--no-time] [--check]

First agreement: each workload of tests/workloads runs in eager and static on the same
random inputs and parameters as in PyTorch; outputs and the gradients of inputs and
parameters are compared (a training step: three losses, gradients and parameters), and so
are the models of web/models.  Errors are the largest |ours - theirs|, and that over the
largest |theirs| of the tensor.  Then times: within a round the four (eager and static,
torch eager and torch.compile) follow each other; a ratio is ours over theirs of one round,
and the median is printed with the smallest and the largest.  Compile times are no part of
this.  --check exits 1 where values differ.  Needs torch and a C++ compiler.
"""
import argparse
import contextlib
import glob
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import types

import torch_cpu

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
# Relative to the tensor's largest.  Adam divides by the root of what may be nearly nothing.
LIMIT, STEP_LIMIT, LOW_LIMIT = 1e-4, 1e-3, 6e-2
STEPS = 3
CHECKED = """

def checked({0}):
    loss = model({0})
    ps = list(net.parameters())
    return loss, [p.grad.clone() for p in ps], [p.detach().clone() for p in ps]
"""


def workloads():
    found = []
    for path in sorted(glob.glob(os.path.join(TESTS, "workloads", "6*.json"))):
        with open(path, encoding="utf-8") as file:
            found.append(json.load(file))
    return found


def models():
    sys.path.insert(0, os.path.join(TESTS, "models"))
    import run

    for path in run.model_files():
        yield run.workload_of(path)


def is_step(workload):
    return "optimizer" in workload["source"]


def run_ours(binary, workload, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json", *flags], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("breakeven run failed: " + done.stderr)
    return json.loads(done.stdout)["modes"]


def region(workload):
    import torch

    if not workload.get("autocast"):
        return contextlib.nullcontext()
    return torch.autocast("cpu", getattr(torch, workload["autocast"]))


def opened(workload):
    """The program's names, and its calls' arguments."""
    script, module = torch_cpu.load_script(), types.ModuleType("workload_" + workload["name"])
    sys.modules[module.__name__] = module  # dataclasses and TorchDynamo look for it there
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(workload["source"], workload["name"], "exec"), module.__dict__)
    return module.__dict__, [[script.make(spec) for spec in call] for call in workload["calls"]]


def shown(v):
    """A value as a report has it."""
    import torch

    if isinstance(v, torch.Tensor):
        return v.detach().double().reshape(-1).tolist()
    if isinstance(v, dict):
        return {k: shown(x) for k, x in v.items()}
    return [shown(x) for x in v] if isinstance(v, (list, tuple)) else v


def plain(v):
    """A value of a report in the same form."""
    if not isinstance(v, dict):
        return [plain(x) for x in v] if isinstance(v, list) else v
    if "tensor" in v:
        return [float(x) for x in v["tensor"]["data"]]
    for kind in ("tuple", "list", "dict", "value"):
        if kind in v:
            return plain(v[kind])
    return {k: plain(x) for k, x in v.items()}


def error(ours, theirs):
    """(largest difference, that over the largest of its tensor)."""
    if isinstance(theirs, dict):
        ours, theirs = [ours[k] for k in theirs], list(theirs.values())
    if isinstance(theirs, list) and theirs and not isinstance(theirs[0], (int, float)):
        assert len(ours) == len(theirs), "%d items for %d" % (len(ours), len(theirs))
        parts = [error(a, b) for a, b in zip(ours, theirs)]
        return max(p[0] for p in parts), max(p[1] for p in parts)
    if theirs is None or isinstance(theirs, (str, bool)):
        return (0.0, 0.0) if ours == theirs else (float("inf"), float("inf"))
    a, b = (ours, theirs) if isinstance(theirs, list) else ([ours], [theirs])
    assert len(a) == len(b), "%d elements for %d" % (len(a), len(b))
    most = max((abs(x - y) for x, y in zip(a, b)), default=0.0)
    return most, most / max(max((abs(y) for y in b), default=0.0), 1e-6)


def forward_values(workload):
    """Outputs and gradients of the sum of the output, in PyTorch."""
    import torch

    space, [call] = opened(workload)
    module = space["model"]
    floats = [x for x in call if x.is_floating_point()]
    for x in floats:
        x.requires_grad_()
    with region(workload):
        out = module(*call)
    out.sum().backward()
    return {"output": shown(out), "grads": [shown(x.grad) for x in floats],
            "param_grads": {n: shown(p.grad) for n, p in module.named_parameters()}}


def agreement(binary, workload):
    """For eager and static: (absolute, relative) error over all that is compared."""
    if "title" in workload and not is_step(workload):
        theirs = forward_values(workload)
        modes = run_ours(binary, {**workload, "grad": True, "modes": ["eager", "static"]}, "--no-timing")
        ours = {
            mode: {"output": plain(m["calls"][0]["output"]),
                   "grads": [plain(g) for g in m["calls"][0]["grads"] if g is not None and plain(g) is not None],
                   "param_grads": {n: plain(g) for n, g in m["calls"][0]["param_grads"].items()}}
            for mode, m in modes.items()
        }
        return {mode: error(got, theirs) for mode, got in ours.items()}
    names = ", ".join("abcd"[: len(workload["calls"][0])])
    more = "checked" if "title" in workload else None  # the models give their gradients themselves
    w = dict(workload, modes=["eager", "static"])
    if more:
        w.update(source=w["source"] + CHECKED.format(names), entry="checked", calls=w["calls"] * STEPS)
    space, calls = opened(w)
    theirs = []
    for call in calls:
        with region(w):
            theirs.append(shown(space[more or "model"](*call)))
    modes = run_ours(binary, w, "--no-timing")
    return {mode: error([plain(c["output"]) for c in m["calls"]], theirs) for mode, m in modes.items()}


def sides(workload):
    import torch

    space, [call] = opened(workload)
    compiled = torch.compile(space["model"], dynamic=False)
    torch.set_grad_enabled(is_step(workload))

    def within(function):
        def one(_):
            with region(workload):
                return function(*call)
        return one

    return {"eager": within(space["model"]), "static": within(compiled)}


def measure(binary, workload, threads, rounds):
    both = sides(workload)
    for call in both.values():
        call(None)
    theirs, ours = {m: [] for m in both}, {m: [] for m in both}
    for _ in range(rounds):
        for mode, call in both.items():
            theirs[mode].append(torch_cpu.sample_us(call, None))
        report = run_ours(binary, {**workload, "threads": threads, "modes": ["eager", "static"]})
        for mode in both:
            ours[mode].append(report[mode]["latency"]["median_us"])
    return {
        "name": workload["name"], "threads": threads, "theirs_us": theirs, "ours_us": ours,
        "ratio": {m: torch_cpu.spread([o / t for o, t in zip(ours[m], theirs[m])]) for m in both},
        "to_eager": torch_cpu.spread([s / e for s, e in zip(ours["static"], ours["eager"])]),
        "peak_bytes": {m: report[m]["peak_bytes"] for m in both},
    }


def worker(arguments):
    """One thread count: in a process of its own, since PyTorch sets threads once."""
    import torch

    torch.set_num_threads(arguments.worker)
    for workload in workloads():
        if workload["name"] not in arguments.names:
            continue
        if arguments.compile_only:
            sides(workload)["static"](None)
        else:
            print(json.dumps(measure(arguments.binary, workload, arguments.worker, arguments.rounds)), flush=True)


def spawn(arguments, threads, names, compile_only):
    command = [sys.executable, os.path.abspath(__file__), arguments.binary, "--worker", str(threads)]
    command += ["--names", ",".join(names), "--rounds", str(arguments.rounds)]
    command += ["--compile-only"] if compile_only else []
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def show(row):
    text = "%-26s %2d threads" % (row["name"], row["threads"])
    for mode in ("eager", "static"):
        medians = [torch_cpu.spread(side[mode])[0] for side in (row["ours_us"], row["theirs_us"])]
        text += "  %-6s %9.1f us, torch %9.1f us: %5.3f (%.3f-%.3f)" % (mode, *medians, *row["ratio"][mode])
    print(text + "  static/eager %.3f (%.3f-%.3f)" % row["to_eager"], flush=True)


def compare(arguments):
    """Prints the errors; the names of what does not agree."""
    wrong = []
    for workload in workloads() + list(models()):
        if workload["name"] in ("draws", "draws_between", "inplace", "modules"):  # draws that are not PyTorch's; a class
            continue
        try:
            found = agreement(arguments.binary, workload)
        except (AssertionError, LookupError, TypeError, AttributeError, ValueError, RuntimeError) as fault:
            print("%-26s %s: %s" % (workload["name"], type(fault).__name__, str(fault)[:300]), flush=True)
            wrong.append(workload["name"])
            continue
        limit = STEP_LIMIT if is_step(workload) else LIMIT
        limit = LOW_LIMIT if workload.get("autocast") else limit
        text = "  ".join("%s: abs %.1e, rel %.1e" % (mode, *e) for mode, e in found.items())
        held = all(e[1] <= limit for e in found.values())
        print("%-26s %s%s" % (workload["name"], text, "" if held else "  DIFFERS"), flush=True)
        wrong += [] if held else [workload["name"]]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.path.join(HERE, "..", "..", "build", "breakeven"))
    parser.add_argument("--threads", default="1,16")
    parser.add_argument("--names", type=lambda s: s.split(","), default=[w["name"] for w in workloads()])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-time", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--compile-only", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    rows, counts = [], [] if arguments.no_time else [int(t) for t in arguments.threads.split(",")]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        begin = time.perf_counter()
        compiling = [spawn(arguments, t, [name], True) for t in counts for name in arguments.names]
        wrong = compare(arguments)
        print("%d differ: %s" % (len(wrong), ", ".join(wrong)) if wrong else "all agree", flush=True)
        for process in compiling:
            process.communicate()
        if counts:
            print("compiled in %.0f s; ratios are ours over theirs, median of %d rounds (smallest-largest)" % (time.perf_counter() - begin, arguments.rounds), flush=True)
        for threads in counts:
            process = spawn(arguments, threads, arguments.names, False)
            for line in process.stdout:
                rows.append(json.loads(line))
                show(rows[-1])
            process.wait()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows, "differ": wrong}, file)
    return sys.exit(1 if arguments.check and wrong else 0)


if __name__ == "__main__":
    main()
