/* fusion/passes/rewrite.c -- one walk over a graph that makes a new list of its nodes. */
#include <string.h>

#include "fusion/passes/pass.h"

static void rewire(struct node *n, const int *map)
{
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE)
			n->args[i].node = map[n->args[i].node];
}

static int visit(struct rewrite *rw, rewrite_fn *fn, struct node *n, struct err *err)
{
	int id;

	rw->g->module = n->module;
	id = n->op == OP_input ? REWRITE_KEEP : fn(rw, n, err);
	if (id != REWRITE_KEEP) {
		rw->changed = true;
		return id;
	}
	id = graph_append(rw->g, n);
	if (id < 0)
		pass_out_of_memory(err);
	return id;
}

bool rewrite_run(struct graph *g, rewrite_fn *fn, void *state, bool *changed, struct err *err)
{
	struct rewrite rw = { .g = g, .state = state };
	struct node **old = g->nodes;
	int n_old = g->n_nodes;
	int *map = ARENA_ARRAY(g->arena, int, (size_t)n_old);

	g->n_nodes = 0;
	g->cap_nodes = n_old + 8;
	g->nodes = ARENA_ARRAY(g->arena, struct node *, (size_t)g->cap_nodes);
	if (!map || !g->nodes)
		return pass_out_of_memory(err);
	for (int i = 0; i < n_old; i++) {
		rewire(old[i], map);
		map[i] = visit(&rw, fn, old[i], err);
		if (map[i] == REWRITE_FAILED)
			return false;
	}
	for (int i = 0; i < g->n_inputs; i++)
		g->inputs[i] = map[g->inputs[i]];
	for (int i = 0; i < g->n_outputs; i++)
		g->outputs[i] = map[g->outputs[i]];
	*changed = rw.changed;
	return true;
}

struct visitor {
	pass_visit_fn *fn;
	const struct pass_info *pass;
};

static int visit_from_outside(struct rewrite *rw, struct node *n, struct err *err)
{
	const struct visitor *v = rw->state;
	int id = v->fn(v->pass, rw->g, n, err);

	return id == PASS_KEEP ? REWRITE_KEEP : id < 0 ? REWRITE_FAILED : id;
}

bool pass_visit_all(struct pass_run *run, pass_visit_fn *fn, bool *changed, struct err *err)
{
	struct visitor v = { fn, run->self };

	return rewrite_run(run->g, visit_from_outside, &v, changed, err);
}
