/* profiler/recorder/recorded.h -- private: a recording, for the files of the recorder. */
#ifndef PROFILER_RECORDER_RECORDED_H
#define PROFILER_RECORDER_RECORDED_H

#include "fusion/base/vec.h"
#include "profiler/recorder/device_trace.h"
#include "profiler/recorder/launch_shape.h"
#include "profiler/recorder/recorder.h"

/* An event as the engine reported it; `op` lives as long as the engine. */
struct recorded {
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

/* Of a candidate: the name of what was recorded, and for what a library ran for it. */
struct known_name {
	struct recorded of;
	const char *symbol; /* NULL: its own */
	uint32_t name;
};

struct recorder {
	struct timeline_writer *writer;
	struct recorded *recorded;
	int n, limit;
	int64_t lost, calls, doubtful;
	int replays;                /* CUDA graphs that were launched */
	double clock_ns, report_ns; /* what a reading costs, and a report without its readings */
	bool memory;                /* what the allocator does is reported too */
	bool broken;                /* the candidate has breaks */
	const char *op;             /* the eager op under way */
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
struct recorded_candidate {
	const struct candidate *candidate;
	const int64_t *n; /* the point of a sweep; NULL: there is none */
};

/* Of one thing, that the host launched by itself. */
static inline bool recorded_is_launch(const struct recorded *t)
{
	return !t->replay && (t->kind == TIMELINE_KERNEL || t->kind == TIMELINE_LIBRARY ||
			      t->kind == TIMELINE_EAGER);
}

/* Of a CUDA graph: itself, launched by the host, and what it ran. */
static inline bool recorded_is_graph(const struct recorded *t)
{
	return t->replay && t->kind == TIMELINE_LAUNCH;
}

static inline bool recorded_is_node(const struct recorded *t)
{
	return t->replay && t->kind != TIMELINE_LAUNCH;
}

static inline bool recorded_is_part(const struct recorded *t)
{
	return t->kind == TIMELINE_PIECE || t->kind == TIMELINE_BREAK;
}

#endif
