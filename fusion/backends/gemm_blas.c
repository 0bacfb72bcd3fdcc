/* fusion/backends/gemm_blas.c -- products that OpenBLAS computes, block by block.
 *
 * The pool's threads each call it, single-threaded, on blocks of the result that
 * depend on the sizes alone: a product has the same bits with any number of
 * threads and in every mode.  OpenBLAS packs the operands of a large product,
 * so how they lie in memory does not show in its bits either; below SMALLEST
 * multiplications it has kernels that read them in place, each with an order of
 * its own, and our kernel is used there.  So it is for few rows or columns, where
 * it does not turn the other operand and is as fast or faster (bench_gemm).
 */
#include <limits.h>

#include "fusion/backends/gemm.h"

enum {
	UNIT = 16, /* blocks are cut at multiples of this: whole tiles of its kernels */
	SMALLEST = 1000 *
		   1000, /* multiplications; 100 cubed, as its *_small_kernel_permit has it */
	MOST_TASKS = 64,
	NARROW_FEW = 8,
	MOST_NARROW_TASKS = 16, /* each widens its rows and columns for itself */
	ROOM = 16,              /* floats that a cast may write past the end of a row */
};

/* Whether a walk has unit stride in an operand, or is none at all. */
static bool is_unit(const struct axis *axis, int which)
{
	return axis->size == 1 || axis->step[which] == 1;
}

/* The stride of the rows of a matrix whose rows have `n` elements; 0: it has no
 * such layout. */
static int lead(const struct axis *outer, int64_t n, int which)
{
	int64_t step = outer->size == 1 ? n : outer->step[which];

	return step >= n && step <= INT_MAX ? (int)step : 0;
}

/* An operand over (outer, k): rows as they lie, or turned. */
static bool lay_operand(struct blas_layout *l, int which, const struct axis *outer,
			const struct axis *k)
{
	bool along_k = is_unit(k, which) && lead(outer, k->size, which);

	if (!along_k && !(is_unit(outer, which) && lead(k, outer->size, which)))
		return false;
	l->turn[which] = along_k == (which == 0) ? BLAS_AS_IS : BLAS_TURNED;
	l->lead[which] = along_k ? lead(outer, k->size, which) : lead(k, outer->size, which);
	return true;
}

static bool lay_out(struct gemm *g)
{
	struct blas_layout *l = &g->layout;
	/* The other way about it would have other bits. */
	l->lead[2] = is_unit(&g->column, 2) ? lead(&g->row, g->column.size, 2) : 0;
	return l->lead[2] && lay_operand(l, 0, &g->row, &g->k) &&
	       lay_operand(l, 1, &g->column, &g->k);
}

static int64_t units(int64_t n)
{
	return (n + UNIT - 1) / UNIT;
}

/* Where block `i` of `count` begins. */
static int64_t cut(int64_t n, int64_t i, int64_t count)
{
	int64_t at = units(n) * i / count * UNIT;

	return at < n ? at : n;
}

static bool is_narrow(const struct gemm *g)
{
	return g->dtype == DTYPE_F16 || g->dtype == DTYPE_BF16;
}

/* In halves along the longer side, while all blocks stay large enough. */
static void choose_tasks(struct gemm *g)
{
	double k = (double)g->k.size;
	int most = is_narrow(g) ? MOST_NARROW_TASKS : MOST_TASKS;

	g->m_blocks = g->n_blocks = 1;
	for (;;) {
		int64_t m = units(g->row.size) / g->m_blocks,
			n = units(g->column.size) / g->n_blocks;
		bool rows = m >= n;
		int64_t *blocks = rows ? &g->m_blocks : &g->n_blocks;
		int64_t half = rows ? m / 2 * n : n / 2 * m;

		if (g->batch.size * g->m_blocks * g->n_blocks * 2 > most ||
		    (double)(half * UNIT * UNIT) * k <= (double)SMALLEST)
			break;
		*blocks *= 2;
	}
	g->tasks = g->batch.size * g->m_blocks * g->n_blocks;
	g->grain = 1;
}

/* Three matrices, each with room behind it, and the whole in lines of the cache. */
static int64_t up_to_room(int64_t floats)
{
	return (floats + 3 * ROOM + ROOM - 1) / ROOM * ROOM;
}

