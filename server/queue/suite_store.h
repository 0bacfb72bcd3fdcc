/* server/queue/suite_store.h -- suites between the store (db/) and their reports (profiler/). */
#ifndef SERVER_SUITE_STORE_H
#define SERVER_SUITE_STORE_H

#include <jansson.h>

#include "db/db.h"
#include "server/queue/suite_plan.h"

/* Queues the runs of a plan; the caller wakes the queue. */
bool suite_store_plan(struct db *db, const struct suite_plan *plan, int64_t *id, struct err *err);

/* What the modes of a run gave, where it is part of a suite; `report` is JSON text. */
bool suite_store_results(struct db *db, int64_t run, const char *report, struct err *err);

/* The report of a suite as it stands: what waits is waiting.  New; NULL with *err. */
json_t *suite_stored_report(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err);

/* "queued", "running", "cancelled" (it has ended, and some of its runs were) or "done". */
const char *suite_stored_status(const struct suite *suite);

#endif
