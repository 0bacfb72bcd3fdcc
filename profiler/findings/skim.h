/* profiler/findings/skim.h -- a stored report, read for its findings alone: most of a report are
 * graphs, whose parsing would take longer than all else of an answer. */
#ifndef PROFILER_FINDINGS_SKIM_H
#define PROFILER_FINDINGS_SKIM_H

#include <jansson.h>
#include <stddef.h>

/* The report without samples, and with lists of graphs, breaks, guards, frames, recompiles and
 * calls that are empty.  NULL where it is no JSON, or memory is out.  New. */
json_t *report_skim(const char *text, size_t len);

#endif
