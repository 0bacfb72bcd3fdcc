/* tests/test_profiler_findings.c -- what a run's figures say: no sentence claims more than its
 * interval holds. */
#include "tests/findings.h"

/* A mode of a report; `more` begins with a comma, or is empty. */
#define MODE(us, more) MODE_IN(us, "[" us ", " us "]", more)
#define MODE_IN(us, ci, more)                                                                      \
	"{\"graphs\": [], \"breaks\": [], \"recompiles\": [], \"launches\": 1, \"compile_ms\": "   \
	"62, \"peak_bytes\": 1024, \"latency\": {\"median_us\": " us ", \"ci_us\": " ci            \
	", \"n\": 20}" more "}"
#define POINT(n, modes, against)                                                                   \
	"{\"n\": " n ", \"modes\": {" modes "}, \"break_even\": {" against "}}"
#define BOTH "\"eager\": " MODE("10", "") ", \"static\": " MODE("5", "")
#define RUN(rest) "{\"breakeven\": 1, \"modes\": {}, " rest "}"

/* Of a sweep of two points with one compiled mode: `b` at both, `top` over all. */
static void answers(const char *b, const char *top, const char *want)
{
	struct found found;
	char text[8192];

	snprintf(text, sizeof(text),
		 RUN("\"points\": [" POINT("1", BOTH, "\"static\": %s") ", " POINT(
		     "30", BOTH, "\"static\": %s") "], \"break_even\": {\"static\": %s}"),
		 b, b, top);
	found = find(text);
	says(&found.f->answer, want);
	assert_ptr_equal(findings_sentence(found.f, 0)->at, found.f->answer.at);
	assert_null(findings_sentence(found.f, 1));
	done(&found);
}

static void a_faster_mode_says_when_it_pays_and_where(void **state)
{
	(void)state;
	answers(
	    "{\"speedup\": 4.1, \"speedup_ci\": [3.9, 4.3], \"verdict\": \"FASTER\", \"repay\": "
	    "\"after\", \"calls_to_repay\": 2990, \"compile_ms\": 62}",
	    "{\"side\": \"above\", \"crossover_n\": 3.2, \"crossover_ci\": [2.8, 3.5], "
	    "\"meetings\": 1}",
	    "static is 4.1x (3.9–4.3) faster than eager at n = 30; it pays for its 62 ms of "
	    "compiling after 2,990 calls. Below n = 3.2 (2.8–3.5) stay with eager.");
	answers(
	    "{\"speedup\": 4.1, \"speedup_ci\": [3.9, 4.3], \"verdict\": \"FASTER\", \"repay\": "
	    "\"after\", \"calls_to_repay\": 0, \"compile_ms\": 0}",
	    "{\"side\": \"below\", \"crossover_n\": 40, \"crossover_ci\": [38, 42], "
	    "\"meetings\": 3}",
	    "static is 4.1x (3.9–4.3) faster than eager at n = 30; it pays from the first call. "
	    "The two cross 3 times; from n = 40 (38–42) on eager is faster.");
}

static void a_slower_mode_says_by_how_much_and_that_it_never_pays(void **state)
{
	(void)state;
	answers(
	    "{\"speedup\": 0.5, \"speedup_ci\": [0.4, 0.6], \"verdict\": \"SLOWER\", \"repay\": "
	    "\"never\", \"calls_to_repay\": null, \"compile_ms\": 62}",
	    "{\"side\": \"never\", \"crossover_n\": null, \"meetings\": 0}",
	    "static is 2.0x (1.7–2.5) slower than eager at n = 30; its 62 ms of compiling are "
	    "never repaid. It is not faster at any n of the sweep.");
}

static void what_cannot_be_told_is_not(void **state)
{
	(void)state;
	answers("{\"speedup\": 1.0, \"speedup_ci\": [0.9, 1.1], \"verdict\": \"AMBIGUOUS\", "
		"\"repay\": \"unknown\", \"calls_to_repay\": null, \"compile_ms\": 62}",
		"{\"side\": \"never\", \"crossover_n\": null, \"meetings\": 0}",
		"static may or may not be faster than eager: 1.0x (0.9–1.1) at n = 30. It is not "
		"faster at any n of the sweep.");
	answers(
	    "{\"speedup\": 1.0, \"speedup_ci\": [0.99, 1.01], \"verdict\": \"SAME\", \"repay\": "
	    "\"unknown\", \"calls_to_repay\": null, \"compile_ms\": 62}",
	    "{\"side\": \"always\", \"crossover_n\": null}",
	    "static is as fast as eager: 1.00x (0.99–1.01) at n = 30. It is not slower at any n of "
	    "the sweep.");
}

