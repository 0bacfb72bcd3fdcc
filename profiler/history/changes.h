/* profiler/history/changes.h -- where the figures of a workload stepped, all of them together.
 *
 * Figures that step at one place are one change.  Eager is the control, as in a comparison: it runs
 * no compiled code, so where it stepped too and the program is the same, the machine did, and the
 * speedups decide instead of the latencies. */
#ifndef PROFILER_HISTORY_CHANGES_H
#define PROFILER_HISTORY_CHANGES_H

#include "profiler/compare/figures.h"
#include "profiler/history/steps.h"

/* A figure of a run.  Those of one metric, mode and point follow each other, by place. */
struct change_figure {
	const char *metric, *mode;
	double n; /* NaN: no sweep */
	int64_t run;
	int place; /* of the run in the history, whatever the figure */
	struct interval value;
	const char *program; /* equal texts: the same program */
};

struct changed_figure {
	const struct metric_info *metric;
	const char *mode;
	double n;
	const char *verdict; /* SLOWER, FASTER, MORE, LESS or AMBIGUOUS */
	struct series_step step;
	const struct change_figure *series; /* what the step's places count in */
	bool ended;                         /* a later step ended its new level */
	bool decides;                       /* the change's verdict counts it */
};

struct change_at {
	int64_t before, run; /* the last run of the old level, the first of the new one */
	int place;           /* of `run` */
	const char *verdict; /* SLOWER, else FASTER, else MORE, else LESS, else AMBIGUOUS; MACHINE:
			      * nothing but what the machine's move explains */
	struct changed_figure *figures;
	int n_figures;
};

struct changes_found {
	struct change_at *at; /* by place */
	int n;
};

/* In the arena; verdicts are constants.  Metrics that are not known are left out.  False when out
 * of memory. */
bool changes_find(const struct change_figure *figures, int n, struct arena *arena,
		  struct changes_found *out);

#endif
