/* server/queue/history_store.h -- figures of reports (profiler/compare/) into the store. */
#ifndef SERVER_HISTORY_STORE_H
#define SERVER_HISTORY_STORE_H

#include "db/db.h"

/* Stores the figures of a run's report, JSON text.  A report that measured nothing has
 * none, and is marked as read all the same. */
bool history_store(struct db *db, int64_t run, const char *report, size_t len, struct err *err);

/* Does so for runs of a workload that an older version measured, at most `most`; *left is
 * whether there are more. */
bool history_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err);

#endif
