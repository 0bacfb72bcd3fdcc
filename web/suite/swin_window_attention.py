"""Swin's shifted window attention with a relative position bias."""
# input: x=float32[2,8,8,32]
import torch
import torch.nn as nn


def window_partition(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size * size, C)


def window_reverse(windows, size, H, W):
    B = windows.shape[0] // (H * W // size // size)
    x = windows.view(B, H // size, W // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, window, heads, shift):
        super().__init__()
        self.window, self.heads, self.shift = window, heads, shift
        self.scale = (dim // heads) ** -0.5
        self.bias_table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        coords = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        ).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", relative[..., 0] * (2 * window - 1) + relative[..., 1])
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, H, W, C = x.shape
        shifted = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(shifted, self.window)
        n, t, _ = windows.shape
        qkv = self.qkv(windows).reshape(n, t, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.bias_table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1)
        attn = (attn + bias.unsqueeze(0)).softmax(-1)
        out = self.proj((attn @ v).transpose(1, 2).reshape(n, t, C))
        out = window_reverse(out, self.window, H, W)
        return x + torch.roll(out, shifts=(self.shift, self.shift), dims=(1, 2))


torch.manual_seed(0)
model = WindowAttention(32, window=4, heads=2, shift=2).eval()
