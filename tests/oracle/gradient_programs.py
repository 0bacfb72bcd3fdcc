"""tests/oracle/gradient_programs.py -- torch.autograd.Function: gradients that programs say themselves; and gradients of branches.

Rows: name, inputs of each call as own_programs.py has them, how forward() and backward() of A are, the body of
the model of x and w.  `record.py gradient_cases.json gradient_programs` runs them on PyTorch, with the gradients
of the sum of all that the model gives, and writes gradient_cases.json, which replay.py replays.
"""
import random

from own_programs import value

IMPORTS = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom torch.autograd import Function\n"
CALLS = [["f 2,3", "f 2,3"], ["f 2,3", "f 2,3"], ["f 3,3", "f 3,3"]]
FIXED = CALLS[:2]
SAVES = "ctx.save_for_backward({})\nreturn {}"

# Of these the values are recorded and not the graphs: TorchDynamo 2.6 takes part of them into a graph that
# Breakeven leaves to eager (what backward() changes or draws, the same result twice, what forward() writes that
# has a gradient), or ends a graph where Breakeven has none to end (what is no tensor among the results), or
# compiles one for another number that item() gives.
VALUES_ALONE = {"hooks_removed_later", "not_all_are_tensors", "context_that_changes", "one_result_twice", "written_argument", "random_backward", "asks_in_backward", "context_that_is_kept", "number_of_a_tensor"}


def function(forward, backward, name="A"):
    """A Function; each part begins with its parameters."""
    parts = ""
    for part, text in (("forward", forward), ("backward", backward)):
        parameters, body = text.split(": ", 1)
        parts += f"    @staticmethod\n    def {part}({parameters}):\n" + "".join(f"        {line}\n" for line in body.split("\n"))
    return f"class {name}(Function):\n{parts}"


def model(body):
    return "def model(x, w):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def setup(body):
    return "    @staticmethod\n    def setup_context(ctx, inputs, output):\n" + "".join(f"        {line}\n" for line in body.split("\n"))


ROUNDED = function("ctx, x: return torch.round(x)", "ctx, g: return g")
EXP = function("ctx, x: " + SAVES.format("x", "x.exp()"), "ctx, g: x, = ctx.saved_tensors\nreturn g * x.cos()")
SAME = function("ctx, x: return x", "ctx, g: return g * 3")
SCALED = function("ctx, x, k: ctx.k = k\nreturn x * k", "ctx, g: return g * ctx.k, None")
PAIR = function("ctx, x, y: " + SAVES.format("x, y", "x * y, x + y"), "ctx, g, h: x, y = ctx.saved_tensors\nreturn g * y + h, g * x + h")
PRINTS = "print('back')\n"

