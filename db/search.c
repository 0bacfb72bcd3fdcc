/* db/search.c -- what runs are found by. */
#include "db/search.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

enum { TEXT_BYTES = 256 << 10, AROUND = 48 };

/* ---- what is asked ---- */

static const char *const kinds[] = { "note", "source", "reason" };

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Takes "source:" and the like off the front of a word. */
static const char *take_kind(const char **at)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(*at, kinds[i], len) == 0 && (*at)[len] == ':') {
			*at += len + 1;
			return kinds[i];
		}
	}
	return NULL;
}

static bool parse_word(const char **at, struct arena *arena, struct search_word *w, struct err *err)
{
	const char *begin = *at, *text;
	char *copy;
	size_t len;

	*w = (struct search_word){ .without = **at == '-' };
	*at += w->without;
	w->kind = take_kind(at);
	w->is_phrase = **at == '"';
	text = *at + w->is_phrase;
	len = w->is_phrase ? strcspn(text, "\"") : strcspn(text, " \t\r\n");
	if (w->is_phrase && text[len] != '"')
		return err_set(err, ERR_BAD_REQUEST,
			       "q: the quote that begins %.40s is not closed: \"two words\"", *at);
	*at = text + len + w->is_phrase;
	if (len == 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "q: %.*s has no word: a word, \"two words\", -word for what has it "
			       "not, or note:, source:, reason: and a word is needed",
			       (int)(*at - begin), begin);
	copy = arena_strndup(arena, text, len);
	w->text = copy;
	return copy || err_set(err, ERR_MEMORY, "out of memory for a search");
}

/* What the index takes for exactly this text. */
static char *quoted(const char *text, struct arena *arena)
{
	char *out = arena_alloc(arena, 2 * strlen(text) + 3), *to = out;

	if (!out)
		return NULL;
	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*to++ = '"';
		*to++ = *text;
	}
	*to++ = '"';
	*to = '\0';
	return out;
}

static bool write_json(struct search *s, struct arena *arena, struct err *err)
{
	json_t *list = json_array();
	char *text;

	for (int i = 0; i < s->n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "text", s->at[i].text, "match",
						      quoted(s->at[i].text, arena)));
	text = json_array_size(list) == (size_t)s->n ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	s->json = text ? arena_strdup(arena, text) : NULL;
	free(text);
	return s->json || err_set(err, ERR_BAD_REQUEST, "q must be UTF-8");
}

bool search_parse(const char *text, struct arena *arena, struct search *out, struct err *err)
{
	*out = (struct search){ 0 };
	if (text && strlen(text) > SEARCH_BYTES)
		return err_set(err, ERR_BAD_REQUEST, "q takes at most %d bytes", SEARCH_BYTES);
	for (text = text ? text : "";;) {
		text += strspn(text, " \t\r\n");
		if (!*text)
			return out->n == 0 || write_json(out, arena, err);
		if (out->n == SEARCH_WORDS)
			return err_set(err, ERR_BAD_REQUEST,
				       "q takes at most %d words; more are one in quotes",
				       SEARCH_WORDS);
		if (!parse_word(&text, arena, &out->at[out->n++], err))
			return false;
	}
}

/* "#7" or "7"; 0: it is no number of a run. */
static int64_t number_of(const char *text)
{
	text += *text == '#';
	return *text && strlen(text) < 18 && strspn(text, "0123456789") == strlen(text) ? atoll(text)
											: 0;
}

/* The texts that have the word. */
static void write_texts(struct buf *sql, const struct search_word *w, int i, const char *json)
{
	if (characters(w->text) >= SEARCH_INDEXED)
		buf_printf(sql,
			   "SELECT rowid FROM search WHERE search MATCH"
			   " json_extract(%s, '$[%d].match')",
			   json, i);
	else
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE %s"
			   " AND instr(lower(body), lower(json_extract(%s, '$[%d].text')))",
			   w->kind ? "1" : "kind IN ('about', 'note')", json, i);
}

static void write_word(struct buf *sql, const struct search_word *w, int i, const char *json)
{
	int64_t number = w->kind || w->is_phrase ? 0 : number_of(w->text);

	buf_puts(sql, "SELECT run FROM (SELECT run FROM search_run WHERE text IN (");
	write_texts(sql, w, i, json);
	buf_puts(sql, ")");
	if (w->kind) /* one of `kinds` */
		buf_printf(sql, " AND kind = '%s'", w->kind);
	if (number)
		buf_printf(sql, " UNION SELECT %lld", (long long)number);
	if (!w->kind && !w->is_phrase)
		buf_printf(sql,
			   " UNION SELECT id FROM run_row WHERE commit_id <> '' AND lower(commit_id)"
			   " BETWEEN lower(json_extract(%s, '$[%d].text')) AND"
			   " lower(json_extract(%s, '$[%d].text')) || char(1114111)",
			   json, i, json, i);
	buf_puts(sql, ")");
}

