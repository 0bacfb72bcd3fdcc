/* profiler/suite/stats.c -- statistics over the workloads of a suite. */
#include "profiler/suite/stats.h"

#include <math.h>
#include <string.h>

struct interval suite_geomean(const struct interval *ratios, int n)
{
	double sum = 0, below = 0, above = 0, mid;

	for (int i = 0; i < n; i++) {
		double log_mid = log(ratios[i].mid);

		sum += log_mid;
		below += pow(log_mid - log(ratios[i].low), 2);
		above += pow(log(ratios[i].high) - log_mid, 2);
	}
	mid = sum / n;
	return (struct interval){ .low = exp(mid - sqrt(below) / n),
				  .mid = exp(mid),
				  .high = exp(mid + sqrt(above) / n) };
}

static bool has_any(const double *row, int n)
{
	for (int i = 0; i < n; i++)
		if (!isnan(row[i]))
			return true;
	return false;
}

int suite_common(const double *speedups, int n_columns, int n_workloads, bool *common)
{
	bool any = false;
	int n = 0;

	memset(common, true, (size_t)n_workloads);
	for (int c = 0; c < n_columns; c++) {
		const double *row = speedups + (long)c * n_workloads;

		if (!has_any(row, n_workloads))
			continue;
		any = true;
		for (int w = 0; w < n_workloads; w++)
			common[w] = common[w] && !isnan(row[w]);
	}
	for (int w = 0; w < n_workloads; w++) {
		common[w] = common[w] && any;
		n += common[w];
	}
	return n;
}

double suite_edge(int i)
{
	const int middle = SUITE_BUCKETS / 2;

	return exp2((i - middle) / 2.0);
}

void suite_histogram(const double *speedups, int n, int *counts)
{
	memset(counts, 0, SUITE_BUCKETS * sizeof(*counts));
	for (int i = 0; i < n; i++) {
		int at = 0;

		if (isnan(speedups[i]))
			continue;
		while (at + 1 < SUITE_BUCKETS && speedups[i] >= suite_edge(at + 1))
			at++;
		counts[at]++;
	}
}
