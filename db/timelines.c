/* db/timelines.c -- blocks of timelines, and answers that are kept beside them; what is in them is
 * the profiler's business. */
#include "db/internal.h"
#include "fusion/base/clock.h"

static bool store_block(struct db *db, int64_t run, int64_t seq, const struct timeline_row *b,
			struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO timeline_block VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", "iiiiiib",
		       run, seq, b->kind, b->events, b->t0_ns, b->t1_ns, b->data, b->len),
	    "store a timeline", err);
}

static bool drop(struct db *db, const char *sql, int64_t run, struct err *err)
{
	return db_step_once(db->writer, db_prepare(db->writer, err, sql, "i", run),
			    "replace a timeline", err);
}

bool db_timeline_put(struct db *db, int64_t run, const struct timeline_row *blocks, size_t n,
		     struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = drop(db, "DELETE FROM timeline_block WHERE run = ?1", run, err) &&
	     drop(db, "DELETE FROM timeline_answer WHERE run = ?1", run, err);
	for (size_t i = 0; ok && i < n; i++)
		ok = store_block(db, run, (int64_t)i, &blocks[i], err);
	return db_write_end(db, ok, err);
}

/* The number of the next block; false unless the run takes `bytes` more. */
static bool find_room(struct db *db, int64_t run, size_t bytes, size_t most, int64_t *next,
		      struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    db->writer, err,
	    "SELECT coalesce(max(seq) + 1, 0), coalesce(sum(length(data)), 0) FROM timeline_block"
	    " WHERE run = ?1",
	    "i", run);
	bool ok = s && sqlite3_step(s) == SQLITE_ROW;

	if (ok) {
		*next = sqlite3_column_int64(s, 0);
		if ((size_t)sqlite3_column_int64(s, 1) + bytes > most)
			ok = err_set(err, ERR_TOO_LARGE,
				     "run %lld keeps at most %zu MiB of events; trace a part of "
				     "the program",
				     (long long)run, most >> 20);
	} else if (s) {
		db_fail(db->writer, "count blocks", err);
	}
	sqlite3_finalize(s);
	return ok;
}

bool db_trace_append(struct db *db, int64_t run, int64_t at, const struct timeline_row *blocks,
		     size_t n, size_t most_bytes, struct err *err)
{
	int64_t next = 0;
	size_t bytes = 0;
	bool ok;

	for (size_t i = 0; i < n; i++)
		bytes += blocks[i].len;
	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE run SET heard_ns = ?2 WHERE id = ?1 AND kind = 'trace'"
				     " AND status = 'running'",
				     "ii", run, clock_wall_ns()),
			  "add to a trace", err);
	if (ok && sqlite3_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld is no trace that is being recorded",
			     (long long)run);
	ok = ok && find_room(db, run, bytes, most_bytes, &next, err);
	if (ok && at > next)
		ok = err_set(err, ERR_CONFLICT, "run %lld has %lld blocks; the next is not %lld",
			     (long long)run, (long long)next, (long long)at);
	for (size_t i = 0; ok && i < n; i++)
		if (at + (int64_t)i >= next)
			ok = store_block(db, run, at + (int64_t)i, &blocks[i], err);
	return db_write_end(db, ok, err);
}

/* Steps through the rows of s; the connection is `h`. */
static bool each_row(sqlite3 *h, sqlite3_stmt *s, timeline_row_fn *each, void *self,
		     struct err *err)
{
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		const struct timeline_row row = {
			.kind = sqlite3_column_int64(s, 0),
			.events = sqlite3_column_int64(s, 1),
			.t0_ns = sqlite3_column_int64(s, 2),
			.t1_ns = sqlite3_column_int64(s, 3),
			.data = sqlite3_column_blob(s, 4),
			.len = (size_t)sqlite3_column_bytes(s, 4),
		};

		if (!each(self, &row, err))
			return false;
	}
	return code == SQLITE_DONE || db_fail(h, "read a timeline", err);
}

bool db_timeline_each(struct db *db, int64_t run, int64_t kind, int64_t t0_ns, int64_t t1_ns,
		      timeline_row_fn *each, void *self, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(h, err,
				     "SELECT kind, events, t0_ns, t1_ns, data FROM timeline_block"
				     " WHERE run = ?1 AND kind = ?2 AND t0_ns <= ?4 AND t1_ns >= ?3"
				     " ORDER BY seq",
				     "iiii", run, kind, t0_ns, t1_ns);
	bool ok = s && each_row(h, s, each, self, err);

	sqlite3_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_timeline_answer_put(struct db *db, int64_t run, const char *lanes, int64_t version,
			    const void *bytes, size_t len, struct err *err)
{
	struct buf packed = { 0 };
	int codec;
	bool ok = codec_encode(bytes, len, &packed, &codec, err) && db_write_begin(db, err);

	if (ok) {
		ok = db_step_once(
		    db->writer,
		    db_prepare(
			db->writer, err,
			"INSERT OR REPLACE INTO timeline_answer VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
			"itiiib", run, lanes, version, (int64_t)codec, (int64_t)len, packed.data,
			packed.len),
		    "keep an answer", err);
		ok = db_write_end(db, ok, err);
	}
	buf_finish(&packed);
	return ok;
}

bool db_timeline_answer_get(struct db *db, int64_t run, const char *lanes, int64_t version,
			    struct buf *out, bool *found, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(h, err,
				     "SELECT codec, bytes, data FROM timeline_answer WHERE run = ?1"
				     " AND lanes = ?2 AND version = ?3",
				     "iti", run, lanes, version);
	int code = s ? sqlite3_step(s) : SQLITE_ERROR;
	bool ok = code == SQLITE_DONE;

	*found = code == SQLITE_ROW;
	if (*found)
		ok = codec_decode(sqlite3_column_int(s, 0), sqlite3_column_blob(s, 2),
				  (size_t)sqlite3_column_bytes(s, 2),
				  (size_t)sqlite3_column_int64(s, 1), out, err);
	else if (s && !ok)
		db_fail(h, "read an answer", err);
	sqlite3_finalize(s);
	db_reader_give(db, h);
	return ok;
}
