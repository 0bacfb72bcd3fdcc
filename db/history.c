/* db/history.c -- figures of runs, and one of them over all runs of a workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/hash.h"
#include "fusion/base/vec.h"

enum { MOST_FIGURES = 100000, REPEATS = 20 };

int db_figures_missing(struct db *db, const char *name, int64_t *runs, int most, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT id FROM run WHERE name = ?1 AND status = 'done' AND "
	    "kind <> 'trace' AND source_hash = '' ORDER BY id DESC LIMIT ?2",
	    "ti", name, (int64_t)most);
	int n = 0, code = SQL_FAILED;

	while (s && (code = sql_step(s)) == SQL_ROW)
		runs[n++] = sql_int64(s, 0);
	if (s && code != SQL_DONE)
		db_fail(h, "look for figures", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_DONE ? n : -1;
}

/* Of a statement that selects FIGURE_NAMES. */
#define FIGURE_NAMES "run" FIGURE_COLUMNS(COLUMN_NAME)
static void read_figure(struct sql_statement *s, struct arena *arena, struct run_figure *out)
{
	int at = 1;

	FIGURE_COLUMNS(COLUMN_READ)
}

#define OF_HISTORY                                                                                 \
	" WHERE name = ?1 AND kind <> 'trace' AND status NOT IN ('queued', 'running')"             \
	" AND (?2 = '' OR project = ?2) AND substr(source_hash, 1, length(?3)) = ?3"               \
	" AND substr(settings_hash, 1, length(?4)) = ?4"

static bool count_history(struct sql *h, const struct history_query *f, int64_t *total,
			  struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "SELECT count(*) FROM run" OF_HISTORY, "tttt",
					     f->name, f->project, f->source_hash, f->settings_hash);
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*total = sql_int64(s, 0);
	else if (s)
		db_fail(h, "count a history", err);
	sql_finalize(s);
	return ok;
}

static bool list_history(struct sql *h, const struct history_query *f, struct arena *arena,
			 struct history_point *points, int *n, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT " RUN_COLUMNS RUN_TABLES OF_HISTORY " ORDER BY id DESC LIMIT ?5",
	    "tttti", f->name, f->project, f->source_hash, f->settings_hash, (int64_t)f->limit);
	int code = SQL_FAILED, len = 0;

	while (s && (code = sql_step(s)) == SQL_ROW)
		run_read(s, 0, arena, &points[len++].run);
	if (s && code != SQL_DONE)
		db_fail(h, "read a history", err);
	sql_finalize(s);
	*n = len;
	return code == SQL_DONE;
}

/* The figure of each run; of a sweep that at the point asked for, or its last. */
static bool fill_history(struct sql *h, const struct history_query *f, struct arena *arena,
			 struct history_point *points, int n, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT " FIGURE_NAMES " FROM run_figure "
	    "WHERE metric = ?1 AND mode = ?2 AND (?3 IS NULL OR n = ?3) AND "
	    "run = ?4 ORDER BY n DESC NULLS LAST LIMIT 1",
	    "ttd", f->metric, f->mode, f->n);
	bool ok = s != NULL;

	for (int i = 0; ok && i < n; i++) {
		int code;

		points[i].figure = (struct run_figure){ "", "", NAN, NAN, NAN, NAN, 0 };
		ok = sql_bind_int64(s, 4, points[i].run.id);
		code = ok ? sql_step(s) : SQL_FAILED;
		if (code == SQL_ROW)
			read_figure(s, arena, &points[i].figure);
		else if (code != SQL_DONE)
			ok = db_fail(h, "read a figure", err);
		sql_reset(s);
	}
	sql_finalize(s);
	return ok;
}

/* From the newest first to the places of a history. */
static bool order_history(struct sql *h, struct arena *arena, struct history_point *points, int n,
			  struct err *err)
{
	struct placed_run *places = ARENA_ARRAY(arena, struct placed_run, (size_t)n + 1);
	struct history_point *as_read = ARENA_ARRAY(arena, struct history_point, (size_t)n + 1);

	if (!places || !as_read)
		return err_set(err, ERR_MEMORY, "out of memory for a history");
	for (int i = 0; i < n; i++) {
		as_read[i] = points[n - 1 - i];
		places[i] = (struct placed_run){ .run = as_read[i].run.id,
						 .project = as_read[i].run.project,
						 .commit = as_read[i].run.commit };
	}
	if (!db_place_runs(h, places, n, err))
		return false;
	for (int i = 0; i < n; i++)
		points[places[i].place] = as_read[i];
	return true;
}

