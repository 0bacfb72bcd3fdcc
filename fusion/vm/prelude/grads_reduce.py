# _grads: activations, reductions, norms and losses.  See grads.py.
import math
import torch
import torch.nn.functional as F
from _grads import count, dims_of, is_tensor, kept, spread, wrap


# ---- activations


def gelu_x(g, x, approximate):
    if approximate == "tanh":
        c = 2 * math.sqrt(2 / math.pi)
        s = torch.sigmoid((x + 0.044715 * (x * x * x)) * c)
        return g * (s + x * (s * (1 - s)) * ((1 + 3 * 0.044715 * (x * x)) * c))
    cdf = 0.5 * (1 + torch.erf(x * math.sqrt(0.5)))
    return g * (cdf + x * torch.exp(-0.5 * (x * x)) * (1 / math.sqrt(2 * math.pi)))


def silu_x(g, x):
    s = torch.sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


def leaky_relu_x(g, x, negative_slope):
    return torch.where(x > 0, g, g * negative_slope)


def elu_x(g, x, alpha):
    return torch.where(x > 0, g, g * (alpha * torch.exp(x)))


def celu_x(g, x, alpha):
    return torch.where(x > 0, g, g * torch.exp(x / alpha))


def selu_x(g, x):
    alpha = 1.6732632423543772
    scale = 1.0507009873554805
    return torch.where(x > 0, g * scale, g * (scale * alpha * torch.exp(x)))


def softplus_x(g, x, beta, threshold):
    return torch.where(x * beta > threshold, g, g * torch.sigmoid(x * beta))


def relu6_x(g, x):
    return torch.where((x > 0) & (x < 6), g, 0.0)


def hardtanh_x(g, x, min_val, max_val):
    return torch.where((x > min_val) & (x < max_val), g, 0.0)


def hardswish_x(g, x):
    return torch.where(x <= -3, 0.0, torch.where(x < 3, g * (x / 3 + 0.5), g))


def hardsigmoid_x(g, x):
    return torch.where((x > -3) & (x < 3), g / 6, 0.0)


def mish_x(g, x):
    t = torch.tanh(torch.nn.functional.softplus(x))
    return g * (t + x * torch.sigmoid(x) * (1 - t * t))


def logsigmoid_x(g, x):
    return g * torch.sigmoid(-x)


def softsign_x(g, x):
    a = 1 + torch.abs(x)
    return g / (a * a)


def tanhshrink_x(g, x_was):
    t = torch.tanh(x_was)
    return g * (t * t)


def glu_x(g, x, dim):
    a, b = x.chunk(2, dim)
    s = torch.sigmoid(b)
    return torch.cat((g * s, g * (a * (s * (1 - s)))), dim)


def dropout_x(g):
    return g  # where it draws nothing: else its mask is drawn apart and kept


# ---- reductions


def sum_x(g, x_shape, dim, keepdim):
    return spread(g, x_shape, dim, keepdim)


def nansum_x(g, x, x_shape, dim, keepdim):
    return torch.where(torch.isnan(x), 0.0, spread(g, x_shape, dim, keepdim))


def mean_x(g, x_shape, dim, keepdim):
    return spread(g, x_shape, dim, keepdim) / count(x_shape, dim)  # a tensor of its own


def others_product(x, dim):
    """For each element the product of all others along dim, zeros or not."""
    n = x.shape[dim]
    one = torch.ones_like(x.narrow(dim, 0, 1))
    before = torch.cat((one, torch.cumprod(x.narrow(dim, 0, n - 1), dim)), dim)
    back = torch.flip(x.narrow(dim, 1, n - 1), (dim,))
    after = torch.flip(torch.cat((one, torch.cumprod(back, dim)), dim), (dim,))
    return before * after


def prod_x(g, out, x, x_shape, dim, keepdim):
    if len(x_shape) == 0 or count(x_shape, None) == 0:
        return spread(g, x_shape, dim, keepdim)
    if dim is None:
        return (g * others_product(x.reshape(-1), 0)).reshape(x_shape)
    return spread(g, x_shape, dim, keepdim) * others_product(x, wrap(dim, len(x_shape)))


def shared(g, out, x, x_shape, dim, keepdim):
    """The gradient of an extremum, in equal parts to all that have it."""
    mask = (x == spread(out, x_shape, dim, keepdim)).to(g.dtype)
    among = mask.sum(tuple(dims_of(dim, len(x_shape))), keepdim=True) if len(x_shape) else mask
    return mask * (spread(g, x_shape, dim, keepdim) / among)


