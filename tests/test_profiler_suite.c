/* tests/test_profiler_suite.c -- statistics over workloads, by values computed by hand,
 * what a run gives to a suite, and the suite that comes with the program. */
#include "tests/report_help.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/tensor/tensor.h"
#include "fusion/base/sanitized.h"
#include "fusion/fusion.h"
#include "profiler/findings/sentence.h"
#include "profiler/suite/suite.h"
#include "profiler/suite/stats.h"
#include "tests/complete.h"
#include "tests/read_whole.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-5 * fabs(want) + 1e-12))
		fail_msg("%.9g where %.9g is right", got, want);
}

static void a_geomean_of_2x_and_half_is_1x(void **state)
{
	const struct interval ratios[2] = { { 1.8, 2, 2.2 }, { 0.45, 0.5, 0.55 } };
	struct interval mean = suite_geomean(ratios, 2);

	(void)state;
	near(mean.mid, 1);
	near(mean.low, 0.9282021);  /* exp(-sqrt(2 log(10/9)^2) / 2) */
	near(mean.high, 1.0697164); /* exp(sqrt(2 log(1.1)^2) / 2) */
}

static void a_geomean_of_one_has_its_interval(void **state)
{
	const struct interval ratio = { 1.5, 2, 2.5 };
	struct interval mean = suite_geomean(&ratio, 1);

	(void)state;
	near(mean.low, 1.5);
	near(mean.mid, 2);
	near(mean.high, 2.5);
}

/* A suite of one column, a result a workload: name, status, speedup and its interval. */
static json_t *made_suite(const char *text)
{
	json_t *rows = json_loads(text, 0, NULL), *workloads = json_array(), *row;
	size_t i;

	assert_non_null(rows);
	json_array_foreach(rows, i, row)
	{
		json_t *speedup = json_array_get(row, 2), *interval = json_array_get(row, 3);

		json_array_append_new(workloads,
				      json_pack("{s:O, s:[{s:s, s:s, s:s, s:O, s:O?, s:O?}]}",
						"name", json_array_get(row, 0), "results", "engine",
						"breakeven", "policy", "dynamo", "mode", "static",
						"status", json_array_get(row, 1), "speedup",
						speedup, "speedup_ci", interval));
	}
	json_decref(rows);
	return complete(REPORT_RECORD(suite),
			json_pack("{s:[{s:s, s:s, s:s, s:f}], s:o}", "columns", "engine",
				  "breakeven", "policy", "dynamo", "mode", "static", "pass_rate",
				  0.5, "workloads", workloads));
}

static const json_t *in(const json_t *json, const char *list, size_t i, const char *field)
{
	return json_object_get(json_array_get(json_object_get(json, list), i), field);
}

/* What an answer says of itself. */
static void put_sentence(struct buf *out, const json_t *answer)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(answer, "sentence"), i, part)
	    buf_puts(out, json_string_value(json_object_get(part, "text")));
}

static void assert_said(const json_t *json, const char *want)
{
	struct buf out = { 0 };

	put_sentence(&out, json);
	assert_string_equal(out.data, want);
	buf_finish(&out);
}

