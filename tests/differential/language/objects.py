"""Random classes: hierarchies over few names, so that lookups find one of several."""

NAMES = ["a", "b", "act", "m", "p", "_q"]
# special methods, and what is asked of an object that has them
SPECIAL = {
    "__len__": (["return {i}"], ["len(o)", "bool(o)", "(not o)"]),
    "__bool__": (["return {t}"], ["bool(o)", "('yes' if o else 'no')", "(o and 1)", "len(o)"]),
    "__eq__": (["return isinstance(other, type(self)) or {t}"], ["(o == o2)", "(o != o2)", "(o in [o2, 1])", "({{o: 1}} == 1)", "[o2].index(o)", "(o == 1)", "(1 == o)", "hash(o) == hash(o)"]),
    "__ne__": (["return {t}"], ["(o != o2)", "(o == o)"]),
    "__hash__": (["return {i}"], ["len({{o, o2}})", "({{o: 5}})[o]"]),
    "__lt__": (["return self.n < other.n"], ["(o < o2)", "(o2 > o)", "sorted([o2, o], key=lambda k: k)[0] is o", "max(o, o2) is o", "(o <= o2)", "sorted([o, o2]) == [o2, o]"]),
    "__contains__": (["return item == {i}"], ["({i} in o)", "('x' not in o)"]),
    "__iter__": (["return iter([self.n, {i}])"], ["list(o)", "sum(o)", "(1 in o)", "[k for k in o]", "tuple(zip(o, o))", "max(o)", "(lambda a, b: (a, b))(*o)", "dict([o])"]),
    "__getitem__": (["if i == 3:", "    raise IndexError(i)", "return (i, {i})"], ["o[1]", "o[1:2]", "o['k']", "list(o)", "o[1, 2]", "(1 in o)", "o[...]", "o[::2]", "[k for k in reversed([*o])]"]),
    "__setitem__": (["print('set', i, v)"], ["o.__setitem__(1, 2)", "exec_set(o)"]),
    "__call__": (["return ('called', args, sorted(kw))"], ["o()", "o(1, 2, k=3)", "callable(o)", "list(map(o, [1]))", "o(*[1])"]),
    "__add__": (["return ('add', other if isinstance(other, int) else 'o')"], ["(o + 1)", "(o + o2)", "(1 + o)", "sum([o2], 5)"]),
    "__radd__": (["return ('radd', other)"], ["(1 + o)", "sum([o])", "('s' + o)"]),
    "__mul__": (["return NotImplemented"], ["(o * 2)", "(o * o2)"]),
    "__iadd__": (["self.n += 10", "return self"], ["(lambda t: iadd(t))(o)"]),
    "__neg__": (["return -self.n"], ["-o", "+o"]),
    "__abs__": (["return abs(self.n)"], ["abs(o)"]),
    "__int__": (["return self.n"], ["int(o)", "float(o)"]),
    "__float__": (["return self.n + .5"], ["float(o)", "int(o)"]),
    "__index__": (["return 1"], ["[1, 2, 3][o]", "'abc'[o:]", "int(o)", "range(o)", "hex(o)"]),
    "__repr__": (["return f'<{c} {{self.n}}>'"], ["o", "[o]", "str(o)", "f'{{o}}'", "{{'k': o}}", "'%s %r' % (o, o)", "format(o)", "repr((o,))"]),
    "__str__": (["return 'text of {c}'"], ["str(o)", "f'{{o}}|{{o!s}}'", "'{{}}'.format(o)", "print(o)", "'%s' % o", "f'{{o:>20}}'"]),
    "__format__": (["return f'{c}:{{spec}}'"], ["f'{{o}}'", "f'{{o:abc}}'", "format(o, 'x')", "'{{:>5}}'.format(o)", "f'{{o!s}}' != ''"]),
    "__enter__": (["return self.n"], []),
    "__reversed__": (["return iter((3, 2))"], ["list(reversed(o))"]),
    "__next__": (["self.n += 1", "if self.n > 4: raise StopIteration", "return self.n"], ["next(o)", "next(o, 'end')"]),
    "__delattr__": (["print('delete', name)"], ["delattr(o, 'zz')"]),
    "__getattr__": (["if name.startswith('__'): raise AttributeError(name)", "return ('missing', name)"], ["o.zz", "hasattr(o, 'zz')", "getattr(o, 'yy', 0)", "o.a", "hasattr(o, '__len__')"]),
    "__setattr__": (["print('store', name)", "super().__setattr__(name, value)"], ["setattr(o, 'zz', 3)"]),
    "__getattribute__": (["if name == 'a': return 'intercepted'", "return super().__getattribute__(name)"], ["o.a", "o.b", "hasattr(o, 'nn')"]),
    "__matmul__": (["return 'at'"], ["(o @ 1)"]), "__rsub__": (["return 'rsub'"], ["(1 - o)", "(o - 1)"]), "__pow__": (["return 'pow'"], ["(o ** 2)"]),
    "__le__": (["return True"], ["(o <= 1)", "(1 >= o)", "(o >= 1)"]), "__and__": (["return 'and'"], ["(o & 1)", "(1 & o)"]), "__truediv__": (["return 'div'"], ["(o / 1)"]), "__invert__": (["return 'inv'"], ["~o"]), "__round__": (["return 'r'"], ["round(o)"]),
}
PARAMETERS = {"__eq__": "other", "__ne__": "other", "__lt__": "other", "__contains__": "item", "__getitem__": "i", "__setitem__": "i, v", "__call__": "*args, **kw", "__add__": "other", "__radd__": "other", "__mul__": "other", "__iadd__": "other", "__format__": "spec", "__delattr__": "name",
              "__getattr__": "name", "__setattr__": "name, value", "__getattribute__": "name", "__matmul__": "other", "__rsub__": "other", "__pow__": "other", "__le__": "other", "__and__": "other", "__truediv__": "other"}
