/* tests/test_profiler_compare.c -- two runs side by side, on reports whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/compare/compare.h"
#include "profiler/compare/figures.h"
#include "profiler/compare/lines.h"
#include "profiler/compare/settings.h"
#include "tests/complete.h"

/* ---- reports */

static const char source[] = "import torch\\n\\ndef model(x):\\n    print('a')\\n    return x\\n";

static json_t *parse(const char *text)
{
	json_error_t at;
	json_t *json = json_loads(text, 0, &at);

	if (!json)
		fail_msg("line %d, column %d: %s", at.line, at.column, at.text);
	return json;
}

/* A mode with a latency of `us`, give or take a hundredth, from 30 rounds. */
static char *mode_text(double us, int launches)
{
	char *text = malloc(1024);

	snprintf(
	    text, 1024,
	    "{\"latency\": {\"median_us\": %g, \"ci_us\": [%g, %g], \"n\": 30}, \"launches\": %d,"
	    " \"peak_bytes\": 1024, \"compile_ms\": %g, \"graphs\": [], \"breaks\": [],"
	    " \"recompiles\": [], \"guards\": []}",
	    us, 0.99 * us, 1.01 * us, launches, 10 * us);
	return text;
}

static json_t *report_of(double eager_us, double static_us, int launches)
{
	char *eager = mode_text(eager_us, 5), *fused = mode_text(static_us, launches), text[4096];

	snprintf(
	    text, sizeof(text),
	    "{\"workload\": {\"name\": \"chain\", \"source\": \"%s\", \"calls\": []},"
	    " \"device\": {\"kind\": \"cpu\", \"name\": \"some\", \"threads\": 1},"
	    " \"environment\": {\"breakeven\": \"1\"}, \"modes\": {\"eager\": %s, \"static\": %s},"
	    " \"points\": [], \"break_even\": {\"static\": {\"speedup\": %g, \"speedup_ci\":"
	    " [%g, %g]}}}",
	    source, eager, fused, eager_us / static_us, 0.99 * eager_us / static_us,
	    1.01 * eager_us / static_us);
	free(eager);
	free(fused);
	return parse(text);
}

/* Eager at 100 us, static as said. */
static json_t *report(double static_us, int launches)
{
	return report_of(100, static_us, launches);
}

static json_t *compared_with(json_t *a, json_t *b, struct compare_options o)
{
	const struct report_record *run = REPORT_RECORD(run);
	struct compared_run runs[] = { { .head = json_object(), .report = complete(run, a) },
				       { .head = json_object(), .report = complete(run, b) } };
	struct err err = { 0 };
	json_t *c = compare_runs(runs, 2, &o, &err);

	if (!c)
		fail_msg("%s", err.message);
	json_decref(runs[0].head);
	json_decref(runs[1].head);
	json_decref(a);
	json_decref(b);
	return c;
}

static json_t *compared(json_t *a, json_t *b)
{
	return compared_with(a, b, (struct compare_options){ 0 });
}

static json_t *first(const json_t *c)
{
	return json_array_get(json_object_get(c, "comparisons"), 0);
}

static const char *text_at(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "";
}

static json_t *figure(const json_t *c, const char *metric, const char *mode)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(first(c), "figures"), i, f)
	{
		if (strcmp(text_at(f, "metric"), metric) == 0 &&
		    strcmp(text_at(f, "mode"), mode) == 0)
			return f;
	}
	fail_msg("no figure %s of %s", metric, mode);
	return NULL;
}

static void a_report_beside_itself_is_the_same(void **state)
{
	json_t *c = compared(report(20, 1), report(20, 1));

	(void)state;
	assert_string_equal(text_at(c, "verdict"), "SAME");
	assert_string_equal(text_at(figure(c, "latency", "eager"), "verdict"), "SAME");
	assert_string_equal(text_at(figure(c, "launches", "static"), "verdict"), "SAME");
	assert_string_equal(text_at(figure(c, "compile_ms", "static"), "verdict"), "NOT ENOUGH");
	assert_int_equal(json_array_size(json_object_get(first(c), "differences")), 0);
	json_decref(c);
}

