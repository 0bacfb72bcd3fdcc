/* profiler/recorder/told.h -- private: a recording, for the files of the recorder. */
#ifndef PROFILER_RECORDER_TOLD_H
#define PROFILER_RECORDER_TOLD_H

#include "fusion/base/vec.h"
#include "profiler/recorder/device_trace.h"
#include "profiler/measure/launch_shape.h"
#include "profiler/recorder/recorder.h"

/* An event as it was told; `op` lives as long as the engine. */
struct told {
	int64_t begin_ns, end_ns;
	int64_t bytes; /* of memory in use, from then on */
	enum timeline_kind kind;
	int graph, kernel; /* of a kernel; graph -1: eager, of `op` */
	const char *op;
	int line;
	int kernels; /* that ran for it on a device: our own, observer.h, ran(); of a node: all */
	int replay;  /* part of the so manieth launch of a CUDA graph, from 1; 0: of none */
	uint32_t correlation;
};

/* Of a lane: which name stands for what was told, and for what a library ran for it. */
struct known_name {
	struct told of;
	const char *symbol; /* NULL: its own */
	uint32_t name;
};

struct recorder {
	struct timeline_writer *writer;
	struct told *told;
	int n, limit;
	int64_t lost, calls, doubtful;
	int replays;              /* CUDA graphs that were launched */
	double clock_ns, tell_ns; /* what a reading costs, and a report without its readings */
	bool memory;              /* what the allocator does is told too */
	bool broken;              /* the lane has breaks */
	const char *op;           /* the eager op under way */
	int line;
	bool library; /* of the launch under way, as the next */
	int kernels;
	uint32_t correlation, phases[TIMELINE_KIND_COUNT];
	VEC(struct known_name) names;

	bool on_device;              /* kernels run on a GPU */
	bool api;                    /* calls of its driver are recorded */
	struct device_trace *device; /* NULL: nobody sees them; `why` */
	char why[256];
	struct launch_shapes shapes;
};

/* What its rows in the tables say. */
struct recorded_lane {
	const struct lane *lane;
	const int64_t *n; /* the point of a sweep; NULL: there is none */
};

/* Of one thing, that the host launched by itself. */
static inline bool told_is_launch(const struct told *t)
{
	return !t->replay && (t->kind == TIMELINE_KERNEL || t->kind == TIMELINE_LIBRARY ||
			      t->kind == TIMELINE_EAGER);
}

/* Of a CUDA graph: itself, launched by the host, and what it ran. */
static inline bool told_is_graph(const struct told *t)
{
	return t->replay && t->kind == TIMELINE_LAUNCH;
}

static inline bool told_is_node(const struct told *t)
{
	return t->replay && t->kind != TIMELINE_LAUNCH;
}

static inline bool told_is_part(const struct told *t)
{
	return t->kind == TIMELINE_PIECE || t->kind == TIMELINE_BREAK;
}

/* names.c.  A row of the table of lanes, and its number there. */
json_t *recorder_lane_row(const struct recorded_lane *at, const char *role);
uint32_t recorder_add_lane(struct recorder *r, const struct recorded_lane *at, const char *role);
/* A counter, of bytes. */
uint32_t recorder_add_memory_lane(struct recorder *r, const struct recorded_lane *at);

/* The name of a kernel; changes its kind where the kernel is a library's.  `symbol`: of
 * what a library ran for it; NULL: its own. */
uint32_t recorder_name_launch(struct recorder *r, const struct lane *lane, struct told *t,
			      const char *symbol);
uint32_t recorder_name_symbol(struct recorder *r, const char *symbol); /* of nobody's */
/* Of the launch of a CUDA graph, whose first kernel and their number are told as `kernel`
 * and `kernels`. */
uint32_t recorder_name_graph(struct recorder *r, const struct lane *lane, const struct told *t);
uint32_t recorder_name_other(struct recorder *r, const struct told *t);
/* Of a piece or a break, whose number is told as `graph`. */
uint32_t recorder_name_part(struct recorder *r, const struct lane *lane, const struct told *t);

#endif
