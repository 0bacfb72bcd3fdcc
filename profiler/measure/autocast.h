/* profiler/measure/autocast.h -- what autocast saved, mode by mode.
 *
 * A workload with `autocast` is run twice in each mode, with it and without, and the
 * two are timed in the same rounds.  Bytes are those of the calls once in order.
 */
#ifndef PROFILER_MEASURE_AUTOCAST_H
#define PROFILER_MEASURE_AUTOCAST_H

#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

struct autocast_effect {
	struct candidate
	    *plain; /* w->n_modes candidates of the caller's, zeroed; NULL: no autocast */
	int n;      /* of them, that are made */
	double error[FUSION_MODE_COUNT];
	struct report_autocast *section; /* NULL: no autocast */
};

/* The candidates of a point without autocast, with their calls made, beside those `with` it,
 * whose outputs are still there; `spec` is that of each, but for its mode.  Where the program fails
 * without it the section says so and n is 0: that is no fault of the run.  False: out of memory. */
bool autocast_effect_create(struct autocast_effect *m, const struct candidate_spec *spec,
			    const struct candidate *with, struct report_draft *draft,
			    struct err *err);

/* Fills in the section's modes: both sides of each and, where both were timed, what autocast saved.
 * `samples_per_s` counts the first size of the first tensor of a call, which is `batch` in the
 * first. */
bool autocast_effect_report(struct autocast_effect *m, const struct candidate *with,
			    struct report_draft *draft, struct err *err);

#endif
