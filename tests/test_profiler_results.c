/* tests/test_profiler_results.c -- results that other tools wrote (tests/results), as reports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/compare/figures.h"
#include "profiler/fields/fields.h"
#include "profiler/results/results.h"

/* ---- a file in, reports out ---- */

static json_t *read_text(const char *text, size_t len, struct err *err)
{
	const struct results_request request = { .file = "a file" };

	return results_read(text, len, &request, err);
}

static char *bytes_of(const char *name, size_t *len)
{
	char path[200], *bytes = malloc(1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "tests/results/%s", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	*len = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static json_t *read_file(const char *name)
{
	struct err err = { 0 };
	size_t len;
	char *bytes = bytes_of(name, &len);
	json_t *json;

	assert_true(results_recognises(bytes, len));
	json = read_text(bytes, len, &err);
	if (!json)
		fail_msg("%s: %s", name, err.message);
	free(bytes);
	return json;
}

static const char *refused(const char *text)
{
	static char message[1000];
	struct err err = { 0 };

	assert_null(read_text(text, strlen(text), &err));
	snprintf(message, sizeof(message), "%s", err.message);
	return message;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

/* ---- what is in reports ---- */

static const json_t *at(const json_t *results, size_t i)
{
	return json_array_get(json_object_get(results, "results"), i);
}

static size_t count(const json_t *results)
{
	return json_array_size(json_object_get(results, "results"));
}

static const char *text(const json_t *report, const char *of, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(report, of), key));

	return s ? s : "";
}

static const char *fact(const json_t *report, const char *of, const char *key)
{
	const json_t *facts = json_object_get(json_object_get(report, "result"), of);
	const char *s = json_string_value(json_object_get(facts, key));

	return s ? s : "";
}

static const json_t *named(const json_t *results, const char *name)
{
	for (size_t i = 0; i < count(results); i++)
		if (strcmp(text(at(results, i), "workload", "name"), name) == 0)
			return at(results, i);
	fail_msg("there is no %s", name);
	return NULL;
}

static const json_t *measure(const json_t *report, const char *mode)
{
	const json_t *of = json_object_get(json_object_get(report, "modes"), mode);

	if (!of)
		fail_msg("there is no mode %s", mode);
	return json_object_get(of, "measure");
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b) + 1e-12))
		fail_msg("%.12g is not %.12g", a, b);
}

static bool noted(const json_t *results, const char *part)
{
	const json_t *note;
	size_t i;

	json_array_foreach(json_object_get(results, "notes"), i, note)
	{
		if (strstr(json_string_value(note), part))
			return true;
	}
	return false;
}

/* Its interval is that of an own run: n samples kept, the median among them. */
static void assert_samples(const json_t *m, size_t n)
{
	const json_t *ci = json_object_get(m, "ci");
	double low = json_number_value(json_array_get(ci, 0));
	double high = json_number_value(json_array_get(ci, 1));

	assert_int_equal(json_array_size(json_object_get(m, "samples")), n);
	assert_int_equal(number(m, "n"), n);
	assert_true(low <= number(m, "value") && number(m, "value") <= high);
}

/* ---- Google Benchmark ---- */

static void test_google(void **state)
{
	json_t *j = read_file("google_repetitions.json");
	const json_t *b = named(j, "BM_Sum/64/min_time:0.005");

	(void)state;
	assert_samples(measure(b, "wall"), 7);
	assert_samples(measure(b, "cpu"), 7);
	/* 13.478 ns, the median that the file gives too. */
	assert_near(number(measure(b, "wall"), "value"), 13.478194671819537e-3);
	assert_near(number(measure(b, "cpu"), "value"), 13.320105611008236e-3);
	assert_string_equal(json_string_value(json_object_get(measure(b, "FoomRate"), "kind")),
			    "rate");
	assert_string_equal(
	    json_string_value(json_object_get(measure(b, "bytes_per_second"), "unit")), "B/s");
	assert_near(number(measure(b, "Size"), "value"), 64);
	assert_string_equal(text(b, "result", "machine"), "vm");
	assert_string_equal(text(b, "result", "build"), "debug");
	assert_true(noted(j, "caches of the context"));
	json_decref(j);
}

