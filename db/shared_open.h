/* db/shared_open.h -- opens a store that is a database of PostgreSQL, and brings its schema up to
 * date. For db/db.c. */
#ifndef DB_SHARED_OPEN_H
#define DB_SHARED_OPEN_H

#include <stdio.h>

#include "db/shared.h"

enum shared_use { SHARED_READS, SHARED_WRITES, SHARED_SERVES };

extern const char *const postgres_texts[]; /* postgres/NNNN_*.sql, in order; ends with NULL */

enum { SHARED_FIRST_VERSION = 26 }; /* of the first of them */

static inline int shared_newest_version(void)
{
	int n = 0;

	while (postgres_texts[n])
		n++;
	return SHARED_FIRST_VERSION - 1 + n;
}

/* 0: the database has no store yet. */
static inline bool shared_read_version(struct sql *h, int64_t *version, struct err *err)
{
	*version = 0;
	return shared_read_number(h, "SELECT to_regclass('store_schema') IS NOT NULL", version,
				  err) &&
	       (*version == 0 ||
		shared_read_number(h, "SELECT max(version) FROM store_schema", version, err));
}

static inline bool shared_is_ours(int64_t version, struct err *err)
{
	return version == shared_newest_version() ||
	       err_set(
		   err, ERR_STORAGE,
		   "the store on PostgreSQL is of version %lld, and this Breakeven reads version "
		   "%d; %s",
		   (long long)version, shared_newest_version(),
		   version == 0 ? "breakeven serve --db makes one"
		   : version < shared_newest_version()
		       ? "stop its servers, and breakeven serve --db "
			 "brings it up to date"
		       : "run a newer one");
}

static inline bool shared_run_from(struct sql *h, int64_t version, struct err *err)
{
	char what[64], set[128];
	int at = version == 0 ? 0 : (int)version + 1 - SHARED_FIRST_VERSION;

	for (; postgres_texts[at]; at++) {
		snprintf(what, sizeof(what), "migration to version %d", SHARED_FIRST_VERSION + at);
		if (!db_exec(h, postgres_texts[at], what, err))
			return false;
	}
	snprintf(set, sizeof(set),
		 "INSERT INTO store_schema(version) VALUES (%d) ON CONFLICT (one) DO UPDATE SET "
		 "version = excluded.version",
		 shared_newest_version());
	return db_exec(h, set, "store the schema's version", err);
}

/* In one transaction, one server at a time. */
static inline bool shared_migrate(struct sql *h, struct err *err)
{
	int64_t version = 0;
	bool ok;

	if (!sql_begin(h))
		return db_fail(h, "begin", err);
	ok = shared_read_version(h, &version, err);
	if (ok && version > shared_newest_version())
		ok = shared_is_ours(version, err);
	if (ok && version < shared_newest_version())
		ok = shared_run_from(h, version, err);
	if (ok)
		return db_exec(h, "COMMIT", "commit", err);
	sql_exec(h, "ROLLBACK");
	return false;
}

/* A number that no server had before, and its lock, in every session of the writer. */
static inline bool shared_take_number(struct db *db, struct err *err)
{
	char words[96];

	if (!shared_read_number(db->writer, "SELECT nextval('store_server')", &db->server, err))
		return false;
	snprintf(words, sizeof(words), "SELECT pg_advisory_lock(1114785651, %d);",
		 (int)(db->server & INT32_MAX));
	return sql_in_each_session(db->writer, words) ||
	       db_fail(db->writer, "take the number of a server", err);
}

static inline bool shared_open_writer(struct db *db, const char *url, enum shared_use use,
				      struct err *err)
{
	int64_t version = 0;

	db->writer = sql_open_server(url, SQL_READ | SQL_WRITE, err);
	if (!db->writer)
		return false;
	if (use == SHARED_SERVES)
		return shared_migrate(db->writer, err) && shared_take_number(db, err);
	return shared_read_version(db->writer, &version, err) &&
	       (version == 0 ? shared_migrate(db->writer, err) : shared_is_ours(version, err));
}

/* Connects the writer (not for SHARED_READS) and the readers; where the database has no store yet,
 * makes one.  STORAGE. */
static inline bool shared_open(struct db *db, const char *url, enum shared_use use, struct err *err)
{
	int64_t version = 0;

	db->is_shared = true;
	if (use != SHARED_READS && !shared_open_writer(db, url, use, err))
		return false;
	for (int i = 0; i < N_READERS; i++) {
		db->readers[i] = sql_open_server(url, SQL_READ, err);
		if (!db->readers[i])
			return false;
	}
	return use != SHARED_READS ||
	       (shared_read_version(db->readers[0], &version, err) && shared_is_ours(version, err));
}

#endif
