/* profiler/align/units.c -- what a program does again and again, and which of its units count.
 *
 * First the spans that the program itself names: calls, steps of a profiler, compiled regions, if
 * they hold nearly all that ran.  Else the period of what ran; else all of it is one unit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/align/sequence.h"
#include "profiler/align/side.h"
#include "profiler/measure/stats.h"

/* A unit of a warm-up takes so much longer than most. */
static const double warm_up_times = 1.5;
/* One that is far off so many deviations (of the median of their sizes), and such a share. */
static const double far_off_deviations = 5, far_off_least = 0.05;
/* So many others make up for one of which not all is known. */
enum { FEW = 3, MOST_TRIED = 64 /* names of spans */ };
/* Looking for periods may compare each item so often. */
enum { MOST_COMPARED = 64 };
/* Spans hold such a share of the items; where nothing repeats the second will do. */
static const double nearly_all = 0.9, most = 0.5;

/* ---- spans that the program names ---- */

struct span_of {
	uint32_t lane, key, name; /* name: of the tables */
	int64_t from_ns, to_ns;
};

struct span_group {
	size_t first, n; /* spans */
	size_t held;     /* items */
	int64_t total_ns;
};

static int by_group(const void *x, const void *y)
{
	const struct span_of *a = x, *b = y;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* The first item that was launched then or later. */
static size_t item_at(const struct align_side *s, int64_t ns)
{
	size_t low = 0, high = s->items.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->items.at[mid].launch_ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct span_list {
	VEC(struct span_of) at;
};

static bool list_spans(const struct align_side *s, struct span_list *spans)
{
	const struct timeline_events *events = s->run->events;

	for (size_t i = 0; i < events->list.len; i++) {
		const struct timeline_event *e = &events->list.at[i];
		struct timeline_lane lane;

		if (e->lane >= s->n_lanes || !s->wanted[e->lane] ||
		    (e->kind != TIMELINE_CALL && e->kind != TIMELINE_RANGE &&
		     e->kind != TIMELINE_OP))
			continue;
		lane = timeline_lane_at(&events->tables, e->lane);
		if (lane.has.device) /* ranges as the device saw them */
			continue;
		if (!VEC_PUSH(&spans->at, (struct span_of){ e->lane, side_key(s, e), e->name,
							    e->start_ns, event_end(e) }))
			return false;
	}
	if (spans->at.len)
		qsort(spans->at.at, spans->at.len, sizeof(*spans->at.at), by_group);
	return true;
}

/* The next group; spans that lie in the one before are dropped from it. */
static struct span_group next_group(const struct align_side *s, struct span_list *spans, size_t at,
				    size_t *next)
{
	struct span_of *list = spans->at.at;
	struct span_group g = { .first = at };
	size_t i = at;

	for (; i < spans->at.len && list[i].lane == list[at].lane && list[i].key == list[at].key;
	     i++) {
		struct span_of *kept = &list[g.first + g.n];

		if (g.n && list[i].from_ns < kept[-1].to_ns)
			continue;
		*kept = list[i];
		g.n++;
		g.held += item_at(s, kept->to_ns) - item_at(s, kept->from_ns);
		g.total_ns = timeline_add(g.total_ns, kept->to_ns - kept->from_ns);
	}
	*next = i;
	return g;
}

/* Of those that hold about as many items the longest: the outermost. */
static bool is_better(const struct align_side *s, const struct span_group *g,
		      const struct span_group *best)
{
	double near = 0.02 * (double)s->items.len;

	if (!best->n || (double)g->held > (double)best->held + near)
		return true;
	return (double)g->held >= (double)best->held - near && g->total_ns > best->total_ns;
}

/* Whether most spans hold the same items, in the same order: else they are no repetition. */
static bool is_regular(const struct align_side *s, const struct span_of *list, size_t n)
{
	uint64_t common = 0;
	size_t votes = 0, same = 0, filled = 0;

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < n; i++) {
			size_t first = item_at(s, list[i].from_ns), end = item_at(s, list[i].to_ns);
			uint64_t hash = 0;

			for (size_t k = first; k < end; k++)
				hash = hash_bytes(&s->items.at[k].key, sizeof(uint32_t), hash);
			if (end == first)
				continue;
			filled += round;
			if (round)
				same += hash == common;
			else if (!votes)
				common = hash, votes = 1;
			else
				votes += hash == common ? 1 : (size_t)-1;
		}
	return 2 * same >= filled;
}

/* Spans of the group become units. */
static bool units_of_spans(struct align_side *s, const struct span_list *spans,
			   const struct span_group *g)
{
	const struct span_of *list = &spans->at.at[g->first];
	const char *exact;
	bool alike = true;

	for (size_t i = 0; i < g->n; i++) {
		size_t first = item_at(s, list[i].from_ns), end = item_at(s, list[i].to_ns);
		struct align_unit u = { .first = first,
					.n = end - first,
					.from_ns = list[i].from_ns,
					.to_ns = list[i].to_ns,
					.has_span = true };

		if (u.n && !VEC_PUSH(&s->units, u))
			return false;
	}
	for (size_t i = 1; i < g->n; i++)
		alike &= list[i].name == list[0].name;
	exact = timeline_name_at(&s->run->events->tables, list[0].name).name;
	snprintf(s->how, sizeof(s->how), "%.120s",
		 alike && exact ? exact : s->ids->texts.at[list[0].key - 1]);
	return true;
}

static bool find_spans(struct align_side *s, double share, bool *found)
{
	struct span_list spans = { 0 };
	struct span_group best = { 0 };
	bool ok = list_spans(s, &spans);
	int tried = 0;

	for (size_t at = 0, next; ok && at < spans.at.len; at = next) {
		struct span_group g = next_group(s, &spans, at, &next);

		if (g.n >= 2 && (double)g.held >= share * (double)s->items.len &&
		    is_better(s, &g, &best) && tried++ < MOST_TRIED &&
		    is_regular(s, &spans.at.at[g.first], g.n))
			best = g;
	}
	*found = best.n > 0;
	ok = ok && (!best.n || units_of_spans(s, &spans, &best));
	VEC_FREE(&spans.at);
	return ok;
}

/* ---- the period of what ran ---- */

static bool add_unit(struct align_side *s, size_t first, size_t n)
{
	struct align_unit u = { .first = first, .n = n };

	return VEC_PUSH(&s->units, u);
}

static size_t same_in_place(const uint32_t *a, const uint32_t *b, size_t n)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += a[i] == b[i];
	return same;
}

