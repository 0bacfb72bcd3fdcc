/* profiler/recorder/launch_shape.h -- private: grids and what a block takes, each a row once. */
#ifndef PROFILER_RECORDER_LAUNCH_SHAPE_H
#define PROFILER_RECORDER_LAUNCH_SHAPE_H

#include "profiler/cupti/wire.h"
#include "profiler/timeline/timeline.h"

enum { LAUNCH_SHAPES = 4096 };

struct known_shape {
	int32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_bytes, dynamic_bytes;
	uint32_t shape; /* 0: free */
};

/* Zeroed is empty. */
struct launch_shapes {
	struct known_shape slots[LAUNCH_SHAPES];
};

/* The number of a kernel's shape in the writer's table: grid, block, cluster,
 * registers (of a thread), static_bytes and dynamic_bytes (of a block's shared
 * memory).  0: no kernel, or there are too many. */
uint32_t launch_shape(struct launch_shapes *s, struct timeline_writer *w,
		      const struct wire_event *e);

#endif
