/* fusion/compile/exec_watch.h -- private to compile/: what an exec says of its memory to those
 * who watch memory.
 */
#ifndef FUSION_COMPILE_EXEC_WATCH_H
#define FUSION_COMPILE_EXEC_WATCH_H

#include "fusion/compile/compile.h"

/* Tells whoever watches memory that the next memory is for this buffer, or for all temporaries
 * in one block (buffer -1), in a run of `graph` (-1: of none). */
void exec_label(const struct exec *e, int buffer, enum fusion_use use, int graph);

/* The fence around the memory of an exec (backends/memory/memory.h); NULL: there is none. */
struct fence *exec_fence(const struct exec *e);
/* Tells the fence which temporary lies at e->buffers[buffer], where others have been before. */
void exec_fence_describe(const struct exec *e, int buffer);
/* Tells the fence what `kernel` has written, after its launch: it looks at e->buffers.  Does
 * nothing where there is no fence. */
void exec_fence_wrote(const struct exec *e, int kernel, int graph);

#endif
