/* fusion/backends/cuda/calls.h -- ops with a function of their own, of an executable.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_CALLS_H
#define FUSION_BACKENDS_CUDA_CALLS_H

#include "fusion/backends/cuda/module.h"

/* Whether the graph's module has functions for the op that a kernel begins with. */
bool cuda_has_functions(const struct executable *exe, int kernel);

/* Room for all of them; the functions' text, behind words.cu. */
bool cuda_prepare_calls(struct executable *exe, struct err *err);
void cuda_emit_calls(struct buf *out, const struct executable *exe);
void cuda_drop_calls(struct executable *exe);

/* For the symbols that are bound; finds out whether it runs on the device. */
bool cuda_bind_call(struct executable *exe, int kernel, struct err *err);
void cuda_call_on_host(struct executable *exe, int kernel, void *const *buffers, struct pool *pool);

/* False with VALUE: an index was out of bounds.  Waits for the device where ops that look
 * something up have run. */
bool cuda_call_faulted(struct executable *exe, struct err *err);

/* cuda.c: source to a module, from the cache where it is there. */
bool cuda_load(struct executable *exe, const char *source, CUmodule *module, bool *cached,
	       struct err *err);

#endif
