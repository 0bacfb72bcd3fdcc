"""Conformer's convolution module: gated, depthwise, with a batch norm."""
# input: x=float32[2,48,32]
import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvolutionModule(nn.Module):
    def __init__(self, dim=32, kernel=15):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.pointwise1 = nn.Conv1d(dim, 2 * dim, kernel_size=1)
        self.depthwise = nn.Conv1d(dim, dim, kernel, padding=(kernel - 1) // 2, groups=dim)
        self.batch_norm = nn.BatchNorm1d(dim)
        self.pointwise2 = nn.Conv1d(dim, dim, kernel_size=1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        y = self.norm(x).transpose(1, 2)
        y = F.glu(self.pointwise1(y), dim=1)
        y = F.silu(self.batch_norm(self.depthwise(y)))
        return x + self.dropout(self.pointwise2(y).transpose(1, 2))


torch.manual_seed(0)
model = ConvolutionModule().eval()
