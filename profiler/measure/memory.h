/* profiler/measure/memory.h -- tensor memory over one call, by what it was taken for.
 *
 * The call is watched by itself, after the latencies: nothing is compiled any more and
 * nothing of other calls is kept, so its peak is no more than the mode's `peak_bytes`,
 * which is that of the first calls, in order, with their outputs.
 */
#ifndef PROFILER_MEASURE_MEMORY_H
#define PROFILER_MEASURE_MEMORY_H

#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

enum {
	MEMORY_MAX_CALLS = 16,     /* that are tried for the one with the highest peak */
	MEMORY_MAX_TENSORS = 8192, /* of a call that are told apart; more are counted */
	MEMORY_ALL_ROWS = 3072,    /* of a report; of a mode at a point: */
	MEMORY_MOST_ROWS = 256,
	MEMORY_LEAST_ROWS = 24,
	MEMORY_MAX_STEPS = 512, /* of a curve */
	MEMORY_MAX_HELD = 64,
	MEMORY_WATCHES = 5, /* of the call, as long as they take less than: */
	MEMORY_WATCH_NS = 50 * 1000 * 1000,
};

/* Memory over the timed call with the highest peak (of the first MEMORY_MAX_CALLS), as watched,
 * which takes time.  Its curve is thinned out evenly over time, the peak kept.  Tensors are in the
 * order in which they were taken; the largest have a row, those at the peak before others.
 * `candidates`: of the whole report, which bounds the rows.  The outputs of
 * the candidate must have been dropped.  NULL where a call fails. */
struct report_memory *memory_report(struct candidate *candidate, int candidates,
				    struct report_draft *draft, struct err *err);

#endif
