/* profiler/timeline/idle.h -- when a device ran nothing, and what the host did meanwhile.
 *
 * A device is idle while none of its streams runs a kernel, a copy or a set.  That time is cut
 * where the host goes from one thing to the next, and each part has the cause that idle.def
 * says; a statement that ended a graph has the name of its break too.  What the host does
 * after the last kernel of a call, in no phase, is the call's end.
 *
 * Events come in the order of their starts; a chunk that reaches back is laid together with
 * the one before, and what is later than that is counted.  Memory is that of one chunk.
 */
#ifndef PROFILER_TIMELINE_IDLE_H
#define PROFILER_TIMELINE_IDLE_H

#include "profiler/timeline/timeline.h"

enum idle_cause {
#define CAUSE(id, name, label) IDLE_##id,
#include "profiler/timeline/idle.def"
#undef CAUSE
	IDLE_CAUSE_COUNT
};

enum { IDLE_MAX_DEVICES = 64 };

/* A part of a gap; `name` of the tables: the break's, else 0.  `lane`: the device's first. */
struct idle_part {
	int64_t from_ns, to_ns;
	enum idle_cause cause;
	uint32_t name, lane;
	int device; /* among those that are watched */
};
typedef void idle_part_fn(void *self, const struct idle_part *part);

struct idle;

/* Of the lanes that are `wanted`, within [t0, t1]; parts go to `put`, those of a device in
 * order.  Borrows tables and `wanted`.  NULL: out of memory. */
struct idle *idle_create(const struct timeline_tables *tables, const bool *wanted, int64_t t0_ns,
			 int64_t t1_ns, idle_part_fn *put, void *self);
void idle_destroy(struct idle *d); /* NULL is fine */

/* The events of a chunk.  False: out of memory. */
bool idle_chunk(struct idle *d, const struct timeline_chunk *chunk);

/* To the window's end; how many events came too late to be laid. */
int64_t idle_finish(struct idle *d);

/* Devices that are watched, and those beyond the bound. */
int idle_devices(const struct idle *d, int *left_out);

#endif