static void slower_is_said_of_the_mode_with_its_interval(void **state)
{
	json_t *c = compared(report(20, 1), report(30, 3)), *f;

	(void)state;
	assert_string_equal(text_at(c, "verdict"), "SLOWER");
	f = json_object_get(first(c), "headline");
	assert_string_equal(text_at(f, "mode"), "static");
	assert_string_equal(text_at(f, "metric"), "latency");
	assert_float_equal(json_number_value(json_object_get(f, "ratio")), 1.5, 1e-9);
	assert_true(json_number_value(json_array_get(json_object_get(f, "ci"), 0)) > 1.43);
	assert_string_equal(text_at(figure(c, "speedup", "static"), "verdict"), "SLOWER");
	assert_string_equal(text_at(figure(c, "latency", "eager"), "verdict"), "SAME");
	assert_string_equal(text_at(figure(c, "launches", "static"), "verdict"), "MORE");
	assert_string_equal(text_at(json_object_get(first(c), "control"), "verdict"), "SAME");
	json_decref(c);
	c = compared(report(30, 3), report(20, 1));
	assert_string_equal(text_at(c, "verdict"), "FASTER");
	assert_string_equal(text_at(figure(c, "launches", "static"), "verdict"), "LESS");
	json_decref(c);
}

static void a_difference_within_the_margin_is_none(void **state)
{
	json_t *c = compared(report(20, 1), report(20.2, 1));

	(void)state;
	assert_string_equal(text_at(c, "verdict"), "SAME");
	json_decref(c);
	c = compared(report(20, 1), report(21, 1)); /* as large as the margin */
	assert_string_equal(text_at(c, "verdict"), "SLOWER");
	json_decref(c);
	c = compared_with(report(20, 1), report(20.4, 1),
			  (struct compare_options){ .margin = 0.01 });
	assert_string_equal(text_at(c, "verdict"),
			    "AMBIGUOUS"); /* its interval holds 1, and 1.01 */
	json_decref(c);
}

static void few_rounds_give_no_verdict(void **state)
{
	json_t *a = report(20, 1), *b = report(40, 1), *c;
	json_t *m = json_object_get(json_object_get(b, "modes"), "static");

	(void)state;
	json_object_set_new(json_object_get(m, "latency"), "n", json_integer(5));
	c = compared(a, b);
	assert_string_equal(text_at(figure(c, "latency", "static"), "verdict"), "NOT ENOUGH");
	json_decref(c);
}

/* ---- eager, the control */

static void check_judged(json_t *c, const char *verdict, const char *by)
{
	const json_t *pair = first(c), *headline = json_object_get(pair, "headline");

	assert_string_equal(text_at(c, "verdict"), verdict);
	assert_string_equal(text_at(pair, "judged_by"), by);
	assert_string_equal(text_at(headline, "metric"), by);
	assert_string_equal(text_at(headline, "mode"), "static");
	json_decref(c);
}

static void where_eager_moved_the_speedup_decides(void **state)
{
	const struct compare_options latency = { .metric = "latency" };
	json_t *c = compared(report(20, 1), report_of(70, 14, 1));

	(void)state;
	assert_string_equal(text_at(figure(c, "latency", "static"), "verdict"), "FASTER");
	assert_string_equal(text_at(figure(c, "latency", "static"), "why"), "the speedup decides");
	assert_true(json_is_false(json_object_get(figure(c, "latency", "static"), "decides")));
	assert_true(json_is_true(json_object_get(figure(c, "speedup", "static"), "decides")));
	assert_string_equal(text_at(json_object_get(first(c), "control"), "verdict"), "FASTER");
	check_judged(c, "SAME", "speedup");
	check_judged(compared(report(20, 1), report_of(70, 10, 1)), "FASTER", "speedup");
	check_judged(compared(report(20, 1), report_of(70, 20, 1)), "SLOWER", "speedup");
	check_judged(compared(report(20, 1), report_of(101, 30, 1)), "SLOWER", "latency");
	check_judged(compared_with(report(20, 1), report_of(70, 14, 1), latency), "FASTER",
		     "latency");
}

