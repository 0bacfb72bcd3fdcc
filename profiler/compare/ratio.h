/* profiler/compare/ratio.h -- is one run slower than another, and by how much?
 *
 * Two runs share no rounds, so nothing can be paired as it is within a run: the interval
 * of b / a is made of those that both sides have, on the scale of logs.  With lower case
 * for logs,
 *
 *	low  = (b - a) - sqrt((b - b.low)^2 + (a.high - a)^2)
 *	high = (b - a) + sqrt((b.high - b)^2 + (a - a.low)^2)
 *
 * (variance estimates recovered from the limits: Zou and Donner, Construction of
 * confidence limits about effect measures, Statistics in Medicine 27, 2008; for medians
 * with intervals of order statistics: Price and Bonett, Distribution-free confidence
 * intervals for difference and ratio of medians, J. Statist. Comput. Simul. 72, 2002).
 * It needs no samples, keeps what is lopsided in either interval, and is as wide as both
 * runs are noisy.  What differs from process to process (where code and pages lie, the
 * neighbours of a shared machine) is not in it: verdicts.c adds that.
 */
#ifndef PROFILER_COMPARE_RATIO_H
#define PROFILER_COMPARE_RATIO_H

#include <stdbool.h>

#include "profiler/measure/break_even.h"

/* The change that is not to be missed: above the 1 to 2 % that a quiet machine shows from process
 * to process, below the 10 % at which others begin to look. */
#define RATIO_MARGIN 0.05

/* b / a with its 95 % interval; false where an end is not above 0. */
bool ratio_of(const struct interval *a, const struct interval *b, struct interval *out);

/* How likely a ratio at least so far beyond 1 + margin (or 1 / (1 + margin)) is, on
 * either side, where there is none: by the normal approximation of its log, whose
 * half-width towards 1 is 1.96 deviations.  1 within the margin. */
double ratio_chance(const struct interval *ratio, double margin);

/* Which of n chances stand together at a family-wise error of `alpha`, however they
 * depend on each other (Holm, A simple sequentially rejective multiple test procedure,
 * Scand. J. Statist. 6, 1979).  False when out of memory. */
bool ratio_holm(const double *chance, int n, double alpha, bool *stands);

#endif
