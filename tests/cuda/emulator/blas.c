/* tests/cuda/emulator/blas.c -- a libcublas.so.13 that computes, beside driver.c. */
#include "tests/cuda/blas_handle.h"
#include "tests/cuda/emulator/elements.h"
#include "tests/cuda/emulator/work.h"

struct product {
	cublasOperation_t turn_a, turn_b;
	int m, n, k, lda, ldb, ldc, batch;
	long long step_a, step_b, step_c;
	cudaDataType type_a, type_b, type_c;
	const void *a, *b;
	void *c;
};

/* Sums in double. */
static void multiply(const void *state)
{
	const struct product *p = state;

	for (long long t = 0; t < p->batch; t++)
		for (long long j = 0; j < p->n; j++)
			for (long long i = 0; i < p->m; i++) {
				double sum = 0;

				for (long long l = 0; l < p->k; l++) {
					long long x = p->turn_a == CUBLAS_OP_N ? l * p->lda + i
									       : i * p->lda + l;
					long long y = p->turn_b == CUBLAS_OP_N ? j * p->ldb + l
									       : l * p->ldb + j;

					sum += get(p->a, t * p->step_a + x, p->type_a) *
					       get(p->b, t * p->step_b + y, p->type_b);
				}
				put(p->c, t * p->step_c + j * p->ldc + i, p->type_c, sum);
			}
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	const struct product p = { .turn_a = turn_a,
				   .turn_b = turn_b,
				   .m = m,
				   .n = n,
				   .k = k,
				   .lda = lda,
				   .ldb = ldb,
				   .ldc = ldc,
				   .batch = batch,
				   .step_a = step_a,
				   .step_b = step_b,
				   .step_c = step_c,
				   .type_a = type_a,
				   .type_b = type_b,
				   .type_c = type_c,
				   .a = a,
				   .b = b,
				   .c = c };

	if (!dims_fit(turn_a, turn_b, m, n, k, lda, ldb, ldc, batch))
		return CUBLAS_STATUS_INVALID_VALUE;
	emulated_do(multiply, &p, sizeof(p));
	return CUBLAS_STATUS_SUCCESS;
}
