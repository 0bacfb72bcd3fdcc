/* db/reports.c -- reports, compressed, with the machine they were made on. */
#include <math.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/clock.h"
#include "fusion/base/hash.h"

static bool store_environment(struct db *db, const char *json, int64_t *id, struct err *err)
{
	char hash[HASH_HEX_BYTES];
	sqlite3_stmt *s;
	bool ok;

	hash_hex(json, strlen(json), hash);
	if (!db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO environment(hash, json) VALUES(?1, ?2) ON "
				     "CONFLICT(hash) DO NOTHING",
				     "tt", hash, json),
			  "store the environment", err))
		return false;
	s = db_prepare(db->writer, err, "SELECT id FROM environment WHERE hash = ?1", "t", hash);
	ok = s &&
	     (sqlite3_step(s) == SQLITE_ROW || db_fail(db->writer, "read the environment", err));
	if (ok)
		*id = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return ok;
}

static bool store_summary(struct db *db, int64_t id, const struct run_summary *m, struct err *err)
{
	if (!m || !m->mode)
		return true;
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO run_summary VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		       " nullif(?11, -1))",
		       "itt"
		       "ddddddd"
		       "i",
		       id, m->mode, m->verdict, m->speedup, m->speedup_lo, m->speedup_hi,
		       m->median_us, m->calls_to_repay, m->crossover_n, m->at_n,
		       (int64_t)m->breaks),
	    "store the summary", err);
}

static bool store_report(struct db *db, int64_t id, int64_t environment, const char *report,
			 size_t len, struct err *err)
{
	struct buf packed = { 0 };
	int codec;
	bool ok;

	ok = codec_encode(report, len, &packed, &codec, err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO report(run, environment, codec, bytes, data) "
				     "VALUES(?1, ?2, ?3, ?4, ?5)",
				     "iiiib", id, environment, (int64_t)codec, (int64_t)len,
				     packed.data, packed.len),
			  "store the report", err);
	buf_finish(&packed);
	return ok;
}

/* Within a transaction. */
static bool finish(struct db *db, int64_t id, const char *report, size_t report_len,
		   const char *environment, const struct run_summary *summary, struct err *err)
{
	int64_t environment_id = 0;
	bool ok;

	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE run SET status = 'done', finished_ns = ?2 WHERE id = "
				     "?1 AND status = 'running'",
				     "ii", id, clock_wall_ns()),
			  "end a run", err);
	if (ok && sqlite3_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld is not running any more", (long long)id);
	ok = ok && store_environment(db, environment, &environment_id, err) &&
	     store_report(db, id, environment_id, report, report_len, err) &&
	     store_summary(db, id, summary, err);
	return ok;
}

bool db_run_finish(struct db *db, int64_t id, const char *report, size_t report_len,
		   const char *environment, const struct run_summary *summary, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, finish(db, id, report, report_len, environment, summary, err), err);
}

bool db_trace_become(struct db *db, int64_t id, const struct run *as, const char *report,
		     const char *environment, const struct run_summary *summary, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db,
			    run_become(db, id, as, err) &&
				finish(db, id, report, strlen(report), environment, summary, err),
			    err);
}

bool db_trace_become_ended(struct db *db, int64_t id, const struct run *as, enum run_status status,
			   const struct err *why, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, run_become(db, id, as, err) && run_end(db, id, status, why, err),
			    err);
}

bool db_report_get(struct db *db, int64_t id, struct buf *report, struct buf *environment,
		   struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(
	    h, err,
	    "SELECT codec, bytes, data, json FROM report JOIN environment ON"
	    " environment.id = report.environment WHERE run = ?1",
	    "i", id);
	bool ok = false;

	if (s) {
		int code = sqlite3_step(s);

		if (code == SQLITE_ROW) {
			ok = codec_decode(sqlite3_column_int(s, 0), sqlite3_column_blob(s, 2),
					  (size_t)sqlite3_column_bytes(s, 2),
					  (size_t)sqlite3_column_int64(s, 1), report, err);
			buf_clear(environment);
			buf_puts(environment, (const char *)sqlite3_column_text(s, 3));
		} else if (code == SQLITE_DONE) {
			err_set(err, ERR_NOT_FOUND, "run %lld has no report", (long long)id);
		} else {
			db_fail(h, "read a report", err);
		}
	}
	sqlite3_finalize(s);
	db_reader_give(db, h);
	return ok;
}
