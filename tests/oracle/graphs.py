"""tests/oracle/graphs.py BINARY [--every N [--first K]] -- are replayed launches worth what eager's are?

Every recorded program makes its calls three times over in eager and in mode
graphs, under both policies: all outputs, effects on inputs, gradients and
printed text must agree, those of the first round as well when the last one has
run.  Says how many launches were replayed and fails where a graph could not be
recorded.  Needs nothing but Python 3.
"""
import json
import subprocess
import sys
import tempfile

import replay
from part import part

ROUNDS = 3
BOUNDED = 36  # calls: more are the same again


def report(binary, case, policy):
    workload = {"name": case["name"], "source": case["source"], "calls": (case["inputs"] * ROUNDS)[:BOUNDED], "modes": ["eager", "graphs"], "policy": policy, "grad": bool(case.get("grad")), "autocast": case.get("autocast"), "backend": "interp", "poison": policy == "native"}
    if "params" in case:
        workload["params"] = case["params"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json", "--no-timing"], capture_output=True, text=True, timeout=replay.TIMEOUT_S)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{case['name']}: exit {done.returncode}, which is a crash\n{done.stderr[-3000:]}")
    if "memory outside of a buffer" in done.stderr:
        raise SystemExit(f"{case['name']}: {done.stderr}")
    return json.loads(done.stdout)["modes"] if done.returncode == 0 else None


def call_differs(ours, eager, path):
    if ours["stdout"] != eager["stdout"]:
        return f"{path}: printed {ours['stdout']!r} for {eager['stdout']!r}"
    found = replay.differs(ours["output"], eager["output"], path)
    for k, after in enumerate(eager["inputs_after"]):
        found = found or replay.differs(ours["inputs_after"][k], after, f"{path}, input {k} afterwards")
    for k, grad in enumerate(eager["grads"] or []):
        if grad:
            found = found or replay.differs(ours["grads"][k] or {}, grad, f"{path}, gradient {k}")
    for name, grad in (eager["param_grads"] or {}).items():
        if grad:
            found = found or replay.differs(ours["param_grads"][name] or {}, grad, f"{path}, gradient of {name}")
    return found


def recordings(mode):
    for graph in mode["graphs"]:
        for part in ("recording", "backward_recording"):
            if graph.get(part):
                yield graph, graph[part]


def asks_for_symbols(case, recording):
    """A graph that the program itself wants for many sizes has none to be recorded."""
    return "mark_dynamic(" in case["source"] and "it was compiled for many" in recording["why_not"]


def main():
    cases = part(replay.recorded_cases())
    binary = sys.argv[1] if len(sys.argv) > 1 else "build/breakeven"
    faults, programs, graphs, replays = [], 0, 0, 0
    for case in cases:
        for policy in ("dynamo", "native"):
            modes = report(binary, case, policy)
            if not modes:
                continue  # it fails in eager too: replay.py tells of it
            programs += 1
            if case.get("group", "").startswith("autocast"):
                replay.mark_mixed(modes["eager"])
            pairs = zip(modes["graphs"]["calls"], modes["eager"]["calls"])
            found = next(filter(None, (call_differs(ours, eager, f"{policy}, call {i}") for i, (ours, eager) in enumerate(pairs))), None)
            if found:
                faults.append(f"{case['name']}: {found}")
            for graph, recording in recordings(modes["graphs"]):
                graphs += recording["made"]
                replays += recording["replays"]
                if recording["refused"] and not asks_for_symbols(case, recording):
                    faults.append(f"{case['name']}, {policy}: graph {graph['id']} is not recorded: {recording['why_not']}")
    for fault in faults:
        print(fault)
    print(f"{programs} runs of programs, {graphs} recordings, {replays} replays, {len(faults)} faults")
    sys.exit(1 if faults or replays <= graphs else 0)


if __name__ == "__main__":
    main()
