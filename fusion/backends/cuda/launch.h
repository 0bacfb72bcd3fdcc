/* fusion/backends/cuda/launch.h -- a kernel with all that a launch needs prepared.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_LAUNCH_H
#define FUSION_BACKENDS_CUDA_LAUNCH_H

#include "fusion/backends/backend.h"
#include "fusion/backends/cuda/device.h"
#include "fusion/backends/cuda/kernel.h"

struct launch {
	const struct cuda_kernel *kernel;
	CUfunction function;
	unsigned grid[2], block[2], shared_bytes;
	int resident;     /* blocks that a multiprocessor has at once, as the driver says */
	uint64_t *values; /* of the parameters: addresses first */
	void **params;    /* addresses of the values */
	int n_params;
	bool wide; /* addresses must be multiples of CUDA_VECTOR_BYTES */
};

/* Memory of one graph's kernels beside its buffers; grows as bindings ask for it. */
struct scratch {
	uint64_t parts, counts, slots; /* addresses on the device, 0: none */
	size_t parts_bytes, counts_bytes, slots_bytes;
};

/* Of a kernel's function.  False with MEMORY. */
bool launch_create(struct launch *l, const struct cuda_kernel *k, CUfunction function,
		   struct device *d, struct err *err);
void launch_finish(struct launch *l); /* zeroed is fine */

/* Its grid and its numbers under these symbols.  False with MEMORY. */
bool launch_bind(struct launch *l, struct device *d, struct scratch *s, const int64_t *vars,
		 struct err *err);
/* Once all kernels are bound: the scratch has its place. */
void launch_use_scratch(struct launch *l, const struct scratch *s);
void scratch_finish(struct scratch *s, struct device *d);

/* Its parameters are these addresses. */
static inline void launch_point(struct launch *l, void *const *buffers)
{
	for (int i = 0; i < l->kernel->n_buffers; i++)
		l->values[i] = (uint64_t)buffers[l->kernel->buffers[i]];
}

/* It begins at its end, if it can and is told to. */
static inline void launch_turn(struct launch *l, bool backward)
{
	if (l->kernel->turns)
		*(uint64_t *)l->params[l->n_params - 1] = backward;
}

/* One driver call.  A failure is the device's to keep. */
void launch_run(struct launch *l, struct device *d, void *const *buffers, bool backward);

/* What the driver says of its registers, memory and occupancy.  False: nothing. */
bool launch_use(const struct launch *l, struct device *d, struct kernel_use *out);

/* Whether these addresses suit it. */
bool launch_fits(const struct launch *l, void *const *buffers);

#endif
