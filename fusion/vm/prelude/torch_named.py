# torch: functions of torch.nn.functional and methods of tensors that torch has by their own names too.
import torch
import torch.nn.functional as F

_numbers = range
newaxis = None


def dropout(input, p, train):
    return F.dropout(input, p, train)


def dropout_(input, p, train):
    return input.copy_(F.dropout(input, p, train))


def alpha_dropout(input, p, train):
    return F.alpha_dropout(input, p, train)


def feature_dropout(input, p, train):
    return F.dropout2d(input, p, train)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return F.rrelu(input, lower, upper, training)


def embedding(weight, input, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(input, weight, None if padding_idx == -1 else padding_idx, None, 2.0, scale_grad_by_freq, sparse)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return F.avg_pool1d(input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad)


def _reduced(reduction):
    return ("none", "mean", "sum")[reduction]


def kl_div(input, target, reduction=0, log_target=False):
    return F.kl_div(input, target, reduction=_reduced(reduction), log_target=log_target)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=_reduced(reduction), pos_weight=pos_weight)


def ravel(input):
    return input.reshape(-1)


def adjoint(input):
    return input.transpose(-2, -1)


def range(start=0, end=None, step=1):
    if end is None:
        start, end = 0, start
    n = int((end - start) / step) + 1
    return torch.arange(n, dtype=torch.get_default_dtype()) * step + start


def scalar_tensor(s, dtype=None):
    return torch.tensor(s, dtype=torch.get_default_dtype() if dtype is None else dtype)


def is_signed(input):
    return input.dtype.is_floating_point or input.dtype in (torch.int8, torch.int16, torch.int32, torch.int64)


def is_same_size(input, other):
    return input.shape == other.shape


def is_conj(input):
    return False


def empty_strided(size, stride, dtype=None, device=None, requires_grad=False):
    n = 1 + sum([(a - 1) * b for a, b in zip(size, stride)])
    made = torch.empty(max(n, 0), dtype=dtype).as_strided(size, stride)
    return made.requires_grad_() if requires_grad else made


def unravel_index(indices, shape):
    if indices.dtype.is_floating_point or indices.dtype == torch.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if isinstance(shape, int):
        shape = (shape,)
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any([n < 0 for n in shape]):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    made = []
    for n in reversed(shape):
        made.append(indices % n)
        indices = indices // n
    return tuple(reversed(made))


def _uneven(x, places, d, edge_order):
    """The slope along one dim, whose elements lie at `places`."""
    n = x.shape[d]
    if places.dim() != 1 or places.shape[0] != n:
        raise RuntimeError(f"torch.gradient expected each element of spacing to have {n} places, but got size {list(places.shape)}")
    steps = torch.diff(places).reshape([n - 1] + [1] * (x.dim() - 1 - d))
    left, right = steps.narrow(0, 0, n - 2), steps.narrow(0, 1, n - 2)
    both = left + right
    inner = (
        x.narrow(d, 0, n - 2) * (-right / (left * both))
        + x.narrow(d, 1, n - 2) * ((right - left) / (left * right))
        + x.narrow(d, 2, n - 2) * (left / (right * both))
    )
    first = (x.narrow(d, 1, 1) - x.narrow(d, 0, 1)) / steps[:1]
    last = (x.narrow(d, n - 1, 1) - x.narrow(d, n - 2, 1)) / steps[-1:]
    if edge_order == 2:
        a, b = steps[:1], steps[1:2]
        first = (
            x.narrow(d, 0, 1) * (-(2 * a + b) / (a * (a + b)))
            + x.narrow(d, 1, 1) * ((a + b) / (a * b))
            + x.narrow(d, 2, 1) * (-a / (b * (a + b)))
        )
        a, b = steps[-2:-1], steps[-1:]
        last = (
            x.narrow(d, n - 3, 1) * (b / (a * (a + b)))
            + x.narrow(d, n - 2, 1) * (-(a + b) / (a * b))
            + x.narrow(d, n - 1, 1) * ((a + 2 * b) / (b * (a + b)))
        )
    return torch.cat((first, inner, last), d)


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    dims = list(_numbers(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = [spacing] * len(dims) if isinstance(spacing, (int, float)) else list(spacing)
    if len(steps) != len(dims):
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(dims)} but got a list of length {len(steps)}"
        )
    made = []
    for d, h in zip(dims, steps):
        n = input.shape[d]
        if isinstance(h, torch.Tensor) and h.dim() > 0:
            made.append(_uneven(input, h, d, edge_order))
            continue
        first = (input.narrow(d, 1, 1) - input.narrow(d, 0, 1)) / h
        last = (input.narrow(d, n - 1, 1) - input.narrow(d, n - 2, 1)) / h
        if edge_order == 2:
            first = (-3 * input.narrow(d, 0, 1) + 4 * input.narrow(d, 1, 1) - input.narrow(d, 2, 1)) / (2 * h)
            last = (3 * input.narrow(d, n - 1, 1) - 4 * input.narrow(d, n - 2, 1) + input.narrow(d, n - 3, 1)) / (2 * h)
        inner = (input.narrow(d, 2, n - 2) - input.narrow(d, 0, n - 2)) / (2 * h)
        made.append(torch.cat((first, inner, last), d))
    return tuple(made)


