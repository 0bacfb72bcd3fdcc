/* db/hooks.c -- webhooks: who is told of changes and verdicts, what was sent to them, and what was
 * told. */
#include <string.h>

#include "db/internal.h"
#include "db/shared.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

enum { MOST_WAITING = 500 };
static const int64_t LEADS_LOOKED_NS = INT64_C(5) * 1000000000;
static const int64_t day_ns = INT64_C(86400) * 1000000000;

/* Whether hook `h` wants an event of a project. */
#define WANTS(event, project)                                                                      \
	" instr(',' || h.events || ',', ',' || " event " || ',') > 0 AND (h.project = ''"          \
	" OR h.project = " project ") "

static const char *const state_names[] = { "waiting", "delivered", "failed" };

const char *delivery_state_name(enum delivery_state state)
{
	return state_names[state];
}

/* ---- hooks ---- */

static bool add_with(struct sql *h, const struct hook_row *row, int64_t *id, struct err *err)
{
	int64_t now = clock_wall_ns();
	bool ok = db_step_once(
	    h,
	    db_prepare(h, err,
		       "INSERT INTO hook(project, url, secret, events, author, created_ns)"
		       " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM hook) < ?7",
		       "tttttii", row->project, row->url, row->secret, row->events, row->author,
		       now, (int64_t)HOOKS_MOST),
	    "store a webhook", err);

	if (ok && sql_changes(h) == 0)
		return err_set(err, ERR_CONFLICT, "the store has %d webhooks, the limit",
			       HOOKS_MOST);
	*id = sql_last_id(h);
	/* What ended before the first was made is no news. */
	return ok &&
	       db_step_once(
		   h,
		   db_prepare(
		       h, err,
		       "INSERT INTO hook_mark(\"only\", finished_ns) SELECT"
		       " 1, ?1 WHERE (SELECT count(*) FROM hook) = 1 ON CONFLICT (\"only\") DO"
		       " UPDATE SET finished_ns = excluded.finished_ns",
		       "i", now),
		   "store a webhook", err);
}

bool db_hook_add(struct db *db, const struct hook_row *row, int64_t *id, struct err *err)
{
	return db_write_begin(db, err) && db_write_end(db, add_with(db->writer, row, id, err), err);
}

static bool remove_with(struct sql *h, int64_t id, struct err *err)
{
	bool ok = db_step_once(h, db_prepare(h, err, "DELETE FROM hook WHERE id = ?1", "i", id),
			       "remove a webhook", err);

	return ok && (sql_changes(h) > 0 ||
		      err_set(err, ERR_NOT_FOUND, "there is no webhook %lld", (long long)id));
}

bool db_hook_remove(struct db *db, int64_t id, struct err *err)
{
	return db_write_begin(db, err) && db_write_end(db, remove_with(db->writer, id, err), err);
}

