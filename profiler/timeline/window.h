/* profiler/timeline/window.h -- private: which events a query asks for: its lanes, and its span of
 * their time. */
#ifndef PROFILER_TIMELINE_WINDOW_H
#define PROFILER_TIMELINE_WINDOW_H

#include "profiler/timeline/timeline.h"

/* Zeroed is empty. */
struct window {
	bool *wanted; /* of each lane of the tables */
	size_t n_lanes;
	int64_t begin_ns, end_ns; /* of the wanted lanes, by the recording's clock */
	int64_t t0_ns, t1_ns;     /* of the window, likewise */
};

/* Once all tables are there.  False: out of memory. */
bool window_open(struct window *w, const struct timeline_tables *tables,
		 const struct timeline_query *q);
void window_close(struct window *w);

/* Whether a part of the event lies in it, not an end alone: where one event ends and the next
 * begins, a window holds the one that it was made for.  What has no duration lies on an end too. */
static inline bool window_has(const struct window *w, const struct timeline_event *e)
{
	int64_t end = e->start_ns + e->duration_ns;

	if (e->lane >= w->n_lanes || !w->wanted[e->lane])
		return false;
	return e->duration_ns ? e->start_ns < w->t1_ns && end > w->t0_ns
			      : e->start_ns <= w->t1_ns && end >= w->t0_ns;
}

#endif
