/* db/suites.c -- suites: many runs with one parent. */
#include <math.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

static bool put_result(struct db *db, int64_t run, const struct run_result *r, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT OR REPLACE INTO run_result VALUES(?1, ?2, ?3, ?4, nullif(?5, ''),"
		       " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, nullif(?14, -1), nullif(?15, -1),"
		       " nullif(?16, -1), nullif(?17, -1))",
		       "ittttddddddddiiii", run, r->engine, r->mode, r->status, r->reason,
		       r->speedup, r->speedup_lo, r->speedup_hi, r->median_us, r->compile_ms,
		       r->launches, r->peak_bytes, r->max_abs_error, r->graphs, r->capture_breaks,
		       r->lowering_breaks, r->recompiles),
	    "store what a mode gave", err);
}

bool db_results_put(struct db *db, int64_t run, const struct run_result *results, size_t n,
		    struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err, "DELETE FROM run_result WHERE run = ?1", "i", run),
	    "replace what modes gave", err);
	for (size_t i = 0; ok && i < n; i++)
		ok = put_result(db, run, &results[i], err);
	return db_write_end(db, ok, err);
}

static bool insert_member(struct db *db, int64_t suite, struct suite_member *m, struct err *err)
{
	return run_insert(db, &m->run, &m->run.id, err) &&
	       db_step_once(db->writer,
			    db_prepare(db->writer, err,
				       "INSERT INTO suite_run VALUES(?1, ?2, ?3, ?4)", "iiit",
				       m->run.id, suite, m->workload, m->policy),
			    "store a run of a suite", err) &&
	       (m->run.error.code == ERR_NONE ||
		run_end(db, m->run.id, RUN_FAILED, &m->run.error, err));
}

bool db_suite_insert(struct db *db, struct suite *suite, struct suite_member *members, size_t n,
		     struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO suite(name, project, request, workloads, created_ns)"
		       " VALUES(?1, ?2, ?3, ?4, ?5)",
		       "tttti", suite->name, suite->project, suite->request, suite->workloads,
		       clock_wall_ns()),
	    "store a suite", err);
	if (ok)
		suite->id = sqlite3_last_insert_rowid(db->writer);
	for (size_t i = 0; ok && i < n; i++)
		ok = insert_member(db, suite->id, &members[i], err);
	return db_write_end(db, ok, err);
}

#define SUITE_COLUMNS "id, name, project, request, workloads, created_ns"

static void read_suite(sqlite3_stmt *s, struct arena *arena, struct suite *out)
{
	*out = (struct suite){
		.id = sqlite3_column_int64(s, 0),
		.name = text_at(s, 1, arena),
		.project = text_at(s, 2, arena),
		.request = text_at(s, 3, arena),
		.workloads = text_at(s, 4, arena),
		.created_ns = sqlite3_column_int64(s, 5),
	};
}

/* Its runs by status. */
static bool count_runs(sqlite3 *h, struct suite *suite, struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    h, err,
	    "SELECT status, count(*) FROM suite_run JOIN run ON run.id = run"
	    " WHERE suite = ?1 GROUP BY status",
	    "i", suite->id);
	enum run_status status;
	int code = SQLITE_ERROR;

	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		if (run_status_from_name((const char *)sqlite3_column_text(s, 0), &status))
			suite->counts[status] = sqlite3_column_int64(s, 1);
	if (code != SQLITE_DONE)
		db_fail(h, "count the runs of a suite", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

static bool get_with(sqlite3 *h, int64_t id, struct arena *arena, struct suite *out,
		     struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, "SELECT " SUITE_COLUMNS " FROM suite WHERE id = ?1",
				     "i", id);
	int code;

	if (!s)
		return false;
	code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		read_suite(s, arena, out);
	else if (code == SQLITE_DONE)
		err_set(err, ERR_NOT_FOUND, "there is no suite %lld", (long long)id);
	else
		db_fail(h, "read a suite", err);
	sqlite3_finalize(s);
	return code == SQLITE_ROW && count_runs(h, out, err);
}

