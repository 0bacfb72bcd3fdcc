/* profiler/report/passes.h -- what each pass did to each graph. */
#ifndef PROFILER_REPORT_PASSES_H
#define PROFILER_REPORT_PASSES_H

#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

enum {
	PASSES_GRAPH_BYTES = 1024 * 1024,  /* of texts, for one graph */
	PASSES_REPORT_BYTES = 2048 * 1024, /* ... and for all of a report */
	PASSES_PLACES = 50,                /* of one rule in one pass */
};

/* Sets `passes` of every graph that has none yet; they are the candidate's.  *left_bytes is what
 * the report may still hold; texts past it are left out, and their bytes counted.  A pass that
 * fails now, as a plugin's may, leaves its message in `error`. */
void report_passes(struct report_graph_list graphs, const struct candidate *candidate,
		   size_t *left_bytes, struct report_draft *draft);

#endif
