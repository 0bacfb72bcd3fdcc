/* db/internal.h -- what the files of db/ share; nobody else includes it. */
#ifndef DB_INTERNAL_H
#define DB_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "db/db.h"

enum { N_READERS = 4 };

struct db {
	sqlite3 *writer;
	pthread_mutex_t write_lock;
	sqlite3 *readers[N_READERS];
	bool reader_busy[N_READERS];
	pthread_mutex_t reader_lock;
	pthread_cond_t reader_free;
	int lock_fd; /* FILE.lock, held while open */
};

/* The writer's turn: BEGIN IMMEDIATE ... COMMIT.  write_end(ok) commits or
 * rolls back and gives the turn away; false when the commit failed. */
bool db_write_begin(struct db *db, struct err *err);
bool db_write_end(struct db *db, bool ok, struct err *err);

/* A connection for reading; blocks until one is free. */
sqlite3 *db_reader_take(struct db *db);
void db_reader_give(struct db *db, sqlite3 *reader);

/* A prepared statement with its parameters bound in order: 'i' int64_t,
 * 't' text (NULL binds ''), 'd' double (NaN and infinities bind NULL),
 * 'b' pointer and size_t (blob).  Texts must outlive the statement.
 * NULL with STORAGE. */
sqlite3_stmt *db_prepare(sqlite3 *h, struct err *err, const char *sql, const char *types, ...);

/* Runs a statement that gives no rows, and finalizes it.  NULL fails, so that
 * db_run_once(h, db_prepare(...), ...) reads well. */
bool db_step_once(sqlite3 *h, sqlite3_stmt *statement, const char *what, struct err *err);

/* Fills *err with `what` and SQLite's message; returns false. */
bool db_fail(sqlite3 *h, const char *what, struct err *err);

/* Brings the schema to the newest version (migrate.c). */
bool db_migrate(sqlite3 *h, const char *path, struct err *err);

/* codec.c: blobs with a codec byte of their own column. */
enum { CODEC_PLAIN = 0, CODEC_ZSTD = 1 };
bool codec_encode(const void *bytes, size_t len, struct buf *out, int *codec, struct err *err);
bool codec_decode(int codec, const void *bytes, size_t len, size_t decoded_bytes, struct buf *out,
		  struct err *err);

#endif