/* Eager's interval crosses the margin. */
static json_t *with_open_eager(json_t *report)
{
	json_t *eager = json_object_get(json_object_get(report, "modes"), "eager");

	json_object_set_new(json_object_get(eager, "latency"), "ci_us", parse("[85, 125]"));
	return report;
}

static void a_latency_is_not_believed_where_eager_may_have_moved(void **state)
{
	(void)state;
	check_judged(compared(report(20, 1), with_open_eager(report(14, 1))), "FASTER", "speedup");
	check_judged(compared(report(20, 1), with_open_eager(report(20, 1))), "SAME", "latency");
}

static void eager_of_another_program_is_no_control(void **state)
{
	json_t *b = report_of(70, 14, 1), *c, *only;

	(void)state;
	json_object_set_new(json_object_get(b, "workload"), "source", json_string("x = 1\n"));
	c = compared(report(20, 1), b);
	assert_true(json_is_null(json_object_get(first(c), "control")));
	check_judged(c, "FASTER", "latency");
	only = report_of(70, 14, 1); /* one side without eager */
	json_object_del(json_object_get(only, "modes"), "eager");
	json_object_clear(json_object_get(only, "break_even"));
	check_judged(compared(report(20, 1), only), "FASTER", "latency");
}

/* ---- sweeps: many points, judged together */

static json_t *sweep_of(const double *static_us, int n)
{
	json_t *r = report(20, 1), *points = json_object_get(r, "points");

	for (int i = 0; i < n; i++) {
		char *fused = mode_text(static_us[i], 1);

		json_array_append_new(points, json_pack("{s:i, s:{s:o}, s:{}}", "n", i + 1, "modes",
							"static", parse(fused), "break_even"));
		free(fused);
	}
	json_object_clear(json_object_get(r, "modes"));
	json_object_set_new(json_object_get(r, "workload"), "sweep",
			    parse("{\"statements\": {\"counts\": [1]}}"));
	return r;
}

/* Static with samples about as long as said, which so many processes took. */
static json_t *sampled(double us, json_t *of_process)
{
	json_t *r = report(us, 1), *samples = json_array();
	json_t *latency = json_object_get(json_object_get(json_object_get(r, "modes"), "static"),
					  "latency");

	for (int i = 0; i < 30; i++)
		json_array_append_new(samples, json_integer((int)(us * 1000) + i % 5));
	json_object_set_new(latency, "samples_ns", samples);
	json_object_set_new(latency, "of_process", of_process);
	return r;
}

/* What anybody can post. */
/* A tenth slower on a GPU, where the fixed control took twice as long; the processor is at work for
 * `host` of each call. */
static const char *slower_while_the_processor_drifted(double host)
{
	static char verdict[32];
	json_t *runs[2] = { report(50, 1), report_of(110, 55, 1) }, *c;

	for (int i = 0; i < 2; i++) {
		const char *mode;
		json_t *m;

		json_object_set_new(json_object_get(runs[i], "device"), "kind",
				    json_string("cuda"));
		json_object_set_new(runs[i], "control",
				    json_pack("{s:f, s:[f,f], s:i}", "median_us", i ? 60.0 : 30.0,
					      "ci_us", i ? 59.0 : 29.5, i ? 61.0 : 30.5, "n", 30));
		json_object_foreach(json_object_get(runs[i], "modes"), mode, m)
		{
			json_object_set_new(
			    m, "split_us",
			    json_pack("{s:f, s:f}", "observed", 100.0, "rest", 100 * (1 - host)));
		}
	}
	c = compared(runs[0], runs[1]);
	assert_true(json_is_true(json_object_get(json_object_get(first(c), "drift"), "moved")));
	snprintf(verdict, sizeof(verdict), "%s", text_at(figure(c, "latency", "eager"), "verdict"));
	json_decref(c);
	return verdict;
}

static void a_drift_of_the_processor_is_not_felt_by_what_waits_for_a_gpu(void **state)
{
	(void)state;
	assert_string_equal(slower_while_the_processor_drifted(0.1), "SLOWER");
	assert_string_equal(slower_while_the_processor_drifted(0.4), "AMBIGUOUS");
	assert_string_equal(slower_while_the_processor_drifted(0.9), "AMBIGUOUS");
}

