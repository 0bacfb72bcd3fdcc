# copy.deepcopy() of what has a method for it, and of parameters; mutable defaults of dataclasses.
import copy
from dataclasses import dataclass, field

import torch
import torch.nn as nn


class Counted:
    def __init__(self, x):
        self.x = x

    def __deepcopy__(self, memo):
        made = Counted(copy.deepcopy(self.x, memo))
        made.x.append("copied")
        return made


@dataclass
class Good:
    l: list = field(default_factory=list)


class Ema(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = copy.deepcopy(net)

    def __deepcopy__(self, memo):
        return Ema(self.net)


def model():
    a = Counted([1])
    both = copy.deepcopy([a, a])
    print(both[0].x, both[0] is both[1], a.x)
    shared = [1]
    pair = copy.deepcopy([Counted(shared), shared])
    print(pair[0].x is pair[1], pair[1])
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    t = torch.ones(2, requires_grad=True)
    t.grad = torch.ones(2)
    print(copy.deepcopy(p).grad, copy.deepcopy(t).grad, copy.deepcopy(p).requires_grad)
    net = nn.Linear(2, 2)
    net(torch.ones(1, 2)).sum().backward()
    ema = copy.deepcopy(Ema(net))
    print(all(q.grad is None for q in ema.parameters()), net.weight.grad is None, type(ema).__name__)
    try:
        @dataclass
        class Bad:
            l: list = []
    except ValueError as e:
        print(e)
    print(Good(), Good().l is Good().l)
