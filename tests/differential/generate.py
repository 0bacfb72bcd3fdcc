"""Random programs: make(seed) gives a workload, as `breakeven run` takes it.

A median program has 15 ops; a third of them take gradients, half have a break.  What has
broken before weighs more (WEIGHTS).
"""
import contextlib
import json
import random

import plain
import sides
from scope import Invalid, Scope, Var, is_float, numel
from statements import STATEMENTS, any_break


class Weights:
    """How often each rule is taken.  A construct that broke before was doubled, and says so."""

    expressions = {"unary": 12, "binary": 8, "number": 5, "compare": 2, "where": 2, "reduce": 6,
                   "view": 12,  # gradients of views were lost across breaks
                   "join": 3, "product": 3, "cast": 3,  # x.type(...) was ignored
                   "create": 3, "index": 2, "lookup": 2, "layer": 2, "loss": 1.5, "operator": 5}
    breaks = {"print": 5, "print_tensor": 2, "explicit": 5, "item": 4, "list": 1, "dynamic_shape": 3, "index": 2, "test": 3, "assert": 1, "call": 4, "middle": 2, "requires": 3}
    statements = {"assign": 40, "update": 8, "inplace": 4, "inplace_other": 2, "write_view": 4, "augment": 4, "break": 5, "branch": 4, "optional": 4, "loop": 3, "each_row": 1, "while": 1, "try": 1.5, "with": 2.5,
                  "function": 4, "number": 6, "sides": 6, "plain": 3, "asked": 1,  # numbers and branches: much of capture, and nothing made it
                  "autograd": 2, "module": 6, "seeded": 0.6, "early": 0.7, "divided": 0.8}


HELPERS = {
    "disabled": "@torch.compiler.disable\ndef disabled(a):\n    return a * 0.5 + 1\n",
    "disabled_once": "@torch.compiler.disable(recursive=False)\ndef disabled_once(a):\n    return torch.sin(a)\n",
    "fails_after": "def broken_off(a):\n    b = a * 2\n    torch._dynamo.graph_break()\n    if a.dim() != 1:\n        raise ValueError('no')\n    return b\ndef fails_after(a):\n    try:\n        return broken_off(a + 1)\n    except ValueError as e:\n        return a * len(str(e))\n",
    "first_of": "def values_of(a):\n    yield a.tanh()\n    yield a * 2\ndef first_of(a):\n    return sum(values_of(a))\n",
    "with_break": "def with_break(a):\n    b = a * 2\n    torch._dynamo.graph_break()\n    return b.sin()\n",
    "with_print": "def with_print(a):\n    print('helper', a.dim())\n    return a * 0.5\n",
    "deep": "def deep(a, n=2):\n    if n == 0:\n        torch._dynamo.graph_break()\n        return a\n    return deep(a * 0.5, n - 1) + 1\n",
    "untouched": "def untouched(a):\n    return torch.sin(a) * a\n",
    "timed": "import time\ndef timed(a):\n    now = time.time()\n    return a * 2 if now > 0 else a\n",
    "logged": "import logging\ndef logged(a):\n    logging.getLogger('model').debug('seen')\n    return a + 1\n",
    "counted": "seen = []\ndef counted(a):\n    seen.append(a.dim())\n    return a * (1 + len(seen)) * 0.5\n",
    "kept": "last = {}\ndef kept(a):\n    before = last.get('a')\n    last['a'] = a.detach().sum()\n    return a if before is None else a + before.tanh()\n",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\n",
    "Scoped": "class Scoped:\n    def __enter__(self):\n        return self\n    def __exit__(self, *more):\n        return False\n",
    "Doubled": "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n",
    "Straight": "class Straight(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return torch.round(a * 2) / 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\n",
    "Saved": "class Saved(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        ctx.save_for_backward(a)\n        return a.sin()\n    @staticmethod\n    def backward(ctx, g):\n        a, = ctx.saved_tensors\n        return g * a.cos()\n",
    "without_grad": "@torch.no_grad()\ndef without_grad(a):\n    return a * 3\n",
    "grad_off": "@torch.set_grad_enabled(False)\ndef grad_off(a):\n    return a * 3\n",
    "fit": "def fit(v, shape, low, high):\n    n = 1\n    for d in shape:\n        n *= d\n    f = torch.nan_to_num(v.float()).flatten()\n    f = torch.cat([f, torch.linspace(0.1, 0.9, n + 1)])[:n]\n    return (low + (high - low) * torch.sigmoid(f + torch.linspace(-1.0, 1.0, n))).reshape(shape)\n",
    **sides.HELPERS,
    **plain.HELPERS,
    "score": "def score(r):\n    if isinstance(r, (tuple, list)):\n        total = torch.zeros(())\n        for part in r:\n            total = total + score(part)\n        return total\n    if not isinstance(r, torch.Tensor):\n        return torch.tensor(float(r))\n    f = torch.nan_to_num(r.float(), 0.3, 2.0, -2.0).tanh().flatten()\n    return (f * torch.linspace(1.0, 2.0, f.numel())).sum() * 0.25\n",
}


