"""tests/oracle/passes.py BINARY [--every N [--first K]] -- are values the same whatever passes are left out?

Runs every program of replay.py with a subset of the passes that may be switched off, in
one compiled mode, on the interpreter or (one in EMITTED) in generated C, all drawn from
its name: outputs, effects on inputs and printed text are those of eager.  One draw a
program, and few compilers: 20 s of one core for 647 programs (2026-11-21).
"""
import json
import random
import subprocess
import sys

import native
import replay
from part import part


EMITTED = 8
COMPILED = ["static", "dynamic", "auto", "lazy"]


def main():
    cases = part(replay.recorded_cases())
    binary = sys.argv[1] if len(sys.argv) > 1 else "build/breakeven"
    listed = json.loads(subprocess.run([binary, "passes", "--json"], capture_output=True, text=True, check=True).stdout)
    names = [p["name"] for p in listed["passes"] if not p["required"]]
    passed, faults = 0, []
    for case in cases:
        draw = random.Random(case["name"])
        off = [name for name in names if draw.random() < 0.5] or [draw.choice(names)]
        settings = {"modes": ["eager", draw.choice(COMPILED)], "backend": "interp" if draw.randrange(EMITTED) else "cpu"}
        modes, why = replay.run(binary, case, passes={name: False for name in off}, **settings)
        if why:
            continue  # replay.py knows which programs do not run
        found = native.leaves_eager(modes)
        if found:
            faults.append(f"{case['name']} on {settings['backend']} without {', '.join(off)}: {found}")
        else:
            passed += 1
    for fault in faults:
        print(fault)
    print(f"{passed} passed, {len(faults)} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
