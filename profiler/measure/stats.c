/* profiler/measure/stats.c -- order statistics and what they say about noise.
 *
 * The rank of the interval comes from the exact binomial distribution, not
 * from its normal approximation: with 6 to 30 samples they differ.
 */
#include "profiler/measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above these a latency carries a warning. */
static const double noise_spread = 0.15; /* middle half over median */
static const double noise_drift = 0.05;  /* medians of the two halves */
enum { NOISE_FEW = 15 };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), compare_doubles);
}

double stats_quantile(const double *sorted, int n, double q)
{
	double at = q * (n - 1);
	int i = (int)at;

	if (i >= n - 1)
		return sorted[n - 1];
	return sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]);
}

int stats_median_rank(int n)
{
	/* The interval [x(k), x(n-1-k)] misses the median when at most k of n
	 * fair coins fall on one side: probability 2 * P(Bin(n, 1/2) <= k). */
	double term = exp2(-n), sum = term;
	int k = -1;

	if (n > 1000) /* exp2(-n) would vanish; the approximation is exact enough here */
		return (int)floor(n / 2.0 - 0.98 * sqrt(n)) - 1;
	while (2 * sum <= 0.05 && k + 1 < n / 2) {
		k++;
		term *= (double)(n - k) / (k + 1);
		sum += term;
	}
	return k;
}

bool stats_median(const double *x, int n, struct interval *out)
{
	double *sorted = malloc((size_t)n * sizeof(*sorted));
	int k = stats_median_rank(n);

	if (!sorted)
		return false;
	memcpy(sorted, x, (size_t)n * sizeof(*sorted));
	stats_sort(sorted, n);
	k = k < 0 ? 0 : k;
	*out = (struct interval){
		.low = sorted[k],
		.mid = stats_quantile(sorted, n, 0.5),
		.high = sorted[n - 1 - k],
	};
	free(sorted);
	return true;
}

/* Ranks whose order statistics hold the quantile: of n draws that lie below it with chance q each,
 * fewer than `low` + 1 are with a chance of 2.5 % at most, and more than `high` likewise. */
static void quantile_ranks(int n, double q, int *low, int *high)
{
	double below = 0;

	*low = 0;
	*high = n - 1;
	for (int i = 0; i < n; i++) {
		below += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(q) +
			     (n - i) * log1p(-q));
		if (below <= 0.025)
			*low = i;
		if (below >= 0.975) {
			*high = i;
			return;
		}
	}
}

/* A quantile and its 95 % interval of order statistics, 0 < q < 1; an end that so few samples do
 * not give is the least or the largest of them.  Of 0.5 as stats_median(). */
static bool quantile_of(const double *x, int n, double q, struct interval *out)
{
	double *sorted;
	int low, high;

	if (q == 0.5)
		return stats_median(x, n, out);
	sorted = malloc((size_t)n * sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, x, (size_t)n * sizeof(*sorted));
	stats_sort(sorted, n);
	quantile_ranks(n, q, &low, &high);
	out->mid = stats_quantile(sorted, n, q);
	out->low = fmin(sorted[low], out->mid);
	out->high = fmax(sorted[high], out->mid);
	free(sorted);
	return true;
}

/* The mean of the processes' estimates; its error is theirs and what they differ by: 1.96 standard
 * errors of their mean. */
static struct interval mean_of(const struct interval *of, int n)
{
	struct interval out = { 0, 0, 0 };
	double below = 0, above = 0, apart = 0;

	for (int p = 0; p < n; p++)
		out.mid += of[p].mid / n;
	for (int p = 0; p < n; p++) {
		below = hypot(below, (of[p].mid - of[p].low) / n);
		above = hypot(above, (of[p].high - of[p].mid) / n);
		apart = hypot(apart, 1.96 * (of[p].mid - out.mid) / sqrt(n * (n - 1.0)));
	}
	out.low = out.mid - hypot(below, apart);
	out.high = out.mid + hypot(above, apart);
	return out;
}

/* Of logs, where nothing is 0 or less: so the interval stays above 0. */
static struct interval mean_of_processes(const struct interval *of, int n)
{
	struct interval logs[STATS_PROCESSES], out;

	for (int p = 0; p < n; p++) {
		if (of[p].low <= 0)
			return mean_of(of, n);
		logs[p] = (struct interval){ log(of[p].low), log(of[p].mid), log(of[p].high) };
	}
	out = mean_of(logs, n);
	return (struct interval){ exp(out.low), exp(out.mid), exp(out.high) };
}

/* Of each process that took samples; their number, -1 when out of memory. */
static int quantiles_of(const double *x, const int of_process[STATS_PROCESSES], double q,
			struct interval of[STATS_PROCESSES])
{
	int n = 0;