bool gemm_prefers_blas(struct gemm *g, bool linear)
{
	double work = (double)g->row.size * (double)g->column.size * (double)g->k.size;
	/* few are ours, without a copy; float16 and bfloat16 are copied in any case */
	int64_t few = is_narrow(g) ? NARROW_FEW : GEMM_FEW;

	if (!g->blas || !linear || dtype_category(g->dtype) != CATEGORY_FLOAT ||
	    work < GEMM_WORTH_BLAS || g->row.size <= few || g->column.size <= few ||
	    g->row.size > INT_MAX || g->column.size > INT_MAX || g->k.size > INT_MAX || !lay_out(g))
		return false;
	choose_tasks(g);
	if (is_narrow(g)) {
		int64_t m = (units(g->row.size) / g->m_blocks + 1) * UNIT;
		int64_t n = (units(g->column.size) / g->n_blocks + 1) * UNIT;

		g->thread_bytes = sizeof(float) * (size_t)up_to_room(g->k.size * (m + n) + m * n);
	}
	return true;
}

static int64_t batch_at(const struct gemm *g, int which, int64_t batch)
{
	return g->batch.table[which] ? g->batch.table[which][batch] : batch * g->batch.step[which];
}

/* `rows` rows of n elements, `lead` apart, as float32 side by side; returns what lies
 * behind them. */
static float *widen(const struct gemm *g, float *to, const uint16_t *from, int rows, int n,
		    int lead)
{
	for (int r = 0; r < rows; r++)
		g->kernels->cast[DTYPE_F32][g->dtype](to + (ptrdiff_t)r * n,
						      from + (ptrdiff_t)r * lead, NULL, NULL, n, 0);
	return to + (ptrdiff_t)rows * n + ROOM;
}

/* The block of float16 or bfloat16, which begins at a, b and c. */
static void narrow_task(const struct gemm *g, const uint16_t *a, const uint16_t *b, uint16_t *c,
			const int size[3], float *scratch)
{
	const struct blas_layout *l = &g->layout;
	int m = size[0], n = size[1], k = size[2];
	bool turned_a = l->turn[0] == BLAS_TURNED, turned_b = l->turn[1] == BLAS_TURNED;
	float *wide_a = scratch, *wide_b, *sums;

	wide_b = widen(g, wide_a, a, turned_a ? k : m, turned_a ? m : k, l->lead[0]);
	sums = widen(g, wide_b, b, turned_b ? n : k, turned_b ? k : n, l->lead[1]);
	g->blas->sgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1, wide_a, turned_a ? m : k,
		       wide_b, turned_b ? k : n, 0, sums, n);
	for (int r = 0; r < m; r++)
		gemm_round_narrow(g, c + (ptrdiff_t)r * l->lead[2], sums + (ptrdiff_t)r * n, n);
}

void gemm_blas_task(const struct gemm *g, const void *a, const void *b, void *c, int64_t task,
		    void *scratch)
{
	const struct blas_layout *l = &g->layout;
	int64_t j = task % g->n_blocks, i = task / g->n_blocks % g->m_blocks;
	int64_t batch = task / g->n_blocks / g->m_blocks;
	int64_t m0 = cut(g->row.size, i, g->m_blocks), n0 = cut(g->column.size, j, g->n_blocks);
	int m = (int)(cut(g->row.size, i + 1, g->m_blocks) - m0);
	int n = (int)(cut(g->column.size, j + 1, g->n_blocks) - n0), k = (int)g->k.size;
	int64_t at_a = batch_at(g, 0, batch) + m0 * g->row.step[0];
	int64_t at_b = batch_at(g, 1, batch) + n0 * g->column.step[1];
	int64_t at_c = batch_at(g, 2, batch) + m0 * g->row.step[2] + n0 * g->column.step[2];

	if (is_narrow(g))
		narrow_task(g, (const uint16_t *)a + at_a, (const uint16_t *)b + at_b,
			    (uint16_t *)c + at_c, (int[]){ m, n, k }, scratch);
	else if (g->dtype == DTYPE_F32)
		g->blas->sgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
			       (const float *)a + at_a, l->lead[0], (const float *)b + at_b,
			       l->lead[1], 0, (float *)c + at_c, l->lead[2]);
	else
		g->blas->dgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
			       (const double *)a + at_a, l->lead[0], (const double *)b + at_b,
			       l->lead[1], 0, (double *)c + at_c, l->lead[2]);
}
