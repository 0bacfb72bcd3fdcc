/* profiler/align/side.c -- from the events of a timeline to items. */
#include "profiler/align/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */

/* The mode and the point that are looked at: those asked for; else a mode that compiles, and the
 * last point. */
static void choose_lanes(struct align_side *s, const struct align_run *run)
{
	const struct timeline_tables *t = &run->events->tables;

	s->mode = run->mode;
	s->has_n = run->has_n;
	s->n = run->n;
	for (size_t i = 0; !run->mode && i < s->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(t, i);

		if (lane.mode && (!s->mode || (strcmp(s->mode, "eager") == 0)))
			s->mode = lane.mode;
	}
	for (size_t i = 0; !run->has_n && i < s->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(t, i);

		if (!lane.has.n || !timeline_lane_is_of(&lane, s->mode, NULL) ||
		    (s->has_n && lane.n <= s->n))
			continue;
		s->has_n = true;
		s->n = lane.n;
	}
}

static bool want_lanes(struct align_side *s, struct err *err)
{
	bool any = false;

	s->wanted = calloc(s->n_lanes + 1, sizeof(*s->wanted));
	if (!s->wanted)
		return err_set(err, ERR_MEMORY, "out of memory for lanes");
	choose_lanes(s, s->run);
	for (size_t i = 0; i < s->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(&s->run->events->tables, i);

		s->wanted[i] = timeline_lane_is_of(&lane, s->mode, s->has_n ? &s->n : NULL);
		any |= s->wanted[i];
	}
	if (any)
		return true;
	return err_set(err, ERR_BAD_REQUEST, "its timeline has no lanes%s%s",
		       s->mode ? " of mode " : "", s->mode ? s->mode : "");
}

static bool is_wanted(const struct align_side *s, const struct timeline_event *e)
{
	return e->lane < s->n_lanes && s->wanted[e->lane];
}

/* ---- one device of several ---- */

enum { MOST_DEVICES = 64 };

struct device_use {
	int64_t source, device, busy_ns;
};

static int device_of(struct device_use *list, int n, const struct timeline_lane *lane)
{
	int i = 0;

	while (i < n &&
	       (list[i].source != timeline_lane_source(lane) || list[i].device != lane->device))
		i++;
	return i;
}

/* The lanes of the device that ran most; the others of devices are not wanted. */
static void choose_device(struct align_side *s)
{
	const struct timeline_events *events = s->run->events;
	struct device_use uses[MOST_DEVICES + 1] = { 0 };
	int n = 0, best = 0;

	for (size_t i = 0; i < events->list.len; i++) {
		const struct timeline_event *e = &events->list.at[i];
		struct timeline_lane lane;
		int at;

		if (!is_wanted(s, e) || !timeline_kind_runs(e->kind))
			continue;
		lane = timeline_lane_at(&events->tables, e->lane);
		at = device_of(uses, n, &lane);
		if (at == n && n < MOST_DEVICES)
			uses[n++] = (struct device_use){ timeline_lane_source(&lane), lane.device,
							 0 };
		uses[at].busy_ns = timeline_add(uses[at].busy_ns, e->duration_ns);
	}
	for (int i = 1; i < n; i++)
		best = uses[i].busy_ns > uses[best].busy_ns ? i : best;
	s->devices = n;
	s->device = (int)uses[best].device;
	s->on_host = n == 0 || s->asks_host;
	for (size_t i = 0; n > 1 && i < s->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(&events->tables, i);

		if (lane.role && strcmp(lane.role, "kernels") == 0 &&
		    device_of(uses, n, &lane) != best)
			s->wanted[i] = false;
	}
}

/* ---- items ---- */

/* What the host launched, by correlation: when, and of which op. */
struct launch_seen {
	uint32_t correlation, op;
	int64_t source, at_ns;
};

/* Events of the host that hold others: the ops open in a lane. */
struct open_op {
	int64_t end_ns;
	uint32_t name;
};

struct lane_ops {
	VEC(struct open_op) open;
};

struct launches {
	VEC(struct launch_seen) list;
	struct lane_ops *lanes;
};

/* The op that is open in the event's lane, innermost; opens the event where it is one. */
static bool follow_ops(struct launches *l, const struct timeline_event *e, uint32_t *op)
{
	struct lane_ops *lane = &l->lanes[e->lane];
	struct open_op opened = { event_end(e), e->name + 1 };

	while (lane->open.len && lane->open.at[lane->open.len - 1].end_ns <= e->start_ns)
		lane->open.len--;
	*op = lane->open.len ? lane->open.at[lane->open.len - 1].name : 0;
	return e->kind != TIMELINE_OP || VEC_PUSH(&lane->open, opened);
}

static int by_correlation(const void *x, const void *y)
{
	const struct launch_seen *a = x, *b = y;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->source > b->source) - (a->source < b->source);
}

static bool find_launches(const struct align_side *s, struct launches *l)
{
	const struct timeline_events *events = s->run->events;
	bool ok = true;

	l->lanes = calloc(s->n_lanes + 1, sizeof(*l->lanes));
	for (size_t i = 0; l->lanes && ok && i < events->list.len; i++) {
		const struct timeline_event *e = &events->list.at[i];
		struct timeline_lane lane;
		struct launch_seen row;

		if (!is_wanted(s, e) || timeline_kind_runs(e->kind))
			continue;
		row = (struct launch_seen){ e->correlation, 0, 0, e->start_ns };
		ok = follow_ops(l, e, &row.op);
		if (!ok || !e->correlation ||
		    (e->kind != TIMELINE_API && e->kind != TIMELINE_LAUNCH))
			continue;
		lane = timeline_lane_at(&events->tables, e->lane);
		row.source = timeline_lane_source(&lane);
		ok = VEC_PUSH(&l->list, row);
	}
	if (l->lanes && l->list.len)
		qsort(l->list.at, l->list.len, sizeof(*l->list.at), by_correlation);
	return l->lanes && ok;
}

