/* profiler/timeline/view.c -- a window of a timeline, in as many rows as a screen has.
 *
 * Where a window has few events each is a row.  Else a row represents those that
 * begin in one pixel of one lane, and is the longest of them: what is long enough
 * to be seen is never lost.  Of a counter's samples it is the largest.
 */
#include "profiler/timeline/opens.h"
#include "profiler/timeline/overlap.h"
#include "profiler/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "profiler/timeline/answer.h"
#include "profiler/timeline/idle.h"
#include "profiler/timeline/window.h"

enum { FIND_MOST_JOINED = 64 };

struct find_lane {
	int64_t events;      /* of what was found in it */
	struct overlap busy; /* likewise */
	bool joined;         /* of the process that is asked about */
};

struct find {
	const struct timeline_query *query; /* borrowed, as the tables are */
	int64_t begin_ns;                   /* from which the query's times count */
	uint8_t *names;                     /* whether each is looked for */
	size_t n_names, n_lanes;
	struct find_lane *lanes;
	int64_t events, sum_ns;
	struct overlap_room room;
	int64_t looked; /* at so many events */
	bool cut;       /* the time was up before all were looked at */
	int64_t before; /* of the order, up to where it goes on from */
	bool has_next;
	struct timeline_event next;
	VEC(struct timeline_event) joined;
};

struct view_lane {
	int row; /* among those that have rows; -1: not asked for */
	int64_t events, sum_ns;
	struct overlap busy;
};

struct view_total {
	int64_t events, sum_ns, most_ns;
	uint32_t kind;
	bool shown; /* some row has its name */
};

struct timeline_view {
	struct timeline_query query;
	struct timeline_tables tables;
	struct timeline_chunk chunk;
	bool ready; /* what follows is filled in */
	struct window w;
	struct view_lane *lanes;
	struct overlap_room room; /* of the lanes */
	size_t n_lanes, n_with_rows;
	struct view_total *totals; /* by name and kind; grows with the names */
	size_t n_names;
	struct timeline_event *rows; /* as long as there are few */
	int n_rows;
	struct answer_bucket *buckets; /* view_bucket_rows() times px */
	int px;
	int64_t events; /* in the window */
	int64_t shown;  /* that want a row: of events and of gaps */
	struct find *find;
	struct idle *idle;
	uint32_t idle_names; /* the first of the causes' names */
	int n_devices;
	int64_t readings, reports; /* of the events in the window */
	int64_t late;              /* events that came too late for gaps */
	struct opens *opens;
};

static void find_destroy(struct find *f);
static bool find_busy_ns(struct find *f, int64_t *ns, bool *at_least);
static bool view_out_of_memory(struct err *err);
static size_t view_bucket_rows(const struct timeline_view *v);
static bool view_ready(struct timeline_view *v, struct err *err);

/* ---- a window that is filled, as an answer: its head and its columns;
 * and what was found in it.
 */

enum { MAX_TOTALS = 200 };

bool timeline_view_is_sampled(const struct timeline_view *v)
{
	return v->shown > ANSWER_MAX_ROWS;
}

bool timeline_view_has_clocks(const struct timeline_view *v)
{
	return v->tables.n_clocks > 0;
}

/* The rows are the events, or the buckets that hold any, in order of their starts. */
static bool choose_rows(struct timeline_view *v, struct answer_bucket **rows, size_t *n,
			struct err *err)
{
	bool all = !timeline_view_is_sampled(v);
	size_t n_buckets = view_bucket_rows(v) * (size_t)v->px;

