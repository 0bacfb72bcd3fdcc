/* fusion/graph/infer_index.c -- shapes of what moves elements: cat, roll, gather.
 *
 * Values of an index tensor are not known here: the functions check them when
 * they run.
 */
#include <string.h>

#include "fusion/graph/infer.h"

static const struct sym *number(const struct infer *in, int64_t value)
{
	return sym_const(in->g->syms, value);
}

/* The result has dtype and shape of x. */
static const struct shape *as_input(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	return &x->shape;
}

static bool sizes_differ(struct infer *in, const struct shape *a, const struct shape *b, int dim)
{
	char one[SHAPE_TEXT_BYTES], other[SHAPE_TEXT_BYTES];

	return err_set(
	    in->err, ERR_SHAPE,
	    "%s: sizes %s and %s differ in another dim than %d; they must be equal there",
	    in->info->fx, shape_text(a, one), shape_text(b, other), dim);
}

/* An empty tensor of one dim joins anything, as torch has had it always. */
static bool is_nothing(const struct node *x)
{
	return x->shape.rank == 1 && sym_is(x->shape.size[0], 0);
}

static bool infer_cat(struct infer *in)
{
	struct shape *out = &in->out->shape;
	const struct node *first = infer_tensor(in, 1), *x; /* there is one at least */
	int dim;

	for (int i = 2; i < in->info->n_params; i++) {
		x = infer_tensor(in, i);
		if (x && is_nothing(first))
			first = x;
	}
	in->out->dtype = in->out->compute = infer_promote(in, 1, in->info->n_params);
	if (first->shape.rank == 0)
		return err_set(in->err, ERR_SHAPE,
			       "cat: a tensor without dimensions; write torch.stack()");
	if (!infer_dim(in, &first->shape, in->args[0].sym, &dim))
		return false;
	*out = first->shape;
	out->size[dim] = number(in, 0);
	for (int i = 1; i < in->info->n_params; i++) {
		x = infer_tensor(in, i);
		if (!x || (is_nothing(x) && first->shape.rank != 1))
			continue;
		if (x->shape.rank != out->rank)
			return sizes_differ(in, &first->shape, &x->shape, dim);
		for (int d = 0; d < out->rank; d++)
			if (d != dim && !infer_equal(in, out->size[d], x->shape.size[d]))
				return sizes_differ(in, &first->shape, &x->shape, dim);
		out->size[dim] = sym_add(in->g->syms, out->size[dim], x->shape.size[dim]);
	}
	return true;
}

static bool dims_once(struct infer *in, const struct shape *x, const struct arg *dims)
{
	unsigned seen = 0;
	int dim;

	for (int i = 0; i < dims->n; i++) {
		if (!infer_dim(in, x, dims->ints[i], &dim))
			return false;
		if (seen >> dim & 1)
			return err_set(in->err, ERR_OP, "%s: dim %d appears twice", in->info->fx,
				       dim);
		seen |= 1u << dim;
	}
	return true;
}

static bool infer_flip(struct infer *in)
{
	return dims_once(in, as_input(in), &in->args[1]);
}

static bool infer_roll(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct arg *shifts = &in->args[1], *dims = &in->args[2];

	if (dims->n ? shifts->n != dims->n : shifts->n != 1)
		return err_set(in->err, ERR_OP, "roll: %d shifts for %d dims; give as many",
			       shifts->n, dims->n);
	for (int i = 0; i < shifts->n; i++)
		if (!sym_is_const(shifts->ints[i]))
			return err_set(in->err, ERR_TYPE,
				       "roll: a shift depends on a size; use a fixed int");
	return dims_once(in, x, dims);
}

static bool infer_repeat(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct arg *times = &in->args[1];
	struct shape *out = &in->out->shape;
	int rank = times->n > x->rank ? times->n : x->rank;

	if (in->op == OP_repeat && times->n < x->rank)
		return err_set(in->err, ERR_SHAPE,
			       "repeat: %d counts for a tensor of %d dims; give one for each",
			       times->n, x->rank);
	out->rank = rank;
	for (int d = 0; d < rank; d++) {
		int at = d - (rank - x->rank), count = d - (rank - times->n);
		const struct sym *size = at < 0 ? number(in, 1) : x->size[at];
		const struct sym *n = count < 0 ? number(in, 1) : times->ints[count];

		if (!infer_at_least(in, n, number(in, 0)))
			return err_set(in->err, ERR_OP, "%s: a count is negative", in->info->fx);
		out->size[d] = sym_mul(in->g->syms, size, n);
	}
	return true;
}

