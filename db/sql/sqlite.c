/* db/sql/sqlite.c -- the engine of a store that is one file: SQLite. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/sql/sql.h"

enum { BUSY_TIMEOUT_MS = 3000, STOP_STEPS = 10000 /* of SQLite, between two looks */ };

struct sqlite_connection {
	struct sql base;
	sqlite3 *h;
	bool (*stopped)(void);
};

struct sqlite_statement {
	struct sql_statement base;
	sqlite3_stmt *s;
};

static sqlite3 *handle(struct sql *h)
{
	return ((struct sqlite_connection *)h)->h;
}

static sqlite3_stmt *compiled(struct sql_statement *s)
{
	return ((struct sqlite_statement *)s)->s;
}

struct sqlite3 *sql_sqlite(struct sql *h)
{
	return handle(h);
}

/* ---- connections ---- */

static void close_file(struct sql *h)
{
	sqlite3_close(handle(h));
	free(h);
}

static bool exec(struct sql *h, const char *text)
{
	return sqlite3_exec(handle(h), text, NULL, NULL, NULL) == SQLITE_OK;
}

static bool in_turn(struct sql *h)
{
	return !sqlite3_get_autocommit(handle(h));
}

static int64_t changes(struct sql *h)
{
	return sqlite3_changes64(handle(h));
}

static int64_t last_id(struct sql *h)
{
	return sqlite3_last_insert_rowid(handle(h));
}

static const char *message(struct sql *h)
{
	return sqlite3_errmsg(handle(h));
}

