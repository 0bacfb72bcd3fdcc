"""tests/differential/language/run.py BINARY [--seconds N] [--seed S] [--programs N] -- does the language do what CPython does?

Makes random programs (grammar.py) of the whole language and runs them with BINARY and
with the Python that runs this script: what they print, the types and messages of their
errors too, must be equal, in eager and in a compiled mode under both policies.  Those
that differ are shrunk to a few lines and printed.  A program that is refused, for it
uses what the language leaves out, is counted as such.  known.py has what differed once.

  --seconds N   how long to make programs (60; with --programs: until they are made)
  --programs N  how many at most
  --seed S      the first program's seed (1)
  --jobs N      processes of BINARY at a time (1)
  --show S      prints the program of a seed, runs nothing
  --refused     prints what was refused, how often
"""
import argparse

import collections
import contextlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(HERE, "stand_in"))

import grammar  # noqa: E402
import known  # noqa: E402

BATCH = 40
LOOKED_AT = 800
warnings.simplefilter("ignore", SyntaxWarning)
sys.unraisablehook = lambda _: None  # what a generator raises that a program drops
POLICIES = ["dynamo", "native"]

def function_of(number, statements):
    body = ["    " + line for line in grammar.lines_of(statements)]
    return [f"def program_{number}():"] + (body or ["    pass"])

def source_of(programs):
    """One source that runs programs {number: statements}, each after a line with its number."""
    lines = grammar.HEAD.rstrip("\n").split("\n")
    places = {}
    for number, statements in programs.items():
        begin = len(lines) + 1
        lines += function_of(number, statements)
        for i in range(begin, len(lines) + 1):
            places[i] = number
    lines += ["def model(x):", "    y = x + 1", f"    for f in [{', '.join(f'program_{n}' for n in programs)}]:", "        print('\\n#', f.__name__)", "        random.seed(0)", "        try:", "            f()",
              "        except Exception as e:", "            print('ended by', type(e).__name__, e)", "    return y"]
    return "\n".join(lines) + "\n", places

def parts(text):
    """What each program printed, by number."""
    found = {}
    for block in re.split(r"\n# program_", text)[1:]:
        number, _, rest = block.partition("\n")
        found[int(number)] = rest
    return found

class TooLong(BaseException):
    pass

def too_long(*_):
    raise TooLong

def cpython(programs):
    """What CPython prints for each; None where it refuses the source or takes too long."""
    found = {}
    for number, statements in programs.items():
        source, _ = source_of({number: statements})
        out = io.StringIO()
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, 2)
        try:
            space = {"__name__": "__main__"}
            with contextlib.redirect_stdout(out):
                exec(compile(source, "model.py", "exec", dont_inherit=True), space)
                space["model"](0)
            found[number] = parts(out.getvalue())[number]
        except (SyntaxError, TooLong, RecursionError, MemoryError):
            found[number] = None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found

