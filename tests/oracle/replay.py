"""tests/oracle/replay.py [BINARY] [--every N [--first K]] [--device cpu|cuda] [--modes a,b] [--jobs N] [--poison] -- does Breakeven do what PyTorch 2.11 did?

Runs every program of cases.json, own_cases.json and construct_cases.json in
eager, static, dynamic, auto and graphs and compares outputs, effects on inputs,
printed text, new graphs per call, and the kinds and places of graph breaks with
what was recorded (of graphs: what was recorded of static).  not_covered.txt lists the programs that are not expected to agree
yet: a listed program that agrees fails the suite as well, so the list can only
shrink (where --modes leaves a mode out, the rest may well agree).  --every N takes each N-th program alone, from the K-th on; --jobs N runs N of them at a time.
--poison: memory is watched as `breakeven run --poison` does.
Needs nothing but Python 3.
"""
import argparse
import functools
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import part  # noqa: E402

FILES = ["cases.json", "own_cases.json", "construct_cases.json", "autocast_cases.json", "library_cases.json", "training_cases.json", "function_cases.json", "capture_cases.json", "loop_cases.json", "gradient_cases.json", "everyday_cases.json", "published_cases.json"]
MODES = ["eager", "static", "dynamic", "auto", "graphs"]
TIMEOUT_S = 1800  # nothing takes that long, however busy the machine: it hangs
TOLERANCE = {"float16": (1e-2, 1e-2), "bfloat16": (1e-2, 1e-2), "float32": (1e-5, 1e-4), "float64": (1e-5, 1e-4)}


def number(x):
    return float(x) if isinstance(x, str) and x in ("nan", "inf", "-inf") else x


def close(x, y, absolute, relative):
    x, y = number(x), number(y)
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return False
    if math.isnan(y) or math.isinf(y):
        return x == y or (math.isnan(x) and math.isnan(y))
    return abs(x - y) <= absolute + relative * abs(y)


def tensor_differs(ours, theirs, path):
    for field in ("shape", "dtype"):
        if ours.get(field) != theirs[field]:
            return f"{path}: {field} {ours.get(field)} for {theirs[field]}"
    if len(ours["data"]) != len(theirs["data"]):
        return f"{path}: {len(ours['data'])} numbers for {len(theirs['data'])}"
    bounds = TOLERANCE.get("bfloat16" if theirs.get("mixed") else theirs["dtype"])
    for i, (x, y) in enumerate(zip(ours["data"], theirs["data"])):
        if not (close(x, y, *bounds) if bounds else x == y):
            return f"{path}[{i}]: {x} for {y}"
    return None


def differs(ours, theirs, path):
    """None where they agree, else where they part."""
    kind = next(iter(theirs))
    if kind == "repr":
        return None
    if not isinstance(ours, dict) or kind not in ours:
        return f"{path}: {ours!r} is no {kind}"[:160]
    x, y = ours[kind], theirs[kind]
    if kind == "tensor":
        return tensor_differs(x, y, path)
    if kind == "value":
        same = close(x, y, 1e-5, 1e-4) if isinstance(y, float) else x == y and type(x) is type(y)
        return None if same else f"{path}: {x!r} for {y!r}"
    pairs = list(zip(x, y)) if kind != "dict" else [(x.get(k, {}), y[k]) for k in y]
    if len(x) != len(y):
        return f"{path}: {len(x)} items for {len(y)}"
    return next(filter(None, (differs(a, b, f"{path}.{i}") for i, (a, b) in enumerate(pairs))), None)


