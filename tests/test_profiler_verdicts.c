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
	double pace;       /* how much slower its core may be for some rounds, a log; 0: the control
			    * keeps no samples */
	double felt;       /* the part of the drift and of the pace that a call takes part in */
	double host; /* the processor's share of a call of a GPU; 0: it runs on the processor */
	const char *machine;
};

/* The core of a process, from round to round: it changes its pace now and then. */
static double next_pace(const struct truth *t, double now)
{
	if (uniform() > 0.2)
		return now;
	return uniform() < 0.4 ? t->pace * uniform() : 0;
}

static int64_t control_ns(const struct truth *t, double pace)
{
	double us = 20 * t->drift * exp(pace + 0.003 * normal());

	return llround((uniform() < 0.02 ? 10 * us : us) * 1000);
}

static json_t *samples(const struct truth *t, double us, int n, int others, json_t *control)
{
	double felt = t->pace > 0 ? t->felt : 1;
	json_t *list = json_array();

	for (int p = 0; p < PROCESSES; p++) {
		double process = us * pow(t->drift, felt) * exp(t->process_sd * normal());
		double pace = 0;

		for (int i = 0; i < (p ? others : n); i++) {
			double x = process * (1 + 0.004 * -log(uniform()));

			if (t->pace > 0) {
				pace = next_pace(t, pace);
				x *= exp(felt * pace);
				json_array_append_new(control, json_integer(control_ns(t, pace)));
			}
			if (uniform() < t->busy)
				x *= 1 + uniform() / 2;
			json_array_append_new(list, json_integer(llround(x * 1000)));
		}
	}
	return list;
}

static json_t *timed(const struct truth *t, double us, json_t *control)
{
	int n = t->rounds ? t->rounds : FIRST, others = t->rounds ? 0 : OTHERS;

	return json_pack("{s:f, s:[f,f], s:i, s:[i,i,i], s:o}", "median_us", us, "ci_us", us * 0.99,
			 us * 1.01, "n", n + 2 * others, "of_process", n, others, others,
			 "samples_ns", samples(t, us, n, others, control));
}

/* One mode, static, so that no eager is there as a control. */
static json_t *report(const struct truth *t)
{
	json_t *beside = json_array(), *latency = timed(t, t->us, beside);
	json_t *control = json_pack("{s:f, s:[f,f], s:i, s:O}", "median_us", 20 * t->drift, "ci_us",
				    19.98 * t->drift, 20.02 * t->drift, "n", 90, "of_process",
				    json_object_get(latency, "of_process"));

	if (t->pace > 0)
		json_object_set(control, "samples_ns", beside);
	json_decref(beside);
	return complete(
	    REPORT_RECORD(run),
	    json_pack("{s:{s:s, s:[]}, s:{s:s}, s:{s:s, s:s}, s:{s:{s:o, s:{s:f, s:f}, s:[], "
		      "s:[], s:[]}}, s:o}",
		      "workload", "source", "x", "calls", "device", "kind",
		      t->host > 0 ? "cuda" : "cpu", "environment", "cpu",
		      t->machine ? t->machine : "one", "breakeven", "0.1.0", "modes", "static",
		      "latency", latency, "split_us", "observed", 100.0, "rest",
		      100 * (1 - t->host), "graphs", "breaks", "recompiles", "control", control));
}

/* How many of the pairs have the verdict, or one of several. */
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
		n += strstr(verdict, json_string_value(json_object_get(c, "verdict"))) != NULL;
		json_decref(c);
		for (int k = 0; k < 2; k++) {
			json_decref(heads[k]);
			json_decref(reports[k]);
		}
	}
	return n;
}

static const struct truth quiet = { .us = 100, .process_sd = 0.01, .busy = 0.1, .drift = 1 },
			  noisy = { .us = 100, .process_sd = 0.01, .busy = 0.4, .drift = 1 };

static const struct truth busy = { .us = 100, .process_sd = 0.01, .busy = 0.6, .drift = 1 };

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

/* ---- the control, beside the rounds of a call that waits for its launches alone */

static const struct truth launches = { .us = 200,
				       .process_sd = 0.01,
				       .busy = 0.1,
				       .drift = 1,
				       .pace = 0.1,
				       .felt = 0.9,
				       .host = 0.95 };

static int told(const struct truth *a, const struct truth *b)
{
	return count(a, b, 0, "SLOWER FASTER");
}

