/* db/found.c -- what a search finds: words with blanks between them, of which a run must have each,
 * somewhere; a part of a word is enough, and case does not matter.
 *
 * "in quotes" blanks count; -word: it must not have it; source:word, note:word, reason:word: there
 * alone.  #7 or 7 is also the run itself, and a word also the begin of its commit.  db/search.c
 * stores what is looked at here.
 */
#include "db/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEARCH_BYTES = 400,
	SEARCH_WORDS = 8,
	SEARCH_INDEXED = 3, /* characters; shorter words are looked for in names and notes alone */
	AROUND = 48,        /* characters shown before and after what is found */
	FEW = 500,          /* runs that a statement names one by one */
	ID_MOST = 1 << 26,  /* a run of a higher number is not found */
};

struct search_word {
	bool without;
	const char *kind; /* of a text; NULL: any */
	const char *text; /* never "" */
	bool is_phrase;   /* it was in quotes */
};

struct search_query {
	struct search_word at[SEARCH_WORDS];
	int n;
	const char *json; /* of all words, which statements bind; NULL: there are none */
};

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

static bool write_json(struct search_query *s, struct arena *arena, struct err *err)
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

/* Texts live in the arena; `text` NULL is an empty one.  BAD_REQUEST says what is wrong. */
static bool search_parse(const char *text, struct arena *arena, struct search_query *out,
			 struct err *err)
{
	*out = (struct search_query){ 0 };
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
	return *text && strlen(text) < 18 && strspn(text, "0123456789") == strlen(text)
		   ? atoll(text)
		   : 0;
}

/* The texts that have the word. */
static void write_texts(struct buf *sql, const struct search_word *w, int i)
{
	if (characters(w->text) >= SEARCH_INDEXED)
		buf_printf(sql,
			   "SELECT rowid FROM search WHERE search MATCH"
			   " json_extract(?1, '$[%d].match')",
			   i);
	else
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE %s"
			   " AND instr(lower(body), lower(json_extract(?1, '$[%d].text')))",
			   w->kind ? "1" : "kind IN ('about', 'note')", i);
}

/* The runs that have the word, some of them more than once. */
static void write_word(struct buf *sql, const struct search_word *w, int i)
{
	int64_t number = w->kind || w->is_phrase ? 0 : number_of(w->text);

	buf_puts(sql, "SELECT run FROM search_run WHERE text IN (");
	write_texts(sql, w, i);
	buf_puts(sql, ")");
	if (w->kind) /* one of `kinds` */
		buf_printf(sql, " AND kind = '%s'", w->kind);
	if (number)
		buf_printf(sql, " UNION ALL SELECT %lld", (long long)number);
	if (!w->kind && !w->is_phrase)
		buf_printf(
		    sql,
		    " UNION ALL SELECT id FROM run_row WHERE commit_id <> '' AND lower(commit_id)"
		    " BETWEEN lower(json_extract(?1, '$[%d].text')) AND"
		    " lower(json_extract(?1, '$[%d].text')) || char(1114111)",
		    i, i);
}

/* ---- sets of runs: a bit for each number ---- */

static bool newest(sqlite3 *h, int64_t *id, struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, "SELECT max(id) FROM run_row", "");
	bool ok = s && (sqlite3_step(s) == SQLITE_ROW || db_fail(h, "search", err));

	*id = ok ? sqlite3_column_int64(s, 0) : 0;
	*id = *id < ID_MOST ? *id : ID_MOST;
	sqlite3_finalize(s);
	return ok;
}

/* Sets the bits of the runs that have the word. */
static bool read_word(sqlite3 *h, const struct search_query *s, int i, const struct found *to,
		      struct err *err)
{
	struct buf sql = { 0 };
	sqlite3_stmt *stmt = NULL;
	int code = SQLITE_ERROR;

