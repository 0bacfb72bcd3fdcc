"""Cross attention of image tokens to text, with a feed-forward GEGLU."""
# input: x=float32[2,32,48]
# input: context=float32[2,10,64]
import torch
import torch.nn as nn
import torch.nn.functional as F


class GEGLU(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.proj = nn.Linear(dim, out * 2)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return x * F.gelu(gate)


class CrossAttention(nn.Module):
    def __init__(self, dim=48, context=64, heads=4, size=12):
        super().__init__()
        self.heads, self.scale = heads, size**-0.5
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.to_q = nn.Linear(dim, heads * size, bias=False)
        self.to_k = nn.Linear(context, heads * size, bias=False)
        self.to_v = nn.Linear(context, heads * size, bias=False)
        self.to_out = nn.Sequential(nn.Linear(heads * size, dim), nn.Dropout(0.0))
        self.ff = nn.Sequential(GEGLU(dim, 2 * dim), nn.Linear(2 * dim, dim))

    def forward(self, x, context):
        q = self.to_q(self.norm1(x))
        k, v = self.to_k(context), self.to_v(context)
        q, k, v = map(lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2), (q, k, v))
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(dim=-1), v)
        x = x + self.to_out(out.transpose(1, 2).flatten(2))
        return x + self.ff(self.norm2(x))


torch.manual_seed(0)
model = CrossAttention().eval()
