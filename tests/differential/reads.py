"""Python numbers that a program reads out of tensors and sizes, and what it computes with them.

A read gives a name; expressions over names are as a Python program has them: operators,
math, round, min, max, comparisons.  A statement then uses one: to compute with, to index,
to size, to choose a side, to count rounds, in a text.
"""
from scope import Invalid

MATH = ["sqrt(abs({}))", "exp({} * 0.1)", "sin({})", "cos({})", "tan({})", "tanh({})", "atan({})", "log(abs({}) + 0.5)", "log2(abs({}) + 1)", "log10(abs({}) + 1)", "log1p(abs({}))", "expm1(math.tanh({}))", "fabs({})", "erf({})",
        "sinh(math.tanh({}))", "cosh(math.tanh({}))", "asin(math.tanh({}))", "acos(math.tanh({}) * 0.5)", "degrees({})", "radians({})", "log(abs({}) + 2, 3)", "pow(abs({}) + 0.5, 1.5)", "hypot({}, 2.0)", "atan2({}, 1.5)",
        "copysign(1.5, {})", "fmod({}, 3)", "log({})", "sqrt({})", "exp({})", "acosh(abs({}) + 1)", "atanh(math.tanh({}) * 0.5)", "asinh({})", "erfc({})", "exp2(math.tanh({}))", "cbrt({})"]


def read_whole(gen):
    v = gen.pick(lambda v: v.number)
    n, rng = v.name, gen.rng
    forms = [f"{n}.numel()", f"{n}.dim()", f"({n} > 0).sum().item()", f"int(({n} > 0).sum())", f"int({n}.sum())", f"({n} > 0).long().sum().item()", f"math.prod({n}.shape)", f"sum({n}.shape)"]
    if v.rank:
        forms += [f"{n}.shape[{rng.randrange(-v.rank, v.rank)}]", f"{n}.size({rng.randrange(v.rank)})", f"len({n})", f"{n}.shape.numel()", f"max({n}.shape)"] * 2
        if all(s[0] for s in v.shapes) and v.rank == 1:
            forms.append(f"{n}.argmax().item()")
    return rng.choice(forms)


def read_real(gen):
    v = gen.pick(lambda v: v.float and not v.narrow)
    n = v.name
    return gen.rng.choice([f"{n}.sum().item()", f"float({n}.mean())", f"{n}.flatten()[:1].sum().item()", f"({n} * 0.5).sum().tanh().item()", f"{n}.abs().sum().item() * 0.5", f"float({n}.sum())"])


