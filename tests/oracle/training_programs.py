"""tests/oracle/training_programs.py -- optimisers, schedules and what trains beside them.

Rows as those of own_programs.py.  Each trains while the file is executed, and its model returns what came of it.
record.py runs them on PyTorch (`record.py training_cases.json training_programs`) and writes training_cases.json,
which replay.py replays.
"""
import random

from own_programs import value

IMPORTS = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nimport torch.optim.lr_scheduler as L\ntorch.manual_seed(0)\n"
TRAIN = """def train(kind, **options):
    p = nn.Parameter(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    q = nn.Parameter(torch.tensor([[0.3, -0.7]]))
    opt = kind([p, q], **options)
    for i in range(8):
        opt.zero_grad()
        loss = ((p - 0.1 * i) ** 2).sum() + (q.sin() * (i - 3)).sum()
        loss.backward()
        opt.step()
    kept = [v.detach() for k, v in sorted(opt.state[p].items()) if isinstance(v, torch.Tensor)]
    return torch.cat([p.detach(), q.detach()[0]] + [v.reshape(-1) for v in kept])
"""
RATES = """def rates(make, n=14):
    p = nn.Parameter(torch.ones(3))
    q = nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.1, momentum=0.9)
    schedule = make(opt)
    rows = []
    for i in range(n):
        a, b = schedule.get_last_lr()
        rows.append([float(a), float(b), float(opt.param_groups[0]["momentum"])])
        opt.step()
        schedule.step()
    return torch.tensor(rows)
"""


def kept(*expressions):
    """The expressions, computed as the file is executed, and a model that gives them."""
    return "".join(f"r{i} = {e}\n" for i, e in enumerate(expressions)) + "def model(x):\n    return (" + " ".join(f"r{i} + 0," for i in range(len(expressions))) + ")\n"


def trained(*options):
    return TRAIN + kept(*[f"train(torch.optim.{o})" for o in options])


def scheduled(*makes):
    return RATES + kept(*[f"rates(lambda o: {m})" for m in makes])


