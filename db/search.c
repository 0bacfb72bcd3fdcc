/* db/search.c -- what runs are found by, kept in step with them; db/list.c looks for it. */
#include "db/search.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

enum { TEXT_BYTES = 256 << 10 };

/* ---- what is kept ---- */

/* Not more than is indexed, and no half of a character. */
static size_t bounded(const char *text)
{
	size_t len = strnlen(text, TEXT_BYTES + 1);

	if (len <= TEXT_BYTES)
		return len;
	for (len = TEXT_BYTES; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return len;
}

static bool add_text(struct db *db, const char *kind, const char *hash, const char *body,
		     struct err *err)
{
	static const char what[] = "store what a run is found by";
	bool ok = db_step_once(db->writer,
			       db_prepare(db->writer, err,
					  "INSERT INTO search_text(kind, hash, body)"
					  " VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
					  "ttt", kind, hash, body),
			       what, err);

	return ok && (db->is_shared || sql_changes(db->writer) == 0 ||
		      db_step_once(db->writer,
				   db_prepare(db->writer, err,
					      "INSERT INTO search(rowid, body) VALUES(?1, ?2)",
					      "it", (int64_t)sql_last_id(db->writer), body),
				   what, err));
}

static bool has_it(struct db *db, int64_t run, const char *kind, const char *hash, bool *has,
		   struct err *err)
{
	struct sql_statement *s = db_prepare(
	    db->writer, err,
	    "SELECT 1 FROM search_run JOIN search_text ON search_text.id = text WHERE run = ?1"
	    " AND search_run.kind = ?2 AND hash = ?3",
	    "itt", run, kind, hash);
	int code = s ? sql_step(s) : SQL_FAILED;

	*has = code == SQL_ROW;
	if (s && code != SQL_ROW && code != SQL_DONE)
		db_fail(db->writer, "look what a run is found by", err);
	sql_finalize(s);
	return code == SQL_ROW || code == SQL_DONE;
}

/* The text of a kind that the run is found by; it need not end with a NUL. */
static bool put_text(struct db *db, int64_t run, const char *kind, const char *text,
		     struct err *err)
{
	static const char what[] = "store what a run is found by";
	size_t len = bounded(text);
	char hash[HASH_HEX_BYTES], *body = strndup(text, len);
	bool has = false, ok;

	if (len == 0 && (*kind == 'n' || *kind == 's')) { /* most runs have no note */
		free(body);
		return db_step_once(db->writer,
				    db_prepare(db->writer, err,
					       "DELETE FROM search_run WHERE run = ?1 AND kind = "
					       "?2",
					       "it", run, kind),
				    what, err);
	}
	hash_hex(text, len, hash);
	ok = (body || err_set(err, ERR_MEMORY, "out of memory for a search")) &&
	     has_it(db, run, kind, hash, &has, err);
	if (ok && !has)
		ok = add_text(db, kind, hash, body, err) &&
		     db_step_once(db->writer,
				  db_prepare(db->writer, err,
					     "DELETE FROM search_run WHERE run = ?1 AND kind = ?2",
					     "it", run, kind),
				  what, err) &&
		     db_step_once(db->writer,
				  db_prepare(db->writer, err,
					     "INSERT INTO search_run(run, kind, text) SELECT ?1,"
					     " ?2, id FROM search_text WHERE hash = ?3 AND kind ="
					     " ?2",
					     "itt", run, kind, hash),
				  what, err);
	free(body);
	return ok;
}

/* A program of several files is found by each, with its path. */
static const char about_sql[] =
    "SELECT name || char(10) || project || char(10) || branch || char(10) ||"
    " ifnull((SELECT group_concat(tag, char(10)) FROM run_tag WHERE run_tag.run = run.id), ''),"
    " note,"
    " iif(json_valid(json), ifnull(json_extract(json, '$.source'), '') ||"
    " ifnull((SELECT group_concat(key || char(10) || value, char(10))"
    " FROM json_each(run_workload.json, '$.files')), ''), '')"
    " FROM run_row AS run LEFT JOIN run_workload ON run_workload.run = run.id WHERE id = ?1";

static const char about_shared_sql[] =
    "SELECT name || char(10) || project || char(10) || branch || char(10) ||"
    " ifnull((SELECT string_agg(tag, char(10) ORDER BY tag) FROM run_tag WHERE run_tag.run = id), "
    "''),"
    " note, workload_program(json) FROM run_row LEFT JOIN run_workload ON"
    " run_workload.run = id WHERE id = ?1";

bool search_put(struct db *db, int64_t run, const char *reasons, struct err *err)
{
	static const char *const of[] = { "about", "note", "source" };
	struct sql_statement *s = db_prepare(
	    db->writer, err, db->is_shared ? about_shared_sql : about_sql, "i", run);
	bool ok = s && (sql_step(s) == SQL_ROW ||
			db_fail(db->writer, "read what a run is found by", err));

	for (int i = 0; ok && i < 3; i++)
		ok = put_text(db, run, of[i], db_text(s, i), err);
	sql_finalize(s);
	return ok && (!reasons || put_text(db, run, "reason", reasons, err)) &&
	       search_forget(db, err);
}

/* ---- runs of an earlier version ---- */

enum { LOOKED_AT_ONCE = 64 };

/* What runs are found by is not stored yet; `reasons` false: their names and all, else the reasons
 * of their breaks. */
static int missing(struct db *db, bool reasons, int64_t *after, int64_t *runs, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    reasons ? "SELECT run FROM report WHERE run > ?1 AND NOT EXISTS (SELECT 1 FROM"
		      " search_run AS its WHERE its.run = report.run AND kind = 'reason')"
		      " ORDER BY run LIMIT ?2"
		    : "SELECT id FROM run_row WHERE id > ?1 AND NOT EXISTS (SELECT 1 FROM"
		      " search_run WHERE run = id AND kind = 'about') ORDER BY id LIMIT ?2",
	    "ii", *after, (int64_t)LOOKED_AT_ONCE);
	int n = 0, code = SQL_FAILED;

	while (s && (code = sql_step(s)) == SQL_ROW)
		runs[n++] = sql_int64(s, 0);
	if (s && code != SQL_DONE)
		db_fail(h, "look for runs that cannot be found", err);
	sql_finalize(s);
	db_reader_give(db, h);
	if (n)
		*after = runs[n - 1];
	return code == SQL_DONE ? n : -1;
}

