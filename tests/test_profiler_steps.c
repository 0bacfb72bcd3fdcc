/* tests/test_profiler_steps.c -- steps in histories: known ones are found, noise has none.
 *
 * tests/history/histories.json has synthetic histories with the steps that they were made with, and
 * what asv and PELT find in them (tests/history/histories.py). */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/history/steps.h"
#include "profiler/workload/random.h"

enum { NEAR = 2, MOST = 400 };

/* ---- against asv and PELT ---- */

struct score {
	int found, right, there, met;
};

/* Which of `truth` has a step within NEAR runs, and which of `at` are one. */
static void count(struct score *s, const json_t *truth, const int *at, int n)
{
	int there = (int)json_array_size(truth);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < there; k++)
			if (abs(at[i] - (int)json_integer_value(
					    json_array_get(truth, (size_t)k))) <= NEAR) {
				s->right++;
				break;
			}
	for (int k = 0; k < there; k++)
		for (int i = 0; i < n; i++)
			if (abs(at[i] - (int)json_integer_value(
					    json_array_get(truth, (size_t)k))) <= NEAR) {
				s->met++;
				break;
			}
	s->found += n;
	s->there += there;
}

static int ours(const json_t *h, int *at)
{
	const json_t *values = json_object_get(h, "values"), *half = json_object_get(h, "half");
	struct interval v[MOST];
	struct series_steps found;
	int n = (int)json_array_size(values);

	assert_in_range(n, 1, MOST);
	for (int i = 0; i < n; i++) {
		double mid = json_number_value(json_array_get(values, (size_t)i));
		double w = json_number_value(json_array_get(half, (size_t)i));

		v[i] = (struct interval){ mid - w, mid, mid + w };
	}
	assert_true(steps_find(&(struct steps_series){ .values = v, .n = n, .family = 1 }, &found));
	for (size_t i = 0; i < found.at.len; i++)
		at[i] = found.at.at[i].at;
	n = (int)found.at.len;
	steps_finish(&found);
	return n;
}

static int theirs(const json_t *h, const char *who, int *at)
{
	const json_t *list = json_object_get(json_object_get(h, "found"), who);

	for (size_t i = 0; i < json_array_size(list); i++)
		at[i] = (int)json_integer_value(json_array_get(list, i));
	return (int)json_array_size(list);
}

static double precision(const struct score *s)
{
	return s->found ? (double)s->right / s->found : 1;
}

static double recall(const struct score *s)
{
	return s->there ? (double)s->met / s->there : 1;
}

static double both(const struct score *s)
{
	return 2 * precision(s) * recall(s) / (precision(s) + recall(s));
}

/* The kinds take turns in the file. */
enum { KINDS = 12, OURS = 0, ASV, PELT, THREE };
static const char *const who[THREE] = { "here", "asv", "pelt" };

static void print_scores(const char *kind, const struct score s[THREE])
{
	printf("%-11s", kind);
	for (int k = 0; k < THREE; k++)
		printf("  %s %3d of %3d steps, %3d told", who[k], s[k].met, s[k].there, s[k].found);
	putchar('\n');
}

static void a_step_is_found_as_surely_as_asv_does_and_noise_is_none(void **state)
{
	struct score all[THREE] = { { 0 } }, of[KINDS][THREE] = { { { 0 } } };
	json_t *histories = json_load_file("tests/history/histories.json", 0, NULL);
	json_t *h;
	size_t i;

	(void)state;
	assert_non_null(histories);
	json_array_foreach(histories, i, h)
	{
		const json_t *truth = json_object_get(h, "steps");
		int at[MOST], n;

		for (int k = 0; k < THREE; k++) {
			n = k == OURS ? ours(h, at) : theirs(h, who[k], at);
			count(&all[k], truth, at, n);
			count(&of[i % KINDS][k], truth, at, n);
		}
	}
	assert_in_range(i, 100, 1000);
	for (i = 0; i < KINDS; i++)
		print_scores(
		    json_string_value(json_object_get(json_array_get(histories, i), "kind")),
		    of[i]);
	for (int k = 0; k < THREE; k++)
		printf("%-5s precision %.3f recall %.3f\n", who[k], precision(&all[k]),
		       recall(&all[k]));
	assert_true(precision(&all[OURS]) >= precision(&all[ASV]));
	assert_true(recall(&all[OURS]) >= recall(&all[ASV]));
	assert_true(precision(&all[OURS]) >= precision(&all[PELT]));
	assert_true(both(&all[OURS]) >= both(&all[PELT]));
	json_decref(histories);
}

