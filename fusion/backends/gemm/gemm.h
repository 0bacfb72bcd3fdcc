/* fusion/backends/gemm/gemm.h -- products of matrices whose dims may lie anywhere.
 *
 *	c[batch, row, column] = sum over k of a[batch, row, k] * b[batch, k, column]
 */
#ifndef FUSION_BACKENDS_GEMM_GEMM_H
#define FUSION_BACKENDS_GEMM_GEMM_H

#include "fusion/backends/simd/simd.h"
#include "fusion/base/pool.h"

/* ---- OpenBLAS, where the system has it (blas.c)
 *
 * Found by dlopen() when the first product of matrices wants it, and never
 * closed: its threads could not be stopped safely.  It is set to use one thread
 * a call, since our pool shares a product out; so no more threads run than were
 * asked for.
 */

/* The CBLAS spellings of 32-bit ints. */
enum { BLAS_ROW_MAJOR = 101, BLAS_AS_IS = 111, BLAS_TURNED = 112 };

typedef void blas_sgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
			   const float *a, int lda, const float *b, int ldb, float beta, float *c,
			   int ldc);
typedef void blas_dgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
			   const double *a, int lda, const double *b, int ldb, double beta,
			   double *c, int ldc);

struct blas; /* backends.h: the library of one engine, loaded or not */

struct blas_calls {
	blas_sgemm_fn *sgemm;
	blas_dgemm_fn *dgemm;
	char config[128]; /* version and processor, in the library's words */
};

/* Loads the library where that was not tried yet; NULL where there is none that
 * can be used, or `b` is NULL.  Any thread may ask. */
const struct blas_calls *blas_calls(struct blas *b);

/* ---- products */

enum {
	AXIS_DIMS = 24,
	GEMM_FEW = 64, /* columns for which turning the first operand does not pay */
	GEMM_WORTH_BLAS = 2 * 1000 * 1000, /* multiplications of one product: see gemm.c */
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
	bool linear[3];
	int64_t *table[3]; /* where it is not */
};

/* How OpenBLAS is to read and write the matrices of one product. */
struct blas_layout {
	int turn[2], lead[3]; /* leading dims of a, b and c */
};

struct gemm {
	const struct kernel_table *kernels;
	const struct blas_calls *blas; /* for one thread; NULL: our own kernel */
	enum dtype dtype;              /* of all three */
	struct blas_layout layout;
	struct axis batch, row, column, k;
	bool turned;   /* the roles of a and b, and of rows and columns, are changed */
	int columns;   /* of the innermost kernel */
	int64_t strip; /* rows of it */
	int64_t m_block, n_block, k_block;
	int64_t m_blocks, n_blocks, tasks, grain;
	/* Rows that are neighbours in a, in groups of so many, and whose k are in a table:
	 * a is read where it lies (float32 alone); 0: strips of it are copied. */
	int64_t run, run_step;
	bool low;              /* few rows: a is read where it lies, each block packs its columns */
	int64_t panel_batches; /* batches of b that differ */
	int64_t epilogue_cost; /* of an element, in cheap ops: what the epilogue does */
	bool whole_rows;       /* a block has all columns: an epilogue wants that */
	bool in_place, shared; /* b: read where it lies; packed once, for all tasks */
	size_t a_bytes, b_bytes, c_bytes, thread_bytes;
	size_t shared_bytes; /* of b, where it is shared */
	size_t room_bytes;   /* that a run works in: what is shared, then each thread's */
	size_t extra_bytes;
	void *extra; /* the caller's, in the same block of memory; zeros at first */
};

/* One block of memory with a gemm in it, to be freed; NULL when out of memory.
 * `g` has kernels and dtype, extra_bytes, and blas where that may be used. */
struct gemm *gemm_create(const struct gemm *g, const struct axis_dims *batch,
			 const struct axis_dims *row, const struct axis_dims *column,
			 const struct axis_dims *k);

/* Called by the thread that has written rows [row, row + rows) of the result by
 * columns [column, column + columns) of one batch, from element `start` on: the next
 * row is `step` elements on, columns are neighbours. */
struct gemm_written {
	int64_t start, rows, step, columns;
};
typedef void gemm_epilogue_fn(void *context, const struct gemm_written *block, int thread);

/* Whether the result has neighbours in memory along its columns (or rows, where the
 * roles are changed), so that blocks can be told; and the most threads it uses. */
bool gemm_tells_blocks(const struct gemm *g);

static inline int gemm_threads(const struct gemm *g)
{
	return g->tasks ? (int)((g->tasks + g->grain - 1) / g->grain) : 0;
}

/* The matrices of one run, and what is done after each block of the result. */
struct gemm_matrices {
	const void *a, *b; /* b NULL: all ones */
	void *c;
	gemm_epilogue_fn *epilogue; /* NULL: nothing */
	void *context;              /* of the epilogue */
	void *room; /* room_bytes at a multiple of 64; what is in it does not matter */
};

void gemm_run(const struct gemm *g, const struct gemm_matrices *m, struct pool *pool);

/* Private to gemm*.c. */

enum {
	GEMM_K_BLOCK = 256, /* how sums are cut: part of every product's bits */
	GEMM_STRIP_STEP = GEMM_K_BLOCK + 16,
	GEMM_M_BLOCK = 240, /* rows of a block at most */
	GEMM_THREADS = 64,  /* at most */
};

static inline bool gemm_is_narrow(enum dtype dtype)
{
	return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static inline bool gemm_is_wide(enum dtype dtype)
{
	return dtype == DTYPE_F32 || dtype == DTYPE_F64;
}

static inline bool gemm_is_int(enum dtype dtype)
{
	return dtype_category(dtype) != CATEGORY_FLOAT;
}

static inline int64_t gemm_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t gemm_up_to(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* The element type of panels and sums is float, or double. */
static inline size_t gemm_panel_bytes(enum dtype dtype)
{
	return dtype == DTYPE_F64 ? sizeof(double) : sizeof(float);
}

static inline int64_t axis_at(const struct axis *axis, int operand, int64_t i)
{
	return axis->linear[operand] ? i * axis->step[operand] : axis->table[operand][i];
}

/* A panel to fill, to[k * rows + r]: rows from `first` along `across`, `have` of
 * them (zeros after them), by k from k0 on. */
struct gemm_panel {
	const struct axis *across;
	int64_t first, k0, k;
	int have, rows;
};

/* Copies the elements of operand `which` into a panel, widened where they are narrow. */
void gemm_pack(const struct gemm *g, void *to, const void *from, const struct gemm_panel *p,
	       int which);

/* A part of an operand: n rows of a, or panels of b, from row or column `first` on, by k
 * from k0 on. */
struct gemm_part {
	int64_t first, n, k0, k;
};

/* Packs full panels of b, whose columns are neighbours in memory. */
void gemm_pack_rows(const struct gemm *g, void *to, const unsigned char *b,
		    const struct gemm_part *part);

/* Up to gemm_rows rows of a, as the kernel takes them. */
struct gemm_left gemm_copy_strip(const struct gemm *g, void *to, const unsigned char *a,
				 const struct gemm_part *part);

/* Rows [i0, i0 + m) by columns [j0, j0 + n) of a result. */
struct gemm_area {
	int64_t i0, m, j0, n;
};

/* A block's sums into the result, rounded to its dtype. */
void gemm_unpack(const struct gemm *g, const void *sums, void *c, const struct gemm_area *at);

#endif
