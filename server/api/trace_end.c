/* server/api/trace_end.c -- ends a run that was recorded or imported: with a report of its
 * timeline, or as the run that it was, where an export of Breakeven comes back.
 *
 * Pages and exporters read reports as the table of fields has them (profiler/fields/report.def):
 * what comes from elsewhere is held against it here, once.
 */
#include "server/api/routes.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/profiler.h"
#include "profiler/timeline/timeline.h"
#include "server/queue/queue.h"

/* What a run becomes; texts live in the arena. */
struct restored {
	struct run_row row;  /* row.trace: it was recorded, and its report is the timeline's */
	json_t *mark;        /* "imported" of its report; the caller's */
	enum run_status end; /* DONE; FAILED and CANCELLED have no report */
	struct err why;
	const char *report, *environment; /* JSON, of one that was measured */
	struct run_summary summary;
};

/* ---- the run ---- */

/* Where it comes from, and what the way cost: pages say so. */
static json_t *mark_of(const json_t *imported)
{
	const json_t *files = json_object_get(imported, "files");

	return json_pack("{s:O?, s:O?, s:O?}", "run", json_object_get(imported, "exported"), "file",
			 json_object_get(json_array_get(files, 0), "name"), "ledger",
			 json_object_get(imported, "ledger"));
}

static const char *dumped(struct arena *arena, const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	const char *copy = text ? arena_strdup(arena, text) : NULL;

	free(text);
	return copy;
}

static void drop_nulls(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value) {
		if (json_is_null(value))
			json_object_del(object, key);
	}
}

/* A workload whose source was left out, as it can be looked at: with a function that takes
 * anything, and a line for a sweep to repeat. */
static json_t *with_some_source(const json_t *posted)
{
	json_t *some = json_deep_copy(posted);
	json_t *lines = json_object_get(json_object_get(some, "sweep"), "statements");
	const char *source = lines ? "def model(*inputs):\n    ...\n    return inputs[0]\n"
				   : "def model(*inputs):\n    return inputs[0]\n";

	json_object_set_new(some, "source", json_string(source));
	if (lines)
		json_object_set_new(lines, "pool", json_pack("[s]", "pass"));
	return some;
}

/* The workload that the run had; new.  NULL: it could not have been posted. */
static json_t *workload_of(const json_t *original, bool redacted, const struct registry *registry,
			   struct arena *arena, const char **name)
{
	json_t *posted = json_deep_copy(json_object_get(original, "workload")), *looked_at;
	struct err err = { 0 };
	struct workload *w;

	if (!json_is_object(posted)) {
		json_decref(posted);
		return NULL;
	}
	if (redacted) {
		drop_nulls(posted);
		json_object_del(posted, "source");
	}
	looked_at = redacted ? with_some_source(posted) : json_incref(posted);
	w = workload_parse_in(looked_at, registry, &err);
	json_decref(looked_at);
	if (!w) {
		json_decref(posted);
		return NULL;
	}
	*name = arena_strdup(arena, workload_name(w));
	workload_destroy(w);
	return posted;
}

/* How it ended, where it has no report for that. */
static bool ended_without(const json_t *exported, struct restored *out)
{
	const char *status = json_string_value(json_object_get(exported, "status"));
	const char *code = json_string_value(json_object_get(exported, "error_code"));
	const char *message = json_string_value(json_object_get(exported, "error"));

	if (!status || !run_status_from_name(status, &out->end) ||
	    (out->end != RUN_FAILED && out->end != RUN_CANCELLED))
		return false;
	if (message && *message)
		err_at(&out->why, code ? err_from_name(code) : ERR_INTERNAL,
		       (int)json_integer_value(json_object_get(exported, "error_line")),
		       (int)json_integer_value(json_object_get(exported, "error_column")), "%s",
		       message);
	return true;
}

/* A trace that was recorded has no workload to be refused. */
static bool was_recorded(const json_t *original, const json_t *posted)
{
	const json_t *report = json_object_get(original, "report");

	return json_is_true(json_object_get(posted, "trace")) &&
	       (!json_is_object(report) ||
		(json_is_object(json_object_get(report, "trace")) &&
		 json_object_size(json_object_get(report, "modes")) == 0));
}

