/* profiler/report/report.h -- the parts of the report as JSON.
 *
 * Field names are those of design section 5; what stands beside them is ours.
 * Times in a report are microseconds or milliseconds, as their names say.
 */
#ifndef PROFILER_REPORT_REPORT_H
#define PROFILER_REPORT_REPORT_H

#include "profiler/measure/break_even.h"
#include "profiler/measure/candidate.h"
#include "profiler/measure/split.h"

enum { REPORT_MAX_SOURCE_BYTES = 64 * 1024 }; /* of generated C, per graph */

/* What one entry of `calls` is made of. */
struct report_of_call {
	const struct candidate *candidate;
	int call;
	struct fusion_counts before, after;
	bool whole;
	/* Another candidate that has made this call, and its entry: what is the same to the bit is
	 * summed up there.  NULL: there is none. */
	const struct candidate *like;
	const json_t *like_entry;
};
json_t *report_call(const struct report_of_call *r);

/* Adds graphs, guards, recompiles, breaks, compile_ms and cached to m; `brief`
 * leaves out the nodes and the list of all guards, which is half of the text. */
void report_graphs(json_t *m, const struct candidate *candidate, bool brief);

/* The sum of the graphs' compile times. */
double report_compile_us(const struct candidate *candidate);

/* `latency` of n samples, each the mean of so many calls, while which so much was
 * compiled.  New. */
json_t *report_samples(const double *sample_us, int n, int64_t calls_a_sample, int64_t compiled);

/* Adds latency, split_us and launches to m, of a candidate that was measured, and to its graphs
 * those that were compiled since report_graphs(), marked `later`: the first 32. */
void report_latency(json_t *m, const struct candidate *candidate, const struct split *split);

/* `break_even` of a point for one mode. */
json_t *report_comparison(const struct comparison *c, double compile_us);

/* `break_even` of a sweep for one mode. */
json_t *report_crossover(const struct crossover *c);

/* A line that measures this figure again. */
json_t *report_reproduce(const struct workload *w, const struct point *p, enum fusion_mode mode);

/* Adds what an engine runs on: backend, threads, a GPU's name. */
void report_device(json_t *device, const struct fusion *engine);

/* Adds to a mode how its launches are ordered on a device; nothing on the host. */
void report_order(json_t *mode, const struct fusion *engine);

/* {"code", "message", "line", "column"}: an error of the program. */
json_t *report_error(const struct err *err);

#endif
