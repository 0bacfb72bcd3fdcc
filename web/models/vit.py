# input: images=float32[2,3,12,12]
# input: labels=int64[2]<5
"""A vision transformer in one file: patches, class token, stochastic depth, truncated normals."""
import math
from collections import OrderedDict
from functools import partial
from typing import Callable, NamedTuple, Optional

import torch
import torch.nn as nn


def pair(x):
    return x if isinstance(x, tuple) else (x, x)


class Sizes(NamedTuple):
    image: int
    patch: int
    width: int = 16
    depth: int = 2
    heads: int = 2


class DropPath(nn.Module):
    def __init__(self, p: float = 0.0):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        kept = 1 - self.p
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        return x.div(kept) * x.new_empty(shape).bernoulli_(kept)

    def extra_repr(self):
        return f"p={self.p:0.3f}"


class Patches(nn.Module):
    def __init__(self, image, patch, channels, width):
        super().__init__()
        image, patch = pair(image), pair(patch)
        self.image = image
        self.n = (image[0] // patch[0]) * (image[1] // patch[1])
        self.proj = nn.Conv2d(channels, width, kernel_size=patch, stride=patch)

    def forward(self, x):
        B, C, H, W = x.shape
        torch._assert(H == self.image[0], f"height {H} is not {self.image[0]}")
        torch._assert(W == self.image[1], f"width {W} is not {self.image[1]}")
        return self.proj(x).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int, qkv_bias: bool = True):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(
        self,
        dim: int,
        heads: int,
        drop_path: float,
        norm_layer: Callable[..., nn.Module] = nn.LayerNorm,
        act_layer: Callable[..., nn.Module] = nn.GELU,
        scale: Optional[float] = None,
    ):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, heads)
        self.path = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = nn.Sequential(
            OrderedDict([("up", nn.Linear(dim, dim * 2)), ("act", act_layer()), ("down", nn.Linear(dim * 2, dim))])
        )
        self.gamma = nn.Parameter(scale * torch.ones(dim)) if scale else None

    def forward(self, x):
        y = self.attn(self.norm1(x))
        x = x + self.path(y if self.gamma is None else self.gamma * y)
        return x + self.path(self.mlp(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, sizes: Sizes, classes: int = 5, drop_path: float = 0.2, **kwargs):
        super().__init__()
        norm_layer = kwargs.pop("norm_layer", None) or partial(nn.LayerNorm, eps=1e-6)
        self.embed = Patches(sizes.image, sizes.patch, 3, sizes.width)
        self.cls = nn.Parameter(torch.zeros(1, 1, sizes.width))
        self.pos = nn.Parameter(torch.zeros(1, self.embed.n + 1, sizes.width))
        rates = [x.item() for x in torch.linspace(0, drop_path, sizes.depth)]
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for i, rate in enumerate(rates):
            layers[f"block_{i}"] = Block(sizes.width, sizes.heads, rate, norm_layer=norm_layer, **kwargs)
        self.blocks = nn.Sequential(layers)
        self.norm = norm_layer(sizes.width)
        self.head = nn.Linear(sizes.width, classes) if classes > 0 else nn.Identity()
        nn.init.trunc_normal_(self.pos, std=0.02)
        nn.init.trunc_normal_(self.cls, std=0.02)
        self.apply(self._init)
        fan_in = self.embed.proj.in_channels * math.prod(self.embed.proj.kernel_size)
        nn.init.trunc_normal_(self.embed.proj.weight, std=math.sqrt(1 / fan_in))

    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)
        elif isinstance(m, (nn.LayerNorm, nn.GroupNorm)):
            nn.init.ones_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        cls = self.cls.expand(x.shape[0], -1, -1)
        x = torch.cat((cls, x), dim=1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])


torch.manual_seed(3)
net = ViT(Sizes(image=12, patch=4), scale=0.5)
print(net)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.05)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


def model(images, labels):
    out = net.eval()(images)
    loss = criterion(out, labels)
    optimizer.zero_grad()
    loss.backward()
    grads = {name: p.grad.clone() for name, p in net.named_parameters()}
    optimizer.step()
    schedule.step()
    return out.detach(), loss.detach(), grads, schedule.get_last_lr()
