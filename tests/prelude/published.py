# What published files need beside layers: configurations, containers that derive from others, numbers.
import collections
import datetime
import enum
import numbers
import textwrap
import time
from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, fields, make_dataclass, replace
from typing import Dict, List, NamedTuple, Optional, ParamSpec, TypeVar

import numpy as np
import torch
import torch.distributions as D
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch.optim.optimizer import Optimizer, required

P = ParamSpec("P")
T = TypeVar("T")


class Transition(nn.Sequential):
    def __init__(self, a, b):
        super().__init__()
        self.norm = nn.BatchNorm1d(a)
        self.linear = nn.Linear(a, b)


class Named(nn.ModuleDict):
    def __init__(self):
        super().__init__()
        self.add_module("first", nn.Linear(2, 2))
        self.scale = nn.Parameter(torch.ones(1))


class Listed(nn.ModuleList):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1)


def containers():
    print(Transition(2, 3))
    print([name for name, _ in Named().named_parameters()], len(Listed()))


@dataclass
class Base:
    a: int = 1
    names: List[str] = field(default_factory=list, metadata={"help": "text"})


@dataclass
class Sub(Base):
    scale: InitVar[float] = 2.0
    _: KW_ONLY
    b: Optional[Dict[str, int]] = None

    def __post_init__(self, scale):
        self.c = self.a * scale


@dataclass(kw_only=True, frozen=True, order=True, slots=True)
class Key:
    x: int
    y: int = 0


def configurations():
    s = Sub(3, ["n"], 4.0, b={"k": 1})
    print(s, s.c, asdict(s), [f.name for f in fields(s)], fields(s)[1].metadata)
    print(Key(x=1) < Key(x=2), replace(Key(x=1), y=5), Key.__slots__, hash(Key(x=1)) == hash(Key(x=1)))
    for wrong in (lambda: Key(1), lambda: Sub(1, a=2), lambda: Sub(b=1, c=2), lambda: setattr(Key(x=1), "x", 2)):
        try:
            wrong()
        except (TypeError, AttributeError) as e:
            print(type(e).__name__, e)
    try:

        @dataclass
        class Wrong:
            a: int = 1
            b: int

    except TypeError as e:
        print(e)
    Made = make_dataclass("Made", [("x", int), ("y", int, 5)])
    print(Made(1), Made(1) == Made(1, 5))


Args = namedtuple("Args", ["kernel", "stride", "bias"])
Args.__new__.__defaults__ = (None,) * len(Args._fields)


class Block(namedtuple("Block", "scope size")):
    """Has methods."""

    def __new__(cls, scope, size=3):
        return super().__new__(cls, scope, size)

    def text(self):
        return self.scope * self.size


class Point(collections.namedtuple("Point", ("x", "y"), defaults=(0,))):
    pass


class Sample(NamedTuple):
    x: int
    y: int = 2

    def total(self):
        return self.x + self.y


class More(Sample):
    def most(self):
        return max(self)


def tuples():
    print(Args(), Args(3)._replace(bias=True))
    a, b = Block("ab")
    print(Block("ab"), a, b, Block("x", 2).text(), Block._make(["q", 1]).text(), isinstance(Block("a"), tuple))
    print(Point(4), Point(1)._asdict(), [p for p in Point(5, 6)], len(Point(1)))
    print(More(5).most(), More(1).total(), More._make([7, 8]))


class Meta(enum.EnumMeta):
    def of(cls, name):
        try:
            return cls[name]
        except KeyError:
            raise ValueError(f"Unknown {name} for {cls.__name__}") from None


class Mode(enum.Enum, metaclass=Meta):
    FAST = "fast"
    SLOW = "slow"

    @classmethod
    def _missing_(cls, value):
        return cls.SLOW if value == "slowest" else None


class Norm(str, enum.Enum):
    BATCH = "batch"
    LAYER = "layer"


class Level(enum.IntEnum):
    LOW = 1


class Size(enum.Enum):
    SMALL = (1, "s")

    def __init__(self, width, letter):
        self.width = width
        self.letter = letter


def enums():
    print(Mode.of("FAST"), Mode("slowest"), [m.name for m in Mode], len(Mode))
    try:
        Mode.of("none")
    except ValueError as e:
        print(e)
    print(Norm.BATCH == "batch", Norm("layer").name, Norm.BATCH.upper(), {Norm.BATCH: 1}["batch"], Norm.LAYER, f"{Norm.LAYER}", repr(Norm.LAYER), Norm.LAYER + "!")
    print(Level.LOW + 1, Level.LOW, isinstance(Level.LOW, int), repr(Level.LOW), Size.SMALL.width, Size.SMALL.letter)


