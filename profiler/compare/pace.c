/* profiler/compare/pace.c -- how much of what the control took longer, a latency took longer too.
 */
#include "profiler/compare/pace.h"

#include <math.h>
#include <stdlib.h>

/* Rounds that a pace may last: their errors are not independent. */
enum { LASTS = 8, LEAST_ROUNDS = 30 };
/* A core that is shared runs at two thirds of its pace at least: what took more than twice as long
 * as a quick round was interrupted, and tells nothing of the pace. */
static const double interrupted = 2;

/* A round that lies so many deviations from the others was disturbed by something else. */
static const double far_deviations = 3;
enum { PASSES = 2 };
#define DEVIATION_OF_MAD 1.4826

/* Rounds of one process, in the order they were taken: logs, about their means. */
struct rounds {
	double *x, *y; /* of the control, of the latency; y is freed with x */
	double *rest;  /* room for as many */
	int n;
};

/* All processes' of both runs. */
struct paced_rounds {
	struct rounds of[2 * STATS_PROCESSES];
	int n;
};

/* What n of them, 1 or more, are judged by; NAN without memory. */
static struct interval quick_of(const int64_t *ns, int n)
{
	double *x = malloc((size_t)n * sizeof(*x));
	struct interval quick;

	for (int i = 0; x && i < n; i++)
		x[i] = fmax((double)ns[i], 1);
	if (!x || !stats_processes(x, (int[STATS_PROCESSES]){ n }, STATS_JUDGED_QUANTILE, &quick))
		quick = (struct interval){ NAN, NAN, NAN };
	free(x);
	return quick;
}

static void rounds_finish(struct paced_rounds *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->of[i].x);
}

/* Those that nothing interrupted. */
static void take_rounds(const int64_t *control_ns, const int64_t *latency_ns, int n,
			struct rounds *out)
{
	double control = quick_of(control_ns, n).mid, latency = quick_of(latency_ns, n).mid;

	for (int i = 0; i < n; i++) {
		double x = (double)control_ns[i] / control, y = (double)latency_ns[i] / latency;

		if (!(x > 0 && x < interrupted && y > 0 && y < interrupted))
			continue;
		out->x[out->n] = log(x);
		out->y[out->n++] = log(y);
	}
}

/* False: the control was not timed beside them, or no memory. */
static bool add_run(struct paced_rounds *s, const struct paced *p)
{
	const int64_t *latency_ns = p->latency_ns;

	for (int i = 0; latency_ns && i < STATS_PROCESSES; i++) {
		int n = p->of_process[i];
		double *x = n ? calloc(3 * (size_t)n, sizeof(*x)) : NULL;

		if (n && !x)
			return false;
		if (x) {
			s->of[s->n] = (struct rounds){ x, x + n, x + 2 * n, 0 };
			take_rounds(p->control_ns[i], latency_ns, n, &s->of[s->n++]);
		}
		latency_ns += n;
	}
	return latency_ns != NULL;
}

static void about_mean(double *x, int n)
{
	double mean = 0;

	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	for (int i = 0; i < n; i++)
		x[i] -= mean;
}

/* Of y on x, through each process' means; NAN where x does not vary. */
static double slope_of(struct paced_rounds *s, double *xx)
{
	double xy = 0;

	*xx = 0;
	for (int k = 0; k < s->n; k++) {
		struct rounds *r = &s->of[k];

		about_mean(r->x, r->n);
		about_mean(r->y, r->n);
		for (int i = 0; i < r->n; i++) {
			*xx += r->x[i] * r->x[i];
			xy += r->x[i] * r->y[i];
		}
	}
	return *xx > 0 ? xy / *xx : (double)NAN;
}

