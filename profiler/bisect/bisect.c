/* profiler/bisect/bisect.c -- on which side of a change does a commit lie? */
#include "profiler/bisect/bisect.h"

#include <math.h>
#include <stdlib.h>

/* The deviation of a normal distribution over its median absolute deviation. */
#define DEVIATION_OF_MAD 1.4826
/* Of t: the candidate's variance, and a quarter of each end's. */
#define VARIANCE_OF_PLACE 1.5
/* Processes that count rather than time do not vary: a round then says much, but not all. */
#define LEAST_DEVIATION 1e-4

/* Likewise over the upper quartile of what is absolute. */
#define DEVIATION_OF_QUARTILE 0.8693

/* The robust deviation of x, which is sorted; 0 or more.  Where more than half of x are alike the
 * median deviation is 0 whatever the others are, so the upper quartile has a say. */
static double deviation_of(double *x, int n)
{
	double middle;

	stats_sort(x, n);
	middle = stats_quantile(x, n, 0.5);
	for (int i = 0; i < n; i++)
		x[i] = fabs(x[i] - middle);
	stats_sort(x, n);
	return fmax(DEVIATION_OF_MAD * stats_quantile(x, n, 0.5),
		    DEVIATION_OF_QUARTILE * stats_quantile(x, n, 0.75));
}

/* exp() of the median of logs, and of its interval. */
static bool ratio_of_logs(const double *logs, int n, struct interval *out)
{
	if (!stats_median(logs, n, out))
		return false;
	*out =
	    (struct interval){ .low = exp(out->low), .mid = exp(out->mid), .high = exp(out->high) };
	return true;
}

bool bisect_measure_change(const struct bisect_round *rounds, int n, double margin,
			   struct bisect_change *out)
{
	double *logs = malloc((size_t)n * sizeof(*logs));
	bool enough = n >= BISECT_LEAST_CHANGE, ok = logs != NULL;

	for (int i = 0; ok && i < n; i++)
		logs[i] = log(rounds[i].bad / rounds[i].good);
	ok = ok && ratio_of_logs(logs, n, &out->ratio);
	if (ok) {
		double most = 1 + margin;

		out->deviation = fmax(deviation_of(logs, n) / sqrt(2), LEAST_DEVIATION);
		out->differs = enough && (out->ratio.low > most || out->ratio.high < 1 / most);
		out->same = enough && out->ratio.low > 1 / most && out->ratio.high < most;
	}
	free(logs);
	return ok;
}

static bool lies_between(const struct bisect_change *change, const struct interval *ratio)
{
	double low = fmin(1, change->ratio.mid), high = fmax(1, change->ratio.mid);

	return ratio->low > low && ratio->high < high;
}

bool bisect_place(const struct bisect_change *change, const struct bisect_round *rounds, int n,
		  struct bisect_place *out)
{
	double *t = calloc(2 * (size_t)n, sizeof(*t));
	double *beside = t ? t + n : NULL;
	double d = log(change->ratio.mid), variance, bound;
	bool ok = t != NULL;

	out->log_odds = 0;
	for (int i = 0; ok && i < n; i++)
		beside[i] = log(rounds[i].candidate / rounds[i].good);
	ok = ok && ratio_of_logs(beside, n, &out->ratio);
	if (!ok) {
		free(t);
		return false;
	}
	for (int i = 0; i < n; i++)
		t[i] = beside[i] = log(rounds[i].candidate) -
				   (log(rounds[i].good) + log(rounds[i].bad)) / 2;
	/* Of a step that is noisier than the others, its own. */
	variance = fmax(VARIANCE_OF_PLACE * pow(change->deviation, 2),
			pow(deviation_of(beside, n), 2));
	bound = fabs(d) / 2 + sqrt(variance);
	for (int i = 0; i < n; i++)
		out->log_odds += fmin(fmax(t[i], -bound), bound) * d / variance;
	free(t);
	out->verdict = BISECT_OPEN;
	out->between = lies_between(change, &out->ratio);
	if (n >= BISECT_LEAST_PLACE && fabs(out->log_odds) >= log(BISECT_ODDS))
		out->verdict = out->log_odds > 0 ? BISECT_BAD : BISECT_GOOD;
	return true;
}
