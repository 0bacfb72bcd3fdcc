/* profiler/workload/bulk.h -- loops over the elements of large tensors, by all threads.
 *
 * What comes out does not depend on how many threads there are: sums are taken in blocks of
 * BULK_BLOCK elements, and the blocks are added up in order.
 */
#ifndef PROFILER_WORKLOAD_BULK_H
#define PROFILER_WORKLOAD_BULK_H

#include "fusion/base/pool.h"
#include "fusion/tensor.h"

enum { BULK_BLOCK = 1 << 16 };

/* fn over [0, count), which covers `elements` elements: on the caller's thread where
 * these are a few blocks, else on all.  `threads` 0: one for each core. */
void bulk_run(int threads, int64_t elements, int64_t count, pool_fn *fn, void *context);

/* Whether `bytes` bytes are the same. */
bool bulk_same(const void *a, const void *b, int64_t bytes, int threads);

/* All elements as doubles, row by row. */
struct bulk_summary {
	double sum;    /* of each block, then of the blocks */
	uint64_t hash; /* of the first block's elements; then, chained, of the others' hashes */
};
/* False: out of memory. */
bool bulk_summarise(const struct tensor *t, int threads, struct bulk_summary *out);

#endif
