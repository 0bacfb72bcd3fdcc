"""Statements: assignments, writes, control flow, what ends a graph, what autograd sees.

Each rule appends lines to the block that is being written (gen.line) and variables to its
scope.  A rule that finds no operands raises Invalid, and another one is tried.
"""
from expressions import RULES
from plain import asked, plain
from reads import number_use
from scope import Invalid, Var, broadcast, is_float, numel
from sides import sides


def assign(gen):
    """name = expression."""
    rule = gen.choose(gen.weights.expressions)
    text, shapes, dtypes = RULES[rule](gen)
    gen.bind(text, shapes, dtypes, shares=rule == "view")


def same(gen, v):
    """An expression of v that keeps its shape and dtype."""
    n = v.name
    if v.float:
        return gen.rng.choice(["torch.sin({0})", "{0} * 0.5", "{0} + 0.25", "-{0}", "{0}.tanh()", "torch.relu({0})", "{0} - {0}.sum() * 0.1", "{0}.clone()", "{0} * {0} * 0.3"]).format(n)
    if set(v.dtypes) == {"bool"}:
        return gen.rng.choice(["~{0}", "{0} | True", "torch.logical_not({0})"]).format(n)
    return gen.rng.choice(["{0} + 1", "{0} * 2", "{0} & 15"]).format(n)


def update(gen):
    """A variable of any outer block gets a new value of the same shape and dtype."""
    v = gen.pick()
    gen.line(f"{v.name} = {same(gen, v)}")
    gen.replaced(v)


def inplace(gen):
    """A write into memory that other variables may share."""
    v = gen.pick(lambda v: v.float and (not v.leaf or not gen.grad or gen.rng.random() < 0.02))
    n, rng = v.name, gen.rng
    if rng.random() < 0.4 and gen.grad:
        gen.line(f"{n} = {n}.clone()" if rng.random() < 0.6 else f"{n} = {n} * 1")
        v = gen.replaced(v)
    form = rng.choice(["{0}.add_(0.5)", "{0}.mul_(0.5)", "{0} += 1", "{0} *= 0.5", "{0}.zero_()", "{0}.fill_(0.25)", "{0}.clamp_(-1.0, 1.0)", "{0}.neg_()", "{0}.copy_({0} * 2)", "{0}.sub_({0}.mean())",
                       "{0}.tanh_()", "{0}.relu_()", "{0}.masked_fill_({0} > 0.5, 0.0)", "{0} -= {0} * 0.5", "{0} /= 2", "torch.nn.functional.relu({0}, inplace=True)", "{0}.addcmul_({0}, {0}, value=0.1)", "{0}.lerp_({0} * 0, 0.5)"])
    gen.line(form.format(n))


def inplace_other(gen):
    a = gen.pick(lambda v: v.float and not (v.leaf and gen.grad))
    b = gen.pick(lambda v: v.float and v.name != a.name)
    for s, t in zip(a.shapes, b.shapes):
        if broadcast(s, t) != s:
            raise Invalid
    gen.line(gen.rng.choice(["{0}.add_({1})", "{0}.copy_({1})", "{0} += {1}", "{0} *= {1}.tanh()", "{0}[...] = {1}", "{0}.add_({1}, alpha=0.5)"]).format(a.name, b.name))


def write_view(gen):
    """A write through a view: x[0] = .., x.view(-1)[1:].add_(..)."""
    v = gen.pick(lambda v: v.float and v.rank > 0 and not (v.leaf and gen.grad) and all(s[0] > 0 for s in v.shapes))
    n, rng = v.name, gen.rng
    form = rng.choice(["{0}[0] = 0.5", "{0}[-1] += 1", "{0}[..., 0:1] = 0.25", "{0}.view(-1)[0:1].add_(1)" if not v.shares else "{0}[0:1].add_(1)", "{0}.t().mul_(0.5)" if v.rank == 2 else "{0}[:1].mul_(0.5)",
                       "{0}[{0} > 0.5] = 0.1", "{0}.select(0, 0).zero_()", "{0}[::2] *= 0.5", "{0}[None].add_(0.5)", "{0}.transpose(0, -1).sub_(0.25)", "{0}.narrow(0, 0, 1).fill_(0.3)", "{0}.unsqueeze(0).mul_(2)",
                       "{0}.index_fill_(0, torch.tensor([0]), 0.5)", "{0}.detach().mul_(1.5)", "{0}[torch.tensor([0])] = 0.75"])
    gen.line(form.format(n))


