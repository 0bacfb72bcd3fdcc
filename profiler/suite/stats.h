/* profiler/suite/stats.h -- statistics over the workloads of a suite.
 *
 * A speedup is a ratio, so its mean is the geometric one: exp of the mean of logs
 * (Fleming and Wallace, How not to lie with statistics, CACM 29(3), 1986): 2x and 0.5x
 * cancel out.  A column is one engine, policy and mode.
 *
 * A geomean over different workloads compares nothing, so the one to compare columns by
 * is that over the common set: the workloads that have a speedup in every column that has
 * any (torchdynamo's dashboard took the mean of those that passed, column by column; that
 * is given too, as `own`).
 */
#ifndef PROFILER_SUITE_STATS_H
#define PROFILER_SUITE_STATS_H

#include <stdbool.h>

#include "profiler/measure/stats.h"

/* Geometric mean of n >= 1 ratios with intervals, all > 0.  Its interval is that of the
 * measurement, the workloads taken as they are: the half-widths of the logs are
 * independent, so that of their mean is sqrt(sum of squares) / n (JCGM 100:2008, Guide to
 * the Expression of Uncertainty in Measurement, 5.1.2), below and above apart. */
struct interval suite_geomean(const struct interval *ratios, int n);

/* speedups is n_columns rows of n_workloads; NaN where there is none.  common[w] is
 * whether workload w has one in every column that has any; returns how many do, 0 where
 * no column has any.  Columns without any are not counted: they would empty the set. */
int suite_common(const double *speedups, int n_columns, int n_workloads, bool *common);

/* Buckets of speedups, a factor of sqrt(2) each, and all beyond at the ends:
 * the lower edge of bucket i is 2^((i - 7) / 2), from 1/8 (i = 1) to 8 (i = 13); bucket 0 is
 * all below. */
enum { SUITE_BUCKETS = 14 };
double suite_edge(int i); /* the lower edge of bucket i >= 1 */
void suite_histogram(const double *speedups, int n, int *counts);

#endif