static void two_suites_are_compared_by_workload(void **state)
{
	json_t *before = made_suite(
	    "[[\"a\", \"pass\", 2.0, [1.8, 2.2]], [\"b\", \"pass\", 1.0, "
	    "[0.99, 1.01]], [\"c\", \"pass\", 3.0, [2.9, 3.1]], [\"d\", "
	    "\"failed\"], [\"e\", \"disagrees\"], [\"f\", \"waiting\"], "
	    "[\"gone\", \"pass\"], [\"h\", \"pass\", 1.0, [0.999, 1.001]]]");
	json_t *after = made_suite(
	    "[[\"a\", \"pass\", 4.0, [3.6, 4.4]], [\"b\", \"pass\", 0.5, "
	    "[0.49, 0.51]], [\"c\", \"disagrees\", 9.0, [8.0, 9.5]], [\"d\", "
	    "\"pass\", 2.0, [1.9, 2.1]], [\"e\", \"failed\"], [\"f\", \"pass\"], "
	    "[\"new\", \"pass\"], [\"h\", \"pass\", 1.0, [0.999, 1.001]]]");
	static const char *const turns[] = { "passes",    "passes",  "broken", "fixed",
					     "still-bad", "unknown", "passes" };
	struct err err = { 0 };
	json_t *c = suite_compare(before, after, &err), *r;

	(void)state;
	assert_non_null(c);
	assert_int_equal(json_array_size(json_object_get(c, "workloads")), 7);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(
		    json_string_value(json_object_get(
			json_array_get(in(c, "workloads", i, "results"), 0), "turn")),
		    turns[i]);
	r = json_array_get(in(c, "workloads", 0, "results"), 0);
	near(json_number_value(json_object_get(r, "ratio")), 2);
	/* exp(log 2 -+ the root of two squares): of log(10/9) and log(1.1) each. */
	near(json_number_value(json_array_get(json_object_get(r, "ratio_ci"), 0)),
	     2 * exp(-hypot(log(10. / 9), log(1.1))));
	near(json_number_value(json_array_get(json_object_get(r, "ratio_ci"), 1)),
	     2 * exp(hypot(log(10. / 9), log(1.1))));
	assert_string_equal(json_string_value(json_object_get(r, "verdict")), "FASTER");
	r = json_array_get(in(c, "workloads", 1, "results"), 0);
	assert_string_equal(json_string_value(json_object_get(r, "verdict")), "SLOWER");
	/* What disagrees has no speedup to compare. */
	r = json_array_get(in(c, "workloads", 2, "results"), 0);
	assert_true(json_is_null(json_object_get(r, "ratio")));
	assert_int_equal(json_integer_value(in(c, "columns", 0, "broken")), 1);
	assert_int_equal(json_integer_value(in(c, "columns", 0, "fixed")), 1);
	assert_int_equal(json_integer_value(in(c, "columns", 0, "FASTER")), 1);
	assert_int_equal(json_integer_value(in(c, "columns", 0, "SLOWER")), 1);
	assert_int_equal(json_integer_value(in(c, "columns", 0, "SAME")), 1);
	assert_int_equal(json_integer_value(json_object_get(in(c, "columns", 0, "geomean"), "n")),
			 3);
	near(json_number_value(json_object_get(in(c, "columns", 0, "geomean"), "ratio")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(c, "only_before"), 0)),
			    "gone");
	assert_string_equal(json_string_value(json_array_get(json_object_get(c, "only_after"), 0)),
			    "new");
	assert_said(c,
		    "1 workload passed before and does not now, and 1 workload is fixed. The "
		    "speedup of static is 1.00x (0.95–1.05) of what it was, the geometric mean of "
		    "3 workloads. Of 3 speedups 1 rose and 1 fell by more than their intervals "
		    "and 2 %.");
	assert_null(suite_compare(before, json_object_get(c, "nothing"), &err));
	assert_int_equal(err.code, ERR_JSON);
	json_decref(c);
	json_decref(before);
	json_decref(after);
}

static void the_common_set_leaves_out_what_one_column_lacks(void **state)
{
	/* clang-format off */
	const double speedups[] = {
		1, 2,   NAN, 4,
		1, NAN, 3,   4,
		NAN, NAN, NAN, NAN, /* a column without any is not counted */
	};
	/* clang-format on */
	const bool want[4] = { true, false, false, true };
	bool common[4];

	(void)state;
	assert_int_equal(suite_common(speedups, 3, 4, common), 2);
	assert_memory_equal(common, want, sizeof(want));
	assert_int_equal(suite_common(speedups + 8, 1, 4, common), 0);
	assert_false(common[0]);
}

