/* fusion/backends/cuda/recording.h -- mode graphs: launches as one CUDA graph.
 *
 * A CUDA graph has a node for each launch, one behind the other, with its arguments
 * in place.  Where a buffer moves, the nodes that use it are given their arguments
 * anew before the next replay; the launches of a library, whose arguments are its own,
 * are captured again.
 *
 * A graph is made at the first replay, when all memory has its place.  It pays from one
 * kernel on: on an H200 2.7 us instead of 3.1 for a small kernel, 56 instead of 90 for
 * thirty of them, new arguments for all of them included (tests/bench/bench_launch.c).
 * What has a step on the host, or what the driver makes no graph of, is launched kernel
 * by kernel, with all else prepared alike.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_RECORDING_H
#define FUSION_BACKENDS_CUDA_RECORDING_H

#include "fusion/backends/backend.h"

/* backend.record, .point, .replay, .whole, .why_direct and .erase of cuda. */
struct recording *cuda_record(struct executable *exe, void *const *buffers, struct err *err);
void cuda_point(struct recording *r, int buffer, void *memory);
void cuda_replay(struct recording *r, int kernel, struct pool *pool, bool backward);
bool cuda_whole(struct recording *r, int *counts);
const char *cuda_why_direct(const struct recording *r);
void cuda_erase(struct recording *r);

#endif
