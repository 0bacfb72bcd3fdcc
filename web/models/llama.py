# input: tokens=int64[2,6]<24
# input: targets=int64[2,6]<24
"""A Llama in one file: RMS norm, rotary places by complex numbers, shared key heads, a cache."""
import math
from dataclasses import dataclass
from typing import Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Args:
    dim: int = 16
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: Optional[int] = 2
    vocab_size: int = 24
    multiple_of: int = 8
    norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    max_seq_len: int = 16


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return wide.type_as(x) * self.weight


def rotations(dim: int, end: int, theta: float) -> torch.Tensor:
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    angles = torch.outer(torch.arange(end, device=freqs.device, dtype=torch.float32), freqs)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    shape = [d if i == 1 or i == pairs.ndim - 1 else 1 for i, d in enumerate(pairs.shape)]
    return torch.view_as_real(pairs * by.view(*shape)).flatten(3).type_as(x)


def repeat_heads(x: torch.Tensor, n: int) -> torch.Tensor:
    b, t, heads, size = x.shape
    if n == 1:
        return x
    return x[:, :, :, None, :].expand(b, t, heads, n, size).reshape(b, t, heads * n, size)


class Attention(nn.Module):
    def __init__(self, args: Args):
        super().__init__()
        self.n_heads = args.n_heads
        self.n_kv_heads = args.n_heads if args.n_kv_heads is None else args.n_kv_heads
        self.repeats = self.n_heads // self.n_kv_heads
        self.size = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.size, bias=False)
        self.wk = nn.Linear(args.dim, self.n_kv_heads * self.size, bias=False)
        self.wv = nn.Linear(args.dim, self.n_kv_heads * self.size, bias=False)
        self.wo = nn.Linear(args.n_heads * self.size, args.dim, bias=False)
        shape = (2, args.max_seq_len, self.n_kv_heads, self.size)
        self.register_buffer("cache_k", torch.zeros(shape), persistent=False)
        self.register_buffer("cache_v", torch.zeros(shape), persistent=False)

    def forward(
        self, x: torch.Tensor, start: Optional[int], turns: torch.Tensor, mask: Optional[torch.Tensor]
    ) -> torch.Tensor:
        b, t, _ = x.shape
        q = rotate(self.wq(x).view(b, t, self.n_heads, self.size), turns)
        k = rotate(self.wk(x).view(b, t, self.n_kv_heads, self.size), turns)
        v = self.wv(x).view(b, t, self.n_kv_heads, self.size)
        if start is not None:
            self.cache_k[:b, start : start + t] = k
            self.cache_v[:b, start : start + t] = v
            k = self.cache_k[:b, : start + t]
            v = self.cache_v[:b, : start + t]
        k, v = repeat_heads(k, self.repeats), repeat_heads(v, self.repeats)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size)
        if mask is not None:
            scores = scores + mask
        out = F.softmax(scores.float(), dim=-1).type_as(q) @ v
        return self.wo(out.transpose(1, 2).contiguous().view(b, t, -1))


class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden: int, multiple_of: int):
        super().__init__()
        hidden = int(2 * hidden / 3)
        hidden = multiple_of * ((hidden + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, number: int, args: Args):
        super().__init__()
        self.number = number
        self.attention = Attention(args)
        self.feed_forward = FeedForward(dim=args.dim, hidden=4 * args.dim, multiple_of=args.multiple_of)
        self.attention_norm = RMSNorm(args.dim, eps=args.norm_eps)
        self.ffn_norm = RMSNorm(args.dim, eps=args.norm_eps)

    def forward(self, x, start, turns, mask):
        h = x + self.attention(self.attention_norm(x), start, turns, mask)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    last_loss: Optional[torch.Tensor]

    def __init__(self, args: Args):
        super().__init__()
        self.args = args
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.layers = torch.nn.ModuleList()
        for number in range(args.n_layers):
            self.layers.append(Block(number, args))
        self.norm = RMSNorm(args.dim, eps=args.norm_eps)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        self.turns = rotations(args.dim // args.n_heads, args.max_seq_len * 2, args.rope_theta)
        self.last_loss = None

    def forward(
        self, tokens: torch.Tensor, start: Optional[int] = None, targets: Optional[torch.Tensor] = None
    ) -> Tuple[torch.Tensor, ...]:
        _, t = tokens.shape
        first = 0 if start is None else start
        h = self.tok_embeddings(tokens)
        self.turns = self.turns.to(h.device)
        turns = self.turns[first : first + t]
        mask = None
        if t > 1:
            mask = torch.full((t, t), float("-inf"), device=tokens.device)
            mask = torch.triu(mask, diagonal=1)
            mask = torch.hstack([torch.zeros((t, first), device=tokens.device), mask]).type_as(h)
        for layer in self.layers:
            h = layer(h, start, turns, mask)
        logits = self.output(self.norm(h)).float()
        if targets is not None:
            self.last_loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits


torch.manual_seed(2)
net = Llama(Args())
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)


def model(tokens, targets):
    net(tokens, targets=targets)
    loss = net.last_loss
    loss.backward()
    grads = [p.grad.clone() for p in net.parameters()]
    optimizer.step()
    optimizer.zero_grad()
    with torch.inference_mode():
        whole = net(tokens[:, :4], 0)
        steps = [net(tokens[:, i : i + 1], i) for i in range(4, 6)]
    return loss.detach(), grads, whole, steps
