/* server/api/trace_end.h -- the report of a run that was recorded or imported. */
#ifndef SERVER_TRACE_END_H
#define SERVER_TRACE_END_H

#include <jansson.h>

#include "db/db.h"
#include "fusion/session/registry.h"

enum { TRACE_RUN_BYTES = 256 << 20 }; /* of blocks that one such run keeps */

/* Ends the run with {"breakeven": 1, "trace": the facts of its timeline, "import": what was
 * imported (NULL: it is no import; borrowed)} as its report.  What was imported may be a run
 * of ours, whole: then it is that run again (restore.h). */
bool trace_end(struct db *db, const struct registry *registry, int64_t id, json_t *imported,
	       struct err *err);

#endif
