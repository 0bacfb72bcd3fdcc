/* profiler/ranks/path.h -- private: what the moments of one rank waited for.
 *
 * A moment is the start or the end of a kernel or of a call of the driver.  Each waited for one
 * that came before it, and the time between is of one kind.  A kernel's end: for its start, and
 * what it is.  A kernel's start: for the latest of the start of its launch (launch) and of the end
 * before it on its stream, or of the kernel that its stream waited for (gap); the first of all for
 * nothing. A call's end: for its start (call), or for the end of what it waited for (sync).  A
 * call's start: for the end of the call before it on its thread, or, where the thread did nothing,
 * of the latest call of any (host).
 *
 * So from any moment back to the first there is one way, and its pieces add up to the time.  It is
 * cut where it passes a collective, which others may have held up (critical.c).
 */
#ifndef PROFILER_RANKS_PATH_H
#define PROFILER_RANKS_PATH_H

#include "profiler/ranks/events.h"

/* Gives each collective what it waited for (in `arena`), and *last what the last end of a kernel
 * did. *recorded is set where the profiler noted which stream waited for which.  False: out of
 * memory.
 */
bool rank_paths(struct rank_events *e, struct path_segment *last, bool *recorded,
		struct arena *arena);

/* Adds `more` to the longest of `top`, by name and kind. */
void path_top_add(struct path_top *top, int n, struct path_top more);

#endif
