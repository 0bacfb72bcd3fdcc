/* fusion/passes/decompose_norm.c -- statistics, normalisations, attention, and what looks things
 * up. */
#define FORMULA_norm(id) decompose_##id
#include "fusion/passes/decompose.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* How many elements one result of the node is made of. */
static const struct sym *expand_count(const struct expand *e)
{
	const struct shape *x = &expand_operand(e)->shape;
	const struct sym *count = sym_const(e->g->syms, 1);
	unsigned mask = node_reduced(e->g, e->n);

	for (int i = 0; i < x->rank; i++)
		if (mask & 1u << i)
			count = sym_mul(e->g->syms, count, x->size[i]);
	return count;
}

static struct arg expand_mean(struct expand *e, struct arg x, struct arg dims, bool keepdim,
			      const struct sym *count)
{
	return expand_binary(e, OP_truediv, expand_reduce(e, OP_sum, x, dims, keepdim),
			     arg_sym(count));
}

static struct arg decompose_mean(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);

	return expand_mean(e, x, expand_arg(e, "dim"), node_keepdim(e->n), expand_count(e));
}

/* max(0, count - correction), as torch divides by. */
static struct arg degrees_of_freedom(struct expand *e)
{
	struct symtab *t = e->g->syms;
	struct arg unbiased = expand_arg(e, "unbiased"), correction = expand_arg(e, "correction");
	const struct sym *count = expand_count(e);
	const struct sym *minus = sym_const(t, 1);

	if (unbiased.kind == ARG_BOOL)
		minus = sym_const(t, unbiased.b);
	else if (correction.kind == ARG_BOOL)
		minus = sym_const(t, correction.b);
	else if (correction.kind == ARG_INT)
		minus = correction.sym;
	if (correction.kind != ARG_FLOAT)
		return arg_sym(sym_max(t, sym_const(t, 0), sym_sub(t, count, minus)));
	if (count && sym_is_const(count))
		return arg_float(fmax(0, (double)count->value - correction.f));
	/* A symbolic count less a fraction: a 0-d tensor. */
	return expand_binary(
	    e, OP_maximum,
	    expand_binary(e, OP_sub,
			  expand_op(e, OP_full,
				    (struct arg[]){ arg_ints(NULL, 0), arg_sym(count),
						    arg_dtype(e->n->dtype) },
				    3),
			  correction),
	    arg_float(0));
}

static struct arg decompose_var(struct expand *e)
{
	struct arg x = e->n->args[0], dims = expand_arg(e, "dim");
	struct arg mean = expand_mean(e, x, dims, true, expand_count(e));
	struct arg square = expand_unary(e, OP_square, expand_binary(e, OP_sub, x, mean));

	return expand_binary(e, OP_truediv,
			     expand_reduce(e, OP_sum, square, dims, node_keepdim(e->n)),
			     degrees_of_freedom(e));
}

static struct arg decompose_std(struct expand *e)
{
	return expand_unary(e, OP_sqrt, decompose_var(e));
}

static struct arg decompose_norm(struct expand *e)
{
	struct arg x = e->n->args[0], dims = expand_arg(e, "dim");
	bool keepdim = node_keepdim(e->n);
	double p = expand_number(expand_arg(e, "p"));
	struct arg sum;

	if (p == 2)
		return expand_unary(
		    e, OP_sqrt,
		    expand_reduce(e, OP_sum, expand_unary(e, OP_square, x), dims, keepdim));
	if (p == 0)
		return expand_reduce(
		    e, OP_sum,
		    expand_cast(e, expand_binary(e, OP_ne, x, arg_float(0)), e->n->dtype), dims,
		    keepdim);
	x = expand_unary(e, OP_abs, x);
	if (isinf(p))
		return expand_reduce(e, p > 0 ? OP_amax : OP_amin, x, dims, keepdim);
	if (p == 1)
		return expand_reduce(e, OP_sum, x, dims, keepdim);
	sum = expand_reduce(e, OP_sum, expand_binary(e, OP_pow, x, arg_float(p)), dims, keepdim);
	return expand_binary(e, OP_pow, sum, arg_float(1 / p));
}

static struct arg decompose_max(struct expand *e)
{
	return expand_reduce(e, OP_amax, e->n->args[0], arg_none(), false);
}

