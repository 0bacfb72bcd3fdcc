"""tests/binding/check.py BINARY [NAME...] -- nothing that a call gives is ignored.

Every function, method, layer, optimiser and scheduler that a program can call gets,
for each of its parameters, a value other than the default.  The result (its
values, dtype, shape and gradients, what was written into the inputs, the state of a
module) must change, or the call be refused with the parameter's name.  What PyTorch
ignores too is in examples.IGNORED, with the reason.  A parameter that does not
exist must be refused by name everywhere.

The calls are those of tests/ops, and of examples.py for what is no op: a callable
without one fails.  Many calls share a program; one that ends a program is found by
its line, and the others run again without it.
"""
import ast
import concurrent.futures
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "ops")]
import check_calls
import examples
import layers
import signatures
from signatures import REQUIRED

BATCH = 150  # calls in one program
TIMEOUT_S = 1800  # nothing takes that long, however busy the machine: it hangs
with open(os.path.join(HERE, "head.py")) as file:
    HEAD = file.read()


class Case:
    """A call of `name`; `lines` set up what it takes, `call` is its text, `inputs` are looked at after it."""

    def __init__(self, name, what, lines, call, inputs):
        self.name, self.what, self.lines, self.call, self.inputs = name, what, lines, call, inputs
        self.outcome = None

    def text(self, k):
        body = ["torch.manual_seed(0)"] + self.lines + [f"return seen({', '.join([self.call] + self.inputs)})"]
        return [f"def case_{k}():"] + ["    " + line for line in body]


def program(cases):
    lines, places = HEAD.split("\n"), []
    for k, case in enumerate(cases):
        text = case.text(k)
        places.append(range(len(lines) + 1, len(lines) + 1 + len(text)))
        lines += text
    lines += ["def model(x):"]
    for k in range(len(cases)):
        lines += ["    try:", f"        print('#{k}', case_{k}())", "    except Exception as e:"]
        lines += [f"        print('#{k}', 'refused', type(e).__name__, e)"]
    return "\n".join(lines + ["    return x"]), places