	*n = 0;
	*rows = calloc((all ? (size_t)v->n_rows : n_buckets) + 1, sizeof(**rows));
	if (!*rows)
		return view_out_of_memory(err);
	for (int i = 0; all && i < v->n_rows; i++)
		(*rows)[(*n)++] = (struct answer_bucket){ v->rows[i], 1, false };
	for (size_t i = 0; !all && i < n_buckets; i++)
		if (v->buckets[i].events)
			(*rows)[(*n)++] = v->buckets[i];
	answer_sort(*rows, *n);
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
			rest.sum_ns = timeline_add(rest.sum_ns, t->sum_ns);
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

static json_t *lanes_json(struct timeline_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_lanes; i++) {
		struct timeline_clock clock = timeline_clock_at(&v->tables, i);
		struct view_lane *l = &v->lanes[i];
		int64_t busy = 0;
		json_t *row;

		if (!v->w.wanted[i])
			continue;
		row = json_copy(json_array_get(v->tables.lanes, i));
		json_object_set_new(row, "id", json_integer((json_int_t)i));
		json_object_set_new(row, "events", json_integer(l->events));
		json_object_set_new(row, "sum_ns", json_integer(l->sum_ns));
		if (!overlap_ns(&l->busy, &v->room, &busy))
			l->busy.at_least = true;
		json_object_set_new(row, "busy_ns", json_integer(busy));
		json_object_set_new(row, "busy_at_least", json_boolean(l->busy.at_least));
		json_object_set_new(row, "has_rows", json_boolean(l->row >= 0));
		json_object_set_new(row, "found", json_integer(v->find->lanes[i].events));
		if (clock.known) {
			json_object_set_new(row, "ahead_ns", json_integer(clock.ahead_ns));
			json_object_set_new(row, "ahead_error_ns", json_integer(clock.error_ns));
		}
		json_object_set_new(
		    row, "ranges_are",
		    json_string(timeline_drawn_as(TIMELINE_RANGE, NULL,
						  timeline_lane_at(&v->tables, i).name)));
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

/* {number of a name: what its events are drawn as}, of those whose kind does not say it. */
static json_t *drawn_json(const struct timeline_view *v)
{
	json_t *out = json_object();

	for (size_t i = 0; i < v->n_names * TIMELINE_KIND_COUNT; i++) {
		enum timeline_kind kind = (enum timeline_kind)(i % TIMELINE_KIND_COUNT);
		size_t name = i / TIMELINE_KIND_COUNT;
		const char *as;
		char key[24];

		if (!v->totals[i].shown)
			continue;
		as = timeline_drawn_as(kind, timeline_name_at(&v->tables, name).name, NULL);
		snprintf(key, sizeof(key), "%zu", name);
		if (as != timeline_kind_name(kind))
			json_object_set_new(out, key, json_string(as));
	}
	return out;
}

/* Whose gaps are among the rows; events that came too late for them; and what of them watching
 * made, about: 0 where that is unknown. */
static json_t *idle_json(const struct timeline_view *v)
{
	int left_out, devices = idle_devices(v->idle, &left_out);

	struct timeline_watching cost = timeline_watching(&v->tables);

	return json_pack("{s:i, s:i, s:I, s:f}", "devices", devices, "left_out", left_out, "late",
			 (json_int_t)v->late, "watching_ns",
			 (double)v->readings * cost.clock_ns + (double)v->reports * cost.tell_ns);
}

/* How many were found and how long they took; where the time was up, what was looked at. */
static json_t *figures_json(struct find *f)
{
	int64_t busy = 0;
	bool at_least = false;

	if (!find_busy_ns(f, &busy, &at_least))
		at_least = true;
	return json_pack("{s:I, s:I, s:I, s:b, s:I, s:s?}", "events", (json_int_t)f->events,
			 "sum_ns", (json_int_t)f->sum_ns, "busy_ns", (json_int_t)busy,
			 "busy_at_least", (int)at_least, "looked_at", (json_int_t)f->looked, "cut",
			 f->cut ? "the search was stopped, its time was up; name a mode= and a "
				  "point n=, or a shorter window t0= and t1="
				: NULL);
}

/* How many of the window's events are looked for, and which of the names that the answer has; null
 * where nothing is. */
static json_t *found_json(struct timeline_view *v)
{
	json_t *names, *found;

	if (!v->query.find)
		return json_null();
	names = json_array();
	for (size_t i = 0; i < v->n_names * TIMELINE_KIND_COUNT; i++)
		if (v->totals[i].shown && v->find->names[i / TIMELINE_KIND_COUNT])
			json_array_append_new(names,
					      json_integer((json_int_t)(i / TIMELINE_KIND_COUNT)));
	found = figures_json(v->find);
	json_object_set_new(found, "names", names);
	return found;
}

static json_t *head_json(struct timeline_view *v, const struct answer_bucket *rows, size_t n)
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
	    "{s:I, s:I, s:I, s:I, s:b, s:i, s:I, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, "
	    "s:o, s:o, s:o, s:O?}",
	    "span_ns", (json_int_t)(v->w.end_ns - v->w.begin_ns), "t0_ns",
	    (json_int_t)(v->w.t0_ns - v->w.begin_ns), "t1_ns",
	    (json_int_t)(v->w.t1_ns - v->w.begin_ns), "events", (json_int_t)v->events, "sampled",
	    timeline_view_is_sampled(v), "px", v->px, "rows", (json_int_t)n, "clocks",
	    !v->tables.n_clocks     ? NULL
	    : v->tables.as_recorded ? "recorded"
				    : "aligned",
	    "lanes", lanes_json(v), "names", names, "drawn", drawn_json(v), "shapes", shapes,
	    "totals", totals, "kinds", kinds_json(), "idle", idle_json(v), "found", found_json(v),
	    "opens", opens_json(v->opens, v->w.begin_ns, timeline_view_is_sampled(v)), "facts",
	    v->tables.facts);
}

