/* db/turns.c -- turns of the writer, connections of the readers, and whether anything was written.
 *
 * What a thread writes between db_join() and db_join_end() is one turn: its first db_write_begin()
 * takes it, and what would be a turn of its own is a savepoint within it.  Meanwhile the thread
 * reads through the writer, so that it sees what it wrote.
 */
#include "db/internal.h"
#include "fusion/base/clock.h"
#include "fusion/base/refused.h"

static _Thread_local struct db *joined; /* NULL: none is */
static _Thread_local bool has_turn;     /* of the one that is joined */

/* Of a store that servers share: the turn that has just begun, for db_version() of the others. */
static bool count_turn(struct db *db, struct err *err)
{
	struct sql_statement *s = db_prepare(db->writer, err,
					     "UPDATE store_turn SET n = n + 1 RETURNING n", "");
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(db->writer, "count a turn", err));

	db->turn = ok ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	return ok;
}

static bool take_turn(struct db *db, struct err *err)
{
	pthread_mutex_lock(&db->write_lock);
	db->refused = memory_refused_here();
	/* Without memory the turn before could not even be rolled back. */
	if ((!sql_in_turn(db->writer) || db_exec(db->writer, "ROLLBACK", "roll back", err)) &&
	    (sql_begin(db->writer) || db_fail(db->writer, "begin", err)))
		if (!db->is_shared || count_turn(db, err))
			return true;
	if (sql_in_turn(db->writer))
		sql_exec(db->writer, "ROLLBACK");
	pthread_mutex_unlock(&db->write_lock);
	return false;
}

static bool end_turn(struct db *db, bool ok, struct err *err)
{
	if (ok && memory_refused_here() != db->refused)
		ok = memory_refused_error(err, "what was to be stored");
	if (ok) {
		ok = db_exec(db->writer, "COMMIT", "commit", err);
		db->version++;
		if (ok &&
		    db->turn == db->others + 1) /* what this turn wrote is no news of others */
			db->others = db->turn;
	}
	if (!ok)
		sql_exec(db->writer, "ROLLBACK");
	pthread_mutex_unlock(&db->write_lock);
	return ok;
}

/* Whether SQLite rolled a whole turn back, as it does where the disk is full. */
static bool is_lost(struct db *db, struct err *err)
{
	return !sql_in_turn(db->writer) &&
	       !err_set(err, ERR_STORAGE, "database: what was to be stored was rolled back");
}

bool db_write_begin(struct db *db, struct err *err)
{
	if (joined != db)
		return take_turn(db, err);
	if (has_turn && is_lost(db, err))
		return false;
	has_turn = has_turn || take_turn(db, err);
	return has_turn && db_exec(db->writer, "SAVEPOINT part", "begin a part", err);
}

bool db_write_end(struct db *db, bool ok, struct err *err)
{
	if (joined != db)
		return end_turn(db, ok, err);
	ok = ok && db_exec(db->writer, "RELEASE part", "end a part", err);
	if (!ok) /* it may be gone with the whole turn, as where the disk is full */
		sql_exec(db->writer, "ROLLBACK TO part; RELEASE part");
	return ok;
}

void db_join(struct db *db)
{
	joined = db;
}

bool db_join_end(struct db *db, bool ok, struct err *err)
{
	bool had = joined == db && has_turn;

	joined = NULL;
	has_turn = false;
	if (!had)
		return ok;
	return end_turn(db, ok && !is_lost(db, err), err);
}

/* Has SQLite say whether another process wrote: within the writer's turn, since what this process
 * writes there is no news to it. */
static void ask_others(struct db *db)
{
	int64_t now = -1;

	if (!db->ask_others)
		db->ask_others = sql_prepare(db->writer, db->writer->engine->news);
	if (db->ask_others && sql_step(db->ask_others) == SQL_ROW)
		now = sql_int64(db->ask_others, 0);
	if (db->ask_others)
		sql_reset(db->ask_others);
	if (now != db->others || now < 0) /* what cannot be known may be news */
		db->version++;
	db->others = now;
}

enum { OTHERS_ASKED_NS = 1000000 };

uint64_t db_version(struct db *db)
{
	int64_t now = clock_ns();

	/* While another thread has the turn no other process writes, or waits until it ends. */
	if (db->writer && now - db->looked_ns >= OTHERS_ASKED_NS &&
	    pthread_mutex_trylock(&db->write_lock) == 0) {
		ask_others(db);
		db->looked_ns = now;
		pthread_mutex_unlock(&db->write_lock);
	}
	return db->version;
}

/* ---- readers ---- */

struct sql *db_reader_take(struct db *db)
{
	if (joined == db && has_turn)
		return db->writer;
	pthread_mutex_lock(&db->reader_lock);
	for (;;) {
		for (int i = 0; i < N_READERS; i++) {
			if (!db->reader_busy[i]) {
				db->reader_busy[i] = true;
				pthread_mutex_unlock(&db->reader_lock);
				return db->readers[i];
			}
		}
		pthread_cond_wait(&db->reader_free, &db->reader_lock);
	}
}

void db_reader_give(struct db *db, struct sql *reader)
{
	if (reader == db->writer)
		return;
	pthread_mutex_lock(&db->reader_lock);
	for (int i = 0; i < N_READERS; i++)
		if (db->readers[i] == reader)
			db->reader_busy[i] = false;
	pthread_cond_signal(&db->reader_free);
	pthread_mutex_unlock(&db->reader_lock);
}
