# _grads: the gradient of every op of fusion/graph/ops.def.
#
# OP_PARAMETER(g, ...) is the gradient of one tensor argument, where g is that of
# the op's result; its own parameters say what it needs: `out` is the result, the
# name of a parameter of the op is that argument, NAME_shape and NAME_dtype are
# known without keeping its elements.  NAME_was is the argument too, where PyTorch
# saves something else instead (indices, a result on the way): a write to it is no
# error.  A parameter that a rule does not read is saved by PyTorch: a write to it is an
# error all the same.  OP_PARAMETER = None: it may not require a gradient.  OP_all(g, needs, ...) gives those of all tensor arguments at once, where
# they share work; `needs` has a bool for each.
# A gradient may be larger than its argument, which was broadcast, or of another
# dtype: who calls the rule sums and casts it.
#
# The rules are run at once in eager, and by a capture to build a backward graph;
# so a second derivative is the gradient of a gradient.
import math
import torch

# Ops without a gradient: what they give is no floating point number, or depends
# on no tensor's elements.
NO_GRADIENT = (
    "detach native_batch_norm isnan logical_not invert lt le gt ge eq ne logical_and logical_or logical_xor and_ or_ xor_ lshift rshift gcd "
    "any all tensor full zeros ones zeros_like ones_like full_like new_zeros new_ones new_full "
    "arange linspace eye isinf isfinite isclose count_nonzero one_hot argmax argmin argsort "
    "topk_indices bits uniform normal random_ints permutation keep divisor conv_windows cummax_indices cummin_indices loop_carried "
    "class_loss loop_operands number while_loop loop_result input constant custom custom_kernel "
    "biased attention lookup "  # made by a pass, of graphs that have their gradients
    "dropped drop"  # of what has no gradient (functional_random.py)
)


def wrap(dim, rank):
    return dim + rank if dim < 0 else dim


def dims_of(dim, rank):
    """The dims that a reduction folds, in order; None and () mean all."""
    if rank == 0 or dim is None or (isinstance(dim, (tuple, list)) and len(dim) == 0):
        return list(range(rank))  # a number has no dim, though -1 and 0 are allowed
    if isinstance(dim, int):
        dim = [dim]
    return sorted([wrap(d, rank) for d in dim])


def spread(g, shape, dim, keepdim):
    """A reduction's result in the shape of what it reduced."""
    if not keepdim:
        for d in dims_of(dim, len(shape)):
            g = g.unsqueeze(d)
    return g.expand(shape)


def kept(out, rank, dim, keepdim):
    if not keepdim:
        for d in dims_of(dim, rank):
            out = out.unsqueeze(d)
    return out


def count(shape, dim):
    n = 1
    for d in dims_of(dim, len(shape)):
        n = n * shape[d]
    return n


def fit(g, shape, dtype):
    """Sums what broadcasting repeated; casts."""
    lead = g.ndim - len(shape)
    if lead > 0:
        g = g.sum(tuple(range(lead)))
    repeated = [d for d in range(len(shape)) if g.shape[d] != shape[d]]
    if repeated:
        g = g.sum(tuple(repeated), keepdim=True)
    return g if g.dtype == dtype else g.to(dtype)


def wide(v):
    """float16 and bfloat16 in float32: a gradient of several steps is rounded once."""
    return v.float() if v.dtype == torch.float16 or v.dtype == torch.bfloat16 else v


def is_tensor(v):
    return isinstance(v, torch.Tensor)


# ---- pointwise, of one argument


def neg_x(g):
    return -g


def contiguous_x(g):
    return g


def clone_x(g):
    return g


def abs_x(g, x):
    return g * torch.sign(x)


def relu_x(g, out):
    return torch.where(out <= 0, 0.0, g)


def sin_x(g, x):
    return g * torch.cos(x)


def cos_x(g, x):
    return -g * torch.sin(x)


def tan_x(g, out):
    return g * (1 + out * out)


def exp_x(g, out):
    return g * out


def exp2_x(g, out):
    return g * out * math.log(2)


def expm1_x(g, out):
    return g * (out + 1)


def log_x(g, x):
    return g / x


