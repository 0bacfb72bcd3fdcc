/* server/restore.h -- a run of ours that comes back from its own export. */
#ifndef SERVER_RESTORE_H
#define SERVER_RESTORE_H

#include <jansson.h>

#include "db/db.h"
#include "fusion/base/arena.h"
#include "fusion/registry.h"

/* What a run becomes; texts live in the arena. */
struct restored {
	struct run row;
	const char *report, *environment; /* JSON */
	struct run_summary summary;
};

/* Reads "original" of what was imported (profiler/import/own.h).  False: there is none, or
 * it is no run that could have been measured: its workload is refused, as it is without its
 * source, or its report is not shaped as ours are.  It is a stranger's file still. */
bool restore_read(const json_t *imported, const struct registry *registry, struct arena *arena,
		  struct restored *out);

#endif
