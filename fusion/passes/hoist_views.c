/* fusion/passes/hoist_views.c -- views move from the result of a pointwise op to its operands.
 *
 * A view is read from memory, so what it is a view of ends a kernel.  The view of
 * x * 2 is the same as twice the view of x: then the product can be in the
 * kernel that reads it.  Only where nothing else reads the product, which would
 * be computed twice, and where the view makes no element more of it.
 */
#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

struct hoist {
	const int *uses;   /* by id of the old list */
	const bool *fuses; /* by id of the old list: a kernel reads it that may grow */
	int *made_uses;    /* by id of the new list */
	int cap;
};

static bool is_hoisted(const struct node *n)
{
	return op_info(n->op)->kind == KIND_VIEW && n->op != OP_expand && n->op != OP_expand_as &&
	       n->op != OP_unfold && n->op != OP_view_as && n->op != OP_as_strided;
}

/* Operands of the size of the result, or one element: their views are known. */
static bool takes_views(const struct graph *g, const struct node *of)
{
	if (op_info(of->op)->kind != KIND_POINTWISE || of->weak)
		return false;
	for (int a = 0; a < of->n_args; a++) {
		const struct node *x = of->args[a].kind == ARG_NODE ? g->nodes[of->args[a].node]
								    : NULL;

		if (x && x->shape.rank > 0 && !shape_equal(&x->shape, &of->shape))
			return false;
	}
	return true;
}

/* The view of operand x: an id, REWRITE_KEEP where it would have to copy. */
static int view_operand(struct rewrite *rw, const struct node *view, int x, struct err *err)
{
	struct arg args[MAX_ARGS];
	struct view_layout layout;
	int id;

	for (int a = 0; a < view->n_args; a++)
		args[a] = view->args[a];
	args[0] = arg_node(x);
	id = graph_add(rw->g, view->op, args, view->n_args, view->line, view->column, err);
	if (id < 0)
		return REWRITE_FAILED;
	return view_layout(rw->g, id, &layout) ? id : REWRITE_KEEP;
}

static int hoist_view(struct rewrite *rw, const struct node *view, struct err *err)
{
	const struct node *of = rw->g->nodes[view->args[0].node];
	struct arg args[MAX_ARGS];
	int before = rw->g->n_nodes, id;

	for (int a = 0; a < of->n_args; a++) {
		args[a] = of->args[a];
		if (args[a].kind != ARG_NODE || rw->g->nodes[args[a].node]->shape.rank == 0)
			continue;
		args[a].node = view_operand(rw, view, args[a].node, err);
		if (args[a].node < 0) {
			rw->g->n_nodes = before; /* what was tried is not needed */
			return args[a].node;
		}
	}
	id = graph_add(rw->g, of->op, args, of->n_args, of->line, of->column, err);
	if (id < 0)
		return REWRITE_FAILED;
	if (rw->g->nodes[id]->dtype != of->dtype ||
	    !shape_equal(&rw->g->nodes[id]->shape, &view->shape)) {
		rw->g->n_nodes = before;
		return REWRITE_KEEP;
	}
	pass_fired(rw->g, "view of the operands", view, of);
	rw->g->nodes[id]->name = view->name;
	return id;
}

/* How often node `id` of the new list will be read. */
static bool note_uses(struct hoist *hoist, struct graph *g, int id, int uses)
{
	while (id >= hoist->cap) {
		int cap = 2 * hoist->cap + 64;
		int *grown = ARENA_ARRAY(g->arena, int, (size_t)cap);

		if (!grown)
			return false;
		for (int i = 0; i < hoist->cap; i++)
			grown[i] = hoist->made_uses[i];
		for (int i = hoist->cap; i < cap; i++)
			grown[i] = 2; /* not known: too many */
		hoist->made_uses = grown;
		hoist->cap = cap;
	}
	hoist->made_uses[id] = uses;
	return true;
}

static int hoist_node(struct rewrite *rw, struct node *n, struct err *err)
{
	struct hoist *hoist = rw->state;
	int id = REWRITE_KEEP, uses = hoist->uses[n->id], x = n->n_args ? n->args[0].node : -1;

	if (is_hoisted(n) && hoist->fuses[n->id] && x < hoist->cap && hoist->made_uses[x] == 1 &&
	    takes_views(rw->g, rw->g->nodes[x]))
		id = hoist_view(rw, n, err);
	if (id == REWRITE_FAILED)
		return id;
	if (note_uses(hoist, rw->g, id == REWRITE_KEEP ? rw->g->n_nodes : id, uses))
		return id;
	pass_out_of_memory(err);
	return REWRITE_FAILED;
}

/* Which nodes are read by what a kernel may be made of.  A product of matrices reads
 * memory in any case, of which the view is one for nothing. */
static bool *find_fusing(const struct graph *g)
{
	bool *fuses = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	for (int id = g->n_nodes - 1; fuses && id >= 0; id--) {
		const struct node *n = g->nodes[id];
		enum op_kind kind = op_info(n->op)->kind;

		for (int a = 0; a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				fuses[n->args[a].node] |= kind == KIND_VIEW ? fuses[id]
									    : kind != KIND_LIBRARY;
	}
	return fuses;
}

/* needs: no COMPOSITE nodes; keeps: values, bit for bit; breaks: leaves nodes that
 * nothing reads */
bool pass_hoist_views(struct graph *g, bool *changed, struct err *err)
{
	int *uses = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);
	struct hoist hoist = { .uses = uses, .fuses = find_fusing(g) };

	if (!uses || !hoist.fuses)
		return pass_out_of_memory(err);
	for (int id = 0; id < g->n_nodes; id++)
		for (int a = 0; a < g->nodes[id]->n_args; a++)
			if (g->nodes[id]->args[a].kind == ARG_NODE)
				uses[g->nodes[id]->args[a].node]++;
	for (int i = 0; i < g->n_outputs; i++)
		uses[g->outputs[i]] += 2; /* it stays in memory anyway */
	return rewrite_run(g, hoist_node, &hoist, changed, err);
}
