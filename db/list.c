/* db/list.c -- runs as a list: which, in what order, and what they can be filtered by. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"

enum { ORDER_CHARS = 200 };

/* A name, what it is in SQL, and whether it is a column of the summaries, of each of which an index
 * has this order (migration 27), not of the runs; NULL comes last whatever the direction. */
static const struct {
	const char *name, *column;
	bool is_of_summary;
} sorts[RUN_SORT_COUNT] = {
	[RUN_SORT_AGE] = { "age", "run.id", false },
	[RUN_SORT_NAME] = { "name", "lower(name)", false },
	[RUN_SORT_VERDICT] = { "verdict", "verdict", true },
	[RUN_SORT_SPEEDUP] = { "speedup",
			       "CASE WHEN verdict <> '" RUN_DISAGREES "' THEN speedup END", true },
	[RUN_SORT_MEDIAN] = { "median", "median_us", true },
	[RUN_SORT_REPAID] = { "repaid",
			      "CASE WHEN mode IS NOT NULL THEN ifnull(calls_to_repay, "
			      "1.7976931348623157e308) END",
			      true },
	[RUN_SORT_BREAKS] = { "breaks", "breaks", true },
	[RUN_SORT_DEVICE] = { "device", "nullif(device, '')", false },
	[RUN_SORT_STATUS] = { "status", "status", false },
};

bool run_sort_from_name(const char *name, enum run_sort *out)
{
	for (int i = 0; i < RUN_SORT_COUNT; i++) {
		if (strcmp(name, sorts[i].name) == 0) {
			*out = (enum run_sort)i;
			return true;
		}
	}
	return false;
}

static bool is_of_summary(const struct run_query *f)
{
	return sorts[f->sort].is_of_summary;
}

bool run_verdict_is(const char *name)
{
	static const char *const names[] = { "faster",     "slower",    "same",  "ambiguous",
					     "not-enough", "disagrees", "broken" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* ---- a search: words with blanks between them, of which a run must have each, somewhere; a part
 * of a word is enough, and case does not matter.  "in quotes" blanks count; -word: it must not have
 * it; source:word, note:word, reason:word: there alone.  #7 or 7 is also the run itself, and a word
 * also the begin of its commit.  db/search.c stores what is looked at here. ---- */

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
	bool is_shared;   /* the store: its index is another */
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
static void write_texts(struct buf *sql, const struct search_query *s, int i)
{
	const struct search_word *w = &s->at[i];

	if (characters(w->text) >= SEARCH_INDEXED && s->is_shared)
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE body ILIKE"
			   " has_pattern(json_extract(?1, '$[%d].text'))",
			   i);
	else if (characters(w->text) >= SEARCH_INDEXED)
		buf_printf(sql,
			   "SELECT rowid FROM search WHERE search MATCH"
			   " json_extract(?1, '$[%d].match')",
			   i);
	else
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE %s"
			   " AND instr(lower(body), lower(json_extract(?1, '$[%d].text'))) > 0",
			   w->kind ? "TRUE" : "kind IN ('about', 'note')", i);
}

/* What a search finds; lives in the arena. */
struct run_set {
	bool asked;    /* false: there is no word, and every run is found */
	uint8_t *bits; /* a bit for each run by its number, from the lowest of a byte on */
	size_t bytes;
	int64_t n; /* runs */
	const struct search_query *query;
};

/* The runs that have the word, some of them more than once. */
static void write_word(struct buf *sql, const struct search_query *s, int i)
{
	const struct search_word *w = &s->at[i];
	int64_t number = w->kind || w->is_phrase ? 0 : number_of(w->text);

	buf_puts(sql, "SELECT run FROM search_run WHERE text IN (");
	write_texts(sql, s, i);
	buf_puts(sql, ")");
	if (w->kind) /* one of `kinds` */
		buf_printf(sql, " AND kind = '%s'", w->kind);
	if (number)
		buf_printf(sql, " UNION ALL SELECT id FROM run_row WHERE id = %lld",
			   (long long)number);
	if (!w->kind && !w->is_phrase)
		buf_printf(
		    sql,
		    " UNION ALL SELECT id FROM run_row WHERE commit_id <> '' AND lower(commit_id)"
		    " BETWEEN lower(json_extract(?1, '$[%d].text')) AND"
		    " lower(json_extract(?1, '$[%d].text')) || char(1114111)",
		    i, i);
}

