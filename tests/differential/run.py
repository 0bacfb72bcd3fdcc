"""tests/differential/run.py BINARY [--seconds N | --programs N] [--seed S] ... -- does every mode do what eager does?

Makes random programs (generate.py; each fifth is a recorded program, changed: mutate.py) and calls each several times in one process, with sizes,
dtypes, attributes and None changing between the calls.  Every mode, under both policies and
on both backends of the device, must give eager's outputs, gradients, effects on inputs,
printed text and errors on every call.  --torch PYTHON: eager itself must give PyTorch's.
A failure is shrunk to a few lines; --keep FOLDER writes it there.  Programs in found/ (each
one showed a fault once) run first.  Needs nothing but Python 3.
"""
import argparse
import collections
import concurrent.futures
import functools
import glob
import json
import os
import random
import re
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "ops"))
import compare  # noqa: E402
import differences  # noqa: E402
import generate  # noqa: E402
import mutate  # noqa: E402
import shrink  # noqa: E402
from engine import MODES, Crash, Endless, Engine, Torch, kind_of_error  # noqa: E402

COMPILED = [m for m in MODES if m != "eager"]


def plan_of(seed, device, plugin=None):
    """The settings that a program runs under: (settings, modes, timed) each; drawn by its seed.

    `plugin`: the file of one whose backend computes ten ops of float32 and leaves the rest.
    """
    rng = random.Random(seed * 7 + 1)
    best, other = ("cuda", "cuda") if device.startswith("cuda") else ("interp", "cpu")
    plans = [({"backend": best, "policy": "dynamo"}, COMPILED, False), ({"backend": best, "policy": "native"}, COMPILED, False)]
    if best != other and rng.random() < 0.15:
        plans.append(({"backend": other, "policy": rng.choice(["dynamo", "native"])}, rng.sample(COMPILED, 2), False))
    if device == "cpu" and plugin and rng.random() < 0.06:
        plans.append(({"backend": "loops", "policy": rng.choice(["dynamo", "native"]), "plugin": plugin}, rng.sample(COMPILED, 2), False))
    if rng.random() < 0.03:
        plans.append(({"backend": best, "policy": rng.choice(["dynamo", "native"]), "timed": True}, rng.sample(COMPILED, 2), True))
    return plans


