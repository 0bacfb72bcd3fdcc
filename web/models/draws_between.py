# input: x=float32[4,6]
"""Random numbers beside ops that fuse with nothing: drawn in the program's order, read or not."""
import torch
import torch.nn.functional as F

torch.manual_seed(7)


def pick(p):
    ordered, places = torch.sort(p, dim=-1, descending=True)
    return torch.gather(places, -1, torch.rand(p.shape).argmax(-1, keepdim=True))


def model(x):
    first = pick(x)
    y = F.dropout(torch.sort(x, dim=1)[0], 0.5)
    z = torch.rand(3)
    torch.sort(torch.randn(5) + x[0, 0])
    pick(x)
    return first, y, z
