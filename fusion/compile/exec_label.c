/* fusion/compile/exec_label.c -- says what the memory of an exec is for.
 *
 * An allocator knows bytes alone; whoever takes them knows the value of the graph that
 * will lie there.  An eager op's plan serves many lines of the program, so what it says
 * of its line is that of the first: eager_op() of the observer has the right one.
 */
#include "fusion/compile/exec.h"

static void label_value(const struct exec *e, int buffer, struct fusion_memory *what)
{
	const struct buffer *b = &e->lowered->buffers[buffer];
	const struct node *n = e->graph->nodes[b->node];

	what->kernel = b->first_kernel < 0 ? -1 : e->first_kernel + b->first_kernel;
	what->dtype = b->dtype;
	what->rank = b->shape.rank;
	for (int d = 0; d < b->shape.rank; d++)
		what->size[d] = sym_eval(b->shape.size[d], e->vars);
	if (e->eager || what->use == USE_CONSTANT)
		return;
	what->op = n->fx && n->fx[0] ? n->fx : op_info(n->op)->id;
	what->line = n->line;
}

void exec_label(const struct exec *e, int buffer, enum fusion_use use)
{
	struct fusion_memory *what = allocator_label(e->env->allocator);

	if (!what)
		return;
	what->use = use;
	what->eager = e->eager;
	what->graph = use == USE_CONSTANT ? -1 : e->told_graph;
	if (buffer >= 0)
		label_value(e, buffer, what);
	else
		what->values = e->n_temps;
}