	write_word(&sql, &s->at[i], i);
	if (sql.failed)
		err_set(err, ERR_MEMORY, "out of memory for a search");
	else
		stmt = db_prepare(h, err, sql.data, "t", s->json);
	while (stmt && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t run = sqlite3_column_int64(stmt, 0);

		if (run > 0 && run / 8 < (int64_t)to->bytes)
			to->bits[run / 8] |= (uint8_t)(1u << run % 8);
	}
	if (stmt && code != SQLITE_DONE)
		db_fail(h, "search", err);
	sqlite3_finalize(stmt);
	buf_finish(&sql);
	return code == SQLITE_DONE;
}

/* Leaves the runs that have the next word, or have it not. */
static bool narrow(sqlite3 *h, const struct search_query *s, int i, struct found *f,
		   struct arena *arena, struct err *err)
{
	struct found has = { .bits = arena_alloc(arena, f->bytes), .bytes = f->bytes };
	uint8_t unless = s->at[i].without ? 0xff : 0;

	if (!has.bits)
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	memset(has.bits, 0, has.bytes);
	if (!read_word(h, s, i, &has, err))
		return false;
	for (size_t at = 0; at < f->bytes; at++)
		f->bits[at] &= has.bits[at] ^ unless;
	return true;
}

bool found_look(sqlite3 *h, const char *text, struct arena *arena, struct found *out,
		struct err *err)
{
	struct search_query *s = arena_alloc(arena, sizeof(*s));
	int64_t most = 0;

	*out = (struct found){ .query = s };
	if (!s)
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	if (!search_parse(text, arena, s, err) || s->n == 0)
		return err->code == ERR_NONE;
	if (!newest(h, &most, err))
		return false;
	out->asked = true;
	out->bytes = (size_t)most / 8 + 1;
	out->bits = arena_alloc(arena, out->bytes);
	if (!out->bits)
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	memset(out->bits, 0xff, out->bytes);
	for (int i = 0; i < s->n; i++)
		if (!narrow(h, s, i, out, arena, err))
			return false;
	for (size_t at = 0; at < out->bytes; at++)
		out->n += __builtin_popcount(out->bits[at]);
	return true;
}

void found_write(const struct found *f, const char *parameter, struct buf *sql)
{
	const char *before = "";

	if (!f->asked)
		return;
	if (f->n > FEW) {
		buf_printf(sql, " AND get_bit(%s, run.id) = 1", parameter);
		return;
	}
	buf_puts(sql, " AND run.id IN (");
	for (size_t at = 0; at < f->bytes; at++)
		for (int bit = 0; f->bits[at] && bit < 8; bit++)
			if (f->bits[at] >> bit & 1) {
				buf_printf(sql, "%s%zu", before, at * 8 + (size_t)bit);
				before = ",";
			}
	buf_puts(sql, ")");
}

/* get_bit(BITS, N), as PostgreSQL has it; what lies beyond is 0. */
static void get_bit(sqlite3_context *c, int n, sqlite3_value **of)
{
	int64_t at = sqlite3_value_int64(of[1]), bytes = sqlite3_value_bytes(of[0]);
	const uint8_t *bits = sqlite3_value_blob(of[0]);

	(void)n;
	sqlite3_result_int(c, bits && at >= 0 && at / 8 < bytes ? bits[at / 8] >> at % 8 & 1 : 0);
}

bool found_prepare(sqlite3 *h, struct err *err)
{
	return sqlite3_create_function_v2(h, "get_bit", 2,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
					  NULL, get_bit, NULL, NULL, NULL) == SQLITE_OK ||
	       db_fail(h, "a function for searches", err);
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
static const char *words_of(const struct search_query *s, const char *kind, struct arena *arena)
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

bool found_show(sqlite3 *h, const struct found *f, struct arena *arena, struct run_page *page,
		struct err *err)
{
	const struct search_query *s = f->query;
	const char *ids = ids_of(page, arena), *of[3];
	sqlite3_stmt *stmt;
	int code = SQLITE_ERROR;

	if (!f->asked || page->n == 0)
		return true;
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
