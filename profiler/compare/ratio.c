/* profiler/compare/ratio.c -- is one run slower than another, and by how much?. */
#include "profiler/compare/ratio.h"

#include <math.h>
#include <stdlib.h>

bool ratio_of(const struct interval *a, const struct interval *b, struct interval *out)
{
	double below, above, mid;

	if (!(a->low > 0 && a->mid > 0 && a->high > 0 && b->low > 0 && b->mid > 0 && b->high > 0))
		return false;
	mid = log(b->mid / a->mid);
	below = hypot(log(b->mid / b->low), log(a->high / a->mid));
	above = hypot(log(b->high / b->mid), log(a->mid / a->low));
	*out = (struct interval){ exp(mid - below), exp(mid), exp(mid + above) };
	return true;
}

double ratio_chance(const struct interval *ratio, double margin)
{
	double edge = log1p(margin), mid = log(ratio->mid), beyond, half;

	if (fabs(mid) <= edge)
		return 1;
	beyond = fabs(mid) - edge;
	half = mid > 0 ? mid - log(ratio->low) : log(ratio->high) - mid;
	return erfc(1.96 * beyond / half / sqrt(2));
}

struct ranked {
	double chance;
	int at;
};

static int by_chance(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->chance, y = ((const struct ranked *)b)->chance;

	return (x > y) - (x < y);
}

bool ratio_holm(const double *chance, int n, double alpha, bool *stands)
{
	struct ranked *order = calloc((size_t)n + 1, sizeof(*order));
	bool goes_on = true;

	if (!order)
		return false;
	for (int i = 0; i < n; i++)
		order[i] = (struct ranked){ chance[i], i };
	qsort(order, (size_t)n, sizeof(*order), by_chance);
	for (int i = 0; i < n; i++) {
		goes_on = goes_on && order[i].chance <= alpha / (n - i);
		stands[order[i].at] = goes_on;
	}
	free(order);
	return true;
}