/* A run of a GPU whose control is arithmetic, as an earlier version's, tells nothing of launches.
 */
static void controls_of_other_work_tell_no_drift(void **state)
{
	json_t *runs[2] = { report(50, 1), report(50, 1) }, *c;

	(void)state;
	for (int i = 0; i < 2; i++)
		json_object_set_new(runs[i], "control",
				    json_pack("{s:f, s:[f,f], s:i}", "median_us", i ? 90.0 : 22.0,
					      "ci_us", i ? 89.0 : 21.5, i ? 91.0 : 22.5, "n", 30));
	json_object_set_new(json_object_get(runs[1], "control"), "launches", json_integer(32));
	c = compared(runs[0], runs[1]);
	assert_null(json_object_get(first(c), "drift"));
	json_decref(c);
}

static void processes_that_do_not_add_up_are_one(void **state)
{
	const json_int_t most = INT64_MAX;
	json_t *wrong[] = { json_pack("[i,i]", -5, 35), json_pack("[I,I,i]", most, most, 32),
			    json_pack("[i,i]", 10, 10), json_array(),
			    json_pack("[i,i,i,i,i,i,i,i,i]", 6, 3, 3, 3, 3, 3, 3, 3, 3) };
	json_t *c, *f;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		c = compared(sampled(20, wrong[i]), sampled(30, json_pack("[i,i,i]", 10, 10, 10)));
		f = figure(c, "latency", "static");
		assert_string_equal(text_at(f, "verdict"), "SLOWER");
		assert_float_equal(json_number_value(json_object_get(f, "ratio")), 1.5, 0.01);
		assert_int_equal(
		    json_integer_value(json_object_get(json_object_get(f, "a"), "processes")), 1);
		assert_int_equal(
		    json_integer_value(json_object_get(json_object_get(f, "b"), "processes")), 3);
		json_decref(c);
	}
}

/* Busy moments lengthen most samples of a run: its median then says another ratio than its lower
 * decile, which is judged, and both are told apart. */
static void medians_of_busy_moments_are_told_from_what_is_judged(void **state)
{
	json_t *a = sampled(20, json_pack("[i,i,i]", 10, 10, 10));
	json_t *latency = json_object_get(json_object_get(json_object_get(a, "modes"), "static"),
					  "latency");
	json_t *c, *f;
	char *sentence;

	(void)state;
	json_object_set_new(latency, "median_us", json_real(31));
	json_object_set_new(latency, "ci_us", json_pack("[f,f]", 20.0, 40.0));
	c = compared(a, sampled(30, json_pack("[i,i,i]", 10, 10, 10)));
	f = figure(c, "latency", "static");
	assert_string_equal(text_at(f, "verdict"), "SLOWER");
	assert_non_null(strstr(text_at(f, "why"), "of the medians 0.97x"));
	assert_float_equal(json_number_value(json_object_get(json_object_get(f, "a"), "value")), 31,
			   0.01);
	sentence = json_dumps(json_object_get(first(c), "sentence"), 0);
	assert_non_null(strstr(sentence, " against 20"));
	assert_non_null(strstr(sentence, "at their lower deciles"));
	free(sentence);
	json_decref(c);
}

static json_t *latency_at(const json_t *c, double n)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(first(c), "figures"), i, f)
	{
		if (strcmp(text_at(f, "metric"), "latency") == 0 &&
		    json_number_value(json_object_get(f, "n")) == n)
			return f;
	}
	fail_msg("no latency at n = %g", n);
	return NULL;
}

static void one_point_in_many_that_is_just_beyond_may_be_chance(void **state)
{
	double a[20], b[20];
	json_t *c, *f;

	(void)state;
	for (int i = 0; i < 20; i++)
		a[i] = b[i] = 20 + i;
	b[7] *= 1.035; /* alone its interval begins at 1.009 */
	c = compared(sweep_of(a, 20), sweep_of(b, 20));
	f = latency_at(c, 8);
	assert_string_equal(text_at(f, "verdict"), "AMBIGUOUS");
	assert_non_null(strstr(text_at(f, "why"), "among 21 figures"));
	assert_string_equal(text_at(c, "verdict"), "AMBIGUOUS");
	json_decref(c);
	b[7] *= 1.2;
	c = compared(sweep_of(a, 20), sweep_of(b, 20));
	assert_string_equal(text_at(c, "verdict"), "SLOWER");
	json_decref(c);
}

