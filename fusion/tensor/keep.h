/* fusion/tensor/keep.h -- tensors that stay as they are while the
 * program writes to their memory.
 *
 * A backward part may read an input of its piece that eager would not have saved: a write to it
 * in between is no error.  A kept tensor shares its memory until the first write: then all
 * that is kept of the storage moves to a copy.
 */
#ifndef FUSION_TENSOR_KEEP_H
#define FUSION_TENSOR_KEEP_H

#include "fusion/tensor/tensor.h"

/* Another tensor over t's memory that keeps its elements; NULL with *err. */
struct tensor *tensor_keep(struct tensor *t, struct err *err);

bool storage_move_kept(struct storage *s, struct err *err);

/* To be called before the program writes to a storage, and storage_written() after it. */
static inline bool storage_before_write(struct storage *s, struct err *err)
{
	return __builtin_expect(s->kept == NULL, 1) || storage_move_kept(s, err);
}

#endif