static void test_google_without_repetitions(void **state)
{
	json_t *j = read_file("google.json");

	(void)state;
	for (size_t i = 0; i < count(j); i++) {
		const json_t *wall = measure(at(j, i), "wall");

		assert_int_equal(number(wall, "n"), 1);
		assert_true(json_is_null(json_object_get(wall, "ci")));
	}
	json_decref(j);
}

static void test_google_aggregates(void **state)
{
	json_t *j = read_file("google_aggregates.json");
	const json_t *wall = measure(named(j, "BM_Sum/64/min_time:0.005"), "wall");
	const json_t *ci = json_object_get(wall, "ci");

	(void)state;
	assert_near(number(wall, "value"), 13.064966474019782e-3);
	assert_int_equal(number(wall, "n"), 9);
	/* 1.96 * 1.2533 * 0.0897 ns / 3 */
	assert_near(json_number_value(json_array_get(ci, 1)) - number(wall, "value"),
		    1.96 * 1.2533 * 8.9709148311680212e-02 / 3 * 1e-3);
	assert_null(json_object_get(wall, "samples"));
	/* Milliseconds. */
	wall = measure(named(j, "BM_Ms/min_time:0.010/real_time"), "wall");
	assert_near(number(wall, "value"), 15.40261387942185);
	json_decref(j);
}

static void test_google_errors(void **state)
{
	static const char file[] =
	    "{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"run_name\": \"a\", "
	    "\"error_occurred\": true, \"error_message\": \"no device\", \"time_unit\": \"ns\"},"
	    "{\"name\": \"b\", \"run_name\": \"b\", \"real_time\": 2, \"cpu_time\": 1, "
	    "\"time_unit\": \"fortnights\"}]}";

	(void)state;
	assert_has(refused(file), "a has no result: no device");
}

/* ---- pytest-benchmark, hyperfine, Bencher ---- */

static void test_pytest(void **state)
{
	json_t *j = read_file("pytest_data.json");
	const json_t *first = at(j, 0), *m = measure(first, "time");
	const json_t *samples = json_object_get(m, "samples");

	(void)state;
	assert_true(count(j) > 1);
	assert_samples(m, json_array_size(samples));
	assert_string_equal(text(first, "result", "format"), "pytest-benchmark");
	assert_has(text(first, "result", "build"), "CPython 3");
	json_decref(j);
}

/* The same file without --benchmark-save-data. */
static void test_pytest_without_data(void **state)
{
	size_t len;
	char *bytes = bytes_of("pytest_data.json", &len), *cut;
	json_t *file = json_loadb(bytes, len, 0, NULL), *b, *j, *with;
	struct err err = { 0 };
	size_t i;

	(void)state;
	with = read_text(bytes, len, &err);
	json_array_foreach(json_object_get(file, "benchmarks"), i, b)
	{
		json_object_del(json_object_get(b, "stats"), "data");
	}
	cut = json_dumps(file, 0);
	j = read_text(cut, strlen(cut), &err);
	assert_non_null(j);
	for (i = 0; i < count(j); i++) {
		const json_t *a = measure(at(with, i), "time"), *m = measure(at(j, i), "time");

		assert_null(json_object_get(m, "samples"));
		assert_near(number(m, "value"), number(a, "value"));
		assert_int_equal(number(m, "n"), number(a, "n"));
		assert_true(json_is_array(json_object_get(m, "ci")));
	}
	json_decref(with);
	json_decref(j);
	json_decref(file);
	free(cut);
	free(bytes);
}

static void test_hyperfine(void **state)
{
	json_t *j = read_file("hyperfine.json");
	const json_t *m = measure(named(j, "true"), "wall");

	(void)state;
	assert_int_equal(count(j), 2);
	assert_samples(m, 12);
	assert_near(number(m, "value"), 513.926);
	assert_near(number(measure(named(j, "true"), "cpu"), "value"), 472);
	assert_true(noted(j, "does not say which machine"));
	json_decref(j);
	j = read_file("hyperfine_parameters.json");
	assert_string_equal(fact(at(j, 1), "parameters", "n"), "2");
	json_decref(j);
	j = read_file("hyperfine_failed.json");
	assert_int_equal(
	    json_integer_value(json_array_get(
		json_object_get(json_object_get(at(j, 0), "result"), "exit_codes"), 0)),
	    3);
	assert_true(noted(j, "another status than 0"));
	json_decref(j);
}