static struct arg decompose_min(struct expand *e)
{
	return expand_reduce(e, OP_amin, e->n->args[0], arg_none(), false);
}

/* The dim of softmax; None is the one that old programs meant by it. */
static struct arg softmax_dim(const struct expand *e)
{
	struct arg dim = expand_arg(e, "dim");
	int rank = e->n->shape.rank;

	return dim.kind == ARG_NONE ? arg_int(e->g, rank > 1 && rank != 3) : dim;
}

/* x less its largest along dim: no exp() of it overflows. */
static struct arg less_largest(struct expand *e, struct arg x)
{
	return expand_binary(e, OP_sub, x, expand_reduce(e, OP_amax, x, softmax_dim(e), true));
}

static bool expand_is_empty(const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (sym_is(s->size[i], 0))
			return true;
	return false;
}

static struct arg decompose_softmax(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg power;

	if (expand_is_empty(&e->n->shape)) /* there is no largest of nothing */
		return x;
	power = expand_unary(e, OP_exp, less_largest(e, x));
	return expand_binary(e, OP_truediv, power,
			     expand_reduce(e, OP_sum, power, softmax_dim(e), true));
}

static struct arg decompose_softmin(struct expand *e)
{
	struct arg x = expand_unary(e, OP_neg, expand_cast(e, e->n->args[0], e->n->dtype));
	struct arg power;

	if (expand_is_empty(&e->n->shape))
		return x;
	power = expand_unary(e, OP_exp, less_largest(e, x));
	return expand_binary(e, OP_truediv, power,
			     expand_reduce(e, OP_sum, power, softmax_dim(e), true));
}

static struct arg decompose_log_softmax(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg sum;

	if (expand_is_empty(&e->n->shape))
		return x;
	x = less_largest(e, x);
	sum = expand_reduce(e, OP_sum, expand_unary(e, OP_exp, x), softmax_dim(e), true);
	return expand_binary(e, OP_sub, x, expand_unary(e, OP_log, sum));
}

/* The dims of normalized_shape, counted from the last. */
static struct arg last_dims(struct expand *e, const struct sym **count)
{
	const struct arg *sizes = &e->n->args[1];
	const struct sym **dims = ARENA_ARRAY(e->g->arena, const struct sym *, (size_t)sizes->n);

	*count = sym_const(e->g->syms, 1);
	if (!dims) {
		e->failed = !pass_out_of_memory(e->err);
		return arg_none();
	}
	for (int i = 0; i < sizes->n; i++) {
		dims[i] = sym_const(e->g->syms, i - sizes->n);
		*count = sym_mul(e->g->syms, *count, sizes->ints[i]);
	}
	return arg_ints(dims, sizes->n);
}

/* x * 1 / sqrt(mean(x * x) + eps) over `dims` */
static struct arg scaled(struct expand *e, struct arg x, struct arg dims, const struct sym *count,
			 double eps)
{
	struct arg mean = expand_mean(e, expand_unary(e, OP_square, x), dims, true, count);

	return expand_binary(
	    e, OP_mul, x,
	    expand_unary(e, OP_rsqrt, expand_binary(e, OP_add, mean, arg_float(eps))));
}

static struct arg affine(struct expand *e, struct arg x)
{
	const struct arg *weight = node_arg(e->n, "weight"), *bias = node_arg(e->n, "bias");

	if (weight && weight->kind == ARG_NODE)
		x = expand_binary(e, OP_mul, x, *weight);
	if (bias && bias->kind == ARG_NODE)
		x = expand_binary(e, OP_add, x, *bias);
	return x;
}

static struct arg decompose_layer_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), x = e->n->args[0];

	x = expand_binary(e, OP_sub, x, expand_mean(e, x, dims, true, count));
	return affine(e, scaled(e, x, dims, count, expand_arg(e, "eps").f));
}

static struct arg decompose_rms_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), eps = expand_arg(e, "eps");

	if (eps.kind == ARG_NONE)
		eps = arg_float(e->n->dtype == DTYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
	return affine(e, scaled(e, e->n->args[0], dims, count, eps.f));
}

static struct arg mul(struct expand *e, struct arg x, struct arg y)
{
	return expand_binary(e, OP_mul, x, y);
}

