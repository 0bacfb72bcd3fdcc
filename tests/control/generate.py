"""Random programs of control flow and of scopes, and what CPython prints for them.

    python3 tests/control/generate.py FOLDER FIRST COUNT

writes control_N.py and scope_N.py with their .want; the build makes those of seeds 0
to 299, and tests/test_vm_control.c runs them.  Programs that CPython refuses or
that end with an error are left out.
"""
import contextlib
import io
import random
import sys

HEAD = """
class Odd(Exception):
    pass
seed = [%d]
left = [60]
def rnd():
    seed[0] = (seed[0] * 1103515245 + 12345) %% 2147483648
    return seed[0] // 65536
def c():
    return rnd() %% 2 == 0
def n():
    return rnd() %% 5
def t():
    left[0] = left[0] - 1
    return left[0] > 0
def boom():
    r = rnd() %% 6
    if r == 0:
        raise Odd("boom")
    if r == 1:
        raise ValueError("v")
class CM:
    def __init__(self, k):
        self.k = k
    def __enter__(self):
        print("enter", self.k)
        return self
    def __exit__(self, kind, error, trace):
        print("exit", self.k, repr(error))
        return self.k == 3
"""
CALL = """for k in range(4):
    try:
        print("=", f())
    except Exception as e:
        print("!", repr(e))
    try:
        print("=", list(g()))
    except Exception as e:
        print("!", repr(e))
"""
CONDITIONS = ["c()", "not c()", "c() and c()", "c() or c()", "(c() if c() else c())",
              "0 < n() < n()", "c() and not (c() or c())", "[q for q in (n(), n()) if c()]"]
SIMPLE = ["print(1)", "print(2)", "x = n(); print(x)", "boom()", "a, *b = n(), n(), n(); print(b)",
          "print([a * n() for a in (1, 2) if c()])", "print(f'{n()}-{n():>3}')", "assert c(), n()",
          "raise Odd(n())"]


