/* fusion/graph/infer_loss.c -- dtype and shape of losses, and of ops made of pointwise ones. */
#include "fusion/graph/infer.h"

#include <string.h>

/* reduction=: 'mean', 'sum' or 'none'; binding has put `size_average` and `reduce` into it. */
static bool check_reduction(struct infer *in, bool *whole)
{
	const char *text = infer_arg(in, "reduction")->str;

	*whole = strcmp(text, "none") == 0;
	return *whole || !strcmp(text, "mean") || !strcmp(text, "sum") ||
	       (!strcmp(text, "batchmean") && in->op == OP_kl_div) ||
	       err_set(in->err, ERR_VALUE,
		       "%s: reduction='%.32s' is unknown; use 'mean', 'sum' or 'none'",
		       in->info->fx, text);
}

/* What these write their loss into has the dtype of one operand. */
static enum dtype pair_loss_dtype(struct infer *in)
{
	if (in->op == OP_huber_loss)
		return infer_tensor(in, 0)->dtype;
	if (in->op == OP_binary_cross_entropy_with_logits)
		return infer_tensor(in, 1)->dtype;
	return infer_promote(in, 0, 2);
}

/* Where a loss turns from squares to lines, and sizes that do not broadcast. */
static bool check_pair_loss(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape, *y = &infer_tensor(in, 1)->shape;
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	if (in->op == OP_smooth_l1_loss && !(infer_arg(in, "beta")->f >= 0))
		return err_set(in->err, ERR_OP,
			       "smooth_l1_loss does not support negative values for beta.");
	if (in->op == OP_huber_loss && !(infer_arg(in, "delta")->f > 0))
		return err_set(in->err, ERR_OP,
			       "huber_loss does not support non-positive values for delta.");
	if (in->op != OP_binary_cross_entropy_with_logits || shape_equal(x, y))
		return true;
	shape_conflict(x, y, in->out->conflict);
	return err_set(
	    in->err, ERR_VALUE,
	    "Target size (torch.Size(%s)) must be the same as input size (torch.Size(%s))",
	    shape_text(y, a), shape_text(x, b));
}

/* Losses over pairs of elements; what they broadcast to, or a 0-d tensor. */
static bool infer_pair_loss(struct infer *in)
{
	bool whole;
	struct shape *out = &in->out->shape;

	in->out->dtype = in->out->compute = pair_loss_dtype(in);
	if (!check_reduction(in, &whole) || !check_pair_loss(in) ||
	    !op_accepts(in->op, in->out->dtype, in->err))
		return false;
	if ((in->op == OP_kl_div || in->op == OP_binary_cross_entropy_with_logits) &&
	    (!op_accepts(in->op, infer_tensor(in, 0)->dtype, in->err) ||
	     !op_accepts(in->op, infer_tensor(in, 1)->dtype, in->err)))
		return false;
	for (int i = 0; i < in->info->n_params; i++) {
		const struct node *x = infer_tensor(in, i);

		if (x && !infer_broadcast(in, out, &x->shape))
			return false;
	}
	if (!whole)
		out->rank = 0;
	return true;
}

static bool target_shape_error(struct infer *in, const struct node *x, const struct node *target)
{
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	return err_set(
	    in->err, ERR_SHAPE,
	    "%s: scores of sizes %s need class indices of the same sizes without dim %d, "
	    "and these have %s",
	    in->info->fx, shape_text(&x->shape, a), x->shape.rank > 1,
	    shape_text(&target->shape, b));
}

/* nll_loss, cross_entropy: scores [N, C, ...] and class indices [N, ...]. */
static bool infer_class_indices_loss(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *target = infer_tensor(in, 1);
	const struct node *weight = infer_tensor(in, 2);
	int classes = x->shape.rank > 1, rank = x->shape.rank;
	bool whole, same;

	in->out->dtype = in->out->compute = x->dtype;
	if (!check_reduction(in, &whole) || !op_accepts(in->op, x->dtype, in->err))
		return false;
	if (rank < 1)
		return target_shape_error(in, x, target);
	if (weight && (weight->shape.rank != 1 ||
		       !infer_same_size(in, weight->shape.size[0], x->shape.size[classes])))
		return err_set(in->err, ERR_SHAPE,
			       "%s: `weight` must have one dim, with a number for each class",
			       in->info->fx);
	if (in->op == OP_cross_entropy && target->dtype == x->dtype) { /* probabilities */
		if (!shape_equal(&x->shape, &target->shape)) {
			shape_conflict(&x->shape, &target->shape, in->out->conflict);
			return target_shape_error(in, x, target);
		}
	} else {
		if (target->dtype != DTYPE_I64)
			return err_set(in->err, ERR_DTYPE,
				       "%s: class indices must be int64, and these are %s; call "
				       "target.long() first",
				       in->info->fx, dtype_name(target->dtype));
		same = target->shape.rank == rank - 1;
		for (int i = 0, d = 0; same && i < rank; i++)
			if (i != classes)
				same = infer_same_size(in, x->shape.size[i],
						       target->shape.size[d++]);
		if (!same)
			return target_shape_error(in, x, target);
	}
	for (int i = 0; whole && i < rank; i++)
		if (i != classes)
			in->out->shape.size[in->out->shape.rank++] = x->shape.size[i];
	return true;
}