static bool infer_masked_fill(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct node *mask = infer_tensor(in, 1), *value = infer_tensor(in, 2);
	enum dtype_category wanted = dtype_category(in->out->dtype);

	(void)x;
	if (mask->dtype != DTYPE_BOOL)
		return err_set(in->err, ERR_DTYPE,
			       "masked_fill: the mask is %s, and a bool tensor is needed; write a "
			       "comparison such as x > 0",
			       dtype_name(mask->dtype));
	if (value && value->shape.rank > 0)
		return err_set(
		    in->err, ERR_SHAPE,
		    "masked_fill: the value is a tensor with dims; one number is needed, "
		    "or write torch.where(mask, value, x)");
	if (in->args[2].kind == ARG_FLOAT && wanted != CATEGORY_FLOAT)
		return err_set(in->err, ERR_DTYPE,
			       "masked_fill: the value is a float and the tensor %s; convert one",
			       dtype_name(in->out->dtype));
	return infer_broadcast(in, &in->out->shape, &mask->shape);
}

static bool infer_fill(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct node *value = infer_tensor(in, 1);
	struct shape both = *x;
	char have[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];

	if (!value)
		return true;
	if (!infer_broadcast(in, &both, &value->shape))
		return false;
	return shape_equal(&both, x) ||
	       err_set(in->err, ERR_SHAPE, "%s: sizes %s do not fit into %s", in->info->fx,
		       shape_text(&value->shape, have), shape_text(x, want));
}

static bool is_index(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_INT;
}

static bool check_index(struct infer *in, const struct node *index)
{
	return is_index(index->dtype) ||
	       err_set(in->err, ERR_DTYPE, "%s: the index is %s, and an int tensor is needed",
		       in->info->fx, dtype_name(index->dtype));
}

/* gather, scatter: index may be smaller than x in every dim but `dim`. */
static bool check_inside(struct infer *in, const struct shape *index, const struct shape *x,
			 int dim, const char *what)
{
	char one[SHAPE_TEXT_BYTES], other[SHAPE_TEXT_BYTES];
	bool fits = index->rank == x->rank;

	for (int d = 0; fits && d < x->rank; d++)
		fits = d == dim || infer_at_least(in, x->size[d], index->size[d]);
	return fits || err_set(in->err, ERR_SHAPE,
			       "%s: index with sizes %s does not lie inside %s with sizes %s",
			       in->info->fx, shape_text(index, one), what, shape_text(x, other));
}

static bool infer_gather(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *index = infer_tensor(in, 2);
	int dim;

	as_input(in);
	if (!check_index(in, index) || !infer_dim(in, &x->shape, in->args[1].sym, &dim) ||
	    !check_inside(in, &index->shape, &x->shape, dim, "the input"))
		return false;
	in->out->shape = index->shape;
	return true;
}

static bool infer_index_select(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct node *index = infer_tensor(in, 2);
	int dim;

	if (!check_index(in, index) || !infer_dim(in, x, in->args[1].sym, &dim))
		return false;
	if (index->shape.rank > 1 || x->rank == 0)
		return err_set(in->err, ERR_SHAPE,
			       "index_select: the index must have one dim, and the input at least "
			       "one; write x[index] for others");
	in->out->shape.size[dim] = index->shape.rank ? index->shape.size[0] : number(in, 1);
	return true;
}

static bool infer_scatter(struct infer *in)
{
	const struct shape *x = as_input(in);
	const struct node *index = infer_tensor(in, 2), *src = infer_tensor(in, 3);
	int dim;

	if (!check_index(in, index) || !infer_dim(in, x, in->args[1].sym, &dim) ||
	    !check_inside(in, &index->shape, x, dim, "the input"))
		return false;
	if (!src)
		return true;
	if (src->dtype != in->out->dtype)
		return err_set(in->err, ERR_DTYPE,
			       "%s: src is %s and the input %s; both must have one dtype",
			       in->info->fx, dtype_name(src->dtype), dtype_name(in->out->dtype));
	return check_inside(in, &index->shape, &src->shape, -1, "src");
}

/* The indices of x[..., i, j, k]: of one shape, at dims dim, dim + 1, ... */
static int count_indices(const struct infer *in, int first)
{
	int n = 0;

	while (first + n < in->info->n_params && in->args[first + n].kind == ARG_NODE)
		n++;
	return n;
}

