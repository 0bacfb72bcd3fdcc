/* profiler/measure/split.h -- where the time of one call goes.
 *
 * An observed run of its own, after the latencies were taken: watching costs
 * time, so no latency is ever taken while somebody watches.
 */
#ifndef PROFILER_MEASURE_SPLIT_H
#define PROFILER_MEASURE_SPLIT_H

#include "profiler/measure/candidate.h"

struct split {
	double phase_us[PHASE_COUNT]; /* each phase's own time, without phases inside it */
	double observed_us;           /* the whole call, as it was while watched */
	int calls;
};

/* Watches calls of the candidate for about 30 ms and averages those in the middle
 * half of the durations.  The cost of reading the clock and of reporting is
 * measured and taken off. */
bool split_measure(struct candidate *candidate, struct split *out, struct err *err);

/* The mean over the middle half of n calls by their durations, 1 or more: so that the parts add up
 * to the whole, and one call that the machine disturbed is in neither.  Sorts them. */
void split_average(struct split *calls, int n, struct split *out);

#endif
