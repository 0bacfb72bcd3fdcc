/* tests/cuda/emulator/blas.c -- a libcublas.so.13 that computes, beside driver.c. */
#include "tests/cuda/blas_handle.h"
#include "tests/cuda/emulator/elements.h"

/* Sums in double. */
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	if (!dims_fit(turn_a, turn_b, m, n, k, lda, ldb, ldc, batch))
		return CUBLAS_STATUS_INVALID_VALUE;
	for (long long t = 0; t < batch; t++)
		for (long long j = 0; j < n; j++)
			for (long long i = 0; i < m; i++) {
				double sum = 0;

				for (long long l = 0; l < k; l++)
					sum +=
					    get(a,
						t * step_a + (turn_a == CUBLAS_OP_N ? l * lda + i
										    : i * lda + l),
						type_a) *
					    get(b,
						t * step_b + (turn_b == CUBLAS_OP_N ? j * ldb + l
										    : l * ldb + j),
						type_b);
				put(c, t * step_c + j * ldc + i, type_c, sum);
			}
	return CUBLAS_STATUS_SUCCESS;
}
