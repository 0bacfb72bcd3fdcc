/* fusion/backends/gemm/gemm_pack.c -- operands into panels, sums out of them.
 *
 * Strides, tables, dtypes and edges matter here alone.
 */
#include <string.h>

#include "fusion/backends/gemm/gemm.h"

/* Four rows of four become four columns. */
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
static void turn(float *to, int64_t to_step, const float *from, int64_t from_step)
{
	quad a = *(const quad *)from, b = *(const quad *)(from + from_step);
	quad c = *(const quad *)(from + 2 * from_step), d = *(const quad *)(from + 3 * from_step);
	quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	quad cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	*(quad *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	*(quad *)(to + to_step) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	*(quad *)(to + 2 * to_step) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
	*(quad *)(to + 3 * to_step) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

/* A panel of float32 whose summed dim is side by side in memory, `step` apart
 * across: the rows of a transposed weight. */
static void pack_turned(float *to, const float *from, int64_t step, int have, int rows, int64_t n)
{
	if (have < rows)
		memset(to, 0, (size_t)(n * rows) * sizeof(*to));
	for (int r = 0; r < have; r += 4) {
		const float *at = from + r * step;
		int64_t k = 0;

		for (; r + 4 <= have && k + 4 <= n; k += 4)
			turn(to + k * rows + r, rows, at + k, step);
		for (; k < n; k++)
			for (int i = 0; i < 4 && r + i < have; i++)
				to[k * rows + r + i] = at[i * step + k];
	}
}

/* ---- float16 and bfloat16 in products of matrices
 *
 * Panels and sums are float32: elements are widened as they are packed, and the sums
 * are rounded once.  By whole vectors, with the casts of the kernel table, which may
 * write past what was asked for.
 */

enum { STRIP = GEMM_K_BLOCK + 16, MOST_ROWS = 32, VECTOR_FLOATS = 16 };

/* A panel of float16 or bfloat16, as float32; false where they lie in neither order. */
static bool pack_narrow(const struct gemm *g, float *to, const void *from,
			const struct gemm_panel *p, int which)
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
		pack_turned(to, strips, STRIP, p->have, p->rows, p->k);
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

/* n sums side by side, rounded. */
static void round_narrow(const struct gemm *g, uint16_t *to, const float *sums, int64_t n)
{
	uint16_t part[256 + 2 * VECTOR_FLOATS];

	for (int64_t i = 0; i < n; i += 256) {
		int64_t some = n - i < 256 ? n - i : 256;

		g->kernels->cast[g->dtype][DTYPE_F32](part, sums + i, NULL, NULL, (long)some, 0);
		memcpy(to + i, part, (size_t)some * sizeof(*to));
	}
}

/* ---- panels of any dtype, and sums */

/* Copies `rows` x `n` elements into a panel: to[k * rows + r].  `fill` rows from
 * `have` on are zeros.  Float and double differ in the type alone. */
#define PACK(T, name, GET)                                                                         \
	static void name(const struct gemm *g, T *to, const void *from,                            \
			 const struct gemm_panel *panel, int which)                                \
	{                                                                                          \
		const struct axis *across = panel->across, *along = &g->k;                         \
		const int64_t first = panel->first, k0 = panel->k0, n = panel->k;                  \
		const int have = panel->have, rows = panel->rows;                                  \
		for (int r = 0; r < have; r++) {                                                   \
			int64_t start = axis_at(across, which, first + r);                         \
			if (!along->linear[which])                                                 \
				for (int64_t k = 0; k < n; k++)                                    \
					to[k * rows + r] = GET(                                    \
					    from, start + along->table[which][k0 + k]);            \
			else                                                                       \
				for (int64_t k = 0, p = start + k0 * along->step[which]; k < n;    \
				     k++, p += along->step[which])                                 \
					to[k * rows + r] = GET(from, p);                           \
		}                                                                                  \
		for (int r = have; r < rows; r++)                                                  \
			for (int64_t k = 0; k < n; k++)                                            \
				to[k * rows + r] = 0;                                              \
	}
#define GET_F32(from, i) ((const float *)(from))[i]
#define GET_F64(from, i) ((const double *)(from))[i]
#define GET_ANY(from, i) ((float)dtype_get_double(g->dtype, from, i))
PACK(float, pack_f32, GET_F32)
PACK(double, pack_f64, GET_F64)
PACK(float, pack_any, GET_ANY)

/* A panel whose rows are runs of neighbours in memory, as windows of an image that
 * lie side by side.  Whole vectors are copied: the next run, or a later k,
 * overwrites what was too much, but for what would lie past the panel. */
static bool pack_runs(const struct gemm *g, char *to, const char *from, const struct gemm_panel *p,
		      int which)
{
	enum { CHUNK = 64, MOST_RUNS = 8 };
	size_t bytes = gemm_panel_bytes(g->dtype), start[MOST_RUNS], length[MOST_RUNS];
	const int64_t *table = p->across->table[which] + p->first, n = p->k;
	const int have = p->have, rows = p->rows;
	const char *end = to + (size_t)(n * rows) * bytes;
	int runs = 0;

	for (int r = 0, begin = 0; r < have; r++) {
		if (r + 1 < have && table[r + 1] == table[r] + 1)
			continue;
		if (runs == MOST_RUNS)
			return false;
		start[runs] = (size_t)begin * bytes;
		length[runs++] = (size_t)(r + 1 - begin) * bytes;
		begin = r + 1;
	}
	for (int64_t k = 0; k < n; k++, to += (size_t)rows * bytes) {
		const char *at = from + axis_at(&g->k, which, p->k0 + k) * (int64_t)bytes;

		for (int i = 0; i < runs; i++) {
			const char *run = at + table[start[i] / bytes] * (int64_t)bytes;

			for (size_t b = 0; b < length[i]; b += CHUNK) {
				char *put = to + start[i] + b;
				bool exact = have < rows || end - put < CHUNK;

				memcpy(put, run + b,
				       exact && length[i] - b < CHUNK ? length[i] - b : CHUNK);
			}
		}
		if (have < rows)
			memset(to + (size_t)have * bytes, 0, (size_t)(rows - have) * bytes);
	}
	return true;
}

void gemm_pack(const struct gemm *g, void *to, const void *from, const struct gemm_panel *p,
	       int which)
{
	const struct axis *across = p->across;
	const int64_t first = p->first, k0 = p->k0, n = p->k;
	const int have = p->have, rows = p->rows;
	size_t bytes = gemm_panel_bytes(g->dtype);

	/* Rows of neighbours in memory, and as many as a panel has: plain copies. */
	if (from && have == rows && across->linear[which] && across->step[which] == 1 &&
	    gemm_is_wide(g->dtype)) {
		for (int64_t k = 0; k < n; k++)
			memcpy((char *)to + (size_t)(k * rows) * bytes,
			       (const char *)from +
				   (first + axis_at(&g->k, which, k0 + k)) * (int64_t)bytes,
			       (size_t)rows * bytes);
		return;
	}
	if (from && g->dtype == DTYPE_F32 && across->linear[which] && g->k.linear[which] &&
	    g->k.step[which] == 1) {
		pack_turned(to, (const float *)from + first * across->step[which] + k0,
			    across->step[which], have, rows, n);
		return;
	}
	if (from && gemm_is_wide(g->dtype) && !across->linear[which] &&
	    pack_runs(g, to, from, p, which))
		return;
	if (!from) { /* a missing operand is all ones */
		for (int64_t i = 0; i < n * rows; i++)
			if (g->dtype == DTYPE_F64)
				((double *)to)[i] = i % rows < have;
			else
				((float *)to)[i] = (float)(i % rows < have);
		return;
	}
	if (gemm_is_narrow(g->dtype) && pack_narrow(g, to, from, p, which))
		return;
	if (g->dtype == DTYPE_F64)
		pack_f64(g, to, from, p, which);
	else if (g->dtype == DTYPE_F32)
		pack_f32(g, to, from, p, which);
	else
		pack_any(g, to, from, p, which);
}

/* A block of float32 whose rows lie side by side in the result. */
static void unpack_turned(const struct gemm *g, const float *sums, float *c, int64_t m, int64_t n)
{
	int64_t step = g->column.step[2];

	for (int64_t j = 0; j < n; j += 4)
		for (int64_t i = 0; i < m; i += 4) {
			const float *from = sums + i * g->n_block + j;
			float *to = c + j * step + i;

			if (i + 4 <= m && j + 4 <= n) {
				turn(to, step, from, g->n_block);
				continue;
			}
			for (int64_t y = 0; y < 4 && j + y < n; y++)
				for (int64_t x = 0; x < 4 && i + x < m; x++)
					to[y * step + x] = from[x * g->n_block + y];
		}
}

void gemm_unpack(const struct gemm *g, const void *sums, void *c, const struct gemm_area *at)
{
	int64_t i0 = at->i0, j0 = at->j0, n = at->n;
	bool dense = g->column.linear[2] && g->column.step[2] == 1;
	size_t bytes = gemm_panel_bytes(g->dtype);

	if (g->dtype == DTYPE_F32 && !dense && g->column.linear[2] && g->row.linear[2] &&
	    g->row.step[2] == 1) {
		unpack_turned(g, sums, (float *)c + i0 + j0 * g->column.step[2], at->m, n);
		return;
	}
	for (int64_t i = 0; i < at->m; i++) {
		const char *row = (const char *)sums + (size_t)(i * g->n_block) * bytes;
		int64_t start = axis_at(&g->row, 2, i0 + i);

		if (dense && (g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64)) {
			memcpy((char *)c + (size_t)(start + j0) * bytes, row, (size_t)n * bytes);
			continue;
		}
		if (dense && gemm_is_narrow(g->dtype)) {
			round_narrow(g, (uint16_t *)c + start + j0, (const float *)row, n);
			continue;
		}
		for (int64_t j = 0; j < n; j++)
			dtype_put_double(g->dtype, c, start + axis_at(&g->column, 2, j0 + j),
					 g->dtype == DTYPE_F64 ? ((const double *)row)[j]
							       : ((const float *)row)[j]);
	}
}

/* Copies of a length that the compiler knows. */
static inline void copy_row(char *to, const char *from, int64_t panels, int64_t step, size_t bytes)
{
	for (int64_t p = 0; p < panels; p++)
		memcpy(to + p * step, from + (size_t)p * bytes, bytes);
}

void gemm_pack_rows(const struct gemm *g, void *to, const unsigned char *b,
		    const struct gemm_part *part)
{
	size_t bytes = gemm_panel_bytes(g->dtype), row = (size_t)g->columns * bytes;
	int64_t panels = part->n, step = part->k * (int64_t)row;

	for (int64_t i = 0; i < part->k; i++) {
		char *at = (char *)to + (size_t)i * row;
		const char *from = (const char *)b +
				   ((part->k0 + i) * g->k.step[1] + part->first) * (int64_t)bytes;

		if (row == 128)
			copy_row(at, from, panels, step, 128);
		else if (row == 64)
			copy_row(at, from, panels, step, 64);
		else
			copy_row(at, from, panels, step, row);
	}
}

/* A strip of rows: rows of neighbours are copied as they lie, at a distance that
 * does not put all of them into the same few lines of the first cache. */
struct gemm_left gemm_copy_strip(const struct gemm *g, void *to, const unsigned char *a,
				 const struct gemm_part *part)
{
	size_t bytes = gemm_panel_bytes(g->dtype);

	if (!gemm_is_wide(g->dtype) || !g->row.linear[0] || !g->k.linear[0] || g->k.step[0] != 1) {
		const struct gemm_panel p = { &g->row, part->first,  part->k0,
					      part->k, (int)part->n, (int)part->n };

		gemm_pack(g, to, a, &p, 0);
		return (struct gemm_left){ .at = to, .row = 1, .step = part->n };
	}
	for (int64_t r = 0; r < part->n; r++)
		memcpy((char *)to + (size_t)(r * GEMM_STRIP_STEP) * bytes,
		       a + ((part->first + r) * g->row.step[0] + part->k0) * (int64_t)bytes,
		       (size_t)part->k * bytes);
	return (struct gemm_left){ .at = to, .row = GEMM_STRIP_STEP, .step = 1 };
}
