/* profiler/timeline_view.c -- a window of a timeline, in as many rows as a screen has.
 *
 * Where a window has few events each is a row.  Else a row stands for those that
 * begin in one pixel of one lane, and is the longest of them: what is long enough
 * to be seen is never lost.  Of a counter's samples it is the largest.
 */
#include "profiler/timeline_view.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/idle.h"

enum { MAX_ROWS = 6000, MAX_BUCKETS = 1 << 18, MAX_TOTALS = 200, MIN_PX = 16, MAX_PX = 8192 };

static bool out_of_memory(struct err *err)
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
	out_of_memory(err);
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

/* A row of buckets for each lane, and one for the gaps of each device. */
static size_t bucket_rows(const struct timeline_view *v)
{
	return v->n_wanted + (size_t)v->n_devices;
}

static void choose_px(struct timeline_view *v)
{
	v->px = (int)clamp(v->query.px, MIN_PX, MAX_PX);
	while (v->px > MIN_PX && bucket_rows(v) * (size_t)v->px > MAX_BUCKETS)
		v->px /= 2;
}

static void add_idle(void *self, const struct idle_part *p);

/* A name for each cause, behind those of the tables. */
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

/* Once all tables are there. */
static bool get_ready(struct timeline_view *v, struct err *err)
{
	size_t n_totals;

	if (v->ready)
		return true;
	if (!add_causes(v))
		return out_of_memory(err);
	v->n_lanes = json_array_size(v->tables.lanes);
	v->n_names = json_array_size(v->tables.names);
	v->lanes = calloc(v->n_lanes + 1, sizeof(*v->lanes));
	n_totals = (v->n_names + 1) * TIMELINE_KIND_COUNT;
	v->totals = calloc(n_totals, sizeof(*v->totals));
	if (!v->lanes || !v->totals)
		return out_of_memory(err);
	for (size_t i = 0; i < v->n_lanes; i++)
		if (lane_wanted(&v->query, json_array_get(v->tables.lanes, i))) {
			v->lanes[i].wanted = true;
			v->lanes[i].row = (int)v->n_wanted++;
		}
	find_extent(v);
	find_window(v);
	v->find = find_create(&v->query, &v->tables, v->begin_ns);
	if (!v->find || !watch_idle(v))
		return out_of_memory(err);
	choose_px(v);
	v->rows = calloc(MAX_ROWS, sizeof(*v->rows));
	v->buckets = calloc(bucket_rows(v) * (size_t)v->px + 1, sizeof(*v->buckets));
	if (!v->rows || !v->buckets)
		return out_of_memory(err);
	v->ready = true;
	return true;
}

bool timeline_view_range(struct timeline_view *v, int64_t *t0_ns, int64_t *t1_ns, struct err *err)
{
	if (!get_ready(v, err))
		return false;
	*t0_ns = v->t0_ns;
	*t1_ns = v->t1_ns;
	return true;
}

static void add_to_lane(struct timeline_view *v, const struct timeline_event *e, int64_t from,
			int64_t end)
{
	struct view_lane *lane = &v->lanes[e->lane];
	int64_t inside = end - from;

	if (lane->events++ == 0 || from > lane->end_ns)
		lane->busy_ns = timeline_add_ns(lane->busy_ns, inside);
	else if (end > lane->end_ns)
		lane->busy_ns = timeline_add_ns(lane->busy_ns, end - lane->end_ns);
	if (lane->events == 1 || end > lane->end_ns)
		lane->end_ns = end;
	lane->sum_ns = timeline_add_ns(lane->sum_ns, inside);
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
	if (v->shown++ < MAX_ROWS)
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

bool timeline_view_chunk(struct timeline_view *v, const void *block, size_t len, struct err *err)
{
	const struct timeline_chunk *c = &v->chunk;
	struct timeline_block b;

	if (!get_ready(v, err) || !timeline_block_read(block, len, &b, err) ||
	    !timeline_chunk_read(&v->chunk, &b, err))
		return false;
	for (int i = 0; i < c->n; i++) {
		struct timeline_event e = timeline_chunk_event(c, i);

		if (e.lane >= v->n_lanes || !v->lanes[e.lane].wanted || e.start_ns > v->t1_ns ||
		    e.start_ns + e.duration_ns < v->t0_ns)
			continue;
		add_event(v, &e);
	}
	return v->query.seek.wanted || idle_chunk(v->idle, c) || out_of_memory(err);
}

/* ---- the answer ---- */

bool timeline_view_is_sampled(const struct timeline_view *v)
{
	return v->shown > MAX_ROWS;
}

/* The rows are the events, or the buckets that hold any. */
static bool choose_rows(struct timeline_view *v, struct view_bucket **rows, size_t *n,
			struct err *err)
{
	bool all = !timeline_view_is_sampled(v);
	size_t n_buckets = bucket_rows(v) * (size_t)v->px;

	*n = 0;
	*rows = calloc((all ? (size_t)v->n_rows : n_buckets) + 1, sizeof(**rows));
	if (!*rows)
		return out_of_memory(err);
	for (int i = 0; all && i < v->n_rows; i++)
		(*rows)[(*n)++] = (struct view_bucket){ v->rows[i], 1, false };
	for (size_t i = 0; !all && i < n_buckets; i++)
		if (v->buckets[i].events)
			(*rows)[(*n)++] = v->buckets[i];
	return true;
}

static int compare_totals(const void *a, const void *b)
{
	const struct view_total *x = *(struct view_total *const *)a;
	const struct view_total *y = *(struct view_total *const *)b;

	return (x->sum_ns < y->sum_ns) - (x->sum_ns > y->sum_ns);
}

/* [name, kind, events, sum, longest], dearest first; what is past the bound is
 * one row of the name 0. */
static json_t *totals_json(struct timeline_view *v)
{
	size_t n = 0, most = v->n_names * TIMELINE_KIND_COUNT;
	struct view_total **order = calloc(most + 1, sizeof(struct view_total *));
	struct view_total rest = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; order && i < most; i++)
		if (v->totals[i].events)
			order[n++] = &v->totals[i];
	if (order)
		qsort(order, n, sizeof(*order), compare_totals);
	for (size_t i = 0; i < n; i++) {
		struct view_total *t = order[i];

		if (i >= MAX_TOTALS) {
			rest.events += t->events;
			rest.sum_ns = timeline_add_ns(rest.sum_ns, t->sum_ns);
			rest.most_ns = t->most_ns > rest.most_ns ? t->most_ns : rest.most_ns;
			rest.kind = t->kind;
			continue;
		}
		t->shown = true;
		json_array_append_new(
		    list, json_pack("[I, i, I, I, I]",
				    (json_int_t)((size_t)(t - v->totals) / TIMELINE_KIND_COUNT),
				    (int)t->kind, (json_int_t)t->events, (json_int_t)t->sum_ns,
				    (json_int_t)t->most_ns));
	}
	if (rest.events)
		json_array_append_new(
		    list, json_pack("[i, i, I, I, I]", 0, (int)rest.kind, (json_int_t)rest.events,
				    (json_int_t)rest.sum_ns, (json_int_t)rest.most_ns));
	free(order);
	return list;
}

