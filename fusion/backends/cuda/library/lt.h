/* fusion/backends/cuda/library/lt.h -- products by cuBLASLt, with a bias and a tensor added in the
 * same kernel.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_LT_H
#define FUSION_BACKENDS_CUDA_LIBRARY_LT_H

#include <cublasLt.h>

#include "fusion/backends/cuda/device/device.h"

/* A product as cuBLAS counts it, by columns: of float32, float16 or bfloat16, added up in
 * float32. */
struct cuda_lt_shape {
	cudaDataType type;
	int aligned; /* all addresses are multiples of so many bytes */
	cublasOperation_t turn_a, turn_b;
	int rows, columns, summed;
	int64_t lead_a, lead_b, lead;
};

struct cuda_lt_product;

/* By the way that cuBLASLt thinks fastest; with `tries`, the fastest here of its best few, found
 * once for a shape: some milliseconds.  The first product of a shape decides the bits that all
 * others of it give, with whatever epilogue.  NULL: cuBLASLt is not installed, or has no such way.
 */
struct cuda_lt_product *cuda_lt_create(struct device *d, const struct cuda_lt_shape *shape,
				       bool bias, bool rest, bool tries);
void cuda_lt_destroy(struct device *d, struct cuda_lt_product *p); /* NULL is fine */

/* Whether the bits of the shape's products are those of a way that was tried for. */
bool cuda_lt_is_tried(const struct device *d, const struct cuda_lt_shape *shape);

enum { CUDA_LT_ALIGNED = 16 }; /* what cuBLASLt has its fast ways for */
/* Where its operands and its result are; bias and rest: NULL where it has none. */
struct cuda_lt_places {
	const void *a, *b, *bias, *rest;
	void *out;
};
void cuda_lt_run(struct device *d, const struct cuda_lt_product *p,
		 const struct cuda_lt_places *at);

#endif
