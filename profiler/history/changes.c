/* profiler/history/changes.c -- where the figures of a workload stepped, all of them together. */
#include "profiler/history/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EAGER "eager"

/* Words of a change's verdict, the worst first. */
static const char *const words[] = { "SLOWER", "FASTER", "MORE", "LESS", "AMBIGUOUS" };
enum { WORDS = sizeof(words) / sizeof(words[0]) };

struct steps_in_all {
	VEC(struct changed_figure) at;
};

/* ---- series ---- */

static bool same_figure(const struct change_figure *a, const struct change_figure *b)
{
	return strcmp(a->metric, b->metric) == 0 && strcmp(a->mode, b->mode) == 0 &&
	       (a->n == b->n || (isnan(a->n) && isnan(b->n)));
}

static int end_of_series(const struct change_figure *f, int from, int n)
{
	int to = from + 1;

	while (to < n && same_figure(&f[from], &f[to]))
		to++;
	return to;
}

/* What is timed makes false alarms, so its number counts. */
static int family_of(const struct change_figure *f, int n)
{
	enum figure_metric metric;
	struct err none = { 0 };
	int family = 0;

	for (int i = 0; i < n; i = end_of_series(f, i, n))
		family += metric_from_name(f[i].metric, &metric, &none) &&
			  metric_info(metric)->kind == FIGURE_TIMED;
	return family > 0 ? family : 1;
}

static bool is_count(const struct metric_info *m)
{
	return m->kind == FIGURE_COUNTED && !*m->unit;
}

static const char *verdict_of_step(const struct metric_info *m, const struct series_step *s)
{
	double none = is_count(m) ? 0 : 1;
	bool up = s->change.low > none, down = s->change.high < none;

	if (!up && !down)
		return "AMBIGUOUS";
	if (m->kind == FIGURE_COUNTED)
		return up ? "MORE" : "LESS";
	return up == m->more_is_better ? "FASTER" : "SLOWER";
}

/* The steps of one series, f[from..to). */
static bool add_series(const struct change_figure *f, int n, int family, struct steps_in_all *out)
{
	struct interval *values = calloc((size_t)n, sizeof(*values));
	enum figure_metric metric;
	struct err none = { 0 };
	struct series_steps steps = { 0 };
	bool ok = values != NULL;
	int kept = n < STEPS_MOST_RUNS ? n : STEPS_MOST_RUNS;

	if (!ok || !metric_from_name(f->metric, &metric, &none)) {
		free(values);
		return ok;
	}
	f += n - kept;
	for (int i = 0; i < kept; i++)
		values[i] = f[i].value;
	ok = steps_find(&(struct steps_series){ .values = values,
						.n = kept,
						.counts = is_count(metric_info(metric)),
						.family = family },
			&steps);
	for (size_t i = 0; ok && i < steps.at.len; i++)
		ok = VEC_PUSH(&out->at,
			      (struct changed_figure){
				  .metric = metric_info(metric),
				  .mode = f->mode,
				  .n = f->n,
				  .verdict = verdict_of_step(metric_info(metric), &steps.at.at[i]),
				  .step = steps.at.at[i],
				  .series = f,
				  .ended = i + 1 < steps.at.len });
	steps_finish(&steps);
	free(values);
	return ok;
}

/* A figure of logs needs all of it above 0. */
static bool can_be_taken(const struct change_figure *f, int n)
{
	enum figure_metric metric;
	struct err none = { 0 };

	if (!metric_from_name(f->metric, &metric, &none))
		return false;
	for (int i = 0; i < n; i++)
		if (!isfinite(f[i].value.mid) ||
		    (!is_count(metric_info(metric)) && !(f[i].value.mid > 0)))
			return false;
	return true;
}

/* ---- changes ---- */

static int64_t run_of(const struct changed_figure *c, int at)
{
	return c->series[at].run;
}

static int place_of(const struct changed_figure *c, int at)
{
	return c->series[at].place;
}

/* The surest place first. */
static int by_width(const void *a, const void *b)
{
	const struct changed_figure *x = a, *y = b;
	int wide_x = x->step.latest - x->step.earliest, wide_y = y->step.latest - y->step.earliest;

	if (wide_x != wide_y)
		return wide_x < wide_y ? -1 : 1;
	return place_of(x, x->step.at) - place_of(y, y->step.at);
}

static int by_place(const void *a, const void *b)
{
	const struct change_at *x = a, *y = b;

	return x->place - y->place;
}