static void buckets_are_a_factor_of_root_two_wide(void **state)
{
	const double speedups[] = { 0.1, 0.125, 1, 1.41, 1.42, 7.9, 8, 100, NAN };
	int counts[SUITE_BUCKETS], n = 0;

	(void)state;
	near(suite_edge(1), 0.125);
	near(suite_edge(7), 1);
	near(suite_edge(13), 8);
	suite_histogram(speedups, 9, counts);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[7], 2); /* [1, 1.4142) */
	assert_int_equal(counts[8], 1);
	assert_int_equal(counts[12], 1);
	assert_int_equal(counts[13], 2);
	for (int i = 0; i < SUITE_BUCKETS; i++)
		n += counts[i];
	assert_int_equal(n, 8);
}

static struct suite_result result(int workload, const char *mode, enum suite_status status,
				  double speedup)
{
	return (struct suite_result){ .workload = workload,
				      .run = 7 + workload,
				      .engine = "breakeven",
				      .policy = "dynamo",
				      .mode = mode,
				      .status = status,
				      .reason = status == SUITE_PASS ? NULL : "because",
				      .speedup = { speedup / 1.1, speedup, speedup * 1.1 },
				      .median_us = 10,
				      .compile_ms = speedup == 1 ? 0 : 5, /* all of it broke */
				      .launches = 1,
				      .peak_bytes = 64,
				      .max_abs_error = 0,
				      .capture_breaks = workload,
				      .lowering_breaks = 1 };
}

static const json_t *column(const json_t *report, const char *mode)
{
	json_t *c;
	size_t i;

	json_array_foreach(json_object_get(report, "columns"), i,
			   c) if (strcmp(json_string_value(json_object_get(c, "mode")), mode) ==
				  0) return c;
	fail_msg("there is no column %s", mode);
	return NULL;
}

static void reasons_that_differ_in_names_are_one_cause(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	static const char *const reasons[] = { "line 5: torch has no attribute nosuch; write it",
					       "line 17: torch has no attribute other.one",
					       "'x' is 3.5, over 100", "'y' is 4, over 2; no" };
	struct suite_result r[8];
	struct err err = { 0 };
	json_t *report, *causes;

	for (int i = 0; i < 8; i++) {
		r[i] = result(i / 2, i % 2 ? "eager" : "static", SUITE_FAILED, NAN);
		r[i].reason = reasons[i / 2];
	}
	r[7] = result(3, "eager", SUITE_PASS, NAN);
	report = suite_report(names, 4, r, 8, &err);
	causes = json_object_get(report, "causes");
	assert_int_equal(json_array_size(causes), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(causes, 0), "cause")),
			    "'...' is N, over N");
	assert_string_equal(json_string_value(json_object_get(json_array_get(causes, 1), "cause")),
			    "torch has no attribute '...'");
	json_decref(report);
	(void)state;
}

/* A text among the figures of a column, or of a result, as they are shown; NULL: null. */
static const char *shown(const json_t *of, const char *key)
{
	const json_t *text = json_object_get(json_object_get(of, "shown"), key);

	assert_non_null(text);
	return json_string_value(json_is_object(text) ? json_object_get(text, "text") : text);
}

