/* fusion/capture/backward/min_cut.c -- what is saved for the backward part: a minimum cut.
 *
 * Values that can be computed before any tangent is there are joined by edges
 * from what they are made of; each may be cut (saved) at the cost of its bytes.
 * Inputs, and what is too dear to be computed twice, flow from the source; what
 * the backward part reads flows into the sink.  The cheapest cut is found by
 * augmenting paths (Dinic).
 */
#include <limits.h>
#include <string.h>

#include "fusion/capture/backward/joint.h"

static const int64_t ENDLESS = INT64_MAX / 4;

struct edge {
	int to, next; /* next: of the same vertex; -1 */
	int64_t room;
};

struct min_cut {
	const struct graph *g;
	struct edge *edges;
	int n_edges, cap_edges;
	int *first, *level, *at, *queue;
	int n; /* vertices: two for each node, source, sink */
	int source, sink;
	int n_forward;
	/* by node */
	bool *needs_tangent; /* it waits for a tangent */
	bool *needed;        /* gradients are made of it */
	bool *result;        /* the forward part returns it */
};

static int inside(int node)
{
	return 2 * node;
}

static int outside(int node)
{
	return 2 * node + 1;
}

static void join(struct min_cut *c, int from, int to, int64_t room)
{
	c->edges[c->n_edges] = (struct edge){ to, c->first[from], room };
	c->first[from] = c->n_edges++;
	c->edges[c->n_edges] = (struct edge){ from, c->first[to], 0 };
	c->first[to] = c->n_edges++;
}

static bool find_levels(struct min_cut *c)
{
	int head = 0, tail = 0;

	for (int i = 0; i < c->n; i++)
		c->level[i] = -1;
	c->level[c->source] = 0;
	c->queue[tail++] = c->source;
	while (head < tail) {
		int v = c->queue[head++];

		for (int e = c->first[v]; e >= 0; e = c->edges[e].next) {
			if (c->edges[e].room <= 0 || c->level[c->edges[e].to] >= 0)
				continue;
			c->level[c->edges[e].to] = c->level[v] + 1;
			c->queue[tail++] = c->edges[e].to;
		}
	}
	return c->level[c->sink] >= 0;
}

/* One augmenting path along the levels, without recursion: `queue` is the path. */
static int64_t augment(struct min_cut *c)
{
	int64_t room = ENDLESS;
	int depth = 0, v = c->source;

	while (v != c->sink) {
		int e = c->at[v];

		while (e >= 0 &&
		       (c->edges[e].room <= 0 || c->level[c->edges[e].to] != c->level[v] + 1))
			e = c->edges[e].next;
		c->at[v] = e;
		if (e >= 0) {
			c->queue[depth++] = e;
			v = c->edges[e].to;
		} else if (depth == 0) {
			return 0;
		} else { /* a dead end: back, and on from the next edge */
			e = c->queue[--depth];
			v = c->edges[e ^ 1].to;
			c->at[v] = c->edges[e].next;
		}
	}
	for (int i = 0; i < depth; i++)
		if (c->edges[c->queue[i]].room < room)
			room = c->edges[c->queue[i]].room;
	for (int i = 0; i < depth; i++) {
		c->edges[c->queue[i]].room -= room;
		c->edges[c->queue[i] ^ 1].room += room;
	}
	return room;
}

static void saturate(struct min_cut *c)
{
	while (find_levels(c)) {
		memcpy(c->at, c->first, sizeof(int) * (size_t)c->n);
		while (augment(c) > 0)
			;
	}
}

/* From where the sink can still be reached; of several cheapest cuts that is the one
 * after which the least is computed again.  In `level`: 0 where so, else -1. */
static void find_sink_side(struct min_cut *c)
{
	int head = 0, tail = 0;

	for (int i = 0; i < c->n; i++)
		c->level[i] = -1;
	c->level[c->sink] = 0;
	c->queue[tail++] = c->sink;
	while (head < tail)
		for (int e = c->first[c->queue[head++]]; e >= 0; e = c->edges[e].next) {
			int from = c->edges[e].to;

			if (c->edges[e ^ 1].room <= 0 || c->level[from] >= 0)
				continue;
			c->level[from] = 0;
			c->queue[tail++] = from;
		}
}

/* What a second computation would cost more than it saves, or change. */
static bool is_dear(const struct node *n)
{
	switch (op_info(n->op)->kind) {
	case KIND_POINTWISE:
	case KIND_VIEW:
	case KIND_JOIN:
	case KIND_CREATE:
	case KIND_CONSTANT:
		return false;
	default:
		return true;
	}
}

static int64_t bytes_of(const struct graph *g, const struct node *n)
{
	int64_t bytes = (int64_t)dtype_bytes(n->dtype);

	for (int d = 0; d < n->shape.rank; d++) {
		int64_t size = sym_hint(g->syms, n->shape.size[d]);

		if (size > 0 && bytes > (INT64_MAX / 64) / size)
			return INT64_MAX / 64;
		bytes *= size;
	}
	return bytes + 1;
}

