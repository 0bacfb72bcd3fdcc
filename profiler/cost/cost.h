/* profiler/cost/cost.h -- what a graph break costs, read from a timeline.
 *
 * The time between the last kernel of a piece and the first of the next is there
 * because the graph ended: the device has nothing to do, the host leaves the piece,
 * runs what ended it, looks for the next entry (guards), takes memory and launches.
 * So does the host before the first kernel and after the last, beyond what a call
 * of one piece needs there.  To it comes the kernel that one graph would not have
 * launched: what the smallest kernel takes, and for the tensors that one piece writes
 * and the next reads what one kernel of both would save: a kernel computes for c and
 * moves its bytes for m (copy_curve.h) at once, which takes (c^4 + m^4)^(1/4), about
 * the longer of the two (the roofline: Williams, Waterman and Patterson, CACM 52:4,
 * 2009, whose corner is rounded so that a kernel near it is held up by both).  It costs no
 * more than the shorter of the two.  A library's function after the break has its launch
 * in any case; and what reads a number out of a tensor would wait for its kernel, and
 * write what is read after it, in one graph too.
 *
 * STAGE LOWERING: an op that the backend does not lower runs by itself between two kernels
 * of one graph.  Its break lies within a piece; the gap is from the kernel before it to the
 * one after it, less what the op itself takes, which has to be computed in any case.
 *
 * MODE LAZY: a barrier costs what it takes to find the trace's program and run it, but for
 * its kernels: ops become nodes with the barrier or without.
 *
 * That is an estimate.  Where the function is known without some of its breaks, the
 * kernels of both are timed, group by group side by side: what they differ by is those
 * breaks' (break_costs_fuse), shared as the estimates are.  It may be less than nothing.
 * What a call without them was timed to take less, round by round and with nobody watching,
 * is better evidence than any timeline: where it is known (`saved`) it is what they cost
 * together, and the timelines tell which share of it is whose.
 *
 * MODE GRAPHS: one graph is replayed, without most of its guards and without binding, and the
 * first of several pieces is not.  What that takes before the first kernel is timed likewise.
 *
 *	ON THE HOST  kernels run within the call: a break costs its gap and its kernel.
 *	ON A DEVICE  kernels run beside it: a call takes the longer of the host's time
 *	             H and the device's D, and without breaks the longer of H - gaps
 *	             and D - kernels.  The difference is the breaks' together; each has
 *	             the share of its own gap (and its kernel, where the device is the
 *	             longer one then).  A device needs a while from each kernel to the
 *	             next (the turnaround), which is part of D.
 *
 * A launch is dearer while CUPTI records, so gaps beside a device are those of a recording
 * without it (break_costs_take_host), and only kernels are timed with it.
 *
 * Groups are brought to one pace, by the calls that nobody watched just before each: what
 * else the machine has to do makes all slower by turns.
 *
 * What watching has cost is taken off (watch_cost.h).  What it costs beyond what it takes in
 * a row, or less, by a call that nobody watched, is laid on all of it evenly; it may as well
 * lie in the gaps alone, or nowhere in them, and intervals go as far as that.
 */
#ifndef PROFILER_COST_COST_H
#define PROFILER_COST_COST_H

#include "profiler/measure/stats.h"
#include "profiler/recorder/watch_cost.h"
#include "profiler/roofline/copy_curve.h"
#include "profiler/timeline/lanes_view.h"
#include "profiler/timeline/timeline.h"

/* ---- What the host does between two kernels. */

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

double gap_parts_sum(const struct gap_parts *p);
void gap_parts_scale(struct gap_parts *p, double by);
void gap_parts_add(struct gap_parts *to, const struct gap_parts *p, double share);

static inline bool span_holds(const struct span *s, int64_t at_ns)
{
	return at_ns >= s->from_ns && at_ns <= s->to_ns;
}

/* ---- What a device takes from one kernel to the next.
 *
 * Where a kernel's launch was done before the kernel in front of it was over, the device
 * had it at hand: the time between the two is the device's own, and one kernel less saves
 * it too.
 */

struct turnaround { /* zeroed is unknown */
	double ns;  /* the median */
	int seen;   /* kernels that were at hand */
};

/* The one of two that was seen more often. */
static inline struct turnaround turnaround_of_both(struct turnaround a, struct turnaround b)
{
	return a.seen >= b.seen ? a : b;
}

