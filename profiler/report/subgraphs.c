/* profiler/report/subgraphs.c -- see subgraphs.h.
 *
 * The body of a loop is a graph of its own, made of nodes of the one that was captured:
 * they are found there by their names.
 */
#include "profiler/report/subgraphs.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"

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

static json_t *id_json(int id)
{
	return id >= 0 ? json_integer(id) : json_null();
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

static json_t *carried_json(const struct finder *f, const struct node *n)
{
	const struct loop *loop = n->loop;
	json_t *list = json_array();

	for (int i = 0; i < loop->n_carried; i++) {
		int within = 0;

		while (within < loop->body->n_inputs && loop->reads[within] != i)
			within++;
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o}", "node",
						id_json(within < loop->body->n_inputs
							    ? find_id(f, loop->names[within])
							    : -1),
						"start", id_json(loop_operand(f->g, n, i)), "next",
						id_json(id_of(f, loop, loop->body->outputs[i + 1])),
						"result", id_json(find_result(f->g, n, i))));
	}
	return list;
}

static json_t *reads_json(const struct finder *f, const struct loop *loop)
{
	json_t *list = json_array();

	for (int i = 0; i < loop->body->n_inputs; i++)
		if (loop->reads[i] >= loop->n_carried)
			json_array_append_new(list, id_json(find_id(f, loop->names[i])));
	return list;
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

/* The body; `round` (NULL: all): those that nothing but the test needs. */
static json_t *nodes_json(const struct finder *f, const struct loop *loop, const bool *round)
{
	json_t *list = json_array();

	for (int id = 0; id < loop->body->n_nodes; id++)
		if (loop->body->nodes[id]->op != OP_input && !(round && round[id]))
			json_array_append_new(list, id_json(id_of(f, loop, id)));
	return list;
}

static json_t *condition_json(const struct finder *f, const struct loop *loop)
{
	const struct graph *body = loop->body;
	bool *round = calloc((size_t)body->n_nodes + 1, sizeof(*round));
	json_t *list;

	if (!round)
		return NULL;
	for (int i = 1; i < body->n_outputs; i++)
		if (body->outputs[i] != body->outputs[0])
			mark(body, body->outputs[i], round);
	list = nodes_json(f, loop, round);
	free(round);
	return list;
}

/* Which of the loops before has it in its body: the innermost. */
static json_t *parent_json(const struct finder *f, const struct node *n)
{
	int found = -1;

	for (int i = 0; i < f->n_loops; i++) {
		const struct graph *body = f->g->nodes[f->loops[i]]->loop->body;

		for (int id = 0; id < body->n_nodes; id++)
			if (body->nodes[id]->op == OP_while_loop &&
			    strcmp(body->nodes[id]->name, n->name) == 0)
				found = found < 0 ? i : found;
	}
	return id_json(found);
}

static json_t *loop_json(const struct finder *f, const struct node *n)
{
	return json_pack("{s:s, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "while_loop",
			 "node", n->id, "parent", parent_json(f, n), "line", n->line, "first",
			 id_json(n->args[0].node), "again",
			 id_json(id_of(f, n->loop, n->loop->body->outputs[0])), "carried",
			 carried_json(f, n), "reads", reads_json(f, n->loop), "nodes",
			 nodes_json(f, n->loop, NULL), "condition", condition_json(f, n->loop));
}

json_t *subgraphs_json(const struct graph *g)
{
	struct finder f = { .g = g };
	json_t *list = json_array();

	f.by_name = calloc((size_t)g->n_nodes + 1, sizeof(struct node *));
	f.loops = calloc((size_t)g->n_nodes + 1, sizeof(int));
	for (int id = 0; f.by_name && f.loops && id < g->n_nodes; id++) {
		f.by_name[id] = g->nodes[id];
		if (g->nodes[id]->op == OP_while_loop && g->nodes[id]->loop)
			f.loops[f.n_loops++] = id;
	}
	if (f.n_loops)
		qsort(f.by_name, (size_t)g->n_nodes, sizeof(struct node *), compare_names);
	for (int i = 0; i < f.n_loops; i++)
		json_array_append_new(list, loop_json(&f, g->nodes[f.loops[i]]));
	free(f.by_name);
	free(f.loops);
	return list;
}
