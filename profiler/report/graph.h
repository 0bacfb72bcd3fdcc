/* profiler/report/graph.h -- private: one captured graph as a report has it. */
#ifndef PROFILER_REPORT_GRAPH_H
#define PROFILER_REPORT_GRAPH_H

#include "fusion/fusion.h"
#include "profiler/fields/fields.h"

/* An entry of a mode's `graphs`, under the given id; `brief`: without its nodes. */
void graph_fill(struct report_graph *to, const struct fusion_graph_info *info, int id, bool brief,
		struct report_draft *draft);

#endif
