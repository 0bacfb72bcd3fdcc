/* fusion/tensor/view.c -- views of tensors in memory, and writes through views in a graph.
 */
#include "fusion/tensor/view.h"

#include "fusion/graph/lay.h"

#include <string.h>

#include "fusion/tensor/alloc.h"

struct tensor *tensor_view(struct tensor *base, int rank, const int64_t *size,
			   const int64_t *stride, int64_t offset, struct err *err)
{
	struct tensor *t = block_get(base->storage->allocator, sizeof(*t));

	if (!t) {
		err_set(err, ERR_MEMORY, "out of memory for a tensor");
		return NULL;
	}
	*t = (struct tensor){ .storage = base->storage,
			      .refs = 1,
			      .dtype = base->dtype,
			      .rank = rank,
			      .offset = offset };
	memcpy(t->size, size, sizeof(*size) * (size_t)rank);
	memcpy(t->stride, stride, sizeof(*stride) * (size_t)rank);
	base->storage->refs++;
	return t;
}

struct tensor *tensor_lay(struct tensor *t, uint32_t order, struct err *err)
{
	int64_t size[MAX_RANK], stride[MAX_RANK];
	struct tensor *laid;

	for (int place = 0; place < t->rank; place++) {
		size[lay_dim(order, place)] = t->size[place];
		stride[lay_dim(order, place)] = t->stride[place];
	}
	laid = tensor_view(t, t->rank, size, stride, t->offset, err);
	tensor_unref(t);
	return laid;
}

bool tensor_repeats(const struct tensor *t)
{
	bool repeats = false;

	for (int d = 0; d < t->rank; d++) {
		if (t->size[d] == 0)
			return false;
		repeats |= t->size[d] > 1 && t->stride[d] == 0;
	}
	return repeats;
}

/* Whether its elements, in some order of its dims, are a run of memory, each once. */
static bool is_run(const struct tensor *t)
{
	bool seen[MAX_RANK] = { false };
	int64_t next = 1;

	for (int n = 0; n < t->rank; n++) {
		int least = -1;

		for (int d = 0; d < t->rank; d++)
			if (!seen[d] && t->size[d] > 1 &&
			    (least < 0 || t->stride[d] < t->stride[least]))
				least = d;
		if (least < 0)
			return true;
		if (t->stride[least] != next)
			return false;
		seen[least] = true;
		next *= t->size[least];
	}
	return true;
}

enum meeting tensors_meet(const struct tensor *a, const struct tensor *b)
{
	int64_t a_count = tensor_numel(a), b_count = tensor_numel(b);
	bool same = a->rank == b->rank && a->offset == b->offset && a_count == b_count;

	if (a == b)
		return MEET_AS_ONE;
	if (a->storage != b->storage || a_count == 0 || b_count == 0 || !is_run(a) || !is_run(b))
		return MEET_NOT;
	for (int d = 0; same && d < a->rank; d++)
		same = a->stride[d] == b->stride[d];
	if (same)
		return MEET_AS_ONE;
	return a->offset < b->offset + b_count && b->offset < a->offset + a_count ? MEET_IN_PART
										  : MEET_NOT;
}

struct tensor *view_replay(struct tensor *base, const struct view_layout *layout,
			   const int64_t *vars, struct err *err)
{
	int64_t size[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < layout->shape.rank; d++) {
		size[d] = sym_eval(layout->shape.size[d], vars);
		stride[d] = sym_eval(layout->stride[d], vars);
	}
	return tensor_view(base, layout->shape.rank, size, stride,
			   base->offset + sym_eval(layout->offset, vars), err);
}

/* A write to the same part before this one leaves nothing. */
static int before_write(const struct graph *g, int base, const struct arg *part)
{
	const struct node *n = g->nodes[base];

	while (n->op == OP_put_view && arg_equal(&n->args[2], &part[0]) &&
	       arg_equal(&n->args[3], &part[1]) && arg_equal(&n->args[4], &part[2]))
		n = g->nodes[n->args[0].node];
	return n->id;
}

/* Whether the view is all of the base, element by element. */
static bool is_whole(const struct graph *g, int base, const struct view_layout *l)
{
	return sym_is(l->offset, 0) && view_contiguous(g, l) &&
	       shape_numel(g->syms, &l->shape) == shape_numel(g->syms, &g->nodes[base]->shape);
}

int view_write(struct graph *g, const struct view_write *w, struct err *err)
{
	const struct shape *whole = &g->nodes[w->base]->shape, *part = &w->layout->shape;
	struct arg args[5] = { arg_node(w->base), arg_node(w->value),
			       arg_ints(part->size, part->rank),
			       arg_ints(w->layout->stride, part->rank),
			       arg_sym(w->layout->offset) };
	struct node_spec spec = { OP_put_view, args, 5, w->line, w->column };
	int id;

	if (is_whole(g, w->base, w->layout)) {
		args[0] = arg_node(w->value);
		args[1] = arg_ints(whole->size, whole->rank);
		spec.op = OP_reshape;
		spec.n_args = 2;
	} else {
		args[0].node = before_write(g, w->base, args + 2);
	}
	id = graph_add(g, &spec, err);
	if (id >= 0 && !graph_set_fx(g, id, "")) {
		err_set(err, ERR_MEMORY, "out of memory while building a graph");
		return -1;
	}
	return id;
}

struct tensor_extent tensor_extent(const struct tensor *t)
{
	struct tensor_extent e = { t->offset, t->offset + 1 };

	for (int d = 0; d < t->rank; d++) {
		if (t->size[d] == 0)
			return (struct tensor_extent){ t->offset, t->offset };
		if (t->stride[d] < 0)
			e.first += (t->size[d] - 1) * t->stride[d];
		else
			e.end += (t->size[d] - 1) * t->stride[d];
	}
	return e;
}

bool tensors_overlap(const struct tensor *a, const struct tensor *b)
{
	struct tensor_extent x, y;

	if (a->storage != b->storage)
		return false;
	x = tensor_extent(a);
	y = tensor_extent(b);
	return x.first < y.end && y.first < x.end;
}
