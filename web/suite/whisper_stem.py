"""Whisper's audio stem: two convolutions, GELU, sinusoidal positions."""
# input: mel=float32[1,40,96]
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def sinusoids(length, channels, max_timescale=10000):
    assert channels % 2 == 0
    step = math.log(max_timescale) / (channels // 2 - 1)
    inverse = torch.exp(-step * torch.arange(channels // 2))
    scaled = torch.arange(length)[:, None] * inverse[None, :]
    return torch.cat([torch.sin(scaled), torch.cos(scaled)], dim=1)


class Stem(nn.Module):
    def __init__(self, mels=40, context=48, width=64):
        super().__init__()
        self.conv1 = nn.Conv1d(mels, width, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(width, width, kernel_size=3, stride=2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(context, width))
        self.ln = nn.LayerNorm(width)

    def forward(self, mel):
        x = F.gelu(self.conv1(mel))
        x = F.gelu(self.conv2(x))
        x = x.permute(0, 2, 1)
        assert x.shape[1:] == self.positional_embedding.shape, "incorrect audio shape"
        return self.ln((x + self.positional_embedding).to(x.dtype))


torch.manual_seed(0)
model = Stem().eval()
