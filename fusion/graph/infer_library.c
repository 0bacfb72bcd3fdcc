/* fusion/graph/infer_library.c -- dtype and shape of searches, statistics, normalisations,
 * attention and random numbers. */
#include "fusion/graph/infer.h"

#include <string.h>

/* The dtype and the shape of the first argument. */
static bool infer_same(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	return op_accepts(in->op, x->dtype, in->err);
}

/* A fixed dim under the name; checks that it is in range. */
static bool dim_of(struct infer *in, const char *name, int *dim)
{
	return infer_dim(in, &infer_tensor(in, 0)->shape, infer_arg(in, name)->sym, dim);
}

/* x without dim, or with size 1 there. */
static void drop_dim(struct infer *in, int dim, bool keep)
{
	const struct shape x = infer_tensor(in, 0)->shape;
	struct shape *out = &in->out->shape;

	out->rank = 0;
	for (int i = 0; i < x.rank; i++) {
		if (i != dim)
			out->size[out->rank++] = x.size[i];
		else if (keep)
			out->size[out->rank++] = sym_const(in->g->syms, 1);
	}
}

static bool infer_extreme_index(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct arg *dim = infer_arg(in, "dim");
	bool keep = infer_arg(in, "keepdim")->b;
	int d = 0;

	in->out->dtype = in->out->compute = DTYPE_I64;
	if (dim->kind == ARG_NONE) {
		if (sym_is(shape_numel(in->g->syms, &x->shape), 0))
			return err_set(in->err, ERR_SHAPE,
				       "%s: an empty tensor has no %s element; give a dim that is "
				       "not empty",
				       in->info->fx, in->op == OP_argmax ? "largest" : "smallest");
		in->out->shape.rank = keep ? x->shape.rank : 0;
		for (int i = 0; i < in->out->shape.rank; i++)
			in->out->shape.size[i] = sym_const(in->g->syms, 1);
		return true;
	}
	if (!dim_of(in, "dim", &d))
		return false;
	if (x->shape.rank && sym_is(x->shape.size[d], 0))
		return err_set(in->err, ERR_SHAPE,
			       "%s: dim %d has size 0, and nothing has no index", in->info->fx, d);
	drop_dim(in, d, keep);
	return true;
}

/* max_dim, min_dim: the values */
static bool infer_extreme(struct infer *in)
{
	int d;

	if (!infer_same(in) || !dim_of(in, "dim", &d))
		return false;
	drop_dim(in, d, infer_arg(in, "keepdim")->b);
	return true;
}

/* sort, and what runs along a dim. */
static bool infer_along(struct infer *in)
{
	int d;

	return infer_same(in) && dim_of(in, "dim", &d);
}

static bool infer_along_indices(struct infer *in)
{
	if (!infer_along(in))
		return false;
	in->out->dtype = in->out->compute = DTYPE_I64;
	return true;
}

static bool infer_topk(struct infer *in)
{
	const struct sym *k = infer_arg(in, "k")->sym;
	struct shape *out = &in->out->shape;
	int64_t most;
	int d;

	if (!infer_along(in) || !dim_of(in, "dim", &d))
		return false;
	most = out->rank ? sym_hint(in->g->syms, out->size[d]) : 1;
	if (sym_hint(in->g->syms, k) < 0 || sym_hint(in->g->syms, k) > most)
		return err_set(in->err, ERR_SHAPE,
			       "topk: k is %lld, and must be from 0 to %lld, the size of dim %d",
			       (long long)sym_hint(in->g->syms, k), (long long)most, d);
	if (out->rank > 0)
		out->size[d] = k;
	return true;
}

static bool infer_topk_indices(struct infer *in)
{
	if (!infer_topk(in))
		return false;
	in->out->dtype = in->out->compute = DTYPE_I64;
	return true;
}

static bool infer_random(struct infer *in)
{
	const struct arg *size = infer_arg(in, "size");

	in->out->dtype = in->out->compute = infer_dtype_arg(in, in->g->real);
	if (in->op == OP_keep && in->out->dtype != DTYPE_F64) /* more exact than what it is for */
		in->out->dtype = in->out->compute = DTYPE_F32;
	in->out->shape.rank = size->n;
	for (int i = 0; i < size->n; i++) {
		in->out->shape.size[i] = size->ints[i];
		if (sym_is_const(size->ints[i]) && size->ints[i]->value < 0)
			return err_set(in->err, ERR_OP, "%s: size %lld of dim %d is negative",
				       in->info->fx, (long long)size->ints[i]->value, i);
	}
	return true;
}

