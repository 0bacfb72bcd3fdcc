"""Branches and loops that decide by values in a tensor, and what their sides leave.

A graph may hold both sides of such a branch, or a whole loop: then what the sides leave, a
value of any kind, an object that was changed, becomes one.  Each kind is left here, in equal
and in unequal ways.
"""
from scope import Invalid

# What a side binds, by kind: the ways, and how the name is read after.  {v} and {w} are
# alike tensors, {n} is the name.
LEFT = {
    "tuple": (["({v}, {w})", "({v} * 2, {w})", "({v}, {w}, 1)", "({w}, 3)"], ["{n}[0]", "{n}[0] * len({n})", "sum({n}[:2])"]),
    "nested": (["({v}, [{w}, 2])", "({w}, [{v}, 2])", "({v}, [{w}, 3])", "({v}, [{w}])"], ["{n}[0] + {n}[1][0]", "{n}[0] * len({n}[1])", "{n}[0] + {n}[1][-1]"]),
    "list": (["[{v}, {w}]", "[{w} * 0.5, {v}]", "[{v}]", "[{v}, 2.0]", "parts_of({v})"], ["{n}[0]", "{n}[-1] * {v}", "{n}[0] * len({n})", "({n}.append({v}), sum({n}))[1]"]),
    "dict": (["{{'a': {v}, 'b': 1}}", "{{'a': {w}, 'b': 2}}", "{{'b': 1, 'a': {v}}}", "{{'a': {v}}}", "dict(a={v} * 2, b=3)"], ["{n}['a']", "{n}['a'] * len({n})", "{n}['a'] + {n}.get('b', 0.5)", "(lambda d: d['a'])(dict({n}, c=1))"]),
    "set": (["{{1, 2}}", "{{2, 3}}", "{{1, 2}}"], ["{v} * sum({n})", "{v} + len({n})", "{v} * (2 in {n})"]),
    "range": (["range(2)", "range(3)", "range(2)"], ["{v} * sum({n})", "{v} + len({n})", "sum([{v} * k for k in {n}], {v})"]),
    "bound": (["{v}.sin", "{w}.cos", "{v}.sin", "{v}.tanh"], ["{n}()"]),
    "function": (["torch.sin", "torch.cos", "torch.sin", "halved", "doubled"], ["{n}({v})"]),
    "lambda": (["lambda a: a * 2", "lambda a: a + {w}", "halved"], ["{n}({v})"]),
    "partial": (["functools.partial(torch.mul, {v})", "functools.partial(torch.add, {w})", "functools.partial(torch.mul, {w})"], ["{n}({w})"]),
    "text": (["'sum'", "'mean'", "'sum'", "f'{{{v}.dim()}}'"], ["({v} * 2 if {n} == 'sum' else {v})", "{v} * len({n})"]),
    "nothing": (["None", "{v}", "{w} * 2"], ["({v} if {n} is None else {n})"]),
    "whole": (["1", "2", "{v}.dim()", "{v}.numel()", "len({v}.shape)"], ["{v} * {n}", "{v} + {n}", "({v} if {n} > 1 else -{v})", "sum([{v} for _ in range({n})], {v})"]),
    "real": (["0.5", "1.5", "{v}.sum().item()", "float({w}.mean())", "2"], ["{v} * {n}", "{v} + {n}", "({v} if {n} > 1 else -{v})", "{v} * max({n}, 0.25)", "{v} * {n} // 1"]),
    "truth": (["True", "False", "({v} > 0).any()", "bool(({w} > 0.5).all())"], ["({v} if {n} else -{v})", "{v} * {n}", "({v} * 0.5 if not {n} else {v})"]),
    "size": (["{v}.shape", "{w}.shape", "tuple({v}.shape)"], ["{v} * len({n})", "{v}.reshape({n})"]),
    "dtype": (["torch.float32", "torch.float64", "{v}.dtype"], ["{v}.to({n}).sum().to({v}.dtype) + {v}"]),
    "slice": (["slice(0, 1)", "slice(None, None)", "slice(0, 1)"], ["{v} + {v}.flatten()[{n}].sum()"]),
    "pair": (["Pair({v}, 1)", "Pair({w}, 2)", "Pair({v} * 2, 1)", "({v}, 1)"], ["{n}[0] * {n}[1]", "{v} + {n}[1]"]),
    "object": (["Box({v})", "Box({w})", "Box({v} * 2)", "Crate({v})", "Box({v}, 2)"], ["{n}.at", "{n}.at * {n}.count", "{n}.twice()", "{n}.at if isinstance({n}, Crate) else {n}.at * 2"]),
    "shared": (["[box, box]", "[box, Box({v})]"], ["{n}[0].at + {n}[1].at"]),
    "same": (["box", "box", "other"], ["{n}.at", "{n}.at * {n}.count"]),
    "tensor": (["{v} * 2", "{w} - 1", "{v}", "{w}", "{v}.clone()", "{v}.detach()", "{v}.view_as({v})", "{v}.sum()", "{v}.double()"], ["{n}", "{n} * 2", "{n}.sum() + {v}"]),
}
# What a side changes: lines; and how it is read after.
CHANGED = {
    "append": (["held.append({v})", "held.append({w})", "held.append(1)", "held.pop()", "held[0] = {v}", "held[0] = {w} * 2", "held += [{w}]", "held.clear()", "held.insert(0, {v})", "held.reverse()"], ["sum(held, {v})", "{v} * len(held)"]),
    "store": (["table['a'] = {v}", "table['a'] = {w} * 2", "table['b'] = 3", "table.update(c=1)", "table.pop('b', 0)", "table['a'] *= 2", "table.setdefault('d', {v})", "del table['b']", "table['a'] = 1.5"], ["table['a'] * {v}", "{v} * len(table)", "{v} * table.get('b', 2)"]),
    "attribute": (["box.at = {v}", "box.at = {w}", "box.count += 1", "box.count = 7", "box.fresh = {v}", "box.at = None", "box.add({w})", "setattr(box, 'count', 3)", "del box.count"], ["{v} if box.at is None else box.at * 1", "{v} * getattr(box, 'count', 5)", "getattr(box, 'fresh', {v})"]),
    "members": (["members.add(3)", "members.discard(1)", "members |= {{4}}", "members.add(4)"], ["{v} * sum(members)", "{v} * len(members)"]),
    "generator": (["next(turns)", "next(turns, 0)", "pass", "turns = iter([5, 6])", "turns = None"], ["{v} * sum(turns or [2])"]),
    "walk": (["next(walk)", "next(walk, 0)", "pass", "walk = iter([7])"], ["{v} * sum(walk)", "{v} * next(walk, 3)"]),
    "global": (["set_kept({v}.detach().sum())", "set_kept(2)", "set_kept(0.5)", "pass", "set_kept(get_kept() + 1)"], ["{v} * get_kept()"]),
    "cell": (["change({v}.sum())", "change(2.0)", "change(3)", "pass", "cell = 4"], ["{v} * cell", "{v} + cell"]),
    "write": (["{v}.add_(1)", "{v}.mul_(0.5)", "{v}[...] = 0.5", "{v} += {w}", "pass", "{v} = {v} + 1", "{w} = {v}", "box.at.add_(1)", "held[0].mul_(2)"], ["{v} + {w}", "{v} * box.at", "held[0] + {v}"]),
    "class": (["Box.size = 3", "Box.size = 4", "pass"], ["{v} * Box.size"]),
    "print": (["print('side')", "print({v}.shape)", "pass", "print({v}.dim(), end=';')"], ["{v} * 1"]),
    "raise": (["raise ValueError('side')", "pass", "raise KeyError(1)", "1 / 0", "[][1]"], ["{v} * 2"]),
}


