/* db/reports.c -- what runs leave: reports with the machine they were made on, summaries, figures,
 * results for suites, timelines and the answers kept beside them.
 *
 * A finished run is stored by one transaction (db_run_finish()).
 */
#include <math.h>
#include <string.h>

#include "db/environment.h"
#include "db/internal.h"
#include "db/packed.h"
#include "db/search.h"
#include "db/shared.h"
#include "fusion/base/clock.h"
#include "fusion/base/hash.h"

/* ---- parts of an outcome, each within a turn of the writer ---- */

static bool store_summary(struct db *db, int64_t id, const struct run_summary *row, struct err *err)
{
	return !row->mode ||
	       db_step_once(
		   db->writer,
		   db_prepare(db->writer, err,
			      "INSERT INTO run_summary(run" SUMMARY_COLUMNS(
				  COLUMN_NAME) ") VALUES(?" SUMMARY_COLUMNS(COLUMN_PARAMETER) ")",
			      "i" SUMMARY_COLUMNS(COLUMN_TYPE),
			      id SUMMARY_COLUMNS(COLUMN_ARGUMENT)),
		   "store the summary", err);
}

/* A text, compressed. */
struct packed {
	struct buf bytes;
	size_t len; /* of the text */
	int codec;
};

static bool pack(struct packed *out, const char *text, size_t len, struct err *err)
{
	*out = (struct packed){ .len = len };
	return packed_make(text, len, &out->bytes, &out->codec, err);
}

static bool store_report(struct db *db, int64_t id, const struct run_outcome *o,
			 const struct packed *packed, struct err *err)
{
	int64_t environment = 0;

	return environment_id(db, o->environment, &environment, err) &&
	       db_step_once(db->writer,
			    db_prepare(db->writer, err,
				       "INSERT INTO report(run, environment, codec, bytes, data) "
				       "VALUES(?1, ?2, ?3, ?4, ?5)",
				       "iiiib", id, environment, (int64_t)packed->codec,
				       (int64_t)packed->len, packed->bytes.data, packed->bytes.len),
			    "store the report", err) &&
	       search_put(db, id, o->reasons, err);
}

static bool store_findings(struct db *db, int64_t id, const char *version,
			   const struct packed *packed, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(
		db->writer, err,
		"INSERT INTO findings(run, version, codec, bytes, data)"
		" SELECT id, ?2, ?3, ?4, ?5 FROM run WHERE id = ?1 ON CONFLICT (run) DO UPDATE"
		" SET version = excluded.version, codec = excluded.codec, bytes ="
		" excluded.bytes, data = excluded.data",
		"itiib", id, version, (int64_t)packed->codec, (int64_t)packed->len,
		packed->bytes.data, packed->bytes.len),
	    "store what figures say", err);
}

static bool drop_of(struct db *db, const char *sql, int64_t run, const char *what, struct err *err)
{
	return db_step_once(db->writer, db_prepare(db->writer, err, sql, "i", run), what, err);
}

static bool store_figure(struct db *db, int64_t run, const struct run_figure *row, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO run_figure(run" FIGURE_COLUMNS(
			   COLUMN_NAME) ") VALUES(?" FIGURE_COLUMNS(COLUMN_PARAMETER) ")",
		       "i" FIGURE_COLUMNS(COLUMN_TYPE), run FIGURE_COLUMNS(COLUMN_ARGUMENT)),
	    "store a figure", err);
}

static bool store_figures(struct db *db, int64_t run, const struct run_figures *f, struct err *err)
{
	bool ok = drop_of(db, "DELETE FROM run_figure WHERE run = ?1", run, "replace figures",
			  err) &&
		  db_step_once(db->writer,
			       db_prepare(db->writer, err,
					  "UPDATE run_row SET source_hash = ?2, settings_hash = ?3 "
					  "WHERE id = ?1",
					  "itt", run, f->source_hash, f->settings_hash),
			       "store what a run is of", err);

	for (size_t i = 0; ok && i < f->n; i++)
		ok = store_figure(db, run, &f->at[i], err);
	return ok;
}

static bool store_result(struct db *db, int64_t run, const struct run_result *row, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO run_result(run" RESULT_COLUMNS(
			   COLUMN_NAME) ") VALUES(?" RESULT_COLUMNS(COLUMN_PARAMETER) ")",
		       "i" RESULT_COLUMNS(COLUMN_TYPE), run RESULT_COLUMNS(COLUMN_ARGUMENT)),
	    "store what a mode gave", err);
}

