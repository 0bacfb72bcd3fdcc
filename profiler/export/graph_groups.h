/* profiler/export/graph_groups.h -- private: what the nodes of a drawn graph are part of. */
#ifndef PROFILER_EXPORT_GRAPH_GROUPS_H
#define PROFILER_EXPORT_GRAPH_GROUPS_H

#include "profiler/export/graph.h"

/* Fills in g->groups and each node's own: modules within each other, loops in the module
 * whose call they are, kernels in the innermost of those that holds all of theirs, and in a
 * kernel what is left of the modules of its nodes.  A kernel holds the ops of `graph` (of a
 * report) whose results it computes, as its last pass tells.  Inputs are in the innermost
 * module of all that read them.  False when out of memory. */
bool graph_group(struct drawn_graph *g, const struct report_graph *graph);

#endif
