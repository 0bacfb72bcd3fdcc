/* profiler/report/subgraphs.h -- private: the loops within a captured graph. */
#ifndef PROFILER_REPORT_SUBGRAPHS_H
#define PROFILER_REPORT_SUBGRAPHS_H

#include "fusion/inspect.h"
#include "profiler/fields/fields.h"

/* A graph's `subgraphs`: its loops on tensors (policy native), in order. */
struct report_subgraph_list subgraphs_of(const struct graph *g, struct report_draft *draft);

#endif
