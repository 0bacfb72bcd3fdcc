/* profiler/compare/verdicts.h -- private: the figures of two reports side by side, and a verdict
 * on each. */
#ifndef PROFILER_COMPARE_VERDICTS_H
#define PROFILER_COMPARE_VERDICTS_H

#include "profiler/compare/figures.h"
#include "profiler/compare/pace.h"
#include "profiler/compare/ratio.h"

struct compared_figure {
	struct figure a, b;
	struct interval ratio;  /* b over a; low and high NaN: no interval */
	double least;           /* of the ratios that the machine's drift leaves possible, the one
				 * nearest to 1 */
	struct pace_parts felt; /* of the drift, what was taken out; most NAN: none was */
	int points;             /* of a sweep that it speaks for; 0: its own alone */
	enum verdict verdict;   /* of TIMED and ONCE */
	bool alone;             /* it would be FASTER or SLOWER if it were the only one */
	bool decides;           /* the verdict of the comparison counts it */
	bool overruled;         /* a latency: eager moved too */
};

struct verdicts {
	VEC(struct compared_figure) rows;
	int family; /* figures that were judged together */
};

/* What the control tells of the machine. */
struct drift {
	struct interval ratio; /* how much longer the control took in b */
	bool moved;            /* surely so, and by enough to matter */
	bool same_machine;     /* and the same Breakeven: else it may be another control */
};

/* The verdict of what is timed: with fewer than 6 rounds on a side NOT ENOUGH; FASTER or SLOWER
 * where the ratio is as far from 1 as half the margin (on the scale of logs) and its interval, at
 * what Holm's method allows among all, does not hold 1; SAME where the whole interval lies within
 * the margin; else AMBIGUOUS.  So the margin is the change that is not to be missed: one of its
 * size is found although its estimate falls below it half of the time, and what is SAME is
 * smaller.
 *
 * `drift`: NULL: no control.  Where rounds show what part of the control's time a latency takes
 * part in (pace.h), its interval holds its ratio with the least and with the most of that taken out
 * of each process: where the machine drifted, and where it shows half of it at least in any case.
 * Where they do not, and the machine drifted, it holds the ratio with all of that taken out, and
 * without.  That of a call that waits for a GPU most of its time stays as it is.  False with
 * MEMORY; finish in any case. */
bool verdicts_of(const struct figures *a, const struct figures *b, double margin,
		 const struct drift *drift, struct verdicts *out, struct err *err);

static inline void verdicts_finish(struct verdicts *j)
{
	VEC_FREE(&j->rows);
}

/* As an answer has it. */
void verdicts_fill(struct report_compared_figure *to, const struct compared_figure *j, int family,
		   struct report_draft *draft);

#endif