static json_t *recording_of(const json_t *posted)
{
	static const char *const keys[] = { "name", "command", "project" };
	const char *device = json_string_value(json_object_get(posted, "device"));
	bool off_gpu = device && (!*device || strcmp(device, "cpu") == 0);
	json_t *kept = json_pack("{s:b, s:s}", "trace", 1, "device", off_gpu ? device : "cuda");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(posted, keys[i]);

		if (json_is_string(value))
			json_object_set(kept, keys[i], value);
	}
	return kept;
}

/* Whether a report, marked as one that came back, is one that the profiler could have written. */
static bool is_report(const json_t *marked)
{
	struct arena arena = { 0 };
	const struct report_run *r = report_read_run(marked, &arena, NULL);
	bool ok = r && r->breakeven == 1 && !r->import;

	arena_finish(&arena);
	return ok;
}

/* A report that was too long for the file went without its workload, which the file has
 * beside it. */
static bool read_measured(const json_t *original, json_t *posted, struct arena *arena,
			  struct restored *out)
{
	json_t *report = json_object_get(original, "report");
	json_t *marked = json_is_object(report) ? json_copy(report) : NULL;

	json_object_set(marked, "imported", out->mark);
	if (json_is_true(json_object_get(marked, "slimmed")) &&
	    !json_object_get(marked, "workload"))
		json_object_set(marked, "workload", posted);
	if (is_report(marked) && json_object_get(marked, "workload")) {
		out->report = dumped(arena, marked);
		summary_of_report(marked, arena, &out->summary);
	}
	json_decref(marked);
	out->environment = dumped(arena, json_object_get(original, "environment"));
	if (!out->environment || out->environment[0] != '{')
		out->environment = "{}";
	return out->report != NULL;
}

/* The row, but for what the workload says. */
static bool read_row(const json_t *imported, json_t *posted, const char *name, struct arena *arena,
		     struct restored *out)
{
	const json_t *exported = json_object_get(imported, "exported");
	const char *called = json_string_value(json_object_get(exported, "name"));
	bool redacted = json_is_true(json_object_get(exported, "redacted")), trace = out->row.trace;

	if ((redacted || trace) && called && *called)
		name = called;
	out->row = enqueue_row(arena, posted, name ? name : "trace");
	out->row.trace = trace;
	out->row.modes = trace ? "" : arena_strdup(arena, out->row.modes);
	out->row.project = arena_strdup(arena, out->row.project);
	out->row.device = arena_strdup(arena, out->row.device);
	out->row.commit = arena_strdup(arena, out->row.commit);
	out->row.branch = arena_strdup(arena, out->row.branch);
	out->row.workload = dumped(arena, posted);
	out->row.imported = dumped(arena, out->mark);
	return out->row.workload && out->row.imported && out->row.name;
}

/* Reads "original" of what was imported (profiler/import/own.h).  False: there is none, or it is no
 * run that could have been: its workload is refused, or its report is not shaped as the profiler
 * shapes them.  It is a stranger's file still.  What was left out of the file by --redact is left
 * out of the run. */
static bool restore_read(const json_t *imported, const struct registry *registry,
			 struct arena *arena, struct restored *out)
{
	const json_t *original = json_object_get(imported, "original");
	const json_t *exported = json_object_get(imported, "exported");
	bool redacted = json_is_true(json_object_get(exported, "redacted")), ok;
	json_t *was = json_object_get(original, "workload"), *posted;
	const char *name = NULL;

	*out = (struct restored){ .end = RUN_DONE };
	if (!json_is_object(was))
		return false;
	out->row.trace = was_recorded(original, was);
	posted = out->row.trace ? recording_of(was)
				: workload_of(original, redacted, registry, arena, &name);
	out->mark = posted ? mark_of(imported) : NULL;
	ok = out->mark && read_row(imported, posted, name, arena, out);
	if (ok && !ended_without(exported, out)) {
		out->end = RUN_DONE;
		ok = out->row.trace || read_measured(original, posted, arena, out);
	}
	json_decref(posted);
	if (!ok) {
		json_decref(out->mark);
		out->mark = NULL;
	}
	return ok;
}

/* ---- the end of a trace ---- */

static bool add_tables(void *self, const struct timeline_row *row, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(row->data, row->len, &b, err) &&
	       timeline_tables_read(self, &b, err);
}

/* What a trace's report has of what was imported: all, but for a run that we know again; of
 * a recording that came back the mark, and what it had read beside it. */
