"""Python's own functions and protocols on tensors, and what autograd may be asked for."""
from scope import Invalid, Var
from sides import alike

# What gives a value like {v}; {w} is another one of its shape and dtype.
VALUES = ["abs({v})", "sum([{v}, {w}])", "sum([{v}, {w}], {v})", "sum(k * {v} for k in (1, 0.5))", "pow({v}.abs() + 0.5, 2) * 0.1", "max([{v}, {w}], key=lambda a: a.dim())", "min([(2, {v}), (1, {w})], key=lambda p: p[0])[1]", "sorted([(1, {v}), (0, {w})], key=lambda p: p[0])[0][1]",
          "list(zip([{v}], [{w}]))[0][1]", "dict(a={v}, b={w}).popitem()[1]", "next(iter([{v}, {w}]))", "next(iter(Turns([{v}, {w}])))", "sum(Turns([{v}, {w}]))", "[a for a in Turns([{v}, {w}])][-1]", "list(map(torch.add, [{v}], [{w}]))[0]", "list(filter(lambda a: a.dim() >= 0, [{v}, {w}]))[0]", "(lambda *a, **k: a[0] + k['b'])({v}, b={w})",
          "functools.reduce(torch.add, [{v}, {w}, {v}])", "functools.reduce(lambda a, b: a * 0.5 + b, [{v}, {w}])", "functools.partial(torch.add, {v}, alpha=2)({w})", "[*reversed([{v}, {w}])][0]", "list(enumerate([{v}, {w}], 3))[1][1]", "{{**dict(a={v}), 'b': {w}}}['b']", "copy.deepcopy({v})", "copy.copy({v})", "getattr({v}, 'T' if False else 'data')",
          "getattr({v}, 'nothing', {w})", "({v} if hasattr({v}, 'relu') else {w})", "({v} if isinstance({v}, torch.Tensor) else {w})", "({v} if callable({v}.sin) else {w})", "[{v}, {w}].index({v}) + {v}", "[{v}, {w}][[{v}.dim(), -1].index(-1)]", "({v}, {w}).count(3) + {v}", "{v} * ({v} is {w})", "{v} * (3 in [1, 3])", "{v} * len([{v}, {w}][:1] * 2)",
          "torch.Tensor.add({v}, {w})", "operator.mul({v}, {w})", "operator.itemgetter(1)([{v}, {w}])", "operator.attrgetter('data')({v})", "(a := {v} * 2) + a", "[b := {v}, b + 1][1]", "Caller({w})({v})", "Caller({w}).kept * {v}", "{v} @ {w}.transpose(-1, -2) @ {v}", "-{v} if {v}.is_floating_point() else {v}",
          "{v} + {{1: 2}}.get(1, {w})", "{v} * float(str({v}.dim()) + '.5')", "{v} + int(f'{{{v}.dim()}}')", "{v} + len(f'{{tuple({v}.shape)}}')", "itertools_pick([{v}, {w}])", "collections.Counter('abca')['a'] * {v}", "collections.deque([{v}, {w}], maxlen=1)[0]", "collections.OrderedDict(a={v})['a']", "contextual({v})", "{v} ** Caller(2).kept", "{v} + Number(2)", "Number(3) * {v}"]
