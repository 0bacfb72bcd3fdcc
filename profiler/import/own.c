/* profiler/import/own.c -- traces that Breakeven itself has written. */
#include "profiler/import/own.h"

#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/import/repair.h"

enum { MAX_OWN_BREAKS = 10000 };

void own_finish(struct own_trace *o)
{
	VEC_FREE(&o->names);
	VEC_FREE(&o->shapes);
}

bool own_begins(struct own_trace *o, const json_t *head, struct model *m)
{
	json_t *own = json_object_get(head, "breakeven");

	o->is_own = json_integer_value(json_object_get(own, "export")) == 1;
	if (o->is_own && !m->exported)
		m->exported = json_incref(own);
	return o->is_own;
}

/* ---- rows of the tables ---- */

static json_t *args_of(const char *text, size_t len, struct ledger *ledger)
{
	json_t *event, *args;

	if (len > OWN_ROW_BYTES) {
		ledger->n[LEDGER_TOO_LARGE]++;
		return NULL;
	}
	event = json_of_log(text, len, NULL);
	args = json_incref(json_object_get(event, "args"));

	json_decref(event);
	return args;
}

static void own_lane(struct trace_lanes *lanes, const struct kineto_event *e, struct model *m)
{
	json_t *args = args_of(e->text, e->len, &m->ledger), *row;

	row = json_incref(json_object_get(args, "lane"));
	json_decref(args);
	if (json_is_object(row) && json_is_string(json_object_get(row, "name")))
		trace_lane_own(lanes, e, row, m);
	else
		json_decref(row);
}

/* Six bits; -1: none of base64. */
static int value_of(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'             ? 62
	       : c == '/'             ? 63
				      : -1;
}

static bool read_base64(const char *text, size_t len, struct buf *out)
{
	size_t pad = 0;

	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	if (len == 0 || len % 4 != 0 || !buf_grow(out, len / 4 * 3))
		return false;
	for (size_t i = 0; i < len; i += 4) {
		uint32_t bits = 0;

		for (size_t k = i; k < i + 4; k++) {
			int value = k < len - pad ? value_of(text[k]) : 0;

			if (value < 0)
				return false;
			bits = bits << 6 | (uint32_t)value;
		}
		for (int shift = 16; shift >= 0; shift -= 8)
			out->data[out->len++] = (char)(bits >> shift);
	}
	out->len -= pad;
	return true;
}

/* A block of texts.  Their processes are those of the report, which one that is imported beside
 * other files does not get back: its texts would be another's. */
static bool own_texts(const struct kineto_event *e, struct model *m, struct err *err)
{
	json_t *event = m->file == 0 ? json_of_log(e->text, e->len, NULL) : NULL;
	json_t *text = json_object_get(json_object_get(event, "args"), "block");
	struct buf block = { 0 };
	bool ok = true;

	if (read_base64(json_string_value(text), json_string_length(text), &block))
		ok = artifacts_restore(&m->artifacts, m->writer, &block, &m->ledger, err);
	else if (block.failed)
		ok = err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
	else
		m->ledger.n[LEDGER_BROKEN_TEXTS]++;
	buf_finish(&block);
	json_decref(event);
	return ok;
}

bool own_metadata(struct trace_lanes *lanes, const struct kineto_event *e, struct model *m,
		  struct err *err)
{
	const char *name = e->name.data ? e->name.data : "";

	if (strcmp(name, "thread_name") == 0)
		own_lane(lanes, e, m);
	return strcmp(name, ARTIFACTS_METADATA) != 0 || own_texts(e, m, err);
}

/* A name's row: the event's args, but for those that are its own. */
static json_t *name_row(const struct kineto_event *e, const char *text, size_t len,
			struct ledger *ledger)
{
	static const char *const of_event[] = { "name_id", "shape_id", "shape", "bytes",
						"correlation" };
	json_t *args = args_of(text, len, ledger), *row = json_object();
	size_t chars = e->name.len < TIMELINE_NAME_CHARS ? e->name.len : TIMELINE_NAME_CHARS;
	bool bad = false;

