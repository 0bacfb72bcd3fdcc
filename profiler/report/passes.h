/* profiler/report/passes.h -- what each pass did to each graph, as JSON. */
#ifndef PROFILER_REPORT_PASSES_H
#define PROFILER_REPORT_PASSES_H

#include "profiler/measure/candidate.h"

enum {
	PASSES_GRAPH_BYTES = 1024 * 1024,  /* of texts, for one graph */
	PASSES_REPORT_BYTES = 2048 * 1024, /* ... and for all of a report */
	PASSES_PLACES = 50,                /* of one rule in one pass */
};

/* Adds `passes` to every graph of m, whose graphs are the candidate's: a list of parts,
 * each with `before` and its `steps`.  *left_bytes is what the report may still
 * hold; texts past it are left out, and their bytes counted.  A pass that fails
 * now, as a plugin's may, leaves its message in `error`. */
void report_passes(json_t *m, const struct candidate *candidate, size_t *left_bytes);

#endif
