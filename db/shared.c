/* db/shared.c -- a store that is a database of PostgreSQL, which several servers may have at once.
 */
#include "db/shared.h"

#include <string.h>

bool db_path_is_shared(const char *path)
{
	return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

bool shared_own_run(struct db *db, int64_t run, struct err *err)
{
	return db_step_once(
	    db->writer,
	    db_prepare(db->writer, err,
		       "INSERT INTO run_server(run, server) VALUES(?1, ?2) ON CONFLICT (run)"
		       " DO UPDATE SET server = excluded.server",
		       "ii", run, db->server),
	    "store which server has a run", err);
}

bool shared_leads(struct db *db, struct err *err)
{
	struct sql *h;
	int64_t first = 0;

	if (!db->is_shared)
		return true;
	h = db_reader_take(db);
	if (!shared_read_number(h, "SELECT min(server) FROM store_serving", &first, err))
		first = -1;
	db_reader_give(db, h);
	return first == db->server;
}