def log2_x(g, x):
    return g / (x * math.log(2))


def log1p_x(g, x):
    return g / (x + 1)


def log10_x(g, x):
    return g / (x * math.log(10))


def sinh_x(g, x):
    return g * torch.cosh(x)


def cosh_x(g, x):
    return g * torch.sinh(x)


def asin_x(g, x):
    return g * torch.rsqrt(1 - x * x)


def acos_x(g, x):
    return -g * torch.rsqrt(1 - x * x)


def atan_x(g, x):
    return g / (x * x + 1)


def asinh_x(g, x):
    return g * torch.rsqrt(x * x + 1)


def acosh_x(g, x):
    return g * torch.rsqrt(x * x - 1)


def atanh_x(g, x):
    return g / (1 - x * x)


def lgamma_x(g, x):
    return g * torch.digamma(x)


def erfc_x(g, x):
    return g * torch.exp(-x * x) * (-2 / math.sqrt(math.pi))


def erf_x(g, x):
    return g * torch.exp(-x * x) * (2 / math.sqrt(math.pi))


def tanh_x(g, out):
    return g * (1 - out * out)


def sigmoid_x(g, out):
    return g * ((1 - out) * out)


def sqrt_x(g, out):
    return g / (2 * out)


def rsqrt_x(g, out):
    return -0.5 * g * (out * out * out)


def reciprocal_x(g, out):
    return -g * (out * out)


def square_x(g, x):
    return g * (2 * x)


def floor_x(g):
    return torch.zeros_like(g)


def ceil_x(g):
    return torch.zeros_like(g)


def trunc_x(g):
    return torch.zeros_like(g)


def round_x(g):
    return torch.zeros_like(g)


def sign_x(g):
    return torch.zeros_like(g)


def to_x(g):
    return g


def item_of_x(g):
    return g


def frac_x(g):
    return g


def deg2rad_x(g):
    return g * (math.pi / 180)


def rad2deg_x(g):
    return g * (180 / math.pi)


def sinc_x(g, x):
    a = x * math.pi
    return torch.where(x == 0, 0.0, g * (a * torch.cos(a) - torch.sin(a)) / (a * x))


def logit_x(g, x, eps):
    slope = g / (x * (1 - x))
    if eps is None:
        return slope
    return torch.where((x >= eps) & (x <= 1 - eps), slope, 0.0)


def nan_to_num_x(g, x):
    return torch.where(torch.isfinite(x), g, 0.0)


# ---- pointwise, of two arguments and more


def add_x(g):
    return g


def add_other(g):
    return g


def add_alpha_x(g):
    return g


def add_alpha_other(g, alpha):
    return g * alpha


def sub_x(g):
    return g


def sub_other(g):
    return -g


def sub_alpha_x(g):
    return g


def sub_alpha_other(g, alpha):
    return g * -alpha


def rsub_x(g, alpha):
    return g * -alpha


def rsub_other(g):
    return g


def mul_x(g, other):
    return g * other


def mul_other(g, x):
    return g * x


def truediv_x(g, other):
    return g / other


def truediv_other(g, x, other):
    return -g * ((x / other) / other)


def div_x(g, other, rounding_mode):
    return g / other if rounding_mode is None else torch.zeros_like(g)


def div_other(g, x, other, rounding_mode):
    return -g * ((x / other) / other) if rounding_mode is None else torch.zeros_like(g)


def floordiv_x(g):
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


def floordiv_other(g):
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


def mod_x(g):
    return g


def mod_other(g, x, other):
    return -g * torch.floor(x / other)


def fmod_x(g):
    return g


def fmod_other(g, x, other):
    return -g * torch.trunc(x / other)


def pow_x(g, x, other):
    if is_tensor(other):
        return torch.where(other == 0, 0.0, g * (other * x ** (other - 1)))
    return torch.zeros_like(g) if other == 0 else g * (other * x ** (other - 1))


def pow_other(g, out, x, other):
    if is_tensor(x):
        return torch.where((x == 0) & (other >= 0), 0.0, g * (out * torch.log(x)))
    if x == 0:
        return torch.where(other >= 0, 0.0, -math.inf * g)
    return g * (out * (math.log(x) if x > 0 else math.nan))


