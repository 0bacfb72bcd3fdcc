"""T5's self-attention with bucketed relative positions."""
# input: hidden=float32[2,24,64]
import math

import torch
import torch.nn as nn


class T5Attention(nn.Module):
    def __init__(self, width=64, heads=4, buckets=16, max_distance=32):
        super().__init__()
        self.heads, self.buckets, self.max_distance = heads, buckets, max_distance
        self.size = width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.relative_attention_bias = nn.Embedding(buckets, heads)

    def bucket(self, relative):
        buckets = self.buckets // 2
        result = (relative > 0).to(torch.long) * buckets
        relative = torch.abs(relative)
        max_exact = buckets // 2
        is_small = relative < max_exact
        large = max_exact + (
            torch.log(relative.float().clamp(min=1) / max_exact)
            / math.log(self.max_distance / max_exact)
            * (buckets - max_exact)
        ).to(torch.long)
        large = torch.min(large, torch.full_like(large, buckets - 1))
        return result + torch.where(is_small, relative, large)

    def forward(self, hidden):
        B, T, _ = hidden.shape
        split = lambda t: t.view(B, T, self.heads, self.size).transpose(1, 2)
        q, k, v = split(self.q(hidden)), split(self.k(hidden)), split(self.v(hidden))
        scores = torch.matmul(q, k.transpose(3, 2))
        position = torch.arange(T, device=hidden.device)
        bias = self.relative_attention_bias(self.bucket(position[None, :] - position[:, None]))
        scores = scores + bias.permute(2, 0, 1).unsqueeze(0)
        weights = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(weights, v).transpose(1, 2).contiguous().view(B, T, -1))


torch.manual_seed(0)
model = T5Attention().eval()
