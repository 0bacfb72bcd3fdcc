"""tests/bench/two_builds.py OLD NEW -- is anything slower than in another build of Breakeven?

    python3 tests/bench/two_builds.py ../old/build/breakeven build/breakeven [--rounds 5] [--modes eager,static]
                                      [--device cpu] [--threads 1] [--only TEXT] [--part 1/4] [--limit 1.03] [--seconds 0.3]

Every workload of tests/workloads and every model runs in both builds, one after the other, in
each round; which of them is first alternates.  A line is a workload, a point and a mode: the
time of a call in OLD, and NEW's over OLD's, the median of the rounds with the smallest and the
largest.  A mark says that all rounds are above the limit; what is marked is measured again
once.  What one of them cannot run is named.
--part 1/4 takes every fourth workload, the first of them at first: parts run side by side on cores of
their own (taskset).  Prints figures, asserts nothing.
"""
import argparse
import json
import statistics
import subprocess
import sys

from never_slower import workloads


def measure(binary, workload, args):
    """(n, mode) -> microseconds a call; None where it does not run."""
    if args.seconds:
        workload = {**workload, "seconds": args.seconds}
    command = [binary, "run", "-", "--json", "--modes", args.modes, "--device", args.device, "--threads", str(args.threads)]
    done = subprocess.run(command, input=json.dumps(workload), capture_output=True, text=True, timeout=600)
    if done.returncode:
        return None
    report = json.loads(done.stdout)
    points = report.get("points") or [{"n": None, "modes": report["modes"]}]
    return {(p.get("n"), mode): m["latency"]["median_us"] for p in points for mode, m in p["modes"].items() if m.get("latency")}


def ratios(name, workload, args):
    """(n, mode) -> (OLD's median, NEW's over OLD's of each round)."""
    found = {}
    for round_ in range(args.rounds):
        pair = [args.old, args.new]
        times = {binary: measure(binary, workload, args) for binary in (pair if round_ % 2 == 0 else pair[::-1])}
        if None in times.values():
            print(f"{name}: does not run in {' and '.join(b for b, t in times.items() if t is None)}")
            return {}
        for key in times[args.old].keys() & times[args.new].keys():
            found.setdefault(key, []).append((times[args.old][key], times[args.new][key] / times[args.old][key]))
    return {key: (statistics.median(t for t, _ in rows), [r for _, r in rows]) for key, rows in found.items()}


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("old")
    parse.add_argument("new")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--modes", default="eager,static,dynamic")
    parse.add_argument("--device", default="cpu")
    parse.add_argument("--threads", type=int, default=1)
    parse.add_argument("--only", default="")
    parse.add_argument("--part", default="1/1")
    parse.add_argument("--limit", type=float, default=1.03)
    parse.add_argument("--seconds", type=float, default=0, help="how long each point is sampled (as the profiler decides)")
    args = parse.parse_args()
    all_ratios, marked = [], 0
    part, parts = map(int, args.part.split("/"))
    for name, workload in list(workloads(0))[part - 1 :: parts]:
        if args.only not in name:
            continue
        rows = ratios(name, workload, args)
        if any(min(r) > args.limit for _, r in rows.values()):
            again = ratios(name, workload, args)
            rows = {key: (us, r + again.get(key, (0, []))[1]) for key, (us, r) in rows.items()}
        for (n, mode), (us, r) in sorted(rows.items(), key=str):
            mark = "  SLOWER" if min(r) > args.limit else ""
            marked += bool(mark)
            all_ratios.append(statistics.median(r))
            print(f"{name}{'' if n is None else f', n = {n}'}, {mode}: {us:,.1f} us, {statistics.median(r):.3f} ({min(r):.3f}-{max(r):.3f}){mark}", flush=True)
    if all_ratios:
        print(f"{len(all_ratios)} figures: the median ratio is {statistics.median(all_ratios):.3f}, {marked} marked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
