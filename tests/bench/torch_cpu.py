"""tests/bench/torch_cpu.py [BINARY] -- the chain on the CPU, PyTorch beside Breakeven, one thread.

    python3 tests/bench/torch_cpu.py build/breakeven [--n 1,5,10,20,30] [--rounds 5] [--json FILE] [--check]

For every n and size, rounds alternate: torch eager and torch.compile(dynamic=False)
in this process, then eager and static of `breakeven run --json`.  A ratio is
ours over theirs within a round; the median over rounds is printed with the
smallest and the largest.  Both sides compile cold: torch with a fresh cache
folder for each program, Breakeven as every timed run does.  The first compile
of this process, which loads the compiler, is left out and its time is printed.
--check exits 1 where a bar at the end is missed.  Needs torch and a C++ compiler.
"""
import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (the thread count must be set before)
from torch._inductor import utils as inductor_utils  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = [[8, 16], [1024, 1024]]
SEED = 11
# A fresh folder for compiled kernels; the name changed between versions.
fresh_cache = getattr(inductor_utils, "fresh_cache", None) or inductor_utils.fresh_inductor_cache


def load_script():
    """profiler/torch/script.py, for its random numbers: the same as the binary's."""
    spec = importlib.util.spec_from_file_location("torch_script", os.path.join(ROOT, "profiler", "torch", "script.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chain(n):
    """The source of n statements over the pool of the recorded program."""
    with open(os.path.join(ROOT, "tests", "oracle", "cases.json")) as file:
        cases = {case["name"]: case for case in json.load(file)["cases"]}
    lines = cases["seed_chain_30"]["source"].split("\n")
    pool = lines[2:22]
    body = [pool[i % len(pool)] for i in range(n)]
    return "\n".join(lines[:2] + body + ["    return x.sum()", ""])


def sample_us(function, x, seconds=0.15, batch_s=1e-3):
    """Median microseconds of a call over batches of about a millisecond."""
    clock, samples = time.perf_counter, []
    for _ in range(3):
        begin = clock()
        function(x)
        once = clock() - begin
    batch = max(1, round(batch_s / once))
    end = clock() + seconds
    while clock() < end or len(samples) < 7:
        begin = clock()
        for _ in range(batch):
            function(x)
        samples.append((clock() - begin) / batch)
    return 1e6 * statistics.median(samples)


def run_ours(binary, source, shape):
    workload = {
        "name": "torch_cpu", "source": source, "threads": 1, "modes": ["eager", "static"],
        "calls": [[{"random": {"shape": shape, "kind": "randn", "seed": SEED}}]],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit("breakeven run failed: " + done.stderr)
    return json.loads(done.stdout)["modes"]


def spread(values):
    return statistics.median(values), min(values), max(values)


def measure(binary, script, n, shape, rounds):
    source, space = chain(n), {}
    exec(source, space)
    eager = space["model"]
    x = script.random_tensor({"shape": shape, "kind": "randn", "seed": SEED})
    with fresh_cache():
        torch._dynamo.reset()
        compiled = torch.compile(eager, dynamic=False)
        begin = time.perf_counter()
        theirs_out = compiled(x)
        compile_ms = 1e3 * (time.perf_counter() - begin)
        sides = {"eager": eager, "static": compiled}
        theirs, ours, compiles = {m: [] for m in sides}, {m: [] for m in sides}, []
        for _ in range(rounds):
            for mode in random.sample(sorted(sides), len(sides)):
                theirs[mode].append(sample_us(sides[mode], x))
            modes = run_ours(binary, source, shape)
            compiles.append(modes["static"]["compile_ms"])
            for mode in sides:
                ours[mode].append(modes[mode]["latency"]["median_us"])
    want = eager(x).double().item()
    got = {m: modes[m]["calls"][0]["output"]["tensor"]["data"][0] for m in sides}
    agree = all(abs(g - want) <= 1e-5 + 1e-4 * abs(want) for g in got.values())
    return {
        "n": n, "elements": x.numel(), "agree": agree, "torch": want, "torch_static": theirs_out.double().item(), "ours": got,
        "theirs_us": theirs, "ours_us": ours,
        "ratio": {m: spread([o / t for o, t in zip(ours[m], theirs[m])]) for m in sides},
        "compile_ms": {"ours": spread(compiles), "theirs": compile_ms},
    }


def show(row):
    text = "%3d %8d" % (row["n"], row["elements"])
    for mode in ("eager", "static"):
        text += "  %-6s %10.2f us, torch %10.2f us: %5.3f (%.3f-%.3f)" % (
            mode, statistics.median(row["ours_us"][mode]), statistics.median(row["theirs_us"][mode]), *row["ratio"][mode])
    text += "  compile %6.1f ms (%.1f-%.1f), torch %7.1f ms" % (*row["compile_ms"]["ours"], row["compile_ms"]["theirs"])
    print(text + ("" if row["agree"] else "  VALUES DIFFER: %s for %s" % (row["ours"], row["torch"])), flush=True)


def bars(rows):
    """(claim, whether it held) for what the project sets itself; the median decides."""
    for row in rows:
        where = "n = %d, %d elements" % (row["n"], row["elements"])
        yield "values agree, " + where, row["agree"]
        yield "eager not slower than torch's, " + where, row["ratio"]["eager"][0] <= 1
        yield "cold compile 100 ms or less, " + where, row["compile_ms"]["ours"][0] <= 100
        yield "cold compile a fifth of torch's or less, " + where, row["compile_ms"]["ours"][0] <= row["compile_ms"]["theirs"] / 5
        if row["n"] == 30:
            bar = 0.1 if row["elements"] == 128 else 0.5
            yield "static %g of torch.compile or less, %s" % (bar, where), row["ratio"]["static"][0] <= bar


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--n", default="1,5,10,20,30")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    script = load_script()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    print("torch %s, one thread; ratios are ours over theirs, median of %d rounds (smallest-largest)" % (torch.__version__, arguments.rounds))
    begin = time.perf_counter()
    with fresh_cache():
        torch.compile(lambda x: torch.sin(x) + 1)(torch.ones(3))
    print("the first compile of the process took %.1f s and is left out" % (time.perf_counter() - begin), flush=True)
    rows = []
    for shape in SIZES:
        for n in map(int, arguments.n.split(",")):
            rows.append(measure(arguments.binary, script, n, shape, arguments.rounds))
            show(rows[-1])
    missed = [claim for claim, held in bars(rows) if not held]
    print("%d bars held, %d missed" % (sum(1 for _ in bars(rows)) - len(missed), len(missed)))
    for claim in missed:
        print("missed: " + claim)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "rows": rows, "missed": missed}, file)
    sys.exit(1 if arguments.check and missed else 0)


if __name__ == "__main__":
    main()