/* What ran, by its keys, and its first period. */
struct periods {
	const uint32_t *keys, *model;
	size_t n, period;
	size_t left; /* elements that may still be compared: after that a unit is a period long */
};

/* Whether the period that begins there is as the first one. */
static bool is_period(struct periods *p, size_t at)
{
	size_t look = p->period < 8 ? p->period : 8;

	if (at + p->period >= p->n || p->left < p->period)
		return true;
	p->left -= p->period;
	return same_in_place(&p->keys[at], p->model, p->period) * 10 >= p->period * 9 &&
	       (at + p->period + look > p->n ||
		same_in_place(&p->keys[at + p->period], p->model, look) * 4 >= look * 3);
}

/* Where the unit that begins at `at` ends: after a period where it is as the first one, else where
 * the next that is begins. */
static size_t unit_end(struct periods *p, size_t at)
{
	size_t look = p->period < 8 ? p->period : 8;

	if (is_period(p, at))
		return at + p->period < p->n ? at + p->period : p->n;
	for (size_t i = at + 1; i + look <= p->n; i++)
		if (same_in_place(&p->keys[i], p->model, look) == look)
			return i;
	return p->n;
}

static bool find_period(struct align_side *s, bool *found)
{
	size_t n = s->items.len, period, from;
	struct periods p = { .n = n, .left = MOST_COMPARED * n };
	uint32_t *keys = calloc(n + 1, sizeof(*keys));
	bool ok = keys != NULL;

	for (size_t i = 0; ok && i < n; i++)
		keys[i] = s->items.at[i].key;
	ok = ok && sequence_period(keys, n, &period, &from);
	*found = ok && period;
	if (*found) {
		p.keys = keys;
		p.model = &keys[from];
		p.period = period;
		if (from)
			ok = add_unit(s, 0, from);
		for (size_t at = from, end; ok && at < n; at = end) {
			end = unit_end(&p, at);
			ok = add_unit(s, at, end - at);
		}
		snprintf(s->how, sizeof(s->how), "period of %zu", period);
	}
	free(keys);
	return ok;
}