def abstract():
    from collections.abc import Hashable, Iterable, Iterator, MutableSequence

    for v in (1, 2.5, True, "a", [1], (1,), iter([1]), {1}, None):
        kinds = (numbers.Number, numbers.Integral, numbers.Real, Hashable, Iterable, Iterator, MutableSequence)
        print("".join([str(int(isinstance(v, k))) for k in kinds]), end=" ")
    print()


def numpys():
    a = np.array([1, 2, 4])
    print(a.mean().round(2), a.sum().astype(np.float64), a.sum().dtype, a.mean().shape, a[0].ndim, a.max().item())
    print(hasattr(2.5, "dtype"), (2.5).is_integer(), np.prod((2, 3)).tolist())
    try:
        (2.5).nothing
    except AttributeError as e:
        print(e)
    for seed in range(3):
        torch.manual_seed(seed)
        for sizes in ((3, 5), (5, 3), (4, 4), (1, 6)):
            cost = torch.rand(*sizes)
            rows, columns = linear_sum_assignment(cost)
            print(rows.tolist(), columns.tolist(), linear_sum_assignment(cost.numpy(), maximize=True)[1].tolist())


class Power(nn.Module):
    calls = 0

    def forward(self, x):
        Power.calls += 1
        return x * x


class Longer(nn.Module):
    def forward(self, x):
        return torch.cat([x, x])


def parametrized():
    from torch.nn.utils import parametrizations, parametrize

    Power.calls = 0
    layer = nn.Linear(2, 2)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Power())
    print(Power.calls, layer.parametrizations.weight.original is weight, [n for n, _ in layer.named_parameters()])
    try:
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Longer())
    except ValueError as e:
        print(e)
    torch.manual_seed(0)
    net = nn.Sequential(parametrizations.spectral_norm(nn.Conv2d(1, 4, 3)), nn.Tanh(), nn.Flatten(), nn.Linear(16, 1))
    x = torch.randn(3, 1, 4, 4, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    penalty = ((g.view(3, -1).norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    print("%.4f" % penalty.item(), ["%.3f" % p.grad.abs().sum().item() for p in net.parameters() if p.grad is not None])


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_variables[0]


def olds():
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    Old.apply(x).sum().backward()
    print(x.grad, isinstance(x, torch.cuda.FloatTensor), torch.onnx.is_in_onnx_export())


def times():
    then = datetime.datetime(2024, 2, 28, 23, 30, 5) + datetime.timedelta(hours=1)
    print(then, then.strftime("%Y-%m-%d_%H-%M-%S %b %a %j %I%p"), then - datetime.datetime(2024, 1, 1), then.isoformat())
    print(datetime.timedelta(seconds=3725), datetime.date(2024, 3, 1).weekday(), repr(then))
    print(len(time.strftime("%Y%m%d-%H%M%S")), datetime.datetime.now() <= datetime.datetime.now())
    print(textwrap.dedent("  a\n    b\n\n  c"), textwrap.indent("x\ny", "> "), textwrap.fill("one two three four", 9))


class Warm(torch.optim.lr_scheduler._LRScheduler):
    def get_lr(self):
        return [base * (self.last_epoch + 1) for base in self.base_lrs]


class Old15(Optimizer):
    """As optimisers were written before the number followed the tensor."""

    def __init__(self, params, lr=required):
        super().__init__(params, dict(lr=lr))

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["mean"] = torch.zeros_like(p.data)
                    state["square"] = torch.zeros_like(p.data)
                state["mean"].mul_(0.9).add_(1 - 0.9, p.grad.data)
                state["square"].mul_(0.9).addcmul_(0.1, p.grad.data, p.grad.data)
                p.data.addcdiv_(-group["lr"], state["mean"], state["square"].sqrt().add_(1e-8))


def optimizers():
    layer = nn.Linear(2, 1)
    nn.init.constant_(layer.weight, 0.5)
    nn.init.zeros_(layer.bias)
    old = Old15(layer.parameters(), lr=0.1)
    warm = Warm(old)
    for _ in range(2):
        old.zero_grad()
        layer(torch.tensor([[1.0, -2.0]])).pow(2).sum().backward()
        torch.nn.utils.clip_grad_norm(layer.parameters(), 10.0)
        old.step()
        warm.step()
    print(layer.weight.data, warm.get_last_lr(), isinstance(old, torch.optim.Optimizer))
    a = torch.ones(2, requires_grad=True)
    (torch.add(a, 2, a * 3) - torch.addcmul(a, 0.5, a, a)).sum().backward()
    print(a.grad, torch.zeros(2).sub_(2, torch.ones(2)))
    lstm = nn.LSTM(2, 3, bidirectional=True)
    print([tuple(w.shape) for w in lstm.all_weights[1]], len(lstm._flat_weights))


class Half(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g @ x.t() + x.t() @ g


def choices():
    torch.manual_seed(0)
    mixture = D.MixtureSameFamily(D.Categorical(torch.tensor([0.3, 0.7])), D.Normal(torch.tensor([-1.0, 1.0]), torch.ones(2)))
    print(mixture.log_prob(torch.tensor(0.5)), mixture.mean, mixture.variance, mixture.sample((3,)), mixture.cdf(torch.tensor(0.0)))
    print(D.Multinomial(3, torch.ones(2)).log_prob(torch.tensor([1.0, 2.0])), D.Multinomial(4, torch.ones(3)).sample((2,)).sum(-1))
    print(D.NegativeBinomial(torch.tensor(3.0), logits=torch.tensor(0.2)).log_prob(torch.tensor(2.0)), D.Binomial(5, torch.tensor(0.4)).log_prob(torch.tensor(2.0)))
    relaxed = D.RelaxedOneHotCategorical(torch.tensor(0.5), logits=torch.tensor([0.1, 0.2, 0.3]))
    x = relaxed.rsample()
    print(x, "%.4f" % relaxed.log_prob(x).item())
    relaxed = D.RelaxedBernoulli(torch.tensor(0.5), probs=torch.tensor([0.1, 0.6]))
    print(relaxed.rsample(), D.beta.Beta(2.0, 3.0).mean)
    x = torch.eye(2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = Half.apply(x)
    y.sum().backward()
    print(y.dtype, x.grad)
    z, source = torch.zeros(2, 3, requires_grad=True), torch.arange(4.0, requires_grad=True)
    y = z.masked_scatter(torch.tensor([[True, False, True], [False, True, False]]), source)
    (y * torch.arange(6.0).view(2, 3)).sum().backward()
    print(y.detach(), z.grad, source.grad)


def indices():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 5, requires_grad=True)
    b, a, j, i = torch.tensor([0, 1, -1]), torch.tensor([2, 0, 1]), torch.tensor([3, -1, 0]), torch.tensor([4, 0, 2])
    y = x[b, a, j, i]
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    print(y.data, x.grad.nonzero().tolist(), x.grad.sum())
    z = torch.zeros(2, 3, 4, 5, 2)
    z[b, a, j, i] = torch.tensor([1.0, 2.0])
    z[b[:1], a[:1], j[:1], i[:1], 0] = 7
    print(z.nonzero().tolist(), z.sum())
    t = torch.zeros(2, 3, 4, 5).permute(3, 1, 0, 2)
    t[torch.tensor([1, 2]), torch.tensor([0, 1]), torch.tensor([1, 1]), torch.tensor([0, 3])] = torch.tensor([5.0, 6.0])
    print(t.nonzero().tolist(), t.sum())
    m = torch.zeros(2, 3, 4, 5, dtype=torch.bool)
    m[0, 1, 2, 3] = m[1, 2, 3, 4] = True
    w = x.data.clone()
    w[m] = torch.tensor([8.0, 9.0])
    print(x[m].data, x.data[~m].shape, w[m], torch.zeros(1, 2, 2, 2, 2)[torch.ones(1, 2, 2, 2, dtype=torch.bool)].shape)


def iterators():
    layer = nn.Linear(2, 1)
    loss = layer(torch.ones(1, 2)).sum()
    print(torch.autograd.grad(loss, layer.parameters(), retain_graph=True)[1])
    print(torch.autograd.grad(loss, (p for p in layer.parameters()))[0])
    weights = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1) * 2)])
    print(torch.autograd.grad((weights[0] * weights[1]).sum(), weights))


