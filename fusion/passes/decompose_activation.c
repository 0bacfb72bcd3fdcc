/* fusion/passes/decompose_activation.c -- activations, and other pointwise ops made of others.
 *
 * Formulas are those of PyTorch's CPU kernels.
 */
#define FORMULA_activation(id) decompose_##id
#include "fusion/passes/decompose.h"

#include <math.h>
#include <string.h>

/* With tanh: (1 + tanh(u)) / 2 is sigmoid(2u), which has fewer steps and nothing that cancels. */
static struct arg decompose_gelu(struct expand *e)
{
	struct arg x = e->n->args[0], inner;

	if (strcmp(e->n->args[1].str, "tanh") != 0) {
		inner = expand_unary(e, OP_erf, expand_binary(e, OP_mul, x, arg_float(M_SQRT1_2)));
		return expand_binary(e, OP_mul, expand_binary(e, OP_mul, x, arg_float(0.5)),
				     expand_binary(e, OP_add, inner, arg_float(1)));
	}
	inner = expand_binary(e, OP_mul, expand_unary(e, OP_square, x), x);
	inner = expand_binary(e, OP_add, x, expand_binary(e, OP_mul, inner, arg_float(0.044715)));
	inner = expand_binary(e, OP_mul, inner, arg_float(M_SQRT2 * M_2_SQRTPI));
	return expand_binary(e, OP_mul, x, expand_unary(e, OP_sigmoid, inner));
}

/* x / (1 + exp(-x)): at -inf it is NaN in torch too. */
static struct arg decompose_silu(struct expand *e)
{
	struct arg x = e->n->args[0], power = expand_unary(e, OP_exp, expand_unary(e, OP_neg, x));

	return expand_binary(e, OP_truediv, x, expand_binary(e, OP_add, power, arg_float(1)));
}

static struct arg decompose_clamp(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg min = expand_arg(e, "min"), max = expand_arg(e, "max");

	if (min.kind != ARG_NONE)
		x = expand_binary(e, OP_maximum, x, min);
	if (max.kind != ARG_NONE)
		x = expand_binary(e, OP_minimum, x, max);
	return x;
}

/* alpha * other, where other is a number and x the tensor. */
static struct arg scaled_number(struct expand *e, struct arg other, struct arg alpha)
{
	double product = expand_number(other) * expand_number(alpha);

	if (other.kind == ARG_INT && alpha.kind == ARG_INT)
		return arg_sym(sym_mul(e->g->syms, other.sym, alpha.sym));
	if (other.kind == ARG_BOOL && alpha.kind == ARG_BOOL)
		return arg_bool(other.b && alpha.b);
	if ((other.kind == ARG_INT && !sym_is_const(other.sym)) ||
	    (alpha.kind == ARG_INT && !sym_is_const(alpha.sym)))
		return expand_binary(
		    e, OP_mul,
		    expand_op(e, OP_full,
			      (struct arg[]){ arg_ints(NULL, 0), other, arg_dtype(e->n->dtype) },
			      3),
		    alpha);
	if (other.kind == ARG_FLOAT || alpha.kind == ARG_FLOAT)
		return arg_float(product);
	return arg_int(e->g, (int64_t)product);
}

static struct arg with_alpha(struct expand *e, enum op op)
{
	struct arg x = e->n->args[0], other = e->n->args[1], alpha = e->n->args[2];

	if (other.kind == ARG_NODE)
		other = expand_binary(e, OP_mul, expand_cast(e, other, e->n->dtype), alpha);
	else
		other = scaled_number(e, other, alpha);
	return expand_binary(e, op, x, other);
}

static struct arg decompose_add_alpha(struct expand *e)
{
	return with_alpha(e, OP_add);
}

static struct arg decompose_sub_alpha(struct expand *e)
{
	return with_alpha(e, OP_sub);
}

static struct arg filled(struct expand *e, enum op op)
{
	return expand_op(
	    e, op,
	    (struct arg[]){ arg_ints(e->n->shape.size, e->n->shape.rank), arg_dtype(e->n->dtype) },
	    2);
}

