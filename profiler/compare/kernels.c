/* profiler/compare/kernels.c -- kernels added, gone, slower and faster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/compare.h"
#include "profiler/compare/ratio.h"
#include "profiler/fields/json.h"
#include "profiler/numbers/numbers.h"

enum { MOST_KERNELS = 2000 }; /* compared of a mode */

/* Kernels are timed one by one, by a clock that steps: no figure is better known than a
 * step of it. */
static const double clock_step_us = 0.02;
static const double family_error = 0.05;

struct pair {
	const json_t *a, *b; /* NULL: there is none */
	bool timed;          /* `ratio` is set */
	struct interval ratio;
	double chance;
	bool stands;
};

/* What is compared: all kernels of a, then those of b that a has not. */
struct pairs {
	struct pair at[2 * MOST_KERNELS];
	const json_t *in_b[MOST_KERNELS];
	bool met[MOST_KERNELS];
	int n;
};

/* All kernels of the mode's graphs. */
static int gather(const json_t *m, const json_t **out)
{
	const json_t *graph, *kernel;
	size_t i, k;
	int n = 0;

	json_array_foreach(json_object_get(m, "graphs"), i, graph)
	{
		json_array_foreach(json_object_get(graph, "kernel_details"), k, kernel)
		{
			if (n < MOST_KERNELS)
				out[n++] = kernel;
		}
	}
	return n;
}

static bool time_of(const json_t *kernel, struct interval *out)
{
	*out = (struct interval){ number_end(kernel, "ci_us", 0), number_field(kernel, "median_us"),
				  number_end(kernel, "ci_us", 1) };
	out->low = fmax(out->low - clock_step_us, out->mid / 100);
	out->high += clock_step_us;
	return number_field(kernel, "seen") >= STATS_MIN_SAMPLES && out->mid > 0;
}

static struct pair pair_of(const json_t *a, const json_t *b, double margin)
{
	struct pair p = { .a = a, .b = b, .chance = 1 };
	struct interval x, y;

	p.timed = a && b && time_of(a, &x) && time_of(b, &y) && ratio_of(&x, &y, &p.ratio);
	if (p.timed)
		p.chance = ratio_chance(&p.ratio, margin);
	return p;
}

static bool same_name(const json_t *a, const json_t *b)
{
	const char *x = json_string_value(json_object_get(a, "name")),
		   *y = json_string_value(json_object_get(b, "name"));

	return x && y && strcmp(x, y) == 0;
}

static void match(struct pairs *p, const json_t *a, const json_t *b, double margin)
{
	const json_t *in_a[MOST_KERNELS];
	int n_a = gather(a, in_a), n_b = gather(b, p->in_b);

	for (int i = 0; i < n_a; i++) {
		const json_t *found = NULL;

		for (int k = 0; !found && k < n_b; k++)
			if (!p->met[k] && same_name(in_a[i], p->in_b[k])) {
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
static bool judge(struct pairs *p, struct err *err)
{
	double *chance = calloc((size_t)p->n + 1, sizeof(*chance));
	bool *stands = calloc((size_t)p->n + 1, sizeof(*stands)), ok;
	int n = 0;

	for (int i = 0; chance && i < p->n; i++)
		if (p->at[i].timed)
			chance[n++] = p->at[i].chance;
	ok = chance && stands && ratio_holm(chance, n, family_error, stands);
	for (int i = 0, k = 0; ok && i < p->n; i++)
		p->at[i].stands = p->at[i].timed && stands[k++];
	free(chance);
	free(stands);
	return ok || err_set(err, ERR_MEMORY, "out of memory for kernels");
}

static json_t *side(const json_t *kernel)
{
	const json_t *us = json_object_get(kernel, "median_us"),
		     *ends = json_object_get(kernel, "ci_us");

	if (!kernel)
		return json_null();
	return json_pack("{s:o, s:o}", "us", us ? json_incref((json_t *)us) : json_null(), "ci_us",
			 ends ? json_incref((json_t *)ends) : json_null());
}

static void add(json_t *list, struct place at, const struct pair *p)
{
	static const char *const facts[] = { "name", "form", "ops", "why" };
	const json_t *either = p->b ? p->b : p->a;
	json_t *row = json_pack("{s:s, s:o, s:s, s:o, s:o}", "mode", at.mode, "n",
				at.n ? json_incref((json_t *)at.n) : json_null(), "change",
				!p->a              ? "added"
				: !p->b            ? "gone"
				: p->ratio.mid > 1 ? "slower"
						   : "faster",
				"a", side(p->a), "b", side(p->b));

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		json_object_set(row, facts[i], json_object_get(either, facts[i]));
	if (p->timed) {
		json_object_set_new(row, "ratio", json_real(p->ratio.mid));
		json_object_set_new(row, "ci", json_pack("[f, f]", p->ratio.low, p->ratio.high));
	}
	json_array_append_new(list, row);
}

bool changes_kernels(json_t *list, struct place at, struct measured a, struct measured b,
		     double margin, int *same, struct err *err)
{
	struct pairs *p = calloc(1, sizeof(*p));
	bool ok;

	if (!p)
		return err_set(err, ERR_MEMORY, "out of memory for kernels");
	match(p, a.mode, b.mode, margin);
	ok = judge(p, err);
	for (int i = 0; ok && i < p->n; i++) {
		if (!p->at[i].a || !p->at[i].b || p->at[i].stands)
			add(list, at, &p->at[i]);
		else
			++*same;
	}
	free(p);
	return ok;
}