static void a_drift_that_the_rounds_show_is_taken_out(void **state)
{
	struct truth slow = launches, quick = launches, one = launches;

	(void)state;
	slow.drift = 1.06;
	quick.drift = 0.95;
	assert_true(count(&launches, &launches, 0, "SAME") >= 0.9 * PAIRS);
	assert_true(count(&launches, &slow, 0, "SAME") >= 0.9 * PAIRS);
	assert_true(count(&launches, &quick, 0, "SAME") >= 0.9 * PAIRS);
	assert_int_equal(told(&launches, &slow) + told(&launches, &quick), 0);
	/* of a processor too */
	one.host = slow.host = 0;
	assert_true(count(&one, &slow, 0, "SAME") >= 0.9 * PAIRS);
}

static void a_change_beside_a_drift_is_found(void **state)
{
	struct truth slower = launches;

	(void)state;
	slower.us *= 1.05;
	assert_true(count(&launches, &slower, 0, "SLOWER") >= 0.95 * PAIRS);
	slower.drift = 0.95; /* they take as long as before */
	assert_true(count(&launches, &slower, 0, "SLOWER") >= 0.95 * PAIRS);
	slower.drift = 1.05;
	assert_true(count(&launches, &slower, 0, "SLOWER") >= 0.95 * PAIRS);
	assert_true(count(&slower, &launches, 0, "FASTER") >= 0.95 * PAIRS);
}

/* The control alone, or the call in part: nothing is said to be faster that is not. */
static void what_the_control_alone_took_is_no_change(void **state)
{
	static const double felt[] = { 0, 0.5 }, drifts[] = { 0.94, 1.02, 1.2 };

	(void)state;
	for (size_t i = 0; i < sizeof(felt) / sizeof(felt[0]); i++)
		for (size_t k = 0; k < sizeof(drifts) / sizeof(drifts[0]); k++) {
			struct truth before = launches, after;

			before.felt = felt[i];
			after = before;
			after.drift = drifts[k];
			assert_true(told(&before, &after) <= 0.02 * PAIRS);
		}
}

/* Of another machine the control is another: all of it, or nothing, may be the machine's. */
static void the_control_of_another_machine_tells_less(void **state)
{
	struct truth slow = launches;

	(void)state;
	slow.drift = 1.06;
	slow.machine = "another";
	assert_true(count(&launches, &slow, 0, "REFUSED") == PAIRS);
}

/* A sweep's control has the rounds of its points one after another, each process' apart. */
static void each_point_has_the_control_of_its_rounds(void **state)
{
	json_t *json = complete(
	    REPORT_RECORD(run),
	    json_loads(
		"{\"points\":[{\"n\":1,\"modes\":{\"static\":{\"latency\":{\"of_process\":[2,1],"
		"\"samples_ns\":[10,11,12]}}}},{\"n\":2,\"modes\":{\"static\":{\"latency\":{"
		"\"of_process\":[1,2],\"samples_ns\":[20,21,22]}}}}],"
		"\"control\":{\"of_process\":[3,3],\"samples_ns\":[1,2,3,4,5,6]}}",
		0, NULL));
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_run *run = report_read_run(json, &arena, &err);
	struct figures figures = { 0 };
	const struct paced *paced[2] = { NULL, NULL };

	(void)state;
	if (!run || !figures_of(run, &figures, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < figures.rows.len; i++)
		if (figures.rows.at[i].metric == METRIC_latency)
			paced[(int)figures.rows.at[i].n - 1] = &figures.rows.at[i].paced;
	assert_int_equal(paced[0]->of_process[0], 2);
	assert_int_equal(paced[0]->control_ns[0][0], 1);
	assert_int_equal(paced[0]->control_ns[1][0], 4);
	assert_int_equal(paced[1]->of_process[1], 2);
	assert_int_equal(paced[1]->control_ns[0][0], 3);
	assert_int_equal(paced[1]->control_ns[1][0], 5);
	assert_int_equal(paced[1]->latency_ns[0], 20);
	figures_finish(&figures);
	arena_finish(&arena);
	json_decref(json);
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
		cmocka_unit_test(a_drift_that_the_rounds_show_is_taken_out),
		cmocka_unit_test(a_change_beside_a_drift_is_found),
		cmocka_unit_test(what_the_control_alone_took_is_no_change),
		cmocka_unit_test(the_control_of_another_machine_tells_less),
		cmocka_unit_test(each_point_has_the_control_of_its_rounds),
		cmocka_unit_test(processes_that_lie_apart_are_no_verdict),
		cmocka_unit_test(few_rounds_are_not_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
