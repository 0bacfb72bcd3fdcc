/* fusion/backends/plan/reduce.h -- joins the partial results of reductions.
 *
 * Vector code reduces short runs in the dtype itself; what it leaves is joined
 * here in a wide type (float64 for floats, int64 for ints and bools) and
 * rounded once at the end, so that a long sum loses no accuracy.  `join` and
 * `first` come from ops.def.
 */
#ifndef FUSION_BACKENDS_PLAN_REDUCE_H
#define FUSION_BACKENDS_PLAN_REDUCE_H

#include <stdint.h>

#include "fusion/dtype.h"
#include "fusion/graph/op.h"

union number {
	double f;  /* float dtypes */
	int64_t i; /* int64, and bool as 0 or 1 */
	uint64_t u;
};

/* to[j] = join(to[j], from[j]), both wide. */
typedef void join_fn(union number *to, const union number *from, long n);
/* to[j] = join(to[j], from[j]) with from in the dtype. */
typedef void widen_fn(union number *to, const void *from, long n);
/* to[0] = join of to[0] and all of from[0..n), in the dtype: halves are joined until
 * one is left.  n is a power of two and at most GATHER_MAX. */
enum { GATHER_MAX = 64 };
typedef void gather_fn(union number *to, const void *from, long n);

struct reducer {
	union number first;
	join_fn *join;
	widen_fn *widen;
	gather_fn *gather;
};

/* NULL where the op does not reduce that dtype.  Immutable. */
const struct reducer *reducer_find(enum op op, enum dtype dtype);

/* Fills n elements of the dtype with one value, rounded. */
void number_fill(enum dtype dtype, void *to, union number value, long n);

#endif
