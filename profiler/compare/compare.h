/* profiler/compare/compare.h -- did it change, and because of what?
 *
 * Every run is compared with the first, A:
 *
 *	{"margin", "confidence", "verdict", "comparable", "refused", "sweep", "runs": [{"label",
 *...}], "comparisons": [{"a": "A", "b": "B", "comparable", "forced", "refused", "verdict",
 *	   "headline", "control", "counts", "family", "differences", "only", "figures",
 *	   "breaks", "kernels", "kernels_same", "graphs", "source"}]}
 *
 * sweep: what the points of A vary, {"statements": {}}, {"input": {"arg", "dim"}} or null.
 * figures: [{"metric", "title", "unit", "kind", "mode", "n", "points", "a" and "b":
 * {"value", "ci", "samples"}, "ratio" (b over a), "ci", "verdict", "why"}]; "repeats" counts the
 * runs whose spread is part of the interval of the ratio.  A figure with an
 * interval is FASTER or SLOWER where its whole interval lies beyond the margin and it is
 * among those that stand together at a family-wise error of 5 % (ratio_holm()); SAME where
 * all of it lies within (that is no alarm, so it is not corrected); NOT ENOUGH below 6
 * rounds on a side; else AMBIGUOUS.  What was measured once a run has no interval of its
 * own: over the 6 or more points that two sweeps have in common the median of the points'
 * ratios has one, and else it is NOT ENOUGH.  What is counted is LESS, SAME or MORE.
 *
 * The verdict of a comparison is SLOWER where any latency (or speedup, if asked) is, else FASTER
 *where any is, SAME where all are, NOT ENOUGH where none could be judged, AMBIGUOUS otherwise;
 * REFUSED where something differs that matters (settings.h) and nobody insists.  The
 * headline is the figure that it speaks of.  Eager, where the same source was run by the
 * same version, is the control: where that moved, the machine did.
 */
#ifndef PROFILER_COMPARE_COMPARE_H
#define PROFILER_COMPARE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "profiler/compare/figures.h"

enum { COMPARE_MAX_RUNS = 8 };

struct compared_run {
	json_t *head;                 /* shown as it is: id, name, ... */
	const json_t *report;         /* as a run has it; an environment of its own is read */
	const struct repeat *repeats; /* figures of runs that repeat it (figures.h) */
	int n_repeats;
};

struct compare_options {
	double margin;      /* 0: RATIO_MARGIN */
	bool force;         /* compares what is not comparable, and says so */
	const char *metric; /* what the verdict rests on: latency or speedup; NULL: latency */
};

/* 2 to COMPARE_MAX_RUNS runs.  A new object; NULL with BAD_REQUEST (a metric that is
 * neither, a report that measured nothing) or MEMORY. */
json_t *compare_runs(const struct compared_run *runs, int n, const struct compare_options *o,
		     struct err *err);

/* breaks, kernels and graphs that came, went or changed.
 *
 * Each compares one mode at one point of two reports, and appends to a list what is not
 * as it was; every entry has `mode` and `n` (null without a sweep).
 */
/* One side of a mode at a point. */
struct measured {
	const json_t *mode; /* M of the report */
	const char *source; /* that lines of the point count in */
};

struct place {
	const char *mode;
	const json_t *n; /* NULL: no sweep */
};

/* {"change": "added", "gone", "slower" or "faster", "name", "form", "ops", "a" and "b":
 * {"us", "ci_us"} or null, "ratio", "ci"}.  Kernels are matched by their names, in order;
 * which of them are slower stands at 5 % for all of them together, beyond the margin.
 * Returns how many are as they were. */
bool changes_kernels(json_t *list, struct place at, struct measured a, struct measured b,
		     double margin, int *same, struct err *err);

#endif
