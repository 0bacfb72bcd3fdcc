/* fusion/backends/simd/for_type.h -- loops of one compute type; kernels.c includes
 * it once for each, with TYPE (f32), ELEMENT (float) and WIDTH (4) defined.
 */

#define LANES CAT2(L, WIDTH)
#define BOOLS CAT2(b, WIDTH)
#define MASKS CAT2(m, WIDTH)
#define AT(k, p, i) LOAD(TYPE, (const ELEMENT *)(p), (i)&keep##k)
#define MASK_AT(k, p, i) MASK(WIDTH, LOAD(BOOLS, (const unsigned char *)(p), (i)&keep##k))

/* A value's way into memory, by dtype rule. */
#define PUT_SAME(value) SAVE(TYPE, (ELEMENT *)dst, i, (TYPE)(value))
#define PUT_FLOAT(value) PUT_SAME(value)
#define PUT_BOOL(value) SAVE(BOOLS, (unsigned char *)dst, i, BYTES(WIDTH, (value)))

#define UNARY(id, heavy, rule, spellings, value, ...) UNARY_##rule(id, value)
#define BINARY(id, heavy, rule, spellings, value, ...) BINARY_##rule(id, value)
#define TERNARY(id, heavy, spellings, signature, value, ...)                                       \
	POINT(id, MASKS a = MASK_AT(0, pa, i); TYPE b = AT(1, pb, i); TYPE c = AT(2, pc, i);       \
	      PUT_SAME(value))
#define UNARY_SAME(id, value) POINT(id, TYPE a = AT(0, pa, i); (void)pb; (void)pc; PUT_SAME(value))
#define UNARY_BOOL(id, value) POINT(id, TYPE a = AT(0, pa, i); (void)pb; (void)pc; PUT_BOOL(value))
#define BINARY_SAME(id, value)                                                                     \
	POINT(id, TYPE a = AT(0, pa, i); TYPE b = AT(1, pb, i); (void)pc; PUT_SAME(value))
#define BINARY_BOOL(id, value)                                                                     \
	POINT(id, TYPE a = AT(0, pa, i); TYPE b = AT(1, pb, i); (void)pc; PUT_BOOL(value))
#define UNARY_LOGIC(id, value)
#define BINARY_LOGIC(id, value)
#if IS_FLOAT
#define UNARY_FLOAT(id, value) UNARY_SAME(id, value)
#define BINARY_FLOAT(id, value) BINARY_SAME(id, value)
#else
#define UNARY_FLOAT(id, value)
#define BINARY_FLOAT(id, value)
#endif

#define REDUCE(id, rule, spellings, first, step, signature, ...) REDUCE_##rule(id, first, step)
#define REDUCE_LOGIC(id, first, step)
#define REDUCE_INTSUM(id, first, step) REDUCE_SAME(id, first, step)
#define REDUCE_SAME(id, first, step)                                                               \
	static TYPE NAME(id, join)(TYPE a, TYPE b)                                                 \
	{                                                                                          \
		return step;                                                                       \
	}                                                                                          \
	static void NAME(id, reduce)(void *acc, const void *src, long n)                           \
	{                                                                                          \
		const ELEMENT *p = src;                                                            \
		TYPE one = first, two = one, three = one, four = one;                              \
		long i = 0;                                                                        \
		for (; i + 4 * LANES <= n; i += 4 * LANES) {                                       \
			one = NAME(id, join)(one, LOAD(TYPE, p, i));                               \
			two = NAME(id, join)(two, LOAD(TYPE, p, i + LANES));                       \
			three = NAME(id, join)(three, LOAD(TYPE, p, i + 2 * LANES));               \
			four = NAME(id, join)(four, LOAD(TYPE, p, i + 3 * LANES));                 \
		}                                                                                  \
		for (; i + LANES <= n; i += LANES)                                                 \
			one = NAME(id, join)(one, LOAD(TYPE, p, i));                               \
		if (i < n)                                                                         \
			two = NAME(id, join)(two, head(LOAD(TYPE, p, i), n - i, first));           \
		one = NAME(id, join)(NAME(id, join)(one, two), NAME(id, join)(three, four));       \
		SAVE(TYPE, (ELEMENT *)acc, 0, one);                                                \
	}                                                                                          \
	static void NAME(id, fold)(void *acc, const void *src, long n, long width)                 \
	{                                                                                          \
		ELEMENT *to = acc;                                                                 \
		const ELEMENT *p = src;                                                            \
		for (long j = 0; j < width; j += LANES) {                                          \
			TYPE sum = LOAD(TYPE, to, j);                                              \
			for (long k = 0; k < n; k += width)                                        \
				sum = NAME(id, join)(sum, LOAD(TYPE, p, k + j));                   \
			SAVE(TYPE, to, j, sum);                                                    \
		}                                                                                  \
	}

#include "fusion/graph/ops.def"

#undef LANES
#undef BOOLS
#undef MASKS
#undef AT
#undef MASK_AT
#undef PUT_SAME
#undef PUT_FLOAT
#undef PUT_BOOL
#undef UNARY
#undef BINARY
#undef TERNARY
#undef UNARY_SAME
#undef UNARY_BOOL
#undef UNARY_FLOAT
#undef UNARY_LOGIC
#undef BINARY_SAME
#undef BINARY_BOOL
#undef BINARY_FLOAT
#undef BINARY_LOGIC
#undef REDUCE
#undef REDUCE_LOGIC
#undef REDUCE_INTSUM
#undef REDUCE_SAME
