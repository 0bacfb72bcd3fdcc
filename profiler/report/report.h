/* profiler/report/report.h -- the parts of a report.
 *
 * They are structs of profiler/fields/fields.h, filled in from what an engine says.  All that
 * they point to lives in the draft.
 */
#ifndef PROFILER_REPORT_REPORT_H
#define PROFILER_REPORT_REPORT_H

#include "profiler/measure/break_even.h"
#include "profiler/measure/candidate.h"
#include "profiler/measure/split.h"
#include "profiler/fields/fields.h"

enum { REPORT_MAX_SOURCE_BYTES = 64 * 1024 }; /* of generated C, per graph */

static inline struct report_interval report_interval_of(const struct interval *i)
{
	return (struct report_interval){ i->low, i->high };
}

/* What one entry of `calls` is made of. */
struct report_of_call {
	const struct candidate *candidate;
	int call;
	struct fusion_counts before, after;
	bool whole;
	/* Another candidate that has made this call, and its entry: what is the same to the bit is
	 * summed up there.  NULL: there is none. */
	const struct candidate *like;
	const struct report_call *like_entry;
};
void report_call_fill(struct report_call *to, const struct report_of_call *r,
		      struct report_draft *draft);

/* `breaks` of a mode. */
struct report_break_list breaks_of_session(const struct fusion_session *s,
					   struct report_draft *draft);

/* Sets graphs, guards, recompiles, breaks, compile_ms and cached of m; `brief`
 * leaves out the nodes and the list of all guards, which is half of the text.  False when out of
 * memory. */
bool report_graphs(struct report_mode *m, const struct candidate *candidate, bool brief,
		   struct report_draft *draft);

/* The sum of the graphs' compile times. */
double report_compile_us(const struct candidate *candidate);

/* Samples of a latency. */
struct report_samples {
	const double *us; /* each the mean of so many calls */
	int n;
	int64_t calls_a_sample;
	int64_t compiled;       /* graphs and kernels, while they were taken */
	const int *of_process;  /* of n, each process', STATS_PROCESSES; NULL: one's */
	const double *aside_us; /* what was set aside */
	int n_aside;
};
struct report_latency *report_latency_of(const struct report_samples *s,
					 struct report_draft *draft);

/* Sets latency, split_us and launches of m, of a candidate that was measured, and adds to its
 * graphs those that were compiled since report_graphs(), marked `later`: the first 32.  False when
 * out of memory. */
bool report_latency(struct report_mode *m, const struct candidate *candidate,
		    const struct split *split, struct report_draft *draft);

/* `break_even` of a point for one mode. */
void report_comparison(struct report_comparison *to, const struct comparison *c, double compile_us);

/* `break_even` of a sweep for one mode. */
void report_crossover(struct report_comparison *to, const struct crossover *c);

/* A line that measures this figure again. */
const char *report_reproduce(const struct workload *w, const struct point *p, enum fusion_mode mode,
			     struct report_draft *draft);

/* Sets what an engine runs on: backend, threads, a GPU's name. */
void report_device(struct report_device *device, const struct fusion *engine,
		   struct report_draft *draft);

/* Sets how a mode's launches are ordered on a device; nothing on the host. */
void report_order(struct report_mode *m, const struct fusion *engine, struct report_draft *draft);

/* An error of the program. */
void report_error(struct report_failure *to, const struct err *err, struct report_draft *draft);

#endif
