/* db/commits.c -- commits of users' projects: which lie between two, and which comes first. */
#include <stdlib.h>
#include <string.h>

#include "db/internal.h"
#include "fusion/base/vec.h"

enum { MOST_KNOWN = 200000 }; /* in a store */

/* ---- generations ---- */

struct commit_node {
	char *id;
	int64_t generation, was;
	int parents_left; /* whose generations are not known yet */
	int first_child;  /* in `children` */
	int n_children;
};

struct commit_edge {
	int parent, child;
};

/* The commits of a project, by id, and which come from which, by parent. */
struct commit_graph {
	VEC(struct commit_node) nodes;
	VEC(struct commit_edge) edges;
};

static void graph_finish(struct commit_graph *g)
{
	for (size_t i = 0; i < g->nodes.len; i++)
		free(g->nodes.at[i].id);
	VEC_FREE(&g->nodes);
	VEC_FREE(&g->edges);
}

static int compare_ids(const void *id, const void *node)
{
	return strcmp(id, ((const struct commit_node *)node)->id);
}

/* -1: it is not known. */
static int node_of(const struct commit_graph *g, const char *id)
{
	const struct commit_node *at = g->nodes.len ? bsearch(id, g->nodes.at, g->nodes.len,
							      sizeof(*at), compare_ids)
						    : NULL;

	return at ? (int)(at - g->nodes.at) : -1;
}

static int by_parent(const void *a, const void *b)
{
	const struct commit_edge *x = a, *y = b;

	return x->parent - y->parent;
}

static bool read_nodes(struct sql *h, const char *project, struct commit_graph *g, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT id, generation FROM known_commit WHERE project = ?1"
	    " ORDER BY id",
	    "t", project);
	int code = SQL_FAILED;
	bool ok = s != NULL;

	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct commit_node node = { .id = strdup(db_text(s, 0)), .was = sql_int64(s, 1) };

		ok = (node.id && VEC_PUSH(&g->nodes, node)) ||
		     err_set(err, ERR_MEMORY, "out of memory for commits");
		if (!ok)
			free(node.id);
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read commits", err);
	sql_finalize(s);
	return ok;
}

static bool read_edges(struct sql *h, const char *project, struct commit_graph *g, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT id, parent FROM commit_parent WHERE project = ?1", "t", project);
	int code = SQL_FAILED;
	bool ok = s != NULL;

	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct commit_edge e = { .child = node_of(g, db_text(s, 0)),
					 .parent = node_of(g, db_text(s, 1)) };

		if (e.child < 0 || e.parent < 0)
			continue;
		g->nodes.at[e.child].parents_left++;
		ok = VEC_PUSH(&g->edges, e) ||
		     err_set(err, ERR_MEMORY, "out of memory for commits");
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read commits", err);
	sql_finalize(s);
	return ok;
}

/* Each commit after all that it comes from.  In a ring, which git cannot make, they stay 0. */
static bool number_nodes(struct commit_graph *g, struct err *err)
{
	int *ready = malloc((g->nodes.len + 1) * sizeof(*ready)), n = 0;

	if (!ready)
		return err_set(err, ERR_MEMORY, "out of memory for commits");
	if (g->edges.len)
		qsort(g->edges.at, g->edges.len, sizeof(*g->edges.at), by_parent);
	for (size_t i = g->edges.len; i-- > 0;) {
		struct commit_node *parent = &g->nodes.at[g->edges.at[i].parent];

		parent->first_child = (int)i;
		parent->n_children++;
	}
	for (size_t i = 0; i < g->nodes.len; i++)
		if (g->nodes.at[i].parents_left == 0)
			ready[n++] = (int)i;
	for (int k = 0; k < n; k++) {
		const struct commit_node *at = &g->nodes.at[ready[k]];

		for (int c = 0; c < at->n_children; c++) {
			int child = g->edges.at[at->first_child + c].child;
			struct commit_node *to = &g->nodes.at[child];

			if (to->generation <= at->generation)
				to->generation = at->generation + 1;
			if (--to->parents_left == 0)
				ready[n++] = child;
		}
	}
	free(ready);
	return true;
}

