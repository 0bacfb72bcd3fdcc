/* fusion/backends/cuda/module.h -- the executable of backend cuda: a graph's kernels
 * and what runs them.
 */
#ifndef FUSION_BACKENDS_CUDA_MODULE_H
#define FUSION_BACKENDS_CUDA_MODULE_H

#include "fusion/backends/backends.h"
#include "fusion/backends/cuda/kernel/kernel.h"
#include "fusion/backends/cuda/library/library.h"
#include "fusion/backends/cuda/library/lt.h"
#include "fusion/backends/cuda/module.h"

enum { CUDA_MOST_MODULES = 8 };

struct cuda_modules {
	CUmodule at[CUDA_MOST_MODULES];
	int n;
	char *source; /* of all of them */
	bool cached;  /* all came from the cache */
};

/* The kernels of a graph, for addresses of one kind. */
struct version {
	bool made;
	struct cuda_kernel *kernels;
	struct cuda_launch *launches;
	struct cuda_scratch scratch;
	struct cuda_modules modules;
	struct kernel_tried *tried; /* by kernel; NULL: nothing was */
};

struct executable {
	const struct lowered *lowered;
	struct device *device;
	const struct kernel_table *table; /* of the host, for what runs there */
	struct generators *random;
	const char *cache_dir; /* borrowed; NULL: no cache */
	size_t cache_bytes;
	bool cache_rebuild;
	enum autotune autotune;
	char *note; /* why it is not used; NULL */
	struct version wide, narrow;
	struct library_call *libraries;        /* of each kernel; used by LIBRARY ones */
	const struct cuda_library **on_device; /* of each kernel; NULL: it runs on the host */
	struct cuda_call *calls;               /* likewise */
	void **states;                         /* of on_device->bind() */
	struct cuda_modules *late;             /* of ops whose functions are wanted seldom */
	bool *takes_sum;                       /* the function does the epilogue too */
	struct cuda_sum *sums;                 /* what that is */
	bool looks_up;                         /* some op may find an index out of bounds */
	struct launch_fault fault;
	struct library_room room; /* of the calls that run on the host */
	int64_t *vars;            /* bound */
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
struct cuda_launch *cuda_launch_for(struct executable *exe, int kernel, void *const *buffers);

/* backend.launch. */
void cuda_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		 bool backward);

/* ---- mode graphs: launches as one CUDA graph
 *
 * A CUDA graph has a node for each launch, one after the other, with its arguments
 * in place.  Where a buffer moves, the nodes that use it are given their arguments
 * again before the next replay; the launches of a library, whose arguments are its own,
 * are captured again.
 *
 * A graph is made at the first replay, when all memory has its place.  It pays from one
 * kernel on: on an H200 2.7 us instead of 3.1 for a small kernel, 56 instead of 90 for
 * thirty of them, new arguments for all of them included (tests/bench/bench_launch.c).
 * What has a step on the host, or what the driver makes no graph of, is launched kernel
 * by kernel, with all else prepared alike.
 */

/* backend.record, .point, .replay, .whole, .why_direct and .erase of cuda. */
struct recording *cuda_record(struct executable *exe, void *const *buffers, struct err *err);
void cuda_point(struct recording *r, int buffer, void *memory);
void cuda_replay(struct recording *r, int kernel, struct pool *pool, bool backward);
bool cuda_whole(struct recording *r, int *counts);
const char *cuda_why_direct(const struct recording *r);
void cuda_erase(struct recording *r);

#endif
