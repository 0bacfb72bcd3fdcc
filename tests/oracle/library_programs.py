"""tests/oracle/library_programs.py -- what published files use beside torch, and what they mention and never run.

Rows as those of own_programs.py: name, inputs of each call, the source after the imports below.  record.py runs them
on PyTorch (`record.py library_cases.json library_programs`) and writes library_cases.json, which replay.py replays.
"""
import random

from own_programs import value

IMPORTS = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"


def model(body, args="x"):
    return f"def model({args}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


PROGRAMS = [
    ("einops_rearrange", [["f 2,3,4,6"]], "from einops import rearrange\n" + model(
        "return (rearrange(x, 'b c h w -> b (h w) c'), rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=2, q=3), "
        "rearrange(x, 'b ... -> ... b'), rearrange(x, 'b c h w -> (b c) () h w'), rearrange([x[0], x[1]], 'n c h w -> c (n h) w'), rearrange(x, 'b c ... -> (b c) ...'))")),
    ("einops_reduce_repeat", [["f 2,3,4"]], "from einops import reduce, repeat\n" + model(
        "return (reduce(x, 'a b c -> a', 'sum'), reduce(x, 'a b (c d) -> a c', 'max', d=2), reduce(x, 'a b c -> a 1 c', 'mean'), reduce(x, '... c -> c', 'min'), "
        "repeat(x, 'a b c -> a (b n) c', n=2), repeat(x[0, 0], 'c -> n c', n=3), repeat(x, 'a b c -> a b c 2'), reduce(x, 'a b c -> ()', 'sum'))")),
    ("einops_pack", [["f 2,3,4", "f 2,5,4"]], "from einops import pack, unpack, parse_shape, einsum\n"
     "a = torch.arange(24.0).reshape(2, 3, 4)\np, shapes = pack([a, a[:, :1, :], a[:, 0]], 'b * c')\nu = unpack(p, shapes, 'b * c')\nd = parse_shape(a, 'batch _ dim')\n" + model(
         "return einsum(x, y, 'b i d, b j d -> b i j'), p + 0, u[0] + 0, u[1] + 0, u[2] + 0, d['batch'] * d['dim']", "x, y")),
    ("einops_layers", [["f 2,3,4,4"]], "from einops.layers.torch import Rearrange, Reduce\nmodel = nn.Sequential(Rearrange('b c h w -> b (c h w)'), nn.Linear(48, 6), Reduce('b (c n) -> b c', 'max', n=2))\n"),
    ("data_loader", [["f 3"]], "from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset, random_split\n"
     "class Squares(Dataset):\n    def __len__(self):\n        return 7\n    def __getitem__(self, i):\n        return {'i': i, 'x': torch.tensor([float(i * i)]), 'f': 0.5 * i}\n"
     "out = []\nfor b in DataLoader(Squares(), batch_size=3, num_workers=2):\n    out += [b['i'], b['x'], b['f']]\n"
     "for a, c in DataLoader(TensorDataset(torch.arange(5), torch.arange(5.0)), batch_size=2, drop_last=True):\n    out += [a, c]\ntorch.manual_seed(1)\n"
     "one, two = random_split(Squares(), [5, 2])\nout += [torch.tensor(one.indices), two[0]['x'], Subset(Squares(), [4])[0]['x']]\nn = len(ConcatDataset([one, two]))\n" + model("return x * n, [t * 1 for t in out]")),
    ("weight_norm", [["f 2,3"]], "m = nn.utils.weight_norm(nn.Linear(3, 4))\nc = nn.utils.weight_norm(nn.Conv1d(2, 3, 2), dim=None)\nr = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(3, 4)))\n" + model(
        "return m(x), m.weight_g, sorted(k for k, p in m.named_parameters()), c(x[None]), r(x)")),
    ("spectral_norm", [["f 2,3"]], "m = nn.utils.spectral_norm(nn.Linear(3, 4), n_power_iterations=2)\n" + model("return m(x), m.weight_u, m.eval()(x)")),
    ("optimizer_by_hand", [["f 4,3"], ["f 4,3"]], "lin = nn.Linear(3, 2)\nclass Momentum(torch.optim.Optimizer):\n    def __init__(self, params, lr=0.1, m=0.9):\n        super().__init__(params, dict(lr=lr, m=m))\n"
     "    @torch.no_grad()\n    def step(self, closure=None):\n        for group in self.param_groups:\n            for p in group['params']:\n                if p.grad is None:\n                    continue\n                state = self.state[p]\n"
     "                if len(state) == 0:\n                    state['step'] = 0\n                    state['v'] = torch.zeros_like(p)\n                state['step'] += 1\n                state['v'].mul_(group['m']).add_(p.grad)\n                p.add_(state['v'], alpha=-group['lr'])\n"
     "opt = Momentum(lin.parameters())\n" + model("opt.zero_grad()\nloss = lin(x).pow(2).mean()\nloss.backward()\nopt.step()\nreturn loss, lin.weight.detach().clone(), len(opt.state), opt.state[lin.bias]['step']")),
    ("parameters_drawn_again", [["f 2,3"]], "class Mine(nn.Linear):\n    def reset_parameters(self):\n        nn.Linear.reset_parameters(self)\n        nn.init.constant_(self.bias, 0.5)\nm = Mine(3, 3)\nc = nn.Conv1d(2, 2, 2)\nc.reset_parameters()\n"
     "n = nn.BatchNorm1d(3)\nn.weight.data.fill_(2)\nn.reset_parameters()\ne = nn.Embedding(4, 2)\ne.reset_parameters()\n" + model("return m(x), c(x[None]), n(x), e.weight")),
    ("attributes_of_tensors", [["f 3"]], "p = nn.Parameter(torch.ones(3))\np._no_weight_decay = True\npe = torch.ones(3)\npe.require_grad = False\nk = (2 if getattr(p, '_no_weight_decay', False) else 3), hasattr(pe, 'nothing'), pe.new(2).shape, pe.new([1.0, 2.0])\n" + model("return x * k[0], k[1], k[2], k[3] * 1")),
    ("new_and_init", [["f 2"]], "class One:\n    made = None\n    def __new__(cls, *args):\n        if cls.made is None:\n            cls.made = super().__new__(cls)\n        return cls.made\n    def __init__(self, k=0):\n        self.k = k\n"
     "class Other:\n    def __new__(cls, k):\n        return k + 1\n" + model("a = One(2)\nb = One(3)\nreturn x * a.k, a is b, Other(4)")),
    ("small_modules", [["f 2"]], "import argparse, bisect, heapq, json, os, string, sys\nparser = argparse.ArgumentParser(description='x')\nparser.add_argument('--lr', type=float, default='0.5', help='h')\ngroup = parser.add_argument_group('g')\n"
     "group.add_argument('-n', '--n-layers', type=int, default=3)\nparser.add_argument('--flag', action='store_true')\nargs = parser.parse_args([])\n"
     "h = [5, 1, 4, 2]\nheapq.heapify(h)\nheapq.heappush(h, 0)\nd = json.loads('{\"a\": [1, 2.5e1, null, true], \"b\": \"\\\\u00e9\\\\n\"}')\n"
     "k = (args.flag, [heapq.heappop(h) for _ in range(3)], bisect.bisect_left([1, 3, 3], 3), json.dumps(d), json.dumps({'k': (1, 'q\"')}, indent=2), os.path.join('a', 'b', '..', 'c.tar'), "
     "os.path.splitext('d.e/f.tar.gz'), os.path.basename('x/y'), os.environ.get('NOT_SET_HERE', 'no'), string.digits, sys.version_info >= (3, 8))\n" + model("return x * args.lr * args.n_layers, k")),
    ("one_process", [["f 3"]], "import torch.distributed as dist\nfrom torch.hub import load_state_dict_from_url\ntry:\n    from torch.hub import load_state_dict_from_url\nexcept ImportError:\n    from torch.utils.model_zoo import load_url as load_state_dict_from_url\n"
     "torch._C._log_api_usage_once('a.b')\nm = nn.DataParallel(nn.Identity())\ndef save(path):\n    with open(path, 'wb') as f:\n        f.write(b'x')\n" + model(
         "if dist.is_available() and dist.is_initialized():\n    dist.all_reduce(x)\nreturn m(x)")),
    ("never_run", [["f 3"]], "def unused(x):\n    y = undefined_name + 1j\n    return torch.no_such_function(y, b'bytes', 99999999999999999999999)\nasync def later(x):\n    async with x as y:\n        await y\nclass Unused(nn.Module):\n    def forward(self, x):\n        return open(x).read()\n"
     "try:\n    import no_such_module\nexcept ImportError:\n    no_such_module = None\ntry:\n    from torch.nn import NoSuchLayer\nexcept ImportError:\n    NoSuchLayer = None\n" + model("if no_such_module is not None:\n    x = no_such_module.f(x)\nif x is None:\n    return undefined_too\nreturn x * 2")),
    ("classes_of_classes", [["f 2,3"], ["f 2,3"]], "from abc import ABC, abstractmethod\nclass Registry(type):\n    known = {}\n    def __new__(mcs, name, bases, ns, **kw):\n        cls = super().__new__(mcs, name, bases, ns)\n        if bases:\n            mcs.known[name.lower()] = cls\n        return cls\n"
     "class Base(metaclass=Registry):\n    pass\nclass Relu(Base):\n    def __call__(self, x):\n        return F.relu(x) * 2\n"
     "class Single(type):\n    made = {}\n    def __call__(cls, *a):\n        if cls not in cls.made:\n            cls.made[cls] = super(Single, cls).__call__(*a)\n        return cls.made[cls]\nclass Config(metaclass=Single):\n    def __init__(self, v):\n        self.v = v\nfirst, second = Config(3), Config(5)\n"
     "class Block(nn.Module, ABC):\n    @abstractmethod\n    def act(self, x): ...\n    def forward(self, x):\n        return self.act(x) + 1\nclass Sine(Block):\n    def act(self, x):\n        return x.sin()\nsine = Sine()\nrelu = Registry.known['relu']()\n"
     + model("return relu(x), x * first.v + second.v, sine(x), sorted(Registry.known)")),
    ("keys_that_are_equal", [["f 2,3"], ["f 2,3"]], "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Size:\n    h: int\n    w: int = 2\ntable = {Size(1): 7, Size(2): 8}\ntable[Size(1, 2)] = 9\nk = table[Size(1)], len(table), Size(3) in table, {Size(1), Size(1)} == {Size(1)}\n"
     + model("return x * k[0], k[1:]")),
    ("bytes_and_names", [["f 2,3"]], "import io\nout_dir = 'out'\nbatch_size = 12\nkeys = [k for k, v in globals().items() if not k.startswith('_') and isinstance(v, (int, float, bool, str))]\nconfig = {k: globals()[k] for k in keys}\ndef act_relu(x):\n    return F.relu(x)\n"
     "ids = list('h\u00e9llo'.encode('utf-8'))\ntext = io.StringIO()\nprint('a', 1, file=text)\ndef args(a, b=2):\n    return sorted(locals())\n"
     + model("f = globals()['act_' + 'relu']\nreturn f(x) * batch_size, ids, bytes(ids).decode(), sorted(keys), config['batch_size'], text.getvalue(), args(1), 'ab'.translate(str.maketrans('a', 'b'))")),
    ("what_raises", [["f 3"]], "from torch.func import grad, jacrev, jvp, stack_module_state, vjp\nimport torch.nn.utils.parametrize as parametrize\na, b = torch.ones(3, requires_grad=True), torch.ones(2, 2)\nlin = nn.Linear(2, 2)\nother = nn.Linear(2, 2).requires_grad_(False)\n"
     "class Both(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\n    vjp = backward\n"
     "class Dirty(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        x.add_(1)\n        ctx.mark_dirty(x)\n        return x * 2\n"
     "class Wide(nn.Module):\n    def forward(self, x):\n        return x\n    def right_inverse(self, x):\n        return x.double()\n"
     "tries = [lambda: torch.mul(a, 2, out=torch.empty(3)), lambda: torch.matmul(b, b, out=torch.empty(2, 2, dtype=torch.int64)), lambda: torch.max(b, 0, out=(torch.empty(2), torch.empty(2))), lambda: torch.isclose(b, b, atol=-1), "
     "lambda: F.smooth_l1_loss(b, b, beta=-1.0), lambda: F.huber_loss(b, b, delta=0.0), lambda: F.binary_cross_entropy_with_logits(b, torch.ones(2)), lambda: F.group_norm(torch.ones(1, 2), 2), "
     "lambda: torch.autograd.grad(a.sum(), []), lambda: torch.autograd.grad([a.sum(), a.sum()], a, [torch.tensor(1.0)]), lambda: Both.apply(a).sum().backward(), lambda: Dirty.apply(a * 1), "
     "lambda: grad(torch.mul, argnums=[0])(b, b), lambda: grad(lambda x, y: (x * y).sum(), argnums=(0, -2))(b, b), lambda: vjp(lambda x: (x, 1.0), b, has_aux=True), lambda: jvp(lambda x: (), (b,), (b,)), lambda: stack_module_state([lin, other]), "
     "lambda: torch.unravel_index(torch.tensor(0.5), (2, 2)), lambda: torch.unravel_index(torch.tensor(0), (2, -3)), lambda: torch.histc(b, min=5, max=1), lambda: torch.histc(torch.tensor([1.0, float('inf')])), lambda: torch.meshgrid(b), "
     "lambda: torch.normal(b, -1.0), lambda: torch.normal(b, -b), lambda: b.uniform_(2.0, 1.0), lambda: b.exponential_(-0.5), lambda: b.cauchy_(0.0, 0.0), lambda: torch.vander(b), lambda: torch.addr(b, b, b), lambda: torch.broadcast_shapes((-1,)), "
     "lambda: torch.complex(torch.tensor([1]), torch.tensor([2])), lambda: nn.Conv1d(3, 3, 2, padding='foo'), lambda: nn.Conv2d(3, 3, 2, padding='same', stride=(1, 2)), lambda: lin.train(1), lambda: nn.Sequential(lin).insert(-5, lin), lambda: torch.Generator('opengl'), "
     "lambda: torch.fft.fft2(b, dim=(0, 0)), lambda: torch.fft.fft2(b, s=(1,)), lambda: torch.fft.rfft(torch.fft.fft(b)), lambda: parametrize.register_parametrization(lin, 'weight', Wide()), lambda: torch.mul(b, 2, out=b)]\nkinds = []\n"
     "for each in tries:\n    try:\n        each()\n        kinds.append('none')\n    except Exception as e:\n        kinds.append(type(e).__name__)\n" + model("return x * 2, kinds")),
    ("comparisons_that_raise", [["f 2,2"]], "import numpy as np\nfrom numpy.testing import assert_allclose\nfrom torch.testing import assert_close, make_tensor\nx = torch.ones(2, 2)\nassert_close(x, x + 1e-7)\nassert_allclose(np.ones(3), np.ones(3) + 1e-9)\n"
     "tries = [lambda: torch.testing.assert_close(x, x + 1), lambda: assert_close([1.0, 2.0], [1.0, 3.0]), lambda: assert_close({'a': x}, {'b': x}), lambda: assert_close(x, x.double()), lambda: assert_close(1.0, 2.0, msg='no'), lambda: assert_close(torch.tensor(1), torch.tensor(3)), lambda: assert_close(x, x, rtol=1.0), lambda: assert_close(x, 1.0)]\nsaid = []\n"
     "for each in tries:\n    try:\n        each()\n        said.append('fine')\n    except (AssertionError, TypeError, ValueError) as e:\n        said.append(str(e))\ntorch.manual_seed(3)\nmade = make_tensor((2, 3), dtype=torch.float32, device='cpu'), make_tensor(4, dtype=torch.int64, device='cpu', low=0), make_tensor((2, 2), dtype=torch.bool, device='cpu')\n"
     "out = torch.zeros(2, 3), torch.empty(0), torch.empty(2), torch.empty(2, dtype=torch.int64), torch.empty(10, dtype=torch.int32)\ntorch.addr(torch.ones(2, 3), torch.ones(2), torch.ones(3), alpha=2, out=out[0])\ntorch.kron(x, x, out=out[1])\ntorch.mode(torch.tensor([[1., 1., 2.], [3., 4., 4.]]), 1, out=out[2:4])\ntorch.randint(17, (10,), out=out[4])\n"
     "def within():\n    k = 3\n    exec('import math\\nk = k + 1')\n    try:\n        return math.pi\n    except NameError:\n        return 0\nseen = within()\n" + model("return x * 2, said, made[0] + 0, made[1], made[2], out[0] + 0, out[1], out[2], out[3], out[4].shape, seen")),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
