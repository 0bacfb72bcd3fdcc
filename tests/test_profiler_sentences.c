/* tests/test_profiler_sentences.c -- what is said of two runs, of a workload over its runs, and of
 * suites. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/history/history.h"
#include "profiler/compare/sentences.h"
#include "profiler/findings/sentence.h"

/* ---- two runs ---- */

static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena = (struct arena){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_finish(&arena);
	return 0;
}

static struct report_compared_value *side(double value, const char *unit, double most)
{
	struct report_compared_value *v = report_new_compared_value(1, &arena);
	struct wording w = { .arena = &arena };
	struct interval i = { 0.99 * value, value, 1.01 * value };

	REPORT_SET(v, value, value);
	REPORT_SET(v, shown, wording_figure_in(&w, &i, unit, most));
	REPORT_SET(v, samples, 30);
	REPORT_SET(v, repeats, 0);
	return v;
}

/* A latency or a speedup of static, give or take a fiftieth. */
static struct report_compared_figure *figure(const char *metric, double a, double b,
					     const char *verdict)
{
	struct report_compared_figure *f = report_new_compared_figure(1, &arena);
	const char *unit = strcmp(metric, "speedup") == 0 ? "x" : "us";
	struct wording w = { .arena = &arena };
	double r = b / a;

	REPORT_SET(f, metric, metric);
	REPORT_SET(f, mode, "static");
	REPORT_SET(f, a, side(a, unit, fmax(a, b)));
	REPORT_SET(f, b, side(b, unit, fmax(a, b)));
	REPORT_SET(f, ratio, r);
	REPORT_SET(f, ci, (struct report_interval){ 0.98 * r, 1.02 * r });
	REPORT_SET(f, times, wording_figure(&w, &(struct interval){ 0.98 * r, r, 1.02 * r }, "x"));
	REPORT_SET(f, verdict, verdict);
	return f;
}

static struct report_compared *pair(struct report_compared_figure *headline, const char *verdict)
{
	struct report_compared *c = report_new_compared(1, &arena);

	REPORT_SET(c, a, "A");
	REPORT_SET(c, b, "B");
	REPORT_SET(c, verdict, verdict);
	REPORT_SET_IF(c, headline, headline, headline);
	REPORT_SET(c, figures, (struct report_compared_figure_list){ headline, headline ? 1 : 0 });
	return c;
}

static const char *joined(const struct report_sentence_part_list *parts)
{
	struct buf out = { 0 };
	const char *text;

	sentence_say(&out, parts);
	text = arena_printf(&arena, "%s", out.data ? out.data : "");
	buf_finish(&out);
	return text;
}

static const char *joined_texts(struct report_texts list)
{
	const char *text = "";

	for (size_t i = 0; i < list.n; i++)
		text = arena_printf(&arena, "%s%s%s", text, i ? " " : "", list.at[i]);
	return text;
}

static const char *said(struct report_compared *c)
{
	assert_true(compared_say(c, 0.05, &arena));
	return joined(&c->sentence);
}

static const char *said_of(const char *metric, double a, double b, const char *verdict)
{
	return said(pair(figure(metric, a, b, verdict), verdict));
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in \"%s\"", part, text);
}

static void each_verdict_claims_what_its_interval_holds(void **state)
{
	struct report_compared_figure *slow = figure("latency", 25.8, 77.2, "SLOWER"),
				      *open = figure("latency", 10, 10.5, "AMBIGUOUS");
	struct wording w = { .arena = &arena };

	(void)state;
	REPORT_SET(slow, n, 30);
	assert_string_equal(
	    said(pair(slow, "SLOWER")),
	    "B takes 2.99x (2.93–3.05) as long as A under static at n = 30: 77.2 µs "
	    "against 25.8 µs.");
	assert_string_equal(said_of("latency", 30, 10, "FASTER"),
			    "B is 3.00x (2.94–3.06) faster than A under static: 10.0 µs against "
			    "30.0 µs.");
	assert_string_equal(said_of("latency", 10, 10, "SAME"),
			    "B is as fast as A under static: 1.00x (0.98–1.02).");
	open->ci = (struct report_interval){ 0.9, 1.3 };
	open->times = wording_figure(&w, &(struct interval){ 0.9, 1.05, 1.3 }, "x");
	assert_string_equal(
	    said(pair(open, "AMBIGUOUS")),
	    "B may take anywhere from 0.9x to 1.3x as long as A under static, so no "
	    "verdict is given.");
	assert_string_equal(said_of("latency", 1, 2, "NOT ENOUGH"),
			    "Too few rounds to tell B from A under static: 2.00 µs against 1.00 "
			    "µs.");
	assert_string_equal(said_of("speedup", 4, 2, "SLOWER"),
			    "The speedup of static over eager in B is 0.50x (0.49–0.51) of A's: "
			    "2.00x against 4.00x.");
	assert_string_equal(said_of("speedup", 4, 4, "SAME"),
			    "The speedup of static over eager is the same in B as in A: 1.00x "
			    "(0.98–1.02).");
	open->metric = "speedup";
	assert_string_equal(said(pair(open, "AMBIGUOUS")),
			    "The speedup of static over eager in B may be anywhere from 0.9x to "
			    "1.3x of A's, so no verdict is given.");
	assert_string_equal(said(pair(NULL, "NOT ENOUGH")),
			    "B and A have no timed figure in common: there is nothing to judge.");
}

