/* profiler/compare/figures.c -- a report as a list of figures: metric, mode and point. */
#include "profiler/compare/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/numbers/numbers.h"

static const struct metric_info metrics[METRIC_COUNT] = {
#define FIGURE(name, unit, kind, more, title)                                                      \
	[METRIC_##name] = { #name, unit, title, FIGURE_##kind, more },
#include "profiler/compare/figures.def"
#undef FIGURE
};

static const char metric_names[] =
#define FIGURE(name, unit, kind, more, title) " " #name
#include "profiler/compare/figures.def"
#undef FIGURE
    ;

const struct metric_info *metric_info(enum figure_metric metric)
{
	return &metrics[metric];
}

bool metric_from_name(const char *name, enum figure_metric *out, struct err *err)
{
	for (int i = 0; i < METRIC_COUNT; i++)
		if (strcmp(metrics[i].name, name) == 0) {
			*out = (enum figure_metric)i;
			return true;
		}
	return err_set(err, ERR_BAD_REQUEST, "metric %.40s: one of%s is needed", name,
		       metric_names);
}

size_t report_point_count(const json_t *report)
{
	size_t n = json_array_size(json_object_get(report, "points"));

	return n ? n : 1;
}

const json_t *report_point(const json_t *report, size_t i)
{
	const json_t *points = json_object_get(report, "points");

	return json_array_size(points) ? json_array_get(points, i) : report;
}

static double size_of(const json_t *m, const char *key)
{
	const json_t *list = json_object_get(m, key);

	return json_is_array(list) ? (double)json_array_size(list) : (double)NAN;
}

static double kernels_of(const json_t *m)
{
	const json_t *graphs = json_object_get(m, "graphs"), *graph;
	double n = 0;
	size_t i;

	if (!json_is_array(graphs))
		return NAN;
	json_array_foreach(graphs, i, graph)
	    n += (double)json_array_size(json_object_get(graph, "kernels"));
	return n;
}

/* A median with its interval and the rounds behind it. */
static void read_timed(struct figure *f, const json_t *from, const char *mid, const char *ends,
		       double samples)
{
	f->value = (struct interval){ number_end(from, ends, 0), number_field(from, mid),
				      number_end(from, ends, 1) };
	f->samples = isfinite(samples) ? (int)samples : 0;
}

static void read_figure(struct figure *f, const json_t *m, const json_t *paid)
{
	const json_t *latency = json_object_get(m, "latency");
	double *value = &f->value.mid;

	f->value = (struct interval){ NAN, NAN, NAN };
	switch (f->metric) {
	case METRIC_latency:
		read_timed(f, latency, "median_us", "ci_us", number_field(latency, "n"));
		break;
	case METRIC_speedup:
		read_timed(f, paid, "speedup", "speedup_ci", number_field(latency, "n"));
		break;
	case METRIC_compile_ms:
		*value = number_field(m, "compile_ms");
		break;
	case METRIC_guard_us:
		*value = number_field(json_object_get(m, "split_us"), "guards");
		break;
	case METRIC_launches:
		*value = number_field(m, "launches");
		break;
	case METRIC_kernels:
		*value = kernels_of(m);
		break;
	case METRIC_peak_bytes:
		*value = number_field(m, "peak_bytes");
		break;
	case METRIC_graphs:
	case METRIC_breaks:
	case METRIC_recompiles:
	case METRIC_guards:
		*value = size_of(m, metrics[f->metric].name);
		break;
	case METRIC_COUNT:
		break;
	}
}

/* Eager compiles nothing, so it has neither of these. */
static bool applies(enum figure_metric metric, const char *mode)
{
	bool of_all = metric == METRIC_latency || metric == METRIC_launches ||
		      metric == METRIC_peak_bytes;

	return of_all || strcmp(mode, "eager") != 0;
}

static bool add_mode(struct figures *out, const json_t *point, const char *mode, const json_t *m)
{
	const json_t *paid = json_object_get(json_object_get(point, "break_even"), mode);

	for (int i = 0; i < METRIC_COUNT; i++) {
		struct figure f = { .metric = (enum figure_metric)i,
				    .mode = mode,
				    .n = number_field(point, "n") };

		if (!applies(f.metric, mode))
			continue;
		read_figure(&f, m, paid);
		f.disagrees = json_is_false(json_object_get(m, "agrees"));
		if (isfinite(f.value.mid) && !VEC_PUSH(&out->rows, f))
			return false;
	}
	return true;
}

bool figures_of(const json_t *report, struct figures *out, struct err *err)
{
	for (size_t i = 0; i < report_point_count(report); i++) {
		const json_t *point = report_point(report, i);
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(point, "modes"), mode, m)
		{
			if (!add_mode(out, point, mode, m))
				return err_set(err, ERR_MEMORY, "out of memory for figures");
		}
	}
	return true;
}

/* Two-sided 95 % of Student's t for 2 to 19 degrees of freedom. */
static const double student[] = { 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
				  2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093 };
enum { LEAST_REPEATS = 3, MOST_DEGREES = 19 };

static bool is_of(const struct repeat *r, const struct figure *f)
{
	return strcmp(r->metric, metrics[f->metric].name) == 0 && strcmp(r->mode, f->mode) == 0 &&
	       (r->n == f->n || (isnan(r->n) && isnan(f->n))) && r->value > 0;
}

static void spread_one(struct figure *f, const struct repeat *repeats, int n)
{
	double sum = 0, squares = 0, mean;
	int k = 0, degrees;

	for (int i = 0; i < n; i++)
		if (is_of(&repeats[i], f)) {
			sum += log(repeats[i].value);
			k++;
		}
	if (k < LEAST_REPEATS)
		return;
	mean = sum / k;
	for (int i = 0; i < n; i++)
		if (is_of(&repeats[i], f))
			squares += pow(log(repeats[i].value) - mean, 2);
	degrees = k - 1 < MOST_DEGREES ? k - 1 : MOST_DEGREES;
	f->repeats = k;
	f->spread = student[degrees - 2] * sqrt(squares / (k - 1));
}

void figures_spread(struct figures *f, const struct repeat *repeats, int n)
{
	for (size_t i = 0; i < f->rows.len; i++)
		if (metrics[f->rows.at[i].metric].kind == FIGURE_TIMED)
			spread_one(&f->rows.at[i], repeats, n);
}

void figures_finish(struct figures *f)
{
	VEC_FREE(&f->rows);
}

const struct figure *figures_find(const struct figures *f, const struct figure *like)
{
	for (size_t i = 0; i < f->rows.len; i++) {
		const struct figure *x = &f->rows.at[i];

		if (x->metric == like->metric && strcmp(x->mode, like->mode) == 0 &&
		    (x->n == like->n || (isnan(x->n) && isnan(like->n))))
			return x;
	}
	return NULL;
}
