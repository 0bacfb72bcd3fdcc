/* fusion/backends/simd/windows.h -- the innermost loops of ops over windows; kernels.c
 * includes it once.
 *
 * A tile of up to WINDOW_ROWS rows x 2 vectors stays in registers while the windows'
 * elements go by.  Runs of WINDOW_RUN products are summed on their own, so that a long
 * sum loses no accuracy.  Where the kernel's rows follow each other as the windows' do, a row
 * of the input is read once for all rows of the tile.
 */
enum { WINDOW_ROWS = 4, WINDOW_RUN = 256 };

/* The first n lanes. */
static inline void window_put(float *to, f32 value, long n)
{
	if (n >= L4)
		SAVE(f32, to, 0, value);
	else
		__builtin_memcpy(to, &value, (size_t)n * sizeof(*to));
}

/* `rows` and `wide` are constants where this is inlined. */
static inline __attribute__((always_inline)) void window_tile(const struct window_sums *s, long row,
							      int rows, int wide, long i, long n)
{
	const float *in = s->in + row * s->in_step + i;
	const long step = s->in_step;
	f32 sum[WINDOW_ROWS][2];

	for (int r = 0; r < rows; r++)
		sum[r][0] = sum[r][1] = K_f32(0);
	for (long k = 0; k < s->n;) {
		long end = k + WINDOW_RUN < s->n ? k + WINDOW_RUN : s->n;
		f32 part[WINDOW_ROWS][2];

		for (int r = 0; r < rows; r++)
			part[r][0] = part[r][1] = K_f32(0);
		for (; k < end; k++) {
			const float *at = in + s->where[k];
			f32 weight = SPLAT(f32, s->weight[k]);

			for (int r = 0; r < rows; r++) {
				part[r][0] = FMA_f32(weight, LOAD(f32, at, r * step), part[r][0]);
				if (wide)
					part[r][1] = FMA_f32(weight, LOAD(f32, at, r * step + L4),
							     part[r][1]);
			}
		}
		for (int r = 0; r < rows; r++) {
			sum[r][0] += part[r][0];
			sum[r][1] += part[r][1];
		}
	}
	for (int r = 0; r < rows; r++) {
		float *out = s->out + (row + r) * s->out_step + i;

		window_put(out, sum[r][0], n - i);
		if (wide)
			window_put(out + L4, sum[r][1], n - i - L4);
	}
}

/* Input row q of a chain; `kind` is a constant, as q is: the links, times 2, + `wide`. */
static inline __attribute__((always_inline)) void window_link(const struct window_sums *s,
							      f32 part[][2], const float *at,
							      const float *weight, int q, int kind)
{
	const int chain = kind / 2, last = q < WINDOW_ROWS ? q + 1 : WINDOW_ROWS;
	const f32 one = LOAD(f32, at, q * s->in_step);
	f32 two = one;

	if (kind % 2)
		two = LOAD(f32, at, q * s->in_step + L4);
	for (int r = q < chain ? 0 : q - chain + 1; r < last; r++) {
		f32 w = SPLAT(f32, weight[(q - r) * s->apart]);

		part[r][0] = FMA_f32(w, one, part[r][0]);
		if (kind % 2)
			part[r][1] = FMA_f32(w, two, part[r][1]);
	}
}

static inline __attribute__((always_inline)) void window_chain(const struct window_sums *s,
							       f32 part[][2], const float *at,
							       const float *weight, int chain,
							       int wide)
{
#pragma GCC unroll 16
	for (int q = 0; q < WINDOW_ROWS + chain - 1; q++)
		window_link(s, part, at, weight, q, 2 * chain + wide);
}

static inline __attribute__((always_inline)) void
window_chains(const struct window_sums *from, long row, int chain, int wide, long i, long n)
{
	const struct window_sums own = *from, *s = &own; /* its numbers stay in registers */
	const float *in = s->in + row * s->in_step + i;
	f32 sum[WINDOW_ROWS][2];

	for (int r = 0; r < WINDOW_ROWS; r++)
		sum[r][0] = sum[r][1] = K_f32(0);
	for (long first = 0; first < s->n;) {
		long end = first + WINDOW_RUN < s->n ? first + WINDOW_RUN : s->n;
		f32 part[WINDOW_ROWS][2];

		for (int r = 0; r < WINDOW_ROWS; r++)
			part[r][0] = part[r][1] = K_f32(0);
		for (; first < end; first += chain * s->apart)
			for (long k = first; k < first + s->apart; k++)
				window_chain(s, part, in + s->where[k], s->weight + k, chain, wide);
		for (int r = 0; r < WINDOW_ROWS; r++) {
			sum[r][0] += part[r][0];
			sum[r][1] += part[r][1];
		}
	}
	for (int r = 0; r < WINDOW_ROWS; r++) {
		float *out = s->out + (row + r) * s->out_step + i;

		window_put(out, sum[r][0], n - i);
		if (wide)
			window_put(out + L4, sum[r][1], n - i - L4);
	}
}

/* All rows, a tile at a time; those left over are in a tile that ends with them. */
static inline __attribute__((always_inline)) void window_chained(const struct window_sums *s,
								 long rows, int chain, long n)
{
	for (long row = 0; row < rows; row += WINDOW_ROWS) {
		long at = row + WINDOW_ROWS <= rows ? row : rows - WINDOW_ROWS, i = 0;

		for (; i + L4 < n; i += 2 * L4)
			window_chains(s, at, chain, 1, i, n);
		if (i < n)
			window_chains(s, at, chain, 0, i, n);
	}
}

static inline __attribute__((always_inline)) void window_rows(const struct window_sums *s, long row,
							      int rows, long n)
{
	long i = 0;

	for (; i + L4 < n; i += 2 * L4)
		window_tile(s, row, rows, 1, i, n);
	if (i < n)
		window_tile(s, row, rows, 0, i, n);
}

static void window_f32(const struct window_sums *s, long rows, long n)
{
	bool chains = rows >= WINDOW_ROWS && s->chain * s->apart <= WINDOW_RUN;
	long row = 0;

	if (chains && s->chain == 3)
		window_chained(s, rows, 3, n);
	else if (chains && s->chain == 5)
		window_chained(s, rows, 5, n);
	else if (chains && s->chain == 7)
		window_chained(s, rows, 7, n);
	else
		chains = false;
	row = chains ? rows : 0;
	for (; row + WINDOW_ROWS <= rows; row += WINDOW_ROWS)
		window_rows(s, row, WINDOW_ROWS, n);
	for (; row < rows; row++)
		window_rows(s, row, 1, n);
	DONE();
}