/* static: 2x, 8x, disagrees, failed; dynamic: 4x, failed, 1x, failed. */
static void a_report_counts_and_means_over_the_common_set(void **state)
{
	const char *const names[] = { "a", "b", "c", "d" };
	const struct suite_result results[] = {
		result(0, "static", SUITE_PASS, 2),      result(1, "static", SUITE_PASS, 8),
		result(2, "static", SUITE_DISAGREES, 9), result(3, "static", SUITE_FAILED, NAN),
		result(0, "dynamic", SUITE_PASS, 4),     result(1, "dynamic", SUITE_FAILED, NAN),
		result(2, "dynamic", SUITE_PASS, 1),     result(3, "dynamic", SUITE_WAITING, NAN),
	};
	struct err err = { 0 };
	json_t *report = suite_report(names, 4, results, 8, &err);
	const json_t *s, *d, *c;

	(void)state;
	assert_non_null(report);
	c = json_object_get(json_array_get(json_object_get(report, "workloads"), 2), "results");
	assert_string_equal(shown(json_array_get(c, 0), "compiling"), "5,000 µs");
	assert_string_equal(shown(json_array_get(c, 1), "compiling"), "none");
	s = column(report, "static");
	d = column(report, "dynamic");
	near(number(s, "pass_rate"), 0.5);
	near(number(d, "pass_rate"), 2.0 / 3); /* one still waits */
	near(number(s, "geomean.common.n"), 1);
	near(number(s, "geomean.common.speedup"), 2);
	near(number(d, "geomean.common.speedup"), 4);
	near(number(s, "geomean.own.n"), 2);
	near(number(s, "geomean.own.speedup"), 4); /* sqrt(2 * 8) */
	near(number(s, "quantiles.median"), 5);
	near(number(s, "quantiles.q25"), 3.5);
	near(number(s, "compile_ms"), 15);
	near(number(s, "breaks.capture"), 3);
	near(number(s, "breaks.lowering"), 3);
	assert_string_equal(shown(s, "passed"), "2 of 4");
	assert_string_equal(shown(s, "pass_rate"), "50 %");
	assert_string_equal(shown(d, "pass_rate"), "67 %");
	assert_string_equal(shown(s, "not_passed"), "1 failed, 1 disagrees");
	assert_string_equal(shown(d, "not_passed"), "1 failed, 1 to come");
	assert_string_equal(shown(d, "geomean"), "4.0x");
	assert_string_equal(shown(d, "verdict"), "FASTER");
	assert_string_equal(shown(s, "own"), "4x of 2");
	assert_string_equal(shown(s, "median"), "5x");
	assert_string_equal(shown(s, "compiling"), "15 ms");
	near(number(report, "common.n"), 1);
	near(number(report, "common.of"), 4);
	near(number(report, "results.failed"), 2);
	near(number(report, "results.waiting"), 1);
	assert_int_equal(json_array_size(json_object_get(report, "workloads")), 4);
	assert_said(report, "dynamic is the fastest: 4.0x (3.6–4.4) over eager, the geometric mean "
			    "of the 1 workload that all modes have in common. Workloads did "
			    "not pass in 2 of 2 modes.");
	json_decref(report);
}

/* Each speedup has an interval of a tenth to both sides. */
static void columns_whose_intervals_meet_are_not_told_apart(void **state)
{
	const char *const names[] = { "a" };
	const struct suite_result results[] = { result(0, "static", SUITE_PASS, 2),
						result(0, "lazy", SUITE_PASS, 3.8),
						result(0, "auto", SUITE_PASS, 3.6),
						result(0, "dynamic", SUITE_PASS, 4) };
	struct err err = { 0 };
	json_t *report = suite_report(names, 1, results, 4, &err);

	(void)state;
	assert_said(
	    report,
	    "dynamic has the highest speedup: 4.0x (3.6–4.4) over eager, the geometric mean "
	    "of the 1 workload that all modes have in common; lazy and auto cannot be "
	    "told apart from it. Every workload passes in every mode.");
	json_decref(report);
}

static void nothing_measured_has_no_geomean(void **state)
{
	const char *const names[] = { "a" };
	const struct suite_result failed = result(0, "static", SUITE_FAILED, NAN);
	struct err err = { 0 };
	json_t *report = suite_report(names, 1, &failed, 1, &err);
	const json_t *s = column(report, "static");

	(void)state;
	near(number(s, "pass_rate"), 0);
	assert_string_equal(shown(s, "pass_rate"), "0 %");
	assert_null(shown(s, "geomean"));
	assert_null(shown(s, "max"));
	assert_true(json_is_null(json_object_get(s, "quantiles")));
	assert_true(json_is_null(
	    json_object_get(json_object_get(json_object_get(s, "geomean"), "common"), "speedup")));
	assert_said(report, "No speedup to compare. Workloads did not pass in 1 of 1 mode.");
	json_decref(report);
}

