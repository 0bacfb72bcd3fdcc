/* tests/test_profiler_torch_trace.c -- TORCH_TRACE logs, and their join with a trace.
 *
 * The logs of tests/import are made up, in the words of PyTorch 2.6 and 2.14; what is
 * expected of them is counted by hand.
 */
#include "tests/import_file.h"

#include "profiler/import/compiles.h"

/* A compilation by its id; of a process. */
static const json_t *compile_of(const json_t *report, const char *id, int process)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(report, "compiles"), i, row)
	{
		if (strcmp(text_at(row, "compile"), id) == 0 &&
		    json_integer_value(json_object_get(row, "process")) == process)
			return row;
	}
	fail_msg("there is no compilation %s", id);
	return NULL;
}

static void test_new_release(void **state)
{
	static const struct {
		int line, count;
		const char *kind, *gb, *outcome;
	} breaks[] = {
		/* stated by the caller and, three times, the callee: one place, one break */
		{ 10, 4, "data-dependent-branch", "GB0170", "resume" },
		{ 5, 1, "scalar-read", "GB0124", "resume" },
		{ 22, 1, "host-call", "GB0059", "skip" },
		{ 33, 1, "host-call", "GB0059", "step" },
	};
	json_t *r = import_path("tests/import/torch_trace_2.14.log");

	(void)state;
	assert_string_equal(text_at(r, "kind"), "torch_trace");
	assert_count(r, "graphs", 6);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 4);
	for (int i = 0; i < 4; i++) {
		const json_t *b = json_array_get(at_path(r, "breaks"), (size_t)i);

		assert_string_equal(text_at(b, "file"), "/w/m.py");
		assert_count(b, "line", breaks[i].line);
		assert_count(b, "count", breaks[i].count);
		assert_string_equal(text_at(b, "kind"), breaks[i].kind);
		assert_string_equal(text_at(b, "gb"), breaks[i].gb);
		assert_string_equal(text_at(b, "outcome"), breaks[i].outcome);
		assert_string_equal(text_at(b, "hints.1"), "second");
	}
	assert_int_equal(json_array_size(at_path(r, "recompiles")), 2);
	assert_string_equal(text_at(r, "recompiles.0.frame"), "helper");
	assert_string_equal(text_at(r, "recompiles.0.reason"),
			    "1/0: tensor 'y' size mismatch at index 0. expected 4, actual 5");
	assert_int_equal(json_array_size(at_path(r, "recompiles.1.reasons")), 2);
	assert_string_equal(text_at(r, "processes.0.version"), "2.14.1");
	assert_count(r, "unknown_records.a_kind_of_tomorrow", 1);
	assert_count(r, "ledger.kept.unknown_kind", 1);
	assert_count(r, "ledger.dropped.foreign_lines", 1);
	assert_count(r, "ledger.kept.breaks_without_place", 0);
	assert_count(r, "kernels.count", 0);
	json_decref(r);
}

static void test_compilations(void **state)
{
	json_t *r = import_path("tests/import/torch_trace_2.14.log");
	const json_t *first = compile_of(r, "0/0", 0), *again = compile_of(r, "1/1", 0);

	(void)state;
	assert_string_equal(text_at(first, "frame"), "f");
	assert_string_equal(text_at(first, "file"), "/w/m.py");
	assert_string_equal(text_at(first, "outcome"), "break");
	assert_count(first, "ops", 3);
	assert_count(first, "guards", 2);
	assert_count(first, "guard_kinds.TENSOR_MATCH", 1);
	assert_count(first, "guard_kinds.GLOBAL_STATE", 1);
	assert_int_equal(json_object_size(at_path(first, "guard_kinds")), 2);
	assert_us(first, "phases_us.entire_frame_compile", 250000);
	assert_us(first, "phases_us.bytecode_tracing", 30000.5);
	assert_string_equal(text_at(first, "generated_kernels.1.name"), "triton_red_fused_sum_1");
	assert_count(first, "code_files", 1);
	assert_null(at_path(first, "code")); /* an artifact */
	assert_count(first, "caches.fx_graph_cache_miss", 1);
	assert_string_equal(text_at(compile_of(r, "2/0", 0), "cudagraph_skips.0"),
			    "skipping cudagraphs due to mutated inputs (1 instances)");
	assert_string_equal(text_at(compile_of(r, "3/0", 0), "outcome"), "error");
	/* Analysed twice, one symbol. */
	assert_int_equal(json_array_size(at_path(again, "dynamic")), 1);
	assert_string_equal(text_at(again, "dynamic.0.source"), "L['y'].size()[0]");
	assert_string_equal(text_at(again, "shape_guards.0"), "s77 <= 9");
	assert_count(compile_of(r, "1/2", 0), "later_us.bwd_compilation_metrics", 5000);
	json_decref(r);
}