/* What a command waited for a core is no part of its time, and is kept. */
static void test_record_waits(void **state)
{
	static const char file[] =
	    "{\"breakeven_record\": 1, \"name\": \"n\", \"samples\": [{\"wall_s\": 3, "
	    "\"wait_s\": 1}, {\"wall_s\": 2, \"wait_s\": 0}, {\"wall_s\": 5, \"wait_s\": 3}]}";
	struct err err = { 0 };
	json_t *j = read_text(file, strlen(file), &err);
	const json_t *waited;

	(void)state;
	assert_non_null(j);
	assert_int_equal(number(measure(at(j, 0), "wall"), "n"), 3);
	assert_near(number(measure(at(j, 0), "wall"), "value"), 2e6);
	waited = json_object_get(json_object_get(at(j, 0), "result"), "waited_us");
	assert_near(json_number_value(json_array_get(waited, 0)), 1e6);
	assert_near(json_number_value(json_array_get(waited, 2)), 3e6);
	json_decref(j);
	assert_has(
	    refused("{\"breakeven_record\": 1, \"name\": \"n\", \"samples\": [{\"wall_s\": 1, "
		    "\"wait_s\": 2}]}"),
	    "samples[0]: wait_s is a number from 0 to wall_s");
}

static void test_bmf(void **state)
{
	static const char file[] =
	    "{\"bench a\": {\"latency\": {\"value\": 88.0, \"lower_value\": 87.42, "
	    "\"upper_value\": 88.88}, \"throughput\": {\"value\": 7}}}";
	struct err err = { 0 };
	json_t *j = read_text(file, strlen(file), &err);
	const json_t *m;

	(void)state;
	assert_non_null(j);
	m = measure(at(j, 0), "latency");
	assert_near(number(m, "value"), 0.088);
	assert_near(number(m, "low"), 0.08742);
	assert_true(json_is_null(json_object_get(m, "ci")));
	assert_string_equal(
	    json_string_value(json_object_get(measure(at(j, 0), "throughput"), "kind")), "rate");
	json_decref(j);
}

/* ---- asv ---- */

static void test_asv(void **state)
{
	json_t *j = read_file("asv_result.json");
	const json_t *b = at(j, 0), *m = measure(b, "time"), *ci = json_object_get(m, "ci");

	(void)state;
	assert_string_equal(text(b, "workload", "name"), "benchmarks.TimeSuite.time_add_arr");
	assert_string_equal(text(b, "workload", "commit"),
			    "a0f29428eeb7563d7d5ab8385c722e8d5560bd06");
	assert_string_equal(text(b, "result", "machine"), "rgx1gen11");
	assert_string_equal(text(b, "result", "build"), "conda-py3.11");
	assert_string_equal(text(b, "result", "measured"), "2024-12-02T06:06:15Z");
	assert_near(number(m, "value"), 33.959631098962455);
	assert_int_equal(number(m, "n"), 10);
	assert_near(json_number_value(json_array_get(ci, 0)),
		    33.959631098962455 - (33.959631098962455 - 33.663) * 1.96 / 2.576);
	json_decref(j);
}

