"""Random expressions by type: what the programs of grammar.py compute with."""

WORDS = ["'a'", "'ab'", "'Hello'", "''", "'x y z'", "'a,b,,c'", "'12'", "'-7'", "' pad '", "'ünï'", "'a\\tb\\n'",
         "'CamelCase'", "'snake_case'", "'3.5'", "\"it's\"", "'%s'", "'{}'", "'0x1f'", "'aaa'", "'tEsT'", "'日本'"]
FLOATS = ["0.0", "-0.0", "1.0", "0.1", "2.5", "-3.75", "1e10", "1e16", "1e-7", "123456.789", "1e22", "5e-324", "0.5",
          "1.5", "float('inf')", "float('nan')", "3.14159", "1e100", "-1e-5", "100.0", "99999.5", "1/3"]
# format specifications, by what they are given
INT_SPECS = ["", "d", "5", "<5", ">5", "^6", "05", "+", "+d", " ", "x", "X", "o", "b", "#x", "#b", "#o", "#X", ",", "_", "e", ".2f",
             "08.3f", "%", "g", "c", "*^9", "=+7", "010,", "_b", "_x", "n", "G", "-", "<05", "#010x", "s", ".3", "z"]
FLOAT_SPECS = ["", "f", ".0f", ".1f", ".3f", "8.2f", "<8.2f", "+.2f", " .1f", "e", ".2e", "E", ".3E", "g", ".3g", "G", "%", ".1%",
               "010.3f", ",", ",.2f", "_", "_.1f", "*^12", "=+9.1f", "#.0f", "#g", ".10g", "n", "z.1f", ".0e", ".0%", "5", "+", "d", "x", ".17g"]
STR_SPECS = ["", "s", "10", "<10", ">10", "^10", "*^11", ".2", "6.1", "->8", "10s", ".0s", "010", "d", "=5", "+"]
PERCENT = [("d", "int"), ("5d", "int"), ("-5d", "int"), ("05d", "int"), ("+d", "int"), ("x", "int"), ("#x", "int"), ("o", "int"), ("X", "int"),
           ("i", "int"), ("u", "int"), ("c", "int"), ("s", "any"), ("r", "any"), ("a", "str"), ("10s", "str"), ("-10s", "str"), (".2s", "str"),
           ("f", "float"), (".2f", "float"), ("8.3f", "float"), ("e", "float"), (".3e", "float"), ("g", "float"), (".4g", "float"), ("G", "float"),
           ("+.1f", "float"), ("08.2f", "float"), (" d", "int"), ("d", "float"), ("f", "int"), ("d", "str"), ("-08.1f", "float"), ("#o", "int")]
KINDS = ["int", "float", "bool", "str", "ints", "strs", "tuple", "dict", "set", "none"]


