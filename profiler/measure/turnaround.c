/* profiler/measure/turnaround.c -- what a device takes from one kernel to the next. */
#include "profiler/measure/turnaround.h"

#include <stdlib.h>

#include "profiler/measure/stats.h"

/* A kernel, and when its launch was done. */
struct ran {
	int64_t start_ns, end_ns, launched_ns;
};

static int by_start(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_correlation(const void *a, const void *b)
{
	const struct timeline_event *x = *(const struct timeline_event *const *)a,
				    *y = *(const struct timeline_event *const *)b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Launches and kernels by their correlation, side by side; how many kernels have a launch. */
static size_t join(const struct timeline_event **launches, size_t n_launches,
		   const struct timeline_event **kernels, size_t n_kernels, struct ran *out)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < n_kernels; i++) {
		while (at < n_launches && launches[at]->correlation < kernels[i]->correlation)
			at++;
		if (at < n_launches && launches[at]->correlation == kernels[i]->correlation)
			out[n++] = (struct ran){ kernels[i]->start_ns, event_end(kernels[i]),
						 event_end(launches[at]) };
	}
	qsort(out, n, sizeof(*out), by_start);
	return n;
}

static int gaps_of(const struct ran *ran, size_t n, double *gaps)
{
	int count = 0;

	for (size_t i = 1; i < n; i++)
		if (ran[i].launched_ns < ran[i - 1].end_ns && ran[i].start_ns >= ran[i - 1].end_ns)
			gaps[count++] = (double)(ran[i].start_ns - ran[i - 1].end_ns);
	return count;
}

bool turnaround_find(const struct lanes_view *v, struct turnaround *out)
{
	const struct timeline_event **launches = calloc(v->host.len + 1, sizeof(*launches)),
				    **kernels = calloc(v->kernels.len + 1, sizeof(*kernels));
	struct ran *ran = calloc(v->kernels.len + 1, sizeof(*ran));
	double *gaps = calloc(v->kernels.len + 1, sizeof(*gaps));
	bool ok = launches && kernels && ran && gaps;
	size_t n_launches = 0;

	*out = (struct turnaround){ 0 };
	for (size_t i = 0; ok && i < v->host.len; i++)
		if (v->host.at[i]->kind == TIMELINE_LAUNCH)
			launches[n_launches++] = v->host.at[i];
	for (size_t i = 0; ok && i < v->kernels.len; i++)
		kernels[i] = v->kernels.at[i];
	if (ok) {
		qsort(launches, n_launches, sizeof(struct timeline_event *), by_correlation);
		qsort(kernels, v->kernels.len, sizeof(struct timeline_event *), by_correlation);
		out->seen = gaps_of(ran, join(launches, n_launches, kernels, v->kernels.len, ran),
				    gaps);
	}
	if (out->seen > 0) {
		stats_sort(gaps, out->seen);
		out->ns = stats_quantile(gaps, out->seen, 0.5);
	}
	free(launches);
	free(kernels);
	free(ran);
	free(gaps);
	return ok;
}

struct turnaround turnaround_of_both(struct turnaround a, struct turnaround b)
{
	return a.seen >= b.seen ? a : b;
}