def frexp(input):
    power = torch.where(input == 0, 0.0, torch.floor(torch.log2(input.abs())) + 1)
    part = input / torch.exp2(power)
    large = part.abs() >= 1
    power, part = torch.where(large, power + 1, power), torch.where(large, part / 2, part)
    return part, power.int()


def _edges(input, bins, range):
    """As linspace makes them: from the first edge in the lower half, from the last one in the upper half."""
    if range is not None:
        return torch.linspace(range[0], range[1], bins + 1, dtype=input.dtype)
    low, high = input.min(), input.max()
    step, i = (high - low) / bins, torch.arange(bins + 1, dtype=input.dtype)
    return torch.where(i < (bins + 1) // 2, low + step * i, high - step * (bins - i))


def histogram(input, bins, *, range=None, weight=None, density=False):
    """One call."""
    if isinstance(bins, int):
        bins = _edges(input, bins, range)
    n = bins.numel() - 1
    at = torch.where(input == bins[-1], n - 1, torch.bucketize(input, bins, right=True) - 1).reshape(-1)
    counted = torch.ones_like(input).reshape(-1) if weight is None else weight.reshape(-1)
    inside = ((at >= 0) & (at < n)).to(input.dtype)
    hist = torch.zeros(n, dtype=input.dtype).index_add(0, at.clamp(0, n - 1), counted * inside)
    return torch.return_types.histogram((hist / (hist.sum() * bins.diff()) if density else hist, bins))


def get_num_threads():
    return 1


def get_num_interop_threads():
    return 1


def set_num_interop_threads(n):
    pass


def is_anomaly_enabled():
    return torch.autograd.anomaly["on"]


def is_storage(obj):
    return False


class OutOfMemoryError(RuntimeError):
    pass


def _in_place(name):
    def call(input):
        return getattr(input, name)()

    return call


abs_ = _in_place("abs_")
acos_ = _in_place("acos_")
asin_ = _in_place("asin_")
atan_ = _in_place("atan_")
ceil_ = _in_place("ceil_")
cos_ = _in_place("cos_")
cosh_ = _in_place("cosh_")
erf_ = _in_place("erf_")
erfc_ = _in_place("erfc_")
exp2_ = _in_place("exp2_")
expm1_ = _in_place("expm1_")
floor_ = _in_place("floor_")
frac_ = _in_place("frac_")
log_ = _in_place("log_")
log10_ = _in_place("log10_")
log1p_ = _in_place("log1p_")
log2_ = _in_place("log2_")
neg_ = _in_place("neg_")
reciprocal_ = _in_place("reciprocal_")
round_ = _in_place("round_")
rsqrt_ = _in_place("rsqrt_")
sin_ = _in_place("sin_")
sinh_ = _in_place("sinh_")
sqrt_ = _in_place("sqrt_")
square_ = _in_place("square_")
tan_ = _in_place("tan_")
trunc_ = _in_place("trunc_")


def put(input, index, source, accumulate=False):
    return input.put(index, source, accumulate)


def constant_pad_nd(input, pad, value=0):
    return F.pad(input, pad, "constant", value)


def threshold(input, threshold, value):
    return F.threshold(input, threshold, value)


def split_with_sizes(input, split_sizes, dim=0):
    return torch.split(input, split_sizes, dim)


def zero_(input):
    return input.zero_()


def fill_(input, value):
    return input.fill_(value)


def detach_(input):
    return input.detach_()
