/* db/changes.c -- where figures of a workload stepped to another level, and what people say of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

enum { MOST_FIGURES = 200000, LEAST_RUNS = 20, MOST_STEPS = 100000 };

/* Runs that have figures which are held against each other. */
#define DONE " kind <> 'trace' AND status = 'done' AND source_hash <> '' "
#define OF_SCOPE " name = ?1 AND project = ?2 AND branch = ?3 AND settings_hash = ?4 "

/* Runs that are held against each other. */
struct change_scope {
	const char *name, *project, *branch, *settings_hash;
	int64_t newest, runs; /* the newest of them, and how many there are */
};

struct scope_list {
	struct change_scope *at;
	int n;
	bool more;
};

struct scope_figures {
	struct scope_figure *at;
	int n;
};

/* The newest runs of a scope, at most `most`, by id. */
struct scope_runs {
	struct placed_run *at;
	int n;
	int64_t most;
};

/* Those that are others than when they were looked at last, the one of the newest run first. */
static bool scopes_of(struct db *db, const char *name, int most, struct arena *arena,
		      struct scope_list *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT f.project, f.branch, f.settings_hash, f.newest, f.runs FROM (SELECT project,"
	    " branch, settings_hash, max(id) AS newest, count(*) AS runs FROM run WHERE name = ?1 "
	    "AND" DONE "GROUP BY project, branch, settings_hash) AS f LEFT JOIN change_look AS l "
	    "ON l.name = ?1"
	    " AND l.project = f.project AND l.branch = f.branch AND"
	    " l.settings_hash = f.settings_hash WHERE l.newest IS NULL OR l.newest <> f.newest OR"
	    " l.runs <> f.runs ORDER BY f.newest DESC LIMIT ?2",
	    "ti", name, (int64_t)most + 1);
	int code = SQL_FAILED;

	*out = (struct scope_list){ .at = ARENA_ARRAY(arena, struct change_scope, (size_t)most) };
	if (!out->at)
		err_set(err, ERR_MEMORY, "out of memory for changes");
	while (out->at && s && (code = sql_step(s)) == SQL_ROW) {
		out->more = out->n == most;
		if (out->more)
			continue;
		out->at[out->n++] = (struct change_scope){ .name = name,
							   .project = text_at(s, 0, arena),
							   .branch = text_at(s, 1, arena),
							   .settings_hash = text_at(s, 2, arena),
							   .newest = sql_int64(s, 3),
							   .runs = sql_int64(s, 4) };
	}
	if (out->at && s && code != SQL_DONE)
		db_fail(h, "look for runs to compare", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_DONE;
}

/* A text that is mostly that of the row before, which is then its own. */
static const char *text_again(struct sql_statement *s, int column, const char *last,
			      struct arena *arena)
{
	return last && strcmp(db_text(s, column), last) == 0 ? last : text_at(s, column, arena);
}

static void read_figure(struct sql_statement *s, struct arena *arena,
			const struct scope_figure *last, struct scope_figure *out)
{
	*out = (struct scope_figure){
		.run = sql_int64(s, 0),
		.figure = { .metric = text_again(s, 1, last ? last->figure.metric : NULL, arena),
			    .mode = text_again(s, 2, last ? last->figure.mode : NULL, arena),
			    .n = number_at(s, 3, NAN),
			    .value = number_at(s, 4, NAN),
			    .lo = number_at(s, 5, NAN),
			    .hi = number_at(s, 6, NAN) },
		.source_hash = text_again(s, 7, last ? last->source_hash : NULL, arena),
	};
}

/* So many runs that their figures are at most MOST_FIGURES, were all as large as the newest. */
static int64_t runs_to_read(struct sql *h, int64_t newest, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT count(*) FROM run_figure WHERE run = ?1", "i", newest);
	int64_t runs = SCOPE_RUNS;

	if (s && sql_step(s) == SQL_ROW && sql_int64(s, 0) > 0)
		runs = MOST_FIGURES / sql_int64(s, 0);
	sql_finalize(s);
	return runs < LEAST_RUNS ? LEAST_RUNS : runs > SCOPE_RUNS ? SCOPE_RUNS : runs;
}

static bool places_of(struct sql *h, const struct change_scope *scope, struct arena *arena,
		      struct scope_runs *out, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT id, commit_id FROM (SELECT id, commit_id FROM run"
	    " WHERE" OF_SCOPE "AND" DONE "ORDER BY id DESC LIMIT ?5)"
	    " AS newest ORDER BY id",
	    "tttti", scope->name, scope->project, scope->branch, scope->settings_hash, out->most);
	int code = SQL_FAILED;

	out->at = ARENA_ARRAY(arena, struct placed_run, (size_t)out->most + 1);
	while (out->at && s && (code = sql_step(s)) == SQL_ROW)
		out->at[out->n++] = (struct placed_run){ .run = sql_int64(s, 0),
							 .project = scope->project,
							 .commit = text_at(s, 1, arena) };
	if (!out->at)
		err_set(err, ERR_MEMORY, "out of memory for figures");
	else if (s && code != SQL_DONE)
		db_fail(h, "read runs", err);
	sql_finalize(s);
	return code == SQL_DONE && db_place_runs(h, out->at, out->n, err);
}

static int compare_run(const void *id, const void *placed)
{
	int64_t x = *(const int64_t *)id, y = ((const struct placed_run *)placed)->run;

	return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
	const struct scope_figure *x = a, *y = b;

	return x->place - y->place;
}

static bool same_figure(const struct scope_figure *a, const struct scope_figure *b)
{
	const struct run_figure *x = &a->figure, *y = &b->figure;

	return strcmp(x->metric, y->metric) == 0 && strcmp(x->mode, y->mode) == 0 &&
	       (x->n == y->n || (isnan(x->n) && isnan(y->n)));
}

/* Those of each figure, which follow each other, into their places. */
static void put_in_places(struct scope_figure *rows, size_t n, const struct scope_runs *runs)
{
	for (size_t i = 0, from = 0; i < n; i++) {
		const struct placed_run *of = bsearch(&rows[i].run, runs->at, (size_t)runs->n,
						      sizeof(*runs->at), compare_run);

		rows[i].place = of ? of->place : runs->n;
		if (i + 1 < n && same_figure(&rows[i], &rows[i + 1]))
			continue;
		qsort(rows + from, i + 1 - from, sizeof(*rows), by_place);
		from = i + 1;
	}
}

static bool figures_of_scope(struct db *db, const struct change_scope *scope, struct arena *arena,
			     struct scope_figures *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct scope_runs runs = { .most = runs_to_read(h, scope->newest, err) };
	int code = SQL_FAILED;
	bool ok = places_of(h, scope, arena, &runs, err);
	struct sql_statement *s = ok ? db_prepare(
					   h, err,
					   "SELECT run, metric, mode, n, value, lo, hi, source_hash"
					   " FROM run_figure JOIN (SELECT id, source_hash FROM run"
					   " WHERE" OF_SCOPE "AND" DONE "ORDER BY id DESC LIMIT ?5)"
					   " AS r ON r.id = run_figure.run"
					   " ORDER BY metric, mode, n NULLS FIRST, run",
					   "tttti", scope->name, scope->project, scope->branch,
					   scope->settings_hash, runs.most)
				     : NULL;
	VEC(struct scope_figure) rows = { 0 };

	ok = s != NULL;
	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct scope_figure row;

		read_figure(s, arena, rows.len ? &rows.at[rows.len - 1] : NULL, &row);
		ok = VEC_PUSH(&rows, row);
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read figures", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*out = (struct scope_figures){ ARENA_ARRAY(arena, struct scope_figure, rows.len + 1),
				       (int)rows.len };
	if (ok && out->at && rows.at) {
		memcpy(out->at, rows.at, rows.len * sizeof(*rows.at));
		put_in_places(out->at, rows.len, &runs);
	}
	VEC_FREE(&rows);
	return ok && (out->at || err_set(err, ERR_MEMORY, "out of memory for figures"));
}

