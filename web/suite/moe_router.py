"""A mixture of experts with a top-2 router: every expert, weighted."""
# input: x=float32[32,64]
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, dim=64, hidden=96, experts=4, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(dim, hidden), nn.SiLU(), nn.Linear(hidden, dim)) for _ in range(experts)]
        )

    def forward(self, x):
        logits = self.gate(x)
        weights, chosen = torch.topk(F.softmax(logits, dim=-1), self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            weight = (weights * (chosen == i)).sum(dim=-1, keepdim=True)
            out = out + weight * expert(x)
        share = F.one_hot(chosen, len(self.experts)).float().mean(dim=(0, 1))
        balance = (share * F.softmax(logits, dim=-1).mean(dim=0)).sum() * len(self.experts)
        return out, balance


torch.manual_seed(0)
model = MoE().eval()
