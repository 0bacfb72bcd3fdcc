/* db/keys.c -- what posts with a key were answered. */
#include "db/internal.h"
#include "fusion/base/clock.h"

enum { KEYS_MOST = 100000 };
static const int64_t KEPT_NS = INT64_C(86400) * 1000000000;

/* What is older than a day goes, and what is over the most; *added: the key was not there. */
static bool add(struct db *db, const struct request_key *k, bool *added, struct err *err)
{
	int64_t now = clock_wall_ns();

	if (!db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "DELETE FROM request_key WHERE at_ns < ?1 OR at_ns < (SELECT"
				     " at_ns FROM request_key ORDER BY at_ns DESC LIMIT 1 OFFSET"
				     " ?2)",
				     "ii", now - KEPT_NS, (int64_t)KEYS_MOST),
			  "forget old keys", err) ||
	    !db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO request_key(who, key, request, at_ns)"
				     " VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
				     "ttti", k->who, k->key, k->request, now),
			  "keep a key", err))
		return false;
	*added = sql_changes(db->writer) > 0;
	return !*added || !db->server ||
	       db_step_once(
		   db->writer,
		   db_prepare(db->writer, err,
			      "UPDATE request_key SET server = ?3 WHERE who = ?1 AND key = ?2",
			      "tti", k->who, k->key, db->server),
		   "keep a key", err);
}

static bool read(struct db *db, struct request_key *k, struct arena *arena, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    db->writer, err,
	    "SELECT request, status, answer, location FROM request_key"
	    " WHERE who = ? AND key = ?",
	    "tt", k->who, k->key);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(db->writer, "read a key", err));

	if (ok) {
		k->request = text_at(s, 0, arena);
		k->status = sql_int64(s, 1);
		k->answer = text_at(s, 2, arena);
		k->location = text_at(s, 3, arena);
	}
	sql_finalize(s);
	return ok;
}

bool db_key_take(struct db *db, struct request_key *k, struct arena *arena, bool *added,
		 struct err *err)
{
	bool ok = db_write_begin(db, err);

	*added = false;
	return ok &&
	       db_write_end(db, add(db, k, added, err) && (*added || read(db, k, arena, err)), err);
}

bool db_key_answer(struct db *db, const struct request_key *k, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   db_step_once(db->writer,
				k->status
				    ? db_prepare(db->writer, err,
						 "UPDATE request_key SET status = ?3, answer = ?4,"
						 " location = ?5 WHERE who = ?1 AND key = ?2",
						 "ttitt", k->who, k->key, k->status, k->answer,
						 k->location)
				    : db_prepare(db->writer, err,
						 "DELETE FROM request_key WHERE who = ?1 AND key = "
						 "?2",
						 "tt", k->who, k->key),
				"keep an answer", err),
		   err);
}
