/* server/queue/query.c -- a run's events, lanes, breaks and compilations as tables, and one
 * statement over them. */
#include "server/queue/query.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "profiler/timeline/timeline.h"
#include "server/text/text.h"

enum { MAX_TEXT = 4096 };

struct query_asked {
	const char *sql, *mode;
	bool csv, has_n, as_recorded;
	int64_t n, t0_ns, t1_ns; /* t1 < 0: to the end */
	struct query_limits limits;
};

struct loading {
	struct query *query;
	const struct query_asked *asked;
	struct timeline_tables tables;
	struct timeline_chunk chunk;
	bool *wanted;         /* lanes */
	const char **classes; /* of a name and kind; NULL: not yet looked at */
	size_t n_lanes, n_names;
	int64_t begin_ns, end_ns, events;
};

static struct query_cell text_cell(const char *text)
{
	return (struct query_cell){ .kind = text ? QUERY_TEXT : QUERY_NULL, .text = text };
}

static struct query_cell integer_cell(bool has, int64_t n)
{
	return (struct query_cell){ .kind = has ? QUERY_INTEGER : QUERY_NULL, .integer = n };
}

static struct query_cell json_cell(const json_t *json)
{
	if (json_is_integer(json))
		return integer_cell(true, json_integer_value(json));
	if (json_is_real(json))
		return (struct query_cell){ .kind = QUERY_REAL, .real = json_real_value(json) };
	return text_cell(json_string_value(json));
}

/* ---- the timeline ---- */

static bool read_tables(void *self, const void *block, size_t len, struct err *err)
{
	struct loading *l = self;
	struct timeline_block b;

	return timeline_block_read(block, len, &b, err) &&
	       timeline_tables_read(&l->tables, &b, err);
}

/* Times of the answer begin with the first event of the lanes that are asked for. */
static void find_begin(struct loading *l)
{
	struct timeline_extent e;
	bool any = false;

	for (size_t i = 0; timeline_extent_at(&l->tables, i, &e); i++) {
		if (e.lane >= l->n_lanes || !l->wanted[e.lane])
			continue;
		l->begin_ns = !any || e.t0_ns < l->begin_ns ? e.t0_ns : l->begin_ns;
		any = true;
	}
}

static bool add_lanes(struct loading *l, struct err *err)
{
	const struct query_asked *a = l->asked;

	for (size_t i = 0; i < l->n_lanes; i++) {
		struct timeline_lane lane = timeline_lane_at(&l->tables, i);
		struct timeline_clock clock = timeline_clock_at(&l->tables, i);
		const struct query_cell cells[] = {
			integer_cell(true, (int64_t)i),
			text_cell(lane.name),
			text_cell(lane.role),
			text_cell(lane.mode),
			integer_cell(lane.has.n, lane.n),
			text_cell(lane.process),
			integer_cell(lane.has.pid, lane.pid),
			integer_cell(lane.has.device, lane.device),
			integer_cell(true, timeline_lane_source(&lane)),
			integer_cell(clock.known, clock.ahead_ns),
		};

		l->wanted[i] = timeline_lane_is_of(&lane, a->mode, a->has_n ? &a->n : NULL);
		if (l->wanted[i] && !query_add(l->query, QUERY_LANES, cells, 10, err))
			return false;
	}
	return true;
}

/* "add, relu"; NULL where there are none. */
static const char *joined(const json_t *ops, char text[MAX_TEXT])
{
	size_t i, len = 0;
	const json_t *op;

	text[0] = '\0';
	json_array_foreach(ops, i, op) {
		const char *name = json_string_value(op);
		size_t n = name ? strlen(name) : 0;

		if (len + n + 3 > MAX_TEXT)
			break;
		len += (size_t)snprintf(text + len, MAX_TEXT - len, "%s%s", len ? ", " : "",
					name ? name : "");
	}
	return len ? text : NULL;
}

static bool add_names(struct loading *l, struct err *err)
{
	char ops[MAX_TEXT];

	for (size_t i = 0; i < l->n_names; i++) {
		struct timeline_name name = timeline_name_at(&l->tables, i);
		const json_t *files = json_object_get(json_array_get(l->tables.names, i), "files");
		const json_t *line = json_array_get(name.lines, 0);
		const struct query_cell cells[] = {
			integer_cell(true, (int64_t)i),
			text_cell(name.name ? name.name : ""),
			text_cell(name.symbol),
			text_cell(joined(name.ops, ops)),
			line ? json_cell(line) : integer_cell(name.has.line, name.line),
			json_cell(json_array_get(files, 0)),
			integer_cell(name.has.graph, name.graph),
			integer_cell(name.has.scale, name.scale),
		};

		if (!query_add(l->query, QUERY_NAMES, cells, 8, err))
			return false;
	}
	return true;
}

/* What an event is drawn as; that of a range may be its lane's. */
static const char *class_of(struct loading *l, const struct timeline_event *e, size_t name)
{
	enum timeline_kind kind = (enum timeline_kind)e->kind;
	const char **known = &l->classes[name * TIMELINE_KIND_COUNT + kind];

	if (!*known)
		*known = timeline_drawn_as(kind, timeline_name_at(&l->tables, name).name, NULL);
	return kind == TIMELINE_RANGE && *known == timeline_kind_name(kind)
		   ? timeline_drawn_as(kind, NULL, timeline_lane_at(&l->tables, e->lane).name)
		   : *known;
}