/* The first n arguments broadcast and promote; the others are numbers that do not. */
static bool infer_operands(struct infer *in, int n, bool floats)
{
	enum dtype dtype = infer_promote(in, 0, n);

	for (int i = 0; i < n; i++)
		if (infer_tensor(in, i) &&
		    !infer_broadcast(in, &in->out->shape, &infer_tensor(in, i)->shape))
			return false;
	if (floats && dtype_category(dtype) != CATEGORY_FLOAT)
		dtype = in->g->real;
	in->out->dtype = in->out->compute = dtype;
	return op_accepts(in->op, dtype, in->err);
}

static bool infer_one_same(struct infer *in)
{
	return infer_operands(in, 1, false);
}

static bool infer_one_float(struct infer *in)
{
	return infer_operands(in, 1, true);
}

static bool infer_one_bool(struct infer *in)
{
	if (!infer_operands(in, 1, false))
		return false;
	in->out->dtype = DTYPE_BOOL;
	return true;
}

static bool infer_two_same(struct infer *in)
{
	return infer_operands(in, 2, false);
}

static bool infer_two_float(struct infer *in)
{
	return infer_operands(in, 2, true);
}

static bool infer_two_bool(struct infer *in)
{
	static const char *const bounds[] = { "rtol", "atol" };

	if (!infer_operands(in, 2, false))
		return false;
	for (int i = 0; i < 2 && in->op == OP_isclose; i++)
		if (!(infer_arg(in, bounds[i])->f >= 0))
			return err_set(in->err, ERR_OP,
				       "%s must be greater than or equal to zero, but got %g",
				       bounds[i], infer_arg(in, bounds[i])->f);
	in->out->dtype = DTYPE_BOOL;
	return true;
}

static bool infer_three_same(struct infer *in)
{
	return infer_operands(in, 3, false);
}

static bool infer_float_power(struct infer *in)
{
	if (!infer_operands(in, 2, true))
		return false;
	in->out->dtype = in->out->compute = DTYPE_F64;
	return true;
}

static bool infer_addcdiv(struct infer *in)
{
	if (dtype_category(infer_promote(in, 1, 3)) != CATEGORY_FLOAT)
		return err_set(in->err, ERR_DTYPE,
			       "addcdiv: tensor1 and tensor2 are ints, which it does not divide; "
			       "call .to(torch.float32) on one");
	return infer_operands(in, 3, true);
}

static bool infer_div(struct infer *in)
{
	const struct arg *mode = infer_arg(in, "rounding_mode");

	if (mode->kind == ARG_STR && strcmp(mode->str, "floor") != 0 &&
	    strcmp(mode->str, "trunc") != 0)
		return err_set(
		    in->err, ERR_OP,
		    "div: rounding_mode='%.32s' is unknown; use None, 'floor' or 'trunc'",
		    mode->str);
	return infer_operands(in, 2, mode->kind == ARG_NONE);
}

/* Operands that decompose_loss.c has looked at. */
static bool infer_known_loss(struct infer *in)
{
	enum dtype dtype = infer_tensor(in, 0)->dtype;

	/* With a base the sums of powers were wide, as scores of theirs would be. */
	in->out->dtype = in->out->compute = infer_tensor(in, 3) ? dtype_wide(dtype) : dtype;
	if (strcmp(infer_arg(in, "reduction")->str, "none") == 0)
		in->out->shape = infer_tensor(in, 1)->shape;
	return true;
}

infer_fn *const loss_rules[OP_COUNT] = {
#define RULE_loss(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
