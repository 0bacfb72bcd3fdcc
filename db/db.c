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

#include "db/internal.h"
#include "db/shared_open.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/base/refused.h"

bool db_fail(struct sql *h, const char *what, struct err *err)
{
	if (sql_trouble(h) == SQL_FULL)
		return err_set(err, ERR_FULL, "the disk of the database is full: %s: %s", what,
			       sql_message(h));
	return err_set(err, ERR_STORAGE, "database: %s: %s", what, sql_message(h));
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

struct sql *db_connect(const char *path, int access, struct err *err)
{
	return sql_open_file(path, access, stop, err);
}

/* ---- the schema: migrations/NNNN_*.sql, embedded in order (embed.sh).  PRAGMA user_version counts
 * those that have run.  All missing ones run in one transaction, so that a crash leaves the old
 * version whole. ---- */

extern const char *const migration_texts[]; /* ends with NULL */

static bool read_version(struct sql *h, int *version, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, "PRAGMA user_version", "");
	bool ok;

	if (!s)
		return false;
	ok = sql_step(s) == SQL_ROW || db_fail(h, "read the schema's version", err);
	if (ok)
		*version = sql_int(s, 0);
	sql_finalize(s);
	return ok;
}

static bool run_from(struct sql *h, int version, struct err *err)
{
	char pragma[64];

	for (; migration_texts[version]; version++) {
		char what[64];

		snprintf(what, sizeof(what), "migration to version %d", version + 1);
		if (!sql_exec(h, migration_texts[version]))
			return db_fail(h, what, err);
	}
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", version);
	return sql_exec(h, pragma) || db_fail(h, "store the schema's version", err);
}

static int newest_version(void)
{
	int newest = 0;

	while (migration_texts[newest])
		newest++;
	return newest;
}

