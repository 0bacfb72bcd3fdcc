/* profiler/timeline/lanes_view.h -- all of a timeline in memory, and one set of its lanes.
 *
 * For what is computed from a short recording; whoever looks at a long one asks for a
 * window (timeline.h).
 */
#ifndef PROFILER_TIMELINE_LANES_VIEW_H
#define PROFILER_TIMELINE_LANES_VIEW_H

#include "fusion/base/vec.h"
#include "profiler/timeline/timeline.h"

struct timeline_events {                 /* zeroed is empty, and keeps all */
	VEC(struct timeline_event) list; /* in order of their starts */
	struct timeline_tables tables;
	bool spans;  /* samples of memory, counters and ends of arrows are not kept */
	size_t most; /* of those that are kept; 0: any number */
	int64_t left_out;
};

/* Adds a block: a timeline_block_fn, `self` the struct above. */
bool timeline_events_block(void *self, const void *block, size_t len, struct err *err);
void timeline_events_finish(struct timeline_events *e);

static inline int64_t event_end(const struct timeline_event *e)
{
	return e->start_ns + e->duration_ns;
}

/* A launch: when the host came to it (the kernel began; on a device: its launch was
 * done), when it could go on, and in which piece it lies. */
struct launch_at {
	int64_t in_ns, out_ns, ns; /* ns: of the kernel itself */
	int64_t begin_ns;          /* of the launch */
	int kernels;               /* that the device ran for it */
	bool eager;
	uint32_t name;
	const struct timeline_event *piece; /* NULL: in none */
};

/* One set of lanes, its events sorted by their starts; borrows them. */
struct lanes_view {
	VEC(const struct timeline_event *) calls, host, pieces, breaks, kernels;
	VEC(struct launch_at) launches;
};

/* A call, or what lies between two launches of it; both ends belong to it. */
struct span {
	int64_t from_ns, to_ns;
};

/* An event that the set has no use for is left out.  False: out of memory. */
bool lanes_view_add(struct lanes_view *v, const struct timeline_event *e);

/* Once all are there: fills in `launches`, in order.  `device`: kernels run beside the
 * host, which launches them by events of the same correlation (what was not seen took no
 * time).  False: out of memory. */
bool lanes_view_launches(struct lanes_view *v, bool device);
void lanes_view_finish(struct lanes_view *v); /* zeroed is fine */

/* What begins within the span; borrows from `v`, nothing is to be freed. */
struct lanes_view lanes_cut_view(const struct lanes_view *v, const struct span *s);

#endif