/* ---- which count ---- */

static void measure_unit(struct align_side *s, struct align_unit *u)
{
	struct align_item *items = &s->items.at[u->first];
	int64_t from = INT64_MAX, to = INT64_MIN;

	u->whole = true;
	for (size_t i = 0; i < u->n; i++) {
		const struct align_item *item = &items[i];
		int64_t start = item->event->start_ns;

		u->busy_ns += item->busy_ns;
		u->idle_ns += (double)(start - item->idle_from_ns);
		u->hash = hash_bytes(&item->key, sizeof(item->key), u->hash);
		from = start < from ? start : from;
		to = event_end(item->event) > to ? event_end(item->event) : to;
	}
	u->wall_ns = u->busy_ns + u->idle_ns;
	if (!u->has_span) {
		u->from_ns = from;
		u->to_ns = to;
	}
}

/* Before the first item of a recording nobody knows what was idle, but for the begin of its span.
 */
static void open_first(struct align_side *s)
{
	struct align_unit *first = &s->units.at[0];
	struct align_item *earliest = &s->items.at[first->first];

	for (size_t i = 0; i < first->n; i++)
		if (s->items.at[first->first + i].event < earliest->event)
			earliest = &s->items.at[first->first + i];
	if (earliest->idle_from_ns < earliest->event->start_ns)
		return;
	if (first->has_span && first->from_ns < earliest->event->start_ns) {
		earliest->idle_from_ns = first->from_ns;
		first->idle_ns += (double)(earliest->event->start_ns - first->from_ns);
		first->wall_ns = first->busy_ns + first->idle_ns;
	}
	first->whole = s->units.len == 1;
}

static int by_hash(const void *x, const void *y)
{
	const struct align_unit *a = *(struct align_unit *const *)x,
				*b = *(struct align_unit *const *)y;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a > b) - (a < b);
}

/* The keys that most units have; of as many the longest unit.  False when out of memory. */
static bool common_hash(struct align_side *s, uint64_t *hash)
{
	size_t best = 0, best_n = 0;
	struct align_unit **order = calloc(s->units.len, sizeof(struct align_unit *));

	if (!order)
		return false;
	for (size_t i = 0; i < s->units.len; i++)
		order[i] = &s->units.at[i];
	qsort(order, s->units.len, sizeof(struct align_unit *), by_hash);
	for (size_t i = 0, end; i < s->units.len; i = end) {
		for (end = i + 1; end < s->units.len && order[end]->hash == order[i]->hash;)
			end++;
		if (end - i > best || (end - i == best && order[i]->n > best_n)) {
			best = end - i;
			best_n = order[i]->n;
			*hash = order[i]->hash;
		}
	}
	free(order);
	return true;
}

/* The middle of the walls of the units that count; NAN: none does. */
static double middle_wall(const struct align_side *s, double *room)
{
	int n = 0;

	for (size_t i = 0; i < s->units.len; i++)
		if (s->units.at[i].apart == UNIT_USED && s->units.at[i].whole)
			room[n++] = s->units.at[i].wall_ns;
	if (!n)
		return NAN;
	stats_sort(room, n);
	return stats_quantile(room, n, 0.5);
}

/* Units whose time is far from that of most: what happened there is none of the program's. */
static void set_far_off(struct align_side *s, double middle, double *room)
{
	double spread;
	int n = 0;

	for (size_t i = 0; i < s->units.len; i++)
		if (s->units.at[i].apart == UNIT_USED && s->units.at[i].whole)
			room[n++] = fabs(s->units.at[i].wall_ns - middle);
	if (n < STATS_MIN_SAMPLES)
		return;
	stats_sort(room, n);
	spread = fmax(far_off_deviations * 1.4826 * stats_quantile(room, n, 0.5),
		      far_off_least * middle);
	for (size_t i = 0; i < s->units.len; i++)
		if (s->units.at[i].apart == UNIT_USED && s->units.at[i].whole &&
		    fabs(s->units.at[i].wall_ns - middle) > spread)
			s->units.at[i].apart = UNIT_FAR_OFF;
}

