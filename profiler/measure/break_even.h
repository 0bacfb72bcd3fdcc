/* profiler/measure/break_even.h -- is compiling worth it, after how many calls, from which n on?
 *
 * Samples come in rounds: sample i of every mode was taken within the same
 * fraction of a second, so their ratio is free of the drift that both share.
 */
#ifndef PROFILER_MEASURE_BREAK_EVEN_H
#define PROFILER_MEASURE_BREAK_EVEN_H

#include <stdbool.h>

#include "profiler/measure/stats.h"

/* Rule, with m = 2 %: NOT ENOUGH below 6 rounds; FASTER where the whole
 * interval of the speedup lies above 1 + m, SLOWER where it lies below
 * 1 / (1 + m), SAME where it lies between the two, else AMBIGUOUS.  The margin
 * is there because an interval from one process does not cover what differs
 * from process to process (code and page placement). */
enum verdict {
	VERDICT_NOT_ENOUGH,
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_SAME,
	VERDICT_AMBIGUOUS,
	VERDICT_DISAGREES, /* its values differ from eager's: how quick it is does not matter */
	VERDICT_COUNT
};
const char *verdict_word(enum verdict v); /* "NOT ENOUGH" */
enum verdict verdict_of(const struct interval *speedup, int rounds);
/* The same rule with another m. */
enum verdict verdict_beyond(const struct interval *speedup, int rounds, double margin);

/* The same rule, with m = 5 %, for what another build of a program saves, in a call of so many
 * microseconds: as it is where it lies beyond the margin, on either side; else with an interval
 * that holds 0 and reaches the margin.  Where the code of two builds lies makes equal programs
 * differ. */
struct interval saving_beyond_margin(const struct interval *saved_us, double call_us);

enum repay { REPAY_AFTER, REPAY_NEVER, REPAY_UNKNOWN };
/* By the ratio, as the verdict goes: the medians of ratio and difference may lie on two sides of
 * none. `saves`: what a call saves is above 0 with its whole interval. */
enum repay repay_of(const struct interval *speedup, bool saves);

const char *repay_word(enum repay r); /* "after" */

struct comparison {
	struct interval speedup; /* median over rounds of eager / mode, order-statistics interval */
	struct interval saved_us; /* the same of eager - mode */
	enum verdict verdict;
	enum repay repay;
	double calls_to_repay; /* REPAY_AFTER: compile time over time saved, rounded up */
	double calls_ci[2];    /* REPAY_AFTER: from saved_us; finite */
};

/* Paired samples (us a call) of eager and of a mode, that so many processes took, the first
 * process' first; without a second process the others are 0. */
struct paired_samples {
	const double *eager_us, *mode_us;
	const int *of_process; /* STATS_PROCESSES */
};

/* Compares them.  NEVER: the mode is not faster;
 * UNKNOWN: the interval of the saving holds zero.  False when out of memory. */
bool break_even_compare(const struct paired_samples *pairs, double compile_us,
			struct comparison *out);

/* One point of a sweep. */
struct curve_point {
	double n;
	const double *eager_us, *mode_us;
	int rounds;
};

/* How the mode compares to eager over the sweep. */
enum side {
	SIDE_ALWAYS,    /* faster at every point */
	SIDE_NEVER,     /* at none */
	SIDE_ABOVE,     /* from the crossover on */
	SIDE_BELOW,     /* up to the crossover */
	SIDE_DISAGREES, /* its values differ from eager's at some point */
};
const char *side_word(enum side s); /* "always" */

struct crossover {
	enum side side;
	bool found; /* n, low and high are set: ABOVE or BELOW */
	double n;   /* where the curves meet: the last meeting in the sweep */
	double low, high;
	int meetings; /* more than one: the curves cross to and fro */
};

/* Interpolates log(eager / mode) linearly in n between points (ascending n)
 * and finds where it is zero.  The interval is the 2.5 % to 97.5 % range of
 * that place over 1,000 resamplings of the rounds (percentile bootstrap: Efron
 * and Tibshirani, An Introduction to the Bootstrap, chapter 13); a resampling
 * whose curves do not meet counts at the sweep's end that it points to.
 * n_points >= 1.  False when out of memory. */
bool break_even_crossover(const struct curve_point *points, int n_points, struct crossover *out);

#endif
