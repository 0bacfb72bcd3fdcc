/* fusion/passes/views.c -- makes every view an offset and strides into memory.
 *
 * A reshape of what does not lie in order has to copy: the copy becomes a node,
 * which a kernel computes like any other.  A join reads its parts as they lie,
 * so they get its dtype first.
 */
#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

static int add(struct rewrite *rw, const struct node *n, enum op op, struct arg x, struct arg y,
	       struct err *err)
{
	return graph_add(rw->g, op, (struct arg[]){ x, y }, op_info(op)->n_params, n->line,
			 n->column, err);
}

static int settle_view(struct rewrite *rw, struct node *n, struct err *err)
{
	struct view_layout layout;
	int id = graph_append(rw->g, n), copy;

	if (id < 0) {
		pass_out_of_memory(err);
		return REWRITE_FAILED;
	}
	if (view_layout(rw->g, id, &layout))
		return id;
	rw->g->n_nodes--;
	copy = add(rw, n, OP_contiguous, n->args[0], arg_none(), err);
	if (copy < 0)
		return REWRITE_FAILED;
	n->args[0].node = copy;
	rw->changed = true;
	return REWRITE_KEEP;
}

static int settle_join(struct rewrite *rw, struct node *n, struct err *err)
{
	for (int a = 1; a < n->n_args; a++) {
		if (n->args[a].kind != ARG_NODE || rw->g->nodes[n->args[a].node]->dtype == n->dtype)
			continue;
		n->args[a].node = add(rw, n, OP_to, n->args[a], arg_dtype(n->dtype), err);
		if (n->args[a].node < 0)
			return REWRITE_FAILED;
		rw->changed = true;
	}
	return REWRITE_KEEP;
}

static int settle(struct rewrite *rw, struct node *n, struct err *err)
{
	switch (op_info(n->op)->kind) {
	case KIND_VIEW:
		return settle_view(rw, n, err);
	case KIND_JOIN:
		return settle_join(rw, n, err);
	default:
		return REWRITE_KEEP;
	}
}

/* needs: nothing; keeps: values; makes: a graph where view_layout() holds for
 * every node */
bool pass_views(struct graph *g, bool *changed, struct err *err)
{
	return rewrite_run(g, settle, NULL, changed, err);
}
