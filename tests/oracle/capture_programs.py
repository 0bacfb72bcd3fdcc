"""tests/oracle/capture_programs.py -- what captures of everyday Python meet: objects that change between calls, loops that set
attributes, containers of tensors, classes of abstract kinds.

Rows as those of library_programs.py; `record.py capture_cases.json capture_programs` writes what replay.py replays.
"""
import random

from library_programs import IMPORTS, model
from own_programs import value

TREES = """import collections
import torch.utils._pytree as pytree
from torch.utils._pytree import tree_flatten, tree_map
Pair = collections.namedtuple("Pair", "a b")
"""
TABLE = """from collections.abc import MutableMapping, Mapping, Sequence
class Table(MutableMapping):
    def __init__(self, **kw):
        self.kept = dict(kw)
    def __getitem__(self, k):
        return self.kept[k]
    def __setitem__(self, k, v):
        self.kept[k] = v
    def __delitem__(self, k):
        del self.kept[k]
    def __iter__(self):
        return iter(self.kept)
    def __len__(self):
        return len(self.kept)
class Rows(Sequence):
    def __init__(self, *rows):
        self.rows = rows
    def __getitem__(self, i):
        return self.rows[i]
    def __len__(self):
        return len(self.rows)
def scaled(x, by=1, more=0):
    return x * by + more
"""
CALLED = """class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
    def __call__(self, x):
        return super().__call__(x) + 1
    def forward(self, x):
        return self.inner.__call__(x)
m = Outer()
"""

# Of these the values are recorded and not the graphs: torch 2.6 gives up the frame (mappings), warns of
# a profiler, reads a symbolic size by a name (operators_by_name), ends the graph of numpy's elsewhere
# (fourier_of_arrays), reads no set from outside (sets_of_objects), or resumes no block without
# __torch_function__ (state_of_torch_function), or ends the graph at iter() of two (iterators_with_an_end).
VALUES_ALONE = {"mappings_and_sequences", "fourier_of_arrays", "sections_of_a_profiler", "operators_by_name", "numbers_of_any_kind", "bases_of_classes", "iterators_across_breaks", "sets_of_objects", "state_of_torch_function", "iterators_with_an_end", "data_that_others_share"}

