/* fusion/passes/outputs.c -- each output has memory of its own.
 *
 * Passes share and drop nodes freely, so an output may end up as an input, a
 * constant, or the same node as another output though the program made two
 * tensors.  A program that writes to one must not see the other change: such
 * outputs get a copy each before fusion.  A view that is all of what a kernel
 * computes, row by row, needs none: it is that memory under another shape.
 */
#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

static enum op_kind kind_of(const struct graph *g, int id)
{
	return op_info(g->nodes[id]->op)->kind;
}

/* Whether the view is all of what a kernel writes, in the order of its memory. */
static bool is_whole(const struct graph *g, int id)
{
	const struct node *base = g->nodes[view_base(g, id)];
	struct view_layout layout;

	switch (op_info(base->op)->kind) {
	case KIND_INPUT:
	case KIND_CONSTANT:
	case KIND_CREATE:
		return false;
	default:
		return view_layout(g, id, &layout) && view_contiguous(g, &layout) &&
		       sym_is(layout.offset, 0) &&
		       shape_numel(g->syms, &layout.shape) == shape_numel(g->syms, &base->shape);
	}
}

/* Why output i needs a copy; NULL: it needs none. */
static const char *needs_copy(const struct graph *g, const struct pass_origin *origins, int i)
{
	enum op_kind kind = kind_of(g, g->outputs[i]);

	if (kind == KIND_CONSTANT)
		return "an output is a constant";
	if (kind == KIND_VIEW && !is_whole(g, g->outputs[i]))
		return "an output is a view";
	if (kind == KIND_INPUT && origins[i].kind != KIND_INPUT)
		return "an output has become an input";
	for (int j = 0; j < i; j++)
		if (view_base(g, g->outputs[j]) == view_base(g, g->outputs[i]) &&
		    origins[j].id != origins[i].id)
			return "two outputs have become one";
	return NULL;
}

/* needs: nothing; makes: outputs apart, but for one tensor that is returned twice
 * and inputs that are returned as they came */
bool pass_outputs(struct pass_run *run, bool *changed, struct err *err)
{
	const struct pass_origin *origins = run->origins;
	struct graph *g = run->g;

	for (int i = 0; i < g->n_outputs; i++) {
		const char *why = needs_copy(g, origins, i);
		const struct node *n = g->nodes[g->outputs[i]];
		struct arg x[2] = { arg_node(n->id), arg_dtype(n->dtype) };
		int copy;

		if (!why)
			continue;
		/* a clone of a number would have the dtype that numbers take among tensors */
		copy = graph_add(g,
				 &(struct node_spec){ n->weak ? OP_to : OP_clone, x, 1 + n->weak,
						      n->line, n->column },
				 err);
		if (copy < 0)
			return false;
		pass_fired(g, why, n, g->nodes[copy]);
		*changed = true;
		g->outputs[i] = copy;
		for (int j = i + 1; j < g->n_outputs; j++)
			if (origins[j].id == origins[i].id)
				g->outputs[j] = copy; /* one tensor, returned twice */
	}
	return true;
}

/* What pass_outputs() leaves. */
bool pass_outputs_hold(const struct graph *g, const struct pass_origin *origins, int *output)
{
	for (*output = 0; *output < g->n_outputs; (*output)++)
		if (needs_copy(g, origins, *output))
			return false;
	return true;
}
