/* db/runs.c -- rows of runs, which are jobs until they end: posted, claimed, ended, read. */
#include <math.h>
#include <string.h>

#include "db/internal.h"
#include "db/search.h"
#include "db/shared.h"
#include "fusion/base/refused.h"
#include "fusion/base/clock.h"
#include "fusion/base/hash.h"

enum { MAX_ATTEMPTS = 3 };

static const char *const status_names[RUN_STATUS_COUNT] = { "queued", "running", "done", "failed",
							    "cancelled" };

const char *run_status_name(enum run_status status)
{
	return status_names[status];
}

bool run_status_from_name(const char *name, enum run_status *out)
{
	for (int i = 0; i < RUN_STATUS_COUNT; i++) {
		if (strcmp(name, status_names[i]) == 0) {
			*out = (enum run_status)i;
			return true;
		}
	}
	return false;
}

static bool insert_tags(struct db *db, int64_t id, const char *tags, struct err *err)
{
	bool ok = true;

	while (ok && tags && *tags) {
		size_t len = strcspn(tags, "\n");
		struct sql_statement *s = db_prepare(
		    db->writer, err,
		    "INSERT INTO run_tag(run, tag) VALUES(?1, ?2) ON CONFLICT DO NOTHING", "i", id);

		ok = s && sql_bind_text(s, 2, tags, len);
		if (!ok)
			sql_finalize(s);
		else
			ok = db_step_once(db->writer, s, "store a tag", err);
		tags += len + (tags[len] == '\n');
	}
	return ok;
}

static bool put_workload(struct db *db, int64_t id, const char *json, struct err *err)
{
	return db_step_once(db->writer,
			    db_prepare(db->writer, err,
				       "INSERT INTO run_workload(run, json) VALUES(?1, ?2)"
				       " ON CONFLICT(run) DO UPDATE SET json = excluded.json",
				       "it", id, json),
			    "store a workload", err);
}

bool run_insert(struct db *db, const struct run_row *row, int64_t *id, struct err *err)
{
	char hash[HASH_HEX_BYTES];
	int64_t now = clock_wall_ns();
	bool ok;

	hash_hex(row->workload, strlen(row->workload), hash);
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO run_row(workload_hash, status, kind, created_ns,"
		       " started_ns, heard_ns, author" RUN_POSTED_COLUMNS(
			   COLUMN_NAME) ")"
					" VALUES(?, ?, ?, ?, nullif(?, 0), nullif(?, "
					"0), ?" RUN_POSTED_COLUMNS(COLUMN_PARAMETER) ")",
		       "tttiiit" RUN_POSTED_COLUMNS(COLUMN_TYPE), hash,
		       row->trace ? "running" : "queued", row->trace ? "trace" : "workload", now,
		       row->trace ? now : INT64_C(0), row->trace ? clock_ns() : INT64_C(0),
		       row->author RUN_POSTED_COLUMNS(COLUMN_ARGUMENT)),
	    "store the run", err);
	if (ok) {
		*id = sql_last_id(db->writer);
		ok = put_workload(db, *id, row->workload, err) &&
		     (!db->server || !row->trace || shared_own_run(db, *id, err)) &&
		     insert_tags(db, *id, row->tags, err) && search_put(db, *id, NULL, err);
	}
	return ok;
}

bool run_become(struct db *db, int64_t id, const struct run_row *row, struct err *err)
{
	char hash[HASH_HEX_BYTES];
	bool ok;

	hash_hex(row->workload, strlen(row->workload), hash);
	ok = db_step_once(
	    db->writer,
	    db_prepare(
		db->writer, err,
		"UPDATE run_row SET (workload_hash, imported, kind" RUN_POSTED_COLUMNS(
		    COLUMN_NAME) ") = (?2, ?3, ?4" RUN_POSTED_COLUMNS(COLUMN_PARAMETER) ")"
											" WHERE id "
											"= ?1 AND "
											"kind = "
											"'trace' "
											"AND "
											"status = "
											"'running'",
		"ittt" RUN_POSTED_COLUMNS(COLUMN_TYPE), id, hash, row->imported,
		row->trace ? "trace" : "workload" RUN_POSTED_COLUMNS(COLUMN_ARGUMENT)),
	    "make a run of a trace", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld is no trace that is being recorded",
			     (long long)id);
	return ok && put_workload(db, id, row->workload, err) &&
	       insert_tags(db, id, row->tags, err) && search_put(db, id, NULL, err);
}

