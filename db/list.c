/* db/list.c -- runs as a list: which, in what order, and what they can be filtered by. */
#include <math.h>
#include <stdio.h>
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
	[RUN_SORT_SPEEDUP] = { "speedup", "iif(verdict = '" RUN_DISAGREES "', NULL, speedup)" },
	[RUN_SORT_MEDIAN] = { "median", "median_us" },
	[RUN_SORT_REPAID] = { "repaid", "iif(mode IS NULL, NULL, ifnull(calls_to_repay, 9e999))" },
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

/* It did not run to its end, or a mode of it disagrees with eager or, in a suite, failed. */
#define BROKEN                                                                                     \
	"(run.status = 'failed' OR EXISTS (SELECT 1 FROM run_result WHERE run_result.run = run.id" \
	" AND run_result.status <> 'pass')"                                                        \
	" OR EXISTS (SELECT 1 FROM run_summary AS wrong WHERE wrong.run = run.id"                  \
	" AND wrong.verdict = '" RUN_DISAGREES "'))"

/* "NOT ENOUGH" is not-enough. */
#define VERDICT_NAME(table) "replace(lower(" table ".verdict), ' ', '-')"

/* A number of the summary, where one is asked for, lies from ... to. */
#define WITHIN(number, least, most)                                                                \
	" AND (" least " IS NULL OR EXISTS (SELECT 1 FROM run_summary AS one"                      \
	" WHERE one.run = run.id AND " number " BETWEEN " least " AND " most "))"

/* The same condition counts the matches and pages through them. */
#define FILTER                                                                                     \
	" WHERE (?1 = '' OR project = ?1)"                                                         \
	" AND (?2 = '' OR EXISTS (SELECT 1 FROM run_tag WHERE run_tag.run = run.id AND tag = ?2))" \
	" AND (?3 = '' OR device = ?3)"                                                            \
	" AND (?4 = '' OR instr(lower(name), lower(?4)) OR instr(lower(project), lower(?4))"       \
	" OR instr(lower(branch), lower(?4)) OR instr(lower(note), lower(?4))"                     \
	" OR instr(lower(commit_id), lower(?4)) = 1 OR '#' || run.id = ?4 OR CAST(run.id AS "      \
	"TEXT) = ?4"                                                                               \
	" OR EXISTS (SELECT 1 FROM run_tag WHERE run_tag.run = run.id"                             \
	"            AND instr(lower(tag), lower(?4))))"                                           \
	" AND (?5 = '' OR status = ?5)"                                                            \
	" AND (?6 = '' OR CASE ?6 WHEN 'broken' THEN " BROKEN                                      \
	"      ELSE EXISTS (SELECT 1 FROM run_summary AS judged WHERE judged.run = run.id"         \
	"                   AND " VERDICT_NAME("judged") " = ?6) END)" WITHIN(                     \
	    "iif(one.verdict = '" RUN_DISAGREES "', NULL, one.speedup)", "?7", "?8")               \
	    WITHIN("one.breaks", "?9", "?10")                                                      \
		WITHIN("one.median_us", "?11", "?12") " AND (?13 = 0 OR pinned = 1)"

#define FILTER_TYPES "ttttttddddddi"
#define FILTER_VALUES(f, status)                                                                   \
	(f)->project, (f)->tag, (f)->device, (f)->text, status, (f)->verdict, LEAST((f)->speedup), \
	    MOST((f)->speedup), LEAST((f)->breaks), MOST((f)->breaks), LEAST((f)->median_us),      \
	    MOST((f)->median_us), (int64_t)(f)->pinned
#define LEAST(r) ((r).asked ? (r).least : NAN) /* which is bound as NULL */
#define MOST(r) ((r).asked ? (r).most : NAN)

/* Folded: a row is a run of no suite, all that match of a suite (part 0), or one of these where the
 * suite is open (part 1).  A suite is where its newest run is. */
