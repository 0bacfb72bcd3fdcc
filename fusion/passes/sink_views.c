/* fusion/passes/sink_views.c -- reshapes move from an operand of a pointwise op to its result.
 *
 * The other way than hoist_views.c: what a norm over groups computes in the shape of its
 * groups goes on in that shape, so that relu(reshape(norm)) is in the kernel of the
 * norm, and the reshape at the end is its memory under another shape.  After pass
 * hoist_views, so of what could not be hoisted; only where the other operands are reshapes
 * of the same kind, or in memory in an order that has the other shape too.
 *
 * A reshape that its operand's strides do not allow would be a copy: where one op reads it alone,
 * that op reads the operand as it lies, as after a pixel shuffle.
 */
#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

struct sinking {
	const unsigned *alone; /* by id of the old list */
	const bool *folded;    /* likewise: a reduction reads it */
};

/* Bases of views of this kind are in memory whatever is fused. */
static bool in_memory(const struct node *base)
{
	switch (op_info(base->op)->kind) {
	case KIND_INPUT:
	case KIND_CONSTANT:
	case KIND_LIBRARY:
		return true;
	default:
		return false;
	}
}

/* The pointwise value of which node `id` is a reshape, element by element; -1. */
static int reshaped(const struct graph *g, int id)
{
	const struct node *n = g->nodes[id], *x;
	struct view_layout layout;

	if (op_info(n->op)->kind != KIND_VIEW)
		return -1;
	x = g->nodes[view_base(g, id)];
	if (op_info(x->op)->kind != KIND_POINTWISE || !view_layout(g, id, &layout) ||
	    !view_contiguous(g, &layout) || !sym_is(layout.offset, 0) ||
	    shape_numel(g->syms, &layout.shape) != shape_numel(g->syms, &x->shape))
		return -1;
	return x->id;
}

/* What a reshape that would be a copy reads; -1: it would be none. */
static int copied(const struct graph *g, int id)
{
	const struct node *n = g->nodes[id], *x;
	struct view_layout layout;

	if (n->op != OP_reshape && n->op != OP_flatten && n->op != OP_unflatten)
		return -1;
	x = g->nodes[n->args[0].node];
	return view_layout(g, x->id, &layout) && !view_layout(g, id, &layout) ? x->id : -1;
}

/* A cast to a wider dtype whose result is folded in the new shape: that kernel casts as it reads,
 * and the smaller one is in memory. */
static bool widens_for_sum(const struct sinking *sinking, const struct graph *g,
			   const struct node *n)
{
	return n->op == OP_to && sinking->folded[n->id] &&
	       dtype_bytes(n->dtype) > dtype_bytes(g->nodes[n->args[0].node]->dtype);
}

/* The operand whose shape the op shall have; -1: it stays as it is. */
static int find_source(const struct rewrite *rw, const struct node *n)
{
	const struct sinking *sinking = rw->state;
	const struct graph *g = rw->g;

	if (op_info(n->op)->kind != KIND_POINTWISE || n->weak || widens_for_sum(sinking, g, n))
		return -1;
	for (int a = 0; a < n->n_args; a++) {
		const struct node *x;
		int of;

		if (n->args[a].kind != ARG_NODE)
			continue;
		x = g->nodes[n->args[a].node];
		if (!shape_equal(&x->shape, &n->shape))
			continue;
		of = sinking->alone[n->id] >> a & 1 ? copied(g, x->id) : -1;
		of = of < 0 ? reshaped(g, x->id) : of;
		if (of >= 0 && g->nodes[of]->shape.rank > 0)
			return of;
	}
	return -1;
}

static int reshape(struct rewrite *rw, const struct node *n, int x, const struct shape *to,
		   struct err *err)
{
	struct arg args[2] = { arg_node(x), arg_ints(to->size, to->rank) };

	return graph_add(rw->g, &(struct node_spec){ OP_reshape, args, 2, n->line, n->column },
			 err);
}

/* Operand x in that shape: a node, REWRITE_KEEP where it would have to copy. */
static int operand_as(struct rewrite *rw, const struct node *n, int x, const struct shape *to,
		      struct err *err)
{
	int of = reshaped(rw->g, x), id;
	struct view_layout layout;

