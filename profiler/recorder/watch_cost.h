/* profiler/recorder/watch_cost.h -- what watching has added to a span of a timeline.
 *
 * An event is two readings of the clock and one report.  Between two readings that stand
 * in a timeline lies the time of one, and that of each reading between them, and what was
 * reported meanwhile: an event after its end, a kernel of the host twice (itself, and its
 * launch).  Both are timed in a row by the recorder ("clock_ns" and "tell_ns" of its facts);
 * what they take in this place is reported by a call that nobody watches.
 */
#ifndef PROFILER_RECORDER_WATCH_COST_H
#define PROFILER_RECORDER_WATCH_COST_H

#include <math.h>

#include "profiler/timeline/lanes_view.h"

/* Of a set of lanes; zeroed is of one that costs nothing. */
struct watch_cost {
	double clock_ns, report_ns; /* a reading, and a report without its readings: in a row */
	double pace;                /* what they take here, times that */
	bool device;                /* kernels run beside the host: only launches are reported */
	bool hidden_piece;          /* each call has one, which is in no lane */
	/* of the call under way, in order */
	VEC(int64_t) readings, reports;
};

/* Takes the place of the call before; `part` is cut to it.  False: out of memory. */
bool watch_cost_enter(struct watch_cost *w, const struct lanes_view *part);

static inline void watch_cost_finish(struct watch_cost *w)
{
	VEC_FREE(&w->readings);
	VEC_FREE(&w->reports);
}

/* What it takes in a row, of a span of the call between two readings. */
double watch_cost_in_a_row(const struct watch_cost *w, const struct span *s);

static inline double watch_cost_of_call(const struct watch_cost *w, const struct span *call)
{
	double hidden_ns = w->hidden_piece ? 2 * w->clock_ns + w->report_ns : 0;

	return watch_cost_in_a_row(w, call) + hidden_ns;
}

/* The span without it, at least 0. */
static inline double watch_cost_less(const struct watch_cost *w, const struct span *s)
{
	return fmax((double)(s->to_ns - s->from_ns) - w->pace * watch_cost_in_a_row(w, s), 0);
}

/* Sets the pace: calls of `watched_ns`, which it makes longer by `in_a_row_ns` in a row,
 * take `unwatched_ns` while nobody watches (0: unknown, then it is that of a row). */
void watch_cost_set_pace(struct watch_cost *w, double watched_ns, double in_a_row_ns,
			 double unwatched_ns);

#endif
