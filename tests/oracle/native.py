"""tests/oracle/native.py BINARY [--every N [--first K]] [-v] -- does policy native break less than dynamo, and compute the same?

Runs the programs of replay.py under both policies, on the two CPU backends by turns.  In every mode native has at
most as many breaks as dynamo, by records and by places, and none where the
program only branches on tensors (apart from NOT_EAGER and NOT_FOLLOWED); outputs, effects on inputs and printed text are
those of eager.  Prints the totals.  --every N: each N-th program alone, from the K-th on.  -v: the programs that still have breaks.
"""
import argparse
import json
import sys

import replay
from part import part

# Where what dynamo computes without a break is something else than eager gives.
NOT_EAGER = {"extremes_of_tensors": "max(tensor, 0) gives one of the two: dynamo's clamp is a tensor, whichever it is"}
NUMPY = "a number of an array is one of NumPy, which isinstance() sees: dynamo keeps an array, and says otherwise than eager"
# Where native may break more than dynamo does.
BREAKS_MORE = {
    "manager_that_times": "entering the with block ends the graph: dynamo runs the whole frame in eager, which counts as one break",
    "number_of_an_array": NUMPY,
    "quantiles_of_arrays": NUMPY,
    "statistics_of_an_array": NUMPY,
}
# Branches on tensors that native does not follow; a program that it follows shall not be listed.
NOT_FOLLOWED = {
    "break_call": "the branch says how long a list becomes",
    "nested_for_break": "the branch leaves a loop within a loop",
    "search_return": "the branch says which of several numbers a function returns",
}
COMPILED = [mode for mode in replay.MODES if mode != "eager"]


def captured(modes, mode):
    return [b for b in modes[mode]["breaks"] if b["stage"] == "capture"]


def places(breaks):
    return {(b["kind"], tuple((at["function"], at["line"]) for at in b["stack"]), b["column"]) for b in breaks}


def leaves_eager(modes):
    """Where a mode computes, writes or prints something else; None where none does."""
    for mode in [mode for mode in modes if mode != "eager"]:
        for i, (ours, eager) in enumerate(zip(modes[mode]["calls"], modes["eager"]["calls"])):
            if ours["stdout"] != eager["stdout"]:
                return f"{mode}, call {i}: printed {ours['stdout']!r} for {eager['stdout']!r}"
            pairs = [("", ours["output"], eager["output"])]
            pairs += [(f", input {k} afterwards", a, b) for k, (a, b) in enumerate(zip(ours["inputs_after"], eager["inputs_after"]))]
            for name, a, b in pairs:
                found = replay.differs(a, b, f"{mode}, call {i}{name}")
                if found:
                    return found
    return None


def only_branches(dynamo):
    kinds = {b["kind"] for mode in COMPILED for b in captured(dynamo, mode)}
    return kinds == {"data-dependent-branch"}


def breaks_more(name, native, dynamo):
    if name in NOT_FOLLOWED and not any(captured(native, mode) for mode in COMPILED):
        yield "has no break any more, and is listed in NOT_FOLLOWED"
    for mode in COMPILED:
        ours, theirs = captured(native, mode), captured(dynamo, mode)
        if len(ours) > len(theirs) or len(places(ours)) > len(places(theirs)):
            yield f"{mode}: {len(ours)} breaks at {len(places(ours))} places, dynamo has {len(theirs)} at {len(places(theirs))}: " + json.dumps(sorted(map(str, places(ours))))
        elif ours and only_branches(dynamo) and name not in NOT_FOLLOWED:
            yield f"{mode}: only branches on tensors, and breaks: {sorted(map(str, places(ours)))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("-v", action="store_true", dest="places")
    cases = part(replay.recorded_cases())
    asked = parser.parse_args()
    binary = asked.binary
    count = {mode: [0, 0] for mode in COMPILED}
    faults = programs = 0
    for i, case in enumerate(cases):
        backend = ("interp", "cpu")[i % 2]
        native, why = replay.run(binary, case, "native", backend=backend)
        dynamo, not_run = replay.run(binary, case, backend=backend)
        if why or not_run:
            if bool(why) != bool(not_run):
                faults += 1
                print(f"{case['name']}: runs under one policy only: {why or not_run}")
            continue
        programs += 1
        found = leaves_eager(native)
        for why in [found] if found else [] if case["name"] in NOT_EAGER or case["name"] in BREAKS_MORE else breaks_more(case["name"], native, dynamo):
            faults += 1
            print(f"{case['name']}: {why}")
        for mode in COMPILED:
            count[mode][0] += len(captured(native, mode))
            count[mode][1] += len(captured(dynamo, mode))
        if asked.places and captured(native, "static"):
            print(f"{case['name']}: {sorted(map(str, places(captured(native, 'static'))))}")
    totals = ", ".join(f"{mode} {native} native, {dynamo} dynamo" for mode, (native, dynamo) in count.items())
    print(f"{programs} programs; breaks: {totals}; {faults} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
