/* profiler/history/history.h -- what one figure of a workload says over its runs, in words.
 *
 * The runs are as they were measured; where the figure stepped is found by changes.h. */
#ifndef PROFILER_HISTORY_HISTORY_H
#define PROFILER_HISTORY_HISTORY_H

#include "profiler/compare/figures.h"

enum history_lack { HISTORY_LACKS_NOTHING, HISTORY_FAILED, HISTORY_DISAGREES, HISTORY_UNMEASURED };

struct history_run {
	int64_t id;
	struct interval value;  /* low and high NaN: without an interval */
	double n;               /* the point of the sweep; NaN: no sweep */
	enum history_lack lack; /* why there is no value */
	bool baseline, stepped; /* stepped: a new level begins here */
};

struct history_runs {
	const struct metric_info *metric;
	const char *mode;
	const struct history_run *at; /* oldest first */
	size_t n;
	int64_t total; /* runs that there are; more than n: only the newest are here */
	bool pending;  /* older runs are not read yet */
};

/* In `arena`; NULL with MEMORY.  Thread-safe. */
struct report_history_findings *history_say(const struct history_runs *h, struct arena *arena,
					    struct err *err);

#endif
