"""tests/bench/acceptance.py [BINARY] -- the chain on [8, 16] and on 2^20 elements, one thread, against the bars.

    python3 tests/bench/acceptance.py build/breakeven [--rounds 3] [--check]

Runs `breakeven run --json` a few times and prints each ratio: the median over
the rounds, the smallest and the largest, and the bar.  Within a round eager,
static and dynamic are interleaved, and so are the generated C and the
interpreter, as two runs one after the other.  --check exits 1 where a bar is
missed by every round: one that some round meets is the machine's noise.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHAPES = {"[8,16]": [8, 16], "2^20": [1024, 1024]}
COUNTS = [1, 5, 10, 15, 20, 25, 30]
LIGHT = ["x = x + 0.1", "x = x * 0.9", "x = torch.relu(x)", "x = x + 0.3"]
SOURCE = "import torch\n\ndef model(x):\n    ...\n    return x.sum()\n"


def seed_pool():
    """The 20 statements of the recorded program."""
    with open(os.path.join(ROOT, "tests", "oracle", "cases.json")) as file:
        cases = {case["name"]: case for case in json.load(file)["cases"]}
    return [line.strip() for line in cases["seed_chain_30"]["source"].split("\n")[2:22]]


def run(binary, shape, pool, counts, backend="cpu"):
    """{n: {mode: median us}} of one run of the binary."""
    workload = {
        "name": "acceptance",
        "source": SOURCE,
        "calls": [[{"random": {"shape": shape, "dtype": "float32", "kind": "randn", "seed": 0}}]],
        "modes": ["eager", "static", "dynamic"],
        "threads": 1,
        "backend": backend,
        "sweep": {"statements": {"pool": pool, "counts": counts}},
    }
    done = subprocess.run([binary, "run", "-", "--json"], input=json.dumps(workload), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    points = json.loads(done.stdout)["points"]
    return {p["n"]: {mode: m["latency"]["median_us"] for mode, m in p["modes"].items()} for p in points}


def collect(binary, rounds):
    """{claim: (bar, whether more is better, ratios)} over the rounds."""
    rows = {}

    def add(claim, bar, more, ratio):
        rows.setdefault(claim, (bar, more, []))[2].append(ratio)

    for _ in range(rounds):
        for size, shape in SHAPES.items():
            c = run(binary, shape, seed_pool(), COUNTS)
            interpreted = run(binary, shape, seed_pool(), [COUNTS[-1]], "interp")
            for n, us in c.items():
                add(f"{size}, n = {n}: eager / static", 1.0, True, us["eager"] / us["static"])
                add(f"{size}, n = {n}: dynamic / static", 1.15, False, us["dynamic"] / us["static"])
            last = COUNTS[-1]
            add(f"{size}, n = {last}: interpreter / generated C", 1.0, True, interpreted[last]["static"] / c[last]["static"])
            if size == "2^20":
                add(f"{size}, n = {last}: eager / static, seed's pool", 1.25, True, c[last]["eager"] / c[last]["static"])
                light = run(binary, shape, LIGHT, [last])[last]
                add(f"{size}, n = {last}: eager / static, add mul relu", 2.0, True, light["eager"] / light["static"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed = 0
    for claim, (bar, more, ratios) in collect(options.binary, options.rounds).items():
        best = max(ratios) if more else min(ratios)
        held = best >= bar if more else best <= bar
        missed += not held
        bound = f"{'>=' if more else '<='} {bar:g}"
        print(f"{claim:48s} {statistics.median(ratios):6.2f}x  ({min(ratios):.2f}-{max(ratios):.2f})  {bound:8s} {'' if held else 'MISSED'}")
    print(f"{missed} missed")
    sys.exit(1 if options.check and missed else 0)


main()