	json_object_set_new(row, "name",
			    json_of_text(e->name.data ? e->name.data : "", chars, &bad));
	ledger->n[LEDGER_BAD_UTF8] += bad;
	for (size_t i = 0; i < sizeof(of_event) / sizeof(of_event[0]); i++)
		json_object_del(args, of_event[i]);
	json_object_update_missing(row, args);
	json_decref(args);
	return row;
}

static json_t *shape_row(const char *text, size_t len, struct ledger *ledger)
{
	json_t *args = args_of(text, len, ledger);
	json_t *row = json_incref(json_object_get(args, "shape"));

	json_decref(args);
	return json_is_object(row) ? row : (json_decref(row), NULL);
}

/* The place for number `at` of a table; NULL without memory or out of bounds. */
static uint32_t *place(void *table, int64_t at)
{
	VEC(uint32_t) *v = table;

	if (at < 0 || at >= TIMELINE_MAX_NAMES)
		return NULL;
	while ((int64_t)v->len <= at)
		if (!VEC_PUSH(v, 0))
			return NULL;
	return &v->at[at];
}

static uint32_t name_of(struct own_trace *o, const struct kineto_event *e, const char *text,
			size_t len, struct model *m)
{
	bool has = e->has & 1u << KINETO_ARG_NAME_ID;
	uint32_t *known = has ? place(&o->names, e->arg[KINETO_ARG_NAME_ID]) : NULL;

	if (!known)
		return 0;
	if (!*known)
		*known = 1 + timeline_writer_name(m->writer, name_row(e, text, len, &m->ledger));
	return *known - 1;
}

static uint32_t shape_of(struct own_trace *o, const struct kineto_event *e, const char *text,
			 size_t len, struct model *m)
{
	bool has = e->has & 1u << KINETO_ARG_SHAPE_ID && e->arg[KINETO_ARG_SHAPE_ID] > 0;
	uint32_t *known = has ? place(&o->shapes, e->arg[KINETO_ARG_SHAPE_ID]) : NULL;
	json_t *row;

	if (!known)
		return 0;
	row = *known ? NULL : shape_row(text, len, &m->ledger);
	if (row)
		*known = timeline_writer_shape(m->writer, row);
	return *known;
}

/* ---- events ---- */

static bool kind_of(const char *category, enum timeline_kind *out)
{
	for (int kind = 0; kind < TIMELINE_KIND_COUNT; kind++)
		if (strcmp(category, timeline_kind_name(kind)) == 0) {
			*out = kind;
			return true;
		}
	return false;
}

/* As categories.def has it; what is under "other" there says so in its row. */
static enum name_group group_of(enum timeline_kind kind, const char *label)
{
	static const enum name_group groups[TIMELINE_KIND_COUNT] = {
		[TIMELINE_CALL] = GROUP_OTHER,     [TIMELINE_GUARDS] = GROUP_OTHER,
		[TIMELINE_DISPATCH] = GROUP_OTHER, [TIMELINE_ALLOC] = GROUP_OTHER,
		[TIMELINE_LAUNCH] = GROUP_OTHER,   [TIMELINE_KERNEL] = GROUP_KERNEL,
		[TIMELINE_LIBRARY] = GROUP_KERNEL, [TIMELINE_EAGER] = GROUP_KERNEL,
		[TIMELINE_COPY] = GROUP_COPY,      [TIMELINE_SET] = GROUP_SET,
		[TIMELINE_API] = GROUP_API,        [TIMELINE_RANGE] = GROUP_ANNOTATION,
		[TIMELINE_OVERHEAD] = GROUP_OTHER, [TIMELINE_WAIT] = GROUP_OTHER,
		[TIMELINE_MEMORY] = GROUP_OTHER,   [TIMELINE_PIECE] = GROUP_OTHER,
		[TIMELINE_BREAK] = GROUP_OTHER,    [TIMELINE_OP] = GROUP_OP,
		[TIMELINE_COUNTER] = GROUP_OTHER,  [TIMELINE_FLOW] = GROUP_OTHER,
		[TIMELINE_IDLE] = GROUP_OTHER,
	};

