/* tests/cuda/blas.c -- a libcublas.so.13 beside driver.c: products are launches. */
#include <cuda.h>

#include "tests/cuda/blas_handle.h"

CUresult stand_in_product(const void *a, const void *b, void *c);
void stand_in_stream(CUstream stream);

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	if (!dims_fit(turn_a, turn_b, m, n, k, lda, ldb, ldc, batch))
		return CUBLAS_STATUS_INVALID_VALUE;
	stand_in_stream(stream_of_calls);
	return stand_in_product(a, b, c) == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS
							 : CUBLAS_STATUS_EXECUTION_FAILED;
}
