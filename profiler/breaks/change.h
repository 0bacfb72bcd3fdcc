/* profiler/breaks/change.h -- a program beside the one that it was before a change.
 *
 * A workload may have `before`, the source that its own is a change of.  Both make the
 * calls once in order, in each mode, and are then timed in the same rounds.
 */
#ifndef PROFILER_BREAKS_CHANGE_H
#define PROFILER_BREAKS_CHANGE_H

#include "profiler/fields/fields.h"
#include "profiler/workload/workload.h"

/* What the change did to each mode of each point that is run, in a draft.  Zeroed is empty. */
struct changes_made {
	struct report_change_map *points; /* by mode, in the order of the report */
	size_t n;
};

/* None where there is no program before, or the program itself fails, which profiler_run()
 * reports; a change has an error where the program before fails.  To be called while no
 * profiler is attached.  False with CANCELLED or MEMORY. */
bool change_run(const struct workload *w, const struct profiler_options *options,
		struct report_draft *draft, struct changes_made *out, struct err *err);

/* Gives each mode of the report its `change`. */
void change_put(struct report_run *report, const struct changes_made *made);

#endif