class Values:
    """Expressions; `names` has the variables of each kind that stand in scope."""

    def __init__(self, r):
        self.r = r
        self.names = {}
        self.fresh = 0

    def pick(self, *choices):
        """One of them; a function is called only where it is the one."""
        c = self.r.choice(choices)
        return c() if callable(c) else c

    def new(self, prefix="v"):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def any(self, d=2):
        kind = self.r.choice(KINDS)
        return f"sorted({self.of(kind, d)})" if kind == "set" else self.of(kind, d)

    def of(self, kind, d=2):
        if kind == "any":
            return self.any(d)
        known = self.names.get(kind)
        if known and self.r.random() < .35:
            return self.r.choice(known)
        return getattr(self, "of_" + kind)(d)

    def of_none(self, d):
        return "None"

    def of_int(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(["0", "1", "-1", "2", "3", "7", "10", "-5", "255", "1000", "True", "-13", "64", "4096"])
        x, y = lambda: e("int", d - 1), lambda: e("int", d - 1)
        return self.pick(
            lambda: e("int", 0), lambda: f"({x()} {r.choice(['+', '-', '*', '//', '%', '&', '|', '^'])} {y()})",
            lambda: f"({x()} {r.choice(['<<', '>>'])} {r.randint(0, 8)})", lambda: f"({x()} ** {r.randint(0, 3)})",
            lambda: f"({r.choice(['-', '+', '~'])}{x()})", lambda: f"len({e(r.choice(['str', 'ints', 'tuple', 'dict', 'set']), d - 1)})",
            lambda: f"sum({e('ints', d - 1)})", lambda: f"int({e(r.choice(['float', 'str', 'bool']), d - 1)})",
            lambda: f"({x()} if {e('bool', d - 1)} else {y()})", lambda: f"{r.choice(['max', 'min'])}({x()}, {y()})",
            lambda: f"{r.choice(['max', 'min'])}({e('ints', d - 1)}, default={y()})", lambda: f"abs({x()})", lambda: f"round({e('float', d - 1)})",
            lambda: f"{e('ints', d - 1)}[{r.randint(-3, 3)}]", lambda: f"{e('str', d - 1)}.{r.choice(['find', 'index', 'count', 'rfind', 'rindex'])}({e('str', 0)})",
            lambda: f"{e('ints', d - 1)}.{r.choice(['count', 'index'])}({y()})", lambda: f"divmod({x()}, {y()})[{r.randint(0, 1)}]",
            lambda: f"({x()} {r.choice(['and', 'or'])} {y()})", lambda: f"ord({e('str', 0)}[0])", lambda: f"pow({x()}, {r.randint(0, 4)}, {r.choice([2, 7, 10])})",
            lambda: f"int({r.choice(['10', '0x1f', '-11', '77', '0b101', ' 5 ', '1_0'])!r}, {r.choice([2, 8, 10, 16, 0, 36])})", lambda: f"({x()}).bit_length()",
            lambda: f"round({x()}, {r.randint(-2, 1)})", lambda: f"hash({x()})", lambda: f"int({x()} / {r.randint(1, 9)})")

    def of_float(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(FLOATS)
        x, y = lambda: e("float", d - 1), lambda: e(r.choice(["float", "int"]), d - 1)
        return self.pick(
            lambda: e("float", 0), lambda: f"({x()} {r.choice(['+', '-', '*', '/', '//', '%', '**'])} {y()})", lambda: f"({e('int', d - 1)} / {e('int', d - 1)})",
            lambda: f"float({e(r.choice(['int', 'str', 'bool']), d - 1)})", lambda: f"round({x()}, {r.randint(-2, 4)})", lambda: f"abs({x()})",
            lambda: f"math.{r.choice(['sqrt', 'floor', 'exp', 'log', 'sin', 'fabs', 'trunc', 'ceil', 'log2', 'atan', 'erf', 'tanh'])}({y()})",
            lambda: f"-{x()}", lambda: f"{r.choice(['max', 'min'])}({x()}, {y()})", lambda: f"divmod({x()}, {y()})[{r.randint(0, 1)}]")

    def of_bool(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(["True", "False"])
        kind = r.choice(["int", "float", "str", "ints", "tuple", "set"])
        x, y = lambda: e(kind, d - 1), lambda: e(kind, d - 1)
        return self.pick(
            lambda: f"({x()} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {y()})", lambda: f"({x()} < {y()} <= {x()})", lambda: f"({self.any(d - 1)} == {self.any(d - 1)})",
            lambda: f"(not {self.any(d - 1)})", lambda: f"({e('bool', d - 1)} {r.choice(['and', 'or', '&', '|', '^', '==', '!=', 'is', 'is not'])} {e('bool', d - 1)})",
            lambda: f"({self.any(d - 1)} {r.choice(['in', 'not in'])} {e(r.choice(['ints', 'tuple', 'dict', 'set', 'strs']), d - 1)})", lambda: f"({e('str', d - 1)} in {e('str', d - 1)})",
            lambda: f"isinstance({self.any(d - 1)}, {r.choice(['int', 'str', '(int, float)', 'list', 'tuple', 'dict', 'bool', 'object', 'type(None)', 'int | str'])})",
            lambda: f"{r.choice(['any', 'all'])}({e('ints', d - 1)})", lambda: f"bool({self.any(d - 1)})", lambda: f"({self.any(d - 1)} is None)",
            lambda: f"{e('str', d - 1)}.{r.choice(['startswith', 'endswith'])}({e('str', 0)})", lambda: f"{e('str', d - 1)}.{r.choice(['isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'isalnum', 'istitle', 'isidentifier', 'isnumeric', 'isdecimal', 'isascii', 'isprintable'])}()",
            lambda: f"({self.view(d)} {r.choice(['==', '!=', '<', '<=', '>', '>='])} {self.view(d)})", lambda: f"{self.view(d)}.isdisjoint({e('ints', d - 1)})",
            lambda: f"{e('set', d - 1)}.{r.choice(['issubset', 'issuperset', 'isdisjoint'])}({e(r.choice(['set', 'ints']), d - 1)})", lambda: f"callable({r.choice(['len', '1', 'int', 'None'])})",
            lambda: f"hasattr({r.choice(['len', 'int', '1', '[]', 'functools.partial(len)', 'functools.partial', '(lambda: 1)', 'str.lower', '(1, 2)', 'iter([])', '{}', 'None', 'print', 'Exception', 'ValueError()', 'range(3)', '1.5', '(i for i in ())', 'property()', 'object', 'object()'])}, '{r.choice(['__name__', '__len__', '__call__', '__iter__', '__next__', '__dict__', '__class__', '__eq__', '__hash__', '__add__', '__self__', '__init__', '__module__', '__contains__', '__getitem__', 'items', 'append', '__qualname__', '__lt__', '__str__', '__setitem__', '__enter__', '__wrapped__', '__code__', '__bool__', '__float__'])}')")

    def view(self, d):
        return f"{self.of('dict', d - 1)}.{self.r.choice(['keys', 'items', 'keys'])}()"

    def of_str(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(WORDS)
        s = lambda: e("str", d - 1)
        return self.pick(
            lambda: e("str", 0), lambda: f"({s()} + {s()})", lambda: f"({s()} * {r.randint(-1, 3)})", lambda: f"str({self.any(d - 1)})", lambda: f"repr({self.any(d - 1)})",
            lambda: f"{s()}.{r.choice(['upper', 'lower', 'title', 'strip', 'lstrip', 'rstrip', 'capitalize', 'swapcase', 'casefold'])}()", lambda: f"{s()}{self.slicing()}",
            lambda: f"{s()}[{r.randint(-3, 3)}]", lambda: f"{s()}.replace({e('str', 0)}, {e('str', 0)}{r.choice(['', ', 1'])})", lambda: f"{s()}.join({e('strs', d - 1)})",
            lambda: f"{s()}.{r.choice(['center', 'ljust', 'rjust'])}({r.randint(0, 9)}{r.choice(['', ', ' + repr('*')])})", lambda: f"{s()}.zfill({r.randint(0, 7)})", lambda: f"{s()}.strip({e('str', 0)})",
            lambda: f"{s()}.{r.choice(['removeprefix', 'removesuffix'])}({e('str', 0)})", self.format, self.fstring, self.format_method, lambda: self.percent(), lambda: f"{r.choice(['hex', 'oct', 'bin'])}({e('int', d - 1)})",
            lambda: f"chr({r.choice([65, 97, 233, 8364, 48])})", lambda: f"ascii({s()})", lambda: f"{s()}.expandtabs({r.randint(1, 8)})", lambda: f"type({self.any(d - 1)}).__name__", lambda: f"({s()} or {s()})",
            lambda: f"{r.choice(['max', 'min'])}({e('strs', d - 1)}, key={r.choice(['len', 'str.lower', 'lambda s: s[::-1]'])}, default='')")

    def slicing(self):
        part = lambda: self.pick("", lambda: str(self.r.randint(-4, 4)))
        return f"[{part()}:{part()}{self.pick('', ':', ':-1', ':2', ':-2', ':3')}]"

    def spec(self):
        kind = self.r.choice(["int", "float", "str", "bool"])
        return kind, self.r.choice({"int": INT_SPECS, "bool": INT_SPECS, "float": FLOAT_SPECS, "str": STR_SPECS}[kind])

    def format(self):
        kind, spec = self.spec()
        return f"format({self.of(kind, 1)}, {spec!r})"

    def fstring(self):
        parts = []
        for _ in range(self.r.randint(1, 3)):
            kind, spec = self.spec()
            inner = self.of(kind, 0)
            if "'" in inner or '"' in inner or "\\" in inner or "{" in inner:
                kind, spec, inner = "int", self.r.choice(INT_SPECS), self.of_int(0)
            how = self.pick("", "", "!r", "!s", "!a", "=")
            spec = self.pick(lambda: ":" + spec if spec and how in ("", "=") else "", lambda: ":{6}" if how in ("", "=") else "", lambda: ":>{2 + 4}.{3}" if kind == "float" and how == "" else "")
            parts.append("{" + inner + how + spec + "}" + self.pick("", "-", " ", "{{", "}}"))
        return "f'" + "".join(parts) + "'"

    def format_method(self):
        kind, spec = self.spec()
        pattern = self.pick("{}", "{0}", "{0!r}", "{:%s}" % spec, "{0:%s}|{0}" % spec, "{x:%s}" % spec, "{x}", "{:>{w}}", "{1}{0}", "{} {}", "{0[1]}", "{x[0]}", "{{{}}}", "{x.real}", "{0:{1}}")
        return f"{pattern!r}.format({self.of(kind, 0)}, {self.pick('4', '[1, 2]', repr('>6'))}, x={self.of(kind, 0)}, w={self.r.randint(0, 9)})"

    def percent(self):
        n = self.r.randint(1, 3)
        chosen = [self.r.choice(PERCENT) for _ in range(n)]
        pattern = self.r.choice(["", "a"]) + " ".join("%" + c for c, _ in chosen) + self.r.choice(["", "%%", "|"])
        if self.r.random() < .2:
            c, kind = chosen[0]
            return f"('%(k){c} %(k)s' % {{'k': {self.of(kind, 0)}}})"
        values = ", ".join(self.of(k, 0) for _, k in chosen)
        return f"({pattern!r} % ({values},))"

    def of_ints(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return "[" + ", ".join(str(r.randint(-9, 9)) for _ in range(r.randint(0, 5))) + "]"
        x = lambda: e("ints", d - 1)
        i = self.new("i")
        return self.pick(
            lambda: e("ints", 0), lambda: f"({x()} + {x()})", lambda: f"({x()} * {r.randint(-1, 3)})", lambda: f"{x()}{self.slicing()}", lambda: f"sorted({x()}{r.choice(['', ', reverse=True', ', key=lambda k: -k', ', key=abs', ', key=lambda k: (k % 3, -k)', ', key=str'])})",
            lambda: f"list(reversed({x()}))", lambda: f"list(range({r.randint(-3, 6)}, {r.randint(-3, 9)}, {r.choice([1, 2, -1, -2])}))", lambda: f"[{self.with_name('int', i)} for {i} in {x()}]",
            lambda: f"[{i} for {i} in {x()} if {self.with_name('bool', i)}]", lambda: f"list(map(lambda {i}: {self.with_name('int', i)}, {x()}))", lambda: f"list(filter({r.choice(['None', 'lambda k: k > 0'])}, {x()}))", lambda: f"sorted({e('set', d - 1)})", lambda: f"[*{x()}, *{x()}]",
            lambda: f"list({e('dict', d - 1)}.values())", lambda: f"[{i} * 2 for {i} in {x()} for _ in range(2)]", lambda: f"[a - b for a, b in zip({x()}, {x()})]", lambda: f"[k + v for k, v in enumerate({x()}, {r.randint(0, 3)})]", lambda: f"list({x()}[{r.randint(0, 2)}:])", lambda: f"[({self.new('w')} := {i}) for {i} in {x()}]",
            lambda: f"list(itertools.accumulate({x()}))", lambda: f"list(itertools.chain({x()}, {x()}))", lambda: f"list(itertools.islice({x()}, {r.randint(0, 3)}))", lambda: f"[len(s) for s in {e('strs', d - 1)}]")

    def with_name(self, kind, name):
        """An expression in which `name` is an int of the scope."""
        kept = self.names.get("int", [])
        self.names["int"] = kept + [name] * 3
        made = self.of(kind, 1)
        self.names["int"] = kept
        return made

    def of_strs(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return "[" + ", ".join(r.choice(WORDS) for _ in range(r.randint(0, 4))) + "]"
        s = lambda: e("str", d - 1)
        return self.pick(
            lambda: e("strs", 0), lambda: f"{s()}.split({r.choice(['', repr(','), repr('a'), repr(' '), 'None, 1', repr(',') + ', 1'])})", lambda: f"{s()}.rsplit({r.choice(['', repr(','), 'maxsplit=1', 'None, 1'])})", lambda: f"list({s()})", lambda: f"sorted({e('strs', d - 1)}{r.choice(['', ', key=len', ', key=str.lower', ', reverse=True'])})",
            lambda: f"list({s()}.{r.choice(['partition', 'rpartition'])}({e('str', 0)}))", lambda: f"{s()}.splitlines({r.choice(['', 'True'])})", lambda: f"[c.upper() for c in {s()}]", lambda: f"list({{{s()}: 1, {s()}: 2}})", lambda: f"[f'{{c}}{{c!r}}' for c in {s()}]", lambda: f"list(dict.fromkeys({s()}))", lambda: f"{e('strs', d - 1)}{self.slicing()}")

    def of_tuple(self, d):
        r = self.r
        if d <= 0:
            return r.choice(["()", "(1,)", "(1, 2)", "(1, 'a')", "(None, True, 2.5)", "((1, 2), [3])"])
        return self.pick(
            lambda: self.of_tuple(0), lambda: f"({self.any(d - 1)}, {self.any(d - 1)})", lambda: f"({self.of('tuple', d - 1)} + {self.of('tuple', d - 1)})", lambda: f"tuple({self.of('ints', d - 1)})", lambda: f"{self.of('tuple', d - 1)}{self.slicing()}",
            lambda: f"divmod({self.of('int', d - 1)}, {self.of('int', d - 1)})", lambda: f"tuple({self.of('dict', d - 1)}.items())", lambda: f"(*{self.of('ints', d - 1)}, {self.any(d - 1)})", lambda: f"tuple(zip({self.of('ints', d - 1)}, {self.of('strs', d - 1)}{r.choice(['', ', strict=True'])}))", lambda: f"({self.of('tuple', d - 1)} * {r.randint(0, 2)})", lambda: f"tuple(enumerate({self.of('str', d - 1)}))")

    def of_dict(self, d):
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(["{}", "{'a': 1}", "{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "{'c': 3, 'a': -1}", "dict(a=5, z=0)", "{'k': 0}"])
        return self.pick(
            lambda: e("dict", 0), lambda: f"{{**{e('dict', d - 1)}, **{e('dict', d - 1)}}}", lambda: f"({e('dict', d - 1)} | {e('dict', d - 1)})", lambda: f"{{k: v + 1 for k, v in {e('dict', d - 1)}.items()}}", lambda: f"{{s: len(s) for s in {e('strs', d - 1)}}}", lambda: f"dict(zip({e('strs', d - 1)}, {e('ints', d - 1)}))",
            lambda: f"dict({e('dict', d - 1)}, q={e('int', d - 1)})", lambda: f"{{{e('str', d - 1)}: {e('int', d - 1)}}}", lambda: f"dict(sorted({e('dict', d - 1)}.items(){r.choice(['', ', key=lambda p: p[1]', ', reverse=True'])}))", lambda: f"{e('dict', d - 1)}.copy()", lambda: f"dict.fromkeys({e('strs', d - 1)}, {e('int', d - 1)})")

    def of_set(self, d):
        """Sets are only ever shown sorted: their order is nobody's promise."""
        r, e = self.r, self.of
        if d <= 0:
            return r.choice(["set()", "{1}", "{1, 2}", "{2, 3}", "{1, 2, 3}", "frozenset({2})", "frozenset([1, 2])", "{-1, 0}"])
        x = lambda: e("set", d - 1)
        return self.pick(
            lambda: e("set", 0), lambda: f"({x()} {r.choice(['|', '&', '-', '^'])} {x()})", lambda: f"set({e('ints', d - 1)})", lambda: f"{{k % 3 for k in {e('ints', d - 1)}}}", lambda: f"{x()}.{r.choice(['union', 'intersection', 'difference', 'symmetric_difference'])}({e('ints', d - 1)})", lambda: f"frozenset({x()})",
            lambda: f"set(v for k, v in ({e('dict', d - 1)}.items() {r.choice(['&', '|', '-', '^'])} {e('dict', d - 1)}.items()) if k)" if r.random() < .5 else f"{{len(k) for k in ({e('dict', d - 1)}.keys() {r.choice(['&', '|', '-', '^'])} {r.choice([e('dict', d - 1) + '.keys()', e('strs', d - 1), e('dict', d - 1)])})}}")
