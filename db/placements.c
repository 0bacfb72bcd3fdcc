/* db/placements.c -- runs that other machines take: which wait to be handed over, what an executor
 * was handed, who may post of them. */
#include <string.h>

#include "db/internal.h"
#include "db/shared.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

enum { MOST_TAKES = 3 };

/* ---- lists ---- */

#define PLACEMENT_SELECT                                                                           \
	"SELECT id, coalesce((SELECT suite FROM suite_run WHERE suite_run.run = id), 0), host,"    \
	" status, attempts, coalesce(job, ''), coalesce(said, ''), coalesce(lost_ns, 0),"          \
	" placement.run IS NOT NULL, coalesce(attempt, '') <> ''"                                  \
	" FROM run_row LEFT JOIN placement ON placement.run = id "

static struct placement placement_at(struct sql_statement *s, struct arena *arena)
{
	struct placement p = {
		.run = sql_int64(s, 0),
		.suite = sql_int64(s, 1),
		.host = text_at(s, 2, arena),
		.attempts = sql_int(s, 4),
		.job = text_at(s, 5, arena),
		.said = text_at(s, 6, arena),
		.lost_ns = sql_int64(s, 7),
		.handed = sql_int(s, 8) != 0,
		.taken = sql_int(s, 9) != 0,
	};

	run_status_from_name(db_text(s, 3), &p.status);
	return p;
}

bool db_placement_list(struct db *db, int limit, struct arena *arena, struct placement **out,
		       int *n, struct err *err)
{
	struct placement *rows = ARENA_ARRAY(arena, struct placement, (size_t)limit + 1);
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err,
					     PLACEMENT_SELECT
					     "WHERE host <> '' AND (placement.run IS NOT NULL OR "
					     "status = 'queued') ORDER BY id LIMIT ?1",
					     "i", (int64_t)limit);
	int code = SQL_FAILED;

	*n = 0;
	while (s && rows && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = placement_at(s, arena);
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory for the runs of other machines");
	else if (s && code != SQL_DONE)
		db_fail(h, "list the runs of other machines", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*out = rows;
	return code == SQL_DONE;
}

/* ---- handed over ---- */

bool db_placement_begin(struct db *db, const int64_t *runs, int n,
			const struct placement_secret *secret, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = true;
	for (int i = 0; ok && i < n; i++)
		ok = db_step_once(
		    db->writer,
		    db_prepare(db->writer, err,
			       "INSERT INTO placement(run, secret,"
			       " expires_ns) SELECT id, ?2, ?3 FROM run WHERE id = ?1"
			       " AND status = 'queued' ON CONFLICT (run) DO UPDATE SET secret ="
			       " excluded.secret, expires_ns = excluded.expires_ns, job = '',"
			       " attempt = '', said = '', lost_ns = NULL",
			       "ibi", runs[i], secret->hash, (size_t)SECRET_HASH_BYTES,
			       secret->expires_ns),
		    "note what is handed over", err);
	return db_write_end(db, ok, err);
}

/* One statement of a run's placement. */
static bool change(struct db *db, struct sql_statement *s, struct err *err)
{
	return db_step_once(db->writer, s, "note what became of a job", err);
}

bool db_placement_handed(struct db *db, int64_t run, const char *job, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db,
			    change(db,
				   db_prepare(db->writer, err,
					      "UPDATE placement SET job = ?2 WHERE run = ?1", "it",
					      run, job),
				   err),
			    err);
}

bool db_placement_say(struct db *db, int64_t run, const char *said, int64_t lost_ns,
		      struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   change(db,
			  db_prepare(db->writer, err,
				     "UPDATE placement SET said = ?2, lost_ns = nullif(?3, 0) WHERE"
				     " run = ?1 AND (said <> ?2 OR coalesce(lost_ns, 0) <> ?3)",
				     "iti", run, said, lost_ns),
			  err),
		   err);
}