/* ---- reading ---- */

#define STEP_NAMES "change" STEP_COLUMNS(COLUMN_NAME)
#define CHANGE_NAMES "id" CHANGE_COLUMNS(COLUMN_NAME)

static void read_change(struct sql_statement *s, struct arena *arena, struct change_row *out)
{
	int at = 1;

	*out = (struct change_row){ .id = sql_int64(s, 0) };
	CHANGE_COLUMNS(COLUMN_READ)
}

static void read_step(struct sql_statement *s, struct arena *arena, struct change_step_row *out)
{
	int at = 1;

	STEP_COLUMNS(COLUMN_READ)
}

static bool read_steps(struct sql *h, struct change_row *of, struct arena *arena, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err,
					     "SELECT " STEP_NAMES
					     " FROM change_step WHERE change = ?1"
					     " ORDER BY rowid LIMIT ?2",
					     "ii", of->id, (int64_t)MOST_STEPS);
	VEC(struct change_step_row) rows = { 0 };
	int code = SQL_FAILED;
	bool ok = s != NULL;

	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct change_step_row row;

		read_step(s, arena, &row);
		ok = VEC_PUSH(&rows, row);
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read a change", err);
	sql_finalize(s);
	of->steps = ARENA_ARRAY(arena, struct change_step_row, rows.len + 1);
	of->n_steps = (int)rows.len;
	if (of->steps && rows.at)
		memcpy(of->steps, rows.at, rows.len * sizeof(*rows.at));
	VEC_FREE(&rows);
	return ok && (of->steps || err_set(err, ERR_MEMORY, "out of memory for changes"));
}

