/* fusion/graph/infer_view.c -- shapes of views.
 *
 * Sizes may be symbols: what cannot be proved of them but holds at the sizes of
 * the capture becomes a fact, which capture guards.  So no view ever reaches
 * past its base.
 */
#include <string.h>

#include "fusion/graph/infer.h"

/* A size that is 1 by itself or at the capture; then it is a fact. */
static bool is_one(struct infer *in, const struct sym *size)
{
	struct symtab *syms = in->g->syms;

	if (sym_is_const(size))
		return size->value == 1;
	if (sym_at_least(syms, size, sym_const(syms, 2)))
		return false;
	if (sym_hint(syms, size) == 1)
		return infer_equal(in, size, sym_const(syms, 1));
	infer_at_least(in, size, sym_const(syms, 2));
	return false;
}

static const struct sym *number(const struct infer *in, int64_t value)
{
	return sym_const(in->g->syms, value);
}

static const struct shape *viewed(const struct infer *in)
{
	return &infer_tensor(in, 0)->shape;
}

/* The tensor itself. */
static bool infer_view(struct infer *in)
{
	in->out->shape = *viewed(in);
	return true;
}

/* Argument i as a dim of a tensor with that rank. */
static bool dim_arg(const struct infer *in, int i, const struct shape *x, int *out)
{
	return infer_dim(in, x, in->args[i].sym, out);
}

static bool too_deep(struct infer *in, int rank)
{
	return err_set(in->err, ERR_BOUND, "%s: %d dims; %d are the most", in->info->fx, rank,
		       MAX_RANK);
}

static bool no_fit(struct infer *in, const struct shape *x, const struct shape *to)
{
	char have[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];

	return err_set(in->err, ERR_SHAPE,
		       "%s: sizes %s do not have as many elements as the input's %s; the products "
		       "must be equal, and one size may be -1",
		       in->info->fx, shape_text(to, want), shape_text(x, have));
}

/* Sizes with one -1 for `total` elements -> out; `x` is for the message. */
static bool fill_sizes(struct infer *in, const struct sym *const *sizes, int n,
		       const struct sym *total, const struct shape *x, struct shape *out)
{
	struct symtab *syms = in->g->syms;
	const struct sym *product = number(in, 1);
	int open = -1;

	out->rank = n;
	for (int i = 0; i < n; i++) {
		out->size[i] = sizes[i];
		if (sym_is(sizes[i], -1) && open < 0) {
			open = i;
			continue;
		}
		if (!infer_at_least(in, sizes[i], number(in, 0)))
			return err_set(in->err, ERR_OP,
				       "%s: a size is negative; only one may be, as -1",
				       in->info->fx);
		product = sym_mul(syms, product, sizes[i]);
	}
	if (open >= 0 && product && !sym_is(product, 0)) {
		out->size[open] = sym_floordiv(syms, total, product);
		product = sym_mul(syms, product, out->size[open]);
	}
	if (infer_equal(in, product, total))
		return true;
	if (open >= 0) /* as it was written */
		out->size[open] = sizes[open];
	return no_fit(in, x, out);
}

static bool infer_reshape(struct infer *in)
{
	const struct shape *x = viewed(in);
	const struct arg *sizes = &in->args[1];

	if (in->op == OP_view_as) {
		in->out->shape = infer_tensor(in, 1)->shape;
		return infer_equal(in, shape_numel(in->g->syms, x),
				   shape_numel(in->g->syms, &in->out->shape)) ||
		       no_fit(in, x, &in->out->shape);
	}
	if (sizes->n > MAX_RANK)
		return too_deep(in, sizes->n);
	return fill_sizes(in, sizes->ints, sizes->n, shape_numel(in->g->syms, x), x,
			  &in->out->shape);
}

static bool infer_flatten(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct shape *out = &in->out->shape;
	int first, last;

	if (!dim_arg(in, 1, x, &first) || !dim_arg(in, 2, x, &last))
		return false;
	if (first > last)
		return err_set(in->err, ERR_OP, "flatten: start_dim %d lies after end_dim %d",
			       first, last);
	if (x->rank == 0) {
		*out = (struct shape){ .rank = 1, .size = { number(in, 1) } };
		return true;
	}
	for (int d = 0; d < x->rank; d++) {
		if (d > first && d <= last)
			out->size[out->rank - 1] = sym_mul(in->g->syms, out->size[out->rank - 1],
							   x->size[d]);
		else
			out->size[out->rank++] = x->size[d];
	}
	return true;
}