static void what_disagrees_or_is_refused_says_why(void **state)
{
	struct report_compared_figure *f = figure("latency", 1, 2, "DISAGREES");
	struct report_compared *c = pair(NULL, "REFUSED");

	(void)state;
	REPORT_SET(f, why, "its values differ from eager's in the second run");
	assert_string_equal(
	    said(pair(f, "DISAGREES")),
	    "static has nothing to compare with: its values differ from eager's in the second "
	    "run.");
	c->has.figures = false;
	REPORT_SET(c, refused, "not comparable: threads 1 against 16; device cpu against cuda");
	assert_string_equal(said(c), "B and A are not comparable: threads 1 against 16; device cpu "
				     "against cuda.");
	assert_int_equal(c->how.n, 0);
}

static struct report_break_change break_of(const char *change, const char *mode, double cost_us)
{
	struct report_break_change *b = report_new_break_change(1, &arena);
	struct report_compared_break *at = report_new_compared_break(1, &arena);

	REPORT_SET(b, change, change);
	REPORT_SET(b, mode, mode);
	REPORT_SET_IF(at, cost_us, !isnan(cost_us), cost_us);
	if (strcmp(change, "gone") == 0)
		REPORT_SET(b, a, at);
	else
		REPORT_SET(b, b, at);
	return *b;
}

static void breaks_of_its_mode_follow_with_what_they_cost(void **state)
{
	struct report_break_change added[] = { break_of("added", "static", 25),
					       break_of("added", "static", 26.4),
					       break_of("added", "dynamic", 9) },
				   unknown[] = { break_of("added", "static", NAN) },
				   gone[] = { break_of("gone", "static", 3) };
	const struct {
		struct report_break_change_list breaks;
		const char *end;
	} rows[] = { { { added, 3 }, " 2 new breaks cost 51.4 µs a call." },
		     { { unknown, 1 }, " against 10.0 µs. 1 new break." },
		     { { gone, 1 }, " 1 break gone, which cost 3 µs a call." } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report_compared *c = pair(figure("latency", 10, 20, "SLOWER"), "SLOWER");
		const char *text;

		REPORT_SET(c, breaks, rows[i].breaks);
		text = said(c);
		assert_has(text, rows[i].end);
		assert_string_equal(text + strlen(text) - strlen(rows[i].end), rows[i].end);
	}
}

static void how_far_it_reaches(void **state)
{
	struct report_compared *c = pair(figure("latency", 10, 20, "SLOWER"), "SLOWER");
	struct report_compared_only *only = report_new_compared_only(1, &arena);
	double counts[] = { 2, 1, 0 };
	const char *words[] = { "SLOWER", "SAME", "FASTER" }, *names[] = { "graphs", "lazy" };

	(void)state;
	REPORT_SET(c, counts, (struct report_numbers){ counts, 3, words });
	REPORT_SET(c, judged_by, "latency");
	REPORT_SET(c, control, figure("latency", 10, 10, "SAME"));
	REPORT_SET(c, family, 1);
	REPORT_SET(only, a, (struct report_texts){ names, 2 });
	REPORT_SET(c, only, only);
	said(c);
	assert_string_equal(
	    joined_texts(c->how),
	    "Of 3 latencies 2 are SLOWER, 1 is SAME. Eager, the control, is the same in both. "
	    "Ratios of latencies are of lower deciles, since what else runs on a machine makes "
	    "samples longer only. 1 process of each run took samples: the intervals hold what "
	    "its rounds differ by, and what processes of the same are known to differ by. SAME "
	    "is an interval within 5 %; FASTER or SLOWER, one that reaches beyond and does not "
	    "hold 1, among the 1 figure judged (Holm, 5 %). Only in A: graphs, lazy.");
	c->headline->a->repeats = 5;
	said(c);
	assert_has(joined_texts(c->how),
		   "The intervals include how 5 runs of the same workload differ.");
	c->headline->mode = "eager";
	said(c);
	assert_null(strstr(joined_texts(c->how), "the control"));
}

