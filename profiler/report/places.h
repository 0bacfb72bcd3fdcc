/* profiler/report/places.h -- lines of a program of several files, as a report has them. */
#ifndef PROFILER_REPORT_PLACES_H
#define PROFILER_REPORT_PLACES_H

#include <jansson.h>

#include "profiler/workload/workload.h"

/* Whatever in `tree` has a `line` or `lines` as the engine counts them, through all files of the
 * program, gets those of its file, and `file` or `files`.  Of a program of one file nothing
 * changes.  Errors, which have their file, are left as they are. */
void report_places(json_t *tree, const struct fusion_program *program);

/* The same of the report of a run, last of all: what is measured goes by the engine's lines. */
void report_places_of_run(json_t *report, const struct workload *w);

#endif
