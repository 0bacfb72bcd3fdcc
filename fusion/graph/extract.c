/* fusion/graph/extract.c -- a part of a graph as a graph of its own.
 *
 * Whoever runs a graph in pieces, or a part of one early, cuts here.  Symbols
 * keep their indices, so the values bound to the whole serve every part.
 */
#include <string.h>

#include "fusion/graph/graph.h"

struct extract {
	const struct graph *from;
	const bool *inside;
	struct graph *to;
	int *map;    /* by node of `from` that is there: its id in `to` */
	bool *need;  /* by node of `from` */
	int *inputs; /* by input of `to`: the node of `from` */
};

static bool is_constant(const struct node *n)
{
	return op_info(n->op)->kind == KIND_CONSTANT;
}

/* Whether the part computes the node, or is handed it. */
static bool computes(const struct extract *x, const struct node *n)
{
	return n->op != OP_input && (is_constant(n) || !x->inside || x->inside[n->id]);
}

/* What the outputs are made of, as far as it lies inside. */
static void mark(struct extract *x, const int *outputs, int n_outputs)
{
	for (int i = 0; i < n_outputs; i++)
		x->need[outputs[i]] = true;
	for (int id = x->from->n_nodes - 1; id >= 0; id--) {
		const struct node *n = x->from->nodes[id];

		x->need[id] = x->need[id] || (graph_draws(n) && computes(x, n));
		if (!x->need[id] || !computes(x, n))
			continue;
		for (int i = 0; i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				x->need[n->args[i].node] = true;
	}
}

/* A value from outside: an input keeps its strides, all else is row-major. */
static bool add_input(struct extract *x, const struct node *n)
{
	const struct sym *stride[MAX_RANK] = { 0 };
	struct shape shape = { .rank = n->shape.rank };
	int id;

	for (int d = 0; d < shape.rank; d++) {
		shape.size[d] = sym_copy(x->to->syms, n->shape.size[d]);
		if (n->op == OP_input)
			stride[d] = sym_copy(x->to->syms, n->stride[d]);
		if (!shape.size[d] || (n->op == OP_input && !stride[d]))
			return false;
	}
	id = graph_input(x->to, n->dtype, &shape, n->op == OP_input ? stride : NULL);
	if (id < 0 || !graph_set_name(x->to, id, n->name))
		return false;
	x->to->nodes[id]->line = n->line;
	x->to->nodes[id]->column = n->column;
	x->to->nodes[id]->weak = n->weak;
	x->inputs[x->to->n_inputs - 1] = n->id;
	x->map[n->id] = id;
	return true;
}

static bool add_node(struct extract *x, const struct node *n)
{
	struct node *copy;

	if (!graph_copy_node(x->to, n))
		return false;
	copy = x->to->nodes[x->to->n_nodes - 1];
	for (int i = 0; i < copy->n_args; i++)
		if (copy->args[i].kind == ARG_NODE)
			copy->args[i].node = x->map[copy->args[i].node];
	x->map[n->id] = copy->id;
	return true;
}

struct graph *graph_extract(const struct graph *g, const bool *inside, const int *outputs,
			    int n_outputs, struct arena *arena, int **inputs)
{
	size_t n = (size_t)g->n_nodes + 1;
	struct extract x = { .from = g,
			     .inside = inside,
			     .to = graph_create(arena),
			     .map = ARENA_ARRAY(arena, int, n),
			     .need = ARENA_ARRAY(arena, bool, n),
			     .inputs = ARENA_ARRAY(arena, int, n) };
	int *ids = ARENA_ARRAY(arena, int, (size_t)n_outputs + 1);

	if (!x.to || !x.map || !x.need || !x.inputs || !ids || !graph_copy_symbols(x.to, g))
		return NULL;
	memcpy(x.to->name_counts, g->name_counts, sizeof(int) * OP_COUNT);
	mark(&x, outputs, n_outputs);
	for (int id = 0; id < g->n_nodes; id++)
		if (x.need[id] && !(computes(&x, g->nodes[id]) ? add_node(&x, g->nodes[id])
							       : add_input(&x, g->nodes[id])))
			return NULL;
	for (int i = 0; i < n_outputs; i++)
		ids[i] = x.map[outputs[i]];
	*inputs = x.inputs;
	return graph_set_outputs(x.to, ids, n_outputs) ? x.to : NULL;
}