static struct arg decompose_zeros_like(struct expand *e)
{
	return filled(e, OP_zeros);
}

static struct arg decompose_ones_like(struct expand *e)
{
	return filled(e, OP_ones);
}

static struct arg add(struct expand *e, struct arg x, double y)
{
	return expand_binary(e, OP_add, x, arg_float(y));
}

static struct arg mul(struct expand *e, struct arg x, double y)
{
	return expand_binary(e, OP_mul, x, arg_float(y));
}

static struct arg choose(struct expand *e, struct arg mask, struct arg yes, struct arg no)
{
	return expand_op(e, OP_where, (struct arg[]){ mask, yes, no }, 3);
}

static struct arg positive(struct expand *e, struct arg x)
{
	return expand_binary(e, OP_gt, x, arg_int(e->g, 0));
}

/* x between two numbers; NaN stays NaN. */
static struct arg between(struct expand *e, struct arg x, double low, double high)
{
	return expand_binary(e, OP_minimum, expand_binary(e, OP_maximum, x, arg_float(low)),
			     arg_float(high));
}

static struct arg decompose_leaky_relu(struct expand *e)
{
	struct arg x = e->n->args[0];

	return choose(e, positive(e, x), x, mul(e, x, e->n->args[1].f));
}

/* x above 0, else `scale` * (exp(x / alpha) - 1) */
static struct arg exponential(struct expand *e, struct arg x, double scale, double alpha)
{
	struct arg power = alpha == 1 ? x : mul(e, x, 1 / alpha);

	return choose(e, positive(e, x), x, mul(e, expand_unary(e, OP_expm1, power), scale));
}

static struct arg decompose_elu(struct expand *e)
{
	return exponential(e, e->n->args[0], e->n->args[1].f, 1);
}

static struct arg decompose_celu(struct expand *e)
{
	return exponential(e, e->n->args[0], e->n->args[1].f, e->n->args[1].f);
}

static struct arg decompose_selu(struct expand *e)
{
	return mul(e, exponential(e, e->n->args[0], 1.6732632423543772848170429916717, 1),
		   1.0507009873554804934193349852946);
}

static struct arg softplus(struct expand *e, struct arg x, double beta, double threshold)
{
	struct arg scaled = beta == 1 ? x : mul(e, x, beta);
	struct arg y = expand_unary(e, OP_log1p, expand_unary(e, OP_exp, scaled));

	if (beta != 1)
		y = mul(e, y, 1 / beta);
	return choose(e, expand_binary(e, OP_gt, scaled, arg_float(threshold)), x, y);
}

static struct arg decompose_softplus(struct expand *e)
{
	return softplus(e, e->n->args[0], e->n->args[1].f, e->n->args[2].f);
}

static struct arg decompose_relu6(struct expand *e)
{
	return between(e, e->n->args[0], 0, 6);
}

static struct arg decompose_hardtanh(struct expand *e)
{
	return between(e, e->n->args[0], e->n->args[1].f, e->n->args[2].f);
}

static struct arg decompose_hardsigmoid(struct expand *e)
{
	return expand_binary(e, OP_truediv, between(e, add(e, e->n->args[0], 3), 0, 6),
			     arg_float(6));
}

static struct arg decompose_hardswish(struct expand *e)
{
	struct arg x = e->n->args[0];

	return expand_binary(e, OP_truediv,
			     expand_binary(e, OP_mul, x, between(e, add(e, x, 3), 0, 6)),
			     arg_float(6));
}

static struct arg decompose_mish(struct expand *e)
{
	struct arg x = e->n->args[0];

	return expand_binary(e, OP_mul, x, expand_unary(e, OP_tanh, softplus(e, x, 1, 20)));
}

/* min(x, 0) - log1p(exp(-|x|)): no exp() of it overflows. */
static struct arg decompose_logsigmoid(struct expand *e)
{
	struct arg x = e->n->args[0];
	struct arg power = expand_unary(e, OP_neg, expand_unary(e, OP_abs, x));

	power = expand_unary(e, OP_log1p, expand_unary(e, OP_exp, power));
	return expand_binary(e, OP_sub, expand_binary(e, OP_minimum, x, arg_float(0)), power);
}