static json_t *lanes_json(const struct timeline_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_lanes; i++) {
		const struct view_lane *l = &v->lanes[i];
		json_t *row;

		if (!l->wanted)
			continue;
		row = json_copy(json_array_get(v->tables.lanes, i));
		json_object_set_new(row, "id", json_integer((json_int_t)i));
		json_object_set_new(row, "events", json_integer(l->events));
		json_object_set_new(row, "sum_ns", json_integer(l->sum_ns));
		json_object_set_new(row, "busy_ns", json_integer(l->busy_ns));
		json_object_set_new(row, "found", json_integer(v->find->lanes[i].events));
		json_array_append_new(list, row);
	}
	return list;
}

/* Rows of a table that the answer refers to, by their number. */
static void pick(json_t *out, const json_t *table, size_t at, size_t key)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", key);
	if (at < json_array_size(table))
		json_object_set(out, text, json_array_get(table, at));
}

static json_t *kinds_json(void)
{
	json_t *list = json_array();

	for (int kind = 0; kind < TIMELINE_KIND_COUNT; kind++)
		json_array_append_new(list, json_string(timeline_kind_name(kind)));
	return list;
}

/* Whose gaps are among the rows; events that came too late for them; and what of them watching
 * made, about: 0 where that is unknown. */
static json_t *idle_json(const struct timeline_view *v)
{
	int left_out, devices = idle_devices(v->idle, &left_out);

	const json_t *facts = v->tables.facts;
	double clock_ns = json_number_value(json_object_get(facts, "clock_ns")),
	       tell_ns = json_number_value(json_object_get(facts, "tell_ns"));

	return json_pack("{s:i, s:i, s:I, s:f}", "devices", devices, "left_out", left_out, "late",
			 (json_int_t)v->late, "watching_ns",
			 (double)v->readings * clock_ns + (double)v->reports * tell_ns);
}

/* How many of the window's events are looked for, and which of the names that the answer has; null
 * where nothing is. */
static json_t *found_json(const struct timeline_view *v)
{
	const struct find *f = v->find;
	json_t *names;

	if (!v->query.find)
		return json_null();
	names = json_array();
	for (size_t i = 0; i < v->n_names * TIMELINE_KIND_COUNT; i++)
		if (v->totals[i].shown && f->names[i / TIMELINE_KIND_COUNT])
			json_array_append_new(names,
					      json_integer((json_int_t)(i / TIMELINE_KIND_COUNT)));
	return json_pack("{s:I, s:I, s:I, s:o}", "events", (json_int_t)f->events, "sum_ns",
			 (json_int_t)f->sum_ns, "busy_ns", (json_int_t)f->busy_ns, "names", names);
}

