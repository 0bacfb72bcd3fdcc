"""An MLP with GELU and a residual around it."""
# input: x=float32[32,256]
import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.act = nn.GELU()
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


torch.manual_seed(0)
model = MLP(256, 512).eval()
