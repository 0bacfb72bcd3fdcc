/* profiler/compare/pace.h -- private: how much of what the control took longer, a latency took
 * longer too.
 *
 * Where machines share cores each core changes its pace now and then, and the control, which is
 * timed once a round, shows it.  Within a process nothing else changes, so the regression of a
 * latency's logarithm on the control's, over its rounds, says what part of such a change the
 * latency takes part in; what runs differ by of the control's level is then known to be no change
 * of the program, to that part.  The regression is of both runs, each process about its own mean;
 * its error is of Newey and West (A simple, positive semi-definite, heteroskedasticity and
 * autocorrelation consistent covariance matrix, Econometrica 55, 1987), since a pace lasts for some
 * rounds.  One short sample of the control says only nearly how a round went, which makes the part
 * look smaller than it is: so it is the least, and the most is what the processor's share of a call
 * allows.
 */
#ifndef PROFILER_COMPARE_PACE_H
#define PROFILER_COMPARE_PACE_H

#include <stdbool.h>

#include "profiler/compare/figures.h"

/* Of the control's change, on the scale of logs: 0 none, 1 all. */
struct pace_parts {
	double least, most;
};

/* Two latencies without it. */
struct pace_taken {
	struct pace_parts part;
	struct interval least[2], most[2]; /* what each is judged by, on one scale */
};

/* `most`: of what can be theirs at all, 0 to 1.  False: the rounds show nothing (too few, no change
 * of pace in them, or no control beside them), or there is no memory. */
bool pace_take_out(const struct figure *a, const struct figure *b, double most,
		   struct pace_taken *out);

#endif
