/* profiler/break_run.h -- private: the costs of a mode's breaks, and their check.
 *
 * The costs come from timelines (break_cost.h), one of a few milliseconds at a time,
 * so that their interval holds what changes from one to the next.  Where the source
 * can be changed so that breaks are gone (cure.h), the changed function is timed
 * against the one with breaks, round by round: what those breaks are said to cost
 * stands beside what is really saved without them.
 */
#ifndef PROFILER_BREAK_RUN_H
#define PROFILER_BREAK_RUN_H

#include <jansson.h>

#include "profiler/copy_curve.h"
#include "profiler/lane.h"

struct break_run {
	const struct workload *w;
	const struct point *p;
	const struct copy_curve *curve; /* its n may be 0 */
	bool check;                     /* time the changed function too */
};

/* Adds to each of m's `breaks` its `cost_us` and `cost`, and to m `break_cost`.  Does
 * nothing where the lane has no breaks, or does not capture.  The lane is one that was
 * measured.  False with *err. */
bool break_run_report(const struct break_run *run, struct lane *lane, json_t *m, struct err *err);

#endif
