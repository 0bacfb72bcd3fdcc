/* fusion/backends/cuda/module.h -- the executable of backend cuda: a graph's kernels
 * and what runs them.  Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_MODULE_H
#define FUSION_BACKENDS_CUDA_MODULE_H

#include "fusion/backends/cuda/launch.h"
#include "fusion/backends/cuda/library.h"
#include "fusion/backends/cuda/lt.h"

/* The kernels of a graph, for addresses of one kind. */
struct version {
	bool made, cached;
	struct cuda_kernel *kernels;
	struct launch *launches;
	struct scratch scratch;
	char *source;
	CUmodule module;
};

struct executable {
	const struct lowered *lowered;
	struct device *device;
	const struct kernel_table *table; /* of the host, for what runs there */
	struct generators *random;
	const char *cache_dir; /* borrowed; NULL: no cache */
	size_t cache_bytes;
	bool cache_anew;
	char *note; /* why it is not used; NULL */
	struct version wide, narrow;
	struct library_call *libraries;        /* of each kernel; used by LIBRARY ones */
	const struct cuda_library **on_device; /* of each kernel; NULL: it runs on the host */
	struct cuda_call *calls;               /* likewise */
	void **states;                         /* of on_device->bind() */
	CUmodule *late;                        /* of ops whose functions are wanted seldom */
	bool *takes_sum;                       /* the function does what is behind it too */
	struct cuda_sum *sums;                 /* what that is */
	bool looks_up;                         /* some op may find an index out of bounds */
	struct library_fault fault;
	int64_t *vars; /* bound */
};

/* A kernel begins with an op's own function, or walks a space, or both. */
static inline bool cuda_calls(const struct executable *exe, int kernel)
{
	return exe->lowered->kernels[kernel].library != NULL;
}

static inline bool cuda_walks(const struct executable *exe, int kernel)
{
	return exe->lowered->kernels[kernel].form != FORM_LIBRARY;
}

/* The launch of a kernel that walks, for memory at these addresses. */
struct launch *cuda_launch_for(struct executable *exe, int kernel, void *const *buffers);

/* backend.launch; and the op's own function alone, which is on the device. */
void cuda_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		 bool backward);
void cuda_call(struct executable *exe, int kernel, void *const *buffers);

#endif
