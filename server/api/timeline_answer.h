/* server/api/timeline_answer.h -- a window of a run's timeline, out of the store. */
#ifndef SERVER_TIMELINE_ANSWER_H
#define SERVER_TIMELINE_ANSWER_H

#include "db/db.h"
#include "profiler/timeline/timeline.h"

enum { TIMELINE_DEFAULT_PX = 1600, TIMELINE_MOST_PX = 8192 };

/* What a page asks for first: all lanes of `mode` (NULL: of all), from the first event to the
 * last. */
struct timeline_query timeline_whole(const char *mode);

/* *out becomes the answer of timeline_view_columns().  That to timeline_whole(), of any mode and
 * point, is kept in the store once the run has ended and it has more events than rows: reading
 * them all takes longer than a page may. */
bool timeline_answer(struct db *db, const struct run *run, const struct timeline_query *q,
		     struct buf *out, struct err *err);

/* What of it `q` looks for: timeline_view_found().  NULL where it fails; the caller owns it. */
json_t *timeline_found(struct db *db, const struct run *run, const struct timeline_query *q,
		       struct err *err);

#endif