static void compile_time_is_judged_over_the_points(void **state)
{
	double a[8], b[8];
	json_t *c, *f;

	(void)state;
	for (int i = 0; i < 8; i++) {
		a[i] = 20 + i;
		b[i] = a[i] * (1.5 + 0.01 * i);
	}
	c = compared(sweep_of(a, 8), sweep_of(b, 8));
	f = figure(c, "compile_ms", "static");
	assert_int_equal(json_integer_value(json_object_get(f, "points")), 8);
	assert_string_equal(text_at(f, "verdict"), "SLOWER");
	assert_float_equal(json_number_value(json_array_get(json_object_get(f, "ci"), 0)), 1.5,
			   1e-9);
	json_decref(c);
	c = compared(sweep_of(a, 5), sweep_of(b, 5));
	assert_string_equal(text_at(figure(c, "compile_ms", "static"), "verdict"), "NOT ENOUGH");
	json_decref(c);
}

static json_t *with_pool(json_t *report, const char *pool)
{
	json_t *w = json_object_get(report, "workload"),
	       *points = json_object_get(report, "points");
	json_t *statements = json_object_get(json_object_get(w, "sweep"), "statements");

	json_object_set_new(statements, "pool", parse(pool));
	json_object_set_new(json_array_get(points, json_array_size(points) - 1), "source",
			    json_copy(json_array_get(json_object_get(statements, "pool"), 0)));
	return report;
}

/* What a sweep puts into the source is part of the program, not of the machine. */
static void other_statements_are_another_program(void **state)
{
	double us[3] = { 20, 21, 22 };
	json_t *a = with_pool(sweep_of(us, 3), "[\"x = x + 1\"]");
	json_t *b = with_pool(sweep_of(us, 3), "[\"x = torch.sin(x)\", \"x = x + 1\"]");
	json_t *c = compared(a, b),
	       *d = json_array_get(json_object_get(first(c), "differences"), 0);

	(void)state;
	assert_string_equal(text_at(d, "key"), "pool");
	assert_string_equal(text_at(d, "b"), "2 lines: x = torch.sin(x); x = x + 1");
	assert_false(json_is_true(json_object_get(d, "matters")));
	assert_true(json_is_null(json_object_get(first(c), "control")));
	d = json_object_get(first(c), "source");
	assert_int_equal(json_integer_value(json_object_get(d, "added")), 1);
	assert_int_equal(json_integer_value(json_object_get(d, "n")), 3);
	assert_non_null(json_object_get(json_object_get(c, "sweep"), "statements"));
	json_decref(c);
}

static void points_of_one_side_are_named(void **state)
{
	double us[3] = { 20, 21, 22 };
	json_t *c = compared(sweep_of(us, 3), sweep_of(us, 2)), *only;

	(void)state;
	only = json_object_get(first(c), "only");
	assert_string_equal(json_string_value(json_array_get(json_object_get(only, "a"), 0)),
			    "static at n = 3");
	assert_int_equal(json_array_size(json_object_get(only, "b")), 0);
	json_decref(c);
}

/* ---- runs that repeat one */