PROGRAMS = [
    ("optim_adadelta", [["f 1"]], trained("Adadelta, weight_decay=0.1", "Adadelta, lr=0.5, rho=0.8, maximize=True")),
    ("optim_adamax", [["f 1"]], trained("Adamax", "Adamax, lr=0.1, weight_decay=0.1, betas=(0.8, 0.9)")),
    ("optim_nadam", [["f 1"]], trained("NAdam", "NAdam, lr=0.1, weight_decay=0.1", "NAdam, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True")),
    ("optim_radam", [["f 1"]], trained("RAdam", "RAdam, lr=0.1, weight_decay=0.1, betas=(0.8, 0.9)", "RAdam, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True")),
    ("optim_asgd", [["f 1"]], trained("ASGD", "ASGD, lr=0.1, t0=2, weight_decay=0.1", "ASGD, lr=0.1, maximize=True")),
    ("optim_rprop", [["f 1"]], trained("Rprop", "Rprop, lr=0.1, etas=(0.4, 1.5), maximize=True")),
    ("schedule_one_cycle", [["f 1"]], scheduled("L.OneCycleLR(o, 0.3, total_steps=20)", "L.OneCycleLR(o, [0.3, 1.0], epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy='linear')")),
    ("schedule_cyclic", [["f 1"]], scheduled(*[f"L.CyclicLR(o, 0.1, 0.4, step_size_up=3, step_size_down=2, mode='{m}', gamma=0.9)" for m in ("triangular", "triangular2", "exp_range")])),
    ("schedule_of_schedules", [["f 1"]], scheduled("L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=2), L.CosineAnnealingLR(o, 9)], [3])", "L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=6), L.StepLR(o, 2), L.PolynomialLR(o, 5)], [3, 6])", "L.ChainedScheduler([L.ConstantLR(o, 0.1, total_iters=2), L.ExponentialLR(o, 0.9)])")),
    ("schedule_others", [["f 1"]], scheduled("L.CosineAnnealingWarmRestarts(o, 3, 2, 0.01)", "L.PolynomialLR(o, 6, 2.0)", "L.MultiplicativeLR(o, lambda e: 0.95)", "L.ConstantLR(o)")),
    ("schedule_on_plateau", [["f 1"]],
     "p = nn.Parameter(torch.ones(2))\nopt = torch.optim.AdamW([p], lr=0.1)\ns = L.ReduceLROnPlateau(opt, patience=1, factor=0.5, cooldown=1)\nrows = []\n"
     "for loss in (3, 2, 2, 2, 2, 1.5, 1.6, 1.6, 1.6, 1.6, 1.6, torch.tensor(1.6)):\n    s.step(loss)\n    rows.append([opt.param_groups[0]['lr'], float(s.num_bad_epochs), float(s.best)])\n" + kept("torch.tensor(rows)")),
    ("means_of_weights", [["f 1"]],
     "from torch.optim.swa_utils import AveragedModel, SWALR, get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, update_bn\n"
     "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(2)\n        self.l = nn.Linear(2, 1)\n    def forward(self, x):\n        return self.l(self.bn(x))\n"
     "def averaged(**options):\n    torch.manual_seed(1)\n    net = Net()\n    mean = AveragedModel(net, **options)\n    opt = torch.optim.SGD(net.parameters(), lr=0.3)\n    rates = SWALR(opt, swa_lr=0.05, anneal_epochs=3)\n    x = torch.arange(8.0).view(4, 2) / 8\n"
     "    for i in range(5):\n        opt.zero_grad()\n        (net(x + i) - i).pow(2).mean().backward()\n        opt.step()\n        rates.step()\n        mean.update_parameters(net)\n    kept = torch.cat([v.reshape(-1).float() for v in mean.state_dict().values()])\n"
     "    update_bn([x, x * 2], mean)\n    return torch.cat([kept, mean.module.bn.running_mean, mean.module.bn.running_var, mean(x).detach().view(-1), torch.tensor(rates.get_last_lr())])\n"
     + kept(*[f"averaged({o})" for o in ("", "use_buffers=True", "avg_fn=get_swa_avg_fn()", "avg_fn=get_ema_avg_fn(0.7)", "multi_avg_fn=get_ema_multi_avg_fn(0.7)", "avg_fn=lambda a, b, n: a + (b - a) * n / 9")])),
    ("vector_of_parameters", [["f 2,3"]], "m = nn.Linear(3, 2)\nv = nn.utils.parameters_to_vector(m.parameters())\nnn.utils.vector_to_parameters(v.detach() * 2 + 1, m.parameters())\ndef model(x):\n    return m(x)\n"),
    ("layers_seldom_used", [["f 2,4,6,6"]], "pool, back = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)\n"
     "layers = [nn.ChannelShuffle(2), nn.CircularPad2d((1, 2, 0, 1)), nn.ConstantPad3d((1, 0, 2, 1, 0, 1), 0.5), nn.ZeroPad3d(1), nn.ReplicationPad3d(1), nn.InstanceNorm2d(4), nn.FeatureAlphaDropout().eval()]\n"
     "def model(x):\n    return back(*pool(x)), nn.LPPool1d(2, 2)(x[0].abs()), [l(x) for l in layers], nn.InstanceNorm3d(2)(x.view(1, 2, 4, 6, 6)), nn.CircularPad1d(1)(x[0]), nn.CircularPad3d(1)(x)\n"),
    ("losses_seldom_used", [["f 4,5", "f 4,5", "f 4,5"]],
     "losses = [nn.MultiMarginLoss(), nn.MultiMarginLoss(p=2, margin=0.5, weight=torch.arange(5.0), reduction='sum')]\nt = torch.tensor([0, 2, 4, 1])\nl = torch.tensor([[0, 2, -1, 1, 3]] * 4)\n"
     "ctc = nn.CTCLoss(blank=4)\nfar = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True, reduction='none')\n"
     "def model(x, y, z):\n    logits = torch.stack([x, y, z]).log_softmax(-1)\n    return [f(x, t) for f in losses], nn.MultiLabelMarginLoss()(x, l), nn.TripletMarginWithDistanceLoss()(x, y, z), far(x, y, z), "
     "ctc(logits, t.view(4, 1) % 4, torch.tensor([3, 3, 2, 3]), torch.tensor([1, 1, 1, 1]))\n"),
    ("schedule_resumed", [["f 1"]],
     "p = nn.Parameter(torch.ones(2))\nopt = torch.optim.SGD([p], lr=0.1)\ndef stepped(s, n):\n    for i in range(n):\n        opt.step()\n        s.step()\n    return s\n"
     "state = stepped(L.StepLR(opt, 2), 3).state_dict()\nagain = L.StepLR(opt, 2)\nagain.load_state_dict(state)\n" + kept("torch.tensor([float(state['last_epoch']), again.get_last_lr()[0], stepped(again, 1).get_last_lr()[0], float(again.last_epoch)])")),
    ("step_of_adam", [["f 4,3"], ["f 4,3"], ["f 4,3"]],
     "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\nfor p in net.parameters():\n    nn.init.constant_(p, 0.1)\nopt = torch.optim.Adam(net.parameters(), lr=0.05)\n"
     "def model(x):\n    loss = net(x).pow(2).mean()\n    loss.backward()\n    opt.step()\n    opt.zero_grad()\n    return loss\n"),
    ("step_of_adamw_and_more", [["f 4,3"], ["f 4,3"], ["f 4,3"]],
     "net = nn.Linear(3, 2)\nfor p in net.parameters():\n    nn.init.constant_(p, 0.1)\nopt = torch.optim.AdamW(net.parameters(), lr=0.05)\n"
     "def model(x):\n    opt.zero_grad()\n    loss = net(x).pow(2).mean()\n    loss.backward()\n    opt.step()\n    return loss.detach() * 2\n"),
    ("generators", [["f 2,2"]],
     "from torch.utils.data import DataLoader, TensorDataset, random_split\ng = torch.Generator().manual_seed(3)\na = torch.randn(2, 2, generator=g), torch.rand(3), torch.randperm(5, generator=g)\n"
     "train, rest = random_split(TensorDataset(torch.arange(10.0)), [7, 3], generator=torch.Generator().manual_seed(42))\ntorch.manual_seed(1)\nloader = DataLoader(train, batch_size=3, shuffle=True)\n"
     "seen = [b[0] for b in loader] + [b[0] for b in loader]\nstate = torch.get_rng_state()\nb = torch.rand(2)\ntorch.set_rng_state(state)\nc = torch.rand(2), torch.randint(0, 9, (3,), generator=g), torch.randn(2, generator=None)\n"
     "def model(x):\n    return x * 2, a, rest.indices, seen, b, c\n"),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
