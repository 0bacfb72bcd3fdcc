/* profiler/run/run.h -- private to profiler/: a run under way, and the parts of its work.
 *
 * run.c goes from point to point and makes the calls of each in every mode; timing.c measures
 * what they have made.
 */
#ifndef PROFILER_RUN_RUN_H
#define PROFILER_RUN_RUN_H

#include "fusion/base/refused.h"
#include "profiler/allclose/allclose.h"
#include "profiler/breaks/breaks.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/measure.h"
#include "profiler/measure/autocast.h"
#include "profiler/roofline/roofline.h"
#include "profiler/recorder/recorder.h"
#include "profiler/workload/workload.h"

/* What is kept of a point for the crossover. */
struct kept_point {
	double n;
	int rounds;
	double *sample_us[FUSION_MODE_COUNT]; /* NULL: mode not in the run */
	struct break_check checks[FUSION_MODE_COUNT];
	bool disagrees[FUSION_MODE_COUNT]; /* its values differ from eager's */
};

struct run {
	const struct workload *w; /* of `own` */
	struct workload own;      /* borrows all; without the modes that failed */
	const struct profiler_options *options;
	int first, end; /* points to run */
	int point;      /* the one at work */
	int64_t begin_ns, reported_ns;
	struct kept_point *kept;
	struct allclose agreements[FUSION_MODE_COUNT]; /* of the point at work, with eager */
	struct reference reference;                    /* of the point at work */
	/* Eager's timed calls gave the same when they were made again before anything was timed.
	 * A state that grows with each call may be past all change after that. */
	bool repeats;
	struct recorder *recorder; /* NULL: nobody wants a timeline */
	int64_t checks_ns;         /* that finding the cost of breaks has taken */
	struct copy_curve curve;   /* of the device; n is 0: not needed so far */
	struct wall wall;
	struct machine_watch machine;
	int64_t rounds_aside;    /* of all points */
	const char *one_process; /* why a point has the samples of one alone; NULL: none has */
	const char *wide; /* why a latency is known less well than asked for; NULL: none is */
	int64_t ready_ns; /* that had gone to setting up and warming up before the point at work */
	int64_t most_ready_ns; /* that went to it at a point */
	struct inputs inputs;  /* of the point that was last asked for */
	int inputs_of;         /* that point; -1: there is none */
	size_t passes_bytes;   /* of texts of graphs that the report may still hold */
	struct report_run *report;
	struct report_point *places; /* what the report has of each point that is run; of a workload
				      * without a sweep it goes to the top */
	struct report_draft *draft;
	uint64_t refused; /* memory_refused_here() when it began */
};

/* Whether the report lacks nothing that found no memory: before something reads it.  False with
 * *err. */
static inline bool run_is_whole(const struct run *r, struct err *err)
{
	return memory_was_had(r->refused, "the report", err);
}

/* The whole run, as profiler_run(), in a draft.  NULL with *err. */
struct report_run *run_workload(const struct workload *w, const struct profiler_options *options,
				struct report_draft *draft, struct err *err);

/* What the report has of the point at work. */
static inline struct report_point *run_place(const struct run *r)
{
	return &r->places[r->point - r->first];
}

/* What it has of a mode there; NULL: nothing. */
static inline struct report_mode *run_mode(const struct run *r, enum fusion_mode mode)
{
	return report_get(run_place(r)->modes, fusion_mode_name(mode));
}

/* Of a point's time, the calls in order and compiling: a guess, for the progress bar. */
#define RUN_CALLS_SHARE 0.25

/* Reports progress, at most ten times a second; `round` 0: the first calls.  False to cancel. */
bool run_tell(struct run *r, const char *mode, int round, double share);

/* Room in a map of modes for one more. */
static inline struct report_comparison *run_comparison(struct report_comparison_map *map,
						       enum fusion_mode mode)
{
	map->keys[map->n] = fusion_mode_name(mode);
	return &map->at[map->n++];
}

/* Times the candidates of the modes and of `autocast`, which have made their calls, against each
 * other; on the host they are watched too. */
bool run_time_point(struct run *r, struct candidate *candidates, struct autocast_effect *autocast,
		    struct err *err);

/* The timelines of a point, once nothing of it is measured any more. */
bool run_record_point(struct run *r, struct candidate *candidates, struct err *err);

/* What breaks cost and how far kernels are from what memory allows, by timelines. */
bool run_watch_point(struct run *r, struct candidate *candidates, struct err *err);

#endif