def augment(gen):
    """Views held by names of their own, then a write, then both are read."""
    v = gen.pick(lambda v: v.float and v.rank > 0 and not (v.leaf and gen.grad))
    from expressions import view

    text, shapes, dtypes = view(gen, v)
    w = gen.bind(text, shapes, dtypes, shares=True)
    if gen.rng.random() < 0.5:
        gen.breaks()
    target = gen.rng.choice([v.name, w.name])
    gen.line(gen.rng.choice(["{0}.mul_(0.5)", "{0}.add_(1)", "{0} += 0.25"]).format(target))


# What ends a graph: rows of report/breaks.def.
def break_print(gen):
    v = gen.pick()
    form = gen.rng.choice(["print({0}.shape)", "print('at', {0}.dtype)", "print({0}.sum().item() > 0)", "print(tuple({0}.shape), {0}.dim())", "print('here')", "print()", "print('n', {0}.numel(), sep='=', end=';')"])
    gen.line(form.format(v.name))


def break_print_tensor(gen):
    v = gen.pick(lambda v: not v.narrow)
    n = v.name if not v.float else f"({v.name} * 4).round()"
    gen.line(gen.rng.choice(["print({0})", "print({0}.dtype)" if gen.on_gpu else "print({0}.type())", "text = str({0})\nprint(len(text) > 0)", "print(f'{{{0}.shape}} {{{0}.sum() > 0}}')", "print('%s' % ({0} > 0).any())", "print('{{}}'.format(({0} > 0).all()))"]).format(n))


def break_explicit(gen):
    gen.line("torch._dynamo.graph_break()")


def break_item(gen):
    v = gen.pick(lambda v: v.float and not v.narrow)
    s = gen.fresh("s")
    gen.line(gen.rng.choice(["{1} = {0}.sum().item()", "{1} = float({0}.sum().tanh())", "{1} = ({0} > 0).sum().item()", "{1} = int(({0} > 0).sum())", "{1} = bool(({0} > 0).any())"]).format(v.name, s))
    if gen.rng.random() < 0.3:
        gen.line(f"print(f'{{{s}:.2f}}')")
    w = gen.pick(lambda v: v.float)
    gen.bind(gen.rng.choice([f"{w.name} * (1 if {s} > 0.5 else 0.5)", f"{w.name} + {s} * 0.1"]), w.shapes, w.dtypes)


def break_list(gen):
    v = gen.pick(lambda v: v.float and not v.narrow and v.rank > 0)
    t = gen.fresh("t")
    gen.line(gen.rng.choice([f"{t} = ({v.name} * 4).round().long().flatten().tolist()", f"{t} = {v.name}.flatten().tolist()"]))
    gen.bind(f"torch.tensor(float(len({t})) + (1.0 if {t} and {t}[0] > 0 else 0.0))", [()] * gen.settings, ["float32"] * gen.settings)


def break_dynamic_shape(gen):
    v = gen.pick(lambda v: v.float and not v.narrow)
    form = gen.rng.choice(["{0}[{0} > 0.2].sum()", "torch.masked_select({0}, {0} < 0.5).sum()", "torch.masked_select({0}, {0} < 0.5).sin().sum()", "torch.nonzero({0} > 0).sum().float()", "torch.unique(({0} > 0).float()).sum()", "({0} > 0).nonzero().shape[0] * {0}.sum()", "torch.where({0} > 0)[0].sum().float()",
                           "torch.bincount(({0} > 0).long().flatten()).sum().float()", "torch.repeat_interleave({0}.flatten(), 2).sum()", "{0}.flatten()[: int(({0} > 0).sum())].sum()", "torch.unique_consecutive(({0} > 0).float())[:1].sum()"])
    gen.bind(form.format(v.name), [()] * gen.settings, v.dtypes if "masked" in form or form.startswith("{0}") or "repeat" in form else ["float32"] * gen.settings if "shape[0]" not in form else v.dtypes)


def break_index(gen):
    v, w = gen.pick(lambda v: v.float), gen.pick(lambda v: v.float)
    form = gen.rng.choice(["[{0}, {0} * 2][({1}.sum() > 0).long()]", "({0}, -{0})[int({1}.sum() > 0)]", "[{0}, {0} + 1][({1} > 0).any().item()]"])
    gen.bind(form.format(v.name, w.name), v.shapes, v.dtypes)


