/* server/queue/restore.h -- a run of ours that comes back from its own export. */
#ifndef SERVER_RESTORE_H
#define SERVER_RESTORE_H

#include <jansson.h>

#include "db/db.h"
#include "fusion/base/arena.h"
#include "fusion/session/registry.h"

/* What a run becomes; texts live in the arena. */
struct restored {
	struct run row;      /* row.trace: it was recorded, and its report is the timeline's */
	json_t *mark;        /* "imported" of its report; the caller's */
	enum run_status end; /* DONE; FAILED and CANCELLED have no report */
	struct err why;
	const char *report, *environment; /* JSON, of one that was measured */
	struct run_summary summary;
};

/* Reads "original" of what was imported (profiler/import/own.h).  False: there is none, or
 * it is no run that could have been: its workload is refused, or its report is not shaped
 * as ours are.  It is a stranger's file still.  What was left out of the file by --redact
 * is left out of the run. */
bool restore_read(const json_t *imported, const struct registry *registry, struct arena *arena,
		  struct restored *out);

#endif
