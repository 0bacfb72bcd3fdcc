"""tests/oracle/random_cpu.py [BINARY] [--modes a,b] -- are seeded random numbers on the CPU those of PyTorch 2.11?

random_cpu.json holds what the official x86 wheel drew on an Intel Xeon: for each case
the seed, the source, the numbers, and two ints drawn next, which tell that as much was
drawn.  Numbers that a logarithm or a sine made may differ by rounding (`relative`).
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
AT_ONCE = 40
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\ndef model():\n"


def source_of(cases):
    lines = []
    for i, case in enumerate(cases):
        lines += [f"    torch.manual_seed({case['seed']})", f"    a{i} = {case['source']}", f"    b{i} = torch.randint(0, 2**31 - 1, (2,))"]
    return HEAD + "\n".join(lines) + "\n    return " + ", ".join(f"a{i}, b{i}" for i in range(len(cases))) + "\n"


def run(binary, cases, modes):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"name": "random", "source": source_of(cases), "modes": modes.split(","), "calls": [[]]}, f)
        f.flush()
        done = subprocess.run([binary, "run", f.name, "--no-timing", "--json"], capture_output=True, text=True, timeout=300)
    if not done.stdout.strip():
        raise RuntimeError(done.stderr.strip())
    modes = json.loads(done.stdout)["modes"]
    if done.returncode:
        print(*(f"{m}: {part.get('disagreement')}" for m, part in modes.items() if part.get("agrees") is False), sep="\n")
    return modes


def close(x, y, relative):
    x, y = float(x), float(y)
    return x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= relative * abs(y) + (relative * .1 if relative > .01 else relative * 1e-2)


def differs(case, drawn, following):
    if drawn["dtype"] != case["dtype"] or drawn["shape"] != case["shape"]:
        return f"{drawn['dtype']}{drawn['shape']} for {case['dtype']}{case['shape']}"
    for i, (x, y) in enumerate(zip(drawn["data"], case["data"])):
        if not close(x, y, case["relative"]):
            return f"[{i}]: {x} for {y}"
    return None if following == case["next"] else f"draws {following} next for {case['next']}"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("binary", nargs="?", default="build/breakeven")
    a.add_argument("--modes", default="eager,static,lazy")
    a = a.parse_args()
    with open(os.path.join(HERE, "random_cpu.json")) as f:
        cases = json.load(f)["cases"]
    passed = failed = 0
    for first in range(0, len(cases), AT_ONCE):
        some = cases[first:first + AT_ONCE]
        for mode, report in run(a.binary, some, a.modes).items():
            parts = next(iter(report["calls"][0]["output"].values()))
            for i, case in enumerate(some):
                what = differs(case, parts[2 * i]["tensor"], parts[2 * i + 1]["tensor"]["data"])
                passed, failed = passed + (what is None), failed + (what is not None)
                if what:
                    print(f"{mode}, {case['name']}, seed {case['seed']}: {what}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
