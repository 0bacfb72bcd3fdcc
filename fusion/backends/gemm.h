/* fusion/backends/gemm.h -- products of matrices whose dims may lie anywhere.
 *
 *	c[batch, row, column] = sum over k of a[batch, row, k] * b[batch, k, column]
 *
 * Private to backends/.
 */
#ifndef FUSION_BACKENDS_GEMM_H
#define FUSION_BACKENDS_GEMM_H

#include "fusion/backends/blas.h"
#include "fusion/backends/simd/kernels.h"
#include "fusion/base/pool.h"

enum {
	AXIS_DIMS = 24,
	GEMM_FEW = 64, /* columns for which turning the first operand does not pay */
	GEMM_WORTH_BLAS = 2 * 1000 * 1000, /* multiplications of one product: see gemm_blas.c */
};

/* Dims of one kind, outermost first; strides in a, b and c, in elements. */
struct axis_dims {
	int n;
	int64_t size;
	struct axis_dim {
		int64_t size, stride[3];
	} at[AXIS_DIMS];
};

/* A walk along them: index * step, or a table. */
struct axis {
	int64_t size, step[3];
	int64_t *table[3]; /* NULL: linear */
};

/* How OpenBLAS is to read and write the matrices of one product. */
struct blas_layout {
	int turn[2], lead[3]; /* leading dims of a, b and c */
};

struct gemm {
	const struct kernel_table *kernels;
	const struct blas_calls *blas; /* NULL: our own kernel computes it */
	enum dtype dtype;              /* of all three */
	struct blas_layout layout;
	struct axis batch, row, column, k;
	bool turned; /* the roles of a and b, and of rows and columns, are changed */
	int columns; /* of the innermost kernel */
	int64_t m_block, n_block, k_block;
	int64_t m_blocks, n_blocks, tasks, grain;
	size_t a_bytes, b_bytes, c_bytes, thread_bytes;
	unsigned char *scratch; /* of all threads */
};

/* One block of memory with a gemm in it, to be freed; NULL when out of memory.
 * `g` has kernels and dtype, and blas where that may be used. */
struct gemm *gemm_create(const struct gemm *g, const struct axis_dims *batch,
			 const struct axis_dims *row, const struct axis_dims *column,
			 const struct axis_dims *k);

/* `b` NULL: all ones. */
void gemm_run(const struct gemm *g, const void *a, const void *b, void *c, struct pool *pool);

/* Private to gemm*.c: whether OpenBLAS shall compute it; then layout, blocks and
 * grain are filled in.  `linear`: rows, columns and k are one dim each. */
bool gemm_prefers_blas(struct gemm *g, bool linear);

/* One block of the result; operands and result as given to gemm_run(). */
void gemm_blas_task(const struct gemm *g, const void *a, const void *b, void *c, int64_t task);

#endif