/* ---- sets of runs: a bit for each number ---- */

static bool newest(struct sql *h, int64_t *id, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "SELECT max(id) FROM run_row", "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "search", err));

	*id = ok ? sql_int64(s, 0) : 0;
	*id = *id < ID_MOST ? *id : ID_MOST;
	sql_finalize(s);
	return ok;
}

/* Sets the bits of runs from 8 * `byte` on. */
static void set_bits(const struct run_set *to, int64_t byte, uint64_t bits)
{
	for (; bits && byte >= 0 && byte < (int64_t)to->bytes; byte++, bits >>= 8)
		to->bits[byte] |= (uint8_t)bits;
}

/* Sets the bits of the runs that a statement has; an engine that is far sends 64 of them at once.
 */
static bool read_set(const struct db *db, struct sql *h, const char *runs, const char *json,
		     const struct run_set *to, struct err *err)
{
	struct buf sql = { 0 };
	struct sql_statement *stmt;
	int code = SQL_FAILED;

	if (db->is_shared)
		buf_printf(&sql,
			   "SELECT run >> 6, bit_or(1::bigint << (run & 63)::int) FROM (%s) AS its"
			   " GROUP BY 1",
			   runs);
	else
		buf_puts(&sql, runs);
	if (sql.failed) {
		buf_finish(&sql);
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	}
	stmt = db_prepare(h, err, sql.data, json ? "t" : "", json);
	while (stmt && (code = sql_step(stmt)) == SQL_ROW) {
		int64_t at = sql_int64(stmt, 0);

		if (db->is_shared)
			set_bits(to, at * 8, (uint64_t)sql_int64(stmt, 1));
		else
			set_bits(to, at / 8, UINT64_C(1) << at % 8);
	}
	if (stmt && code != SQL_DONE)
		db_fail(h, "search", err);
	sql_finalize(stmt);
	buf_finish(&sql);
	return code == SQL_DONE;
}

static bool make_set(struct run_set *out, size_t bytes, struct arena *arena, struct err *err)
{
	*out = (struct run_set){ .bits = arena_alloc(arena, bytes), .bytes = bytes };
	if (!out->bits)
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	memset(out->bits, 0, bytes);
	return true;
}

/* Leaves the runs that have the next word, or have it not. */
static bool narrow(const struct db *db, struct sql *h, int i, struct run_set *f,
		   struct arena *arena, struct err *err)
{
	uint8_t unless = f->query->at[i].without ? 0xff : 0;
	struct buf runs = { 0 };
	struct run_set has;
	bool ok;

	write_word(&runs, f->query, i);
	ok = make_set(&has, f->bytes, arena, err) &&
	     (!runs.failed || err_set(err, ERR_MEMORY, "out of memory for a search")) &&
	     read_set(db, h, runs.data, f->query->json, &has, err);
	buf_finish(&runs);
	for (size_t at = 0; ok && at < f->bytes; at++)
		f->bits[at] &= has.bits[at] ^ unless;
	return ok;
}

/* Whether each run is found that has a word, so that none is that is not there. */
static bool has_a_word(const struct search_query *s)
{
	for (int i = 0; i < s->n; i++)
		if (!s->at[i].without)
			return true;
	return false;
}

/* Every run, or where a word narrows them down to such as there are, every number. */
static bool begin_set(const struct db *db, struct sql *h, struct run_set *f, struct err *err)
{
	if (!has_a_word(f->query))
		return read_set(db, h, "SELECT id AS run FROM run", NULL, f, err);
	memset(f->bits, 0xff, f->bytes);
	return true;
}

static bool leave_removed(const struct db *db, struct sql *h, struct run_set *f,
			  struct arena *arena, struct err *err)
{
	struct run_set removed;

	if (!make_set(&removed, f->bytes, arena, err) ||
	    !read_set(db, h, "SELECT id AS run FROM run_row WHERE removed_ns IS NOT NULL", NULL,
		      &removed, err))
		return false;
	for (size_t at = 0; at < f->bytes; at++)
		f->bits[at] &= (uint8_t)~removed.bits[at];
	return true;
}