bool db_placement_drop(struct db *db, int64_t run, enum placement_end end, struct err *err)
{
	bool ok = true;

	if (!db_write_begin(db, err))
		return false;
	if (end == PLACEMENT_LOST) /* one that nobody took was begun all the same */
		ok = change(
		    db,
		    db_prepare(db->writer, err,
			       "UPDATE run_row SET attempts = attempts + 1 WHERE id = ?1 AND"
			       " EXISTS (SELECT 1 FROM placement WHERE run = ?1 AND attempt ="
			       " '')",
			       "i", run),
		    err);
	ok = ok &&
	     change(db,
		    db_prepare(db->writer, err, "DELETE FROM placement WHERE run = ?1", "i", run),
		    err);
	ok = ok &&
	     (end == PLACEMENT_OVER ||
	      change(db,
		     db_prepare(db->writer, err,
				"UPDATE run_row SET status = 'queued', started_ns = NULL WHERE"
				" id = ?1 AND status = 'running'",
				"i", run),
		     err));
	return db_write_end(db, ok, err);
}

bool db_placement_forget_unknown(struct db *db, struct err *err)
{
	if (!shared_leads(db, err)) /* they may be another server's */
		return err->code == ERR_NONE;
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   change(db,
			  db_prepare(db->writer, err, "DELETE FROM placement WHERE job = ''", ""),
			  err),
		   err);
}

/* ---- who posts ---- */

bool db_placement_counts(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], int64_t run,
			 bool *counts, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT EXISTS (SELECT 1 FROM placement WHERE secret = ?1 AND"
	    " expires_ns > ?2 AND (?3 = 0 OR run = ?3))",
	    "bii", hash, (size_t)SECRET_HASH_BYTES, clock_wall_ns(), run);
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*counts = sql_int(s, 0) != 0;
	else if (s)
		db_fail(h, "look for the token of a job", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

/* Another process than the one that had it, if any; of a run that has not ended. */
static bool take(struct db *db, int64_t run, const char *attempt, struct err *err)
{
	bool ok = change(
	    db,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET status = 'running', attempts = attempts + 1,"
		       " started_ns = ?2 WHERE id = ?1 AND status IN ('queued',"
		       " 'running') AND attempts < ?4 AND EXISTS (SELECT 1 FROM placement"
		       " WHERE run = ?1 AND attempt <> ?3)",
		       "iiti", run, clock_wall_ns(), attempt, (int64_t)MOST_TAKES),
	    err);

	return ok && (sql_changes(db->writer) == 0 ||
		      change(db,
			     db_prepare(
				 db->writer, err,
				 "UPDATE placement SET attempt = ?2, lost_ns = NULL WHERE run = ?1",
				 "it", run, attempt),
			     err));
}

static bool has_attempt(struct db *db, int64_t run, const char *attempt, bool *has, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    db->writer, err,
	    "SELECT EXISTS (SELECT 1 FROM placement JOIN run_row ON id = run"
	    " WHERE run = ?1 AND attempt = ?2 AND status = 'running')",
	    "it", run, attempt);
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*has = sql_int(s, 0) != 0;
	else if (s)
		db_fail(db->writer, "look who has a run", err);
	sql_finalize(s);
	return ok;
}

bool db_placement_take(struct db *db, int64_t run, const char *attempt, bool *taken,
		       struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = take(db, run, attempt, err) && has_attempt(db, run, attempt, taken, err);
	return db_write_end(db, ok, err);
}

bool db_run_counts_here(struct db *db, int64_t counts[RUN_STATUS_COUNT], struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT status, count(*) FROM run WHERE status IN ('queued',"
	    " 'running') AND host = '' AND kind = 'workload' GROUP BY status",
	    "");
	enum run_status status;
	int code = SQL_FAILED;

	memset(counts, 0, RUN_STATUS_COUNT * sizeof(*counts));
	while (s && (code = sql_step(s)) == SQL_ROW)
		if (run_status_from_name(db_text(s, 0), &status))
			counts[status] = sql_int64(s, 1);
	if (s && code != SQL_DONE)
		db_fail(h, "count the runs of this machine", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_DONE;
}
