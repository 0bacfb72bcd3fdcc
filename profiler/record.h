/* profiler/record.h -- private: calls of measured lanes as a timeline.
 *
 * A recording is a run of its own, after the latencies: watching costs time.  What
 * the engine tells its observer is kept in memory that is there before, and becomes
 * events once the calls are over.
 */
#ifndef PROFILER_RECORD_H
#define PROFILER_RECORD_H

#include "profiler/lane.h"
#include "profiler/timeline.h"

enum {
	RECORD_MAX_CALLS = 12, /* of a lane */
	RECORD_MIN_CALLS = 3,
	RECORD_LANE_EVENTS = 8192, /* of a lane; of all lanes together: */
	RECORD_ALL_EVENTS = 400 * 1000,
	RECORD_LEAST_EVENTS = 512, /* ... but of a lane no fewer */
};

struct record;

/* `lanes`: how many will come.  NULL with MEMORY. */
struct record *record_create(timeline_block_fn *put, void *self, int lanes, struct err *err);
void record_destroy(struct record *r); /* NULL is fine */

/* Watches a few calls of the lane; `n`: the point of a sweep, NULL: there is none. */
bool record_lane(struct record *r, struct lane *lane, const int64_t *n, struct err *err);

/* The last blocks, with what was lost. */
bool record_finish(struct record *r, struct err *err);

#endif
