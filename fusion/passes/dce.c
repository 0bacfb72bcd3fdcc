/* fusion/passes/dce.c -- drops nodes that no output needs.
 *
 * Inputs stay, used or not: they are the signature of the compiled call.  So do
 * draws of random numbers: those that come after would be others.
 */
#include "fusion/passes/pass.h"

static int drop_unread(struct rewrite *rw, struct node *n, struct err *err)
{
	const bool *read = rw->state;

	(void)err;
	if (read[n->id])
		return REWRITE_KEEP;
	pass_fired(rw->g, "nothing reads it", n, NULL);
	return REWRITE_DROP;
}

/* needs: arguments before uses; keeps: every value an output needs */
bool pass_dce(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	bool *read = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes);

	if (!read)
		return pass_out_of_memory(err);
	for (int i = 0; i < g->n_outputs; i++)
		read[g->outputs[i]] = true;
	for (int i = g->n_nodes - 1; i >= 0; i--) {
		const struct node *n = g->nodes[i];

		read[i] |= graph_draws(n);
		for (int a = 0; read[i] && a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				read[n->args[a].node] = true;
	}
	return rewrite_run(g, drop_unread, read, changed, err);
}
