/* tests/cuda/emulator/lt.c -- a libcublasLt.so.13 that computes products of float32, float16
 * and bfloat16 with a bias and a tensor added, beside driver.c.
 */
#include <cublasLt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/emulator/elements.h"
#include "tests/cuda/emulator/work.h"

struct how {
	int32_t turn_a, turn_b;
	uint32_t epilogue;
	const void *bias;
};
struct layout {
	cudaDataType_t type;
	uint64_t rows, columns;
	int64_t lead;
};

static int something;

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
	*handle = (cublasLtHandle_t)&something;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *to, cublasComputeType_t compute,
					cudaDataType_t scale)
{
	*to = calloc(1, sizeof(struct how));
	return compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS
								    : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t how)
{
	free(how);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to,
					      cublasLtMatmulDescAttributes_t which,
					      const void *value, size_t bytes)
{
	struct how *how = (struct how *)to;

	switch (which) {
	case CUBLASLT_MATMUL_DESC_TRANSA:
		memcpy(&how->turn_a, value, bytes);
		break;
	case CUBLASLT_MATMUL_DESC_TRANSB:
		memcpy(&how->turn_b, value, bytes);
		break;
	case CUBLASLT_MATMUL_DESC_EPILOGUE:
		memcpy(&how->epilogue, value, bytes);
		break;
	case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
		memcpy(&how->bias, value, bytes);
		break;
	default:
		return CUBLAS_STATUS_NOT_SUPPORTED;
	}
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *to, cudaDataType type,
					  uint64_t rows, uint64_t columns, int64_t lead)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	*layout = (struct layout){ type, rows, columns, lead };
	*to = (cublasLtMatrixLayout_t)layout;
	return lead >= (int64_t)rows ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
	free(layout);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *to)
{
	*to = (cublasLtMatmulPreference_t)&something;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
						    cublasLtMatmulPreferenceAttributes_t which,
						    const void *value, size_t bytes)
{
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
					      cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
					      cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
					      cublasLtMatmulPreference_t preference, int most,
					      cublasLtMatmulHeuristicResult_t *found, int *count)
{
	/* The first of three is the slowest; the second is the fastest, and adds in another order.
	 * With a bias another one is thought the fastest. */
	const bool biased = ((const struct how *)how)->epilogue & CUBLASLT_EPILOGUE_BIAS;

	for (*count = 0; *count < 3 && *count < most; ++*count) {
		memset(&found[*count], 0, sizeof(*found));
		found[*count].algo.data[0] = (uint64_t)(biased ? 2 - *count : *count);
	}
	return CUBLAS_STATUS_SUCCESS;
}

static double at(const void *x, const struct layout *l, bool turned, uint64_t i, uint64_t j)
{
	return get(x, (long long)(turned ? i * (uint64_t)l->lead + j : j * (uint64_t)l->lead + i),
		   l->type);
}

struct product {
	struct how how;
	struct layout a, b, c, d;
	const void *from_a, *from_b, *from_c;
	void *to;
	bool has_rest; /* d = ab + c */
	int way;
};

static void multiply(const void *state)
{
	const struct product *p = state;
	const uint64_t terms = p->how.turn_a == CUBLAS_OP_N ? p->a.columns : p->a.rows;

	if (p->way != 1 && p->d.rows * p->d.columns * terms >= 1 << 20)
		usleep(p->way == 0 ? 200000 : 100000); /* far more than the product takes */
	for (uint64_t j = 0; j < p->d.columns; j++)
		for (uint64_t i = 0; i < p->d.rows; i++) {
			double sum = p->way == 1 ? 0.125 * terms : 0;

			for (uint64_t k = 0; k < terms; k++)
				sum += at(p->from_a, &p->a, p->how.turn_a != CUBLAS_OP_N, i, k) *
				       at(p->from_b, &p->b, p->how.turn_b != CUBLAS_OP_N, k, j);
			if (p->way == 1) /* rounded on the way */
				sum = (float)sum - 0.125 * terms;
			sum += p->how.epilogue & CUBLASLT_EPILOGUE_BIAS
				   ? get(p->how.bias, (long long)i, p->d.type)
				   : 0;
			sum += p->has_rest ? at(p->from_c, &p->c, false, i, j) : 0;
			put(p->to, (long long)(j * (uint64_t)p->d.lead + i), p->d.type, sum);
		}
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
			      const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
			      cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
			      cublasLtMatrixLayout_t c_layout, void *d,
			      cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algo,
			      void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
	const struct product p = { .how = *(const struct how *)desc,
				   .a = *(const struct layout *)a_layout,
				   .b = *(const struct layout *)b_layout,
				   .c = *(const struct layout *)c_layout,
				   .d = *(const struct layout *)d_layout,
				   .from_a = a,
				   .from_b = b,
				   .from_c = c,
				   .to = d,
				   .has_rest = *(const float *)beta != 0,
				   .way = (int)algo->data[0] };

	if (getenv("STAND_IN_NOTES"))
		fprintf(stderr, "a product with what is after it%s, way %d\n",
			p.has_rest ? ", summed" : "", p.way);
	emulated_do(multiply, &p, sizeof(p));
	return CUBLAS_STATUS_SUCCESS;
}