/* What is alive anyway costs next to nothing: inputs, and results.  A view that is
 * saved has to be copied first. */
static int64_t weight(const struct graph *g, const struct node *n, const bool *result)
{
	if (n->op == OP_input || result[n->id])
		return 1;
	return (op_info(n->op)->kind == KIND_VIEW ? 3 : 2) * bytes_of(g, n);
}

/* Nodes that wait for a tangent, which are such themselves. */
static bool *find_needing_tangent(const struct joint *j, const struct graph *captured)
{
	bool *needs_tangent = ARENA_ARRAY(j->g->arena, bool, (size_t)j->g->n_nodes + 1);

	if (!needs_tangent)
		return NULL;
	for (int i = 0; i < captured->n_outputs; i++)
		if (j->tangents[i] >= 0)
			needs_tangent[j->tangents[i]] = true;
	for (int id = 0; id < j->g->n_nodes; id++) {
		const struct node *n = j->g->nodes[id];

		for (int i = 0; i < n->n_args; i++)
			needs_tangent[id] |= n->args[i].kind == ARG_NODE &&
					     needs_tangent[n->args[i].node];
	}
	return needs_tangent;
}

/* What the gradients are made of. */
static bool *find_needed(const struct joint *j, const struct graph *captured)
{
	bool *needed = ARENA_ARRAY(j->g->arena, bool, (size_t)j->g->n_nodes + 1);

	if (!needed)
		return NULL;
	for (int i = 0; i < captured->n_inputs; i++)
		if (j->grads[i] >= 0)
			needed[j->grads[i]] = true;
	for (int id = j->g->n_nodes - 1; id >= 0; id--) {
		const struct node *n = j->g->nodes[id];

		for (int i = 0; needed[id] && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				needed[n->args[i].node] = true;
	}
	return needed;
}

static bool make_vertices(struct min_cut *c, const struct graph *g)
{
	size_t n = 2 * (size_t)g->n_nodes + 2, edges = 4 + 2 * (size_t)g->n_inputs;

	for (int id = 0; id < g->n_nodes; id++)
		edges += 6 + 2 * (size_t)g->nodes[id]->n_args;
	c->g = g;
	c->n = (int)n;
	c->edges = ARENA_ARRAY(g->arena, struct edge, edges);
	c->first = ARENA_ARRAY(g->arena, int, n);
	c->level = ARENA_ARRAY(g->arena, int, n);
	c->at = ARENA_ARRAY(g->arena, int, n);
	c->queue = ARENA_ARRAY(g->arena, int, n);
	if (!c->edges || !c->first || !c->level || !c->at || !c->queue)
		return false;
	for (size_t i = 0; i < n; i++)
		c->first[i] = -1;
	return true;
}

static void add_node(struct min_cut *c, const struct node *n)
{
	const struct graph *g = c->g;

	if (!c->needed[n->id])
		return;
	if (c->needs_tangent[n->id]) {
		for (int i = 0; i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE && !c->needs_tangent[n->args[i].node])
				join(c, outside(n->args[i].node), c->sink, ENDLESS);
		return;
	}
	join(c, inside(n->id), outside(n->id), weight(g, n, c->result));
	/* what a rule computes is part of the backward pass, in eager too */
	if (n->op == OP_input || (n->id < c->n_forward && is_dear(n)))
		join(c, c->source, inside(n->id), ENDLESS);
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE)
			join(c, outside(n->args[i].node), inside(n->id), ENDLESS);
}

bool min_cut(const struct joint *j, const struct graph *captured, bool **save, struct err *err)
{
	const struct graph *g = j->g;
	struct min_cut c = { .source = 2 * g->n_nodes,
			     .sink = 2 * g->n_nodes + 1,
			     .n_forward = j->n_forward,
			     .needs_tangent = find_needing_tangent(j, captured),
			     .needed = find_needed(j, captured),
			     .result = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1) };

	*save = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);
	if (!c.needs_tangent || !c.needed || !c.result || !*save || !make_vertices(&c, g))
		return trace_no_memory(err);
	for (int i = 0; i < captured->n_outputs; i++)
		c.result[j->outputs[i]] = true;
	for (int id = 0; id < g->n_nodes; id++)
		add_node(&c, g->nodes[id]);
	/* a gradient may be a value that waits for nothing */
	for (int i = 0; i < captured->n_inputs; i++)
		if (j->grads[i] >= 0 && !c.needs_tangent[j->grads[i]])
			join(&c, outside(j->grads[i]), c.sink, ENDLESS);
	saturate(&c);
	find_sink_side(&c);
	for (int id = 0; id < g->n_nodes; id++)
		(*save)[id] = c.needed[id] && !c.needs_tangent[id] && c.level[inside(id)] < 0 &&
			      c.level[outside(id)] >= 0;
	return true;
}