def tests(gen):
    v = gen.pick(lambda v: v.float)
    return gen.rng.choice(["{0}.sum() > 0", "({0} > 0.3).any()", "{0}.mean() < 0.2", "{0}.sum().item() > 0.25", "({0} > 0).sum() > 1", "bool(({0} < 1).all())", "{0}.sum() > 0 and {0}.mean() < 2", "not {0}.sum() > 0.5", "{0}.numel() > 3 and {0}.sum() > 0", "0 < {0}.sum() < 3", "any([{0}.sum() > 1, {0}.mean() < 0])", "all(k > -1 for k in [{0}.sum(), 2])"]).format(v.name)


def alike(gen):
    v = gen.pick(lambda v: v.float and not (v.leaf and gen.grad))
    try:
        return v, gen.pick(lambda w: w.float and w.like(v) and not (w.leaf and gen.grad) and w.name != v.name)
    except Invalid:
        return v, gen.bind(f"{v.name} * 0.75 + 0.1", v.shapes, v.dtypes)


def objects(gen, v, text):
    """What the sides of `text` change is made before."""
    made = {"box": "box = Box({0}.clone())", "other": "other = Box({0} + 1)", "held": "held = [{0} * 1, {0} * 2]", "table": "table = {{'a': {0}, 'b': 1}}", "members": "members = {{1, 2}}", "turns": "turns = (k for k in [1, 2, 3])", "walk": "walk = iter([1, 2, 3])"}
    for name, line in made.items():
        if name in text:
            gen.line(line.format(v.name))
    if "cell" in text or "change(" in text:
        gen.line("cell = 1.0\ndef change(to):\n    nonlocal cell\n    cell = to")
    for name, helper in (("Box", "Box"), ("box", "Box"), ("Crate", "Box"), ("Pair", "Pair"), ("halved", "halved"), ("doubled", "halved"), ("parts_of", "halved"), ("functools", "functools"), ("kept(", "kept_number")):
        if name in text:
            gen.helpers.add(helper)


