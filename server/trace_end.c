/* server/trace_end.c -- see trace_end.h. */
#include "server/trace_end.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/timeline.h"
#include "server/restore.h"
#include "server/timeline_answer.h"

static bool add_tables(void *self, const struct timeline_row *row, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(row->data, row->len, &b, err) &&
	       timeline_tables_read(self, &b, err);
}

static bool end_as_trace(struct db *db, int64_t id, json_t *imported, struct err *err)
{
	const struct run_summary none = { 0 };
	struct timeline_tables tables = { 0 };
	bool ok = db_timeline_each(db, id, TIMELINE_TABLES, INT64_MIN, INT64_MAX, add_tables,
				   &tables, err);
	char *text = NULL;
	json_t *report;

	if (tables.facts)
		json_object_del(tables.facts, "extents");
	report = json_pack("{s:i, s:O?, s:{}, s:[], s:{}}", "breakeven", 1, "trace", tables.facts,
			   "modes", "points", "break_even");
	if (report && imported) {
		json_t *kept = json_copy(imported);

		json_object_del(kept, "original"); /* it is no run that we know again */
		json_object_set_new(report, "import", kept);
	}
	if (ok) {
		text = report ? json_dumps(report, JSON_COMPACT) : NULL;
		ok = text || err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	ok = ok && db_run_finish(db, id, text, strlen(text), "{}", &none, err);
	free(text);
	json_decref(report);
	timeline_tables_finish(&tables);
	return ok;
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

	if (restore_read(imported, registry, &arena, &r))
		ok = db_trace_become(db, id, &r.row, r.report, r.environment, &r.summary, err);
	else
		ok = end_as_trace(db, id, imported, err);
	arena_finish(&arena);
	if (ok)
		look_ahead(db, id);
	return ok;
}