def amax_x(g, out, x, x_shape, dim, keepdim):
    return shared(g, out, x, x_shape, dim, keepdim)


def amin_x(g, out, x, x_shape, dim, keepdim):
    return shared(g, out, x, x_shape, dim, keepdim)


def max_x(g, out, x, x_shape):
    return shared(g, out, x, x_shape, None, False)


def min_x(g, out, x, x_shape):
    return shared(g, out, x, x_shape, None, False)


def at_index(g, index, x_shape, dim, keepdim):
    """g at one index of a dim, zeros elsewhere."""
    if len(x_shape) == 0:
        return g
    if not keepdim:
        g = g.unsqueeze(dim)
    return torch.zeros(x_shape, dtype=g.dtype).scatter_add(dim, index, g)


def max_dim_x(g, x_was, x_shape, dim, keepdim):
    return at_index(g, torch.argmax(x_was, dim, keepdim=True), x_shape, dim, keepdim)


def min_dim_x(g, x_was, x_shape, dim, keepdim):
    return at_index(g, torch.argmin(x_was, dim, keepdim=True), x_shape, dim, keepdim)


def sort_values_x(g, x_was, x_shape, dim, descending, stable):
    return at_index(g, torch.argsort(x_was, dim, descending, stable), x_shape, dim, True)


def topk_values_x(g, x_was, x_shape, k, dim, largest, sorted):
    return at_index(g, torch.topk(x_was, k, dim, largest, sorted)[1], x_shape, dim, True)


def cummax_values_x(g, x, x_shape, dim):
    return at_index(g, torch.cummax(x, dim)[1], x_shape, dim, True)


def cummin_values_x(g, x, x_shape, dim):
    return at_index(g, torch.cummin(x, dim)[1], x_shape, dim, True)


def from_end(g, dim):
    """Running sums from the end of dim."""
    return torch.flip(torch.cumsum(torch.flip(g, (dim,)), dim), (dim,)) if g.ndim else g


def cumsum_x(g, dim):
    return from_end(g, dim)


def cumprod_x(g, out, x, x_shape, dim):
    if len(x_shape) == 0 or x_shape[dim] == 0:
        return g
    # t[k] = g[k] + x[k + 1] * t[k + 1]: exact where x has zeros
    n = x_shape[dim]
    tails = [g.narrow(dim, n - 1, 1)]
    for k in range(n - 2, -1, -1):
        tails.insert(0, g.narrow(dim, k, 1) + x.narrow(dim, k + 1, 1) * tails[0])
    one = torch.ones_like(x.narrow(dim, 0, 1))
    before = torch.cat((one, torch.cumprod(x.narrow(dim, 0, n - 1), dim)), dim)
    return before * torch.cat(tails, dim)


def logcumsumexp_x(g, out, x, dim):
    if x.ndim == 0 or x.numel() == 0:
        return g
    top = out.amax(dim, keepdim=True)
    return torch.exp(x - top) * from_end(g * torch.exp(top - out), dim)


def logsumexp_x(g, out, x, x_shape, dim, keepdim):
    return spread(g, x_shape, dim, keepdim) * torch.exp(x - spread(out, x_shape, dim, keepdim))


def deviation(x, x_shape, dim):
    """x less its mean."""
    if len(x_shape) == 0:
        return x - x
    return x - x.mean(tuple(dims_of(dim, len(x_shape))), keepdim=True)


def var_x(g, x, x_shape, dim, unbiased, keepdim, correction):
    if correction is None:
        correction = 0 if unbiased is False else 1
    left = count(x_shape, dim) - correction
    return spread(g, x_shape, dim, keepdim) * (2 * deviation(x, x_shape, dim)) / left


def std_x(g, out, x, x_shape, dim, unbiased, keepdim, correction):
    half = torch.where(out == 0, 0.0, g / (2 * out))
    return var_x(half, x, x_shape, dim, unbiased, keepdim, correction)


def norm_gradient(g, out, x, x_shape, p, dim, keepdim):
    if p == math.inf or p == -math.inf:
        return shared(g, out, torch.abs(x), x_shape, dim, keepdim) * torch.sign(x)
    g = spread(g, x_shape, dim, keepdim)
    out = spread(out, x_shape, dim, keepdim)
    if p == 0:
        return torch.zeros_like(g)
    if p == 1:
        return g * torch.sign(x)
    if p == 2:
        return torch.where(out == 0, 0.0, x * (g / out))
    power = torch.sign(x) * torch.abs(x) ** (p - 1)
    return torch.where((out == 0) | (x == 0), 0.0, power * (g / out ** (p - 1)))