/* Keeps rounds whose latency lies where the slope and the other rounds of the process say. */
static void drop_far(struct rounds *r, double slope)
{
	double middle, deviation;
	int n = r->n;

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		r->rest[i] = r->y[i] - slope * r->x[i];
	stats_sort(r->rest, n);
	middle = stats_quantile(r->rest, n, 0.5);
	for (int i = 0; i < n; i++)
		r->rest[i] = fabs(r->rest[i] - middle);
	stats_sort(r->rest, n);
	deviation = DEVIATION_OF_MAD * stats_quantile(r->rest, n, 0.5);
	r->n = 0;
	for (int i = 0; i < n; i++) {
		if (fabs(r->y[i] - slope * r->x[i] - middle) > far_deviations * deviation)
			continue;
		r->x[r->n] = r->x[i];
		r->y[r->n++] = r->y[i];
	}
}

/* The variance of the sum of x with what the slope leaves of y. */
static double error_of(const struct paced_rounds *s, double slope)
{
	double error = 0;

	for (int p = 0; p < s->n; p++) {
		const struct rounds *r = &s->of[p];

		for (int i = 0; i < r->n; i++) {
			r->rest[i] = r->x[i] * (r->y[i] - slope * r->x[i]);
			error += r->rest[i] * r->rest[i];
			for (int k = 1; k <= LASTS && k <= i; k++)
				error += 2 * (1 - k / (LASTS + 1.0)) * r->rest[i] * r->rest[i - k];
		}
	}
	return fmax(error, 0);
}

static int rounds_of(const struct paced_rounds *s)
{
	int n = 0;

	for (int i = 0; i < s->n; i++)
		n += s->of[i].n;
	return n;
}

/* `least` is 0 where they show nothing. */
static struct pace_parts parts_of(const struct figure *a, const struct figure *b, double most)
{
	struct pace_parts parts = { 0, most };
	struct paced_rounds s = { .n = 0 };
	double xx = 0, slope = NAN;

	if (add_run(&s, &a->paced) && add_run(&s, &b->paced))
		slope = slope_of(&s, &xx);
	for (int pass = 0; pass < PASSES && isfinite(slope); pass++) {
		for (int i = 0; i < s.n; i++)
			drop_far(&s.of[i], slope);
		slope = slope_of(&s, &xx);
	}
	if (isfinite(slope) && rounds_of(&s) >= LEAST_ROUNDS)
		parts.least = fmin(fmax(slope - 1.96 * sqrt(error_of(&s, slope)) / xx, 0), most);
	rounds_finish(&s);
	return parts;
}

/* A part of the control's time, of logs. */
static struct interval part_of(const struct interval *control, double part)
{
	return (struct interval){ part * log(control->low), part * log(control->mid),
				  part * log(control->high) };
}

/* What the figure is judged by without a part of what the control took in each process. */
static bool judged_without(const struct figure *f, double part, struct interval *out)
{
	const struct paced *p = &f->paced;
	struct interval off[STATS_PROCESSES] = { { 0 } };
	double *us;
	size_t n = 0;
	bool ok;

	for (int i = 0; p->latency_ns && i < STATS_PROCESSES; i++) {
		struct interval control;

		n += (size_t)p->of_process[i];
		if (p->of_process[i] == 0)
			continue;
		control = quick_of(p->control_ns[i], p->of_process[i]);
		off[i] = part_of(&control, part);
		if (!isfinite(off[i].mid))
			return false;
	}
	us = n >= STATS_MIN_SAMPLES ? malloc(n * sizeof(*us)) : NULL;
	for (size_t i = 0; us && i < n; i++)
		us[i] = fmax((double)p->latency_ns[i] / 1000, 1e-3);
	ok = us &&
	     stats_judged(us, &(struct judged_processes){ p->of_process, off, p->process_sd }, out);
	free(us);
	return ok;
}

bool pace_take_out(const struct figure *a, const struct figure *b, double most,
		   struct pace_taken *out)
{
	out->part = parts_of(a, b, most);
	return out->part.least > 0 && judged_without(a, out->part.least, &out->least[0]) &&
	       judged_without(b, out->part.least, &out->least[1]) &&
	       judged_without(a, out->part.most, &out->most[0]) &&
	       judged_without(b, out->part.most, &out->most[1]);
}
