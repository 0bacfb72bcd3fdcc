/* db/shared.c -- a store that is a database of PostgreSQL, which several servers may have at once.
 */
#include "db/shared.h"

#include <stdio.h>
#include <string.h>

extern const char *const postgres_texts[]; /* postgres/NNNN_*.sql, in order; ends with NULL */

enum { FIRST_VERSION = 26 }; /* of the first of them */

bool db_path_is_shared(const char *path)
{
	return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

static int newest_version(void)
{
	int n = 0;

	while (postgres_texts[n])
		n++;
	return FIRST_VERSION - 1 + n;
}

/* The one number of a statement. */
static bool read_number(struct sql *h, const char *sql, int64_t *n, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, sql, "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "read the state of the store", err));

	*n = ok ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	return ok;
}

/* 0: the database has no store yet. */
static bool read_version(struct sql *h, int64_t *version, struct err *err)
{
	*version = 0;
	return read_number(h, "SELECT to_regclass('store_schema') IS NOT NULL", version, err) &&
	       (*version == 0 ||
		read_number(h, "SELECT max(version) FROM store_schema", version, err));
}

static bool is_ours(int64_t version, struct err *err)
{
	return version == newest_version() ||
	       err_set(
		   err, ERR_STORAGE,
		   "the store on PostgreSQL is of version %lld, and this Breakeven reads version "
		   "%d; %s",
		   (long long)version, newest_version(),
		   version == 0                 ? "breakeven serve --db makes one"
		   : version < newest_version() ? "stop its servers, and breakeven serve --db "
						  "brings it up to date"
						: "run a newer one");
}

static bool run_from(struct sql *h, int64_t version, struct err *err)
{
	char what[64], set[128];
	int at = version == 0 ? 0 : (int)version + 1 - FIRST_VERSION;

	for (; postgres_texts[at]; at++) {
		snprintf(what, sizeof(what), "migration to version %d", FIRST_VERSION + at);
		if (!db_exec(h, postgres_texts[at], what, err))
			return false;
	}
	snprintf(set, sizeof(set),
		 "INSERT INTO store_schema(version) VALUES (%d) ON CONFLICT (one) DO UPDATE SET "
		 "version = excluded.version",
		 newest_version());
	return db_exec(h, set, "store the schema's version", err);
}

/* In one transaction, one server at a time. */
static bool migrate(struct sql *h, struct err *err)
{
	int64_t version = 0;
	bool ok;

	if (!sql_begin(h))
		return db_fail(h, "begin", err);
	ok = read_version(h, &version, err);
	if (ok && version > newest_version())
		ok = is_ours(version, err);
	if (ok && version < newest_version())
		ok = run_from(h, version, err);
	if (ok)
		return db_exec(h, "COMMIT", "commit", err);
	sql_exec(h, "ROLLBACK");
	return false;
}

/* A number that no server had before, and its lock, in every session of the writer. */
static bool take_number(struct db *db, struct err *err)
{
	char words[96];

	if (!read_number(db->writer, "SELECT nextval('store_server')", &db->server, err))
		return false;
	snprintf(words, sizeof(words), "SELECT pg_advisory_lock(1114785651, %d);",
		 (int)(db->server & INT32_MAX));
	return sql_in_each_session(db->writer, words) ||
	       db_fail(db->writer, "take the number of a server", err);
}

static bool open_writer(struct db *db, const char *url, enum shared_use use, struct err *err)
{
	int64_t version = 0;

	db->writer = sql_open_server(url, SQL_READ | SQL_WRITE, err);
	if (!db->writer)
		return false;
	if (use == SHARED_SERVES)
		return migrate(db->writer, err) && take_number(db, err);
	return read_version(db->writer, &version, err) &&
	       (version == 0 ? migrate(db->writer, err) : is_ours(version, err));
}

bool shared_open(struct db *db, const char *url, enum shared_use use, struct err *err)
{
	int64_t version = 0;

	db->is_shared = true;
	if (use != SHARED_READS && !open_writer(db, url, use, err))
		return false;
	for (int i = 0; i < N_READERS; i++) {
		db->readers[i] = sql_open_server(url, SQL_READ, err);
		if (!db->readers[i])
			return false;
	}
	return use != SHARED_READS ||
	       (read_version(db->readers[0], &version, err) && is_ours(version, err));
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
	if (!read_number(h, "SELECT min(server) FROM store_serving", &first, err))
		first = -1;
	db_reader_give(db, h);
	return first == db->server;
}