# Of autograd; {q} is a leaf of the program's own, made of {v}.
ASKED = ["torch.autograd.grad(({q} * {q}).sum(), [{q}])[0]", "torch.autograd.grad({q}.sum(), [{q}, {p}], allow_unused=True)[0]", "torch.autograd.grad({q}.sum(), [{q}, {p}], materialize_grads=True)[1]", "torch.autograd.grad({q} * 2, {q}, grad_outputs=torch.ones_like({q}))[0]", "torch.autograd.grad([{q}.sum(), ({q} * {p}).sum()], [{p}, {q}])[1]",
         "(({q} * {p}).sum().backward(inputs=[{q}]), {q}.grad)[1]", "(({q} * {p}).backward(torch.ones_like({q})), {p}.grad)[1]", "(torch.autograd.backward([({q} * 2).sum(), {p}.sum()]), {q}.grad + {p}.grad)[1]", "(torch.autograd.backward({q} * {p}, torch.ones_like({q})), {q}.grad)[1]", "({q}.sum().backward(), {q}.sum().backward(), {q}.grad)[2]", "(({q} ** 2).sum().backward(retain_graph=True), {q}.grad)[1]",
         "torch.autograd.grad(torch.autograd.grad(({q} ** 3).sum(), {q}, create_graph=True)[0].sum(), {q})[0]", "(setattr({q}, 'grad', torch.ones_like({q})), ({q} * 2).sum().backward(), {q}.grad)[2]", "(setattr({q}, 'data', {q}.data * 2), {q} * 1)[1].detach()", "torch.autograd.grad({q}.sum(), {p})[0]", "({q}.sum().backward(), torch.autograd.grad({q}.sum(), {q}))[1][0]", "({q}.register_hook(lambda g: g * 3), ({q} * 2).sum().backward(), {q}.grad)[2]",
         "((r := {q} * 2).retain_grad(), (r * r).sum().backward(), r.grad)[2]", "{q}.requires_grad_(False) * 2", "({q} * 2).detach_()", "(s := {q} * 2, s.sum().backward(), s.sum().backward())[0]", "({q} * 2).requires_grad_(False)", "{q} * float(({q} * 2).grad_fn is None)", "{q} * float({q}.grad_fn is None) + float({q}.is_leaf)", "({q} * {q}.grad).detach() if {q}.grad is not None else {q}.detach()", "torch.autograd.functional.jvp(lambda a: a * 2, {q}.detach(), {q}.detach())[1]"]


def plain(gen):
    v, w = alike(gen)
    text = gen.rng.choice(VALUES)
    if ("@" in text or "T" in text.split("'")[:1]) and v.rank < 2:
        raise Invalid
    if "@" in text and any(0 in s for s in v.shapes):
        raise Invalid
    for name in ("Turns", "Caller", "Number", "itertools_pick", "contextual"):
        if name in text:
            gen.helpers.add(name)
    if any(m in text for m in ("functools", "copy.", "operator", "collections")):
        gen.helpers.add("modules")
    shapes = v.shapes
    gen.bind(text.format(v=v.name, w=w.name), shapes, v.dtypes)


def asked(gen):
    """A leaf of the program's own, and a question about its gradient."""
    v = gen.pick(lambda v: v.float)
    q, p = gen.fresh("q"), gen.fresh("q")
    gen.line("with torch.enable_grad():")
    gen.line(f"    {q} = {v.name}.detach().clone().requires_grad_()")
    gen.line(f"    {p} = ({v.name}.detach() * 0.5 + 0.1).requires_grad_()")
    name = gen.fresh("g")
    text = gen.rng.choice(ASKED).format(q=q, p=p)
    if gen.rng.random() < 0.5:
        gen.line(f"    try:\n        {name} = {text}\n    except RuntimeError as e:\n        {name} = {v.name} * 0.5")
    else:
        gen.line(f"    {name} = {text}")
    gen.scope.add(Var(name, v.shapes, v.dtypes))


HELPERS = {
    "Turns": "class Turns:\n    def __init__(self, items):\n        self.items, self.at = items, 0\n    def __iter__(self):\n        return self\n    def __next__(self):\n        if self.at == len(self.items):\n            raise StopIteration\n        self.at += 1\n        return self.items[self.at - 1]\n",
    "Caller": "class Caller:\n    def __init__(self, kept):\n        self._kept = kept\n    @property\n    def kept(self):\n        return self._kept\n    def __call__(self, a):\n        return a * self.kept + self.kept\n",
    "Number": "class Number:\n    def __init__(self, n):\n        self.n = n\n    def __radd__(self, other):\n        return other + self.n\n    def __mul__(self, other):\n        return other * self.n\n",
    "itertools_pick": "import itertools\ndef itertools_pick(items):\n    for a, b in itertools.product(items, [1, 2]):\n        last = a * b\n    return list(itertools.chain(items, [last]))[-1] + list(itertools.islice(items, 1))[0]\n",
    "contextual": "import contextlib\n@contextlib.contextmanager\ndef scaled(a):\n    b = a * 2\n    try:\n        yield b\n    finally:\n        b = None\ndef contextual(a):\n    with scaled(a) as b:\n        return b + 1\n",
    "modules": "import collections\nimport copy\nimport functools\nimport operator\n",
}
