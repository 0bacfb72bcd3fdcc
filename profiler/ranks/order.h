/* profiler/ranks/order.h -- private: the order in which graphs ran on ranks. */
#ifndef PROFILER_RANKS_ORDER_H
#define PROFILER_RANKS_ORDER_H

#include "profiler/ranks/match.h"

/* What the logs of two ranks or more say of it, in the memory of the draft: NULL where they do not,
 * and without memory.  Ranks with another order than most have a row in the divergences.
 * `compiles` and `processes` as of ranks_report(). */
struct report_rank_order *rank_order(struct rank_match *m, const json_t *compiles,
				     const json_t *processes);

#endif
