"""tests/bench/never_slower.py [BINARY] -- is a compiled mode anywhere slower than eager?

    python3 tests/bench/never_slower.py build/breakeven [--threads 1,2] [--modes static,dynamic] [--only TEXT]
                                        [--oracle STEP] [--check]

Every workload of tests/workloads (each point of a sweep) and every model of web/models
runs in eager and in the compiled modes, interleaved in one process.  A line is a workload
on so many threads: eager's median, and for each mode its time over eager's with the 95 %
interval, the calls after which its compilation is repaid, and a mark where the interval
lies above 1.  What is marked is measured again, twice; it stays marked where every time
said so.  --oracle N takes every N-th of the recorded programs as well: most take a few
microseconds a call, guards included.  --check exits 1 where there is a mark.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
AGAIN = 2


def workloads(oracle_step):
    """(name, workload): those of the form, the models, and recorded programs."""
    for path in sorted(glob.glob(os.path.join(TESTS, "workloads", "*.json"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path)[:-5], json.load(file)
    sys.path[:0] = [os.path.join(TESTS, "models"), os.path.join(TESTS, "oracle")]
    import run

    for path in run.model_files():
        yield "models/" + os.path.basename(path), run.workload_of(path)
    if oracle_step:
        import replay

        for case in replay.recorded_cases()[::oracle_step]:
            keys = {"params": case.get("params"), "autocast": case.get("autocast"), "grad": bool(case.get("grad"))}
            yield "oracle/" + case["name"], {"name": case["name"], "source": case["source"], "calls": case["inputs"],
                                             **{k: v for k, v in keys.items() if v}}


def points(binary, workload, modes, threads):
    """[(label, modes, break_even)] of one run; why there are none."""
    workload = {**workload, "modes": ["eager", *modes], "threads": threads}
    done = subprocess.run([binary, "run", "-", "--json"], input=json.dumps(workload), capture_output=True, text=True)
    if done.returncode:
        return [], done.stderr.strip().split("\n")[0]
    report = json.loads(done.stdout)
    swept = [(f" n = {p['n']}", p["modes"], p["break_even"]) for p in report["points"]]
    return swept or [("", report["modes"], report["break_even"])], None


def rows(binary, workload, modes, threads):
    """{label: (eager's us, {mode: (ratio, low, high, calls to repay)})}"""
    found, why = points(binary, workload, modes, threads)
    result = {}
    for label, ran, even in found:
        ratios = {}
        for mode in modes:
            e = even.get(mode) or {}
            if e.get("speedup_ci"):
                low, high = e["speedup_ci"]
                ratios[mode] = (1 / e["speedup"], 1 / high, 1 / low, e["calls_to_repay"])
        result[label] = (ran["eager"]["latency"]["median_us"], ratios)
    return result, why


def slower(row):
    return {mode for mode, ratio in row[1].items() if ratio[1] > 1}


def measure(binary, workload, modes, threads):
    """rows(), with those modes that were slower each time."""
    result, why = rows(binary, workload, modes, threads)
    marked = {label: slower(row) for label, row in result.items()}
    for _ in range(AGAIN):
        if not any(marked.values()):
            break
        again, _ = rows(binary, workload, modes, threads)
        for label in marked:
            marked[label] &= slower(again[label]) if label in again else set()
    return result, marked, why


def cell(ratio, marked):
    if not ratio:
        return f"{'not measured':>36}"
    repaid = "never" if ratio[3] is None else f"{ratio[3]:,.0f}"
    return f"{ratio[0]:6.3f} ({ratio[1]:.3f}-{ratio[2]:.3f}) {repaid:>9}{' SLOWER' if marked else '':7}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--modes", default="static,dynamic")
    parser.add_argument("--only", default="", help="names with this text")
    parser.add_argument("--oracle", type=int, default=0, metavar="STEP")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    modes, left = args.modes.split(","), 0
    head = "".join(f"{mode + ' / eager, repaid after':>37}" for mode in modes)
    print(f"{'workload':34} {'threads':>7} {'eager us':>10}{head}")
    for name, workload in workloads(args.oracle):
        for threads in [int(t) for t in args.threads.split(",")] if args.only in name else []:
            found, marked, why = measure(args.binary, workload, modes, threads)
            if why and not name.startswith("oracle/"):  # replay.py knows which of those do not run
                print(f"{name:34} {threads:7} {why}")
                left += 1
            for label, (eager_us, ratios) in found.items():
                cells = " ".join(cell(ratios.get(mode), mode in marked[label]) for mode in modes)
                print(f"{name + label:34} {threads:7} {eager_us:10.1f} {cells}", flush=True)
                left += len(marked[label])
    print(f"{left} slower than eager")
    sys.exit(1 if args.check and left else 0)


if __name__ == "__main__":
    main()
