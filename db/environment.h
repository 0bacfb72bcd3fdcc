/* db/environment.h -- rows of machines: one for each that was seen. */
#ifndef DB_ENVIRONMENT_H
#define DB_ENVIRONMENT_H

#include <string.h>

#include "db/internal.h"
#include "fusion/base/hash.h"

/* A machine's row, which is made where it is not there; within a turn of the writer. */
static inline bool environment_id(struct db *db, const char *json, int64_t *id, struct err *err)
{
	char hash[HASH_HEX_BYTES];
	struct sql_statement *s;
	bool ok;

	hash_hex(json, strlen(json), hash);
	if (!db_step_once(db->writer,
			  db_prepare(db->writer, err,
				     "INSERT INTO environment(hash, json) VALUES(?1, ?2) ON "
				     "CONFLICT(hash) DO NOTHING",
				     "tt", hash, json),
			  "store the environment", err))
		return false;
	s = db_prepare(db->writer, err, "SELECT id FROM environment WHERE hash = ?1", "t", hash);
	ok = s && (sql_step(s) == SQL_ROW || db_fail(db->writer, "read the environment", err));
	if (ok)
		*id = sql_int64(s, 0);
	sql_finalize(s);
	return ok;
}

#endif