static bool put_names(struct db *db, const int64_t *runs, int n, struct err *err)
{
	bool ok = db_write_begin(db, err);

	if (!ok)
		return false;
	for (int i = 0; ok && i < n; i++)
		ok = search_put(db, runs[i], NULL, err);
	return db_write_end(db, ok, err);
}

static bool put_reasons(struct db *db, const int64_t *runs, int n, run_reasons_fn *reasons,
			struct err *err)
{
	char *texts[LOOKED_AT_ONCE] = { 0 };
	struct buf report = { 0 }, environment = { 0 };
	bool ok = true;

	for (int i = 0; ok && i < n; i++) {
		struct err ignored = { 0 };

		if (db_report_get(db, runs[i], &report, &environment, &ignored))
			texts[i] = reasons(report.data, report.len);
	}
	buf_finish(&report);
	buf_finish(&environment);
	ok = db_write_begin(db, err);
	if (ok) {
		for (int i = 0; ok && i < n; i++)
			ok = !texts[i] || put_text(db, runs[i], "reason", texts[i], err);
		ok = db_write_end(db, ok, err);
	}
	for (int i = 0; i < n; i++)
		free(texts[i]);
	return ok;
}

bool db_search_catch_up(struct db *db, struct search_look *look, run_reasons_fn *reasons,
			bool *more, struct err *err)
{
	int64_t runs[LOOKED_AT_ONCE];
	int n = missing(db, look->names_done, &look->after, runs, err);
	bool ok = n >= 0;

	*more = ok;
	if (n == 0 && !look->names_done)
		*look = (struct search_look){ .names_done = true };
	else if (n == 0)
		*more = false;
	else if (ok)
		ok = look->names_done ? put_reasons(db, runs, n, reasons, err)
				      : put_names(db, runs, n, err);
	return ok;
}
