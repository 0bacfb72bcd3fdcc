/* profiler/history/steps.h -- where a series of figures stepped to another level.
 *
 * The series is taken to be constant between changes.  Levels and places are those that make
 *
 *	sum over runs of min((value - level)^2 / variance, 9)  +  penalty * changes
 *
 * the least there is (functional pruning: Fearnhead and Rigaill, Changepoint detection in the
 * presence of outliers, J. Amer. Statist. Assoc. 114, 2019).  A run costs no more than if it lay 3
 * deviations away, so one odd run is no change: a change has to come back in a second run before it
 * is told.  Where the newest run alone is that far away, it is `pending`.
 *
 * A run's variance is that of its own interval, and what runs of the same differ by, which the
 * differences between neighbours tell, whatever the levels are.  Noise that goes on from run to
 * run makes the penalty larger, as does the number of series that are looked at together.  Where a
 * straight line explains two levels about as well as a step between them, it is a drift and no
 *step.
 *
 * Times, ratios and bytes are taken as logs, counts as they are.  Nothing here knows of runs,
 * stores or clocks; thread-safe. */
#ifndef PROFILER_HISTORY_STEPS_H
#define PROFILER_HISTORY_STEPS_H

#include <stdbool.h>
#include <stdlib.h>

#include "fusion/base/vec.h"
#include "profiler/measure/stats.h"

enum { STEPS_MOST_RUNS = 2000 };

/* Changes below this are not told. */
#define STEPS_MARGIN 0.02

struct steps_series {
	const struct interval *values; /* oldest first; finite, above 0 unless `counts`; low and
					* high NaN where there is no interval (95 %) */
	int n;                         /* up to STEPS_MOST_RUNS */
	bool counts;                   /* whole numbers that a quiet program repeats exactly */
	int family;                    /* series that are looked at together; at least 1 */
	double margin;                 /* 0: STEPS_MARGIN; of counts no matter */
};

struct series_step {
	int at;               /* the first run of the new level */
	int earliest, latest; /* where it may be with 95 %: at lies between */
	int from, to;         /* the old level is of runs [from, at), the new one of [at, to) */
	struct interval before, after; /* the levels */
	struct interval change; /* after / before with its interval; of counts after - before */
};

struct series_steps {
	VEC(struct series_step) at; /* oldest first */
	double noise;       /* what runs of one level differ by: a deviation, as a share; of counts
			     * in their unit; NaN: too few runs to tell */
	double correlation; /* of a run's noise with the next run's: 0 to 0.9 */
	bool pending;       /* the newest run lies beyond 3 deviations of its level, alone */
	double drift;       /* over the runs since the last step, as a share: a line fits them
			     * better than a level; 0: none */
};

/* False when out of memory.  Below 4 runs there are none.  steps_finish() in any case. */
bool steps_find(const struct steps_series *series, struct series_steps *out);

static inline void steps_finish(struct series_steps *s)
{
	VEC_FREE(&s->at);
}

#endif
