"""One decoding step of grouped-query attention over a key/value cache."""
# input: x=float32[2,1,64]
# input: k_cache=float32[2,2,48,16]
# input: v_cache=float32[2,2,48,16]
import torch
import torch.nn as nn


class Decode(nn.Module):
    def __init__(self, dim=64, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wkv = nn.Linear(dim, 2 * groups * self.size, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, k_cache, v_cache):
        b = x.size(0)
        q = self.wq(x).view(b, self.groups, self.heads // self.groups, self.size)
        k, v = self.wkv(x).view(b, self.groups, 1, 2 * self.size).chunk(2, dim=-1)
        k = torch.cat([k_cache, k], dim=2)
        v = torch.cat([v_cache, v], dim=2)
        scores = torch.einsum("bghd,bgtd->bght", q, k) / self.size**0.5
        y = torch.einsum("bght,bgtd->bghd", scores.softmax(dim=-1), v)
        return self.wo(y.reshape(b, 1, -1)), k, v


torch.manual_seed(0)
model = Decode().eval()
