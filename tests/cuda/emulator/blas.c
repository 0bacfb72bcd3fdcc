/* tests/cuda/emulator/blas.c -- a libcublas.so.13 that computes, beside driver.c. */
#include <cublas_v2.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

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

static double half_value(uint16_t half)
{
	const int exponent = half >> 10 & 31, fraction = half & 1023;
	const double sign = half >> 15 ? -1 : 1;

	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* To nearest, ties to even. */
static uint16_t half_of(double x)
{
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	x = fabs(x);
	if (x != x)
		return 0x7e00;
	if (x >= 65520)
		return sign | 0x7c00;
	if (x < 0x1p-14)
		return (uint16_t)(sign | lrint(ldexp(x, 24)));
	frexp(x, &exponent);
	return (uint16_t)(sign | (((exponent + 14) << 10) + lrint(ldexp(x, 11 - exponent)) - 1024));
}

static double get(const void *from, long long at, cudaDataType type)
{
	uint32_t bits;
	float wide;

	if (type == CUDA_R_64F)
		return ((const double *)from)[at];
	if (type == CUDA_R_32F)
		return (double)((const float *)from)[at];
	if (type == CUDA_R_16F)
		return half_value(((const uint16_t *)from)[at]);
	bits = (uint32_t)((const uint16_t *)from)[at] << 16;
	memcpy(&wide, &bits, sizeof(wide));
	return (double)wide;
}

static void put(void *to, long long at, cudaDataType type, double x)
{
	float wide = (float)x;
	uint32_t bits;

	memcpy(&bits, &wide, sizeof(bits));
	if (type == CUDA_R_64F)
		((double *)to)[at] = x;
	else if (type == CUDA_R_32F)
		((float *)to)[at] = wide;
	else if (type == CUDA_R_16F)
		((uint16_t *)to)[at] = half_of((double)wide);
	else
		((uint16_t *)to)[at] = wide != wide
					   ? 0x7fc0
					   : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* As the real one checks leading dims; sums in double. */
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long step_a, const void *b,
    cudaDataType type_b, int ldb, long long step_b, const void *beta, void *c, cudaDataType type_c,
    int ldc, long long step_c, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < (turn_a == CUBLAS_OP_N ? m : k) ||
	    ldb < (turn_b == CUBLAS_OP_N ? k : n) || ldc < m)
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