static bool infer_unflatten(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct shape *out = &in->out->shape, part;
	const struct arg *sizes = &in->args[2];
	int dim;

	if (!dim_arg(in, 1, x, &dim))
		return false;
	if (x->rank == 0 || x->rank - 1 + sizes->n > MAX_RANK)
		return too_deep(in, x->rank - 1 + sizes->n);
	if (!fill_sizes(in, sizes->ints, sizes->n, x->size[dim], x, &part))
		return false;
	for (int d = 0; d < x->rank; d++) {
		if (d != dim)
			out->size[out->rank++] = x->size[d];
		for (int i = 0; d == dim && i < part.rank; i++)
			out->size[out->rank++] = part.size[i];
	}
	return true;
}

static bool infer_squeeze(struct infer *in)
{
	const struct shape *x = viewed(in);
	const struct arg *dims = &in->args[1];
	unsigned mask = dims->kind == ARG_NONE ? ~0u : 0;
	int dim;

	for (int i = 0; dims->kind == ARG_INTS && i < dims->n; i++) {
		if (!infer_dim(in, x, dims->ints[i], &dim))
			return false;
		mask |= 1u << dim;
	}
	for (int d = 0; d < x->rank; d++)
		if (!(mask >> d & 1) || !is_one(in, x->size[d]))
			in->out->shape.size[in->out->shape.rank++] = x->size[d];
	return true;
}

static bool infer_unsqueeze(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct shape longer = { .rank = x->rank + 1 }, *out = &in->out->shape;
	int dim;

	if (longer.rank > MAX_RANK)
		return too_deep(in, longer.rank);
	for (int d = 0; d < longer.rank; d++) /* for the message */
		longer.size[d] = d < x->rank ? x->size[d] : number(in, 1);
	if (!dim_arg(in, 1, &longer, &dim))
		return false;
	out->rank = longer.rank;
	for (int d = 0; d < out->rank; d++)
		out->size[d] = d == dim ? number(in, 1) : x->size[d > dim ? d - 1 : d];
	return true;
}

static bool each_once(struct infer *in, const struct shape *x, const struct arg *dims, int *out)
{
	unsigned seen = 0;

	for (int i = 0; i < dims->n; i++) {
		if (!infer_dim(in, x, dims->ints[i], &out[i]))
			return false;
		if (seen >> out[i] & 1)
			return err_set(in->err, ERR_OP,
				       "%s: dim %d appears twice; name each dim once", in->info->fx,
				       out[i]);
		seen |= 1u << out[i];
	}
	return true;
}

static bool infer_permute(struct infer *in)
{
	const struct shape *x = viewed(in);
	const struct arg *dims = &in->args[1];
	int order[MAX_RANK];

	if (dims->n != x->rank)
		return err_set(in->err, ERR_SHAPE,
			       "permute: %d dims for a tensor of %d; name each dim once", dims->n,
			       x->rank);
	if (!each_once(in, x, dims, order))
		return false;
	in->out->shape.rank = x->rank;
	for (int d = 0; d < x->rank; d++)
		in->out->shape.size[d] = x->size[order[d]];
	return true;
}

static bool infer_transpose(struct infer *in)
{
	const struct shape *x = viewed(in);
	int a = 0, b = 1;

	in->out->shape = *x;
	if (in->op == OP_t && x->rank > 2)
		return err_set(in->err, ERR_SHAPE,
			       "t: a tensor of %d dims; t() takes at most 2, write "
			       "x.transpose(dim0, dim1)",
			       x->rank);
	if (in->op == OP_t && x->rank < 2)
		return true;
	if (in->op == OP_transpose && (!dim_arg(in, 1, x, &a) || !dim_arg(in, 2, x, &b)))
		return false;
	if (x->rank > 0) {
		in->out->shape.size[a] = x->size[b];
		in->out->shape.size[b] = x->size[a];
	}
	return true;
}

static bool infer_movedim(struct infer *in)
{
	const struct shape *x = viewed(in);
	int from[MAX_RANK], to[MAX_RANK], next = 0;
	unsigned taken = 0;
	struct shape *out = &in->out->shape;

	if (in->args[1].n != in->args[2].n || in->args[1].n > MAX_RANK)
		return err_set(in->err, ERR_OP,
			       "movedim: %d dims are moved to %d places; give as many",
			       in->args[1].n, in->args[2].n);
	if (!each_once(in, x, &in->args[1], from) || !each_once(in, x, &in->args[2], to))
		return false;
	out->rank = x->rank;
	for (int i = 0; i < in->args[1].n && x->rank; i++) {
		out->size[to[i]] = x->size[from[i]];
		taken |= 1u << from[i];
	}
	for (int d = 0; d < x->rank; d++) {
		if (out->size[d])
			continue;
		while (taken >> next & 1)
			next++;
		out->size[d] = x->size[next++];
	}
	return true;
}

