# torch._foreach_*: an operation on each tensor of a list; and torch.sym_*: what a number of any
# kind does in a graph.
import math

import torch


def _lists(given):
    """The lists among the operands; tensors and numbers are for all."""
    first = given[0] if isinstance(given[0], (list, tuple)) else given[1]
    if len(first) == 0:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for each in given:
        if isinstance(each, (list, tuple)) and len(each) != len(first):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(first)} and {len(each)}"
            )
    return [each if isinstance(each, (list, tuple)) else [each] * len(first) for each in given]


def _each(function):
    def call(*operands, **options):
        return tuple([function(*row, **options) for row in zip(*_lists(operands))])

    return call


def _each_in_place(function):
    each = _each(function)

    def call(self, *operands, **options):
        return self if each(self, *operands, **options) else None

    return call


def _write(name):
    return _each_in_place(lambda self, *operands, **options: getattr(self, name)(*operands, **options))


def _factors(values):
    """The numbers of addcmul and addcdiv: one, a list, or a tensor with one for each."""
    return values.tolist() if isinstance(values, torch.Tensor) else values


def _scaled(function):
    def call(self, first, second, values=1, *, value=1, scalars=None):
        given = _factors(value if values == 1 and scalars is None else values if scalars is None else scalars)
        rows = zip(*_lists((self, first, second, given)))
        return tuple([function(a, b, c, value=v) for a, b, c, v in rows])

    return call


def _scaled_in_place(name):
    each = _scaled(lambda a, b, c, value: getattr(a, name)(b, c, value=value))

    def call(self, *operands, **options):
        return self if each(self, *operands, **options) else None

    return call


_foreach_abs = _each(torch.abs)
_foreach_abs_ = _write("abs_")
_foreach_acos = _each(torch.acos)
_foreach_acos_ = _write("acos_")
_foreach_add = _each(torch.add)
_foreach_add_ = _write("add_")
_foreach_addcdiv = _scaled(torch.addcdiv)
_foreach_addcdiv_ = _scaled_in_place("addcdiv_")
_foreach_addcmul = _scaled(torch.addcmul)
_foreach_addcmul_ = _scaled_in_place("addcmul_")
_foreach_asin = _each(torch.asin)
_foreach_asin_ = _write("asin_")
_foreach_atan = _each(torch.atan)
_foreach_atan_ = _write("atan_")
_foreach_ceil = _each(torch.ceil)
_foreach_ceil_ = _write("ceil_")
_foreach_clamp_max = _each(lambda a, b: torch.clamp(a, max=b))
_foreach_clamp_max_ = _each_in_place(lambda a, b: a.clamp_(max=b))
_foreach_clamp_min = _each(lambda a, b: torch.clamp(a, min=b))
_foreach_clamp_min_ = _each_in_place(lambda a, b: a.clamp_(min=b))
_foreach_copy_ = _write("copy_")
_foreach_cos = _each(torch.cos)
_foreach_cos_ = _write("cos_")
_foreach_cosh = _each(torch.cosh)
_foreach_cosh_ = _write("cosh_")
_foreach_div = _each(torch.div)
_foreach_div_ = _write("div_")
_foreach_erf = _each(torch.erf)
_foreach_erf_ = _write("erf_")
_foreach_erfc = _each(torch.erfc)
_foreach_erfc_ = _write("erfc_")
_foreach_exp = _each(torch.exp)
_foreach_exp_ = _write("exp_")
_foreach_expm1 = _each(torch.expm1)
_foreach_expm1_ = _write("expm1_")
_foreach_floor = _each(torch.floor)
_foreach_floor_ = _write("floor_")
_foreach_frac = _each(torch.frac)
_foreach_frac_ = _write("frac_")
_foreach_lerp = _each(torch.lerp)
_foreach_lerp_ = _write("lerp_")
_foreach_lgamma = _each(torch.lgamma)
_foreach_lgamma_ = _write("lgamma_")
_foreach_log = _each(torch.log)
_foreach_log10 = _each(torch.log10)
_foreach_log10_ = _write("log10_")
_foreach_log1p = _each(torch.log1p)
_foreach_log1p_ = _write("log1p_")
_foreach_log2 = _each(torch.log2)
_foreach_log2_ = _write("log2_")
_foreach_log_ = _write("log_")
_foreach_max = _each(torch.max)
_foreach_maximum = _each(torch.maximum)
_foreach_maximum_ = _each_in_place(lambda a, b: a.clamp_(min=b))
_foreach_minimum = _each(torch.minimum)
_foreach_minimum_ = _each_in_place(lambda a, b: a.clamp_(max=b))
_foreach_mul = _each(torch.mul)
_foreach_mul_ = _write("mul_")
_foreach_neg = _each(torch.neg)
_foreach_neg_ = _write("neg_")
_foreach_norm = _each(lambda a, ord=2, dtype=None: torch.linalg.vector_norm(a if dtype is None else a.to(dtype), ord))
_foreach_pow = _each(torch.pow)
_foreach_pow_ = _write("pow_")
_foreach_reciprocal = _each(torch.reciprocal)
_foreach_reciprocal_ = _write("reciprocal_")
_foreach_round = _each(torch.round)
_foreach_round_ = _write("round_")
_foreach_rsqrt = _each(torch.rsqrt)
_foreach_rsqrt_ = _write("rsqrt_")
_foreach_sigmoid = _each(torch.sigmoid)
_foreach_sigmoid_ = _write("sigmoid_")
_foreach_sign = _each(torch.sign)
_foreach_sign_ = _write("sign_")
_foreach_sin = _each(torch.sin)
_foreach_sin_ = _write("sin_")
_foreach_sinh = _each(torch.sinh)
_foreach_sinh_ = _write("sinh_")
_foreach_sqrt = _each(torch.sqrt)
_foreach_sqrt_ = _write("sqrt_")
_foreach_sub = _each(torch.sub)
_foreach_sub_ = _write("sub_")
_foreach_tan = _each(torch.tan)
_foreach_tan_ = _write("tan_")
_foreach_tanh = _each(torch.tanh)
_foreach_tanh_ = _write("tanh_")
_foreach_trunc = _each(torch.trunc)
_foreach_trunc_ = _write("trunc_")
_foreach_zero_ = _write("zero_")


def sym_int(a):
    if isinstance(a, int):
        return a
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a):
    return float(a)


def sym_not(a):
    return not a


def sym_max(a, b):
    return max(float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    return min(float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_sum(args):
    return sum(args)


def sym_ite(b, t, f):
    return t if b else f


def sym_sqrt(a):
    return math.sqrt(a)


def sym_constrain_range(size, *, min=None, max=None):
    if min is not None and size < min or max is not None and size > max:
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


def sym_constrain_range_for_size(size, *, min=None, max=None):
    sym_constrain_range(size, min=min, max=max)
