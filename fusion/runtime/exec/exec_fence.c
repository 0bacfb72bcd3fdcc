/* fusion/runtime/exec/exec_fence.c -- a run whose memory is watched (backends/fence.h).
 *
 * What the allocator gives is watched there.  Temporaries that share a block are watched
 * here: by the plan, the life of each begins before its first kernel and ends after its
 * last.  Where the plan is wrong, one that is still read is poisoned.
 */
#include "fusion/backends/fence.h"
#include "fusion/runtime/exec/exec.h"

struct fence *exec_fence(const struct exec *e)
{
	return allocator_fence(e->env->allocator);
}

size_t exec_temp_bytes(const struct exec *e, int index)
{
	return exec_fence(e) ? e->temps[index].size : e->temps[index].bytes;
}

static void begin_temps(struct exec *e, int kernel)
{
	for (int i = 0; i < e->n_temps; i++) {
		int buffer = e->temps[i].buffer;

		if (e->lowered->buffers[buffer].first_kernel != kernel)
			continue;
		e->buffers[buffer] = fence_open(exec_fence(e), e->buffers[buffer],
						e->temps[i].size);
		fence_describe(exec_fence(e), e->buffers[buffer], "a temporary of a graph");
	}
}

static void end_temps(struct exec *e, int kernel)
{
	for (int i = 0; i < e->n_temps; i++) {
		int buffer = e->temps[i].buffer;

		if (e->lowered->buffers[buffer].last_kernel == kernel)
			fence_close(exec_fence(e), e->buffers[buffer]);
	}
}

void exec_fenced_launches(struct exec *e, bool backward, const struct fusion_observer *observer,
			  int graph)
{
	for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward) {
		begin_temps(e, k);
		exec_launch(e, k, backward, observer, graph);
		exec_fence_wrote(e, k, graph);
		end_temps(e, k);
	}
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
			fence_wrote(g, e->buffers[b], e->lowered->kernels[kernel].name, graph);
		if (!fence_on_device(g))
			fence_look(g, e->buffers[b]);
	}
}