bool db_suite_get(struct db *db, int64_t id, struct arena *arena, struct suite *out,
		  struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	bool ok = get_with(h, id, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

static bool count_all(sqlite3 *h, int64_t *total, struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, "SELECT count(*) FROM suite", "");
	bool ok = s && sqlite3_step(s) == SQLITE_ROW;

	if (ok)
		*total = sqlite3_column_int64(s, 0);
	else if (s)
		db_fail(h, "count suites", err);
	sqlite3_finalize(s);
	return ok;
}

static bool list_with(sqlite3 *h, int64_t before_id, int limit, struct arena *arena,
		      struct suite **suites, int *n, int64_t *next, int64_t *total, struct err *err)
{
	struct suite *rows = ARENA_ARRAY(arena, struct suite, (size_t)limit + 1);
	sqlite3_stmt *s;
	int code, len = 0;
	bool ok = true;

	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory while listing suites");
	s = count_all(h, total, err)
		? db_prepare(h, err,
			     "SELECT " SUITE_COLUMNS " FROM suite WHERE ?1 = 0 OR id < ?1"
			     " ORDER BY id DESC LIMIT ?2",
			     "ii", before_id, (int64_t)limit + 1)
		: NULL;
	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		read_suite(s, arena, &rows[len++]);
	if (code != SQLITE_DONE)
		db_fail(h, "list suites", err);
	sqlite3_finalize(s);
	*next = len > limit ? rows[limit - 1].id : 0;
	*n = len > limit ? limit : len;
	*suites = rows;
	for (int i = 0; ok && i < *n; i++)
		ok = count_runs(h, &rows[i], err);
	return ok && code == SQLITE_DONE;
}

bool db_suite_list(struct db *db, int64_t before_id, int limit, struct arena *arena,
		   struct suite **suites, int *n, int64_t *next, int64_t *total, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	bool ok = list_with(h, before_id, limit, arena, suites, n, next, total, err);

	db_reader_give(db, h);
	return ok;
}

static bool read_members(sqlite3 *h, int64_t id, struct arena *arena, struct suite_member **members,
			 int n, struct err *err)
{
	struct suite_member *rows = ARENA_ARRAY(arena, struct suite_member, (size_t)n + 1);
	sqlite3_stmt *s;
	int code, len = 0;

	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	s = db_prepare(h, err,
		       "SELECT " RUN_COLUMNS ", suite_run.workload, policy FROM run"
		       " JOIN suite_run ON suite_run.run = run.id"
		       " LEFT JOIN run_summary ON run_summary.run = run.id"
		       " WHERE suite = ?1 ORDER BY run.id LIMIT ?2",
		       "ii", id, (int64_t)n);
	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		run_read(s, arena, &rows[len].run);
		rows[len].workload = sqlite3_column_int64(s, N_RUN_COLUMNS);
		rows[len++].policy = text_at(s, N_RUN_COLUMNS + 1, arena);
	}
	if (code != SQLITE_DONE)
		db_fail(h, "read the runs of a suite", err);
	sqlite3_finalize(s);
	*members = rows;
	return code == SQLITE_DONE;
}

static int64_t count_at(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, column);
}

static struct run_result read_result(sqlite3_stmt *s, struct arena *arena)
{
	bool reason = sqlite3_column_type(s, 5) != SQLITE_NULL;

	return (struct run_result){
		.run = sqlite3_column_int64(s, 0),
		.engine = text_at(s, 1, arena),
		.policy = text_at(s, 2, arena),
		.mode = text_at(s, 3, arena),
		.status = text_at(s, 4, arena),
		.reason = reason ? text_at(s, 5, arena) : NULL,
		.speedup = number_at(s, 6, NAN),
		.speedup_lo = number_at(s, 7, NAN),
		.speedup_hi = number_at(s, 8, NAN),
		.median_us = number_at(s, 9, NAN),
		.compile_ms = number_at(s, 10, NAN),
		.launches = number_at(s, 11, NAN),
		.peak_bytes = number_at(s, 12, NAN),
		.max_abs_error = number_at(s, 13, NAN),
		.graphs = count_at(s, 14),
		.capture_breaks = count_at(s, 15),
		.lowering_breaks = count_at(s, 16),
		.recompiles = count_at(s, 17),
	};
}

