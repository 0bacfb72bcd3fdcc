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
	GEMM_K_BLOCK = 256, /* how sums are cut: part of every product's bits */
	GEMM_FEW = 64,      /* columns for which turning the first operand does not pay */
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

/* Private to gemm*.c: a panel to fill, to[k * rows + r]: rows from `first` along
 * `across`, `have` of them (zeros behind), by k from k0 on. */
struct panel {
	const struct axis *across;
	int64_t first, k0, k;
	int have, rows;
};
/* Of float32 whose summed dim is side by side in memory, `step` apart across. */
void gemm_pack_turned(float *to, const float *from, int64_t step, int have, int rows, int64_t k);

/* Private to gemm*.c: a panel of float16 or bfloat16, as float32; false where they lie
 * in neither order.  And n sums side by side, rounded. */
bool gemm_pack_narrow(const struct gemm *g, float *to, const void *from, const struct panel *p,
		      int which);
void gemm_round_narrow(const struct gemm *g, uint16_t *to, const float *sums, int64_t n);

/* Private to gemm*.c: whether OpenBLAS shall compute it; then layout, blocks and
 * grain are filled in.  `linear`: rows, columns and k are one dim each. */
bool gemm_prefers_blas(struct gemm *g, bool linear);

/* One block of the result; operands and result as given to gemm_run(); g->thread_bytes
 * of scratch, which float16 and bfloat16 need. */
void gemm_blas_task(const struct gemm *g, const void *a, const void *b, void *c, int64_t task,
		    void *scratch);

#endif
