/* profiler/results/results.h -- results of other tools' benchmarks, as reports.
 *
 * A benchmark is a run of a workload of its name; what the tool measured of it (wall time,
 * processor time, counters) is a mode each, with one figure (report_measure).  Times become
 * microseconds. Samples are kept where the file has them: then the figure is their median with its
 * 95 % interval. What a file has and is not kept, and what it does not tell, is in the notes.
 */
#ifndef PROFILER_RESULTS_RESULTS_H
#define PROFILER_RESULTS_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

enum {
	RESULTS_MOST = 1000,            /* benchmarks of a file */
	RESULTS_MOST_SAMPLES = 20000,   /* of a figure that are kept, evenly over all */
	RESULTS_MOST_NUMBERS = 2000000, /* samples of a file */
	RESULTS_MOST_BYTES = 64 << 20,  /* of a file */
};

/* What who imports says; NULL: the file does, or nobody. */
struct results_request {
	const char *file; /* its name */
	const char *name; /* of a single benchmark, or of the suite of several */
	const char *project, *commit, *branch, *machine;
	const json_t *benchmarks; /* asv's benchmarks.json, which has units and parameters' names */
};

/* Whether it looks like the results of a tool that is known. */
bool results_recognises(const void *bytes, size_t len);

/* A `results` of profiler/fields/report.def, new.  NULL with UNSUPPORTED: no known tool wrote it;
 * JSON, WORKLOAD: damaged; BOUND. */
json_t *results_read(const void *bytes, size_t len, const struct results_request *request,
		     struct err *err);

#endif
