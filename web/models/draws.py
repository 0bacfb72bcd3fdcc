# input: x=float32[4,6]
"""Random numbers: each draw happens once, in the program's order, whether it is read or not."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.3), nn.Linear(6, 6), nn.Dropout(0.3))


def model(x):
    torch.rand(3)
    first, second = torch.rand(2, 3), torch.rand(2, 3)
    F.dropout(x, 0.5)
    a = F.dropout(x, 0.5) + F.dropout(x, 0.5)
    out = net(x)
    loss = (out * out).sum()
    loss.backward()
    grad = net[0].weight.grad.clone()
    net.zero_grad()
    chosen = torch.multinomial(F.softmax(x, -1), 2)
    return first - second, a, out.detach(), grad, chosen, torch.randn(3), torch.randint(0, 9, (4,))
