/* profiler/compare/kernels.c -- kernels added, gone, slower and faster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/compare.h"
#include "profiler/compare/ratio.h"

enum { MOST_KERNELS = 2000 }; /* compared of a mode */

/* Kernels are timed one by one, by a clock that steps: no figure is better known than a
 * step of it. */
static const double clock_step_us = 0.02;
static const double family_error = 0.05;

struct kernel_pair {
	const struct report_kernel *a, *b; /* NULL: there is none */
	bool timed;                        /* `ratio` is set */
	struct interval ratio;
	double chance;
	bool holds; /* it is slower or faster, judged with all others */
};

/* What is compared: all kernels of a, then those of b that a has not. */
struct pairs {
	struct kernel_pair at[2 * MOST_KERNELS];
	const struct report_kernel *in_b[MOST_KERNELS];
	bool met[MOST_KERNELS];
	int n;
};

/* All kernels of the mode's graphs. */
static int gather(const struct report_mode *m, const struct report_kernel **out)
{
	int n = 0;

	for (size_t i = 0; i < m->graphs.n; i++) {
		struct report_kernel_list kernels = m->graphs.at[i].kernel_details;

		for (size_t k = 0; k < kernels.n && n < MOST_KERNELS; k++)
			out[n++] = &kernels.at[k];
	}
	return n;
}

static bool time_of(const struct report_kernel *k, struct interval *out)
{
	*out = (struct interval){ fmax(k->ci_us.low - clock_step_us, k->median_us / 100),
				  k->median_us, k->ci_us.high + clock_step_us };
	return k->seen >= STATS_MIN_SAMPLES && out->mid > 0;
}

static struct kernel_pair pair_of(const struct report_kernel *a, const struct report_kernel *b,
				  double margin)
{
	struct kernel_pair p = { .a = a, .b = b, .chance = 1 };
	struct interval x, y;

	p.timed = a && b && time_of(a, &x) && time_of(b, &y) && ratio_of(&x, &y, &p.ratio);
	if (p.timed)
		p.chance = ratio_chance(&p.ratio, margin);
	return p;
}

static void match(struct pairs *p, const struct report_mode *a, const struct report_mode *b,
		  double margin)
{
	const struct report_kernel *in_a[MOST_KERNELS];
	int n_a = gather(a, in_a), n_b = gather(b, p->in_b);

	for (int i = 0; i < n_a; i++) {
		const struct report_kernel *found = NULL;

		for (int k = 0; !found && k < n_b; k++)
			if (!p->met[k] && strcmp(in_a[i]->name, p->in_b[k]->name) == 0) {
				found = p->in_b[k];
				p->met[k] = true;
			}
		p->at[p->n++] = pair_of(in_a[i], found, margin);
	}
	for (int k = 0; k < n_b; k++)
		if (!p->met[k])
			p->at[p->n++] = pair_of(NULL, p->in_b[k], margin);
}

/* Those that both have are judged together. */
static bool judge(struct pairs *p)
{
	double *chance = calloc((size_t)p->n + 1, sizeof(*chance));
	bool *holds = calloc((size_t)p->n + 1, sizeof(*holds)), ok;
	int n = 0;

	for (int i = 0; chance && i < p->n; i++)
		if (p->at[i].timed)
			chance[n++] = p->at[i].chance;
	ok = chance && holds && ratio_holm(chance, n, family_error, holds);
	for (int i = 0, k = 0; ok && i < p->n; i++)
		p->at[i].holds = p->at[i].timed && holds[k++];
	free(chance);
	free(holds);
	return ok;
}

static struct report_compared_kernel *side(const struct report_kernel *k,
					   struct report_draft *draft)
{
	struct report_compared_kernel *to = report_new_compared_kernel(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET_IF(to, us, k->has.median_us, k->median_us);
	REPORT_SET_IF(to, ci_us, k->has.ci_us, k->ci_us);
	return to;
}

static void fill(struct report_kernel_change *to, const struct changes *c,
		 const struct kernel_pair *p)
{
	const struct report_kernel *either = p->b ? p->b : p->a;

	REPORT_SET(to, mode, c->mode);
	REPORT_SET_IF(to, n, !isnan(c->n), c->n);
	REPORT_SET(to, change,
		   !p->a              ? "added"
		   : !p->b            ? "gone"
		   : p->ratio.mid > 1 ? "slower"
				      : "faster");
	REPORT_SET_IF(to, a, p->a, side(p->a, c->draft));
	REPORT_SET_IF(to, b, p->b, side(p->b, c->draft));
	REPORT_SET(to, name, either->name);
	REPORT_SET(to, form, either->form);
	REPORT_SET(to, ops, either->ops);
	REPORT_SET(to, why, either->why);
	REPORT_SET_IF(to, ratio, p->timed, p->ratio.mid);
	REPORT_SET_IF(to, ci, p->timed, (struct report_interval){ p->ratio.low, p->ratio.high });
}

static bool changed(const struct kernel_pair *p)
{
	return !p->a || !p->b || p->holds;
}

/* Those that changed, after those of the modes before. */
static bool add(struct changes *c, const struct pairs *p)
{
	size_t n = c->kernels.n;
	struct report_kernel_change *all;

	for (int i = 0; i < p->n; i++)
		n += changed(&p->at[i]);
	all = report_new_kernel_change(n, &c->draft->arena);
	if (!all)
		return false;
	if (c->kernels.n)
		memcpy(all, c->kernels.at, c->kernels.n * sizeof(*all));
	c->kernels.at = all;
	for (int i = 0; i < p->n; i++)
		if (changed(&p->at[i]))
			fill(&all[c->kernels.n++], c, &p->at[i]);
		else
			c->kernels_same++;
	return true;
}

bool changes_kernels(struct changes *c, double margin)
{
	struct pairs *p = calloc(1, sizeof(*p));
	bool ok = p != NULL;

	if (ok) {
		match(p, c->a, c->b, margin);
		ok = judge(p) && add(c, p);
	}
	free(p);
	return ok;
}