static bool is_in_suite(struct db *db, int64_t run, bool *is, struct err *err)
{
	struct sql_statement *s = db_prepare(db->writer, err,
					     "SELECT 1 FROM suite_run WHERE run = ?1", "i", run);
	int code = s ? sql_step(s) : SQL_FAILED;

	*is = code == SQL_ROW;
	if (s && code != SQL_ROW && code != SQL_DONE)
		db_fail(db->writer, "look for a run's suite", err);
	sql_finalize(s);
	return code == SQL_ROW || code == SQL_DONE;
}

static bool store_results(struct db *db, int64_t run, const struct run_outcome *o, struct err *err)
{
	bool is = false, ok = is_in_suite(db, run, &is, err);

	if (!ok || !is)
		return ok;
	ok = drop_of(db, "DELETE FROM run_result WHERE run = ?1", run, "replace what modes gave",
		     err);
	for (size_t i = 0; ok && i < o->n_results; i++)
		ok = store_result(db, run, &o->results[i], err);
	return ok;
}

static bool store_block(struct db *db, int64_t run, int64_t seq, const struct timeline_row *row,
			struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO timeline_block(run, seq, data" BLOCK_COLUMNS(
			   COLUMN_NAME) ") VALUES(?, ?, ?" BLOCK_COLUMNS(COLUMN_PARAMETER) ")",
		       "iib" BLOCK_COLUMNS(COLUMN_TYPE), run, seq, row->data,
		       row->len BLOCK_COLUMNS(COLUMN_ARGUMENT)),
	    "store a timeline", err);
}

/* In place of those that the run has: an older version stored them ahead of the rest. */
static bool store_blocks(struct db *db, int64_t run, const struct run_outcome *o, struct err *err)
{
	static const char what[] = "replace a timeline";
	bool ok = drop_of(db, "DELETE FROM timeline_block WHERE run = ?1", run, what, err) &&
		  drop_of(db, "DELETE FROM timeline_answer WHERE run = ?1", run, what, err);

	for (size_t i = 0; ok && i < o->n_blocks; i++)
		ok = store_block(db, run, (int64_t)i, &o->blocks[i], err);
	return ok;
}

/* ---- the end of a run ---- */

/* The texts of an outcome. */
struct packed_outcome {
	struct packed report, findings;
};

static bool pack_outcome(struct packed_outcome *out, const struct run_outcome *o, struct err *err)
{
	*out = (struct packed_outcome){ 0 };
	return pack(&out->report, o->report, o->report_len, err) &&
	       (!o->findings || pack(&out->findings, o->findings, strlen(o->findings), err));
}

static void packed_finish(struct packed_outcome *packed)
{
	buf_finish(&packed->report.bytes);
	buf_finish(&packed->findings.bytes);
}

/* Its row, its report with what that says, and its summary. */
static bool store_end(struct db *db, int64_t id, const struct run_outcome *o,
		      const struct packed_outcome *packed, struct err *err)
{
	bool ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET status = 'done', finished_ns = ?2 WHERE "
		       "id = ?1 AND status = 'running'",
		       "ii", id, clock_wall_ns()),
	    "end a run", err);

	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld is not running any more", (long long)id);
	return ok && store_report(db, id, o, &packed->report, err) &&
	       (!o->findings || store_findings(db, id, o->version, &packed->findings, err)) &&
	       store_summary(db, id, &o->summary, err);
}

bool db_run_finish(struct db *db, int64_t id, const struct run_outcome *o, struct err *err)
{
	struct packed_outcome packed;
	bool ok = pack_outcome(&packed, o, err) && db_write_begin(db, err);

	if (ok) {
		ok = store_end(db, id, o, &packed, err) && store_blocks(db, id, o, err) &&
		     store_results(db, id, o, err) &&
		     (!o->figures.source_hash || store_figures(db, id, &o->figures, err));
		ok = db_write_end(db, ok, err);
	}
	packed_finish(&packed);
	return ok;
}

bool run_measured(struct db *db, int64_t id, const struct run_outcome *o, struct err *err)
{
	struct packed_outcome packed;
	bool ok = pack_outcome(&packed, o, err) &&
		  db_step_once(db->writer,
			       db_prepare(db->writer, err,
					  "UPDATE run_row SET status = 'running', started_ns = "
					  "created_ns, about = ?2 WHERE id = ?1",
					  "it", id, o->about),
			       "store what was measured", err) &&
		  store_end(db, id, o, &packed, err) && store_results(db, id, o, err) &&
		  (!o->figures.source_hash || store_figures(db, id, &o->figures, err));

	packed_finish(&packed);
	return ok;
}

/* What there is of a run that has just ended before it was done. */
static bool keep_part(struct db *db, int64_t id, const struct run_outcome *o,
		      const struct packed_outcome *packed, struct err *err)
{
	return db_step_once(
		   db->writer,
		   db_prepare(db->writer, err,
			      "UPDATE run_row SET points_kept = ?2, points_of = ?3 WHERE id = ?1",
			      "iii", id, (int64_t)o->points_kept, (int64_t)o->points_of),
		   "keep what was measured", err) &&
	       store_report(db, id, o, &packed->report, err) &&
	       (!o->findings || store_findings(db, id, o->version, &packed->findings, err));
}

