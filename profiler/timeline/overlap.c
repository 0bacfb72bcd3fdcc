/* profiler/timeline/overlap.c -- how long a lane was busy, overlaps counted once. */
#include "profiler/timeline/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/timeline.h"

/* So many wait: merging them takes a walk through all spans. */
enum { MOST_LATE = 65536 };

void overlap_finish(struct overlap *o)
{
	VEC_FREE(&o->spans);
	VEC_FREE(&o->late);
}

static int by_start(const void *a, const void *b)
{
	const struct overlap_span *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* After the last, in the order of their starts; joined with it where they touch. */
static void join(struct overlap_span *spans, size_t *n, struct overlap_span s)
{
	struct overlap_span *last = *n ? &spans[*n - 1] : NULL;

	if (!last || s.from_ns > last->to_ns)
		spans[(*n)++] = s;
	else if (s.to_ns > last->to_ns)
		last->to_ns = s.to_ns;
}

/* Those that wait, to their places. */
static bool merge(struct overlap *o, struct overlap_room *room)
{
	size_t all = o->spans.len + o->late.len, n = 0, a = 0, b = 0;
	struct overlap_span *merged;

	if (o->late.len == 0)
		return true;
	merged = malloc(all * sizeof(*merged));
	if (!merged)
		return false;
	qsort(o->late.at, o->late.len, sizeof(*o->late.at), by_start);
	while (a < o->spans.len || b < o->late.len) {
		bool kept = b == o->late.len ||
			    (a < o->spans.len && o->spans.at[a].from_ns <= o->late.at[b].from_ns);

		join(merged, &n, kept ? o->spans.at[a++] : o->late.at[b++]);
	}
	free(o->spans.at);
	o->spans.at = merged;
	o->spans.cap = all;
	o->spans.len = n;
	o->late.len = 0;
	room->used -= all - n;
	return true;
}

/* The earlier half becomes a sum; the last stays, for it may grow. */
static void forget(struct overlap *o, struct overlap_room *room)
{
	size_t n = o->spans.len / 2;

	for (size_t i = 0; i < n; i++)
		o->summed_ns = timeline_add(o->summed_ns,
					    o->spans.at[i].to_ns - o->spans.at[i].from_ns);
	if (n == 0)
		return;
	o->kept_ns = o->spans.at[n - 1].to_ns;
	o->cut = true;
	memmove(o->spans.at, o->spans.at + n, (o->spans.len - n) * sizeof(*o->spans.at));
	o->spans.len -= n;
	room->used -= n;
}

static bool make_room(struct overlap *o, struct overlap_room *room)
{
	size_t most = room->most ? room->most : OVERLAP_MOST_SPANS;

	if (room->used >= most || o->late.len >= MOST_LATE) {
		if (!merge(o, room))
			return false;
	}
	if (room->used >= most)
		forget(o, room);
	room->used++;
	return true;
}

bool overlap_add(struct overlap *o, struct overlap_room *room, int64_t from_ns, int64_t to_ns)
{
	struct overlap_span *last;

	if (o->cut && from_ns < o->kept_ns) {
		o->at_least = true;
		from_ns = o->kept_ns;
	}
	if (to_ns <= from_ns)
		return true;
	last = o->spans.len ? &o->spans.at[o->spans.len - 1] : NULL;
	if (last && from_ns >= last->from_ns && from_ns <= last->to_ns) {
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		return true;
	}
	if (!make_room(o, room))
		return false;
	/* What is last may be another by now. */
	last = o->spans.len ? &o->spans.at[o->spans.len - 1] : NULL;
	if (last && from_ns <= last->to_ns)
		return VEC_PUSH(&o->late, ((struct overlap_span){ from_ns, to_ns }));
	return VEC_PUSH(&o->spans, ((struct overlap_span){ from_ns, to_ns }));
}

bool overlap_ns(struct overlap *o, struct overlap_room *room, int64_t *ns)
{
	if (!merge(o, room))
		return false;
	*ns = o->summed_ns;
	for (size_t i = 0; i < o->spans.len; i++)
		*ns = timeline_add(*ns, o->spans.at[i].to_ns - o->spans.at[i].from_ns);
	return true;
}