static bool indexed(struct infer *in, int first, struct shape *out)
{
	const struct node *x = infer_tensor(in, 0), *index = infer_tensor(in, first);
	int n = count_indices(in, first), dim;

	for (int i = 0; i < n; i++)
		if (!check_index(in, infer_tensor(in, first + i)) ||
		    !shape_equal(&infer_tensor(in, first + i)->shape, &index->shape))
			return err_set(in->err, ERR_SHAPE,
				       "%s: the indices must be int tensors of one shape",
				       in->info->fx);
	if (!infer_dim(in, &x->shape, in->args[1].sym, &dim))
		return false;
	if (dim + n > x->shape.rank || x->shape.rank - n + index->shape.rank > MAX_RANK)
		return err_set(in->err, ERR_SHAPE, "%s: %d indices for a tensor of %d dims",
			       in->info->fx, n, x->shape.rank);
	*out = (struct shape){ 0 };
	for (int d = 0; d < dim; d++)
		out->size[out->rank++] = x->shape.size[d];
	for (int d = 0; d < index->shape.rank; d++)
		out->size[out->rank++] = index->shape.size[d];
	for (int d = dim + n; d < x->shape.rank; d++)
		out->size[out->rank++] = x->shape.size[d];
	return true;
}

static bool infer_index(struct infer *in)
{
	as_input(in);
	return indexed(in, 2, &in->out->shape);
}

static bool infer_index_put(struct infer *in)
{
	const struct node *value = infer_tensor(in, 2);
	char have[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];
	struct shape part;

	as_input(in);
	if (!indexed(in, 3, &part))
		return false;
	if (value->dtype != in->out->dtype || !shape_equal(&value->shape, &part))
		return err_set(in->err, ERR_SHAPE,
			       "%s: a value of sizes %s does not go into a part of sizes %s",
			       in->info->fx, shape_text(&value->shape, have),
			       shape_text(&part, want));
	return true;
}

static bool infer_put_view(struct infer *in)
{
	const struct node *value = infer_tensor(in, 1);
	const struct arg *size = &in->args[2], *stride = &in->args[3];

	as_input(in);
	if (size->n != value->shape.rank || stride->n != size->n || value->dtype != in->out->dtype)
		return err_set(in->err, ERR_INTERNAL, "put_view: the value does not fit");
	for (int d = 0; d < size->n; d++)
		if (size->ints[d] != value->shape.size[d])
			return err_set(in->err, ERR_INTERNAL, "put_view: sizes differ");
	return true;
}

static bool infer_triangle(struct infer *in)
{
	const struct shape *x = as_input(in);

	return x->rank >= 2 ||
	       err_set(in->err, ERR_SHAPE, "%s: a tensor of %d dims; at least 2 are needed",
		       in->info->fx, x->rank);
}

static bool new_sizes(struct infer *in, const struct sym *const *sizes, int n)
{
	if (n > MAX_RANK)
		return err_set(in->err, ERR_BOUND, "%s: %d dims; %d are the most", in->info->fx, n,
			       MAX_RANK);
	in->out->shape.rank = n;
	for (int d = 0; d < n; d++) {
		in->out->shape.size[d] = sizes[d];
		if (!infer_at_least(in, sizes[d], number(in, 0)))
			return err_set(in->err, ERR_OP, "%s: size %lld of dim %d is negative",
				       in->info->fx, (long long)sym_hint(in->g->syms, sizes[d]), d);
	}
	return true;
}

static bool infer_created(struct infer *in)
{
	const struct sym *sizes[2] = { in->args[0].sym, in->args[0].sym };

	in->out->dtype = in->out->compute = infer_dtype_arg(in, in->g->real);
	if (in->op == OP_arange || in->op == OP_linspace)
		return new_sizes(in, &in->args[2].sym, 1);
	if (in->args[1].kind == ARG_INT)
		sizes[1] = in->args[1].sym;
	return new_sizes(in, sizes, 2);
}

static bool infer_new(struct infer *in)
{
	in->out->dtype = in->out->compute = infer_dtype_arg(in, infer_tensor(in, 0)->dtype);
	return new_sizes(in, in->args[1].ints, in->args[1].n);
}

infer_fn *const index_rules[OP_COUNT] = {
#define RULE_index(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
