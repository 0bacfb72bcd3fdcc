"""tests/models/run.py BINARY [NAME...] [--all] -- models in the style in which they are published.

Each file of web/models, and each workload of tests/workloads, runs in every mode, natively on the
interpreter and under dynamo on backend cpu (--all: both policies on both), twice over; natively memory is watched (run --poison):
outputs, gradients and printed text must be those of eager on the interpreter.  recorded.json holds what PyTorch 2.11 gave for the
files (record.py wrote it).  Needs nothing but Python 3.
"""
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ["eager", "lazy", "static", "dynamic", "auto", "graphs"]
WAYS = [("interp", "native"), ("cpu", "dynamo"), ("interp", "dynamo"), ("cpu", "native")]
TIMEOUT_S = 1800  # nothing takes that long, however busy the machine: it hangs
ABSOLUTE, RELATIVE = 2e-5, 2e-4
LOW = 3e-2  # both, where values were rounded to bfloat16


def model_files():
    return sorted(glob.glob(os.path.join(HERE, "..", "..", "web", "models", "*.py")))


def workload_of(path):
    """A model as a workload; the comments at its top say its inputs, as in profiler/workload/python_input.c."""
    source = open(path, encoding="utf-8").read()
    call = []
    for dtype, shape, below in re.findall(r"^# input: \w+=(\w+)(\[[\d,]*\])(?:<(\d+))?$", source, re.M):
        spec = {"shape": json.loads(shape), "dtype": dtype, "kind": "randn", "seed": len(call)}
        if below:
            spec.update(kind="randint", low=0, high=int(below))
        call.append({"random": spec})
    return {"name": os.path.basename(path)[:-3], "source": source, "calls": [call, call]}


def cases():
    for path in model_files():
        yield workload_of(path)
    for path in sorted(glob.glob(os.path.join(HERE, "..", "workloads", "6*.json"))):
        with open(path, encoding="utf-8") as file:
            w = json.load(file)
        yield {**w, "calls": w["calls"] * 2}


def run(binary, workload):
    workload = {**workload, "poison": workload["policy"] == "native"}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run(
            [binary, "run", file.name, "--json", "--no-timing"],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[:600])
    return json.loads(done.stdout)["modes"]


def differs(got, want, tolerance, path="result"):
    """Where the values part, or None."""
    if isinstance(want, dict) and isinstance(got, dict):
        if got.keys() != want.keys():
            return f"{path}: {sorted(got)} for {sorted(want)}"
        for key in want:
            found = differs(got[key], want[key], tolerance, f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"{path}: {len(got)} items for {len(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            found = differs(g, w, tolerance, f"{path}[{i}]")
            if found:
                return found
        return None
    if type(want) is float and isinstance(got, (int, float)) and math.isfinite(want):
        near = abs(got - want) <= tolerance[0] + tolerance[1] * abs(want)
        return None if near else f"{path}: {got} for {want}"
    return None if got == want else f"{path}: {got} for {want}"


def results(mode):
    return [{k: call.get(k) for k in ("output", "stdout")} for call in mode["calls"]]


def check(binary, workload, recorded, ways):
    """What is wrong, one text for each."""
    tolerance = (LOW, LOW) if workload.get("autocast") else (ABSOLUTE, RELATIVE)
    wrong = []
    wanted = None
    for backend, policy in ways:
        where = f"{workload['name']} on {backend}, {policy}"
        try:
            modes = run(binary, {**workload, "backend": backend, "policy": policy, "modes": MODES})
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return wrong + [f"{where}: {error}"]
        wanted = wanted or results(modes["eager"])
        for mode in MODES:
            found = differs(results(modes[mode]), wanted, tolerance)
            if found:
                wrong.append(f"{where}, {mode}: {found}")
    if workload["name"] in recorded and "title" not in workload:
        theirs = recorded[workload["name"]]
        found = differs([call["output"] for call in wanted], theirs, (ABSOLUTE, 10 * RELATIVE))
        if found:
            wrong.append(f"{workload['name']}, PyTorch's values: {found}")
    return wrong


def main():
    binary, names = sys.argv[1], [a for a in sys.argv[2:] if a != "--all"]
    ways = WAYS if "--all" in sys.argv else WAYS[:2]
    path = os.path.join(HERE, "recorded.json")
    recorded = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    passed = failed = 0
    for workload in cases():
        if names and workload["name"] not in names:
            continue
        wrong = check(binary, workload, recorded, ways)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong:
            print(text)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