bool db_run_insert(struct db *db, const struct run_row *run, int64_t *id, struct err *err)
{
	return db_write_begin(db, err) && db_write_end(db, run_insert(db, run, id, err), err);
}

const char *db_text(struct sql_statement *s, int column)
{
	bool is_null = sql_is_null(s, column);
	const char *text = is_null ? "" : sql_text(s, column);

	if (!text)
		memory_note_refused();
	return text ? text : "";
}

const char *text_at(struct sql_statement *s, int column, struct arena *arena)
{
	char *text = arena_strdup(arena, db_text(s, column));

	if (!text)
		memory_note_refused();
	return text ? text : "";
}

static enum run_status status_at(struct sql_statement *s, int column)
{
	enum run_status status = RUN_QUEUED;

	run_status_from_name(db_text(s, column), &status);
	return status;
}

static int read_summary(struct sql_statement *s, int at, struct arena *arena,
			struct run_summary *out)
{
	SUMMARY_COLUMNS(COLUMN_READ)
	if (!out->mode)
		*out = (struct run_summary){ .breaks = -1 };
	return at;
}

int run_read(struct sql_statement *s, int at, struct arena *arena, struct run_row *out)
{
	*out = (struct run_row){ .id = sql_int64(s, at++), .workload = "" };
	RUN_POSTED_COLUMNS(COLUMN_READ)
	RUN_KEPT_COLUMNS(COLUMN_READ)
	at = read_summary(s, at, arena, &out->summary);
	if (!sql_is_null(s, at))
		err_at(&out->error, err_from_name(db_text(s, at)), sql_int(s, at + 2),
		       sql_int(s, at + 3), "%s", db_text(s, at + 1));
	return at + 4;
}

#define WORKLOAD ", (SELECT json FROM run_workload WHERE run_workload.run = run.id)"

/* `sql` takes the id. */
static bool get_by(struct sql *h, const char *sql, int64_t id, struct arena *arena,
		   struct run_row *out, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, sql, "i", id);
	int code;

	if (!s)
		return false;
	code = sql_step(s);
	if (code == SQL_ROW) {
		out->workload = text_at(s, run_read(s, 0, arena, out), arena);
	} else if (code == SQL_DONE) {
		err_set(err, ERR_NOT_FOUND, "there is no run %lld", (long long)id);
	} else {
		db_fail(h, "read a run", err);
	}
	sql_finalize(s);
	return code == SQL_ROW;
}

static bool get_with(struct sql *h, int64_t id, struct arena *arena, struct run_row *out,
		     struct err *err)
{
	return get_by(h, "SELECT " RUN_COLUMNS WORKLOAD RUN_TABLES "WHERE id = ?1", id, arena, out,
		      err);
}

