/* profiler/breaks/change.h -- a program beside the one that it was before a change.
 *
 * A workload may have `before`, the source that its own is a change of.  Both make the
 * calls once in order, in each mode, and are then timed in the same rounds.
 */
#ifndef PROFILER_BREAKS_CHANGE_H
#define PROFILER_BREAKS_CHANGE_H

#include <jansson.h>

#include "profiler/workload/workload.h"

/* What the change did: a list by point of objects by mode, in the order of the report;
 * a mode has
 *
 *   agrees, disagreement, max_abs_error   outputs, inputs and printed text against those before
 *   graphs, breaks, launches              [before, after]
 *   median_us, ci_us                      [before, after]; these and what follows where it is timed
 *   saved_us, saved_ci_us, speedup, speedup_ci, verdict
 *
 * or `error`, where the program before fails.  JSON null where there is none before, or the
 * program itself fails, which profiler_run() reports.  To be called while no profiler is
 * attached.  NULL with CANCELLED or MEMORY; the caller owns it. */
json_t *change_run(const struct workload *w, const struct profiler_options *options,
		   struct err *err);

/* Gives each mode of the report its `change`. */
void change_put(json_t *report, const json_t *changes);

#endif
