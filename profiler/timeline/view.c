/* profiler/timeline/view.c -- a window of a timeline, in as many rows as a screen has.
 *
 * Where a window has few events each is a row.  Else a row represents those that
 * begin in one pixel of one lane, and is the longest of them: what is long enough
 * to be seen is never lost.  Of a counter's samples it is the largest.
 */
#include "profiler/timeline/view.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/idle.h"

enum { MAX_BUCKETS = 1 << 18, MIN_PX = 16, MAX_PX = 8192 };

bool view_out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a window of the timeline");
}

struct timeline_view *timeline_view_create(const struct timeline_query *q, struct err *err)
{
	struct timeline_view *v = calloc(1, sizeof(*v));

	if (v && timeline_chunk_create(&v->chunk, err)) {
		v->query = *q;
		return v;
	}
	timeline_view_destroy(v);
	view_out_of_memory(err);
	return NULL;
}

void timeline_view_destroy(struct timeline_view *v)
{
	if (!v)
		return;
	timeline_tables_finish(&v->tables);
	timeline_chunk_destroy(&v->chunk);
	idle_destroy(v->idle);
	find_destroy(v->find);
	for (size_t i = 0; v->lanes && i < v->n_lanes; i++)
		overlap_finish(&v->lanes[i].busy);
	free(v->lanes);
	free(v->totals);
	free(v->rows);
	free(v->buckets);
	free(v);
}

bool timeline_view_tables(struct timeline_view *v, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(block, len, &b, err) &&
	       timeline_tables_read(&v->tables, &b, err);
}

static bool lane_wanted(const struct timeline_query *q, const json_t *lane)
{
	const char *mode = json_string_value(json_object_get(lane, "mode"));
	const json_t *n = json_object_get(lane, "n");

	if (q->mode && (!mode || strcmp(mode, q->mode) != 0))
		return false;
	return !q->has_n || (json_is_integer(n) && json_integer_value(n) == q->n);
}

