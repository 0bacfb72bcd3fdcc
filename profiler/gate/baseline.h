/* profiler/gate/baseline.h -- what reports have that is the same on every machine, as one file that
 * can be kept with the programs.
 *
 *	{"breakeven_baseline": 1, "workloads": {NAME: REPORT, ...}}
 *
 * A REPORT has the workload, the kind of device and the backend, and of each mode whether its
 * values are eager's, its launches, graphs and breaks: no times, no bytes, no machine.  It is read
 * as any report is. */
#ifndef PROFILER_GATE_BASELINE_H
#define PROFILER_GATE_BASELINE_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"

/* One without workloads; new, NULL: no memory. */
json_t *baseline_new(void);

/* Adds what is kept of a report.  MEMORY; BAD_REQUEST where it has one of that name. */
bool baseline_put(json_t *baseline, const char *name, const json_t *report, struct err *err);

/* As text, the same for the same contents; malloc'd, NULL: no memory. */
char *baseline_text(const json_t *baseline);

/* Whether a file is one. */
bool baseline_is(const json_t *file);

/* The report of a workload, borrowed; NULL: it has none. */
json_t *baseline_get(const json_t *baseline, const char *name);

#endif