/* One number for each channel, as a tensor that broadcasts over x. */
static struct arg over_channels(struct expand *e, struct arg w)
{
	for (int i = 2; i < e->n->shape.rank; i++)
		w = expand_binary(e, OP_unsqueeze, w, arg_int(e->g, -1));
	return w;
}

static struct arg channel_affine(struct expand *e, struct arg x)
{
	struct arg weight = expand_arg(e, "weight"), bias = expand_arg(e, "bias");

	if (weight.kind == ARG_NODE)
		x = mul(e, x, over_channels(e, weight));
	if (bias.kind == ARG_NODE)
		x = expand_binary(e, OP_add, x, over_channels(e, bias));
	return x;
}

/* (x - mean) / sqrt(var + eps) */
static struct arg normalised(struct expand *e, struct arg x, struct arg mean, struct arg var)
{
	struct arg scale = expand_binary(e, OP_add, var, expand_arg(e, "eps"));

	return mul(e, expand_binary(e, OP_sub, x, mean), expand_unary(e, OP_rsqrt, scale));
}

/* The same with mean and variance over `dims` of x, `count` elements. */
static struct arg normalised_over(struct expand *e, struct arg x, struct arg dims,
				  const struct sym *count)
{
	struct arg mean = expand_mean(e, x, dims, true, count), square;

	square = expand_unary(e, OP_square, expand_binary(e, OP_sub, x, mean));
	return normalised(e, x, mean, expand_mean(e, square, dims, true, count));
}

/* All dims of x but the second, and how many elements they hold. */
static struct arg batch_dims(struct expand *e, const struct sym **count)
{
	const struct shape *shape = &e->n->shape;
	const struct sym **dims = ARENA_ARRAY(e->g->arena, const struct sym *, MAX_RANK);
	int n = 0;

	*count = sym_const(e->g->syms, 1);
	if (!dims) {
		e->failed = !pass_out_of_memory(e->err);
		return arg_none();
	}
	for (int i = 0; i < shape->rank; i++) {
		if (i == 1)
			continue;
		dims[n++] = sym_const(e->g->syms, i);
		*count = sym_mul(e->g->syms, *count, shape->size[i]);
	}
	return arg_ints(dims, n);
}

static struct arg decompose_batch_norm(struct expand *e)
{
	struct arg x = e->n->args[0], dims;
	const struct sym *count;

	if (!expand_arg(e, "training").b)
		return channel_affine(
		    e, normalised(e, x, over_channels(e, expand_arg(e, "running_mean")),
				  over_channels(e, expand_arg(e, "running_var"))));
	dims = batch_dims(e, &count);
	return channel_affine(e, normalised_over(e, x, dims, count));
}

/* A number for each channel as [groups, channels of a group, 1, ...]. */
static struct arg over_group(struct expand *e, struct arg w, const struct shape *grouped)
{
	const struct sym *sizes[MAX_RANK] = { grouped->size[1], grouped->size[2] };

	for (int i = 2; i < grouped->rank - 1; i++)
		sizes[i] = sym_const(e->g->syms, 1);
	return expand_op(e, OP_reshape, (struct arg[]){ w, arg_ints(sizes, grouped->rank - 1) }, 2);
}

/* [N, C, ...] as [N, groups, channels of a group, ...]: no reshape of x has to copy. */
static struct shape grouped_shape(struct expand *e, const struct sym *groups)
{
	const struct shape *shape = &e->n->shape;
	struct shape s = { .rank = 3 };

	s.size[0] = shape->size[0];
	s.size[1] = groups;
	s.size[2] = sym_floordiv(e->g->syms, shape->size[1], groups);
	for (int i = 2; i < shape->rank; i++)
		if (s.rank < MAX_RANK)
			s.size[s.rank++] = shape->size[i];
		else
			s.size[MAX_RANK - 1] = sym_mul(e->g->syms, s.size[MAX_RANK - 1],
						       shape->size[i]);
	return s;
}

/* x with mean 0 and variance 1 over the dims from the third on. */
static struct arg normalised_after_channels(struct expand *e, struct arg x,
					    const struct shape *shape)
{
	const struct sym *dims[MAX_RANK], *count = sym_const(e->g->syms, 1);

	for (int i = 2; i < shape->rank; i++) {
		dims[i - 2] = sym_const(e->g->syms, i);
		count = sym_mul(e->g->syms, count, shape->size[i]);
	}
	return normalised_over(e, x, arg_ints(dims, shape->rank - 2), count);
}

