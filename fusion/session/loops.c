/* fusion/session/loops.c -- the loops within a captured graph, as callers of the engine see them.
 *
 * The body of a loop is a graph of its own, made of nodes of the one that was captured:
 * they are found there by their names.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/inspect.h"

struct finder {
	const struct graph *g;
	const struct node **by_name;
	int *loops; /* the while_loop nodes */
	int n_loops;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(const struct node *const *)a)->name,
		      (*(const struct node *const *)b)->name);
}

/* -1: there is none. */
static int find_id(const struct finder *f, const char *name)
{
	const struct node key = { .name = name }, *at = &key, **found;

	found = bsearch(&at, f->by_name, (size_t)f->g->n_nodes, sizeof(at), compare_names);
	return found ? (*found)->id : -1;
}

/* The node of the whole that one of a body is. */
static int id_of(const struct finder *f, const struct loop *loop, int node)
{
	const struct node *n = loop->body->nodes[node];

	return find_id(f, n->op == OP_input ? loop->names[n->input] : n->name);
}

static int find_result(const struct graph *g, const struct node *loop, int index)
{
	for (int id = loop->id + 1; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		if (n->op == OP_loop_result && n->args[0].node == loop->id &&
		    sym_is(n->args[1].sym, index))
			return id;
	}
	return -1;
}

/* Marks what the node is made of, and itself. */
static void mark(const struct graph *g, int node, bool *marked)
{
	marked[node] = true;
	for (int id = node; id >= 0; id--)
		for (int i = 0; marked[id] && i < g->nodes[id]->n_args; i++)
			if (g->nodes[id]->args[i].kind == ARG_NODE)
				marked[g->nodes[id]->args[i].node] = true;
}

static bool set_carried(const struct finder *f, struct arena *arena, const struct node *n,
			struct fusion_loop *out)
{
	const struct loop *loop = n->loop;
	struct fusion_carried *at = ARENA_ARRAY(arena, struct fusion_carried,
						(size_t)loop->n_carried + 1);

	for (int i = 0; at && i < loop->n_carried; i++) {
		int within = 0;

		while (within < loop->body->n_inputs && loop->reads[within] != i)
			within++;
		at[i].node = within < loop->body->n_inputs ? find_id(f, loop->names[within]) : -1;
		at[i].start = loop_operand(f->g, n, i);
		at[i].next = id_of(f, loop, loop->body->outputs[i + 1]);
		at[i].result = find_result(f->g, n, i);
	}
	out->carried = at;
	out->n_carried = loop->n_carried;
	return at != NULL;
}

static bool set_reads(const struct finder *f, struct arena *arena, const struct loop *loop,
		      struct fusion_loop *out)
{
	int *reads = ARENA_ARRAY(arena, int, (size_t)loop->body->n_inputs + 1);

	for (int i = 0; reads && i < loop->body->n_inputs; i++)
		if (loop->reads[i] >= loop->n_carried)
			reads[out->n_reads++] = find_id(f, loop->names[i]);
	out->reads = reads;
	return reads != NULL;
}

/* The body, and those of it that nothing but the test needs. */
static bool set_nodes(const struct finder *f, struct arena *arena, const struct loop *loop,
		      struct fusion_loop *out)
{
	const struct graph *body = loop->body;
	size_t room = (size_t)body->n_nodes + 1;
	bool *round = ARENA_ARRAY(arena, bool, room);
	int *nodes = ARENA_ARRAY(arena, int, room), *condition = ARENA_ARRAY(arena, int, room);

	if (!round || !nodes || !condition)
		return false;
	memset(round, 0, room * sizeof(*round));
	for (int i = 1; i < body->n_outputs; i++)
		if (body->outputs[i] != body->outputs[0])
			mark(body, body->outputs[i], round);
	for (int id = 0; id < body->n_nodes; id++) {
		if (body->nodes[id]->op == OP_input)
			continue;
		nodes[out->n_nodes++] = id_of(f, loop, id);
		if (!round[id])
			condition[out->n_condition++] = id_of(f, loop, id);
	}
	out->nodes = nodes;
	out->condition = condition;
	return true;
}

/* Which of the loops before has it in its body: the innermost. */
static int parent_of(const struct finder *f, const struct node *n)
{
	int found = -1;

	for (int i = 0; i < f->n_loops; i++) {
		const struct graph *body = f->g->nodes[f->loops[i]]->loop->body;

		for (int id = 0; id < body->n_nodes; id++)
			if (body->nodes[id]->op == OP_while_loop &&
			    strcmp(body->nodes[id]->name, n->name) == 0)
				found = found < 0 ? i : found;
	}
	return found;
}

static bool describe(const struct finder *f, struct arena *arena, const struct node *n,
		     struct fusion_loop *out)
{
	*out = (struct fusion_loop){ .node = n->id,
				     .parent = parent_of(f, n),
				     .line = n->line,
				     .first = n->args[0].node,
				     .again = id_of(f, n->loop, n->loop->body->outputs[0]) };
	return set_carried(f, arena, n, out) && set_reads(f, arena, n->loop, out) &&
	       set_nodes(f, arena, n->loop, out);
}

static bool find_loops(struct fusion_loops *l, struct finder *f, struct arena *arena)
{
	const struct graph *g = f->g;

	f->by_name = ARENA_ARRAY(arena, const struct node *, (size_t)g->n_nodes + 1);
	f->loops = ARENA_ARRAY(arena, int, (size_t)g->n_nodes + 1);
	if (!f->by_name || !f->loops)
		return false;
	for (int id = 0; id < g->n_nodes; id++) {
		f->by_name[id] = g->nodes[id];
		if (g->nodes[id]->op == OP_while_loop && g->nodes[id]->loop)
			f->loops[f->n_loops++] = id;
	}
	if (f->n_loops)
		qsort(f->by_name, (size_t)g->n_nodes, sizeof(struct node *), compare_names);
	l->at = ARENA_ARRAY(arena, struct fusion_loop, (size_t)f->n_loops + 1);
	for (; l->at && l->n < f->n_loops; l->n++)
		if (!describe(f, arena, g->nodes[f->loops[l->n]], &l->at[l->n]))
			return false;
	return l->at != NULL;
}

struct fusion_loops fusion_loops(const struct graph *g, struct arena *arena)
{
	struct fusion_loops l = { 0 };
	struct finder f = { .g = g };

	return find_loops(&l, &f, arena) ? l : (struct fusion_loops){ 0 };
}