def left(gen):
    """A name that each side binds to a value of one kind, or one side to another kind."""
    rng = gen.rng
    v, w = alike(gen)
    kind = rng.choice(sorted(LEFT))
    ways, reads = LEFT[kind]
    if rng.random() < 0.08:
        ways = ways + LEFT[rng.choice(sorted(LEFT))][0]
    a, b, name = rng.choice(ways), rng.choice(ways), gen.fresh("z")
    a, b = (x.format(v=v.name, w=w.name, n=name) for x in (a, b))
    objects(gen, v, a + b + " ".join(reads))
    form = rng.choice(["if", "if", "if", "one", "expression", "elif", "early", "call"])
    if form == "if":
        gen.line(f"if {tests(gen)}:\n    {name} = {a}\nelse:\n    {name} = {b}")
    elif form == "one":
        gen.line(f"{name} = {b}\nif {tests(gen)}:\n    {name} = {a}")
    elif form == "expression":
        gen.line(f"{name} = {'(' + a + ')' if 'lambda' in a else a} if {tests(gen)} else {b}")
    elif form == "elif":
        gen.line(f"if {tests(gen)}:\n    {name} = {a}\nelif {tests(gen)}:\n    {name} = {b}\nelse:\n    {name} = {a}")
    elif form == "early":
        f = gen.fresh("f")
        gen.line(f"def {f}():\n    if {tests(gen)}:\n        return {a}\n    return {b}\n{name} = {f}()")
    else:
        gen.line(f"{name} = (lambda c: ({a}) if c else ({b}))({tests(gen)})")
    if rng.random() < 0.15:
        gen.breaks()
    gen.bind(rng.choice(reads).format(v=v.name, w=w.name, n=name), v.shapes, v.dtypes)
    if kind not in ("bound", "function", "lambda", "partial", "object", "shared", "same", "dtype", "slice", "range", "set") and gen.depth == gen.top and rng.random() < 0.4:
        gen.values.append(name)


def changed(gen):
    """Objects from before that one side changes, or both."""
    rng = gen.rng
    v, w = alike(gen)
    kind = rng.choice(sorted(CHANGED))
    ways, reads = CHANGED[kind]
    lines = [rng.choice(ways).format(v=v.name, w=w.name) for _ in range(3)]
    text = rng.choice(reads)
    objects(gen, v, " ".join(lines) + text)
    gen.line(f"if {tests(gen)}:\n    {lines[0]}" + (f"\n    {lines[2]}" if rng.random() < 0.3 else ""))
    if rng.random() < 0.6:
        gen.line(f"else:\n    {lines[1]}")
    gen.bind(text.format(v=v.name, w=w.name), v.shapes, v.dtypes)


ROUNDS = ["{v} = {v} * 0.5", "{w} = {w} + {v}", "{k} += 1", "{v} = {v} * 0.5 + 0.01\n{k} = {k} + 1", "held.append({v})", "held[0] = {v}", "held[-1] = held[-1] * 0.5", "table['a'] = table['a'] * 0.5", "table['new'] = {v}", "box.at = box.at * 0.5", "box.count += 1", "members.add({k})", "print('round')", "first = {v} * 2",
          "first = {k} * 2", "{v}.mul_(0.5)", "held[0].mul_(0.5)", "set_kept({k})", "change({v}.sum())", "change(cell * 0.5)", "if {k} > 1: break", "if {v}.sum() > 3: break", "if {k} == 1: continue", "next(walk, 0)", "{v} = {v}.clone()", "{v} = {v}[:]", "{v} = {v}.double().to({v}.dtype)", "{r} = {r} * 0.5", "{r} = {r} + {v}.sum().item()",
          "{r} = -{r}", "{v}, {w} = {w}, {v}", "last, {v} = {v}, {v} * 0.5", "held = [{v}, {w}]", "held = held[1:] + [{v}]", "name = 'a' if {k} else 'b'", "if {v}.sum() > {w}.sum():\n    {v} = {v} * 0.25\nelse:\n    {w} = {w} * 0.5", "if {k} % 2:\n    {w} = {w} * 0.5", "for j in range(2):\n    {v} = {v} * 0.75", "try:\n    {v} = {v} * 0.5\nexcept ValueError:\n    pass", "with torch.no_grad():\n    {w} = {w} * 0.5",
          "{k} = {k} * 2 + 1", "{k} = {k} + int({v}.sum() > 0)", "{v} = halved({v})", "def f(a):\n    return a * {k}\n{w} = f({w}) * 0.1", "assert {k} < 100", "{w} = {w} if {v}.sum() > 0 else -{w}", "flag = not {k} % 2", "{r} = {r} // 2", "{r} = math.tanh({r})", "{r} = min({r}, 0.5)", "return {v}", "{w} = torch.where({v} > 0, {w}, {w} * 0.5)"]