/* The change that a step may be part of: one whose first run is where the step may lie. */
static struct change_at *change_for(struct changes_found *out, const struct changed_figure *c)
{
	for (int i = 0; i < out->n; i++)
		if (place_of(c, c->step.earliest) <= out->at[i].place &&
		    out->at[i].place <= place_of(c, c->step.latest))
			return &out->at[i];
	return NULL;
}

/* Each step into the change that it is part of: `of` says which. */
static void group(struct steps_in_all *all, struct changes_found *out, int *of)
{
	for (size_t i = 0; i < all->at.len; i++) {
		const struct changed_figure *c = &all->at.at[i];
		struct change_at *into = change_for(out, c);

		if (!into) {
			into = &out->at[out->n++];
			*into = (struct change_at){ .before = run_of(c, c->step.at - 1),
						    .run = run_of(c, c->step.at),
						    .place = place_of(c, c->step.at) };
		}
		of[i] = (int)(into - out->at);
		into->n_figures++;
	}
}

static bool fill(struct steps_in_all *all, struct changes_found *out, const int *of,
		 struct arena *arena)
{
	for (int k = 0; k < out->n; k++) {
		struct change_at *c = &out->at[k];

		c->figures = ARENA_ARRAY(arena, struct changed_figure, (size_t)c->n_figures);
		if (!c->figures)
			return false;
		c->n_figures = 0;
		for (size_t i = 0; i < all->at.len; i++)
			if (of[i] == k)
				c->figures[c->n_figures++] = all->at.at[i];
	}
	return true;
}

/* ---- verdicts ---- */

static bool is_latency(const struct changed_figure *f, bool eager)
{
	return strcmp(f->metric->name, "latency") == 0 && (strcmp(f->mode, EAGER) == 0) == eager;
}

static bool at_one_point(const struct changed_figure *a, const struct changed_figure *b)
{
	return a->n == b->n || (isnan(a->n) && isnan(b->n));
}

/* Whether both levels are of one program. */
static bool same_program(const struct changed_figure *f)
{
	return strcmp(f->series[f->step.at - 1].program, f->series[f->step.at].program) == 0;
}

static const struct changed_figure *control_of(const struct change_at *c,
					       const struct changed_figure *f)
{
	for (int i = 0; i < c->n_figures; i++)
		if (is_latency(&c->figures[i], true) && at_one_point(&c->figures[i], f) &&
		    same_program(&c->figures[i]))
			return &c->figures[i];
	return NULL;
}

/* Latencies of compiled modes; where eager moved, their speedups instead; and what is counted or
 * measured once a run. */
static bool decides(const struct change_at *c, const struct changed_figure *f)
{
	bool moved = control_of(c, f) != NULL;

	if (is_latency(f, true))
		return !same_program(f);
	if (is_latency(f, false))
		return !moved;
	return strcmp(f->metric->name, "speedup") != 0 || moved;
}

static void judge(struct change_at *c)
{
	c->verdict = "MACHINE";
	for (int w = WORDS - 1; w >= 0; w--)
		for (int i = 0; i < c->n_figures; i++) {
			struct changed_figure *f = &c->figures[i];

			f->decides = decides(c, f);
			if (f->decides && strcmp(f->verdict, words[w]) == 0)
				c->verdict = words[w];
		}
}

bool changes_find(const struct change_figure *figures, int n, struct arena *arena,
		  struct changes_found *out)
{
	int family = family_of(figures, n), *of;
	struct steps_in_all all = { 0 };
	bool ok = true;

	for (int i = 0, to; ok && i < n; i = to) {
		to = end_of_series(figures, i, n);
		if (can_be_taken(&figures[i], to - i))
			ok = add_series(&figures[i], to - i, family, &all);
	}
	if (all.at.len)
		qsort(all.at.at, all.at.len, sizeof(*all.at.at), by_width);
	of = calloc(all.at.len + 1, sizeof(*of));
	*out = (struct changes_found){ ARENA_ARRAY(arena, struct change_at, all.at.len + 1), 0 };
	ok = ok && of && out->at;
	if (ok) {
		group(&all, out, of);
		ok = fill(&all, out, of, arena);
	}
	for (int k = 0; ok && k < out->n; k++)
		judge(&out->at[k]);
	if (ok && out->n)
		qsort(out->at, (size_t)out->n, sizeof(*out->at), by_place);
	free(of);
	VEC_FREE(&all.at);
	return ok;
}
