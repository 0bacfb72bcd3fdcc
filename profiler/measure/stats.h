/* profiler/measure/stats.h -- medians and intervals of measured times.
 *
 * Nothing here assumes a distribution: times have a hard floor and a long
 * tail, so means and normal intervals mislead.  The interval of a median is
 * made of two order statistics (David and Nagaraja, Order Statistics, 3rd ed.,
 * section 7.1): with n independent samples it covers the true median with a
 * probability of at least 95 %, whatever the distribution.
 */
#ifndef PROFILER_MEASURE_STATS_H
#define PROFILER_MEASURE_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer samples than this give no 95 % interval: 1 - 2 * 0.5^n < 0.95. */
enum { STATS_MIN_SAMPLES = 6 };

/* That time a point at most: this one, and others. */
enum { STATS_PROCESSES = 8 };

/* What processes of the same differ by: a deviation of their logs (`make trial-verdicts` measures
 * it).  On a GPU where the pages of its memory lie moves a kernel that lives in its cache by 2 to
 * 4 %. */
#define STATS_PROCESS_SD 0.01
#define STATS_PROCESS_SD_GPU 0.012

struct interval {
	double low, mid, high;
};

/* Sorts in place, ascending; NaN must not occur. */
void stats_sort(double *x, int n);

/* Of sorted samples; 0 <= q <= 1, linear between neighbours.  n >= 1. */
double stats_quantile(const double *sorted, int n, double q);

/* The 0-based rank k such that [x(k), x(n-1-k)] covers the median with at
 * least 95 %; -1 where n is too small for any. */
int stats_median_rank(int n);

/* Median and its interval; where n is too small the interval is the range of
 * the samples.  False when out of memory.  x is not changed, n >= 1. */
bool stats_median(const double *x, int n, struct interval *out);

/* The 97.5 % point of Student's t. */
double stats_student(int degrees);

/* The same over samples that several processes took, the first process' first, so many each: the
 * mean of their quantiles, of logs where none is 0 or less.  Its interval holds the errors of
 * theirs and 1.96 standard errors of what they differ by, as squares: what differs from process to
 * process (where code and pages lie) is no noise within one. */
bool stats_processes(const double *x, const int of_process[STATS_PROCESSES], double q,
		     struct interval *out);

/* Of the samples of a process what is judged: what else runs makes them longer, never shorter. */
#define STATS_JUDGED_QUANTILE 0.1

struct judged_processes {
	const int *samples;         /* of each of STATS_PROCESSES */
	const struct interval *off; /* of each a log, with its error, that is taken off its
				     * quantile: what is known to have made that process slower,
				     * as if it had not; NULL: nothing is */
	double sd;                  /* what is known of others: they differ by, of their logs */
};

/* What two runs are judged by: the mean of the logs of the processes' lower deciles, of samples
 * above 0.  Its interval holds the errors of theirs and what processes differ by, which few of them
 * tell little of: what is known of others counts as much as seven more would (a
 * moderated t: Smyth, Linear models and empirical Bayes methods for assessing differential
 * expression, Stat. Appl. Genet. Mol. Biol. 3, 2004). */
bool stats_judged(const double *x, const struct judged_processes *of, struct interval *out);

/* What makes samples, in the order they were taken, doubtful: too few, a wide
 * middle half, a drift between the first and the second half of the time.
 * Writes a sentence or two to `text` and returns true, or returns false. */
bool stats_noise(const double *x, int n, char *text, size_t text_bytes);

#endif
