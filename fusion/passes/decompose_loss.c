/* fusion/passes/decompose_loss.c -- losses as sums over elements. */
#define FORMULA_loss(id) decompose_##id
#include <math.h>
#include <string.h>

#include "fusion/passes/decompose.h"

static struct arg add(struct expand *e, struct arg x, struct arg y)
{
	return expand_binary(e, OP_add, x, y);
}

static struct arg sub(struct expand *e, struct arg x, struct arg y)
{
	return expand_binary(e, OP_sub, x, y);
}

static struct arg mul(struct expand *e, struct arg x, struct arg y)
{
	return expand_binary(e, OP_mul, x, y);
}

static struct arg choose(struct expand *e, struct arg mask, struct arg yes, struct arg no)
{
	return expand_op(e, OP_where, (struct arg[]){ mask, yes, no }, 3);
}

static struct arg total(struct expand *e, struct arg x)
{
	return expand_reduce(e, OP_sum, x, arg_none(), false);
}

static bool reduction_is(const struct expand *e, const char *text)
{
	return strcmp(expand_arg(e, "reduction").str, text) == 0;
}

/* The loss of each element, reduced as the node says. */
static struct arg reduced(struct expand *e, struct arg loss)
{
	const struct shape *shape;

	if (e->failed || reduction_is(e, "none"))
		return loss;
	shape = &e->g->nodes[loss.node]->shape;
	if (reduction_is(e, "sum"))
		return total(e, loss);
	if (reduction_is(e, "batchmean"))
		return expand_binary(e, OP_truediv, total(e, loss),
				     shape->rank ? arg_sym(shape->size[0]) : arg_float(1));
	return expand_binary(e, OP_truediv, total(e, loss),
			     arg_sym(shape_numel(e->g->syms, shape)));
}

static struct arg difference(struct expand *e)
{
	return sub(e, e->n->args[0], e->n->args[1]);
}

static struct arg decompose_mse_loss(struct expand *e)
{
	return reduced(e, expand_unary(e, OP_square, difference(e)));
}

static struct arg decompose_l1_loss(struct expand *e)
{
	return reduced(e, expand_unary(e, OP_abs, difference(e)));
}

static struct arg decompose_smooth_l1_loss(struct expand *e)
{
	struct arg z = expand_unary(e, OP_abs, difference(e)), square;
	double beta = expand_arg(e, "beta").f;

	if (beta == 0)
		return reduced(e, z);
	square = expand_binary(e, OP_truediv, mul(e, mul(e, arg_float(0.5), z), z),
			       arg_float(beta));
	return reduced(e, choose(e, expand_binary(e, OP_lt, z, arg_float(beta)), square,
				 sub(e, z, arg_float(0.5 * beta))));
}

static struct arg decompose_huber_loss(struct expand *e)
{
	struct arg z = expand_unary(e, OP_abs, difference(e)), square, linear;
	double delta = expand_arg(e, "delta").f;

	square = mul(e, mul(e, arg_float(0.5), z), z);
	linear = mul(e, sub(e, z, arg_float(0.5 * delta)), arg_float(delta));
	square = choose(e, expand_binary(e, OP_le, z, arg_float(delta)), square, linear);
	return reduced(e, expand_cast(e, square, e->n->dtype));
}

static struct arg weighted(struct expand *e, struct arg loss)
{
	struct arg weight = expand_arg(e, "weight");

	return weight.kind == ARG_NODE ? mul(e, loss, weight) : loss;
}

/* Logarithms are held at -100, as torch does. */
static struct arg bounded_log(struct expand *e, struct arg x)
{
	return expand_binary(e, OP_maximum, expand_unary(e, OP_log, x), arg_float(-100));
}

static struct arg decompose_binary_cross_entropy(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], one = arg_float(1);
	struct arg yes = mul(e, target, bounded_log(e, x));
	struct arg no = mul(e, sub(e, one, target), bounded_log(e, sub(e, one, x)));

	return reduced(e, weighted(e, expand_unary(e, OP_neg, add(e, yes, no))));
}

/* (1 - target) * x + (1 + (pos_weight - 1) * target) * log(1 + exp(-x)) */
static struct arg decompose_binary_cross_entropy_with_logits(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], one = arg_float(1);
	struct arg pos = expand_arg(e, "pos_weight"), log;

	log = expand_unary(e, OP_exp, expand_unary(e, OP_neg, expand_unary(e, OP_abs, x)));
	log = sub(e, expand_unary(e, OP_log1p, log), expand_binary(e, OP_minimum, x, arg_float(0)));
	if (pos.kind == ARG_NODE)
		log = mul(e, add(e, mul(e, sub(e, pos, one), target), one), log);
	log = weighted(e, add(e, mul(e, sub(e, one, target), x), log));
	return reduced(e, expand_cast(e, log, e->n->dtype));
}

static struct arg decompose_kl_div(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], loss;

	if (expand_arg(e, "log_target").b)
		return reduced(e, mul(e, expand_unary(e, OP_exp, target), sub(e, target, x)));
	loss = mul(e, target, expand_unary(e, OP_log, target));
	loss = choose(e, expand_binary(e, OP_eq, target, arg_float(0)), arg_float(0), loss);
	return reduced(e, sub(e, loss, mul(e, target, x)));
}

