/* server/api/trace_end.c -- see trace_end.h. */
#include "server/api/trace_end.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/timeline.h"
#include "server/queue/restore.h"
#include "server/api/timeline_answer.h"

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
static bool device_row(const json_t *imported, struct arena *arena, struct run *row)
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
	struct run row;
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

/* The first look at a long trace, ahead of whoever takes it. */
static void look_ahead(struct db *db, int64_t id)
{
	struct timeline_query whole = timeline_whole(NULL);
	struct arena arena = { 0 };
	struct buf answer = { 0 };
	struct err err = { 0 }; /* that look will tell */
	struct run run;

	if (db_run_get(db, id, &arena, &run, &err))
		timeline_answer(db, &run, &whole, &answer, &err);
	buf_finish(&answer);
	arena_finish(&arena);
}

bool trace_end(struct db *db, const struct registry *registry, int64_t id, json_t *imported,
	       struct err *err)
{
	struct arena arena = { 0 };
	struct restored r;
	bool ok;

	if (restore_read(imported, registry, &arena, &r)) {
		ok = end_as_it_was(db, id, imported, &r, &arena, err);
		json_decref(r.mark);
	} else {
		ok = end_as_trace(db, id, imported, NULL, &arena, err);
	}
	arena_finish(&arena);
	if (ok)
		look_ahead(db, id);
	return ok;
}