	return strcmp(label, "other") == 0 ? GROUP_OTHER : groups[kind];
}

bool own_event(struct own_trace *o, struct trace_lanes *lanes, const struct kineto_event *e,
	       int64_t base_ns, struct model *m, struct err *err)
{
	bool has_bytes = e->has & 1u << KINETO_ARG_COPIED;
	bool has_correlation = e->has & 1u << KINETO_ARG_CORRELATION;
	struct timeline_event event = { .start_ns = e->ts_ns + base_ns,
					.duration_ns = e->dur_ns,
					.bytes = has_bytes ? e->arg[KINETO_ARG_COPIED] : 0 };
	enum timeline_kind kind = TIMELINE_RANGE;
	struct trace_lane *lane;
	struct name_total *total;

	if (!kind_of(e->category, &kind))
		m->ledger.n[LEDGER_UNKNOWN_CATEGORY]++;
	lane = trace_lane_of(lanes, LANE_HOST, e, m);
	if (!lane)
		return err_set(err, ERR_MEMORY, "out of memory for a lane");
	total = names_find(&m->names, NULL, group_of(kind, e->label),
			   e->name.len ? e->name.data : "unnamed", e->name.len ? e->name.len : 7,
			   &m->ledger);
	total->count++;
	total->total_ns = timeline_add(total->total_ns, e->dur_ns);
	total->bytes = timeline_add(total->bytes, event.bytes);
	if (!m->writer)
		return true;
	event.start_ns += lane->ahead_ns;
	event.lane = lane->lane;
	event.kind = kind;
	event.name = name_of(o, e, e->text, e->len, m);
	event.shape = shape_of(o, e, e->text, e->len, m);
	if (has_correlation && e->arg[KINETO_ARG_CORRELATION] > 0 &&
	    e->arg[KINETO_ARG_CORRELATION] <= UINT32_MAX)
		event.correlation = (uint32_t)e->arg[KINETO_ARG_CORRELATION];
	return timeline_writer_add(m->writer, &event, err);
}

/* ---- the report ---- */

/* Whether a stranger's JSON is a record of a report. */
static bool is_record(const struct report_record *record, const json_t *json)
{
	struct arena arena = { 0 };
	bool ok = report_read(record, json, &arena, NULL) != NULL;

	arena_finish(&arena);
	return ok;
}

static json_int_t line_of(const json_t *item)
{
	const json_t *stack = json_object_get(item, "stack"),
		     *cause = json_object_get(item, "cause");
	size_t n = json_array_size(stack);
	const json_t *at = json_is_object(cause) ? cause : n ? json_array_get(stack, n - 1) : NULL;

	return json_integer_value(json_object_get(at, "line"));
}

/* Breaks and recompiles of a mode, each with the mode and its point. */
static void add_mode(json_t *report, const char *mode, const json_t *m, const json_t *n)
{
	json_t *breaks = json_object_get(report, "breaks"),
	       *recompiles = json_object_get(report, "recompiles");
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(m, "breaks"), i, item)
	{
		json_t *b = json_copy((json_t *)item);

		if (!json_is_object(b) || json_array_size(breaks) >= MAX_OWN_BREAKS) {
			json_decref(b);
			continue;
		}
		json_object_set_new(b, "file", json_string(""));
		json_object_set_new(b, "line", json_integer(line_of(item)));
		json_object_set_new(b, "mode", json_string(mode));
		if (n)
			json_object_set(b, "n", (json_t *)n);
		json_array_append_new(breaks, b);
	}
	json_array_foreach(json_object_get(m, "recompiles"), i, item)
	{
		json_t *r = json_copy((json_t *)item);

		if (json_is_object(r) && json_array_size(recompiles) < MAX_OWN_BREAKS) {
			json_object_set_new(r, "compile", json_string(mode));
			json_array_append(recompiles, r);
		}
		json_decref(r);
	}
}

