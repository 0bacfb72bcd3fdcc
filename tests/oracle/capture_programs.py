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
# a profiler, reads a symbolic size by a name (operators_by_name), or ends the graph of numpy's elsewhere (fourier_of_arrays).
VALUES_ALONE = {"mappings_and_sequences", "fourier_of_arrays", "sections_of_a_profiler", "operators_by_name"}

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
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
