"""RMS norm as published: computed in float32, given back in the input's dtype."""
# input: x=bfloat16[64,256]
# input: weight=bfloat16[256]
import torch


def model(x, weight, eps: float = 1e-6):
    dtype = x.dtype
    x = x.to(torch.float32)
    variance = x.pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(variance + eps)
    return weight * x.to(dtype)
