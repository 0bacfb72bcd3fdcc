/* profiler/measure/mixed.h -- what autocast saved, mode by mode.
 *
 * A workload with `autocast` is run twice in each mode, with it and without, and the
 * two are timed in the same rounds.  Bytes are those of the calls once in order.
 */
#ifndef PROFILER_MEASURE_MIXED_H
#define PROFILER_MEASURE_MIXED_H

#include "profiler/measure/candidate.h"

struct mixed {
	struct candidate
	    *plain; /* w->n_modes candidates of the caller's, zeroed; NULL: no autocast */
	int n;      /* of them, that are made */
	double error[FUSION_MODE_COUNT];
	json_t *json; /* the section; borrowed by the report */
};

/* The candidates of a point without autocast, with their calls made, beside those `with` it,
 * whose outputs are still there.  Where the program fails without it the section says
 * so and n is 0: that is no fault of the run.  False: out of memory. */
bool mixed_create(struct mixed *m, const struct workload *w, const struct point *p,
		  const struct candidate *with, const struct inputs *originals,
		  struct candidate_cache cache, struct err *err);

/* Fills in {"dtype", "batch", "error", "modes": {MODE: {"with", "without",
 * "activation_ratio", "max_abs_error", and where both were timed "speedup", "speedup_ci",
 * "verdict"}}}.  A side has "peak_bytes", "activation_bytes" (what the calls added to
 * inputs and parameters) and, where it was timed, "median_us", "ci_us" and
 * "samples_per_s": samples are the first size of the first tensor of a call, which is
 * `batch` in the first; null where there is none. */
bool mixed_report(struct mixed *m, const struct candidate *with, struct err *err);

#endif