static bool add_event(struct loading *l, const struct timeline_event *e, struct err *err)
{
	size_t name = e->name < l->n_names ? e->name : 0;
	const struct query_cell cells[] = {
		integer_cell(true, l->events++),
		integer_cell(true, e->start_ns - l->begin_ns),
		integer_cell(true, e->duration_ns),
		integer_cell(true, e->bytes),
		integer_cell(true, e->lane),
		text_cell(timeline_kind_name((enum timeline_kind)e->kind)),
		text_cell(class_of(l, e, name)),
		integer_cell(true, (int64_t)name),
		integer_cell(e->shape != 0, e->shape),
		integer_cell(true, e->correlation),
	};

	return query_add(l->query, QUERY_EVENTS, cells, 10, err);
}

/* As of a window of the timeline: a part of it lies in it, not an end alone. */
static bool is_wanted(const struct loading *l, const struct timeline_event *e)
{
	const struct query_asked *a = l->asked;
	int64_t from = e->start_ns - l->begin_ns, to = from + e->duration_ns;

	if (e->lane >= l->n_lanes || !l->wanted[e->lane])
		return false;
	return e->duration_ns ? to > a->t0_ns && (a->t1_ns < 0 || from < a->t1_ns)
			      : to >= a->t0_ns && (a->t1_ns < 0 || from <= a->t1_ns);
}

static bool read_chunk(void *self, const void *block, size_t len, struct err *err)
{
	struct loading *l = self;
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err) ||
	    !timeline_chunk_read(&l->chunk, &l->tables, &b, err))
		return false;
	for (int i = 0; i < l->chunk.n; i++) {
		struct timeline_event e = timeline_chunk_event(&l->chunk, i);

		if (is_wanted(l, &e) && !add_event(l, &e, err))
			return false;
	}
	return true;
}

static bool load_timeline(struct loading *l, const struct export_run *run, struct err *err)
{
	if (!run->blocks(run->store, TIMELINE_TABLES, read_tables, l, err))
		return false;
	l->n_lanes = json_array_size(l->tables.lanes);
	l->n_names = json_array_size(l->tables.names);
	l->wanted = calloc(l->n_lanes + 1, sizeof(*l->wanted));
	l->classes = calloc((l->n_names + 1) * TIMELINE_KIND_COUNT, sizeof(*l->classes));
	if (!l->wanted || !l->classes)
		return err_set(err, ERR_MEMORY, "out of memory for a query");
	if (!add_lanes(l, err) || !add_names(l, err))
		return false;
	find_begin(l);
	return run->blocks(run->store, TIMELINE_CHUNK, read_chunk, l, err);
}

/* ---- the report ---- */

static bool add_breaks(struct loading *l, const char *mode, const json_t *list, struct err *err)
{
	const json_t *b;
	size_t i;

	json_array_foreach(list, i, b) {
		const json_t *stack = json_object_get(b, "stack"); /* the innermost last */
		const json_t *top = json_array_get(stack, json_array_size(stack) - 1);
		const json_t *line = json_object_get(b, "line"), *file = json_object_get(b, "file");
		const json_t *count = json_object_get(b, "count");
		const struct query_cell cells[] = {
			text_cell(mode),
			json_cell(file ? file : json_object_get(top, "file")),
			json_cell(line ? line : json_object_get(top, "line")),
			json_cell(json_object_get(b, "stage")),
			json_cell(json_object_get(b, "kind")),
			json_cell(json_object_get(b, "message")),
			count ? json_cell(count) : integer_cell(true, 1),
			json_cell(json_object_get(b, "cost_us")),
		};

		if (!query_add(l->query, QUERY_BREAKS, cells, 8, err))
			return false;
	}
	return true;
}

static const json_t *either(const json_t *row, const char *a, const char *b)
{
	const json_t *first = json_object_get(row, a);

	return first ? first : json_object_get(row, b);
}

/* How many there are, of a list or as it is said. */
static struct query_cell count_cell(const json_t *json)
{
	return json_is_array(json) ? integer_cell(true, (int64_t)json_array_size(json))
				   : json_cell(json);
}

/* Of a log it is said in seconds. */
static struct query_cell compile_ms(const json_t *c)
{
	const json_t *ms = json_object_get(c, "compile_ms"), *s = json_object_get(c, "entire_s");

	return ms || !s
		   ? json_cell(ms)
		   : (struct query_cell){ .kind = QUERY_REAL, .real = 1e3 * json_number_value(s) };
}

static bool add_compiles(struct loading *l, const char *mode, const json_t *list, struct err *err)
{
	const json_t *c;
	size_t i;

	json_array_foreach(list, i, c) {
		const struct query_cell cells[] = {
			text_cell(mode),
			json_cell(either(c, "compile", "id")),
			json_cell(either(c, "frame", "function")),
			count_cell(json_object_get(c, "nodes")),
			count_cell(json_object_get(c, "kernels")),
			compile_ms(c),
		};

		if (!query_add(l->query, QUERY_COMPILES, cells, 6, err))
			return false;
	}
	return true;
}

