# input: x=float32[3,4]
"""F.relu(x, inplace=True) and its kin write their argument."""
import torch
import torch.nn as nn
import torch.nn.functional as F
act = nn.SiLU(inplace=True)
def model(x):
    a = x * 1
    b = F.relu(a, inplace=True)
    c = x + 0
    d = act(c)
    e = x - 0
    F.relu(e, True)
    f = x.clone()
    F.dropout(f, 0.5, inplace=True)
    return a, b, c, d, e, F.relu(x, inplace=False), F.leaky_relu(x, 0.1, inplace=False), f