PROGRAMS = [
    ("set_that_grows", [["f 3"], ["f 3"], ["f 3"]], "s = {1, 2}\n" + model("y = x.cos() * len(s)\ns.add(3)\nreturn y")),
    ("frozen_in_a_loop", [["f 2,3"], ["f 2,3"]], "net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())\n" + model(
        "for p in net.parameters():\n        p.requires_grad = False\nreturn net(x), [p.requires_grad for p in net.parameters()]")),
    ("set_in_rounds", [["f 2,3"]], "lin = nn.Linear(3, 3)\n" + model(
        "for k in range(3):\n        x = x + 1\n        lin.weight.requires_grad = False\n        x = x.sin()\nreturn x")),
    ("trees", [["f 3"]], TREES + model(
        "t = {'a': x, 'b': [x + 1, (x + 2, 3)], 'c': Pair(x * 2, None)}\nu = tree_map(lambda v: v if v is None else v * 2, t)\nleaves, spec = tree_flatten(t)\n"
        "r = pytree.tree_unflatten([l if l is None else l + 1 for l in leaves], spec)\nk = tree_map(lambda a, b: a - b, [x, 1], [x * 3, 2])\n"
        "return u['b'][1][0], u['c'].a, r['a'], r['b'], len(leaves), spec.num_leaves, k, pytree.tree_map_only(int, lambda i: i + 1, (x, 4))[1], pytree.tree_leaves(collections.OrderedDict(q=x, p=1))[0]")),
    ("mappings_and_sequences", [["f 3"]], TABLE + model(
        "t = Table(by=2)\nt.update(more=x)\nt.setdefault('k', 5)\nn = t.pop('k')\nr = Rows(4, 1, 5)\n"
        "return scaled(x, **t), n, sorted(t.keys()), 'by' in t, t.get('no', 7), isinstance(t, Mapping), isinstance(r, Sequence), [v for v in r], r.count(1), list(reversed(r))[2], isinstance(r, Mapping)")),
    ("called_by_name", [["f 2,3"]], CALLED + model("return m(x), m.__call__(x)")),
    ("sections_of_a_profiler", [["f 3"]], "from torch.profiler import record_function\n" + model(
        "with torch.profiler.record_function('part'):\n        y = x.sin()\nwith torch.autograd.profiler.record_function('other'):\n        z = y * 2\nreturn z if torch.autograd._profiler_enabled() else z + 1")),
    ("operators_by_name", [["f 3"]], "import operator\n" + model(
        "return (operator.iadd(x + 0, 1), operator.isub(x + 0, 1), operator.itruediv(x + 0, 2), operator.index(3), operator.countOf([1, 1, 2], 1), operator.indexOf([4, 5], 5), operator.lshift(1, 3), operator.concat([1], [2]), "
        "operator.truth([0]), operator.attrgetter('ndim', 'shape')(x)[0], operator.inv(5))")),
    ("types_of_old", [["f 3"]], model(
        "return isinstance(x, torch.FloatTensor), isinstance(x, (int, torch.LongTensor)), x.type(torch.DoubleTensor), torch.LongTensor([1, 2]), torch.FloatTensor(2, 3).shape, torch.overrides.is_tensor_like(x)")),
    ("tuples_of_sizes", [["f 2,3"]], "from torch.nn.modules.utils import _ntuple, _pair, _quadruple\n" + model("return x + torch.ones(_ntuple(2)(1)), _pair(3), _quadruple(2), _ntuple(3)((1, 2, 3))")),
    ("fourier_of_arrays", [["f 4,6"]], "import numpy as np\n" + model(
        "a = x.numpy()\nf = np.fft.rfft(a, axis=0)\nreturn torch.from_numpy(f.real), torch.from_numpy(f.imag), torch.from_numpy(np.fft.fftshift(a)), torch.from_numpy(np.fft.irfft(np.fft.rfft(a))), "
        "torch.from_numpy(np.fft.fftfreq(5)), torch.from_numpy(a.imag), a.strides, a.T.strides")),
    ("derivatives_in_a_graph", [["f 3"], ["f 3"]], "from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap\n" + model(
        "f = lambda v: (v.sin() * v).sum()\ny, pull = vjp(lambda v: (v.sin(), v.cos()), x)\n"
        "return grad(f)(x), jacrev(torch.sin)(x), jacfwd(torch.cos)(x), pull((x, x + 1)), jvp(f, (x,), (x,)), vmap(grad(torch.sin))(x)")),
    ("derivatives_with_more", [["f 3,3"]], "from torch.func import grad_and_value, jvp\n" + model(
        "g, (loss, other) = grad_and_value(lambda v: (v.sin().sum(), v + 1), has_aux=True)(x)\n"
        "return g, loss, other, jvp(lambda v: (v.sin().sum(), v), (x,), (x * 2,), has_aux=True)")),
    ("functions_of_slices", [["f 3,2"]], "from functorch.experimental.control_flow import map as each\nfrom torch._higher_order_ops.wrap import wrap\n" + model(
        "a, b = each(lambda row, k: (row.sin(), {'k': row + k}), x, 3)\nreturn a, b['k'], wrap(lambda v, by=1: v * by, x, by=2)")),
    ("filters_without_end", [["f 2"]], "import itertools\n" + model(
        "odd = filter(lambda n: n % 2, itertools.count())\nfirst = [next(odd), next(odd)]\nround = itertools.cycle(iter([1, 2.5]))\n"
        "for _ in range(5):\n        x = x + next(round)\nreturn x, first, list(zip(range(2), filter(None, itertools.cycle([0, 3])))), next(itertools.cycle(itertools.count(7)))")),
    ("out_of_other_sizes", [["f 2,3"]], model("a = torch.empty(0)\nb = torch.empty(0)\nc = torch.empty(0, dtype=torch.long)\ntorch.sigmoid(x, out=a)\ntorch.sort(x, out=(b, c))\nreturn a, b, c, a.shape")),
    ("kinds_that_change", [["f 2", "f 2"], ["f 3", 3], ["f 4", "f 4"], ["f 4", "f 4"], ["f 5", 4]], "def model(x, y):\n    return x * y\n"),
    ("containers_that_derive", [["f 2"]], "from collections import OrderedDict, defaultdict\nclass Rows(list):\n    pass\n" + model(
        "d = OrderedDict(a=x + 1)\nd['b'] = x * 2\nk = defaultdict(list)\nk['n'].append(x)\nreturn d, k, Rows([x, 2])")),
    ("lazy_of_ones_own", [["f 2,2"]], "from torch.nn.modules.lazy import LazyModuleMixin\nclass Scale(LazyModuleMixin, nn.Module):\n    def __init__(self):\n        super().__init__()\n"
     "    def initialize_parameters(self, x, by=1):\n        self.w = nn.Parameter(torch.full((x.shape[-1],), float(by)))\n    def forward(self, x, by=1):\n        return x.cos() * self.w\nm = Scale()\n"
     + model("return m(x, by=3)")),
    ("signatures_bound", [["f 2"]], "import inspect\ndef taken(a, b=2, *rest, c=3, **more):\n    pass\n" + model(
        "b = inspect.signature(taken).bind(1, 4, 5, c=x, d=7)\nn = inspect.signature(taken).bind(9)\nn.apply_defaults()\nreturn b.args, b.kwargs, dict(n.arguments)")),
    ("extremes_of_tensors", [["f 3", "f 3"], ["f 3", "f 3"]], "def model(a, b):\n    c = a + b\n    a = min(max(a.sum(), 0), 1)\n    b = max(0, min(1, b.sum()))\n    return max(a, b) - min(a, b) + c, max(c[0], c[1], c[2])\n"),
    ("branch_before_all_ops", [["f 3", "f 1"], ["f 3", "f 1"]], "def model(a, check):\n    if check:\n        return a + 10\n    return a - 10\n"),
    ("function_without_ops", [["f 3"]], "class Same(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n    @staticmethod\n    def backward(ctx, g):\n        return g * 0.5\n" + model("return Same.apply(x)")),
    ("draws_that_nothing_takes", [["f 2"], ["f 2"]], model("y = torch.rand(4)\ntorch._dynamo.graph_break()\ny = torch.rand(4)\nreturn x + y[:2]")),
    ("not_of_inference_mode", [["f 2"]], model("return x + 1 if x.is_inference() else x - 1")),
    ("buffers_by_name", [["f 2"]], "class Kept(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Buffer(torch.ones(2))\n        self.b = nn.Buffer(torch.zeros(2), persistent=False)\n"
     "    def forward(self, x):\n        return x + self.a\nm = Kept()\nnames = [n for n, _ in m.named_buffers()]\nkept = list(m.state_dict())\n" + model("return m(x), names, kept")),
    ("bodies_that_change_nothing", [["f 2"], ["f 2"]], "from torch._higher_order_ops.wrap import wrap\nkept = []\nclass Box:\n    n = 0\nbox = Box()\n" + model(
        "w = torch.ones(2)\ndef body(v):\n        own = [v]\n        own.append(w)\n        return {'a': own[0] + own[1], 'b': [v * 2, None]}\nmade = wrap(body, x)\nreturn made['a'] + 1, made['b'][0], len(kept), box.n")),
    ("bodies_that_change_lists", [["f 2"], ["f 2"]], "from torch._higher_order_ops.wrap import wrap\nkept = []\n" + model("y = x + 1\nz = wrap(lambda v: (kept.append(1), v.sin())[1], y)\nreturn z * len(kept)")),
    ("bodies_that_change_attributes", [["f 2"], ["f 2"]], "from torch._higher_order_ops.wrap import wrap\nclass Box:\n    n = 0\nbox = Box()\ndef body(v):\n    box.n += 1\n    return v.sin()\n" + model("y = x + 1\nreturn wrap(body, y) * box.n")),
    ("bodies_that_store_variables", [["f 2"]], "from torch._higher_order_ops.wrap import wrap\n" + model("w = torch.ones(2) + x\ndef body(v):\n        nonlocal w\n        w += 1\n        return v + w\nreturn wrap(body, x) + w")),
    ("bodies_that_answer_numbers", [["f 2"]], "from torch._higher_order_ops.wrap import wrap\n" + model("y = x * 2\na, b = wrap(lambda v: (v.cos(), 3), y)\nreturn a + b")),
    ("bodies_with_breaks", [["f 2"]], "from torch._higher_order_ops.wrap import wrap\ndef body(v):\n    v = v.sin()\n    torch._dynamo.graph_break()\n    return v.cos()\n" + model("return wrap(body, x * 2) + 1, torch.vmap(body)(x + 1) * 2")),
    ("bodies_of_checkpoints", [["f 2"]], "from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts\nimport functools\nkept = []\n" + model(
        "y = checkpoint(torch.sin, x + 1, use_reentrant=False, context_fn=functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.sin.default]))\n"
        "return checkpoint(lambda v: (kept.append(1), v * 2)[1], y, use_reentrant=False, preserve_rng_state=False), len(kept)")),
    ("modules_that_are_not_there", [["f 2"]], model("y = x.sin()\ntry:\n        import a_module_that_nobody_has\n        y = y + 1\nexcept ImportError:\n        y = y * 2\nreturn y.cos()")),
    ("operations_on_lists", [["f 2", "f 2"]], "def model(x, y):\n    a = torch._foreach_add([x, y], [y, x], alpha=2)\n    b = torch._foreach_addcmul([x], [x], [y], value=3) + torch._foreach_addcmul([x], [x], [y], [3.0])\n    torch._foreach_mul_([y], 2)\n"
     "    torch._foreach_addcdiv_([y], [x], [x + 9])\n    torch._foreach_clamp_min_([y], 0.1)\n    torch._foreach_maximum_([y], [x])\n    z = torch._foreach_zero_([torch.ones(2)])\n"
     "    return a, b, torch._foreach_norm([x, y]), torch._foreach_pow(2.0, [x]), z, torch._foreach_lerp([x], [y], 0.5), torch._foreach_sqrt([x * x]), torch._foreach_sub([x], 1)\n"),
    ("numbers_of_any_kind", [["f 2,3"]], model("n = x.shape[1]\nreturn x * torch.sym_int(n / 2), torch.sym_float(n), torch.sym_max(n, 2), torch.sym_min(n, 2.5), torch.sym_not(n == 3), torch.sym_sum([n, 1, 2]), torch.sym_ite(n == 3, 1, 2), torch._foreach_max([x])")),
    ("iterators_across_breaks", [["f 2"]], "import itertools\n" + model(
        "it = itertools.count(3)\nboth = zip(itertools.count(1, 2), [5, 6, 7])\nx = x + next(it) + next(both)[0]\ntorch._dynamo.graph_break()\n"
        "return x * next(it) + next(both)[1], next(it), list(both)")),
    ("iterators_that_stay", [["f 2"]], "import itertools\n" + model("it = itertools.repeat(3)\nn = itertools.count()\nx = x + next(it) + next(n)\nreturn x, next(iter((it, n)[1])), [next(it) for _ in range(2)], repr(n), repr(itertools.repeat(1))")),
    ("maps_across_breaks", [["f 2"]], model(
        "def more(v):\n        nonlocal x\n        x = x + 1\n        return v\nit = map(more, [1, 2, 3])\nx = x + next(it)\ntorch._dynamo.graph_break()\nreturn x + next(it)")),
    ("filters_across_breaks", [["f 2"]], model("it = filter(lambda v: v.isalpha(), ['1', 'a', 'bc'])\nx = x + len(next(it))\ntorch._dynamo.graph_break()\nreturn x + len(next(it))")),
    ("environment_that_is_set", [["f 2"]], "import os\n" + model("x = x + 1\nos.environ['BREAKEVEN_X'] = '0'\nreturn x.sin(), os.getenv('BREAKEVEN_X'), os.environ.get('BREAKEVEN_Y'), 'BREAKEVEN_X' in os.environ")),
    ("bases_of_classes", [["f 2"]], "class A:\n    pass\nclass B(A):\n    pass\nclass C:\n    pass\nclass D(B, C):\n    pass\nclass E(A):\n    pass\n" + model(
        "return x + 1, A.__base__ is object, D.__base__ is B, [c.__name__ for c in D.__bases__], [c.__name__ for c in A.__subclasses__()]")),
    ("modules_that_are_disabled", [["f 2"]], "m = torch.compiler.disable(nn.Tanh())\nm.register_forward_pre_hook(lambda m, i: (i[0] * 2,))\nclass Sums:\n    @torch._dynamo.disable\n    def of(self, v):\n        return v.sum() * 2\ns = Sums()\nheld = torch._dynamo.disable(torch.exp)\n"
     + model("y = m(x.sin())\nz = s.of(y.cos())\nreturn held(z + y) * 3, isinstance(m, nn.Module)")),
    ("options_of_the_compiler", [["f 2"]], "import torch._dynamo.config as options\nimport torch._inductor.config\nimport torch.backends.cudnn as cudnn\ncudnn.benchmark = True\noptions.suppress_errors = True\n"
     "torch._inductor.config.triton.unique_kernel_names = True\ntorch._logging.set_logs(dynamo=30)\n@torch._dynamo.config.patch(cache_size_limit=3)\ndef limit():\n    return options.cache_size_limit\n"
     "kept = limit(), options.suppress_errors, cudnn.benchmark\ntorch.compiler.cudagraph_mark_step_begin()\n@torch._dynamo.mark_static\nclass Scale(nn.Module):\n    def forward(self, x):\n        return x * 2\nscale = Scale()\n@torch.compiler.assume_constant_result\ndef three():\n    return 3\n"
     + model("return scale(x) + three(), kept")),
    ("tensors_with_a_plus", [["f 2", 1], [2, "f 2"], ["f 2", 1.5]], "import operator\ndef model(x, y):\n    return operator.pos(x) * +y, +x is x\n"),
    ("named_tuples_from_outside", [["f 2", 0], ["f 2", 1], ["f 2", 2]], "import collections\nPair = collections.namedtuple('Pair', 'a b')\nOther = collections.namedtuple('Other', 'a b')\nkept = [Pair(1, 2), Other(1, 2), (1, 2)]\n@torch._dynamo.disable(recursive=False)\ndef model(x, k):\n    return inner(x, kept[k])\n"
     "def inner(x, p):\n    return x + 1 if isinstance(p, Pair) else x - 1, type(p) is Pair, type(p) is Other\n"),
    ("sizes_and_tuples", [["f 2", 0], ["f 2", 1], ["f 2", 2], ["f 2", 0]], "import collections\nPair = collections.namedtuple('Pair', 'a b')\nkept = [(1, 2), torch.Size([1, 2]), Pair(1, 2)]\n@torch._dynamo.disable(recursive=False)\ndef model(x, k):\n    return inner(x, kept[k])\n"
     "def inner(x, p):\n    return x + (1 if isinstance(p, torch.Size) else 2 if isinstance(p, Pair) else 3)\n"),
    ("named_tuples_across_breaks", [["f 2"]], "import collections\nPair = collections.namedtuple('Pair', 'a b')\n" + model("p = Pair(x + 1, 2)\ntorch._dynamo.graph_break()\nreturn (p.a * p.b if isinstance(p, Pair) else x), p.b")),
    ("marks_of_dimensions", [[0], [1], [0], [2], [3], [1]], "kept = [torch.ones(3, 4) for _ in range(4)]\ntorch._dynamo.mark_dynamic(kept[1], 0)\ntorch._dynamo.mark_dynamic(kept[3], 1)\n@torch._dynamo.disable(recursive=False)\ndef model(k):\n    return inner(kept[k])\ndef inner(x):\n    return x.sin()\n"),
    ("sets_of_objects", [["f 2", "f 2"], ["f 2", "f 2"]], "class By:\n    def __init__(self, n):\n        self.n = n\n    def of(self, x):\n        return x + self.n\na, b, c = By(1), By(2), By(3)\nfound = {a, b}\ndef model(x, y):\n    s = {x, y}\n    s.add(x)\n"
     "    z = x * len(s) + (1 if y in s else 0)\n    found.add(c)\n    found.discard(a)\n    for v in found:\n        z = v.of(z)\n    own = {a, c}\n    torch._dynamo.graph_break()\n    z = z + len(own) + sum(v.n for v in own)\n    own.add(b)\n"
     "    return z, len(found), a in found, c in found, len(own), {(1, 2): z}[1, 2], len(s)\n"),
    ("state_of_torch_function", [["f 2"]], "class Own:\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        return 'own'\nown = Own()\n" + model(
        "y = x + 1\nwith torch._C.DisableTorchFunctionSubclass():\n        torch._dynamo.graph_break()\n        y = y * 2\nreturn y, torch._C._is_torch_function_enabled(), torch.add(own, 1)")),
    ("said_to_the_compiler", [["f 2"]], "from torch._dynamo.comptime import comptime\ntorch._dynamo.utils.counters.clear()\n" + model(
        "y = x.sin()\ncomptime.sleep(0)\n@comptime\ndef _(ctx):\n        pass\nreturn y * 2")),
    ("iterators_with_an_end", [["f 2"]], model(
        "kept = [1, 2, 0, 4]\nit = iter(lambda: kept.pop(0), 0)\nx = x + sum(it)\nrest = iter([3, 4, 5].__iter__().__next__, 5)\ny = x * next(rest)\nreturn y + next(rest), list(it), list(rest), iter(rest) is rest, len(kept)")),
    ("caches_of_functions", [["f 2", 1], ["f 2", 1], ["f 2", 2], ["f 2", 1]], "import functools\n@functools.lru_cache(maxsize=None)\ndef scale(n):\n    return n * 2\n@functools.lru_cache\ndef mask(n):\n    return torch.ones(n) * 3\n"
     "def model(x, n):\n    return x * scale(3) + mask(2) * scale(n)\n"),
    ("attributes_of_a_thread", [["f 2"]], "import threading\nown = threading.local()\nown.x = torch.ones(1)\nlock = threading.RLock()\nwith lock:\n    with lock:\n        own.n = 3\n" + model("return torch.cat([x, own.x]) * own.n, threading.Lock().locked(), hasattr(own, 'y')")),
    ("data_of_averages", [["f 2,3"], ["f 2,3"]], "a, b = nn.Linear(3, 3), nn.Linear(3, 3)\n" + model("for p, q in zip(a.parameters(), b.parameters()):\n        q.data = q.data * 0.9 + p.data * 0.1\nreturn b(x)")),
    ("data_of_a_step", [["f 2,3"], ["f 2,3"]], "net = nn.Linear(3, 3)\n" + model(
        "for p in net.parameters():\n        p.grad = None\nnet(x).square().mean().backward()\nfor p in net.parameters():\n        p.data = p.data - 0.1 * p.grad\nreturn net(x).sum()")),
    ("data_that_others_share", [["f 2,3"], ["f 2,3"]], "w, u = torch.ones(3), torch.ones(3)\nv = w.view(3, 1)\nkept = nn.Linear(3, 3)\n" + model(
        "w.data = w * 2 + x[0]\ny = u * 3\nu.data = y\ny.add_(1)\nold = kept.bias.data\nkept.bias.data = kept.bias.data + 1\nold.add_(5)\nreturn w * 1, v.sum(), u * 1, old, kept(x)")),
    ("given_and_read", [["f 2,3"], ["f 2,3"]], model("x.kept = x * 2\nx.n = 3\ny = x + 1\nx.n += 1\nreturn y * x.n + x.kept")),
    ("given_to_what_leaves", [["f 2,3"], ["f 2,3"]], model("y = x + 1\ny.of = x\ny.rows = [y, x * 2]\nv = y[0]\nv.label = 'row'\nprint('break')\nreturn y.of - y, y.rows[1], v.label, y.rows[0] is y")),
    ("given_outside", [["f 3"], ["f 3"], ["f 3"], ["f 3"]], "w = nn.Parameter(torch.ones(3))\nw.scale = 2\nw.add = lambda x: x + 1\ncalls = []\n"
     "def after(x):\n    w.scale += len(calls) == 2\n" + model("y = w.add(x) * w.scale * w\nw.last = y\ncalls.append(1)\nreturn y, hasattr(w, 'missing')")),
    ("given_later", [["f 3"], ["f 3"], ["f 3"]], "w = torch.ones(3)\n@torch.compiler.disable\ndef give():\n    w.more = 5.0\n"
     + model("y = x * 2\nif hasattr(w, 'more'):\n    y = y * w.more\ny = y + w\ngive()\nreturn y")),
    ("given_and_taken", [["f 3"], ["f 3"]], "w, u = torch.ones(3), torch.zeros(3)\nu.k = 1\n" + model("w.k = x + u.k\nu.k = w\ny = w.k * 2\ndel w.k\nreturn y, hasattr(w, 'k'), getattr(w, 'k', 7)")),
    ("given_to_views", [["f 2,3"], ["f 2,3"]], "whole = torch.ones(2, 3)\npart = whole[0]\npart.k = 3\n" + model("part.add_(1)\npart.n = whole.sum()\nreturn x * part.k + whole, part.n")),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
