"""One step of Adam, written out: it writes parameters and moments in place."""
# input: p=float32[64,128]
# input: g=float32[64,128]
# input: m=float32[64,128]
# input: v=float32[64,128]
# input: step=7
import math

import torch


@torch.no_grad()
def model(p, g, m, v, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    p.mul_(1 - lr * weight_decay)
    m.lerp_(g, 1 - beta1)
    v.abs_().mul_(beta2).addcmul_(g, g, value=1 - beta2)
    correction1 = 1 - beta1**step
    correction2 = 1 - beta2**step
    denom = (v.sqrt() / math.sqrt(correction2)).add_(eps)
    p.addcdiv_(m, denom, value=-lr / correction1)
    return p