bool db_hook_list(struct db *db, const char *project, struct arena *arena, struct hook_row **out,
		  int *n, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT hook.id, project, url, secret, events, author, hook.created_ns, (SELECT "
	    "count(*) FROM"
	    " hook_delivery AS w WHERE w.hook = hook.id AND w.state = 'waiting'), l.state, "
	    "l.tried_ns FROM"
	    " hook LEFT JOIN hook_delivery AS l ON l.id = (SELECT d.id FROM hook_delivery AS d"
	    " WHERE d.hook = hook.id AND d.tried_ns IS NOT NULL ORDER BY d.tried_ns DESC, d.id DESC"
	    " LIMIT 1) WHERE ?1 = '' OR project = ?1 ORDER BY hook.id",
	    "t", project);
	int code = SQL_FAILED;

	*n = 0;
	*out = ARENA_ARRAY(arena, struct hook_row, HOOKS_MOST);
	while (*out && s && (code = sql_step(s)) == SQL_ROW && *n < HOOKS_MOST)
		(*out)[(*n)++] = (struct hook_row){ .id = sql_int64(s, 0),
						    .project = text_at(s, 1, arena),
						    .url = text_at(s, 2, arena),
						    .secret = text_at(s, 3, arena),
						    .events = text_at(s, 4, arena),
						    .author = text_at(s, 5, arena),
						    .created_ns = sql_int64(s, 6),
						    .waiting = sql_int64(s, 7),
						    .last = text_at(s, 8, arena),
						    .last_ns = sql_int64(s, 9) };
	if (!*out)
		err_set(err, ERR_MEMORY, "out of memory for webhooks");
	else if (s && code != SQL_DONE && code != SQL_ROW)
		db_fail(h, "list webhooks", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return *out && (code == SQL_DONE || code == SQL_ROW);
}

bool db_hook_find(struct db *db, const char *project, int64_t id, struct arena *arena,
		  struct err *err)
{
	struct hook_row *rows;
	int n;

	if (!db_hook_list(db, project, arena, &rows, &n, err))
		return false;
	for (int i = 0; i < n; i++)
		if (rows[i].id == id)
			return true;
	return err_set(err, ERR_NOT_FOUND, "there is no webhook %lld", (long long)id);
}

/* ---- deliveries ---- */

static bool put_delivery(struct sql *h, const char *project, const struct delivery_row *row,
			 struct err *err)
{
	return db_step_once(
	    h,
	    db_prepare(h, err,
		       "INSERT INTO hook_delivery(hook, event, subject, body, state, created_ns,"
		       " due_ns, said) SELECT id, ?2, ?3, ?4, CASE WHEN n < ?6 THEN 'waiting' ELSE"
		       " 'failed' END, ?5, ?5, CASE WHEN n < ?6 THEN '' ELSE 'as many wait as may:"
		       " it was not sent' END FROM (SELECT id, (SELECT count(*) FROM hook_delivery"
		       " AS d WHERE d.hook = h.id AND d.state = 'waiting') AS n FROM hook AS h"
		       " WHERE CASE WHEN ?1 <> 0 THEN h.id = ?1 ELSE" WANTS("?2", "?7") "END) AS h",
		       "ititiit", row->hook, row->event, row->subject, row->body, clock_wall_ns(),
		       (int64_t)MOST_WAITING, project),
	    "store a delivery", err);
}

/* The newest of each hook that do not wait. */
static bool prune(struct sql *h, struct err *err)
{
	return db_step_once(
	    h,
	    db_prepare(h, err,
		       "DELETE FROM hook_delivery WHERE id IN (SELECT id FROM (SELECT id,"
		       " row_number() OVER (PARTITION BY hook ORDER BY id DESC) AS place FROM"
		       " hook_delivery WHERE state <> 'waiting') AS d WHERE place > ?1)",
		       "i", (int64_t)HOOK_LOG_KEPT),
	    "shorten the log of webhooks", err);
}

static bool deliver_with(struct sql *h, const char *project, const struct delivery_row *row,
			 int64_t *id, struct err *err)
{
	bool ok = put_delivery(h, project, row, err);

	*id = ok && sql_changes(h) ? sql_last_id(h) : 0;
	return ok && prune(h, err);
}

bool db_delivery_add(struct db *db, const char *project, const struct delivery_row *row,
		     int64_t *id, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(db, deliver_with(db->writer, project, row, id, err), err);
}

#define DELIVERY_NAMES                                                                             \
	"d.id, d.hook, d.event, d.subject, d.state, d.tries, d.created_ns, d.due_ns, d.tried_ns,"  \
	" d.status, d.said"

static struct delivery_row delivery_at(struct sql_statement *s, struct arena *arena)
{
	struct delivery_row row = { .id = sql_int64(s, 0),
				    .hook = sql_int64(s, 1),
				    .event = text_at(s, 2, arena),
				    .subject = sql_int64(s, 3),
				    .tries = sql_int64(s, 5),
				    .created_ns = sql_int64(s, 6),
				    .due_ns = sql_int64(s, 7),
				    .tried_ns = sql_int64(s, 8),
				    .status = sql_int64(s, 9),
				    .said = text_at(s, 10, arena) };

	for (int i = DELIVERY_WAITING; i <= DELIVERY_FAILED; i++)
		if (strcmp(db_text(s, 4), state_names[i]) == 0)
			row.state = (enum delivery_state)i;
	return row;
}

bool db_delivery_due(struct db *db, int64_t now_ns, struct arena *arena, struct delivery_row *out,
		     struct err *err)
{
	if (!shared_leads(db, err)) { /* another server may go */
		*out = (struct delivery_row){ .due_ns = now_ns + LEADS_LOOKED_NS };
		return err->code == ERR_NONE;
	}
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT " DELIVERY_NAMES ", d.body, h.url, h.secret FROM"
	    " hook_delivery AS d JOIN hook AS h ON h.id = d.hook WHERE"
	    " d.state = 'waiting' ORDER BY d.due_ns, d.id LIMIT 1",
	    "");
	int code = s ? sql_step(s) : SQL_FAILED;

	*out = (struct delivery_row){ .due_ns = code == SQL_ROW ? sql_int64(s, 7) : 0 };
	if (code == SQL_ROW && out->due_ns <= now_ns) {
		*out = delivery_at(s, arena);
		out->body = text_at(s, 11, arena);
		out->url = text_at(s, 12, arena);
		out->secret = text_at(s, 13, arena);
	} else if (s && code != SQL_ROW && code != SQL_DONE)
		db_fail(h, "look for what is to be sent", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_ROW || code == SQL_DONE;
}

static bool tried_with(struct sql *h, const struct delivery_row *row, struct err *err)
{
	return db_step_once(h,
			    db_prepare(h, err,
				       "UPDATE hook_delivery SET state = ?2, due_ns = ?3, status ="
				       " nullif(?4, 0), said = ?5, tried_ns = ?6, tries = tries + 1"
				       " WHERE id = ?1",
				       "itiiti", row->id, state_names[row->state], row->due_ns,
				       row->status, row->said, clock_wall_ns()),
			    "store what became of a delivery", err) &&
	       prune(h, err);
}

bool db_delivery_tried(struct db *db, const struct delivery_row *row, struct err *err)
{
	return db_write_begin(db, err) && db_write_end(db, tried_with(db->writer, row, err), err);
}

bool db_delivery_list(struct db *db, int64_t hook, int limit, struct arena *arena,
		      struct delivery_list *out, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err,
					     "SELECT " DELIVERY_NAMES
					     " FROM hook_delivery AS d WHERE"
					     " d.hook = ?1 ORDER BY d.id DESC LIMIT ?2",
					     "ii", hook, (int64_t)limit);
	int code = SQL_FAILED;

	*out = (struct delivery_list){ ARENA_ARRAY(arena, struct delivery_row, (size_t)limit + 1),
				       0 };
	while (out->at && s && (code = sql_step(s)) == SQL_ROW)
		out->at[out->n++] = delivery_at(s, arena);
	if (!out->at)
		err_set(err, ERR_MEMORY, "out of memory for deliveries");
	else if (s && code != SQL_DONE)
		db_fail(h, "list deliveries", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return out->at && code == SQL_DONE;
}

/* ---- what there is to tell ---- */

bool db_alerts(struct db *db, struct arena *arena, struct alert_row **out, int *n, struct err *err)
{
	*out = NULL;
	*n = 0;
	if (!shared_leads(db, err))
		return err->code == ERR_NONE;
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT c.id, coalesce(a.run, 0), c.name, c.project, (SELECT max(r.id) FROM run AS r"
	    " WHERE r.name = c.name AND r.project = c.project AND r.branch = c.branch AND"
	    " r.settings_hash = c.settings_hash AND r.status = 'done' AND r.kind <> 'trace' AND"
	    " r.imported = '' AND r.about = '') FROM change AS c LEFT JOIN change_alert AS a ON "
	    "a.change = c.id"
	    " JOIN run AS f ON f.id = c.run WHERE c.gone = 0 AND c.acknowledged = 0 AND "
	    "coalesce(a.told, 0) = 0 AND c.verdict IN"
	    " ('SLOWER', 'FASTER', 'MORE', 'LESS') AND EXISTS (SELECT 1 FROM hook AS h WHERE"
	    " h.created_ns <= c.found_ns AND f.created_ns > h.created_ns - ?2 AND" WANTS(
		"'change'", "c.project") ") ORDER BY c.id"
					 " LIMIT ?1",
	    "ii", (int64_t)ALERTS_AT_ONCE, day_ns);
	int code = SQL_FAILED;

	*n = 0;
	*out = ARENA_ARRAY(arena, struct alert_row, ALERTS_AT_ONCE);
	while (*out && s && (code = sql_step(s)) == SQL_ROW)
		(*out)[(*n)++] = (struct alert_row){ .change = sql_int64(s, 0),
						     .run = sql_int64(s, 1),
						     .name = text_at(s, 2, arena),
						     .project = text_at(s, 3, arena),
						     .newest = sql_int64(s, 4) };
	if (!*out)
		err_set(err, ERR_MEMORY, "out of memory for changes");
	else if (s && code != SQL_DONE)
		db_fail(h, "look for changes to tell", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return *out && code == SQL_DONE;
}

bool db_alert_set(struct db *db, int64_t change, int64_t run, bool told, struct err *err)
{
	bool ok = db_write_begin(db, err);

	return ok &&
	       db_write_end(
		   db,
		   db_step_once(db->writer,
				db_prepare(db->writer, err,
					   "INSERT INTO change_alert(change, run,"
					   " told) SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1"
					   " FROM change WHERE id = ?1) ON CONFLICT (change) DO"
					   " UPDATE SET run = excluded.run, told = excluded.told",
					   "iii", change, run, (int64_t)told),
				"store that a change was told", err),
		   err);
}

bool db_ended(struct db *db, struct arena *arena, struct ended_run **out, int *n, struct err *err)
{
	*out = NULL;
	*n = 0;
	if (!shared_leads(db, err))
		return err->code == ERR_NONE;
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT e.*, (SELECT verdict FROM run_summary WHERE run = e.last) FROM (SELECT r.id,"
	    " r.name, r.project, r.finished_ns, s.verdict, (SELECT max(p.id) FROM run AS p JOIN"
	    " run_summary AS q ON q.run = p.id WHERE p.name = r.name AND p.project = r.project AND"
	    " p.device = r.device AND p.status = 'done' AND p.id < r.id AND q.mode = s.mode) AS "
	    "last"
	    " FROM run AS r LEFT JOIN run_summary AS s ON s.run = r.id WHERE r.finished_ns > "
	    "(SELECT"
	    " finished_ns FROM hook_mark) AND r.kind <> 'trace' AND r.status = 'done' AND EXISTS"
	    " (SELECT 1 FROM hook) ORDER BY r.finished_ns LIMIT ?1) AS e",
	    "i", (int64_t)ALERTS_AT_ONCE);
	int code = SQL_FAILED;

	*n = 0;
	*out = ARENA_ARRAY(arena, struct ended_run, ALERTS_AT_ONCE);
	while (*out && s && (code = sql_step(s)) == SQL_ROW)
		(*out)[(*n)++] = (struct ended_run){ .id = sql_int64(s, 0),
						     .name = text_at(s, 1, arena),
						     .project = text_at(s, 2, arena),
						     .finished_ns = sql_int64(s, 3),
						     .verdict = text_at(s, 4, arena),
						     .before = sql_int64(s, 5),
						     .was = text_at(s, 6, arena) };
	if (!*out)
		err_set(err, ERR_MEMORY, "out of memory for runs");
	else if (s && code != SQL_DONE)
		db_fail(h, "look for runs that ended", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return *out && code == SQL_DONE;
}

bool db_ended_mark(struct db *db, int64_t finished_ns, struct err *err)
{
	bool ok = db_write_begin(db, err);

	return ok && db_write_end(db,
				  db_step_once(db->writer,
					       db_prepare(db->writer, err,
							  "UPDATE hook_mark SET finished_ns = ?1"
							  " WHERE finished_ns < ?1",
							  "i", finished_ns),
					       "store what was looked at", err),
				  err);
}
