/* db/tokens.c -- who may ask: tokens, sessions of browsers; and who did what. */
#include <string.h>

#include "db/internal.h"
#include "fusion/base/clock.h"

enum { SESSIONS_OF_A_TOKEN = 100 };

static const char *const scope_names[SCOPE_COUNT] = { "open", "read", "submit", "admin" };

const char *scope_name(enum token_scope scope)
{
	return scope_names[scope];
}

bool scope_from_name(const char *name, enum token_scope *out)
{
	for (int i = 0; name && i < SCOPE_COUNT; i++) {
		if (strcmp(name, scope_names[i]) == 0) {
			*out = (enum token_scope)i;
			return true;
		}
	}
	return false;
}

/* ---- tokens ---- */

#define TOKEN_COLUMNS                                                                              \
	"token.id, name, scope, project, created_ns, token.expires_ns, token.revoked_ns"

static struct token_row token_at(struct sql_statement *s, struct arena *arena)
{
	struct token_row row = {
		.id = sql_int64(s, 0),
		.name = text_at(s, 1, arena),
		.project = text_at(s, 3, arena),
		.created_ns = sql_int64(s, 4),
		.expires_ns = sql_int64(s, 5),
		.revoked_ns = sql_int64(s, 6),
	};

	scope_from_name(db_text(s, 2), &row.scope);
	return row;
}

/* With the one that was just stored. */
static bool has_room(struct sql *h, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "SELECT count(*) FROM token", "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count tokens", err));

	if (ok && sql_int64(s, 0) > TOKENS_MOST)
		ok = err_set(err, ERR_CONFLICT, "the store has %d tokens, the limit", TOKENS_MOST);
	sql_finalize(s);
	return ok;
}

bool db_token_add(struct db *db, const struct token_row *row, const uint8_t hash[SECRET_HASH_BYTES],
		  struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO token(name, hash, scope, project, created_ns, "
		       "expires_ns) VALUES(?, ?, ?, ?, ?, nullif(?, 0)) ON CONFLICT DO "
		       "NOTHING",
		       "tbttii", row->name, hash, (size_t)SECRET_HASH_BYTES, scope_name(row->scope),
		       row->project, clock_wall_ns(), row->expires_ns),
	    "store a token", err);
	if (ok && sql_changes(db->writer) > 0)
		ok = has_room(db->writer, err);
	else if (ok)
		ok = err_set(err, ERR_CONFLICT,
			     "there is a token '%.64s', or was: its runs carry the name; choose "
			     "another",
			     row->name);
	return db_write_end(db, ok, err);
}

bool db_token_revoke(struct db *db, const char *name, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "UPDATE token SET revoked_ns = ?2 WHERE name = ?1 AND "
				     "revoked_ns IS NULL",
				     "ti", name, clock_wall_ns()),
			  "revoke a token", err);
	if (ok && sql_changes(db->writer) == 0)
		ok = err_set(err, ERR_NOT_FOUND, "there is no token '%.64s' that counts", name);
	ok = ok && db_step_once(db->writer,
				db_prepare(db->writer, err,
					   "DELETE FROM session WHERE token = (SELECT id FROM "
					   "token WHERE name = ?1)",
					   "t", name),
				"end the sessions of a token", err);
	return db_write_end(db, ok, err);
}

bool db_token_find(struct db *db, const struct token_secret *secret, struct arena *arena,
		   struct token_row *out, bool *found, struct err *err)
{
	static const char by_token[] = "SELECT " TOKEN_COLUMNS
				       " FROM token WHERE hash = ?1 AND revoked_ns IS NULL AND "
				       "(expires_ns IS NULL OR expires_ns > ?2)";
	static const char by_session[] =
	    "SELECT " TOKEN_COLUMNS " FROM session JOIN token ON token.id = session.token WHERE "
	    "session.hash = ?1 AND session.expires_ns > ?2 AND token.revoked_ns IS NULL AND "
	    "(token.expires_ns IS NULL OR token.expires_ns > ?2)";
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err, secret->session ? by_session : by_token, "bi",
					     secret->hash, (size_t)SECRET_HASH_BYTES,
					     clock_wall_ns());
	int code = s ? sql_step(s) : SQL_FAILED;

	*found = code == SQL_ROW;
	if (*found)
		*out = token_at(s, arena);
	else if (s && code != SQL_DONE)
		db_fail(h, "look for a token", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return code == SQL_ROW || code == SQL_DONE;
}