bool db_run_removed(struct db *db, int64_t id, struct arena *arena, struct run_row *out,
		    struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = get_by(h,
			 "SELECT " RUN_COLUMNS WORKLOAD " FROM run_row AS run LEFT JOIN run_summary"
			 " ON run_summary.run = run.id WHERE id = ?1 AND removed_ns IS NOT NULL",
			 id, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

bool db_run_get(struct db *db, int64_t id, struct arena *arena, struct run_row *out,
		struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = get_with(h, id, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

bool db_run_claim(struct db *db, int64_t suite, struct arena *arena, struct run_row *out,
		  bool *found, struct err *err)
{
	struct sql_statement *s;
	int64_t id = 0;
	bool ok;

	*found = false;
	if (!db_write_begin(db, err))
		return false;
	s = db_prepare(
	    db->writer, err,
	    "UPDATE run_row SET status = 'running', attempts = attempts + 1, started_ns = ?1"
	    " WHERE id = (SELECT min(id) FROM run WHERE status = 'queued' AND host = '' AND"
	    " (?2 = 0 OR id IN (SELECT run FROM suite_run WHERE suite = ?2)))"
	    " RETURNING id",
	    "ii", clock_wall_ns(), suite);
	ok = s != NULL;
	if (ok) {
		int code = sql_step(s);

		if (code == SQL_ROW) {
			id = sql_int64(s, 0);
			code = sql_step(s);
		}
		ok = code == SQL_DONE || db_fail(db->writer, "take a run from the queue", err);
	}
	sql_finalize(s);
	if (ok && id)
		ok = (!db->server || shared_own_run(db, id, err)) &&
		     get_with(db->writer, id, arena, out, err);
	ok = db_write_end(db, ok, err);
	*found = ok && id;
	return ok;
}

bool run_end(struct db *db, int64_t id, enum run_status status, const struct err *why,
	     struct err *err)
{
	bool has_error = why && why->code != ERR_NONE;
	bool ok;

	ok = db_step_once(
	    db->writer,
	    db_prepare(
		db->writer, err,
		"UPDATE run_row SET status = ?2, finished_ns = ?3, error_code = nullif(?4, ''),"
		" error_message = nullif(?5, ''), error_line = ?6, error_column = ?7"
		" WHERE id = ?1 AND status IN ('queued', 'running')",
		"ititti"
		"i",
		id, run_status_name(status), clock_wall_ns(), has_error ? err_name(why->code) : "",
		has_error ? why->message : "", (int64_t)(has_error ? why->line : 0),
		(int64_t)(has_error ? why->column : 0)),
	    "end a run", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld has ended already", (long long)id);
	return ok;
}

bool db_run_requeue(struct db *db, int64_t id, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(
		db->writer, err,
		"UPDATE run_row SET status = 'queued', attempts = attempts - 1, started_ns = NULL"
		" WHERE id = ?1 AND status = 'running'",
		"i", id),
	    "queue a run again", err);
	return db_write_end(db, ok, err);
}

/* Where several servers share a store, `text` is of what none of them has any more. */
static const char *of_gone(const struct db *db, const char *text, const char *text_shared)
{
	return db->is_shared ? text_shared : text;
}

#define FAIL_TRACES                                                                                \
	"UPDATE run_row SET status = 'failed', finished_ns = ?1, error_code = 'io',"               \
	" error_message = ?3 || '; what had come is kept, and the recorder''s file"                \
	" can be posted: breakeven trace --post URL --from FILE',"                                 \
	" error_line = 0, error_column = 0"                                                        \
	" WHERE kind = 'trace' AND status = 'running' AND heard_ns < ?2"

/* Traces that nobody has spoken for since then, of which `sql` says more; within a turn of the
 * writer. */
static bool fail_traces(struct db *db, const char *sql, int64_t before_ns, const char *why,
			struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err, sql, "iiti", clock_wall_ns(), before_ns, why, db->server),
	    "fail a trace", err);
}

bool db_trace_expire(struct db *db, int64_t silent_ns, struct err *err)
{
	bool ok = db_write_begin(db, err);

	return ok &&
	       db_write_end(
		   db,
		   fail_traces(db,
			       of_gone(db, FAIL_TRACES " AND ?4 = ?4",
				       FAIL_TRACES
				       " AND id IN (SELECT run FROM run_server WHERE server = ?4)"),
			       clock_ns() - silent_ns, "its recorder does not speak any more", err),
		   err);
}

#define FAIL_LOST                                                                                  \
	"UPDATE run_row SET status = 'failed', finished_ns = ?1, error_code = 'worker',"           \
	" error_message = 'the server ended three times while this ran; it is not tried again',"   \
	" error_line = 0, error_column = 0"                                                        \
	" WHERE status = 'running' AND kind = 'workload' AND host = '' AND attempts >= ?2"
#define QUEUE_LOST                                                                                 \
	"UPDATE run_row SET status = 'queued', started_ns = NULL WHERE status = 'running' AND"     \
	" kind = 'workload' AND host = ''"
#define FORGET_KEYS "DELETE FROM request_key WHERE status = 0"

bool db_run_recover(struct db *db, int *n, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = fail_traces(
		 db,
		 of_gone(db, FAIL_TRACES " AND ?4 = ?4", FAIL_TRACES OF_SERVER_GONE " AND ?4 = ?4"),
		 INT64_MAX, "the server ended while this was being posted", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     of_gone(db, FAIL_LOST, FAIL_LOST OF_SERVER_GONE), "ii",
				     clock_wall_ns(), (int64_t)MAX_ATTEMPTS),
			  "fail lost runs", err);
	*n = ok ? sql_changes(db->writer) : 0;
	ok = ok &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     of_gone(db, FORGET_KEYS, FORGET_KEYS KEY_OF_SERVER_GONE), ""),
			  "forget requests that were under way", err);
	ok = ok && db_step_once(db->writer,
				db_prepare(db->writer, err,
					   of_gone(db, QUEUE_LOST, QUEUE_LOST OF_SERVER_GONE), ""),
				"queue lost runs", err);
	*n += ok ? sql_changes(db->writer) : 0;
	return db_write_end(db, ok, err);
}