bool db_run_end(struct db *db, int64_t id, enum run_status status, const struct err *why,
		const struct run_outcome *kept, struct err *err)
{
	struct packed_outcome packed = { 0 };
	bool ok = (!kept || pack_outcome(&packed, kept, err)) && db_write_begin(db, err);

	if (ok)
		ok = db_write_end(db,
				  run_end(db, id, status, why, err) &&
				      (!kept || keep_part(db, id, kept, &packed, err)),
				  err);
	packed_finish(&packed);
	return ok;
}

bool db_trace_become(struct db *db, int64_t id, const struct run_row *as,
		     const struct run_outcome *outcome, struct err *err)
{
	struct packed_outcome packed;
	bool ok = pack_outcome(&packed, outcome, err) && db_write_begin(db, err);

	if (ok)
		ok = db_write_end(
		    db,
		    run_become(db, id, as, err) && store_end(db, id, outcome, &packed, err) &&
			(!outcome->about ||
			 db_step_once(db->writer,
				      db_prepare(db->writer, err,
						 "UPDATE run_row SET about = ?2 WHERE id = ?1",
						 "it", id, outcome->about),
				      "store what a recording is", err)),
		    err);
	packed_finish(&packed);
	return ok;
}

bool db_findings_put(struct db *db, int64_t run, const char *version, const char *findings,
		     struct err *err)
{
	struct packed packed;
	bool ok = pack(&packed, findings, strlen(findings), err) && db_write_begin(db, err);

	if (ok)
		ok = db_write_end(db, store_findings(db, run, version, &packed, err), err);
	buf_finish(&packed.bytes);
	return ok;
}

bool db_trace_become_ended(struct db *db, int64_t id, const struct run_row *as,
			   const struct run_ended *end, struct err *err)
{
	struct packed_outcome packed = { 0 };
	bool ok = (!end->kept || pack_outcome(&packed, end->kept, err)) && db_write_begin(db, err);

	if (ok)
		ok = db_write_end(db,
				  run_become(db, id, as, err) &&
				      run_end(db, id, end->status, end->why, err) &&
				      (!end->kept || keep_part(db, id, end->kept, &packed, err)),
				  err);
	packed_finish(&packed);
	return ok;
}

bool db_figures_put(struct db *db, int64_t run, const struct run_figures *figures, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, store_figures(db, run, figures, err), err);
}

/* ---- reading ---- */

bool db_report_get(struct db *db, int64_t id, struct buf *report, struct buf *environment,
		   struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT codec, bytes, data, json FROM report JOIN environment ON"
	    " environment.id = report.environment JOIN run ON run.id = report.run"
	    " WHERE report.run = ?1",
	    "i", id);
	bool ok = false;

	if (s) {
		int code = sql_step(s);

		if (code == SQL_ROW) {
			ok = packed_read(s, 0, report, err);
			buf_clear(environment);
			buf_puts(environment, db_text(s, 3));
		} else if (code == SQL_DONE) {
			err_set(err, ERR_NOT_FOUND, "run %lld has no report", (long long)id);
		} else {
			db_fail(h, "read a report", err);
		}
	}
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

/* The one row of a statement that selects codec, bytes and data, decoded; finalizes it.  `s` NULL
 * fails. */
static bool read_packed(struct sql *h, struct sql_statement *s, struct buf *out, bool *found,
			struct err *err)
{
	int code = s ? sql_step(s) : SQL_FAILED;
	bool ok = code == SQL_DONE;

	*found = code == SQL_ROW;
	if (*found)
		ok = packed_read(s, 0, out, err);
	else if (s && !ok)
		db_fail(h, "read what is kept", err);
	sql_finalize(s);
	return ok;
}

bool db_findings_get(struct db *db, int64_t run, const char *version, struct buf *out, bool *found,
		     struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT codec, bytes, data FROM findings WHERE run = ?1 AND version = ?2", "it",
	    run, version);
	bool ok = read_packed(h, s, out, found, err);

	db_reader_give(db, h);
	return ok;
}

/* ---- timelines ---- */

/* The number of the next block; false unless the run takes those of the post. */
static bool find_room(struct db *db, int64_t run, const struct trace_post *post, int64_t *next,
		      struct err *err)
{
	size_t bytes = 0;
	int64_t events = 0;
	struct sql_statement *s = db_prepare(
	    db->writer, err,
	    "SELECT coalesce(max(seq) + 1, 0), coalesce(sum(length(data)), 0),"
	    " coalesce(sum(events), 0) FROM timeline_block"
	    " WHERE run = ?1",
	    "i", run);
	bool ok = s && sql_step(s) == SQL_ROW;

