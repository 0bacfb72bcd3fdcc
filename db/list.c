/* db/list.c -- runs as a list: which, in what order, and what they can be filtered by. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"

enum { ORDER_CHARS = 200 };

/* A name, and what it is in SQL; NULL comes last whatever the direction. */
static const struct {
	const char *name, *column;
} sorts[RUN_SORT_COUNT] = {
	[RUN_SORT_AGE] = { "age", "id" },
	[RUN_SORT_NAME] = { "name", "lower(name)" },
	[RUN_SORT_VERDICT] = { "verdict", "verdict" },
	[RUN_SORT_SPEEDUP] = { "speedup",
			       "CASE WHEN verdict <> '" RUN_DISAGREES "' THEN speedup END" },
	[RUN_SORT_MEDIAN] = { "median", "median_us" },
	[RUN_SORT_REPAID] = { "repaid", "CASE WHEN mode IS NOT NULL THEN ifnull(calls_to_repay, "
					"1.7976931348623157e308) END" },
	[RUN_SORT_BREAKS] = { "breaks", "breaks" },
	[RUN_SORT_DEVICE] = { "device", "nullif(device, '')" },
	[RUN_SORT_STATUS] = { "status", "status" },
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
 * also the begin of its commit. ---- */

enum {
	SEARCH_BYTES = 400,
	SEARCH_WORDS = 8,
	SEARCH_INDEXED = 3, /* characters; shorter words are looked for in names and notes alone */
	AROUND = 48,        /* characters shown before and after what is found */
};

struct search_word {
	bool without;
	const char *kind; /* of a text; NULL: any */
	const char *text; /* never "" */
	bool is_phrase;   /* it was in quotes */
};

struct search_query {
	struct search_word at[SEARCH_WORDS];
	int n;            /* 0: everything is found */
	const char *json; /* what the statement binds, where it has any */
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
static void write_texts(struct buf *sql, const struct search_query *s, int i, const char *json)
{
	const struct search_word *w = &s->at[i];

	if (characters(w->text) >= SEARCH_INDEXED && s->is_shared)
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE body ILIKE"
			   " has_pattern(json_extract(%s, '$[%d].text'))",
			   json, i);
	else if (characters(w->text) >= SEARCH_INDEXED)
		buf_printf(sql,
			   "SELECT rowid FROM search WHERE search MATCH"
			   " json_extract(%s, '$[%d].match')",
			   json, i);
	else
		buf_printf(sql,
			   "SELECT id FROM search_text WHERE %s"
			   " AND instr(lower(body), lower(json_extract(%s, '$[%d].text'))) > 0",
			   w->kind ? "TRUE" : "kind IN ('about', 'note')", json, i);
}

static void write_word(struct buf *sql, const struct search_query *s, int i, const char *json)
{
	const struct search_word *w = &s->at[i];
	int64_t number = w->kind || w->is_phrase ? 0 : number_of(w->text);

	buf_puts(sql, "SELECT run FROM (SELECT run FROM search_run WHERE text IN (");
	write_texts(sql, s, i, json);
	buf_puts(sql, ")");
	if (w->kind) /* one of `kinds` */
		buf_printf(sql, " AND kind = '%s'", w->kind);
	if (number)
		buf_printf(sql, " UNION SELECT %lld", (long long)number);
	if (!w->kind && !w->is_phrase)
		buf_printf(
		    sql,
		    " UNION SELECT id FROM run_row WHERE commit_id <> '' AND lower(commit_id)"
		    " BETWEEN lower(json_extract(%s, '$[%d].text')) AND"
		    " lower(json_extract(%s, '$[%d].text')) || char(1114111)",
		    json, i, json, i);
	buf_puts(sql, ") AS its");
}

/* "found(run) AS MATERIALIZED (...)": the runs that have each word; `json` is the parameter that
 * binds search.json, as "?4". */
static void search_write(struct buf *sql, const struct search_query *s, const char *json)
{
	const char *before = "";

	buf_puts(sql, "found(run) AS MATERIALIZED (");
	for (int i = 0; i < s->n; i++)
		if (!s->at[i].without) {
			buf_puts(sql, before);
			write_word(sql, s, i, json);
			before = " INTERSECT ";
		}
	if (!*before)
		buf_puts(sql, "SELECT id FROM run");
	for (int i = 0; i < s->n; i++)
		if (s->at[i].without) {
			buf_puts(sql, " EXCEPT ");
			write_word(sql, s, i, json);
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
static bool search_show(struct sql *h, const struct search_query *s, struct arena *arena,
			struct run_page *page, struct err *err)
{
	const char *ids = ids_of(page, arena), *of[3];
	struct sql_statement *stmt;
	int code = SQL_FAILED;

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

/* It did not run to its end, or a mode of it disagrees with eager or, in a suite, failed. */
#define BROKEN                                                                                     \
	"(run.status = 'failed' OR EXISTS (SELECT 1 FROM run_result WHERE run_result.run = run.id" \
	" AND run_result.status <> 'pass')"                                                        \
	" OR EXISTS (SELECT 1 FROM run_summary AS wrong WHERE wrong.run = run.id"                  \
	" AND wrong.verdict = '" RUN_DISAGREES "'))"

/* "NOT ENOUGH" is not-enough. */
#define VERDICT_NAME(table) "replace(lower(" table ".verdict), ' ', '-')"

/* A number of the summary lies from ... to. */
#define WITHIN(number, least, most)                                                                \
	"EXISTS (SELECT 1 FROM run_summary AS one WHERE one.run = run.id AND " number              \
	" BETWEEN " least " AND " most ")"

#define FILTER_TYPES "ttttttddddddttt"
#define FILTER_VALUES(f, search, status)                                                           \
	(f)->project, (f)->tag, (f)->device, (search)->json, status, (f)->verdict,                 \
	    LEAST((f)->speedup), MOST((f)->speedup), LEAST((f)->breaks), MOST((f)->breaks),        \
	    LEAST((f)->median_us), MOST((f)->median_us), (f)->name, (f)->branch, (f)->commit
#define LEAST(r) ((r).asked ? (r).least : NAN) /* which is bound as NULL */
#define MOST(r) ((r).asked ? (r).most : NAN)

static bool is_given(const char *text)
{
	return text && *text;
}

/* " WHERE ...": what is asked for and nothing else, so that indexes serve it.  The same condition
 * counts the matches and pages through them. */
static void add_where(struct buf *sql, const struct run_query *f, const struct search_query *search)
{
	const bool broken = f->verdict && strcmp(f->verdict, "broken") == 0;
	const struct {
		bool asked;
		const char *sql;
	} conditions[] = {
		{ is_given(f->project), "project = ?1" },
		{ is_given(f->tag),
		  "EXISTS (SELECT 1 FROM run_tag WHERE run_tag.run = run.id AND tag = ?2)" },
		{ is_given(f->device), "device = ?3" },
		{ search->n > 0, "run.id IN (SELECT run FROM found)" },
		{ f->status >= 0, "status = ?5" },
		{ broken, BROKEN },
		{ is_given(f->verdict) && !broken,
		  "EXISTS (SELECT 1 FROM run_summary AS judged WHERE judged.run = run.id"
		  " AND " VERDICT_NAME("judged") " = ?6)" },
		{ f->speedup.asked,
		  WITHIN("CASE WHEN one.verdict <> '" RUN_DISAGREES "' THEN one.speedup END", "?7",
			 "?8") },
		{ f->breaks.asked, WITHIN("one.breaks", "?9", "?10") },
		{ f->median_us.asked, WITHIN("one.median_us", "?11", "?12") },
		{ is_given(f->name), "name = ?13" },
		{ is_given(f->branch), "branch = ?14" },
		{ is_given(f->commit), "instr(commit_id, ?15) = 1" },
		{ f->pinned, "pinned = 1" },
		{ f->baseline, "baseline = 1" },
	};

	buf_puts(sql, " WHERE TRUE");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].asked)
			buf_printf(sql, " AND %s", conditions[i].sql);
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

/* The statement's tables: what is searched is looked for once. */
static void begin_with(struct buf *sql, const struct search_query *search)
{
	buf_puts(sql, "WITH ");
	if (search->n) {
		search_write(sql, search, "?4");
		buf_puts(sql, ", ");
	}
}

/* Folded: a row is a run of no suite, the newest of those that match of a suite (part 0), for all
 * of them, or one of these where the suite is open (part 1).  A suite is where its newest run
 * is. */
static void write_folded(struct buf *sql, const struct run_query *f,
			 const struct search_query *search)
{
	bool open = is_given(f->open) && strcmp(f->open, "[]") != 0;

	begin_with(sql, search);
	buf_puts(sql, "folded AS MATERIALIZED (SELECT suite, max(run.id) AS newest,"
		      " count(*) AS many FROM suite_run JOIN run ON run.id = suite_run.run");
	add_where(sql, f, search);
	buf_puts(sql, " GROUP BY suite), shown AS (SELECT run.id AS of_run, run.id AS place,"
		      " 0 AS part, ifnull(folded.many, 0) AS many FROM run"
		      " LEFT JOIN suite_run ON suite_run.run = run.id"
		      " LEFT JOIN folded ON folded.suite = suite_run.suite");
	add_where(sql, f, search);
	buf_puts(sql, " AND (suite_run.suite IS NULL OR run.id = newest)");
	if (open) {
		buf_puts(sql, " UNION ALL SELECT run.id, newest, 1, 0 FROM folded JOIN suite_run"
			      " ON suite_run.suite = folded.suite JOIN run ON run.id = "
			      "suite_run.run");
		add_where(sql, f, search);
		buf_puts(sql, " AND folded.suite IN (SELECT value FROM json_each(?16))");
	}
	buf_puts(sql, "), counts AS MATERIALIZED (SELECT total_runs, total_runs");
	if (open) /* those rows are there twice over */
		buf_puts(sql, " + (SELECT ifnull(sum(many), 0) FROM folded WHERE suite IN"
			      " (SELECT value FROM json_each(?16)))");
	buf_puts(sql, " - (SELECT ifnull(sum(many - 1), 0) FROM folded) AS total FROM"
		      " (SELECT count(*) AS total_runs FROM run");
	add_where(sql, f, search);
	buf_puts(sql, ") AS whole), page AS MATERIALIZED (SELECT * FROM shown ORDER BY place DESC");
	buf_puts(sql, open ? ", part, of_run DESC" : "");
	buf_puts(sql, " LIMIT ?17 OFFSET ?18) " SHOWN " ORDER BY place DESC, part, run.id DESC");
}

static void order_of(const struct run_query *f, char out[ORDER_CHARS])
{
	const char *column = sorts[f->sort].column;

	if (f->sort == RUN_SORT_AGE)
		snprintf(out, ORDER_CHARS, " ORDER BY id %s", f->up ? "ASC" : "DESC");
	else
		snprintf(out, ORDER_CHARS, " ORDER BY (%s) IS NULL, %s %s, id DESC", column, column,
			 f->up ? "ASC" : "DESC");
}

/* Each run a row, and one more where there is a next page. */
static void write_flat(struct buf *sql, const struct run_query *f,
		       const struct search_query *search)
{
	char order[ORDER_CHARS];

	order_of(f, order);
	begin_with(sql, search);
	buf_puts(sql, "counts AS MATERIALIZED (SELECT count(*) AS total,"
		      " count(*) AS total_runs FROM run");
	add_where(sql, f, search);
	buf_puts(sql, "), page AS MATERIALIZED (SELECT run.id AS of_run, 0 AS many" RUN_TABLES);
	add_where(sql, f, search);
	buf_puts(sql, f->before_id ? " AND id < ?16" : " AND ?16 = 0");
	buf_puts(sql, order);
	buf_puts(sql, " LIMIT ?17 OFFSET ?18) " SHOWN);
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
	struct search_query search;
	struct sql_statement *s;

	if (!search_parse(q->text, arena, &search, err))
		return false;
	search.is_shared = db->is_shared;
	*out = (struct run_page){ .runs = ARENA_ARRAY(arena, struct run_row,
						      (size_t)q->limit + 1) };
	(q->fold ? write_folded : write_flat)(&sql, q, &search);
	if (!out->runs || sql.failed) {
		buf_finish(&sql);
		return err_set(err, ERR_MEMORY, "out of memory while listing runs");
	}
	s = q->fold ? db_prepare(h, err, sql.data, FILTER_TYPES "tii",
				 FILTER_VALUES(q, &search, status), q->open, (int64_t)q->limit,
				 q->offset)
		    : db_prepare(h, err, sql.data, FILTER_TYPES "iii",
				 FILTER_VALUES(q, &search, status), q->before_id,
				 (int64_t)q->limit + 1, q->offset);
	ok = s && (read_rows(s, arena, out) || db_fail(h, "list runs", err));
	sql_finalize(s);
	buf_finish(&sql);
	if (out->n > q->limit) {
		out->n = q->limit;
		out->next = pages ? out->runs[q->limit - 1].id : 0;
	}
	return ok && (search.n == 0 || out->n == 0 || search_show(h, &search, arena, out, err));
}

bool db_run_list(struct db *db, const struct run_query *query, struct arena *arena,
		 struct run_page *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = list_with(db, h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

#define SINCE " run.created_ns >= ?1 AND (?2 = '' OR run.project = ?2)"

/* Beside each run its verdict's, and the number and verdict of the run before it with the same
 * settings; '': those of a run from a file are not read yet. */
#define CHANGED                                                                                    \
	" FROM run JOIN run_summary ON run_summary.run = run.id JOIN"                              \
	" (SELECT run AS was_run, verdict AS was_verdict FROM run_summary) AS was ON was_run ="    \
	" (SELECT max(other.id) FROM run AS other JOIN run_summary AS its ON its.run = other.id"   \
	" WHERE other.name = run.name AND other.project = run.project"                             \
	" AND other.device = run.device AND (other.settings_hash = run.settings_hash OR"           \
	" '' IN (other.settings_hash, run.settings_hash))"                                         \
	" AND its.mode = run_summary.mode AND other.id < run.id)"                                  \
	" WHERE was_verdict <> run_summary.verdict AND" SINCE

static bool count_since(struct sql *h, const struct changes_query *q, struct run_changes *out,
			struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT status, count(*) FROM run WHERE" SINCE " GROUP BY status", "it",
	    q->since_ns, q->project);
	enum run_status status;
	int code = SQL_FAILED;

	while (s && (code = sql_step(s)) == SQL_ROW)
		if (run_status_from_name(db_text(s, 0), &status))
			out->counts[status] = sql_int64(s, 1);
	if (s && code != SQL_DONE)
		db_fail(h, "count runs", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

static bool changes_with(struct sql *h, const struct changes_query *q, struct arena *arena,
			 struct run_changes *out, struct err *err)
{
	struct sql_statement *s;
	int code = SQL_FAILED;

	*out = (struct run_changes){ .at = ARENA_ARRAY(arena, struct run_change,
						       (size_t)q->limit) };
	if (!out->at)
		return err_set(err, ERR_MEMORY, "out of memory while listing runs");
	if (!count_since(h, q, out, err))
		return false;
	s = db_prepare(h, err,
		       "SELECT " RUN_COLUMNS ", was_run, was_verdict, count(*) OVER ()" CHANGED
		       " ORDER BY run.id DESC LIMIT ?3",
		       "iti", q->since_ns, q->project, (int64_t)q->limit);
	while (s && (code = sql_step(s)) == SQL_ROW) {
		struct run_change *to = &out->at[out->n++];
		int at = run_read(s, 0, arena, &to->run);

		to->before = sql_int64(s, at);
		to->was = text_at(s, at + 1, arena);
		out->total = sql_int64(s, at + 2);
	}
	if (s && code != SQL_DONE)
		db_fail(h, "look for changes", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

bool db_run_changes(struct db *db, const struct changes_query *query, struct arena *arena,
		    struct run_changes *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	bool ok = changes_with(h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

/* Of the runs that are there, of a project or of all. */
#define HERE                                                                                       \
	" NOT IN (SELECT id FROM run_row WHERE removed_ns IS NOT NULL)"                            \
	" AND (?2 = '' OR run IN (SELECT id FROM run WHERE project = ?2)) "
/* From the index alone, which has all of it. */
#define INDEXED                                                                                    \
	" FROM run_row INDEXED BY run_here WHERE removed_ns IS NULL"                               \
	" AND (?2 = '' OR project = ?2) "
#define FACETS                                                                                     \
	"SELECT 'project', project, count(*) AS many" INDEXED                                      \
	"AND project <> '' GROUP BY 2 UNION ALL "                                                  \
	"SELECT 'tag', tag, count(*) FROM run_tag WHERE run" HERE "GROUP BY 2 UNION ALL "          \
	"SELECT 'device', device, count(*)" INDEXED "AND device <> '' GROUP BY 2 UNION ALL "       \
	"SELECT 'status', status, count(*)" INDEXED "GROUP BY 2 UNION ALL "                        \
	"SELECT 'verdict', replace(lower(verdict), ' ', '-'), many FROM"                           \
	" (SELECT verdict, count(*) AS many FROM run_summary"                                      \
	" WHERE run" HERE "GROUP BY 1) AS judged UNION ALL "                                       \
	"SELECT 'verdict', 'broken', count(*) FROM"                                                \
	" (SELECT id AS run FROM run_row WHERE status = 'failed'"                                  \
	" UNION SELECT run FROM run_result WHERE status <> 'pass'"                                 \
	" UNION SELECT run FROM run_summary WHERE verdict = '" RUN_DISAGREES "') AS wrong"         \
	" WHERE run" HERE "HAVING count(*) > 0 "                                                   \
	"ORDER BY many DESC, 2 LIMIT ?1"

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