	if (of < 0)
		of = copied(rw->g, x);
	if (of >= 0 && shape_equal(&rw->g->nodes[of]->shape, to))
		return of;
	if (!in_memory(rw->g->nodes[view_base(rw->g, x)]))
		return REWRITE_KEEP;
	if (!shape_equal(&rw->g->nodes[x]->shape, &n->shape)) {
		struct arg args[2] = { arg_node(x), arg_ints(n->shape.size, n->shape.rank) };

		x = graph_add(rw->g, &(struct node_spec){ OP_expand, args, 2, n->line, n->column },
			      err);
		if (x < 0)
			return REWRITE_FAILED;
	}
	id = reshape(rw, n, x, to, err);
	if (id < 0)
		return REWRITE_FAILED;
	return view_layout(rw->g, id, &layout) ? id : REWRITE_KEEP;
}

static int sink(struct rewrite *rw, struct node *n, struct err *err)
{
	int source = find_source(rw, n), before = rw->g->n_nodes, id;
	struct arg args[MAX_ARGS];
	struct shape to;

	if (source < 0)
		return REWRITE_KEEP;
	to = rw->g->nodes[source]->shape;
	for (int a = 0; a < n->n_args; a++) {
		args[a] = n->args[a];
		if (args[a].kind != ARG_NODE || rw->g->nodes[args[a].node]->shape.rank == 0)
			continue;
		args[a].node = operand_as(rw, n, args[a].node, &to, err);
		if (args[a].node < 0) {
			rw->g->n_nodes = before; /* what was tried is not needed */
			return args[a].node;
		}
	}
	id = graph_add(rw->g, &(struct node_spec){ n->op, args, n->n_args, n->line, n->column },
		       err);
	if (id < 0)
		return REWRITE_FAILED;
	if (rw->g->nodes[id]->dtype != n->dtype || !shape_equal(&rw->g->nodes[id]->shape, &to)) {
		rw->g->n_nodes = before;
		return REWRITE_KEEP;
	}
	pass_fired(rw->g, "in the shape of what it is made of", n, rw->g->nodes[source]);
	id = reshape(rw, n, id, &n->shape, err);
	if (id < 0)
		return REWRITE_FAILED;
	rw->g->nodes[id]->name = n->name;
	return id;
}

/* By node: a bit for each operand that nothing else reads. */
static unsigned *find_alone(const struct graph *g)
{
	unsigned *alone = ARENA_ARRAY(g->arena, unsigned, (size_t)g->n_nodes + 1);
	int *uses = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);

	if (!alone || !uses)
		return NULL;
	for (int i = 0; i < g->n_outputs; i++)
		uses[g->outputs[i]] += 2;
	for (int pass = 0; pass < 2; pass++)
		for (int id = 0; id < g->n_nodes; id++)
			for (int a = 0; a < g->nodes[id]->n_args; a++) {
				const struct arg *arg = &g->nodes[id]->args[a];

				if (arg->kind == ARG_NODE && pass == 0)
					uses[arg->node]++;
				else if (arg->kind == ARG_NODE && uses[arg->node] == 1)
					alone[id] |= 1u << a;
			}
	return alone;
}

static bool *find_folded(const struct graph *g)
{
	bool *folded = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	for (int id = 0; folded && id < g->n_nodes; id++)
		for (int a = 0; a < g->nodes[id]->n_args; a++)
			if (op_info(g->nodes[id]->op)->kind == KIND_REDUCE &&
			    g->nodes[id]->args[a].kind == ARG_NODE)
				folded[g->nodes[id]->args[a].node] = true;
	return folded;
}

/* needs: no COMPOSITE nodes; keeps: values, bit for bit; breaks: leaves nodes that
 * nothing reads */
bool pass_sink_views(struct pass_run *run, bool *changed, struct err *err)
{
	struct sinking sinking = { .alone = find_alone(run->g), .folded = find_folded(run->g) };

	return sinking.alone && sinking.folded ? rewrite_run(run->g, sink, &sinking, changed, err)
					       : pass_out_of_memory(err);
}
