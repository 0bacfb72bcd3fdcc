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

/* Within a turn of the writer (runs.c): db_run_insert() and db_run_end(), as parts of a
 * larger change; a trace made the run that it was; and the columns of a run, from the first of the
 * statement's. */
bool run_insert(struct db *db, const struct run *run, int64_t *id, struct err *err);
bool run_become(struct db *db, int64_t id, const struct run *as, struct err *err);
bool run_end(struct db *db, int64_t id, enum run_status status, const struct err *why,
	     struct err *err);
#define RUN_COLUMNS                                                                                \
	"id, name, project, device, modes, commit_id, branch, status, attempts, created_ns,"       \
	" started_ns, finished_ns, error_code, error_message, error_line, error_column,"           \
	" (SELECT group_concat(tag, char(10)) FROM run_tag WHERE run_tag.run = run.id),"           \
	" mode, verdict, speedup, speedup_lo, speedup_hi, median_us, calls_to_repay, "             \
	"crossover_n, at_n, kind = 'trace', note, baseline, source_hash, settings_hash, "          \
	"imported, breaks"
enum { N_RUN_COLUMNS = 33 };
#define RUN_TABLES " FROM run LEFT JOIN run_summary ON run_summary.run = run.id "
void run_read(sqlite3_stmt *s, struct arena *arena, struct run *out);

/* A column's text, "" where NULL, in the arena; its number. */
const char *text_at(sqlite3_stmt *s, int column, struct arena *arena);
double number_at(sqlite3_stmt *s, int column, double where_null);

/* Brings the schema to the newest version (migrate.c). */
bool db_migrate(sqlite3 *h, const char *path, struct err *err);
/* Whether it has that version, where nothing may be written. */
bool db_check_version(sqlite3 *h, const char *path, struct err *err);

/* codec.c: blobs with a codec byte of their own column. */
enum { CODEC_PLAIN = 0, CODEC_ZSTD = 1 };
bool codec_encode(const void *bytes, size_t len, struct buf *out, int *codec, struct err *err);
bool codec_decode(int codec, const void *bytes, size_t len, size_t decoded_bytes, struct buf *out,
		  struct err *err);

#endif
