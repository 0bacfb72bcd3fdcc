import torch, math
import torch.nn.functional
import torch.nn.functional as F
from math import sqrt, pi as PI
from torch.nn import (
    functional,
)
from __future__ import annotations
