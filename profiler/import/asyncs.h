/* profiler/import/asyncs.h -- private: what a trace says without a thread.
 *
 * Async spans (phases b, n, e; S, T, p, F of old traces) belong to an id.  Those of a
 * process and category that run side by side have a lane each, of the role "async"; one
 * that ends gives its lane back.  Within an id they nest.
 *
 * Arrows (phases s, t, f) that are not a launch's are points of the kind flow on the lane
 * of their thread: those of one arrow have the same correlation and the same name, whose
 * row says "flow": where it begins (s), passes (t) or ends (f).
 */
#ifndef PROFILER_IMPORT_ASYNCS_H
#define PROFILER_IMPORT_ASYNCS_H

#include "profiler/import/lanes.h"
#include "profiler/import/model.h"

enum { ASYNC_MAX_OPEN = 4096, ASYNC_MAX_LANES = 256, FLOW_MAX_NAMES = 1024 };

struct async_lane {
	uint64_t track; /* process and category */
	uint64_t held;  /* by the spans of an id; 0: free */
	uint32_t lane;
};

struct async_begun {
	uint64_t id;
	int64_t start_ns;
	size_t lane; /* of the list below */
	char name[128];
};

struct flow_name {
	uint64_t key; /* name, category and phase */
	uint32_t name;
};

/* Zeroed is empty; those of one file. */
struct asyncs {
	VEC(struct async_lane) lanes;
	VEC(uint64_t) ids; /* of `begun`, to be searched */
	VEC(struct async_begun) begun;
	VEC(struct flow_name) flow_names;
	int64_t spans, marks, arrows;
};
void asyncs_finish(struct asyncs *a);

/* An event of one of the phases above; `text` is its JSON, `base_ns` the zero of its
 * clock.  False with MEMORY or an error of the writer. */
bool asyncs_event(struct asyncs *a, const struct kineto_event *e, const char *text, size_t len,
		  int64_t base_ns, struct model *m, struct err *err);

/* A point of an arrow, into the lane of its thread. */
bool asyncs_flow(struct asyncs *a, struct trace_lanes *lanes, const struct kineto_event *e,
		 int64_t base_ns, struct model *m, struct err *err);

/* The file is over: counts what never ended. */
void asyncs_end(struct asyncs *a, struct model *m);

#endif
