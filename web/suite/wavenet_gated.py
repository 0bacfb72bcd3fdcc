"""WaveNet's gated layers: dilated causal convolutions with skip connections."""
# input: x=float32[1,16,128]
import torch
import torch.nn as nn
import torch.nn.functional as F


class WaveNet(nn.Module):
    def __init__(self, channels=16, dilations=(1, 2, 4)):
        super().__init__()
        self.dilated = nn.ModuleList(
            [nn.Conv1d(channels, 2 * channels, 2, dilation=d) for d in dilations]
        )
        self.skip = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in dilations])
        self.res = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in dilations])

    def forward(self, x):
        total = 0
        for conv, skip, res in zip(self.dilated, self.skip, self.res):
            padded = F.pad(x, (conv.dilation[0], 0))
            a, b = conv(padded).chunk(2, dim=1)
            gated = torch.tanh(a) * torch.sigmoid(b)
            total = total + skip(gated)
            x = x + res(gated)
        return F.relu(total)


torch.manual_seed(0)
model = WaveNet().eval()
