/* db/sql/sql.h -- a connection to a database, and statements on it: all that db/ says to an engine.
 *
 *	struct sql_statement *s = sql_prepare(h, "SELECT name FROM run WHERE id = ?1");
 *	if (s && sql_bind_int64(s, 1, id) && sql_step(s) == SQL_ROW)
 *		puts(sql_text(s, 0));
 *	sql_finalize(s);
 *
 * Parameters count from 1, columns from 0.  An engine is a table of functions; these call it.  A
 * connection and its statements are used by one thread at a time.
 */
#ifndef DB_SQL_SQL_H
#define DB_SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

enum sql_step { SQL_ROW, SQL_DONE, SQL_FAILED };

/* Why the last call on a connection failed. */
enum sql_trouble {
	SQL_OTHER,
	SQL_FULL,    /* the disk, a quota or a limit on files has no room */
	SQL_LOCKED,  /* by another program */
	SQL_NO_DATA, /* it is no database */
	SQL_CLOSED,  /* it would have to be written, and may not be */
	SQL_DAMAGED, /* a page cannot be read */
	SQL_REFUSED, /* a row breaks a rule of its table */
	SQL_NONE,    /* nothing failed */
};

/* What a parameter is of: an engine may want to know it of a NULL too. */
enum sql_type { SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BYTES };

struct sql {
	const struct sql_engine *engine;
};

struct sql_statement {
	const struct sql_engine *engine;
};

/* What each does is said at its call below. */
struct sql_engine {
	const char *begin; /* a transaction that writes: one at a time has it */
	const char *news;  /* a statement: its number is another where others wrote meanwhile */

	void (*close)(struct sql *h);
	bool (*exec)(struct sql *h, const char *text);
	bool (*in_turn)(struct sql *h);
	int64_t (*changes)(struct sql *h);
	int64_t (*last_id)(struct sql *h);
	const char *(*message)(struct sql *h);
	enum sql_trouble (*trouble)(struct sql *h);

	struct sql_statement *(*prepare)(struct sql *h, const char *text);
	bool (*bind_null)(struct sql_statement *s, int at, enum sql_type type);
	bool (*bind_int64)(struct sql_statement *s, int at, int64_t value);
	bool (*bind_double)(struct sql_statement *s, int at, double value);
	bool (*bind_text)(struct sql_statement *s, int at, const char *text, size_t len);
	bool (*bind_blob)(struct sql_statement *s, int at, const void *bytes, size_t len);
	enum sql_step (*step)(struct sql_statement *s);
	void (*reset)(struct sql_statement *s);
	void (*finalize)(struct sql_statement *s);

	bool (*is_null)(struct sql_statement *s, int column);
	int64_t (*int64)(struct sql_statement *s, int column);
	double (*real)(struct sql_statement *s, int column);
	const char *(*text)(struct sql_statement *s, int column);
	const void *(*blob)(struct sql_statement *s, int column);
	size_t (*bytes)(struct sql_statement *s, int column);
	int (*columns)(struct sql_statement *s);
	const char *(*name)(struct sql_statement *s, int column);
	enum sql_type (*type)(struct sql_statement *s, int column);
};

/* ---- connections ---- */

enum sql_access {
	SQL_READ = 1,
	SQL_WRITE = 2,
	SQL_CREATE = 4,
	SQL_URI = 8, /* the path is a URI of SQLite */
};

/* A file of SQLite, on which a stranger's schema runs nothing.  `stopped` may be NULL; else what
 * takes long ends where it is true.  NULL with STORAGE. */
struct sql *sql_open_file(const char *path, int access, bool (*stopped)(void), struct err *err);

/* A database of PostgreSQL, postgresql://...  What libpq takes from the environment (PGPASSWORD,
 * ~/.pgpass) counts too.  A connection that breaks outside of a transaction is made again.  NULL
 * with STORAGE, also where libpq is not there. */
struct sql *sql_open_server(const char *url, int access, struct err *err);

/* Runs words on a connection to a server, and again whenever it is made again. */
bool sql_in_each_session(struct sql *h, const char *words);