#define FOLDED                                                                                     \
	"WITH matching AS (SELECT run.id AS id, suite_run.suite AS suite FROM run"                 \
	" LEFT JOIN suite_run ON suite_run.run = run.id" FILTER "),"                               \
	" folded AS (SELECT suite, max(id) AS newest, count(*) AS many FROM matching"              \
	" WHERE suite IS NOT NULL GROUP BY suite),"                                                \
	" shown AS (SELECT id AS of_run, id AS place, 2 AS part, 0 AS many FROM matching"          \
	" WHERE suite IS NULL UNION ALL SELECT newest, newest, 0, many FROM folded"                \
	" UNION ALL SELECT matching.id, newest, 1, 0 FROM matching JOIN folded USING (suite)"      \
	" WHERE suite IN (SELECT value FROM json_each(?14))) "

static bool count_matching(sqlite3 *h, const struct run_query *f, const char *status,
			   struct run_page *out, struct err *err)
{
	const char *sql = f->fold ? FOLDED "SELECT count(*), (SELECT count(*) FROM matching) FROM "
					   "shown"
				  : "SELECT count(*), count(*) FROM run" FILTER;
	sqlite3_stmt *s = f->fold ? db_prepare(h, err, sql, FILTER_TYPES "t",
					       FILTER_VALUES(f, status), f->open)
				  : db_prepare(h, err, sql, FILTER_TYPES, FILTER_VALUES(f, status));
	bool ok = s && sqlite3_step(s) == SQLITE_ROW;

	if (ok) {
		out->total = sqlite3_column_int64(s, 0);
		out->total_runs = sqlite3_column_int64(s, 1);
	} else if (s) {
		db_fail(h, "count runs", err);
	}
	sqlite3_finalize(s);
	return ok;
}

