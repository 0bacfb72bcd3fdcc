"""What programs seldom write: every function and method of the language, called with what fits
it and with what does not; and statements whose errors nobody means to make.

The functions are the rows of fusion/vm/builtins.def: a row that is added is called.
"""
import functools
import os
import re

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fusion", "vm", "builtins.def")
LEFT_OUT = {"__init__", "__new__", "__dir__", "__sizeof__", "id", "print", "slice", "super", "NotImplemented", "classmethod", "staticmethod", "property", "dir"}  # addresses, what differs from release to release, and what other rules call
ONLY_HERE = {("object", "__getattr__"), ("object", "forward"), ("object", "with_traceback"), ("object", "__hash__"), ("object", "__repr__"), ("object", "__str__"), ("object", "__format__"), ("object", "__init_subclass__"), ("tuple", "_replace"), ("tuple", "_asdict"), ("tuple", "numel"), ("dict", "move_to_end"), ("math", "hypot"), ("", "hash"), ("", "vars"), ("", "enumerate"), ("dict", "popitem"), ("str", "splitlines"), ("str", "expandtabs"), ("list", "sort"), ("object", "__delattr__"), ("object", "__setattr__"), ("", "filter"), ("", "int"), ("object", "__getattribute__"), ("", "sorted"), ("object", "__ne__"), ("set", "discard"), ("set", "remove"), ("float", "item"), ("int", "item")} | {("slot", f"__{n}__") for n in ("rmul", "imul", "mod", "pow", "setattr", "delattr", "ne", "ior", "add", "mul", "rpow", "iadd", "format", "hash", "round")}
NEWER = {("str", "replace")}  # keywords that CPython takes since 3.13 alone
SCOPES = {"", "math", "list", "tuple", "dict", "str", "range", "set", "frozenset", "float", "int", "slot", "object"}


@functools.cache
def rows():
    """(scope, name, least, most, keywords) of each row that CPython has too."""
    with open(TABLE) as file:
        found = re.findall(r'(?m)^(?:BUILTIN|IMPURE)\("(\w*)",\s*"(\w+)",\s*\w+,\s*(\d+),\s*(-?\d+),\s*"([^"]*)"', file.read())
    return [(s, n, int(a), int(b), k) for s, n, a, b, k in found if s in SCOPES and n not in LEFT_OUT and (s, n) not in ONLY_HERE]


OBJECTS = ["[]", "[3, 1, 2]", "(1, 'a')", "{'a': 1}", "{1, 2}", "'text'", "5", "2.5", "None", "True", "range(3)", "iter([1])", "len", "int", "ValueError('v')", "(lambda a: a)", "Odd", "slice(1, 2)", "...", "frozenset([1])", "functools.partial(len)", "float('nan')", "(i for i in (1, 2))", "{}.keys()", "zip([1])", "type", "'é'", "-1", "1e300", "-0.0"]
OF_SCOPE = {"list": ["[]", "[3, 1, 2]", "['b', 'a']", "[1, 1]", "[[1], 2]"], "tuple": ["()", "(1, 'a', 1)"], "dict": ["{}", "{'a': 1, 'b': 2}", "{1: 'x', None: 2}"], "str": ["''", "'text'", "'a b,c'", "'12'", "'É x'", "'a\\tb'", "'%s'"], "range": ["range(3)", "range(9, 1, -2)"], "set": ["set()", "{1, 2}", "{'a'}"],
            "frozenset": ["frozenset([1, 2])"], "float": ["2.5", "3.0", "float('inf')"], "int": ["5", "-7", "0", "True"], "object": ["Odd('o')", "5"], "math": [], "": [], "slot": ["5", "-2", "2.5", "'ab'", "[1, 2]", "(1, 2)", "{'a': 1}", "{1, 2}", "range(4)", "True", "None", "len"]}


