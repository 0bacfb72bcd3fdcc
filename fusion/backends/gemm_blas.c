/* fusion/backends/gemm_blas.c -- which products OpenBLAS computes, and how.
 *
 * Measured with bench_gemm on 16 cores with AVX-512 (OpenBLAS 0.3.26) and on one
 * with AVX2 (0.3.21), float32.  One thread, products of 512 x 4096 x 1024 and the
 * like: OpenBLAS 155-170 GFLOP/s, our kernel 125-150; with 64 rows or fewer ours
 * 130-150, OpenBLAS 85-120.  Many threads: 1,220 and 1,230; on blocks that our
 * pool hands out OpenBLAS packs each operand anew, 960, and its own threads would
 * run beside ours.  So it computes what is large, whole, where there is one thread.
 *
 * OpenBLAS packs the operands of a large product, so how they lie in memory does
 * not show in its bits; below GEMM_WORTH_BLAS it has kernels that read them in
 * place, each with an order of its own, and those sizes are ours.
 */
#include <limits.h>

#include "fusion/backends/gemm.h"

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

bool gemm_suits_blas(struct gemm *g)
{
	double work = (double)g->row.size * (double)g->column.size * (double)g->k.size;

	return g->blas && gemm_is_wide(g->dtype) && work >= GEMM_WORTH_BLAS &&
	       g->row.size > GEMM_FEW && g->column.size > GEMM_FEW && g->row.size <= INT_MAX &&
	       g->column.size <= INT_MAX && g->k.size <= INT_MAX && g->row.linear[0] &&
	       g->row.linear[2] && g->column.linear[1] && g->column.linear[2] && g->k.linear[0] &&
	       g->k.linear[1] && lay_out(g);
}

void gemm_blas_run(const struct gemm *g, const void *a, const void *b, void *c)
{
	const struct blas_layout *l = &g->layout;
	int m = (int)(g->turned ? g->column.size : g->row.size), k = (int)g->k.size;
	int n = (int)(g->turned ? g->row.size : g->column.size);

	for (int64_t i = 0; i < g->batch.size; i++) {
		int64_t at_a = axis_at(&g->batch, g->turned, i);
		int64_t at_b = axis_at(&g->batch, !g->turned, i);
		int64_t at_c = axis_at(&g->batch, 2, i);

		if (g->dtype == DTYPE_F32)
			g->blas->sgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
				       (const float *)a + at_a, l->lead[0], (const float *)b + at_b,
				       l->lead[1], 0, (float *)c + at_c, l->lead[2]);
		else
			g->blas->dgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
				       (const double *)a + at_a, l->lead[0],
				       (const double *)b + at_b, l->lead[1], 0, (double *)c + at_c,
				       l->lead[2]);
	}
}