void search_write(struct buf *sql, const struct search *s, const char *json)
{
	const char *before = "";

	buf_puts(sql, "found(run) AS MATERIALIZED (");
	for (int i = 0; i < s->n; i++)
		if (!s->at[i].without) {
			buf_puts(sql, before);
			write_word(sql, &s->at[i], i, json);
			before = " INTERSECT ";
		}
	if (!*before)
		buf_puts(sql, "SELECT id FROM run");
	for (int i = 0; i < s->n; i++)
		if (s->at[i].without) {
			buf_puts(sql, " EXCEPT ");
			write_word(sql, &s->at[i], i, json);
		}
	buf_puts(sql, ")");
}

/* ---- where it is ---- */

/* What is around the first of the words that a text has, beside what names its run; the word comes
 * between \2 and \3. */
static const char show_sql[] =
    "WITH word AS (SELECT key, json_extract(value, '$.text') AS text FROM json_each(?1)),"
    " shown AS (SELECT run, search_run.kind, body, text.id FROM json_each(?2)"
    " JOIN search_run ON run = value JOIN search_text AS text ON text.id = search_run.text"
    " WHERE search_run.kind <> 'about'),"
    " hit AS (SELECT run, kind, body, word.text, instr(lower(body), lower(word.text)) AS at,"
    " key FROM shown CROSS JOIN word"
    " WHERE key IN (SELECT value FROM json_each(iif(kind = 'note', ?3, iif(kind = 'source', ?4,"
    " ?5)))))"
    " SELECT run, kind, substr(body, max(1, at - ?6), min(at - 1, ?6)) || char(2) ||"
    " substr(body, at, length(text)) || char(3) || substr(body, at + length(text), ?6), min(key)"
    " FROM hit WHERE at > 0 GROUP BY run, kind ORDER BY run, kind";

/* The words that may be shown of a kind, as a JSON list of their places. */
static const char *words_of(const struct search *s, const char *kind, struct arena *arena)
{
	const char *out = "[";

	for (int i = 0; i < s->n && out; i++)
		if (!s->at[i].without && (!s->at[i].kind || strcmp(s->at[i].kind, kind) == 0))
			out = arena_printf(arena, "%s%s%d", out, out[1] ? "," : "", i);
	return out ? arena_printf(arena, "%s]", out) : NULL;
}

static const char *ids_of(const struct run_page *page, struct arena *arena)
{
	struct buf out = { 0 };
	const char *text;

	buf_puts(&out, "[");
	for (int i = 0; i < page->n; i++)
		buf_printf(&out, "%s%lld", i ? "," : "", (long long)page->runs[i].id);
	buf_puts(&out, "]");
	text = out.failed ? NULL : arena_strdup(arena, out.data);
	buf_finish(&out);
	return text;
}

static void add_found(struct run_page *page, int64_t run, const struct run_found *found)
{
	for (int i = 0; i < page->n; i++) {
		struct run_row *row = &page->runs[i];

		if (row->id == run && row->n_found < RUN_FOUND)
			row->found[row->n_found++] = *found;
	}
}

bool search_show(sqlite3 *h, const struct search *s, struct arena *arena, struct run_page *page,
		 struct err *err)
{
	const char *ids = ids_of(page, arena), *of[3];
	sqlite3_stmt *stmt;
	int code = SQLITE_ERROR;

	for (size_t i = 0; i < 3; i++)
		of[i] = words_of(s, kinds[i], arena);
	if (!ids || !of[0] || !of[1] || !of[2])
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	stmt = db_prepare(h, err, show_sql, "ttttti", s->json, ids, of[0], of[1], of[2],
			  (int64_t)AROUND);
	while (stmt && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct run_found found = { text_at(stmt, 1, arena), text_at(stmt, 2, arena) };

		add_found(page, sqlite3_column_int64(stmt, 0), &found);
	}
	if (stmt && code != SQLITE_DONE)
		db_fail(h, "show what was found", err);
	sqlite3_finalize(stmt);
	return code == SQLITE_DONE;
}

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

