/* profiler/ranks/critical.h -- private: the critical path of all ranks. */
#ifndef PROFILER_RANKS_CRITICAL_H
#define PROFILER_RANKS_CRITICAL_H

#include "profiler/ranks/match.h"

/* From the last moment of all ranks back to a first one.  In the draft; NULL: there is no event of
 * a device, or no memory. */
struct report_rank_path *rank_critical(const struct rank_match *m, bool recorded);

#endif