def repeated():
    torch.manual_seed(0)
    for sizes, times in (((2, 3, 2, 2, 2), (1, 2, 1, 3, 1)), ((2, 2, 1, 2), (3, 1, 2, 2, 1)), ((1, 2, 2, 2, 2), (2, 2, 2, 2, 2))):
        x = torch.randn(*sizes, requires_grad=True)
        y = x.repeat(*times)
        (y * torch.randn(y.shape)).sum().backward()
        print(x.grad.shape, "%.3f %.4f" % (x.grad.abs().sum().item(), x.grad.flatten()[1].item()))
    q, w = torch.randn(2, 3, 4), torch.randn(12, 4)
    print([tuple(t.shape) for t in F._in_projection_packed(q, q, q, w)], F._mha_shape_check(q, q, q, None, None, 2))


def sublists():
    x = torch.arange(24.0).view(2, 3, 4)
    print(torch.einsum(x, [0, 1, 2], [2, 0]), torch.einsum(x, [0, 1, 2], x, [0, 1, 2]), torch.einsum(x, [..., 30, 3]).shape)
    print(torch.einsum(x, [5, 1, 2], x, [5, 1, 3], [2, 3, 5]).sum(), torch.einsum(x, [..., 0, 1], [..., 1, 0]).shape)


def model():
    for part in (containers, configurations, tuples, enums, abstract, numpys, parametrized, olds, times, optimizers, choices, indices, iterators, repeated, sublists):
        print(part.__name__)
        part()
