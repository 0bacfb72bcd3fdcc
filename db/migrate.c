/* db/migrate.c -- from any older schema to the newest, one file a version.
 *
 * migrations/NNNN_*.sql are embedded in order (embed.sh); PRAGMA user_version
 * counts those that have run.  All missing ones run in one transaction, so a
 * crash leaves the old version whole.
 */
#include <stdio.h>

#include "db/internal.h"

extern const char *const migration_texts[]; /* ends with NULL */

static bool read_version(sqlite3 *h, int *version, struct err *err)
{
	sqlite3_stmt *s = db_prepare(h, err, "PRAGMA user_version", "");
	bool ok;

	if (!s)
		return false;
	ok = sqlite3_step(s) == SQLITE_ROW || db_fail(h, "read the schema's version", err);
	if (ok)
		*version = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return ok;
}

static bool run_from(sqlite3 *h, int version, struct err *err)
{
	char pragma[64];

	for (; migration_texts[version]; version++) {
		char what[64];

		snprintf(what, sizeof(what), "migration to version %d", version + 1);
		if (sqlite3_exec(h, migration_texts[version], NULL, NULL, NULL) != SQLITE_OK)
			return db_fail(h, what, err);
	}
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", version);
	return sqlite3_exec(h, pragma, NULL, NULL, NULL) == SQLITE_OK ||
	       db_fail(h, "store the schema's version", err);
}

static int newest_version(void)
{
	int newest = 0;

	while (migration_texts[newest])
		newest++;
	return newest;
}

bool db_check_version(sqlite3 *h, const char *path, struct err *err)
{
	int version;

	if (!read_version(h, &version, err))
		return sqlite3_errcode(h) == SQLITE_NOTADB
			   ? err_set(err, ERR_STORAGE,
				     "%s is no database; name another with --db FILE", path)
			   : false;
	return version == newest_version() ||
	       err_set(err, ERR_STORAGE,
		       "the database %s is of version %d, and this Breakeven reads version %d; %s",
		       path, version, newest_version(),
		       version < newest_version() ? "breakeven serve --db brings it up to date"
						  : "run a newer one");
}

bool db_migrate(sqlite3 *h, const char *path, struct err *err)
{
	int version, newest = newest_version();
	bool ok;

	/* The version is read inside the transaction: another process may be
	 * migrating the same file. */
	if (sqlite3_exec(h, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
		if ((sqlite3_errcode(h) & 0xff) == SQLITE_BUSY)
			return err_set(err, ERR_STORAGE,
				       "the database %s is locked by another program; end that, or "
				       "name another file with --db FILE",
				       path);
		return db_fail(h, "begin", err);
	}
	ok = read_version(h, &version, err);
	if (ok && version > newest)
		ok = err_set(err, ERR_STORAGE,
			     "the database %s is of version %d, and this Breakeven knows versions "
			     "up to %d; run a newer one",
			     path, version, newest);
	if (ok && version < newest)
		ok = run_from(h, version, err);
	if (ok)
		return sqlite3_exec(h, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
		       db_fail(h, "commit", err);
	sqlite3_exec(h, "ROLLBACK", NULL, NULL, NULL);
	return false;
}