/* logsumexp, nansum, count_nonzero; p-norms too. */
static bool infer_sum_over(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct arg *dims = infer_arg(in, "dim");
	bool keep = infer_arg(in, "keepdim") && infer_arg(in, "keepdim")->b;
	unsigned mask = 0;
	int d;

	in->out->dtype = in->out->compute = x->dtype;
	if (in->op == OP_logsumexp && dtype_category(x->dtype) != CATEGORY_FLOAT)
		in->out->dtype = in->out->compute = in->g->real;
	if (in->op == OP_nansum && dtype_category(x->dtype) != CATEGORY_FLOAT)
		in->out->dtype = in->out->compute = DTYPE_I64;
	for (int i = 0; dims->kind == ARG_INTS && i < dims->n; i++) {
		if (!infer_dim(in, &x->shape, dims->ints[i], &d))
			return false;
		mask |= 1u << d;
	}
	mask = mask ? mask : ~0u;
	for (int i = 0; i < x->shape.rank; i++) {
		if (!(mask >> i & 1))
			in->out->shape.size[in->out->shape.rank++] = x->shape.size[i];
		else if (keep)
			in->out->shape.size[in->out->shape.rank++] = sym_const(in->g->syms, 1);
	}
	if (in->op == OP_count_nonzero)
		in->out->dtype = in->out->compute = DTYPE_I64;
	return op_accepts(in->op, x->dtype, in->err);
}

static bool infer_cosine(struct infer *in)
{
	struct shape all = infer_tensor(in, 0)->shape;
	int d;

	in->out->dtype = in->out->compute = infer_promote(in, 0, 2);
	if (!op_accepts(in->op, in->out->dtype, in->err) ||
	    !infer_broadcast(in, &all, &infer_tensor(in, 1)->shape) ||
	    !infer_dim(in, &all, infer_arg(in, "dim")->sym, &d))
		return false;
	for (int i = 0; i < all.rank; i++)
		if (i != d)
			in->out->shape.size[in->out->shape.rank++] = all.size[i];
	return true;
}

/* Scales and shifts of a normalisation: one number for each channel. */
static bool check_channels(struct infer *in, const char *name, const struct sym *channels)
{
	const struct arg *arg = infer_arg(in, name);
	const struct node *w;

	if (!arg || arg->kind != ARG_NODE)
		return true;
	w = in->g->nodes[arg->node];
	return (w->shape.rank == 1 && infer_same_size(in, w->shape.size[0], channels)) ||
	       err_set(in->err, ERR_SHAPE, "%s: `%s` must have one dim, a number for each channel",
		       in->info->fx, name);
}

/* weight or bias of a normalisation: the normalized shape, and the dtype of x, or
 * float32 where that is float16 or bfloat16. */
static bool check_affine(struct infer *in, const char *name, const struct shape *normal)
{
	const struct arg *arg = infer_arg(in, name);
	char got[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];
	const struct node *w;

	if (!arg || arg->kind == ARG_NONE)
		return true;
	w = in->g->nodes[arg->node];
	if (!shape_equal(&w->shape, normal)) {
		if (w->shape.rank == normal->rank)
			shape_conflict(&w->shape, normal, in->out->conflict);
		return err_set(in->err, ERR_SHAPE,
			       "%s: `%s` has sizes %s, and normalized_shape is %s; they must be "
			       "equal",
			       in->info->fx, name, shape_text(&w->shape, got),
			       shape_text(normal, want));
	}
	return true;
}

/* Whether weight, bias and running statistics have the input's dtype, or float32 for a narrower
 * input; else DTYPE error. */
static bool check_parameters(struct infer *in)
{
	static const char *const names[] = { "weight", "bias", "running_mean", "running_var" };
	const struct node *x = infer_tensor(in, 0), *of[4];
	int n = 0;

	for (int i = 0; i < 4; i++) {
		const struct arg *arg = infer_arg(in, names[i]);

		if (arg && arg->kind == ARG_NODE)
			of[n++] = in->g->nodes[arg->node];
	}
	for (int i = 0; i < n; i++)
		if (of[i]->dtype != of[0]->dtype ||
		    (of[i]->dtype != x->dtype &&
		     (of[i]->dtype != DTYPE_F32 || dtype_wide(x->dtype) != DTYPE_F32)))
			return err_set(in->err, ERR_DTYPE,
				       "%s: the input is %s, and of its parameters one is %s; all "
				       "must be %s%s",
				       in->info->fx, dtype_name(x->dtype), dtype_name(of[i]->dtype),
				       dtype_name(x->dtype),
				       dtype_wide(x->dtype) != DTYPE_F32 || x->dtype == DTYPE_F32
					   ? ""
					   : ", or all float32");
	return true;
}

