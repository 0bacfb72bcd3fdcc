/* profiler/ranks/logs.h -- private: what ranks compiled, and where that differs. */
#ifndef PROFILER_RANKS_LOGS_H
#define PROFILER_RANKS_LOGS_H

#include "profiler/ranks/match.h"

/* Adds a row to the divergences for each compile id that a rank has and others lack, or that is
 * another graph, has other guards, hits other caches or ends otherwise there; and fills estimates
 * and calls.  How many ranks have a compile log.  -1: out of memory. */
int rank_logs(struct rank_match *m, const json_t *compiles, const json_t *processes);

#endif
