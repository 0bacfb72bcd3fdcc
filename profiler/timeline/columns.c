/* profiler/timeline/columns.c -- a window that is filled, as an answer: its head and its columns;
 * and what was found in it. */
#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/idle.h"
#include "profiler/timeline/view.h"

enum { MAX_TOTALS = 200 };

bool timeline_view_is_sampled(const struct timeline_view *v)
{
	return v->shown > VIEW_MAX_ROWS;
}

/* What holds another comes before it. */
static int compare_rows(const void *a, const void *b)
{
	const struct timeline_event *x = &((const struct view_bucket *)a)->event;
	const struct timeline_event *y = &((const struct view_bucket *)b)->event;

	if (x->start_ns != y->start_ns)
		return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
	return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

/* The rows are the events, or the buckets that hold any, in order of their starts. */
static bool choose_rows(struct timeline_view *v, struct view_bucket **rows, size_t *n,
			struct err *err)
{
	bool all = !timeline_view_is_sampled(v);
	size_t n_buckets = view_bucket_rows(v) * (size_t)v->px;

	*n = 0;
	*rows = calloc((all ? (size_t)v->n_rows : n_buckets) + 1, sizeof(**rows));
	if (!*rows)
		return view_out_of_memory(err);
	for (int i = 0; all && i < v->n_rows; i++)
		(*rows)[(*n)++] = (struct view_bucket){ v->rows[i], 1, false };
	for (size_t i = 0; !all && i < n_buckets; i++)
		if (v->buckets[i].events)
			(*rows)[(*n)++] = v->buckets[i];
	qsort(*rows, *n, sizeof(**rows), compare_rows);
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

static json_t *lanes_json(struct timeline_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_lanes; i++) {
		struct view_lane *l = &v->lanes[i];
		int64_t busy = 0;
		json_t *row;

		if (!l->wanted)
			continue;
		row = json_copy(json_array_get(v->tables.lanes, i));
		json_object_set_new(row, "id", json_integer((json_int_t)i));
		json_object_set_new(row, "events", json_integer(l->events));
		json_object_set_new(row, "sum_ns", json_integer(l->sum_ns));
		if (!overlap_ns(&l->busy, &v->room, &busy))
			l->busy.at_least = true;
		json_object_set_new(row, "busy_ns", json_integer(busy));
		json_object_set_new(row, "busy_at_least", json_boolean(l->busy.at_least));
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

/* An event by itself, with what its name means. */
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
	if (!view_ready(v, err))
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
	return (ok && !out->failed) || view_out_of_memory(err);
}