/* layer_norm, rms_norm */
static bool infer_normalisation(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct arg *sizes = &in->args[1];
	struct shape normal = { .rank = sizes->n }, tail = { .rank = sizes->n };
	char got[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];

	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	if (!op_accepts(in->op, x->dtype, in->err))
		return false;
	if (sizes->n < 1 || sizes->n > x->shape.rank)
		return err_set(in->err, ERR_SHAPE,
			       "%s: normalized_shape has %d sizes, and the input's sizes are %s; "
			       "give its last ones",
			       in->info->fx, sizes->n, shape_text(&x->shape, got));
	for (int i = 0; i < sizes->n; i++) {
		normal.size[i] = sizes->ints[i];
		tail.size[i] = x->shape.size[x->shape.rank - sizes->n + i];
	}
	if (!shape_equal(&normal, &tail)) {
		shape_conflict(&normal, &tail, in->out->conflict);
		return err_set(in->err, ERR_SHAPE,
			       "%s: normalized_shape %s is not how the input's sizes %s end",
			       in->info->fx, shape_text(&normal, want), shape_text(&x->shape, got));
	}
	return check_affine(in, "weight", &normal) && check_affine(in, "bias", &normal) &&
	       check_parameters(in);
}

/* Statistics of one element are no statistics. */
static bool more_than_one_value(struct infer *in, const struct shape *x, int first, const char *of)
{
	char text[SHAPE_TEXT_BYTES];

	for (int d = 0; d < x->rank; d++)
		if ((d == 0 ? first == 0 : d > 1) &&
		    (!sym_is_const(x->size[d]) || x->size[d]->value != 1))
			return true;
	return err_set(in->err, ERR_VALUE,
		       "Expected more than 1 %s when training, got input size torch.Size(%s)", of,
		       shape_text(x, text));
}

static bool infer_channels(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape;
	char text[SHAPE_TEXT_BYTES];

	if (!infer_same(in))
		return false;
	if (x->rank < 2)
		return err_set(in->err, ERR_SHAPE,
			       "%s: sizes %s have no dim of channels; at least 2 dims are needed",
			       in->info->fx, shape_text(x, text));
	if (in->op == OP_group_norm) {
		const struct sym *groups = infer_arg(in, "num_groups")->sym;

		if (sym_is_const(groups) && !sym_is_const(x->size[1])) { /* they alone are fixed */
			in->out->conflict[0] = x->size[1];
			in->out->conflict[1] = sym_const(in->g->syms,
							 sym_hint(in->g->syms, x->size[1]));
		}
		if (!sym_is_const(groups) || groups->value < 1 || !sym_is_const(x->size[1]) ||
		    x->size[1]->value % groups->value)
			return err_set(
			    in->err, ERR_OP,
			    "group_norm: the channels must be divisible by num_groups, and "
			    "the sizes are %s",
			    shape_text(x, text));
		if (sym_is_const(x->size[0]) &&
		    x->size[0]->value * (x->size[1]->value / groups->value) == 1 &&
		    !more_than_one_value(in, x, 2, "value per channel"))
			return false;
	} else if (in->op == OP_batch_norm && !infer_arg(in, "training")->b &&
		   (infer_arg(in, "running_mean")->kind != ARG_NODE ||
		    infer_arg(in, "running_var")->kind != ARG_NODE)) {
		return err_set(in->err, ERR_OP,
			       "batch_norm: with training=False, running_mean and running_var are "
			       "needed");
	}
	if (in->op == OP_batch_norm && infer_arg(in, "training")->b &&
	    !more_than_one_value(in, x, 0, "value per channel"))
		return false;
	if (in->op == OP_instance_norm && !more_than_one_value(in, x, 2, "spatial element"))
		return false;
	return check_parameters(in) && check_channels(in, "weight", x->size[1]) &&
	       check_channels(in, "bias", x->size[1]) &&
	       check_channels(in, "running_mean", x->size[1]) &&
	       check_channels(in, "running_var", x->size[1]);
}

