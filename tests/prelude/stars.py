# import * of modules that are no files: each name that the program reads, the last module's.
import torch
from torch import *
from math import *
from torch.nn import *
from torch.nn.functional import *
from collections import *
from typing import *


class Scaled(Module):
    def __init__(self, factor: Optional[float] = None):
        super().__init__()
        self.linear = Linear(2, 2)
        self.factor = factor or sqrt(4)

    def forward(self, x):
        return relu(self.linear(x)) * self.factor


def model():
    torch.manual_seed(0)
    print(Scaled()(ones(1, 2)).shape, pi, floor(2.5))
    print(OrderedDict(a=1), Counter("aab").most_common(1))
    print(max(tensor([1, 5, 2])), sum(tensor([1, 2])))
