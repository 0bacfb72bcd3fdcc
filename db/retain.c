/* db/retain.c -- what is not kept for ever: runs that may be thinned out, and one that is. */
#include <string.h>

#include "db/archive.h"
#include "db/internal.h"
#include "db/packed.h"

/* What the index run_whole has, so that it is read; ?1: before then, ?2: a project, ?3: after. */
#define WHOLE                                                                                      \
	" FROM run_row WHERE thinned_ns IS NULL AND removed_ns IS NULL AND pinned = 0"             \
	" AND baseline = 0 AND ifnull(arrived_ns, created_ns) < ?1"                                \
	" AND status IN ('done', 'failed', 'cancelled') AND (?2 = '' OR project = ?2)"
#define TIMELINE                                                                                   \
	"(SELECT ifnull(sum(length(data)), 0) FROM timeline_block WHERE run = id)"                 \
	" + (SELECT ifnull(sum(length(data)), 0) FROM timeline_answer WHERE run = id)"
#define REPORT "ifnull((SELECT length(data) FROM report WHERE run = id), 0)"
#define FINDINGS "ifnull((SELECT length(data) FROM findings WHERE run = id), 0)"

static bool read_totals(struct sql *h, const struct retain_query *q, struct retain_list *out,
			struct err *err)
{
	struct sql_statement *s = db_prepare(h, err,
					     "SELECT count(*), ifnull(sum(" TIMELINE
					     "), 0), ifnull(sum(" REPORT
					     "), 0), ifnull(sum(" FINDINGS "), 0)" WHOLE,
					     "it", q->before_ns, q->project);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "look at what is kept", err));

	if (ok) {
		out->total = sql_int64(s, 0);
		out->timeline_bytes = sql_int64(s, 1);
		out->report_bytes = sql_int64(s, 2);
		out->findings_bytes = sql_int64(s, 3);
	}
	sql_finalize(s);
	return ok;
}

static bool read_rows(struct sql *h, const struct retain_query *q, struct arena *arena,
		      struct retain_list *out, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT id, created_ns, name, project, " TIMELINE ", " REPORT ", " FINDINGS WHOLE
	    " AND id > ?3 ORDER BY id LIMIT ?4",
	    "itii", q->before_ns, q->project, q->after, (int64_t)q->limit);
	int code = SQL_FAILED;

	while (s && (code = sql_step(s)) == SQL_ROW)
		out->at[out->n++] = (struct retain_row){ sql_int64(s, 0),      sql_int64(s, 1),
							 text_at(s, 2, arena), text_at(s, 3, arena),
							 sql_int64(s, 4),      sql_int64(s, 5),
							 sql_int64(s, 6) };
	if (s && code != SQL_DONE)
		db_fail(h, "look at what is kept", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

bool db_retain_list(struct db *db, const struct retain_query *query, struct arena *arena,
		    struct retain_list *out, struct err *err)
{
	struct sql *h;
	bool ok;

	*out = (struct retain_list){ .at = ARENA_ARRAY(arena, struct retain_row,
						       (size_t)query->limit + 1) };
	if (!out->at)
		return err_set(err, ERR_MEMORY, "out of memory while looking at what is kept");
	h = db_reader_take(db);
	ok = read_totals(h, query, out, err) && read_rows(h, query, arena, out, err);
	db_reader_give(db, h);
	return ok;
}

/* What is stored of a run that retention counts. */
static bool stored_bytes(struct sql *h, int64_t id, int64_t *bytes, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT " TIMELINE " + " REPORT " + " FINDINGS " FROM run_row WHERE id = ?1",
	    "i", id);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "look what is stored", err));

	*bytes = ok ? sql_int64(s, 0) : -1;
	sql_finalize(s);
	return ok;
}

static bool put_report(struct db *db, int64_t id, const struct run_thinned *as,
		       const struct buf *packed, int codec, struct err *err)
{
	return !as->report ||
	       db_step_once(db->writer,
			    db_prepare(db->writer, err,
				       "UPDATE report SET codec = ?2, bytes = ?3, data = ?4"
				       " WHERE run = ?1",
				       "iiib", id, (int64_t)codec, (int64_t)as->len, packed->data,
				       packed->len),
			    "thin a report", err);
}

static bool drop_rest(struct db *db, int64_t id, struct err *err)
{
	static const char *const statements[] = {
		"DELETE FROM timeline_block WHERE run = ?1",
		"DELETE FROM timeline_answer WHERE run = ?1",
		"DELETE FROM findings WHERE run = ?1",
	};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(statements) / sizeof(statements[0]); i++)
		ok = db_step_once(db->writer, db_prepare(db->writer, err, statements[i], "i", id),
				  "thin a run", err);
	return ok;
}

/* Of a run that may still be. */
static bool mark_thinned(struct db *db, int64_t id, int64_t now_ns, bool *may, struct err *err)
{
	bool ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET thinned_ns = ?2 WHERE id = ?1 AND thinned_ns IS NULL"
		       " AND removed_ns IS NULL AND pinned = 0 AND baseline = 0"
		       " AND status IN ('done', 'failed', 'cancelled')",
		       "ii", id, now_ns),
	    "thin a run", err);

	*may = ok && sql_changes(db->writer) > 0;
	return ok;
}

static bool thin(struct db *db, int64_t id, const struct run_thinned *as, int64_t *freed,
		 struct err *err)
{
	struct buf packed = { 0 };
	int64_t before = 0, after = 0;
	int codec = 0;
	bool may, ok = mark_thinned(db, id, as->now_ns, &may, err);

	*freed = -1;
	if (may) {
		ok = (!as->report || packed_make(as->report, as->len, &packed, &codec, err)) &&
		     stored_bytes(db->writer, id, &before, err) &&
		     put_report(db, id, as, &packed, codec, err) && drop_rest(db, id, err) &&
		     stored_bytes(db->writer, id, &after, err);
		*freed = before - after;
	}
	buf_finish(&packed);
	return ok;
}

/* What it would free: nothing is written, so that a store that is open for reading does. */
static bool count(struct db *db, int64_t id, const struct run_thinned *as, int64_t *freed,
		  struct err *err)
{
	struct buf packed = { 0 };
	struct sql *h = db_reader_take(db);
	int codec = 0;
	bool ok = stored_bytes(h, id, freed, err);

	db_reader_give(db, h);
	ok = ok && (!as->report || packed_make(as->report, as->len, &packed, &codec, err));
	*freed -= (int64_t)packed.len;
	buf_finish(&packed);
	return ok;
}

bool db_run_thin(struct db *db, int64_t id, const struct run_thinned *as, int64_t *freed,
		 struct err *err)
{
	if (as->dry_run)
		return count(db, id, as, freed, err);
	return db_write_begin(db, err) && db_write_end(db, thin(db, id, as, freed, err), err);
}
