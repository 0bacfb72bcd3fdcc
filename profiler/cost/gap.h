/* profiler/cost/gap.h -- private: what the host does between two kernels. */
#ifndef PROFILER_COST_GAP_H
#define PROFILER_COST_GAP_H

#include "profiler/timeline/lanes_view.h"
#include "profiler/recorder/watch_cost.h"

/* PART(name, what): what a gap is made of, each timed; they add up to it. */
#define GAP_PARTS(PART)                                                                            \
	PART(statement, "what ended the graph, as the program has it")                             \
	PART(guards, "looking for the entry after it")                                             \
	PART(dispatch, "binding its sizes")                                                        \
	PART(alloc, "memory for what it leaves and needs")                                         \
	PART(launch, "what a launch costs beside its kernel")                                      \
	PART(outputs, "from the last kernel to its piece's end: results go into the frame")        \
	PART(frame, "the interpreter between two pieces")                                          \
	PART(entry, "the frame made before the first piece, and unwound after the last")           \
	PART(replay, "mode graphs: what replaying one graph leaves out before its kernel")

struct gap_parts { /* nanoseconds */
#define PART(name, what) double name##_ns;
	GAP_PARTS(PART)
#undef PART
};

struct gap {
	struct gap_parts parts;
	int eager;       /* kernels of single ops */
	double eager_ns; /* their time, which is no gap */
};

/* Of the span of a call that `v` is cut to, less what watching has added.  `edge`: before the
 * first piece, or after the last. */
struct gap break_gap_measure(const struct lanes_view *v, const struct watch_cost *w,
			     const struct span *s, bool edge);

double gap_parts_sum(const struct gap_parts *p);
void gap_parts_scale(struct gap_parts *p, double by);
void gap_parts_add(struct gap_parts *to, const struct gap_parts *p, double share);

/* The part of an event that lies in the span, less what watching has added. */
double break_gap_overlap_ns(const struct watch_cost *w, const struct span *s,
			    const struct timeline_event *e);

static inline bool span_holds(const struct span *s, int64_t at_ns)
{
	return at_ns >= s->from_ns && at_ns <= s->to_ns;
}

#endif