/* An event by itself, with what its name means. */
static json_t *event_json(const struct timeline_view *v, const struct timeline_event *e)
{
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:O?}", "start_ns",
	    (json_int_t)(e->start_ns - v->w.begin_ns), "duration_ns", (json_int_t)e->duration_ns,
	    "bytes", (json_int_t)e->bytes, "lane", (json_int_t)e->lane, "kind",
	    timeline_kind_name((enum timeline_kind)e->kind), "name", (json_int_t)e->name, "shape",
	    (json_int_t)e->shape, "correlation", (json_int_t)e->correlation, "info",
	    json_array_get(v->tables.names, e->name));
}

json_t *timeline_view_found(struct timeline_view *v, struct err *err)
{
	json_t *joined = json_array(), *out;
	struct find *f;

	if (!view_ready(v, err)) {
		json_decref(joined);
		return NULL;
	}
	f = v->find;
	for (size_t i = 0; i < f->joined.len; i++)
		json_array_append_new(joined, event_json(v, &f->joined.at[i]));
	out = figures_json(f);
	json_object_set_new(out, "index", json_integer(f->before + !v->query.seek.back));
	json_object_set_new(out, "event", f->has_next ? event_json(v, &f->next) : json_null());
	json_object_set_new(out, "joined", joined);
	if (!out)
		view_out_of_memory(err);
	return out;
}

bool timeline_view_columns(struct timeline_view *v, struct buf *out, struct err *err)
{
	struct answer_bucket *rows;
	size_t n;
	bool ok;

	buf_clear(out);
	if (!view_ready(v, err))
		return false;
	v->late = idle_finish(v->idle);
	if (!choose_rows(v, &rows, &n, err))
		return false;
	ok = answer_write(head_json(v, rows, n), rows, n, v->w.begin_ns, out);
	free(rows);
	return ok || view_out_of_memory(err);
}

/* ---- events looked for by their names, or by a launch's number. ---- */

static bool text_has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