/* What the wanted lanes reach over, as the facts have it. */
static void find_extent(struct timeline_view *v)
{
	const json_t *extents = json_object_get(v->tables.facts, "extents"), *row;
	bool any = false;
	size_t i;

	json_array_foreach(extents, i, row)
	{
		size_t lane = (size_t)json_integer_value(json_array_get(row, 0));
		int64_t t0 = json_integer_value(json_array_get(row, 1));
		int64_t t1 = json_integer_value(json_array_get(row, 2));

		if (lane >= v->n_lanes || !v->lanes[lane].wanted)
			continue;
		v->begin_ns = !any || t0 < v->begin_ns ? t0 : v->begin_ns;
		v->end_ns = !any || t1 > v->end_ns ? t1 : v->end_ns;
		any = true;
	}
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void find_window(struct timeline_view *v)
{
	const struct timeline_query *q = &v->query;
	int64_t span = v->end_ns - v->begin_ns;
	int64_t t0 = clamp(q->t0_ns, 0, span);
	int64_t t1 = q->t1_ns < 0 ? span : clamp(q->t1_ns, t0, span);

	v->t0_ns = v->begin_ns + t0;
	v->t1_ns = v->begin_ns + t1;
}

size_t view_bucket_rows(const struct timeline_view *v)
{
	return v->n_wanted + (size_t)v->n_devices;
}

static void choose_px(struct timeline_view *v)
{
	v->px = (int)clamp(v->query.px, MIN_PX, MAX_PX);
	while (v->px > MIN_PX && view_bucket_rows(v) * (size_t)v->px > MAX_BUCKETS)
		v->px /= 2;
}

static void add_idle(void *self, const struct idle_part *p);

/* A name for each cause, after those of the tables. */
static bool add_causes(struct timeline_view *v)
{
	bool ok = v->tables.names || (v->tables.names = json_array());

	v->idle_names = (uint32_t)json_array_size(v->tables.names);
	for (int i = 0; ok && i < IDLE_CAUSE_COUNT; i++)
		ok = json_array_append_new(v->tables.names,
					   json_pack("{s:s, s:s}", "name",
						     idle_cause_label((enum idle_cause)i), "idle",
						     idle_cause_name((enum idle_cause)i))) == 0;
	return ok;
}

/* Once the window is known. */
static bool watch_idle(struct timeline_view *v)
{
	bool *wanted = calloc(v->n_lanes + 1, sizeof(*wanted));
	int left_out;

	for (size_t i = 0; wanted && i < v->n_lanes; i++)
		wanted[i] = v->lanes[i].wanted;
	if (wanted)
		v->idle = idle_create(&v->tables, wanted, v->t0_ns, v->t1_ns, add_idle, v);
	free(wanted);
	if (v->idle)
		v->n_devices = idle_devices(v->idle, &left_out);
	return v->idle != NULL;
}

bool view_ready(struct timeline_view *v, struct err *err)
{
	size_t n_totals;

	if (v->ready)
		return true;
	if (!add_causes(v))
		return view_out_of_memory(err);
	v->n_lanes = json_array_size(v->tables.lanes);
	v->n_names = json_array_size(v->tables.names);
	v->lanes = calloc(v->n_lanes + 1, sizeof(*v->lanes));
	n_totals = (v->n_names + 1) * TIMELINE_KIND_COUNT;
	v->totals = calloc(n_totals, sizeof(*v->totals));
	if (!v->lanes || !v->totals)
		return view_out_of_memory(err);
	for (size_t i = 0; i < v->n_lanes; i++)
		if (lane_wanted(&v->query, json_array_get(v->tables.lanes, i))) {
			v->lanes[i].wanted = true;
			v->lanes[i].row = (int)v->n_wanted++;
		}
	find_extent(v);
	find_window(v);
	v->find = find_create(&v->query, &v->tables, v->begin_ns);
	if (!v->find || !watch_idle(v))
		return view_out_of_memory(err);
	choose_px(v);
	v->rows = calloc(VIEW_MAX_ROWS, sizeof(*v->rows));
	v->buckets = calloc(view_bucket_rows(v) * (size_t)v->px + 1, sizeof(*v->buckets));
	if (!v->rows || !v->buckets)
		return view_out_of_memory(err);
	v->ready = true;
	return true;
}

bool timeline_view_range(struct timeline_view *v, int64_t *t0_ns, int64_t *t1_ns, struct err *err)
{
	if (!view_ready(v, err))
		return false;
	*t0_ns = v->t0_ns;
	*t1_ns = v->t1_ns;
	return true;
}

static void add_to_lane(struct timeline_view *v, const struct timeline_event *e, int64_t from,
			int64_t end)
{
	struct view_lane *lane = &v->lanes[e->lane];

	lane->events++;
	lane->sum_ns = timeline_add_ns(lane->sum_ns, end - from);
	if (!overlap_add(&lane->busy, &v->room, from, end))
		lane->busy.at_least = true; /* out of memory */
}

static void add_to_bucket(struct timeline_view *v, const struct timeline_event *e, size_t row,
			  bool found)
{
	int64_t from = clamp(e->start_ns, v->t0_ns, v->t1_ns) - v->t0_ns;
	int64_t span = v->t1_ns - v->t0_ns;
	int at = span > 0 ? (int)((double)from / (double)span * v->px) : 0;
	struct view_bucket *b;

	at = at < v->px ? at : v->px - 1;
	b = &v->buckets[row * (size_t)v->px + (size_t)at];
	if (b->events++ == 0 || found > b->found ||
	    (found == b->found &&
	     (e->kind == TIMELINE_COUNTER ? e->bytes > b->event.bytes
					  : e->duration_ns > b->event.duration_ns))) {
		b->event = *e;
		b->found = found;
	}
}

static void add_to_total(struct timeline_view *v, const struct timeline_event *e, int64_t inside)
{
	struct view_total *t = &v->totals[(size_t)e->name * TIMELINE_KIND_COUNT + e->kind];

	t->kind = e->kind;
	t->events++;
	t->sum_ns = timeline_add_ns(t->sum_ns, inside);
	t->most_ns = e->duration_ns > t->most_ns ? e->duration_ns : t->most_ns;
}

/* What took time, into its totals; a counter's value only holds. */
static void add_to_totals(struct timeline_view *v, const struct timeline_event *e, int64_t from,
			  int64_t end)
{
	if (e->kind == TIMELINE_COUNTER || e->kind == TIMELINE_FLOW) {
		v->lanes[e->lane].events++;
		return;
	}
	add_to_total(v, e, end - from);
	add_to_lane(v, e, from, end);
}

static void add_row(struct timeline_view *v, const struct timeline_event *e, size_t row, bool found)
{
	if (v->shown++ < VIEW_MAX_ROWS)
		v->rows[v->n_rows++] = *e;
	add_to_bucket(v, e, row, found);
}

/* Readings of the clock and reports that an event of our own recording took. */
static void note_watching(struct timeline_view *v, const struct timeline_event *e)
{
	bool shares = e->kind == TIMELINE_LAUNCH || e->kind == TIMELINE_KERNEL ||
		      e->kind == TIMELINE_LIBRARY || e->kind == TIMELINE_EAGER ||
		      e->kind == TIMELINE_COUNTER;

	v->readings += shares ? 1 : 2;
	v->reports++;
}

static void add_event(struct timeline_view *v, struct timeline_event *e)
{
	int64_t from = clamp(e->start_ns, v->t0_ns, v->t1_ns);
	int64_t end = clamp(e->start_ns + e->duration_ns, v->t0_ns, v->t1_ns);
	bool found;

	if (e->name >= v->n_names)
		e->name = 0;
	found = find_event(v->find, e, from, end);
	v->events++;
	if (v->query.seek.wanted)
		return;
	add_to_totals(v, e, from, end);
	note_watching(v, e);
	add_row(v, e, (size_t)v->lanes[e->lane].row, found);
}

static void add_idle(void *self, const struct idle_part *p)
{
	struct timeline_view *v = self;
	struct timeline_event e = { .start_ns = p->from_ns,
				    .duration_ns = p->to_ns - p->from_ns,
				    .lane = p->lane,
				    .kind = TIMELINE_IDLE,
				    .name = p->name && p->name < v->n_names
						? p->name
						: v->idle_names + (uint32_t)p->cause };

	add_to_total(v, &e, e.duration_ns);
	add_row(v, &e, v->n_wanted + (size_t)p->device, false);
}

bool timeline_view_wants_more(struct timeline_view *v)
{
	return !v->query.seek.wanted || !v->ready || find_goes_on(v->find);
}

bool timeline_view_chunk(struct timeline_view *v, const void *block, size_t len, struct err *err)
{
	const struct timeline_chunk *c = &v->chunk;
	struct timeline_block b;

	if (!view_ready(v, err) || !timeline_block_read(block, len, &b, err) ||
	    !timeline_chunk_read(&v->chunk, &b, err))
		return false;
	find_goes_on(v->find);
	for (int i = 0; i < c->n; i++) {
		struct timeline_event e = timeline_chunk_event(c, i);

		if (e.lane >= v->n_lanes || !v->lanes[e.lane].wanted || e.start_ns > v->t1_ns ||
		    e.start_ns + e.duration_ns < v->t0_ns)
			continue;
		add_event(v, &e);
	}
	return v->query.seek.wanted || idle_chunk(v->idle, c) || view_out_of_memory(err);
}