static bool count_results(sqlite3 *h, int64_t id, int *n, struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    h, err, "SELECT count(*) FROM run_result JOIN suite_run USING (run) WHERE suite = ?1",
	    "i", id);
	bool ok = s && sqlite3_step(s) == SQLITE_ROW;

	if (ok)
		*n = sqlite3_column_int(s, 0);
	else if (s)
		db_fail(h, "count the results of a suite", err);
	sqlite3_finalize(s);
	return ok;
}

static bool read_results(sqlite3 *h, int64_t id, struct arena *arena, struct run_result **results,
			 int *n, struct err *err)
{
	int most = 0, code, len = 0;
	struct run_result *rows;
	sqlite3_stmt *s;

	if (!count_results(h, id, &most, err))
		return false;
	rows = ARENA_ARRAY(arena, struct run_result, (size_t)most + 1);
	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	/* in the order of modes of a run: eager, then as they are measured */
	s = db_prepare(
	    h, err,
	    "SELECT run_result.run, engine, suite_run.policy, run_result.mode,"
	    " run_result.status, reason, speedup, speedup_lo, speedup_hi, median_us,"
	    " compile_ms, launches, peak_bytes, max_abs_error, graphs, capture_breaks,"
	    " lowering_breaks, recompiles FROM run_result"
	    " JOIN suite_run ON suite_run.run = run_result.run"
	    " JOIN run ON run.id = run_result.run WHERE suite = ?1 ORDER BY run_result.run,"
	    " engine, instr(',' || modes || ',', ',' || run_result.mode || ',') LIMIT ?2",
	    "ii", id, (int64_t)most);
	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		rows[len++] = read_result(s, arena);
	if (code != SQLITE_DONE)
		db_fail(h, "read the results of a suite", err);
	sqlite3_finalize(s);
	*results = rows;
	*n = len;
	return code == SQLITE_DONE;
}

bool db_suite_members(struct db *db, int64_t id, struct arena *arena, struct suite_member **members,
		      int *n_members, struct run_result **results, int *n_results, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	struct suite suite = { .id = id };
	bool ok = count_runs(h, &suite, err);

	*n_members = 0;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		*n_members += (int)suite.counts[i];
	ok = ok && read_members(h, id, arena, members, *n_members, err) &&
	     read_results(h, id, arena, results, n_results, err);
	db_reader_give(db, h);
	return ok;
}

bool db_run_in_suite(struct db *db, int64_t run, bool *is, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(h, err, "SELECT 1 FROM suite_run WHERE run = ?1", "i", run);
	int code = s ? sqlite3_step(s) : SQLITE_ERROR;

	*is = code == SQLITE_ROW;
	if (s && code != SQLITE_ROW && code != SQLITE_DONE)
		db_fail(h, "look for a run's suite", err);
	sqlite3_finalize(s);
	db_reader_give(db, h);
	return code == SQLITE_ROW || code == SQLITE_DONE;
}

bool db_suite_delete(struct db *db, int64_t id, struct err *err)
{
	struct arena arena = { 0 };
	struct suite suite;
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = get_with(db->writer, id, &arena, &suite, err);
	arena_finish(&arena);
	if (ok && suite.counts[RUN_QUEUED] + suite.counts[RUN_RUNNING] > 0)
		ok = err_set(err, ERR_CONFLICT, "suite %lld still runs; cancel it first",
			     (long long)id);
	ok = ok &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "DELETE FROM run WHERE id IN"
				     " (SELECT run FROM suite_run WHERE suite = ?1)",
				     "i", id),
			  "remove the runs of a suite", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err, "DELETE FROM suite WHERE id = ?1", "i", id),
			  "remove a suite", err);
	return db_write_end(db, ok, err);
}