static bool check_version(struct sql *h, const char *path, struct err *err)
{
	int version;

	if (!read_version(h, &version, err))
		return sql_trouble(h) == SQL_NO_DATA
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

static bool migrate_whole(struct sql *h, const char *path, struct err *err)
{
	int version, newest = newest_version();
	bool ok;

	/* The version is read inside the transaction: another process may be
	 * migrating the same file. */
	if (!sql_begin(h)) {
		if (sql_trouble(h) == SQL_LOCKED)
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
		return sql_exec(h, "COMMIT") || db_fail(h, "commit", err);
	sql_exec(h, "ROLLBACK");
	return false;
}

/* Where a table is written again, what refers to its rows stays: the pragma holds outside of
 * transactions alone. */
static bool migrate(struct sql *h, const char *path, struct err *err)
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
	db->writer = db_connect(path, SQL_WRITE | SQL_CREATE, err);
	if (!db->writer)
		return false;
	/* auto_vacuum counts only before the first table is made. */
	if (!sql_exec(db->writer, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
				  "PRAGMA synchronous = NORMAL")) {
		if (sql_trouble(db->writer) == SQL_LOCKED)
			return err_set(err, ERR_STORAGE,
				       "the database %s is locked by another program; end that, or "
				       "name another file with --db FILE",
				       path);
		return err_set(err, ERR_STORAGE,
			       "cannot use %s as a database: %s; name another file with --db FILE",
			       path, sql_message(db->writer));
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

static bool connect_readers(struct db *db, const char *path, int access, struct err *err)
{
	for (int i = 0; i < N_READERS; i++) {
		db->readers[i] = db_connect(path, SQL_READ | access, err);
		if (!db->readers[i])
			return false;
	}
	return true;
}

static struct db *opened(struct db *db, bool ok)
{
	if (ok)
		return db;
	db_close(db);
	return NULL;
}

struct db *db_open(const char *path, struct err *err)
{
	struct db *db = create(err);

	if (!db)
		return NULL;
	if (db_path_is_shared(path))
		return opened(db, shared_open(db, path, SHARED_SERVES, err));
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
	if (db_path_is_shared(path))
		return opened(db, shared_open(db, path, SHARED_WRITES, err));
	db->lock_fd = take_lock(path, &in_use);
	if (db->lock_fd == LOCK_IN_USE) {
		db->writer = db_connect(path, SQL_WRITE, err);
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
		sql_close(db->readers[i]);
		db->readers[i] = NULL;
	}
}

static bool connect_reading(struct db *db, const char *path, int access, struct err *err)
{
	return connect_readers(db, path, access, err) && check_version(db->readers[0], path, err);
}

/* Whether SQLite wants to write beside the store, which it may not. */
static bool wants_to_write(const struct db *db)
{
	return db->readers[0] && sql_trouble(db->readers[0]) == SQL_CLOSED;
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
	ok = !uri.failed ? connect_reading(db, uri.data, SQL_URI, err)
			 : err_set(err, ERR_MEMORY, "out of memory while opening the database");
	buf_finish(&uri);
	return ok;
}

struct db *db_open_reading(const char *path, struct err *err)
{
	struct db *db = create(err);
	struct err refused = { 0 };
	bool ok;

	if (db && db_path_is_shared(path))
		return opened(db, shared_open(db, path, SHARED_READS, err));
	ok = db && connect_reading(db, path, 0, &refused);
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
	sql_finalize(db->ask_others);
	sql_close(db->writer);
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
	struct sql *h = db_reader_take(db);
	struct sql_statement *s = db_prepare(h, err, "PRAGMA freelist_count", "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "count free pages", err));

	*n = ok ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	db_reader_give(db, h);
	return ok;
}

/* A store that another program made may have to be written again for that, once and alone. */
static bool takes_pages_back(struct db *db, struct err *err)
{
	enum { INCREMENTAL = 2 };
	struct sql_statement *s = db_prepare(db->writer, err, "PRAGMA auto_vacuum", "");
	bool ok = s && sql_step(s) == SQL_ROW;
	int how = ok ? sql_int(s, 0) : 0;

	sql_finalize(s);
	if (!ok || how == INCREMENTAL)
		return ok || db_fail(db->writer, "look how space is given back", err);
	if (db->lock_fd < 0)
		return err_set(err, ERR_CONFLICT,
			       "this store is to be written as a whole, once: stop the server that "
			       "has it first");
	return db_exec(db->writer, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM",
		       "write the store as a whole", err);
}

/* How many runs there are of what one asks for most. */
static bool count_again(struct db *db, struct err *err)
{
	return db_write_begin(db, err) &&
	       db_write_end(
		   db,
		   db_exec(db->writer,
			   "DELETE FROM run_count; INSERT INTO run_count SELECT kind, value,"
			   " project, count(*) FROM run_counted GROUP BY kind, value, project",
			   "count the runs", err),
		   err);
}

bool db_give_back(struct db *db, bool all, bool *more, struct err *err)
{
	int64_t n = 0;
	char vacuum[64];
	bool ok;

	*more = false;
	ok = db->is_shared ||
	     read_free_pages(db, &n, err); /* its server gives space back by itself */
	*more = ok && n > (all ? 0 : FREE_PAGES_MOST);
	if (!*more)
		return ok && (!all || count_again(db, err));
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

static bool bind_text(struct sql_statement *s, int at, const char *text)
{
	return text ? sql_bind_text(s, at, text, strlen(text)) : sql_bind_null(s, at, SQL_TEXT);
}

static bool bind_one(struct sql_statement *s, int at, char type, va_list *args)
{
	const char *text;
	const void *blob;
	int64_t integer;
	double number;

	switch (type) {
	case 'c':
		integer = va_arg(*args, int64_t);
		return integer == -1 ? sql_bind_null(s, at, SQL_INTEGER)
				     : sql_bind_int64(s, at, integer);
	case 'i':
		return sql_bind_int64(s, at, va_arg(*args, int64_t));
	case 't':
		text = va_arg(*args, const char *);
		return bind_text(s, at, text ? text : "");
	case 'o':
		text = va_arg(*args, const char *);
		return bind_text(s, at, text && *text ? text : NULL);
	case 'd':
		number = va_arg(*args, double);
		return isfinite(number) ? sql_bind_double(s, at, number)
					: sql_bind_null(s, at, SQL_REAL);
	default:
		blob = va_arg(*args, const void *);
		return sql_bind_blob(s, at, blob, va_arg(*args, size_t));
	}
}

struct sql_statement *db_prepare(struct sql *h, struct err *err, const char *sql, const char *types,
				 ...)
{
	struct sql_statement *s = sql_prepare(h, sql);
	va_list args;
	bool ok = true;

	if (!s) {
		if (sql_trouble(h) == SQL_NONE)
			err_set(err, ERR_MEMORY, "out of memory for a statement");
		else
			db_fail(h, "prepare", err);
		return NULL;
	}
	va_start(args, types);
	for (int i = 0; ok && types[i]; i++)
		ok = bind_one(s, i + 1, types[i], &args);
	va_end(args);
	if (ok)
		return s;
	db_fail(h, "bind", err); /* before finalize, which clears the message */
	sql_finalize(s);
	return NULL;
}

bool db_step_once(struct sql *h, struct sql_statement *statement, const char *what, struct err *err)
{
	bool ok;

	if (!statement)
		return false;
	ok = sql_step(statement) == SQL_DONE || db_fail(h, what, err);
	sql_finalize(statement);
	return ok;
}
