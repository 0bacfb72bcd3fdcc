/* profiler/recorder/watch_cost.c -- what watching has added to a span of a timeline. */
#include "profiler/recorder/watch_cost.h"

#include <math.h>
#include <stdlib.h>

/* What lies between reports may run beside them, or what they push out of the caches be
 * missed: but a call that seems outside of these met another moment of the machine. */
static const double least_pace = 0.5, most_pace = 2;

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static bool add_reading(struct watch_cost *w, int64_t at_ns)
{
	return VEC_PUSH(&w->readings, at_ns);
}

static bool add_event(struct watch_cost *w, const struct timeline_event *e)
{
	return add_reading(w, e->start_ns) && add_reading(w, event_end(e));
}

static bool add_report(struct watch_cost *w, int64_t at_ns)
{
	return VEC_PUSH(&w->reports, at_ns);
}

static bool add_host(struct watch_cost *w, const struct lanes_view *part)
{
	bool ok = true;

	for (size_t i = 0; ok && i < part->host.len; i++) {
		const struct timeline_event *e = part->host.at[i];
		bool launch = e->kind == TIMELINE_LAUNCH;

		ok = add_event(w, e);
		if (ok && (!launch || w->device))
			ok = add_report(w, event_end(e));
		if (ok && launch && w->device) /* it is read before, and not kept */
			ok = add_reading(w, e->start_ns - 1);
	}
	for (size_t i = 0; ok && !w->device && i < part->kernels.len; i++) {
		const struct timeline_event *e = part->kernels.at[i];

		ok = add_event(w, e) && add_report(w, event_end(e)) && add_report(w, event_end(e));
	}
	return ok;
}

static bool add_parts(struct watch_cost *w, const struct lanes_view *part)
{
	bool ok = true;

	for (size_t i = 0; ok && i < part->pieces.len; i++)
		ok = add_event(w, part->pieces.at[i]) &&
		     add_report(w, event_end(part->pieces.at[i]));
	for (size_t i = 0; ok && i < part->breaks.len; i++)
		ok = add_event(w, part->breaks.at[i]) &&
		     add_report(w, event_end(part->breaks.at[i]));
	return ok;
}

/* A launch ends with the reading that its kernel begins with. */
static void drop_repeated(struct watch_cost *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->readings.len; i++)
		if (n == 0 || w->readings.at[i] != w->readings.at[n - 1])
			w->readings.at[n++] = w->readings.at[i];
	w->readings.len = n;
}

bool watch_cost_enter(struct watch_cost *w, const struct lanes_view *part)
{
	w->readings.len = w->reports.len = 0;
	if (!add_host(w, part) || !add_parts(w, part))
		return false;
	if (w->readings.len)
		qsort(w->readings.at, w->readings.len, sizeof(*w->readings.at), by_time);
	if (w->reports.len)
		qsort(w->reports.at, w->reports.len, sizeof(*w->reports.at), by_time);
	drop_repeated(w);
	return true;
}

/* How many of a sorted list are before `at_ns`. */
static size_t before(const int64_t *list, size_t n, int64_t at_ns)
{
	size_t from = 0;

	while (from < n) {
		size_t middle = (from + n) / 2;

		if (list[middle] < at_ns)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

double watch_cost_in_a_row(const struct watch_cost *w, const struct span *s)
{
	size_t readings = before(w->readings.at, w->readings.len, s->to_ns) -
			  before(w->readings.at, w->readings.len, s->from_ns + 1);
	/* of what ends where the span begins: after that */
	size_t reports = before(w->reports.at, w->reports.len, s->to_ns) -
			 before(w->reports.at, w->reports.len, s->from_ns);

	if (s->to_ns <= s->from_ns)
		return 0;
	return (double)(readings + 1) * w->clock_ns + (double)reports * w->report_ns;
}

void watch_cost_set_pace(struct watch_cost *w, double watched_ns, double in_a_row_ns,
			 double unwatched_ns)
{
	w->pace = 1;
	if (unwatched_ns > 0 && in_a_row_ns > 0)
		w->pace = fmin(fmax((watched_ns - unwatched_ns) / in_a_row_ns, least_pace),
			       most_pace);
}