class Ours:
    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder

    def run(self, programs, policy, modes="eager,auto"):
        """({number: {mode: text}}, {number: (code, message)}) -- what each printed; what stopped one."""
        left, stopped = dict(programs), {}
        while left:
            source, places = source_of(left)
            handle, path = tempfile.mkstemp(".json", dir=self.folder)
            workload = {"name": "language", "source": source, "modes": modes.split(","), "policy": policy, "calls": [[{"tensor": {"shape": [1], "dtype": "float32", "data": [0]}}]]}
            with os.fdopen(handle, "w") as out:
                json.dump(workload, out)
            try:
                done = subprocess.run([self.binary, "run", path, "--no-timing", "--json"], capture_output=True, text=True, timeout=600)
            except subprocess.TimeoutExpired:
                if len(left) == 1:
                    stopped[next(iter(left))] = ("hang", "runs for more than 600 s")
                    return {}, stopped
                return self.halves(left, policy, modes, stopped)
            finally:
                os.unlink(path)
            if done.stdout.startswith("{"):  # exit 1 with a report: modes disagree
                report = json.loads(done.stdout)
                texts = {m: parts(v["calls"][0].get("stdout") or "") for m, v in report["modes"].items()}
                return {n: {m: texts[m].get(n) for m in texts} for n in left}, stopped
            place = re.search(r":(\d+):\d+: (.*)", done.stderr)
            number = places.get(int(place.group(1))) if place else None
            if number is None or number not in left:
                if len(left) == 1:
                    stopped[next(iter(left))] = ("stopped", (done.stderr.strip() or f"exit {done.returncode}")[:300])
                    return {}, stopped
                return self.halves(left, policy, modes, stopped)
            stopped[number] = ("stopped", place.group(2))
            del left[number]
        return {}, stopped

    def halves(self, programs, policy, modes, stopped):
        items = list(programs.items())
        found = {}
        for half in (items[:len(items) // 2], items[len(items) // 2:]):
            a, b = self.run(dict(half), policy, modes)
            found.update(a)
            stopped.update(b)
        return found, stopped

# What a message says where the language leaves something out: these are refusals.
OUTSIDE = [re.compile(p) for p in known.REFUSALS]

def is_refusal(message):
    return any(p.search(message) for p in OUTSIDE)

def same(ours, theirs):
    return ours is not None and known.normal(ours) == known.normal(theirs)

def verdict(number, wanted, printed, stopped):
    """'passed', 'refused', 'left out' or what differs."""
    if wanted is None or " at 0x" in wanted:
        return "left out"
    if number in stopped:
        return "refused" if is_refusal(stopped[number][1]) else f"stops: {stopped[number][1]}"
    for mode, text in printed[number].items():
        if not same(text, wanted) and is_refusal(text or ""):
            return "refused"
        if not same(text, wanted):
            return f"{mode}: {first_difference(text or '', wanted)}"
    return "passed"

def first_difference(ours, theirs):
    a, b = known.normal(ours).split("\n"), known.normal(theirs).split("\n")
    for i in range(max(len(a), len(b))):
        x, y = a[i] if i < len(a) else "(nothing)", b[i] if i < len(b) else "(nothing)"
        if x != y:
            return f"prints {x!r}, CPython {y!r}"
    return "the same"

def shrink(ours, statements, policy, fails):
    """Fewer statements, then fewer lines, that still fail; what does not compile does not."""
    def reduced(items, wrap):
        size = max(1, len(items) // 2)
        while size:
            i, cut = 0, False
            while i < len(items):
                less = items[:i] + items[i + size:]
                if less and fails(wrap(less)):
                    items, cut = less, True
                else:
                    i += size
            size = size if cut and size > 1 else size // 2
        return items

    statements = reduced(statements, lambda s: s)
    lines = grammar.lines_of(statements)
    return [[line] for line in reduced(lines, lambda ls: [[line] for line in ls])]

def kind_of(what):
    """What stays the same while a failure is shrunk."""
    if what.startswith("stops"):
        return re.sub(r"[0-9]+|'[^']*'", "N", what)
    return what.split(":")[0] + " ".join(re.findall(r"\w+Error|Stop\w+", what))

def failing(ours, policy, what):
    def fails(statements):
        programs = {0: statements}
        wanted = cpython(programs)
        if wanted[0] is None:
            return False
        printed, stopped = ours.run(programs, policy)
        return kind_of(verdict(0, wanted[0], printed, stopped)) == kind_of(what)
    return fails

def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("binary", nargs="?", default="build/breakeven")
    a.add_argument("--seconds", type=float)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--programs", type=int)
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--show", type=int)
    a.add_argument("--refused", action="store_true")
    a.add_argument("--failures", type=int, default=10, help="how many are shrunk and printed at most")
    a = a.parse_args()
    if a.seconds is None:
        a.seconds = 60 if a.programs is None else float("inf")
    if a.programs is None:
        a.programs = 10 ** 9
    if a.show is not None:
        print("\n".join(function_of(a.show, grammar.program(a.show))))
        return 0
    counts, refused, failures = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(a.binary, folder)
        check_known(ours, counts, failures)
        began, seed = time.monotonic(), a.seed

        def batch(first):
            n = min(BATCH, a.seed + a.programs - first)
            programs = {s: grammar.program(s) for s in range(first, first + n)}
            policy = POLICIES[first // BATCH % 2]
            return programs, policy, ours.run(programs, policy)

        with ThreadPoolExecutor(a.jobs) as pool:
            while time.monotonic() - began < a.seconds and seed < a.seed + a.programs:
                firsts = [f for f in range(seed, seed + BATCH * a.jobs, BATCH) if f < a.seed + a.programs]
                seed += BATCH * a.jobs
                for programs, policy, (printed, stopped) in pool.map(batch, firsts):
                    wanted = cpython(programs)
                    for number in programs:
                        v = verdict(number, wanted[number], printed, stopped)
                        counts[v if v in ("passed", "refused", "left out") else "failed"] += 1
                        if v == "refused":
                            refused[re.sub(r"[0-9]+", "N", stopped.get(number, ("", "told by an exception"))[1])[:110]] += 1
                        elif v not in ("passed", "left out"):
                            failures.append((number, policy, v, programs[number]))
        tell(ours, failures, a.failures)
    missing = lacks()
    for pattern in missing:
        print(f"--- no program of the first {LOOKED_AT} has {pattern}, which broke before: the grammar has lost it")
    counts["failed"] += len(missing)
    if a.refused:
        for message, n in refused.most_common(40):
            print(f"{n:6} {message}")
    print(f"{sum(counts.values())} programs, {counts['passed']} passed, {counts['failed']} failed, {counts['refused']} refused "
          f"({100 * counts['refused'] / max(1, sum(counts.values())):.1f} %), {counts['left out']} left out (CPython refuses them or prints addresses)")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0

def lacks():
    made = "\n".join("\n".join(grammar.lines_of(grammar.program(s))) for s in range(1, 1 + LOOKED_AT))
    return [p for p in known.CONSTRUCTS if not re.search(p, made)]


def check_known(ours, counts, failures):
    """What differed once: each is a program of its own."""
    programs = {n: [[line] for line in text.rstrip("\n").split("\n")] for n, text in enumerate(known.PROGRAMS)}
    wanted = cpython(programs)
    for policy in POLICIES:
        printed, stopped = ours.run(programs, policy)
        for n in programs:
            v = verdict(n, wanted[n], printed, stopped)
            counts["passed" if v == "passed" else "failed"] += 1
            if v != "passed":
                failures.append((f"known {n}", policy, v, programs[n]))

def tell(ours, failures, most):
    for number, policy, what, statements in failures[:most]:
        small = shrink(ours, statements, policy, failing(ours, policy, what))
        wanted = cpython({0: small})
        printed, stopped = ours.run({0: small}, policy)
        print(f"--- program {number}, policy {policy}: {verdict(0, wanted[0], printed, stopped)} (at first: {what})")
        print("\n".join(line for s in small for line in s))
    if len(failures) > most:
        print(f"--- and {len(failures) - most} more")

if __name__ == "__main__":
    sys.exit(main())