class Generator:
    weights = Weights
    on_gpu = False

    def __init__(self, seed, rows=(), spellings=None):
        self.rng = random.Random(seed)
        self.seed = seed
        self.rows, self.spellings = list(rows), spellings or {}
        self.settings = self.rng.choice([1, 2, 2, 3])
        self.lines, self.depth, self.top = [], 1, 1
        self.scope = Scope()
        self.helpers, self.used = set(), set()
        self.count = 0
        self.grad = self.rng.random() < 0.36
        self.broken = self.rng.random() < 0.5
        self.layers, self.optional, self.local_numbers = [], None, []
        self.int_names, self.test_names = [], []
        self.values = []  # names of what is no tensor and may be returned
        self.is_module = False
        self.row_turn = self.rng.randrange(1 << 30)

    # Of statements and expressions.
    def pick(self, fits=lambda v: True):
        able = [v for v in self.scope.all() if fits(v)]
        if not able:
            raise Invalid
        # What was made last is read more often: programs are chains rather than fans.
        return able[-1 - min(int(self.rng.expovariate(0.5)), len(able) - 1)]

    def choose(self, weights):
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def line(self, text):
        for part in text.split("\n"):
            self.lines.append("    " * self.depth + part)

    def bind(self, text, shapes, dtypes, shares=False):
        name = self.fresh("v")
        if any(numel(s) > 4096 for s in shapes):
            raise Invalid
        if dtypes is None:
            raise Invalid
        self.line(f"{name} = {text}")
        return self.scope.add(Var(name, shapes, dtypes, shares=shares))

    def replaced(self, v):
        """v has a value of its own now, of the same shape and dtype."""
        new = Var(v.name, v.shapes, v.dtypes)
        s = self.scope
        while s:
            if any(o.name == v.name for o in s.own):
                s.own = [new if o.name == v.name else o for o in s.own]
                return new
            s = s.outer
        return self.scope.add(new)

    def rank0_keeps(self, v, w):
        return v.dtypes == w.dtypes

    def numbers(self):
        return self.int_names + self.local_numbers

    def counts(self):
        return [n for n in self.int_names if n.startswith("n")]

    def tests(self):
        return list(self.test_names)

    def row(self):
        """Rows of the op table in turn, so that all of them are met."""
        if not self.rows:
            raise Invalid
        self.row_turn += 1
        return self.rows[self.row_turn % len(self.rows)]

    def breaks(self):
        if self.broken:
            any_break(self)

    @contextlib.contextmanager
    def deeper(self):
        self.depth += 1
        self.scope = Scope(self.scope)
        at = len(self.lines)
        try:
            yield
        finally:
            if len(self.lines) == at:
                self.line("pass")
            self.scope = self.scope.outer
            self.depth -= 1

    def block(self, n):
        with self.deeper():
            self.body(n, inner=True)

    def statement(self, weights=None):
        weights = dict(weights or self.weights.statements)
        if not self.broken:
            weights["break"] = 0
        if self.depth > self.top + 2:
            weights = {"assign": 3, "update": 2}
        mark, own, values = len(self.lines), list(self.scope.own), list(self.values)
        for _ in range(12):
            try:
                STATEMENTS[self.choose(weights)](self)
                return
            except Invalid:
                del self.lines[mark:]
                self.scope.own, self.values = list(own), list(values)

    def body(self, n, inner=False):
        for _ in range(n):
            # In a block what lives on after it is an update of a variable.
            if inner or self.depth > self.top:
                self.statement({"update": 5, "assign": 2, "inplace": 1, "break": 1.5, "write_view": 0.5, "branch": 0.4, "function": 0.5})
            else:
                self.statement()


