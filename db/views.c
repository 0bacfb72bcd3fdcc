/* db/views.c -- views: filters of a list or a history that people keep under a name. */
#include <string.h>

#include "db/archive.h"
#include "db/internal.h"
#include "fusion/base/clock.h"

#define VIEW_SELECT "SELECT id, project, name, page, query, author, created_ns FROM saved_view "

static struct saved_view view_at(struct sql_statement *s, struct arena *arena)
{
	return (struct saved_view){
		.id = sql_int64(s, 0),
		.project = text_at(s, 1, arena),
		.name = text_at(s, 2, arena),
		.page = text_at(s, 3, arena),
		.query = text_at(s, 4, arena),
		.author = text_at(s, 5, arena),
		.created_ns = sql_int64(s, 6),
	};
}

/* With the one that was just stored. */
static bool has_room(struct sql *h, const char *project, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT count(*) FROM saved_view WHERE project = ?1", "t", project);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count views", err));

	if (ok && sql_int64(s, 0) > VIEWS_MOST)
		ok = err_set(err, ERR_CONFLICT,
			     "the project has %d views, the limit; remove one first", VIEWS_MOST);
	sql_finalize(s);
	return ok;
}

static bool is_taken(const char *name, struct err *err)
{
	return err_set(err, ERR_CONFLICT,
		       "the project has a view '%.80s'; choose another name, or change that one",
		       name);
}

bool db_view_add(struct db *db, struct saved_view *view, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	view->created_ns = clock_wall_ns();
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO saved_view(project, name, page, query, author, created_ns)"
		       " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
		       "ttttti", view->project, view->name, view->page, view->query, view->author,
		       view->created_ns),
	    "store a view", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = is_taken(view->name, err);
	if (ok) {
		view->id = sql_last_id(db->writer);
		ok = has_room(db->writer, view->project, err);
	}
	return db_write_end(db, ok, err);
}

bool db_view_list(struct db *db, const struct view_query *q, struct arena *arena,
		  struct saved_view **out, int *n, struct err *err)
{
	struct saved_view *rows = ARENA_ARRAY(arena, struct saved_view, VIEWS_LISTED);
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = NULL;
	int code = SQL_FAILED;

	*n = 0;
	*out = rows;
	if (rows)
		s = db_prepare(h, err,
			       VIEW_SELECT
			       "WHERE (?1 = 0 OR id = ?1) AND (?2 = '' OR project = ?2 OR (?3 = 1"
			       " AND project = '')) AND (?4 = '' OR page = ?4) AND (?5 = '' OR name"
			       " = ?5) ORDER BY lower(name), id LIMIT ?6",
			       "ititti", q->id, q->project, (int64_t)q->common, q->page, q->name,
			       (int64_t)VIEWS_LISTED);
	else
		err_set(err, ERR_MEMORY, "out of memory while listing views");
	while (s && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = view_at(s, arena);
	if (s && code != SQL_DONE)
		db_fail(h, "list views", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_DONE;
}

bool db_view_change(struct db *db, const struct saved_view *to, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE saved_view SET name = ?2, query = ?3 WHERE id = ?1"
				     " AND NOT EXISTS (SELECT 1 FROM saved_view AS other WHERE"
				     " other.project = saved_view.project AND other.name = ?2 AND"
				     " other.id <> ?1)",
				     "itt", to->id, to->name, to->query),
			  "change a view", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = is_taken(to->name, err);
	return db_write_end(db, ok, err);
}

bool db_view_remove(struct db *db, int64_t id, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   db_step_once(
		       db->writer,
		       db_prepare(db->writer, err, "DELETE FROM saved_view WHERE id = ?1", "i", id),
		       "remove a view", err),
		   err);
}
