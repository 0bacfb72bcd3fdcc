/* fusion/dtype.h -- element types and PyTorch's rules of promotion.
 *
 * Pure functions: any thread may call them.
 */
#ifndef FUSION_DTYPE_H
#define FUSION_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
#define DTYPE(id, name, c_type, category) DTYPE_##id,
#include "fusion/dtypes.def"
#undef DTYPE
	DTYPE_COUNT
};

enum { MAX_RANK = 8 }; /* dims of a tensor */

enum dtype_category { CATEGORY_BOOL, CATEGORY_INT, CATEGORY_FLOAT };

const char *dtype_name(enum dtype dtype); /* "float32" */
size_t dtype_bytes(enum dtype dtype);
enum dtype_category dtype_category(enum dtype dtype);

/* The dtype that arithmetic is done in: float32 for float16 and bfloat16, int64
 * for narrower ints; the result is rounded to the dtype after every op. */
enum dtype dtype_wide(enum dtype dtype);

/* Element i of an array of that dtype as a number, and back, converted as
 * Tensor.to does. */
double dtype_get_double(enum dtype dtype, const void *data, int64_t i);
int64_t dtype_get_int(enum dtype dtype, const void *data, int64_t i);
void dtype_put_double(enum dtype dtype, void *data, int64_t i, double value);
void dtype_put_int(enum dtype dtype, void *data, int64_t i, int64_t value);

/* Accepts "float32" and torch's aliases ("float", "long", "double", "int64"). */
bool dtype_from_name(const char *name, enum dtype *out);

/* The dtype of `a op b` for two tensors of at least one dimension (the wider
 * category, then the wider type).  0-d tensors and Python scalars take part
 * by category only: op_infer() in graph/graph.h knows that rule.
 * Source: pytorch.org/docs/stable/tensor_attributes.html, "type promotion". */
enum dtype dtype_promote(enum dtype a, enum dtype b);

#endif
