/* profiler/workload/deny.h -- private: ops that a workload takes from the lowering. */
#ifndef PROFILER_WORKLOAD_DENY_H
#define PROFILER_WORKLOAD_DENY_H

#include "profiler/workload/workload.h"

/* Fills in deny and n_deny from the workload's JSON, whose texts they borrow.  WORKLOAD where it
 * is no list of names, NAME where there is no such op. */
bool deny_read(struct workload *w, struct err *err);

#endif