/* The connection as SQLite has it, for what no other engine does: copies of pages. */
struct sqlite3 *sql_sqlite(struct sql *h);

static inline void sql_close(struct sql *h) /* NULL is fine */
{
	if (h)
		h->engine->close(h);
}

/* One or several statements that give no rows. */
static inline bool sql_exec(struct sql *h, const char *text)
{
	return h->engine->exec(h, text);
}

/* Begins a transaction that writes; others wait for its end. */
static inline bool sql_begin(struct sql *h)
{
	return h->engine->exec(h, h->engine->begin);
}

/* Whether a transaction is open; a failure may have rolled it back as a whole. */
static inline bool sql_in_turn(struct sql *h)
{
	return h->engine->in_turn(h);
}

/* Rows that the last statement wrote; the number of the row that was inserted last. */
static inline int64_t sql_changes(struct sql *h)
{
	return h->engine->changes(h);
}

static inline int64_t sql_last_id(struct sql *h)
{
	return h->engine->last_id(h);
}

/* Of the last call: what the engine says, until the next call; and which kind of trouble it is. */
static inline const char *sql_message(struct sql *h)
{
	return h->engine->message(h);
}

static inline enum sql_trouble sql_trouble(struct sql *h)
{
	return h->engine->trouble(h);
}

/* ---- statements ---- */

/* NULL where it fails: see sql_message().  The text is copied or not needed after the call. */
static inline struct sql_statement *sql_prepare(struct sql *h, const char *text)
{
	return h->engine->prepare(h, text);
}

/* Texts and blobs must outlive the statement, or the next value of the same parameter. */
static inline bool sql_bind_null(struct sql_statement *s, int at, enum sql_type type)
{
	return s->engine->bind_null(s, at, type);
}

static inline bool sql_bind_int64(struct sql_statement *s, int at, int64_t value)
{
	return s->engine->bind_int64(s, at, value);
}

static inline bool sql_bind_double(struct sql_statement *s, int at, double value)
{
	return s->engine->bind_double(s, at, value);
}

static inline bool sql_bind_text(struct sql_statement *s, int at, const char *text, size_t len)
{
	return s->engine->bind_text(s, at, text, len);
}

static inline bool sql_bind_blob(struct sql_statement *s, int at, const void *bytes, size_t len)
{
	return s->engine->bind_blob(s, at, bytes, len);
}

static inline enum sql_step sql_step(struct sql_statement *s)
{
	return s->engine->step(s);
}

/* It can be bound and run again. */
static inline void sql_reset(struct sql_statement *s)
{
	s->engine->reset(s);
}

static inline void sql_finalize(struct sql_statement *s) /* NULL is fine */
{
	if (s)
		s->engine->finalize(s);
}

/* ---- columns of the row: what they point to is there until the next step ---- */

static inline bool sql_is_null(struct sql_statement *s, int column)
{
	return s->engine->is_null(s, column);
}

static inline int64_t sql_int64(struct sql_statement *s, int column) /* NULL is 0 */
{
	return s->engine->int64(s, column);
}

static inline int sql_int(struct sql_statement *s, int column)
{
	return (int)s->engine->int64(s, column);
}

static inline double sql_double(struct sql_statement *s, int column) /* likewise */
{
	return s->engine->real(s, column);
}

/* NULL where the column is, or where there is no memory. */
static inline const char *sql_text(struct sql_statement *s, int column)
{
	return s->engine->text(s, column);
}

/* The bytes of a blob and, asked after them, how many there are. */
static inline const void *sql_blob(struct sql_statement *s, int column)
{
	return s->engine->blob(s, column);
}

static inline size_t sql_bytes(struct sql_statement *s, int column)
{
	return s->engine->bytes(s, column);
}

/* How many columns there are, also before the first step; how one is called; what its value in this
 * row is of, where it is not NULL. */
static inline int sql_columns(struct sql_statement *s)
{
	return s->engine->columns(s);
}

static inline const char *sql_name(struct sql_statement *s, int column)
{
	return s->engine->name(s, column);
}

static inline enum sql_type sql_type_of(struct sql_statement *s, int column)
{
	return s->engine->type(s, column);
}

#endif