/* p-norms; of matrices only that of all elements. */
static bool infer_linalg_norm(struct infer *in)
{
	const struct arg *dims = infer_arg(in, "dim");
	int rank = infer_tensor(in, 0)->shape.rank;

	if (in->op == OP_linalg_norm && infer_arg(in, "ord")->kind != ARG_NONE &&
	    (dims->kind == ARG_INTS ? dims->n > 1 : rank == 2))
		return err_set(in->err, ERR_UNSUPPORTED,
			       "linalg.norm: norms of matrices are not in the language so far; for "
			       "a norm of the elements write torch.linalg.vector_norm");
	return infer_sum_over(in);
}

static bool infer_cdist(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape, *y = &infer_tensor(in, 1)->shape;
	struct shape *out = &in->out->shape;

	if (!infer_same(in))
		return false;
	if (x->rank < 2 || y->rank != x->rank ||
	    !infer_same_size(in, x->size[x->rank - 1], y->size[y->rank - 1]))
		return err_set(
		    in->err, ERR_SHAPE,
		    "cdist: both tensors must have as many dims, at least 2, and rows of "
		    "one size");
	out->size[out->rank - 1] = y->size[y->rank - 2];
	return true;
}

static bool infer_trace(struct infer *in)
{
	if (!infer_same(in))
		return false;
	if (in->out->shape.rank != 2)
		return err_set(in->err, ERR_SHAPE, "trace: a matrix is needed, not %d dims",
			       in->out->shape.rank);
	in->out->shape.rank = 0;
	if (dtype_category(in->out->dtype) != CATEGORY_FLOAT)
		in->out->dtype = in->out->compute = DTYPE_I64;
	return true;
}

/* [..., L, E] x [..., S, E] x [..., S, D] -> [..., L, D] */
static bool infer_attention(struct infer *in)
{
	const struct node *q = infer_tensor(in, 0), *k = infer_tensor(in, 1);
	const struct node *v = infer_tensor(in, 2), *mask = infer_tensor(in, 3);
	struct shape scores, *out = &in->out->shape;
	int rank = q->shape.rank;

	if (!infer_same(in))
		return false;
	if (rank < 2 || k->shape.rank != rank || v->shape.rank != rank || k->dtype != q->dtype ||
	    v->dtype != q->dtype)
		return err_set(in->err, ERR_SHAPE,
			       "scaled_dot_product_attention: query, key and value must have one "
			       "dtype and as many dims, at least 2");
	if (!infer_same_size(in, q->shape.size[rank - 1], k->shape.size[rank - 1]) ||
	    !infer_same_size(in, k->shape.size[rank - 2], v->shape.size[rank - 2]))
		return err_set(
		    in->err, ERR_SHAPE,
		    "scaled_dot_product_attention: query [..., L, E], key [..., S, E] and "
		    "value [..., S, D] do not fit together");
	if (mask && mask->dtype != DTYPE_BOOL && mask->dtype != DTYPE_F32 &&
	    mask->dtype != q->dtype)
		return err_set(in->err, ERR_DTYPE,
			       "scaled_dot_product_attention: the mask is %s, and must be bool, "
			       "float32 or %s as the query",
			       dtype_name(mask->dtype), dtype_name(q->dtype));
	if (mask) {
		scores = q->shape;
		scores.size[rank - 1] = k->shape.size[rank - 2];
		if (!infer_broadcast(in, &scores, &mask->shape))
			return false;
	}
	out->size[rank - 1] = v->shape.size[rank - 1];
	return true;
}

/* The same by one call; the mask fits already. */
static bool infer_one_attention(struct infer *in)
{
	const struct node *q = infer_tensor(in, 0), *k = infer_tensor(in, 1);
	const struct node *v = infer_tensor(in, 2);
	struct shape *out = &in->out->shape;
	int rank = q->shape.rank;

	if (!infer_same(in))
		return false;
	if (rank < 2 || k->shape.rank != rank || v->shape.rank != rank || k->dtype != q->dtype ||
	    v->dtype != q->dtype)
		return err_set(in->err, ERR_SHAPE, "attention: operands do not fit together");
	out->size[rank - 1] = v->shape.size[rank - 1];
	if (infer_arg(in, "how")->sym->value & ATTENTION_TURNED) {
		out->size[1] = q->shape.size[2];
		out->size[2] = q->shape.size[1];
	}
	return true;
}

