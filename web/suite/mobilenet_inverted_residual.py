"""MobileNetV3's inverted residual with squeeze and excite."""
# input: x=float32[2,16,28,28]
import torch
import torch.nn as nn
import torch.nn.functional as F


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        scale = F.relu(self.fc1(scale))
        return x * F.hardsigmoid(self.fc2(scale))


class InvertedResidual(nn.Module):
    def __init__(self, channels, expanded, out, kernel, stride):
        super().__init__()
        self.use_residual = stride == 1 and channels == out
        self.block = nn.Sequential(
            nn.Conv2d(channels, expanded, 1, bias=False),
            nn.BatchNorm2d(expanded),
            nn.Hardswish(),
            nn.Conv2d(expanded, expanded, kernel, stride, kernel // 2, groups=expanded, bias=False),
            nn.BatchNorm2d(expanded),
            SqueezeExcite(expanded, expanded // 4),
            nn.Hardswish(),
            nn.Conv2d(expanded, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )

    def forward(self, x):
        y = self.block(x)
        return x + y if self.use_residual else y


torch.manual_seed(0)
model = InvertedResidual(16, 64, 16, 3, 1).eval()