static struct arg decompose_softsign(struct expand *e)
{
	struct arg x = e->n->args[0];

	return expand_binary(e, OP_truediv, x, add(e, expand_unary(e, OP_abs, x), 1));
}

static struct arg decompose_tanhshrink(struct expand *e)
{
	struct arg x = e->n->args[0];

	return expand_binary(e, OP_sub, x, expand_unary(e, OP_tanh, x));
}

static struct arg decompose_glu(struct expand *e)
{
	struct arg x = e->n->args[0], dim = e->n->args[1], half, gate;
	int rank = e->n->shape.rank,
	    d = (int)(dim.sym->value < 0 ? dim.sym->value + rank : dim.sym->value);
	struct arg length = arg_sym(e->n->shape.size[d]);

	half = expand_op(e, OP_narrow, (struct arg[]){ x, dim, arg_int(e->g, 0), length }, 4);
	gate = expand_op(e, OP_narrow, (struct arg[]){ x, dim, length, length }, 4);
	return expand_binary(e, OP_mul, half, expand_unary(e, OP_sigmoid, gate));
}

static struct arg decompose_div(struct expand *e)
{
	struct arg x = e->n->args[0], y = e->n->args[1], mode = e->n->args[2];

	if (mode.kind == ARG_NONE)
		return expand_binary(e, OP_truediv, x, y);
	y = expand_divisor(e, y);
	if (!strcmp(mode.str, "floor"))
		return expand_binary(e, OP_floordiv, x, y);
	if (dtype_category(e->n->dtype) == CATEGORY_FLOAT)
		return expand_unary(e, OP_trunc, expand_binary(e, OP_truediv, x, y));
	/* Of ints: (x - the rest) / y is exact. */
	return expand_binary(e, OP_floordiv,
			     expand_binary(e, OP_sub, x, expand_binary(e, OP_fmod, x, y)), y);
}

static struct arg decompose_frac(struct expand *e)
{
	struct arg x = e->n->args[0];

	return expand_binary(e, OP_sub, x, expand_unary(e, OP_trunc, x));
}

static bool is_float(const struct expand *e)
{
	return dtype_category(expand_operand(e)->dtype) == CATEGORY_FLOAT;
}

/* Nothing but floats is infinite. */
static struct arg constant_mask(struct expand *e, bool value)
{
	struct arg size = arg_ints(e->n->shape.size, e->n->shape.rank);

	return expand_op(e, OP_full, (struct arg[]){ size, arg_bool(value), arg_dtype(DTYPE_BOOL) },
			 3);
}

static struct arg decompose_isinf(struct expand *e)
{
	if (!is_float(e))
		return constant_mask(e, false);
	return expand_binary(e, OP_eq, expand_unary(e, OP_abs, e->n->args[0]), arg_float(INFINITY));
}

static struct arg decompose_isfinite(struct expand *e)
{
	if (!is_float(e))
		return constant_mask(e, true);
	return expand_binary(e, OP_lt, expand_unary(e, OP_abs, e->n->args[0]), arg_float(INFINITY));
}

static struct arg decompose_isclose(struct expand *e)
{
	struct arg x = e->n->args[0], y = e->n->args[1], bound, close, same;
	bool floats = dtype_category(e->n->compute) == CATEGORY_FLOAT;

	bound = add(e, mul(e, expand_unary(e, OP_abs, y), expand_arg(e, "rtol").f),
		    expand_arg(e, "atol").f);
	close = expand_binary(e, OP_le, expand_unary(e, OP_abs, expand_binary(e, OP_sub, x, y)),
			      bound);
	if (floats) { /* infinities are close to themselves alone */
		same = expand_binary(e, OP_lt, expand_unary(e, OP_abs, y), arg_float(INFINITY));
		close = expand_binary(e, OP_logical_and, close, same);
	}
	close = expand_binary(e, OP_logical_or, close, expand_binary(e, OP_eq, x, y));
	if (!expand_arg(e, "equal_nan").b || !floats)
		return close;
	same = expand_binary(e, OP_logical_and, expand_unary(e, OP_isnan, x),
			     expand_unary(e, OP_isnan, y));
	return expand_binary(e, OP_logical_or, close, same);
}