def run(binary, cases):
    """Sets the outcome of each: what it showed, or "refused " and why."""
    left = list(cases)
    while left:
        source, places = program(left)
        work = {"name": "binding", "source": source, "calls": [[{"value": 1}]], "modes": ["eager"]}
        done = subprocess.run(
            [binary, "run", "-", "--json", "--no-timing", "--backend", "interp"],
            input=json.dumps(work), capture_output=True, text=True, timeout=TIMEOUT_S,
        )
        if done.returncode == 0:
            out = json.loads(done.stdout)["modes"]["eager"]["calls"][0]["stdout"]
            for part in re.split(r"(?m)^#(?=\d+ )", out)[1:]:
                k, _, text = part.partition(" ")
                left[int(k)].outcome = text.strip()
            lost = [case for case in left if case.outcome is None]  # past what is kept of the printed text
            if lost == left:
                lost.pop(0).outcome = "refused: it prints more than a run keeps"
            if lost:
                run(binary, lost)
            return
        at = re.search(r":(\d+):\d+: (.*)", done.stderr)
        k = next((k for k, place in enumerate(places) if at and int(at[1]) in place), None)
        if k is None and len(left) > 1:  # in what all cases share
            run(binary, left[: len(left) // 2])
            run(binary, left[len(left) // 2 :])
            return
        if k is None:
            left[0].outcome = "refused " + (at[2] if at else done.stderr[:300])
            return
        left[k].outcome = "refused " + at[2]
        del left[k]


def judge(base, tried, name):
    """None where one of the cases shows that the parameter counts."""
    why = []
    for case in tried:
        got = case.outcome
        if got.startswith("refused"):
            if re.search(rf"\b{name.replace('_', '[_ ]')}\b", got):
                return None
            if "()." in base.name and got != base.outcome:
                return None  # an attribute, which something reads
            why.append(f"{case.what}: {got}")
        elif got != base.outcome:
            return None
        else:
            why.append(f"{case.what}: changes nothing")
    return "; ".join(why) or "no value to try"


class Plan:
    """One callable, its examples, and the parameters that none has shown to count so far."""

    def __init__(self, name, examples, parameters):
        self.name, self.examples, self.open = name, examples, parameters
        self.why = {p.name: "no example" for p in parameters}
        self.base, self.tried = None, []

    def cases(self, turn):
        """The calls of one turn: those of the next example."""
        self.base, self.tried = None, []
        if turn < len(self.examples) and self.open:
            lines, called, text, inputs, signature = self.examples[turn]
            self.base = Case(self.name, "example", lines, called.replace("{}", text), inputs)
            for p in self.open:
                some = []
                for value in values(self.name, p):
                    arguments = with_argument(text, signature, p, value)
                    if arguments is not None:
                        some.append(Case(self.name, f"{p.name}={value}", lines, called.replace("{}", arguments), inputs))
                self.tried.append((p, some))
        return [self.base] * (self.base is not None) + [case for _, some in self.tried for case in some]

    def learn(self):
        for p, some in self.tried:
            why = judge(self.base, some, p.name)
            if why is None:
                self.open = [q for q in self.open if q is not p]
            else:
                self.why[p.name] = f"{why} (of {self.base.call[:80]})"

    def faults(self):
        return [f"{self.name}: {p.name}: {self.why[p.name]}" for p in self.open]


def literals(default):
    """Other values of the type of a default."""
    if default == "True":
        return ["False"]
    if default == "False":
        return ["True"]
    if re.fullmatch(r"-?\d+", default):
        return [str(int(default) + 1), str(int(default) - 1), "2", "0"]
    if re.fullmatch(r"-?[\d.]+(e-?\d+)?", default):
        return [str(float(default) + 0.5), str(float(default) / 2), "0.25"]
    if default == "None":
        return ["True", "1", "0", "2", "0.5"]
    return []


def values(owner, parameter):
    """Texts to try, the ones for this very parameter first."""
    short = owner.split(".")[-1]
    keys = (f"{owner}.{parameter.name}", f"{short}.{parameter.name}", parameter.name)
    of_layers = layers.VALUES if owner.startswith(("torch.nn.", "torch.optim.")) and "functional" not in owner else {}
    for table in (of_layers, examples.VALUES):
        for key in keys:
            if key in table:
                return list(table[key])
    return [v for v in literals(parameter.default) if v != parameter.default]


def ignored(owner, name):
    short = owner.split(".")[-1]
    return any(key in examples.IGNORED for key in (f"{owner}.{name}", f"{short}.{name}", f"*.{name}"))


def with_argument(text, signature, parameter, value):
    """The call's arguments with parameter=value; None where it is among *args."""
    call = ast.parse(f"f({text})").body[0].value
    if parameter is STRANGE:
        call.keywords.append(ast.keyword(parameter.name, ast.Constant(1)))
        return ast.unparse(call)[2:-1]
    at = [p.name for p in signature.parameters].index(parameter.name)
    if at < len(call.args) and not parameter.named_only:
        if any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
            return None
        call.args[at] = ast.parse(value).body[0].value
    else:
        call.keywords = [k for k in call.keywords if k.arg != parameter.name]
        call.keywords.append(ast.keyword(parameter.name, ast.parse(value).body[0].value))
    return ast.unparse(call)[2:-1]


STRANGE = signatures.Parameter("no_such_parameter", "None", True)


def plan(name, signature, examples):
    """`examples`: of (lines, what is called with {} for its arguments, arguments, inputs)."""
    wanted = [p for p in signature.parameters if p.default is not REQUIRED and not ignored(name, p.name)]
    if signature.binds and not signature.keywords and not ignored(name, STRANGE.name):
        wanted.append(STRANGE)
    return Plan(name, [example + (signature,) for example in examples], wanted)


def batches(plans, turn):
    found = [[]]
    for p in plans:
        if len(found[-1]) > BATCH:
            found.append([])
        found[-1] += p.cases(turn)
    return found


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "build/breakeven"
    plans, faults = check_calls.plans(binary, plan)
    wanted = sys.argv[2:]
    plans = [p for p in plans if not wanted or p.name in wanted or p.name.split(".")[-1] in wanted]
    parameters, calls = sum(len(p.open) for p in plans), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for turn in range(max(len(p.examples) for p in plans)):
            some = batches(plans, turn)
            calls += sum(map(len, some))
            list(pool.map(lambda cases: run(binary, cases), some))
            for p in plans:
                p.learn()
    for p in plans:
        faults += p.faults()
    for line in faults:
        print(line[:600])
    failed = len({f.split(":")[0] for f in faults})
    print(f"{len(plans)} callables, {parameters} parameters, {calls} calls")
    print(f"{len(plans) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
