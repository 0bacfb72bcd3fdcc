/* fusion/backends/blas.h -- OpenBLAS, where the system has it.  Private to backends/.
 *
 * Found by dlopen() when the first product of matrices wants it, and never
 * closed: its threads could not be stopped safely.  It is told to use one thread
 * a call, since our pool shares a product out; so no more threads run than were
 * asked for.
 */
#ifndef FUSION_BACKENDS_BLAS_H
#define FUSION_BACKENDS_BLAS_H

/* The CBLAS spellings of 32-bit ints. */
enum { BLAS_ROW_MAJOR = 101, BLAS_AS_IS = 111, BLAS_TURNED = 112 };

typedef void blas_sgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
			   const float *a, int lda, const float *b, int ldb, float beta, float *c,
			   int ldc);
typedef void blas_dgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
			   const double *a, int lda, const double *b, int ldb, double beta,
			   double *c, int ldc);

struct blas; /* backend.h: the library of one engine, loaded or not */

struct blas_calls {
	blas_sgemm_fn *sgemm;
	blas_dgemm_fn *dgemm;
	char config[128]; /* version and processor, in the library's words */
};

/* Loads the library where that was not tried yet; NULL where there is none that
 * can be used, or `b` is NULL.  Any thread may ask. */
const struct blas_calls *blas_calls(struct blas *b);
#endif