static bool number_commits(struct sql *h, const char *project, struct err *err)
{
	struct commit_graph g = { 0 };
	bool ok = read_nodes(h, project, &g, err) && read_edges(h, project, &g, err) &&
		  number_nodes(&g, err);

	for (size_t i = 0; ok && i < g.nodes.len; i++) {
		const struct commit_node *at = &g.nodes.at[i];

		if (at->generation != at->was)
			ok = db_step_once(h,
					  db_prepare(h, err,
						     "UPDATE known_commit SET generation = ?3 WHERE"
						     " project = ?1 AND id = ?2",
						     "tti", project, at->id, at->generation),
					  "store a commit", err);
	}
	graph_finish(&g);
	return ok;
}

/* Whether its commits were numbered since generations are kept. */
static bool is_numbered(struct sql *h, const char *project, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT EXISTS (SELECT 1 FROM known_commit WHERE project = ?1"
	    " AND generation > 0)",
	    "t", project);
	bool numbered = s && sql_step(s) == SQL_ROW && sql_int(s, 0);

	sql_finalize(s);
	return numbered;
}

/* By generation; of one generation by time, then as they came. */
static int by_generation(const void *a, const void *b)
{
	const struct placed_run *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->committed_ns != y->committed_ns)
		return x->committed_ns < y->committed_ns ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static int by_id(const void *a, const void *b)
{
	const struct placed_run *x = a, *y = b;

	return (x->run > y->run) - (x->run < y->run);
}

static bool read_generation(struct sql *h, struct sql_statement *s, struct placed_run *run,
			    struct err *err)
{
	int code = SQL_DONE;

	run->generation = -1;
	if (!*run->commit)
		return true;
	if (!sql_bind_text(s, 1, run->project, strlen(run->project)) ||
	    !sql_bind_text(s, 2, run->commit, strlen(run->commit)))
		return db_fail(h, "read a commit", err);
	code = sql_step(s);
	if (code == SQL_ROW) {
		run->generation = sql_int64(s, 0);
		run->committed_ns = sql_int64(s, 1);
	}
	sql_reset(s);
	return code == SQL_ROW || code == SQL_DONE || db_fail(h, "read a commit", err);
}

bool db_place_runs(struct sql *h, struct placed_run *runs, int n, struct err *err)
{
	struct placed_run *known = malloc(((size_t)n + 1) * sizeof(*known));
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT generation, committed_ns FROM known_commit WHERE"
	    " project = ?1 AND id = ?2",
	    "");
	bool ok = s && (known || err_set(err, ERR_MEMORY, "out of memory for a history"));
	int n_known = 0, next = 0;

	for (int i = 0; ok && i < n; i++) {
		ok = read_generation(h, s, &runs[i], err);
		runs[i].place = i;
		if (runs[i].generation >= 0)
			known[n_known++] = runs[i];
	}
	sql_finalize(s);
	if (ok && n_known) {
		qsort(known, (size_t)n_known, sizeof(*known), by_generation);
		for (int i = 0; i < n; i++)
			if (runs[i].generation >= 0)
				known[next++].place = i;
		qsort(known, (size_t)n_known, sizeof(*known), by_id);
		next = 0;
		for (int i = 0; i < n; i++)
			if (runs[i].generation >= 0)
				runs[i].place = known[next++].place;
	}
	free(known);
	return ok;
}

/* ---- adding ---- */

static bool put_parents(struct sql *h, const char *project, const struct known_commit *c,
			struct err *err)
{
	for (int i = 0; i < c->n_parents; i++)
		if (!db_step_once(h,
				  db_prepare(h, err,
					     "INSERT INTO commit_parent(project, id,"
					     " place, parent) VALUES(?1, ?2, ?3, ?4)"
					     " ON CONFLICT DO NOTHING",
					     "ttit", project, c->id, (int64_t)i, c->parents[i]),
				  "store a commit", err))
			return false;
	return true;
}

static bool put_commit(struct sql *h, const char *project, const struct known_commit *c,
		       int64_t *room, int *added, struct err *err)
{
	if (!db_step_once(h,
			  db_prepare(h, err,
				     "INSERT INTO known_commit(project, id, subject,"
				     " author, committed_ns) VALUES(?1, ?2, ?3, ?4, ?5)"
				     " ON CONFLICT DO NOTHING",
				     "tttti", project, c->id, c->subject, c->author,
				     c->committed_ns),
			  "store a commit", err))
		return false;
	if (sql_changes(h) == 0) /* it is there */
		return true;
	if (--*room < 0)
		return err_set(err, ERR_CONFLICT, "the store has %d commits, the limit",
			       MOST_KNOWN);
	++*added;
	return put_parents(h, project, c, err);
}

