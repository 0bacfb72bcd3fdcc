/* profiler/import/lanes.h -- private: threads and streams of a trace, each a lane. */
#ifndef PROFILER_IMPORT_LANES_H
#define PROFILER_IMPORT_LANES_H

#include "fusion/base/vec.h"
#include "profiler/import/kineto.h"
#include "profiler/timeline/timeline.h"

enum lane_class { LANE_HOST, LANE_DEVICE, LANE_DEVICE_NOTES, LANE_MEMORY, LANE_RECORDING };

/* A begin that waits for its end. */
struct begun {
	int64_t start_ns;
	char name[128], category[EVENT_TEXT_CHARS + 1];
};

struct trace_lane {
	enum lane_class of;
	char pid[EVENT_TEXT_CHARS + 1], tid[EVENT_TEXT_CHARS + 1];
	uint32_t lane;
	VEC(struct begun) begun;
};

/* Zeroed is empty; the lanes of one file. */
struct trace_lanes {
	VEC(struct trace_lane) rows;
	size_t last; /* that was found: the next event is often of the same */
};

void trace_lanes_finish(struct trace_lanes *l);

/* The lane of an event; good until the next call.  Where there are too many, the last
 * one, and counted; NULL without memory. */
struct trace_lane *trace_lane_of(struct trace_lanes *l, enum lane_class of,
				 const struct kineto_event *e, int file,
				 struct timeline_writer *writer, struct ledger *ledger);

/* The lane of an event that says no category: one of its thread, whichever was last
 * added, else a new one of the host. */
struct trace_lane *trace_lane_near(struct trace_lanes *l, const struct kineto_event *e, int file,
				   struct timeline_writer *writer, struct ledger *ledger);

/* A lane with a row of its own (taken over); NULL without memory, or where there are too
 * many. */
struct trace_lane *trace_lane_add(struct trace_lanes *l, enum lane_class of,
				  const struct kineto_event *e, json_t *row,
				  struct timeline_writer *writer, struct ledger *ledger);

#endif
