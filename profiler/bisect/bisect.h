/* profiler/bisect/bisect.h -- on which side of a change does a commit lie?
 *
 * GOOD and BAD are two commits whose figures differ; a candidate lies between them.  All three are
 * timed in rounds, a process each, so that what disturbs the machine disturbs them alike.  On the
 * scale of logs, with d = bad - good, a round says t = candidate - (good + bad) / 2: about -d/2
 * where the candidate is as GOOD, +d/2 where it is as BAD.  Rounds go on until one of the two is
 * BISECT_ODDS times as likely as the other (a sequential probability ratio test: Wald, Sequential
 * Tests of Statistical Hypotheses, Ann. Math. Statist. 16, 1945), with the deviation from the
 * median absolute deviation, and what one round may say bounded (Huber, A Robust Version of the
 * Probability Ratio Test, Ann. Math. Statist. 36, 1965): times have long tails.
 * Where neither becomes that likely, the candidate may have a part of the change: its interval then
 * lies between the two, and it counts as BAD, so that the first such part is found.
 *
 * Times are above 0, in any unit.  Safe in several threads at once.
 */
#ifndef PROFILER_BISECT_BISECT_H
#define PROFILER_BISECT_BISECT_H

#include <stdbool.h>

#include "profiler/measure/stats.h"

enum {
	BISECT_ODDS = 1000,       /* to one, that a step is decided rightly */
	BISECT_LEAST_CHANGE = 12, /* rounds before the change itself is told */
	BISECT_LEAST_PLACE = 6,   /* rounds of a candidate before it is placed */
};

struct bisect_round {
	double good, candidate, bad; /* candidate: NAN where it was not timed */
};

enum bisect_verdict { BISECT_OPEN, BISECT_GOOD, BISECT_BAD };

/* What GOOD and BAD differ by. */
struct bisect_change {
	struct interval ratio; /* BAD's figure over GOOD's, with its 95 % interval */
	double deviation;      /* of one time, on the scale of logs */
	bool differs;          /* the interval lies beyond the margin */
	bool same;             /* it lies within the margin */
};

/* Of 1 round or more, those of candidates too: the more there are, the better the change is known.
 * margin 0.02 is 2 %.  Neither `differs` nor `same`: more rounds are needed.  False when out of
 * memory. */
bool bisect_measure_change(const struct bisect_round *rounds, int n, double margin,
			   struct bisect_change *out);

/* Where a candidate lies. */
struct bisect_place {
	enum bisect_verdict verdict; /* OPEN: more rounds are needed */
	double log_odds;             /* of BAD to GOOD */
	struct interval ratio;       /* its figure over GOOD's */
	bool between;                /* which holds neither 1 nor BAD's figure over GOOD's */
};

/* Of the rounds of one candidate, 1 or more.  False when out of memory. */
bool bisect_place(const struct bisect_change *change, const struct bisect_round *rounds, int n,
		  struct bisect_place *out);
#endif