/* `text` NULL is an empty one.  BAD_REQUEST says what is wrong in it. */
static bool found_look(const struct db *db, struct sql *h, const char *text, struct arena *arena,
		       struct run_set *out, struct err *err)
{
	struct search_query *s = arena_alloc(arena, sizeof(*s));
	int64_t most = 0;

	*out = (struct run_set){ .query = s };
	if (!s)
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	if (!search_parse(text, arena, s, err) || s->n == 0)
		return err->code == ERR_NONE;
	s->is_shared = db->is_shared;
	if (!newest(h, &most, err) || !make_set(out, (size_t)most / 8 + 1, arena, err))
		return false;
	out->asked = true;
	out->query = s;
	if (!begin_set(db, h, out, err))
		return false;
	for (int i = 0; i < s->n; i++)
		if (!narrow(db, h, i, out, arena, err))
			return false;
	if (!leave_removed(db, h, out, arena, err))
		return false;
	for (size_t at = 0; at < out->bytes; at++)
		out->n += __builtin_popcount(out->bits[at]);
	return true;
}

/* Appends " AND ...": run.id is one of them; `parameter` binds the bits, as "?4", which get_bit()
 * of an engine takes from the lowest of a byte on. */
static void found_write(const struct run_set *f, const char *parameter, struct buf *sql)
{
	const char *before = "";

	if (!f->asked)
		return;
	if (f->n > FEW) {
		buf_printf(
		    sql, " AND CASE WHEN run.id < %zu THEN get_bit(%s, run.id) = 1 ELSE FALSE END",
		    f->bytes * 8, parameter);
		return;
	}
	buf_puts(sql, f->n == 0 ? " AND FALSE" : " AND run.id IN (");
	for (size_t at = 0; at < f->bytes; at++)
		for (int bit = 0; f->bits[at] && bit < 8; bit++)
			if (f->bits[at] >> bit & 1) {
				buf_printf(sql, "%s%zu", before, at * 8 + (size_t)bit);
				before = ",";
			}
	buf_puts(sql, f->n == 0 ? "" : ")");
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

/* The same in the words of PostgreSQL. */
static const char show_shared_sql[] =
    "WITH word AS (SELECT at - 1 AS key, one ->> 'text' AS text FROM"
    " jsonb_array_elements(?1::jsonb) WITH ORDINALITY AS e(one, at)),"
    " shown AS (SELECT run, search_run.kind, body FROM json_each(?2) AS ids"
    " JOIN search_run ON run = ids.value JOIN search_text ON search_text.id = search_run.text"
    " WHERE search_run.kind <> 'about'),"
    " hit AS (SELECT run, kind, body, word.text, instr(lower(body), lower(word.text)) AS at,"
    " key FROM shown CROSS JOIN word WHERE key IN (SELECT value FROM json_each(CASE kind"
    " WHEN 'note' THEN ?3 WHEN 'source' THEN ?4 ELSE ?5 END)))"
    " SELECT DISTINCT ON (run, kind) run, kind, substr(body, greatest(1, at - ?6::int),"
    " least(at - 1, ?6::int)) || char(2) || substr(body, at, length(text)) || char(3) ||"
    " substr(body, at + length(text), ?6::int), key FROM hit WHERE at > 0"
    " ORDER BY run, kind, key";

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

/* Fills in `found` of the rows: where what was looked for is, outside of their names. */
static bool found_show(struct sql *h, const struct run_set *f, struct arena *arena,
		       struct run_page *page, struct err *err)
{
	const struct search_query *s = f->query;
	const char *ids = ids_of(page, arena), *of[3];
	struct sql_statement *stmt;
	int code = SQL_FAILED;

	if (!f->asked || page->n == 0)
		return true;
	for (size_t i = 0; i < 3; i++)
		of[i] = words_of(s, kinds[i], arena);
	if (!ids || !of[0] || !of[1] || !of[2])
		return err_set(err, ERR_MEMORY, "out of memory for a search");
	stmt = db_prepare(h, err, s->is_shared ? show_shared_sql : show_sql, "ttttti", s->json, ids,
			  of[0], of[1], of[2], (int64_t)AROUND);
	while (stmt && (code = sql_step(stmt)) == SQL_ROW) {
		const struct run_found found = { text_at(stmt, 1, arena), text_at(stmt, 2, arena) };

		add_found(page, sql_int64(stmt, 0), &found);
	}
	if (stmt && code != SQL_DONE)
		db_fail(h, "show what was found", err);
	sql_finalize(stmt);
	return code == SQL_DONE;
}

/* ---- filters ---- */

/* Runs by what another table says of them: read once, from an index where there is one. */
#define RUN_IN(select) "run.id IN (SELECT " select ")"

/* It did not run to its end, or a mode of it disagrees with eager or, in a suite, failed. */
#define BROKEN                                                                                     \
	"SELECT id AS run FROM run_row WHERE status = 'failed'"                                    \
	" UNION SELECT run FROM run_result WHERE status <> 'pass'"                                 \
	" UNION SELECT run FROM run_summary WHERE verdict = '" RUN_DISAGREES "'"

/* A number of the summary lies from ... to. */
#define WITHIN(number, least, most)                                                                \
	RUN_IN("run FROM run_summary WHERE " number " BETWEEN " least " AND " most)

#define FILTER_TYPES "tttbttddddddttt"
#define FILTER_VALUES(f, found, status)                                                            \
	(f)->project, (f)->tag, (f)->device, (found)->bits, (found)->bytes, status, (f)->verdict,  \
	    LEAST((f)->speedup), MOST((f)->speedup), LEAST((f)->breaks), MOST((f)->breaks),        \
	    LEAST((f)->median_us), MOST((f)->median_us), (f)->name, (f)->branch, (f)->commit
#define LEAST(r) ((r).asked ? (r).least : NAN) /* which is bound as NULL */
#define MOST(r) ((r).asked ? (r).most : NAN)

static bool is_given(const char *text)
{
	return text && *text;
}

/* What a list is of. */
enum matched_as {
	EVERY_RUN,
	IN_ORDER, /* an index has them in the order of a list */
	UNORDERED,
};

struct matched {
	enum matched_as as;
	bool is_counted;     /* it is known how many there are: */
	const char *counted; /* a condition on rows of run_count; NULL: those that a search found */
};

/* " WHERE ...": what is asked for and nothing else, so that indexes serve it. */
static struct matched add_where(struct buf *sql, const struct run_query *f,
				const struct run_set *found)
{
	const bool broken = f->verdict && strcmp(f->verdict, "broken") == 0;
	const struct {
		bool asked, is_ordered;
		const char *sql, *counted;
	} conditions[] = {
		{ f->status >= 0, true, "status = ?5", "kind = 'status' AND value = ?5" },
		{ is_given(f->device), true, "device = ?3", "kind = 'device' AND value = ?3" },
		{ is_given(f->tag), false, RUN_IN("run FROM run_tag WHERE tag = ?2"),
		  "kind = 'tag' AND value = ?2" },
		{ broken, false, "run.id IN (" BROKEN ")", NULL },
		{ is_given(f->verdict) && !broken, false, /* "NOT ENOUGH" is not-enough */
		  RUN_IN("run FROM run_summary WHERE verdict = upper(replace(?6, '-', ' '))"),
		  "kind = 'verdict' AND value = ?6" },
		{ f->speedup.asked, false,
		  WITHIN("CASE WHEN verdict <> '" RUN_DISAGREES "' THEN speedup END", "?7", "?8"),
		  NULL },
		{ f->breaks.asked, false, WITHIN("breaks", "?9", "?10"), NULL },
		{ f->median_us.asked, false, WITHIN("median_us", "?11", "?12"), NULL },
		{ is_given(f->name), true, "name = ?13", NULL },
		{ is_given(f->branch), false, "branch = ?14", NULL },
		{ is_given(f->commit), false, "instr(commit_id, ?15) = 1", NULL },
		{ f->pinned, true, "pinned = 1", NULL },
		{ f->baseline, false, "baseline = 1", NULL },
	};
	struct matched out = { .counted = found->asked ? NULL : "kind = 'all'" };
	int asked = found->asked; /* beside the project */

	buf_puts(sql, is_given(f->project) ? " WHERE project = ?1" : " WHERE TRUE");
	out.as = found->asked || is_given(f->project) ? IN_ORDER : EVERY_RUN;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].asked) {
			buf_printf(sql, " AND %s", conditions[i].sql);
			out.as = conditions[i].is_ordered && out.as != UNORDERED ? IN_ORDER
										 : UNORDERED;
			out.counted = conditions[i].counted;
			asked += out.counted ? 1 : 2;
		}
	out.is_counted = asked < 2 && !(found->asked && is_given(f->project));
	found_write(found, "?4", sql);
	return out;
}

