# torch.nn.init.
import math

import _random_numbers
import torch


@torch.no_grad()
def _fill(tensor, values):
    tensor.copy_(values)
    return tensor


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, uniform_, tensor, a, b)
    with torch.no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, normal_, tensor, mean, std)
    with torch.no_grad():
        return tensor.normal_(mean, std)


def _cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, trunc_normal_, tensor, mean, std, a, b)
    low, high = _cdf((a - mean) / std), _cdf((b - mean) / std)
    drawn = uniform_(torch.empty(tensor.shape, dtype=tensor.dtype), 2 * low - 1, 2 * high - 1)
    drawn = torch.erfinv(drawn.double()).to(tensor.dtype) * (std * math.sqrt(2.0)) + mean
    return _fill(tensor, torch.clamp(drawn, a, b))


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


@torch.no_grad()
def dirac_(tensor, groups=1):
    tensor.fill_(0.0)
    out = tensor.shape[0] // groups
    middle = [size // 2 for size in tensor.shape[2:]]
    for g in range(groups):
        for d in range(min(out, tensor.shape[1])):
            tensor[tuple([g * out + d, d] + middle)] = 1.0
    return tensor


def orthogonal_(tensor, gain=1, generator=None):
    """By Gram and Schmidt, twice for what rounding leaves; the signs of a QR's diagonal."""
    if generator is not None:
        return _random_numbers.by(generator, orthogonal_, tensor, gain)
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    a = torch.randn(rows, columns).double()
    if rows < columns:
        a = a.t()
    made = []
    for k in range(a.shape[1]):
        v = a[:, k]
        for _ in range(2):
            for q in made:
                v = v - (q * v).sum() * q
        made.append(v / torch.linalg.vector_norm(v))
    q = torch.stack(made, 1)
    if rows < columns:
        q = q.t()
    return _fill(tensor, (q * gain).float().reshape(tensor.shape))


def sparse_(tensor, sparsity, std=0.01, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, sparse_, tensor, sparsity, std)
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with torch.no_grad():
        tensor.normal_(0, std)
        for column in range(columns):
            tensor[torch.randperm(rows)[:zeros], column] = 0
    return tensor


def calculate_gain(nonlinearity, param=None):
    linear = ("linear", "conv1d", "conv2d", "conv3d", "sigmoid", "conv_transpose1d")
    if nonlinearity in linear or nonlinearity == "conv_transpose2d":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor):
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    area = math.prod(tensor.shape[2:])
    return tensor.shape[1] * area, tensor.shape[0] * area


def _kaiming(tensor, a, mode, nonlinearity):
    fan_in, fan_out = _fans(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode == "fan_in" else fan_out)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if generator is not None:
        return _random_numbers.by(generator, kaiming_uniform_, tensor, a, mode, nonlinearity)
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if generator is not None:
        return _random_numbers.by(generator, kaiming_normal_, tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, xavier_uniform_, tensor, gain)
    fan_in, fan_out = _fans(tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0, generator=None):
    if generator is not None:
        return _random_numbers.by(generator, xavier_normal_, tensor, gain)
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)))


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[0 if mode == "fan_in" else 1]


def _calculate_fan_in_and_fan_out(tensor):
    return _fans(tensor)


# The names without a line at the end, which older files have.
uniform = uniform_
normal = normal_
constant = constant_
xavier_uniform = xavier_uniform_
xavier_normal = xavier_normal_
kaiming_uniform = kaiming_uniform_
kaiming_normal = kaiming_normal_
orthogonal = orthogonal_
