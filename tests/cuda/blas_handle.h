/* tests/cuda/blas_handle.h -- what the stand-ins for libcublas.so.13 share: all but the products.
 */
#ifndef TESTS_CUDA_BLAS_HANDLE_H
#define TESTS_CUDA_BLAS_HANDLE_H

#include <cublas_v2.h>
#include <stdbool.h>

static int something;
static cudaStream_t stream_of_calls;

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
	*handle = (cublasHandle_t)&something;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
	(void)handle;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	(void)handle;
	stream_of_calls = stream;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	(void)handle, (void)workspace, (void)bytes;
	return CUBLAS_STATUS_SUCCESS;
}

/* Sizes and leading dims as the real one checks them. */
static inline bool dims_fit(cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
			    int lda, int ldb, int ldc, int batch)
{
	return m >= 0 && n >= 0 && k >= 0 && batch >= 0 && lda >= (turn_a == CUBLAS_OP_N ? m : k) &&
	       ldb >= (turn_b == CUBLAS_OP_N ? k : n) && ldc >= m;
}

#endif
