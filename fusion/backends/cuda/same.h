/* fusion/backends/cuda/same.h -- memory of a device compared where it is.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_SAME_H
#define FUSION_BACKENDS_CUDA_SAME_H

#include "fusion/backends/cuda/device.h"

/* memory.same() */
bool cuda_same(void *self, const void *a, const void *b, size_t bytes);
void cuda_same_close(struct device *d);

#endif
