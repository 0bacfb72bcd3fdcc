/* profiler/report/graph.h -- private: one captured graph as JSON. */
#ifndef PROFILER_REPORT_GRAPH_H
#define PROFILER_REPORT_GRAPH_H

#include <jansson.h>

#include "fusion/fusion.h"

/* An entry of a mode's `graphs`, under the given id; `brief`: without its nodes. */
json_t *graph_to_json(const struct fusion_graph_info *info, int id, bool brief);

#endif
