/* fusion/backends/gemm_narrow.c -- float16 and bfloat16 in products of matrices.
 *
 * Panels and sums are float32: elements are widened as they are packed, and the sums
 * are rounded once.  By whole vectors, with the casts of the kernel table, which may
 * write past what was asked for.
 */
#include <string.h>

#include "fusion/backends/gemm.h"

enum { STRIP = GEMM_K_BLOCK + 16, MOST_ROWS = 32, VECTOR_FLOATS = 16 };

bool gemm_pack_narrow(const struct gemm *g, float *to, const void *from, const struct panel *p,
		      int which)
{
	point_fn *widen = g->kernels->cast[DTYPE_F32][g->dtype];
	float strips[MOST_ROWS * STRIP], last[MOST_ROWS + VECTOR_FLOATS];
	const uint16_t *at = from;
	int64_t across = p->across->step[which], along = g->k.step[which];

	if (!p->across->linear[which] || !g->k.linear[which] || p->rows > MOST_ROWS ||
	    p->k > GEMM_K_BLOCK)
		return false;
	at += p->first * across + p->k0 * along;
	if (along == 1) {
		for (int r = 0; r < p->have; r++)
			widen(strips + (ptrdiff_t)(r * STRIP), at + r * across, NULL, NULL,
			      (long)p->k, 0);
		gemm_pack_turned(to, strips, STRIP, p->have, p->rows, p->k);
		return true;
	}
	if (across != 1)
		return false;
	/* The last one may not write past the panel. */
	for (int64_t k = 0; k < p->k; k++, at += along) {
		bool fits = p->have == p->rows && k + 1 < p->k;

		widen(fits ? to + k * p->rows : last, at, NULL, NULL, p->have, 0);
		if (fits)
			continue;
		memset(to + k * p->rows, 0, (size_t)p->rows * sizeof(*to));
		memcpy(to + k * p->rows, last, (size_t)p->have * sizeof(*to));
	}
	return true;
}

void gemm_round_narrow(const struct gemm *g, uint16_t *to, const float *sums, int64_t n)
{
	uint16_t part[256 + 2 * VECTOR_FLOATS];

	for (int64_t i = 0; i < n; i += 256) {
		int64_t some = n - i < 256 ? n - i : 256;

		g->kernels->cast[g->dtype][DTYPE_F32](part, sums + i, NULL, NULL, (long)some, 0);
		memcpy(to + i, part, (size_t)some * sizeof(*to));
	}
}
