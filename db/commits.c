/* db/commits.c -- commits of users' projects, and which lie between two. */
#include <string.h>

#include "db/internal.h"

enum { MOST_KNOWN = 200000 }; /* in a store */

static bool put_parents(sqlite3 *h, const char *project, const struct known_commit *c,
			struct err *err)
{
	for (int i = 0; i < c->n_parents; i++)
		if (!db_step_once(h,
				  db_prepare(h, err,
					     "INSERT OR IGNORE INTO commit_parent(project, id,"
					     " place, parent) VALUES(?1, ?2, ?3, ?4)",
					     "ttit", project, c->id, (int64_t)i, c->parents[i]),
				  "store a commit", err))
			return false;
	return true;
}

static bool put_commit(sqlite3 *h, const char *project, const struct known_commit *c, int64_t *room,
		       int *added, struct err *err)
{
	if (!db_step_once(h,
			  db_prepare(h, err,
				     "INSERT OR IGNORE INTO known_commit(project, id, subject,"
				     " author, committed_ns) VALUES(?1, ?2, ?3, ?4, ?5)",
				     "tttti", project, c->id, c->subject, c->author,
				     c->committed_ns),
			  "store a commit", err))
		return false;
	if (sqlite3_changes(h) == 0) /* it is there */
		return true;
	if (--*room < 0)
		return err_set(err, ERR_CONFLICT, "the store has %d commits, the limit",
			       MOST_KNOWN);
	++*added;
	return put_parents(h, project, c, err);
}

static bool put_with(sqlite3 *h, const char *project, const struct known_commit *commits, int n,
		     int *added, struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, "SELECT count(*) FROM known_commit", "");
	bool ok = s && (sqlite3_step(s) == SQLITE_ROW || db_fail(h, "count commits", err));
	int64_t room = ok ? MOST_KNOWN - sqlite3_column_int64(s, 0) : 0;

	sqlite3_finalize(s);
	*added = 0;
	for (int i = 0; ok && i < n; i++)
		ok = put_commit(h, project, &commits[i], &room, added, err);
	return ok;
}

bool db_commits_put(struct db *db, const char *project, const struct known_commit *commits, int n,
		    int *added, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, put_with(db->writer, project, commits, n, added, err), err);
}

/* Commits that `?3` has and `?2` has not.  One of which nothing but its id is known is a gap. */
#define BETWEEN                                                                                    \
	"WITH RECURSIVE old(id) AS (SELECT ?2 UNION SELECT p.parent FROM old JOIN commit_parent"   \
	" AS p ON p.project = ?1 AND p.id = old.id LIMIT ?4),"                                     \
	" new(id) AS (SELECT ?3 WHERE ?3 NOT IN old UNION SELECT p.parent FROM new JOIN"           \
	" commit_parent AS p ON p.project = ?1 AND p.id = new.id WHERE p.parent NOT IN old"        \
	" LIMIT ?5) SELECT c.id, c.subject, c.author, c.committed_ns, EXISTS (SELECT 1 FROM"       \
	" commit_parent AS p WHERE p.project = ?1 AND p.id = new.id) FROM new LEFT JOIN"           \
	" known_commit AS c ON c.project = ?1 AND c.id = new.id"                                   \
	" ORDER BY c.committed_ns DESC, new.id"

/* How far is looked: so many ancestors of the earlier one, so many commits between. */
struct commit_search {
	const struct commit_range *range;
	int64_t old, new;
	bool past; /* a way from the later one does not end at what is looked at of the earlier
		      one's */
};

static bool find_with(sqlite3 *h, struct commit_search *l, struct arena *arena,
		      struct commits_between *out, struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, BETWEEN, "tttii", l->range->project, l->range->from,
				     l->range->to, l->old, l->new);
	int code = SQLITE_ERROR, rows = 0;

	out->n = out->total = 0;
	out->whole = true;
	l->past = false;
	while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
		rows++;
		l->past |= sqlite3_column_int(s, 4) == 0;
		if (sqlite3_column_type(s, 0) == SQLITE_NULL) {
			out->whole = false;
			continue;
		}
		if (out->total++ < COMMITS_SHOWN)
			out->at[out->n++] =
			    (struct known_commit){ .id = text_at(s, 0, arena),
						   .subject = text_at(s, 1, arena),
						   .author = text_at(s, 2, arena),
						   .committed_ns = sqlite3_column_int64(s, 3) };
	}
	l->past |= rows >= l->new;
	out->whole &= rows < l->new;
	if (s && code != SQLITE_DONE)
		db_fail(h, "look for commits", err);
	sqlite3_finalize(s);
	return code == SQLITE_DONE;
}

bool db_commits_between(struct db *db, const struct commit_range *range, struct arena *arena,
			struct commits_between *out, struct err *err)
{
	/* Mostly every way ends at the earlier commit itself. */
	struct commit_search near = { range, 1, 300, false }, far = { range, 20000, 2000, false };
	sqlite3 *h;
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