/* By its name, the symbol that it ran, or one of the ops that it is made of. */
static bool name_has(const struct timeline_name *name, const char *part)
{
	const json_t *op;
	size_t i;

	if (text_has(name->name, part) || text_has(name->symbol, part))
		return true;
	json_array_foreach(name->ops, i, op)
	{
		if (text_has(json_string_value(op), part))
			return true;
	}
	return false;
}

/* NULL: out of memory. */
static struct find *find_create(const struct timeline_query *q,
				const struct timeline_tables *tables, int64_t begin_ns)
{
	struct find *f = calloc(1, sizeof(*f));
	struct timeline_lane asker, lane;

	if (!f)
		return NULL;
	f->query = q;
	f->begin_ns = begin_ns;
	f->n_names = json_array_size(tables->names);
	f->n_lanes = json_array_size(tables->lanes);
	f->names = calloc(f->n_names + 1, 1);
	f->lanes = calloc(f->n_lanes + 1, sizeof(*f->lanes));
	if (!f->names || !f->lanes) {
		find_destroy(f);
		return NULL;
	}
	for (size_t i = 0; q->find && i < f->n_names; i++) {
		struct timeline_name name = timeline_name_at(tables, i);

		f->names[i] = name_has(&name, q->find);
	}
	asker = timeline_lane_at(tables, q->seek.lane < 0 ? 0 : (size_t)q->seek.lane);
	for (size_t i = 0; i < f->n_lanes; i++) {
		lane = timeline_lane_at(tables, i);
		f->lanes[i].joined = timeline_lane_source(&lane) == timeline_lane_source(&asker);
	}
	return f;
}

/* NULL: out of memory. */
static void find_destroy(struct find *f)
{
	if (!f)
		return;
	VEC_FREE(&f->joined);
	for (size_t i = 0; f->lanes && i < f->n_lanes; i++)
		overlap_finish(&f->lanes[i].busy);
	free(f->names);
	free(f->lanes);
	free(f);
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* How an event is ordered to the one that the query goes on from. */
static int compare(const struct find *f, const struct timeline_event *e,
		   const struct timeline_seek *at)
{
	int by = order(e->start_ns - f->begin_ns, at->at_ns);

	by = by ? by : order((int64_t)e->lane, at->lane);
	by = by ? by : order(at->duration_ns, e->duration_ns);
	return by ? by : order((int64_t)e->name, at->name);
}

static struct timeline_seek place_of(const struct find *f, const struct timeline_event *e)
{
	return (struct timeline_seek){ .at_ns = e->start_ns - f->begin_ns,
				       .lane = e->lane,
				       .duration_ns = e->duration_ns,
				       .name = e->name };
}

static void seek(struct find *f, const struct timeline_event *e)
{
	const struct timeline_seek *at = &f->query->seek;
	struct timeline_seek best = place_of(f, &f->next);
	int side = compare(f, e, at);

	f->before += at->back ? side < 0 : side <= 0;
	if (at->back ? side >= 0 : side <= 0)
		return;
	if (f->has_next && (compare(f, e, &best) < 0) == at->back)
		return;
	f->next = *e;
	f->has_next = true;
}

/* Before each chunk: whether there is time for its events (timeline_query.find_until_ns). */
static bool find_goes_on(struct find *f)
{
	const struct timeline_query *q = f->query;
	bool looks = q->find || q->seek.wanted;

	if (looks && q->find_until_ns && !f->cut)
		f->cut = clock_ns() >= q->find_until_ns;
	return !f->cut;
}

static void count(struct find *f, const struct timeline_event *e, int64_t from_ns, int64_t to_ns)
{
	struct find_lane *lane = &f->lanes[e->lane];

	f->sum_ns = timeline_add(f->sum_ns, to_ns - from_ns);
	if (!overlap_add(&lane->busy, &f->room, from_ns, to_ns))
		lane->busy.at_least = true; /* out of memory */
	lane->events++;
	f->events++;
}

/* How long what was found took, a lane's overlaps counted once; *at_least: or longer.  False: out
 * of memory. */
static bool find_busy_ns(struct find *f, int64_t *ns, bool *at_least)
{
	*ns = 0;
	*at_least = f->cut;
	for (size_t i = 0; i < f->n_lanes; i++) {
		int64_t busy;

		if (!overlap_ns(&f->lanes[i].busy, &f->room, &busy))
			return false;
		*ns = timeline_add(*ns, busy);
		*at_least = *at_least || f->lanes[i].busy.at_least;
	}
	return true;
}

/* Whether the event is looked for; [from, to] is what of it lies in the window. */
static bool find_event(struct find *f, const struct timeline_event *e, int64_t from_ns,
		       int64_t to_ns)
{
	uint32_t joined = f->query->seek.correlation;

	if (f->cut)
		return false;
	f->looked++;
	if (e->kind == TIMELINE_COUNTER || e->kind == TIMELINE_FLOW)
		return false;
	if (joined && e->correlation == joined && f->lanes[e->lane].joined &&
	    f->joined.len < FIND_MOST_JOINED)
		VEC_PUSH(&f->joined, *e); /* out of memory: one arrow less */
	if (e->name >= f->n_names || !f->names[e->name])
		return false;
	count(f, e, from_ns, to_ns);
	seek(f, e);
	return true;
}

/* false */
static bool view_out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a window of the timeline");
}