/* By the margin of a run's own verdict. */
static void a_suite_judges_as_its_runs_do(void **state)
{
	static const struct {
		double low, mid, high;
		const char *verdict;
	} cases[] = { { 1.021, 1.1, 1.2, "FASTER" },
		      { 1.001, 1.01, 1.03, "AMBIGUOUS" },
		      { 1.001, 1.005, 1.01, "SAME" },
		      { 0.8, 0.9, 0.97, "SLOWER" } };
	const char *const names[] = { "a" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct suite_result one = result(0, "static", SUITE_PASS, cases[i].mid);
		struct err err = { 0 };
		json_t *report;

		one.speedup = (struct interval){ cases[i].low, cases[i].mid, cases[i].high };
		report = suite_report(names, 1, &one, 1, &err);
		assert_string_equal(shown(column(report, "static"), "verdict"), cases[i].verdict);
		assert_string_equal(
		    json_string_value(json_object_get(
			json_object_get(json_array_get(in(report, "workloads", 0, "results"), 0),
					"shown"),
			"verdict")),
		    cases[i].verdict);
		json_decref(report);
	}
}

static void what_did_not_run_and_what_passes_is_said(void **state)
{
	const char *const names[] = { "a", "b" };
	const struct suite_result passes[] = { result(0, "static", SUITE_PASS, 2),
					       result(1, "static", SUITE_PASS, 2) },
				  cut[] = { passes[0], result(1, "static", SUITE_CANCELLED, NAN) },
				  half[] = { passes[0], result(1, "static", SUITE_WAITING, NAN) },
				  waits[] = { result(0, "static", SUITE_WAITING, NAN),
					      result(1, "static", SUITE_WAITING, NAN) };
	const struct {
		const struct suite_result *results;
		const char *end;
	} rows[] = { { passes, "Every workload passes in every mode." },
		     { cut, "Every workload that ran passes; 1 of 2 did not run." },
		     { half, "Every workload that has ended passes; 1 of 2 is to come." },
		     { waits, "No speedup to compare yet. No workload has run in every mode." } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		json_t *report = suite_report(names, 2, rows[i].results, 2, &err);
		struct buf out = { 0 };

		put_sentence(&out, report);
		assert_string_equal(out.data + out.len - strlen(rows[i].end), rows[i].end);
		buf_finish(&out);
		json_decref(report);
	}
}

static json_t *workload_of(const char *source)
{
	json_t *json = load(
	    "{'calls': [[{'random': {'shape': [4], 'dtype': 'float32', 'kind': "
	    "'ones'}}]], 'modes': ['eager', 'static', 'dynamic'], 'keep_going': true,"
	    " 'backend': 'interp'}");

	json_object_set_new(json, "source", json_string(source));
	return json;
}

/* The results of a report, which is dropped; texts are the arena's. */
static int results_in(json_t *report, int workload, struct suite_result out[8], struct arena *arena)
{
	struct err err = { 0 };
	struct report_run *run = report_read_run(complete(REPORT_RECORD(run), report), arena, &err);
	int n;

	if (!run)
		fail_msg("%s", err.message);
	n = suite_results_of_report(run, workload, 5, arena, out, 8);
	json_decref(report);
	return n;
}

static int results_of(json_t *workload, struct suite_result out[8], struct arena *arena)
{
	struct profiler_options options = { .version = "test" };
	struct err err;
	json_t *report = run_json(workload, &options, &err);

	if (!report)
		fail_msg("%s", err.message);
	return results_in(report, 0, out, arena);
}

static void values_other_than_eagers_disagree(void **state)
{
	static const char *const sources[] = {
		/* the output, an argument that is written, what is printed */
		"    return x + (1.001 if compiling else 1.0)\n",
		"    x.add_(2.0 if compiling else 1.0)\n    return x.sum() * 0\n",
		"    print('compiled' if compiling else 'eager')\n    return x\n",
		"    return (x + 1).long() if compiling else x + 1\n",
	};
	static const char *const reasons[] = { "output of calls[0]", "x after the call of calls[0]",
					       "printed", "output of calls[0] has another dtype" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char source[400];
		struct suite_result r[8];
		struct arena arena = { 0 };

		snprintf(source, sizeof(source),
			 "import torch\n\ndef model(x):\n"
			 "    compiling = torch.compiler.is_compiling()\n%s",
			 sources[i]);
		assert_int_equal(results_of(workload_of(source), r, &arena), 3);
		assert_int_equal(r[1].status, SUITE_DISAGREES);
		if (!strstr(r[1].reason, reasons[i]))
			fail_msg("%s has not %s", r[1].reason, reasons[i]);
		arena_finish(&arena);
	}
}

