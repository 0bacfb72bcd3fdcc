/* tests/test_profiler_change.c -- a program beside the one that it was before a change. */
#include <stdio.h>

#include "tests/report_help.h"

#define HEAD "import torch\\ndef model(x):\\n"
#define BRANCH HEAD "    if x.sum() > 0:\\n        x = x * 2\\n    return x + 1\\n"
#define WHERE HEAD "    x = torch.where(x.sum() > 0, x * 2, x)\\n    return x + 1\\n"

static const char *workload(const char *source, const char *before, const char *more)
{
	static char text[2000];

	snprintf(text, sizeof(text),
		 "{'source': '%s', 'before': '%s', 'backend': 'interp', 'calls': [[{'random': "
		 "{'shape': [8, 8], 'kind': 'ones'}}]], 'modes': ['eager', 'static']%s}",
		 source, before, more);
	return text;
}

static json_t *run_change(const char *source, const char *before, bool timing, struct err *err)
{
	struct profiler_options options = { .timing = timing, .version = "test" };
	json_t *json = load(workload(source, before, ", 'seconds': 0.05"));
	struct report_draft draft = { 0 };
	struct workload *w;
	json_t *report = NULL;

	*err = (struct err){ 0 };
	w = workload_parse(json, err);
	json_decref(json);
	if (w)
		report = report_write_run(profiler_run_engines(w, &options, &draft, err));
	report_draft_finish(&draft);
	workload_destroy(w);
	return report;
}

static void values_breaks_and_times_stand_beside_those_before(void **state)
{
	struct err err;
	json_t *report = run_change(WHERE, BRANCH, true, &err);
	const json_t *m = at(report, "modes.static.change");

	(void)state;
	assert_true(json_is_true(at(m, "agrees")));
	assert_null(json_object_get(m, "disagreement"));
	assert_true(number(m, "max_abs_error") == 0);
	assert_int_equal(number(m, "breaks.0"), 1);
	assert_int_equal(number(m, "breaks.1"), 0);
	assert_int_equal(number(m, "graphs.0"), 2);
	assert_int_equal(number(m, "graphs.1"), 1);
	assert_true(number(m, "median_us.0") > 0 && number(m, "median_us.1") > 0);
	assert_true(number(m, "ci_us.1.0") <= number(m, "median_us.1"));
	assert_true(number(m, "speedup_ci.0") <= number(m, "speedup"));
	assert_true(number(m, "saved_ci_us.0") <= number(m, "saved_us"));
	assert_true(json_is_string(at(m, "verdict")));
	assert_int_equal(number(report, "modes.eager.change.breaks.0"), 0);
	json_decref(report);
}

static void a_change_of_the_values_is_told(void **state)
{
	struct err err;
	json_t *report = run_change(HEAD "    return x + 1\\n", BRANCH, false, &err);
	const json_t *m = at(report, "modes.static.change");

	(void)state;
	assert_true(json_is_false(at(m, "agrees")));
	assert_non_null(strstr(json_string_value(at(m, "disagreement")), "the old program's"));
	assert_true(number(m, "max_abs_error") == 1);
	assert_null(json_object_get(m, "speedup"));
	json_decref(report);
	report = run_change(HEAD "    print(1)\\n    return x * 2 + 1\\n", WHERE, false, &err);
	assert_non_null(strstr(json_string_value(at(report, "modes.eager.change.disagreement")),
			       "what was printed"));
	json_decref(report);
	report = run_change(HEAD "    print(2)\\n    return x\\n",
			    HEAD "    print(1)\\n    print(3)\\n    return x\\n", false, &err);
	assert_true(json_is_false(at(report, "modes.static.change.agrees")));
	json_decref(report);
}

static void prints_that_a_change_leaves_out_are_no_other_values(void **state)
{
	struct err err;
	json_t *report = run_change(HEAD "    print(2)\\n    return x * 2\\n",
				    HEAD "    print(1)\\n    x = x * 2\\n    print(2)\\n"
					 "    print(3)\\n    return x\\n",
				    false, &err);
	const json_t *m = at(report, "modes.static.change");

	(void)state;
	assert_true(json_is_true(at(m, "agrees")));
	assert_int_equal(number(m, "prints_less"), 2);
	json_decref(report);
}

static void a_program_that_failed_before_has_its_error(void **state)
{
	struct err err;
	json_t *report = run_change(WHERE, HEAD "    return x @ x[0, :4]\\n", true, &err);

	(void)state;
	assert_int_equal(number(report, "modes.static.change.error.line"), 3);
	assert_true(number(report, "modes.static.latency.median_us") > 0);
	json_decref(report);
	assert_null(run_change(HEAD "    return x @ x[0, :4]\\n", WHERE, true, &err));
	assert_int_equal(err.line, 3);
}

static void what_cannot_be_held_beside_it_is_refused(void **state)
{
	static const struct {
		const char *before, *more, *message;
	} cases[] = {
		{ HEAD "    return (\\n", "", "the program before the change, line 3" },
		{ "x = 1\\n", "", "the program before the change" },
		{ WHERE, ", 'sweep': {'statements': {'pool': ['x = x + 1'], 'counts': [1]}}",
		  "no sweep of statements" },
	};
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *source = i == 2 ? HEAD "    ...\\n    return x\\n" : WHERE;
		json_t *json = load(workload(source, cases[i].before, cases[i].more));

		err = (struct err){ 0 };
		assert_null(workload_parse(json, &err));
		assert_non_null(strstr(err.message, cases[i].message));
		json_decref(json);
	}
	json_t *json = load(
	    "{'source': 'def model(x):\\n    return x\\n', 'calls': [[]], 'before': 3}");
	assert_null(workload_parse(json, &err));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_breaks_and_times_stand_beside_those_before),
		cmocka_unit_test(a_change_of_the_values_is_told),
		cmocka_unit_test(prints_that_a_change_leaves_out_are_no_other_values),
		cmocka_unit_test(a_program_that_failed_before_has_its_error),
		cmocka_unit_test(what_cannot_be_held_beside_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
