/* db/suites.c -- suites, many runs with one parent, and what the modes of these runs gave. */
#include <math.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

static bool insert_member(struct db *db, int64_t suite, struct suite_member *m, struct err *err)
{
	return run_insert(db, &m->run, &m->run.id, err) &&
	       db_step_once(
		   db->writer,
		   db_prepare(db->writer, err,
			      "INSERT INTO suite_run(run, suite, workload, policy, likeness)"
			      " VALUES(?1, ?2, ?3, ?4, ?5)",
			      "iiitt", m->run.id, suite, m->workload, m->policy, m->likeness),
		   "store a run of a suite", err) &&
	       (m->run.error.code == ERR_NONE ||
		run_end(db, m->run.id, RUN_FAILED, &m->run.error, err));
}

static bool insert_suite(struct db *db, struct suite *row, struct err *err)
{
	row->created_ns = clock_wall_ns();
	if (!db_step_once(
		db->writer,
		db_prepare(db->writer, err,
			   "INSERT INTO suite_row(removed_ns" SUITE_COLUMNS(
			       COLUMN_NAME) ") VALUES(NULL" SUITE_COLUMNS(COLUMN_PARAMETER) ")",
			   SUITE_COLUMNS(COLUMN_TYPE) "" SUITE_COLUMNS(COLUMN_ARGUMENT)),
		"store a suite", err))
		return false;
	row->id = sql_last_id(db->writer);
	return true;
}

/* The newest run that it is like, of a suite that is there or was; 0: none. */
static bool find_like(struct db *db, const struct suite_member *m, int64_t *run, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    db->writer, err,
	    "SELECT run.id FROM suite_run JOIN run ON run.id = suite_run.run"
	    " JOIN report ON report.run = run.id WHERE likeness = ?1 AND likeness <> ''"
	    " AND run.project = ?2 AND run.host = ?3 AND run.status = 'done'"
	    " AND EXISTS (SELECT 1 FROM run_result WHERE run_result.run = run.id)"
	    " AND NOT EXISTS (SELECT 1 FROM run_result WHERE run_result.run = run.id AND"
	    " run_result.status <> 'pass')"
	    " AND (?3 = '' OR report.environment = (SELECT newest.environment FROM report AS newest"
	    " JOIN run AS its ON its.id = newest.run WHERE its.host = ?3 AND its.status = 'done'"
	    " ORDER BY its.id DESC LIMIT 1)) ORDER BY run.id DESC LIMIT 1",
	    "ttt", m->likeness, m->run.project, m->run.host);
	int code = s ? sql_step(s) : SQL_FAILED;

	*run = code == SQL_ROW ? sql_int64(s, 0) : 0;
	if (s && code == SQL_FAILED)
		db_fail(db->writer, "look for a run to keep", err);
	sql_finalize(s);
	return code != SQL_FAILED;
}

static bool keep_member(struct db *db, struct suite *suite, struct suite_member *m, int64_t run,
			struct err *err)
{
	m->run.id = run;
	m->kept = true;
	suite->kept++;
	return db_step_once(db->writer,
			    db_prepare(db->writer, err,
				       "INSERT INTO suite_kept(suite, workload, policy, run)"
				       " VALUES(?1, ?2, ?3, ?4)",
				       "iiti", suite->id, m->workload, m->policy, run),
			    "keep a run of an earlier suite", err);
}

bool db_suite_insert(struct db *db, struct suite *row, struct suite_member *members, size_t n,
		     struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	row->kept = 0;
	ok = insert_suite(db, row, err);
	for (size_t i = 0; ok && i < n; i++) {
		struct suite_member *m = &members[i];
		int64_t like = 0;

		if (!row->again && m->likeness && *m->likeness && m->run.error.code == ERR_NONE)
			ok = find_like(db, m, &like, err);
		ok = ok && (like ? keep_member(db, row, m, like, err)
				 : insert_member(db, row->id, m, err));
	}
	return db_write_end(db, ok, err);
}

bool db_runs_measured(struct db *db, struct suite *suite, struct suite_member *members,
		      const struct run_outcome *outcomes, size_t n, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = !suite || insert_suite(db, suite, err);
	for (size_t i = 0; ok && i < n; i++)
		ok = (suite ? insert_member(db, suite->id, &members[i], err)
			    : run_insert(db, &members[i].run, &members[i].run.id, err)) &&
		     run_measured(db, members[i].run.id, &outcomes[i], err);
	return db_write_end(db, ok, err);
}

#define SUITE_NAMES "id" SUITE_COLUMNS(COLUMN_NAME)

static void read_suite(struct sql_statement *s, struct arena *arena, struct suite *out)
{
	int at = 1;

	*out = (struct suite){ .id = sql_int64(s, 0) };
	SUITE_COLUMNS(COLUMN_READ)
}

