/* fusion/compile/exec.h -- private to compile/: makes an exec without its kernels. */
#ifndef FUSION_COMPILE_EXEC_H
#define FUSION_COMPILE_EXEC_H

#include "fusion/compile/compile.h"

/* Plans the memory of a graph after its passes and of its kernels' programs: which buffers
 * they read and write, and where temporaries lie.  Puts constants into memory.  The caller adds
 * the kernels.  NULL with *err. */
struct exec *exec_create(const struct compile_options *options, struct graph *g,
			 struct lowered *lowered, struct arena *arena, struct err *err);

#endif
