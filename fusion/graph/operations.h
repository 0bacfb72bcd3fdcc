/* fusion/graph/operations.h -- how many operations nodes of a graph are. */
#ifndef FUSION_GRAPH_OPERATIONS_H
#define FUSION_GRAPH_OPERATIONS_H

#include "fusion/graph/graph.h"

/* Of these nodes together, at the sizes of the capture, as struct fusion_kernel counts
 * (fusion/inspect.h); -1: unknown of one of them. */
int64_t graph_operations(const struct graph *g, const int *nodes, int n);

#endif