bool db_run_delete(struct db *db, int64_t id, struct err *err)
{
	struct arena arena = { 0 };
	struct run_row run;
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = get_with(db->writer, id, &arena, &run, err);
	if (ok && (run.status == RUN_QUEUED || run.status == RUN_RUNNING))
		ok = err_set(err, ERR_CONFLICT, "run %lld is %s; cancel it before it is removed",
			     (long long)id, run_status_name(run.status));
	arena_finish(&arena);
	ok = ok && db_step_once(db->writer,
				db_prepare(db->writer, err,
					   "UPDATE run_row SET removed_ns = ?2 WHERE id = ?1", "ii",
					   id, clock_wall_ns()),
				"remove a run", err);
	ok = db_write_end(db, ok, err);
	return ok;
}

/* CONFLICT where the suite of a run was removed. */
static bool suite_is_there(struct sql *h, int64_t run, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT suite FROM suite_run JOIN suite_row ON suite_row.id = suite"
	    " WHERE run = ?1 AND removed_ns IS NOT NULL",
	    "i", run);
	int code = s ? sql_step(s) : SQL_FAILED;

	if (code == SQL_ROW)
		err_set(err, ERR_CONFLICT, "run %lld went with suite %lld: restore that",
			(long long)run, (long long)sql_int64(s, 0));
	else if (s && code != SQL_DONE)
		db_fail(h, "look for a run's suite", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

/* One that has become the baseline of its workload meanwhile stays that. */
bool db_run_restore(struct db *db, int64_t id, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = suite_is_there(db->writer, id, err) &&
	     db_step_once(
		 db->writer,
		 db_prepare(db->writer, err,
			    "UPDATE run_row SET removed_ns = NULL, baseline = " STILL_BASELINE
			    " WHERE id = ?1 AND removed_ns IS NOT NULL",
			    "i", id),
		 "restore a run", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_NOT_FOUND,
			     "there is no removed run %lld; it is gone for good, or was never "
			     "removed",
			     (long long)id);
	return db_write_end(db, ok, err);
}

enum { PURGED_AT_ONCE = 8 }; /* a large timeline takes a while */

bool db_run_purge(struct db *db, int64_t before_ns, bool *more, struct err *err)
{
	bool ok = db_write_begin(db, err);

	*more = false;
	if (!ok)
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "DELETE FROM run_row WHERE id IN (SELECT id FROM run_row WHERE"
				     " removed_ns < ?1 LIMIT ?2)",
				     "ii", before_ns, (int64_t)PURGED_AT_ONCE),
			  "remove runs", err);
	*more = ok && sql_changes(db->writer) == PURGED_AT_ONCE;
	ok = ok &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "DELETE FROM suite_row WHERE removed_ns < ?1 AND NOT EXISTS"
				     " (SELECT 1 FROM suite_run WHERE suite = suite_row.id)",
				     "i", before_ns),
			  "remove suites", err) &&
	     search_forget(db, err);
	return db_write_end(db, ok, err);
}