#define BROKEN(kind)                                                                               \
	"\"eager\": " MODE(                                                                        \
	    "10",                                                                                  \
	    "") ", \"static\": {\"graphs\": [], \"recompiles\": [], "                              \
		"\"launches\": 1, \"compile_ms\": 0, \"peak_bytes\": 1024, "                       \
		"\"latency\": {\"median_us\": "                                                    \
		"10, \"ci_us\": [10, 10], \"n\": 20}, \"breaks\": "                                \
		"[{\"stage\": \"capture\", \"kind\": \"" kind                                      \
		"\", \"outcome\": \"skip\", \"call\": 0, \"count\": 1, \"subject\": \"gate\", "    \
		"\"message\": \"m\", \"stack\": []}]}"

static void a_mode_that_runs_in_eager_says_so(void **state)
{
	static const char *const cases[][2] = {
		{ BROKEN("recompile-limit"),
		  "gate hit the recompile limit: later calls ran in eager." },
		{ BROKEN("scalar-read"),
		  "It captured no graph: a break leaves the whole of it in eager." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found;
		char text[8192], want[512];

		snprintf(
		    text, sizeof(text),
		    RUN("\"points\": [{\"n\": 1, \"modes\": {%s}, \"break_even\": {\"static\": "
			"{\"speedup\": 1.0, \"speedup_ci\": [0.99, 1.01], \"verdict\": "
			"\"SAME\"}}}]"),
		    cases[i][0]);
		snprintf(want, sizeof(want),
			 "static is as fast as eager: 1.00x (0.99–1.01) at n = 1. %s", cases[i][1]);
		found = find(text);
		says(&found.f->answer, want);
		done(&found);
	}
}

/* A report from before verdicts were kept has them too, by the same rule. */
static void a_verdict_follows_from_the_interval(void **state)
{
	static const struct {
		const char *speedup, *verdict;
	} cases[] = {
		{ "\"speedup\": 1.3, \"speedup_ci\": [1.021, 1.5]", "FASTER" },
		{ "\"speedup\": 1.3, \"speedup_ci\": [1.019, 1.5]", "AMBIGUOUS" },
		{ "\"speedup\": 0.7, \"speedup_ci\": [0.5, 0.97]", "SLOWER" },
		{ "\"speedup\": 1.0, \"speedup_ci\": [0.99, 1.01]", "SAME" },
		{ "\"speedup\": 2.0", "NOT ENOUGH" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct report_findings_mode *m;
		struct found found;
		char text[8192];

		snprintf(text, sizeof(text),
			 RUN("\"points\": [" POINT("1024", BOTH, "\"static\": {%s}") "]"),
			 cases[i].speedup);
		found = find(text);
		m = report_get(found.f->points.at[0].modes, "static");
		assert_string_equal(m->verdict, cases[i].verdict);
		done(&found);
	}
}

static void figures_share_units_and_have_the_digits_of_their_intervals(void **state)
{
	struct found found = find(RUN("\"points\": [" POINT(
	    "1024",
	    "\"eager\": " MODE("25500", "") ", \"static\": " MODE(
		"7300", ", \"max_abs_error\": 4.8e-7, \"agrees\": true"),
	    "\"static\": {\"speedup\": 3.512, \"speedup_ci\": [3.48, 3.56], \"verdict\": "
	    "\"FASTER\", \"repay\": \"after\", \"calls_to_repay\": 2993, \"compile_ms\": "
	    "44.83}") "]"));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	(void)state;
	assert_string_equal(found.f->time_unit, "ms");
	assert_string_equal(found.f->compile_unit, "ms");
	assert_string_equal(found.f->bytes_unit, "kB");
	assert_string_equal(found.f->mode, "static");
	assert_string_equal(m->median->text, "7.30");
	assert_string_equal(m->speedup->text, "3.51x");
	assert_string_equal(m->speedup->low, "3.48");
	assert_string_equal(m->speedup->high, "3.56");
	assert_string_equal(m->compile, "44.8");
	assert_string_equal(m->repaid, "2,990");
	assert_string_equal(m->peak, "1.02");
	assert_string_equal(m->error, "4.8e-7");
	says(&m->sentence,
	     "static is 3.51x (3.48–3.56) faster than eager at n = 1,024; it pays for "
	     "its 44.8 ms of compiling after 2,990 calls.");
	assert_string_equal(m->sentence.at[0].as, "claim");
	assert_string_equal(m->sentence.at[1].as, "interval");
	done(&found);
}

static void what_is_alone_is_compared_with_nothing(void **state)
{
	struct found found = find("{\"breakeven\": 1, \"modes\": {\"static\": " MODE("5", "") "}}");

	(void)state;
	says(&found.f->answer, "static takes 5.00 µs (5.00–5.00) a call. Eager was not measured, "
			       "so nothing is compared.");
	assert_ptr_equal(findings_sentence(found.f, 0), &found.f->answer);
	done(&found);
	found = find("{\"breakeven\": 1, \"modes\": {\"eager\": " MODE("5", "") "}}");
	says(&found.f->answer, "eager takes 5.00 µs (5.00–5.00) a call. No compiled mode was "
			       "measured, so nothing is compared.");
	assert_null(found.f->mode);
	done(&found);
	found = find("{\"breakeven\": 1, \"modes\": {\"static\": {\"graphs\": [], \"breaks\": [], "
		     "\"recompiles\": []}}}");
	says(&found.f->answer,
	     "Nothing was timed in this run: it compares values and graphs only.");
	assert_string_equal(found.f->points.at[0].how, "");
	done(&found);
}

#define WRONG                                                                                      \
	", \"agrees\": false, \"disagreement\": \"output of calls[0] is 0.273\", \"agreement\": "  \
	"{\"verdict\": \"disagrees\", \"judge\": \"float64\", \"elements\": 4, \"differing\": 1, " \
	"\"largest_error\": 0.014, \"eager_error\": 0, \"over_allowed\": 14000.4, \"where\": "     \
	"{\"when\": \"in order\", \"what\": \"output\", \"ours\": 0.273, \"eager\": 0.287, "       \
	"\"reference\": 0.2871234567891}}"
#define NEAR(judge)                                                                                \
	", \"agrees\": true, \"agreement\": {\"verdict\": \"within_dtype\", \"judge\": \"" judge   \
	"\", \"elements\": 4, \"differing\": 1, \"largest_error\": 1e-7, \"eager_error\": null, "  \
	"\"over_allowed\": 0.1, \"where\": null}"

static void wrong_values_claim_no_speed(void **state)
{
	static const char *const values[][2] = { { "This mode", "0.273" },
						 { "Eager", "0.287" },
						 { "float64", "0.287123457" },
						 { "Beyond what is allowed", "14,000 times" } };
	struct found found = find(RUN("\"points\": [" POINT(
	    "1", "\"eager\": " MODE("2", "") ", \"static\": " MODE("1", WRONG),
	    "\"static\": {\"verdict\": \"DISAGREES\", "
	    "\"speedup\": null}") ", " POINT("5",
					     "\"eager\": " MODE("2", "") ", "
									 "\"static\""
									 ": " MODE("1", WRONG),
					     "\"static\": "
					     "{\"verdict\": "
					     "\"DISAGREES\", "
					     "\"speedup\": "
					     "null}") "], "
						      "\"break_"
						      "even\": "
						      "{\"static"
						      "\": "
						      "{\"side\""
						      ": "
						      "\"disagre"
						      "es\"}}"));
	const struct report_wrong_mode *w = &found.f->wrong_modes.at[0];

	(void)state;
	says(&found.f->answer, "static DISAGREES: its values differ from eager's at n = 5.");
	says(&found.f->wrong,
	     "static DISAGREES with eager: its values are wrong, so its speed is not compared.");
	assert_string_equal(found.f->points.at[0].how,
			    "Median of 20 rounds, modes interleaved; 95 % intervals. static: "
			    "values differ from eager's.");
	assert_int_equal(found.f->wrong_modes.n, 1);
	assert_string_equal(w->place, "static at n = 1");
	assert_string_equal(w->text, "output of calls[0] is 0.273. Also at n = 5.");
	assert_int_equal(w->values.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(w->values.at[i].name, values[i][0]);
		assert_string_equal(w->values.at[i].value, values[i][1]);
	}
	done(&found);
}

#define EXACT                                                                                      \
	", \"agrees\": true, \"agreement\": {\"verdict\": \"exact\", \"judge\": \"bits\", "        \
	"\"elements\": 4, \"differing\": 0, \"largest_error\": 0, \"eager_error\": null, "         \
	"\"over_allowed\": null, \"where\": null}"

/* Not where one of them was not judged, or by its difference alone: 0 and -0 differ by none. */
static void all_modes_match_bit_for_bit_only_where_all_do(void **state)
{
	static const char *const cases[][2] = {
		{ "\"eager\": " MODE("2", "") ", \"static\": " MODE("1", EXACT),
		  " All modes match eager bit for bit." },
		{ "\"static\": " MODE("1", EXACT) ", \"auto\": " MODE("1", ""),
		  " static: bit for bit as eager." },
		{ "\"static\": " MODE("1", ", \"max_abs_error\": 0"),
		  " All modes give eager's values." },
		{ "\"eager\": " MODE("2", "") ", \"static\": " MODE("1", ""), "" },
	};
	char report[4096], how[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found;

		snprintf(report, sizeof(report), "{\"breakeven\": 1, \"modes\": {%s}}",
			 cases[i][0]);
		snprintf(how, sizeof(how),
			 "Median of 20 rounds, modes interleaved; 95 %% intervals.%s", cases[i][1]);
		found = find(report);
		assert_string_equal(found.f->points.at[0].how, how);
		done(&found);
	}
}

static void what_a_dtype_allows_is_said_and_by_whom(void **state)
{
	struct found found = find("{\"breakeven\": 1, \"modes\": {\"static\": " MODE(
	    "1", NEAR("float64")) ", \"auto\": " MODE("1", NEAR("float64")) "}}");

	(void)state;
	assert_string_equal(found.f->points.at[0].how,
			    "Median of 20 rounds, modes interleaved; 95 % intervals. static, "
			    "auto: within the dtype's tolerance, judged by float64.");
	assert_int_equal(found.f->wrong.n, 0);
	done(&found);
	found = find("{\"breakeven\": 1, \"modes\": {\"static\": " MODE(
	    "1", NEAR("bound")) ", \"auto\": " MODE("1", ", \"max_abs_error\": \"nan\"") "}}");
	assert_string_equal(found.f->points.at[0].how,
			    "Median of 20 rounds, modes interleaved; 95 % intervals. static: "
			    "within the dtype's tolerance.");
	done(&found);
}

static void alike_warnings_are_one(void **state)
{
	static const char noisy[] =
	    "{\"graphs\": [], \"breaks\": [], \"recompiles\": [], \"latency\": {\"median_us\": 1, "
	    "\"ci_us\": [1, 1], \"noise\": \"Few samples.\"}}";
	struct found found;
	char text[8192];

	(void)state;
	snprintf(
	    text, sizeof(text),
	    RUN("\"points\": [" POINT("5", "\"static\": %s, \"auto\": " MODE("1", ""),
				      "") ", " POINT("30", "\"static\": %s, \"auto\": %s", "") "]"),
	    noisy, noisy, noisy);
	found = find(text);
	assert_int_equal(found.f->warnings.n, 2);
	assert_string_equal(found.f->warnings.at[0].title, "static at n = 5, 30.");
	assert_string_equal(found.f->warnings.at[0].text, "Few samples.");
	assert_string_equal(found.f->warnings.at[1].title, "auto at n = 30.");
	done(&found);
	snprintf(text, sizeof(text),
		 "{\"breakeven\": 1, \"modes\": {\"static\": %s, \"auto\": %s}}", noisy, noisy);
	found = find(text);
	assert_int_equal(found.f->warnings.n, 1);
	assert_string_equal(found.f->warnings.at[0].title, "static, auto.");
	done(&found);
}

#define SIDE "{\"peak_bytes\": 1, \"activation_bytes\": 1}"
#define CAST(verdict, ratio)                                                                       \
	"{\"with\": " SIDE ", \"without\": " SIDE ", \"activation_ratio\": " ratio                 \
	", \"max_abs_error\": 0, \"verdict\": \"" verdict "\"}"

static void autocast_is_told_as_plainly_where_it_loses(void **state)
{
	struct found found = find("{\"breakeven\": 1, \"modes\": {\"eager\": " MODE(
	    "1", "") "}, \"autocast\": {\"dtype\": "
		     "\"bfloat16\", \"batch\": null, \"error\": null, \"modes\": "
		     "{\"eager\": " CAST("SLOWER", "1.5") ", \"static\": " CAST(
			 "FASTER",
			 "0.5") ", \"dynamic\": " CAST("FASTER",
						       "0.6") ", \"auto\": " CAST("AMBIGUOUS",
										  "1") "}}}");

	(void)state;
	assert_string_equal(
	    found.f->points.at[0].autocast->sentence,
	    "Autocast is faster in static and dynamic and slower in eager. In auto no difference "
	    "can be told. It takes less memory in static and dynamic and more in eager: the copies "
	    "that it casts outweigh the smaller results.");
	done(&found);
}

#define TENSOR(op, line, bytes, peak)                                                              \
	"{\"op\": " op ", \"line\": " line ", \"use\": \"output\", \"eager\": true, \"graph\": "   \
	"null, \"kernel\": null, \"values\": 1, \"dtype\": \"float32\", \"shape\": [8], "          \
	"\"bytes\": " bytes ", \"from_us\": 1, \"to_us\": null, \"at_peak\": " peak "}"

/* Adds a mode, whose call had that memory. */
static void add_watched(struct buf *out, const char *mode, int held, int peak, const char *tensors)
{
	buf_printf(out, "%s\"%s\": {\"graphs\": [], \"breaks\": [], \"recompiles\": [], ",
		   out->len ? ", " : "{\"breakeven\": 1, \"modes\": {", mode);
	buf_printf(out,
		   "\"memory\": {\"call\": 0, \"duration_us\": 5, \"held_bytes\": %d, "
		   "\"peak_bytes\": %d, \"peak_us\": 1, \"left_bytes\": 0, \"curve\": {\"at_us\": "
		   "[], \"bytes\": []}, \"events\": 2, \"tensors\": [%s], ",
		   held, peak, tensors);
	buf_puts(out, "\"held_at_peak_bytes\": 0, \"left_out\": {\"tensors\": 0, \"bytes\": 0, "
		      "\"peak_bytes\": 0}, \"held\": [], \"other_inputs_bytes\": 0, "
		      "\"other_bytes\": 0}}");
}

static void uses_are_told(const struct report_findings_point *p)
{
	const struct report_findings_memory *eager = report_get(p->modes, "eager")->memory_use,
					    *other = report_get(p->modes, "static")->memory_use;

	assert_string_equal(p->memory_unit, "kB");
	assert_string_equal(p->lines_unit, "kB");
	assert_string_equal(eager->of_eager, "baseline");
	assert_string_equal(eager->added->text, "1.54");
	assert_string_equal(eager->tensors, "4");
	assert_int_equal(eager->taken->bytes, 10400);
	assert_int_equal(eager->lines.n, 3);
	assert_int_equal(eager->lines.at[0].line, 3);
	assert_string_equal(eager->lines.at[0].peak->text, "0.800");
	assert_int_equal(eager->lines.at[2].line, 9);
	assert_int_equal(eager->lines.at[2].peak->bytes, 0);
	assert_int_equal(eager->together->taken->bytes, 10400);
	assert_string_equal(other->of_eager, "0.500x");
	assert_false(other->lines.at[0].has.line); /* of no line */
}

static void memory_of_a_call_is_told_beside_eagers(void **state)
{
	static const char three[] = TENSOR("\"mul\"", "4", "600", "true") ", " TENSOR(
	    "\"add\"", "3", "400", "true") ", " TENSOR("\"add\"", "3", "400",
						       "true") ", " TENSOR("\"div\"", "9", "9000",
									   "false");
	static const char *const says_of[][2] = {
		{ "eager", "A call in eager adds 1.54 kB at its peak to the 512 B held before it; "
			   "the largest tensor there is 800 B by add, line 3." },
		{ "static",
		  "A call in static adds 768 B at its peak to the 1.02 kB held before it; the "
		  "largest tensor there is 768 B by no op, but between calls it keeps 512 B more "
		  "than eager. Eager adds 1.54 kB, 2x as much." },
		{ "auto",
		  "A call in auto needs no memory beyond what is held before it. Eager adds "
		  "1.54 kB." },
		{ "lazy",
		  "A call in lazy adds 1.54 kB at its peak to the 512 B held before it. Eager "
		  "adds as much." },
		{ "dynamic",
		  "A call in dynamic adds 3.07 kB at its peak to the 512 B held before it. "
		  "Eager adds only 1.54 kB: dynamic takes 2x as much." },
	};
	struct buf text = { 0 };
	struct found found;

	(void)state;
	add_watched(&text, "eager", 512, 2048, three);
	add_watched(&text, "static", 1024, 1792, TENSOR("null", "null", "768", "true"));
	add_watched(&text, "auto", 512, 512, "");
	add_watched(&text, "lazy", 512, 2048, "");
	add_watched(&text, "dynamic", 512, 3584, "");
	buf_puts(&text, "}}");
	found = find(text.data);
	for (size_t i = 0; i < sizeof(says_of) / sizeof(says_of[0]); i++)
		says(&report_get(found.f->points.at[0].modes, says_of[i][0])->memory,
		     says_of[i][1]);
	uses_are_told(&found.f->points.at[0]);
	done(&found);
	buf_finish(&text);
}

#define SPLIT(guards, kernel, observed)                                                            \
	", \"split_us\": {\"guards\": " guards ", \"dispatch\": 0.2, \"alloc\": 0.1, \"launch\": " \
	"0.1, \"kernel\": " kernel ", \"observed\": " observed "}"

static void where_the_time_of_a_call_goes_is_said_of_one_mode(void **state)
{
	struct found found = find(RUN("\"points\": [" POINT("1", BOTH, "") ", " POINT(
	    "2",
	    "\"eager\": " MODE_IN("137", "[130, 170]", SPLIT("0", "9", "10")) ", \"static\": " MODE(
		"2.1", SPLIT("0.1", "1.4", "2.05")),
	    "") ", " POINT("3", "\"eager\": " MODE("10", SPLIT("0", "1", "2")),
			   "") ", " POINT("4", "\"eager\": " MODE("2", SPLIT("0", "1.6", "1.5")),
					  "") ", " POINT("5",
							 "\"eager\": " MODE(
							     "292",
							     SPLIT("0", "230",
								   "10800")) ", "
									     "\"static\":"
									     " " MODE("3",
										      SPLIT("0.2",
											    "1.6",
											    "3."
											    "0"
											    "5")),
							 "") "]"));
	const struct report_findings_mode *m;

	(void)state;
	assert_null(found.f->points.at[0].split);
	m = report_get(found.f->points.at[1].modes, "eager");
	assert_string_equal(m->split->median, "140");
	assert_string_equal(m->median->text, "140");
	assert_string_equal(found.f->points.at[1].split,
			    "static spends 68 % of a call in kernels. Fixed overhead per call: "
			    "0.500 µs (guards, dispatch, allocation, launch).");
	assert_string_equal(found.f->points.at[2].split,
			    "eager spends 50 % of a call in kernels. Fixed overhead per call: "
			    "0.400 µs (guards, dispatch, allocation, launch). "
			    "30 % is not attributed to any phase. The watched calls took 0.200x "
			    "the median latency: this is the split of quicker calls than usual.");
	/* No part is larger than its whole. */
	assert_non_null(strstr(found.f->points.at[3].split, "eager spends 80 % of a call"));
	m = report_get(found.f->points.at[3].modes, "eager");
	assert_string_equal(m->split->rest, "0.00");
	assert_string_equal(m->split->watched, "1.50");
	/* The report has the parts of a call that was watched in a bad moment by their shares. */
	m = report_get(found.f->points.at[4].modes, "eager");
	assert_string_equal(m->split->kernel, "8,500");
	assert_string_equal(m->split->rest, "2,300");
	m = report_get(found.f->points.at[4].modes, "static");
	assert_string_equal(m->split->kernel, "1.63");
	assert_string_equal(found.f->points.at[4].split_unit, "µs");
	done(&found);
}

static void pytorchs_modes_are_told_too(void **state)
{
	struct found found = find("{\"breakeven\": 1, \"modes\": {\"eager\": " MODE(
	    "5",
	    "") "}, \"engines\": {\"torch\": "
		"{\"modes\": {\"eager\": {\"latency\": {\"median_us\": 20000, \"ci_us\": [19000, "
		"21000]}}, "
		"\"static\": {\"values\": {\"agree\": false, \"elements\": 1, \"outside\": 1, "
		"\"left_out\": 0, \"max_abs_error\": 1, \"max_rel_error\": 1, \"stdout_same\": "
		"true, "
		"\"first\": \"there\"}}}, \"points\": [], \"break_even\": {}, \"seconds\": 1}}}");
	const struct report_findings_mode_map *modes = &found.f->torch.at[0].modes;

	(void)state;
	assert_string_equal(found.f->time_unit, "ms");
	assert_string_equal(report_get(*modes, "eager")->median->text, "20");
	assert_string_equal(report_get(*modes, "static")->verdict, "DISAGREES");
	assert_string_equal(found.f->wrong_torch.at[0].place, "PyTorch's static");
	assert_string_equal(found.f->wrong_torch.at[0].text, "there.");
	done(&found);
}

#define BARE "\"graphs\": [], \"breaks\": [], \"recompiles\": [], "

static void when_compiling_is_repaid_is_told_in_figures(void **state)
{
	struct found found = find(
	    "{\"breakeven\": 1, \"modes\": {\"eager\": {" BARE "\"latency\": {\"median_us\": 10, "
	    "\"ci_us\": [10, 10], \"n\": 20}}, \"static\": {" BARE
	    "\"compile_ms\": 1, \"latency\": "
	    "{\"median_us\": 2, \"ci_us\": [2, 2], \"n\": 20}}, \"auto\": {" BARE
	    "\"compile_ms\": 1, "
	    "\"latency\": {\"median_us\": 12, \"ci_us\": [12, 12], \"n\": 20}}}, \"break_even\": "
	    "{\"static\": {\"speedup\": 5, \"speedup_ci\": [4, 6], \"verdict\": \"FASTER\", "
	    "\"calls_to_repay\": 125, \"calls_to_repay_ci\": [112, 143], \"repay\": \"after\", "
	    "\"saved_us\": 8, \"saved_ci_us\": [7, 9]}, \"auto\": {\"speedup\": 0.8, "
	    "\"speedup_ci\": [0.7, 0.9], \"verdict\": \"SLOWER\", \"calls_to_repay\": null, "
	    "\"repay\": \"never\", \"saved_us\": -2, \"saved_ci_us\": [-3, -1]}}}");
	const struct report_findings_repay
	    *r = report_get(found.f->points.at[0].modes, "static")->repay,
	    *never = report_get(found.f->points.at[0].modes, "auto")->repay;

	(void)state;
	assert_null(report_get(found.f->points.at[0].modes, "eager")->repay);
	assert_string_equal(r->compile, "1,000 µs");
	assert_string_equal(r->saved->text, "8");
	assert_string_equal(r->saved->low, "7");
	assert_string_equal(r->after->text, "125 calls");
	assert_string_equal(r->after->high, "143");
	assert_int_equal(r->nearly, 4500);
	assert_string_equal(r->nearly_after, "4,500");
	assert_null(never->saved);
	assert_string_equal(never->after->text, "never");
	assert_false(never->has.nearly);
	assert_string_equal(never->nearly_after, "never");
	done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_faster_mode_says_when_it_pays_and_where),
		cmocka_unit_test(a_slower_mode_says_by_how_much_and_that_it_never_pays),
		cmocka_unit_test(what_cannot_be_told_is_not),
		cmocka_unit_test(a_mode_that_runs_in_eager_says_so),
		cmocka_unit_test(a_verdict_follows_from_the_interval),
		cmocka_unit_test(figures_share_units_and_have_the_digits_of_their_intervals),
		cmocka_unit_test(what_is_alone_is_compared_with_nothing),
		cmocka_unit_test(wrong_values_claim_no_speed),
		cmocka_unit_test(all_modes_match_bit_for_bit_only_where_all_do),
		cmocka_unit_test(what_a_dtype_allows_is_said_and_by_whom),
		cmocka_unit_test(alike_warnings_are_one),
		cmocka_unit_test(autocast_is_told_as_plainly_where_it_loses),
		cmocka_unit_test(memory_of_a_call_is_told_beside_eagers),
		cmocka_unit_test(where_the_time_of_a_call_goes_is_said_of_one_mode),
		cmocka_unit_test(pytorchs_modes_are_told_too),
		cmocka_unit_test(when_compiling_is_repaid_is_told_in_figures),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
