/* profiler/compare/compare.h -- did it change, and because of what?
 *
 * Every run is compared with the first, A: profiler/fields/compare.def says what an answer has.
 *
 * What a figure with an interval is, verdicts.h says: of half the margin at least and with an
 * interval that does not hold 1 it is FASTER or SLOWER, if it is among those that hold together at
 * a family-wise error of 5 % (ratio_holm()); SAME where its interval lies within the margin (that
 * is no alarm, so it is not corrected); NOT ENOUGH below 6 rounds on a side; else AMBIGUOUS.  What
 * was measured once a run has no interval of its own: over the 6 or more points that two sweeps
 * have in common the median of the points' ratios has one, and else it is NOT ENOUGH.  What is
 * counted is LESS, SAME or MORE.
 *
 * The verdict of a comparison is SLOWER where any latency is, else FASTER where any is, SAME where
 * all are, NOT ENOUGH where none could be judged, AMBIGUOUS otherwise; REFUSED where something
 * differs that matters (settings.h) and nobody insists.  The headline is the figure that it speaks
 * of.
 *
 * EAGER, of the same program with the same settings, is the control: it runs no compiled code, so
 * where it moved, the machine did, or the library.  Then the speedups decide, which are measured
 * within each run, and no latency does.  Where eager may have moved (AMBIGUOUS), a latency that is
 * FASTER or SLOWER does not decide either.  Of another program eager may take another time: it is
 * no control, and the latencies decide.
 */
#ifndef PROFILER_COMPARE_COMPARE_H
#define PROFILER_COMPARE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "profiler/compare/lines.h"
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
	const char *metric; /* what decides in any case: latency or speedup; NULL: as said above */
};

/* 2 to COMPARE_MAX_RUNS runs.  A new object; NULL with BAD_REQUEST (a metric that is
 * neither, a report that measured nothing) or MEMORY. */
json_t *compare_runs(const struct compared_run *runs, int n, const struct compare_options *o,
		     struct err *err);

/* Breaks, kernels and graphs that came, went or changed: of one mode after another, of which the
 * caller sets what is compared. */
struct changes {
	struct report_draft *draft;
	const char *mode;
	double n; /* the point of the sweep; NAN: no sweep */
	const struct report_mode *a, *b;
	struct compared_program program_a, program_b; /* that lines of the mode count in */
	struct report_break_change_list breaks;
	struct report_graph_change_list graphs;
	struct report_kernel_change_list kernels;
	int kernels_same; /* kernels that are as they were */
};

/* Kernels are matched by their names, in order;
 * which of them are slower holds at 5 % for all of them together, beyond the margin.  False when
 * out of memory. */
bool changes_kernels(struct changes *c, double margin);

#endif
