/* profiler/export/graph_groups.h -- private: what the nodes of a drawn graph are part of. */
#ifndef PROFILER_EXPORT_GRAPH_GROUPS_H
#define PROFILER_EXPORT_GRAPH_GROUPS_H

#include "profiler/export/graph.h"

/* Fills in g->groups and g->held: a kernel holds the ops of `graph` (of a report) whose results it
 * computes, as its last pass tells.  False when out of memory. */
bool graph_group(struct drawn_graph *g, const struct report_graph *graph);

#endif