/* ---- what holds of any history ---- */

struct made {
	struct interval v[MOST];
	int n;
};

static double uniform(uint64_t *position)
{
	return ((double)(random_next(11, position) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *position)
{
	double u = uniform(position);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform(position));
}

/* n runs around 100, from `at` on `ratio` times that. */
static void make(struct made *m, uint64_t *position, double sigma, int n, int at, double ratio)
{
	m->n = n;
	for (int i = 0; i < n; i++) {
		double mid = 100 * (i >= at ? ratio : 1) * exp(sigma * normal(position));

		m->v[i] = (struct interval){ mid * exp(-sigma), mid, mid * exp(sigma) };
	}
}

static struct series_steps find(const struct made *m, bool counts, int family)
{
	struct series_steps found;

	assert_true(steps_find(&(struct steps_series){ m->v, m->n, counts, family, 0 }, &found));
	return found;
}

static void histories_without_a_step_have_none_49_times_in_50(void **state)
{
	enum { DRAWS = 300 };
	static const int sizes[] = { 4, 6, 10, 20, 50, 200 };
	uint64_t position = 0;
	int wrong = 0;

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (int i = 0; i < DRAWS; i++) {
			struct made m;
			struct series_steps found;

			make(&m, &position, 0.03, sizes[s], MOST, 1);
			found = find(&m, false, 1);
			wrong += found.at.len > 0;
			steps_finish(&found);
		}
	printf("%d of %d histories without a step have one\n", wrong, DRAWS * 6);
	assert_true(wrong <= DRAWS * 6 / 50);
}

static void an_odd_run_is_no_step_and_comes_back_before_it_is_one(void **state)
{
	uint64_t position = 0;
	struct made m;
	struct series_steps found;

	(void)state;
	make(&m, &position, 0.01, 30, MOST, 1);
	m.v[15].mid *= 1.5;
	m.v[15].low *= 1.5;
	m.v[15].high *= 1.5;
	found = find(&m, false, 1);
	assert_int_equal(found.at.len, 0);
	assert_false(found.pending);
	m.n = 16; /* the odd run is the newest */
	found = find(&m, false, 1);
	assert_int_equal(found.at.len, 0);
	assert_true(found.pending);
	m.v[16] = m.v[15];
	m.n = 17; /* and again */
	found = find(&m, false, 1);
	assert_int_equal(found.at.len, 1);
	assert_int_equal(found.at.at[0].at, 15);
	assert_false(found.pending);
	steps_finish(&found);
}

static void the_change_and_its_place_are_in_their_intervals(void **state)
{
	enum { DRAWS = 400 };
	uint64_t position = 0;
	int met = 0, size = 0, where = 0, levels = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		struct made m;
		struct series_steps f;

		make(&m, &position, 0.02, 40, 10 + i % 20, 1.08);
		f = find(&m, false, 1);
		if (f.at.len == 1) {
			const struct series_step *s = &f.at.at[0];

			met++;
			size += s->change.low <= 1.08 && 1.08 <= s->change.high;
			where += s->earliest <= 10 + i % 20 && 10 + i % 20 <= s->latest;
			levels += s->before.low <= 100 && 100 <= s->before.high;
			assert_true(s->from < s->earliest && s->latest < s->to);
			assert_in_range(s->at, s->earliest, s->latest);
		}
		steps_finish(&f);
	}
	printf("%d of %d steps of 8 %% at 2 %% of noise; intervals hold the size %d, the place %d, "
	       "the level %d times\n",
	       met, DRAWS, size, where, levels);
	assert_true(met >= 0.95 * DRAWS);
	assert_true(size >= 0.9 * met && where >= 0.9 * met && levels >= 0.9 * met);
}

