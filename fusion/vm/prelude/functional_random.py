# torch.nn.functional: functions that draw numbers.  What begins with "One call" is one node to FX.
import math

import _prelude
import _random_numbers
import torch
import torch.nn.functional as F


def _below_zero(input):
    """A number for each element that is not above 0, in their order; 0 for the others.  A GPU draws for all."""
    if _random_numbers.by_gpu(input):
        return _random_numbers.unit(input, input.shape)
    flat = (input <= 0).flatten()
    drawn = torch.rand(int(flat.sum()), dtype=torch.float64)
    place = (flat.cumsum(0) - 1).clamp(min=0)
    drawn = torch.cat([drawn, torch.zeros(1, dtype=torch.float64)])
    return (drawn[place] * flat).reshape(input.shape)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """One call."""
    if not training:
        made = F.leaky_relu(input, (lower + upper) / 2)
    else:
        slope = (_below_zero(input) * (upper - lower) + lower).to(input.dtype)
        made = torch.where(input > 0, input, input * slope)
    return input.copy_(made) if inplace else made


def gumbel_softmax(logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    """One call."""
    gumbels = -torch.log(_random_numbers.exponential(logits).to(logits.dtype))
    soft = F.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    chosen = torch.zeros_like(logits).scatter(dim, index, 1.0)
    return chosen - soft.detach() + soft


# ---- dropout


def dropout(input, p=0.5, training=True, inplace=False):
    """One call."""
    if training and p != 0.0:
        if 0.0 < p < 1.0:
            contiguous = input.is_contiguous()
            if torch._C._draws(input) == "gpu":
                if inplace:
                    if contiguous and _random_numbers.at_once(input):
                        return torch._C.dropped(input, p, 0, True)
                    return input.mul_(_random_numbers.scaled_noise(input, p))
                if not contiguous or torch._C.storage_offset(input) != 0:
                    return (input * _random_numbers.kept(input, p)).to(input.dtype)
            elif not contiguous and not _random_numbers.in_order(input):
                made = torch._C.dropout(_random_numbers.in_memory(input), p, training, False)
                made = _random_numbers.back(made, input)
                return input.copy_(made) if inplace else made
    elif not inplace and 0.0 <= p <= 1.0:
        return torch._C.alias(input)
    return torch._C.dropout(input, p, training, inplace)


dropout = _prelude.mostly(dropout, torch._C.dropout)


def _channels(input, p, training, dims, inplace):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input if inplace else torch._C.alias(input)
    shape = [size if d < input.dim() - dims else 1 for d, size in enumerate(input.shape)]
    kept = _random_numbers.unit(input, shape) < 1.0 - p
    scale = kept.to(input.dtype) / (1.0 - p) if p < 1.0 else kept.to(input.dtype)
    return input.mul_(scale) if inplace else input * scale


def dropout1d(input, p=0.5, training=True, inplace=False):
    """One call."""
    return _channels(input, p, training, 1, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """One call."""
    return _channels(input, p, training, 2, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """One call."""
    return _channels(input, p, training, 3, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """One call."""
    if not training or p == 0.0:
        return input if inplace else torch._C.alias(input)
    alpha = -1.7580993408473766
    a = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    kept = _random_numbers.noise(input, p)
    made = (input * kept + alpha * (1 - kept)) * a - a * alpha * p
    return input.copy_(made) if inplace else made