def break_test(gen):
    v = gen.pick(lambda v: v.float)
    w = gen.pick(lambda v: v.float)
    form = gen.rng.choice(["torch.equal({1}, {1} * 1)", "torch.allclose({1}, {1} + 1)", "bool(({1} > 0).any())", "not ({1} > 2).any()", "{1}.sum() > 0 and {1}.mean() < 5", "({1} > 5).all() or {1}.numel() > 3", "{1}.isnan().any()"])
    gen.bind(f"({v.name} * 2 if {form.format(v.name, w.name)} else {v.name} - 1)", v.shapes, v.dtypes)


def break_assert(gen):
    v = gen.pick(lambda v: v.float)
    gen.line(gen.rng.choice([f"assert ({v.name} == {v.name}).all() or True", f"assert {v.name}.sum() != 12345.5, f'{{{v.name}.shape}}'", f"assert {v.name}.dim() >= 0, 'dims'"]))


def break_call(gen):
    """A function that is not captured, a generator, a recursive one, a clock."""
    v = gen.pick(lambda v: v.float)
    helper = gen.rng.choice(["disabled", "disabled_once", "fails_after", "first_of", "with_break", "with_print", "deep", "untouched", "timed", "logged", "counted", "kept"])
    gen.helpers.add(helper)
    gen.bind(f"{helper}({v.name})", v.shapes, v.dtypes)


def break_middle(gen):
    """In the middle of an expression, where nothing can be resumed from."""
    v = gen.pick(lambda v: v.float)
    gen.helpers.add("with_print")
    gen.bind(gen.rng.choice([f"{v.name} + with_print({v.name}) * {v.name}.sum().item()", f"sum([{v.name} * k + with_print({v.name}) for k in range(2)])", f"[with_print({v.name}), {v.name}][0]",
                             f"(lambda a: with_print(a) * 2)({v.name})", f"({v.name} if print('mid') else {v.name} * 0.5)", f"max([({v.name}.sum().item(), 1), (0.0, 2)])[1] * {v.name}"]), v.shapes, v.dtypes)


def break_requires(gen):
    v = gen.pick(lambda v: v.float)
    name = gen.fresh("q")
    gen.line(f"{name} = {v.name}.detach().clone().requires_grad_()")
    if gen.rng.random() < 0.5:
        gen.bind(f"torch.autograd.grad(({name} * {name}).sum(), {name})[0]", v.shapes, v.dtypes)
    else:
        losses = [f"({name} ** 2 * 0.5).sum()", f"({name} * 0.5).sum()"]
        if gen.rng.random() < 0.4:  # known before, so that in mode lazy nothing is pending but what reads .grad
            gen.line("\n".join(f"l{k}{name} = {loss}" for k, loss in enumerate(losses)))
            losses = [f"l0{name}", f"l1{name}"]
            gen.line(f"print(bool({losses[0]} > 1e6), bool({losses[1]} > 1e6))")
        gen.line(f"{losses[0]}.backward(retain_graph=True)")
        first = gen.bind(f"{name}.grad.clone()", v.shapes, v.dtypes) if gen.rng.random() < 0.4 else None
        if first or gen.rng.random() < 0.4:
            gen.line(f"{losses[1]}.backward()")
        gen.bind(f"{name}.grad" + (f" - {first.name}" if first else ""), v.shapes, v.dtypes)


BREAKS = {f.__name__[6:]: f for f in (break_print, break_print_tensor, break_explicit, break_item, break_list, break_dynamic_shape, break_index, break_test, break_assert, break_call, break_middle, break_requires)}


def any_break(gen):
    BREAKS[gen.choose(gen.weights.breaks)](gen)


# Control flow.
def branch(gen):
    """if, on a tensor, a number, None, an attribute or a size."""
    v = gen.pick(lambda v: v.float)
    test = gen.rng.choice([f"{v.name}.sum() > 0", f"({v.name} > 0.3).any()", f"{v.name}.mean() < 0.2", f"{v.name}.shape[0] > 2" if v.rank else f"{v.name}.dim() == 0"] + gen.tests() * 2)
    gen.line(f"if {test}:")
    gen.block(gen.rng.randint(1, 2))
    if gen.rng.random() < 0.7:
        gen.line("else:")
        gen.block(1)


