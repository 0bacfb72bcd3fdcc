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
	/* As it was, and as its text adds up; what differs is counted. */
	assert_us(r, "pt_xla.metrics.CompileTime.total_us", 369400746.001);
	assert_us(r, "pt_xla.metrics.CompileTime.printed_us", 369401746.001);
	assert_count(r, "ledger.repaired.rounded_durations", 1);
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

#define TRACED(n)                                                                                  \
	"V1121 10:00:00.000000 7 torch/x.py:1] {\"dynamo_output_graph\": {}, \"frame_id\": " #n    \
	", \"frame_compile_id\": 0}\n"
#define LOWERED(hash)                                                                              \
	"Compilation Analysis: Compilation Cause\nCompilation Analysis:   dynamo is compiling a "  \
	"FX graph to HLO\nCompilation Analysis: Graph Info:\nCompilation Analysis:   Graph "       \
	"Hash: " hash "\nCompilation Analysis: ---\n"
#define RAN                                                                                        \
	"Execution Analysis: Execution Cause\nExecution Analysis:   dynamo is executing a "        \
	"compiled "                                                                                \
	"program\nExecution Analysis: ---\n"

/* An import of files with names. */
static json_t *import_named_texts(const char *const *names, const char *const *texts, int n)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, 0, &err);
	json_t *report;

	for (int i = 0; i < n; i++) {
		assert_true(import_begin(im, names[i], &err));
		assert_true(import_feed(im, texts[i], strlen(texts[i]), &err));
		assert_true(import_end(im, &err));
	}
	report = import_finish(im, &err);
	import_destroy(im);
	assert_non_null(report);
	return report;
}

static void assert_stage(const json_t *report, int row, const char *model, int captured,
			 int lowered, const char *main_stage)
{
	char path[64];

	snprintf(path, sizeof(path), "pt_xla.models.%d", row);
	report = at_path(report, path);
	assert_string_equal(json_string_value(at_path(report, "model")), model);
	assert_count(report, "captured_graphs", captured);
	assert_count(report, "lowered_graphs", lowered);
	assert_string_equal(json_string_value(at_path(report, "main_stage")), main_stage);
}

/* Each folder is a model: where its graphs split, beside how long it ran. */
static void test_models(void **state)
{
	static const char *const names[] = { "bench/bert/trace.log",   "bench/bert/debug.txt",
					     "bench/bert/metrics.txt", "bench/vgg/trace.log",
					     "bench/vgg/debug.txt",    "bench/mlp/metrics.txt" };
	static const char *const texts[] = {
		/* Dynamo makes four graphs of one; the lowering one more. */
		TRACED(0) TRACED(1) TRACED(2) TRACED(
		    3) "V1121 10:00:00.000000 7 torch/x.py:1] "
		       "{\"artifact\": {\"name\": \"dynamo_graph_break_reason\"}, \"frame_id\": 0, "
		       "\"frame_compile_id\": 0, \"has_payload\": \"0\"}\n\tGraph break in user "
		       "code at "
		       "/w/b.py:3\n\tReason: Unsupported: Tensor.item\n",
		LOWERED("a1") LOWERED("a2") LOWERED("a3") LOWERED("a4") LOWERED("a5") LOWERED("a5")
		    RAN RAN,
		"Metric: CompileTime\n  TotalSamples: 6\n  Accumulator: 03s\nMetric: ExecuteTime\n"
		"  TotalSamples: 2\n  Accumulator: 01s500ms\nCounter: aten::nonzero\n  Value: 4\n"
		"Counter: aten::_local_scalar_dense\n  Value: 9\n",
		/* One graph, which the lowering splits in three. */
		TRACED(0),
		LOWERED("b1") LOWERED("b2") LOWERED("b3") RAN,
		/* No log of Dynamo: its counter says it. */
		"Counter: DynamoExtractCompiledGraph\n  Value: 2\nCounter: UncachedCompile\n  "
		"Value: "
		"3\n",
	};
	json_t *r = import_named_texts(names, texts, 6);

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "pt_xla.models")), 3);
	assert_stage(r, 0, "bert", 4, 5, "capture");
	assert_count(r, "pt_xla.models.0.capture_added", 3);
	assert_count(r, "pt_xla.models.0.lowering_added", 1);
	assert_count(r, "pt_xla.models.0.capture_breaks", 1);
	assert_count(r, "pt_xla.models.0.lowering_breaks", 1); /* item() is no fallback */
	assert_count(r, "pt_xla.models.0.executions", 2);
	assert_us(r, "pt_xla.models.0.compile_us", 3e6);
	assert_us(r, "pt_xla.models.0.run_us", 1.5e6);
	assert_stage(r, 1, "vgg", 1, 3, "lowering");
	assert_stage(r, 2, "mlp", 2, 3, "both");
	assert_string_equal(json_string_value(at_path(r, "pt_xla.models.2.captured_from")),
			    "counter");
	assert_count(r, "graphs", 5);
	json_decref(r);
}