def norm_x(g, out, x, x_shape, p, dim, keepdim):
    return norm_gradient(g, out, x, x_shape, 2 if p is None else p, dim, keepdim)


def vector_norm_x(g, out, x, x_shape, ord, dim, keepdim):
    return norm_gradient(g, out, x, x_shape, ord, dim, keepdim)


def linalg_norm_x(g, out, x, x_shape, ord, dim, keepdim):
    return norm_gradient(g, out, x, x_shape, 2 if ord is None else ord, dim, keepdim)


def differences(x, x2, p):
    """How a p-norm of all differences of rows changes with them."""
    d = x.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.sign(d) if p == 1 else d if p == 2 else torch.sign(d) * torch.abs(d) ** (p - 1)


def cdist_parts(g, out, x, x2, p):
    if p == math.inf:
        d = x.unsqueeze(-2) - x2.unsqueeze(-3)
        return shared(g, out, torch.abs(d), d.shape, -1, False) * torch.sign(d)
    slope = g if p == 1 else torch.where(out == 0, 0.0, g / out ** (p - 1))
    return slope.unsqueeze(-1) * differences(x, x2, p)


def cdist_x(g, out, x, x2, p):
    return cdist_parts(g, out, x, x2, p).sum(-2)


def cdist_x2(g, out, x, x2, p):
    return -cdist_parts(g, out, x, x2, p).sum(-3)


# ---- softmax and norms


def softmax_dim(dim, rank):
    """The dim that softmax takes where none is given."""
    return dim if dim is not None else 0 if rank in (0, 1, 3) else 1


def softmax_x(g, out, dim):
    if out.ndim == 0:
        return torch.zeros_like(g)
    dim = softmax_dim(dim, out.ndim)
    return out * (g - (g * out).sum(dim, keepdim=True))


def softmin_x(g, out, dim):
    return -softmax_x(g, out, dim)


def log_softmax_x(g, out, dim):
    if out.ndim == 0:
        return torch.zeros_like(g)
    dim = softmax_dim(dim, out.ndim)
    return g - torch.exp(out) * g.sum(dim, keepdim=True)


def standardised(x, dims, eps):
    """x with mean 0 and variance 1 over dims, and by what it was scaled."""
    d = x - x.mean(dims, keepdim=True)
    scale = torch.rsqrt((d * d).mean(dims, keepdim=True) + eps)
    return d * scale, scale


def standardise(g, y, scale, dims):
    """The gradient through standardised()."""
    return scale * (g - g.mean(dims, keepdim=True) - y * (g * y).mean(dims, keepdim=True))


def layer_norm_all(g, needs, x, normalized_shape, weight, bias, eps):
    n = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    dims = tuple(range(-n, 0))
    y, scale = standardised(x, dims, eps)
    given = standardise(g if weight is None else g * weight, y, scale, dims) if needs[0] else None
    return given, g * y if needs[1] else None, g


def rms_norm_all(g, needs, x, normalized_shape, weight, eps):
    n = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    dims = tuple(range(-n, 0))
    if eps is None:
        eps = torch.finfo(x.dtype).eps
    scale = torch.rsqrt((x * x).mean(dims, keepdim=True) + eps)
    y = x * scale
    h = g if weight is None else g * weight
    given = scale * (h - y * (h * y).mean(dims, keepdim=True)) if needs[0] else None
    return given, g * y if needs[1] else None


def channels(v, rank):
    """A vector of channels along dim 1."""
    return v.reshape((1, -1) + (1,) * (rank - 2))


native_batch_norm_running_mean = None
native_batch_norm_running_var = None


def batch_norm_all(g, needs, x, running_mean, running_var, weight, bias, training, momentum, eps):
    rank = x.ndim
    dims = (0,) + tuple(range(2, rank))
    h = g if weight is None else g * channels(weight, rank)
    if training or running_mean is None:
        y, scale = standardised(x, dims, eps)
        given = standardise(h, y, scale, dims) if needs[0] else None
    else:
        scale = torch.rsqrt(channels(running_var, rank) + eps)
        y = (x - channels(running_mean, rank)) * scale
        given = h * scale
    return given, None, None, (g * y).sum(dims) if needs[3] else None, g.sum(dims)


