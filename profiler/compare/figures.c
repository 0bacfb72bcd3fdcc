/* profiler/compare/figures.c -- a report as a list of figures: metric, mode and point. */
#include "profiler/compare/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/breaks.h"
#include "profiler/measure/stats.h"
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

struct report_point figures_point(const struct report_run *run, size_t i)
{
	struct report_point whole = { .n = NAN,
				      .modes = run->modes,
				      .break_even = run->break_even };

	return run->points.n ? run->points.at[i] : whole;
}

static double kernels_of(const struct report_mode *m)
{
	double n = 0;

	for (size_t i = 0; i < m->graphs.n; i++)
		n += (double)m->graphs.at[i].kernels.n;
	return n;
}

static struct interval timed(double mid, struct report_interval ends)
{
	return (struct interval){ ends.low, mid, ends.high };
}

/* How many of the samples each process took; of a report that says nothing that adds up, one. */
static void split_samples(const struct report_latency *latency, int of[STATS_PROCESSES])
{
	int64_t n = (int64_t)latency->samples_ns.n, left = n;

	memset(of, 0, STATS_PROCESSES * sizeof(*of));
	for (size_t p = 0; p < latency->of_process.n && p < STATS_PROCESSES; p++) {
		int64_t took = latency->of_process.at[p];

		if (took < 0 || took > left)
			break;
		of[p] = (int)took;
		left -= took;
	}
	if (left) {
		memset(of, 0, STATS_PROCESSES * sizeof(*of));
		of[0] = (int)n;
	}
}

/* At least 1.  A report that came without its samples is believed. */
static int processes_of(const struct report_latency *latency)
{
	int of[STATS_PROCESSES], n = 0;

	if (!latency || !latency->samples_ns.n)
		return latency && latency->of_process.n > 1
			   ? (int)fmin((double)latency->of_process.n, STATS_PROCESSES)
			   : 1;
	split_samples(latency, of);
	for (int p = 0; p < STATS_PROCESSES; p++)
		n += of[p] > 0;
	return n;
}

/* Of what its samples say; where the report has too few the figure stays as it is.  False without
 * memory. */
static bool judge(struct figure *f, const struct report_latency *latency)
{
	size_t n = latency->samples_ns.n;
	double *us = malloc((n + 1) * sizeof(*us));
	int of[STATS_PROCESSES];
	bool ok = us != NULL;

	split_samples(latency, of);
	for (size_t i = 0; ok && i < n; i++)
		us[i] = fmax((double)latency->samples_ns.at[i] / 1000, 1e-3);
	if (ok && n >= STATS_MIN_SAMPLES) {
		ok = stats_judged(us, &(struct judged_processes){ of, NULL, f->process_sd },
				  &f->judged);
		f->process_sd = 0;
	}
	free(us);
	return ok;
}

/* Of a result: what its mode's figure is one of. */
static const char *const measure_kinds[METRIC_COUNT] = {
	[METRIC_latency] = "time",  [METRIC_rate] = "rate",     [METRIC_amount] = "amount",
	[METRIC_graphs] = "graphs", [METRIC_breaks] = "breaks",
};

static void read_measure(struct figure *f, const struct report_measure *m)
{
	const char *kind = measure_kinds[f->metric];

	f->value = (struct interval){ NAN, NAN, NAN };
	f->processes = 1;
	if (!kind || strcmp(m->kind, kind) != 0)
		return;
	f->value.mid = m->value;
	if (metrics[f->metric].kind == FIGURE_COUNTED)
		return;
	if (m->has.ci && !m->written.ci)
		f->value = timed(m->value, m->ci);
	f->samples = (int)m->n;
}

/* `paid` is NULL where nothing was compared with eager. */
static void read_figure(struct figure *f, const struct report_mode *m,
			const struct report_comparison *paid)
{
	const struct report_latency *latency = m->latency;
	double *value = &f->value.mid;

	f->value = (struct interval){ NAN, NAN, NAN };
	f->processes = processes_of(latency);
	switch (f->metric) {
	case METRIC_latency:
		if (latency)
			f->value = timed(latency->median_us, latency->ci_us);
		f->samples = latency ? (int)latency->n : 0;
		break;
	case METRIC_speedup:
		if (paid)
			f->value = timed(paid->speedup, paid->speedup_ci);
		f->samples = latency ? (int)latency->n : 0;
		break;
	case METRIC_compile_ms:
		*value = m->compile_ms;
		break;
	case METRIC_guard_us:
		*value = m->split_us ? m->split_us->guards : (double)NAN;
		break;
	case METRIC_launches:
		*value = m->launches;
		break;
	case METRIC_kernels:
		*value = kernels_of(m);
		break;
	case METRIC_peak_bytes:
		*value = m->has.peak_bytes ? (double)m->peak_bytes : (double)NAN;
		break;
	case METRIC_graphs:
		*value = (double)m->graphs.n;
		break;
	case METRIC_breaks:
		*value = (double)break_distinct(&m->breaks, NULL);
		break;
	case METRIC_recompiles:
		*value = (double)m->recompiles.n;
		break;
	case METRIC_guards:
		*value = m->has.guards ? (double)m->guards.n : (double)NAN;
		break;
	case METRIC_rate:
	case METRIC_amount:
	case METRIC_COUNT:
		break;
	}
}

static bool on_gpu(const struct report_run *run)
{
	return run->device && strcmp(report_text(run->device->kind), "cuda") == 0;
}

