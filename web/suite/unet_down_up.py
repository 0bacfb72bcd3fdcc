"""One level of a U-Net: down, up, and the skip connection."""
# input: x=float32[1,3,32,32]
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Sequential):
    def __init__(self, channels, out):
        super().__init__(
            nn.Conv2d(channels, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
        )


class Level(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down = DoubleConv(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.merge = DoubleConv(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        skip = self.inc(x)
        y = self.up(self.down(F.max_pool2d(skip, 2)))
        dy, dx = skip.size(2) - y.size(2), skip.size(3) - y.size(3)
        y = F.pad(y, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.out(self.merge(torch.cat([skip, y], dim=1)))


torch.manual_seed(0)
model = Level(3, 8).eval()