def input_value(rng, shape, dtype):
    n = numel(shape)
    if is_float(dtype):
        data = [round(rng.uniform(-2, 2), 3) for _ in range(n)]
    elif dtype == "bool":
        data = [rng.random() < 0.5 for _ in range(n)]
    else:
        data = [rng.randint(0 if dtype == "uint8" else -4, 6) for _ in range(n)]
    return {"tensor": {"shape": list(shape), "dtype": dtype, "data": data}}


class Inputs:
    """The parameters of the entry, and what each call passes."""

    def __init__(self, gen):
        rng = self.rng = gen.rng
        self.gen, self.params, self.make = gen, [], []
        self.env = [{"B": rng.choice([1, 2, 3, 4, 5]), "N": rng.choice([2, 3, 4, 6]), "M": rng.choice([1, 2, 4])} for _ in range(gen.settings)]
        if rng.random() < 0.06:
            self.env[-1]["B"] = 0
        if rng.random() < 0.05:
            self.env[0].update(B=17, N=40)
        if gen.settings > 1 and rng.random() < 0.3:  # the sizes stay, what else changes
            for e in self.env:
                e.update(self.env[0])
        for k in range(rng.choice([1, 1, 2, 2, 3])):
            self.tensor("xyz"[k])
        self.extras()

    def tensor(self, name):
        rng, gen = self.rng, self.gen
        form = rng.choice([("B", "N"), ("B", "N"), ("N",), ("B",), ("N", "N"), ("B", "N", "M"), (), ("B", 1), (2, "N"), (4,), ("B", 4)])
        shapes = [tuple(e.get(d, d) for d in form) for e in self.env]
        dtype = rng.choice(["float32"] * 9 + ["float64", "bfloat16", "float16", "int64", "bool", "int32"])
        dtypes = [dtype] * gen.settings
        if gen.settings > 1 and rng.random() < 0.1 and is_float(dtype):
            dtypes[-1] = rng.choice(["float32", "float64"])
        self.params.append(name)
        self.make.append([lambda s=s, d=d: input_value(rng, s, d) for s, d in zip(shapes, dtypes)])
        gen.scope.add(Var(name, shapes, dtypes, leaf=True, shares=True))

    def plain(self, param, values):
        """A parameter that is no tensor: one value for each setting."""
        self.params.append(param)
        self.make.append([lambda v=v: {"value": v} for v in values])

    def extras(self):
        rng, gen = self.rng, self.gen
        n = gen.settings
        if rng.random() < 0.3:
            if rng.random() < 0.5:
                self.plain("k=None", [None if rng.random() < 0.5 else rng.choice([2, 0.5, 3]) for _ in range(n)])
            else:
                self.params.append("k=None")
                self.make.append([(lambda: {"value": None}) if rng.random() < 0.5 else (lambda: input_value(rng, (), "float32")) for _ in range(n)])
            gen.optional = "k"
        if rng.random() < 0.2:
            self.plain("n=2", [rng.choice([1, 2, 3]) for _ in range(n)])
            gen.int_names.append("n")
            gen.test_names += ["n > 1", "n == 2"]
        if rng.random() < 0.2:
            self.plain("flag=True", [rng.random() < 0.5 for _ in range(n)])
            gen.test_names += ["flag", "not flag"]
        if rng.random() < 0.15:
            self.plain("scale=1.5", [rng.choice([0.5, 1.5, 2.0]) for _ in range(n)])
            gen.int_names.append("scale")
            gen.test_names.append("scale > 1")
        if rng.random() < 0.1:
            self.plain("how='sum'", [rng.choice(["sum", "mean"]) for _ in range(n)])
            gen.test_names.append("how == 'sum'")

    def calls(self):
        rng, n = self.rng, self.gen.settings
        order = list(range(n))
        while len(order) < rng.choice([2, 3, 4, 5]):
            order.append(rng.randrange(n))
        if rng.random() < 0.4:
            rng.shuffle(order)
        return [[per[s]() for per in self.make] for s in order]


