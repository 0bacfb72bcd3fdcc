/* fusion/backends/plan/reduce.c -- the scalar side of reductions, made from ops.def. */
#include "fusion/backends/plan/reduce.h"

#include <math.h>
#include <stddef.h>

/* The words of ops.def for scalars. */
#define K(x) (x)
#define gt(a, b) ((a) > (b))
#define lt(a, b) ((a) < (b))
#define isnan_(a) ((a) != (a))
#define either(a, b) ((a) | (b))
#define both(a, b) ((a) & (b))
#define sel(mask, yes, no) ((mask) ? (yes) : (no))

#define JOIN_OF(id, type, wide, member, element, step)                                             \
	static wide id##_##type(wide a, wide b)                                                    \
	{                                                                                          \
		return (wide)(step);                                                               \
	}                                                                                          \
	static void id##_join_##type(union number *to, const union number *from, long n)           \
	{                                                                                          \
		for (long j = 0; j < n; j++)                                                       \
			to[j].member = id##_##type(to[j].member, from[j].member);                  \
	}                                                                                          \
	static void id##_widen_##type(union number *to, const void *from, long n)                  \
	{                                                                                          \
		const element *p = from;                                                           \
		for (long j = 0; j < n; j++)                                                       \
			to[j].member = id##_##type(to[j].member, (wide)p[j]);                      \
	}                                                                                          \
	static void id##_gather_##type(union number *to, const void *from, long n)                 \
	{                                                                                          \
		const element *p = from;                                                           \
		wide v[GATHER_MAX];                                                                \
		for (long j = 0; j < n; j++)                                                       \
			v[j] = (wide)p[j];                                                         \
		for (long half = n / 2; half > 0; half /= 2)                                       \
			for (long j = 0; j < half; j++)                                            \
				v[j] = id##_##type(v[j], v[j + half]);                             \
		to->member = id##_##type(to->member, v[0]);                                        \
	}

/* Sums of ints wrap: unsigned arithmetic. */
#define JOINS_INTSUM(id, step)                                                                     \
	JOIN_OF(id, F32, double, f, float, step)                                                   \
	JOIN_OF(id, F64, double, f, double, step)                                                  \
	JOIN_OF(id, I64, uint64_t, u, uint64_t, step)
#define JOINS_SAME(id, step)                                                                       \
	JOIN_OF(id, F32, double, f, float, step)                                                   \
	JOIN_OF(id, F64, double, f, double, step)                                                  \
	JOIN_OF(id, I64, int64_t, i, int64_t, step)
#define JOINS_LOGIC(id, step) JOIN_OF(id, BOOL, int64_t, i, uint8_t, step)

#define UNARY(id, heavy, rule, spellings, value, ...)
#define BINARY(id, heavy, rule, spellings, value, ...)
#define TERNARY(id, heavy, spellings, signature, value, ...)
#define COMPOSITE(id, spellings, signature, ...)
#define CAST(id, spellings, signature, ...)
#define CONSTANT(id, spellings, doc)
#define CREATE(id, spellings, signature, ...)
#define LIBRARY(id, spellings, signature, ...)
#define VIEW(id, spellings, signature, ...)
#define JOIN(id, spellings, signature, ...)
#define CONTROL(id, signature, ...)
#define INTERNAL(id, kind, doc)
#define REDUCE(id, rule, spellings, first, step, signature, ...) JOINS_##rule(id, step)
#include "fusion/graph/ops.def"
#undef REDUCE

#define ROW(id, type, first_value)                                                                 \
	[OP_##id][DTYPE_##type] = { first_value, id##_join_##type, id##_widen_##type,              \
				    id##_gather_##type },
#define FLOATS_SAME(id, first) ROW(id, F32, { .f = first }) ROW(id, F64, { .f = first })
#define FLOATS_INTSUM(id, first) FLOATS_SAME(id, first)
#define FLOATS_LOGIC(id, first)
#define INTS_SAME(id, first) ROW(id, I64, { .i = first })
#define INTS_INTSUM(id, first) INTS_SAME(id, first)
#define INTS_LOGIC(id, first) ROW(id, BOOL, { .i = first })

static const struct reducer reducers[OP_COUNT][DTYPE_COUNT] = {
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define REDUCE(id, rule, spellings, first, step, signature, ...) FLOATS_##rule(id, first)
#include "fusion/graph/ops.def"
#undef REDUCE
#undef LOWEST
#undef HIGHEST
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define REDUCE(id, rule, spellings, first, step, signature, ...) INTS_##rule(id, first)
#include "fusion/graph/ops.def"
};

const struct reducer *reducer_find(enum op op, enum dtype dtype)
{
	const struct reducer *r = &reducers[op][dtype];

	return r->join ? r : NULL;
}

void number_fill(enum dtype dtype, void *to, union number value, long n)
{
	switch (dtype) {
	case DTYPE_F32:
		for (long j = 0; j < n; j++)
			((float *)to)[j] = (float)value.f;
		return;
	case DTYPE_F64:
		for (long j = 0; j < n; j++)
			((double *)to)[j] = value.f;
		return;
	case DTYPE_I64:
		for (long j = 0; j < n; j++)
			((int64_t *)to)[j] = value.i;
		return;
	default:
		for (long j = 0; j < n; j++)
			((uint8_t *)to)[j] = value.i != 0; /* narrow dtypes: cast from wide ones */
	}
}
