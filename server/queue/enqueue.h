/* server/queue/enqueue.h -- a workload becomes a queued run, a trace a running one. */
#ifndef SERVER_ENQUEUE_H
#define SERVER_ENQUEUE_H

#include <jansson.h>

#include "db/db.h"
#include "profiler/profiler.h"

/* Stores a checked workload (w is json, parsed) as a run that waits for its
 * turn.  The caller wakes the queue. */
bool enqueue(struct db *db, const json_t *json, const struct workload *w, int64_t *id,
	     struct err *err);

/* The row that it is stored as, without its workload's text.  Texts live in `arena`, or
 * are borrowed from json. */
struct run enqueue_row(struct arena *arena, const json_t *json, const char *name);

/* A run that another process records, running at once; its workload is `json` with
 * `trace` and `device`. */
bool enqueue_trace(struct db *db, const json_t *json, int64_t *id, struct err *err);

#endif