def group_norm_all(g, needs, x, num_groups, weight, bias, eps):
    """In the shape of the groups, as the norm is: see decompose_group_norm()."""
    shape = x.shape
    per = shape[1] // num_groups
    grouped = (shape[0], num_groups, per) + tuple(shape[2:])
    after = tuple(range(2, len(grouped)))
    y, scale = standardised(x.reshape(grouped), after, eps)
    g = g.reshape(grouped)
    h = g
    if weight is not None:
        h = g * weight.reshape((num_groups, per) + (1,) * (len(grouped) - 3))
    given = standardise(h, y, scale, after).reshape(shape) if needs[0] else None
    dims = (0,) + after[1:]
    return given, (g * y).sum(dims).reshape(-1) if needs[1] else None, g.sum(dims).reshape(-1)


def instance_norm_all(
    g, needs, x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
):
    rank = x.ndim
    dims = tuple(range(2, rank))
    h = g if weight is None else g * channels(weight, rank)
    if use_input_stats or running_mean is None:
        y, scale = standardised(x, dims, eps)
        given = standardise(h, y, scale, dims)
    else:
        scale = torch.rsqrt(channels(running_var, rank) + eps)
        y = (x - channels(running_mean, rank)) * scale
        given = h * scale
    over = (0,) + dims
    return given, None, None, (g * y).sum(over) if needs[3] else None, g.sum(over)


def normalize_x(g, x, x_shape, p, dim, eps):
    n = torch.linalg.vector_norm(x, p, dim, keepdim=True)
    m = n.clamp_min(eps)
    along = torch.where(n >= eps, -(g * x).sum(dim, keepdim=True) / (m * m), 0.0)
    return g / m + norm_gradient(along, n, x, x_shape, p, dim, True)


def cosine_gradient(g, x, x2, dim, eps):
    a = torch.linalg.vector_norm(x, 2, dim, keepdim=True)
    b = torch.linalg.vector_norm(x2, 2, dim, keepdim=True).clamp_min(eps)
    m = a.clamp_min(eps)
    along = torch.where(a >= eps, (x * x2).sum(dim, keepdim=True) / (m * m * a), 0.0)
    return g.unsqueeze(dim) * (x2 / m - x * along) / b


def cosine_similarity_x(g, x, x2, dim, eps):
    return cosine_gradient(g, x, x2, dim, eps)


def cosine_similarity_x2(g, x, x2, dim, eps):
    return cosine_gradient(g, x2, x, dim, eps)


# ---- losses


def reduced(g, reduction, shape):
    """The gradient of each term of a loss."""
    return g / count(shape, None) if reduction == "mean" else g


def mse_loss_x(g, x, target, reduction):
    d = x - target
    return reduced(g, reduction, d.shape) * (2 * d)


def mse_loss_target(g, x, target, reduction):
    return -mse_loss_x(g, x, target, reduction)


def l1_loss_x(g, x_was, target_was, reduction):
    d = x_was - target_was
    return reduced(g, reduction, d.shape) * torch.sign(d)


def l1_loss_target(g, x_was, target_was, reduction):
    return -l1_loss_x(g, x_was, target_was, reduction)


def smooth_l1_loss_x(g, x, target, reduction, beta):
    d = x - target
    slope = torch.sign(d) if beta == 0 else (d / beta).clamp(-1.0, 1.0)
    return reduced(g, reduction, d.shape) * slope


def smooth_l1_loss_target(g, x, target, reduction, beta):
    return -smooth_l1_loss_x(g, x, target, reduction, beta)


def huber_loss_x(g, x, target, reduction, delta):
    d = x - target
    return reduced(g, reduction, d.shape) * d.clamp(-delta, delta)


def huber_loss_target(g, x, target, reduction, delta):
    return -huber_loss_x(g, x, target, reduction, delta)


def weighted(g, weight):
    return g if weight is None else g * weight


def binary_cross_entropy_x(g, x, target, weight, reduction):
    slope = (x - target) / ((1 - x) * x).clamp_min(1e-12)
    return weighted(reduced(g, reduction, x.shape), weight) * slope


def binary_cross_entropy_target(g, x, weight, reduction):
    slope = torch.log1p(-x).clamp_min(-100.0) - torch.log(x).clamp_min(-100.0)
    return weighted(reduced(g, reduction, x.shape), weight) * slope