def optional(gen):
    """A value that may be None."""
    if not gen.optional:
        raise Invalid
    v = gen.pick(lambda v: v.float)
    gen.line(f"if {gen.optional} is not None:")
    gen.line(f"    {v.name} = {v.name} * 0.5 + {gen.optional}")
    gen.replaced(v)


def loop(gen):
    rng = gen.rng
    k = gen.fresh("k")
    gen.line(rng.choice([f"for {k} in range({rng.choice(gen.counts() + ['2', '3'])}):", f"for {k} in [1, 0.5]:", f"for {k}, _ in enumerate(['a', 'b']):", f"for {k} in reversed(range(2)):"]))
    with gen.deeper():
        gen.local_numbers.append(k)
        gen.body(rng.randint(1, 2))
        if rng.random() < 0.25:
            v = gen.pick(lambda v: v.float)
            gen.line(f"if {v.name}.sum() > 4:")
            gen.line("    " + rng.choice(["break", "continue"]))
        gen.local_numbers.remove(k)


def each_row(gen):
    v = gen.pick(lambda v: v.float and v.rank > 0)
    total, row = gen.fresh("total"), gen.fresh("row")
    gen.line(f"{total} = {v.name}.sum() * 0")
    gen.line(gen.rng.choice([f"for {row} in {v.name}:", f"for {row} in {v.name}.unbind(0):", f"for {row} in {v.name}.split(1):"]))
    gen.line(f"    {total} = torch.tanh({total} + {row}.sum())")
    gen.scope.add(Var(total, [()] * gen.settings, v.dtypes))


def while_loop(gen):
    v = gen.pick(lambda v: v.float and not v.narrow)
    k = gen.fresh("k")
    gen.line(f"{k} = 0")
    gen.line(gen.rng.choice([f"while {v.name}.abs().sum() > 0.3 and {k} < 3:", f"while {k} < 2:", f"while {k} < 3 and not ({v.name} > 0.9).any():"]))
    with gen.deeper():
        gen.line(f"{k} += 1")
        gen.line(f"{v.name} = {v.name} * 0.5")
        gen.replaced(v)
        gen.body(gen.rng.randint(0, 1))


def try_block(gen):
    gen.line("try:")
    gen.block(1)
    v = gen.pick()
    w = gen.rng.choice(["raise ValueError('no')", f"{v.name}.reshape(7, 11, 13)", "print('in try')", f"{v.name}.view({v.name}.numel() + 1)", "pass", f"if {v.name}.sum() > 0: raise KeyError('k')", "torch._dynamo.graph_break()"])
    gen.line("    " + w)
    kind = "Exception as error" if gen.rng.random() < 0.4 else "(ValueError, RuntimeError, KeyError)"
    gen.line(f"except {kind}:")
    if "as" in kind:
        gen.line("    print(type(error).__name__)")
    gen.block(1)
    if gen.rng.random() < 0.3:
        gen.line("finally:")
        gen.block(1)


def with_block(gen):
    kind = gen.rng.choice(["torch.no_grad()", "torch.enable_grad()", "torch.no_grad()", "torch.set_grad_enabled(False)", "torch.autocast('cpu', dtype=torch.bfloat16)", "Scoped()", "torch.inference_mode()"])
    if "autocast" in kind and gen.rng.random() < 0.5:
        raise Invalid
    if kind == "Scoped()":
        gen.helpers.add("Scoped")
    gen.line(f"with {kind}:")
    if "autocast" in kind:
        # Dtypes change inside: what it gives is not used outside.
        with gen.deeper():
            v = gen.pick(lambda v: v.float and v.rank == 2 and set(v.dtypes) == {"float32"})
            out = gen.fresh("m")
            gen.line(f"{out} = (({v.name} @ {v.name}.t()) * 0.1).float().sum()")
        gen.scope.add(Var(out, [()] * gen.settings, ["float32"] * gen.settings))
        return
    with gen.deeper():
        if gen.rng.random() < 0.3:
            gen.breaks()
        if kind in ("torch.enable_grad()", "Scoped()"):
            gen.body(gen.rng.randint(1, 3))
        else:  # variables of it are kept
            text, shapes, dtypes = RULES[gen.choose(gen.weights.expressions)](gen)
            name = gen.fresh("w")
            gen.line(f"{name} = {text}")
            if "inference" in kind:
                gen.line(f"{name} = {name} + 0")
    if kind in ("torch.no_grad()", "torch.set_grad_enabled(False)"):
        gen.scope.add(Var(name, shapes, dtypes, shares=True))