static void counts_step_by_one_and_stay(void **state)
{
	static const int counts[] = { 1, 1, 1, 1, 3, 1, 1, 2, 2, 2, 2 };
	struct made m = { .n = 11 };
	struct series_steps found;

	(void)state;
	for (int i = 0; i < m.n; i++)
		m.v[i] = (struct interval){ NAN, counts[i], NAN };
	found = find(&m, true, 200);
	assert_int_equal(found.at.len, 1);
	assert_int_equal(found.at.at[0].at, 7);
	assert_int_equal(found.at.at[0].earliest, 7);
	assert_int_equal(found.at.at[0].latest, 7);
	assert_true(fabs(found.at.at[0].before.mid - 1) < 1e-9);
	assert_true(fabs(found.at.at[0].after.mid - 2) < 1e-9);
	steps_finish(&found);
}

static void a_scale_changes_no_step(void **state)
{
	uint64_t position = 0;
	struct made m;

	(void)state;
	for (int k = 0; k < 40; k++) {
		struct series_steps a, b;

		make(&m, &position, 0.02, 60, 20 + k / 2, 1.1);
		a = find(&m, false, 1);
		for (int i = 0; i < m.n; i++)
			m.v[i] = (struct interval){ m.v[i].low * 1e-6, m.v[i].mid * 1e-6,
						    m.v[i].high * 1e-6 };
		b = find(&m, false, 1);
		assert_int_equal(a.at.len, b.at.len);
		for (size_t i = 0; i < a.at.len; i++) {
			assert_int_equal(a.at.at[i].at, b.at.at[i].at);
			assert_true(fabs(a.at.at[i].change.mid / b.at.at[i].change.mid - 1) < 1e-6);
		}
		steps_finish(&a);
		steps_finish(&b);
	}
}

static void a_drift_is_told_and_is_no_step(void **state)
{
	uint64_t position = 0;
	int told = 0, steps = 0;

	(void)state;
	for (int k = 0; k < 100; k++) {
		struct series_steps found;
		struct made m;

		make(&m, &position, 0.01, 60, MOST, 1);
		for (int i = 0; i < m.n; i++)
			m.v[i].mid *= 1 + 0.002 * i;
		found = find(&m, false, 1);
		steps += found.at.len > 0;
		told += found.drift > 0.08 && found.drift < 0.16;
		steps_finish(&found);
	}
	printf("of 100 drifts of 12 %% %d are told, %d are steps\n", told, steps);
	assert_true(told >= 85);
	assert_true(steps <= 15);
}

static void alike_runs_and_very_few_have_no_step(void **state)
{
	struct made m = { .n = 3 };
	struct series_steps found;

	(void)state;
	for (int i = 0; i < MOST; i++)
		m.v[i] = (struct interval){ 5, 5, 5 };
	m.v[2] = (struct interval){ 50, 50, 50 };
	found = find(&m, false, 1);
	assert_int_equal(found.at.len, 0);
	assert_true(isnan(found.noise));
	m.v[2] = m.v[1];
	m.n = MOST;
	found = find(&m, false, 1);
	assert_int_equal(found.at.len, 0);
	steps_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_found_as_surely_as_asv_does_and_noise_is_none),
		cmocka_unit_test(histories_without_a_step_have_none_49_times_in_50),
		cmocka_unit_test(an_odd_run_is_no_step_and_comes_back_before_it_is_one),
		cmocka_unit_test(the_change_and_its_place_are_in_their_intervals),
		cmocka_unit_test(counts_step_by_one_and_stay),
		cmocka_unit_test(a_scale_changes_no_step),
		cmocka_unit_test(a_drift_is_told_and_is_no_step),
		cmocka_unit_test(alike_runs_and_very_few_have_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