/* The texts of several files, joined in one import. */
static json_t *import_paths(const char *const *paths, int n)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, 0, &err);
	json_t *report;
	char bytes[65536];

	for (int i = 0; i < n; i++) {
		FILE *file = fopen(paths[i], "rb");
		size_t len;

		assert_non_null(file);
		assert_true(import_begin(im, paths[i], &err));
		while ((len = fread(bytes, 1, sizeof(bytes), file)) > 0)
			assert_true(import_feed(im, bytes, len, &err));
		assert_true(import_end(im, &err));
		fclose(file);
	}
	report = import_finish(im, &err);
	import_destroy(im);
	assert_non_null(report);
	return report;
}

static void test_old_release_of_two_ranks(void **state)
{
	static const char *const paths[] = { "tests/import/torch_trace_2.6_rank_0.log",
					     "tests/import/torch_trace_2.6_rank_1.log" };
	json_t *r = import_paths(paths, 2);

	(void)state;
	assert_count(r, "graphs", 9); /* four, and five with the recompile */
	assert_int_equal(json_array_size(at_path(r, "recompiles")), 1);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 4);
	assert_count(r, "breaks.0.line", 7);
	assert_count(r, "breaks.0.count", 3);
	assert_string_equal(text_at(r, "breaks.0.kind"), "host-call");
	assert_true(json_is_null(at_path(r, "breaks.0.gb"))); /* there was no registry */
	assert_string_equal(text_at(r, "breaks.1.message"), "Data-dependent jump");
	assert_string_equal(text_at(r, "breaks.1.outcome"), "jump");
	assert_count(r, "breaks.2.line", 52);
	assert_string_equal(text_at(r, "breaks.2.outcome"), "skip");
	/* Told by restart_reasons alone: at its frame. */
	assert_count(r, "breaks.3.line", 30);
	assert_string_equal(text_at(r, "breaks.3.outcome"), "step");
	assert_count(r, "ledger.kept.breaks_without_place", 2);
	assert_count(r, "ledger.kept.other_restarts", 2);
	assert_count(r, "processes.0.rank", 0);
	assert_count(r, "processes.1.rank", 1);
	compile_of(r, "0/1", 1);
	json_decref(r);
}

/* A compile log and the trace of its process: what each compiled frame took, and each
 * break, by compile id. */
static void test_join(void **state)
{
	static const char *const paths[] = { "tests/import/torch_trace_2.14.log",
					     "tests/import/kineto.json" };
	json_t *r = import_paths(paths, 2);
	const json_t *first = compile_of(r, "0/0", 0);

	(void)state;
	assert_count(r, "joined", 3);
	assert_count(r, "graphs", 6);
	assert_count(r, "kernels.count", 4);
	assert_us(r, "kernels.total_us", 12);
	assert_count(first, "timeline.calls", 2);
	assert_us(first, "timeline.self_us", 160); /* twice 200 - 30 - 50 - 40 */
	assert_us(first, "timeline.kernel_us", 5);
	assert_us(compile_of(r, "1/0", 0), "timeline.kernel_us", 7);
	/* The frame that was broken and the one that was inlined into it: 80 and 50. */
	assert_us(r, "breaks.0.cost.calls", 2);
	assert_us(r, "breaks.0.cost.host_us_per_call", 130);
	assert_us(r, "breaks.0.cost.lookup_us_per_call", 9);
	assert_us(r, "breaks.1.cost.host_us_per_call", 40);
	assert_null(at_path(r, "breaks.2.cost"));
	json_decref(r);
}

#define V "V1121 10:00:00.000000 7 torch/x.py:1] "

