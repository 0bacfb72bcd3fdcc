/* profiler/workload/random.h -- the seeded numbers of a workload's inputs.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
 * as 1, 2, 3", SC 2011): element i depends on seed and i alone, so a tensor is
 * the same on every machine, and the exported PyTorch script makes the same
 * numbers with vector arithmetic.
 *
 * Words 4b .. 4b+3 are the block of counter (b, 0) under the key `seed`.
 *	rand     word * 2^-32 (float32: its upper 24 bits), into [low, high)
 *	randint  low + (word * (high - low) >> 32)
 *	randn    Box-Muller on the words 2p and 2p+1, each as (word + 0.5) * 2^-32:
 *	         r = sqrt(-2 ln u), elements 2p = r cos(2 pi v), 2p+1 = r sin(2 pi v)
 */
#ifndef PROFILER_WORKLOAD_RANDOM_H
#define PROFILER_WORKLOAD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/dtype.h"
#include "fusion/base/philox.h"

enum random_kind {
	RANDOM_RANDN,
	RANDOM_RAND,
	RANDOM_RANDINT,
	RANDOM_ZEROS,
	RANDOM_ONES,
	RANDOM_ARANGE
};

bool random_kind_from_name(const char *name, enum random_kind *out);

struct random {
	enum random_kind kind;
	uint64_t seed;
	double low, high; /* rand, randint; arange starts at low */
};

/* One block of four words. */
static inline void random_philox(uint64_t seed, uint64_t block, uint32_t out[4])
{
	philox(seed, block, 0, out);
}

/* The next 64 bits of a stream that starts at *position 0: for shuffles. */
uint64_t random_next(uint64_t seed, uint64_t *position);

/* Fills n row-major elements of `dtype` at `data`; many of them by so many threads (0: one for
 * each core), which changes none. */
void random_fill(const struct random *r, enum dtype dtype, void *data, int64_t n, int threads);

#endif