static bool count_kept(struct sql *h, struct suite *suite, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err,
					     "SELECT count(*) FROM suite_kept JOIN run ON run.id ="
					     " suite_kept.run WHERE suite_kept.suite = ?1",
					     "i", suite->id);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count what a suite keeps", err));

	if (ok)
		suite->kept = sql_int64(s, 0);
	sql_finalize(s);
	return ok;
}

/* Its runs by status, and those that it keeps. */
static bool count_runs(struct sql *h, struct suite *suite, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT status, count(*) FROM suite_run JOIN run ON run.id = run"
	    " WHERE suite = ?1 GROUP BY status",
	    "i", suite->id);
	enum run_status status;
	int code = SQL_FAILED;

	if (!s)
		return false;
	while ((code = sql_step(s)) == SQL_ROW)
		if (run_status_from_name(db_text(s, 0), &status))
			suite->counts[status] = sql_int64(s, 1);
	if (code != SQL_DONE)
		db_fail(h, "count the runs of a suite", err);
	sql_finalize(s);
	return code == SQL_DONE && count_kept(h, suite, err);
}

static bool get_with(struct sql *h, int64_t id, struct arena *arena, struct suite *out,
		     struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT " SUITE_NAMES " FROM suite WHERE id = ?1", "i", id);
	int code;

	if (!s)
		return false;
	code = sql_step(s);
	if (code == SQL_ROW)
		read_suite(s, arena, out);
	else if (code == SQL_DONE)
		err_set(err, ERR_NOT_FOUND, "there is no suite %lld", (long long)id);
	else
		db_fail(h, "read a suite", err);
	sql_finalize(s);
	return code == SQL_ROW && count_runs(h, out, err);
}

