"""tests/oracle/generate.py -- programs at random, for finding where modes part.

    python3 tests/oracle/generate.py BINARY [--seed 1] [--count 100] [--policy native] [-v]

Each program runs in every mode on the same inputs; outputs, inputs afterwards and
printed text must equal those of eager, bit by bit.  programs(seed, count) is also
what record_constructs.py --random SEED COUNT runs on PyTorch.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

MODES = ["eager", "lazy", "static", "dynamic", "auto", "graphs"]
UNARY = ["torch.sin({})", "torch.relu({})", "{}.abs()", "torch.tanh({})", "-{}", "{} * 0.5", "{} + 1", "1 - {}", "torch.sigmoid({})"]
BINARY = ["{} + {}", "{} * {}", "{} - {}", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.5)"]

# What a program changes besides its names: attributes, a global.
BOX = """class Box:
    def __init__(self, h):
        self.n = 0
        self.h = h


box = Box(torch.ones(4))
counted = 0


def count():
    global counted
    counted += 1"""


class Program:
    """Writes a model of two vectors; keeps what names hold while it goes."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.helpers = []
        self.fresh = 0
        self.depth = 0
        self.level = 0

    def name(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def emit(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def tensor(self, names):
        r = self.rng
        if r.random() < 0.6:
            return r.choice(UNARY).format(r.choice(names["t"]))
        return r.choice(BINARY).format(r.choice(names["t"]), r.choice(names["t"]))

    def number(self, names):
        r = self.rng
        return r.choice(names["n"] + [str(r.randint(-3, 5)), f"{r.choice(names['t'])}.shape[0]", f"len({r.choice(names['l'])})" if names["l"] else "2"])

    def condition(self, names):
        r = self.rng
        kind = r.random()
        if kind < 0.45:
            return f"{r.choice(names['t'])}.sum() {r.choice(['>', '<'])} {r.randint(-3, 3)}"
        if kind < 0.55:
            return f"({r.choice(names['t'])} > {r.randint(-1, 1)}).{r.choice(['any', 'all'])}()"
        return f"{self.number(names)} {r.choice(['>', '<', '==', '!='])} {self.number(names)}"

    def block(self, names, statements):
        """A nested block: what it makes first is not known to be there afterwards."""
        inner = {k: list(v) for k, v in names.items()}
        self.depth += 1
        for _ in range(statements):
            self.statement(inner)
        self.depth -= 1

    def statement(self, names):
        r = self.rng
        makers = [self.assign] * 6 + [self.number_assign, self.branch, self.branch, self.loop, self.until, self.say, self.word, self.write, self.lists, self.read, self.cut, self.call, self.view, self.guarded]
        if self.depth >= 2:
            makers = [self.assign, self.number_assign, self.write, self.say, self.word, self.cut]
        r.choice(makers)(names)

    def assign(self, names):
        target = self.rng.choice(names["t"][2:] + [self.name("t")]) if names["t"][2:] else self.name("t")
        self.emit(f"{target} = {self.tensor(names)}")
        if target not in names["t"]:
            names["t"].append(target)

    def number_assign(self, names):
        target = self.name("n")
        self.emit(f"{target} = {self.number(names)} {self.rng.choice(['+', '-', '*'])} {self.number(names)}")
        names["n"].append(target)

    def branch(self, names):
        self.emit(f"if {self.condition(names)}:")
        self.block(names, self.rng.randint(1, 2))
        if self.rng.random() < 0.5:
            self.emit("else:")
            self.block(names, self.rng.randint(1, 2))

    def loop(self, names):
        index = self.name("i")
        self.emit(f"for {index} in range({self.rng.randint(1, 3)}):")
        inner = {**names, "n": names["n"] + [index]}
        self.block(inner, self.rng.randint(1, 2))

    def until(self, names):
        """A while loop that ends, for what it tests doubles: tests, ways out, what it carries."""
        w, n, r = self.name("w"), self.name("n"), self.rng
        test = r.choice([f"{w}.sum() < {r.randint(5, 90)}", f"not {w}.max() > {r.randint(5, 20)}", f"{w}.sum() < 60 and {w}[0] < {r.randint(3, 9)}", f"{w}.min() < 4 or {w}.sum() < {r.randint(9, 60)}", f"0 < {w}.sum() < {r.randint(5, 90)}", f"any([{w}.max() < {r.randint(2, 9)}, {w}.sum() < 20])"])
        self.emit(f"{n} = {r.choice(['0', '1.5'])}")
        self.emit(f"{w} = {r.choice(names['t'])}.abs() + 1")
        endless = r.random() < 0.3
        self.emit(f"while {'True' if endless else test}:")
        self.depth += 1
        self.emit(f"{w} {r.choice(['= ' + w + ' *', '*='])} 2")
        if r.random() < 0.7:
            self.emit(f"{n} += 1")
        if endless:
            self.emit(f"if {w}.sum() > {r.randint(5, 90)}:")
            self.emit("    break")
        for _ in range(r.choice([0, 0, 1, 2])):
            self.way_out(w, n)
        first = self.name("f")
        for _ in range(r.choice([0, 0, 1, 2])):
            self.emit(self.carried(w, first, names))
        self.depth -= 1
        if r.random() < 0.15:
            self.emit("else:")
            self.emit(f"    {w} = {w} - 1")
        self.block(names, r.randint(1, 2))
        names["t"].append(w)
        names["n"].append(n)

    def carried(self, w, first, names):
        """A line of a round that changes something besides its own tensor and number."""
        r = self.rng
        kinds = [f"{first} = {w} * 0.5", "box.n += 1", f"box.h = box.h * 0.5 + {w}", f"box.h.mul_(0.5)", f"assert {w}.sum() > {r.choice([-1, 4])}", "count()"]
        if names["l"]:
            target = r.choice(names["l"])
            kinds += [f"{target}[0] = {target}[0] + {w}", f"{target}[-1] += 1", f"{target}.append({w})"]
        return r.choice(kinds)

    def way_out(self, w, n):
        """Or a part of a round that is left out."""
        r = self.rng
        self.emit(f"if {w}.{r.choice(['max', 'min'])}() {r.choice(['>', '<'])} {r.randint(2, 12)}{r.choice(['', '', f' and {w}.sum() > 9'])}:")
        for line in r.sample([f"{w} = {w} + {r.randint(0, 3)}", f"{n} += {r.randint(0, 2)}", "pass"], r.randint(1, 2)):
            self.emit("    " + line)
        self.emit("    " + r.choice(["break", "break", "continue", "pass"]))
        if r.random() < 0.5:
            self.emit(f"{n} += 1")

    def say(self, names):
        what = self.rng.choice(['"here"', self.number(names), f"{self.rng.choice(names['t'])}.shape", self.text(names)])
        self.emit(f"print({what})")

    def text(self, names):
        """Of tensors and numbers; never looked at, so no reason to break."""
        r = self.rng
        t, n = r.choice(names["t"]), self.number(names)
        return r.choice([f'f"{{{t}}}"', f'f"{{{t}.sum():.3f}} {{{n}}}"', f'"%s|%.2f" % ({n}, {t}.max().item())', f'str([{n}, {t}])', f'"{{}} {{!r:>8}}".format({n}, {n})', f'"n " + str({n})'])

    def word(self, names):
        target = self.rng.choice(names["s"] + [self.name("s")])
        if target in names["s"] and self.rng.random() < 0.5:
            self.emit(f"{target} += {self.text(names)}")
            return
        self.emit(f"{target} = {self.text(names)}")
        if target not in names["s"]:
            names["s"].append(target)

    def write(self, names):
        t = self.rng.choice(names["t"])
        self.emit(self.rng.choice([f"{t} += 1", f"{t}.mul_(2)", f"{t}[0] = 3.0", f"{t}[1:] = {t}[:-1] * 2", f"{t}.add_({self.rng.choice(names['t'])})"]))

    def lists(self, names):
        if names["l"] and self.rng.random() < 0.6:
            self.emit(f"{self.rng.choice(names['l'])}.append({self.tensor(names)})")
            return
        target = self.name("l")
        if self.rng.random() < 0.3:
            each = f"u if u {self.rng.choice(['>', '<'])} 0.5 else {self.rng.choice(['u * 2', '-u', 'u + 1'])}"
            over = self.rng.choice(names["t"])
            self.emit(f"{target} = " + self.rng.choice([f"[{each} for u in {over}]", f"list({each} for u in {over})", f"[sum({each} for u in {over})]"]))
        else:
            self.emit(f"{target} = [{self.tensor(names)}, {self.tensor(names)}]")
        names["l"].append(target)

    def read(self, names):
        target = self.name("n")
        t = self.rng.choice(names["t"])
        self.emit(f"{target} = " + self.rng.choice([f"{t}.sum().item()", f"int({t}.sum())", f"float({t}.max())", f"round({t}.tolist()[{self.rng.randint(0, 3)}], 3)", f"math.sqrt({t}.abs().sum().item())", f"math.exp(-{t}.abs().max().item())", f"max({t}.tolist())", f"min({t}.sum().item(), 1.5)", f"sum({t}.tolist())", f"abs({t}[0].item()) // 0.25 % 3", f"math.floor({t}.sum().item())", f"({t} > 0).sum().item() ** 2"]))
        names["n"].append(target)

    def cut(self, names):
        """What ends the graph under every policy."""
        target = self.name("n")
        self.emit(f"{target} = float(f\"{{{self.rng.choice(names['t'])}.sum().item():.3f}}\")")
        names["n"].append(target)

    def call(self, names):
        """A function of its own, which may call further ones, or raise."""
        r = self.rng
        helper, raises = self.name("h"), r.random() < 0.2
        inner = Program(r)
        inner.fresh = self.fresh + 100
        inner.level = self.level + 1
        own = {"t": ["a", "b"], "n": ["k"], "l": [], "s": []}
        for _ in range(r.randint(1, 3)):
            (inner.assign if inner.level > 3 else inner.statement)(own)
        if raises:
            inner.emit(f"if {inner.number(own)} > {r.randint(1, 4)}:")
            inner.emit("    raise ValueError('raised')")
            inner.assign(own)
        inner.emit(f"return {inner.tensor(own)}")
        self.fresh = inner.fresh
        self.helpers += inner.helpers + ["\n".join([f"def {helper}(a, b, k=2):"] + inner.lines)]
        target, t = self.name("t"), r.choice(names["t"])
        args = [r.choice(names["t"]), r.choice(names["t"]), self.number(names)]
        plain = ", ".join(args)
        call = r.choice([f"{helper}({plain})", f"{helper}(*({plain}))", f"{t} * {helper}(k={args[2]}, b={args[1]}, a={args[0]})", f"{t} - {helper}({plain}) / 2"])
        if raises:
            self.emit("try:")
            self.emit(f"    {target} = {call}")
            self.emit("except ValueError as e:")
            self.emit(f"    {target} = {t} + len(str(e))")
        else:
            self.emit(f"{target} = {call}")
        names["t"].append(target)

    def view(self, names):
        target = self.name("v")
        t = self.rng.choice(names["t"])
        self.emit(f"{target} = {t}.view(2, 2)")
        self.emit(self.rng.choice([f"{target}[0] += 1", f"{target}.t().mul_(2)", f"{t}.add_({target}.sum())"]))
        flat = self.name("t")
        self.emit(f"{flat} = {target}.reshape(4)")
        names["t"].append(flat)

    def guarded(self, names):
        self.emit("try:")
        self.block(names, 1)
        self.emit("except ValueError:")
        self.depth += 1
        self.emit("pass")
        self.depth -= 1

    def source(self):
        names = {"t": ["x", "y"], "n": [], "l": [], "s": []}
        self.helpers.append(BOX)
        self.emit("global counted")
        self.emit("box, counted = Box(x * 1), 0")
        for _ in range(self.rng.randint(3, 8)):
            self.statement(names)
        result = ", ".join(names["t"][-2:] + names["n"][-1:] + names["l"][-1:] + names["s"][-1:])
        self.emit(f"return {result}, box.n, box.h, counted")
        return "\n\n".join(["import math\nimport torch"] + self.helpers + ["\n".join(["def model(x, y):"] + self.lines)]) + "\n"


def programs(seed, count):
    """Cases without results: name, group, source, inputs of three calls."""
    for i in range(count):
        rng = random.Random(f"{seed}/{i}")
        source = Program(rng).source()
        calls = [[{"tensor": {"shape": [4], "dtype": "float32", "data": [round(rng.gauss(0, 1), 3) for _ in range(4)]}} for _ in "xy"] for _ in range(3)]
        yield {"name": f"random_{seed}_{i}", "group": "random", "source": source, "inputs": calls}


def parts(binary, case, policy):
    """Where a mode leaves eager; None where all agree."""
    workload = {"name": case["name"], "source": case["source"], "calls": case["inputs"], "modes": MODES, "policy": policy}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json", "--no-timing"], capture_output=True, text=True, timeout=120)
    if done.returncode == 1:
        return None if "source:" in done.stderr else done.stderr[:300]
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr[-600:]}"
    modes = json.loads(done.stdout)["modes"]
    for mode in MODES[1:]:
        for i, (ours, eager) in enumerate(zip(modes[mode]["calls"], modes["eager"]["calls"])):
            for field in ("stdout", "output", "inputs_after"):
                if json.dumps(ours[field]) != json.dumps(eager[field]):
                    return f"{mode}, call {i}, {field}: {json.dumps(ours[field])[:300]} for {json.dumps(eager[field])[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--policy", default="dynamo")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    failed = 0
    for case in programs(options.seed, options.count):
        why = parts(options.binary, case, options.policy)
        if why:
            failed += 1
            print(f"{case['name']}: {why}")
            if options.v:
                print(case["source"])
    print(f"{options.count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
