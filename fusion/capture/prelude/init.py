# torch.nn.init.
import math

import torch


@torch.no_grad()
def _fill(tensor, values):
    tensor.copy_(values)
    return tensor


def uniform_(tensor, a=0.0, b=1.0):
    a, b = torch.tensor(a, dtype=torch.float32).item(), torch.tensor(b, dtype=torch.float32).item()
    return _fill(tensor, (torch.rand(*tensor.shape).double() * (b - a) + a).float())


def normal_(tensor, mean=0.0, std=1.0):
    return _fill(tensor, torch.randn(*tensor.shape) * std + mean)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return _fill(tensor, torch.clamp(torch.randn(*tensor.shape) * std + mean, a, b))


@torch.no_grad()
def constant_(tensor, val):
    return tensor.fill_(val)


@torch.no_grad()
def zeros_(tensor):
    return tensor.fill_(0.0)


@torch.no_grad()
def ones_(tensor):
    return tensor.fill_(1.0)


def eye_(tensor):
    return _fill(tensor, torch.eye(*tensor.shape))


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    return 1.0


def _fans(tensor):
    area = math.prod(tensor.shape[2:])
    return tensor.shape[1] * area, tensor.shape[0] * area


def _kaiming(tensor, a, mode, nonlinearity):
    fan_in, fan_out = _fans(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode == "fan_in" else fan_out)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity))


def xavier_uniform_(tensor, gain=1.0):
    fan_in, fan_out = _fans(tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)))