def result(gen):
    """The return: one variable or several, in a container."""
    able = gen.scope.all()
    rng = gen.rng
    made = [v for v in able if not v.leaf] or able
    picked = [made[-1]] + rng.sample(made, min(len(made), rng.choice([0, 1, 2, 4])))
    given = [v for v in able if v.leaf and v.float]
    if gen.grad and given:
        picked.append(given[0])  # whatever became of the others, this one has a gradient
    names = [v.name for v in picked] + gen.values[-2:]
    if len(names) == 1:
        return f"return {names[0]}"
    return rng.choice(["return ({})", "return [{}]"]).format(", ".join(names)) if rng.random() < 0.8 else "return {" + ", ".join(f"'{k}': {n}" for k, n in enumerate(names)) + "}"


def function_program(gen):
    inputs = Inputs(gen)
    gen.body(gen.size())
    gen.line(result(gen))
    return f"def model({', '.join(inputs.params)}):\n" + "\n".join(gen.lines) + "\n", inputs


LAYERS = [("lin", "nn.Linear({n}, {m})"), ("norm", "nn.LayerNorm({n})"), ("seq", "nn.Sequential(nn.Linear({n}, 4), nn.ReLU(), nn.Linear(4, {m}))"), ("drop", "nn.Dropout(0.5)"), ("emb", "nn.Embedding(7, {m})"),
          ("bn", "nn.BatchNorm1d({n})"), ("gru", "nn.GRUCell({n}, 3)"), ("par", "nn.Parameter(torch.linspace(-1.0, 1.0, {n}))"), ("lstm", "nn.LSTM({n}, 2)"), ("bil", "nn.Bilinear({n}, {n}, {m})"), ("act", "nn.PReLU()")]


def width_of(v):
    """The size of the last dim, where it is the same in all settings."""
    if not v.rank or len({s[-1] for s in v.shapes}) != 1 or not v.shapes[0][-1]:
        raise Invalid
    return v.shapes[0][-1]


def use_layer(name, text, n, m):
    def use(gen):
        self = "self." if gen.is_module else "net_"
        if name == "emb":
            gen.bind(f"{self}{name}(torch.tensor([0, 3, 1]))", [(3, m)] * gen.settings, ["float32"] * gen.settings)
            return
        v = gen.pick(lambda v: v.rank and set(v.dtypes) == {"float32"} and all(s[-1] == n for s in v.shapes))
        call = f"{self}{name}({v.name})"
        if name in ("lin", "seq"):
            gen.bind(call, [s[:-1] + (m,) for s in v.shapes], v.dtypes)
        elif name == "bil":
            gen.bind(f"{self}{name}({v.name}, {v.name})", [s[:-1] + (m,) for s in v.shapes], v.dtypes)
        elif name == "par":
            gen.bind(f"{v.name} * {self}{name}", v.shapes, v.dtypes)
        elif name == "gru":
            if v.rank != 2:
                raise Invalid
            gen.bind(call, [(s[0], 3) for s in v.shapes], v.dtypes)
        elif name == "lstm":
            if v.rank != 2 or any(s[0] == 0 for s in v.shapes):
                raise Invalid
            gen.bind(call + "[0]", [(s[0], 2) for s in v.shapes], v.dtypes)
        elif name == "bn":
            if v.rank != 2 or any(s[0] < 2 for s in v.shapes):
                raise Invalid
            gen.bind(call, v.shapes, v.dtypes)
        else:
            gen.bind(call, v.shapes, v.dtypes)

    return use