static void what_runs_of_the_same_differ_by_is_in_the_interval(void **state)
{
	/* static spreads by 30 % from run to run, whatever one of them says of itself */
	const struct repeat repeats[] = { { "latency", "static", NAN, 20 },
					  { "latency", "static", NAN, 26 },
					  { "latency", "static", NAN, 21 },
					  { "latency", "eager", NAN, 100 },
					  { "latency", "eager", NAN, 101 } };
	json_t *a = report(20, 1), *b = report(26, 1), *c, *f;
	struct compared_run runs[] = { { .head = json_object(),
					 .report = complete(REPORT_RECORD(run), a),
					 .repeats = repeats,
					 .n_repeats = 5 },
				       { .head = json_object(),
					 .report = complete(REPORT_RECORD(run), b) } };
	struct compare_options o = { 0 };
	struct err err = { 0 };

	(void)state;
	c = compare_runs(runs, 2, &o, &err);
	assert_non_null(c);
	f = figure(c, "latency", "static");
	assert_string_equal(text_at(f, "verdict"), "AMBIGUOUS");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(f, "a"), "repeats")),
			 3);
	assert_true(json_number_value(json_array_get(json_object_get(f, "ci"), 0)) < 0.7);
	f = figure(c, "latency", "eager"); /* two are too few to know a spread */
	assert_int_equal(json_integer_value(json_object_get(json_object_get(f, "a"), "repeats")),
			 0);
	assert_string_equal(text_at(f, "verdict"), "SAME");
	json_decref(c);
	json_decref(runs[0].head);
	json_decref(runs[1].head);
	json_decref(a);
	json_decref(b);
}

/* ---- what differs */

static void set_in(json_t *r, const char *where, const char *key, json_t *value)
{
	json_object_set_new(json_object_get(r, where), key, value);
}

static void other_threads_are_refused_and_named(void **state)
{
	json_t *b = report(20, 1), *again = report(40, 1), *c;

	(void)state;
	set_in(b, "device", "threads", json_integer(16));
	set_in(again, "device", "threads", json_integer(16));
	c = compared(report(20, 1), b);
	assert_string_equal(text_at(c, "verdict"), "REFUSED");
	assert_string_equal(text_at(c, "refused"), "not comparable: threads 1 against 16");
	assert_null(json_object_get(first(c), "figures"));
	json_decref(c);
	c = compared_with(report(20, 1), again, (struct compare_options){ .force = true });
	assert_string_equal(text_at(c, "verdict"), "SLOWER");
	assert_true(json_is_true(json_object_get(first(c), "forced")));
	assert_string_equal(text_at(c, "refused"), "not comparable: threads 1 against 16");
	json_decref(c);
}