MODULES = ["nn.Identity()", "nn.Identity()", "nn.ReLU()"]


class Objects:
    def __init__(self, program):
        self.p, self.r = program, program.r

    def statements(self, module=None):
        kind = self.r.choice([self.hierarchy, self.hierarchy, self.special, self.special, self.descriptors, self.bases, self.dataclass, self.enumeration, self.slots, self.modules, self.modules, self.hooks, self.properties])
        return kind()

    def show(self, e):
        return [f"show(lambda: {e})"]

    def member(self, c, name, is_module=False):
        r = self.r
        text = f"{c}.{name}"
        choice = r.choice(["value", "method", "method", "property", "settable", "static", "class", "super", "none"])
        if choice == "value":
            return [f"{name} = {r.choice([repr(text), '[]', '5', 'None', 'len'])}"]
        if choice == "method":
            return [f"def {name}(self, x=0):", f"    return ({text!r}, x)"]
        if choice == "property":
            return ["@property", f"def {name}(self):", "    " + r.choice([f"return 'property {text}'", "raise AttributeError('inside')", "return self.n"])]
        if choice == "settable":
            return ["@property", f"def {name}(self):", f"    return ({text!r}, vars(self).get('kept'))", f"@{name}.setter", f"def {name}(self, v):", "    vars(self)['kept'] = v"]
        if choice == "static":
            return ["@staticmethod", f"def {name}(x=1):", f"    return ('static {text}', x)"]
        if choice == "class":
            return ["@classmethod", f"def {name}(cls, x=2):", f"    return (cls.__name__, {text!r}, x)"]
        if choice == "super":
            return [f"def {name}(self, *args):", "    try:", f"        return ({c!r}, super().{name}(*args))", "    except AttributeError as e:", "        return str(e)"]
        return []

    def body(self, c, bases):
        r = self.r
        lines = []
        if r.random() < .7:
            init = r.choice([[f"self.{r.choice(NAMES)} = 'own {c}'"], ["super().__init__(*args, **kw)"], [f"print('init {c}')", "super().__init__(*args, **kw)"], [f"self.{r.choice(NAMES)} = lambda x=0: ('instance', x)", "super().__init__(*args, **kw)"], ["self.n = 3"]])
            lines += ["def __init__(self, *args, **kw):", f"    print('{c}', args, sorted(kw))"] + ["    " + s for s in init]
        for name in r.sample(NAMES, r.randint(0, 3)):
            lines += self.member(c, name)
        return ["    " + s for s in lines] or ["    pass"]

    def questions(self, o, c):
        r = self.r
        asked = []
        for _ in range(r.randint(3, 7)):
            name = r.choice(NAMES + ["n", "zz", "__class__", "__dict__", "__name__", "__doc__", "__module__"])
            if name == "__dict__":
                asked.append([f"plain({o})"])
                continue
            asked.append(self.p.pick(
                lambda: self.show(f"{o}.{name}") if name not in NAMES else self.show(f"{o}.{name}() if callable({o}.{name}) and {o}.{name} is not len else {o}.{name}"), lambda: self.show(f"hasattr({o}, '{name}')"), lambda: self.show(f"getattr({o}, '{name}', 'default') if '{name}'[0] != '_' and not callable(getattr({o}, '{name}', None)) else 0"), lambda: self.show(f"setattr({o}, '{name[:2] if name[:2] != '__' else 'zz'}', {r.randint(0, 9)})"), lambda: self.show(f"delattr({o}, '{name if name[:2] != '__' else 'a'}')"),
                lambda: self.show(f"'{name}' in vars({o})"), lambda: self.show(f"{c}.{name}({o}) if type({c}.{name}).__name__ == 'function' else type({c}.{name}).__name__") if name in NAMES else self.show("0"), lambda: self.show(f"[k.__name__ for k in type({o}).__mro__][:6]"), lambda: self.show(f"isinstance({o}, {c}), issubclass(type({o}), {c}), type({o}) is {c}, type({o}).__name__"), lambda: [f"{c}.{name[:2] if name[:2] != '__' else 'zz'} = {r.choice(['property(lambda self: 99)', '7', 'lambda self, x=1: x'])}"], lambda: [f"try:\n    del {c}.{name}\nexcept AttributeError as e:\n    print(e)"] if name in NAMES else self.show("1"), lambda: self.show(f"{c}.__dict__.get('{name}') is None") if name in NAMES else self.show("2")))
        return asked

    def hierarchy(self, first_base=None):
        r = self.r
        names = [self.p.new("C") for _ in range(r.randint(1, 4))]
        made = []
        for i, c in enumerate(names):
            bases = r.sample(names[:i], min(i, r.choice([0, 1, 1, 2])))
            bases.sort(key=names.index, reverse=True)
            made.append([f"class {c}{'(' + ', '.join(bases) + ')' if bases else ''}:"] + self.body(c, bases))
        o = self.p.new("o")
        last = names[-1]
        made.append(["try:", f"    {o} = {last}({r.choice(['', '', '1', '1, k=2'])})", "except Exception as e:", "    print(type(e).__name__, e)", f"    {o} = {last}.__new__({last})" if False else f"    {o} = Odd('instead')"])
        return made + self.questions(o, r.choice(names))

    def special(self):
        r = self.r
        c, o = self.p.new("S"), self.p.new("o")
        chosen = r.sample(sorted(SPECIAL), r.randint(1, 4))
        if "__getattribute__" in chosen and r.random() < .5:
            chosen.remove("__getattribute__")
        fill = {"i": str(r.randint(0, 4)), "t": r.choice(["True", "False"]), "c": c}
        if not any(s in chosen for s in ("__repr__",)):
            chosen.append("__repr__")
        body = ["n = 2"]
        for s in chosen:
            body += [f"def {s}({', '.join(filter(None, ['self', PARAMETERS.get(s, '')]))}):"] + ["    " + line.format(**fill) for line in SPECIAL[s][0]]
        derived = r.random() < .4
        made = [[f"class {c}:"] + ["    " + b for b in body]]
        if derived:
            d = c + "D"
            extra = r.choice(sorted(set(SPECIAL) - {"__getattribute__"}))
            made.append([f"class {d}({c}):"] + [f"    def {extra}({', '.join(filter(None, ['self', PARAMETERS.get(extra, '')]))}):"] + ["        " + line.format(**fill) for line in SPECIAL[extra][0]])
            c, chosen = d, chosen + [extra]
        made.append([f"o = {c}()", f"o2 = {c}()", f"o2.n = {r.choice([1, 2, 3])}", "def iadd(t):", "    t += 1", "    return t", "def exec_set(t):", "    t['k'] = 5", "    t[1:2] = 6"])
        asked = [q.format(**fill) for s in chosen for q in SPECIAL[s][1]]
        more = [q.format(**fill) for s in r.sample(sorted(SPECIAL), 3) for q in SPECIAL[s][1][:1]]
        for q in r.sample(asked, min(len(asked), 5)) + more[:2]:
            made.append(self.show(q))
        return made

    def descriptors(self):
        r = self.r
        c = self.p.new("D")
        methods = r.sample(["get", "set", "delete", "name"], r.randint(1, 4))
        body = []
        if "get" in methods:
            body += ["def __get__(self, o, owner):", f"    return ('got', o is None, owner.__name__)"]
        if "set" in methods:
            body += ["def __set__(self, o, v):", "    print('set', v)", "    vars(o)['d'] = v"]
        if "delete" in methods:
            body += ["def __delete__(self, o):", "    print('deleted')"]
        if "name" in methods:
            body += ["def __set_name__(self, owner, name):", "    print('named', owner.__name__, name)"]
        return [[f"class {c}Desc:"] + ["    " + b for b in body], [f"class {c}:", f"    d = {c}Desc()"], [f"o = {c}()"], [f"plain(o)"]] + [r.choice([self.show("setattr(o, 'd', 5)"), self.show("o.d if isinstance(o.d, (tuple, int)) else 'object'"), self.show(f"type({c}.d).__name__"), self.show("delattr(o, 'd')"), ["vars(o)['d'] = 1"], ["plain(o)"]]) for _ in range(4)]

    def bases(self):
        """What a class may derive from, and what is made of it."""
        c, r = self.p.new("B"), self.r
        base = r.choice(["Exception", "ValueError", "Odder", "object", "KeyError", "Odd", "LookupError", "ArithmeticError"] + (["dict", "list", "str", "int", "set"] if r.random() < .2 else []))
        made = {"dict": "a=1", "list": "[3, 1]", "str": "'txt'", "int": "5", "tuple": "(1, 2)", "float": "2.5", "Odder": "1", "collections.OrderedDict": "b=2", "set": "[1]"}.get(base, "'m'" if base != "object" else "")
        body = r.choice([["extra = 1"], ["def hello(self):", "    return 'hello'"], ["def __str__(self):", "    return 'str!'"], ["def __init__(self, *a, **k):", "    super().__init__(*a, **k)" if base not in ("str", "int", "tuple", "float", "object") else "    self.kept = 1", "    self.k = 1"]])
        asked = ["str(o)", "o == o", "hasattr(o, 'extra')", "isinstance(o, (Exception, dict, list, str, int))", "len(o)", "bool(o)", "o.k", "o.hello()", "vars(o)", "[k.__name__ for k in type(o).__mro__][1]"]
        asked += {"dict": ["o['a']", "list(o)", "dict(o, z=1)", "o['nope']", "o.get('q')"], "list": ["sorted(o)", "o + [5]", "o[0]", "o.append(7)"], "str": ["o + 'x'", "o.upper()"], "int": ["o + 1", "o * 2", "o == 5"]}.get(base, [])
        return [[f"class {c}({base}):"] + ["    " + b for b in body], self.p_try(f"o = {c}({made})")] + [self.show(q) for q in r.sample(asked, 5)]

    def p_try(self, statement):
        return ["try:", "    " + statement, "except Exception as e:", "    print(type(e).__name__, e)", "    o = None"]

    def dataclass(self):
        c, r = self.p.new("Data"), self.r
        options = r.choice(["", "(frozen=True)", "(order=True)", "(eq=False)", "(repr=False, order=True)", "(kw_only=True)"])
        fields = r.choice([["x: int", "y: float = 2.5"], ["x: int = 1", "ys: list = dataclasses.field(default_factory=list)"], ["x: int", "y: int = dataclasses.field(default=0, repr=False)"], ["x: int = 0", "def __post_init__(self):", "    print('post', self.x)"], ["x: 'str'", "z: int = dataclasses.field(default=3, compare=False)"]])
        asked = [f"{c}(1)", f"{c}(x=2)", f"{c}(1) == {c}(1)", f"{c}(1) < {c}(2)", f"{c}()", f"{c}(1, 2, 3)", f"dataclasses.asdict({c}(x=4))", f"dataclasses.replace({c}(x=1), x=9).x", f"[f.name for f in dataclasses.fields({c})]", f"setattr({c}(x=1), 'x', 5)", f"len({{{c}(x=1), {c}(x=1)}})", f"{c}(x=1) == 1", f"{c}(q=1)", f"dataclasses.astuple({c}(x=1))"]
        if "(eq=False)" in options:
            asked = [a for a in asked if "repr" not in a and "len({" not in a]
        if "(repr=False" in options:
            asked = [a for a in asked if not a.endswith("(1)") and not a.endswith("(x=2)") and not a.endswith("()")] + [f"{c}(1).x"]
        return [[f"@dataclasses.dataclass{options}", f"class {c}:"] + ["    " + f for f in fields]] + [self.show(q) for q in r.sample(asked, 4)]

    def enumeration(self):
        c, r = self.p.new("E"), self.r
        base = r.choice(["enum.Enum", "enum.Enum", "enum.IntEnum"])
        members = r.choice([["RED = 1", "BLUE = 2"], ["RED = 1", "CRIMSON = 1", "BLUE = 5"], ["RED = enum.auto()", "BLUE = enum.auto()"]])
        asked = [f"{c}.RED", f"{c}['BLUE'].name", f"{c}(1)", f"{c}(9)", f"{c}['NO']", f"list({c})", f"{c}.RED == {c}.RED, {c}.RED is {c}(1)", f"{c}.RED == 1", f"{c}.RED.value", f"len({c})", f"{c}.BLUE in {c}", f"{{{c}.RED: 1}}", f"str({c}.RED)", f"f'{{{c}.RED}}'", f"isinstance({c}.RED, {c})", f"[m.name for m in {c}]", f"sorted([{c}.BLUE, {c}.RED], key=lambda m: m.value)"]
        return [[f"class {c}({base}):"] + ["    " + m for m in members]] + [self.show(q) for q in r.sample(asked, 5)]

    def slots(self):
        c, r = self.p.new("L"), self.r
        return [[f"class {c}:", f"    __slots__ = {r.choice([repr(('x', 'y')), repr('x'), repr(['x'])])}", "    def __init__(self):", "        self.x = 1"], [f"o = {c}()"]] + [self.show(q) for q in r.sample(["o.x", "setattr(o, 'x', 5)", "setattr(o, 'zz', 5)", "hasattr(o, '__dict__')", "o.y", "delattr(o, 'x')", "hasattr(o, 'x')"], 4)]

    def properties(self):
        c, r = self.p.new("P"), self.r
        made = [[f"class {c}:", "    def __init__(self):", "        self._v = 1", "    v = property(lambda self: self._v" + r.choice(["", ", lambda self, x: setattr(self, '_v', x)", ", None, lambda self: print('gone')"]) + ")", "    @functools.cached_property", "    def slow(self):", "        print('computed')", "        return self._v * 10"], [f"o = {c}()"]]
        return made + [self.show(q) for q in r.sample(["o.v", "setattr(o, 'v', 4)", "delattr(o, 'v')", "(o.slow, o.slow)", "'slow' in vars(o)", f"type({c}.v).__name__", f"{c}.v.fget(o)", "setattr(o, 'slow', 3)", "o.slow", "delattr(o, 'slow')"], 5)]

    def hooks(self):
        c, r = self.p.new("H"), self.r
        return self.p.pick([[f"class {c}:", "    def __init_subclass__(cls, **kw):", "        print('subclass', cls.__name__, kw)", f"class {c}X({c}):", "    pass"]], [[f"class {c}:", "    def __new__(cls, *a):", "        print('new', a)", "        return super().__new__(cls)", "    def __init__(self, *a):", "        print('init', a)", f"o = {c}(1)"]], [[f"class {c}:", "    def __class_getitem__(cls, k):", "        return (cls.__name__, k)", f"print({c}[3])"]],
                           [[f"class {c}:", "    count = 0", "    def __init__(self):", f"        type(self).count += 1", "        self.me = self.count", f"print([{c}().me for _ in range(3)], {c}.count)"]], [[f"class {c}:", "    xs = []", f"a, b = {c}(), {c}()", "a.xs.append(1)", "b.xs = [2]", f"print(a.xs, b.xs, {c}.xs)"]], [[f"class {c}:", "    def f(self): return 1", f"o = {c}()", "o.f = lambda: 2", f"print(o.f(), {c}.f(o))", f"{c}.f = lambda self: 3", "del o.f", "print(o.f())"]],
                           [[f"class {c}:", "    class Inner:", "        v = 4", "    x = Inner.v + 1", "    y = [x] * 2", f"print({c}.Inner.v, {c}.y, {c}.Inner.__name__, {c}.__qualname__[-3:] != '')"]], [[f"class {c}(type):", "    def __call__(cls, *a):", "        return 'made'", f"class {c}X(metaclass={c}): pass", f"print({c}X())"]], [[f"{c} = type('{c}', (), {{'v': 3, 'f': lambda self: self.v}})", f"print({c}().f(), {c}.__name__)"]])

    def modules(self):
        """Modules' own attributes: where __getattr__ comes in, and whose __init__ is called."""
        r = self.r
        a, m = self.p.new("A"), self.p.new("M")
        bases = r.choice(["nn.Module", f"nn.Module, {a}", f"{a}, nn.Module", "nn.Module"])
        body = ["def __init__(self, *args, **kw):", f"    print('init', args)", "    " + r.choice(["super().__init__()", "super().__init__()", "nn.Module.__init__(self)", f"super().__init__(*args)"])]
        for name in r.sample(["act", "a", "b"], r.randint(1, 3)):
            body.append(f"    self.{name} = {r.choice(MODULES + ['5', repr('plain'), 'lambda x: -x', 'None'])}")
        for name in r.sample(["act", "a", "p"], r.randint(0, 2)):
            body += [x for x in self.member(m, name)]
        if r.random() < .4:
            body += ["def forward(self, x, *rest):", "    return ('forward', x, rest)"]
        if r.random() < .2:
            body += ["def __getattr__(self, name):", "    try:", "        return super().__getattr__(name)", "    except AttributeError:", "        return 'own ' + name"]
        made = [[f"class {a}:", "    def __init__(self, *args):", f"        print('{a} init', args)", "        super().__init__()", "    a = 'of the base'", f"    def act(self, x=0):", f"        return ('{a} act', x)"], [f"class {m}({bases}):"] + ["    " + b for b in body], self.p_try(f"o = {m}({r.choice(['', '', '1'])})")]
        for _ in range(r.randint(3, 6)):
            name = r.choice(["act", "a", "b", "p", "nope"])
            made.append(self.p.pick(lambda: self.show(f"kind(o.{name})"), lambda: self.show(f"o.{name}(3)"), lambda: self.show(f"hasattr(o, '{name}')"), lambda: self.show(f"[n for n, _ in o.named_children()]"), lambda: self.show("o(4)"), lambda: self.show(f"delattr(o, '{name}')"), lambda: self.show(f"setattr(o, '{name}', {r.choice(MODULES + ['3', 'None'])})"), lambda: self.show("[n for n, _ in o.named_modules()]"), lambda: self.show("o.training"), lambda: self.show("o.eval().training"), lambda: self.show("'_modules' in vars(o), hasattr(o, '_parameters')"), lambda: self.show(f"kind(getattr(o, '{name}', 'default'))"), lambda: self.show("sorted(o._modules)")))
        return made
