/* profiler/breaks/counterfactual.h -- private: the same function without its breaks. */
#ifndef PROFILER_BREAKS_COUNTERFACTUAL_H
#define PROFILER_BREAKS_COUNTERFACTUAL_H

#include <jansson.h>

#include "profiler/measure/candidate.h"

struct counterfactual {
	struct buf source; /* whole, with the changes made */
	int *lines;        /* of the breaks that are gone, in the posted source */
	int n;
	int left; /* breaks that the changed program still has */
};

/* Changes the source as fusion/source.h can, break by break, until nothing more can be
 * changed; keeps the changes only if the interpreter, which makes the calls of `candidate`
 * again, then finds fewer breaks and the same outputs and inputs.  Prints are left out.
 * False: there is no such program (no error). */
bool counterfactual_find(struct counterfactual *c, const struct candidate *candidate,
			 const struct workload *w, const struct point *p);
void counterfactual_finish(struct counterfactual *c); /* zeroed is fine */

#endif