/* "WITH matched(of_run, sorted) ...": the runs that are asked for and what they are sorted by. What
 * no index has in order is looked for once, the rest as far as each reader of it goes. */
static struct matched write_matched(struct buf *sql, const struct run_query *f,
				    const struct run_set *found)
{
	struct buf where = { 0 };
	struct matched matched = add_where(&where, f, found);

	buf_printf(sql, "WITH matched AS %s (SELECT run.id AS of_run, %s AS sorted FROM run",
		   matched.as == UNORDERED && !matched.is_counted ? "MATERIALIZED"
								  : "NOT MATERIALIZED",
		   is_of_summary(f) || f->fold ? "0" : sorts[f->sort].column);
	buf_add(sql, where.data, where.len);
	buf_puts(sql, "), ");
	sql->failed = sql->failed || where.failed;
	buf_finish(&where);
	return matched;
}

/* "SELECT ... AS total_runs ...": how many match. */
static void write_total(struct buf *sql, const struct run_query *f, const struct run_set *found,
			const struct matched *matched)
{
	if (matched->is_counted && !matched->counted)
		buf_printf(sql, "SELECT %lld AS total_runs", (long long)found->n);
	else if (matched->is_counted)
		buf_printf(sql, "SELECT ifnull(sum(n), 0) AS total_runs FROM run_count WHERE %s%s",
			   matched->counted, is_given(f->project) ? " AND project = ?1" : "");
	else
		buf_puts(sql, "SELECT count(*) AS total_runs FROM matched");
}