/* The scores as they were before they became float32: the loss looks up a few of them. */
static struct arg narrow_scores(const struct expand *e, bool has_base)
{
	const struct node *x = expand_operand(e), *from;

	if ((!e->widened && !has_base) || x->op != OP_to || x->dtype != DTYPE_F32 ||
	    expand_arg(e, "weight").kind == ARG_NODE)
		return e->n->args[0];
	from = e->g->nodes[x->args[0].node];
	return dtype_wide(from->dtype) == DTYPE_F32 ? x->args[0] : e->n->args[0];
}

/* `base` and `even` as class_loss in ops.def has them. */
static struct arg class_loss(struct expand *e, struct arg base, struct arg even, double smooth)
{
	return expand_op(e, OP_class_loss,
			 (struct arg[]){ narrow_scores(e, base.kind == ARG_NODE), e->n->args[1],
					 expand_arg(e, "weight"), base, even,
					 expand_arg(e, "ignore_index"), arg_float(smooth),
					 expand_arg(e, "reduction") },
			 8);
}

static struct arg decompose_nll_loss(struct expand *e)
{
	return class_loss(e, arg_none(), arg_none(), 0);
}

/* x less the logarithm of the sum of its powers. */
static struct arg log_softmax(struct expand *e, struct arg x, struct arg dim)
{
	struct arg sum;

	x = sub(e, x, expand_reduce(e, OP_amax, x, dim, true));
	sum = expand_reduce(e, OP_sum, expand_unary(e, OP_exp, x), dim, true);
	return sub(e, x, expand_unary(e, OP_log, sum));
}

/* Targets that are probabilities of each class. */
static struct arg soft_loss(struct expand *e)
{
	const struct shape *shape = &expand_operand(e)->shape;
	int classes = shape->rank > 1;
	struct arg dim = arg_int(e->g, classes), target = e->n->args[1], loss, count;
	struct arg scores = log_softmax(e, e->n->args[0], dim);
	double smooth = expand_arg(e, "label_smoothing").f;

	if (smooth > 0) {
		count = expand_op(
		    e, OP_full,
		    (struct arg[]){ arg_ints(NULL, 0), arg_float(smooth), arg_dtype(e->n->dtype) },
		    3);
		count = expand_binary(e, OP_truediv, count, arg_sym(shape->size[classes]));
		target = add(e, mul(e, target, arg_float(1 - smooth)), count);
	}
	loss = mul(e, scores, target);
	if (expand_arg(e, "weight").kind == ARG_NODE && shape->rank > 2) {
		struct arg weight = expand_arg(e, "weight");

		for (int i = 2; i < shape->rank; i++)
			weight = expand_binary(e, OP_unsqueeze, weight, arg_int(e->g, -1));
		loss = mul(e, loss, weight);
	} else {
		loss = weighted(e, loss);
	}
	loss = expand_unary(e, OP_neg, expand_reduce(e, OP_sum, loss, dim, false));
	if (reduction_is(e, "none"))
		return loss;
	loss = total(e, loss);
	if (reduction_is(e, "sum"))
		return loss;
	count = arg_sym(
	    sym_floordiv(e->g->syms, shape_numel(e->g->syms, shape), shape->size[classes]));
	return expand_binary(e, OP_truediv, loss, count);
}

/* A number for each class as a tensor that broadcasts over x. */
static struct arg over_classes(struct expand *e, struct arg weight)
{
	for (int i = 2; i < expand_operand(e)->shape.rank; i++)
		weight = expand_binary(e, OP_unsqueeze, weight, arg_int(e->g, -1));
	return weight;
}

/* smooth / classes * (sum over classes of -scores * weight), for each target */
static struct arg even_loss(struct expand *e, struct arg most, struct arg log_sum, struct arg dim,
			    double smooth)
{
	const struct shape *shape = &expand_operand(e)->shape;
	struct arg scores = sub(e, sub(e, e->n->args[0], most), log_sum);
	struct arg weight = expand_arg(e, "weight");

	if (weight.kind == ARG_NODE)
		scores = mul(e, scores, over_classes(e, weight));
	scores = expand_reduce(e, OP_sum, scores, dim, false);
	return expand_binary(e, OP_truediv, mul(e, scores, arg_float(-smooth)),
			     arg_sym(shape->size[shape->rank > 1]));
}

/* The sums over classes are one kernel, whatever the op looks up is another. */
static struct arg decompose_cross_entropy(struct expand *e)
{
	struct arg x = e->n->args[0], most, sum, base, even = arg_none();
	struct arg dim = arg_int(e->g, expand_operand(e)->shape.rank > 1);
	double smooth = expand_arg(e, "label_smoothing").f;

	if (e->g->nodes[e->n->args[1].node]->dtype != DTYPE_I64)
		return soft_loss(e);
	most = expand_reduce(e, OP_amax, x, dim, true);
	sum = expand_reduce(e, OP_sum, expand_unary(e, OP_exp, sub(e, x, most)), dim, true);
	sum = expand_unary(e, OP_log, sum);
	base = add(e, expand_cast(e, most, DTYPE_F64), expand_cast(e, sum, DTYPE_F64));
	base = expand_binary(e, OP_squeeze, base, dim);
	if (smooth > 0)
		even = even_loss(e, most, sum, dim, smooth);
	return class_loss(e, base, even, smooth);
}

decompose_fn *const loss_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};