static json_t *head_json(struct timeline_view *v, const struct view_bucket *rows, size_t n)
{
	json_t *totals = totals_json(v), *names = json_object(), *shapes = json_object();

	for (size_t i = 0; i < n; i++) {
		const struct timeline_event *e = &rows[i].event;

		v->totals[(size_t)e->name * TIMELINE_KIND_COUNT + e->kind].shown = true;
		if (e->shape)
			pick(shapes, v->tables.shapes, e->shape - 1, e->shape);
	}
	for (size_t i = 0; i < v->n_names * TIMELINE_KIND_COUNT; i++)
		if (v->totals[i].shown)
			pick(names, v->tables.names, i / TIMELINE_KIND_COUNT,
			     i / TIMELINE_KIND_COUNT);
	pick(names, v->tables.names, 0, 0);
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O?}", "span_ns",
	    (json_int_t)(v->end_ns - v->begin_ns), "t0_ns", (json_int_t)(v->t0_ns - v->begin_ns),
	    "t1_ns", (json_int_t)(v->t1_ns - v->begin_ns), "events", (json_int_t)v->events,
	    "sampled", timeline_view_is_sampled(v), "rows", (json_int_t)n, "lanes", lanes_json(v),
	    "names", names, "shapes", shapes, "totals", totals, "kinds", kinds_json(), "idle",
	    idle_json(v), "found", found_json(v), "facts", v->tables.facts);
}

/* An event by itself, with what its name stands for. */
static json_t *event_json(const struct timeline_view *v, const struct timeline_event *e)
{
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:O?}", "start_ns",
	    (json_int_t)(e->start_ns - v->begin_ns), "duration_ns", (json_int_t)e->duration_ns,
	    "bytes", (json_int_t)e->bytes, "lane", (json_int_t)e->lane, "kind",
	    timeline_kind_name((enum timeline_kind)e->kind), "name", (json_int_t)e->name, "shape",
	    (json_int_t)e->shape, "correlation", (json_int_t)e->correlation, "info",
	    json_array_get(v->tables.names, e->name));
}

json_t *timeline_view_found(struct timeline_view *v, struct err *err)
{
	json_t *joined = json_array(), *out;
	const struct find *f;

	if (!get_ready(v, err)) {
		json_decref(joined);
		return NULL;
	}
	f = v->find;
	for (size_t i = 0; i < f->joined.len; i++)
		json_array_append_new(joined, event_json(v, &f->joined.at[i]));
	out = json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "events", (json_int_t)f->events, "sum_ns",
			(json_int_t)f->sum_ns, "busy_ns", (json_int_t)f->busy_ns, "index",
			(json_int_t)(f->before + !v->query.seek.back), "event",
			f->has_next ? event_json(v, &f->next) : json_null(), "joined", joined);
	if (!out)
		out_of_memory(err);
	return out;
}

static void pad(struct buf *out, char with)
{
	while (out->len % 8 && !out->failed)
		buf_putc(out, with);
}

/* "BETV", the head's length, the head; `columns` goes into it. */
static bool add_head(struct timeline_view *v, const struct view_bucket *rows, size_t n,
		     json_t *columns, struct buf *out)
{
	json_t *head = head_json(v, rows, n);
	char *text;
	uint32_t len;

	if (!head)
		return false;
	json_object_set(head, "columns", columns);
	text = json_dumps(head, JSON_COMPACT);
	json_decref(head);
	if (!text)
		return false;
	buf_add(out, "BETV\0\0\0\0", 8);
	buf_puts(out, text);
	free(text);
	pad(out, ' ');
	if (out->failed)
		return false;
	len = (uint32_t)(out->len - 8);
	memcpy(out->data + 4, &len, sizeof(len));
	return true;
}

bool timeline_view_columns(struct timeline_view *v, struct buf *out, struct err *err)
{
	struct view_bucket *rows;
	json_t *columns;
	size_t n;
	bool ok;

	buf_clear(out);
	if (!get_ready(v, err))
		return false;
	v->late = idle_finish(v->idle);
	if (!choose_rows(v, &rows, &n, err))
		return false;
	columns = json_pack(
	    "[[s, s], [s, s], [s, s], [s, s], [s, s], [s, s], [s, s], [s, s], [s, s]]", "start_ns",
	    "f64", "duration_ns", "f64", "bytes", "f64", "lane", "u32", "kind", "u32", "name",
	    "u32", "shape", "u32", "correlation", "u32", "events", "u32");
	ok = columns && add_head(v, rows, n, columns, out);
	json_decref(columns);
#define ADD(type, value)                                                                           \
	for (size_t i = 0; i < n; i++) {                                                           \
		type x = (type)(value);                                                            \
		buf_add(out, &x, sizeof(x));                                                       \
	}                                                                                          \
	pad(out, '\0');
	if (ok) {
		ADD(double, rows[i].event.start_ns - v->begin_ns)
		ADD(double, rows[i].event.duration_ns)
		ADD(double, rows[i].event.bytes)
		ADD(uint32_t, rows[i].event.lane)
		ADD(uint32_t, rows[i].event.kind)
		ADD(uint32_t, rows[i].event.name)
		ADD(uint32_t, rows[i].event.shape)
		ADD(uint32_t, rows[i].event.correlation)
		ADD(uint32_t, rows[i].events)
	}
#undef ADD
	free(rows);
	return (ok && !out->failed) || out_of_memory(err);
}
