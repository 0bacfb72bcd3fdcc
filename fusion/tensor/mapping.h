/* fusion/tensor/mapping.h -- a file whose bytes tensors lie in.
 *
 * The system reads a page when it is first used, and copies one that is written, so that the
 * file stays as it is; what nobody writes is in memory once, however often it is mapped.
 */
#ifndef FUSION_TENSOR_MAPPING_H
#define FUSION_TENSOR_MAPPING_H

#include <stddef.h>

#include "fusion/base/err.h"

struct mapping {
	char *data;
	size_t bytes; /* of the file; at least 64 more can be read after them */
	int refs;
};

/* One reference; NULL with IO. */
struct mapping *mapping_open(const char *path, struct err *err);
void mapping_unref(struct mapping *m); /* NULL is fine */

#endif