class Tester:
    def __init__(self, args):
        self.args = args
        self.engine = Engine(args.binary, args.device, args.flags.split())
        plugin = os.path.join(os.path.dirname(args.binary), "tests", "plugins", "loops.so")
        self.plugin = plugin if os.path.exists(plugin) else None
        self.count = collections.Counter()
        self.refusals, self.kinds = collections.Counter(), collections.Counter()
        self.rows, self.rows_with_gradient = set(), set()
        self.findings, self.signatures = [], set()
        self.lock, self.local = threading.Lock(), threading.local()

    def torch(self):
        if not hasattr(self.local, "torch"):
            self.local.torch = Torch(self.args.torch.split(), self.args.device)
        return self.local.torch

    # One program.
    def fault(self, workload, settings, modes, timed):
        """What is wrong with it under these settings: (signature, text), or None."""
        settings = {k: v for k, v in settings.items() if k != "timed"}
        if timed:
            settings["time"] = None
            settings.pop("time")
        try:
            made = self.engine.each(workload, ["eager"] + modes, **settings)
            if timed and made["eager"][0]:
                whole, _ = self.engine.run(workload, ["eager"] + modes, timed=True, **settings)
                for mode in modes if whole else []:
                    if whole[mode].get("agrees") is False:
                        return f"timed {mode}", f"{mode}, timed: {whole[mode].get('disagreement')}"
        except Crash as crash:
            return "crash", str(crash)
        except Endless:
            return None
        eager, error = made["eager"]
        for mode in modes:
            part, why = made[mode]
            broader = mode == "lazy" or settings.get("policy") == "native"  # graphs hold more than PyTorch's
            if part:
                self.kinds.update(self.kinds_of(part))
            if error or why:
                allowed = error and differences.allowed_run(error, mode)
                if allowed and (why or broader or allowed.get("any graph") or self.torch_runs(workload)):  # to another error, or to its end
                    self.count["runs that PyTorch's compiled mode does too"] += 1
                    continue
                if error and not why:
                    return f"{mode} runs on: {self.words(error)}", f"{mode} runs on where eager fails: {error.splitlines()[0]}"
                if why and not error and mode != "lazy" and differences.allowed_error(why, workload["source"]) and (broader or self.torch_refuses(workload)):
                    self.count["errors that PyTorch's compiled mode has too"] += 1
                    continue
                if why and not error:
                    return f"{mode} fails: {self.words(why)}", f"{mode} fails where eager runs: {why}"
                if kind_of_error(error) != kind_of_error(why) and settings.get("policy") == "native" and differences.fails_ahead(why):
                    self.count["errors of a graph before the program's own"] += 1
                    continue
                if kind_of_error(error) != kind_of_error(why):
                    return f"{mode} error", f"{mode} fails otherwise: {why.splitlines()[0]} for {error.splitlines()[0]}"
                continue
            found = compare.calls(part["calls"], eager["calls"], compare.slack_of(workload, self.args.loose))
            if found and mode != "lazy" and self.torch_gives(workload, differences.allowed_value(found, workload["source"]), broader):
                self.count["values that PyTorch's compiled mode gives too"] += 1
                continue
            if found:
                return f"{mode} {self.kind_of_difference(found)}", f"{mode}: {found}"
        return None

    def torch_refuses(self, workload):
        """Whether PyTorch's compiled mode fails too; taken for granted where there is no PyTorch."""
        return not self.args.torch or self.torch().run(workload, compiled=True)[1] is not None

    def torch_runs(self, workload):
        """Whether PyTorch's compiled mode runs; as above."""
        return not self.args.torch or self.torch().run(workload, compiled=True)[1] is None

    def torch_gives(self, workload, what, broader):
        """Whether PyTorch's compiled mode gives that number or dtype somewhere; as above."""
        if what is None or broader or not self.args.torch:
            return what is not None
        calls, _ = self.torch().run(workload, compiled=True)
        shows = r'"data": \[-?0[.0]*[,\]]' if what == "zeros" else rf"\b{what}\b"
        return re.search(shows, json.dumps(calls), re.IGNORECASE) is not None

    def kinds_of(self, part):
        """The kinds of its breaks, of why those were not resumed, and of what made a lazy trace run."""
        messages = messages_of_breaks()
        yield from (b["kind"] for b in part["breaks"])
        yield from (messages[b["because"]["message"]] for b in part["breaks"] if b["because"])
        if any("end of the call" in r["cause"] for r in part.get("lazy", {}).get("runs", ())):
            yield "step-end"

    @staticmethod
    def words(error):
        """What an error says, without its place."""
        return error.split("\n")[0].split(": ", 1)[-1][:40]

    @staticmethod
    def kind_of_difference(found):
        """'grads: nothing for something' of 'call 0: grads[0]: nothing for something'."""
        part = re.sub(r"^call \d+: ", "", found)
        part = re.sub(r"[\[.][^:]*:", ":", part, 1)
        what = part.split(": ", 1)[-1]
        return part.split(":")[0].split(" ")[0] + (" " + what.split(" ")[0] if what.split(" ")[0] in ("nothing", "something", "shape", "dtype") else "")

    def steady(self, workload, settings):
        """Whether eager's values hold when its inputs move by a rounding, to the narrowest dtype there is: else modes may part."""
        base, error = self.engine.run(workload, ["eager"], **{k: v for k, v in settings.items() if k != "timed"})
        if error:
            return True
        least = max((compare.STEP[d] for d in compare.rounded_to(workload)), default=0.0)
        slack = compare.slack_of(workload, self.args.loose) if least > compare.STEP["float32"] else self.args.loose
        for turn in range(3):
            moved = json.loads(json.dumps(workload))
            rng = random.Random(turn)
            for call in moved["calls"]:
                for v in call:
                    t = v.get("tensor")
                    if t and t["dtype"].startswith(("float", "bfloat")):
                        step = max(compare.STEP[t["dtype"]], least) if t["dtype"] in ("float32", "float64") else 0
                        t["data"] = [x * (1 + rng.uniform(-step, step)) if isinstance(x, float) else x for x in t["data"]]
            other, error = self.engine.run(moved, ["eager"], **{k: v for k, v in settings.items() if k != "timed"})
            if error or compare.calls([dict(c, inputs_after=None) for c in other["eager"]["calls"]], [dict(c, inputs_after=None) for c in base["eager"]["calls"]], slack):
                return False
        return True

    def judge(self, name, workload, under=None):
        """All settings of one program; `under`: those that it showed its fault with."""
        seed = int(name.split()[-1]) if name.startswith("seed") else 0
        plans = plan_of(seed, self.args.device, self.plugin)
        if under and self.args.device == "cpu":
            plans.append((under, COMPILED, bool(under.get("timed"))))
        if self.args.poison and plans:
            plans[0][0]["poison"] = True
        first, error = self.engine.run(workload, ["eager"], backend=plans[0][0]["backend"])
        if error:
            self.refusals[error.split("\n")[0].split(": ", 1)[-1][:90]] += 1
        self.count["errors"] += bool(error)
        if first:
            text = workload["source"]
            self.count["grad"] += bool(workload.get("grad")) or "backward()" in text
        for settings, modes, timed in plans:
            found = self.fault(workload, settings, modes, timed)
            self.count["runs"] += len(modes)
            if found:
                self.report(name, workload, settings, modes, timed, found)
                return
        if self.args.torch and (self.args.device != "cpu" or seed % self.args.torch_every == 0):
            self.against_torch(name, workload, first, error)

    def against_torch(self, name, workload, ours, error):
        calls, why = self.torch().run(workload)
        if differences.missing_kernel(self.args.device, why):
            self.count["kernels that PyTorch does not have on the device"] += 1
            return
        if why and "device-side assert" in why:  # an index out of bounds; no try catches it there
            self.count["asserts of PyTorch's kernels"] += 1
            return
        self.count["beside torch"] += 1
        found = self.torch_fault(workload, ours, error, calls, why)
        if not found:
            return
        if differences.of_language(workload["source"], found[1]):
            self.count["differences of the language"] += 1
            return
        if found[0] == "values" and not workload.get("autocast") and not self.torch_fault(workload, ours, error, *self.torch().run(dict(workload, rows=True))):
            self.count["differences of layout"] += 1
            return
        if found[0] == "values" and ours and self.is_rounding(workload, ours["eager"]["calls"], calls):
            self.count["roundings, by float64"] += 1
            return
        if found[0] == "values" and not self.steady(workload, {}):
            self.count["unsteady"] += 1
            return

        def still(smaller):
            try:
                a, e = self.engine.run(smaller, ["eager"], backend="interp" if self.args.device == "cpu" else "cuda")
            except (Crash, Endless):
                return False
            b, w = self.torch().run(smaller)
            again = self.torch_fault(smaller, a, e, b, w)
            return again is not None and again[0] == found[0] and (again[0] != "values" or self.steady(smaller, {}))

        self.keep(name, workload, still, "eager and torch: " + found[1], {}, "torch " + found[0])

    def is_rounding(self, workload, ours, theirs):
        """Whether ours are about as near to what PyTorch computes in float64."""
        judge, _ = self.torch().run(dict(workload, double=True, autocast=None))
        return judge is not None and compare.as_near(ours, theirs, judge)

    def torch_fault(self, workload, ours, error, calls, why):
        if why and error:
            ours = kind_of_error(error)[1] if isinstance(kind_of_error(error), tuple) else None
            kind, _, said = why.partition(": ")
            same = not ours or ours == kind or error.splitlines()[0].endswith(f": {said}")  # PyTorch says "ZeroDivisionError" in a RuntimeError
            return None if same else ("error type", f"{error.splitlines()[0]} for {why}")
        if why:
            return f"runs on where PyTorch fails: {why[:40]}", why
        if error:
            return (f"fails: {self.words(error)}", error) if not error.startswith("breakeven run: grad:") else None
        found = compare.calls(ours["eager"]["calls"], calls, compare.slack_of(workload, 10 * self.args.loose))
        return ("values", found) if found else None

    def report(self, name, workload, settings, modes, timed, found):
        signature, text = found
        if signature not in ("crash",) and not ("runs on" in signature or "fails" in signature) and not self.steady(workload, settings):
            self.count["unsteady"] += 1
            return
        only = [m for m in modes if signature.split()[0] == m or signature.startswith("timed " + m)] or modes

        of_errors = "runs on" in signature or "fails" in signature or signature == "crash"

        def still(smaller):
            again = self.fault(smaller, settings, only, timed)
            if again is None or again[0].split()[0] != signature.split()[0]:
                return False
            return again[0] == signature if of_errors else "runs on" not in again[0] and "fails" not in again[0] and self.steady(smaller, settings)

        self.keep(name, workload, still, text, settings, signature, only)

    def keep(self, name, workload, still, text, settings, signature, modes=()):
        with self.lock:
            seen = self.count["signature " + signature]
            self.count["signature " + signature] += 1
            self.count["failed"] += 1
        small = workload
        if self.args.shrink and seen < self.args.shrink_same:
            small = shrink.shrink(workload, still, self.args.shrink)
        with self.lock:
            self.findings.append((name, text))
            print(f"-- {name} {json.dumps(settings)} {' '.join(modes)}\n{text}\n{small['source']}{'grad ' if small.get('grad') else ''}{json.dumps(small['calls'])[:600]}\n", flush=True)
            if self.args.keep:
                os.makedirs(self.args.keep, exist_ok=True)
                path = os.path.join(self.args.keep, "".join(c if c.isalnum() else "_" for c in f"{signature} {name}") + ".json")
                with open(path, "w") as file:
                    json.dump(dict(small, found=text, under=settings, modes=list(modes)), file, indent=1)

    def coverage(self):
        """What the programs met, of what there is."""
        kinds = list(kinds_of_break().values())
        missing = [k for k in kinds if k not in self.kinds]
        print(f"{len(self.rows)} of {len(self.rows_of_table)} rows of the op table were called, {len(self.rows_with_gradient)} of them in programs that take gradients")
        print(f"{len(kinds) - len(missing)} of {len(kinds)} kinds of break were met" + (f", not {', '.join(missing)}" if missing else ""))

    # Many.
    def one(self, name, workload, under=None):
        if self.args.device != "cpu":  # weights are made on it, as torch_side.py makes them
            workload = dict(workload, source=workload["source"].replace("import torch\n", "import torch; torch.set_default_device('cuda')\n", 1))
        try:
            self.judge(name, workload, under)
        except Crash as crash:
            self.report(name, workload, {"backend": "interp", "policy": "dynamo"}, COMPILED, False, ("crash", str(crash)))
        except Endless:
            self.count["endless"] += 1
        self.count["programs"] += 1

    def made(self, seed):
        if seed % self.args.mutate_every == 0:
            self.one(f"seed {seed}", mutate.make(seed))
            return
        workload, used = generate.make(seed, self.rows_of_table, self.spellings)
        self.rows |= used
        self.rows_with_gradient |= used if workload.get("grad") else set()
        self.one(f"seed {seed}", workload)

    def all(self):
        args = self.args
        import check

        self.spellings = {name: spelt for name, (kind, spelt) in check.op_rows().items()}
        import table

        generate.Generator.on_gpu = args.device != "cpu"
        self.rows_of_table = sorted(n for n, r in table.ROWS.items() if r.calls and self.spellings.get(n))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            waiting = set()
            for path in sorted(glob.glob(os.path.join(args.found, "*.json"))):
                with open(path) as file:
                    workload = json.load(file)
                under = workload.pop("under", None)
                for said in ("found", "modes"):
                    workload.pop(said, None)
                waiting.add(pool.submit(self.one, os.path.basename(path), workload, under))
            end, seed = time.monotonic() + args.seconds, args.seed
            while time.monotonic() < end and (args.programs == 0 or seed < args.seed + args.programs):
                while len(waiting) >= args.jobs * 2:
                    done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                    for d in done:
                        d.result()
                waiting.add(pool.submit(self.made, seed))
                seed += 1
            for d in waiting:
                d.result()