bool db_history(struct db *db, const struct history_query *query, struct arena *arena,
		struct history *out, struct err *err)
{
	struct history_point *rows = ARENA_ARRAY(arena, struct history_point,
						 (size_t)query->limit + 1);
	struct sql *h;
	bool ok;

	*out = (struct history){ .points = rows };
	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for a history");
	h = db_reader_take(db);
	ok = count_history(h, query, &out->total, err) &&
	     list_history(h, query, arena, rows, &out->n, err) &&
	     fill_history(h, query, arena, rows, out->n, err) &&
	     order_history(h, arena, rows, out->n, err);
	db_reader_give(db, h);
	return ok;
}

/* Every row of a statement whose columns are those of a figure. */
static bool read_figures(struct db *db, struct sql *h, struct sql_statement *s, struct arena *arena,
			 struct figure_list *out, struct err *err)
{
	VEC(struct run_figure) rows = { 0 };
	struct run_figure row;
	int code = SQL_FAILED;
	bool ok = s != NULL;

	while (ok && (code = sql_step(s)) == SQL_ROW && rows.len < MOST_FIGURES) {
		read_figure(s, arena, &row);
		ok = VEC_PUSH(&rows, row) || err_set(err, ERR_MEMORY, "out of memory for figures");
	}
	if (ok && code != SQL_DONE && code != SQL_ROW)
		ok = db_fail(h, "read figures", err);
	sql_finalize(s);
	db_reader_give(db, h);
	out->at = ok ? ARENA_ARRAY(arena, struct run_figure, rows.len + 1) : NULL;
	if (ok && !out->at)
		ok = err_set(err, ERR_MEMORY, "out of memory for figures");
	else if (out->at && rows.at)
		memcpy(out->at, rows.at, rows.len * sizeof(*rows.at));
	out->n = ok ? (int)rows.len : 0;
	VEC_FREE(&rows);
	return ok;
}

bool db_figures_known(struct db *db, const char *name, struct arena *arena, struct figure_list *out,
		      struct err *err)
{
	struct sql *h = db_reader_take(db);

	return read_figures(
	    db, h,
	    db_prepare(
		h, err,
		"SELECT DISTINCT NULL, metric, mode, n, NULL, NULL, NULL, 0 FROM run_figure WHERE "
		"run IN (SELECT id FROM run WHERE name = ?1) ORDER BY metric, mode, n NULLS FIRST",
		"t", name),
	    arena, out, err);
}

bool db_repeats(struct db *db, int64_t run, struct arena *arena, struct figure_list *out,
		struct err *err)
{
	struct sql *h = db_reader_take(db);

	return read_figures(
	    db, h,
	    db_prepare(
		h, err,
		"SELECT " FIGURE_NAMES " FROM run_figure WHERE"
		" metric IN ('latency', 'speedup') AND run IN (SELECT other.id FROM run AS this"
		" JOIN report ON report.run = this.id JOIN run AS other ON"
		" other.name = this.name AND other.source_hash = this.source_hash"
		" AND other.settings_hash = this.settings_hash AND other.commit_id = this.commit_id"
		" AND other.status = 'done' JOIN report AS its ON its.run = other.id"
		" AND its.environment = report.environment WHERE this.id = ?1 AND"
		/* Of what another tool measured the commit alone says what it is of. */
		" (this.about = '' OR this.commit_id <> '') AND"
		" this.source_hash <> '' ORDER BY other.id DESC LIMIT ?2)"
		" ORDER BY metric, mode, n NULLS FIRST",
		"ii", run, (int64_t)REPEATS),
	    arena, out, err);
}

#define DAY_OR_COMMIT                                                                              \
	"CASE commit_id WHEN '' THEN date(created_ns / 1000000000, 'unixepoch') ELSE commit_id "   \
	"END"
#define MEASURED_OF(project)                                                                       \
	" status = 'done' AND (?1 = '' OR " project " = ?1)"                                       \
	" AND EXISTS (SELECT 1 FROM run_summary WHERE run_summary.run = id) "
#define DAY_NS "86400000000000"

#define MEASURED MEASURED_OF("project")
#define MEASURED_TOO                                                                               \
	MEASURED_OF("project || ''") /* no index of projects is read for it, nor of ids for + 0 */

