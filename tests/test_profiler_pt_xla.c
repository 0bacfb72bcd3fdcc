/* tests/test_profiler_pt_xla.c -- PT_XLA_DEBUG output and metrics reports. */
#include "tests/import_file.h"

#include "profiler/import/xla.h"

static void test_counts(void **state)
{
	json_t *r = import_path("tests/import/pt_xla.txt");

	(void)state;
	assert_string_equal(json_string_value(at_path(r, "kind")), "pt_xla");
	assert_count(r, "graphs", 2);
	assert_count(r, "pt_xla.compilations", 2);
	assert_count(r, "pt_xla.executions", 3);
	assert_count(r, "pt_xla.captured_graphs", 5);
	assert_count(r, "pt_xla.lowered_graphs", 2);
	assert_int_equal(json_object_size(at_path(r, "pt_xla.causes.execution")), 2);
	json_decref(r);
}

static void test_rows(void **state)
{
	json_t *r = import_path("tests/import/pt_xla.txt");
	const json_t *first = at_path(r, "pt_xla.graphs.0"), *read = at_path(r, "breaks.0");

	(void)state;
	assert_string_equal(json_string_value(at_path(first, "hash")),
			    "c74c3b91b855b2b123f833b0d5f86943");
	assert_count(first, "inputs", 35);
	assert_count(first, "outputs", 107);
	assert_count(first, "compilations", 1);
	assert_count(first, "executions", 1);
	/* Not torch_xla's own frame. */
	assert_string_equal(json_string_value(at_path(first, "file")), "/w/train.py");
	assert_count(first, "line", 48);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 1);
	assert_string_equal(json_string_value(at_path(read, "file")), "/w/train.py");
	assert_count(read, "line", 51);
	assert_count(read, "count", 2);
	assert_us(r, "pt_xla.metrics.CompileTime.total_us", 369401746.001);
	assert_count(r, "pt_xla.metrics.CompileTime.samples", 202);
	assert_us(r, "pt_xla.metrics.ExecuteTime.total_us", 2001000);
	assert_int_equal(json_array_size(at_path(r, "pt_xla.fallbacks")), 2);
	assert_count(r, "pt_xla.fallbacks.0.count", 33);
	assert_int_equal(json_array_size(at_path(r, "pt_xla.notes")), 1);
	assert_count(r, "ledger.dropped.foreign_lines", 1);
	json_decref(r);
}

/* The graphs that were captured are those of the compile log, where there is one. */
static void test_two_stages(void **state)
{
	const char *const texts[] = {
		"V1121 10:00:00.000000 7 torch/x.py:1] {\"dynamo_output_graph\": {}, \"frame_id\": "
		"0, "
		"\"frame_compile_id\": 0}\n",
		"Compilation Analysis: Compilation Cause\nCompilation Analysis:   dynamo is "
		"compiling a "
		"FX graph to HLO\nCompilation Analysis:   Graph Hash: 1\nCompilation Analysis: "
		"---\n"
		"Compilation Analysis: Compilation Cause\nCompilation Analysis:   dynamo is "
		"compiling a "
		"FX graph to HLO\nCompilation Analysis:   Graph Hash: 2\n",
	};
	json_t *r = import_texts(texts, 2, 7);

	(void)state;
	assert_count(r, "pt_xla.captured_graphs", 1);
	assert_count(r, "pt_xla.lowered_graphs", 2);
	assert_count(r, "ledger.dropped.cut_off", 1);
	json_decref(r);
}

static void test_durations(void **state)
{
	int64_t ns;

	(void)state;
	assert_true(xla_duration("06m09s401ms746.001us", &ns));
	assert_true(ns == 369401746001);
	assert_true(xla_duration("1h", &ns) && ns == 3600000000000);
	assert_false(xla_duration("12", &ns));
	assert_false(xla_duration("x", &ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_two_stages),
		cmocka_unit_test(test_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