/* Rows of all three gradients. */
static bool infer_attention_back(struct infer *in)
{
	const struct node *q = infer_tensor(in, 0), *k = infer_tensor(in, 1);
	const struct node *v = infer_tensor(in, 2), *g = infer_tensor(in, 5),
			  *o = infer_tensor(in, 7);
	struct symtab *t = in->g->syms;
	struct shape *out = &in->out->shape;
	int rank = q->shape.rank;

	if (!infer_same(in))
		return false;
	if (rank < 2 || !shape_equal(&k->shape, &v->shape) || !shape_equal(&g->shape, &q->shape) ||
	    !shape_equal(&o->shape, &q->shape) || k->shape.rank != rank || k->dtype != q->dtype ||
	    v->dtype != q->dtype || g->dtype != q->dtype || o->dtype != q->dtype)
		return err_set(in->err, ERR_SHAPE, "attention_back: operands do not fit together");
	out->size[rank - 2] = sym_add(t, q->shape.size[rank - 2],
				      sym_mul(t, sym_const(t, 2), k->shape.size[rank - 2]));
	return out->size[rank - 2] != NULL;
}

static bool infer_embedding(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *w = infer_tensor(in, 1);

	if (x->dtype != DTYPE_I64 && dtype_category(x->dtype) != CATEGORY_INT)
		return err_set(in->err, ERR_DTYPE,
			       "embedding: indices must be ints, and these are %s",
			       dtype_name(x->dtype));
	if (w->shape.rank != 2)
		return err_set(in->err, ERR_SHAPE, "embedding: the weight must have 2 dims, not %d",
			       w->shape.rank);
	if (x->shape.rank == MAX_RANK)
		return err_set(in->err, ERR_BOUND, "embedding: the result has over %d dims",
			       MAX_RANK);
	in->out->dtype = in->out->compute = w->dtype;
	in->out->shape = x->shape;
	in->out->shape.size[in->out->shape.rank++] = w->shape.size[1];
	return true;
}

static bool infer_one_hot(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct sym *classes = infer_arg(in, "num_classes")->sym;

	if (x->dtype != DTYPE_I64)
		return err_set(in->err, ERR_DTYPE,
			       "one_hot: indices must be int64, and these are %s",
			       dtype_name(x->dtype));
	if (!sym_is_const(classes) || classes->value < 1 || x->shape.rank == MAX_RANK)
		return err_set(in->err, ERR_OP,
			       "one_hot: num_classes must be a positive int; without it the shape "
			       "would depend on values");
	in->out->dtype = in->out->compute = DTYPE_I64;
	in->out->shape = x->shape;
	in->out->shape.size[in->out->shape.rank++] = classes;
	return true;
}

static bool infer_glu(struct infer *in)
{
	struct symtab *t = in->g->syms;
	struct shape *out = &in->out->shape;
	const struct sym *two = sym_const(t, 2), *half;
	int d;

	if (!infer_same(in) || !dim_of(in, "dim", &d))
		return false;
	half = out->rank ? sym_floordiv(t, out->size[d], two) : NULL;
	if (out->rank == 0 || !infer_equal(in, half ? sym_mul(t, half, two) : NULL, out->size[d]))
		return err_set(in->err, ERR_SHAPE, "glu: dim %d must have an even size", d);
	out->size[d] = half;
	return true;
}

/* Numbers of the program: float64, and both of one shape. */
static bool infer_number(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *y = infer_tensor(in, 1);

	if (x->dtype != DTYPE_F64 || y->dtype != DTYPE_F64 || !shape_equal(&x->shape, &y->shape))
		return err_set(in->err, ERR_TYPE,
			       "number: the operands are no float64 of one shape");
	in->out->dtype = in->out->compute = DTYPE_F64;
	in->out->shape = x->shape;
	return true;
}

static bool infer_dropout(struct infer *in)
{
	double p = infer_arg(in, "p")->f;

	if (!(p >= 0 && p <= 1))
		return err_set(in->err, ERR_VALUE,
			       "dropout probability has to be between 0 and 1, but got %g", p);
	return infer_same(in);
}

static bool is_square(struct infer *in, const struct shape *x)
{
	int rank = x->rank;

	if (rank < 2)
		return err_set(in->err, ERR_OP,
			       "linalg: The input tensor A must have at least 2 dimensions.");
	return infer_same_size(in, x->size[rank - 2], x->size[rank - 1]) ||
	       err_set(in->err, ERR_OP,
		       "linalg: A must be batches of square matrices, but they are %lld by %lld "
		       "matrices",
		       (long long)sym_hint(in->g->syms, x->size[rank - 2]),
		       (long long)sym_hint(in->g->syms, x->size[rank - 1]));
}