def function(gen):
    """A nested function, a lambda or a comprehension that closes over variables."""
    v = gen.pick(lambda v: v.float)
    w = gen.pick(lambda v: v.float)
    f = gen.fresh("f")
    kind = gen.rng.choice(["def", "lambda", "list", "dict", "default", "nonlocal", "map", "tuple", "star"])
    if kind == "def":
        gen.line(f"def {f}(a, scale=0.5):")
        if gen.rng.random() < 0.4:
            gen.line(gen.rng.choice(["    torch._dynamo.graph_break()", "    print('in', a.dim())", "    if a.sum() > 1: a = a * 0.5"]))
        gen.line(f"    return a * scale + {w.name}.sum() * 0.1")
        gen.bind(gen.rng.choice([f"{f}({v.name})", f"{f}({v.name}, scale=0.25)", f"{f}({f}({v.name}))"]), v.shapes, v.dtypes if gen.rank0_keeps(v, w) else None)
    elif kind == "lambda":
        gen.line(f"{f} = lambda a: a.tanh() + {gen.rng.choice(gen.numbers() + ['0.5'])}")
        gen.bind(f"{f}({v.name})", v.shapes, v.dtypes)
    elif kind == "list":
        gen.bind(f"torch.stack([{v.name} * i for i in range(3) if i != 1])", [(2,) + s for s in v.shapes], v.dtypes)
    elif kind == "dict":
        d = gen.fresh("d")
        gen.line(f"{d} = {{'a': {v.name}, 'b': {v.name} * 2}}")
        if gen.rng.random() < 0.5:
            gen.breaks()
        gen.line(f"{d}['a'] = {d}['a'] + 1" if gen.rng.random() < 0.7 else f"{d}.update(c={v.name})")
        gen.bind(f"sum({d}.values())", v.shapes, v.dtypes)
    elif kind == "default":
        gen.line(f"def {f}(*args, **more):")
        gen.line("    return args[0] * more.get('k', 0.5) + len(args)")
        gen.bind(f"{f}({v.name}, 1, k=0.25)", v.shapes, v.dtypes)
    elif kind == "nonlocal":
        c = gen.fresh("c")
        gen.line(f"{c} = 0.5")
        gen.line(f"def {f}(a):")
        gen.line(f"    nonlocal {c}")
        gen.line(f"    {c} += 1")
        gen.line(f"    return a * {c} * 0.3")
        gen.bind(f"{f}({v.name})", v.shapes, v.dtypes)
    elif kind == "map":
        gen.bind(f"list(map(torch.sin, [{v.name}, {v.name} * 2]))[1]", v.shapes, v.dtypes)
    elif kind == "tuple":
        a, b = gen.fresh("a"), gen.fresh("b")
        gen.line(f"{a}, {b} = {v.name} * 2, {w.name} * 0.5")
        gen.line(f"{a}, {b} = {b}, {a}")
        gen.scope.add(Var(a, w.shapes, w.dtypes))
        gen.scope.add(Var(b, v.shapes, v.dtypes))
    else:
        parts = gen.fresh("p")
        gen.line(f"{parts} = [{v.name}, {v.name} + 1]")
        if gen.rng.random() < 0.4:
            gen.breaks()
        gen.line(f"{parts}.append({parts}[0] * 0.5)")
        gen.bind(f"torch.maximum(*{parts}[1:])", v.shapes, v.dtypes)