/* Wherever the log of Dynamo lies, it is of the one model there is; without one nothing
 * is said of the capture. */
static void test_one_model(void **state)
{
	static const char *const names[] = { "/tmp/traces/a.log", "/w/xla/debug.txt" };
	static const char *const texts[] = { TRACED(0) TRACED(1), LOWERED("a1") LOWERED("a2") };
	json_t *r = import_named_texts(names, texts, 2);

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "pt_xla.models")), 1);
	assert_stage(r, 0, "xla", 2, 2, "capture");
	json_decref(r);
	r = import_named_texts(names + 1, texts + 1, 1);
	assert_true(json_is_null(at_path(r, "pt_xla.models.0.captured_graphs")));
	assert_true(json_is_null(at_path(r, "pt_xla.models.0.main_stage")));
	json_decref(r);
}

/* Metrics of several processes are added up. */
static void test_ranks(void **state)
{
	static const char *const texts[] = {
		"Metric: CompileTime\n  TotalSamples: 2\n  Accumulator: 1s\nCounter: MarkStep\n  "
		"Value: 3\n",
		"Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: 9s\nMetric: CompileTime\n  "
		"TotalSamples: 4\n  Accumulator: 2s\nCounter: MarkStep\n  Value: 4\n",
	};
	json_t *r = import_texts(texts, 2, 11);

	(void)state;
	assert_count(r, "pt_xla.metrics.CompileTime.samples", 6); /* the later report of a file */
	assert_us(r, "pt_xla.metrics.CompileTime.total_us", 3e6);
	assert_count(r, "pt_xla.counters.MarkStep", 7);
	json_decref(r);
}

/* A duration as it was, and as its parts stand in the text. */
static void assert_duration(const char *text, int64_t ns, int64_t printed_ns)
{
	int64_t was, printed;

	assert_true(xla_duration(text, &was, &printed));
	assert_int_equal(was, ns);
	assert_int_equal(printed, printed_ns);
}

static void test_durations(void **state)
{
	int64_t ns, printed;

	(void)state;
	/* Its printer rounds every part but the last. */
	assert_duration("06m09s401ms746.001us", 369400746001, 369401746001);
	assert_duration("02s900ms000.000us", 1900000000, 2900000000);
	assert_duration("02s100ms000.000us", 2100000000, 2100000000);
	assert_duration("07m42s600ms499.000us", INT64_C(401600499000), INT64_C(462600499000));
	assert_duration("186ms062.970us", 186062970, 186062970);
	assert_duration("999.250us", 999250, 999250);
	/* No duration is printed so: it is taken as it is. */
	assert_duration("01s900ms000.000us", 1900000000, 1900000000);
	assert_duration("1h", 3600000000000, 3600000000000);
	/* What begins as printed need not end so. */
	assert_false(xla_duration("999.250us?", &ns, &printed));
	assert_false(xla_duration("12", &ns, &printed));
	assert_false(xla_duration("x", &ns, &printed));
}

/* Reports that people posted: percentiles of one metric rise, and four samples of a metric
 * (1 %, 50 %, 80 % and one more) are no more than their sum; as the parts stand, neither holds. */
static void test_durations_of_reports(void **state)
{
	static const char *const rising[][3] = {
		{ "002ms650.240us", "002ms424.716us", "005ms248.389us" },
		{ "054ms856.143us", "054ms447.633us", "055ms898.424us" },
	};
	static const char *const samples[] = { "024ms320.066us", "02s720ms247.948us",
					       "02s746ms660.403us" };
	int64_t sum = 0, sum_printed = 0, ns, printed;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t last = 0, last_printed = 0;
		bool falls = false;

		for (int j = 0; j < 3; j++) {
			assert_true(xla_duration(rising[i][j], &ns, &printed));
			assert_true(ns > last);
			falls = falls || printed < last_printed;
			last = ns;
			last_printed = printed;
		}
		assert_true(falls);
	}
	for (int i = 0; i < 3; i++) {
		assert_true(xla_duration(samples[i], &ns, &printed));
		sum += ns;
		sum_printed += printed;
	}
	assert_true(xla_duration("04s589ms590.974us", &ns, &printed));
	assert_true(sum < ns);
	assert_true(sum_printed > printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),     cmocka_unit_test(test_rows),
		cmocka_unit_test(test_two_stages), cmocka_unit_test(test_models),
		cmocka_unit_test(test_one_model),  cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_durations),  cmocka_unit_test(test_durations_of_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
