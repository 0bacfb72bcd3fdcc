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

/* By the way that cuBLASLt thinks fastest; with `tries`, the fastest here of its best few that
 * give the same bits,
 * found once for a shape: some milliseconds.  NULL: cuBLASLt is not
 * installed, or has no way for it. */
struct cuda_lt_product *cuda_lt_create(struct device *d, const struct cuda_lt_shape *shape,
				       bool bias, bool rest, bool tries);
void cuda_lt_destroy(struct device *d, struct cuda_lt_product *p); /* NULL is fine */

enum { CUDA_LT_ALIGNED = 16 }; /* what cuBLASLt has its fast ways for */
/* Where its operands and its result are; bias and rest: NULL where it has none. */
struct cuda_lt_places {
	const void *a, *b, *bias, *rest;
	void *out;
};
void cuda_lt_run(struct device *d, const struct cuda_lt_product *p,
		 const struct cuda_lt_places *at);

#endif
