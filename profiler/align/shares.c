/* profiler/align/shares.c -- what of the time is each item's, and what was idle before it.
 *
 * While k lanes run something at once each has a k-th of the time.  So the shares of all items and
 * what was idle between them are the time that went by, whichever stream came first.  An op that
 * calls others has what these leave.
 */
#include <stdlib.h>

#include "profiler/align/side.h"

/* From a moment on so many lanes run; what was shared and what was idle up to then. */
struct turn {
	int64_t at_ns;
	int running;
	double shared_ns;
};

struct turns {
	VEC(struct turn) list;
};

static int by_time(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;

	return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

static int by_event(const void *x, const void *y)
{
	const struct align_item *a = *(struct align_item *const *)x,
				*b = *(struct align_item *const *)y;

	return (a->event > b->event) - (a->event < b->event); /* events are sorted by start */
}

/* When each lane begins and ends to run; spans of a lane that overlap are one. */
static bool add_moments(struct turns *m, struct align_item *const *items, size_t n,
			int64_t *busy_until)
{
	for (size_t i = 0; i < n; i++) {
		const struct timeline_event *e = items[i]->event;
		int64_t from = e->start_ns, to = event_end(e), *until = &busy_until[e->lane];

		if (from < *until)
			from = *until;
		if (to <= from)
			continue;
		if (!VEC_PUSH(&m->list, (struct turn){ from, 1, 0 }) ||
		    !VEC_PUSH(&m->list, (struct turn){ to, -1, 0 }))
			return false;
		*until = to;
	}
	return true;
}

static void sum_moments(struct turns *m)
{
	int running = 0;
	double shared = 0;

	qsort(m->list.at, m->list.len, sizeof(*m->list.at), by_time);
	for (size_t i = 0; i < m->list.len; i++) {
		struct turn *at = &m->list.at[i];

		if (running)
			shared += (double)(at->at_ns - m->list.at[i - 1].at_ns) / running;
		running += at->running;
		at->running = running;
		at->shared_ns = shared;
	}
}

/* What one lane that runs all the while had shared by then. */
static double shared_at(const struct turns *m, int64_t ns)
{
	size_t low = 0, high = m->list.len;
	const struct turn *at;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->list.at[mid].at_ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	at = &m->list.at[low - 1];
	return at->shared_ns + (at->running > 0 ? (double)(ns - at->at_ns) / at->running : 0);
}

/* The items open in a lane, each in the one before. */
struct lane_items {
	VEC(struct align_item *) open;
	int64_t until_ns;
};

static bool share_item(const struct turns *m, struct lane_items *lane, struct align_item *item)
{
	int64_t from = item->event->start_ns, to = event_end(item->event);
	struct align_item *around = NULL;

	while (lane->open.len && event_end(lane->open.at[lane->open.len - 1]->event) <= from)
		lane->open.len--;
	if (lane->open.len)
		around = lane->open.at[lane->open.len - 1];
	if (around && to > event_end(around->event))
		to = event_end(around->event); /* the rest: what is beyond it, counted below */
	item->busy_ns = shared_at(m, to) - shared_at(m, from);
	if (around)
		around->busy_ns -= item->busy_ns;
	if (event_end(item->event) > to)
		item->busy_ns += shared_at(m, event_end(item->event)) - shared_at(m, to);
	return VEC_PUSH(&lane->open, item);
}

static bool share(struct align_item **items, size_t n, const struct turns *m,
		  struct lane_items *lanes)
{
	int64_t until = items[0]->event->start_ns;

	for (size_t i = 0; i < n; i++) {
		int64_t from = items[i]->event->start_ns, to = event_end(items[i]->event);

		items[i]->idle_from_ns = until < from ? until : from;
		until = to > until ? to : until;
		if (!share_item(m, &lanes[items[i]->event->lane], items[i]))
			return false;
	}
	return true;
}

/* ---- causes of idle time ---- */

static void keep_part(void *self, const struct idle_part *part)
{
	struct align_side *s = self;

	(void)VEC_PUSH(&s->idle, *part); /* without memory it has no cause */
}

/* Events as chunks, in order. */
static bool give_chunks(struct idle *idle, const struct timeline_events *events,
			struct timeline_chunk *chunk)
{
	for (size_t at = 0; at < events->list.len; at += (size_t)chunk->n) {
		size_t left = events->list.len - at;

		chunk->n = left < TIMELINE_CHUNK_EVENTS ? (int)left : TIMELINE_CHUNK_EVENTS;
		for (int i = 0; i < chunk->n; i++) {
#define COLUMN(name, type) chunk->name[i] = events->list.at[at + (size_t)i].name;
			TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
		}
		if (!idle_chunk(idle, chunk))
			return false;
	}
	return true;
}

static int by_from(const void *x, const void *y)
{
	const struct idle_part *a = x, *b = y;

	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static bool find_causes(struct align_side *s, int64_t from_ns, int64_t to_ns)
{
	const struct timeline_events *events = s->run->events;
	struct idle *idle = idle_create(&events->tables, s->wanted, from_ns, to_ns, keep_part, s);
	struct timeline_chunk chunk = { 0 };
	struct err err = { 0 };
	bool ok = idle && timeline_chunk_create(&chunk, &err) && give_chunks(idle, events, &chunk);

	if (ok)
		idle_finish(idle);
	timeline_chunk_destroy(&chunk);
	idle_destroy(idle);
	if (s->idle.len)
		qsort(s->idle.at, s->idle.len, sizeof(*s->idle.at), by_from);
	return ok;
}

bool side_share(struct align_side *s, struct err *err)
{
	size_t n = s->items.len;
	struct align_item **items = calloc(n, sizeof(struct align_item *));
	struct lane_items *lanes = calloc(s->n_lanes + 1, sizeof(*lanes));
	int64_t *until = calloc(s->n_lanes + 1, sizeof(*until));
	struct turns moments = { 0 };
	bool ok = items && lanes && until;

	for (size_t i = 0; ok && i < s->n_lanes; i++)
		until[i] = INT64_MIN;
	for (size_t i = 0; ok && i < n; i++)
		items[i] = &s->items.at[i];
	if (ok)
		qsort(items, n, sizeof(struct align_item *), by_event);
	ok = ok && add_moments(&moments, items, n, until);
	if (ok && moments.list.len)
		sum_moments(&moments);
	ok = ok && share(items, n, &moments, lanes) &&
	     (s->on_host ||
	      find_causes(s, items[0]->event->start_ns, event_end(items[n - 1]->event)));
	for (size_t i = 0; lanes && i < s->n_lanes; i++)
		VEC_FREE(&lanes[i].open);
	VEC_FREE(&moments.list);
	free(lanes);
	free(items);
	free(until);
	return ok || err_set(err, ERR_MEMORY, "out of memory for the shares of what ran");
}