static bool put_with(struct sql *h, const char *project, const struct known_commit *commits, int n,
		     int *added, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "SELECT count(*) FROM known_commit", "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count commits", err));
	int64_t room = ok ? MOST_KNOWN - sql_int64(s, 0) : 0;

	sql_finalize(s);
	*added = 0;
	for (int i = 0; ok && i < n; i++)
		ok = put_commit(h, project, &commits[i], &room, added, err);
	return ok && (*added == 0 ? is_numbered(h, project, err) || number_commits(h, project, err)
				  : number_commits(h, project, err));
}

bool db_commits_put(struct db *db, const char *project, const struct known_commit *commits, int n,
		    int *added, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, put_with(db->writer, project, commits, n, added, err), err);
}

/* ---- between two ---- */

/* Commits that `?3` has and `?2` has not.  One of which nothing but its id is known is a gap. */
#define BETWEEN                                                                                    \
	"WITH RECURSIVE back(id) AS (SELECT ?2 COLLATE \"BINARY\" UNION SELECT p.parent FROM "     \
	"back JOIN commit_parent"                                                                  \
	" AS p ON p.project = ?1 AND p.id = back.id),"                                             \
	" old(id) AS MATERIALIZED (SELECT id FROM back LIMIT ?4),"                                 \
	" on_way(id) AS (SELECT ?3 COLLATE \"BINARY\" WHERE ?3 NOT IN (SELECT id FROM old) UNION " \
	"SELECT p.parent "                                                                         \
	"FROM"                                                                                     \
	" on_way JOIN commit_parent AS p ON p.project = ?1 AND p.id = on_way.id"                   \
	" WHERE p.parent NOT IN (SELECT id FROM old)),"                                            \
	" new(id) AS MATERIALIZED (SELECT id FROM on_way LIMIT ?5)"                                \
	" SELECT c.id, c.subject, c.author, c.committed_ns, EXISTS (SELECT 1 FROM"                 \
	" commit_parent AS p WHERE p.project = ?1 AND p.id = new.id) FROM new LEFT JOIN"           \
	" known_commit AS c ON c.project = ?1 AND c.id = new.id"                                   \
	" ORDER BY c.committed_ns DESC NULLS LAST, new.id"

/* How far is looked: so many ancestors of the earlier one, so many commits between. */
struct commit_search {
	const struct commit_range *range;
	int64_t old, new;
	bool past; /* a way from the later one does not end at what is looked at of the earlier
		      one's */
};

static bool find_with(struct sql *h, struct commit_search *l, struct arena *arena,
		      struct commits_between *out, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, BETWEEN, "tttii", l->range->project,
					     l->range->from, l->range->to, l->old, l->new);
	int code = SQL_FAILED, rows = 0;

	out->n = out->total = 0;
	out->whole = true;
	l->past = false;
	while (s && (code = sql_step(s)) == SQL_ROW) {
		rows++;
		l->past |= sql_int(s, 4) == 0;
		if (sql_is_null(s, 0)) {
			out->whole = false;
			continue;
		}
		if (out->total++ < COMMITS_SHOWN)
			out->at[out->n++] = (struct known_commit){ .id = text_at(s, 0, arena),
								   .subject = text_at(s, 1, arena),
								   .author = text_at(s, 2, arena),
								   .committed_ns = sql_int64(s,
											     3) };
	}
	l->past |= rows >= l->new;
	out->whole &= rows < l->new;
	if (s && code != SQL_DONE)
		db_fail(h, "look for commits", err);
	sql_finalize(s);
	return code == SQL_DONE;
}

bool db_commits_between(struct db *db, const struct commit_range *range, struct arena *arena,
			struct commits_between *out, struct err *err)
{
	/* Mostly every way ends at the earlier commit itself. */
	struct commit_search near = { range, 1, 300, false }, far = { range, 20000, 2000, false };
	struct sql *h;
	bool ok;

	*out = (struct commits_between){ .at = ARENA_ARRAY(arena, struct known_commit,
							   COMMITS_SHOWN) };
	if (!out->at)
		return err_set(err, ERR_MEMORY, "out of memory for commits");
	h = db_reader_take(db);
	ok = find_with(h, &near, arena, out, err);
	if (ok && near.past)
		ok = find_with(h, &far, arena, out, err);
	db_reader_give(db, h);
	return ok;
}