/* Two parameters, of which the last varies fastest; a combination failed, one was skipped. */
static void test_asv_parameters(void **state)
{
	static const char file[] =
	    "{\"commit_hash\": \"abc\", \"env_name\": \"e\", \"params\": {\"machine\": \"m\"}, "
	    "\"result_columns\": [\"result\", \"params\", \"version\", \"samples\"], \"results\": "
	    "{\"s.track_loss\": [[1.5, null, NaN, 4.5], [[\"10\", \"20\"], [\"'a'\", \"'b'\"]], "
	    "\"v1\"], \"s.peakmem_x\": [[2048], [], \"v1\"], \"s.time_x\": [[1], [], \"v1\", "
	    "[[1, 2, 3, 4, 5, 6, 7]]]}, \"version\": 2}";
	static const char benchmarks[] =
	    "{\"s.track_loss\": {\"param_names\": [\"n\", \"kind\"], \"unit\": \"bits\", "
	    "\"type\": \"track\"}}";
	struct results_request request = { .file = "f",
					   .benchmarks = json_loads(benchmarks, 0, NULL) };
	struct err err = { 0 };
	json_t *j = results_read(file, strlen(file), &request, &err);
	const json_t *b;

	(void)state;
	assert_non_null(j);
	assert_int_equal(count(j), 4);
	b = named(j, "s.track_loss(20, 'b')");
	assert_string_equal(fact(b, "parameters", "n"), "20");
	assert_string_equal(fact(b, "parameters", "kind"), "'b'");
	assert_near(number(measure(b, "value"), "value"), 4.5);
	assert_string_equal(json_string_value(json_object_get(measure(b, "value"), "unit")),
			    "bits");
	assert_true(noted(j, "s.track_loss(10, 'b') has no result"));
	assert_true(noted(j, "s.track_loss(20, 'a') has no result"));
	assert_near(number(measure(named(j, "s.peakmem_x"), "memory"), "value"), 2048);
	assert_samples(measure(named(j, "s.time_x"), "time"), 7);
	assert_near(number(measure(named(j, "s.time_x"), "time"), "value"), 4e6);
	json_decref((json_t *)request.benchmarks);
	json_decref(j);
}

/* ---- benchmarks/dynamo ---- */

static void test_dynamo(void **state)
{
	json_t *j = read_file("dynamo_performance.csv");
	const json_t *b = named(j, "BERT_pytorch");

	(void)state;
	assert_near(number(measure(b, "speedup"), "value"), 2.014039);
	assert_near(number(measure(b, "abs_latency"), "value"), 58901.28);
	assert_near(number(measure(b, "compilation_latency"), "value"), 38.538333e6);
	assert_near(number(measure(b, "dynamo_peak_mem"), "value"), 271.536947e9);
	assert_string_equal(fact(b, "parameters", "batch_size"), "2");
	assert_string_equal(fact(b, "about", "calls_captured"), "545");
	json_decref(j);
	j = read_file("dynamo_accuracy.csv");
	b = named(j, "simple_gpt");
	assert_true(json_is_true(
	    json_object_get(json_object_get(json_object_get(b, "modes"), "accuracy"), "agrees")));
	assert_string_equal(fact(b, "about", "accuracy"), "pass_due_to_skip");
	assert_string_equal(json_string_value(json_object_get(measure(b, "graph_breaks"), "kind")),
			    "breaks");
	json_decref(j);
}

static void test_dynamo_failures(void **state)
{
	static const char file[] =
	    "dev,name,batch_size,accuracy,graph_breaks\r\ncuda,\"a, \"\"b\"\"\",4,fail_accuracy,2"
	    "\r\ncuda,c,0,eager_1st_run_OOM,\r\n";
	static const char slow[] = "dev,name,batch_size,speedup\ncpu,x,0,0.0\n";
	struct err err = { 0 };
	json_t *j = read_text(file, strlen(file), &err);
	const json_t *b;

	(void)state;
	assert_non_null(j);
	b = named(j, "a, \"b\"");
	assert_true(json_is_false(
	    json_object_get(json_object_get(json_object_get(b, "modes"), "accuracy"), "agrees")));
	assert_int_equal(count(j), 1);
	assert_true(noted(j, "eager_1st_run_OOM"));
	assert_true(noted(j, "c has no figures"));
	json_decref(j);
	assert_has(refused(slow), "its speedup is none");
	assert_has(refused("name,speedup\n,1\n"), "line 2 of the file has no name");
	assert_has(refused("name,speedup\na\xff,1\n"), "no UTF-8");
}

/* ---- torch.utils.benchmark ---- */