static struct arg decompose_lerp(struct expand *e)
{
	struct arg x = e->n->args[0], weight = e->n->args[2];
	struct arg way = expand_binary(e, OP_sub, e->n->args[1], x);

	return expand_binary(e, OP_add, x, expand_binary(e, OP_mul, way, weight));
}

static struct arg add_scaled(struct expand *e, enum op op)
{
	struct arg y = expand_binary(e, op, e->n->args[1], e->n->args[2]);

	if (expand_number(e->n->args[3]) != 1)
		y = expand_binary(e, OP_mul, y, e->n->args[3]);
	return expand_binary(e, OP_add, e->n->args[0], y);
}

static struct arg decompose_addcmul(struct expand *e)
{
	return add_scaled(e, OP_mul);
}

static struct arg decompose_addcdiv(struct expand *e)
{
	return add_scaled(e, OP_truediv);
}

static struct arg decompose_rsub(struct expand *e)
{
	struct arg x = e->n->args[0];

	if (expand_number(e->n->args[2]) != 1)
		x = expand_binary(e, OP_mul, x, e->n->args[2]);
	return expand_binary(e, OP_sub, e->n->args[1], x);
}

static struct arg decompose_hypot(struct expand *e)
{
	struct arg x = expand_unary(e, OP_abs, expand_cast(e, e->n->args[0], e->n->dtype));
	struct arg y = expand_unary(e, OP_abs, expand_cast(e, e->n->args[1], e->n->dtype));
	struct arg infinite = expand_binary(e, OP_logical_or,
					    expand_binary(e, OP_eq, x, arg_float(INFINITY)),
					    expand_binary(e, OP_eq, y, arg_float(INFINITY)));
	struct arg sum;

	sum = expand_binary(e, OP_add, expand_unary(e, OP_square, x),
			    expand_unary(e, OP_square, y));
	/* Infinite beside NaN too. */
	return choose(e, infinite, arg_float(INFINITY), expand_unary(e, OP_sqrt, sum));
}

/* The larger, plus log1p(exp(-|x - y|)); equal infinities are themselves. */
static struct arg decompose_logaddexp(struct expand *e)
{
	struct arg x = e->n->args[0], y = e->n->args[1];
	struct arg far = expand_unary(e, OP_abs, expand_binary(e, OP_sub, x, y));
	struct arg sum = expand_unary(e, OP_exp, expand_unary(e, OP_neg, far));

	sum = expand_binary(e, OP_add, expand_binary(e, OP_maximum, x, y),
			    expand_unary(e, OP_log1p, sum));
	return choose(e, expand_binary(e, OP_eq, x, y),
		      expand_binary(e, OP_add, x, arg_float(M_LN2)), sum);
}

static struct arg decompose_xlogy(struct expand *e)
{
	struct arg x = e->n->args[0], y = e->n->args[1], log, product, zero;

	if (y.kind != ARG_NODE)
		log = arg_float(log10(expand_number(y)) * M_LN10);
	else
		log = expand_unary(e, OP_log, expand_cast(e, y, e->n->dtype));
	product = expand_binary(e, OP_mul, x, log);
	if (x.kind != ARG_NODE)
		return expand_number(x) == 0 ? mul(e, expand_unary(e, OP_abs, product), 0)
					     : product;
	zero = expand_binary(e, OP_eq, x, arg_int(e->g, 0));
	if (y.kind == ARG_NODE) /* NaN stays, whatever x is */
		zero = expand_binary(e, OP_logical_and, zero,
				     expand_unary(e, OP_logical_not, expand_unary(e, OP_isnan, y)));
	return choose(e, zero, arg_float(0), product);
}

/* The other operand where one is NaN. */
static struct arg number_wins(struct expand *e, enum op op)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg y = expand_cast(e, e->n->args[1], e->n->dtype);
	struct arg best = expand_binary(e, op, x, y);

	best = choose(e, expand_unary(e, OP_isnan, x), y, best);
	return choose(e, expand_unary(e, OP_isnan, y), x, best);
}

