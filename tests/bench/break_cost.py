"""tests/bench/break_cost.py [BINARY] -- does the sum of what breaks cost explain what is saved without them?

    python3 tests/bench/break_cost.py build/breakeven [--rounds 3] [--kinds item,print] [--counts 1,2,5]
                                      [--chain products] [--mode static] [--shape 8,16]
                                      [--threads 1] [--device cuda] [--check]

Functions with 1 to 5 breaks of a kind between chains of four ops, or of a product and what follows it.  Each run reports what each break costs, from
its timelines, and times the same function without its breaks beside it (`break_cost.without`).  The ratio is what
those breaks are said to cost over what a call is shorter without them: its median over the rounds, with the smallest
and the largest.  A row holds where the median is within 0.8 to 1.2, or in most rounds the intervals of the two
overlap (`agrees` of the report), which is shown as "by interval".  A difference whose interval holds zero has
no ratio; it is shown as "in the noise".  --check exits 1 where a row does not hold.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHAIN = ["x = torch.sin(x)", "x = x * 2", "x = torch.relu(x)", "x = x + 1"]
PRODUCTS = ["x = torch.relu(x @ w)", "x = x * 0.1 + 1"]
CHAINS = {"ops": CHAIN, "products": PRODUCTS}
BREAKS = {
    "explicit": ["torch._dynamo.graph_break()"],
    "print": ["print('here')"],
    "item": ["x = x * x.amax().item()"],
    "branch": ["if x.sum() > 0:", "    x = x + 2"],
}
BAR = (0.8, 1.2)


def source(kind, count, chain):
    """`count` breaks between chains."""
    lines = list(chain)
    for _ in range(count):
        lines += BREAKS[kind] + chain
    return f"import torch\n\ndef model(x{', w' if chain is PRODUCTS else ''}):\n" + "".join(f"    {line}\n" for line in lines) + "    return x.sum()\n"


def random(shape):
    return {"random": {"shape": shape, "dtype": "float32", "kind": "randn", "seed": 0}}


def workload(kind, count, options):
    made = {
        "name": f"{kind}_{count}",
        "modes": [options.mode],
        "source": source(kind, count, CHAINS[options.chain]),
        "calls": [[random(options.shape)]],
    }
    if options.chain == "products":
        made["calls"][0].append(random([options.shape[-1]] * 2))
    if options.device != "cpu":
        made["device"] = options.device
    if options.threads:
        made["threads"] = options.threads
    return made


def measure(kind, count, options, folder):
    """What the report says of the breaks; exits where there is none."""
    path = os.path.join(folder, "workload.json")
    with open(path, "w") as file:
        json.dump(workload(kind, count, options), file)
    done = subprocess.run([options.binary, "run", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    cost = json.loads(done.stdout)["modes"][options.mode].get("break_cost")
    if not cost:
        sys.exit(f"mode {options.mode} does not break at {kind}: nothing has a cost")
    return cost["without"]


def row(kind, count, options, folder):
    """Prints a line; whether it holds, and the median ratio or None."""
    seen = [measure(kind, count, options, folder) for _ in range(options.rounds)]
    middle = statistics.median_low(range(len(seen)))
    ratios = sorted(w["ratio"] for w in seen if w["ratio"] is not None)
    left = max(w["breaks_left"] for w in seen)
    columns = []
    for name in ("explained", "measured"):
        w = sorted(seen, key=lambda w: w[f"{name}_us"])[middle]
        low, high = w[f"{name}_ci_us"]
        columns.append(f"{w[f'{name}_us']:9.2f} ({low:.2f} to {high:.2f})")
    median = statistics.median(ratios) if ratios else None
    within = median is not None and BAR[0] <= median <= BAR[1]
    holds = within or 2 * sum(w["agrees"] for w in seen) > len(seen)
    said = f"{median:6.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})" if ratios else "in the noise"
    more = "" if within else "  by interval" if holds else "  OUTSIDE"
    more += f"  {left} breaks left" if left else ""
    noise = len(seen) - len(ratios)
    more += f"  {noise} of {len(seen)} rounds in the noise" if noise and ratios else ""
    print(f"{kind:9} {count:2}  {columns[0]:30} {columns[1]:30} {said}{more}", flush=True)
    return holds, median


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(BREAKS))
    parser.add_argument("--chain", choices=CHAINS, default="ops")
    parser.add_argument("--mode", default="static")
    parser.add_argument("--counts", default="1,2,3,4,5")
    parser.add_argument("--shape", default="8,16")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.shape = [int(n) for n in options.shape.split(",")]
    print(f"float32 {options.shape} on {options.device}, chains of {options.chain}, mode {options.mode}, {options.rounds} rounds")
    print("kind       n  explained, us                  measured, us                   ratio (least to most)")
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(k, int(n), options, folder) for k in options.kinds.split(",") for n in options.counts.split(",")]
    held = sum(holds for holds, _ in rows)
    ratios = sorted(ratio for _, ratio in rows if ratio is not None)
    spread = f", ratios {ratios[0]:.2f} to {ratios[-1]:.2f}, median {statistics.median(ratios):.2f}" if ratios else ""
    print(f"{held} of {len(rows)} hold{spread}")
    return 1 if options.check and held < len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
