/* profiler/allclose/difference.h -- whether two tensors differ, where, and whether their
 *dtype allows it.
 *
 * Numbers that are not the same to the bit are judged by their distance to what float64
 * gives (fusion_reference()).  A DISTURBED reference is the same program in float64 whose
 * every result is off by the rounding of its own dtype: how far it comes to lie from
 * float64 says what rounding alone does to this program, eager's own error how lucky eager
 * was.  With L the largest of these distances among 64 neighbours in memory, and u the
 * distance from 1 to the next number of the dtype, a number is allowed to lie
 *
 *	16 L + 4 u |reference|
 *
 * from the reference.  A recurrence that amplifies a last bit has a large L, for eager as
 * for all others; memory that was used too early shows as numbers far from the reference
 * where L is small.
 *
 * A choice that rounding decides, as the sign of an optimiser's first step does, moves one
 * number far and its neighbours not at all.  Where eager or a disturbed reference so leaps, ours
 * may as well: up to twice as far, and in up to four times as many places of the tensor.
 *
 * Ints and bools that are not the same are allowed where, of at least half of them, a
 * reference has chosen otherwise than eager: rounding decides them.
 *
 * Where there is no reference the bound of the dtype holds: 1e-5 + 1e-4 m for float32 and
 * float64, 1e-2 + 1e-2 m for float16 and bfloat16, m being the largest of 64 neighbours.
 * All else has to be the same.  NaN is NaN, an infinity itself.
 */
#ifndef PROFILER_ALLCLOSE_DIFFERENCE_H
#define PROFILER_ALLCLOSE_DIFFERENCE_H

#include "fusion/tensor.h"

enum { DIFFERENCE_MAX_REFERENCES = 4 };

/* One value on both sides; `reference`: float64's, then disturbed ones; of t's sizes. */
struct difference_pair {
	const struct tensor *ours, *theirs;
	const struct tensor *reference[DIFFERENCE_MAX_REFERENCES];
	int n_references; /* 0: there is none */
	int threads;
};

enum difference_rule { DIFFERENCE_BITS, DIFFERENCE_BOUND, DIFFERENCE_FLOAT64 };

/* An element, and what is there on each side; index -1: there is none. */
struct difference_place {
	int64_t index; /* row by row */
	double ours, theirs, reference, allowed;
};

struct difference {
	enum difference_rule rule;
	const char *kind; /* "shape", "dtype": they differ in that, and nothing was compared */
	int64_t elements, differing; /* differing: not the same number */
	int64_t outside;             /* of them: further apart than is allowed */
	double error;        /* the largest |ours - theirs|; infinite where one alone is finite */
	double theirs_error; /* the largest |theirs - reference| */
	double excess;       /* the largest distance over what is allowed: above 1 it is wrong */
	struct difference_place far, worst; /* where `error` and where `excess` is */
};

struct difference difference_of_tensors(const struct difference_pair *pair);

/* The same of two numbers of Python, which have no reference. */
struct difference difference_of_numbers(double ours, double theirs);

#endif