# What autograd sees.
def autograd(gen):
    v = gen.pick(lambda v: v.float)
    rng = gen.rng
    kind = rng.choice(["detach", "hook", "function", "retain", "double", "requires", "checkpoint", "stop", "inner", "version"])
    if kind == "detach":
        gen.bind(f"{v.name}.detach() * {v.name}", v.shapes, v.dtypes)
    elif kind == "hook":
        w = gen.bind(f"{v.name} * 1.5", v.shapes, v.dtypes)
        gen.line(f"if {w.name}.requires_grad:")
        gen.line(f"    {w.name}.register_hook(lambda g: g * 2)")
    elif kind == "function":
        helper = rng.choice(["Doubled", "Straight", "Saved"])
        gen.helpers.add(helper)
        gen.bind(f"{helper}.apply({v.name})", v.shapes, v.dtypes)
    elif kind == "retain":
        w = gen.bind(f"{v.name}.sin()", v.shapes, v.dtypes)
        gen.line(f"if {w.name}.requires_grad: {w.name}.retain_grad()")
    elif kind in ("double", "inner"):
        q, g = gen.fresh("q"), gen.fresh("g")
        gen.line("with torch.enable_grad():")
        gen.line(f"    {q} = {v.name}.detach().requires_grad_()")
        gen.line(f"    {g}, = torch.autograd.grad(({q}.sin() * {q}).sum(), {q}{', create_graph=True' if kind == 'double' else ''})")
        if kind == "double":
            gen.line(f"    {g}, = torch.autograd.grad({g}.pow(2).sum(), {q})")
        gen.scope.add(Var(g, v.shapes, v.dtypes))
    elif kind == "requires":
        gen.bind(f"({v.name} * 2 if {v.name}.requires_grad else {v.name} + 1)", v.shapes, v.dtypes)
    elif kind == "checkpoint":
        gen.helpers.add("untouched")
        gen.helpers.add("checkpoint")
        gen.bind(f"checkpoint(untouched, {v.name}, use_reentrant=False)", v.shapes, v.dtypes)
    elif kind == "stop":
        helper = rng.choice(["without_grad", "grad_off"])
        gen.helpers.add(helper)
        gen.bind(f"{helper}({v.name}) + {v.name}", v.shapes, v.dtypes)
    else:
        gen.line(f"print({v.name}.requires_grad, {v.name}.is_leaf)")


def module_use(gen):
    """A layer or a buffer of the module that the program is, or of its globals."""
    if not gen.layers:
        raise Invalid
    gen.rng.choice(gen.layers)(gen)


def seeded(gen):
    gen.line(f"torch.manual_seed({gen.rng.randrange(9)})")
    v = gen.pick(lambda v: v.float)
    forms = ["torch.randn({0}.shape) + {0}.float()", "torch.nn.functional.dropout({0}.float(), 0.4, True)", "torch.rand({0}.shape) * {0}.float()", "torch.empty({0}.shape).exponential_() + {0}.float()",
             "torch.multinomial(torch.tensor([0.1, 0.5, 0.4, 0.2]), 3, True).sum() * 0.1 + {0}.float()"]
    if all(numel(s) for s in v.shapes):
        forms.append("torch.nn.functional.gumbel_softmax({0}.float().reshape(1, -1), dim=-1).reshape({0}.shape)")
    gen.bind(gen.rng.choice(forms).format(v.name), v.shapes, ["float32"] * gen.settings)


def divided(gen):
    """Whole numbers by what may be 0, which fails on the CPU.  Printed: what nobody asks for is not computed, and in mode lazy it
    fails where somebody asks, which may be in a try block further on."""
    if gen.on_gpu or not gen.broken:
        raise Invalid
    v = gen.pick(lambda v: v.float)
    q, op = gen.fresh("q"), gen.rng.choice(["//", "%"])
    gen.line(f"{q} = torch.tensor([1, 2, 3]) - ({v.name}.sum() > 6).long()")
    gen.line(f"{q} = torch.arange(3, 6) {op} {q}\nprint(int({q}.sum()))")
    gen.bind(f"{q} * 0.5", [(3,)] * gen.settings, ["float32"] * gen.settings)


def early(gen):
    """return before the end."""
    if gen.depth > gen.top:
        raise Invalid
    v = gen.pick(lambda v: v.float)
    test = gen.rng.choice([f"{v.name}.sum() > 30"] + gen.tests())
    gen.line(f"if {test}:")
    gen.line(f"    return {v.name} * 2")


STATEMENTS = {"assign": assign, "update": update, "inplace": inplace, "inplace_other": inplace_other, "write_view": write_view, "augment": augment, "break": any_break, "branch": branch, "optional": optional, "loop": loop,
              "each_row": each_row, "while": while_loop, "try": try_block, "with": with_block, "function": function, "autograd": autograd, "module": module_use, "seeded": seeded, "early": early, "number": number_use, "sides": sides, "plain": plain, "asked": asked, "divided": divided}
