"""A training step of a small classifier: loss, backward, clipped gradients, SGD."""
# input: x=float32[32,64]
# input: target=int64[32]
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)


def model(x, target):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return loss.detach()