static double host_share_of(const struct report_run *run, const struct report_mode *m)
{
	const struct report_split *s = m->split_us;

	if (!on_gpu(run) || !s || !(s->observed > 0))
		return 1;
	return fmin(fmax((s->observed - s->rest) / s->observed, 0), 1);
}

static double process_sd_of(const struct report_run *run)
{
	return on_gpu(run) ? STATS_PROCESS_SD_GPU : STATS_PROCESS_SD;
}

/* ---- the control beside it */

/* Rounds of the points so far, of each process: all points' samples of the control are one list. */
struct rounds_so_far {
	int of[STATS_PROCESSES];
};

static const struct report_latency *latency_of(const struct report_point *point)
{
	for (size_t k = 0; k < point->modes.n; k++)
		if (point->modes.at[k].latency)
			return point->modes.at[k].latency;
	return NULL;
}

static void add_rounds(struct rounds_so_far *to, const struct report_point *point)
{
	const struct report_latency *latency = latency_of(point);
	int of[STATS_PROCESSES] = { 0 };

	if (latency)
		split_samples(latency, of);
	for (int p = 0; p < STATS_PROCESSES; p++)
		to->of[p] = (int)fmin((double)to->of[p] + of[p], INT32_MAX);
}

/* Whether the control has a sample of each round, no more and no fewer, above 0. */
static bool control_is_whole(const struct report_run *run)
{
	const struct report_control *c = run->control;
	struct rounds_so_far all = { 0 };
	int64_t n = 0;

	for (size_t i = 0; c && i < figures_points(run); i++) {
		struct report_point point = figures_point(run, i);

		add_rounds(&all, &point);
	}
	for (int p = 0; c && p < STATS_PROCESSES; p++) {
		int64_t took = (size_t)p < c->of_process.n ? c->of_process.at[p] : 0;

		if (took != all.of[p])
			return false;
		n += took;
	}
	for (size_t i = 0; c && i < c->samples_ns.n; i++)
		if (c->samples_ns.at[i] <= 0)
			return false;
	return c && n > 0 && (size_t)n == c->samples_ns.n;
}

/* The control has samples of these rounds: those after `before`, of each process. */
static struct paced paced_of(const struct report_run *run, const struct report_latency *latency,
			     const struct rounds_so_far *before)
{
	struct paced out = { .latency_ns = latency->samples_ns.at,
			     .process_sd = process_sd_of(run) };
	const int64_t *process = run->control->samples_ns.at;

	split_samples(latency, out.of_process);
	for (int p = 0; p < STATS_PROCESSES && (size_t)p < run->control->of_process.n; p++) {
		out.control_ns[p] = process + before->of[p];
		process += run->control->of_process.at[p];
	}
	return out;
}

/* Eager compiles nothing, so it has neither of these. */
static bool applies(enum figure_metric metric, const char *mode)
{
	bool of_all = metric == METRIC_latency || metric == METRIC_launches ||
		      metric == METRIC_peak_bytes;

	return of_all || strcmp(mode, "eager") != 0;
}

static bool add_mode(struct figures *out, const struct report_run *run,
		     const struct report_point *point, size_t mode,
		     const struct rounds_so_far *before)
{
	const struct report_mode *m = &point->modes.at[mode];
	const char *name = point->modes.keys[mode];
	const struct report_comparison *paid = report_get(point->break_even, name);

	for (int i = 0; i < METRIC_COUNT; i++) {
		struct figure f = { .metric = (enum figure_metric)i, .mode = name, .n = point->n };

		if (m->measure)
			read_measure(&f, m->measure);
		else if (applies(f.metric, name))
			read_figure(&f, m, paid);
		else
			continue;
		f.disagrees = m->has.agrees && !m->agrees;
		f.judged = f.value;
		f.host_share = host_share_of(run, m);
		f.process_sd = process_sd_of(run);
		if (f.metric == METRIC_latency && m->latency && !judge(&f, m->latency))
			return false;
		if (f.metric == METRIC_latency && m->latency && before)
			f.paced = paced_of(run, m->latency, before);
		if (isfinite(f.value.mid) && !VEC_PUSH(&out->rows, f))
			return false;
	}
	return true;
}

bool figures_of(const struct report_run *run, struct figures *out, struct err *err)
{
	struct rounds_so_far before = { 0 };
	bool paced = control_is_whole(run);

	for (size_t i = 0; i < figures_points(run); i++) {
		struct report_point point = figures_point(run, i);

		for (size_t k = 0; k < point.modes.n; k++)
			if (!add_mode(out, run, &point, k, paced ? &before : NULL))
				return err_set(err, ERR_MEMORY, "out of memory for figures");
		add_rounds(&before, &point);
	}
	return true;
}

enum { LEAST_REPEATS = 3 };

static bool is_of(const struct repeat *r, const struct figure *f)
{
	return strcmp(r->metric, metrics[f->metric].name) == 0 && strcmp(r->mode, f->mode) == 0 &&
	       (r->n == f->n || (isnan(r->n) && isnan(f->n))) && r->value > 0;
}

static void spread_one(struct figure *f, const struct repeat *repeats, int n)
{
	double sum = 0, squares = 0, mean;
	int k = 0;

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
	f->repeats = k;
	f->spread = stats_student(k - 1) * sqrt(squares / (k - 1));
}

void figures_spread(struct figures *f, const struct repeat *repeats, int n)
{
	for (size_t i = 0; i < f->rows.len; i++)
		if (metrics[f->rows.at[i].metric].kind == FIGURE_TIMED)
			spread_one(&f->rows.at[i], repeats, n);
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
