/* db/internal.h -- what the files of db/ share; nobody else includes it. */
#ifndef DB_INTERNAL_H
#define DB_INTERNAL_H

#include <pthread.h>

#include "db/columns.h"
#include "db/db.h"
#include "db/sql/sql.h"

enum { N_READERS = 4 };

struct db {
	struct sql *writer;
	pthread_mutex_t write_lock;
	uint64_t refused; /* of the writer's thread, when its turn began */
	struct sql *readers[N_READERS];
	bool reader_busy[N_READERS];
	pthread_mutex_t reader_lock;
	pthread_cond_t reader_free;
	bool is_shared; /* a database of PostgreSQL: see db/shared.h */
	int64_t server,
	    turn; /* likewise: this server's number, 0: it takes up no jobs; of the writer's turn */
	int lock_fd;                      /* FILE.lock, held while open */
	_Atomic uint64_t version;         /* db_version() */
	_Atomic int64_t looked_ns;        /* when it was last asked what others wrote ... */
	int64_t others;                   /* ... and what the engine said; the writer's turn's */
	struct sql_statement *ask_others; /* likewise; NULL: not yet */
};

/* The writer's turn: BEGIN IMMEDIATE ... COMMIT; a part of it in a thread that joined them
 * (db_join()).  write_end(ok) commits or
 * rolls back and gives the turn away; false when the commit failed, and where memory was refused
 * meanwhile: what was written may lack parts. */
bool db_write_begin(struct db *db, struct err *err);
bool db_write_end(struct db *db, bool ok, struct err *err);

/* A connection for reading; blocks until one is free. */
struct sql *db_reader_take(struct db *db);
void db_reader_give(struct db *db, struct sql *reader);

/* A prepared statement with its parameters bound in order: 'i' int64_t, 'c' the same, -1
 * binds NULL, 't' text (NULL binds ''), 'o' text (NULL and '' bind NULL), 'd' double (NaN and
 * infinities bind NULL), 'b' pointer and size_t (blob).  Texts must outlive the statement.
 * NULL with STORAGE. */
struct sql_statement *db_prepare(struct sql *h, struct err *err, const char *sql, const char *types,
				 ...);

/* Runs a statement that gives no rows, and finalizes it.  NULL fails, so that
 * db_run_once(h, db_prepare(...), ...) reads well. */
bool db_step_once(struct sql *h, struct sql_statement *statement, const char *what,
		  struct err *err);

/* Fills *err with `what` and the message of the engine; returns false. */
bool db_fail(struct sql *h, const char *what, struct err *err);

/* Runs what gives no rows. */
static inline bool db_exec(struct sql *h, const char *sql, const char *what, struct err *err)
{
	return sql_exec(h, sql) || db_fail(h, what, err);
}

/* Parts of a larger change, within a turn of the writer (runs.c): db_run_insert(), db_run_end(),
 * and a trace that becomes the run of `as`. */
bool run_insert(struct db *db, const struct run_row *run, int64_t *id, struct err *err);
bool run_become(struct db *db, int64_t id, const struct run_row *as, struct err *err);
bool run_end(struct db *db, int64_t id, enum run_status status, const struct err *why,
	     struct err *err);

/* Makes a run that was queued within this turn one that is done (reports.c). */
bool run_measured(struct db *db, int64_t id, const struct run_outcome *o, struct err *err);

/* A run's place in a history (commits.c). */
struct placed_run {
	int64_t run;
	const char *project, *commit;
	int64_t generation, committed_ns; /* set; generation -1: its commit is not known */
	int place;                        /* set: from 0 */
};

/* Places of n runs that are given by id, the oldest first: those whose commits are known change
 * places among themselves, so that no commit stands before one that it comes from; the others stay
 * where they are. */
bool db_place_runs(struct sql *h, struct placed_run *runs, int n, struct err *err);

/* The columns of a run with its summary (runs.c); run_read() reads them from the column `at` on and
 * returns the number of the column after them. */
#define RUN_COLUMNS                                                                                \
	"id" RUN_POSTED_COLUMNS(COLUMN_NAME) RUN_KEPT_COLUMNS(COLUMN_NAME)                         \
	    SUMMARY_COLUMNS(COLUMN_NAME) ", error_code, error_message, error_line, error_column"
/* Of a run that is restored: one that has become the baseline of its workload meanwhile stays that.
 */
#define STILL_BASELINE                                                                             \
	"CASE WHEN baseline = 1 AND NOT EXISTS (SELECT 1 FROM run WHERE run.name = run_row.name"   \
	" AND run.project = run_row.project AND run.baseline = 1) THEN 1 ELSE 0 END"
#define RUN_TABLES " FROM run LEFT JOIN run_summary ON run_summary.run = run.id "
int run_read(struct sql_statement *s, int at, struct arena *arena, struct run_row *out);

/* Whether what is under way is to end: db_stop_when(). */
bool db_stopped(void);

/* A connection to a file (enum sql_access) that ends early where db_stopped(); NULL with STORAGE.
 */
struct sql *db_connect(const char *path, int access, struct err *err);

/* A column's text, "" where NULL, until the statement goes on.  Where there is no memory it is ""
 * too, and that is counted (fusion/base/refused.h). */
const char *db_text(struct sql_statement *s, int column);

/* The same in the arena; a column's number. */
const char *text_at(struct sql_statement *s, int column, struct arena *arena);

static inline double number_at(struct sql_statement *s, int column, double where_null)
{
	return sql_is_null(s, column) ? where_null : sql_double(s, column);
}

#endif