bool db_has_tokens(struct db *db, bool *has, struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err, "SELECT EXISTS (SELECT 1 FROM token)", "");
	bool ok = s && sql_step(s) == SQL_ROW;

	if (ok)
		*has = sql_int(s, 0) != 0;
	else if (s)
		db_fail(h, "count tokens", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

bool db_token_list(struct db *db, struct arena *arena, struct token_row **out, int *n,
		   struct err *err)
{
	struct token_row *rows = ARENA_ARRAY(arena, struct token_row, TOKENS_MOST);
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err, "SELECT " TOKEN_COLUMNS " FROM token ORDER BY id LIMIT ?1", "i",
	    (int64_t)TOKENS_MOST);
	int code = SQL_FAILED;

	*n = 0;
	while (s && rows && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = token_at(s, arena);
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory while listing tokens");
	else if (s && code != SQL_DONE)
		db_fail(h, "list tokens", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*out = rows;
	return code == SQL_DONE;
}

/* ---- sessions ---- */

bool db_session_add(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], int64_t token,
		    int64_t expires_ns, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "DELETE FROM session WHERE expires_ns <= ?2 OR hash IN "
				     "(SELECT hash FROM session WHERE token = ?1 ORDER BY "
				     "expires_ns DESC LIMIT ?4 OFFSET ?3)",
				     "iiii", token, clock_wall_ns(),
				     (int64_t)SESSIONS_OF_A_TOKEN - 1, INT64_MAX),
			  "end old sessions", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO session(hash, token, expires_ns) VALUES(?, ?, ?)",
				     "bii", hash, (size_t)SECRET_HASH_BYTES, token, expires_ns),
			  "store a session", err);
	return db_write_end(db, ok, err);
}

bool db_session_end(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   db_step_once(db->writer,
				db_prepare(db->writer, err, "DELETE FROM session WHERE hash = ?1",
					   "b", hash, (size_t)SECRET_HASH_BYTES),
				"end a session", err),
		   err);
}

/* ---- the audit log ---- */

bool db_audit_add(struct db *db, const struct audit_row *row, struct err *err)
{
	bool ok;

	if (!db_write_begin(db, err))
		return false;
	ok = db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO audit(at_ns, who, address, route, subject) "
				     "VALUES(?, ?, ?, ?, nullif(?, 0))",
				     "ittti", clock_wall_ns(), row->who, row->address, row->route,
				     row->subject),
			  "store who did it", err) &&
	     db_step_once(db->writer,
			  db_prepare(db->writer, err, "DELETE FROM audit WHERE id <= ?1", "i",
				     (int64_t)sql_last_id(db->writer) - AUDIT_KEPT),
			  "shorten the audit log", err);
	return db_write_end(db, ok, err);
}

bool db_run_waiting_of(struct db *db, const char *who, const char *address, int64_t *n,
		       struct err *err)
{
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT count(*) FROM run_row AS run INDEXED BY run_by_status WHERE status = 'queued' "
	    "AND removed_ns IS NULL AND EXISTS (SELECT 1 FROM audit WHERE subject = run.id AND "
	    "route = 'POST /api/v1/runs' AND who = ?1 AND (?1 <> '' OR "
	    "address = ?2))",
	    "tt", who, address);
	bool ok = s && sql_step(s) == SQL_ROW;

	*n = ok ? sql_int64(s, 0) : 0;
	if (s && !ok)
		db_fail(h, "count who waits", err);
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

static struct audit_row audit_at(struct sql_statement *s, struct arena *arena)
{
	return (struct audit_row){
		.id = sql_int64(s, 0),
		.at_ns = sql_int64(s, 1),
		.who = text_at(s, 2, arena),
		.address = text_at(s, 3, arena),
		.route = text_at(s, 4, arena),
		.subject = sql_int64(s, 5),
	};
}

bool db_audit_list(struct db *db, int limit, struct arena *arena, struct audit_row **out, int *n,
		   struct err *err)
{
	struct audit_row *rows = ARENA_ARRAY(arena, struct audit_row, (size_t)limit + 1);
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(
	    h, err,
	    "SELECT id, at_ns, who, address, route, subject FROM audit "
	    "ORDER BY id DESC LIMIT ?1",
	    "i", (int64_t)limit);
	int code = SQL_FAILED;

	*n = 0;
	while (s && rows && (code = sql_step(s)) == SQL_ROW)
		rows[(*n)++] = audit_at(s, arena);
	if (!rows)
		err_set(err, ERR_MEMORY, "out of memory for the audit log");
	else if (s && code != SQL_DONE)
		db_fail(h, "read the audit log", err);
	sql_finalize(s);
	db_reader_give(db, h);
	*out = rows;
	return code == SQL_DONE;
}