def binary_cross_entropy_with_logits_x(g, x, target, weight, reduction, pos_weight):
    s = torch.sigmoid(x)
    if pos_weight is None:
        slope = s - target
    else:
        slope = (1 - target) * s - pos_weight * target * (1 - s)
    return weighted(reduced(g, reduction, slope.shape), weight) * slope


def binary_cross_entropy_with_logits_target(g, x, weight, reduction, pos_weight):
    if pos_weight is None:
        slope = -x
    else:
        slope = F.logsigmoid(-x) - pos_weight * F.logsigmoid(x)
    return weighted(reduced(g, reduction, slope.shape), weight) * slope


def divergence(g, reduction, shape):
    return g / shape[0] if reduction == "batchmean" else reduced(g, reduction, shape)


def kl_div_x(g, x, target, reduction, log_target):
    return -divergence(g, reduction, x.shape) * (torch.exp(target) if log_target else target)


def kl_div_target(g, x, target, reduction, log_target):
    g = divergence(g, reduction, x.shape)
    if log_target:
        return g * (torch.exp(target) * (target - x + 1))
    return torch.where(target > 0, g * (torch.log(target) + 1 - x), 0.0)


def hits(x_shape, target, dim):
    """Where an element of x is its target's; compared, not written: that fuses.

    Places are compared in float32, as what they mask is, while it has them all.
    """
    along = [1] * len(x_shape)
    along[dim] = -1
    dtype = torch.float32 if x_shape[dim] < 2**24 else torch.int64
    places = torch.arange(x_shape[dim], dtype=dtype).reshape(along)
    return places == target.unsqueeze(dim).to(dtype)


def class_weights(target, weight, ignore_index, dtype):
    """What each target counts: 0 where it is ignored."""
    counted = (target != ignore_index).to(dtype)
    if weight is None:
        return counted
    return counted * weight[torch.where(target == ignore_index, 0, target)]


def nll_loss_x(g, x, x_shape, x_dtype, target, weight, ignore_index, reduction):
    each = class_weights(target, weight, ignore_index, x_dtype)
    share = -(g / each.sum() if reduction == "mean" else g) * each
    dim = 1 if len(x_shape) > 1 else 0
    index = torch.where(target == ignore_index, 0, target).unsqueeze(dim)
    return torch.zeros(x_shape, dtype=x_dtype).scatter_add(dim, index, share.unsqueeze(dim))


def cross_entropy_x(
    g, x_was, x_shape, x_dtype, target, weight, ignore_index, reduction, label_smoothing
):
    dim = 1 if len(x_shape) > 1 else 0
    p = torch.softmax(x_was, dim)
    along = [1] * len(x_shape)
    along[dim] = -1
    if target.dtype.is_floating_point:
        wanted = target
        if label_smoothing > 0:
            wanted = wanted * (1 - label_smoothing) + label_smoothing / x_shape[dim]
        if weight is not None:
            wanted = wanted * weight.reshape(along)
        terms = count(x_shape, None) / x_shape[dim]
        share = g / terms if reduction == "mean" else g
        if reduction == "none":
            share = share.unsqueeze(dim)
        return share * (p * wanted.sum(dim, keepdim=True) - wanted)
    each = class_weights(target, weight, ignore_index, x_dtype)
    share = g / each.sum() if reduction == "mean" else g
    hot = hits(x_shape, target, dim).to(x_dtype)
    if label_smoothing == 0:
        return (share * each).unsqueeze(dim) * (p - hot)
    counted = (target != ignore_index).to(x_dtype)
    wanted = hot * (each * (1 - label_smoothing)).unsqueeze(dim)
    smooth = label_smoothing / x_shape[dim]
    if weight is not None:
        smooth = weight.reshape(along) * smooth
    wanted = wanted + counted.unsqueeze(dim) * smooth
    if reduction == "none":
        share = share.unsqueeze(dim)
    return share * (p * wanted.sum(dim, keepdim=True) - wanted)


def cross_entropy_target(g, x_was, x_shape, reduction, weight, label_smoothing):
    dim = 1 if len(x_shape) > 1 else 0
    terms = count(x_shape, None) / x_shape[dim]
    share = g / terms if reduction == "mean" else g
    if reduction == "none":
        share = share.unsqueeze(dim)
    slope = -torch.log_softmax(x_was, dim) * (1 - label_smoothing)
    if weight is not None:
        along = [1] * len(x_shape)
        along[dim] = -1
        slope = slope * weight.reshape(along)
    return share * slope
