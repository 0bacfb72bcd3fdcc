/* db/list.c -- runs as a list: which, in what order, and what they can be filtered by. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/found.h"

enum { ORDER_CHARS = 200 };

#define OF_SUMMARY " LEFT JOIN run_summary ON run_summary.run = of_run"

/* A name, what it is in SQL and the table that has it ("": that of runs); NULL comes last whatever
 * the direction. */
static const struct {
	const char *name, *column, *table;
} sorts[RUN_SORT_COUNT] = {
	[RUN_SORT_AGE] = { "age", "run.id", "" },
	[RUN_SORT_NAME] = { "name", "lower(name)", "" },
	[RUN_SORT_VERDICT] = { "verdict", "verdict", OF_SUMMARY },
	[RUN_SORT_SPEEDUP] = { "speedup", "iif(verdict = '" RUN_DISAGREES "', NULL, speedup)",
			       OF_SUMMARY },
	[RUN_SORT_MEDIAN] = { "median", "median_us", OF_SUMMARY },
	[RUN_SORT_REPAID] = { "repaid", "iif(mode IS NULL, NULL, ifnull(calls_to_repay, 9e999))",
			      OF_SUMMARY },
	[RUN_SORT_BREAKS] = { "breaks", "breaks", OF_SUMMARY },
	[RUN_SORT_DEVICE] = { "device", "nullif(device, '')", "" },
	[RUN_SORT_STATUS] = { "status", "status", "" },
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

/* " WHERE ...": what is asked for and nothing else, so that indexes serve it.  False where no
 * index has the runs in the order of a list. */
static bool add_where(struct buf *sql, const struct run_query *f, const struct found *found)
{
	const bool broken = f->verdict && strcmp(f->verdict, "broken") == 0;
	const struct {
		bool asked, is_ordered;
		const char *sql;
	} conditions[] = {
		{ is_given(f->project), true, "project = ?1" },
		{ is_given(f->tag), false, RUN_IN("run FROM run_tag WHERE tag = ?2") },
		{ is_given(f->device), true, "device = ?3" },
		{ f->status >= 0, true, "status = ?5" },
		{ broken, false, "run.id IN (" BROKEN ")" },
		{ is_given(f->verdict) && !broken, false, /* "NOT ENOUGH" is not-enough */
		  RUN_IN("run FROM run_summary WHERE verdict = upper(replace(?6, '-', ' '))") },
		{ f->speedup.asked, false,
		  WITHIN("iif(verdict = '" RUN_DISAGREES "', NULL, speedup)", "?7", "?8") },
		{ f->breaks.asked, false, WITHIN("breaks", "?9", "?10") },
		{ f->median_us.asked, false, WITHIN("median_us", "?11", "?12") },
		{ is_given(f->name), true, "name = ?13" },
		{ is_given(f->branch), false, "branch = ?14" },
		{ is_given(f->commit), false, "instr(commit_id, ?15) = 1" },
		{ f->pinned, true, "pinned = 1" },
		{ f->baseline, false, "baseline = 1" },
	};
	bool is_ordered = !found->asked;

	buf_puts(sql, " WHERE 1");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].asked) {
			buf_printf(sql, " AND %s", conditions[i].sql);
			is_ordered = is_ordered && conditions[i].is_ordered;
		}
	found_write(found, "?4", sql);
	return is_ordered;
}

/* "WITH matched(of_run, suite or what they are sorted by) ...": the runs that are asked for.  What
 * no index has in order is looked for once, the rest as far as each reader of it goes. */
static void write_matched(struct buf *sql, const struct run_query *f, const struct found *found)
{
	struct buf where = { 0 };
	bool is_ordered = add_where(&where, f, found);
	/* Rows of the summaries are met in their order, which the + keeps indexes out of. */
	bool by_summary = *sorts[f->sort].table;
	const char *materialized = is_ordered ? "NOT MATERIALIZED" : "MATERIALIZED";

	if (f->fold)
		buf_printf(sql,
			   "WITH matched AS %s (SELECT run.id AS of_run, suite FROM run"
			   " LEFT JOIN suite_run ON suite_run.run = run.id",
			   materialized);
	else
		buf_printf(sql, "WITH matched AS %s (SELECT run.id AS of_run, %s AS sorted FROM %s",
			   materialized, by_summary ? "0" : sorts[f->sort].column,
			   by_summary ? "run_row AS run" : "run");
	buf_add(sql, where.data, where.len);
	buf_puts(sql, by_summary ? " AND +run.removed_ns IS NULL), " : "), ");
	sql->failed = sql->failed || where.failed;
	buf_finish(&where);
}

/* The speedups of the run and of those before it of its name, project, device and mode, newest
 * first, each as it is read again to the last bit; of one without a mode none, without a look at
 * the others. */
