/* tests/cuda/blas.c -- a libcublas.so.13 beside driver.c: products are launches. */
#include <cublas_v2.h>
#include <cuda.h>

CUresult stand_in_product(const void *a, const void *b, void *c);

static int something;

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
	*handle = (cublasHandle_t)&something;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	return CUBLAS_STATUS_SUCCESS;
}

/* Leading dims as the real one checks them. */
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < (turn_a == CUBLAS_OP_N ? m : k) ||
	    ldb < (turn_b == CUBLAS_OP_N ? k : n) || ldc < m)
		return CUBLAS_STATUS_INVALID_VALUE;
	return stand_in_product(a, b, c) == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS
							 : CUBLAS_STATUS_EXECUTION_FAILED;
}