static void test_torch(void **state)
{
	json_t *j = read_file("torch_one.pkl");
	const json_t *b = at(j, 0), *m = measure(b, "time");

	(void)state;
	assert_string_equal(text(b, "workload", "name"), "square: mul, 8");
	assert_string_equal(text(b, "result", "build"), "main");
	assert_string_equal(fact(b, "about", "statement"), "x * x");
	assert_samples(m, 16);
	/* The first of the raw times, of 1000 calls. */
	assert_near(json_number_value(json_array_get(json_object_get(m, "samples"), 0)),
		    0.7992219980224036);
	json_decref(j);
	j = read_file("torch_list.pt");
	assert_int_equal(count(j), 6);
	named(j, "square: matmul, 64");
	named(j, "torch.relu(x), 2 threads");
	json_decref(j);
	j = read_file("torch_dict.pt");
	assert_int_equal(count(j), 2);
	json_decref(j);
}

/* Nothing else of a pickle is made, or called. */
static void test_torch_refused(void **state)
{
	static const char call[] = "\x80\x02(torch.utils.benchmarkcos\nsystem\nX\x02\0\0\0id\x85R.";
	struct err err = { 0 };

	(void)state;
	assert_null(read_text(call, sizeof(call) - 1, &err));
	assert_true(err.code != ERR_NONE);
}

/* ---- whatever it is ---- */

static void test_strange(void **state)
{
	static const char *const none[] = { "",
					    "{}",
					    "[]",
					    "[1]",
					    "null",
					    "1",
					    "\"a\"",
					    "name",
					    "{\"benchmarks\": []}",
					    "{\"traceEvents\": []}",
					    "{\"a\": {}}",
					    "{\"a\": {\"b\": 1}}",
					    "\x80",
					    "PK",
					    "a,b\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_false(results_recognises(none[i], strlen(none[i])));
		assert_has(refused(none[i]), "no tool that is known wrote it");
	}
}

/* What was read is read again as it is. */
static void test_own(void **state)
{
	static const char *const files[] = { "google_repetitions.json", "pytest_data.json",
					     "hyperfine.json", "torch_list.pt",
					     "dynamo_performance.csv" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *j = read_file(files[i]), *again;
		char *dumped = json_dumps(j, JSON_REAL_PRECISION(17));
		struct err err = { 0 };

		again = read_text(dumped, strlen(dumped), &err);
		assert_non_null(again);
		assert_int_equal(count(again), count(j));
		for (size_t k = 0; k < count(j); k++)
			assert_true(json_equal(json_object_get(at(again, k), "modes"),
					       json_object_get(at(j, k), "modes")));
		free(dumped);
		json_decref(again);
		json_decref(j);
	}
}

/* What runs are compared by. */
static void test_figures(void **state)
{
	json_t *j = read_file("dynamo_performance.csv");
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_run *run = report_read_run((json_t *)at(j, 0), &arena, &err);
	struct figures figures = { 0 };
	int seen = 0;

	(void)state;
	assert_non_null(run);
	assert_true(figures_of(run, &figures, &err));
	for (size_t i = 0; i < figures.rows.len; i++) {
		const struct figure *f = &figures.rows.at[i];

		seen += f->metric == METRIC_rate && strcmp(f->mode, "speedup") == 0;
		seen += f->metric == METRIC_latency && strcmp(f->mode, "abs_latency") == 0;
		seen += f->metric == METRIC_breaks && strcmp(f->mode, "graph_breaks") == 0;
		assert_true(f->metric != METRIC_kernels);
	}
	assert_int_equal(seen, 3);
	figures_finish(&figures);
	arena_finish(&arena);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_google),
		cmocka_unit_test(test_google_without_repetitions),
		cmocka_unit_test(test_google_aggregates),
		cmocka_unit_test(test_google_errors),
		cmocka_unit_test(test_pytest),
		cmocka_unit_test(test_pytest_without_data),
		cmocka_unit_test(test_hyperfine),
		cmocka_unit_test(test_record_waits),
		cmocka_unit_test(test_bmf),
		cmocka_unit_test(test_asv),
		cmocka_unit_test(test_asv_parameters),
		cmocka_unit_test(test_dynamo),
		cmocka_unit_test(test_dynamo_failures),
		cmocka_unit_test(test_torch),
		cmocka_unit_test(test_torch_refused),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