#define RECENT                                                                                     \
	"(SELECT group_concat(printf('%!.17g', was), ' ') FROM"                                    \
	" (SELECT its.speedup AS was FROM run AS other"                                            \
	" CROSS JOIN run_summary AS its ON its.run = other.id"                                     \
	" WHERE run_summary.mode IS NOT NULL AND other.name = run.name"                            \
	" AND other.project = run.project"                                                         \
	" AND other.device = run.device AND its.mode = run_summary.mode AND other.id <= run.id"    \
	" AND its.verdict <> '" RUN_DISAGREES "' ORDER BY other.id DESC LIMIT 12))"
_Static_assert(RUN_RECENT == 12, "RECENT names it");

/* What a row of the answer has: the counts, its columns, what it stands for. */
#define SHOWN                                                                                      \
	"SELECT total, total_runs, many, " RUN_COLUMNS ", " RECENT                                 \
	" FROM counts LEFT JOIN page LEFT JOIN run ON run.id = of_run"                             \
	" LEFT JOIN run_summary ON run_summary.run = run.id"

/* Folded: a row is a run of no suite, the newest of those that match of a suite (part 0), for all
 * of them, or one of these where the suite is open (part 1).  A suite is where its newest run
 * is. */
static void write_folded(struct buf *sql, const struct run_query *f, const struct found *found)
{
	bool open = is_given(f->open) && strcmp(f->open, "[]") != 0;

	write_matched(sql, f, found);
	buf_puts(sql, "folded AS MATERIALIZED (SELECT suite, max(of_run) AS newest,"
		      " count(*) AS many FROM matched WHERE suite IS NOT NULL GROUP BY suite),"
		      " shown AS (SELECT of_run, of_run AS place, 0 AS part,"
		      " ifnull(folded.many, 0) AS many FROM matched"
		      " LEFT JOIN folded ON folded.suite = matched.suite"
		      " WHERE (matched.suite IS NULL OR of_run = newest)");
	if (open)
		buf_puts(sql, " UNION ALL SELECT of_run, newest, 1, 0 FROM folded JOIN matched"
			      " ON matched.suite = folded.suite"
			      " WHERE folded.suite IN (SELECT value FROM json_each(?16))");
	buf_puts(sql, "), counts AS MATERIALIZED (SELECT total_runs, total_runs");
	if (open) /* those rows are there twice over */
		buf_puts(sql, " + (SELECT ifnull(sum(many), 0) FROM folded WHERE suite IN"
			      " (SELECT value FROM json_each(?16)))");
	buf_puts(sql, " - (SELECT ifnull(sum(many - 1), 0) FROM folded) AS total FROM"
		      " (SELECT count(*) AS total_runs FROM matched)),"
		      " page AS MATERIALIZED (SELECT * FROM shown ORDER BY place DESC");
	buf_puts(sql, open ? ", part, of_run DESC" : "");
	buf_puts(sql, " LIMIT ?17 OFFSET ?18) " SHOWN " ORDER BY place DESC, part, of_run DESC");
}

static void order_of(const struct run_query *f, char out[ORDER_CHARS])
{
	const char *way = f->up ? "ASC" : "DESC";
	bool by_summary = *sorts[f->sort].table;

	if (f->sort == RUN_SORT_AGE)
		snprintf(out, ORDER_CHARS, " ORDER BY of_run %s", way);
	else
		snprintf(out, ORDER_CHARS, " ORDER BY %s %s%s, of_run DESC",
			 by_summary ? sorts[f->sort].column : "sorted", way,
			 f->sort == RUN_SORT_NAME ? "" : " NULLS LAST");
}

/* Each run a row, and one more where there is a next page. */
static void write_flat(struct buf *sql, const struct run_query *f, const struct found *found)
{
	char order[ORDER_CHARS];

	order_of(f, order);
	write_matched(sql, f, found);
	buf_puts(sql, "counts AS MATERIALIZED (SELECT count(*) AS total,"
		      " count(*) AS total_runs FROM matched),"
		      " page AS MATERIALIZED (SELECT of_run, sorted, 0 AS many FROM matched");
	buf_puts(sql, sorts[f->sort].table);
	buf_puts(sql, f->before_id ? " WHERE of_run < ?16" : " WHERE ?16 = 0");
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
static bool read_rows(sqlite3_stmt *s, struct arena *arena, struct run_page *out)
{
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct run_row *row = &out->runs[out->n];
		int at;

		out->total = sqlite3_column_int64(s, 0);
		out->total_runs = sqlite3_column_int64(s, 1);
		if (sqlite3_column_type(s, 3) == SQLITE_NULL)
			continue;
		at = run_read(s, 3, arena, row);
		row->stands_for = sqlite3_column_int64(s, 2);
		if (row->summary.mode)
			read_recent(db_text(s, at), row);
		out->n++;
	}
	return code == SQLITE_DONE;
}

static bool list_with(sqlite3 *h, const struct run_query *q, struct arena *arena,
		      struct run_page *out, struct err *err)
{
	const char *status = q->status >= 0 ? run_status_name((enum run_status)q->status) : "";
	bool pages = q->sort == RUN_SORT_AGE && !q->up && !q->fold, ok;
	struct buf sql = { 0 };
	struct found found;
	sqlite3_stmt *s;