/* All is done in the shape of the groups, so that it can be one kernel. */
static struct arg over_groups(struct expand *e, const struct sym *groups)
{
	struct arg weight = expand_arg(e, "weight"), bias = expand_arg(e, "bias"), x;
	struct shape grouped = grouped_shape(e, groups);

	x = expand_op(e, OP_reshape,
		      (struct arg[]){ e->n->args[0], arg_ints(grouped.size, grouped.rank) }, 2);
	x = normalised_after_channels(e, x, &grouped);
	if (weight.kind == ARG_NODE)
		x = mul(e, x, over_group(e, weight, &grouped));
	if (bias.kind == ARG_NODE)
		x = expand_binary(e, OP_add, x, over_group(e, bias, &grouped));
	return expand_op(e, OP_reshape,
			 (struct arg[]){ x, arg_ints(e->n->shape.size, e->n->shape.rank) }, 2);
}

static struct arg decompose_group_norm(struct expand *e)
{
	return over_groups(e, expand_arg(e, "num_groups").sym);
}

static struct arg decompose_instance_norm(struct expand *e)
{
	const struct shape *shape = &e->n->shape;

	if (shape->rank < 3) /* no dims after the channels */
		return over_groups(e, shape->size[1]);
	return channel_affine(e, normalised_after_channels(e, e->n->args[0], shape));
}

/* The p-norm over dims. */
static struct arg norm_over(struct expand *e, struct arg x, double p, struct arg dim, bool keep)
{
	struct arg sum;

	if (p == 0) {
		x = expand_cast(e, expand_binary(e, OP_ne, x, arg_float(0)), e->n->dtype);
		return expand_reduce(e, OP_sum, x, dim, keep);
	}

	if (p == 2) {
		sum = expand_reduce(e, OP_sum, expand_unary(e, OP_square, x), dim, keep);
		return expand_unary(e, OP_sqrt, sum);
	}
	x = expand_unary(e, OP_abs, x);
	if (isinf(p))
		return expand_reduce(e, p > 0 ? OP_amax : OP_amin, x, dim, keep);
	if (p == 1)
		return expand_reduce(e, OP_sum, x, dim, keep);
	sum = expand_reduce(e, OP_sum, expand_binary(e, OP_pow, x, arg_float(p)), dim, keep);
	return expand_binary(e, OP_pow, sum, arg_float(1 / p));
}

static struct arg norm_along(struct expand *e, struct arg x, double p, struct arg dim)
{
	return norm_over(e, x, p, dim, true);
}

static struct arg decompose_vector_norm(struct expand *e)
{
	struct arg ord = expand_arg(e, "ord");
	double p = ord.kind == ARG_NONE ? 2 : expand_number(ord);

	return norm_over(e, e->n->args[0], p, expand_arg(e, "dim"), node_keepdim(e->n));
}

static struct arg decompose_linalg_norm(struct expand *e)
{
	return decompose_vector_norm(e);
}

static struct arg decompose_cdist(struct expand *e)
{
	struct arg x = expand_binary(e, OP_unsqueeze, e->n->args[0], arg_int(e->g, -2));
	struct arg y = expand_binary(e, OP_unsqueeze, e->n->args[1], arg_int(e->g, -3));

	return norm_over(e, expand_binary(e, OP_sub, x, y), expand_arg(e, "p").f, arg_int(e->g, -1),
			 false);
}

static struct arg decompose_trace(struct expand *e)
{
	struct arg x = expand_op(e, OP_diagonal, e->n->args, 1);

	return expand_reduce(e, OP_sum, x, arg_none(), false);
}

static struct arg decompose_normalize(struct expand *e)
{
	struct arg x = e->n->args[0];
	struct arg norm = norm_along(e, x, expand_arg(e, "p").f, expand_arg(e, "dim"));

	return expand_binary(e, OP_truediv, x,
			     expand_binary(e, OP_maximum, norm, expand_arg(e, "eps")));
}

/* sum(x * y) over the product of the norms, neither below eps. */
static struct arg decompose_cosine_similarity(struct expand *e)
{
	struct arg dim = expand_arg(e, "dim"), eps = expand_arg(e, "eps"), parts[2];

