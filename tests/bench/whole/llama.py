"""A Llama of 1.2 billion parameters, a decode step: the newest token of each sequence, a cache of keys and values."""
import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS, WIDTH, HEADS, SHARED, HIDDEN, LAYERS = (173, 64, 4, 2, 96, 2) if SMALL else (128256, 2048, 32, 8, 8192, 16)
BATCH, ROOM = (2, 24) if SMALL else (8, 1280)
SIZE = WIDTH // HEADS


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        f = x.float()
        return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = RMSNorm(WIDTH), RMSNorm(WIDTH)
        self.q = nn.Linear(WIDTH, HEADS * SIZE, bias=False)
        self.k = nn.Linear(WIDTH, SHARED * SIZE, bias=False)
        self.v = nn.Linear(WIDTH, SHARED * SIZE, bias=False)
        self.o = nn.Linear(HEADS * SIZE, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.register_buffer("keys", torch.randn(BATCH, SHARED, ROOM, SIZE))
        self.register_buffer("values", torch.randn(BATCH, SHARED, ROOM, SIZE))

    def forward(self, x, cos, sin, place, seen):
        b, n, _ = x.shape
        y = self.before(x)
        q = rotated(self.q(y).view(b, n, HEADS, SIZE).transpose(1, 2), cos, sin)
        k = rotated(self.k(y).view(b, n, SHARED, SIZE).transpose(1, 2), cos, sin)
        v = self.v(y).view(b, n, SHARED, SIZE).transpose(1, 2)
        self.keys.index_copy_(2, place, k)
        self.values.index_copy_(2, place, v)
        a = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, n, -1))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        angles = torch.outer(torch.arange(ROOM).float(), 1.0 / 5e5 ** (torch.arange(0, SIZE, 2).float() / SIZE))
        self.register_buffer("cos", torch.cat([angles.cos(), angles.cos()], -1))
        self.register_buffer("sin", torch.cat([angles.sin(), angles.sin()], -1))

    def forward(self, ids, place):
        x = self.words(ids)
        seen = (torch.arange(ROOM, device=ids.device) <= place)[None, None, None]
        cos, sin = self.cos[place], self.sin[place]
        for layer in self.layers:
            x = layer(x, cos, sin, place, seen)
        return self.head(self.norm(x))


torch.manual_seed(0)
with torch.device(DEVICE):
    net = Llama().to(torch.bfloat16).eval()


def model(ids, place):
    with torch.no_grad():
        return net(ids, place)
