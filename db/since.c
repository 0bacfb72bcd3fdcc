/* db/since.c -- what the last hours brought: runs by status, and those whose verdict is another
 * than before. */
#include "db/internal.h"

#define SINCE " run.created_ns >= ?1 AND (?2 = '' OR run.project = ?2)"

/* Beside each run its verdict's, and the number and verdict of the run before it with the same
 * settings; '': those of a run from a file are not read yet. */
#define CHANGED                                                                                    \
	" FROM run JOIN run_summary ON run_summary.run = run.id JOIN"                              \
	" (SELECT run AS was_run, verdict AS was_verdict FROM run_summary) AS was ON was_run ="    \
	" (SELECT other.id FROM run AS other CROSS JOIN run_summary AS its WHERE its.run = "       \
	"other.id"                                                                                 \
	" AND other.name = run.name AND other.project = run.project"                               \
	" AND other.device = run.device AND (other.settings_hash = run.settings_hash OR"           \
	" '' IN (other.settings_hash, run.settings_hash))"                                         \
	" AND its.mode = run_summary.mode AND other.id < run.id ORDER BY other.id DESC LIMIT 1)"   \
	" WHERE was_verdict <> run_summary.verdict AND" SINCE

static bool count_since(struct sql *h, const struct changes_query *q, struct run_changes *out,
			struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT status || '', count(*) FROM run WHERE" SINCE " GROUP BY status || ''",
	    "it", q->since_ns, q->project);
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
		       " ORDER BY +run.id DESC LIMIT ?3", /* + : not by a walk over all runs */
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
