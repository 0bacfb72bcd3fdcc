/* db/timelines.c -- blocks of timelines; what is in them is the profiler's business. */
#include "db/internal.h"

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

bool db_timeline_put(struct db *db, int64_t run, const struct timeline_row *blocks, size_t n,
		     struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err, "DELETE FROM timeline_block WHERE run = ?1", "i", run),
	    "replace a timeline", err);
	for (size_t i = 0; ok && i < n; i++)
		ok = store_block(db, run, (int64_t)i, &blocks[i], err);
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
