"""Random programs of the workload language, from a seed.

A program is a list of statements, each a list of lines; it is the body of a function.
What it computes it prints, errors too, by show() of HEAD; so one statement that fails
leaves the others to be compared.  values.py has the expressions, objects.py classes.
"""
import random

from objects import Objects
from rare import Rare
from values import Values

HEAD = """import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import random
import torch.nn as nn
from typing import NamedTuple
def show(f):
    try:
        v = f()
        print(repr(v))
        return v
    except Exception as e:
        print(type(e).__name__ + ":", e)
def odd(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__)
def kind(o):
    return o if isinstance(o, (int, str, tuple, type(None))) else type(o).__name__
def settled(v, depth=0):  # sets in an order, and no addresses
    if isinstance(v, (set, frozenset)):
        return type(v).__name__, sorted(map(repr, v))
    if isinstance(v, (list, tuple)) and depth < 3:
        return type(v).__name__, [settled(x, depth + 1) for x in v]
    return v if isinstance(v, (int, float, str, bool, dict, range, slice, Exception)) or v is None else ("object", callable(v))
def plain(o):
    print({k: v for k, v in vars(o).items() if k[:1] != "_" and k != "training"})
class Odd(Exception):
    pass
class Odder(Odd):
    def __init__(self, code, *rest):
        super().__init__(code, *rest)
        self.code = code
    def __str__(self):
        return f"code {self.code}"
class Manager:
    def __init__(self, name, swallow=None):
        self.name, self.swallow = name, swallow
    def __enter__(self):
        print("enter", self.name)
        return self
    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind and kind.__name__, error)
        return self.swallow is not None and kind is not None and issubclass(kind, self.swallow)
"""
ERRORS = ["ValueError", "KeyError", "Odd", "TypeError", "IndexError", "ZeroDivisionError", "Odder", "RuntimeError",
          "StopIteration", "AttributeError", "LookupError", "ArithmeticError", "NotImplementedError"]
KEPT = ["int", "float", "str", "bool", "ints", "strs", "tuple", "dict"]