static json_int_t add_modes(json_t *report, const json_t *of, const json_t *n)
{
	json_int_t graphs = 0;
	const char *mode;
	json_t *m;

	json_object_foreach(json_object_get(of, "modes"), mode, m)
	{
		add_mode(report, mode, m, n);
		graphs += (json_int_t)json_array_size(json_object_get(m, "graphs"));
	}
	return graphs;
}

static void add_measured(json_t *report, const json_t *original)
{
	json_int_t graphs = add_modes(report, original, NULL);
	const json_t *point;
	size_t i;

	json_array_foreach(json_object_get(original, "points"), i, point)
	    graphs += add_modes(report, point, json_object_get(point, "n"));
	json_object_set_new(report, "graphs", json_integer(graphs));
}

/* What an import said before, but for what the events say themselves. */
static void add_imported(json_t *report, const json_t *before)
{
	static const char *const ours[] = { "files", "kernels", "copies",      "sets",
					    "ops",   "api",     "annotations", "ledger" };
	json_t *rest = json_copy((json_t *)before);

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		json_object_del(rest, ours[i]);
	json_object_update(report, rest);
	json_decref(rest);
}

/* A run as it was: measured, recorded, or ended without a report; a log that was imported is
 * one again without it. */
static void add_original(json_t *report, const json_t *exported)
{
	json_t *workload = json_object_get(exported, "workload");
	const json_t *was = json_object_get(exported, "report");

	if ((json_is_object(was) && !is_record(REPORT_RECORD(run), was)) ||
	    !json_is_object(workload) || json_is_true(json_object_get(workload, "imported")))
		return;
	json_object_set_new(report, "original",
			    json_pack("{s:O?, s:O?, s:O}", "report",
				      json_object_get(exported, "report"), "environment",
				      json_object_get(exported, "environment"), "workload",
				      workload));
}

/* Adds what a ledger in JSON counts; what is no count there counts nothing. */
static void add_counts(struct ledger *l, const json_t *json)
{
#define LEDGER(id, fate, name, what)                                                               \
	{                                                                                          \
		json_int_t n = json_integer_value(                                                 \
		    json_object_get(json_object_get(json, #fate), name));                          \
		l->n[LEDGER_##id] += n > 0 && n < INT64_MAX / 2 ? n : 0;                           \
	}
#include "profiler/import/ledger.def"
#undef LEDGER
}

void own_report(const struct model *m, json_t *report)
{
	const json_t *original = json_object_get(m->exported, "report"),
		     *before = json_object_get(original, "import");
	struct ledger all = m->ledger;
	json_t *run = json_object_get(m->exported, "run");
	bool sound = is_record(REPORT_RECORD(run), original);

	if (sound && json_is_object(before)) {
		add_imported(report, before);
		add_counts(&all, json_object_get(before, "ledger"));
		json_object_set_new(report, "ledger", ledger_json(&all));
	} else if (sound) {
		add_measured(report, original);
	}
	add_original(report, m->exported);
	if (is_record(REPORT_RECORD(exported_run), run))
		json_object_set(report, "exported", run);
}

json_t *own_facts(const struct model *m, int64_t dropped, int64_t doubtful)
{
	json_t *facts = json_copy(json_object_get(m->exported, "facts"));

	if (!is_record(REPORT_RECORD(trace), facts)) {
		json_decref(facts);
		return NULL;
	}
	dropped += json_integer_value(json_object_get(facts, "dropped"));
	doubtful += json_integer_value(json_object_get(facts, "doubtful"));
	json_object_set_new(facts, "dropped", json_integer(dropped));
	json_object_set_new(facts, "doubtful", json_integer(doubtful));
	return facts;
}
