/* fusion/backends/cuda/blas.h -- cuBLAS, loaded when a product of matrices wants it.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_BLAS_H
#define FUSION_BACKENDS_CUDA_BLAS_H

#include <cublas_v2.h>

#include "fusion/backends/cuda/device.h"

struct cuda_blas {
	cublasHandle_t handle;
	typeof(&cublasGemmStridedBatchedEx) gemm;
	typeof(&cublasDestroy) destroy;
};

/* The library of a device, on its stream; NULL with UNSUPPORTED: what is missing. */
const struct cuda_blas *cuda_blas(struct device *d, struct err *err);
void cuda_blas_close(struct cuda_blas *b); /* NULL is fine */

#endif