/* The places that came last, each by its first run: from the newest run on, as far as it takes. */
static const char places_sql[] =
    "SELECT " DAY_OR_COMMIT ", id, project, commit_id FROM run AS first WHERE" MEASURED
    "AND (commit_id = '' OR NOT EXISTS (SELECT 1 FROM run WHERE" MEASURED_TOO
    "AND commit_id <> '' AND lower(commit_id) = lower(first.commit_id)"
    " AND commit_id = first.commit_id AND id + 0 < first.id))"
    "AND (commit_id <> '' OR NOT EXISTS (SELECT 1 FROM run WHERE" MEASURED_TOO
    "AND commit_id = '' AND created_ns >= first.created_ns - first.created_ns % " DAY_NS
    " AND created_ns < first.created_ns - first.created_ns % " DAY_NS " + " DAY_NS
    " AND id + 0 < first.id)) ORDER BY id DESC LIMIT ?2";

/* ?2: the places as a JSON list; ?4: the first run of them all; `texts`: how an engine reads one.
 */
#define CELLS(texts)                                                                               \
	"WITH cells AS MATERIALIZED (SELECT name, " DAY_OR_COMMIT                                  \
	" AS place, max(id) AS id FROM run WHERE" MEASURED "AND id >= ?4 AND " DAY_OR_COMMIT       \
	" IN (SELECT " texts ") GROUP BY name, place),"                                            \
	" names AS MATERIALIZED (SELECT name, max(id) AS newest FROM cells GROUP BY name"          \
	" ORDER BY newest DESC LIMIT ?3)"                                                          \
	" SELECT name, place, id, mode, verdict, speedup, speedup_lo, speedup_hi, median_us"       \
	" FROM cells JOIN names USING (name) JOIN run_summary ON run_summary.run = id"             \
	" ORDER BY newest DESC"
static const char cells_sql[] = CELLS("value FROM json_each(?2)");
static const char cells_shared_sql[] = CELLS("jsonb_array_elements_text(?2::jsonb)");

/* Columns in the order of their commits, where that is known, else as they came; *first: the first
 * run of them all. */
static bool read_places(struct sql *h, const char *project, struct arena *arena, struct heat *out,
			int64_t *first, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, places_sql, "ti", project,
					     (int64_t)HEAT_COLUMNS);
	struct placed_run rows[HEAT_COLUMNS], *of = rows + HEAT_COLUMNS; /* the oldest first */
	const char *names[HEAT_COLUMNS];
	int code = SQL_FAILED, n = 0;

	*first = 0;
	while (s && (code = sql_step(s)) == SQL_ROW && n < HEAT_COLUMNS) {
		*first = sql_int64(s, 1);
		*--of = (struct placed_run){ .run = sql_int64(s, 1),
					     .project = text_at(s, 2, arena),
					     .commit = text_at(s, 3, arena) };
		names[HEAT_COLUMNS - ++n] = text_at(s, 0, arena);
	}
	if (s && code != SQL_DONE)
		db_fail(h, "list commits", err);
	sql_finalize(s);
	if (code != SQL_DONE || !db_place_runs(h, of, n, err))
		return false;
	for (int i = 0; i < n; i++)
		out->columns[of[i].place] = names[HEAT_COLUMNS - n + i];
	out->n_columns = n;
	return true;
}

/* The columns as JSON, in the arena; NULL: no memory. */
static const char *columns_json(const struct heat *heat, struct arena *arena)
{
	json_t *list = json_array();
	const char *copy;
	char *text;

	for (int i = 0; i < heat->n_columns; i++)
		json_array_append_new(list, json_string(heat->columns[i]));
	text = json_dumps(list, JSON_COMPACT);
	copy = text ? arena_strdup(arena, text) : NULL;
	free(text);
	json_decref(list);
	return copy;
}

static bool heat_with(struct sql *h, const char *cells, const char *project, struct arena *arena,
		      struct heat *out, struct err *err)
{
	struct sql_statement *s;
	const char *columns;
	int64_t first;
	int code = SQL_FAILED;

