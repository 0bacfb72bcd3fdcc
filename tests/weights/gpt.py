# input: x=float32[1]
# A small GPT with the weights that PyTorch made: its logits, their loss and a gradient.
import math

import torch
from torch import nn
from torch.nn import functional as F

CONFIG = {"vocab": 61, "block": 16, "layers": 2, "heads": 2, "width": 32}


class Block(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.attn(self.ln_1(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(b, t, c)
        x = x + self.proj(y)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab=61, block=16, layers=2, heads=2, width=32):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(block, width)
        self.h = nn.ModuleList([Block(width, heads, block) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.wte.weight = self.head.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


def model(x):
    checkpoint = torch.load("gpt.pt", map_location="cpu")
    net = GPT(**checkpoint["config"])
    print(net.load_state_dict(checkpoint["model"]))
    ids = torch.arange(32).view(2, 16) * 7 % 61
    logits = net(ids)
    loss = F.cross_entropy(logits.view(-1, 61), (ids * 3 + 1).view(-1) % 61)
    loss.backward()
    print(loss.detach(), logits[0, -1, :8].detach(), net.wpe.weight.grad[3, :4], net.wte.weight is net.head.weight)
    return logits.sum() + x