#define ASKED                                                                                      \
	" FROM change WHERE (?1 = 0 OR id = ?1) AND (?2 = 0 OR run = ?2 OR EXISTS (SELECT 1 FROM"  \
	" change_step AS t WHERE t.change = change.id AND t.run = ?2)) AND (?3 = '' OR name = ?3)" \
	" AND (?4 = '' OR project = ?4) AND found_ns >= ?5"                                        \
	" AND (?6 = 0 OR (gone = 0 AND acknowledged = 0)) "

static struct sql_statement *asked(struct sql *h, const char *sql, const struct change_query *q,
				   struct err *err)
{
	return db_prepare(h, err, sql, "iittiii", q->id, q->run, q->name, q->project, q->since_ns,
			  (int64_t)q->open, (int64_t)q->limit);
}

static bool list_with(struct sql *h, const struct change_query *q, struct arena *arena,
		      struct change_list *out, struct err *err)
{
	struct sql_statement *s = asked(h, "SELECT count(*)" ASKED "AND ?7 = ?7", q, err);
	int code = SQL_FAILED;

	if (s && sql_step(s) == SQL_ROW)
		out->total = sql_int64(s, 0);
	else if (s)
		db_fail(h, "count changes", err);
	sql_finalize(s);
	s = asked(h, "SELECT " CHANGE_NAMES ASKED "ORDER BY gone, run DESC, id DESC LIMIT ?7", q,
		  err);
	while (s && (code = sql_step(s)) == SQL_ROW)
		read_change(s, arena, &out->at[out->n++]);
	if (s && code != SQL_DONE)
		db_fail(h, "list changes", err);
	sql_finalize(s);
	for (int i = 0; code == SQL_DONE && i < out->n; i++)
		if (!read_steps(h, &out->at[i], arena, err))
			return false;
	return code == SQL_DONE;
}

bool db_changes_list(struct db *db, const struct change_query *query, struct arena *arena,
		     struct change_list *out, struct err *err)
{
	struct sql *h;
	bool ok;

	*out = (struct change_list){ .at = ARENA_ARRAY(arena, struct change_row,
						       (size_t)query->limit + 1) };
	if (!out->at)
		return err_set(err, ERR_MEMORY, "out of memory for changes");
	h = db_reader_take(db);
	ok = list_with(h, query, arena, out, err);
	db_reader_give(db, h);
	return ok;
}

/* ---- writing ---- */

/* The changes of a scope that the store has. */
static bool known_of(struct sql *h, const struct change_scope *scope, struct arena *arena,
		     struct change_list *out, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT " CHANGE_NAMES " FROM change WHERE" OF_SCOPE, "tttt", scope->name,
	    scope->project, scope->branch, scope->settings_hash);
	VEC(struct change_row) rows = { 0 };
	int code = SQL_FAILED;
	bool ok = s != NULL;

	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct change_row row;

		read_change(s, arena, &row);
		ok = VEC_PUSH(&rows, row);
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read changes", err);
	sql_finalize(s);
	*out = (struct change_list){ ARENA_ARRAY(arena, struct change_row, rows.len + 1),
				     (int)rows.len, 0 };
	if (out->at && rows.at)
		memcpy(out->at, rows.at, rows.len * sizeof(*rows.at));
	VEC_FREE(&rows);
	return ok && (out->at || err_set(err, ERR_MEMORY, "out of memory for changes"));
}

/* That which `found` is: of the same run, else one that it may have begun with; it is taken out of
 * the list.  0: none. */
static int64_t take_known(struct change_list *known, const struct change_row *found)
{
	int best = -1;

	for (int i = 0; i < known->n; i++) {
		const struct change_row *k = &known->at[i];

		if (!k->id)
			continue;
		if (k->run == found->run) {
			best = i;
			break;
		}
		for (int t = 0; best < 0 && t < found->n_steps; t++)
			if (found->steps[t].earliest <= k->run && k->run <= found->steps[t].latest)
				best = i;
	}
	if (best >= 0) {
		int64_t id = known->at[best].id;

		known->at[best].id = 0;
		return id;
	}
	return 0;
}

static bool put_step(struct sql *h, int64_t change, const struct change_step_row *row,
		     struct err *err)
{
	return db_step_once(h,
			    db_prepare(h, err,
				       "INSERT INTO change_step(" STEP_NAMES
				       ") VALUES(?" STEP_COLUMNS(COLUMN_PARAMETER) ")",
				       "i" STEP_COLUMNS(COLUMN_TYPE),
				       change STEP_COLUMNS(COLUMN_ARGUMENT)),
			    "store a step", err);
}

