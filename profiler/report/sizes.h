/* profiler/report/sizes.h -- what a call with other sizes would lead to. */
#ifndef PROFILER_REPORT_SIZES_H
#define PROFILER_REPORT_SIZES_H

#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

/* Tries, in sessions of their own, the first call of `candidate` and after it the
 * same with every dim of one size changed: to 1, to another size.  Then with
 * another dtype and another rank of the first floating tensor.  Once `limit_ms` (negative: no
 * limit) do not suffice for a try, which takes about twice `base_ns`, only the guards are asked:
 * "then" is null. */
struct sizes_of {
	const struct candidate *candidate;
	const struct workload *w;
	const struct point *p;
	double limit_ms;
	int64_t base_ns;
};
struct report_size_try_list sizes_try(const struct sizes_of *of, struct report_draft *draft);

#endif