struct timeline_view *timeline_view_create(const struct timeline_query *q, struct err *err)
{
	struct timeline_view *v = calloc(1, sizeof(*v));

	if (v && timeline_chunk_create(&v->chunk, err)) {
		v->query = *q;
		v->tables.as_recorded = q->as_recorded;
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
	opens_destroy(v->opens);
	window_close(&v->w);
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

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void choose_rows_of(struct timeline_view *v)
{
	for (size_t i = 0; i < v->n_lanes; i++) {
		bool has_rows = v->w.wanted[i] && answer_lists_lane(v->query.lanes, i);

		v->lanes[i].row = has_rows ? (int)v->n_with_rows++ : -1;
	}
}

/* A row of buckets for each lane, and one for the gaps of each device. */
static size_t view_bucket_rows(const struct timeline_view *v)
{
	return v->n_with_rows + (size_t)v->n_devices;
}

static void choose_px(struct timeline_view *v)
{
	bool finest = v->query.finest;

	v->px = answer_px(finest ? ANSWER_FINEST_PX : v->query.px, view_bucket_rows(v),
			  finest ? ANSWER_FINEST_BUCKETS : ANSWER_BUCKETS);
}

static void add_idle(void *self, const struct idle_part *p);

/* A name for each cause, after those of the tables. */
static bool add_causes(struct timeline_view *v)
{
	static const struct {
		const char *name, *label;
	} causes[] = {
#define CAUSE(id, name, label) { name, label },
#include "profiler/timeline/idle.def"
#undef CAUSE
	};
	bool ok = v->tables.names || (v->tables.names = json_array());

	v->idle_names = (uint32_t)json_array_size(v->tables.names);
	for (int i = 0; ok && i < IDLE_CAUSE_COUNT; i++)
		ok = json_array_append_new(v->tables.names,
					   json_pack("{s:s, s:s}", "name", causes[i].label, "idle",
						     causes[i].name)) == 0;
	return ok;
}

/* Once the window is known. */
static bool watch_idle(struct timeline_view *v)
{
	int left_out;

	v->idle = idle_create(&v->tables, v->w.wanted, v->w.t0_ns, v->w.t1_ns, add_idle, v);
	if (v->idle)
		v->n_devices = idle_devices(v->idle, &left_out);
	return v->idle != NULL;
}

/* Once all tables are there: window, lanes and buckets. */
static bool view_ready(struct timeline_view *v, struct err *err)
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
	if (!window_open(&v->w, &v->tables, &v->query))
		return view_out_of_memory(err);
	choose_rows_of(v);
	v->find = find_create(&v->query, &v->tables, v->w.begin_ns);
	if (!v->find || !watch_idle(v))
		return view_out_of_memory(err);
	choose_px(v);
	v->rows = calloc(ANSWER_MAX_ROWS, sizeof(*v->rows));
	v->buckets = calloc(view_bucket_rows(v) * (size_t)v->px + 1, sizeof(*v->buckets));
	v->opens = opens_create(v->w.t0_ns, v->w.t1_ns);
	if (!v->rows || !v->buckets || !v->opens)
		return view_out_of_memory(err);
	v->ready = true;
	return true;
}

bool timeline_view_range(struct timeline_view *v, int64_t *t0_ns, int64_t *t1_ns, struct err *err)
{
	if (!view_ready(v, err))
		return false;
	*t0_ns = v->w.t0_ns;
	*t1_ns = v->w.t1_ns;
	timeline_recorded_span(&v->tables, t0_ns, t1_ns);
	return true;
}

bool timeline_view_is_whole(struct timeline_view *v, bool *whole, struct err *err)
{
	if (!view_ready(v, err))
		return false;
	*whole = v->w.t0_ns == v->w.begin_ns && v->w.t1_ns == v->w.end_ns;
	return true;
}

static void add_to_lane(struct timeline_view *v, const struct timeline_event *e, int64_t from,
			int64_t end)
{
	struct view_lane *lane = &v->lanes[e->lane];

	lane->events++;
	lane->sum_ns = timeline_add(lane->sum_ns, end - from);
	if (!overlap_add(&lane->busy, &v->room, from, end))
		lane->busy.at_least = true; /* out of memory */
}

static void add_to_bucket(struct timeline_view *v, const struct timeline_event *e, size_t row,
			  bool found)
{
	int64_t from = clamp(e->start_ns, v->w.t0_ns, v->w.t1_ns) - v->w.t0_ns;
	int64_t span = v->w.t1_ns - v->w.t0_ns;
	struct answer_bucket *b =
	    &v->buckets[row * (size_t)v->px + (size_t)answer_column(from, span, v->px)];

	if (answer_stands_for(b, e, found)) {
		b->event = *e;
		b->found = found;
	}
	b->events++;
}

static void add_to_total(struct timeline_view *v, const struct timeline_event *e, int64_t inside)
{
	struct view_total *t = &v->totals[(size_t)e->name * TIMELINE_KIND_COUNT + e->kind];

	t->kind = e->kind;
	t->events++;
	t->sum_ns = timeline_add(t->sum_ns, inside);
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
	opens_add(v->opens, e, from, end);
}

static void add_row(struct timeline_view *v, const struct timeline_event *e, size_t row, bool found)
{
	if (v->shown++ < ANSWER_MAX_ROWS)
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
	int64_t from = clamp(e->start_ns, v->w.t0_ns, v->w.t1_ns);
	int64_t end = clamp(e->start_ns + e->duration_ns, v->w.t0_ns, v->w.t1_ns);
	bool found;

	if (e->name >= v->n_names)
		e->name = 0;
	found = find_event(v->find, e, from, end);
	v->events++;
	if (v->query.seek.wanted)
		return;
	add_to_totals(v, e, from, end);
	note_watching(v, e);
	if (v->lanes[e->lane].row >= 0)
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
	if (v->lanes[p->lane].row >= 0)
		add_row(v, &e, v->n_with_rows + (size_t)p->device, false);
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
	    !timeline_chunk_read(&v->chunk, &v->tables, &b, err))
		return false;
	find_goes_on(v->find);
	for (int i = 0; i < c->n; i++) {
		struct timeline_event e = timeline_chunk_event(c, i);

		if (window_has(&v->w, &e))
			add_event(v, &e);
	}
	return v->query.seek.wanted || idle_chunk(v->idle, c) || view_out_of_memory(err);
}