/* Of a write that failed SQLite leaves the reason in errno alone, where it is at a commit. */
static bool is_full(sqlite3 *h)
{
	int code = sqlite3_errcode(h), cause = sqlite3_system_errno(h);

	if (code == SQLITE_IOERR_WRITE && cause == 0)
		cause = errno;
	return (code & 0xff) == SQLITE_FULL ||
	       ((code & 0xff) == SQLITE_IOERR &&
		(cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

static enum sql_trouble trouble(struct sql *h)
{
	if (is_full(handle(h)))
		return SQL_FULL;
	switch (sqlite3_errcode(handle(h)) & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return SQL_LOCKED;
	case SQLITE_NOTADB:
		return SQL_NO_DATA;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return SQL_CLOSED;
	case SQLITE_CORRUPT:
		return SQL_DAMAGED;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return SQL_REFUSED;
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return SQL_NONE;
	default:
		return SQL_OTHER;
	}
}

/* ---- statements ---- */

static const struct sql_engine engine;

static struct sql_statement *prepare(struct sql *h, const char *text)
{
	struct sqlite_statement *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct sqlite_statement){ .base = { &engine } };
	if (sqlite3_prepare_v2(handle(h), text, -1, &s->s, NULL) == SQLITE_OK)
		return &s->base;
	free(s);
	return NULL;
}

static bool bind_null(struct sql_statement *s, int at, enum sql_type type)
{
	(void)type;
	return sqlite3_bind_null(compiled(s), at) == SQLITE_OK;
}

static bool bind_int64(struct sql_statement *s, int at, int64_t value)
{
	return sqlite3_bind_int64(compiled(s), at, value) == SQLITE_OK;
}

static bool bind_double(struct sql_statement *s, int at, double value)
{
	return sqlite3_bind_double(compiled(s), at, value) == SQLITE_OK;
}

static bool bind_text(struct sql_statement *s, int at, const char *text, size_t len)
{
	return sqlite3_bind_text64(compiled(s), at, text, len, SQLITE_STATIC, SQLITE_UTF8) ==
	       SQLITE_OK;
}

static bool bind_blob(struct sql_statement *s, int at, const void *bytes, size_t len)
{
	return sqlite3_bind_blob64(compiled(s), at, bytes, len, SQLITE_STATIC) == SQLITE_OK;
}

static enum sql_step step(struct sql_statement *s)
{
	int code = sqlite3_step(compiled(s));

	return code == SQLITE_ROW ? SQL_ROW : code == SQLITE_DONE ? SQL_DONE : SQL_FAILED;
}

static void reset(struct sql_statement *s)
{
	sqlite3_reset(compiled(s));
}

static void finalize(struct sql_statement *s)
{
	sqlite3_finalize(compiled(s));
	free(s);
}

static bool is_null(struct sql_statement *s, int column)
{
	return sqlite3_column_type(compiled(s), column) == SQLITE_NULL;
}

static int64_t int64(struct sql_statement *s, int column)
{
	return sqlite3_column_int64(compiled(s), column);
}

static double real(struct sql_statement *s, int column)
{
	return sqlite3_column_double(compiled(s), column);
}

static const char *text(struct sql_statement *s, int column)
{
	return (const char *)sqlite3_column_text(compiled(s), column);
}

static const void *blob(struct sql_statement *s, int column)
{
	return sqlite3_column_blob(compiled(s), column);
}

static size_t bytes(struct sql_statement *s, int column)
{
	return (size_t)sqlite3_column_bytes(compiled(s), column);
}

static int columns(struct sql_statement *s)
{
	return sqlite3_column_count(compiled(s));
}

static const char *name(struct sql_statement *s, int column)
{
	return sqlite3_column_name(compiled(s), column);
}

static enum sql_type type(struct sql_statement *s, int column)
{
	switch (sqlite3_column_type(compiled(s), column)) {
	case SQLITE_INTEGER:
		return SQL_INTEGER;
	case SQLITE_FLOAT:
		return SQL_REAL;
	case SQLITE_BLOB:
		return SQL_BYTES;
	default:
		return SQL_TEXT;
	}
}

static const struct sql_engine engine = {
	.begin = "BEGIN IMMEDIATE",
	.news = "PRAGMA data_version",
	.close = close_file,
	.exec = exec,
	.in_turn = in_turn,
	.changes = changes,
	.last_id = last_id,
	.message = message,
	.trouble = trouble,
	.prepare = prepare,
	.bind_null = bind_null,
	.bind_int64 = bind_int64,
	.bind_double = bind_double,
	.bind_text = bind_text,
	.bind_blob = bind_blob,
	.step = step,
	.reset = reset,
	.finalize = finalize,
	.is_null = is_null,
	.int64 = int64,
	.real = real,
	.text = text,
	.blob = blob,
	.bytes = bytes,
	.columns = columns,
	.name = name,
	.type = type,
};

/* get_bit(BITS, N), as PostgreSQL has it; what lies beyond is 0. */
static void get_bit(sqlite3_context *c, int n, sqlite3_value **of)
{
	int64_t at = sqlite3_value_int64(of[1]), len = sqlite3_value_bytes(of[0]);
	const uint8_t *bits = sqlite3_value_blob(of[0]);

	(void)n;
	sqlite3_result_int(c, bits && at >= 0 && at / 8 < len ? bits[at / 8] >> at % 8 & 1 : 0);
}

/* ---- opening ---- */

static int look_for_stop(void *connection)
{
	return ((struct sqlite_connection *)connection)->stopped();
}

static int flags_of(int access)
{
	return (access & SQL_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
	       (access & SQL_CREATE ? SQLITE_OPEN_CREATE : 0) |
	       (access & SQL_URI ? SQLITE_OPEN_URI : 0) | SQLITE_OPEN_NOMUTEX;
}

struct sql *sql_open_file(const char *path, int access, bool (*stopped)(void), struct err *err)
{
	struct sqlite_connection *c = calloc(1, sizeof(*c));

	if (!c) {
		err_set(err, ERR_MEMORY, "out of memory while opening the database");
		return NULL;
	}
	*c = (struct sqlite_connection){ .base = { &engine }, .stopped = stopped };
	if (sqlite3_open_v2(path, &c->h, flags_of(access), NULL) != SQLITE_OK) {
		int code = c->h ? sqlite3_system_errno(c->h) : ENOMEM;

		err_set(err, ERR_STORAGE,
			"cannot open the database %s: %s; name another with --db FILE", path,
			code ? strerror(code) : sqlite3_errmsg(c->h));
		close_file(&c->base);
		return NULL;
	}
	sqlite3_busy_timeout(c->h, BUSY_TIMEOUT_MS);
	sqlite3_extended_result_codes(c->h, 1);
	if (stopped)
		sqlite3_progress_handler(c->h, STOP_STEPS, look_for_stop, c);
	/* A file of a stranger: its schema runs nothing, and no statement writes past it. */
	sqlite3_db_config(c->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(c->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* 32 MiB of pages: the rows of 100,000 runs.  What is no database says so later. */
	if (!(access & SQL_WRITE))
		exec(&c->base, "PRAGMA cache_size = -32768");
	if (exec(&c->base, "PRAGMA foreign_keys = ON") &&
	    sqlite3_create_function_v2(c->h, "get_bit", 2,
				       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
				       get_bit, NULL, NULL, NULL) == SQLITE_OK)
		return &c->base;
	err_set(err, ERR_STORAGE, "database: set up a connection: %s", sqlite3_errmsg(c->h));
	close_file(&c->base);
	return NULL;
}
