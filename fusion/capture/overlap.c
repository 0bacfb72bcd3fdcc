/* fusion/capture/overlap.c -- tensors from outside that share memory.
 *
 * A write to one shows in the other.  Where one of them covers the other, that one
 * is a view of it while capturing, at the place that it has in memory: then a
 * functional graph says what the write means.  Sizes and places are constants then,
 * which guards check.
 */
#include "fusion/capture/overlap.h"

#include "fusion/eager/autograd.h"

/* The run of its storage that a tensor lies in. */
struct extent {
	int64_t first, end;
};

static struct extent extent_of(const struct tensor *t)
{
	struct extent e = { t->offset, t->offset + 1 };

	for (int d = 0; d < t->rank; d++) {
		if (t->size[d] == 0)
			return (struct extent){ t->offset, t->offset };
		if (t->stride[d] < 0)
			e.first += (t->size[d] - 1) * t->stride[d];
		else
			e.end += (t->size[d] - 1) * t->stride[d];
	}
	return e;
}

bool tensors_overlap(const struct tensor *a, const struct tensor *b)
{
	struct extent x = extent_of(a), y = extent_of(b);

	return a->storage == b->storage && x.first < y.end && y.first < x.end;
}

static const struct tensor *memory_of(const struct trace *t, int slot)
{
	return t->slots->at[slot].value.tensor->memory;
}

static bool covers(const struct tensor *a, const struct tensor *b)
{
	struct extent x = extent_of(a), y = extent_of(b);

	if (slots_same_tensor(a, b))
		return true;
	for (int d = 0; d < b->rank; d++)
		if (b->stride[d] < 0)
			return false;
	return a->storage == b->storage && tensor_contiguous(a) && a->dtype == b->dtype &&
	       x.first <= y.first && y.end <= x.end;
}

static bool is_tensor(const struct slot *s)
{
	return s->live && s->kind == VALUE_TENSOR && s->same_as < 0;
}

/* A local that the piece only passes on is a tensor as well. */
static bool may_be_read(const struct slot *s)
{
	return s->kind == VALUE_TENSOR && s->same_as < 0 && (s->live || s->access == SLOT_LOCAL) &&
	       s->value.tensor->memory;
}

/* Its gradient is not that of a view of another one. */
static bool is_taped(const struct slots *s, int slot)
{
	return autograd_requires(s->at[slot].value);
}

/* What the piece writes to it gives it a gradient that it did not have. */
static bool becomes_taped(struct trace *t, int slot)
{
	struct slot *s = &t->slots->at[slot];
	struct err unknown = { 0 };
	bool requires = false;

	return t->autograd->recording && !is_taped(t->slots, slot) &&
	       s->stand.kind == VALUE_TENSOR &&
	       (!trace_requires(t, s->stand, &requires, &unknown) || requires);
}

/* A write to `a` matters for `b`, which is only passed on, too: its memory shows the write, but its
 * gradient becomes another one, which no view in a graph can say. */
static bool is_left_behind(struct trace *t, int a, int b)
{
	return is_taped(t->slots, a) || is_taped(t->slots, b) || becomes_taped(t, a);
}

/* Views of one tensor write through it. */
static bool is_known(const struct slots *s, int a, int b)
{
	int of_a = s->at[a].view_of, of_b = s->at[b].view_of;

	return of_a == b || of_b == a || (of_a >= 0 && of_a == of_b);
}

/* `part` is a view of `whole` from the next attempt on; views of it are, too. */
static void cover(struct slots *s, int whole, int part)
{
	if (part == whole)
		return;
	s->at[part].view_of = whole;
	for (int i = 0; i < s->n; i++)
		if (s->at[i].view_of == part)
			s->at[i].view_of = whole;
}

