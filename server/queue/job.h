/* server/queue/job.h -- a run in hand: what its worker has sent so far, and its end.
 *
 * The worker may be a process of this machine or of another one.  One thread at a time takes in
 * what it sends and writes down how it ended; what others may ask is guarded by the lock.
 */
#ifndef SERVER_QUEUE_JOB_H
#define SERVER_QUEUE_JOB_H

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>

#include "fusion/base/vec.h"
#include "server/queue/outcome.h"
#include "server/queue/queue.h"

/* Zeroed but for the first three it has no run. */
struct job {
	struct db *db;
	struct events *events;
	pthread_mutex_t *lock; /* guards run, cancel, state and points */
	int64_t run;           /* 0: none */
	bool cancel;
	struct job_state state;
	json_t *points; /* of its sweep */

	char *environment, *report; /* texts of the worker; malloc */
	struct outcome outcome;     /* of the report, which is read once */
	VEC(char *) kept;           /* what MESSAGE_KEEP said, should no report come */
	size_t kept_bytes;
	char *part;                        /* the report that this makes; malloc */
	VEC(struct timeline_row) timeline; /* its blocks; data is malloc'd */
	size_t timeline_bytes;
	struct err failure; /* what the worker said, or what its owner found */
	bool stopped;       /* that is who ended it: it is cancelled */
};

/* From now on it has this run, of which nothing has been sent; 0: none.  What an earlier one sent
 * must have been dropped. */
void job_begin(struct job *j, int64_t run);

/* Frees all that was sent. */
void job_drop(struct job *j);

/* Takes in a message.  Other types than those that a worker of a run sends are passed over. */
void job_take(struct job *j, enum message_type type, const char *text, size_t len);

/* How it ended, for the log and the counters. */
struct job_ending {
	const char *how;
	enum job_end end;
};

/* Writes down its end: cancelled, done, failed, or back in the queue where it has no report and
 * `requeues`.  All of it is stored, or nothing; CONFLICT where the run has ended. */
bool job_write_end(struct job *j, bool requeues, struct job_ending *e, struct err *err);

/* Looks at its figures beside those of the runs before it.  What fails here is made up for when the
 * history is asked for. */
void job_look_for_changes(struct db *db, int64_t id);

/* What a worker says of how far it is. */
static inline struct job_state job_state_of(const struct report_progress *p)
{
	struct job_state state = { .share = p->share, .left_s = p->left_s };

	snprintf(state.what, sizeof(state.what), "%s", p->what);
	return state;
}

#endif