static void add_import(json_t *report, const json_t *imported, json_t *mark)
{
	json_t *kept = json_copy((json_t *)imported);
	const json_t *was = json_object_get(json_object_get(imported, "original"), "report");

	json_object_del(kept, "original");
	if (!mark || json_object_get(was, "import"))
		json_object_set(report, "import", kept);
	if (mark)
		json_object_set(report, "imported", mark);
	json_decref(kept);
}

/* The report of a trace, as text; NULL with an error.  The caller frees. */
static char *trace_report(struct db *db, int64_t id, const json_t *imported, json_t *mark,
			  struct err *err)
{
	struct timeline_tables tables = { 0 };
	bool ok = db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), add_tables, &tables, err);
	char *text = NULL;
	json_t *report;

	if (tables.facts)
		json_object_del(tables.facts, "extents");
	report = json_pack("{s:i, s:O?, s:{}, s:[], s:{}}", "breakeven", 1, "trace", tables.facts,
			   "modes", "points", "break_even");
	if (report && imported)
		add_import(report, imported, mark);
	if (ok) {
		text = report ? json_dumps(report, JSON_COMPACT) : NULL;
		if (!text)
			err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	json_decref(report);
	timeline_tables_finish(&tables);
	return text;
}

/* Where what was imported ran: "" where its logs do not say. */
static const char *device_of(const json_t *imported)
{
	static const char *const on_gpu[] = { "kernels", "copies", "sets" };
	const json_t *ops = json_object_get(imported, "ops");

	for (size_t i = 0; i < sizeof(on_gpu) / sizeof(on_gpu[0]); i++) {
		const json_t *events = json_object_get(imported, on_gpu[i]);

		if (json_integer_value(json_object_get(events, "count")) > 0)
			return "cuda";
	}
	return json_integer_value(json_object_get(ops, "count")) > 0 ? "cpu" : "";
}

/* The device of an import's run is known only now; that of a recording, which may have logs
 * beside it, always was. */
static bool device_row(const json_t *imported, struct arena *arena, struct run_row *row)
{
	json_t *posted = json_loads(row->workload, 0, NULL);
	bool is_import = json_is_true(json_object_get(posted, "imported"));
	char *text = NULL;

	if (is_import) {
		row->device = device_of(imported);
		json_object_set_new(posted, "device", json_string(row->device));
		text = json_dumps(posted, JSON_COMPACT);
		row->workload = text ? arena_strdup(arena, text) : NULL;
	}
	free(text);
	json_decref(posted);
	return row->workload != NULL;
}

static bool end_as_trace(struct db *db, int64_t id, const json_t *imported, struct restored *as,
			 struct arena *arena, struct err *err)
{
	char *text = trace_report(db, id, imported, as ? as->mark : NULL, err);
	struct run_row row;
	bool ok = text && (as || db_run_get(db, id, arena, &row, err));

	if (ok && !as && !device_row(imported, arena, &row))
		ok = err_set(err, ERR_MEMORY, "out of memory for the run");
	if (ok) {
		const struct run_outcome outcome = { .report = text,
						     .report_len = strlen(text),
						     .environment = "{}" };

		ok = db_trace_become(db, id, as ? &as->row : &row, &outcome, err);
	}
	free(text);
	return ok;
}

/* As the run that it was. */
static bool end_as_it_was(struct db *db, int64_t id, const json_t *imported, struct restored *as,
			  struct arena *arena, struct err *err)
{
	struct run_outcome outcome = { .report = as->report,
				       .environment = as->environment,
				       .summary = as->summary };

	if (as->end != RUN_DONE)
		return db_trace_become_ended(db, id, &as->row, as->end, &as->why, err);
	if (as->row.trace)
		return end_as_trace(db, id, imported, as, arena, err);
	outcome.report_len = strlen(as->report);
	return db_trace_become(db, id, &as->row, &outcome, err);
}

bool trace_end(struct db *db, const struct registry *registry, int64_t id, json_t *imported,
	       struct err *err)
{
	struct arena arena = { 0 };
	struct restored r;
	bool ok;

	if (imported && !report_read_import(imported, &arena, err)) {
		arena_finish(&arena);
		return false;
	}
	if (restore_read(imported, registry, &arena, &r)) {
		ok = end_as_it_was(db, id, imported, &r, &arena, err);
		json_decref(r.mark);
	} else {
		ok = end_as_trace(db, id, imported, NULL, &arena, err);
	}
	arena_finish(&arena);
	if (ok)
		timeline_look_ahead(db, id);
	return ok;
}
