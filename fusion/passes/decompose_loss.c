/* fusion/passes/decompose_loss.c -- losses as sums over elements. */
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

struct arg decompose_mse_loss(struct expand *e)
{
	return reduced(e, expand_unary(e, OP_square, difference(e)));
}

struct arg decompose_l1_loss(struct expand *e)
{
	return reduced(e, expand_unary(e, OP_abs, difference(e)));
}

struct arg decompose_smooth_l1_loss(struct expand *e)
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

struct arg decompose_huber_loss(struct expand *e)
{
	struct arg z = expand_unary(e, OP_abs, difference(e)), square, linear;
	double delta = expand_arg(e, "delta").f;

	square = mul(e, mul(e, arg_float(0.5), z), z);
	linear = mul(e, sub(e, z, arg_float(0.5 * delta)), arg_float(delta));
	return reduced(e, choose(e, expand_binary(e, OP_le, z, arg_float(delta)), square, linear));
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

struct arg decompose_binary_cross_entropy(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], one = arg_float(1);
	struct arg yes = mul(e, target, bounded_log(e, x));
	struct arg no = mul(e, sub(e, one, target), bounded_log(e, sub(e, one, x)));

	return reduced(e, weighted(e, expand_unary(e, OP_neg, add(e, yes, no))));
}

/* (1 - target) * x + (1 + (pos_weight - 1) * target) * log(1 + exp(-x)) */
struct arg decompose_binary_cross_entropy_with_logits(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], one = arg_float(1);
	struct arg pos = expand_arg(e, "pos_weight"), log;

	log = expand_unary(e, OP_exp, expand_unary(e, OP_neg, expand_unary(e, OP_abs, x)));
	log = sub(e, expand_unary(e, OP_log1p, log), expand_binary(e, OP_minimum, x, arg_float(0)));
	if (pos.kind == ARG_NODE)
		log = mul(e, add(e, mul(e, sub(e, pos, one), target), one), log);
	return reduced(e, weighted(e, add(e, mul(e, sub(e, one, target), x), log)));
}

struct arg decompose_kl_div(struct expand *e)
{
	struct arg x = e->n->args[0], target = e->n->args[1], loss;

	if (expand_arg(e, "log_target").b)
		return reduced(e, mul(e, expand_unary(e, OP_exp, target), sub(e, target, x)));
	loss = mul(e, target, expand_unary(e, OP_log, target));
	loss = choose(e, expand_binary(e, OP_eq, target, arg_float(0)), arg_float(0), loss);
	return reduced(e, sub(e, loss, mul(e, target, x)));
}

/* What a class loss is made of. */
struct classes {
	struct arg dim;    /* of the classes */
	struct arg target; /* with ignored ones as class 0 */
	struct arg kept;   /* bool: not ignored */
	struct arg weight; /* of each target's class, 0 where it is ignored */
};

static struct arg at_target(struct expand *e, const struct classes *c, struct arg x)
{
	struct arg index = expand_binary(e, OP_unsqueeze, c->target, c->dim);

	return expand_binary(
	    e, OP_squeeze, expand_op(e, OP_gather, (struct arg[]){ x, c->dim, index }, 3), c->dim);
}

static struct classes find_classes(struct expand *e)
{
	struct arg ignored = expand_arg(e, "ignore_index"), weight = expand_arg(e, "weight");
	struct classes c = { .dim = arg_int(e->g, expand_operand(e)->shape.rank > 1) };

	c.kept = expand_binary(e, OP_ne, e->n->args[1], ignored);
	c.target = choose(e, c.kept, e->n->args[1], arg_int(e->g, 0));
	if (weight.kind == ARG_NODE)
		c.weight = choose(
		    e, c.kept,
		    expand_op(e, OP_index, (struct arg[]){ weight, arg_int(e->g, 0), c.target }, 3),
		    arg_float(0));
	else
		c.weight = expand_cast(e, c.kept, e->n->dtype);
	return c;
}

/* Losses of each target, already weighted, as the node reduces them. */
static struct arg class_mean(struct expand *e, const struct classes *c, struct arg loss)
{
	if (reduction_is(e, "none"))
		return loss;
	loss = total(e, loss);
	if (reduction_is(e, "sum"))
		return loss;
	return expand_binary(e, OP_truediv, loss, total(e, c->weight));
}

static struct arg class_loss(struct expand *e, const struct classes *c, struct arg scores)
{
	struct arg loss = expand_unary(e, OP_neg, at_target(e, c, scores));

	return choose(e, c->kept, mul(e, loss, c->weight), arg_float(0));
}

struct arg decompose_nll_loss(struct expand *e)
{
	struct classes c = find_classes(e);

	return class_mean(e, &c, class_loss(e, &c, e->n->args[0]));
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

/* (1 - s) * nll + s / classes * (sum over classes of -scores * weight) */
static struct arg smoothed(struct expand *e, const struct classes *c, struct arg scores,
			   struct arg loss, double smooth)
{
	const struct shape *shape = &expand_operand(e)->shape;
	struct arg weight = expand_arg(e, "weight"), even;

	if (weight.kind == ARG_NODE) {
		for (int i = 2; i < shape->rank; i++)
			weight = expand_binary(e, OP_unsqueeze, weight, arg_int(e->g, -1));
		scores = mul(e, scores, weight);
	}
	even = expand_unary(e, OP_neg, expand_reduce(e, OP_sum, scores, c->dim, false));
	even = choose(e, c->kept, even, arg_float(0));
	even = expand_binary(e, OP_truediv, mul(e, class_mean(e, c, even), arg_float(smooth)),
			     arg_sym(shape->size[shape->rank > 1]));
	return add(e, mul(e, class_mean(e, c, loss), arg_float(1 - smooth)), even);
}

struct arg decompose_cross_entropy(struct expand *e)
{
	double smooth = expand_arg(e, "label_smoothing").f;
	struct arg scores, loss;
	struct classes c;

	if (e->g->nodes[e->n->args[1].node]->dtype != DTYPE_I64)
		return soft_loss(e);
	c = find_classes(e);
	scores = log_softmax(e, e->n->args[0], c.dim);
	loss = class_loss(e, &c, scores);
	if (smooth == 0)
		return class_mean(e, &c, loss);
	return smoothed(e, &c, scores, loss, smooth);
}