bool search_forget(struct db *db, struct err *err)
{
	static const char *const statements[] = {
		"DELETE FROM search_gone WHERE EXISTS (SELECT 1 FROM search_run WHERE"
		" search_run.text = search_gone.text)",
		"INSERT INTO search(search, rowid, body) SELECT 'delete', id, body FROM"
		" search_text WHERE id IN (SELECT text FROM search_gone)",
		"DELETE FROM search_text WHERE id IN (SELECT text FROM search_gone)",
		"DELETE FROM search_gone",
	};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(statements) / sizeof(statements[0]); i++)
		ok = db_step_once(db->writer, db_prepare(db->writer, err, statements[i], ""),
				  "forget what no run is found by", err);
	return ok;
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

	return ok && (sqlite3_changes(db->writer) == 0 ||
		      db_step_once(db->writer,
				   db_prepare(db->writer, err,
					      "INSERT INTO search(rowid, body) VALUES(?1, ?2)", "it",
					      (int64_t)sqlite3_last_insert_rowid(db->writer), body),
				   what, err));
}

static bool has_it(struct db *db, int64_t run, const char *kind, const char *hash, bool *has,
		   struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    db->writer, err,
	    "SELECT 1 FROM search_run JOIN search_text ON search_text.id = text WHERE run = ?1"
	    " AND search_run.kind = ?2 AND hash = ?3",
	    "itt", run, kind, hash);
	int code = s ? sqlite3_step(s) : SQLITE_ERROR;

	*has = code == SQLITE_ROW;
	if (s && code != SQLITE_ROW && code != SQLITE_DONE)
		db_fail(db->writer, "look what a run is found by", err);
	sqlite3_finalize(s);
	return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* The text of a kind that the run is found by; it need not end with a NUL. */
static bool put_text(struct db *db, int64_t run, const char *kind, const char *text,
		     struct err *err)
{
	static const char what[] = "store what a run is found by";
	size_t len = bounded(text);
	char hash[HASH_HEX_BYTES], *body = strndup(text, len);
	bool has = false, ok;

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
    " iif(json_valid(workload), ifnull(json_extract(workload, '$.source'), '') ||"
    " ifnull((SELECT group_concat(key || char(10) || value, char(10))"
    " FROM json_each(workload, '$.files')), ''), '')"
    " FROM run_row AS run WHERE id = ?1";

bool search_put(struct db *db, int64_t run, struct err *err)
{
	static const char *const of[] = { "about", "note", "source" };
	sqlite3_stmt *s = db_prepare(db->writer, err, about_sql, "i", run);
	bool ok = s && (sqlite3_step(s) == SQLITE_ROW ||
			db_fail(db->writer, "read what a run is found by", err));

	for (int i = 0; ok && i < 3; i++)
		ok = put_text(db, run, of[i], db_text(s, i), err);
	sqlite3_finalize(s);
	return ok && search_forget(db, err);
}

bool search_put_reasons(struct db *db, int64_t run, const char *reasons, struct err *err)
{
	return !reasons ||
	       (put_text(db, run, "reason", reasons, err) && search_forget(db, err));
}

/* ---- runs of an earlier version ---- */

enum { LOOKED_AT_ONCE = 64 };

/* What runs are found by is not stored yet; `reasons` false: their names and all, else the reasons
 * of their breaks. */
static int missing(struct db *db, bool reasons, int64_t *after, int64_t *runs, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(
	    h, err,
	    reasons ? "SELECT run FROM report WHERE run > ?1 AND NOT EXISTS (SELECT 1 FROM"
		      " search_run AS its WHERE its.run = report.run AND kind = 'reason')"
		      " ORDER BY run LIMIT ?2"
		    : "SELECT id FROM run_row WHERE id > ?1 AND NOT EXISTS (SELECT 1 FROM"
		      " search_run WHERE run = id AND kind = 'about') ORDER BY id LIMIT ?2",
	    "ii", *after, (int64_t)LOOKED_AT_ONCE);
	int n = 0, code = SQLITE_ERROR;

	while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
		runs[n++] = sqlite3_column_int64(s, 0);
	if (s && code != SQLITE_DONE)
		db_fail(h, "look for runs that cannot be found", err);
	sqlite3_finalize(s);
	db_reader_give(db, h);
	if (n)
		*after = runs[n - 1];
	return code == SQLITE_DONE ? n : -1;
}

static bool put_names(struct db *db, const int64_t *runs, int n, struct err *err)
{
	bool ok = db_write_begin(db, err);

	if (!ok)
		return false;
	for (int i = 0; ok && i < n; i++)
		ok = search_put(db, runs[i], err);
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
			ok = search_put_reasons(db, runs[i], texts[i], err);
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