static void launches_finish(struct launches *l, size_t n_lanes)
{
	for (size_t i = 0; l->lanes && i < n_lanes; i++)
		VEC_FREE(&l->lanes[i].open);
	free(l->lanes);
	VEC_FREE(&l->list);
}

/* The launch of an item.  Lanes of a trace's device know no process: then the correlation alone
 * says it. */
static const struct launch_seen *launch_of(const struct launches *l, uint32_t correlation)
{
	const struct launch_seen key = { correlation, 0, INT64_MIN, 0 };
	size_t low = 0, high = l->list.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (by_correlation(&l->list.at[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return correlation && low < l->list.len && l->list.at[low].correlation == correlation
		   ? &l->list.at[low]
		   : NULL;
}

static uint32_t key_of(const struct align_side *s, uint32_t name)
{
	const char *text;

	if (name >= s->n_keys)
		name = 0;
	if (s->keys[name] == NAMES_NONE) {
		text = timeline_name_at(&s->run->events->tables, name).name;
		s->keys[name] = name_ids_find(s->ids, text ? text : "unnamed");
	}
	return s->keys[name];
}

uint32_t side_key(const struct align_side *s, const struct timeline_event *e)
{
	return key_of(s, e->name);
}

static int by_launch(const void *x, const void *y)
{
	const struct align_item *a = x, *b = y;

	if (a->launch_ns != b->launch_ns)
		return a->launch_ns < b->launch_ns ? -1 : 1;
	if (a->event->start_ns != b->event->start_ns)
		return a->event->start_ns < b->event->start_ns ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static bool is_item(const struct align_side *s, const struct timeline_event *e)
{
	return s->on_host ? e->kind == TIMELINE_OP : timeline_kind_runs(e->kind);
}

static bool find_items(struct align_side *s, const struct launches *l)
{
	const struct timeline_events *events = s->run->events;

	for (size_t i = 0; i < events->list.len; i++) {
		const struct timeline_event *e = &events->list.at[i];
		const struct launch_seen *launch;
		struct align_item item;

		if (!is_wanted(s, e) || !is_item(s, e))
			continue;
		launch = s->on_host ? NULL : launch_of(l, e->correlation);
		item = (struct align_item){ .event = e,
					    .key = side_key(s, e),
					    .launch_ns = launch ? launch->at_ns : e->start_ns };
		if (launch && launch->op) {
			item.op_name = launch->op;
			item.op = key_of(s, launch->op - 1);
		}
		if (!item.key || !VEC_PUSH(&s->items, item))
			return false;
	}
	if (s->items.len)
		qsort(s->items.at, s->items.len, sizeof(*s->items.at), by_launch);
	return true;
}

static bool read_items(struct align_side *s, struct err *err)
{
	struct launches launches = { 0 };
	bool ok;

	s->keys = calloc(s->n_keys + 1, sizeof(*s->keys));
	ok = s->keys && find_launches(s, &launches) && find_items(s, &launches);
	launches_finish(&launches, s->n_lanes);
	if (!ok)
		return err_set(err, ERR_MEMORY, "out of memory for what is aligned");
	return s->items.len || err_set(err, ERR_BAD_REQUEST,
				       "its timeline has neither kernels nor ops, so there is "
				       "nothing to align");
}

static int by_start(const void *x, const void *y)
{
	const struct timeline_event *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->lane != b->lane ? (a->lane > b->lane) - (a->lane < b->lane)
				  : (a->name > b->name) - (a->name < b->name);
}

/* A chunk may begin before the one before it ends. */
static void sort_events(const struct timeline_events *events)
{
	for (size_t i = 1; i < events->list.len; i++)
		if (by_start(&events->list.at[i - 1], &events->list.at[i]) > 0) {
			qsort(events->list.at, events->list.len, sizeof(*events->list.at),
			      by_start);
			return;
		}
}

/* Where a view of these lanes begins: with their first event, of any kind. */
static void find_first(struct align_side *s)
{
	const struct timeline_events *events = s->run->events;
	struct timeline_extent at;

	s->first_ns = INT64_MAX;
	for (size_t i = 0; timeline_extent_at(&events->tables, i, &at); i++)
		if (at.lane < s->n_lanes && s->wanted[at.lane] && at.t0_ns < s->first_ns)
			s->first_ns = at.t0_ns;
	for (size_t i = 0; i < events->list.len; i++)
		if (is_wanted(s, &events->list.at[i])) {
			if (events->list.at[i].start_ns < s->first_ns)
				s->first_ns = events->list.at[i].start_ns;
			break;
		}
}

bool side_read(struct align_side *s, const struct align_run *run, struct name_ids *names,
	       bool asks_host, struct err *err)
{
	const struct timeline_events *events = run->events;

	*s = (struct align_side){ .run = run,
				  .asks_host = asks_host,
				  .n_lanes = json_array_size(events->tables.lanes),
				  .ids = names,
				  .n_keys = json_array_size(events->tables.names) };
	sort_events(events);
	if (!want_lanes(s, err))
		return false;
	find_first(s);
	choose_device(s);
	return read_items(s, err);
}

void side_finish(struct align_side *s)
{
	free(s->wanted);
	free(s->keys);
	VEC_FREE(&s->items);
	VEC_FREE(&s->idle);
	VEC_FREE(&s->units);
}
