/* fusion/capture/backward/joint_order.c -- computes late what the backward part computes again. */
#include <string.h>

#include "fusion/capture/backward/joint.h"

struct order {
	const struct graph *from;
	struct graph *to;
	int *map;   /* by node of `from`: its id in `to`, -1: not there yet */
	int *stack; /* of nodes that wait for their arguments */
	bool *late;
};

static bool emit_one(struct order *o, int id)
{
	struct node *copy;

	if (!graph_copy_node(o->to, o->from->nodes[id]))
		return false;
	copy = o->to->nodes[o->to->n_nodes - 1];
	for (int i = 0; i < copy->n_args; i++)
		if (copy->args[i].kind == ARG_NODE)
			copy->args[i].node = o->map[copy->args[i].node];
	o->map[id] = copy->id;
	return true;
}

/* The first argument that is not there yet, -1: all are. */
static int missing(const struct order *o, int id)
{
	const struct node *n = o->from->nodes[id];

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && o->map[n->args[i].node] < 0)
			return n->args[i].node;
	return -1;
}

static bool emit(struct order *o, int id)
{
	int depth = 0;

	if (o->map[id] >= 0)
		return true;
	o->stack[depth++] = id;
	while (depth > 0) {
		int next = missing(o, o->stack[depth - 1]);

		if (next >= 0)
			o->stack[depth++] = next;
		else if (!emit_one(o, o->stack[--depth]))
			return false;
	}
	return true;
}

static bool begin(struct order *o, const bool *late)
{
	const struct graph *g = o->from;
	int *inputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_inputs + 1);

	if (!o->to || !o->map || !o->stack || !o->late || !inputs || !graph_copy_symbols(o->to, g))
		return false;
	memcpy(o->to->name_counts, g->name_counts, sizeof(int) * OP_COUNT);
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		o->map[id] = -1;
		for (int i = 0; i < n->n_args; i++)
			o->late[id] |= n->args[i].kind == ARG_NODE && o->late[n->args[i].node];
		if (n->op == OP_input)
			o->late[id] = late[n->input];
	}
	for (int i = 0; i < g->n_inputs; i++) {
		if (!emit_one(o, g->inputs[i]))
			return false;
		inputs[i] = o->map[g->inputs[i]];
	}
	o->to->inputs = inputs;
	o->to->n_inputs = g->n_inputs;
	return true;
}

struct graph *joint_order(const struct graph *g, const bool *late)
{
	size_t n = (size_t)g->n_nodes + 1;
	struct order o = { .from = g,
			   .to = graph_create(g->arena),
			   .map = ARENA_ARRAY(g->arena, int, n),
			   .stack = ARENA_ARRAY(g->arena, int, n),
			   .late = ARENA_ARRAY(g->arena, bool, n) };
	int *outputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_outputs + 1);

	if (!outputs || !begin(&o, late))
		return NULL;
	for (int id = 0; id < g->n_nodes; id++)
		if (o.late[id] && !emit(&o, id))
			return NULL;
	for (int i = 0; i < g->n_outputs; i++) {
		if (!emit(&o, g->outputs[i]))
			return NULL;
		outputs[i] = o.map[g->outputs[i]];
	}
	return graph_set_outputs(o.to, outputs, g->n_outputs) ? o.to : NULL;
}

const struct view_layout **joint_repeats(struct graph *g, struct arena *arena)
{
	int *outputs = ARENA_ARRAY(arena, int, (size_t)g->n_outputs + 1);
	const struct view_layout **made = ARENA_ARRAY(arena, const struct view_layout *,
						      (size_t)g->n_outputs + 1);

	if (!made || !outputs)
		return NULL;
	for (int i = 0; i < g->n_outputs; i++) {
		const struct node *n = g->nodes[g->outputs[i]];
		struct view_layout *layout = ARENA_NEW(arena, struct view_layout);

		if (!layout)
			return NULL;
		outputs[i] = n->id;
		if ((n->op != OP_expand && n->op != OP_expand_as) ||
		    !view_layout_in(g, n->id, n->args[0].node, layout) || !view_repeats(layout))
			continue;
		made[i] = layout;
		outputs[i] = n->args[0].node;
	}
	return graph_set_outputs(g, outputs, g->n_outputs) ? made : NULL;
}
