/* fusion/passes/decompose_view.c -- copies that are views of their operand, joined.
 *
 * A view in the graph is only a value: that the program may write to the copy
 * is seen to by whoever captured it.
 */
#define FORMULA_view(id) decompose_##id
#include "fusion/passes/decompose.h"

static const struct shape *shape_of(const struct expand *e, struct arg x)
{
	return &e->g->nodes[x.node]->shape;
}

static struct arg number(const struct expand *e, int64_t value)
{
	return arg_int(e->g, value);
}

static struct arg decompose_flip(struct expand *e)
{
	return expand_op(e, OP_reverse, e->n->args, 2);
}

static struct arg slice(struct expand *e, struct arg x, int dim, const struct sym *start,
			const struct sym *end)
{
	return expand_op(e, OP_slice,
			 (struct arg[]){ x, number(e, dim), arg_sym(start), arg_sym(end) }, 4);
}

/* What lies before (-shift mod size) goes after the rest. */
static struct arg roll_dim(struct expand *e, struct arg x, int dim, int64_t shift)
{
	struct symtab *syms = e->g->syms;
	const struct sym *size, *start;

	if (e->failed)
		return x;
	size = shape_of(e, x)->size[dim];
	if (sym_is(size, 0))
		return x;
	start = sym_mod(syms, sym_const(syms, -shift), size);
	return expand_op(e, OP_cat,
			 (struct arg[]){ number(e, dim), slice(e, x, dim, start, size),
					 slice(e, x, dim, sym_const(syms, 0), start) },
			 3);
}

static struct arg decompose_roll(struct expand *e)
{
	const struct arg *shifts = &e->n->args[1], *dims = &e->n->args[2];
	const struct shape *s = &e->n->shape;
	struct arg x = e->n->args[0];

	if (s->rank == 0)
		return expand_unary(e, OP_clone, x);
	if (dims->n > 0) {
		for (int i = 0; i < dims->n; i++) {
			int64_t dim = dims->ints[i]->value;

			x = roll_dim(e, x, (int)(dim < 0 ? dim + s->rank : dim),
				     shifts->ints[i]->value);
		}
		return x;
	}
	x = expand_unary(e, OP_flatten, x);
	x = roll_dim(e, x, 0, shifts->ints[0]->value);
	return expand_op(e, OP_reshape, (struct arg[]){ x, arg_ints(s->size, s->rank) }, 2);
}

/* One dim more, expanded and then merged with the dim after it. */
static struct arg repeat_dim(struct expand *e, struct arg x, int dim, const struct sym *times)
{
	struct shape s;

	if (e->failed || sym_is(times, 1))
		return x;
	x = expand_op(e, OP_unsqueeze, (struct arg[]){ x, number(e, dim) }, 2);
	if (e->failed)
		return x;
	s = *shape_of(e, x);
	s.size[dim] = times;
	x = expand_op(e, OP_expand, (struct arg[]){ x, arg_ints(s.size, s.rank) }, 2);
	return expand_op(e, OP_flatten, (struct arg[]){ x, number(e, dim), number(e, dim + 1) }, 3);
}

static struct arg decompose_repeat(struct expand *e)
{
	const struct arg *times = &e->n->args[1];
	struct arg x = e->n->args[0];
	int rank = e->n->shape.rank;

	for (int d = shape_of(e, x)->rank; d < rank && !e->failed; d++)
		x = expand_op(e, OP_unsqueeze, (struct arg[]){ x, number(e, 0) }, 2);
	for (int i = 0; i < times->n; i++)
		x = repeat_dim(e, x, rank - times->n + i, times->ints[i]);
	return x;
}

static struct arg decompose_tile(struct expand *e)
{
	return decompose_repeat(e);
}

static struct arg decompose_masked_fill(struct expand *e)
{
	return expand_op(e, OP_where, (struct arg[]){ e->n->args[1], e->n->args[2], e->n->args[0] },
			 3);
}

static struct arg filled(struct expand *e, struct arg value)
{
	const struct shape *s = &e->n->shape;

	return expand_op(
	    e, OP_full, (struct arg[]){ arg_ints(s->size, s->rank), value, arg_dtype(e->n->dtype) },
	    3);
}

static struct arg decompose_fill(struct expand *e)
{
	const struct shape *s = &e->n->shape;
	struct arg value = e->n->args[1];

	if (value.kind != ARG_NODE)
		return filled(e, value);
	value = expand_cast(e, value, e->n->dtype);
	if (e->failed || shape_equal(shape_of(e, value), s))
		return value;
	while (!e->failed && shape_of(e, value)->rank > s->rank) /* leading dims of size 1 */
		value = expand_op(
		    e, OP_squeeze,
		    (struct arg[]){
			value, arg_ints((const struct sym *[]){ sym_const(e->g->syms, 0) }, 1) },
		    2);
	return expand_op(e, OP_expand, (struct arg[]){ value, arg_ints(s->size, s->rank) }, 2);
}

static struct arg decompose_full_like(struct expand *e)
{
	return filled(e, e->n->args[1]);
}

static struct arg decompose_new_full(struct expand *e)
{
	return filled(e, e->n->args[2]);
}

static struct arg decompose_new_zeros(struct expand *e)
{
	return filled(e, number(e, 0));
}

static struct arg decompose_new_ones(struct expand *e)
{
	return filled(e, number(e, 1));
}

decompose_fn *const view_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};
