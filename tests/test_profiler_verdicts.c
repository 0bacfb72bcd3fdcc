/* tests/test_profiler_verdicts.c -- verdicts of many pairs of runs whose truth is known.  Every
 * draw is seeded, so a pass stays a pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/compare/compare.h"
#include "profiler/workload/random.h"
#include "tests/complete.h"

enum { PROCESSES = 3, FIRST = 90, OTHERS = 30, PAIRS = 200 };

static uint64_t position;

static double uniform(void)
{
	return ((double)(random_next(11, &position) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* What a run is like. */
struct truth {
	double us;         /* of a call, where nothing disturbs */
	double process_sd; /* of the logs of processes */
	double busy;       /* the share of samples that others make longer, by up to a half */
	double drift;      /* of the machine: the control has it too */
	int rounds;        /* of the first process; 0: FIRST */
};

static json_t *samples(const struct truth *t, double us, int n, int others)
{
	json_t *list = json_array();

	for (int p = 0; p < PROCESSES; p++) {
		double process = us * t->drift * exp(t->process_sd * normal());

		for (int i = 0; i < (p ? others : n); i++) {
			double x = process * (1 + 0.004 * -log(uniform()));

			if (uniform() < t->busy)
				x *= 1 + uniform() / 2;
			json_array_append_new(list, json_integer(llround(x * 1000)));
		}
	}
	return list;
}

static json_t *timed(const struct truth *t, double us)
{
	int n = t->rounds ? t->rounds : FIRST, others = t->rounds ? 0 : OTHERS;

	return json_pack("{s:f, s:[f,f], s:i, s:[i,i,i], s:o}", "median_us", us, "ci_us", us * 0.99,
			 us * 1.01, "n", n + 2 * others, "of_process", n, others, others,
			 "samples_ns", samples(t, us, n, others));
}

/* One mode, static, so that no eager is there as a control. */
static json_t *report(const struct truth *t)
{
	return complete(REPORT_RECORD(run),
			json_pack("{s:{s:s, s:[]}, s:{s:s}, s:{s:{s:o, s:[], s:[], s:[]}}, s:o}",
				  "workload", "source", "x", "calls", "device", "kind", "cpu",
				  "modes", "static", "latency", timed(t, t->us), "graphs", "breaks",
				  "recompiles", "control",
				  json_pack("{s:f, s:[f,f], s:i, s:[i,i]}", "median_us",
					    20 * t->drift, "ci_us", 19.98 * t->drift,
					    20.02 * t->drift, "n", 90, "of_process", 60, 30)));
}

/* How many of the pairs have the verdict. */
static int count(const struct truth *a, const struct truth *b, double margin, const char *verdict)
{
	const struct compare_options o = { .margin = margin };
	int n = 0;

	position = 0;
	for (int i = 0; i < PAIRS; i++) {
		json_t *heads[2] = { json_object(), json_object() },
		       *reports[2] = { report(a), report(b) };
		struct compared_run runs[] = { { .head = heads[0], .report = reports[0] },
					       { .head = heads[1], .report = reports[1] } };
		struct err err = { 0 };
		json_t *c = compare_runs(runs, 2, &o, &err);

		if (!c)
			fail_msg("%s", err.message);
		n += strcmp(json_string_value(json_object_get(c, "verdict")), verdict) == 0;
		json_decref(c);
		for (int k = 0; k < 2; k++) {
			json_decref(heads[k]);
			json_decref(reports[k]);
		}
	}
	return n;
}

static const struct truth quiet = { 100, 0.01, 0.1, 1, 0 }, noisy = { 100, 0.01, 0.4, 1, 0 };

static const struct truth busy = { 100, 0.01, 0.6, 1, 0 };

static void what_did_not_change_is_the_same(void **state)
{
	(void)state;
	assert_true(count(&quiet, &quiet, 0, "SAME") >= 0.9 * PAIRS);
	assert_true(count(&noisy, &noisy, 0, "SAME") >= 0.8 * PAIRS);
	assert_true(count(&noisy, &noisy, 0, "SLOWER") + count(&noisy, &noisy, 0, "FASTER") <=
		    0.02 * PAIRS);
	/* one is quiet and the other is not */
	assert_true(count(&quiet, &noisy, 0, "SLOWER") <= 0.02 * PAIRS);
	/* most samples are disturbed: little is known, and nothing wrong is said */
	assert_true(count(&busy, &busy, 0, "SLOWER") + count(&busy, &busy, 0, "FASTER") <=
		    0.02 * PAIRS);
}

static void a_change_as_large_as_the_margin_is_found(void **state)
{
	struct truth slower = quiet;

	(void)state;
	slower.us = 105;
	assert_true(count(&quiet, &slower, 0, "SLOWER") >= 0.95 * PAIRS);
	assert_true(count(&slower, &quiet, 0, "FASTER") >= 0.95 * PAIRS);
}

static void what_is_smaller_than_the_margin_is_the_same(void **state)
{
	struct truth slower = quiet;

	(void)state;
	slower.us = 104; /* surely more, and surely less than 10 % */
	assert_true(count(&quiet, &slower, 0.1, "SAME") >= 0.95 * PAIRS);
	assert_true(count(&quiet, &slower, 0.03, "SLOWER") >= 0.8 * PAIRS);
	assert_int_equal(count(&quiet, &slower, 0.03, "SAME"), 0);
}

static void same_within_1_percent_is_not_said_of_2(void **state)
{
	struct truth slower = quiet;

	(void)state;
	slower.us = 102;
	assert_true(count(&quiet, &slower, 0.01, "SAME") <= 0.05 * PAIRS);
}

static void a_machine_that_drifted_makes_nothing_slower(void **state)
{
	struct truth drifted = quiet, slower = quiet;

	(void)state;
	drifted.drift = 1.06;
	assert_int_equal(count(&quiet, &drifted, 0, "SLOWER"), 0);
	slower.us = 112;
	slower.drift = 1.03; /* 1.12 without it, 1.15 with it */
	assert_true(count(&quiet, &slower, 0, "SLOWER") >= 0.95 * PAIRS);
}

static void processes_that_lie_apart_are_no_verdict(void **state)
{
	struct truth apart = quiet;

	(void)state;
	apart.process_sd = 0.05;
	assert_true(count(&apart, &apart, 0, "SAME") <= 0.5 * PAIRS);
	assert_true(count(&apart, &apart, 0, "AMBIGUOUS") >= 0.5 * PAIRS);
}

static void few_rounds_are_not_enough(void **state)
{
	struct truth few = quiet;

	(void)state;
	few.rounds = 5;
	assert_int_equal(count(&few, &quiet, 0, "NOT ENOUGH"), PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_did_not_change_is_the_same),
		cmocka_unit_test(a_change_as_large_as_the_margin_is_found),
		cmocka_unit_test(what_is_smaller_than_the_margin_is_the_same),
		cmocka_unit_test(same_within_1_percent_is_not_said_of_2),
		cmocka_unit_test(a_machine_that_drifted_makes_nothing_slower),
		cmocka_unit_test(processes_that_lie_apart_are_no_verdict),
		cmocka_unit_test(few_rounds_are_not_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
