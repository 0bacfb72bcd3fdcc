/* profiler/breaks/cure.h -- private: the same function without its breaks. */
#ifndef PROFILER_BREAKS_CURE_H
#define PROFILER_BREAKS_CURE_H

#include <jansson.h>

#include "profiler/measure/lane.h"

struct cure {
	struct buf source; /* whole, with the changes made */
	int *lines;        /* of the breaks that are gone, in the posted source */
	int n;
	int left; /* breaks that the changed program still has */
};

/* Changes the source as fusion/source.h can, break by break, until nothing more can be
 * changed; keeps the changes only if the interpreter, which makes the calls of `lane`
 * again, then finds fewer breaks and the same outputs and inputs.  Prints are left out.
 * False: there is no such program (no error). */
bool cure_find(struct cure *c, const struct lane *lane, const struct workload *w,
	       const struct point *p);
void cure_finish(struct cure *c); /* zeroed is fine */

#endif
