/* fusion/backends/simd/gemm.h -- the innermost loop of matrix products; kernels.c
 * includes it once.
 *
 * A tile of up to GEMM_ROWS x (2 vectors) stays in registers while k runs.  Sums
 * start at 0 and are added to the tile in memory at the end: an element is the
 * same sum in the same order wherever in a block it lies.
 */
#if VECTOR_BYTES == 64
enum { GEMM_ROWS = 12 }; /* FMA_f32: vec.h */
#define FMA_f64(a, b, c) ((f64)__builtin_ia32_vfmaddpd512_mask((a), (b), (c), 0xff, 4))
#elif VECTOR_BYTES == 32
enum { GEMM_ROWS = 6 };
#define FMA_f32(a, b, c) ((f32)__builtin_ia32_vfmaddps256((a), (b), (c)))
#define FMA_f64(a, b, c) ((f64)__builtin_ia32_vfmaddpd256((a), (b), (c)))
#else
enum { GEMM_ROWS = 6 };
#define FMA_f32(a, b, c) ((a) * (b) + (c))
#define FMA_f64(a, b, c) ((a) * (b) + (c))
#endif

/* `rows` and `wide` are constants where this is inlined. */
#define GEMM_TILE(TYPE_, ELEMENT_, LANES_)                                                         \
	static inline __attribute__((always_inline)) void gemm_tile_##TYPE_(                       \
	    int rows, int wide, int by_table, long k, const struct gemm_left *from,                \
	    const ELEMENT_ *b, long b_step, ELEMENT_ *c, long ld)                                  \
	{                                                                                          \
		const ELEMENT_ *a = from->at;                                                      \
		const int64_t *where = from->where;                                                \
		const long row = from->row, step = by_table ? 0 : from->step;                      \
		TYPE_ sum[GEMM_ROWS][2];                                                           \
		for (int r = 0; r < rows; r++)                                                     \
			sum[r][0] = sum[r][1] = (TYPE_){ 0 };                                      \
		for (; k > 0; k--, a += step, b += b_step) {                                       \
			TYPE_ left = LOAD(TYPE_, b, 0), right = left;                              \
			if (by_table)                                                              \
				a = (const ELEMENT_ *)from->at + *where++;                         \
			if (wide)                                                                  \
				right = LOAD(TYPE_, b, (LANES_));                                  \
			for (int r = 0; r < rows; r++) {                                           \
				TYPE_ x = SPLAT(TYPE_, a[r * row]);                                \
				sum[r][0] = FMA_##TYPE_(x, left, sum[r][0]);                       \
				if (wide)                                                          \
					sum[r][1] = FMA_##TYPE_(x, right, sum[r][1]);              \
			}                                                                          \
		}                                                                                  \
		for (int r = 0; r < rows; r++, c += ld) {                                          \
			SAVE(TYPE_, c, 0, LOAD(TYPE_, c, 0) + sum[r][0]);                          \
			if (wide)                                                                  \
				SAVE(TYPE_, c, (LANES_), LOAD(TYPE_, c, (LANES_)) + sum[r][1]);    \
		}                                                                                  \
	}

/* One function of them all. */
#define GEMM(name, TYPE_, by_table)                                                                \
	static void name(int rows, int vectors, long k, const struct gemm_left *a, const void *b,  \
			 long b_step, void *c, long ld)                                            \
	{                                                                                          \
		switch (vectors == 2 ? rows : -rows) {                                             \
			GEMM_CASE(TYPE_, by_table, 1)                                              \
			GEMM_CASE(TYPE_, by_table, 2)                                              \
			GEMM_CASE(TYPE_, by_table, 3)                                              \
			GEMM_CASE(TYPE_, by_table, 4)                                              \
			GEMM_CASE(TYPE_, by_table, 5)                                              \
			GEMM_CASE(TYPE_, by_table, 6)                                              \
			GEMM_CASES_MORE(TYPE_, by_table)                                           \
		}                                                                                  \
		DONE();                                                                            \
	}
#define GEMM_CASE(TYPE_, by_table, n)                                                              \
	case n:                                                                                    \
		gemm_tile_##TYPE_(n, 1, by_table, k, a, b, b_step, c, ld);                         \
		break;                                                                             \
	case -(n):                                                                                 \
		gemm_tile_##TYPE_(n, 0, by_table, k, a, b, b_step, c, ld);                         \
		break;
#if VECTOR_BYTES == 64
#define GEMM_CASES_MORE(TYPE_, by_table)                                                           \
	GEMM_CASE(TYPE_, by_table, 7)                                                              \
	GEMM_CASE(TYPE_, by_table, 8)                                                              \
	GEMM_CASE(TYPE_, by_table, 9)                                                              \
	GEMM_CASE(TYPE_, by_table, 10)                                                             \
	GEMM_CASE(TYPE_, by_table, 11)                                                             \
	GEMM_CASE(TYPE_, by_table, 12)
#else
#define GEMM_CASES_MORE(TYPE_, by_table)
#endif
GEMM_TILE(f32, float, L4)
GEMM_TILE(f64, double, L8)
GEMM(gemm_f32, f32, 0)
GEMM(gemm_f64, f64, 0)
GEMM(gemm_where_f32, f32, 1)