class Expressions:
    """Over the names of numbers: `wholes` ints, `reals` floats."""

    def __init__(self, gen, wholes, reals):
        self.rng, self.wholes, self.reals = gen.rng, wholes, reals

    def pick(self, *forms):
        return self.rng.choice(forms)()

    def whole(self, d=2):
        r, i, f = self.rng, self.whole, self.real
        if d <= 0 or r.random() < 0.15:
            return r.choice(self.wholes * 3 + ["2", "3", "-1", "0", "7", "True"])
        return self.pick(
            lambda: f"({i(d - 1)} {r.choice(['+', '-', '*', '//', '%', '+', '-'])} {i(d - 1)})", lambda: f"({i(d - 1)} {r.choice(['//', '%'])} {r.choice(['2', '3', '-2'])})", lambda: f"({i(d - 1)} {r.choice(['&', '|', '^'])} {i(d - 1)})",
            lambda: f"({i(d - 1)} {r.choice(['<<', '>>'])} {r.choice(['1', '2', '(' + i(0) + ' & 3)'])})", lambda: f"({i(0)} ** {r.choice(['2', '3', '0', '1', '(' + i(0) + ' & 3)'])})", lambda: f"{r.choice(['-', '+', '~', 'abs'])}({i(d - 1)})",
            lambda: f"{r.choice(['int', 'round', 'math.floor', 'math.ceil', 'math.trunc'])}({f(d - 1)})", lambda: f"{r.choice(['min', 'max'])}({i(d - 1)}, {i(d - 1)})", lambda: f"sum([{i(d - 1)}, {i(0)}])", lambda: f"divmod({i(d - 1)}, {r.choice(['3', '2', i(0)])})[{r.randint(0, 1)}]",
            lambda: f"({i(d - 1)} if {self.truth(d - 1)} else {i(d - 1)})", lambda: f"int({self.truth(d - 1)})", lambda: f"round({i(d - 1)}{r.choice(['', ', 1', ', -1'])})", lambda: f"len(range({i(0)}))", lambda: f"math.gcd({i(0)}, {i(0)})", lambda: f"math.isqrt(abs({i(d - 1)}))", lambda: f"({i(d - 1)} {r.choice(['and', 'or'])} {i(d - 1)})",
            lambda: f"sorted([{i(0)}, {i(0)}, 2])[{r.randint(0, 2)}]", lambda: f"({i(d - 1)}).bit_length()", lambda: f"[{i(0)}, {i(0)}].index({i(0)})" if r.random() < 0.1 else i(0), lambda: f"pow({i(0)}, 2, 7)")

    def real(self, d=2):
        r, i, f = self.rng, self.whole, self.real
        if d <= 0 or r.random() < 0.15:
            return r.choice(self.reals * 3 + ["0.5", "-1.5", "2.0", "0.0"])
        any_of = lambda: r.choice([f, f, i])(d - 1)
        return self.pick(
            lambda: f"({f(d - 1)} {r.choice(['+', '-', '*', '+', '-', '*', '/', '//', '%'])} {any_of()})", lambda: f"({any_of()} {r.choice(['+', '-', '*', '/', '//', '%'])} {f(d - 1)})", lambda: f"({i(d - 1)} / {i(d - 1)})", lambda: f"({f(d - 1)} / {r.choice(['2', '0.5', '-3'])})", lambda: f"({i(d - 1)} / {r.choice(['2', '4', '3'])})",
            lambda: f"({f(0)} ** {r.choice(['2', '3', '0', '-1'])})", lambda: f"((abs({f(0)}) + 0.5) ** {r.choice(['0.5', '-0.5', f(0)])})", lambda: f"({i(0)} ** -1)", lambda: "math." + r.choice(MATH).format(any_of()), lambda: "math." + r.choice(MATH).format(any_of()),
            lambda: f"{r.choice(['-', '+', 'abs'])}({f(d - 1)})", lambda: f"round({f(d - 1)}, {r.choice(['1', '2', '0', '-1', '3'])})", lambda: f"float({any_of()})", lambda: f"{r.choice(['min', 'max'])}({f(d - 1)}, {f(d - 1)})", lambda: f"{r.choice(['min', 'max'])}([{f(0)}, {f(0)}, 0.25])",
            lambda: f"sum([{f(d - 1)}, {any_of()}, {f(0)}])", lambda: f"sum([{f(0)}, {i(0)}], 0.5)", lambda: f"divmod({f(d - 1)}, {r.choice(['2', '0.5', f(0)])})[{r.randint(0, 1)}]", lambda: f"({f(d - 1)} if {self.truth(d - 1)} else {f(d - 1)})", lambda: f"({f(d - 1)} {r.choice(['and', 'or'])} {f(d - 1)})",
            lambda: f"(lambda a, b=0.5: a * b)({f(d - 1)})", lambda: f"math.fsum([{f(0)}, 0.1, {f(0)}])", lambda: f"math.prod([{f(0)}, {i(0)}])", lambda: f"float({self.truth(d - 1)})")

    def truth(self, d=2):
        r, i, f = self.rng, self.whole, self.real
        if d <= 0:
            return r.choice([f"({i(0)} > 2)", f"({f(0)} > 0.5)", f"({i(0)} == {i(0)})", f"({f(0)} <= {f(0)})"])
        return self.pick(
            lambda: f"({i(d - 1)} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {i(d - 1)})", lambda: f"({f(d - 1)} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {r.choice([f, i])(d - 1)})", lambda: f"({self.truth(d - 1)} {r.choice(['and', 'or', '&', '|', '^', '==', '!='])} {self.truth(d - 1)})",
            lambda: f"(not {r.choice([i, f, self.truth])(d - 1)})", lambda: f"bool({r.choice([i, f])(d - 1)})", lambda: f"({f(0)} < {f(0)} <= {f(0)})", lambda: f"math.{r.choice(['isnan', 'isinf', 'isfinite'])}({r.choice([f, i])(d - 1)})", lambda: f"({i(d - 1)} in (1, 2, {i(0)}))",
            lambda: f"{r.choice(['any', 'all'])}([{i(0)}, {self.truth(d - 1)}])", lambda: f"math.isclose({f(d - 1)}, {f(0)})", lambda: f"({i(0)} is None)", lambda: f"isinstance({r.choice([i, f])(d - 1)}, {r.choice(['int', 'float', '(int, float)', 'bool'])})", lambda: f"({f(0)}).is_integer()")


SPECS = ["", ":.2f", ":5d", ":.1e", ":>8", "!r", ":+.1f", ":03d", ":g", ":.0f", ":x", ":,"]


