/* fusion/tensor/alloc.h -- private to tensor/: blocks that count as nobody's.
 *
 * The headers of tensors live here, so that making a tensor calls no malloc
 * and the figures of tensor memory hold elements alone.
 */
#ifndef FUSION_TENSOR_ALLOC_H
#define FUSION_TENSOR_ALLOC_H

#include <stddef.h>

#include "fusion/tensor/tensor.h"

/* As allocator_get() and _put(), but outside of the limit and the counts.
 * block_get() returns NULL when the system has no memory. */
void *block_get(struct allocator *a, size_t bytes);
void block_put(struct allocator *a, void *memory, size_t bytes);

#endif