/* The speedups of the run and of those before it of its name, project, device and mode, newest
 * first, each as it is read again to the last bit; of one without a mode none, without a look at
 * the others. */
#define RECENT                                                                                     \
	"(SELECT group_concat(printf('%!.17g', was), ' ') FROM"                                    \
	" (SELECT its.speedup AS was FROM run AS other"                                            \
	" CROSS JOIN run_summary AS its WHERE its.run = other.id"                                  \
	" AND run_summary.mode IS NOT NULL AND other.name = run.name"                              \
	" AND other.project = run.project"                                                         \
	" AND other.device = run.device AND its.mode = run_summary.mode AND other.id <= run.id"    \
	" AND its.verdict <> '" RUN_DISAGREES "' ORDER BY other.id DESC LIMIT 12) AS newest)"
_Static_assert(RUN_RECENT == 12, "RECENT names it");

/* What a row of the answer has: the counts, its columns, what it stands for. */
#define SHOWN                                                                                      \
	"SELECT total, total_runs, many, " RUN_COLUMNS ", " RECENT                                 \
	" FROM counts LEFT JOIN page ON TRUE LEFT JOIN run ON run.id = of_run"                     \
	" LEFT JOIN run_summary ON run_summary.run = run.id"

/* Folded: a row is a run of no suite, the newest of those that match of a suite (part 0), for all
 * of them, or one of these where the suite is open (part 1).  A suite is where its newest run
 * is. */
static void write_folded(struct buf *sql, const struct run_query *f, const struct run_set *found)
{
	bool open = is_given(f->open) && strcmp(f->open, "[]") != 0;
	struct matched matched = write_matched(sql, f, found);

	buf_puts(sql, "folded AS MATERIALIZED (SELECT suite, max(of_run) AS newest,"
		      " count(*) AS many FROM suite_run JOIN matched ON of_run = suite_run.run"
		      " GROUP BY suite),"
		      " shown AS (SELECT of_run, of_run AS place, 0 AS part,"
		      " ifnull(folded.many, 0) AS many FROM matched"
		      " LEFT JOIN suite_run ON suite_run.run = of_run"
		      " LEFT JOIN folded ON folded.suite = suite_run.suite"
		      " WHERE (suite_run.suite IS NULL OR of_run = newest)");
	if (open)
		buf_puts(sql, " UNION ALL SELECT of_run, newest, 1, 0 FROM folded"
			      " JOIN suite_run ON suite_run.suite = folded.suite"
			      " JOIN matched ON of_run = suite_run.run"
			      " WHERE folded.suite IN (SELECT value FROM json_each(?16))");
	buf_puts(sql, "), counts AS MATERIALIZED (SELECT total_runs, total_runs");
	if (open) /* those rows are there twice over */
		buf_puts(sql, " + (SELECT ifnull(sum(many), 0) FROM folded WHERE suite IN"
			      " (SELECT value FROM json_each(?16)))");
	buf_puts(sql, " - (SELECT ifnull(sum(many - 1), 0) FROM folded) AS total FROM (");
	write_total(sql, f, found, &matched);
	buf_puts(sql, ") AS whole), page AS MATERIALIZED (SELECT * FROM shown ORDER BY place DESC");
	buf_puts(sql, open ? ", part, of_run DESC" : "");
	buf_puts(sql, " LIMIT ?17 OFFSET ?18) " SHOWN " ORDER BY place DESC, part, of_run DESC");
}