/* Of a matrix of m rows and n columns: how many numbers its factors have. */
static const struct sym *factor_size(struct infer *in, const char *what, const struct sym *m,
				     const struct sym *n)
{
	struct symtab *t = in->g->syms;
	const struct sym *k = sym_min(t, m, n), *square = sym_mul(t, n, n);

	if (strcmp(what, "det") == 0)
		return sym_const(t, 3);
	if (strcmp(what, "lu") == 0 || strcmp(what, "eigh") == 0)
		return sym_add(t, square, n);
	if (strcmp(what, "eig") == 0)
		return sym_mul(t, sym_const(t, 2), sym_add(t, square, n));
	if (strcmp(what, "qr") == 0)
		return sym_mul(t, k, sym_add(t, m, n));
	if (strcmp(what, "qr_full") == 0)
		return sym_mul(t, m, sym_add(t, m, n));
	if (strcmp(what, "svd") == 0)
		return sym_mul(t, k, sym_add(t, sym_add(t, m, n), sym_const(t, 1)));
	if (strcmp(what, "svd_full") == 0)
		return sym_add(t, sym_add(t, sym_mul(t, m, m), square), k);
	return square; /* cholesky, exp */
}

static bool infer_factor(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape;
	const char *what = infer_arg(in, "what")->str;
	struct shape *out = &in->out->shape;
	int rank = x->rank;

	if (!infer_same(in))
		return false;
	if (strncmp(what, "qr", 2) != 0 && strncmp(what, "svd", 3) != 0 && !is_square(in, x))
		return false;
	if (rank < 2)
		return err_set(in->err, ERR_OP,
			       "linalg: The input tensor A must have at least 2 dimensions.");
	out->rank = rank - 1;
	out->size[rank - 2] = factor_size(in, what, x->size[rank - 2], x->size[rank - 1]);
	return out->size[rank - 2] ||
	       err_set(in->err, ERR_BOUND,
		       "linalg: the sizes of this matrix are too long a formula");
}

static bool infer_solve(struct infer *in)
{
	const struct shape *a = &infer_tensor(in, 0)->shape, *b = &infer_tensor(in, 1)->shape;

	in->out->dtype = in->out->compute = infer_tensor(in, 1)->dtype;
	in->out->shape = *b;
	if (!op_accepts(in->op, in->out->dtype, in->err) || !infer_alike(in, 0, 2) ||
	    !is_square(in, a))
		return false;
	if (a->rank != b->rank || !infer_same_size(in, a->size[a->rank - 1], b->size[a->rank - 2]))
		return err_set(in->err, ERR_OP,
			       "linalg: Incompatible shapes of A and B for the equation AX = B");
	return true;
}

static bool infer_bits(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	struct shape *out = &in->out->shape;
	enum dtype to = infer_arg(in, "dtype")->dtype;
	size_t from_bytes = dtype_bytes(x->dtype), to_bytes = dtype_bytes(to);
	const struct sym *last;

	in->out->dtype = in->out->compute = to;
	*out = x->shape;
	if (from_bytes == to_bytes)
		return true;
	if (out->rank == 0)
		return err_set(in->err, ERR_OP,
			       "self.dim() cannot be 0 to view %s as %s (different element sizes)",
			       dtype_name(x->dtype), dtype_name(to));
	last = sym_mul(in->g->syms, out->size[out->rank - 1],
		       sym_const(in->g->syms, (int64_t)from_bytes));
	if (from_bytes < to_bytes && sym_hint(in->g->syms, last) % (int64_t)to_bytes != 0)
		return err_set(in->err, ERR_OP,
			       "self.size(-1) must be divisible by %zu to view %s as %s (different "
			       "element sizes), but got %lld",
			       to_bytes / from_bytes, dtype_name(x->dtype), dtype_name(to),
			       (long long)sym_hint(in->g->syms, out->size[out->rank - 1]));
	out->size[out->rank - 1] = sym_floordiv(in->g->syms, last,
						sym_const(in->g->syms, (int64_t)to_bytes));
	return true;
}

infer_fn *const library_rules[OP_COUNT] = {
#define RULE_library(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