bool db_suite_get(struct db *db, int64_t id, struct arena *arena, struct suite *out,
		  struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = get_with(h, id, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

static bool count_all(struct sql *h, int64_t *total, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "SELECT count(*) FROM suite", "");
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*total = sql_int64(s, 0);
	else if (s)
		db_fail(h, "count suites", err);
	sql_finalize(s);
	return ok;
}

static bool list_with(struct sql *h, const struct suite_query *q, struct arena *arena,
		      struct suite_page *out, struct err *err)
{
	struct sql_statement *s;
	int code;
	bool ok = true;

	*out = (struct suite_page){ .suites = ARENA_ARRAY(arena, struct suite,
							  (size_t)q->limit + 1) };
	if (!out->suites)
		return err_set(err, ERR_MEMORY, "out of memory while listing suites");
	s = count_all(h, &out->total, err)
		? db_prepare(h, err,
			     "SELECT " SUITE_NAMES " FROM suite WHERE ?1 = 0 OR id < ?1"
			     " ORDER BY id DESC LIMIT ?2",
			     "ii", q->before_id, (int64_t)q->limit + 1)
		: NULL;
	if (!s)
		return false;
	while ((code = sql_step(s)) == SQL_ROW)
		read_suite(s, arena, &out->suites[out->n++]);
	if (code != SQL_DONE)
		db_fail(h, "list suites", err);
	sql_finalize(s);
	if (out->n > q->limit) {
		out->n = q->limit;
		out->next = out->suites[q->limit - 1].id;
	}
	for (int i = 0; ok && i < out->n; i++)
		ok = count_runs(h, &out->suites[i], err);
	return ok && code == SQL_DONE;
}

bool db_suite_list(struct db *db, const struct suite_query *query, struct arena *arena,
		   struct suite_page *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = list_with(h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

/* Those that it made, and those that it keeps. */
#define ITS_RUNS                                                                                   \
	"SELECT run AS member, workload, policy, 0 AS kept FROM suite_run WHERE suite = ?1"        \
	" UNION ALL SELECT run, workload, policy, 1 FROM suite_kept WHERE suite = ?1"

static bool read_members(struct sql *h, int64_t id, struct arena *arena,
			 struct suite_member **members, int n, struct err *err)
{
	struct suite_member *rows = ARENA_ARRAY(arena, struct suite_member, (size_t)n + 1);
	struct sql_statement *s;
	int code, len = 0;

	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	s = db_prepare(h, err,
		       "SELECT " RUN_COLUMNS ", its.workload, its.policy, its.kept FROM (" ITS_RUNS
		       ") AS its JOIN run ON run.id = its.member"
		       " LEFT JOIN run_summary ON run_summary.run = run.id"
		       " ORDER BY run.id, its.workload LIMIT ?2",
		       "ii", id, (int64_t)n);
	if (!s)
		return false;
	while ((code = sql_step(s)) == SQL_ROW) {
		int at = run_read(s, 0, arena, &rows[len].run);

		rows[len].workload = sql_int64(s, at);
		rows[len].policy = text_at(s, at + 1, arena);
		rows[len++].kept = sql_int(s, at + 2) != 0;
	}
	if (code != SQL_DONE)
		db_fail(h, "read the runs of a suite", err);
	sql_finalize(s);
	*members = rows;
	return code == SQL_DONE;
}

#define RESULT_NAME(field, column, type, null) ", run_result." column

static struct run_result read_result(struct sql_statement *s, struct arena *arena)
{
	struct run_result row = { .run = sql_int64(s, 0) };
	struct run_result *out = &row;
	int at = 1;

	RESULT_COLUMNS(COLUMN_READ)
	return row;
}

static bool count_results(struct sql *h, int64_t id, int *n, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT count(*) FROM run_result WHERE run IN (SELECT member FROM (" ITS_RUNS
	    ") AS its)",
	    "i", id);
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*n = sql_int(s, 0);
	else if (s)
		db_fail(h, "count the results of a suite", err);
	sql_finalize(s);
	return ok;
}

static bool read_results(struct sql *h, int64_t id, struct arena *arena,
			 struct run_result **results, int *n, struct err *err)
{
	int most = 0, code, len = 0;
	struct run_result *rows;
	struct sql_statement *s;

	if (!count_results(h, id, &most, err))
		return false;
	rows = ARENA_ARRAY(arena, struct run_result, (size_t)most + 1);
	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	/* in the order of modes of a run: eager, then as they are measured */
	s = db_prepare(h, err,
		       "SELECT run_result.run" RESULT_COLUMNS(
			   RESULT_NAME) " FROM run_result"
					" JOIN run ON run.id = run_result.run WHERE run.id IN"
					" (SELECT member FROM (" ITS_RUNS
					") AS its) ORDER BY run_result.run,"
					" engine, instr(',' || modes || ',', ',' || "
					"run_result.mode || ',') LIMIT ?2",
		       "ii", id, (int64_t)most);
	if (!s)
		return false;
	while ((code = sql_step(s)) == SQL_ROW)
		rows[len++] = read_result(s, arena);
	if (code != SQL_DONE)
		db_fail(h, "read the results of a suite", err);
	sql_finalize(s);
	*results = rows;
	*n = len;
	return code == SQL_DONE;
}

bool db_suite_members(struct db *db, int64_t id, struct arena *arena, struct suite_contents *out,
		      struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct suite suite = { .id = id };
	bool ok = count_runs(h, &suite, err);

	*out = (struct suite_contents){ .n_members = (int)suite.kept };
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		out->n_members += (int)suite.counts[i];
	ok = ok && read_members(h, id, arena, &out->members, out->n_members, err) &&
	     read_results(h, id, arena, &out->results, &out->n_results, err);
	db_reader_give(db, h);
	return ok;
}

/* What another suite keeps becomes its own, and this one keeps it. */
#define KEPT_ELSEWHERE                                                                             \
	" FROM suite_kept AS k JOIN suite AS its ON its.id = k.suite WHERE k.run = suite_run.run"  \
	" AND k.suite <> ?1"

static bool give_kept(struct db *db, int64_t id, struct err *err)
{
	static const char *const steps[] = {
		"INSERT INTO suite_kept(suite, workload, policy, run) SELECT suite, workload,"
		" policy, run FROM suite_run WHERE suite = ?1 AND EXISTS (SELECT 1" KEPT_ELSEWHERE
		")",
		"UPDATE suite_run SET (suite, workload, policy) = (SELECT k.suite, k.workload,"
		" k.policy" KEPT_ELSEWHERE " ORDER BY k.suite DESC, k.workload LIMIT 1)"
		" WHERE suite = ?1 AND EXISTS (SELECT 1" KEPT_ELSEWHERE ")",
		"DELETE FROM suite_kept WHERE suite <> ?1 AND EXISTS (SELECT 1 FROM suite_run AS s"
		" WHERE s.run = suite_kept.run AND s.suite = suite_kept.suite AND s.workload ="
		" suite_kept.workload AND s.policy = suite_kept.policy)",
	};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(steps) / sizeof(steps[0]); i++)
		ok = db_step_once(db->writer, db_prepare(db->writer, err, steps[i], "i", id),
				  "leave runs to the suites that keep them", err);
	return ok;
}

#define CANCELLED_OF                                                                               \
	" (SELECT id FROM run JOIN suite_run ON suite_run.run = run.id WHERE suite_run.suite = ?1" \
	" AND status = 'cancelled')"

/* CONFLICT where another machine has not ended what was cancelled. */
static bool all_ended(struct db *db, int64_t id, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    db->writer, err, "SELECT count(*) FROM placement WHERE run IN" CANCELLED_OF, "i", id);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(db->writer, "look for placements", err));

	if (ok && sql_int(s, 0) > 0)
		ok = err_set(
		    err, ERR_CONFLICT,
		    "suite %lld: another machine is still ending %d of its runs; resume it "
		    "a little later",
		    (long long)id, sql_int(s, 0));
	sql_finalize(s);
	return ok;
}

/* What there is of a run that was cancelled goes: it begins again. */
static bool queue_cancelled(struct db *db, int64_t id, int64_t *n, struct err *err)
{
	bool ok = db_step_once(db->writer,
			       db_prepare(db->writer, err,
					  "DELETE FROM report WHERE run IN" CANCELLED_OF, "i", id),
			       "forget a part of a report", err) &&
		  db_step_once(db->writer,
			       db_prepare(db->writer, err,
					  "DELETE FROM findings WHERE run IN" CANCELLED_OF, "i",
					  id),
			       "forget the findings of a part", err) &&
		  db_step_once(
		      db->writer,
		      db_prepare(db->writer, err,
				 "UPDATE run_row SET status = 'queued', attempts = 0, started_ns ="
				 " NULL, finished_ns = NULL, points_kept = 0, points_of = 0,"
				 " error_code = NULL, error_message = NULL, error_line = NULL,"
				 " error_column = NULL WHERE id IN" CANCELLED_OF,
				 "i", id),
		      "queue what was cancelled", err);

	*n = ok ? sql_changes(db->writer) : 0;
	return ok;
}

bool db_suite_resume(struct db *db, int64_t id, int64_t *n, struct err *err)
{
	struct arena arena = { 0 };
	struct suite suite;
	bool ok;

	*n = 0;
	if (!db_write_begin(db, err))
		return false;
	ok = get_with(db->writer, id, &arena, &suite, err);
	arena_finish(&arena);
	if (ok && !suite.counts[RUN_CANCELLED])
		ok = err_set(err, ERR_CONFLICT, "no run of suite %lld was cancelled",
			     (long long)id);
	ok = ok && all_ended(db, id, err) && queue_cancelled(db, id, n, err);
	return db_write_end(db, ok, err);
}

bool db_suite_delete(struct db *db, int64_t id, struct err *err)
{
	int64_t now_ns = clock_wall_ns();
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
	ok = ok && give_kept(db, id, err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE run_row SET removed_ns = ?2 WHERE removed_ns IS NULL"
				     " AND id IN (SELECT run FROM suite_run WHERE suite = ?1)",
				     "ii", id, now_ns),
			  "remove the runs of a suite", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE suite_row SET removed_ns = ?2 WHERE id = ?1", "ii", id,
				     now_ns),
			  "remove a suite", err);
	return db_write_end(db, ok, err);
}

