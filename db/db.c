/* db/db.c -- opens a store and brings its schema up to date; statements. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/found.h"
#include "db/internal.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/base/refused.h"

enum { BUSY_TIMEOUT_MS = 3000, STOP_STEPS = 10000 /* of SQLite, between two looks */ };

/* Whether the disk, a quota or a limit on files has no room.  Of a write that failed SQLite
 * leaves the reason in errno alone, where it is at a commit. */
static bool is_full(sqlite3 *h)
{
	int code = sqlite3_errcode(h), cause = sqlite3_system_errno(h);

	if (code == SQLITE_IOERR_WRITE && cause == 0)
		cause = errno;
	return (code & 0xff) == SQLITE_FULL ||
	       ((code & 0xff) == SQLITE_IOERR &&
		(cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

bool db_fail(sqlite3 *h, const char *what, struct err *err)
{
	if (is_full(h))
		return err_set(err, ERR_FULL, "the disk of the database is full: %s: %s", what,
			       sqlite3_errmsg(h));
	return err_set(err, ERR_STORAGE, "database: %s: %s", what, sqlite3_errmsg(h));
}

static bool (*stop)(void);

void db_stop_when(bool (*stopped)(void))
{
	stop = stopped;
}

bool db_stopped(void)
{
	return stop && stop();
}

static int look_for_stop(void *unused)
{
	(void)unused;
	return db_stopped();
}

sqlite3 *db_connect(const char *path, int flags, struct err *err)
{
	sqlite3 *h = NULL;

	if (sqlite3_open_v2(path, &h, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		int code = h ? sqlite3_system_errno(h) : ENOMEM;

		err_set(err, ERR_STORAGE,
			"cannot open the database %s: %s; name another with --db FILE", path,
			code ? strerror(code) : sqlite3_errmsg(h));
		sqlite3_close(h);
		return NULL;
	}
	sqlite3_busy_timeout(h, BUSY_TIMEOUT_MS);
	sqlite3_extended_result_codes(h, 1);
	if (stop)
		sqlite3_progress_handler(h, STOP_STEPS, look_for_stop, NULL);
	/* A file of a stranger: its schema runs nothing, and no statement writes past it. */
	sqlite3_db_config(h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (!db_exec(h, "PRAGMA foreign_keys = ON", "foreign keys", err) ||
	    !found_prepare(h, err)) {
		sqlite3_close(h);
		return NULL;
	}
	return h;
}

/* ---- the schema: migrations/NNNN_*.sql, embedded in order (embed.sh).  PRAGMA user_version counts
 * those that have run.  All missing ones run in one transaction, so that a crash leaves the old
 * version whole. ---- */

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

static bool check_version(sqlite3 *h, const char *path, struct err *err)
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

/* The store as it is, before its schema changes.  This writer's turn keeps others from it. */
static bool keep_copy(const char *path, int newest, struct err *err)
{
	char copy[4096];
	struct err why = { 0 };
	json_t *said;

	snprintf(copy, sizeof(copy), "%s.before-%d", path, newest);
	said = db_backup(path, copy, BACKUP_STORE, &why);
	json_decref(said);
	return said || err_set(err, why.code,
			       "the database is of an earlier version, and is copied before it is "
			       "brought up to date: %s",
			       why.message);
}

static bool migrate_whole(sqlite3 *h, const char *path, struct err *err)
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
		ok = (version == 0 || keep_copy(path, newest, err)) && run_from(h, version, err);
	if (ok)
		return sqlite3_exec(h, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
		       db_fail(h, "commit", err);
	sqlite3_exec(h, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/* Where a table is written anew, what refers to its rows stays: the pragma holds outside of
 * transactions alone. */
static bool migrate(sqlite3 *h, const char *path, struct err *err)
{
	return db_exec(h, "PRAGMA foreign_keys = OFF", "foreign keys", err) &&
	       migrate_whole(h, path, err) &&
	       db_exec(h, "PRAGMA foreign_keys = ON", "foreign keys", err);
}

/* ---- opening ---- */

/* Two servers on one file would both take up its jobs, so a lock beside it
 * says who is there (a lock on the file itself would fight SQLite's own). */
enum { LOCK_FAILED = -1, LOCK_IN_USE = -2 };

static int take_lock(const char *path, struct err *err)
{
	char lock_path[4096];
	int fd;

	if (snprintf(lock_path, sizeof(lock_path), "%s.lock", path) >= (int)sizeof(lock_path)) {
		err_set(err, ERR_STORAGE, "the database path is longer than 4,000 bytes");
		return LOCK_FAILED;
	}
	fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_set(
		    err, ERR_STORAGE,
		    "cannot write beside the database %s: %s; name another place with --db FILE",
		    path, strerror(errno));
		return LOCK_FAILED;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		err_set(err, ERR_STORAGE,
			"the database %s is in use by another server; stop it, or name another "
			"file with --db FILE",
			path);
		close(fd);
		return LOCK_IN_USE;
	}
	return fd;
}

/* SQLite gives the files beside the store (-wal, -shm) its own rights. */
static void make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0) /* else SQLite says what is wrong, or it is there */
		close(fd);
}

static bool prepare_writer(struct db *db, const char *path, struct err *err)
{
	make_private(path);
	db->writer = db_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
	if (!db->writer)
		return false;
	/* auto_vacuum counts only before the first table is made. */
	if (sqlite3_exec(db->writer,
			 "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA "
			 "synchronous = NORMAL",
			 NULL, NULL, NULL) != SQLITE_OK) {
		int code = sqlite3_errcode(db->writer);

		if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
			return err_set(err, ERR_STORAGE,
				       "the database %s is locked by another program; end that, or "
				       "name another file with --db FILE",
				       path);
		return err_set(err, ERR_STORAGE,
			       "cannot use %s as a database: %s; name another file with --db FILE",
			       path, sqlite3_errmsg(db->writer));
	}
	return migrate(db->writer, path, err);
}

static struct db *create(struct err *err)
{
	struct db *db = calloc(1, sizeof(*db));

	if (!db) {
		err_set(err, ERR_MEMORY, "out of memory while opening the database");
		return NULL;
	}
	pthread_mutex_init(&db->write_lock, NULL);
	pthread_mutex_init(&db->reader_lock, NULL);
	pthread_cond_init(&db->reader_free, NULL);
	db->lock_fd = -1;
	return db;
}

/* 32 MiB of pages: the rows of 100,000 runs, without their workloads. */
#define READER_CACHE "PRAGMA cache_size = -32768"

static bool connect_readers(struct db *db, const char *path, int flags, struct err *err)
{
	for (int i = 0; i < N_READERS; i++) {
		db->readers[i] = db_connect(path, SQLITE_OPEN_READONLY | flags, err);
		if (!db->readers[i] ||
		    !db_exec(db->readers[i], READER_CACHE, "pages that are kept", err))
			return false;
	}
	return true;
}

struct db *db_open(const char *path, struct err *err)
{
	struct db *db = create(err);

	if (!db)
		return NULL;
	db->lock_fd = take_lock(path, err);
	if (db->lock_fd >= 0 && prepare_writer(db, path, err) && connect_readers(db, path, 0, err))
		return db;
	db_close(db);
	return NULL;
}

struct db *db_open_beside(const char *path, struct err *err)
{
	struct db *db = create(err);
	struct err in_use = { 0 };
	bool ok;

	if (!db)
		return NULL;
	db->lock_fd = take_lock(path, &in_use);
	if (db->lock_fd == LOCK_IN_USE) {
		db->writer = db_connect(path, SQLITE_OPEN_READWRITE, err);
		ok = db->writer && check_version(db->writer, path, err);
	} else if (db->lock_fd >= 0) {
		ok = prepare_writer(db, path, err);
	} else {
		ok = false;
		*err = in_use;
	}
	if (ok && connect_readers(db, path, 0, err))
		return db;
	db_close(db);
	return NULL;
}

static void disconnect_readers(struct db *db)
{
	for (int i = 0; i < N_READERS; i++) {
		sqlite3_close(db->readers[i]);
		db->readers[i] = NULL;
	}
}

static bool connect_reading(struct db *db, const char *path, int flags, struct err *err)
{
	return connect_readers(db, path, flags, err) && check_version(db->readers[0], path, err);
}

/* Whether SQLite wants to write beside the store, which it may not. */
static bool wants_to_write(const struct db *db)
{
	int code = db->readers[0] ? sqlite3_errcode(db->readers[0]) & 0xff : SQLITE_OK;

	return code == SQLITE_READONLY || code == SQLITE_CANTOPEN;
}

/* What was written last and is not in the store itself yet. */
static bool has_log_beside(const char *path)
{
	struct stat log;
	char name[4096];

	return snprintf(name, sizeof(name), "%s-wal", path) < (int)sizeof(name) &&
	       stat(name, &log) == 0 && log.st_size > 0;
}

/* Reads the store as a file that nobody writes: neither do the locks of SQLite exist where it may
 * not write, nor is there anyone whom they would tell. */
static bool connect_immutable(struct db *db, const char *path, struct err *err)
{
	struct buf uri = { 0 };
	bool ok;

	if (has_log_beside(path))
		return err_set(
		    err, ERR_STORAGE,
		    "the database %s has changes beside it, in %s-wal, that are not read "
		    "where nothing may be written; copy both to a folder of yours",
		    path, path);
	buf_puts(&uri, "file:");
	for (const char *c = path; *c; c++)
		if (strchr("?#%", *c))
			buf_printf(&uri, "%%%02x", (unsigned char)*c);
		else
			buf_printf(&uri, "%c", *c);
	buf_puts(&uri, "?immutable=1");
	ok = !uri.failed ? connect_reading(db, uri.data, SQLITE_OPEN_URI, err)
			 : err_set(err, ERR_MEMORY, "out of memory while opening the database");
	buf_finish(&uri);
	return ok;
}

struct db *db_open_reading(const char *path, struct err *err)
{
	struct db *db = create(err);
	struct err refused = { 0 };
	bool ok = db && connect_reading(db, path, 0, &refused);

	if (db && !ok && wants_to_write(db)) {
		disconnect_readers(db);
		ok = connect_immutable(db, path, err);
	} else if (db && !ok) {
		*err = refused;
	}
	if (ok)
		return db;
	db_close(db);
	return NULL;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	disconnect_readers(db);
	sqlite3_finalize(db->ask_others);
	sqlite3_close(db->writer);
	if (db->lock_fd >= 0)
		close(db->lock_fd);
	pthread_cond_destroy(&db->reader_free);
	pthread_mutex_destroy(&db->reader_lock);
	pthread_mutex_destroy(&db->write_lock);
	free(db);
}

/* ---- what was deleted ---- */

enum {
	FREE_PAGES_KEPT = 256, /* for what comes next */
	FREE_PAGES_MOST = 1024,
	PAGES_A_TURN = 4096,
};

static bool read_free_pages(struct db *db, int64_t *n, struct err *err)
{
	sqlite3 *h = db_reader_take(db);
	sqlite3_stmt *s = db_prepare(h, err, "PRAGMA freelist_count", "");
	bool ok = s && (sqlite3_step(s) == SQLITE_ROW || db_fail(h, "count free pages", err));

	*n = ok ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	db_reader_give(db, h);
	return ok;
}

/* A store that another program made may have to be written again for that, once and alone. */
static bool takes_pages_back(struct db *db, struct err *err)
{
	enum { INCREMENTAL = 2 };
	sqlite3_stmt *s = db_prepare(db->writer, err, "PRAGMA auto_vacuum", "");
	bool ok = s && sqlite3_step(s) == SQLITE_ROW;
	int how = ok ? sqlite3_column_int(s, 0) : 0;

	sqlite3_finalize(s);
	if (!ok || how == INCREMENTAL)
		return ok || db_fail(db->writer, "look how space is given back", err);
	if (db->lock_fd < 0)
		return err_set(err, ERR_CONFLICT,
			       "this store is to be written as a whole, once: stop the server that "
			       "has it first");
	return db_exec(db->writer, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM",
		       "write the store as a whole", err);
}

bool db_give_back(struct db *db, bool all, bool *more, struct err *err)
{
	int64_t n;
	char vacuum[64];
	bool ok = read_free_pages(db, &n, err);

	*more = ok && n > (all ? 0 : FREE_PAGES_MOST);
	if (!*more)
		return ok;
	if (all && !takes_pages_back(db, err))
		return false;
	n -= all ? 0 : FREE_PAGES_KEPT;
	snprintf(vacuum, sizeof(vacuum), "PRAGMA incremental_vacuum(%d)",
		 n < PAGES_A_TURN ? (int)n : PAGES_A_TURN);
	ok = db_write_begin(db, err) &&
	     db_write_end(db, db_exec(db->writer, vacuum, "give space back", err), err);
	if (!ok)
		return false;
	/* The file shrinks when the log is written into it. */
	pthread_mutex_lock(&db->write_lock);
	ok = db_exec(db->writer,
		     all ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA wal_checkpoint(PASSIVE)",
		     "write the log into the store", err);
	pthread_mutex_unlock(&db->write_lock);
	return ok;
}

static int bind_one(sqlite3_stmt *s, int i, char type, va_list *args)
{
	const char *text;
	const void *blob;
	int64_t integer;
	double number;

	switch (type) {
	case 'c':
		integer = va_arg(*args, int64_t);
		return integer == -1 ? sqlite3_bind_null(s, i) : sqlite3_bind_int64(s, i, integer);
	case 'i':
		return sqlite3_bind_int64(s, i, va_arg(*args, int64_t));
	case 't':
		text = va_arg(*args, const char *);
		return sqlite3_bind_text(s, i, text ? text : "", -1, SQLITE_STATIC);
	case 'o':
		text = va_arg(*args, const char *);
		return text && *text ? sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC)
				     : sqlite3_bind_null(s, i);
	case 'd':
		number = va_arg(*args, double);
		return isfinite(number) ? sqlite3_bind_double(s, i, number)
					: sqlite3_bind_null(s, i);
	default:
		blob = va_arg(*args, const void *);
		return sqlite3_bind_blob64(s, i, blob, va_arg(*args, size_t), SQLITE_STATIC);
	}
}

sqlite3_stmt *db_prepare(sqlite3 *h, struct err *err, const char *sql, const char *types, ...)
{
	sqlite3_stmt *s = NULL;
	va_list args;
	bool ok = true;

	if (sqlite3_prepare_v2(h, sql, -1, &s, NULL) != SQLITE_OK) {
		db_fail(h, "prepare", err);
		return NULL;
	}
	va_start(args, types);
	for (int i = 0; ok && types[i]; i++)
		ok = bind_one(s, i + 1, types[i], &args) == SQLITE_OK;
	va_end(args);
	if (ok)
		return s;
	db_fail(h, "bind", err); /* before finalize, which clears the message */
	sqlite3_finalize(s);
	return NULL;
}

bool db_step_once(sqlite3 *h, sqlite3_stmt *statement, const char *what, struct err *err)
{
	bool ok;

	if (!statement)
		return false;
	ok = sqlite3_step(statement) == SQLITE_DONE || db_fail(h, what, err);
	sqlite3_finalize(statement);
	return ok;
}
