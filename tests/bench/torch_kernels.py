"""tests/bench/torch_kernels.py [BINARY] -- durations of imported kernels beside torch.profiler's table.

    python3 tests/bench/torch_kernels.py build/breakeven [--workload FILE] [--report FILE] [--python PATH]

Runs a workload with engine torch on device cuda (or takes a report that is there already):
each row of torch.profiler's key_averages() of the watched process, copies and sets too, is
compared with what `breakeven import` sums up of that process's Chrome trace.  Counts must
be equal, times within half a microsecond a row (the table rounds to microseconds, the
trace to nanoseconds).  Exits 1 where they are not.  Needs torch and a GPU.
"""
import argparse
import json
import subprocess
import sys
import tempfile

CHAIN = {
    "name": "torch_kernels", "device": "cuda", "engines": ["breakeven", "torch"], "modes": ["eager", "static", "graphs"],
    "source": "import torch\n\ndef model(x, w):\n    ...\n    return torch.softmax(x @ w, dim=-1).sum()\n",
    "calls": [[{"random": {"shape": [512, 512], "seed": 1}}, {"random": {"shape": [512, 512], "seed": 2}}]],
    "sweep": {"statements": {"pool": ["x = x + 0.1", "x = torch.sin(x)"], "counts": [1, 10]}},
}


def report_of(arguments):
    if arguments.report:
        with open(arguments.report) as file:
            return json.load(file)
    workload = CHAIN
    if arguments.workload:
        with open(arguments.workload) as file:
            workload = dict(json.load(file), device="cuda", engines=["breakeven", "torch"])
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        command = [arguments.binary, "run", file.name, "--json", "--torch-python", arguments.python]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("breakeven run failed: " + done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("--workload")
    parser.add_argument("--report")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    torch = report_of(arguments)["engines"]["torch"]
    log = torch["log"] or sys.exit("no log: %s" % torch["log_error"])
    table = {row["name"]: row for row in torch["trace"]["table"]}
    ours = {row["name"]: row for group in ("kernels", "copies", "sets") for row in log[group]["by_name"]}
    annotations = {row["name"] for row in log["annotations"]["by_name"]}
    bad = 0
    for name in sorted(set(ours) | (set(table) - annotations)):
        a, b = ours.get(name), table.get(name)
        same = a and b and a["count"] == b["count"] and abs(a["total_us"] - b["total_us"]) <= 0.5
        bad += not same
        row = tuple("%6d %12.3f" % (x["count"], x["total_us"]) if x else "%19s" % "none" for x in (a, b))
        print("%s  %s | %s  %s" % ("ok  " if same else "PART", *row, name[:90]))
    sums = [sum(x["total_us"] for x in side.values()) for side in (ours, {k: v for k, v in table.items() if k in ours})]
    print("%d rows, %d part; imported %.3f us in all, torch.profiler %.3f us" % (len(ours), bad, *sums))
    sys.exit(1 if bad or not ours else 0)


if __name__ == "__main__":
    main()
