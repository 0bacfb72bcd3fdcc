/* profiler/report/places.h -- lines of a program of several files, as a report has them. */
#ifndef PROFILER_REPORT_PLACES_H
#define PROFILER_REPORT_PLACES_H

#include "profiler/fields/fields.h"
#include "profiler/workload/workload.h"

/* Whatever in a record has a `line` or `lines` as the engine counts them, through all files of the
 * program, gets those of its file, and `file` or `files`.  Of a program of one file nothing
 * changes.  Errors, which have their file, are left as they are.  False when out of memory. */
bool report_places(const struct report_record *record, void *from,
		   const struct fusion_program *program, struct report_draft *draft);

/* The same of the report of a run, last of all: what is measured goes by the engine's lines. */
bool report_places_of_run(struct report_run *report, const struct workload *w,
			  struct report_draft *draft);

#endif
