"""An Inception module: four branches beside each other."""
# input: x=float32[2,32,14,14]
import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvUnit(nn.Module):
    def __init__(self, channels, out, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.branch1 = ConvUnit(channels, 16, kernel_size=1)
        self.branch2 = nn.Sequential(
            ConvUnit(channels, 12, kernel_size=1), ConvUnit(12, 16, kernel_size=3, padding=1)
        )
        self.branch3 = nn.Sequential(
            ConvUnit(channels, 4, kernel_size=1), ConvUnit(4, 8, kernel_size=5, padding=2)
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1), ConvUnit(channels, 8, kernel_size=1)
        )

    def forward(self, x):
        branches = [self.branch1, self.branch2, self.branch3, self.branch4]
        return torch.cat([branch(x) for branch in branches], dim=1)


torch.manual_seed(0)
model = Inception(32).eval()