	for (size_t i = 0; i < post->n; i++) {
		bytes += post->blocks[i].len;
		events += post->blocks[i].events;
	}
	if (ok) {
		*next = sql_int64(s, 0);
		if ((size_t)sql_int64(s, 1) + bytes > post->most_bytes)
			ok = err_set(err, ERR_TOO_LARGE,
				     "run %lld keeps at most %zu MiB of events; trace a part of "
				     "the program",
				     (long long)run, post->most_bytes >> 20);
		else if (sql_int64(s, 2) + events > post->most_events)
			ok = err_set(err, ERR_TOO_LARGE,
				     "run %lld keeps at most %lld events; trace a part of the "
				     "program",
				     (long long)run, (long long)post->most_events);
	} else if (s) {
		db_fail(db->writer, "count blocks", err);
	}
	sql_finalize(s);
	return ok;
}

bool db_trace_append(struct db *db, int64_t run, const struct trace_post *post, struct err *err)
{
	int64_t next = 0, at = post->at;
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "UPDATE run_row SET heard_ns = ?2 WHERE id = ?1 AND kind = 'trace'"
		       " AND status = 'running'",
		       "ii", run, clock_ns()),
	    "add to a trace", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_CONFLICT, "run %lld is no trace that is being recorded",
			     (long long)run);
	ok = ok && (!db->server || shared_own_run(db, run, err)) &&
	     find_room(db, run, post, &next, err);
	if (ok && at > next)
		ok = err_set(err, ERR_CONFLICT, "run %lld has %lld blocks; the next is not %lld",
			     (long long)run, (long long)next, (long long)at);
	for (size_t i = 0; ok && i < post->n; i++)
		if (at + (int64_t)i >= next)
			ok = store_block(db, run, at + (int64_t)i, &post->blocks[i], err);
	return db_write_end(db, ok, err);
}

/* Steps through the rows of s; the connection is `h`. */
static bool each_row(struct sql *h, struct sql_statement *s, timeline_row_fn *each, void *self,
		     struct err *err)
{
	int code;

	while ((code = sql_step(s)) == SQL_ROW) {
		struct timeline_row row = { .data = sql_blob(s, 0), .len = sql_bytes(s, 0) };
		struct timeline_row *out = &row;
		int at = 1;

		BLOCK_COLUMNS(COLUMN_READ)
		if (!each(self, &row, err))
			return false;
	}
	return code == SQL_DONE || db_fail(h, "read a timeline", err);
}

bool db_timeline_each(struct db *db, int64_t run, struct block_range range, timeline_row_fn *each,
		      void *self, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT data" BLOCK_COLUMNS(COLUMN_NAME) " FROM timeline_block"
						     " WHERE run = ?1 AND kind = ?2"
						     " AND t0_ns <= ?4 AND t1_ns >= ?3"
						     " ORDER BY seq",
	    "iiii", run, range.kind, range.t0_ns, range.t1_ns);
	bool ok = s && each_row(h, s, each, self, err);

	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_timeline_count(struct db *db, int64_t run, int64_t kind, int64_t *n, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT count(*) FROM timeline_block WHERE run = ?1 AND kind = ?2", "ii", run,
	    kind);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count blocks", err));

	if (ok)
		*n = sql_int64(s, 0);
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_timeline_answer_put(struct db *db, const struct answer_key *key, const void *bytes,
			    size_t len, struct err *err)
{
	struct buf packed = { 0 };
	int codec;
	bool ok = packed_make(bytes, len, &packed, &codec, err) && db_write_begin(db, err);

	if (ok) {
		ok = db_step_once(
		    db->writer,
		    db_prepare(db->writer, err,
			       "INSERT INTO timeline_answer VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
			       " ON CONFLICT (run, lanes) DO UPDATE SET version = "
			       "excluded.version, codec ="
			       " excluded.codec, bytes = excluded.bytes, data = excluded.data",
			       "itiiib", key->run, key->lanes, key->version, (int64_t)codec,
			       (int64_t)len, packed.data, packed.len),
		    "keep an answer", err);
		ok = db_write_end(db, ok, err);
	}
	buf_finish(&packed);
	return ok;
}

bool db_timeline_answer_get(struct db *db, const struct answer_key *key, struct buf *out,
			    bool *found, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT codec, bytes, data FROM timeline_answer WHERE run = ?1"
	    " AND lanes = ?2 AND version = ?3",
	    "iti", key->run, key->lanes, key->version);
	bool ok = read_packed(h, s, out, found, err);

	db_reader_give(db, h);
	return ok;
}
