"""A mixture of experts that gathers each expert's tokens: sizes depend on data."""
# input: x=float32[32,64]
import torch
import torch.nn as nn
import torch.nn.functional as F


class SparseMoE(nn.Module):
    def __init__(self, dim=64, hidden=96, experts=4, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim)) for _ in range(experts)]
        )

    def forward(self, x):
        weights, chosen = torch.topk(F.softmax(self.gate(x), dim=-1), self.top_k, dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            token, place = torch.where(chosen == i)
            if token.shape[0] == 0:
                continue
            out.index_add_(0, token, weights[token, place, None] * expert(x[token]))
        return out


torch.manual_seed(0)
model = SparseMoE().eval()
