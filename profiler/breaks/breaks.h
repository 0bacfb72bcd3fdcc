/* profiler/breaks/breaks.h -- the costs of a mode's breaks, and their check.
 *
 * Where the source can be changed so that breaks are gone, the changed function is timed
 * against the one with breaks, round by round: what is saved is what those breaks cost
 * together.  The share of each, and the cost of those that no change takes away, come from
 * timelines (cost.h), one of a few milliseconds at a time, so that their interval holds what
 * changes from one to the next.  What the timelines add up to is reported beside what was timed.
 */
#ifndef PROFILER_BREAKS_BREAKS_H
#define PROFILER_BREAKS_BREAKS_H

#include "profiler/cost/cost.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"
#include "profiler/measure/stats.h"
#include "profiler/roofline/copy_curve.h"

/* ---- The same function without its breaks. */

struct counterfactual {
	struct buf source; /* whole, with the changes made */
	int *lines;        /* of the breaks that are gone, in the posted source */
	int n;
	int left; /* breaks that the changed program still has */
};

struct break_run {
	const struct workload *w;
	const struct point *p;
	const struct copy_curve *curve; /* its n may be 0 */
	struct report_draft *draft;
};

/* The function without breaks, as it was timed. */
struct break_check {
	bool known;
	struct counterfactual
	    counterfactual;        /* its source may be the posted one, where `allowed` is all */
	bool allowed;              /* ops that the workload denies are lowered */
	struct interval saved;     /* microseconds a call */
	struct interval median[2]; /* of a call without breaks, and with them */
	/* Of a device: gaps of the function without breaks, and with them. */
	struct break_costs host[2];
	/* The changed function, made; of a device not for long, as its inputs are others once
	 * CUPTI comes. */
	struct counterfactual_run {
		struct point point;
		struct candidate candidate;
	} run;
};

/* Times it against the candidate, where it is known, while nobody watches; on a device the gaps
 * are recorded too, before CUPTI comes.  False with *err; out is to be finished in any case. */
bool break_check_time(const struct break_run *run, struct candidate *candidate,
		      struct break_check *out, struct err *err);
/* The changed function alone, which needs the inputs of the candidate that it was timed against. */
void break_check_drop_candidate(struct break_check *c);
void break_check_finish(struct break_check *c); /* both: zeroed is fine */

/* Watches the candidate, and sets of each of m's breaks its `cost_us` and `cost`, and of m
 * `break_cost`.  Does nothing where the candidate has no breaks, or does not capture.  False with
 * *err.
 */
bool break_run_report(const struct break_run *run, struct candidate *candidate,
		      struct break_check *check, struct report_mode *m, struct err *err);

#endif