/* Refused, or else only named; each against the report as it is. */
static void what_matters_and_what_is_only_named(void **state)
{
	static const struct {
		const char *where, *key, *value, *refused;
	} cases[] = {
		{ "device", "kind", "\"cuda\"", "device cpu against cuda" },
		{ "device", "name", "\"other\"", "processor or GPU some against other" },
		{ "device", "backend", "\"interp\"", NULL }, /* A does not know its own */
		{ "environment", "breakeven", "\"2\"", NULL },
		{ "environment", "governor", "\"unknown\"", NULL },
		{ "workload", "policy", "\"native\"", NULL },
		{ "workload", "policy", "\"dynamo\"", "" },
		{ "workload", "autocast", "\"bfloat16\"", "autocast none against bfloat16" },
		{ "workload", "grad", "true", "gradients none against yes" },
		{ "workload", "time", "{\"static\": [0, 2], \"eager\": [1]}",
		  "timed calls none against static 0, 2; eager 1" },
		{ "workload", "calls", "[[{\"value\": [1, 2.5]}, {\"value\": null}]]",
		  "inputs none against 1, 2.5, none" },
		{ "workload", "calls",
		  "[[{\"random\": {\"shape\": [2, 3], \"dtype\": \"float32\"}}]]",
		  "inputs none against float32[2,3]" },
		{ "workload", "source", "\"pass\"", NULL },
		{ "workload", "name", "\"other\"", NULL },
		{ "workload", "commit", "\"abc\"", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_error_t at;
		json_t *b = report(20, 1), *c, *d;
		const char *refused = cases[i].refused;

		set_in(b, cases[i].where, cases[i].key,
		       json_loads(cases[i].value, JSON_DECODE_ANY, &at));
		c = compared(report(20, 1), b);
		d = json_object_get(first(c), "differences");
		assert_int_equal(json_array_size(d), refused && !*refused ? 0 : 1);
		if (refused && *refused)
			assert_string_equal(text_at(c, "refused") + strlen("not comparable: "),
					    refused);
		else
			assert_true(json_is_null(json_object_get(c, "refused")));
		json_decref(c);
	}
}

/* Lists and objects as people write them, not as JSON has them. */
static void settings_are_written_in_words(void **state)
{
	static const struct {
		const char *key, *value, *said;
	} cases[] = {
		{ "deny", "[\"relu\"]", "relu" },
		{ "deny", "[\"relu\", \"sin\"]", "relu, sin" },
		{ "passes", "{\"cse\": false, \"fold\": true, \"fuse\": false}", "cse, fuse" },
		{ "passes", "{}", "none" },
		{ "seconds", "0.5", "0.5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *b = report(20, 1), *c, *d;

		set_in(b, "workload", cases[i].key,
		       json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		c = compared(report(20, 1), b);
		d = json_array_get(json_object_get(first(c), "differences"), 0);
		assert_string_equal(text_at(d, "b"), cases[i].said);
		json_decref(c);
	}
}

static void another_name_and_source_are_another_workload(void **state)
{
	json_t *b = report(20, 1), *c;

	(void)state;
	set_in(b, "workload", "name", json_string("other"));
	set_in(b, "workload", "source", json_string("pass"));
	c = compared(report(20, 1), b);
	assert_string_equal(text_at(c, "refused"), "not comparable: workload chain against other");
	json_decref(c);
}

/* ---- breaks, kernels, graphs */

static void add_to(json_t *r, const char *key, const char *text)
{
	json_t *m = json_object_get(json_object_get(r, "modes"), "static");

	json_array_append_new(json_object_get(m, key), parse(text));
}

#define PRINTED(line)                                                                              \
	"{\"stage\": \"capture\", \"kind\": \"host-call\", \"gb\": null, \"cause\": null,"         \
	" \"stack\": [{\"line\": " #line                                                           \
	", \"function\": \"model\"}], \"count\": 1, \"cost_us\": 2}"

static void a_break_is_known_by_its_line_not_the_number_of_it(void **state)
{
	json_t *a = report(20, 1), *b = report(20, 1), *c, *rows;

	(void)state;
	add_to(a, "breaks", PRINTED(4));
	add_to(b, "breaks", PRINTED(6));
	add_to(b, "breaks", PRINTED(7));
	set_in(b, "workload", "source",
	       json_string("import torch\n\n# new\n\ndef model(x):\n  print('a')\n  print('b')\n"));
	c = compared(a, b);
	rows = json_object_get(first(c), "breaks");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(text_at(json_array_get(rows, 0), "change"), "kept");
	assert_string_equal(text_at(json_array_get(rows, 0), "text"), "print('a')");
	assert_string_equal(text_at(json_array_get(rows, 1), "change"), "added");
	assert_string_equal(text_at(json_array_get(rows, 1), "text"), "print('b')");
	assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "a")));
	json_decref(c);
}

#define GRAPH(ops, name, us)                                                                       \
	"{\"ops\": [" ops "], \"kernels\": [\"" name                                               \
	"\"], \"kernel_details\": [{\"name\": \"" name                                             \
	"\", \"form\": \"map\", \"ops\": 1, \"median_us\": " us ", \"ci_us\": [" us ", " us        \
	"], \"seen\": 40}]}"

static void kernels_come_go_and_grow_and_ops_are_counted(void **state)
{
	json_t *a = report(20, 1), *b = report(20, 1), *c, *rows, *graph;

	(void)state;
	add_to(a, "graphs", GRAPH("\"sin\", \"mul\"", "fused_sin_mul", "5"));
	add_to(a, "graphs", GRAPH("\"add\"", "fused_add", "5"));
	add_to(a, "graphs", GRAPH("\"cos\"", "fused_cos", "5"));
	add_to(b, "graphs", GRAPH("\"sin\"", "fused_sin", "4"));
	add_to(b, "graphs", GRAPH("\"add\"", "fused_add", "7"));
	add_to(b, "graphs", GRAPH("\"cos\"", "fused_cos", "5.1"));
	c = compared(a, b);
	rows = json_object_get(first(c), "kernels");
	assert_int_equal(json_array_size(rows), 3);
	assert_string_equal(text_at(json_array_get(rows, 0), "change"), "gone");
	assert_string_equal(text_at(json_array_get(rows, 1), "change"), "slower");
	assert_string_equal(text_at(json_array_get(rows, 1), "name"), "fused_add");
	assert_string_equal(text_at(json_array_get(rows, 2), "change"), "added");
	assert_int_equal(json_integer_value(json_object_get(first(c), "kernels_same")), 1);
	graph = json_array_get(json_object_get(first(c), "graphs"), 0);
	assert_int_equal(json_array_size(json_object_get(graph, "ops")), 1);
	assert_string_equal(text_at(json_array_get(json_object_get(graph, "ops"), 0), "op"), "mul");
	json_decref(c);
}