static void order_of(const struct run_query *f, char out[ORDER_CHARS])
{
	const char *way = f->up ? "ASC" : "DESC";

	if (f->sort == RUN_SORT_AGE)
		snprintf(out, ORDER_CHARS, " ORDER BY of_run %s", way);
	else
		snprintf(out, ORDER_CHARS, " ORDER BY %s %s%s, of_run DESC",
			 is_of_summary(f) ? sorts[f->sort].column : "sorted", way,
			 f->sort == RUN_SORT_NAME ? "" : " NULLS LAST");
}

/* Where the runs of a list are that have a summary.  Its index is walked in its order, but where
 * few match: these are sorted. */
static const char *with_summary(const struct run_query *f, const struct run_set *found,
				enum matched_as as)
{
	if (as == EVERY_RUN)
		return "run_summary WHERE run NOT IN"
		       " (SELECT id FROM run_row WHERE removed_ns IS NOT NULL)";
	if (is_given(f->name) || f->pinned || (found->asked && found->n <= FEW))
		return "run_summary, matched WHERE run = of_run";
	return "run_summary CROSS JOIN matched WHERE run = of_run";
}

/* A page by a column of the summaries: first the runs that have it (part 0), as far as the page
 * goes, and only where these do not fill it the others. */
static void write_page_of_summary(struct buf *sql, const struct run_query *f, const char *from)
{
	const char *column = sorts[f->sort].column, *way = f->up ? "ASC" : "DESC";

	buf_printf(sql,
		   "front AS MATERIALIZED (SELECT run AS of_run, %s AS by_it FROM %s"
		   " AND %s IS NOT NULL ORDER BY %s %s, run DESC LIMIT ?17 + ?18),",
		   column, from, column, column, way);
	buf_printf(sql,
		   " rest AS (SELECT of_run FROM matched WHERE NOT EXISTS (SELECT 1 FROM"
		   " run_summary WHERE run_summary.run = of_run AND %s IS NOT NULL) ORDER BY of_run"
		   " DESC LIMIT ?17 + ?18 - (SELECT count(*) FROM front)),"
		   " page AS MATERIALIZED (SELECT of_run, 0 AS many FROM (SELECT of_run, by_it,"
		   " 0 AS part FROM front UNION ALL SELECT of_run, NULL, 1 FROM rest) AS placed"
		   " WHERE ?16 = 0 ORDER BY part, by_it %s, of_run DESC LIMIT ?17 OFFSET ?18) ",
		   column, way);
}

/* Each run a row, and one more where there is a next page. */
static void write_flat(struct buf *sql, const struct run_query *f, const struct run_set *found)
{
	char order[ORDER_CHARS];
	struct matched matched = write_matched(sql, f, found);

	order_of(f, order);
	buf_puts(sql, "counts AS MATERIALIZED (SELECT total_runs AS total, total_runs FROM (");
	write_total(sql, f, found, &matched);
	buf_puts(sql, ") AS whole), ");
	if (is_of_summary(f)) {
		write_page_of_summary(sql, f, with_summary(f, found, matched.as));
	} else {
		buf_puts(sql,
			 "page AS MATERIALIZED (SELECT of_run, sorted, 0 AS many FROM matched");
		buf_puts(sql, f->before_id ? " WHERE of_run < ?16" : " WHERE ?16 = 0");
		buf_puts(sql, order);
		buf_puts(sql, " LIMIT ?17 OFFSET ?18) ");
	}
	buf_puts(sql, SHOWN);
	buf_puts(sql, order);
}

