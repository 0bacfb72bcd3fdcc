/* server/queue/jobs.h -- the queue's one hand: takes runs from the database, one at
 * a time (two at once would disturb each other's clocks), and gives each to a
 * worker process.
 */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"

struct jobs;
struct events;
struct registry;

struct jobs_options {
	const char *cache_dir;           /* NULL: none */
	const struct registry *registry; /* whose plugins go to every worker; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	int run_seconds;                 /* of wall time; a run that takes more fails */
	int64_t suite;                   /* whose runs alone are taken; 0: all of the queue */
	bool quiet;                      /* runs that begin and end are not logged */
};

/* Starts the thread.  Runs that an earlier server left under way are queued
 * again.  `db`, `events` and what the options name are borrowed. */
struct jobs *jobs_start(struct db *db, struct events *events, const struct jobs_options *o,
			struct err *err);

/* Ends the worker, puts its run back into the queue, ends the thread.  Nobody
 * may call the functions below any more.  NULL is fine. */
void jobs_stop(struct jobs *jobs);

/* Tells the thread that the queue has changed.  Thread-safe, as are the rest. */
void jobs_wake(struct jobs *jobs);

/* Cancels a queued or running run: it will end as cancelled, whatever its
 * worker still says.  CONFLICT when it has ended. */
bool jobs_cancel(struct jobs *jobs, int64_t id, struct err *err);

struct job_state {
	double share;  /* 0..1 */
	double left_s; /* seconds; negative: unknown */
	char what[160];
};

/* How far the run is that a worker has in hand; false if it is not this one. */
bool jobs_state(struct jobs *jobs, int64_t id, struct job_state *out);

#endif