WHILE = ["{v}.abs().sum() > {r}", "{v}.abs().sum().item() > 0.4", "({v}.abs() > 0.3).any()", "{v}.abs().mean() > 0.2 and {k} < 6", "{k} < 5 and {v}.abs().sum() > 0.5", "not ({v}.abs() < 0.4).all()", "{v}.norm() > {w}.norm() * 0.3", "0.3 < {v}.abs().sum() < 50", "{v}.abs().sum() > 0.2 or {k} < 2", "bool({v}.abs().max() > 0.3)" , "{k} < 3", "True", "({v} * {v}).sum() > {r}", "{r} > 0.1 and {k} < 6", "{k} < int({v}.abs().sum()) + 1"]


def rounds(gen):
    """A loop that goes on while a tensor says so; its rounds change things of every kind."""
    rng = gen.rng
    v, w = alike(gen)
    k, r = gen.fresh("k"), gen.fresh("r")
    if gen.grad and v.leaf:
        raise Invalid
    names = {"v": v.name, "w": w.name, "k": k, "r": r}
    test = rng.choice(WHILE)
    body = [form for form in rng.choices(ROUNDS, k=rng.choice([0, 1, 1, 2, 2, 3])) if not form.startswith("return") or gen.depth <= gen.top]
    text = "\n".join(body) + test
    objects(gen, v, text + " kept(" if "set_kept" in text else text)
    gen.line(f"{k}, {r} = 0, 0.5")
    counted = rng.random() < 0.75 or any("{v}" in form or "{r}" in form or "{w}" in form or "{k}" in form for form in body) or "{k}" in test or test == "True" or "{r} >" in test or "{w}" in test
    if not counted:  # it must end
        gen.line(f"{v.name} = torch.tanh({v.name}).nan_to_num()")
    gen.line(f"while {test.format(**names)}:")
    lines = [f"{v.name} = {v.name} * 0.5"] + [f"{k} = {k} + 1"] * counted + [line for form in body for line in form.format(**names).split("\n")]
    if counted:
        lines.insert(rng.choice([1, 2, len(lines)]) if not any("continue" in line for line in lines) else 2, f"if {k} > {rng.choice([2, 4, 7])}: break")
    for line in lines:
        gen.line("    " + line)
    if rng.random() < 0.2:
        gen.line(f"else:\n    {w.name} = {w.name} + 1")
    for one in (v, w):
        gen.replaced(one)
    forms = ["{v} + {w}", "{v} * {k}", "{w} + {r}"]
    forms += [f for name, f in (("held", "{v} + held[0]"), ("held", "{v} * len(held)"), ("table", "{v} + table['a']"), ("box", "{v} + box.at"), ("box", "{v} * box.count"), ("set_kept", "{v} * get_kept()"), ("change", "{v} + cell")) if name in text] * 3
    gen.bind(rng.choice(forms).format(**names), v.shapes, v.dtypes)


def sides(gen):
    gen.rng.choice([left, left, left, changed, changed, rounds, rounds])(gen)


HELPERS = {
    "Box": "class Box:\n    size = 2\n    def __init__(self, at, count=1):\n        self.at, self.count = at, count\n    def twice(self):\n        return self.at * 2\n    def add(self, more):\n        self.at = self.at + more\nclass Crate(Box):\n    def twice(self):\n        return self.at * 3\n",
    "Pair": "import collections\nPair = collections.namedtuple('Pair', 'a b')\n",
    "halved": "def halved(a):\n    return a * 0.5\ndef doubled(a):\n    return a * 2\ndef parts_of(a):\n    return [a * 3, a]\n",
    "functools": "import functools\n",
    "kept_number": "kept_value = 1.5\ndef set_kept(to):\n    global kept_value\n    kept_value = to\ndef get_kept():\n    return kept_value\n",
}