PROGRAMS = [
    ("straight_through", CALLS, ROUNDED + model("return A.apply(x * 2).sin() * w")),
    ("reversed_gradient", CALLS, function("ctx, x, a: ctx.a = a\nreturn x.view_as(x)", "ctx, g: return g.neg() * ctx.a, None") + model("return A.apply(x * w, 0.5).sin()")),
    ("marks_of_results", CALLS, function("ctx, x, y: ctx.save_for_backward(x, y)\ni = x > 0\nctx.mark_non_differentiable(i)\nreturn x * y, x + y, i",
                                         "ctx, g, h, i: x, y = ctx.saved_tensors\nreturn g * y + h + i, g * x + h") + model("a, b, c = A.apply(x * 2, w.sin())\nreturn a * 3, b.cos(), c, c.requires_grad")),
    ("one_result_of_two", CALLS, PAIR + model("return A.apply(x * 2, w.sin())[1].cos()")),
    ("differentiable_once", CALLS, "from torch.autograd.function import once_differentiable\nclass A(Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x.exp()\n"
     "    @staticmethod\n    @once_differentiable\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * x.exp()\n" + model("return A.apply(x) * w")),
    ("context_of_its_own", CALLS, function("x, k: return x * k", "ctx, g: o, = ctx.saved_tensors\nreturn g * ctx.k + 0.1 * o, None") + setup("ctx.k = inputs[1]\nctx.save_for_backward(output)") + model("return A.apply(x + 1, 3).sin() * w")),
    ("argument_as_it_is", CALLS, SAME + model("return A.apply(x), A.apply(x * w).sin()")),
    ("masked_gradient", CALLS, function("ctx, x: " + SAVES.format("x", "x.clamp(min=0)"), "ctx, g: x, = ctx.saved_tensors\nr = g.clone()\nr[x < 0] = 0\nreturn r") + model("return A.apply(x * 1).sin() * w")),
    ("wanted_alone", CALLS, "k = torch.ones(3, 2)\n" + function("ctx, x, w: " + SAVES.format("x, w", "x @ w"),
                                                              "ctx, g: x, w = ctx.saved_tensors\ngx = gw = None\nif ctx.needs_input_grad[0]:\n    gx = g @ w.t()\nif ctx.needs_input_grad[1]:\n    gw = x.t() @ g\nreturn gx, gw")
     + model("return A.apply(x, k).sin(), A.apply(x, w.t()).cos()")),
    ("gradient_in_place", CALLS, function("ctx, x: return x * 2", "ctx, g: return g.mul_(2)") + model("return A.apply(x).sin() * w")),
    ("saved_result", CALLS, function("ctx, x: r = x.exp()\nctx.save_for_backward(r)\nreturn r", "ctx, g: r, = ctx.saved_tensors\nreturn g * r") + model("return A.apply(x).sin() * w")),
    ("saved_views", CALLS, function("ctx, x: h = x.exp()\nctx.save_for_backward(h[:1], h.t())\nreturn h", "ctx, g: a, b = ctx.saved_tensors\nreturn g * a + b.t()") + model("return A.apply(x) * w")),
    ("chain_of_three", CALLS, ROUNDED + SCALED.replace("A(", "B(") + EXP.replace("A(", "C(") + model("return A.apply(B.apply(C.apply(x), -2.0)).sin() * w")),
    ("without_a_gradient", CALLS, ROUNDED + model("y = A.apply(x.detach())\nwith torch.no_grad():\n    z = A.apply(x)\nreturn y.sin() * w, z, z.requires_grad")),
    ("summed_to_the_argument", CALLS, function("ctx, x, y: return x + y", "ctx, g: return g, g") + model("return A.apply(x, w[0]).sin() * w")),
    ("clamped_by_numbers", CALLS, function("ctx, x, lo, hi: ctx.save_for_backward(x)\nctx.lo, ctx.hi = lo, hi\nreturn torch.clamp(x, lo, hi)",
                                           "ctx, g: x, = ctx.saved_tensors\nreturn g * ((x >= ctx.lo) & (x <= ctx.hi)), None, None")
     + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.p = nn.Parameter(torch.tensor([0.3, -0.2, 0.9]))\n    def forward(self, x):\n        return A.apply(x * self.p, -0.5, 0.5) * 2\nm = M()\n" + model("return m(x) + w")),
    ("learned_steps", CALLS, function("ctx, x, a, g, n, p: ctx.save_for_backward(x, a)\nctx.other = g, n, p\nreturn (x / a).round().clamp(n, p) * a",
                                      "ctx, g: x, a = ctx.saved_tensors\ns, n, p = ctx.other\nq = x / a\nlow = (q < n).float()\nup = (q > p).float()\nmid = 1.0 - low - up\n"
                                      "return mid * g, ((low * n + up * p + mid * (q.round() - q)) * g * s).sum().unsqueeze(0), None, None, None") + model("return A.apply(x, w.abs().mean().reshape(1) + 0.1, 0.3, -2, 1)")),
    ("sizes_in_a_context", CALLS, "def spread(g, shape, n):\n    return (g / n).expand(shape)\n" + function("ctx, x: ctx.shape = x.shape\nctx.n = x.numel()\nreturn x.mean()", "ctx, g: return spread(g, ctx.shape, ctx.n)") + model("return A.apply(x * w) * w")),
    ("beside_other_uses", CALLS, EXP + model("h = x * w\nreturn A.apply(h) + h * 2 + A.apply(h * 3).sin()")),
    ("zeros_are_not_made", CALLS, function("ctx, x: ctx.set_materialize_grads(False)\nreturn x * 2, x * 3", "ctx, g, h: if h is None:\n    return g * 2\nreturn g * 2 + h * 3") + model("return A.apply(x)[0].sin() * w")),
    ("no_gradient_for_one", CALLS, function("ctx, x, y: return x * y", "ctx, g: return None, g") + model("return A.apply(x, w)")),
    ("rounds_of_a_loop", CALLS, SCALED + model("for k in range(4):\n    x = A.apply(x, k + 1).sin()\nreturn x * w")),
    ("another_in_backward", CALLS, ROUNDED.replace("A(", "B(") + function("ctx, x: " + SAVES.format("x", "B.apply(x).exp()"), "ctx, g: x, = ctx.saved_tensors\nreturn g * B.apply(x * 3)") + model("return A.apply(x) * w")),
    ("chosen_rows", FIXED, "k = torch.tensor([0, 1, 1, 0])\n" + function("ctx, x, i: ctx.save_for_backward(i)\nctx.n = x.shape[0]\nreturn x[i]",
                                                                        "ctx, g: i, = ctx.saved_tensors\nr = torch.zeros(ctx.n, g.shape[1])\nr.index_add_(0, i, g)\nreturn r, None") + model("return A.apply(x * w, k).sin()")),
    ("slices_of_a_result", FIXED, SAME + model("y = A.apply(x * 2)\nreturn y[:1].sin() * 2, y[1:].cos() * w[0]")),
    ("views_as_results", FIXED, function("ctx, x: a, b = x.chunk(2, 0)\nreturn a, b, x.t().reshape(-1)", "ctx, g, h, k: return torch.cat([g * 2, h * 3]) + k.view(3, 2).t()") + model("a, b, c = A.apply(x * w)\nreturn a.sin() + b, c.cos()")),
    ("views_of_what_is_written", CALLS, EXP + model("h = x * 2\nv = h[0]\nh.mul_(w)\nreturn A.apply(v) + v")),
    ("results_that_are_written", CALLS, function("ctx, x: return x * 2", "ctx, g: return g * 3") + model("y = A.apply(x)\ny.mul_(w)\ny += 1\nreturn y.sin()")),
    ("kept_and_written", CALLS, function("ctx, x: ctx.x = x\nreturn x * 2", "ctx, g: return g * ctx.x") + model("h = x * 2\ny = A.apply(h)\nwith torch.no_grad():\n    h.mul_(w)\nreturn y.sin() * w, h")),
    ("result_of_no_use", CALLS, EXP + model("A.apply(x)\nreturn x * w")),
    ("inherited_parts", CALLS, "class Base(Function):\n    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.k\n"
     "class A(Base):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.k = 5\n        return x * 5\n" + model("return A.apply(x).sin() * A.apply(w)")),
    ("state_of_a_module", CALLS, function("ctx, x, m: m.mul_(0.9).add_(x.mean(0) * 0.1)\nctx.save_for_backward(m)\nreturn x - m", "ctx, g: m, = ctx.saved_tensors\nreturn g * m, None")
     + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('m', torch.zeros(3))\n    def forward(self, x):\n        return A.apply(x, self.m)\nmod = M()\n" + model("return mod(x * 1) * w")),
    ("layer_by_hand", CALLS, "l = nn.Linear(3, 4)\nwith torch.no_grad():\n    l.weight.copy_(torch.arange(12.).view(4, 3) / 7)\n    l.bias.fill_(0.3)\n"
     + function("ctx, x, w, b=None: ctx.save_for_backward(x, w)\nctx.b = b is not None\nreturn F.linear(x, w, b)",
                "ctx, g: x, w = ctx.saved_tensors\ngx = gw = gb = None\nif ctx.needs_input_grad[0]:\n    gx = g.mm(w)\nif ctx.needs_input_grad[1]:\n    gw = g.t().mm(x)\nif ctx.b and ctx.needs_input_grad[2]:\n    gb = g.sum(0)\nreturn gx, gw, gb")
     + model("y = A.apply(x, l.weight, l.bias).tanh()\nreturn A.apply(y, l.weight.t()) * w")),
    ("mode_of_gradients", CALLS, function("ctx, x: return x * (3 if torch.is_grad_enabled() else 2)", "ctx, g: return g * (3 if torch.is_grad_enabled() else 2)") + model("return A.apply(x * 1) * w")),
    ("loss_of_its_own", CALLS, function("ctx, x, y: d = x - y\nctx.save_for_backward(d)\nreturn torch.where(d.abs() < 1, 0.5 * d * d, d.abs() - 0.5).mean()", "ctx, g: d, = ctx.saved_tensors\nr = g * d.clamp(-1, 1) / d.numel()\nreturn r, -r") + model("return A.apply(x, w)")),
    ("saved_in_a_list", CALLS, function("ctx, x: " + SAVES.format("*[x * i for i in range(3)]", "x * 2"), "ctx, g: try:\n    raise ValueError('a')\nexcept ValueError:\n    return sum(g * t for t in ctx.saved_tensors)") + model("return A.apply(x * 1) * w")),
    ("under_autocast", CALLS, "from torch.amp import custom_fwd, custom_bwd\nclass A(Function):\n    @staticmethod\n    @custom_fwd(device_type='cpu')\n    def forward(ctx, x, w):\n        ctx.save_for_backward(x, w)\n        return x @ w.t()\n"
     "    @staticmethod\n    @custom_bwd(device_type='cpu')\n    def backward(ctx, g):\n        x, w = ctx.saved_tensors\n        return g @ w, g.t() @ x\n" + model("return A.apply(x, w) * 2")),
    ("within_a_checkpoint", CALLS, "from torch.utils.checkpoint import checkpoint\n" + EXP + "def part(x, w):\n    return A.apply(x.sin()) * w\n" + model("return checkpoint(part, x, w, use_reentrant=False)")),
    ("double_within", CALLS, function("ctx, x: " + SAVES.format("x", "x.double() * 2"), "ctx, g: x, = ctx.saved_tensors\nreturn g * x") + model("return A.apply(x) * w")),
    ("backward_that_prints", CALLS, function("ctx, x: return x * 2", "ctx, g: " + PRINTS + "return g * 2") + model("return A.apply(x * 1).sin() * w")),
    ("backward_that_counts", CALLS, "n = [0]\n" + function("ctx, x: return x * 2", "ctx, g: n[0] += 1\nreturn g * 2") + model("return A.apply(x * 1).sin() * w")),
    ("backward_that_branches", CALLS, function("ctx, x: " + SAVES.format("x", "x.round()"), "ctx, g: x, = ctx.saved_tensors\nif x.sum() > 0:\n    return g * x.cos()\nreturn g") + model("return A.apply(x * 1) * w")),
    ("derivative_within", CALLS, function("ctx, x: " + SAVES.format("x", "x.exp()"), "ctx, g: x, = ctx.saved_tensors\nwith torch.enable_grad():\n    y = x.detach().requires_grad_()\n    z = (y * y).exp()\nreturn torch.autograd.grad(z, y, g)[0]") + model("return A.apply(x) * w")),
    ("number_of_a_tensor", CALLS, function("ctx, x: ctx.s = x.abs().max().item()\nreturn (x / ctx.s).round() * ctx.s", "ctx, g: return g * ctx.s") + model("return A.apply(x * 1).sin() * w")),
    ("branch_around", CALLS, EXP + model("if x.sum() > 0:\n    return A.apply(x) * w\nreturn A.apply(x * 2) * w")),
    ("side_not_taken", CALLS, model("if x.sum() > 0.5:\n    y = x.sqrt() * x\nelse:\n    y = x * 2 + (w.sum() * 3).exp()\nreturn y * w")),
    ("side_that_makes_a_view_again", CALLS, model("b = x * 2\nv = b[0]\nb.mul_(w)\nif w.sum() > 1000:\n    y = (v - v).sqrt() + 1\nelse:\n    y = v * 3\nreturn y * w[0] + v * 2")),
    ("sides_within_sides", CALLS, "p = nn.Parameter(torch.tensor([0.3, -0.2, 0.9]))\n"
     + model("if x.sum() > 1:\n    if w.sum() > 0:\n        y = (x * p).abs().sqrt()\n    else:\n        y = (x * p).abs().log()\nelif w.sum() < -1000:\n    y = (1 / (x - x)).sin() * p\nelse:\n    y = p * x\nreturn y * w + p")),
    ("sides_that_write", CALLS, model("y = x * 1\nif x.sum() > 1000:\n    y[0] = (y[0] - y[0]).sqrt() / 0\nelse:\n    y = y.abs()\nz = y.sin()\nfor i in range(2):\n    if z.sum() > 0.5:\n        z = z.abs().sqrt() * w\n    else:\n        z = (z.abs() * 2 + 1).log() + z\nreturn z")),
    ("break_after_it", CALLS, EXP + model("y = A.apply(x)\nprint('between')\nreturn y.sin() * w")),
    ("not_all_are_tensors", CALLS, function("ctx, x: return x * 2, 7, None", "ctx, g, *rest: return g * 3") + model("a, b, c = A.apply(x)\nreturn a.sin() * w + b, c is None")),
    ("context_that_changes", CALLS, function("ctx, x: ctx.k = 2\nreturn x * 2", "ctx, g: ctx.k += 1\nreturn g * ctx.k") + model("return A.apply(x) * w")),
    ("context_that_is_kept", CALLS, "kept = []\n" + function("ctx, x: kept.append(ctx)\nctx.save_for_backward(x)\nreturn x * 2", "ctx, g: x, = ctx.saved_tensors\nreturn g * x") + model("y = A.apply(x) * w\nreturn y, len(kept)")),
    ("one_result_twice", CALLS, function("ctx, x: r = x * 2\nreturn r, r", "ctx, g, h: return g * 3 + h") + model("a, b = A.apply(x)\nreturn a.sin() * w + b")),
    ("written_argument", CALLS, function("ctx, x: x.mul_(2)\nctx.mark_dirty(x)\nreturn x", "ctx, g: return g * 2") + model("return A.apply(x * w).sin()")),
    ("random_backward", CALLS, function("ctx, x: return x * 2", "ctx, g: return g + 0 * torch.rand_like(g)") + model("return A.apply(x * 1).sin() * w")),
    ("asks_in_backward", CALLS, function("ctx, x: " + SAVES.format("x", "x * 2"), "ctx, g: x, = ctx.saved_tensors\nif x.requires_grad and not g.requires_grad:\n    return g * x\nreturn g") + model("return A.apply(x * 1) * w")),
    ("hooks_added_inside", CALLS, "def three(g):\n    return g * 3\n" + model("y = x.sin() * w\nh = x.register_hook(lambda g: g * 2)\nk = x.register_hook(three)\ny = y + x\nk.remove()\nreturn y, x * 2")),
    ("hooks_removed_later", CALLS, model("h = x.register_hook(lambda g: g * 2)\nk = x.register_hook(lambda g: g + 1)\ny = x.sin() * w\nprint('break')\nk.remove()\nreturn y * 2")),
    ("hook_of_a_weight", CALLS, model("if len(seen) < 1:\n        seen.append(v.register_hook(lambda g: g * 2))\nz = (v * x).sum()\nreturn z * w").replace("def model", "v = nn.Parameter(torch.ones(3))\nseen = []\ndef model")),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls], "grad": True}