static void rounding_agrees(void **state)
{
	struct suite_result r[8];
	struct arena arena = { 0 };

	(void)state;
	results_of(
	    workload_of("import torch\n\ndef model(x):\n"
			"    return x + (1.0000002 if torch.compiler.is_compiling() else 1.0)\n"),
	    r, &arena);
	assert_int_equal(r[1].status, SUITE_PASS);
	assert_true(r[1].max_abs_error > 0);
	arena_finish(&arena);
}

/* Of a report: few samples are no speedup, and torch is a column of its own. */
static void a_report_gives_its_results(void **state)
{
	json_t *report = load(
	    "{'workload': {'policy': 'native', 'modes': ['eager', 'static', 'lazy']},"
	    " 'modes': {'eager': {'breaks': []}, 'static': {'agrees': true, 'compile_ms': 3,"
	    " 'breaks': [{'stage': 'capture'}, {'stage': 'lowering'}, {'stage': 'capture'},"
	    " {'stage': 'capture', 'message': 'another'}]},"
	    " 'dynamic': {'agrees': true}},"
	    " 'break_even': {'static': {'speedup': 2, 'speedup_ci': [1.5, 2.5],"
	    " 'verdict': 'FASTER'}, 'dynamic': {'speedup': 9, 'speedup_ci': [9, 9],"
	    " 'verdict': 'NOT ENOUGH'}}, 'failed': {'auto': {'message': 'no', 'line': 3}},"
	    " 'engines': {'torch': {'error': null, 'build': {'note': 'this is torch without"
	    " MKL'}, 'modes': {'eager': {'values': {'agree': true}},"
	    " 'static': {'breaks': [{}], 'values': {'agree': false, 'first': 'there'}},"
	    " 'auto': {'draws': true, 'values': {'agree': false, 'first': 'by chance'}},"
	    " 'dynamic': {'draws': true, 'values': {'agree': true}}}}}}");
	struct suite_result r[8];
	struct arena arena = { 0 };

	(void)state;
	assert_int_equal(results_in(report, 4, r, &arena), 8);
	assert_string_equal(r[1].policy, "native");
	assert_int_equal(r[1].capture_breaks, 2);
	assert_int_equal(r[1].lowering_breaks, 1);
	near(r[1].speedup.high, 2.5);
	assert_int_equal(r[2].status, SUITE_PASS);
	assert_true(isnan(r[2].speedup.mid));
	assert_string_equal(r[3].reason, "line 3: no");
	assert_string_equal(r[4].engine, "torch");
	assert_string_equal(r[4].policy, "dynamo");
	assert_int_equal(r[4].status, SUITE_PASS);
	assert_int_equal(r[5].status, SUITE_DISAGREES);
	assert_string_equal(r[5].reason, "there");
	assert_int_equal(r[5].capture_breaks, 1);
	/* Its build draws other numbers, so values that differ say nothing. */
	assert_string_equal(r[6].mode, "auto");
	assert_int_equal(r[6].status, SUITE_PASS);
	assert_non_null(strstr(r[6].reason, "without MKL"));
	assert_int_equal(r[7].status, SUITE_PASS);
	assert_null(r[7].reason);
	report = load("{'workload': {'modes': ['eager', 'lazy', 'static']}, 'modes': {},"
		      " 'engines': {'torch': {'error': {'message': 'none here'}}}}");
	assert_int_equal(results_in(report, 0, r, &arena), 2);
	assert_string_equal(r[1].mode, "static");
	assert_string_equal(r[1].reason, "none here");
	assert_int_equal(r[1].status, SUITE_FAILED);
	arena_finish(&arena);
}