/* "1.5 2" as numbers. */
static void read_recent(const char *text, struct run_row *run)
{
	char *end;

	for (; *text && run->n_recent < RUN_RECENT; text = end) {
		run->recent[run->n_recent++] = strtod(text, &end);
		if (end == text)
			break;
	}
}

/* The rows of a page, and the counts, which come with each row, and where there is none with an
 * empty one. */
static bool read_rows(struct sql_statement *s, struct arena *arena, struct run_page *out)
{
	int code;

	while ((code = sql_step(s)) == SQL_ROW) {
		struct run_row *row = &out->runs[out->n];
		int at;

		out->total = sql_int64(s, 0);
		out->total_runs = sql_int64(s, 1);
		if (sql_is_null(s, 3))
			continue;
		at = run_read(s, 3, arena, row);
		row->stands_for = sql_int64(s, 2);
		if (row->summary.mode)
			read_recent(db_text(s, at), row);
		out->n++;
	}
	return code == SQL_DONE;
}

static bool list_with(const struct db *db, struct sql *h, const struct run_query *q,
		      struct arena *arena, struct run_page *out, struct err *err)
{
	const char *status = q->status >= 0 ? run_status_name((enum run_status)q->status) : "";
	bool pages = q->sort == RUN_SORT_AGE && !q->up && !q->fold, ok;
	struct buf sql = { 0 };
	struct run_set found;
	struct sql_statement *s;

	if (!found_look(db, h, q->text, arena, &found, err))
		return false;
	*out = (struct run_page){ .runs = ARENA_ARRAY(arena, struct run_row,
						      (size_t)q->limit + 1) };
	(q->fold ? write_folded : write_flat)(&sql, q, &found);
	if (!out->runs || sql.failed) {
		buf_finish(&sql);
		return err_set(err, ERR_MEMORY, "out of memory while listing runs");
	}
	s = q->fold
		? db_prepare(h, err, sql.data, FILTER_TYPES "tii", FILTER_VALUES(q, &found, status),
			     q->open, (int64_t)q->limit, q->offset)
		: db_prepare(h, err, sql.data, FILTER_TYPES "iii", FILTER_VALUES(q, &found, status),
			     q->before_id, (int64_t)q->limit + 1, q->offset);
	ok = s && (read_rows(s, arena, out) || db_fail(h, "list runs", err));
	sql_finalize(s);
	buf_finish(&sql);
	if (out->n > q->limit) {
		out->n = q->limit;
		out->next = pages ? out->runs[q->limit - 1].id : 0;
	}
	return ok && found_show(h, &found, arena, out, err);
}

bool db_run_list(struct db *db, const struct run_query *query, struct arena *arena,
		 struct run_page *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = list_with(db, h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

#define FACETS                                                                                     \
	"SELECT facet, what, many FROM (SELECT CASE kind WHEN 'all' THEN 'project' ELSE kind END"  \
	" AS facet, CASE kind WHEN 'all' THEN project ELSE value END AS what, sum(n) AS many"      \
	" FROM run_count WHERE kind <> 'measured' AND (?2 = '' OR project = ?2) GROUP BY 1, 2 "    \
	"UNION ALL"                                                                                \
	" SELECT 'verdict', 'broken', count(*) FROM (" BROKEN ") AS wrong WHERE run NOT IN"        \
	" (SELECT id FROM run_row WHERE removed_ns IS NOT NULL)"                                   \
	" AND (?2 = '' OR run IN (SELECT id FROM run WHERE project = ?2))) AS counted"             \
	" WHERE many > 0 AND what <> '' ORDER BY many DESC, what LIMIT ?1"

bool db_run_facets(struct db *db, const char *project, struct arena *arena, struct run_facet **out,
		   int *n, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct run_facet *rows = ARENA_ARRAY(arena, struct run_facet, RUN_MAX_FACETS);
	struct sql_statement *s = db_prepare(h, err, FACETS, "it", (int64_t)RUN_MAX_FACETS,
					     project);
	int code = SQL_FAILED;

	*n = 0;
	while (s && rows && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = (struct run_facet){ text_at(s, 0, arena), text_at(s, 1, arena),
						   sql_int64(s, 2) };
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory while listing runs");
	else if (s && code != SQL_DONE)
		db_fail(h, "count runs", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*out = rows;
	return code == SQL_DONE;
}