/* Of a comparison whose headline is static's, with eager as the control. */
static struct report_compared *beside_eager(const char *metric, const char *eager)
{
	const char *verdict = strcmp(metric, "speedup") == 0 ? "SAME" : "FASTER";
	struct report_compared_figure *f = report_new_compared_figure(3, &arena);
	struct report_compared *c;

	f[0] = *figure(metric, 10, 10, verdict);
	f[1] = *figure("latency", 30, 20, "FASTER");
	f[2] = *figure("latency", 100, 70, eager);
	f[2].mode = "eager";
	c = pair(&f[0], verdict);
	REPORT_SET(c, judged_by, metric);
	REPORT_SET(c, figures, (struct report_compared_figure_list){ f, 3 });
	REPORT_SET(c, control, &f[2]);
	return c;
}

static void differ_in(struct report_compared *c, const char *key, bool matters)
{
	struct report_setting_difference *d = report_new_setting_difference(1, &arena);

	REPORT_SET(d, key, key);
	REPORT_SET(d, matters, matters);
	REPORT_SET(c, differences, (struct report_setting_difference_list){ d, 1 });
}

static void where_eager_moved_the_speedup_decides_and_the_sentence_says_so(void **state)
{
	struct report_compared *c = beside_eager("speedup", "FASTER");

	(void)state;
	assert_string_equal(
	    said(c),
	    "The speedup of static over eager is the same in B as in A: 1.00x (0.98–1.02). "
	    "Eager moved too, to 0.70x (0.69–0.71) of A's time, with the same source and "
	    "version, so the machine may have changed: the speedup decides, not the latency "
	    "(0.67x).");
	differ_in(c, "breakeven", false);
	assert_has(said(c), "with the same source under another version of Breakeven, so the "
			    "machine or that may have changed it: the speedup decides");
	assert_has(
	    said(beside_eager("speedup", "AMBIGUOUS")),
	    "Eager may have moved too, to between 0.69x and 0.71x of A's time, with the same");
	assert_null(strstr(said(beside_eager("speedup", "SAME")), "moved"));
	c = beside_eager("latency", "FASTER"); /* as was asked */
	assert_null(strstr(said(c), "moved"));
	assert_has(joined_texts(c->how), "Eager, the control, moved too (0.70x) with the same "
					 "source and version, so the machine may have changed: "
					 "latency decides because it was asked for.");
}

static void what_is_no_control_is_said(void **state)
{
	struct report_compared *c = beside_eager("latency", "FASTER");

	(void)state;
	c->control = NULL;
	differ_in(c, "source", false);
	assert_null(strstr(said(c), "control"));
	assert_has(joined_texts(c->how), "The programs differ, so eager is no control of the "
					 "machine: the latency decides.");
	differ_in(c, "threads", true);
	said(c);
	assert_has(joined_texts(c->how), "The settings differ, so eager is no control");
	c->figures.n = 2; /* without eager */
	said(c);
	assert_has(joined_texts(c->how),
		   "Eager was not timed in both, so nothing tells whether the machine changed.");
}

static void a_figure_is_shown_in_its_unit(void **state)
{
	const struct {
		struct interval x;
		const char *unit;
		double most;
		const char *text, *low;
	} rows[] = {
		{ { 25, 25.6, 26 }, "us", 25.6, "25.6 µs", "25.0" },
		{ { NAN, 25.6, NAN }, "us", 12e3, "0.0256 ms", NULL },
		{ { 24800, 25000, 25300 }, "us", 25000, "25.0 ms", "24.8" },
		{ { NAN, 2048, NAN }, "B", 0, "2.05 kB", NULL },
		{ { NAN, 12, NAN }, "ms", 0, "12 ms", NULL },
		{ { NAN, 3, NAN }, "", 0, "3", NULL },
		{ { NAN, NAN, NAN }, "us", NAN, "unknown", NULL },
		{ { -1, 1, 3 }, "x", 0, "1x", "-1" },
	};
	struct wording w = { .arena = &arena };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report_figure *f = wording_figure_in(&w, &rows[i].x, rows[i].unit,
							    rows[i].most);

		assert_string_equal(f->text, rows[i].text);
		if (rows[i].low)
			assert_string_equal(f->low, rows[i].low);
		else
			assert_null(f->low);
	}
}

