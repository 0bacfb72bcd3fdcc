/* profiler/suite/suite.h -- many workloads measured as one: results in, a report out.
 *
 * A result is one workload in one mode, under one policy, by one engine.  The report has
 * a column for each engine, policy and mode with its pass rate, geomean and
 * distribution, and a row for each workload; what failed is a result with its reason.
 */
#ifndef PROFILER_SUITE_SUITE_H
#define PROFILER_SUITE_SUITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/stats.h"

enum suite_status {
	SUITE_PASS,      /* ran, and its values agree with eager's (profiler/allclose/allclose.h) */
	SUITE_DISAGREES, /* ran; its values do not */
	SUITE_FAILED,    /* did not run to the end */
	SUITE_CANCELLED,
	SUITE_WAITING, /* queued or running */
	SUITE_STATUS_COUNT
};
const char *suite_status_name(enum suite_status status); /* "pass" */
bool suite_status_from_name(const char *name, enum suite_status *out);

/* Texts are borrowed.  Numbers that were not measured are NaN, counts -1. */
struct suite_result {
	int workload;    /* its place in the suite, from 0 */
	int64_t run;     /* 0: none */
	int64_t kept_ns; /* when that was made, for an earlier suite; 0: for this one */
	const char *engine, *policy, *mode;
	enum suite_status status;
	const char *reason;      /* NULL: none */
	struct interval speedup; /* over eager; mid NaN: none (eager, or nothing was timed) */
	double median_us, compile_ms, launches, peak_bytes, max_abs_error;
	int graphs, capture_breaks, lowering_breaks, recompiles;
};

enum { SUITE_MAX_WORKLOADS = 1000 };

/* The results of one run, by its report: the modes at the last point of a sweep,
 * and those that failed (`failed` of the report).  Returns how many, at most `most`;
 * texts live in `arena`. */
int suite_results_of_report(const struct report_run *run, int workload, int64_t id,
			    struct arena *arena, struct suite_result *out, int most);

/* The results of a run that has none of its own, one for each of its modes. */
struct suite_failure {
	struct report_texts modes;
	const char *policy; /* NULL: dynamo */
	int workload;
	int64_t run;
	enum suite_status status;
	const char *reason; /* NULL: none */
};
int suite_results_of_failure(const struct suite_failure *f, struct arena *arena,
			     struct suite_result *out, int most);

/* A suite of profiler/fields/suite.def.  names has the n_workloads names.  New; NULL when out of
 * memory. */
json_t *suite_report(const char *const *names, int n_workloads, const struct suite_result *results,
		     int n_results, struct err *err);

struct wording;

/* "static", "torch dynamic", "auto, native": engine and policy where they are not the usual ones.
 */
const char *suite_column_name(struct wording *w, const char *engine, const char *policy,
			      const char *mode);

/* "95 %"; "none ended" of NAN. */
const char *suite_rate_text(struct wording *w, double rate);

/* Two such reports, `after` against `before`: a suite_comparison of profiler/fields/compare.def.
 * New; NULL with JSON where one is no such report, or MEMORY. */
json_t *suite_compare(const json_t *before, const json_t *after, struct err *err);

#endif