def use_state(gen):
    """Attributes and buffers that change from call to call."""
    v = gen.pick(lambda v: v.float)
    rng = gen.rng
    kind = rng.choice(["counter", "buffer", "list", "flag", "cache", "scale"])
    if kind == "counter":
        gen.line("self.steps += 1")
        gen.line(rng.choice(["if self.steps % 2 == 0:", "if self.steps > 2:"]))
        gen.line(f"    {v.name} = {v.name} * 0.5")
        gen.replaced(v)
    elif kind == "buffer":
        gen.line(rng.choice([f"self.buf.mul_(0.5).add_({v.name}.detach().float().mean())", f"self.buf = self.buf * 0.5 + {v.name}.detach().float().sum().tanh()", "self.buf += 1", f"self.buf.copy_({v.name}.detach().float().sum().tanh())"]))
        gen.bind(f"{v.name} + self.buf.sum()", v.shapes, v.dtypes)
    elif kind == "list":
        gen.line(f"self.seen.append({v.name}.detach().sum())")
        gen.bind(f"{v.name} * len(self.seen) * 0.3 + self.seen[-1].tanh()", v.shapes, v.dtypes)
    elif kind == "flag":
        gen.line("self.flag = not self.flag")
        gen.bind(f"({v.name} * 2 if self.flag else {v.name} - 1)", v.shapes, v.dtypes)
    elif kind == "cache":
        gen.line("if self.cache is None:")
        gen.line("    self.cache = torch.ones(1) * 0.5")
        gen.bind(f"{v.name} * self.cache.sum()", v.shapes, v.dtypes)
    else:
        gen.line("self.scale = self.scale * 0.5 + 0.25")
        gen.bind(f"{v.name} * self.scale", v.shapes, v.dtypes)


def layers_for(gen, count):
    """Some layers whose width fits a variable; their lines for the constructor."""
    made = {}
    for _ in range(count):
        name, text = gen.rng.choice(LAYERS)
        with contextlib.suppress(Invalid):
            n, m = width_of(gen.pick(lambda v: v.rank and set(v.dtypes) == {"float32"})), gen.rng.choice([2, 3, 4])
            if name not in made:
                made[name] = text.format(n=n, m=m)
                gen.layers.append(use_layer(name, text, n, m))
    return made


def module_program(gen):
    gen.is_module = True
    inputs = Inputs(gen)
    made = layers_for(gen, 3)
    gen.layers.append(use_state)
    gen.depth = gen.top = 2
    gen.body(gen.size())
    gen.line(result(gen))
    init = "".join(f"        self.{k} = {v}\n" for k, v in made.items())
    head = ("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.steps, self.flag, self.cache, self.seen, self.scale = 0, False, None, [], 1.0\n"
            f"        self.register_buffer('buf', torch.zeros(1))\n{init}")
    body = f"    def forward(self, {', '.join(inputs.params)}):\n" + "\n".join(gen.lines) + "\n"
    tail = "torch.manual_seed(0)\nmodel = Net()\n" + ("model.eval()\n" if gen.rng.random() < 0.3 else "")
    return head + body + tail, inputs


OPTIMISERS = ["SGD(net.parameters(), lr=0.1)", "SGD(net.parameters(), lr=0.1, momentum=0.9)", "SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)", "Adam(net.parameters(), lr=0.01)", "AdamW(net.parameters(), lr=0.01, weight_decay=0.1)",
              "RMSprop(net.parameters(), lr=0.01)", "Adagrad(net.parameters(), lr=0.1)", "Adam(net.parameters(), lr=0.01, amsgrad=True)"]