class Rare:
    """A part of the grammar's Program."""

    def odd(self, expression):
        """Its value, or the type of its error: what such errors say is another matter."""
        return f"odd(lambda: {expression})"

    def argument(self):
        return self.pick(lambda: self.r.choice(OBJECTS), lambda: self.of_int(0), lambda: self.of_float(0), lambda: self.of_str(0), lambda: self.of_ints(0), lambda: self.of_strs(0), lambda: self.any(1))

    def fitting(self, scope, name):
        """An argument that the function may well take."""
        if scope == "math":
            return self.pick(lambda: self.of_float(0), lambda: self.of_int(0), lambda: self.of_float(1), "0.5", "-2", "3", "True", "'x'" if self.r.random() < .1 else "1.5")
        if scope == "str":
            return self.pick(lambda: self.of_str(0), "'a'", "','", "' '", "3", "None", "('a', 't')")
        if scope in ("set", "frozenset"):
            return self.pick(lambda: self.of_ints(0), lambda: self.of_set(0), "'ab'", "2")
        if scope == "slot":
            return self.pick(lambda: self.of_int(0), lambda: self.of_float(0), "'a'", "[1]", "0", "slice(0, 1)")
        return self.argument()

    def called(self):
        """A row of the table, with as many arguments as it takes, or one more or less."""
        r = self.r
        scope, name, least, most, keywords = r.choice(rows())
        n = r.choice([least, max(most, least), r.randint(least, most if most >= 0 else least + 3)]) + r.choice([0, 0, 0, 0, 0, 0, 1, -1])
        args = [self.fitting(scope, name) if r.random() < .75 else self.argument() for _ in range(max(0, n))]
        if keywords not in ("", "*") and r.random() < .35:
            named = f"{r.choice(keywords.split() + ['other'])}={self.argument()}"
            args = args[:least] + ([named] if (scope, name) not in NEWER else [])
        if scope in ("", "math"):
            made = f"{'math.' if scope else ''}{name}({', '.join(args)})"
        elif scope == "object" and r.random() < .5:
            made = f"object.{name}({', '.join([r.choice(OF_SCOPE['object'])] + args)})"
        else:
            subject = r.choice(OF_SCOPE[scope]) if r.random() < .9 or scope == "slot" else self.argument()
            subject = f"({subject})" if not subject.startswith(("[", "(", "'", "{")) else subject
            if scope != "slot" and r.random() < .2:
                made = f"{scope}.{name}({', '.join([subject] + args)})"
            else:
                made = f"{subject}.{name}({', '.join(args)})"
        if scope == "list" and args[:1] != ["self"] and r.random() < .5:
            return [f"odd(lambda: (lambda v: (v.{name}({', '.join(args)}), v))({r.choice(OF_SCOPE['list'])}))"]
        if scope == "set":
            return [f"odd(lambda: (lambda v: (type(v.{name}({', '.join(args)})).__name__, sorted(v)))({r.choice(OF_SCOPE['set'])}))"] if name != "pop" else [f"odd(lambda: (lambda v: (v.pop() in (1, 2, 'a'), len(v)))({r.choice(OF_SCOPE['set'])}))"]
        if any(w in made for w in ("set(", "{1", "{2", "{3", "{-")) or name in ("union", "copy", "difference", "intersection", "symmetric_difference"):
            return [f"odd(lambda: settled({made}))"]
        return [f"odd(lambda: settled({made}))"]

    def odd_operator(self):
        """An operator between any two things."""
        r, a, b = self.r, self.argument(), self.argument()
        if a in ("Odd", "int", "type"):  # whose items and attributes are of typing
            a = "len"
        op = r.choice(["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "@", "<", "<=", "==", "!=", "in", "not in", "is", "and", "or"])
        if op in ("is",):
            b = r.choice(["None", "True"])
        if op in ("**", "<<", "*"):
            b = r.choice(["3", "0", "-1", "'a'", "None", "2.5", "True"])
        return [r.choice([f"odd(lambda: settled({a} {op} {b}))", f"odd(lambda: settled({r.choice(['-', '+', '~', 'not '])}{a}))", f"odd(lambda: settled(({a})[{b}]))", f"odd(lambda: settled({a}.{r.choice(['real', 'imag', '__name__', 'start', 'args', 'numerator', 'denominator', 'nothing'])}))",
                          f"v = {self.r.choice(['[1, 2, 3]', '(1, 2)', repr('ab'), '5', '{1: 2}', '2.5'])}\ntry:\n    v {r.choice(['+', '-', '*', '/', '//', '%', '|', '&', '^', '<<'])}= {b}\nexcept Exception as e:\n    print(type(e).__name__)\nprint(v)"])]

    def odd_store(self):
        """Stores and deletions that do not fit."""
        r = self.r
        v, i, x = self.r.choice(["[1, 2, 3, 4]", "(1, 2)", "'ab'", "{'a': 1}", "5", "None", "range(3)", "{1}", "[[1], [2]]"]), r.choice(["0", "-1", "9", "'a'", "1:2", "::2", "::-1", "1:1", "None", "1.5", "2:0", "[]", ":"]), r.choice(["7", "[8, 9]", "'xy'", "(1,)", "[]", "None", "range(2)", "[5, 6, 7, 8]"])
        return [f"v = {v}", "try:", f"    {r.choice([f'v[{i}] = {x}', f'del v[{i}]', f'v[{i}] += {x}', 'v.name = 1', 'del v.name', f'v[0][0] = {x}', f'v[{i}], w = 1, 2'])}", "except Exception as e:", "    print(type(e).__name__)", "print(settled(v))"]

    def odd_format(self):
        """Texts by patterns that may be wrong."""
        r = self.r
        if r.random() < .5:
            pattern = r.choice(["{", "}", "{}{", "{0", "{!x}", "{0!}", "{0!r:>5}", "{:{}}", "{:{}", "{0.}", "{0[}", "{0[]}", "{0[a]b}", "{0.real}", "{0[0]}", "{x!s:^7}", "{x!q}", "{:>{w}.{w}}", "}}{{", "{0}{}", "{}{0}", "{y}", "{9}", "{0!a}", "{:{{}}", "{0:}}", "{x.y}", "{0!r", "{!r}", "{:5!r}", "{0:{1}}", "{-1}", "{ }", "{a b}", "{0:\\n>5}"])
            return [f"odd(lambda: {pattern!r}.format({self.argument()}, {r.choice(['4', repr('>'), '[1]', repr('z')])}, x={self.argument()}, w={r.randint(0, 6)}))"]
        pattern = r.choice(["%", "%%", "%d%", "%(a)d", "%(a)", "%5", "%y", "% d", "%c%c", "%s", "%#o", "%(k)s %(k)r", "%5.2s", "%i", "%e", "%G", "%ld", "%r %a", "%05c", "%x", "%.3d", "%#.3x", "%-+5d|"])
        values = r.choice(["{0}", "({0},)", "({0}, {1})", "({0}, {1}, {2})", "{{'a': {0}, 'k': {1}}}", "()", "[{0}]"]).format(self.argument(), self.argument(), r.choice(["3", "2.5"]))
        return [f"odd(lambda: {pattern!r} % {values})"]

    def odd_class(self):
        """Special methods that answer wrongly, and classes that cannot be."""
        r, c = self.r, self.new("W")
        name, answer, ask = r.choice([("__len__", "'x'", "len(o)"), ("__len__", "-1", "len(o)"), ("__bool__", "1", "bool(o)"), ("__str__", "5", "str(o)"), ("__repr__", "None", "repr(o)"), ("__iter__", "5", "list(o)"), ("__next__", "1", "next(o)"), ("__index__", "'i'", "[1][o]"), ("__int__", "2.5", "int(o)"), ("__float__", "1", "float(o)"), ("__format__", "3", "f'{o}'"), ("__hash__", "'h'", "hash(o)"), ("__hash__", "7", "{o: 1}[o]"),
                                      ("__init__", "1", f"{c}()"), ("__contains__", "'yes'", "(1 in o)"), ("__getattr__", "4", "(o.x, hasattr(o, 'q'))"), ("__enter__", "1", "exec_with(o)"), ("__call__", "a", "o(1, k=2)"), ("__eq__", "'same'", "(o == 1, [o].count(1))"), ("__lt__", "None", "sorted([o, o])"), ("__reversed__", "[1]", "list(reversed(o))"), ("__getitem__", "a[0]", "(o[3], list(zip(o, 'ab')), o['k'])"), ("__missing__", "1", "o['q']"), ("__neg__", "NotImplemented", "-o"),
                                      ("__add__", "NotImplemented", "o + 1"), ("__radd__", "a", "sum([o])"), ("__iadd__", "NotImplemented", "iadd(o)"), ("__pow__", "a", "(o ** 2, pow(o, 2))"), ("__divmod__", "(1, 2)", "divmod(o, 3)"), ("__round__", "'r'", "(round(o), round(o, 1))"), ("__trunc__", "4", "math.trunc(o)"), ("__floor__", "4", "math.floor(o)"), ("__ceil__", "4", "math.ceil(o)"), ("__delitem__", "None", "del_item(o)"), ("__set__", "None", "o"), ("__getattribute__", "5", "(o.x, o.y)"), ("__class_getitem__", "3", f"{c}[1]"), ("__abs__", "None", "abs(o)"), ("__complex__", "1", "abs(o)")])
        made = [f"class {c}:", f"    def {name}(self, *a, **k):", f"        return {answer}", "def exec_with(o):", "    with o:", "        return 1", "def iadd(o):", "    o += 1", "    return o", "def del_item(o):", "    del o[1]"]
        made += ["try:", f"    o = {c}()", "except Exception as e:", "    print(type(e).__name__)", f"    o = None", f"odd(lambda: settled({ask}))"]
        return self.pick(made, made, made, ["try:", f"    class {c}({r.choice(['5', 'len', repr('x'), 'object, object', 'bool', 'None', '[]', 'Odd, Exception', 'Exception, Odd', 'Odd, Odder', 'type(None)', 'range'])}):", "        pass", "    print('made')", "except Exception as e:", "    print(type(e).__name__)"])

    def odd_scope(self):
        """Names that come and go."""
        g, r = self.new("g"), self.r
        return self.pick(
            [f"global {g}", f"{g} = 1", f"def drop():", f"    global {g}", f"    del {g}", "drop()", self.odd(g), "try:", "    drop()", "except NameError as e:", "    print(e)"],
            ["def outer():", "    a = 1", "    def inner():", "        nonlocal a", "        del a", "    inner()", "    try:", "        return a", "    except NameError as e:", "        return type(e).__name__, str(e)", "print(outer())"],
            ["class K:", "    a = 1", "    b = a + 1", "    del a", "    try:", "        del zz", "    except NameError as e:", "        c = str(e)", "print(hasattr(K, 'a'), K.b, K.c)"],
            ["def f():", "    del x", "try:", "    f()", "except Exception as e:", "    print(type(e).__name__)"] if r.random() < .5 else ["def f():", "    x = 1", "    del x", "    del x", "try:", "    f()", "except Exception as e:", "    print(type(e).__name__)"],
            ["def f():", "    for i in range(2): pass", "    del i", "    return i", self.odd("f()")], ["try:", "    import nothing_here", "except ImportError as e:", "    print(type(e).__name__)"], ["try:", "    raise 5", "except TypeError:", "    print(1)"], ["try:", "    raise", "except RuntimeError as e:", "    print(e)"], ["try:", "    raise Odd from 5", "except TypeError:", "    print(1)"],
            ["try:", "    try:", "        raise Odd('a')", "    except 5:", "        pass", "except TypeError:", "    print(1)"], ["class E(Exception):", "    def __init__(self):", "        raise KeyError('in init')", "try:", "    raise E", "except KeyError as e:", "    print(repr(e))"], ["try:", "    with 5: pass", "except Exception as e:", "    print(type(e).__name__)"], ["class N:", "    def __enter__(self): return 1", "try:", "    with N(): pass", "except Exception as e:", "    print(type(e).__name__)"],
            ["e = Odd('a')", "print(e.with_traceback(None) is e)", self.odd("e.args"), "e2 = Odd(1, 2)", "print(e2, repr(e2))"], ["def f(*, a): return a", self.odd("f(**{1: 2})"), self.odd("f(a=1, **{'a': 2})"), self.odd("f(1)")], ["print(object() == object(), object.__eq__(1, 1), object.__ne__(1, 2))", self.odd("object.__init__(object(), 1)"), self.odd("object(1)"), self.odd("object.__setattr__(5, 'a', 1)"), self.odd("object.__getattribute__(Odd('a'), 'args')"), self.odd("object.__getattribute__(5)")],
            ["class P:", "    @property", "    def v(self): return 1", "    @v.setter", "    def v(self, x): print('set', x)", "    @v.deleter", "    def v(self): print('gone')", "    w = v.getter(lambda self: 7)", "o = P()", "o.v = 2", "del o.v", "print(o.v, o.w)"], ["class S:", "    __slots__ = ('a',)", "o = S()", self.odd("o.a"), "o.a = 1", "del o.a", self.odd("o.a")], ["class B:", "    def m(self): return 1", "o = B()", "print(o.m.__name__, o.m.__self__ is o, o.m.__func__ is B.m, o.m == o.m, B.m == B.m, len == len, [].append == [].append, o.m is o.m)"],
            ["d = {}", "d[o := 'k'] = 1", "print(d == {'k': 1}, d == {'k': 2}, {'a': [1]} == {'a': [1]}, {'a': 1} != {}, [{'a': 1}] == [{'a': 1}], {1: {2: 3}} == {1: {2: 4}})", "print(slice(1, 2) == slice(1, 2), slice(1) == slice(2), range(3) == range(3), {slice} == {slice}, {(1.5, 'a'): 1}[(1.5, 'a')], {2.5: 'x'}[2.5], {len: 1}[len], {int: 2}[int])"], ["i = iter([1, 2, 3])", "print(bool({}.keys()), bool({1: 2}.items()), bool(i), bool(range(0)), bool(slice(0)), i.__iter__() is i)"],
            ["def g():", "    yield 1", "it = g()", self.odd("it.throw(5)"), self.odd("it.throw(KeyError, 'k')"), "def h():", "    try:", "        yield 1", "    except GeneratorExit:", "        yield 2", "it = h()", "next(it)", self.odd("it.close()"), "def again():", "    yield next(me)", "me = again()", self.odd("next(me)"), "def stops():", "    raise StopIteration(3)", "    yield", self.odd("list(stops())"), self.odd("g().send(5)")],
            ["P = collections.namedtuple('P', 'x, y z')", self.odd("P(1, 2)"), self.odd("P(1, 2, 3, 4)"), self.odd("P(1, 2, q=3)"), self.odd("P(1, y=2, z=3)"), self.odd("P(1, x=2)"), self.odd("P(1, 2, 3)._replace(q=1)"), self.odd("collections.namedtuple('Q', 'a b', defaults=[1, 2, 3])"), self.odd("P(1, 2, 3).nothing"), self.odd("collections.namedtuple('Q', ['a', 5])")],
            ["import typing", "T = typing.TypeVar('T')", "UserId = typing.NewType('UserId', int)", "@typing.final", "class F: pass", "@typing.no_type_check", "def f(x: typing.List[int]) -> typing.Optional[int]: return typing.cast(int, x)", "print(UserId(5), f(3), isinstance(F(), F))"], ["from collections.abc import Iterable, Mapping, Callable, Sized, Sequence, Hashable, Iterator", f"print([isinstance({r.choice(OBJECTS[:11])}, t) for t in (Iterable, Mapping, Callable, Sized, Sequence)])"],
            ["s, d = {1, 2}, {'a': [1]}", "b = copy.deepcopy((s, d, range(2), None))", "b[1]['a'].append(2)", "print(sorted(b[0]), b[1], d, copy.copy(s) == s, copy.copy((1, [2])), copy.deepcopy(Odd) is Odd)"], ["class R:", "    def __len__(self): return 3", "    def __getitem__(self, i): return i * 2 if i < 2 else 9", "print(list(reversed(R())))"],
            ["class It:", "    def __init__(self): self.n = 0", "    def __iter__(self): return self", "    def __next__(self):", "        self.n += 1", f"        if self.n > 3: raise {r.choice(['StopIteration', 'StopIteration(5)', 'KeyError(1)'])}", "        return self.n", self.odd("list(It())"), self.odd("[k for k in It()]"), self.odd("sum(It())"), self.odd("dict(zip(It(), 'ab'))"), self.odd("(lambda a, b, c: a)(*It())"), self.odd("2 in It()"), self.odd("next(It(), 9)"), self.odd("max(It())"), self.odd("list(map(str, It()))"), "a, *b = [7] + [*It()] if 0 else [7]", self.odd("sorted(It(), reverse=True)"), self.odd("iter(It()).n")],
            ["class C:", "    __call__ = functools.partial(max, 1)", "    __len__ = lambda self: 3", "    __bool__ = None", "    __iter__ = property(lambda self: lambda: iter('xy'))", "o = C()", self.odd("o(5)"), self.odd("len(o)"), self.odd("bool(o)"), self.odd("list(o)"), "x: list[int] = []", "def f(a: dict[str, int] = None) -> tuple[int, ...]: return a", "print(f({'a': 1}), isinstance(x, list))"],
            ["class Sub(Odd):", "    extra = 1", "    def __init__(self, a, b=2):", "        super().__init__(a)", "        self.b = b", "class Sub2(Sub, ValueError): pass", "try:", "    raise Sub2('x', b=5)", "except (KeyError, ValueError) as e:", "    print(e, e.b, e.args, isinstance(e, Odd), Sub2.__mro__[1].__name__)", "try:", "    try:", "        raise KeyError('k')", "    finally:", "        print('finally')", "except Exception as e:", "    print(repr(e))"] if r.random() < .5 else ["def f(n):", "    try:", "        if n == 0: return 'zero'", "        if n == 1: raise Odd('one')", "        if n == 2: 1 / 0", "    except Odd as e:", "        return 'odd'", "    else:", "        return 'else'", "    finally:", "        print('f', n)", "for n in range(4):", "    odd(lambda: f(n))"],
            ["a = [1, 2, 3, 4, 5]", f"a[{r.choice(['::2', '1::2', '::-1', '4:0:-2'])}] = {r.choice(['[7, 8, 9]', '[7, 8]', '(k for k in [1, 2, 3, 4, 5])', 'range(3)'])}" if False else "a[::2] = [7, 8, 9]", "a[1:3] = []", "a[1:1] = 'xy'", "a[-1:] *= 2" if False else "a += (9,)", "del a[::2]", "print(a, a[::-1], a[5:1:-2], a * 2)", self.odd("a.__setitem__(slice(None, None, 2), [1])"), "t = (1, [2])", "try:", "    t[1] += [3]", "except TypeError:", "    print(t)"],
            ["try:", "    print(1, sep=5)", "except TypeError as e:", "    print(type(e).__name__)", "print('a', 'b', end=None)", "print(1, 2, sep=None, flush=True)"], ["import time, warnings", "t = time.perf_counter()", "time.sleep(0)", "print(time.time_ns() > 0, time.monotonic() >= 0, t <= time.perf_counter())", "warnings.simplefilter('ignore')", "warnings.warn('w')"], ["d = {'a': 1, 'b': 2}", "d.clear()", "print(d)", "l = [1]", "l.clear()", "print(l)", "s = {1, 2, 3}", "s.intersection_update([1, 2])", "s.difference_update({1})", "s.symmetric_difference_update([7])" if r.random() < .5 else "pass", "print(sorted(s))", "s.clear()", self.odd("s.pop()")])