/* A tensor, perhaps one of the two, whose memory both lie in; -1: none. */
static int find_whole(const struct trace *t, int a, int b)
{
	const struct slots *s = t->slots;

	for (int i = 0; i < s->n; i++)
		if (may_be_read(&s->at[i]) && covers(memory_of(t, i), memory_of(t, a)) &&
		    covers(memory_of(t, i), memory_of(t, b)))
			return s->at[i].view_of >= 0 ? s->at[i].view_of : i;
	return -1;
}

/* A tensor without elements may be a part of another one that autograd watches. */
static bool meet(const struct trace *t, int a, int b)
{
	const struct tensor *x = memory_of(t, a), *y = memory_of(t, b);

	return tensors_overlap(x, y) || (t->autograd->splits && x->storage == y->storage &&
					 (tensor_numel(x) == 0 || tensor_numel(y) == 0));
}

enum overlap overlap_find(struct trace *t)
{
	struct slots *s = t->slots;
	enum overlap found = OVERLAP_NONE;

	for (int i = 0; i < s->n; i++) {
		if (!is_tensor(&s->at[i]) || !s->at[i].written)
			continue;
		for (int j = 0; j < s->n; j++) {
			bool passed_on;
			int whole;

			if (j == i || is_known(s, i, j) || !may_be_read(&s->at[j]) ||
			    !meet(t, i, j))
				continue;
			passed_on = !is_tensor(&s->at[j]);
			if (passed_on && !is_left_behind(t, i, j))
				continue;
			whole = find_whole(t, i, j);
			if (whole < 0 || passed_on || is_taped(s, i) || is_taped(s, j))
				return OVERLAP_UNKNOWN;
			cover(s, whole, i);
			cover(s, whole, j);
			found = OVERLAP_COVERED;
		}
	}
	return found;
}

/* Sizes and places are those of this call. */
static bool has_numbers(struct trace *t, int slot, struct err *err)
{
	struct slots *s = t->slots;
	bool changed = false;

	for (int d = 0; d < s->at[slot].rank; d++) {
		struct slot_dim *dim = &s->dims[slots_root(s, s->at[slot].first_dim + d)];

		changed |= !dim->pinned;
		dim->pinned = true;
	}
	t->restart |= changed;
	return !changed || err_set(err, ERR_UNSUPPORTED, "sizes are specialised");
}

/* The part's place in the whole, in numbers. */
static int add_part(struct trace *t, int slot, int base, struct err *err)
{
	int whole = t->slots->at[slot].view_of;
	const struct tensor *part = memory_of(t, slot), *all = memory_of(t, whole);
	const struct sym *size[MAX_RANK], *stride[MAX_RANK];
	struct arg args[MAX_ARGS] = { 0 };

	if (!has_numbers(t, whole, err) || !has_numbers(t, slot, err))
		return -1;
	for (int d = 0; d < part->rank; d++) {
		size[d] = sym_const(t->graph->syms, part->size[d]);
		stride[d] = sym_const(t->graph->syms, part->stride[d]);
	}
	args[0] = arg_node(base);
	args[1] = arg_ints(size, part->rank);
	args[2] = arg_ints(stride, part->rank);
	args[3] = arg_sym(sym_const(t->graph->syms, part->offset - all->offset));
	return graph_add(t->graph, OP_as_strided, args, 4, 0, 0, err);
}

bool overlap_stand(struct trace *t, int slot, struct value *out, struct err *err)
{
	struct arg args[MAX_ARGS] = { 0 };
	struct value base;
	int node;

	if (!world_read(t, t->slots->at[slot].view_of, &base, err))
		return false;
	node = trace_node(t, base, err);
	if (node < 0)
		return false;
	args[0] = arg_node(node);
	node = slots_alias(t->slots, slot) ? graph_add(t->graph, OP_alias, args, 1, 0, 0, err)
					   : add_part(t, slot, node, err);
	if (node < 0)
		return false;
	if (!graph_set_fx(t->graph, node, ""))
		return trace_no_memory(err);
	if (!trace_wrap_view(t, base, node, out, err))
		return false;
	out->tensor->input = slot;
	t->slots->at[slot].touched = true;
	return true;
}
