/* server/queue/summary.h -- what a list of runs shows of a report. */
#ifndef SERVER_SUMMARY_H
#define SERVER_SUMMARY_H

#include "db/db.h"
#include "fusion/base/arena.h"

/* Reads the verdict on the main compiled mode (static where it was measured,
 * else the first that is not eager), at the last point of a sweep.  Texts live
 * in `arena`.  out->mode stays NULL where nothing was compared with eager. */
void summary_of_report(const char *report, struct arena *arena, struct run_summary *out);

#endif
