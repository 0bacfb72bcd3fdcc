/* profiler/allclose/elements.h -- elements of a tensor as doubles, a run of them at a
 * time.
 */
#ifndef PROFILER_ALLCLOSE_ELEMENTS_H
#define PROFILER_ALLCLOSE_ELEMENTS_H

#include "fusion/tensor.h"

/* Elements [first, first + n), row by row, whatever the strides.  The host's memory is up
 * to date already: elements_ready(). */
void elements_read(const struct tensor *t, int64_t first, int64_t n, double *out);

static inline void elements_ready(const struct tensor *t)
{
	if (tensor_numel(t) > 0)
		fusion_tensor_read(t);
}

/* Whether two tensors of one dtype and shape have the same bits. */
bool elements_same_bits(const struct tensor *a, const struct tensor *b, int threads);

/* Elements below which a loop is not worth threads. */
enum { ELEMENTS_GRAIN = 1 << 16 };

#endif
