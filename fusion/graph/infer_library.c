/* fusion/graph/infer_library.c -- dtype and shape of searches, statistics and random numbers. */
#include "fusion/graph/infer.h"

static bool as_first(struct infer *in)
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

	if (!as_first(in) || !dim_of(in, "dim", &d))
		return false;
	drop_dim(in, d, infer_arg(in, "keepdim")->b);
	return true;
}

static bool infer_sort(struct infer *in, bool indices)
{
	int d;

	if (!as_first(in) || !dim_of(in, "dim", &d))
		return false;
	if (indices)
		in->out->dtype = in->out->compute = DTYPE_I64;
	return true;
}

static bool infer_topk(struct infer *in, bool indices)
{
	const struct sym *k = infer_arg(in, "k")->sym;
	struct shape *out = &in->out->shape;
	int64_t most;
	int d;

	if (!infer_sort(in, indices) || !dim_of(in, "dim", &d))
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

static bool infer_random(struct infer *in)
{
	const struct arg *size = infer_arg(in, "size");

	in->out->dtype = in->out->compute = infer_dtype_arg(in, DTYPE_F32);
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

static bool infer_logsumexp(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct arg *dims = infer_arg(in, "dim");
	bool keep = infer_arg(in, "keepdim") && infer_arg(in, "keepdim")->b;
	unsigned mask = 0;
	int d;

	in->out->dtype = in->out->compute = x->dtype;
	if (in->op == OP_logsumexp && dtype_category(x->dtype) != CATEGORY_FLOAT)
		in->out->dtype = in->out->compute = DTYPE_F32;
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
	return op_accepts(in->op, x->dtype, in->err);
}

static bool infer_count(struct infer *in)
{
	if (!infer_logsumexp(in))
		return false;
	if (in->op == OP_count_nonzero)
		in->out->dtype = in->out->compute = DTYPE_I64;
	return true;
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

	if (!as_first(in))
		return false;
	if (x->rank < 2)
		return err_set(in->err, ERR_SHAPE,
			       "%s: sizes %s have no dim of channels; at least 2 dims are needed",
			       in->info->fx, shape_text(x, text));
	if (in->op == OP_group_norm) {
		const struct sym *groups = infer_arg(in, "num_groups")->sym;

		if (!sym_is_const(groups) || groups->value < 1 || !sym_is_const(x->size[1]) ||
		    x->size[1]->value % groups->value)
			return err_set(
			    in->err, ERR_OP,
			    "group_norm: the channels must be divisible by num_groups, and "
			    "the sizes are %s",
			    shape_text(x, text));
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
	return infer_parameters(in) && check_channels(in, "weight", x->size[1]) &&
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
	return infer_logsumexp(in);
}

static bool infer_cdist(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape, *y = &infer_tensor(in, 1)->shape;
	struct shape *out = &in->out->shape;

	if (!as_first(in))
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
	if (!as_first(in))
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

	if (!as_first(in))
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

	if (!as_first(in))
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

	if (!as_first(in) || !dim_of(in, "dim", &d))
		return false;
	half = out->rank ? sym_floordiv(t, out->size[d], two) : NULL;
	if (out->rank == 0 || !infer_equal(in, half ? sym_mul(t, half, two) : NULL, out->size[d]))
		return err_set(in->err, ERR_SHAPE, "glu: dim %d must have an even size", d);
	out->size[d] = half;
	return true;
}

/* The dtype and the shape of the first argument. */
static bool keeps_first(enum op op)
{
	switch (op) {
	case OP_item_of:
	case OP_divisor:
	case OP_leaky_relu:
	case OP_elu:
	case OP_celu:
	case OP_selu:
	case OP_softplus:
	case OP_relu6:
	case OP_hardtanh:
	case OP_hardswish:
	case OP_hardsigmoid:
	case OP_mish:
	case OP_logsigmoid:
	case OP_softsign:
	case OP_tanhshrink:
	case OP_normalize:
		return true;
	default:
		return false;
	}
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
	return as_first(in);
}

bool infer_library(struct infer *in, bool *known)
{
	*known = true;
	switch (in->op) {
	case OP_argmax:
	case OP_argmin:
		return infer_extreme_index(in);
	case OP_max_dim:
	case OP_min_dim:
		return infer_extreme(in);
	case OP_sort_values:
	case OP_argsort:
		return infer_sort(in, in->op == OP_argsort);
	case OP_topk_values:
	case OP_topk_indices:
		return infer_topk(in, in->op == OP_topk_indices);
	case OP_uniform:
	case OP_normal:
	case OP_random_ints:
	case OP_permutation:
	case OP_keep:
		return infer_random(in);
	case OP_logsumexp:
	case OP_count_nonzero:
	case OP_nansum:
		return infer_count(in);
	case OP_vector_norm:
	case OP_linalg_norm:
		return infer_linalg_norm(in);
	case OP_cdist:
		return infer_cdist(in);
	case OP_trace:
		return infer_trace(in);
	case OP_number:
		return infer_number(in);
	case OP_logcumsumexp:
	case OP_cummax_values:
	case OP_cummin_values:
		return infer_sort(in, false);
	case OP_cummax_indices:
	case OP_cummin_indices:
		return infer_sort(in, true);
	case OP_cosine_similarity:
		return infer_cosine(in);
	case OP_batch_norm:
	case OP_group_norm:
	case OP_instance_norm:
		return infer_channels(in);
	case OP_scaled_dot_product_attention:
		return infer_attention(in);
	case OP_attention:
		return infer_one_attention(in);
	case OP_embedding:
		return infer_embedding(in);
	case OP_one_hot:
		return infer_one_hot(in);
	case OP_glu:
		return infer_glu(in);
	case OP_dropout:
		return infer_dropout(in);
	default:
		*known = keeps_first(in->op);
		return *known && as_first(in);
	}
}