static struct arg decompose_fmax(struct expand *e)
{
	return number_wins(e, OP_maximum);
}

static struct arg decompose_fmin(struct expand *e)
{
	return number_wins(e, OP_minimum);
}

static struct arg decompose_deg2rad(struct expand *e)
{
	return mul(e, e->n->args[0], M_PI / 180);
}

static struct arg decompose_rad2deg(struct expand *e)
{
	return mul(e, e->n->args[0], 180 / M_PI);
}

static struct arg decompose_logit(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype), eps = e->n->args[1];

	if (eps.kind == ARG_FLOAT)
		x = between(e, x, eps.f, 1 - eps.f);
	return expand_unary(
	    e, OP_log, expand_binary(e, OP_truediv, x, expand_binary(e, OP_sub, arg_float(1), x)));
}

static struct arg decompose_nan_to_num(struct expand *e)
{
	struct arg x = e->n->args[0], y = x;
	double most = e->n->dtype == DTYPE_F64    ? 0x1.fffffffffffffp1023
		      : e->n->dtype == DTYPE_F16  ? 65504
		      : e->n->dtype == DTYPE_BF16 ? 0x1.fep127
						  : 0x1.fffffep127;
	const struct arg *to = &e->n->args[1];

	if (!is_float(e))
		return x;
	y = choose(e, expand_unary(e, OP_isnan, x),
		   arg_float(to[0].kind == ARG_FLOAT ? to[0].f : 0), y);
	y = choose(e, expand_binary(e, OP_eq, x, arg_float(INFINITY)),
		   arg_float(to[1].kind == ARG_FLOAT ? to[1].f : most), y);
	return choose(e, expand_binary(e, OP_eq, x, arg_float(-INFINITY)),
		      arg_float(to[2].kind == ARG_FLOAT ? to[2].f : -most), y);
}

static struct arg decompose_clamp_min(struct expand *e)
{
	return expand_binary(e, OP_maximum, e->n->args[0], e->n->args[1]);
}

static struct arg decompose_clamp_max(struct expand *e)
{
	return expand_binary(e, OP_minimum, e->n->args[0], e->n->args[1]);
}

/* A negative zero is told from 0 by its inverse. */
static struct arg decompose_copysign(struct expand *e)
{
	struct arg x = expand_unary(e, OP_abs, expand_cast(e, e->n->args[0], e->n->dtype));
	struct arg y = e->n->args[1], below, zero;

	if (y.kind != ARG_NODE)
		return signbit(expand_number(y)) ? expand_unary(e, OP_neg, x) : x;
	y = expand_cast(e, y, e->n->dtype);
	zero = expand_binary(e, OP_lt, expand_unary(e, OP_reciprocal, y), arg_float(0));
	below = expand_binary(e, OP_logical_or, expand_binary(e, OP_lt, y, arg_float(0)), zero);
	return choose(e, below, expand_unary(e, OP_neg, x), x);
}

static struct arg decompose_sinc(struct expand *e)
{
	struct arg x = mul(e, e->n->args[0], M_PI);
	struct arg y = expand_binary(e, OP_truediv, expand_unary(e, OP_sin, x), x);

	return choose(e, expand_binary(e, OP_eq, x, arg_float(0)), arg_float(1), y);
}

static struct arg decompose_heaviside(struct expand *e)
{
	struct arg x = e->n->args[0];
	struct arg step = expand_cast(e, positive(e, x), e->n->dtype);

	return choose(e, expand_binary(e, OP_eq, x, arg_int(e->g, 0)), e->n->args[1], step);
}

static struct arg decompose_float_power(struct expand *e)
{
	struct arg x = e->n->args[0], y = e->n->args[1];

	if (x.kind == ARG_NODE)
		x = expand_cast(e, x, DTYPE_F64);
	if (y.kind == ARG_NODE)
		y = expand_cast(e, y, DTYPE_F64);
	return expand_binary(e, OP_pow, x, y);
}

decompose_fn *const activation_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};
