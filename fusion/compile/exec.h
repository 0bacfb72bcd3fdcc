/* fusion/compile/exec.h -- private to compile/: makes an exec without its kernels, and names the
 * memory that it takes.
 */
#ifndef FUSION_COMPILE_EXEC_H
#define FUSION_COMPILE_EXEC_H

#include "fusion/compile/compile.h"

/* Plans the memory of a graph after its passes and of its kernels' programs: which buffers
 * they read and write, and where temporaries lie.  Puts constants into memory.  The caller adds
 * the kernels.  NULL with *err. */
struct exec *exec_create(const struct compile_options *options, struct graph *g,
			 struct lowered *lowered, struct arena *arena, struct err *err);

/* Names the use of the next memory, for an observer: this buffer, or all temporaries in one block
 * (buffer -1), in a run of `graph` (-1: of none). */
void exec_label(const struct exec *e, int buffer, enum fusion_use use, int graph);

/* The fence around the memory of an exec (backends/memory/memory.h); NULL: there is none. */
static inline struct fence *exec_fence(const struct exec *e)
{
	return allocator_fence(e->env->allocator);
}

#endif
