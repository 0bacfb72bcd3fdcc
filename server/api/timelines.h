/* server/api/timelines.h -- a timeline of the store, whole, as it is aligned with another. */
#ifndef SERVER_API_TIMELINES_H
#define SERVER_API_TIMELINES_H

#include "db/db.h"
#include "profiler/align/align.h"

struct loaded_timeline { /* LOADED_TIMELINE is empty */
	struct timeline_events events;
	json_t *head; /* id and name, or file and name */
};

#define LOADED_TIMELINE ((struct loaded_timeline){ .events = ALIGN_EVENTS })

/* A run that has ended.  CONFLICT where it has not or has no timeline, NOT_FOUND, STORAGE; finish
 * in any case. */
bool loaded_timeline_of_run(struct loaded_timeline *t, struct db *db, int64_t id, struct err *err);

/* align_timelines() of two that are loaded, in these lanes.  NULL with an error that names the
 * side. */
struct timelines_asked {
	const char *mode[2]; /* of A, of B; NULL: a compiled one, or the only one */
	bool has_n[2];
	int64_t n[2];
};
json_t *loaded_timelines_align(const struct loaded_timeline t[2],
			       const struct timelines_asked *asked, struct err *err);
void loaded_timeline_finish(struct loaded_timeline *t);

#endif
