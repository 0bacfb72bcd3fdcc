/* server/queue/outcome.h -- what a finished report comes to in the store. */
#ifndef SERVER_QUEUE_OUTCOME_H
#define SERVER_QUEUE_OUTCOME_H

#include <jansson.h>
#include <stdlib.h>

#include "db/db.h"

/* Zeroed is ready. */
struct outcome {
	struct run_outcome stored; /* without environment and blocks; `report` NULL: not read yet */
	json_t *report;            /* whose texts are borrowed */
	char *findings;            /* JSON text */
	char *reasons;             /* of its breaks */
	struct arena arena;
};

/* Reads a report, JSON text, which is borrowed; one that is read already is not read again.  A
 * report that measured nothing has no summary and no figures, and is marked as read all the same.
 * False with MEMORY. */
bool outcome_read(struct outcome *o, const char *report, size_t len, struct err *err);

static inline void outcome_finish(struct outcome *o)
{
	json_decref(o->report);
	free(o->findings);
	free(o->reasons);
	arena_finish(&o->arena);
	*o = (struct outcome){ 0 };
}

#endif
