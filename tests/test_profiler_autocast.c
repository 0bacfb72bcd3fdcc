/* tests/test_profiler_autocast.c -- what a report says of autocast. */
#include <math.h>
#include <stdio.h>

#include "tests/report_help.h"

/* Both sides of each mode: bytes in every run, time and samples where it was timed. */
static void autocast_is_held_against_the_same_mode_without(void **state)
{
	static const char *const modes[] = { "eager", "static", "dynamic" };
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x, w):\\n    return (x @ w) @ w\\n',"
	    " 'calls': [[{'random': {'shape': [8, 32]}}, {'random': {'shape': [32, "
	    "32]}}]], 'autocast': 'bfloat16'}",
	    true);
	char path[80];

	(void)state;
	assert_string_equal(json_string_value(at(report, "autocast.dtype")), "bfloat16");
	assert_int_equal(number(report, "autocast.batch"), 8);
	assert_true(json_is_null(at(report, "autocast.error")));
	for (size_t i = 0; i < 3; i++) {
		const json_t *m;

		snprintf(path, sizeof(path), "autocast.modes.%s", modes[i]);
		m = at(report, path);
		assert_true(number(m, "max_abs_error") > 0);
		assert_true(number(m, "with.activation_bytes") > 0);
		assert_true(number(m, "with.peak_bytes") > number(m, "with.activation_bytes"));
		assert_true(fabs(number(m, "activation_ratio") -
				 number(m, "with.activation_bytes") /
				     number(m, "without.activation_bytes")) < 1e-9);
		assert_true(
		    fabs(number(m, "with.samples_per_s") * number(m, "with.median_us") - 8e6) < 1);
		assert_true(number(m, "speedup_ci.0") <= number(m, "speedup"));
		assert_true(json_is_string(at(m, "verdict")));
		snprintf(path, sizeof(path), "modes.%s.latency.median_us", modes[i]);
		assert_true(number(report, path) == number(m, "with.median_us"));
	}
	json_decref(report);
}

static void without_timing_autocast_has_bytes(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n    return x @ x\\n', 'calls': "
	    "[[{'random': {'shape': [16, 16]}}]], 'modes': ['static'], 'autocast': "
	    "'float16'}",
	    false);
	const json_t *m = at(report, "autocast.modes.static");

	(void)state;
	assert_true(number(m, "with.activation_bytes") > 0);
	assert_null(json_object_get(json_object_get(m, "with"), "median_us"));
	assert_null(json_object_get(m, "speedup"));
	json_decref(report);
	report = run("{'source': 'import torch\\ndef model(x):\\n    return x @ x\\n', 'calls': "
		     "[[{'random': {'shape': [16, 16]}}]], 'modes': ['static']}",
		     false);
	assert_null(json_object_get(report, "autocast"));
	json_decref(report);
}

/* A program may need autocast: its matrices are of two dtypes. */
static void a_program_that_needs_autocast_has_nothing_to_compare(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n    return x @ x.half()\\n', "
	    "'calls': [[{'random': {'shape': [16, 16]}}]], 'modes': ['eager', "
	    "'static'], 'autocast': 'float16'}",
	    true);

	(void)state;
	assert_non_null(strstr(json_string_value(at(report, "autocast.error")), "float16"));
	assert_int_equal(json_object_size(at(report, "autocast.modes")), 0);
	assert_true(number(report, "modes.static.latency.median_us") > 0);
	json_decref(report);
}

static void each_point_of_a_sweep_has_its_autocast(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n    return x @ x.T\\n', "
	    "'calls': [[{'random': {'shape': [4, 16]}}]], 'modes': ['eager'], "
	    "'autocast': 'bfloat16', 'sweep': {'input': {'arg': 0, 'dim': 0, 'sizes': "
	    "[4, 8]}}}",
	    false);

	(void)state;
	assert_int_equal(number(report, "points.0.autocast.batch"), 4);
	assert_int_equal(number(report, "points.1.autocast.batch"), 8);
	assert_null(json_object_get(report, "autocast"));
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(autocast_is_held_against_the_same_mode_without),
		cmocka_unit_test(without_timing_autocast_has_bytes),
		cmocka_unit_test(a_program_that_needs_autocast_has_nothing_to_compare),
		cmocka_unit_test(each_point_of_a_sweep_has_its_autocast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
