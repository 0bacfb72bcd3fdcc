/* db/shared.h -- a store that is a database of PostgreSQL, which several servers may have at once.
 *
 * Each server that takes up jobs has a number, and a lock of that number for as long as it is
 * connected: a run or a key that is under way belongs to a server, and is free again when its lock
 * is.  Writers of all servers take turns, and each turn counts in store_turn, which tells the
 * others that something is new.
 */
#ifndef DB_SHARED_H
#define DB_SHARED_H

#include "db/internal.h"

/* The one number of a statement. */
static inline bool shared_read_number(struct sql *h, const char *sql, int64_t *n, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, sql, "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "read the state of the store", err));

	*n = ok ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	return ok;
}

/* The run is this server's while it is under way; within a turn. */
bool shared_own_run(struct db *db, int64_t run, struct err *err);

/* Whether this server does what one of all is to do: tell webhooks, speak to executors.  A file's
 * server always does.  False also where that cannot be read, with *err. */
bool shared_leads(struct db *db, struct err *err);

/* Condition of rows that belong to a server which is there no more. */
#define OF_SERVER_GONE                                                                             \
	" AND NOT EXISTS (SELECT 1 FROM run_server JOIN store_serving USING (server) WHERE"        \
	" run_server.run = run_row.id)"
#define KEY_OF_SERVER_GONE " AND server NOT IN (SELECT server FROM store_serving)"

#endif