static bool cannot_expand(struct infer *in, const struct shape *x, const struct shape *to, int dim)
{
	char have[SHAPE_TEXT_BYTES], want[SHAPE_TEXT_BYTES];

	return err_set(in->err, ERR_SHAPE,
		       "%s: sizes %s do not expand to %s: dim %d must be 1 or keep its size",
		       in->info->fx, shape_text(x, have), shape_text(to, want), dim);
}

static bool infer_expand(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct shape *out = &in->out->shape, to;
	int shift;

	if (in->op == OP_expand_as) {
		to = infer_tensor(in, 1)->shape;
	} else {
		to.rank = in->args[1].n;
		for (int d = 0; d < to.rank; d++)
			to.size[d] = in->args[1].ints[d];
	}
	shift = to.rank - x->rank;
	if (shift < 0)
		return err_set(in->err, ERR_SHAPE, "%s: %d sizes for a tensor of %d dims",
			       in->info->fx, to.rank, x->rank);
	*out = to;
	for (int d = 0; d < to.rank; d++) {
		const struct sym *had = d < shift ? number(in, 1) : x->size[d - shift];

		if (sym_is(to.size[d], -1) && d >= shift)
			out->size[d] = had;
		else if (sym_is(had, 1) ? !infer_at_least(in, to.size[d], number(in, 0))
					: !infer_equal(in, had, to.size[d]))
			return cannot_expand(in, x, &to, d);
		else if (!sym_is(had, 1))
			out->size[d] = had; /* equal, and one pointer from here on */
	}
	return true;
}

static bool out_of_bounds(struct infer *in, const struct shape *x, int dim, const struct sym *index)
{
	char have[SHAPE_TEXT_BYTES];

	return err_set(in->err, in->op == OP_select ? ERR_INDEX : ERR_OP,
		       "%s: index %lld is out of bounds for dim %d of a tensor with sizes %s",
		       in->info->fx, index ? (long long)sym_hint(in->g->syms, index) : 0, dim,
		       shape_text(x, have));
}

static bool no_dims(struct infer *in)
{
	return err_set(in->err, ERR_INDEX,
		       "%s: a tensor without dimensions has no index; take its value with .item()",
		       in->info->fx);
}

/* 0 <= *index <= size - room, a negative constant counted from the end. */
static bool bounded(struct infer *in, const struct sym **index, const struct sym *size,
		    const struct sym *room)
{
	if (sym_is_const(*index) && (*index)->value < 0)
		*index = sym_add(in->g->syms, *index, size);
	return infer_at_least(in, *index, number(in, 0)) &&
	       infer_at_least(in, size, sym_add(in->g->syms, *index, room));
}

static bool infer_select(struct infer *in)
{
	const struct shape *x = viewed(in);
	const struct sym *index = in->args[2].sym;
	int dim;

	if (x->rank == 0)
		return no_dims(in);
	if (!dim_arg(in, 1, x, &dim))
		return false;
	if (!bounded(in, &index, x->size[dim], number(in, 1)))
		return out_of_bounds(in, x, dim, in->args[2].sym);
	for (int d = 0; d < x->rank; d++)
		if (d != dim)
			in->out->shape.size[in->out->shape.rank++] = x->size[d];
	return true;
}

static bool infer_narrow(struct infer *in)
{
	const struct shape *x = viewed(in);
	const struct sym *start = in->args[2].sym, *length = in->args[3].sym;
	int dim;

	if (x->rank == 0)
		return no_dims(in);
	if (!dim_arg(in, 1, x, &dim))
		return false;
	if (!infer_at_least(in, length, number(in, 0)) ||
	    !bounded(in, &start, x->size[dim], length))
		return out_of_bounds(in, x, dim, sym_add(in->g->syms, start, length));
	in->out->shape = *x;
	in->out->shape.size[dim] = length;
	return true;
}