/* ---- a workload over its runs ---- */

static struct report_history_findings *history_of(const struct history_run *at, size_t n,
						  int64_t total, bool pending)
{
	struct history_runs h = { metric_info(METRIC_speedup), "static", at, n, total, pending };
	struct err err = { 0 };
	struct report_history_findings *f = history_say(&h, &arena, &err);

	assert_non_null(f);
	return f;
}

static struct history_run run_of(int64_t id, double value)
{
	return (struct history_run){ id,    { 0.99 * value, value, 1.01 * value },
				     NAN,   HISTORY_LACKS_NOTHING,
				     false, false };
}

static struct history_run without(int64_t id, enum history_lack lack)
{
	return (struct history_run){ id, { NAN, NAN, NAN }, NAN, lack, false, false };
}

static void a_history_says_the_newest_figure_and_the_baselines(void **state)
{
	struct history_run runs[] = { run_of(1, 5), run_of(2, 6), without(3, HISTORY_FAILED) },
			   none = without(1, HISTORY_UNMEASURED);
	struct report_history_findings *f;

	(void)state;
	runs[0].baseline = true;
	f = history_of(runs, 3, 3, false);
	assert_string_equal(joined(&f->sentence),
			    "static speedup over eager: 6.00x (5.94–6.06) in the newest of 2 runs; "
			    "the baseline #1 has 5.00x (4.95–5.05).");
	assert_string_equal(f->points.at[1].of_baseline, "1.20x");
	assert_string_equal(f->points.at[1].shown->text, "6.00x");
	assert_null(f->points.at[0].of_baseline);
	assert_null(f->points.at[2].shown);
	assert_string_equal(joined(&history_of(runs, 1, 1, false)->sentence),
			    "static speedup over eager: 5.00x (4.95–5.05) in the newest of 1 run, "
			    "which is the baseline.");
	runs[1].stepped = true;
	assert_string_equal(
	    joined(&history_of(runs, 2, 2, false)->sentence),
	    "static speedup over eager: 6.00x (5.94–6.06) in the newest of 2 runs, "
	    "on a level that began with run #2 and has held for 1 run; the baseline "
	    "#1 has 5.00x (4.95–5.05).");
	runs[1].stepped = false;
	runs[1].n = 30;
	assert_string_equal(joined(&history_of(&runs[1], 1, 1, false)->sentence),
			    "static speedup over eager at n = 30: 6.00x (5.94–6.06) in the newest "
			    "of 1 run.");
	assert_string_equal(joined(&history_of(&none, 1, 1, false)->sentence),
			    "No run of this workload has this figure.");
}

static void what_a_history_does_not_know_is_said(void **state)
{
	struct history_run runs[] = { without(1, HISTORY_FAILED), without(2, HISTORY_UNMEASURED),
				      without(3, HISTORY_DISAGREES), run_of(4, 5) };
	const char *text;

	(void)state;
	text = joined_texts(history_of(runs, 4, 9, true)->how);
	assert_string_equal(
	    text, "No step: a change has to come back in a second run, and to be 2 % or more, "
		  "before it is told. No run is marked as the baseline. 1 run failed. 1 run with "
		  "values that differ from "
		  "eager's is not on the line. 1 run did not measure this figure. The "
		  "newest 4 of 9 runs. Older runs are still being read: ask again for more.");
	runs[3].baseline = true;
	text = joined_texts(history_of(&runs[3], 1, 1, false)->how);
	assert_null(strstr(text, "baseline"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_verdict_claims_what_its_interval_holds),
		TEST(what_disagrees_or_is_refused_says_why),
		TEST(breaks_of_its_mode_follow_with_what_they_cost),
		TEST(how_far_it_reaches),
		TEST(where_eager_moved_the_speedup_decides_and_the_sentence_says_so),
		TEST(what_is_no_control_is_said),
		TEST(a_figure_is_shown_in_its_unit),
		TEST(a_history_says_the_newest_figure_and_the_baselines),
		TEST(what_a_history_does_not_know_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