/* The longest event of the host in a unit that is set apart. */
static void name_cause(struct align_side *s, struct align_unit *u)
{
	const struct timeline_events *events = s->run->events;
	int64_t from = u->has_span ? u->from_ns : s->items.at[u->first].launch_ns;

	for (size_t i = 0; i < events->list.len && events->list.at[i].start_ns < u->to_ns; i++) {
		const struct timeline_event *e = &events->list.at[i];

		if (e->start_ns < from || event_end(e) > u->to_ns || e->lane >= s->n_lanes ||
		    !s->wanted[e->lane] ||
		    (e->kind != TIMELINE_OVERHEAD && e->kind != TIMELINE_OP &&
		     e->kind != TIMELINE_API && e->kind != TIMELINE_GUARDS) ||
		    e->duration_ns <= u->cause_ns)
			continue;
		u->cause = side_name(s, e);
		u->cause_ns = e->duration_ns;
	}
}

enum { MOST_NAMED = 32 };

static void set_warm_ups(struct align_side *s, double middle)
{
	for (size_t i = 0; i < s->units.len && !isnan(middle); i++) {
		struct align_unit *u = &s->units.at[i];

		if (u->apart == UNIT_OTHER_ITEMS || !u->whole)
			continue;
		if (u->wall_ns <= warm_up_times * middle)
			break;
		u->apart = UNIT_WARM_UP;
	}
}

/* A unit before which nothing is known counts where few others do. */
static void set_first(struct align_side *s)
{
	size_t others = 0;

	for (size_t i = 1; i < s->units.len; i++)
		others += s->units.at[i].apart == UNIT_USED;
	if (s->units.at[0].apart == UNIT_USED && !s->units.at[0].whole && others >= FEW)
		s->units.at[0].apart = UNIT_FIRST;
}

/* Units of other items than those of `like`. */
static void set_others(struct align_side *s, const struct align_unit *like)
{
	const struct align_item *model = &s->items.at[like->first];

	for (size_t i = 0; i < s->units.len; i++) {
		struct align_unit *u = &s->units.at[i];
		bool same = u->hash == like->hash && u->n == like->n;

		for (size_t k = 0; same && k < u->n; k++)
			same = s->items.at[u->first + k].key == model[k].key;
		if (!same)
			u->apart = UNIT_OTHER_ITEMS;
	}
}

static void set_apart(struct align_side *s, uint64_t hash, double *room)
{
	double middle, nearest = INFINITY;
	int named = 0;

	for (size_t i = 0; i < s->units.len; i++)
		if (s->units.at[i].hash == hash) {
			set_others(s, &s->units.at[i]);
			break;
		}
	set_warm_ups(s, middle_wall(s, room));
	set_far_off(s, middle_wall(s, room), room);
	set_first(s);
	middle = middle_wall(s, room);
	for (size_t i = 0; i < s->units.len; i++) {
		struct align_unit *u = &s->units.at[i];

		if (u->apart != UNIT_USED && named++ < MOST_NAMED)
			name_cause(s, u);
		s->used += u->apart == UNIT_USED;
		if (u->apart == UNIT_USED &&
		    (isnan(middle) || (u->whole && fabs(u->wall_ns - middle) < nearest))) {
			nearest = fabs(u->wall_ns - middle);
			s->model = i;
		}
	}
}

bool side_find_units(struct align_side *s, struct err *err)
{
	bool found = false, ok = find_spans(s, nearly_all, &found);
	uint64_t hash = 0;
	double *room;

	ok = ok && (found || find_period(s, &found)) && (found || find_spans(s, most, &found));
	if (ok && !found) {
		snprintf(s->how, sizeof(s->how), "the whole recording");
		ok = add_unit(s, 0, s->items.len);
	}
	room = ok ? calloc(s->units.len, sizeof(*room)) : NULL;
	if (!room)
		return err_set(err, ERR_MEMORY, "out of memory for units");
	s->outside = s->items.len;
	for (size_t i = 0; i < s->units.len; i++) {
		measure_unit(s, &s->units.at[i]);
		s->outside -= s->units.at[i].n;
	}
	open_first(s);
	ok = common_hash(s, &hash);
	if (ok)
		set_apart(s, hash, room);
	free(room);
	return ok || err_set(err, ERR_MEMORY, "out of memory for units");
}