def training_program(gen):
    """A step that writes gradients and parameters itself, with breaks where people have prints."""
    rng = gen.rng
    gen.is_module, gen.grad = False, True
    width, out = rng.choice([2, 3, 4]), rng.choice([2, 3])
    sizes = [rng.choice([1, 2, 3, 5]) for _ in range(gen.settings)]
    x = gen.scope.add(Var("x", [(b, width) for b in sizes], ["float32"] * gen.settings, leaf=True))
    middle = rng.choice([f"nn.Linear({width}, 4), nn.{rng.choice(['ReLU', 'Tanh', 'GELU', 'Sigmoid'])}(), nn.Linear(4, {out})", f"nn.Linear({width}, {out})", f"nn.LayerNorm({width}), nn.Linear({width}, {out}, bias=False)"])
    head = f"torch.manual_seed({rng.randrange(5)})\nnet = nn.Sequential({middle})\nopt = torch.optim.{rng.choice(OPTIMISERS)}\n"
    scheduler = rng.random() < 0.2
    if scheduler:
        head += "sched = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)\n"
    gen.line(rng.choice(["opt.zero_grad()", "opt.zero_grad(set_to_none=False)", "net.zero_grad()", "for p in net.parameters(): p.grad = None", "pass"]))
    gen.bind("net(x)", [(b, out) for b in sizes], ["float32"] * gen.settings)
    gen.body(max(1, gen.size() // 3))
    v = gen.pick(lambda v: v.float)
    gen.line(rng.choice([f"loss = {v.name}.float().pow(2).mean()", f"loss = ({v.name}.float() - 1).abs().sum()", f"loss = torch.nn.functional.mse_loss({v.name}.float(), torch.zeros_like({v.name}.float()))"]))
    if rng.random() < 0.25:
        gen.breaks()
    gen.line("if loss.requires_grad:")
    gen.line("    loss.backward()")
    if rng.random() < 0.3:
        gen.line(rng.choice(["torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "first = net[-1].weight.grad.clone() if net[-1].weight.grad is not None else None", "(net(x) * 0.5).sum().backward()", "with torch.no_grad():\n    for p in net.parameters():\n        p.mul_(0.9)"]))
    if rng.random() < 0.3:
        gen.breaks()
    gen.line(rng.choice(["opt.step()"] * 3 + ["with torch.no_grad():\n    for p in net.parameters():\n        if p.grad is not None: p -= 0.1 * p.grad"]))
    if scheduler:
        gen.line("sched.step()")
    more = ", first" if any("first =" in s for s in gen.lines) else ""
    gen.line(f"return loss.detach(), [p.detach().clone() for p in net.parameters()], [p.grad.clone() if p.grad is not None else None for p in net.parameters()]{more}")
    inputs = Inputs.__new__(Inputs)
    inputs.gen, inputs.rng, inputs.params = gen, rng, ["x"]
    inputs.make = [[lambda b=b: input_value(rng, (b, width), "float32") for b in sizes]]
    return head + "def model(x):\n" + "\n".join(gen.lines) + "\n", inputs


def make(seed, rows=(), spellings=None):
    """The workload of that seed, and the ids of rows of ops.def that it calls by the table."""
    gen = Generator(seed, rows, spellings)
    rng = gen.rng
    n = rng.choice([4, 6, 8, 10, 12, 12, 15, 20, 30])
    gen.size = lambda: n
    kind = rng.choices(["function", "module", "training"], [60, 28, 12])[0]
    text, inputs = {"function": function_program, "module": module_program, "training": training_program}[kind](gen)
    body = "import torch\nimport math\nimport torch.nn as nn\n" + ("torch.manual_seed(0)\n" if "rand" in text or "dropout" in text.lower() or "bernoulli" in text else "")
    if "fit(" in text:
        gen.helpers.add("fit")
    if "score(" in text:
        gen.helpers.add("score")
    body += "".join(HELPERS[h] for h in sorted(gen.helpers)) + text
    workload = {"name": f"seed {seed}", "source": body, "calls": inputs.calls()}
    if gen.grad and kind != "training":
        workload["grad"] = True
    return workload, gen.used


if __name__ == "__main__":
    import sys

    made, _ = make(int(sys.argv[1]))
    print(made["source"])
    print(json.dumps(made["calls"])[:1000])