static void a_run_that_failed_fails_in_each_of_its_modes(void **state)
{
	const char *modes[] = { "eager", "static" };
	struct suite_result r[4];
	struct arena arena = { 0 };
	int n = suite_results_of_failure(
	    &(struct suite_failure){ { modes, 2 }, "native", 3, 9, SUITE_FAILED, "it crashed" },
	    &arena, r, 4);

	(void)state;
	assert_int_equal(n, 2);
	assert_string_equal(r[1].mode, "static");
	assert_string_equal(r[1].policy, "native");
	assert_string_equal(r[1].reason, "it crashed");
	assert_int_equal(r[1].workload, 3);
	arena_finish(&arena);
}

static void bad_fields_of_a_suites_run_are_refused(void **state)
{
	static const char *const bad[] = { "{'source': 'def model(): return 1', 'keep_going': 1}",
					   "{'source': 'def model(): return 1', 'seconds': 0}",
					   "{'source': 'def model(): return 1', 'seconds': 1000}",
					   "{'source': 'def model(): return 1', 'seconds': '1'}" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { 0 };
		json_t *json = load(bad[i]);

		assert_null(workload_parse(json, &err));
		assert_int_equal(err.code, ERR_WORKLOAD);
		json_decref(json);
	}
}

/* In every mode, under both policies, by the interpreter tier. */
static void check_block(const char *name)
{
	char path[600];
	char *source;
	struct err err = { 0 };

	snprintf(path, sizeof(path), "web/suite/%s", name);
	source = read_whole(path);
	for (int native = 0; native < 2; native++) {
		json_t *json = workload_from_python(name, source, NULL, NULL, 0, &err);
		struct suite_result r[8];
		struct arena arena = { 0 };
		int n;

		if (!json)
			fail_msg("%s: %s", name, err.message);
		json_object_set_new(json, "policy", json_string(native ? "native" : "dynamo"));
		json_object_set_new(json, "backend", json_string("interp"));
		json_object_set_new(
		    json, "modes",
		    load("['eager', 'static', 'dynamic', 'auto', 'lazy', 'graphs']"));
		json_object_set_new(json, "keep_going", json_true());
		n = results_of(json, r, &arena);
		assert_int_equal(n, FUSION_MODE_COUNT);
		for (int i = 0; i < n; i++)
			if (r[i].status != SUITE_PASS)
				fail_msg("%s, %s, %s: %s", name, r[i].policy, r[i].mode,
					 r[i].reason);
		arena_finish(&arena);
	}
	free(source);
}

static void every_block_agrees_with_eager_in_all_modes(void **state)
{
	const int every = ADDRESS_SANITIZED || THREAD_SANITIZED ? 8 : 1; /* these are slow */
	DIR *folder = opendir("web/suite");
	int n = 0;

	(void)state;
	assert_non_null(folder);
	for (struct dirent *e; (e = readdir(folder));)
		if (strstr(e->d_name, ".py") && (n++ % every == 0))
			check_block(e->d_name);
	closedir(folder);
	assert_true(n >= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_suites_are_compared_by_workload),
		cmocka_unit_test(a_geomean_of_2x_and_half_is_1x),
		cmocka_unit_test(a_geomean_of_one_has_its_interval),
		cmocka_unit_test(the_common_set_leaves_out_what_one_column_lacks),
		cmocka_unit_test(buckets_are_a_factor_of_root_two_wide),
		cmocka_unit_test(a_report_counts_and_means_over_the_common_set),
		cmocka_unit_test(columns_whose_intervals_meet_are_not_told_apart),
		cmocka_unit_test(nothing_measured_has_no_geomean),
		cmocka_unit_test(a_suite_judges_as_its_runs_do),
		cmocka_unit_test(what_did_not_run_and_what_passes_is_said),
		cmocka_unit_test(values_other_than_eagers_disagree),
		cmocka_unit_test(rounding_agrees),
		cmocka_unit_test(a_report_gives_its_results),
		cmocka_unit_test(reasons_that_differ_in_names_are_one_cause),
		cmocka_unit_test(a_run_that_failed_fails_in_each_of_its_modes),
		cmocka_unit_test(bad_fields_of_a_suites_run_are_refused),
		cmocka_unit_test(every_block_agrees_with_eager_in_all_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