def texts(gen, e):
    """A text of a number, and what a program does with a text."""
    rng = gen.rng
    t = gen.fresh("text")
    whole = rng.random() < 0.6
    number = e.whole(1) if whole else e.real(1)
    spec = rng.choice([s for s in SPECS if whole or s[-1:] not in "dx"])
    gen.line(f"{t} = " + rng.choice([f"f'{{{number}{spec}}}'", f"f'n={{{number}{spec}}};'", f"str({number})", f"'%s' % ({number},)", f"'%{'d' if whole else '.2f'}|' % {number}", f"'{{}} {{}}'.format({number}, 1)", f"'<' + str({number}) + '>'", f"repr({number})", f"format({number}, '{spec[1:] if spec[:1] == ':' else ''}')"]))
    gen.line(rng.choice([f"print({t})", f"print(len({t}), {t}.upper())", f"print({t} + '!', {t} == '3')", f"print({t} if {t} else 'none')", f"print({t}[:2], {t} in 'n=3;', sep='|')", f"print({{'k': {t}}}, [{t}])", f"print({t} * 2, {t}.strip('0'))", f"{t} += ' more'\nprint({t})", f"print(hash({t}) == hash({t}), {t}.split('.'))",
                         f"for c in {t}:\n    print(c, end='')", f"print('%s-%s' % ({t}, {t}))", f"print({{{t}: 1}}.get('2', 0))", f"print(','.join([{t}, 'a']))", f"print(f'{{{t}:>9}}|{{{t}!r}}')", f"print({t} < 'n', {t}.startswith('n'), int('0' + ''.join(c for c in {t} if c.isdigit())) >= 0)", f"print(ascii({t}), {t}.center(9), sep={t})"]))


def number_use(gen):
    """Reads some numbers, computes with them, and uses what comes out."""
    rng = gen.rng
    wholes, reals = list(gen.int_names), [n for n in gen.local_numbers if n == "scale"]
    for _ in range(rng.choice([1, 2, 2, 3])):
        name = gen.fresh("i")
        if rng.random() < 0.55:
            gen.line(f"{name} = {read_whole(gen)}")
            wholes.append(name)
        else:
            gen.line(f"{name} = {read_real(gen)}")
            reals.append(name)
    if "scale" in wholes:
        wholes.remove("scale")
    e = Expressions(gen, wholes, reals)
    for _ in range(rng.choice([0, 1, 1, 2])):
        name = gen.fresh("i")
        if rng.random() < 0.5:
            gen.line(f"{name} = {e.whole()}")
            wholes.append(name)
        else:
            gen.line(f"{name} = {e.real()}")
            reals.append(name)
    for _ in range(rng.choice([1, 1, 2])):
        used(gen, e)