/* The speedups of the run and of those before it of its name, project, device and mode. */
static bool read_recent(sqlite3 *h, struct run_row *run, struct err *err)
{
	sqlite3_stmt *s;
	int n = 0, code;

	if (!run->summary.mode)
		return true;
	s = db_prepare(h, err,
		       "SELECT speedup FROM run JOIN run_summary ON run_summary.run = run.id"
		       " WHERE name = ?1 AND project = ?2 AND device = ?3 AND mode = ?4"
		       " AND id <= ?5 AND verdict <> '" RUN_DISAGREES "'"
		       " ORDER BY id DESC LIMIT ?6",
		       "ttttii", run->name, run->project, run->device, run->summary.mode, run->id,
		       (int64_t)RUN_RECENT);
	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		run->recent[n++] = sqlite3_column_double(s, 0);
	if (code != SQLITE_DONE)
		db_fail(h, "look for runs before this one", err);
	sqlite3_finalize(s);
	run->n_recent = n;
	return code == SQLITE_DONE;
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

static bool read_folded(sqlite3 *h, const struct run_query *q, struct arena *arena,
			struct run_page *out, struct err *err)
{
	const char *status = q->status >= 0 ? run_status_name((enum run_status)q->status) : "";
	sqlite3_stmt *s = db_prepare(
	    h, err,
	    FOLDED "SELECT " RUN_COLUMNS
		   ", page.many FROM (SELECT * FROM shown ORDER BY place DESC,"
		   " part, of_run DESC LIMIT ?15 OFFSET ?16) AS page JOIN run ON run.id = of_run"
		   " LEFT JOIN run_summary ON run_summary.run = run.id"
		   " ORDER BY place DESC, part, run.id DESC",
	    FILTER_TYPES "tii", FILTER_VALUES(q, status), q->open, (int64_t)q->limit, q->offset);
	int code = SQLITE_ERROR;

	while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
		struct run_row *row = &out->runs[out->n++];

		row->stands_for = sqlite3_column_int64(s, run_read(s, arena, row));
	}
	if (s && code != SQLITE_DONE)
		db_fail(h, "list runs", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

/* The rows of a page, and one more where there is a next page. */
static bool read_rows(sqlite3 *h, const struct run_query *q, struct arena *arena,
		      struct run_page *out, struct err *err)
{
	const char *status = q->status >= 0 ? run_status_name((enum run_status)q->status) : "";
	char order[ORDER_CHARS], sql[6144];
	sqlite3_stmt *s;
	int code;

	if (!count_matching(h, q, status, out, err))
		return false;
	if (q->fold)
		return read_folded(h, q, arena, out, err);
	order_of(q, order);
	snprintf(sql, sizeof(sql), "%s%s LIMIT ?15 OFFSET ?16",
		 "SELECT " RUN_COLUMNS RUN_TABLES FILTER " AND (?14 = 0 OR id < ?14)", order);
	s = db_prepare(h, err, sql, FILTER_TYPES "iii", FILTER_VALUES(q, status), q->before_id,
		       (int64_t)q->limit + 1, q->offset);
	if (!s)
		return false;
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		run_read(s, arena, &out->runs[out->n++]);
	if (code != SQLITE_DONE)
		db_fail(h, "list runs", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

static bool list_with(sqlite3 *h, const struct run_query *q, struct arena *arena,
		      struct run_page *out, struct err *err)
{
	bool pages = q->sort == RUN_SORT_AGE && !q->up, ok = true;

	*out = (struct run_page){ .runs = ARENA_ARRAY(arena, struct run_row,
						      (size_t)q->limit + 1) };
	if (!out->runs)
		return err_set(err, ERR_MEMORY, "out of memory while listing runs");
	if (!read_rows(h, q, arena, out, err))
		return false;
	if (out->n > q->limit) {
		out->n = q->limit;
		out->next = pages ? out->runs[q->limit - 1].id : 0;
	}
	for (int i = 0; ok && i < out->n; i++)
		ok = read_recent(h, &out->runs[i], err);
	return ok;
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
	" (SELECT max(other.id) FROM run AS other JOIN run_summary AS its ON its.run = other.id"   \
	" WHERE other.name = run.name AND other.project = run.project"                             \
	" AND other.device = run.device AND (other.settings_hash = run.settings_hash OR"           \
	" '' IN (other.settings_hash, run.settings_hash))"                                         \
	" AND its.mode = run_summary.mode AND other.id < run.id)"                                  \
	" WHERE was_verdict <> run_summary.verdict AND" SINCE

static bool count_since(sqlite3 *h, const struct changes_query *q, struct run_changes *out,
			struct err *err)
{
	sqlite3_stmt *s = db_prepare(
	    h, err, "SELECT status, count(*) FROM run WHERE" SINCE " GROUP BY status", "it",
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
		int at = run_read(s, arena, &to->run);

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
#define HERE " IN (SELECT id FROM run WHERE ?2 = '' OR project = ?2) "
#define FACETS                                                                                     \
	"SELECT 'project', project, count(*) AS many FROM run"                                     \
	" WHERE project <> '' AND id" HERE "GROUP BY 2 UNION ALL "                                 \
	"SELECT 'tag', tag, count(*) FROM run_tag WHERE run" HERE "GROUP BY 2 UNION ALL "          \
	"SELECT 'device', device, count(*) FROM run"                                               \
	" WHERE device <> '' AND id" HERE "GROUP BY 2 UNION ALL "                                  \
	"SELECT 'status', status, count(*) FROM run WHERE id" HERE "GROUP BY 2 UNION ALL "         \
	"SELECT 'verdict', " JUDGED ", count(*) FROM run_summary"                                  \
	" WHERE run" HERE "GROUP BY 2 UNION ALL "                                                  \
	"SELECT 'verdict', 'broken', count(*) FROM run"                                            \
	" WHERE (" BROKEN ") AND id" HERE "GROUP BY 2 "                                            \
	"ORDER BY many DESC, 2 LIMIT ?1"
#define JUDGED VERDICT_NAME("run_summary")

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