def run(binary, case, policy="dynamo", modes=MODES, **settings):
    """The report's modes, or why there are none; `settings` of the workload."""
    workload = {"name": case["name"], "source": case["source"], "calls": case["inputs"], "modes": modes, "policy": policy, "grad": bool(case.get("grad")), "autocast": case.get("autocast")}
    workload.update(settings)
    if "params" in case:
        workload["params"] = case["params"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        try:
            done = subprocess.run([binary, "run", file.name, "--json", "--no-timing"], capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None, f"took over {TIMEOUT_S} s"
    if done.returncode == 1 and done.stderr.startswith(("breakeven run:", file.name)):
        return None, done.stderr.strip().split("\n")[0].replace(file.name, case["name"])
    if done.returncode:
        raise SystemExit(f"{case['name']}: exit {done.returncode}, which is a crash\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)["modes"], None


def breaks_differ(ours, theirs):
    """Kinds and innermost lines of the breaks that ended a graph.

    A kind that PyTorch gives no words for ("other") is not compared.
    """
    ended = {(b["kind"], b["stack"][-1]["line"]) for b in ours if b["stage"] == "capture" and b["graph"] is not None}
    wanted = {(b["kind"], b["stack"][-1]["line"]) for b in theirs}
    lines = {line for kind, line in wanted if kind == "other"}
    wanted = {(kind, line) for kind, line in wanted if kind != "other"}
    missing = (wanted - ended) | {("any", line) for line in lines - {line for _, line in ended}}
    extra = {(kind, line) for kind, line in ended - wanted if line not in lines}
    return f"breaks {sorted(ended)} for {sorted(wanted)}" if missing or extra else None


def disagreement(binary, device, names, settings, case):
    """Where a run of `case` on `device` in the modes of `names` parts from what was recorded, or None."""
    modes, why = run(binary, case, modes=names, device=device, **settings)
    if why:
        return why
    printed = case.get("stdout") or [""] * len(case["inputs"])
    for mode in names:
        calls = modes[mode]["calls"]
        if len(calls) != len(case["inputs"]):
            return f"{mode}: {len(calls)} calls for {len(case['inputs'])}"
        new = [call["new_graphs"] for call in calls]
        like = "static" if mode == "graphs" else mode
        wanted = case[like]["new_graphs"] if like in case else [0] * len(calls)
        recorded = like in case or mode == "eager"
        if recorded and new != wanted:
            return f"{mode}: new graphs {new} for {wanted}"
        for i, call in enumerate(calls):
            if call["stdout"] != printed[i]:
                return f"{mode}, call {i}: printed {call['stdout']!r} for {printed[i]!r}"
            found = differs(call["output"], case["outputs"][i], f"{mode}, call {i}")
            for k, after in enumerate(case.get("inputs_after", case["inputs"])[i]):
                found = found or differs(call["inputs_after"][k], after, f"{mode}, call {i}, input {k} afterwards")
            grads = case.get("grads", [])
            for k, grad in enumerate(grads[i] if grads and isinstance(grads[0], list) else grads):
                ours = call["grads"][k]
                found = found or (differs(ours, grad, f"{mode}, call {i}, gradient {k}") if grad else None if ours is None else f"{mode}: gradient {k}")
            if found:
                return found
    if "auto" in case and "auto" in names and "breaks" in case:
        why = breaks_differ(modes["auto"]["breaks"], case["breaks"])
        if why:
            return why
    # Which ops a graph holds is a claim of its own, beside how many graphs there are.
    if "graphs" in case.get("static", {}) and not case.get("breaks") and "static" in names:
        ops = [graph["ops"] for graph in modes["static"]["graphs"]]
        wanted = [graph["ops"] for graph in case["static"]["graphs"]]
        if ops != wanted:
            return f"static: ops {ops} for {wanted}"[:200]
    return None


def mark_mixed(value):
    """A float32 that bfloat16 was computed on the way to is no more exact than that."""
    if isinstance(value, list):
        for v in value:
            mark_mixed(v)
    elif isinstance(value, dict):
        if value.get("dtype") == "float32":
            value["mixed"] = True
        for v in value.values():
            mark_mixed(v)


def recorded_cases():
    cases = []
    for name in FILES:
        with open(os.path.join(HERE, name)) as file:
            cases += json.load(file)["cases"]
    for case in cases:
        if case.get("group", "").startswith("autocast"):
            mark_mixed(case["outputs"])
    return cases


def options():
    parser = argparse.ArgumentParser(description="Do programs do what PyTorch did?")
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--poison", action="store_true")
    return parser.parse_args()


def main():
    cases = part.part(recorded_cases())
    asked = options()
    with open(os.path.join(HERE, "not_covered.txt")) as file:
        listed = {line.split("#")[0].strip() for line in file} - {""}
    faults = [f"{name} is listed in not_covered.txt but is no case" for name in sorted(listed - {c["name"] for c in recorded_cases()})]
    listed &= {c["name"] for c in cases}
    ask = functools.partial(disagreement, asked.binary, asked.device, asked.modes.split(","), {"poison": True} if asked.poison else {})
    with ThreadPoolExecutor(asked.jobs) as pool:
        found = list(pool.map(ask, cases))
    whole = set(MODES) <= set(asked.modes.split(","))
    for case, why in zip(cases, found):
        if why and case["name"] not in listed:
            faults.append(f"{case['name']}: {why}")
        elif why is None and case["name"] in listed and whole:
            faults.append(f"{case['name']} agrees now: remove it from tests/oracle/not_covered.txt")
    for fault in faults:
        print(fault)
    for name in sorted(listed):
        print(f"skipped: {name} (not covered yet)")
    print(f"{len(cases) - len(listed) - len(faults)} passed, {len(faults)} failed, {len(listed)} skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