static void lines_added_and_gone_are_the_fewest(void **state)
{
	const struct compared_program old = { .source = "a\nb\nc\nd\n" },
				      new = { .source = "a\nc\nx\nd" }, one = { .source = "a\n" };
	struct arena arena = { 0 };
	struct lines d;
	char shape[16] = "";
	int len;

	(void)state;
	assert_true(lines_compare(&old, &new, &arena, &d));
	for (size_t i = 0; i < d.n; i++)
		strcat(shape, d.at[i].sign);
	assert_string_equal(shape, " - + ");
	assert_int_equal(d.added, 1);
	assert_true(lines_compare(&one, &one, &arena, &d));
	assert_null(d.at);
	arena_finish(&arena);
	assert_memory_equal(lines_at("x\n  y z \t\n", 2, &len), "y z", 3);
	assert_int_equal(len, 3);
	lines_at("x\n", 9, &len);
	assert_int_equal(len, 0);
}

static void what_measured_nothing_and_other_metrics_are_refused_in_words(void **state)
{
	json_t *a = report(20, 1),
	       *empty = parse("{\"breakeven\": 1, \"modes\": {}, \"points\": []}");
	struct compared_run runs[] = { { .head = json_object(),
					 .report = complete(REPORT_RECORD(run), a) },
				       { .head = json_object(), .report = empty } };
	struct compare_options o = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_null(compare_runs(runs, 2, &o, &err));
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_non_null(strstr(err.message, "run B measured no mode"));
	err = (struct err){ 0 };
	o.metric = "launches";
	assert_null(compare_runs(runs, 1, &o, &err));
	assert_non_null(strstr(err.message, "latency or speedup"));
	json_decref(runs[0].head);
	json_decref(runs[1].head);
	json_decref(a);
	json_decref(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_beside_itself_is_the_same),
		cmocka_unit_test(slower_is_said_of_the_mode_with_its_interval),
		cmocka_unit_test(a_difference_within_the_margin_is_none),
		cmocka_unit_test(few_rounds_give_no_verdict),
		cmocka_unit_test(where_eager_moved_the_speedup_decides),
		cmocka_unit_test(a_latency_is_not_believed_where_eager_may_have_moved),
		cmocka_unit_test(eager_of_another_program_is_no_control),
		cmocka_unit_test(a_drift_of_the_processor_is_not_felt_by_what_waits_for_a_gpu),
		cmocka_unit_test(controls_of_other_work_tell_no_drift),
		cmocka_unit_test(processes_that_do_not_add_up_are_one),
		cmocka_unit_test(medians_of_busy_moments_are_told_from_what_is_judged),
		cmocka_unit_test(one_point_in_many_that_is_just_beyond_may_be_chance),
		cmocka_unit_test(compile_time_is_judged_over_the_points),
		cmocka_unit_test(other_statements_are_another_program),
		cmocka_unit_test(points_of_one_side_are_named),
		cmocka_unit_test(what_runs_of_the_same_differ_by_is_in_the_interval),
		cmocka_unit_test(other_threads_are_refused_and_named),
		cmocka_unit_test(what_matters_and_what_is_only_named),
		cmocka_unit_test(settings_are_written_in_words),
		cmocka_unit_test(another_name_and_source_are_another_workload),
		cmocka_unit_test(a_break_is_known_by_its_line_not_the_number_of_it),
		cmocka_unit_test(kernels_come_go_and_grow_and_ops_are_counted),
		cmocka_unit_test(lines_added_and_gone_are_the_fewest),
		cmocka_unit_test(what_measured_nothing_and_other_metrics_are_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