class Program(Values, Rare):
    def __init__(self, seed):
        super().__init__(random.Random(seed))
        self.functions = 0
        self.weighted = [
            (8, self.shown), (5, self.assigned), (2, self.changed_list), (2, self.changed_dict), (1, self.changed_set), (2, self.unpacked), (2, self.generator), (1, self.generator_methods),
            (3, self.function), (2, self.closure), (2, self.attempt), (2, self.raised), (2, self.branch), (2, self.loop), (2, self.matched), (1, self.managed), (1, self.walrus), (1, self.sorting),
            (1, self.deleting), (1, self.iterators), (1, self.partial), (1, self.library), (1, self.decorated), (1, self.drawn), (1, self.named), (1, self.chained), (1, self.comprehension), (1, self.sliced), (1, self.text_steps), (1, self.yield_from), (2, self.asked),
            (4, self.called), (1, self.odd_operator), (1, self.odd_store), (1, self.odd_format), (1, self.odd_class), (2, self.odd_scope)]

    def statements(self, n):
        total = [s for w, s in self.weighted for _ in range(w)]
        return [self.r.choice(total)() for _ in range(n)]

    def show(self, expression):
        return f"show(lambda: {expression})"

    def kind(self):
        return self.r.choice(KEPT)

    def indented(self, statements):
        return ["    " + line for s in statements for line in s] or ["    pass"]

    def inner(self, n=2):
        """Statements of a block; what they assign is unknown after it."""
        kept = {k: list(v) for k, v in self.names.items()}
        made = [self.pick(self.shown, self.shown, self.assigned, self.changed_list) for _ in range(self.r.randint(1, n))]
        self.names = kept
        return self.indented(made)

    def shown(self):
        return [self.show(self.any(3))]

    def assigned(self):
        kind = self.kind()
        name = self.new()
        made = f"{name} = {self.of_safe(kind)}"
        self.names.setdefault(kind, []).append(name)
        return [made, f"print({name!r}, {name})"]

    def of_safe(self, kind):
        """A value whose making cannot fail."""
        return self.of(kind, 0)

    def changed_list(self):
        r, v = self.r, self.new()
        lines = [f"{v} = {self.of('ints', 0)}"]
        for _ in range(r.randint(1, 4)):
            i, j, x = r.randint(-4, 5), r.randint(-3, 5), self.of("int", 1)
            lines.append(self.pick(
                f"show(lambda: {v}.append({x}))", f"show(lambda: {v}.pop({self.pick('', str(i))}))", f"show(lambda: {v}.insert({i}, {x}))", f"show(lambda: {v}.remove({i}))", f"show(lambda: {v}.extend({self.of('ints', 1)}))", f"show(lambda: {v}.sort(key=lambda k: -k))", f"show(lambda: {v}.reverse())",
                f"show(lambda: {v}.__setitem__({i}, {x}))", f"show(lambda: {v}.__delitem__({i}))", f"{v}[{min(i, j)}:{max(i, j)}] = {self.of('ints', 0)}", f"{v} += {self.of('ints', 0)}", f"{v} *= {r.randint(0, 2)}", f"del {v}[{i}:{j}]", f"del {v}[::2]", f"show(lambda: {v}.index({i}, {r.randint(0, 2)}))", f"show(lambda: {v}.copy() is {v})"))
        return lines + [f"print({v})"]

    def changed_dict(self):
        r, v = self.r, self.new()
        lines = [f"{v} = {self.of('dict', 0)}"]
        for _ in range(r.randint(1, 4)):
            k, x = r.choice(["'a'", "'b'", "'zz'", "1", "None", "(1, 2)", "1.0", "True", "[1]", "{}"]), self.of("int", 1)
            lines.append(self.pick(
                f"show(lambda: {v}[{k}])", f"show(lambda: {v}.get({k}, {x}))", f"show(lambda: {v}.pop({k}))", f"show(lambda: {v}.pop({k}, {x}))", f"show(lambda: {v}.setdefault({k}, {x}))", f"show(lambda: {v}.update({k and self.of('dict', 0)}))", f"show(lambda: {v}.update(a={x}, y=1))", f"show(lambda: {v}.popitem())", f"show(lambda: {v}.__setitem__({k}, {x}))",
                f"show(lambda: {k} in {v})", f"show(lambda: list({v}.items()))", f"show(lambda: {v}.keys())", f"show(lambda: {v}.values())", f"show(lambda: {v}.items())", f"show(lambda: len({v}.keys()))", f"show(lambda: {v}.keys() == {self.of('dict', 0)}.keys())", f"show(lambda: sorted({v}.keys() & {self.of('dict', 0)}.keys()))", f"show(lambda: list(reversed({v})))", f"show(lambda: {v} == {self.of('dict', 0)})", f"{v} |= {self.of('dict', 0)}", f"show(lambda: [{v}.pop(k) for k in {v}])", f"show(lambda: {v}.values() == {v}.values())", f"show(lambda: {v}.items() == {self.of('dict', 0)}.items())"))
        return lines + [f"print({v})"]

    def changed_set(self):
        r, v = self.r, self.new()
        lines = [f"{v} = set({self.of('ints', 0)})"]
        for _ in range(r.randint(1, 3)):
            x = r.randint(-3, 5)
            lines.append(self.pick(f"show(lambda: {v}.add({x}))", f"show(lambda: {v}.discard({x}))", f"show(lambda: {v}.remove({x}))", f"show(lambda: {v}.update({self.of('ints', 0)}, [9]))", f"{v} |= {{{x}}}", f"{v} &= set({self.of('ints', 0)})", f"{v} -= {{{x}}}", f"{v} ^= {{{x}, 4}}", f"show(lambda: {v} <= {{1, 2, 3}})", f"show(lambda: {v}.add([]))", f"show(lambda: {{frozenset({v}): 1}}[frozenset({v})])", f"show(lambda: {v} | [1])", f"show(lambda: {v} == frozenset({v}))"))
        return lines + [f"print(sorted({v}), len({v}))"]

    def unpacked(self):
        r = self.r
        target = r.choice(["a, b", "a, *b", "*a, b", "a, (b, c)", "a, *b, c", "[a, b]", "(a, *_), b", "a, b, c"])
        value = self.pick(lambda: self.of("ints", 1), lambda: self.of("tuple", 1), "(1, (2, 3))", "'xy'", "[(1, 2), 3]", "{'p': 1, 'q': 2}", "range(3)", "((1, 2, 3), 4)", "5", "iter([1, 2, 3])")
        names = sorted(set(target) & set("abc"))
        return ["try:", f"    {target} = {value}", f"    print({', '.join(names)})", "except Exception as e:", "    print(type(e).__name__, e)"]

    def function(self):
        r, f = self.r, self.new("f")
        signature, uses = r.choice([("a", "a"), ("a, b=2", "(a, b)"), ("a, *args", "(a, args)"), ("a, **kw", "(a, kw)"), ("*args, key=None, **kw", "(args, key, kw)"), ("a, /, b", "(a, b)"), ("a, *, b", "(a, b)"), ("a, b=[]", "(b.append(a), b)[1]"), ("a, b, /, c=3, *, d=4", "(a, b, c, d)"), ("", "()"), ("a, *, b=1, **kw", "(a, b, sorted(kw))")])
        calls = ["1", "1, 2", "1, b=3", "*[1, 2]", "**{'a': 1}", "1, 2, 3", "", "1, **{'b': 2, 'z': 3}", "a=1, b=2", "1, a=2", "1, c=5", "*(1,), *(2, 3), d=9", "b=7", "1, key=2", "**{'a': 1}, **{'a': 2}", "*5", "**[1]", "1, 2, c=3, d=4", "1, 2, 3, 4, 5"]
        body = self.pick([f"return {uses}"], [f"return {uses}"], ["global_one = 5", f"return {uses}, global_one"], ['"""What it does."""', f"print(sorted(locals_ for locals_ in ['x']))", f"return {uses}"])
        return [f"def {f}({signature}):"] + ["    " + b for b in body] + [self.show(f"{f}({r.choice(calls)})") for _ in range(r.randint(2, 4))] + self.pick([], [f"print({f}.__name__, {f}.__doc__, {f}.__defaults__)"], [self.show(f"{f}.missing")], [f"{f}.mark = 3", self.show(f"({f}.mark, hasattr({f}, 'other'))")])

    def closure(self):
        f, r = self.new("make"), self.r
        return self.pick(
            [f"def {f}():", "    n = 0", "    def step(by=1):", "        nonlocal n", "        n += by", "        return n", "    def read():", "        return n", "    return step, read", f"step, read = {f}()", "print(step(), step(5), read())"],
            [f"{f} = [lambda k=i: k * 10 for i in range(3)]", f"print([g() for g in {f}])"], [f"{f} = [lambda: i for i in range(3)]", f"print([g() for g in {f}])"],
            [f"def {f}(n):", f"    return 1 if n <= 1 else n * {f}(n - 1)", f"print([{f}(k) for k in range(6)])"],
            [f"def {f}():", "    def g():", "        return late", *(["    late = 5"] if r.random() < .5 else []), "    try:", "        return g()", "    except NameError as e:", "        return type(e).__name__, str(e)", *(["    late = 6"] if r.random() < .5 else []), f"print({f}())"],
            [f"def {f}(x):", "    if x:", "        y = 1", "    return y", self.show(f"{f}(1)"), self.show(f"{f}(0)")], [f"{f} = (lambda *a, **k: (a, sorted(k.items())))(1, 2, z=3)", f"print({f})"],
            [f"def {f}(depth):", "    return [depth] + (" + f + "(depth - 1) if depth else [])", f"print({f}(4))"])

    def generator(self):
        g, r = self.new("gen"), self.r
        body = r.choice([["for i in range(n):", "    yield i * i"], ["yield 1", "yield from range(n)", "return 'end'"], ["try:", "    yield n", "    yield n + 1", "finally:", "    print('closed')"], ["while n > 0:", "    got = yield n", "    print('got', got)", "    n -= 1"], ["yield", "yield (yield n)"], ["if n > 2:", "    raise Odd('too many')", "yield n"],
                         ["for i in range(n):", "    if i == 2:", "        return", "    yield i, n"]])
        return [f"def {g}(n):"] + ["    " + b for b in body] + [self.show(self.pick(f"list({g}({r.randint(0, 4)}))", f"sum({g}({r.randint(0, 4)}))", f"next({g}(2))", f"[x for x in {g}(3)]", f"dict(enumerate({g}(2)))", f"tuple(zip({g}(3), 'abcd'))", f"max({g}(2), default=None)", f"next({g}(0), 'none')", f"type({g}(1)).__name__", f"(lambda a, *b: (a, b))(*{g}(3))", f"1 in {g}(3)", f"list(map(str, {g}(2)))", f"sorted({g}(3))")) for _ in range(2)]

    def generator_methods(self):
        g, r = self.new("gen"), self.r
        lines = [f"def {g}():", "    got = []", "    while True:", "        try:", "            got.append((yield len(got)))", "        except " + r.choice(["ValueError", "Odd", "Exception", "GeneratorExit"]) + " as e:", "            got.append(repr(e))", "            " + r.choice(["return got", "raise", "pass", "raise KeyError('k') from e", "break"]) + "", f"it = {g}()"]
        if "pass" in lines[7] and "GeneratorExit" in lines[5]:
            lines[7] = "            return"
        for _ in range(r.randint(2, 5)):
            lines.append(self.show(r.choice(["next(it)", "it.send(None)", "it.send(5)", "it.throw(ValueError('t'))", "it.throw(Odd)", "it.close()", "next(it, 'over')", "it.throw(KeyError, 'k')"])))
        return lines

    def yield_from(self):
        g, r = self.new("gen"), self.r
        return [f"def inner_{g}(n):", "    try:", "        for i in range(n):", "            x = yield i", "            if x: print('sent', x)", "    except Odd as e:", "        yield 'caught ' + str(e)", "    return n * 2", f"def {g}():", f"    r = yield from inner_{g}({r.randint(0, 3)})", "    yield ('r', r)", "    " + r.choice(["yield from 'ab'", "yield from [1]", "return 3", "yield from 5", "yield from {}"]), f"it = {g}()"] + [self.show(r.choice(["next(it)", "it.send('s')", "it.throw(Odd('o'))", "list(it)", "it.close()"])) for _ in range(r.randint(2, 4))]

    def raised(self):
        r = self.r
        kind = r.choice(ERRORS)
        args = r.choice(["", "'text'", "1, 2", "'k'"]) if kind != "Odder" else r.choice(["7", "7, 8"])
        return self.pick(
            [self.thrown(f"raise {kind}({args})", r.choice(ERRORS))], [self.thrown(f"raise {kind}({args}) from KeyError('cause')", kind)],
            [f"e = {kind}({args})", "print(repr(e), str(e), e.args)"], [self.show(f"issubclass({kind}, {r.choice(ERRORS)})")], [f"print({kind}.__mro__[:3] == {r.choice(ERRORS)}.__mro__[:3], {kind}.__name__, isinstance({kind}({args}), Exception))"])

    def thrown(self, statement, caught):
        handlers = f"except {caught} as e:\n    print('caught', repr(e), repr(e.__cause__), repr(e.__context__))\n" if caught else ""
        return "\n".join(["try:", "    try:", "        [][1]", "    except IndexError:", f"        {statement}"]) + "\n" + handlers + "except Exception as e:\n    print('other', type(e).__name__, e, repr(e.__context__), e.__suppress_context__)"

    def attempt(self):
        r = self.r
        f = self.new("f")
        raising = lambda: r.choice([f"raise {r.choice(ERRORS[:6])}('x')", "1 / 0", "[][3]", "{}['k']", "None.attr", "int('z')", "'a' + 1", "pass", "return 'early'", "x = 1", "assert 0, 'msg'", "(1, 2)[9]", "next(iter([]))", "'abc'.index('z')"])
        body = [f"def {f}():", "    for i in range(2):", "        try:", "            print('try', i)", "            " + raising()]
        handlers = r.randint(0, 2)
        kinds = r.sample(ERRORS[:10] + ["Exception", "(ValueError, KeyError)", "NameError", "AssertionError"], handlers)
        for k in kinds:
            body += [f"        except {k} as e:", "            print('handler', type(e).__name__, e)", "            " + r.choice(["pass", "raise", "continue", "break", "return i", raising(), "raise Odd('new') from None"])]
        if handlers and r.random() < .4:
            body += ["        else:", "            print('else')"]
        if not handlers or r.random() < .6:
            body += ["        finally:", "            print('finally')", "            " + r.choice(["pass", "pass", "pass", "continue", "return 'final'", "break"])]
        return body + ["    return 'end'", self.show(f"{f}()")]

    def branch(self):
        c = lambda: self.of("bool", 0) if self.r.random() < .3 else self.r.choice(["[]", "''", "0", "0.0", "{}", "[0]", "'0'", "None", "()", "set()", "range(0)", "1", "-1", "'a'", "1 < 2 < 3", "1 < 3 < 2", "not []", "1 and 0", "0 or 'x'", "1 == 1.0 == True", "(lambda: 0)", "float('nan')"])
        lines = [f"if {c()}:"] + self.inner()
        if self.r.random() < .5:
            lines += [f"elif {c()}:"] + self.inner()
        return lines + (["else:"] + self.inner() if self.r.random() < .7 else []) + [f"print('yes' if {c()} else 'no')"]

    def loop(self):
        r = self.r
        head = self.pick(lambda: f"for i in {self.of('ints', 0)}:", lambda: f"for i, s in enumerate({self.of('strs', 0)}):", lambda: f"for k in {self.of('dict', 0)}:", lambda: f"for k, v in {self.of('dict', 0)}.items():", lambda: f"for i in range({r.randint(0, 5)}):", lambda: f"for c in {self.of('str', 0)}:", lambda: f"for a, b in zip({self.of('ints', 0)}, {self.of('strs', 0)}):", lambda: "for i in reversed((1, 2, 3)):")
        names = [n for n in ("i", "s", "k", "v", "c", "a", "b") if f" {n} " in head.replace(",", " ").split(" in ")[0] + " "]
        lines = [head, f"    print({', '.join(names)})"]
        if r.random() < .5:
            lines += [f"    if {self.of('bool', 0)}:", "        " + r.choice(["break", "continue"])]
        lines += self.inner(1)
        return lines + (["else:", "    print('else')"] if r.random() < .4 else []) + (["n = 5", "while n:", "    n -= 1", f"    if n == {r.randint(0, 4)}: {r.choice(['break', 'continue'])}", "    print(n, end=' ')", "else:", "    print('done')"] if r.random() < .3 else [])

    def matched(self):
        r = self.r
        value = self.pick("1", "'a'", "(1, 2)", "[1, 2, 3]", "{'k': 1, 'z': 2}", "None", "2.5", "Odder(4)", "[]", "True", "(1, (2, 3))", "'abc'", lambda: self.any(1))
        cases = ["1", "'a' | 'b'", "(x, y)", "[x, *rest]", "{'k': v}" if r.random() < .1 else "(_, _)", "None", "int(x)" if r.random() < .1 else "int()", "str() as s", "float() | bool()", "Odder()", "[1, _, x]", "(x, (y, z))", "[]", "True", "x if x == 5", "int() | str()", "-1", "list() | tuple()"]
        lines = [f"match {value}:"]
        for c in r.sample(cases, 4):
            names = [n for n in ("x", "y", "z", "rest", "v", "s", "c") if n in "".join(ch if ch.isalnum() or ch == "_" else " " for ch in c.replace("'k'", "").replace("'a'", "").replace("'b'", "")).split()]
            lines += [f"    case {c}:", f"        print({', '.join([repr('case ' + c)] + names)})"]
        return lines + ["    case _:", "        print('none')"]

    def managed(self):
        r = self.r
        kind, swallow = r.choice(ERRORS[:6]), r.choice(["", ", Exception", ", ValueError", ", LookupError"])
        return ["try:", f"    with Manager('a'{swallow}) as m{r.choice(['', ', Manager(' + repr('b') + ')'])}:", "        print('in', m.name)", "        " + r.choice([f"raise {kind}('w')" if kind != "Odder" else "raise Odder(3)", "pass", "1 / 0"]), "    print('after')", "except Exception as e:", "    print('out', type(e).__name__, e)"] if r.random() < .6 else [
            "@contextlib.contextmanager", "def managed(n):", "    print('begin', n)", "    try:", "        yield n + 1", "    " + r.choice(["except ValueError as e:\n        print('saw', e)", "finally:\n        print('end')"]), "try:", "    with managed(1) as got:", "        print(got)", "        " + r.choice(["pass", "raise ValueError('v')", "raise KeyError('k')"]), "except Exception as e:", "    print(repr(e))"]

    def walrus(self):
        return self.pick(["if (n := len('abc')) > 2:", "    print(n)"], ["print([y := 1, y ** 2], y)"], ["data = [3, 1, 2]", "while (n := data.pop()) != 3:", "    print(n)"], ["print([last := k for k in range(4)], last)"], ["print(any((hit := k) > 2 for k in [1, 3, 5]), hit)"])

    def sorting(self):
        return [self.show(self.pick("sorted([(1, 'b'), (1, 'a'), (0, 'z')], key=lambda p: p[0])", "sorted(['b', 'A', 'c'], key=str.lower, reverse=True)", "sorted([1, 'a'])", "sorted({'b': 1, 'a': 2})", "sorted([3, 1.5, True])", "max([(1, 2), (1, 3)], key=lambda p: p[0])", "min('hello', key=lambda c: -ord(c))", "sorted([[2], [1, 5], [1]])", "max([])", "sorted([None, 1])", "max(1, 'a')", "sorted('hello', reverse=True)", "sorted([float('nan'), 1.0, 0.5])[0]", "max(1, 1.0)", "max(True, 1)", "min([2, 1], [1, 5])", "sorted([(2, None), (1, None)])", "sorted([(1, None), (1, None)])", "sorted([(1, None), (1, 2)])", "max({'a': 3, 'b': 5}, key={'a': 3, 'b': 5}.get)", "[1, 2] < [1, 3]", "(1, 2) < (1,)", "'a' < 'B'", "[1] < (1,)", "{1} < {1, 2}", "None < 1", "{} < {}"))]

    def deleting(self):
        return self.pick(["x = 1", "del x", self.show("x")], ["d = {'a': 1}", "del d['a']", "print(d)"], ["x = [1, 2, 3]", "del x[0], x[-1]", "print(x)"], ["try:", "    raise ValueError('v')", "except ValueError as e:", "    pass", self.show("e")], ["for i in range(2):", "    pass", "print(i)"], ["d = {'a': 1}", "try:", "    del d['b']", "except KeyError as e:", "    print(repr(e), str(e))"])

    def iterators(self):
        return self.pick(["it = iter([1, 2, 3])", "print(next(it), list(it), list(it))"], [self.show("next(iter(()))")], [self.show("iter(5)")], ["it = iter('ab')", "print(list(zip(it, it)))"], [self.show("list(zip([1, 2], [3], strict=True))")], [self.show("list(zip([1], [3, 4], strict=True))")], ["z = zip([1, 2, 3], 'ab')", "print(list(z), list(z))"], ["e = enumerate('ab', start=5)", "print(next(e), list(e))"], ["m = map(lambda a, b: a + b, [1, 2], [10, 20, 30])", "print(list(m))"], ["it = iter([1, 2, 3, 0, 4].pop, 0)", self.show("list(it)")],
                         [self.show("list(itertools.product([1, 2], 'ab'))")], [self.show("list(itertools.zip_longest([1], [2, 3], fillvalue=0))")], [self.show("[(k, list(g)) for k, g in itertools.groupby('aabbc')]")], [self.show("list(itertools.combinations(range(4), 2))")], [self.show("list(itertools.permutations('abc', 2))")], [self.show("list(itertools.takewhile(lambda k: k < 3, itertools.count()))")], [self.show("list(itertools.chain.from_iterable([[1], [2, 3]]))")], [self.show("list(itertools.repeat(1, 3))")], [self.show("list(itertools.starmap(pow, [(2, 3), (3, 2)]))")], [self.show("list(itertools.islice(itertools.cycle([1, 2]), 5))")], [self.show("list(itertools.pairwise([1, 2, 3]))")], [self.show("list(itertools.compress('abc', [1, 0, 1]))")], [self.show("list(itertools.dropwhile(lambda k: k < 2, [1, 2, 1]))")],
                         [self.show("range(3)[5]")], [self.show("(range(10)[2:5], range(10)[::-1], list(range(0, 10, 3)[1:]), 4 in range(0, 10, 2), range(3) == range(0, 3, 1), len(range(5, 0, -2)), range(5).index(3), range(0))")])

    def partial(self):
        return self.pick(["p = functools.partial(int, base=2)", "print(p('101'), p.func is int, p.args, p.keywords, hasattr(p, '__name__'))"], [self.show("functools.reduce(lambda a, b: a * b, [1, 2, 3, 4])")], [self.show("functools.reduce(max, [])")], ["@functools.lru_cache(maxsize=None)", "def fib(n):", "    print('call', n)", "    return n if n < 2 else fib(n - 1) + fib(n - 2)", "print(fib(4))"], ["@functools.wraps(len)", "def f(): pass", "print(f.__name__, hasattr(f, '__wrapped__'))"], ["p = functools.partial(lambda *a, **k: (a, k), 1, z=2)", "print(p(3), p(4, z=5), functools.partial(p, 6)(y=7))"])

    def library(self):
        return self.pick(["c = collections.Counter('abracadabra')", "print(c.most_common(2), c['z'], sum(c.values()))"], ["d = collections.defaultdict(list)", "d['a'].append(1)", "print(dict(d), 'b' in d, d)"], ["q = collections.deque([1, 2, 3], maxlen=3)", "q.append(4)", "q.appendleft(0)", "print(list(q), q[0], len(q))"], ["o = collections.OrderedDict(a=1, b=2)", "o.move_to_end('a')", "print(list(o))"], ["P = collections.namedtuple('P', 'x y', defaults=[5])", "p = P(1)", "print(p, p.x, p._replace(x=9), p == (1, 5), P._fields, p._asdict())", self.show("p[2]"), self.show("P()"), "x, y = p"],
                         ["class N(NamedTuple):", "    a: int", "    b: str = 'q'", "print(N(1), N(1, 'z').b, N(2) < N(3))"], [self.show("math.gcd(12, 18), math.factorial(5), math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.comb(5, 2), math.perm(5, 2), math.lcm(4, 6), math.prod([1, 2, 3]), math.isqrt(17), math.copysign(1, -0.0), math.inf, math.nan, math.pi")], [self.show(self.pick("math.sqrt(-1)", "math.log(0)", "math.floor(-2.5)", "math.ceil(2.1)", "math.trunc(-2.9)", "math.fmod(-7, 3)", "math.floor(float('inf'))", "math.exp(1000)", "math.factorial(-1)", "math.pow(2, 0.5)", "math.modf(2.5)", "math.frexp(8.0)", "math.fsum([0.1] * 10)", "math.degrees(math.pi)", "math.isnan(float('nan'))", "math.dist([0, 0], [3, 4])", "math.log(8, 2)", "math.sqrt('a')", "math.ldexp(1.5, 3)", "math.cbrt(27)"))],
                         ["a = [[1], [2]]", "b, c = copy.copy(a), copy.deepcopy(a)", "a[0].append(5)", "print(b, c, b[0] is a[0], c[0] is a[0])"], ["c = collections.Counter(a=3, b=1)", "print(c + collections.Counter(b=2), c - collections.Counter(a=1), c)"], ["m = collections.ChainMap({'a': 1}, {'a': 2, 'b': 3})", "print(m['a'], m['b'], sorted(m))"])

    def decorated(self):
        return self.pick(["def twice(f):", "    @functools.wraps(f)", "    def g(*a, **k):", "        return f(f(*a, **k))", "    return g", "@twice", "def inc(x):", "    return x + 1", "print(inc(1), inc.__name__)"], ["def tag(name):", "    def wrap(f):", "        f.tag = name", "        return f", "    return wrap", "@tag('t')", "@tag('u')", "def f(): pass", "print(f.tag)"], ["@staticmethod", "def s(): return 4", "print(s())"], ["def show_args(f):", "    return lambda *a: print(f.__name__, a) or f(*a)", "@show_args", "def add(a, b): return a + b", "print(add(1, 2))"])

    def drawn(self):
        r = self.r
        seed = r.choice(["0", "1", "42", "-5", "123456789012", "'text'", "None and 0 or 3", "2.5", "True", "2**40"])
        lines = [f"random.seed({seed})"]
        for _ in range(r.randint(1, 4)):
            lines.append(self.show(r.choice(["random.random()", "random.uniform(-1, 2.5)", "random.randint(1, 6)", "random.randrange(10)", "random.randrange(2, 20, 3)", "random.choice('abcdef')", "random.choices([1, 2, 3], k=4)", "random.choices('ab', weights=[1, 3], k=3)", "random.sample(range(50), 5)", "random.sample(['a', 'b', 'c'], 2)", "random.gauss(0, 1)", "random.gauss(2.0, 0.5)", "random.normalvariate(1, 2)", "random.betavariate(2, 3)", "random.expovariate(0.5)", "random.getrandbits(10)", "random.getrandbits(40)", "random.triangular(0, 10, 3)", "random.lognormvariate(0, 1)", "random.vonmisesvariate(0, 4)", "random.gammavariate(2, 1)", "random.paretovariate(3)", "random.weibullvariate(1, 2)", "(lambda x: (random.shuffle(x), x)[1])(list(range(8)))", "[random.random() for _ in range(3)]", "random.Random(5).random()", "random.randint(5, 1)", "random.choice([])", "random.sample([1], 2)", "random.randrange(0)", "(lambda g: (g.random(), g.randint(1, 9), g.choice([4, 5])))(random.Random('s'))", "(lambda s: (random.random(), random.setstate(s), random.random()))(random.getstate())[::2]", "random.choices([1, 2], cum_weights=[1, 4], k=3)"])))
        return lines

    def named(self):
        return self.pick(["import math as m", "from math import pi, sqrt as root", "print(m.floor(2.5), round(pi, 3), root(4))"], ["global counted", "counted = 1", "def bump():", "    global counted", "    counted += 1", "bump()", "print(counted)"], ["x = y = [1]", "x.append(2)", "print(x is y, y)"], ["a = b = 3", "a += 1", "print(a, b)"], ["a, b = 1, 2", "a, b = b, a", "print(a, b)"], ["i, xs = 0, [5, 6]", "i, xs[i] = 1, 9", "print(i, xs)"], ["x: int = 5", "y: 'str'", "print(x)"], ["print(*[1, 2], sep='-', end='!\\n')"], ["print('a', 'b', sep='')", "print()", "print(1, None, [1.0], 'x', sep=', ')"], ["assert True, 'no'", "try:", "    assert 1 == 2, (1, 2)", "except AssertionError as e:", "    print(e, e.args)"])

    def chained(self):
        return [self.show(self.pick("(lambda log: (1 < (log.append(1) or 2) < 0 < (log.append(2) or 1), log))([])", "1 < 2 > 1 != 3 is not None", "1 in [1] == True", "not 1 == 2", "-2 ** 2", "2 ** -1", "2 ** 3 ** 2", "-7 // 2, -7 % 3, 7 // -2, 7 % -3, -7.5 // 2, 7.5 % -2", "1 if 0 else 2 if 0 else 3", "~5 & 3 | 4 ^ 1", "1 << 3 + 1", "3 & 2 == 2", "0.1 + 0.2", "1e16 + 1", "True + True", "not 0 and 1 or 2", "5 / 2, 4 / 2, 5 // 2.0", "int(-3.9), int('  42 '), round(2.5), round(3.5), round(-0.5), round(2.675, 2), round(1234, -2)", "float('1e3'), float(' nan '), float('-inf')", "'abc' 'def'", "1_000_000, 0b11, 0o17, 0xFF, 1e3, .5, 5.", "(1).real, (2.5).is_integer(), (3.0).is_integer()", "1 == True, 1.0 == 1, hash(1) == hash(1.0), {1: 'a', True: 'b', 1.0: 'c'}", "[] == [], () == (), [] == (), [1] is [1]", "1 / 0", "1 % 0", "1.0 // 0", "0 ** -1", "(-8) ** 0.5 if False else 1", "int('9' * 5), int(1e15), 10 ** 15", "'x' * 3 + 'y' * 0", "[0] * 3 + [1]", "(1,) * 2", "3 * 'ab'", "1 + None", "[] + ()", "'a' - 'b'", "-'a'", "{} + {}", "1 @ 2", "len(5)", "int([])", "int('')", "float('x')", "abs('a')", "'a' % 1", "'%d' % 'a'", "'%s %s' % 1", "range(1.5)", "[1][1.0]", "'a'[None]", "5[0]", "5()", "None()", "{}[[]]", "{[]: 1}", "chr(-1)", "ord('ab')", "1 < 'a'", "sum(['a'])", "sum([[1], [2]], [])", "max(1)", "int(None)", "round('a')", "list(5)", "dict([1])", "dict([(1, 2, 3)])", "set([[]])", "tuple(None)", "'a'.join([1])", "' '.join('abc')", "'abc'.foo", "[].foo", "(1).foo", "'{} {}'.format(1)", "'{a}'.format(b=1)", "format('a', 'd')", "format(1, 's')", "format(1.5, 'd')", "isinstance(1, 1)", "issubclass(1, int)", "'abc'.replace('a')", "[].append()", "[3, 4].index(5)", "{1, 2}.remove(3)", "(1, 2).index(3)", "next(5)", "zip(1)", "enumerate(1)", "map(1)", "list(map(1, [1]))", "'a'.split('')", "type(1)(2.5), type('')(5), type([])('ab')", "str(), int(), float(), list(), dict(), tuple(), bool(), set()", "repr('a\\'b'), repr(\"a'b\\\"c\"), repr('\\n\\t\\\\'), repr('\\x00\\x7f')", "divmod(-7, 2), divmod(7.5, 2), divmod(-1, 3)", "pow(2, 10), pow(2, -1), pow(2, 5, 3), pow(3, -1, 7)", "bin(5), oct(8), hex(255), bin(-5), hex(-255)", "all([]), any([]), sum([]), sum([1, 2.5]), sum((1, 2), 10)", "''.join(reversed('abc')), list(reversed([1, 2]))", "reversed({1})", "slice(1, 2), slice(None, 5, 2), slice(1, 10, 2)", "[1, 2, 3].__len__(), (5).__add__(3), 'ab'.__contains__('a'), [1].__eq__([1])", "print", "len", "int", "type(None)", "type(1), type('a'), type([]), type(print), type(lambda: 0), type(int)", "NotImplemented", "Ellipsis, ..."))]

    def comprehension(self):
        return self.pick(["x = 'outer'", "print([x for x in range(3)], x)"], ["print({k: v for k, v in zip('ab', range(2))}, sorted({c for c in 'hello'}))"], ["g = (i * i for i in range(4))", "print(next(g), sum(g), list(g))"], ["print([[r * c for c in range(3)] for r in range(2)])"], ["print([(a, b) for a in range(3) for b in range(a) if (a + b) % 2])"], ["n = 3", "print([n * i for i in range(n) if i != n - 1])"], ["print([y for x in [[1, 2], [3]] for y in x])"], ["print([f() for f in [lambda i=i: i for i in range(3)]])"], [self.show("[i for i in 5]")], [self.show("[1 / i for i in (1, 0)]")], ["print([a if a % 2 else -a for a in range(4)])"], ["print([*range(2), *'ab'], {**{'a': 1}, 'b': 2}, (*[1], 2), {*[1]})"], ["class K:", "    n = 2", "    xs = [i for i in range(n)]", "print(K.xs)"], ["d = {i: [] for i in range(2)}", "d[0].append(1)", "print(d)"])

    def asked(self):
        """Special methods by name, of what no class of the program made."""
        names = ["__name__", "__len__", "__call__", "__iter__", "__next__", "__add__", "__setitem__", "__contains__", "__hash__", "__class__", "__bool__", "__float__", "__eq__"]
        value = self.r.choice(["functools.partial(len)", "[]", "len", "1", "'a'", "{}", "(1, 2)", "iter([])", "range(2)", "int", "(lambda: 1)", "set()", "2.5", "None"])
        return [self.show(f"hasattr({value}, '{n}')") for n in self.r.sample(names, 3)] + [self.show(self.pick("[1, 2].__len__()", "(5).__add__(3)", "'ab'.__contains__('a')", "(1).__add__('a')", "int.__add__(1, 2)", "{'a': 1}.__getitem__('a')", "[3].__eq__([3])", "(2).__lt__(3.5)", "'a'.__lt__(1)", "list.__len__([1])", "(7).__floordiv__(2)", "(1.5).__bool__()", "[].__iter__().__next__()", "(4).__rsub__(10)", "len.__call__('ab')"))]

    def sliced(self):
        kind = self.r.choice(["ints", "str", "tuple"])
        name = self.new()
        return [f"{name} = {self.of(kind, 0)}"] + [self.show(f"{name}{self.slicing()}") for _ in range(3)] + [self.show(f"{name}[{self.r.choice(['5', '-9', '0', 'None', 'True', 'slice(1, 3)', '1.5', ':: 0'.replace(' ', ''), '0, 1'])}]")]

    def text_steps(self):
        name = self.new()
        self.names.setdefault("str", []).append(name)
        return [f"{name} = {self.of('str', 0)}"] + [self.show(self.of("str", 2)) for _ in range(3)] + [f"print({name}, repr({name}), len({name}))"]


def program(seed, module=None):
    """The statements of the program of a seed."""
    p = Program(seed)
    objects = Objects(p)
    made = []
    for _ in range(p.r.randint(3, 8)):
        made += objects.statements(module) if p.r.random() < .25 else p.statements(1)
    return made


def lines_of(statements):
    return [line for s in statements for part in s for line in part.split("\n")]