static void test_damage(void **state)
{
	static const struct {
		const char *row, *text;
	} logs[] = {
		{ "dropped.foreign_lines", V "{\"link\": {}}\nTraceback\n" },
		{ "dropped.broken_records", V "{\"link\": {}\n" V "{\"link\": {}}\n" },
		{ "dropped.cut_off", V "{\"link\": {}}\n" V "{\"li" },
		{ "dropped.payload_without_record", V "{\"link\": {}}\n\tx\n" },
		{ "dropped.payload_missing", V "{\"link\": {}, \"has_payload\": \"0\"}\n" },
		{ "dropped.broken_payload",
		  V "{\"chromium_event\": {}, \"has_payload\": \"0\"}\n\t{\"name\"\n" },
		{ "dropped.unmatched_end", V "{\"chromium_event\": {}, \"has_payload\": \"0\"}\n"
					     "\t{\"name\":\"a\",\"ph\":\"E\",\"ts\":1.0}\n" },
		{ "dropped.unmatched_begin", V "{\"chromium_event\": {}, \"has_payload\": \"0\"}\n"
					       "\t{\"name\":\"a\",\"ph\":\"B\",\"ts\":1.0}\n" },
		{ "kept.unknown_kind", V "{\"new\": 1}\n" },
		{ "kept.unknown_string",
		  V "{\"dynamo_start\": {\"stack\": [{\"line\": 1, \"name\": "
		    "\"f\", \"filename\": 5}]}, \"frame_id\": 0, "
		    "\"frame_compile_id\": 0}\n" },
		{ "kept.without_metrics",
		  V "{\"dynamo_output_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		json_t *r = import_texts(&logs[i].text, 1, 3);
		char path[64];

		assert_non_null(r);
		snprintf(path, sizeof(path), "ledger.%s", logs[i].row);
		assert_count(r, path, 1);
		json_decref(r);
	}
}

/* Fields that no release has yet, before the kind and after it. */
static void test_new_fields(void **state)
{
	json_t *r = import_one(
	    V "{\"aa\": 1, \"dynamo_output_graph\": {}, \"zz\": {}, \"frame_id\": 0, "
	      "\"frame_compile_id\": 0}\n");

	(void)state;
	assert_count(r, "graphs", 1);
	assert_count(r, "ledger.kept.unknown_kind", 0);
	json_decref(r);
}

/* A file that another process goes on with, and one whose prefix has no space. */
static void test_restarts(void **state)
{
	json_t *r = import_one(
	    "V1121 10:00:00.000000 7 torch/x.py:1] {\"str\": [\"/a.py\", 0]}\n"
	    "V1121 10:00:00.000000 7torch/x.py:1] {\"dynamo_start\": {\"stack\": [{\"line\": 1, "
	    "\"name\": \"f\", \"filename\": 0}]}, \"frame_id\": 0, \"frame_compile_id\": 0}\n"
	    "V1121 10:00:00.000000 8 torch/x.py:1] {\"str\": [\"/b.py\", 0]}\n"
	    "V1121 10:00:00.000000 8 torch/x.py:1] {\"dynamo_start\": {\"stack\": [{\"line\": 1, "
	    "\"name\": \"g\", \"filename\": 0}]}, \"frame_id\": 0, \"frame_compile_id\": 0}\n");

	(void)state;
	assert_string_equal(text_at(compile_of(r, "0/0", 0), "file"), "/a.py");
	assert_string_equal(text_at(compile_of(r, "0/0", 1), "file"), "/b.py");
	json_decref(r);
}

/* Counted in it with grep: 14 dynamo_output_graph; dynamo_graph_break_reason at lines 38
 * (4 times), 44 and 45 (twice); 8 recompile_reasons; 16 compilation_metrics. */
static void test_real(void **state)
{
	json_t *r = import_path("../shared/traces/torch_trace_2.11.log.gz");
	const json_t *row;

	(void)state;
	if (!r) {
		print_message("no ../shared/traces here: the real log is not read\n");
		skip();
	}
	assert_count(r, "graphs", 14);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 3);
	assert_count(r, "breaks.0.line", 38);
	assert_count(r, "breaks.0.count", 4);
	assert_count(r, "breaks.1.line", 44);
	assert_count(r, "breaks.2.line", 45);
	assert_string_equal(text_at(r, "breaks.2.gb"), "GB0124");
	assert_int_equal(json_array_size(at_path(r, "recompiles")), 8);
	assert_int_equal(json_array_size(at_path(r, "compiles")), 16);
	assert_int_equal(json_array_size(at_path(r, "recompiles.7.reasons")), 3);
	row = compile_of(r, "5/1", 0);
	assert_count(row, "guards", 11);
	assert_int_equal(json_array_size(at_path(row, "dynamic")), 2);
	assert_count(row, "duration_us", 154393);
	assert_count(r, "ledger.dropped.broken_payload", 0);
	assert_count(r, "ledger.kept.unknown_kind", 0);
	json_decref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_release),
		cmocka_unit_test(test_compilations),
		cmocka_unit_test(test_old_release_of_two_ranks),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_new_fields),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