static bool infer_slice(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct symtab *syms = in->g->syms;
	const struct sym *start = in->args[2].sym, *end = in->args[3].sym, *step = in->args[4].sym;
	const struct sym *more;
	int dim;

	if (x->rank == 0)
		return no_dims(in);
	if (!dim_arg(in, 1, x, &dim))
		return false;
	if (!sym_is_const(step) || step->value < 1)
		return err_set(in->err, ERR_OP, "slice: the step must be a positive number");
	if (!infer_at_least(in, start, number(in, 0)) || !infer_at_least(in, end, start) ||
	    !infer_at_least(in, x->size[dim], end))
		return out_of_bounds(in, x, dim, end);
	more = sym_add(syms, sym_sub(syms, end, start), number(in, step->value - 1));
	in->out->shape = *x;
	in->out->shape.size[dim] = sym_floordiv(syms, more, step);
	return true;
}

static bool infer_diagonal(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct symtab *syms = in->g->syms;
	const struct sym *offset = in->args[1].sym, *rows, *columns, *size;
	struct shape *out = &in->out->shape;
	int a, b;

	if (x->rank < 2 || !sym_is_const(offset))
		return err_set(in->err, ERR_SHAPE,
			       "diagonal: two dims and a fixed offset are needed");
	if (!dim_arg(in, 2, x, &a) || !dim_arg(in, 3, x, &b))
		return false;
	if (a == b)
		return err_set(in->err, ERR_OP, "diagonal: dim1 and dim2 are both %d", a);
	rows = x->size[a];
	columns = x->size[b];
	if (offset->value >= 0)
		columns = sym_sub(syms, columns, offset);
	else
		rows = sym_add(syms, rows, offset);
	size = sym_max(syms, sym_min(syms, rows, columns), number(in, 0));
	for (int d = 0; d < x->rank; d++)
		if (d != a && d != b)
			out->size[out->rank++] = x->size[d];
	out->size[out->rank++] = size;
	return true;
}

static bool infer_unfold(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct symtab *syms = in->g->syms;
	const struct sym *size = in->args[2].sym, *step = in->args[3].sym;
	int dim;

	if (x->rank == 0 || x->rank == MAX_RANK)
		return too_deep(in, x->rank + 1);
	if (!dim_arg(in, 1, x, &dim))
		return false;
	if (!sym_is_const(step) || step->value < 1)
		return err_set(in->err, ERR_OP, "unfold: the step must be a positive number");
	if (!infer_at_least(in, size, number(in, 0)) || !infer_at_least(in, x->size[dim], size))
		return out_of_bounds(in, x, dim, size);
	in->out->shape = *x;
	in->out->shape.size[dim] = sym_add(
	    syms, sym_floordiv(syms, sym_sub(syms, x->size[dim], size), step), number(in, 1));
	in->out->shape.size[in->out->shape.rank++] = size;
	return true;
}

/* Capture makes them of tensors in memory: they lie within x. */
static bool infer_reverse(struct infer *in)
{
	const struct shape *x = viewed(in);
	int dims[MAX_RANK];

	in->out->shape = *x;
	if (in->args[1].n > MAX_RANK)
		return too_deep(in, in->args[1].n);
	return each_once(in, x, &in->args[1], dims);
}

/* What the view names must lie within x. */
static bool infer_strided(struct infer *in)
{
	const struct shape *x = viewed(in);
	struct symtab *syms = in->g->syms;
	const struct arg *size = &in->args[1], *stride = &in->args[2];
	const struct sym *end = sym_add(syms, in->args[3].sym, number(in, 1)), *steps;

	if (size->n != stride->n || size->n > MAX_RANK)
		return err_set(in->err, ERR_OP, "as_strided: a stride for each size is needed");
	in->out->shape.rank = size->n;
	memcpy(in->out->shape.size, size->ints, sizeof(size->ints[0]) * (size_t)size->n);
	for (int d = 0; d < size->n; d++) {
		if (!infer_at_least(in, size->ints[d], number(in, 0)) ||
		    !infer_at_least(in, stride->ints[d], number(in, 0)))
			return err_set(in->err, ERR_OP, "as_strided: a negative size or stride");
		if (sym_is(size->ints[d], 0))
			return true;
		steps = sym_sub(syms, size->ints[d], number(in, 1));
		end = sym_add(syms, end, sym_mul(syms, steps, stride->ints[d]));
	}
	if (infer_at_least(in, in->args[3].sym, number(in, 0)) &&
	    infer_at_least(in, shape_numel(syms, x), end))
		return true;
	return err_set(in->err, ERR_OP, "as_strided: the view ends after the tensor");
}

infer_fn *const view_rules[OP_COUNT] = {
#define RULE_view(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
