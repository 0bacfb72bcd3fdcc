/* profiler/timeline/window.c -- which events a query asks for. */
#include "profiler/timeline/window.h"

#include <stdlib.h>

static void choose_lanes(struct window *w, const struct timeline_tables *tables,
			 const struct timeline_query *q)
{
	for (size_t i = 0; i < w->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(tables, i);

		w->wanted[i] = timeline_lane_is_of(&lane, q->mode, q->has_n ? &q->n : NULL);
	}
}

/* What the wanted lanes reach over, as the facts have it. */
static void find_extent(struct window *w, const struct timeline_tables *tables)
{
	struct timeline_extent e;
	bool any = false;

	for (size_t i = 0; timeline_extent_at(tables, i, &e); i++) {
		if (e.lane >= w->n_lanes || !w->wanted[e.lane])
			continue;
		w->begin_ns = !any || e.t0_ns < w->begin_ns ? e.t0_ns : w->begin_ns;
		w->end_ns = !any || e.t1_ns > w->end_ns ? e.t1_ns : w->end_ns;
		any = true;
	}
}

static int64_t within(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

bool window_open(struct window *w, const struct timeline_tables *tables,
		 const struct timeline_query *q)
{
	int64_t span, t0;

	w->n_lanes = json_array_size(tables->lanes);
	w->wanted = calloc(w->n_lanes + 1, sizeof(*w->wanted));
	if (!w->wanted)
		return false;
	choose_lanes(w, tables, q);
	find_extent(w, tables);
	span = w->end_ns - w->begin_ns;
	t0 = within(q->t0_ns, 0, span);
	w->t0_ns = w->begin_ns + t0;
	w->t1_ns = w->begin_ns + (q->t1_ns < 0 ? span : within(q->t1_ns, t0, span));
	return true;
}

void window_close(struct window *w)
{
	free(w->wanted);
	*w = (struct window){ 0 };
}
