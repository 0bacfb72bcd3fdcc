/* profiler/report/subgraphs.h -- private: the loops within a captured graph, as JSON. */
#ifndef PROFILER_REPORT_SUBGRAPHS_H
#define PROFILER_REPORT_SUBGRAPHS_H

#include <jansson.h>

#include "fusion/inspect.h"

/* A graph's `subgraphs`: of each loop on a tensor (policy native), in order,
 *
 *   kind       "while_loop"
 *   node       the loop's own node
 *   parent     the place in this list of the loop that it stands in; null
 *   line       of the source
 *   first      whether there is a first round
 *   again      whether there is another round: computed in each
 *   carried    what goes round: {"node": what stands for it in the body, null where that
 *              does not read it, "start": before the first round, "next": in the next one,
 *              "result": behind the loop, null where nobody reads it}
 *   reads      what it reads besides, from outside
 *   nodes      its body
 *   condition  those of them that only say whether there is another round
 *
 * All are ids of the graph's `nodes`, which holds the body's too.  New; NULL when out of
 * memory. */
json_t *subgraphs_json(const struct graph *g);

#endif