@functools.cache
def table_of_breaks():
    with open(os.path.join(HERE, "..", "..", "fusion", "report", "breaks.def")) as file:
        return file.read()


def kinds_of_break():
    return dict(re.findall(r'(?m)^KIND\((\w+),\s*"([^"]+)"\)', table_of_breaks()))


@functools.cache
def messages_of_breaks():
    """The kind of each message that has no subject."""
    names = kinds_of_break()
    return {message: names[kind] for kind, message in re.findall(r'(?m)^BREAK\(\w+,\s*(\w+),\s*[^,]+,\s*"([^"]+)"', table_of_breaks())}


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("binary", nargs="?", default="build/breakeven")
    parse.add_argument("--seconds", type=float, default=60)
    parse.add_argument("--programs", type=int, default=0)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--jobs", type=int, default=os.cpu_count())
    parse.add_argument("--device", default="cpu")
    parse.add_argument("--torch", default="", help="a Python with PyTorch, to judge eager by")
    parse.add_argument("--torch-every", type=int, default=4)
    parse.add_argument("--keep", default="")
    parse.add_argument("--mutate-every", type=int, default=5, help="of so many programs one is a changed recording")
    parse.add_argument("--flags", default="", help="more flags for `breakeven run`")
    parse.add_argument("--loose", type=float, default=1.0)
    parse.add_argument("--shrink", type=float, default=45, help="seconds for each failure; 0: none")
    parse.add_argument("--shrink-same", type=int, default=2, help="failures of one kind that are shrunk")
    parse.add_argument("--poison", action="store_true")
    parse.add_argument("--found", default=os.path.join(HERE, "found"), help="a folder of programs that run first")
    args = parse.parse_args()
    tester = Tester(args)
    began = time.monotonic()
    tester.all()
    count = tester.count
    print("eager fails most often with:", *[f"\n  {n} {why}" for why, n in tester.refusals.most_common(12)])
    tester.coverage()
    print(", ".join(f"{v} {k}" for k, v in sorted(count.items()) if not k.startswith("signature")), f"in {time.monotonic() - began:.0f} s")
    print(*[f"  {v} {k}" for k, v in count.most_common() if k.startswith("signature")], sep="\n")
    failed = count["failed"]
    print(f"{count['programs'] - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