/* One baseline a workload of a project. */
static bool set_baseline(struct db *db, int64_t id, bool on, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET baseline = CASE WHEN id = ?1 THEN ?2 ELSE 0 END WHERE"
		       " (name, project) = (SELECT name, project FROM run WHERE id = ?1)"
		       " AND (id = ?1 OR (baseline = 1 AND ?2 = 1))",
		       "ii", id, (int64_t)on),
	    "mark a baseline", err);
}

/* Under another name it is a run of another workload, which has a baseline of its own. */
static bool set_name(struct db *db, int64_t id, const char *name, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET baseline = CASE WHEN name = ?2 THEN baseline ELSE 0 END,"
		       " name = ?2 WHERE id = ?1",
		       "it", id, name),
	    "rename a run", err);
}

/* In another project likewise. */
static bool set_project(struct db *db, int64_t id, const char *project, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(
		db->writer, err,
		"UPDATE run_row SET baseline = CASE WHEN project = ?2 THEN baseline ELSE 0 END,"
		" project = ?2 WHERE id = ?1",
		"it", id, project),
	    "move a run to a project", err);
}

static bool set_tags(struct db *db, int64_t id, const char *tags, struct err *err)
{
	return db_step_once(
		   db->writer,
		   db_prepare(db->writer, err, "DELETE FROM run_tag WHERE run = ?1", "i", id),
		   "change tags", err) &&
	       insert_tags(db, id, tags, err);
}

bool db_run_annotate(struct db *db, int64_t id, const struct run_notes *notes, struct err *err)
{
	struct arena arena = { 0 };
	struct run_row run;
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = get_with(db->writer, id, &arena, &run, err);
	arena_finish(&arena);
	if (ok && notes->note)
		ok = db_step_once(
		    db->writer,
		    db_prepare(db->writer, err,
			       "UPDATE run_row SET note = ?2, note_by = ?3 WHERE id = ?1", "itt",
			       id, notes->note, notes->by),
		    "store a note", err);
	if (ok && notes->name)
		ok = set_name(db, id, notes->name, err);
	if (ok && notes->project)
		ok = set_project(db, id, notes->project, err);
	if (ok && notes->sets_pinned)
		ok = db_step_once(db->writer,
				  db_prepare(db->writer, err,
					     "UPDATE run_row SET pinned = ?2 WHERE id = ?1", "ii",
					     id, (int64_t)notes->pinned),
				  "pin a run", err);
	if (ok && notes->sets_baseline)
		ok = set_baseline(db, id, notes->baseline, err);
	if (ok && notes->tags)
		ok = set_tags(db, id, notes->tags, err);
	if (ok && (notes->name || notes->project || notes->tags || notes->note))
		ok = search_put(db, id, NULL, err);
	return db_write_end(db, ok, err);
}

bool db_queue_since(struct db *db, int64_t *since_ns, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT created_ns FROM run_row INDEXED BY run_by_status"
	    " WHERE status = 'queued' AND removed_ns IS NULL ORDER BY id LIMIT 1",
	    "");
	int code = s ? sql_step(s) : SQL_FAILED;
	bool ok = code == SQL_ROW || code == SQL_DONE;

	*since_ns = code == SQL_ROW ? sql_int64(s, 0) : 0;
	if (s && !ok)
		db_fail(h, "look at the queue", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_run_count(struct db *db, enum run_status status, int64_t *n, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err,
					     "SELECT count(*) FROM run_row INDEXED BY run_by_status"
					     " WHERE status = ?1 AND removed_ns IS NULL",
					     "t", run_status_name(status));
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count runs", err));

	*n = ok ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_run_counts(struct db *db, int64_t *counts, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT status, count(*) FROM run_row INDEXED BY run_here"
	    " WHERE removed_ns IS NULL GROUP BY status",
	    "");
	enum run_status status;
	int code = SQL_FAILED;

	memset(counts, 0, RUN_STATUS_COUNT * sizeof(*counts));
	if (s) {
		while ((code = sql_step(s)) == SQL_ROW)
			if (run_status_from_name(db_text(s, 0), &status))
				counts[status] = sql_int64(s, 1);
		if (code != SQL_DONE)
			db_fail(h, "count runs", err);
	}
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_DONE;
}