/* A break over one group of calls: means of a call. */
struct break_sample {
	struct gap_parts gap;
	double met;           /* how often */
	double kernels;       /* extra ones, of pieces */
	double kernel_ns;     /* ... their time, with that of the bytes */
	double gap_launches;  /* of kernels after it, in its gap */
	double gap_launch_ns; /* of them all: some take longer, as a library's do */
	double eager;         /* kernels of single ops, which it has in its gap */
	double eager_ns;      /* their time, which is no gap */
	double guards;        /* of the versions that ran after it, each time that it was met */
	double cost_ns;       /* all in all */
};

struct break_group {
	int number; /* among the sets of lanes that were read */
	int calls;
	double call_ns;          /* of the host, without the reporting */
	double device_ns;        /* of kernels, in a call; with what lies between them */
	double ran;              /* kernels of a device, in a call */
	double launches;         /* in a call */
	double launch_ns;        /* of one, for the host */
	double lead_ns;          /* before the first kernel, but for a frame that is made there */
	double watch_ns;         /* that watching has added to a call, and was taken off */
	double less_ns, more_ns; /* that all gaps may be, since watching costs more than in a row */
	double cost_ns;          /* of all breaks together */
	struct break_sample *breaks; /* by number, `n_breaks` of the reader */
};

struct break_costs {
	struct timeline_events seen;
	const struct timeline_events *of; /* another's, borrowed; NULL: `seen` */
	int first, step;                  /* sets of lanes to read; step 0: all */
	int n_breaks;
	bool device; /* kernels run beside the host */
	bool lazy;   /* breaks are barriers */
	bool graphs; /* one graph would be replayed */
	const struct copy_curve *curve;
	const double *moved_bytes; /* by break: of tensors, each time that it is met */
	const bool *reads; /* by break: it reads a number out of a tensor; NULL: none does */
	const int *guards; /* by graph: of its version; borrowed, NULL: unknown */
	int n_graphs;
	const bool *gone;             /* by break: `saved` is without it; borrowed */
	const struct interval *saved; /* nanoseconds a call; borrowed, NULL: not timed */
	struct turnaround turn;       /* of the group that saw most of it */
	VEC(struct break_group) groups;
};

/* `n_breaks`: their numbers in the timeline are below it.  Zeroed, it may be finished. */
static inline void break_costs_init(struct break_costs *c, int n_breaks)
{
	*c = (struct break_costs){ .n_breaks = n_breaks };
}

void break_costs_finish(struct break_costs *c);

/* Once all blocks are in c->seen: a group for each set of lanes, in order.  Groups
 * without a break are left out, unless there is none (n_breaks 0).  `moved_bytes` by break, as
 * fusion_observer.crossed has them; both are borrowed.  `call_ns`, by set of lanes read: of a call
 * just before that nobody watched, 0 where it is unknown; NULL: of all.  Whoever knows c->guards
 * and c->reads sets them before.  False with MEMORY. */
bool break_costs_read(struct break_costs *c, const struct copy_curve *curve,
		      const double *moved_bytes, bool device, const double *call_ns,
		      struct err *err);

/* From its breaks' parts: what each costs, and all. */
void break_group_add_up(const struct break_costs *c, struct break_group *g);

/* All its times by `pace`: the machine had another one then. */
void break_group_set_pace(const struct break_costs *c, struct break_group *g, double pace);

/* Gaps, and the call, from a recording of the same breaks that CUPTI had no part in. */
void break_costs_take_host(struct break_costs *c, const struct break_costs *host);

/* Beside a device: its time from one kernel to the next is the kernels' too, and that of the
 * kernels that breaks add. */
void break_costs_add_turns(struct break_costs *c, struct turnaround turn);

/* `without`: the same function without the breaks `gone` (by number), its groups recorded
 * beside those of c.  Kernels that those breaks add, and on a device their launches, are
 * what the two differ by then. */
void break_costs_fuse(struct break_costs *c, const struct break_costs *without, const bool *gone);

/* What a call takes while nobody watches: costs keep their share of the watched call,
 * which is slower (its events go through the caches too) or met another moment. */
void break_costs_scale(struct break_costs *c, double call_ns);

/* The median over the groups with its interval (stats.h) of what all breaks cost by the
 * timelines, in nanoseconds a call; less what those cost that `left` has in the same groups
 * (NULL: nothing).  False when out of memory, or no groups. */
bool break_costs_explained(const struct break_costs *c, const struct break_costs *left,
			   struct interval *out);

/* What one break costs, or all do (index -1), in nanoseconds a call.  Where c->saved is known
 * those that are gone cost that together, each its share by the timelines; none costs more
 * than all.  A break whose cost cannot be told has an interval that holds 0.  False when out of
 * memory, or no groups. */
bool break_costs_interval(const struct break_costs *c, int index, struct interval *out);

#endif
