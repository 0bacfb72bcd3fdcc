"""A BERT layer with a padding mask."""
# input: hidden=float32[2,32,64]
# input: mask=int64[2,32]
import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(x.size()[:-1] + (self.heads, self.size)).permute(0, 2, 1, 3)

    def forward(self, hidden, mask):
        q = self.transpose_for_scores(self.query(hidden))
        k = self.transpose_for_scores(self.key(hidden))
        v = self.transpose_for_scores(self.value(hidden))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size)
        probs = self.dropout(nn.functional.softmax(scores + mask, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return context.view(context.size()[:-2] + (self.heads * self.size,))


class Layer(nn.Module):
    def __init__(self, width=64, heads=4, hidden=256):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.dense = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.intermediate = nn.Linear(width, hidden)
        self.output = nn.Linear(hidden, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, hidden, mask):
        extended = (1.0 - (mask > 0)[:, None, None, :].to(hidden.dtype)) * -10000.0
        attended = self.norm1(self.dense(self.attention(hidden, extended)) + hidden)
        grown = nn.functional.gelu(self.intermediate(attended))
        return self.norm2(self.output(grown) + attended)


torch.manual_seed(0)
model = Layer().eval()