	if (!found_look(h, q->text, arena, &found, err))
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
	sqlite3_finalize(s);
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
	sqlite3 *h = db_reader_take(db);
	bool ok = list_with(h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

#define SINCE " run.created_ns >= ?1 AND (?2 = '' OR run.project = ?2)"

/* Beside each run its verdict's, and the number and verdict of the run before it with the same
 * settings; '': those of a run from a file are not read yet. */
#define CHANGED                                                                                    \
	" FROM run JOIN run_summary ON run_summary.run = run.id JOIN"                              \
	" (SELECT run AS was_run, verdict AS was_verdict FROM run_summary) ON was_run ="           \
	" (SELECT other.id FROM run AS other CROSS JOIN run_summary AS its ON its.run = other.id"  \
	" WHERE other.name = run.name AND other.project = run.project"                             \
	" AND other.device = run.device AND (other.settings_hash = run.settings_hash OR"           \
	" '' IN (other.settings_hash, run.settings_hash))"                                         \
	" AND its.mode = run_summary.mode AND other.id < run.id ORDER BY other.id DESC LIMIT 1)"   \
	" WHERE was_verdict <> run_summary.verdict AND" SINCE

static bool count_since(sqlite3 *h, const struct changes_query *q, struct run_changes *out,
			struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    h, err, "SELECT status, count(*) FROM run WHERE" SINCE " GROUP BY status || ''", "it",
	    q->since_ns, q->project);
	enum run_status status;
	int code = SQLITE_ERROR;

	while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
		if (run_status_from_name(db_text(s, 0), &status))
			out->counts[status] = sqlite3_column_int64(s, 1);
	if (s && code != SQLITE_DONE)
		db_fail(h, "count runs", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

static bool changes_with(sqlite3 *h, const struct changes_query *q, struct arena *arena,
			 struct run_changes *out, struct err *err)
{
	sqlite3_stmt *s;
	int code = SQLITE_ERROR;

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
	while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
		struct run_change *to = &out->at[out->n++];
		int at = run_read(s, 0, arena, &to->run);

		to->before = sqlite3_column_int64(s, at);
		to->was = text_at(s, at + 1, arena);
		out->total = sqlite3_column_int64(s, at + 2);
	}
	if (s && code != SQLITE_DONE)
		db_fail(h, "look for changes", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

bool db_run_changes(struct db *db, const struct changes_query *query, struct arena *arena,
		    struct run_changes *out, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	bool ok = changes_with(h, query, arena, out, err);

	db_reader_give(db, h);
	return ok;
}

/* Of the runs that are there, of a project or of all. */
#define HERE                                                                                       \
	" NOT IN (SELECT id FROM run_row WHERE removed_ns IS NOT NULL)"                            \
	" AND (?2 = '' OR run IN (SELECT id FROM run WHERE project = ?2)) "
/* What one index has is read in its order, once. */
#define FACETS                                                                                     \
	"WITH alike AS MATERIALIZED (SELECT project, device, status, count(*) AS runs FROM"        \
	" run_row INDEXED BY run_here WHERE removed_ns IS NULL AND (?2 = '' OR project = ?2)"      \
	" GROUP BY project, device, status) "                                                      \
	"SELECT 'project', project, sum(runs) AS many FROM alike"                                  \
	" WHERE project <> '' GROUP BY 2 UNION ALL "                                               \
	"SELECT 'tag', tag, count(*) FROM run_tag WHERE run" HERE "GROUP BY 2 UNION ALL "          \
	"SELECT 'device', device, sum(runs) FROM alike WHERE device <> '' GROUP BY 2 UNION ALL "   \
	"SELECT 'status', status, sum(runs) FROM alike GROUP BY 2 UNION ALL "                      \
	"SELECT 'verdict', replace(lower(verdict), ' ', '-'), many FROM"                           \
	" (SELECT verdict, count(*) AS many FROM run_summary"                                      \
	" WHERE run" HERE "GROUP BY 1) UNION ALL "                                                 \
	"SELECT 'verdict', 'broken', count(*) FROM (" BROKEN ") WHERE run" HERE                    \
	"HAVING count(*) > 0 ORDER BY many DESC, 2 LIMIT ?1"

bool db_run_facets(struct db *db, const char *project, struct arena *arena, struct run_facet **out,
		   int *n, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	struct run_facet *rows = ARENA_ARRAY(arena, struct run_facet, RUN_MAX_FACETS);
	sqlite3_stmt *s = db_prepare(h, err, FACETS, "it", (int64_t)RUN_MAX_FACETS, project);
	int code = SQLITE_ERROR;

	*n = 0;
	while (s && rows && (code = sqlite3_step(s)) == SQLITE_ROW)
		rows[(*n)++] = (struct run_facet){ text_at(s, 0, arena), text_at(s, 1, arena),
						   sqlite3_column_int64(s, 2) };
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory while listing runs");
	else if (s && code != SQLITE_DONE)
		db_fail(h, "count runs", err);
	sqlite3_finalize(s);
	db_reader_give(db, h);
	*out = rows;
	return code == SQLITE_DONE;
}