static bool put_change(struct sql *h, const struct change_scope *scope, struct change_list *known,
		       const struct change_row *found, struct err *err)
{
	int64_t id = take_known(known, found);
	bool ok;

	ok = id ? db_step_once(h,
			       db_prepare(h, err,
					  "UPDATE change SET before = ?2, run = ?3, verdict = ?4,"
					  " gone = 0 WHERE id = ?1",
					  "iiit", id, found->before, found->run, found->verdict),
			       "store a change", err)
		: db_step_once(h,
			       db_prepare(h, err,
					  "INSERT INTO change(name, project, branch, settings_hash,"
					  " before, run, verdict, found_ns)"
					  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
					  "ttttiiti", scope->name, scope->project, scope->branch,
					  scope->settings_hash, found->before, found->run,
					  found->verdict, clock_wall_ns()),
			       "store a change", err);
	id = id ? id : sql_last_id(h);
	ok = ok && db_step_once(
		       h, db_prepare(h, err, "DELETE FROM change_step WHERE change = ?1", "i", id),
		       "store a change", err);
	for (int i = 0; ok && i < found->n_steps; i++)
		ok = put_step(h, id, &found->steps[i], err);
	return ok;
}

/* One that is none any more goes, unless people said something of it. */
static bool drop(struct sql *h, int64_t id, struct err *err)
{
	return db_step_once(h,
			    db_prepare(h, err,
				       "DELETE FROM change WHERE id = ?1 AND said_ns IS NULL", "i",
				       id),
			    "remove a change", err) &&
	       db_step_once(h,
			    db_prepare(h, err, "UPDATE change SET gone = 1 WHERE id = ?1", "i", id),
			    "mark a change", err);
}

static bool put_with(struct sql *h, const struct change_scope *scope,
		     const struct change_row *found, int n, struct err *err)
{
	struct arena arena = { 0 };
	struct change_list known = { 0 };
	bool ok = known_of(h, scope, &arena, &known, err);

	for (int i = 0; ok && i < n; i++)
		ok = put_change(h, scope, &known, &found[i], err);
	for (int i = 0; ok && i < known.n; i++)
		if (known.at[i].id)
			ok = drop(h, known.at[i].id, err);
	arena_finish(&arena);
	return ok &&
	       db_step_once(
		   h,
		   db_prepare(h, err,
			      "INSERT INTO change_look(name, project, branch,"
			      " settings_hash, newest, runs) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
			      " ON CONFLICT (name, project, branch, settings_hash) DO UPDATE SET"
			      " newest = excluded.newest, runs = excluded.runs",
			      "ttttii", scope->name, scope->project, scope->branch,
			      scope->settings_hash, scope->newest, scope->runs),
		   "store what was looked at", err);
}

static bool look_at(struct db *db, const struct change_scope *scope, change_find_fn *find,
		    struct err *err)
{
	struct scope_figures figures;
	struct change_list found = { 0 };
	struct arena arena = { 0 };
	bool ok = figures_of_scope(db, scope, &arena, &figures, err) &&
		  find(figures.at, figures.n, &arena, &found, err) && db_write_begin(db, err) &&
		  db_write_end(db, put_with(db->writer, scope, found.at, found.n, err), err);

	arena_finish(&arena);
	return ok;
}

bool db_changes_look(struct db *db, const char *name, int most, change_find_fn *find, bool *more,
		     struct err *err)
{
	struct scope_list scopes = { 0 };
	struct arena arena = { 0 };
	bool ok = scopes_of(db, name, most, &arena, &scopes, err);

	for (int i = 0; ok && i < scopes.n; i++)
		ok = look_at(db, &scopes.at[i], find, err);
	*more = scopes.more;
	arena_finish(&arena);
	return ok;
}

static bool say_with(struct sql *h, int64_t id, const struct change_said *said, struct err *err)
{
	bool ok = db_step_once(
	    h,
	    db_prepare(
		h, err,
		"UPDATE change SET acknowledged = CASE WHEN ?2 <> 0 THEN ?3 ELSE acknowledged"
		" END, note = CASE WHEN ?4 <> 0 THEN ?5 ELSE note END, note_by = ?6,"
		" said_ns = ?7 WHERE id = ?1",
		"iiiitti", id, (int64_t)said->sets_acknowledged, (int64_t)said->acknowledged,
		(int64_t)(said->note != NULL), said->note, said->by, clock_wall_ns()),
	    "store what is said of a change", err);

	if (ok && sql_changes(h) == 0)
		ok = err_set(err, ERR_NOT_FOUND, "there is no change %lld", (long long)id);
	return ok;
}

bool db_change_say(struct db *db, int64_t id, const struct change_said *said, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, say_with(db->writer, id, said, err), err);
}