	*out = (struct heat){ .at = ARENA_ARRAY(arena, struct heat_cell, HEAT_COLUMNS * HEAT_ROWS),
			      .columns = ARENA_ARRAY(arena, const char *, HEAT_COLUMNS) };
	if (!out->at || !out->columns)
		return err_set(err, ERR_MEMORY, "out of memory for a history");
	if (!read_places(h, project, arena, out, &first, err))
		return false;
	columns = columns_json(out, arena);
	if (!columns)
		return err_set(err, ERR_MEMORY, "out of memory for a history");
	s = db_prepare(h, err, cells, "ttii", project, columns, (int64_t)HEAT_ROWS, first);
	while (s && (code = sql_step(s)) == SQL_ROW)
		out->at[out->n++] = (struct heat_cell){ text_at(s, 0, arena),
							text_at(s, 1, arena),
							sql_int64(s, 2),
							{ .mode = text_at(s, 3, arena),
							  .verdict = text_at(s, 4, arena),
							  .speedup = number_at(s, 5, 0),
							  .speedup_lo = number_at(s, 6, 0),
							  .speedup_hi = number_at(s, 7, 0),
							  .median_us = number_at(s, 8, 0) } };
	if (s && code != SQL_DONE)
		db_fail(h, "look for workloads over commits", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

bool db_heat(struct db *db, const char *project, struct arena *arena, struct heat *out,
	     struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = heat_with(h, db->is_shared ? cells_shared_sql : cells_sql, project, arena, out,
			    err);

	db_reader_give(db, h);
	return ok;
}

/* The one row of a statement that selects RUN_COLUMNS; finalizes it.  `s` NULL fails. */
static bool read_one(struct db *db, struct sql *h, struct sql_statement *s, struct arena *arena,
		     struct run_row *out, struct err *err)
{
	int code = s ? sql_step(s) : SQL_FAILED;

	if (code == SQL_ROW)
		run_read(s, 0, arena, out);
	else if (s && code != SQL_DONE)
		db_fail(h, "look for a run", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_ROW;
}

bool db_run_newest(struct db *db, const struct newest_query *q, struct arena *arena,
		   struct run_row *out, bool *found, struct err *err)
{
	struct sql *h = db_reader_take(db);

	*found = read_one(
	    db, h,
	    db_prepare(
		h, err,
		"SELECT " RUN_COLUMNS RUN_TABLES
		" WHERE name = ?1 AND (?2 = '' OR project = ?2) AND status = 'done' AND id <> ?5"
		" AND (branch = ?3 OR (?3 = 'baseline' AND baseline = 1) OR EXISTS (SELECT 1"
		" FROM run_tag WHERE run_tag.run = run.id AND tag = ?3)) ORDER BY"
		" ?3 = 'baseline' AND baseline = 1 DESC, branch = ?3 DESC,"
		" settings_hash = ?4 DESC, id DESC LIMIT 1",
		"tttti", q->name, q->project, q->of, q->settings_hash, q->but),
	    arena, out, err);
	return err->code == ERR_NONE;
}

bool db_run_same(struct db *db, const char *workload, struct arena *arena, struct run_row *out,
		 bool *found, struct err *err)
{
	struct sql *h = db_reader_take(db);
	char hash[HASH_HEX_BYTES];

	hash_hex(workload, strlen(workload), hash);
	*found = read_one(db, h,
			  db_prepare(h, err,
				     "SELECT " RUN_COLUMNS RUN_TABLES
				     " WHERE workload_hash = ?1 AND kind <> 'trace' AND status IN"
				     " ('queued', 'running', 'done') ORDER BY id DESC LIMIT 1",
				     "t", hash),
			  arena, out, err);
	return err->code == ERR_NONE;
}

bool db_workload_names(struct db *db, int limit, struct arena *arena, struct workload_name **names,
		       int *n, struct err *err)
{
	struct workload_name *rows = ARENA_ARRAY(arena, struct workload_name, (size_t)limit + 1);
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT value, sum(n), (SELECT max(id) FROM run_row INDEXED BY run_measured WHERE"
	    " name = value AND kind <> 'trace' AND status = 'done' AND removed_ns IS NULL) AS "
	    "newest"
	    " FROM run_count WHERE kind = 'measured' GROUP BY value HAVING sum(n) > 0"
	    " ORDER BY newest DESC LIMIT ?1",
	    "i", (int64_t)limit);
	int code = SQL_FAILED;

	*n = 0;
	while (rows && s && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = (struct workload_name){ text_at(s, 0, arena), sql_int64(s, 1) };
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory for a list");
	else if (s && code != SQL_DONE)
		db_fail(h, "list workloads", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*names = rows;
	return code == SQL_DONE;
}