	for (int i = 0; i < 2; i++) {
		struct arg x = e->n->args[i];

		parts[i] = expand_binary(
		    e, OP_truediv, x, expand_binary(e, OP_maximum, norm_along(e, x, 2, dim), eps));
	}
	return expand_reduce(e, OP_sum, mul(e, parts[0], parts[1]), dim, false);
}

static struct arg decompose_logsumexp(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype), dims = expand_arg(e, "dim");
	struct arg most, finite, sum;
	bool keep = node_keepdim(e->n);

	if (sym_is(expand_count(e), 0)) { /* log(0) */
		sum = expand_reduce(e, OP_sum, x, dims, keep);
		return expand_unary(e, OP_log, sum);
	}
	/* Infinities are not subtracted from themselves. */
	most = expand_reduce(e, OP_amax, x, dims, true);
	finite = expand_binary(e, OP_lt, expand_unary(e, OP_abs, most), arg_float(INFINITY));
	most = expand_op(e, OP_where, (struct arg[]){ finite, most, arg_float(0) }, 3);
	sum = expand_unary(e, OP_exp, expand_binary(e, OP_sub, x, most));
	sum = expand_unary(e, OP_log, expand_reduce(e, OP_sum, sum, dims, keep));
	if (!keep)
		most = expand_reduce(e, OP_sum, most, dims, false); /* of size 1: as it is */
	return expand_binary(e, OP_add, sum, most);
}

static struct arg decompose_count_nonzero(struct expand *e)
{
	struct arg mask = expand_binary(e, OP_ne, e->n->args[0], arg_int(e->g, 0));

	return expand_reduce(e, OP_sum, mask, expand_arg(e, "dim"), false);
}

static struct arg decompose_nansum(struct expand *e)
{
	struct arg x = e->n->args[0], mask;

	if (dtype_category(expand_operand(e)->dtype) != CATEGORY_FLOAT)
		return expand_reduce(e, OP_sum, x, expand_arg(e, "dim"), node_keepdim(e->n));
	mask = expand_unary(e, OP_isnan, x);
	x = expand_op(e, OP_where, (struct arg[]){ mask, arg_float(0), x }, 3);
	return expand_reduce(e, OP_sum, x, expand_arg(e, "dim"), node_keepdim(e->n));
}

/* `masked`: a row that is -inf throughout becomes 0, as in torch. */
static struct arg softmax(struct expand *e, struct arg x, bool masked)
{
	struct arg dim = arg_int(e->g, -1), most = expand_reduce(e, OP_amax, x, dim, true), sum;

	if (masked)
		most = expand_binary(e, OP_maximum, most, arg_float(-FLT_MAX));
	x = expand_unary(e, OP_exp, expand_binary(e, OP_sub, x, most));
	sum = expand_reduce(e, OP_sum, x, dim, true);
	if (masked)
		sum = expand_binary(e, OP_maximum, sum, arg_float(FLT_MIN));
	return expand_binary(e, OP_truediv, x, sum);
}

/* Scores above the diagonal become -inf. */
static struct arg causal(struct expand *e, struct arg scores)
{
	const struct shape *shape;
	struct arg mask;

	if (e->failed)
		return scores;
	shape = &e->g->nodes[scores.node]->shape;
	mask = expand_op(
	    e, OP_ones,
	    (struct arg[]){ arg_ints(shape->size + shape->rank - 2, 2), arg_dtype(DTYPE_BOOL) }, 2);
	mask = expand_binary(e, OP_tril, mask, arg_int(e->g, 0));
	return expand_op(e, OP_where, (struct arg[]){ mask, scores, arg_float(-INFINITY) }, 3);
}

/* x with elements set to 0 at random with probability p, the others scaled. */
static struct arg expand_dropped(struct expand *e, struct arg x, double p, struct arg load)
{
	struct arg size, kept;

	if (e->failed || p == 0)
		return x;
	if (p >= 1)
		return expand_binary(e, OP_mul, x, arg_float(0));
	size = arg_ints(e->g->nodes[x.node]->shape.size, e->g->nodes[x.node]->shape.rank);
	kept = expand_op(
	    e, OP_keep,
	    (struct arg[]){ size, arg_float(p), arg_dtype(e->g->nodes[x.node]->dtype), load }, 4);
	return expand_binary(e, OP_mul, x, kept);
}

