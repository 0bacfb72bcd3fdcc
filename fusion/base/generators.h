/* fusion/base/generators.h -- torch's generators: the CPU's, and a GPU's.
 *
 * torch.manual_seed() seeds both; each draws on its own.
 */
#ifndef FUSION_BASE_GENERATORS_H
#define FUSION_BASE_GENERATORS_H

#include "fusion/base/twister.h"

/* Philox: a kernel's thread has a counter of its own, from `offset` on. */
struct gpu_generator {
	uint64_t seed;
	uint64_t offset; /* in words of a thread: a multiple of 4 */
	int64_t threads; /* the most that PyTorch starts for a draw; 0: there is no GPU */
	/* Of the elements that a dropout is for; 0: of those that it is given.  A reference
	 * drops in float64 what the program dropped in its own dtype. */
	int element_bytes;
};

struct generators {
	struct twister cpu;
	struct gpu_generator gpu;
};

static inline void generators_seed(struct generators *g, uint64_t seed)
{
	twister_seed(&g->cpu, seed);
	g->gpu.seed = seed;
	g->gpu.offset = 0;
}

#endif
