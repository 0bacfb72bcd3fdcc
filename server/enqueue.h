/* server/enqueue.h -- a workload becomes a queued run. */
#ifndef SERVER_ENQUEUE_H
#define SERVER_ENQUEUE_H

#include <jansson.h>

#include "db/db.h"
#include "profiler/profiler.h"

/* Stores a checked workload (w is json, parsed) as a run that waits for its
 * turn.  The caller wakes the queue. */
bool enqueue(struct db *db, const json_t *json, const struct workload *w, int64_t *id,
	     struct err *err);

#endif