/* Whether the suite was removed, and some of what went with it is another's. */
static bool look_at_removed(struct sql *h, int64_t id, const char *author, bool *others,
			    struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT EXISTS (SELECT 1 FROM run_row JOIN suite_run ON run = run_row.id WHERE"
	    " suite = ?1 AND run_row.removed_ns = suite_row.removed_ns AND author <> ?2)"
	    " FROM suite_row WHERE id = ?1 AND removed_ns IS NOT NULL",
	    "it", id, author ? author : "");
	int code = s ? sql_step(s) : SQL_FAILED;

	if (code == SQL_ROW)
		*others = author && sql_int(s, 0);
	else if (code == SQL_DONE)
		err_set(err, ERR_NOT_FOUND,
			"there is no removed suite %lld; it is gone for good, or was never removed",
			(long long)id);
	else if (s)
		db_fail(h, "look for a removed suite", err);
	sql_finalize(s);
	return code == SQL_ROW;
}

bool db_suite_restore(struct db *db, int64_t id, const char *author, struct err *err)
{
	bool others = false, ok;

	if (!db_write_begin(db, err))
		return false;
	ok = look_at_removed(db->writer, id, author, &others, err);
	if (ok && others)
		ok = err_set(err, ERR_FORBIDDEN,
			     "runs of suite %lld are not yours: a token for admin restores it",
			     (long long)id);
	ok = ok &&
	     db_step_once(
		 db->writer,
		 db_prepare(db->writer, err,
			    "UPDATE run_row SET removed_ns = NULL, baseline = " STILL_BASELINE
			    " WHERE removed_ns = (SELECT removed_ns FROM suite_row WHERE id = ?1)"
			    " AND id IN (SELECT run FROM suite_run WHERE suite = ?1)",
			    "i", id),
		 "restore the runs of a suite", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE suite_row SET removed_ns = NULL WHERE id = ?1", "i",
				     id),
			  "restore a suite", err);
	return db_write_end(db, ok, err);
}
