/* profiler/recorder/recorder.h -- calls of measured candidates as a timeline.
 *
 * A recording is a run of its own, after the latencies: watching costs time.  What
 * the engine reports to its observer is kept in memory that is there before, and becomes
 * events once the calls are over.
 */
#ifndef PROFILER_RECORDER_RECORDER_H
#define PROFILER_RECORDER_RECORDER_H

#include "profiler/measure/candidate.h"
#include "profiler/timeline/timeline.h"

enum {
	RECORDER_MAX_CALLS = 12, /* of a candidate */
	RECORDER_MIN_CALLS = 3,
	RECORDER_CANDIDATE_EVENTS = 8192, /* of a candidate; of all candidates together: */
	RECORDER_ALL_EVENTS = 400 * 1000,
	RECORDER_LEAST_EVENTS = 512, /* ... but of a candidate no fewer */
};

struct recorder;

/* `candidates`: how many will come.  NULL with MEMORY. */
struct recorder *recorder_create(timeline_block_fn *put, void *self, int candidates,
				 struct err *err);
void recorder_destroy(struct recorder *r); /* NULL is fine */

/* From now on CUPTI records what the GPU runs, until the end: launches cost more.
 * Where it cannot, the facts of the timeline say why.  `api`: calls of the driver and
 * the runtime too. */
void recorder_begin_device(struct recorder *r, bool api);

/* From now on only what the host does for a device is reported, its launches too, and nothing
 * of what the device does: CUPTI has no part in it, so launches cost what they do. */
void recorder_begin_host(struct recorder *r);

/* Watches a few calls of the candidate, and its memory; `n`: the point of a sweep, NULL: there is
 * none. */
bool recorder_watch(struct recorder *r, struct candidate *candidate, const int64_t *n,
		    struct err *err);

/* The same but the memory, which takes time to tell, of up to so many calls, at least
 * RECORDER_MIN_CALLS, for about so long. */
bool recorder_watch_for(struct recorder *r, struct candidate *candidate, const int64_t *n,
			int calls, int64_t enough_ns, struct err *err);

/* The last blocks, with what was lost. */
bool recorder_finish(struct recorder *r, struct err *err);

#endif