def float_power_x(g, x_was, other_was):
    x, other = x_was, other_was
    if is_tensor(x):
        x = x.double()
    return pow_x(g, x, other.double() if is_tensor(other) else float(other))


def float_power_other(g, out, x_was, other_was):
    return pow_other(g, out, x_was.double() if is_tensor(x_was) else float(x_was), other_was)


def atan2_x(g, x, other):
    return g * (other / (x * x + other * other))


def atan2_other(g, x, other):
    return g * (-x / (x * x + other * other))


def minimum_x(g, x, other):
    return torch.where(x == other, g / 2, torch.where(x > other, 0.0, g))


def minimum_other(g, x, other):
    return torch.where(x == other, g / 2, torch.where(x < other, 0.0, g))


def maximum_x(g, x, other):
    return torch.where(x == other, g / 2, torch.where(x < other, 0.0, g))


def maximum_other(g, x, other):
    return torch.where(x == other, g / 2, torch.where(x > other, 0.0, g))


def fmin_x(g, x, other):
    return torch.where((x <= other) | torch.isnan(other), g, 0.0)


def fmin_other(g, x, other):
    return torch.where((x <= other) | torch.isnan(other), 0.0, g)


def fmax_x(g, x, other):
    return torch.where((x >= other) | torch.isnan(other), g, 0.0)


def fmax_other(g, x, other):
    return torch.where((x >= other) | torch.isnan(other), 0.0, g)


def where_input(g, condition):
    return torch.where(condition, g, 0.0)


def where_other(g, condition):
    return torch.where(condition, 0.0, g)


def clamp_x(g, x, min, max):
    inside = g
    if min is not None:
        inside = torch.where(x >= min, inside, 0.0)
    if max is not None:
        inside = torch.where(x <= max, inside, 0.0)
    return inside


def clamp_min(g, x, min, max):
    below = torch.where(x < min, g, 0.0)
    return below if max is None else torch.where(min < max, below, 0.0)


def clamp_max(g, x, min, max):
    above = x > max
    return torch.where(above if min is None else above | (max < min), g, 0.0)


def clamp_min_x(g, x, min):
    return torch.where(x >= min, g, 0.0)


def clamp_min_min(g, x, min):
    return torch.where(x < min, g, 0.0)


def clamp_max_x(g, x, max):
    return torch.where(x <= max, g, 0.0)


def clamp_max_max(g, x, max):
    return torch.where(x > max, g, 0.0)


def lerp_x(g, weight):
    return g * (1 - weight)


def lerp_end(g, weight):
    return g * weight


def lerp_weight(g, x, end):
    return g * (end - x)


def addcmul_x(g):
    return g


def addcmul_tensor1(g, tensor2, value):
    return g * (tensor2 * value)


def addcmul_tensor2(g, tensor1, value):
    return g * (tensor1 * value)


def addcdiv_x(g):
    return g


def addcdiv_tensor1(g, tensor2, value):
    return g * (value / tensor2)


def addcdiv_tensor2(g, tensor1, tensor2, value):
    return -g * (value * tensor1 / (tensor2 * tensor2))


def hypot_x(g, out, x):
    return g * (x / out)


def hypot_other(g, out, other):
    return g * (other / out)


def logaddexp_x(g, out_was, x):
    return g * torch.exp(x - out_was)


def logaddexp_other(g, out_was, other):
    return g * torch.exp(other - out_was)


def xlogy_x(g, x, other):
    log = torch.log(other) if is_tensor(other) else math.log(other)
    return torch.where((x == 0) & (other <= 0), 0.0, g * log)


def xlogy_other(g, x, other):
    return g * (x / other)


def copysign_x(g, out, x):
    return torch.where(x == 0, 0.0, g * (torch.sign(out) * torch.sign(x)))


def copysign_other(g):
    return torch.zeros_like(g)


def heaviside_x(g):
    return torch.zeros_like(g)


def heaviside_values(g, x):
    return torch.where(x == 0, g, 0.0)
