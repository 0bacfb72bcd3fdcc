/* profiler/compare/verdicts.h -- private: the figures of two reports side by side, and a verdict
 * on each. */
#ifndef PROFILER_COMPARE_VERDICTS_H
#define PROFILER_COMPARE_VERDICTS_H

#include "profiler/compare/figures.h"
#include "profiler/compare/ratio.h"

struct compared_figure {
	struct figure a, b;
	struct interval ratio; /* b over a; low and high NaN: no interval */
	double least;          /* of ratio.mid with the machine's drift and without: nearer to 1 */
	int points;            /* of a sweep that it speaks for; 0: its own alone */
	enum verdict verdict;  /* of TIMED and ONCE */
	bool alone;            /* it would be FASTER or SLOWER if it were the only one */
	bool decides;          /* the verdict of the comparison counts it */
	bool overruled;        /* a latency: eager moved too */
};

struct verdicts {
	VEC(struct compared_figure) rows;
	int family; /* figures that were judged together */
};

/* The verdict of what is timed: with fewer than 6 rounds on a side NOT ENOUGH; FASTER or SLOWER
 * where the ratio is as far from 1 as half the margin (on the scale of logs) and its interval, at
 * what Holm's method allows among all, does not hold 1; SAME where the whole interval lies within
 * the margin; else AMBIGUOUS.  So the margin is the change that is not to be missed: one of its
 * size is found although its estimate falls below it half of the time, and what is SAME is
 * smaller.
 *
 * `drift`: how much longer the control took in b, where the machine drifted; NULL: it did not, or
 * nothing tells.  A latency's interval then holds its ratio with that taken out, and without; that
 * of a call that waits for a GPU most of its time does not need to. False with MEMORY; finish in
 * any case. */
bool verdicts_of(const struct figures *a, const struct figures *b, double margin,
		 const struct interval *drift, struct verdicts *out, struct err *err);

static inline void verdicts_finish(struct verdicts *j)
{
	VEC_FREE(&j->rows);
}

/* As an answer has it. */
void verdicts_fill(struct report_compared_figure *to, const struct compared_figure *j, int family,
		   struct report_draft *draft);

#endif