	for (int p = 0; p < STATS_PROCESSES; p++) {
		if (of_process[p] == 0)
			continue;
		if (!quantile_of(x, of_process[p], q, &of[n++]))
			return -1;
		x += of_process[p];
	}
	return n;
}

bool stats_processes(const double *x, const int of_process[STATS_PROCESSES], double q,
		     struct interval *out)
{
	struct interval of[STATS_PROCESSES];
	int n = quantiles_of(x, of_process, q, of);

	if (n > 0)
		*out = n == 1 ? of[0] : mean_of_processes(of, n);
	return n >= 0;
}

/* ---- what runs are judged by */

double stats_student(int degrees)
{
	static const double points[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
					 2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
					 2.131,  2.120, 2.110, 2.101, 2.093 };
	int n = sizeof(points) / sizeof(points[0]);
	double z = 1.96, v = degrees;

	if (degrees <= n)
		return points[degrees > 1 ? degrees - 1 : 0];
	return z + (z * z * z + z) / (4 * v); /* Cornish and Fisher's expansion */
}

enum { KNOWN_DEGREES = 6 }; /* of what is known of other processes */

/* Of the processes' quantiles. */
static void judge_processes(const struct interval *of, int n, double process_sd,
			    struct interval *out)
{
	int degrees = KNOWN_DEGREES + n - 1;
	double mid = 0, below = 0, above = 0, squares = KNOWN_DEGREES * process_sd * process_sd;
	double apart;

	for (int p = 0; p < n; p++) {
		mid += log(of[p].mid) / n;
		below = hypot(below, log(of[p].mid / of[p].low) / n);
		above = hypot(above, log(of[p].high / of[p].mid) / n);
	}
	for (int p = 0; p < n; p++)
		squares += pow(log(of[p].mid) - mid, 2);
	apart = stats_student(degrees) * sqrt(squares / degrees / n);
	*out = (struct interval){ exp(mid - hypot(below, apart)), exp(mid),
				  exp(mid + hypot(above, apart)) };
}

/* A time without what made it longer; `off`: of logs. */
static struct interval without(const struct interval *x, const struct interval *off)
{
	double mid = x->mid * exp(-off->mid);

	return (struct interval){ mid * exp(-hypot(log(x->mid / x->low), off->high - off->mid)),
				  mid,
				  mid * exp(hypot(log(x->high / x->mid), off->mid - off->low)) };
}

bool stats_judged(const double *x, const struct judged_processes *of, struct interval *out)
{
	struct interval each[STATS_PROCESSES];
	int n = quantiles_of(x, of->samples, STATS_JUDGED_QUANTILE, each), k = 0;

	for (int p = 0; p < STATS_PROCESSES && of->off && n > 0; p++)
		if (of->samples[p]) {
			each[k] = without(&each[k], &of->off[p]);
			k++;
		}
	if (n > 0)
		judge_processes(each, n, of->sd, out);
	return n >= 0;
}

static void noise_add(char *text, size_t bytes, const char *sentence)
{
	size_t len = strlen(text);

	snprintf(text + len, bytes - len, "%s%s", len ? " " : "", sentence);
}

bool stats_noise(const double *x, int n, char *text, size_t text_bytes)
{
	struct interval first, second;
	double *sorted = malloc((size_t)n * sizeof(*sorted));
	char sentence[160];
	double spread;

	text[0] = '\0';
	if (!sorted)
		return false;
	memcpy(sorted, x, (size_t)n * sizeof(*sorted));
	stats_sort(sorted, n);
	spread = (stats_quantile(sorted, n, 0.75) - stats_quantile(sorted, n, 0.25)) /
		 stats_quantile(sorted, n, 0.5);
	free(sorted);
	if (n < NOISE_FEW) {
		snprintf(sentence, sizeof(sentence), "Only %d samples fitted in the time.", n);
		noise_add(text, text_bytes, sentence);
	}
	if (spread > noise_spread) {
		snprintf(sentence, sizeof(sentence), "Noisy: IQR is %.0f %% of the median.",
			 100 * spread);
		noise_add(text, text_bytes, sentence);
	}
	if (n >= 2 * STATS_MIN_SAMPLES && stats_median(x, n / 2, &first) &&
	    stats_median(x + n / 2, n - n / 2, &second)) {
		double drift = second.mid / first.mid - 1;

		/* Apart, and further than chance explains. */
		if (fabs(drift) > noise_drift &&
		    (second.low > first.high || second.high < first.low)) {
			snprintf(sentence, sizeof(sentence),
				 "The second half ran %.0f %% %s than the first.",
				 100 * fabs(drift), drift > 0 ? "slower" : "faster");
			noise_add(text, text_bytes, sentence);
		}
	}
	return text[0] != '\0';
}
