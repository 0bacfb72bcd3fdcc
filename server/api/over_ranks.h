/* server/api/over_ranks.h -- the files that tlparse writes of many ranks, out of a run's texts. */
#ifndef SERVER_API_OVER_RANKS_H
#define SERVER_API_OVER_RANKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"

/* One of them as JSON into *out, which the caller finishes in any case: collective_schedules.json,
 * collectives_parity.json, runtime_estimations.json or chromium_trace_with_runtime.json. `imported`
 * is the report's part of that name (import.def), borrowed.  Empty lists where the log has nothing
 * of it.  False with NOT_FOUND (no such file), TOO_LARGE, TIMELINE, STORAGE or MEMORY. */
bool over_ranks_file(struct db *db, int64_t run, const char *file, const json_t *imported,
		     struct buf *out, struct err *err);

#endif