static bool add_modes(struct loading *l, const json_t *modes, struct err *err)
{
	const char *mode;
	const json_t *m;

	json_object_foreach((json_t *)modes, mode, m) {
		if (l->asked->mode && strcmp(mode, l->asked->mode) != 0)
			continue;
		if (!add_breaks(l, mode, json_object_get(m, "breaks"), err) ||
		    !add_compiles(l, mode, json_object_get(m, "graphs"), err))
			return false;
	}
	return true;
}

static bool load_report(struct loading *l, const json_t *report, struct err *err)
{
	const json_t *log = json_object_get(report, "import"), *point;
	size_t i;

	if (log && (!add_breaks(l, NULL, json_object_get(log, "breaks"), err) ||
		    !add_compiles(l, NULL, json_object_get(log, "compiles"), err)))
		return false;
	if (!add_modes(l, json_object_get(report, "modes"), err))
		return false;
	json_array_foreach(json_object_get(report, "points"), i, point) {
		if (l->asked->has_n &&
		    json_integer_value(json_object_get(point, "n")) != l->asked->n)
			continue;
		if (!add_modes(l, json_object_get(point, "modes"), err))
			return false;
	}
	return true;
}

/* ---- the answer ---- */

/* What cut the rows is a last line of its own: "# cut by bytes". */
static bool put_csv(const json_t *answer, export_put_fn *put, void *self, struct err *err)
{
	const char *cut = json_string_value(json_object_get(answer, "cut"));
	struct buf text = { 0 };
	const json_t *row;
	size_t i;
	bool ok;

	csv_row(&text, json_object_get(answer, "columns"));
	json_array_foreach(json_object_get(answer, "rows"), i, row)
		csv_row(&text, row);
	if (cut)
		buf_printf(&text, "# cut by %s\r\n", cut);
	ok = !text.failed ? put(self, text.data, text.len, err)
			  : err_set(err, ERR_MEMORY, "out of memory for the answer");
	buf_finish(&text);
	return ok;
}

static bool put_json(const json_t *answer, export_put_fn *put, void *self, struct err *err)
{
	char *text = json_dumps(answer, JSON_COMPACT);
	bool ok = text ? put(self, text, strlen(text), err)
		       : err_set(err, ERR_MEMORY, "out of memory for the answer");

	free(text);
	return ok;
}

static bool read_asked(const json_t *order, struct query_asked *a, struct err *err)
{
	json_int_t n = 0, t0 = 0, t1 = -1, limit = QUERY_ROWS;
	const char *format = "json", *clocks = "aligned";

	if (json_unpack((json_t *)order, "{s:s, s?s, s?s, s?s, s?I, s?I, s?I, s?I}", "sql", &a->sql,
			"mode", &a->mode, "format", &format, "clocks", &clocks, "n", &n, "t0", &t0,
			"t1", &t1, "limit", &limit) != 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "a query is {\"sql\": a text}, and may have format, mode and "
			       "clocks, texts, and n, t0, t1 and limit, integers");
	a->has_n = json_object_get(order, "n") != NULL;
	a->n = n;
	a->t0_ns = t0;
	a->t1_ns = t1;
	a->csv = strcmp(format, "csv") == 0;
	a->as_recorded = strcmp(clocks, "recorded") == 0;
	if (!a->as_recorded && strcmp(clocks, "aligned") != 0)
		return err_set(err, ERR_BAD_REQUEST, "clocks %.40s: aligned or recorded is needed",
			       clocks);
	a->limits = (struct query_limits){ limit, QUERY_MOST_BYTES, QUERY_MS, QUERY_MEMORY };
	return (limit >= 1 && limit <= QUERY_MOST_ROWS) ||
	       err_set(err, ERR_BAD_REQUEST, "limit %lld: 1 to %d rows can be asked for",
		       (long long)limit, QUERY_MOST_ROWS);
}

bool query_write(const struct export_run *run, const json_t *order, export_put_fn *put, void *self,
		 struct err *err)
{
	struct query_asked a = { 0 };
	struct loading l = { .asked = &a };
	json_t *answer = NULL;
	bool ok = false;

	if (!read_asked(order, &a, err))
		return false;
	l.tables.as_recorded = a.as_recorded;
	l.query = query_create(&a.limits, err);
	if (l.query && timeline_chunk_create(&l.chunk, err) && load_timeline(&l, run, err) &&
	    load_report(&l, run->report, err))
		answer = query_run(l.query, a.sql, err);
	if (answer) {
		json_object_set_new(answer, "events", json_integer(l.events));
		ok = a.csv ? put_csv(answer, put, self, err) : put_json(answer, put, self, err);
	}
	json_decref(answer);
	query_destroy(l.query);
	timeline_tables_finish(&l.tables);
	timeline_chunk_destroy(&l.chunk);
	free(l.wanted);
	free(l.classes);
	return ok;
}
