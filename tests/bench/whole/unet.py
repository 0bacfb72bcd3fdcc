"""The denoising step of a latent diffusion U-Net: residual blocks, attention over places and over words, skips."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, MULTIPLES, GROUPS, HEADS, WORDS = (16, (1, 2), 4, 2, 24) if SMALL else (320, (1, 2, 4), 32, 8, 768)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(GROUPS, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(GROUPS, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.short(x)


class Attention(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = nn.Linear(words, width, bias=False), nn.Linear(words, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, words):
        b, n, c = x.shape
        heads = lambda y: y.view(b, -1, HEADS, c // HEADS).transpose(1, 2)
        y = F.scaled_dot_product_attention(heads(self.q(x)), heads(self.k(words)), heads(self.v(words)))
        return self.out(y.transpose(1, 2).reshape(b, n, c))


class Transformer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, width)
        self.inward, self.outward = nn.Linear(width, width), nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.own, self.cross = Attention(width, width), Attention(width, WORDS)
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, words):
        b, c, rows, columns = x.shape
        y = self.inward(self.norm(x).permute(0, 2, 3, 1).reshape(b, rows * columns, c))
        z = self.norms[0](y)
        y = y + self.own(z, z)
        y = y + self.cross(self.norms[1](y), words)
        a, gate = self.up(self.norms[2](y)).chunk(2, dim=-1)
        y = y + self.down(a * F.gelu(gate))
        return self.outward(y).reshape(b, rows, columns, c).permute(0, 3, 1, 2) + x


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        time = 4 * WIDTH
        self.lin1, self.lin2 = nn.Linear(WIDTH, time), nn.Linear(time, time)
        self.first = nn.Conv2d(4, WIDTH, 3, padding=1)
        self.down, self.shrink, skips, size = nn.ModuleList(), nn.ModuleList(), [WIDTH], WIDTH
        for i, m in enumerate(MULTIPLES):
            self.down.append(nn.ModuleList([Residual(size, m * WIDTH, time), Transformer(m * WIDTH)]))
            size = m * WIDTH
            skips.append(size)
            self.shrink.append(nn.Conv2d(size, size, 3, 2, 1) if i + 1 < len(MULTIPLES) else nn.Identity())
        self.middle = nn.ModuleList([Residual(size, size, time), Transformer(size), Residual(size, size, time)])
        self.up, self.grow = nn.ModuleList(), nn.ModuleList()
        for i, m in reversed(list(enumerate(MULTIPLES))):
            self.up.append(nn.ModuleList([Residual(size + skips.pop(), m * WIDTH, time), Transformer(m * WIDTH)]))
            size = m * WIDTH
            self.grow.append(nn.Conv2d(size, size, 3, padding=1))
        self.norm, self.last = nn.GroupNorm(GROUPS, size), nn.Conv2d(size, 4, 3, padding=1)

    def forward(self, x, t, words):
        half = WIDTH // 2
        angles = t[:, None].float() * torch.exp(torch.arange(half, device=t.device) * (-math.log(10000.0) / half))[None]
        t = self.lin2(F.silu(self.lin1(torch.cat([angles.cos(), angles.sin()], -1).to(x.dtype))))
        x, skips = self.first(x), []
        for (residual, transformer), shrink in zip(self.down, self.shrink):
            x = transformer(residual(x, t), words)
            skips.append(x)
            x = shrink(x)
        x = self.middle[2](self.middle[1](self.middle[0](x, t), words), t)
        for i, ((residual, transformer), grow) in enumerate(zip(self.up, self.grow)):
            x = transformer(residual(torch.cat([x, skips.pop()], 1), t), words)
            if i + 1 < len(MULTIPLES):
                x = grow(F.interpolate(x, scale_factor=2, mode="nearest"))
        return self.last(F.silu(self.norm(x)))


torch.manual_seed(0)
with torch.device(DEVICE):
    net = UNet().to(torch.bfloat16).eval()


def model(x, t, words):
    with torch.no_grad():
        return net(x, t, words)
