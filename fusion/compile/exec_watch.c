/* fusion/compile/exec_watch.c -- watches the memory of an exec: by name, or by a fence.
 *
 * An allocator knows bytes alone; whoever takes them knows the value of the graph that
 * will lie there.  An eager op's plan serves many lines of the program, so what it says
 * of its line is that of the first: eager_op() of the observer has the right one.
 *
 * What the allocator gives is fenced there (backends/memory/memory.h).  Temporaries that
 * share a block are fenced here: by the plan, the life of each begins before its first
 * kernel and ends after its last.  Where the plan is wrong, one that is still read is
 * poisoned.
 */
#include "fusion/compile/exec_watch.h"

#include <inttypes.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/buf.h"

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

void exec_label(const struct exec *e, int buffer, enum fusion_use use, int graph)
{
	struct fusion_memory *what = allocator_label(e->env->allocator);

	if (!what)
		return;
	what->use = use;
	what->eager = e->eager;
	what->graph = graph;
	if (buffer >= 0)
		label_value(e, buffer, what);
	else
		what->values = e->n_temps;
}

struct fence *exec_fence(const struct exec *e)
{
	return allocator_fence(e->env->allocator);
}

void exec_fence_describe(const struct exec *e, int buffer)
{
	const struct buffer *b = &e->lowered->buffers[buffer];
	struct buf text;

	buf_init(&text, 0);
	buf_printf(&text, "%s [", dtype_name(b->dtype));
	for (int d = 0; d < b->shape.rank; d++)
		buf_printf(&text, "%s%" PRId64, d ? ", " : "", sym_eval(b->shape.size[d], e->vars));
	buf_puts(&text, "], a temporary of a graph");
	if (text.data)
		fence_describe(exec_fence(e), e->buffers[buffer], text.data);
	buf_finish(&text);
}

/* "the kernel fused_add of graph 0, for torch.add (line 3)"; an eager op's kernel serves
 * any line. */
static void note_writer(const struct exec *e, int buffer, int kernel, int graph)
{
	const struct node *n = e->graph->nodes[e->lowered->buffers[buffer].node];
	struct buf text;

	buf_init(&text, 0);
	buf_printf(&text, "the kernel %.80s", e->lowered->kernels[kernel].name);
	if (graph >= 0)
		buf_printf(&text, " of graph %d", graph);
	buf_printf(&text, ", for %.60s", n->fx && n->fx[0] ? n->fx : op_info(n->op)->id);
	if (!e->eager && n->line > 0)
		buf_printf(&text, " (line %d)", n->line);
	if (text.data)
		fence_wrote(exec_fence(e), e->buffers[buffer], text.data);
	buf_finish(&text);
}

/* Written by that kernel, perhaps not for the first time. */
static bool may_write(const struct buffer *b, int kernel)
{
	return (b->kind == BUFFER_OUTPUT || b->kind == BUFFER_TEMP) && b->first_kernel <= kernel &&
	       b->last_kernel >= kernel;
}

/* On the host the kernel is done, and whatever it has overwritten is its own doing. */
void exec_fence_wrote(const struct exec *e, int kernel, int graph)
{
	struct fence *g = exec_fence(e);

	for (int b = 0; g && b < e->lowered->n_buffers; b++) {
		const struct buffer *at = &e->lowered->buffers[b];

		if (!e->buffers[b] || !may_write(at, kernel))
			continue;
		if (at->first_kernel == kernel)
			note_writer(e, b, kernel, graph);
		if (!fence_on_device(g))
			fence_look(g, e->buffers[b]);
	}
}
