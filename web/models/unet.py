# input: x=float32[2,3,12,12]
# input: t=int64[2]<50
"""A U-Net in one file: skips, time embedding, group norms, attention, transposed convolution."""
import math
from typing import List, Optional, Tuple, Union

import torch
import torch.nn as nn
import torch.nn.functional as F


def normalization(channels: int) -> nn.Module:
    return nn.GroupNorm(2, channels)


def zero_module(module: nn.Module) -> nn.Module:
    """Starts at nothing, so that a block starts as its skip."""
    for p in module.parameters():
        p.detach().mul_(0.5)
    return module


class TimeEmbedding(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.channels = channels
        self.lin1 = nn.Linear(channels // 4, channels)
        self.lin2 = nn.Linear(channels, channels)

    def forward(self, t: torch.Tensor):
        half = self.channels // 8
        freqs = torch.exp(torch.arange(half, device=t.device) * -(math.log(10_000) / (half - 1)))
        emb = t[:, None] * freqs[None, :]
        emb = torch.cat((emb.sin(), emb.cos()), dim=1)
        return self.lin2(F.silu(self.lin1(emb)))


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, time: int):
        super().__init__()
        self.norm1 = normalization(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, kernel_size=(3, 3), padding=(1, 1))
        self.norm2 = normalization(outputs)
        self.conv2 = zero_module(nn.Conv2d(outputs, outputs, 3, padding="same"))
        self.time = nn.Linear(time, 2 * outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(F.silu(t))[..., None, None].chunk(2, dim=1)
        h = self.norm2(h) * (1 + scale) + shift
        return self.conv2(F.silu(h)) + self.shortcut(x)


class Attention(nn.Module):
    def __init__(self, channels: int, heads: int = 2):
        super().__init__()
        self.heads = heads
        self.norm = normalization(channels)
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x: torch.Tensor, t: Optional[torch.Tensor] = None):
        b, c, *spatial = x.shape
        x = x.reshape(b, c, -1)
        q, k, v = self.qkv(self.norm(x)).reshape(b * self.heads, c * 3 // self.heads, -1).chunk(3, dim=1)
        scale = 1 / math.sqrt(math.sqrt(q.shape[1]))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale).softmax(dim=-1)
        h = torch.einsum("bts,bcs->bct", weight, v).reshape(b, -1, x.shape[-1])
        return (x + self.out(h)).reshape(b, c, *spatial)


class Down(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pool = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(channels, channels, 1))

    def forward(self, x, _):
        return self.pool(x)


class Up(nn.Module):
    def __init__(self, channels, bilinear=False):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        else:
            self.up = nn.ConvTranspose2d(channels, channels, (4, 4), (2, 2), (1, 1))

    def forward(self, x, _):
        return self.up(x)


class UNet(nn.Module):
    def __init__(
        self,
        channels: int = 8,
        multiples: Union[Tuple[int, ...], List[int]] = (1, 2),
        attention: Tuple[bool, ...] = (False, True),
    ):
        super().__init__()
        time = channels * 4
        self.inc = nn.Conv2d(3, channels, 3, padding=1, padding_mode="reflect")
        self.time = TimeEmbedding(time)
        down: List[nn.Module] = []
        skips = [channels]
        size = channels
        for i, multiple in enumerate(multiples):
            down.append(Residual(size, channels * multiple, time))
            size = channels * multiple
            skips.append(size)
            if attention[i]:
                down.append(Attention(size))
            if i < len(multiples) - 1:
                down.append(Down(size))
        self.down = nn.ModuleList(down)
        self.middle = nn.ModuleList([Residual(size, size, time), Attention(size)])
        up = []
        for i, multiple in reversed(list(enumerate(multiples))):
            up.append(Residual(size + skips.pop(), channels * multiple, time))
            size = channels * multiple
            if i > 0:
                up.append(Up(size, bilinear=False))
        up.append(Up(size, bilinear=True))
        self.up = nn.ModuleList(up)
        self.outc = nn.Sequential(normalization(size), nn.SiLU(), nn.Conv2d(size, 3, kernel_size=1))

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        t = self.time(t)
        x = self.inc(x)
        skips = []
        for m in self.down:
            x = m(x, t)
            if isinstance(m, Residual):
                skips.append(x)
        for m in self.middle:
            x = m(x, t)
        for m in self.up:
            if isinstance(m, Residual):
                skip = skips.pop()
                dy, dx = skip.size()[2] - x.size()[2], skip.size()[3] - x.size()[3]
                x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
                x = torch.cat([skip, x], dim=1)
            x = m(x, t)
        return self.outc(x)


torch.manual_seed(5)
net = UNet()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)


def model(x, t):
    out = net(x, t)
    loss = F.smooth_l1_loss(F.avg_pool2d(out, 2), x)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    grads = [p.grad.clone() for p in net.parameters()]
    optimizer.step()
    return out.detach(), loss.detach(), grads, net.outc[2].weight.detach().clone()