static struct arg decompose_dropout(struct expand *e)
{
	return expand_dropped(e, e->n->args[0], e->n->args[2].b ? e->n->args[1].f : 0,
			      arg_int(e->g, DROPOUT_LOAD_BYTES));
}

static struct arg decompose_dropped(struct expand *e)
{
	return expand_dropped(e, e->n->args[0], e->n->args[1].f, e->n->args[2]);
}

static struct arg decompose_scaled_dot_product_attention(struct expand *e)
{
	struct arg mask = expand_arg(e, "attn_mask"), scale = expand_arg(e, "scale"), scores;
	const struct shape *q = &expand_operand(e)->shape;
	const struct sym *width = q->size[q->rank - 1];
	struct arg p = expand_arg(e, "dropout_p"), root;

	scores = expand_binary(e, OP_matmul_nt, e->n->args[0], e->n->args[1]);
	if (scale.kind == ARG_FLOAT || sym_is_const(width)) {
		if (scale.kind != ARG_FLOAT)
			scale = arg_float(1 / sqrt((double)width->value));
		scores = mul(e, scores, scale);
	} else {
		root = expand_op(
		    e, OP_full,
		    (struct arg[]){ arg_ints(NULL, 0), arg_sym(width), arg_dtype(e->n->dtype) }, 3);
		scores = mul(e, scores, expand_unary(e, OP_rsqrt, root));
	}
	if (expand_arg(e, "is_causal").b)
		scores = causal(e, scores);
	if (mask.kind == ARG_NODE && e->g->nodes[mask.node]->dtype == DTYPE_BOOL)
		scores = expand_op(e, OP_where,
				   (struct arg[]){ mask, scores, arg_float(-INFINITY) }, 3);
	else if (mask.kind == ARG_NODE)
		scores = expand_binary(e, OP_add, scores, mask);
	scores = softmax(e, scores, mask.kind == ARG_NODE);
	return expand_binary(e, OP_matmul,
			     expand_dropped(e, scores, p.f, arg_int(e->g, DROPOUT_LOAD_BYTES)),
			     e->n->args[2]);
}

static struct arg reshaped(struct expand *e, struct arg x, const struct sym *const *sizes, int n)
{
	return expand_op(e, OP_reshape, (struct arg[]){ x, arg_ints(sizes, n) }, 2);
}

/* A tensor of any sizes, row by row in one dim. */
static struct arg flattened(struct expand *e, struct arg x)
{
	const struct sym *all = sym_const(e->g->syms, -1);

	return e->g->nodes[x.node]->shape.rank == 1 ? x : reshaped(e, x, &all, 1);
}

static struct arg decompose_embedding(struct expand *e)
{
	const struct arg weight = e->n->args[1], index = e->n->args[0];

	return expand_op(e, OP_lookup, (struct arg[]){ weight, arg_int(e->g, 0), index }, 3);
}

static struct arg decompose_one_hot(struct expand *e)
{
	struct symtab *t = e->g->syms;
	struct arg classes = expand_arg(e, "num_classes"), range, x;

	range = expand_op(
	    e, OP_arange,
	    (struct arg[]){ arg_int(e->g, 0), arg_int(e->g, 1), classes, arg_dtype(DTYPE_I64) }, 4);
	/* Looked up in the range, each class is itself, and in bounds. */
	x = expand_op(e, OP_gather,
		      (struct arg[]){ range, arg_int(e->g, 0), flattened(e, e->n->args[0]) }, 3);
	if (e->n->shape.rank != 2)
		x = reshaped(e, x, e->n->shape.size, e->n->shape.rank - 1);
	x = expand_binary(e, OP_unsqueeze, x, arg_sym(sym_const(t, -1)));
	return expand_cast(e, expand_binary(e, OP_eq, x, range), DTYPE_I64);
}

/* The values of max(x, dim): the same elements as amax. */
static struct arg decompose_max_dim(struct expand *e)
{
	return expand_reduce(e, OP_amax, e->n->args[0], e->n->args[1], node_keepdim(e->n));
}

static struct arg decompose_min_dim(struct expand *e)
{
	return expand_reduce(e, OP_amin, e->n->args[0], e->n->args[1], node_keepdim(e->n));
}

static struct arg decompose_item_of(struct expand *e)
{
	return e->n->args[0];
}

decompose_fn *const norm_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};