def used(gen, e):
    v, rng = gen.pick(lambda v: v.float), gen.rng
    n = v.name
    one = [()] * gen.settings
    kind = rng.choice(["compute", "compute", "choose", "branch", "literal", "full", "print", "text", "loop", "cut", "item", "result", "inplace", "shape", "assert", "make", "both", "late_test"])
    if kind == "compute":
        gen.bind(rng.choice([f"{n} * math.tanh({e.real()})", f"{n} + {e.real(1)}", f"{e.whole(1)} - {n}", f"{n} / ({e.whole(1)} or 1)", f"torch.add({n}, {n}, alpha={e.real(0)})", f"{n} * float({e.truth()})", f"{n}.clamp(max=abs({e.real(1)}))", f"{n}.pow({rng.choice(['2', e.whole(0) + ' & 3'])})"]), v.shapes, v.dtypes)
    elif kind == "choose":
        gen.bind(f"({n} * 2 if {e.truth()} else {n} - 1)", v.shapes, v.dtypes)
    elif kind == "branch":
        gen.line(f"if {e.truth()}:")
        gen.block(1)
        if rng.random() < 0.5:
            gen.line("else:")
            gen.block(1)
    elif kind == "literal":
        form, shape, dtype = rng.choice([(f"torch.tensor([{e.real(1)}, 2.0])", (2,), "float32"), (f"torch.tensor({e.real(1)})", (), "float32"), (f"torch.tensor([[{e.real(0)}, 1.0], [0.5, {e.real(1)}]])", (2, 2), "float32"), (f"torch.tensor([{e.whole(1)}, {e.whole(0)}, 2])", (3,), "int64"), (f"torch.as_tensor([float({e.whole(0)})])", (1,), "float32"), (f"torch.tensor([{e.truth(1)}, True]).float()", (2,), "float32"),
                                         (f"torch.tensor([[{e.whole(0)}], [1]], dtype=torch.float32)", (2, 1), "float32"), (f"torch.tensor(({e.whole(0)}, {e.real(0)}))", (2,), "float32")])
        gen.bind(form, [shape] * gen.settings, [dtype] * gen.settings)
    elif kind == "full":
        gen.bind(f"torch.full((2, 3), {rng.choice([e.real(1), f'float({e.whole(1)})'])})", [(2, 3)] * gen.settings, ["float32"] * gen.settings)
    elif kind == "print":
        gen.line(f"print({e.whole(1)}, {e.truth(1)})" if rng.random() < 0.6 else f"print(round({e.real(1)}, 2) + 0.0)")
    elif kind == "text":
        texts(gen, e)
    elif kind == "loop":
        k = gen.fresh("k")
        gen.line(rng.choice([f"for {k} in range(abs({e.whole(1)}) % 4):", f"for {k} in [{e.real(0)}, 0.5]:", f"for {k}, _ in zip(range({e.whole(0)}), 'abc'):", f"for {k} in range({e.whole(0)} % 3, 4):"]))
        gen.line(f"    {n} = {n} * 0.5 + {k}")
        gen.replaced(v)
    elif kind == "cut":
        gen.bind(rng.choice([f"{n}.flatten()[: abs({e.whole(1)}) % 3 + 1].sum()", f"{n}.flatten()[abs({e.whole(1)}) % ({n}.numel() + 1):].sum()", f"{n}.flatten()[::abs({e.whole(0)}) % 3 + 1].sum()", f"{n}.flatten()[-1 - abs({e.whole(0)}) % 2:].sum()", f"{n}.flatten().narrow(0, 0, min({e.whole(0)}, {n}.numel())).sum()"]), one, v.dtypes)
    elif kind == "item":
        if any(0 in s for s in v.shapes):
            raise Invalid
        gen.bind(rng.choice([f"{n}.flatten()[abs({e.whole(1)}) % {n}.numel()]", f"[{n}.sum(), {n}.mean()][abs({e.whole(1)}) % 2]", f"({n}.sum(), {n}.mean())[{e.truth(0)}]", f"{n}.flatten()[{e.whole(0)}]"]), one, v.dtypes)
    elif kind == "result":
        name = gen.fresh("r")
        gen.line(f"{name} = {rng.choice([e.whole, e.real, e.truth])()}")
        if gen.depth == gen.top:
            gen.values.append(name)
    elif kind == "inplace":
        if v.leaf and gen.grad:
            raise Invalid
        gen.line(rng.choice([f"{n} += {e.real(1)}", f"{n}.mul_({e.real(0)})", f"{n}.fill_({e.real(1)})", f"{n}[...] = {e.real(1)}", f"{n}.add_({n}, alpha={e.whole(0)})"]))
    elif kind == "shape":
        k = gen.fresh("i")
        gen.line(f"{k} = abs({e.whole(1)}) % 3 + 1")
        gen.bind(rng.choice([f"torch.zeros({k}, 2).sum() + {n}", f"torch.ones({k}).mean() * {n}", f"torch.arange({k}).sum() * {n}", f"{n}.sum().expand({k}).sum() + {n}", f"torch.cat([{n}.flatten()] * {k}).sum() + {n}", f"torch.stack([{n}] * {k}).sum(0)", f"{n}.unsqueeze(0).repeat({k}, *[1] * {n}.dim())[0]", f"torch.linspace(0, 1, {k}).sum() + {n}"]), v.shapes, v.dtypes)
    elif kind == "assert":
        gen.line(rng.choice([f"assert {e.whole(0)} != 12345, {e.whole(0)}", f"assert {e.truth(0)} in (True, False)"]))
    elif kind == "make":
        x, y = gen.fresh("i"), gen.fresh("i")
        gen.line(f"{x}, {y} = {e.whole(1)}, {e.real(1)}")
        gen.line(rng.choice([f"{x} += 1", f"{x} *= 2", f"{x} -= {y}", f"{y} /= 2", f"{x} //= 2", f"{x} %= 3", f"{y} **= 2", f"{x} = -{x}", f"{x}, {y} = {y}, {x}", f"{x} <<= 1", f"{x} |= 4"]))
        gen.bind(f"{n} + {x} * 0.1", v.shapes, v.dtypes)
    elif kind == "both":
        test = gen.fresh("c")
        gen.line(f"{test} = ({n}.sum() > {e.real(0)})")
        gen.bind(rng.choice([f"{n} * ({e.real(0)} if {test} else {e.real(0)})", f"torch.where({test}, {n}, {e.real(0)})", f"{n} + ({e.whole(0)} if {test} else 1)", f"{n} * (1 if {test} and {e.truth(0)} else 2)"]), v.shapes, v.dtypes)
    else:
        k = gen.fresh("i")
        gen.line(f"{k} = {e.whole(1)}")
        gen.line(f"while {k} {rng.choice(['< 6', '> 3', '!= 2'])} and {n}.abs().sum() < 40:")
        gen.line(f"    {k} = {rng.choice([k + ' + 2', k + ' // 2', '2', 'min(' + k + ', 2)'])}")
        gen.line(f"    {n} = {n} * 1.5 + 0.5")
        gen.replaced(v)
        gen.bind(f"{n} + {k}", v.shapes, v.dtypes)