class Flow:
    """Blocks of statements; what one may have depends on where it is."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def condition(self):
        return self.r.choice(CONDITIONS)

    def block(self, depth, place, indent):
        lines = []
        for _ in range(self.r.randint(1, 3)):
            lines += ["    " * indent + line for line in self.statement(depth, place)]
        return lines

    def inner(self, depth, place, *also):
        return self.block(depth - 1, place | set(also), 1)

    def simple(self, place):
        r = self.r
        choices = SIMPLE + ["return n()", "return", "return [n() for _ in range(2)]"]
        if "loop" in place:
            choices = choices + ["break", "continue"] * 2
        if "generator" in place:
            choices = choices + ["yield n()", "yield from (n(), n())"]
        if "named" in place:
            choices = choices + ["raise", "print(repr(e))"]
        pick = r.choice(choices)
        if pick.split()[0] in ("break", "continue", "raise", "return") and r.random() < .6:
            return ["if " + self.condition() + ":", "    " + pick]
        return [pick]

    def attempt(self, depth, place):
        r, lines = self.r, ["try:"] + self.inner(depth, place)
        handlers = r.randint(0, 2)
        for _ in range(handlers):
            kind = r.choice(["Odd", "(Odd, ValueError)", "ValueError", "Exception"])
            if r.random() < .5:
                lines += [f"except {kind} as e:"] + self.inner(depth, place, "named")
            else:
                lines += [f"except {kind}:"] + self.inner(depth, place - {"named"})
        if handlers and r.random() < .4:
            lines += ["else:"] + self.inner(depth, place)
        if not handlers or r.random() < .5:
            lines += ["finally:"] + self.inner(depth, place)
        return lines

    def statement(self, depth, place):
        r, k = self.r, self.r.random()
        if depth <= 0 or k < .25:
            return self.simple(place)
        if k < .4:
            lines = ["if " + self.condition() + ":"] + self.inner(depth, place)
            if r.random() < .5:
                lines += ["else:"] + self.inner(depth, place)
            return lines
        if k < .6:
            head = (f"for i in range({r.randint(0, 3)}):" if k < .5
                    else f"while t() and ({self.condition()}):")
            lines = [head] + self.inner(depth, place, "loop")
            if r.random() < .4:
                lines += ["else:"] + self.inner(depth, place)
            return lines
        if k < .75:
            items = ", ".join(f"CM({r.randint(0, 9)})" + r.choice(["", " as y"])
                              for _ in range(r.randint(1, 2)))
            return ["with " + items + ":"] + self.inner(depth, place)
        return self.attempt(depth, place)


def control(seed):
    flow = Flow(seed)
    lines = ["def f():"] + flow.block(2, set(), 1)
    lines += ["def g():"] + flow.block(2, {"generator"}, 1) + ["    if 0:", "        yield 0"]
    return HEAD.lstrip() % seed + "\n".join(lines) + "\n" + CALL


NAMES = ["a", "b", "c"]


class Scopes:
    """Functions, classes and comprehensions inside each other, all over three names."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def expr(self, d):
        r, v = self.r, self.r.choice(NAMES)
        if d <= 0 or r.random() < .5:
            return v
        x, y = self.expr(d - 1), self.expr(d - 1)
        return r.choice([
            f"[{x} for {v} in ({y}, {r.randint(0, 9)})]",
            f"[({x}, {y}) for {v} in (1, 2) if {r.choice(NAMES)} for {r.choice(NAMES)} in ({x},)]",
            f"list({x} for {v} in ({y}, 2))",
            f"(lambda {v}={x}: {y})()",
            f"[f() for f in [lambda: {x} for {v} in (1, 2)]]",
            f"({v} := {x})",
            f"({x}, {y})"])

    def block(self, d, indent):
        lines = []
        for _ in range(self.r.randint(1, 4)):
            lines += ["    " * indent + line for line in self.statement(d)]
        return lines

    def declaration(self):
        if self.r.random() < .75:
            return []
        return [f"    {self.r.choice(['nonlocal', 'global'])} {self.r.choice(NAMES)}"]

    def function(self, d):
        r = self.r
        parameters, arguments = r.choice([("", ""), ("a", "3"), ("b", "3"), ("a, b", "1, 2"),
                                          ("*a", "4"), ("c=" + self.expr(1), "")])
        return ([f"def f({parameters}):"] + self.declaration() + self.block(d - 1, 1) +
                ["    return " + self.expr(1), "try:", f"    show(f({arguments}))",
                 "except NameError:", "    show('name')", "except TypeError:", "    show('type')"])

    def of_class(self, d):
        body = self.declaration() + self.block(d - 1, 1)
        shown = "".join(f"    if hasattr(C, '{v}'): show(('{v}', C.{v}))\n" for v in NAMES)
        return (["try:", "    class C:"] + ["    " + line for line in body] +
                shown.rstrip().split("\n") + ["except (NameError, TypeError):", "    show('class')"])

    def statement(self, d):
        r, v, k = self.r, self.r.choice(NAMES), self.r.random()
        if d > 0 and k < .35:
            return self.function(d) if k < .22 else self.of_class(d)
        return r.choice([[f"{v} = {self.expr(2)}"], [f"show({self.expr(2)})"],
                         ["try:", f"    del {v}", "except NameError:", "    show('del')"],
                         ["try:", f"    show({self.expr(1)})", "except NameError:",
                          "    show('name')"],
                         [f"for {v} in ({self.expr(1)},):", f"    show({r.choice(NAMES)})"],
                         ["try:", "    raise ValueError", f"except ValueError as {v}:",
                          "    show(1)"]])


def scope(seed):
    head = "def show(x):\n    print('fn' if callable(x) else x)\na = 1\nb = 2\n"
    return head + "\n".join(Scopes(seed).block(3, 0)) + "\n"


def printed(source):
    """None where CPython refuses the program, or it ends with an error."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "model.py", "exec"), {"__name__": "__main__"})
    except Exception:
        return None
    return out.getvalue()


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        for name, make in (("control", control), ("scope", scope)):
            source = make(seed)
            wanted = printed(source)
            if wanted is None or " at 0x" in wanted:
                continue
            for end, text in ((".py", source), (".want", wanted)):
                with open(f"{folder}/{name}_{seed}{end}", "w") as out:
                    out.write(text)


if __name__ == "__main__":
    main()
