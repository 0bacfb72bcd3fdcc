/* profiler/measure/break_even.c -- paired ratios, calls to repay, and the crossover.
 *
 * A ratio's interval is taken over the ratios of the rounds themselves: no
 * division of one interval by another, which would be too wide where both
 * modes drift together and too narrow where they do not.
 */
#include "profiler/measure/break_even.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "profiler/workload/random.h"

static const double verdict_margin = 0.02;
enum { RESAMPLINGS = 1000, BOOTSTRAP_SEED = 20260 };

const char *verdict_word(enum verdict v)
{
	static const char *const words[] = { "NOT ENOUGH", "FASTER",    "SLOWER",
					     "SAME",       "AMBIGUOUS", "DISAGREES" };

	return words[v];
}

const char *repay_word(enum repay r)
{
	static const char *const words[] = { "after", "never", "unknown" };

	return words[r];
}

const char *side_word(enum side s)
{
	static const char *const words[] = { "always", "never", "above", "below", "disagrees" };

	return words[s];
}

enum verdict verdict_of(const struct interval *speedup, int rounds)
{
	return verdict_beyond(speedup, rounds, verdict_margin);
}

enum verdict verdict_beyond(const struct interval *speedup, int rounds, double margin)
{
	double above = 1 + margin, below = 1 / above;

	if (rounds < STATS_MIN_SAMPLES)
		return VERDICT_NOT_ENOUGH;
	if (speedup->low > above)
		return VERDICT_FASTER;
	if (speedup->high < below)
		return VERDICT_SLOWER;
	if (speedup->low >= below && speedup->high <= above)
		return VERDICT_SAME;
	return VERDICT_AMBIGUOUS;
}

/* Two builds of one program in one process were seen to differ by 4 %, which no interval holds. */
static const double build_margin = 0.05;

struct interval saving_beyond_margin(const struct interval *saved_us, double call_us)
{
	double margin_us = build_margin * call_us;
	struct interval out = *saved_us;

	if (out.low > margin_us || out.high < -margin_us)
		return out;
	out.low = fmin(out.low, 0);
	out.high = fmax(out.high, margin_us);
	return out;
}

enum repay repay_of(const struct interval *speedup, bool saves)
{
	if (speedup->mid <= 1 || speedup->high <= 1)
		return REPAY_NEVER;
	return speedup->low <= 1 || !saves ? REPAY_UNKNOWN : REPAY_AFTER;
}

static void repay_fill(struct comparison *c, double compile_us)
{
	const struct interval *saved = &c->saved_us;

	c->repay = repay_of(&c->speedup, saved->low > 0);
	if (c->repay != REPAY_AFTER)
		return;
	c->calls_to_repay = ceil(compile_us / saved->mid);
	c->calls_ci[0] = ceil(compile_us / saved->high);
	c->calls_ci[1] = ceil(compile_us / saved->low);
}

bool break_even_compare(const struct paired_samples *pairs, double compile_us,
			struct comparison *out)
{
	const int *of = pairs->of_process;
	int n = 0;
	double *x;
	bool ok = false;

	for (int p = 0; p < STATS_PROCESSES; p++)
		n += of[p];
	x = calloc((size_t)n + 1, sizeof(*x));
	if (!x)
		return false;
	*out = (struct comparison){ 0 };
	for (int i = 0; i < n; i++)
		x[i] = pairs->eager_us[i] / pairs->mode_us[i];
	if (!stats_processes(x, of, 0.5, &out->speedup))
		goto out;
	for (int i = 0; i < n; i++)
		x[i] = pairs->eager_us[i] - pairs->mode_us[i];
	if (!stats_processes(x, of, 0.5, &out->saved_us))
		goto out;
	out->verdict = verdict_of(&out->speedup, n);
	repay_fill(out, compile_us);
	ok = true;
out:
	free(x);
	return ok;
}

/* Where the last change of sign is, and how many there are; y is log(speedup)
 * at each point.  A point at zero counts as faster. */
static void meet(const struct curve_point *points, const double *y, int n, struct crossover *out)
{
	*out = (struct crossover){ .side = n > 0 && y[0] >= 0 ? SIDE_ALWAYS : SIDE_NEVER };
	for (int i = 0; i + 1 < n; i++) {
		if ((y[i] >= 0) == (y[i + 1] >= 0))
			continue;
		out->found = true;
		out->meetings++;
		out->side = y[i + 1] >= 0 ? SIDE_ABOVE : SIDE_BELOW;
		out->n = points[i].n + (points[i + 1].n - points[i].n) * (y[i] / (y[i] - y[i + 1]));
	}
}

/* log of the median ratio of the rounds of p; `scratch` has room for them.
 * With `position`, of as many rounds drawn with replacement. */
static double log_ratio(const struct curve_point *p, double *scratch, uint64_t *position)
{
	for (int i = 0; i < p->rounds; i++) {
		int at = i;

		if (position)
			at = (int)(random_next(BOOTSTRAP_SEED, position) % (uint64_t)p->rounds);
		scratch[i] = p->eager_us[at] / p->mode_us[at];
	}
	stats_sort(scratch, p->rounds);
	return log(stats_quantile(scratch, p->rounds, 0.5));
}

/* A resampling without a meeting lies at the end that it points to. */
static double place(const struct crossover *c, enum side side, double first, double last)
{
	if (c->found)
		return c->n;
	if (c->side == SIDE_ALWAYS)
		return side == SIDE_ABOVE ? first : last;
	return side == SIDE_ABOVE ? last : first;
}

bool break_even_crossover(const struct curve_point *points, int n_points, struct crossover *out)
{
	uint64_t position = 0;
	int most = 1;
	double *scratch = NULL, *places = NULL, *y = NULL;
	bool ok = false;

	for (int i = 0; i < n_points; i++)
		most = points[i].rounds > most ? points[i].rounds : most;
	scratch = malloc((size_t)most * sizeof(*scratch));
	places = malloc(RESAMPLINGS * sizeof(*places));
	y = malloc((size_t)n_points * sizeof(*y));
	if (!scratch || !places || !y)
		goto out;
	for (int i = 0; i < n_points; i++)
		y[i] = log_ratio(&points[i], scratch, NULL);
	meet(points, y, n_points, out);
	ok = true;
	if (!out->found)
		goto out;
	for (int r = 0; r < RESAMPLINGS; r++) {
		struct crossover c;

		for (int i = 0; i < n_points; i++)
			y[i] = log_ratio(&points[i], scratch, &position);
		meet(points, y, n_points, &c);
		places[r] = place(&c, out->side, points[0].n, points[n_points - 1].n);
	}
	stats_sort(places, RESAMPLINGS);
	out->low = fmin(out->n, stats_quantile(places, RESAMPLINGS, 0.025));
	out->high = fmax(out->n, stats_quantile(places, RESAMPLINGS, 0.975));
out:
	free(scratch);
	free(places);
	free(y);
	return ok;
}
