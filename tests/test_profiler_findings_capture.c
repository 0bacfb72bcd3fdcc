/* tests/test_profiler_findings_capture.c -- what is said of what a mode captured: its graphs,
 * breaks, versions and passes. */
#include "tests/findings.h"

/* A graph's own fields, and those of its kernels. */
#define GRAPH(more) "{\"ops\": [\"sin\"], \"kernels\": [\"k\"]" more "}"
#define IN_GRAPHS(list)                                                                            \
	"{\"breakeven\": 1, \"modes\": {\"graphs\": {\"breaks\": [], \"recompiles\": [], "         \
	"\"graphs\": [" list "]}}}"
#define RECORDING(made, refused, why_not, direct, because, why_guards)                             \
	"{\"recorded\": true, \"made\": " made ", \"refused\": " refused ", \"why_not\": " why_not \
	", \"direct\": " direct                                                                    \
	", \"why_direct\": \"cumsum runs on the host\", \"because\": " because                     \
	", \"record_us\": 1, \"replays\": 7, \"pointed\": 2, \"guards_left_out\": 5, "             \
	"\"why_guards\": " why_guards ", \"held_bytes\": 512}"

static void texts(const struct report_texts *got, const char *const *want)
{
	size_t n = 0;

	for (; want[n]; n++) {
		assert_true(n < got->n);
		assert_string_equal(got->at[n], want[n]);
	}
	assert_int_equal(got->n, n);
}

static void
a_recording_is_told_in_sentences_and_what_could_not_be_recorded_with_the_reason(void **state)
{
	static const char *const none[] = { NULL };
	static const char *const made[] = {
		"1 recording, replayed 7 times; 2 pointers updated; 512 B held between calls",
		"Launched kernel by kernel: cumsum runs on the host",
		"Recorded again: x.size(0) is 5, was 4",
		"Guards on the program's objects skipped in 5 calls",
		"Backward: 2 recordings, replayed 7 times; 2 pointers updated; 512 B held "
		"between "
		"calls",
		"Backward: 1 recording launched kernel by kernel: cumsum runs on the host",
		"Backward: 1 piece not recorded, runs as in static: it prints",
		NULL
	};
	static const char *const refused[] = { "Not recorded, runs as in static: it prints",
					       "All guards are checked in every call: it writes",
					       NULL };
	static const char *const empty[] = { "Nothing to record: no kernel is launched",
					     "Guards on the program's objects skipped in 5 calls",
					     NULL };
	struct found found = find(IN_GRAPHS(GRAPH(
	    ", \"recording\": " RECORDING("1", "0", "null", "1", "\"x.size(0) is 5, was 4\"", "null") ", \"backward_recording\": " RECORDING(
		"2", "1", "\"it prints\"", "1", "null",
		"null")) ", " GRAPH(", \"recording\": " RECORDING("0", "1", "\"it prints\"", "0",
								  "null",
								  "\"it writes\"")) ", " GRAPH(", "
											       "\"r"
											       "eco"
											       "rdi"
											       "ng"
											       "\":"
											       " " RECORDING(
												   "0",
												   "0",
												   "null",
												   "0",
												   "null",
												   "null")) ", " GRAPH("")));
	const struct report_findings_graph *g =
	    report_get(found.f->points.at[0].modes, "graphs")->graphs.at;

	(void)state;
	texts(&g[0].recording, made);
	texts(&g[1].recording, refused);
	texts(&g[2].recording, empty);
	texts(&g[3].recording, none);
	done(&found);
}

#define KERNEL(more) "{\"name\": \"k\", \"form\": \"map\", \"why\": \"\", \"lines\": [3]" more "}"

static void a_graph_and_its_kernels_are_told_in_shared_units(void **state)
{
	static const char *const facts[] = { "1 op",
					     "1 kernel",
					     "1 of them only copies",
					     "compiled in 12 ms from the cache",
					     "used by 3 calls",
					     NULL };
	static const char *const later[] = { "1 op", "1 kernel",
					     "compiled for a later call, when timing began", NULL };
	struct found found = find(IN_GRAPHS(
	    GRAPH(", \"id\": 4, \"frame\": \"model\", \"compile\": \"0/1\", \"compile_ms\": "
		  "12, "
		  "\"cached\": true, \"uses\": 3, \"kernel_details\": [" KERNEL(
		      ", \"ops\": 2, \"read_bytes\": 512, \"written_bytes\": 16800000, "
		      "\"saved_bytes\": 1024, \"copies\": false, \"median_us\": 40, \"ci_us\": "
		      "[39, 41], \"copy_share\": 0.25, \"operations\": 4200, \"occupancy\": "
		      "0.5") ", " KERNEL(", \"ops\": 1, \"read_bytes\": 500000, "
					 "\"written_bytes\": 500000, "
					 "\"saved_bytes\": 0, \"copies\": true, \"median_us\": "
					 "10, \"ci_us\": "
					 "[9, 11], \"copy_share\": 1.2") "]") ", " GRAPH(", "
											 "\"lat"
											 "er\":"
											 " true"
											 ", "
											 "\"use"
											 "s\": "
											 "3")));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "graphs");
	const struct report_findings_kernel *k = m->graphs.at[0].kernels.at;

	(void)state;
	assert_string_equal(m->graphs.at[0].title, "Graph 4, model 0/1");
	assert_string_equal(m->graphs.at[1].title, "Graph 1, model");
	texts(&m->graphs.at[0].facts, facts);
	texts(&m->graphs.at[1].facts, later);
	assert_int_equal(m->graphs.at[0].kernels.n, 2);
	assert_string_equal(k[0].about,
			    "2 ops, 512 B read, 16.8 MB written, 1.02 kB saved by fusion");
	assert_string_equal(k[1].about, "1 op, 500 kB read, 500 kB written");
	assert_string_equal(k[0].median->text, "40");
	assert_string_equal(k[0].median->high, "41");
	assert_string_equal(k[0].moves, "16.8");
	assert_string_equal(k[1].moves, "1");
	assert_string_equal(k[0].of_copy, "25 %");
	assert_string_equal(k[0].operations, "4,200");
	assert_string_equal(k[0].occupancy, "50 %");
	assert_null(k[1].operations);
	assert_string_equal(m->kernels->bytes_unit, "MB");
	/* 30 of 50 µs: the second is faster than a copy, and takes nothing off. */
	assert_string_equal(
	    m->kernels->sentence,
	    "1 of 2 kernels takes more than twice as long as a copy of the same size: "
	    "30 of 50 µs (60 %) is more than such copies take.");
	done(&found);
}

/* A mode static that broke; `more` begins with a comma, or is empty. */
#define BREAK(line, stage, count)                                                                  \
	"{\"stage\": \"" stage "\", \"kind\": \"k\", \"outcome\": \"jump\", \"call\": 0, "         \
	"\"message\": \"m\", \"count\": " count ", \"stack\": [{\"line\": " line                   \
	", \"function\": \"f\"}]}"
#define BROKEN(breaks, more)                                                                       \
	"{\"breakeven\": 1, \"modes\": {\"static\": {\"graphs\": [], \"recompiles\": [], "         \
	"\"breaks\": [" breaks "]" more "}}}"
#define COSTS(sum, low, high, without)                                                             \
	", \"break_cost\": {\"sum_us\": " sum ", \"ci_us\": [" low ", " high                       \
	"], \"calls\": 1200, \"groups\": 3" without "}"
/* `timed` as it begins, with a comma after it, or nothing. */
#define WITHOUT(timed, left)                                                                       \
	", " timed "\"without\": {\"lines\": [3, 5], \"breaks_left\": " left                       \
	", \"explained_us\": 3, \"explained_ci_us\": [2, 4], \"measured_us\": 24, "                \
	"\"measured_ci_us\": [22, 26], \"median_us\": 9, \"ratio\": 1, \"ratio_ci\": [0.9, 1.1]}"
#define TIMED "\"timed\": true, "
#define TWO BREAK("3", "capture", "1") ", " BREAK("5", "capture", "1")

static void breaks_say(const char *report, const char *sentence, const char *how)
{
	struct found found = find(report);
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	says(&m->breaks->sentence, sentence);
	if (how)
		assert_string_equal(m->breaks->how, how);
	done(&found);
}

static void breaks_are_told_once_each_with_what_they_cost(void **state)
{
#define LATENCY ", \"latency\": {\"median_us\": 40, \"ci_us\": [39, 41], \"n\": 20}"
	(void)state;
	breaks_say(BROKEN("", ""), "static captured without a break: no graph.",
		   "A break is where a graph has to end: what follows is captured as another "
		   "graph, or runs in eager.");
	breaks_say(BROKEN(TWO ", " BREAK("3", "capture", "4") ", " BREAK("9", "lowering", "1"), ""),
		   "2 breaks in static, hit 6 times; static captured no graph. 1 op fell back to a "
		   "library call in lowering.",
		   NULL);
	breaks_say(
	    BROKEN(TWO, LATENCY COSTS("-3.2", "-4.1", "-2.3", "")),
	    "2 breaks cost nothing in static: with the kernels of one graph a call would be 3.2 µs "
	    "(2.3–4.1) longer, as estimated from its timeline.",
	    "From timelines of 1,200 calls in 3 groups: the time between two graphs in which no "
	    "kernel runs, and the time that their kernels take beyond those of one graph.");
	breaks_say(
	    BROKEN(TWO, LATENCY COSTS("-40", "-120", "20", "")),
	    "What 2 breaks cost cannot be told apart from 0: at most 20 µs of every 40 µs call "
	    "in static, as estimated from its timeline.",
	    NULL);
	breaks_say(BROKEN(BREAK("3", "capture", "1"), COSTS("25", "20", "30", "")),
		   "1 break costs 25 µs (20–30) of a call in static, as estimated from its "
		   "timeline.",
		   NULL);
}

static void a_cost_has_its_evidence_beside_it(void **state)
{
	(void)state;
	breaks_say(
	    BROKEN(TWO, LATENCY COSTS("24", "22", "26", WITHOUT(TIMED, "0"))),
	    "2 breaks cost 24 µs (22–26) of every 40 µs call in static, as timed beside the same "
	    "function without them.",
	    "Timed round by round beside the same function with lines 3, 5 changed so that "
	    "nothing breaks there. The share of each break is by timelines of 1,200 calls in 3 "
	    "groups: the time between two graphs in which no kernel runs, and the time that their "
	    "kernels take beyond those of one graph. By themselves the timelines add up to 1.0x "
	    "(0.9–1.1) of it.");
	breaks_say(
	    BROKEN(TWO, LATENCY COSTS("1", "-2", "4", WITHOUT(TIMED, "0"))),
	    "What 2 breaks cost cannot be told apart from 0: at most 4 µs of every 40 µs call "
	    "in static, as timed beside the same function without them.",
	    NULL);
	breaks_say(BROKEN(TWO, LATENCY COSTS("1", "-200", "3300", WITHOUT(TIMED, "0"))),
		   "What 2 breaks cost cannot be told apart from 0 in static, as timed beside the "
		   "same function without them: from round to round it varies by more than a call "
		   "takes.",
		   NULL);
	breaks_say(BROKEN(TWO, LATENCY COSTS("-3", "-4", "-2", WITHOUT(TIMED, "0"))),
		   "2 breaks cost nothing in static: without them a call is 3 µs (2–4) longer, as "
		   "timed beside the same function without them.",
		   NULL);
	breaks_say(BROKEN(TWO, LATENCY COSTS("24", "22", "26", WITHOUT(TIMED, "1"))),
		   "2 breaks cost 24 µs (22–26) of every 40 µs call in static, as timed beside the "
		   "same function without 1 of them and estimated for the rest.",
		   NULL);
	/* a report of before costs were what was timed */
	breaks_say(
	    BROKEN(TWO, LATENCY COSTS("25", "20", "30", WITHOUT("", "0"))),
	    "2 breaks cost 25 µs (20–30) of every 40 µs call in static, as estimated from its "
	    "timeline.",
	    NULL);
}

#define COSTLY(kind, line, call, us, kernel) COST_IN(kind, line, call, us, "[20, 30]", kernel)
#define COST_IN(kind, line, call, us, ci, kernel)                                                  \
	"{\"stage\": \"capture\", \"kind\": \"" kind "\", \"outcome\": \"jump\", "                 \
	"\"call\": " call ", \"message\": \"m\", \"count\": 1, \"stack\": [{\"line\": " line       \
	", \"function\": \"f\"}], \"cost_us\": " us ", \"cost\": {\"ci_us\": " ci ", "             \
	"\"idle_us\": 20, \"statement_us\": 1, \"guards_us\": 2, \"dispatch_us\": 0.5, "           \
	"\"alloc_us\": 1.5, \"launch_us\": 5, \"frame_us\": 6, \"outputs_us\": 1, "                \
	"\"entry_us\": 3, \"kernel_us\": " kernel ", \"met\": 1, \"launches\": 1, "                \
	"\"eager_launches\": 0, \"guards\": 8, \"moved_bytes\": 1024, \"kept_bytes\": 2000000}}"

static void break_is(const struct report_findings_break *b, int first, int met, const char *cost,
		     const char *line_cost)
{
	assert_int_equal(b->first, first);
	assert_int_equal(b->met, met);
	assert_int_equal(b->calls.n, met);
	assert_string_equal(b->cost->text, cost);
	assert_string_equal(b->line_cost, line_cost);
}

static void distinct_breaks_have_their_costs_and_kinds_the_dearest_first(void **state)
{
	struct found found = find(BROKEN(
	    BREAK("9", "lowering", "1") ", " COSTLY("host-call", "5", "0", "25", "5") ", " COSTLY(
		"scalar-read", "3", "0", "25", "5") ", " COSTLY("scalar-read", "3", "4", "20", "0"),
	    ""));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");
	const struct report_findings_break *sum = &m->distinct.at[0], *one = &m->distinct.at[1];

	(void)state;
	assert_int_equal(m->distinct.n, 3);
	break_is(sum, 2, 2, "45", "45");
	assert_null(sum->cost->low); /* of a sum the interval is not known */
	break_is(one, 1, 1, "25", "25");
	assert_string_equal(one->cost->low, "20");
	assert_string_equal(one->parts->statement, "1");
	assert_string_equal(one->parts->frame, "10");
	assert_string_equal(one->parts->guards, "2");
	assert_string_equal(one->parts->launch, "7");
	assert_string_equal(one->parts->kernel, "5");
	assert_int_equal(one->facts.n, 5);
	assert_string_equal(one->facts.at[0].value,
			    "results to the frame 1, interpreter 6, the call's own frame 3; sizes "
			    "0.500, allocation 1.50, launch 5");
	assert_string_equal(one->facts.at[3].value,
			    "1.02 kB: written by one graph and read by the next, each time");
	assert_int_equal(m->distinct.at[2].first, 0);
	assert_null(m->distinct.at[2].cost);
	assert_int_equal(m->break_kinds.n, 3);
	assert_string_equal(m->break_kinds.at[0].kind, "scalar-read");
	assert_string_equal(m->break_kinds.at[0].says, "1 break, 45 µs a call");
	assert_string_equal(m->break_kinds.at[2].says, "1 break");
	assert_int_equal(m->break_kinds.at[1].rows.at[0], 1);
	done(&found);
}

static void a_cost_whose_interval_holds_0_is_no_figure(void **state)
{
	struct found found = find(
	    BROKEN(COST_IN("scalar-read", "3", "0", "-100", "[-200, -0.2]",
			   "0") ", " COST_IN("host-call", "5", "0", "40", "[-10, 90]",
					     "0") ", " COSTLY("host-call", "5", "1", "25", "0"),
		   ""));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	(void)state;
	assert_int_equal(m->distinct.n, 2);
	assert_string_equal(m->distinct.at[0].cost->text, "70"); /* together it is known */
	assert_null(m->distinct.at[0].cost_open);
	assert_string_equal(m->distinct.at[1].cost_open,
			    "It costs nothing: a call without it would be no shorter.");
	assert_null(m->distinct.at[1].line_cost);
	assert_string_equal(m->break_kinds.at[1].says, "1 break, which costs nothing");
	done(&found);
	found = find(BROKEN(COST_IN("host-call", "5", "0", "40", "[-10, 90]", "0"), ""));
	m = report_get(found.f->points.at[0].modes, "static");
	assert_string_equal(m->distinct.at[0].cost_open,
			    "Its cost cannot be told apart from 0: at most 90 µs a call.");
	assert_string_equal(m->break_kinds.at[0].says,
			    "1 break, whose cost cannot be told apart from 0");
	done(&found);
	found = find(BROKEN(COST_IN("host-call", "5", "0", "1.14", "[0.49, 3.9]", "0"), ""));
	m = report_get(found.f->points.at[0].modes, "static");
	break_is(&m->distinct.at[0], 0, 1, "1.1", "1.1"); /* above 0, and in one's digits */
	assert_string_equal(m->distinct.at[0].cost->low, "0.5");
	assert_null(m->distinct.at[0].cost_open);
	assert_string_equal(m->break_kinds.at[0].says, "1 break, 1.1 µs a call");
	done(&found);
}

/* Of two breaks, 25 (20-30) and 3 (-2-9) by themselves, that cost so much together. */
static void check_parts(const char *all, const char *first, const char *second, const char *kind)
{
	const struct report_findings_mode *m;
	struct found found;
	char text[16384];

	snprintf(text, sizeof(text),
		 BROKEN(COSTLY("host-call", "3", "0", "25",
			       "0") ", " COST_IN("scalar-read", "5", "0", "3", "[-2, 9]", "0"),
			"%s"),
		 all);
	found = find(text);
	m = report_get(found.f->points.at[0].modes, "static");
	if (first)
		assert_string_equal(m->distinct.at[0].cost_open, first);
	else
		assert_null(m->distinct.at[0].cost_open);
	assert_true((m->distinct.at[0].line_cost != NULL) == !first);
	assert_string_equal(m->distinct.at[1].cost_open, second);
	assert_string_equal(m->break_kinds.at[0].says, kind);
	done(&found);
}

static void no_part_claims_more_than_the_sentence_on_all(void **state)
{
	(void)state;
	check_parts(LATENCY COSTS("-6", "-7", "-5", WITHOUT(TIMED, "0")),
		    "It costs nothing: without all 2 a call is no shorter.",
		    "It costs nothing: without all 2 a call is no shorter.",
		    "1 break, which costs nothing");
	check_parts(LATENCY COSTS("1", "-2", "4", WITHOUT(TIMED, "0")),
		    "Its cost cannot be told apart from 0: at most 4 µs a call.",
		    "Its cost cannot be told apart from 0: at most 4 µs a call.",
		    "1 break, whose cost cannot be told apart from 0");
	check_parts(LATENCY COSTS("15", "10", "20", WITHOUT(TIMED, "1")),
		    "Its cost cannot be told apart from 0: at most 20 µs a call.",
		    "Its cost cannot be told apart from 0: at most 9 µs a call.",
		    "1 break, whose cost cannot be told apart from 0");
	check_parts(LATENCY COSTS("28", "20", "36", WITHOUT(TIMED, "0")), NULL,
		    "Its cost cannot be told apart from 0: at most 9 µs a call.",
		    "1 break, 25 µs a call");
}

/* A card without any word on its cost, beside a sentence on what breaks cost, says nothing. */
static void what_timed_calls_do_not_meet_says_so(void **state)
{
	struct found found = find(
	    BROKEN(COSTLY("host-call", "3", "0", "25", "0") ", " BREAK("9", "capture", "1"),
		   LATENCY COSTS("28", "20", "36", WITHOUT(TIMED, "0"))));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	(void)state;
	assert_null(m->distinct.at[0].cost_open);
	assert_string_equal(m->distinct.at[1].cost_open,
			    "Its cost is not known: the timed calls do not come here.");
	assert_null(m->distinct.at[1].cost);
	done(&found);
}

static void what_follows_a_break_and_what_a_rewrite_gains_is_said(void **state)
{
	struct found found = find(BROKEN(
	    BREAK("3", "capture", "1") ", {\"stage\": \"capture\", \"kind\": \"k\", \"outcome\": "
				       "\"resume\", \"call\": 0, \"message\": \"m\", \"count\": 1, "
				       "\"stack\": [], \"rewrite\": \"x\", \"rewrite_gain\": {"
				       "\"graphs\": [5, 2], \"breaks\": [4, 1], \"together\": 3}}",
	    ""));
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	(void)state;
	assert_string_equal(m->distinct.at[0].then,
			    "Each side is captured when it is first taken.");
	assert_null(m->distinct.at[0].gain);
	assert_string_equal(m->distinct.at[1].then,
			    "It runs in eager; a resume function compiles the rest.");
	assert_string_equal(m->distinct.at[1].gain,
			    "These calls come out the same, with the 2 other rewrites: graphs 5 → "
			    "2, breaks 4 → 1.");
	done(&found);
}

#define ENTRY(ms, uses, reason)                                                                    \
	"{\"compile_ms\": " ms ", \"uses\": " uses ", \"reason\": " reason                         \
	", \"guards\": [\"a\", \"b\"]}"

static void recompiles_are_told_with_what_they_took(void **state)
{
	struct found found = find(BROKEN(
	    "",
	    ", \"tree\": [{\"frame\": \"f\", \"entries\": [" ENTRY("10", "9", "null") ", " ENTRY(
		"20", "1",
		"\"x.size(0) is 5, was 4\"") ", " ENTRY("30", "0",
							"\"x.size(0) is 6, was 5\"") "]}]"));
	struct found one = find(BROKEN(
	    "", ", \"tree\": [{\"frame\": \"f\", \"entries\": [" ENTRY("10", "9", "null") "]}]"));
	struct found none = find(BROKEN("", ""));
	struct found full = find(BROKEN(
	    "", ", \"tree\": [{\"frame\": \"gate\", \"run_only\": true, \"entries\": [" ENTRY(
		    "10", "9", "null") ", " ENTRY("20", "1", "\"x is 5, was 4\"") "]}]"));

	(void)state;
	assert_string_equal(
	    report_get(full.f->points.at[0].modes, "static")->frames.at[0].notice,
	    "`gate` hit the recompile limit (2). Calls matching no cache entry run in eager.");
	done(&full);
	says(&report_get(found.f->points.at[0].modes, "static")->guards->sentence,
	     "2 recompiles in static took 50 ms, 83 % of all compile time. 2 of 3 cache entries "
	     "served at most one call.");
	assert_string_equal(
	    report_get(found.f->points.at[0].modes, "static")->guards->how,
	    "A cache entry is used where all its guards hold; where none matches, the frame is "
	    "recompiled. 6 guards in all. Counts cover warm-up calls only.");
	says(&report_get(one.f->points.at[0].modes, "static")->guards->sentence,
	     "No guard failed in static: 1 cache entry serves every call.");
	assert_null(report_get(none.f->points.at[0].modes, "static")->guards);
	done(&found);
	done(&one);
	done(&none);
}

#define NAMED(compile, call, reason, guards, symbols)                                              \
	"{\"compile\": \"" compile "\", \"call\": " call ", \"compile_ms\": 10, \"uses\": 2, "     \
	"\"reason\": " reason ", \"guards\": [" guards "], \"symbols\": [" symbols "]}"

static void fits(const char *mode, const char *symbols, const char *reason, const char *fit)
{
	char text[1024];
	struct found found;
	const struct report_findings_version *v;

	snprintf(
	    text, sizeof(text),
	    "{\"breakeven\": 1, \"modes\": {\"%s\": {\"graphs\": [], \"recompiles\": [], "
	    "\"breaks\": [], \"tree\": [{\"frame\": \"f\", \"entries\": [{\"compile\": \"0/1\", "
	    "\"reason\": \"%s\", \"symbols\": [%s]}]}]}}}",
	    mode, reason, symbols);
	found = find(text);
	v = &report_get(found.f->points.at[0].modes, mode)->frames.at[0].versions.at[0];
	if (fit)
		assert_non_null(strstr(v->fits.at[0], fit));
	else
		assert_int_equal(v->fits.n, 0);
	done(&found);
}

static void what_would_fit_depends_on_what_failed_and_on_the_mode(void **state)
{
	static const char s0[] =
	    "{\"name\": \"s0\", \"source\": \"x.size(1)\", \"range\": \"2 <= s0\"}";

	(void)state;
	fits("static", "", "x.size(1) is 5, was 4", "Mode auto makes a size");
	fits("graphs", "", "x.size(1) is 5, was 4", "A recording has one size");
	fits("auto", "", "x.size(1) is 5, was 4", "Give that input \"dynamic_dims\": [1]");
	fits("auto", s0, "x.size(1) is 5, was 4", "(s0 = x.size(1), 2 <= s0)");
	fits("auto", "", "x.size(1) is 1, was 2 or more", "Sizes 0 and 1");
	fits("static", "", "operand 0 is 341.42, was 339.3", "Keep it a tensor");
	fits("static", "", "n is 5, was 4", "Mode auto makes an int");
	fits("static", "", "x.dtype is float16, was float32", "Cast to one dtype");
	fits("static", "", "torch.is_grad_enabled() is False, was True", "one cache entry each");
	fits("static", "", "len(xs) is 3, was 2", "Stack the list");
	fits("static", "", "x is another object", "keep one");
	fits("static", "", "something new", NULL);
}

static void versions_are_told_with_the_guards_that_failed(void **state)
{
	struct found found = find(BROKEN(
	    "",
	    ", \"tree\": [{\"frame\": \"f\", \"entries\": [" NAMED(
		"0/0", "0", "null", "\"x is a Tensor\", \"x.size(0) == 64\"",
		"") ", " NAMED("0/1", "1", "\"x.size(0) is 32, was 64\"", "\"x.size(0) == 32\"",
			       "") ", " NAMED("0/2", "2",
					      "\"0/1: x.size(0) is 16, was 32; 0/0: x.size(0) is "
					      "16, was 64\"",
					      "", "") "]}, {\"frame\": \"g\", \"skipped\": true, "
						      "\"entries\": []}]"));
	const struct report_findings_frame_list *frames =
	    &report_get(found.f->points.at[0].modes, "static")->frames;
	const struct report_findings_version *v = frames->at[0].versions.at;

	(void)state;
	assert_string_equal(frames->at[0].facts, "3 cache entries · 30 ms · 6 uses");
	assert_string_equal(frames->at[1].facts, "runs in eager");
	assert_int_equal(v[0].failed.n, 2);
	assert_int_equal(v[0].failed.at[0].guard, 1);
	assert_string_equal(v[0].failed.at[0].by, "0/1");
	assert_int_equal(v[0].failed.at[1].call, 2);
	assert_string_equal(v[1].causes.at[0].version, "0/0"); /* the one before is meant */
	assert_int_equal(v[2].causes.n, 2);
	assert_string_equal(v[2].causes.at[0].version, "0/1");
	assert_string_equal(v[2].causes.at[1].text, "x.size(0) is 16, was 64");
	assert_int_equal(v[2].fits.n, 1); /* one remedy for both */
	done(&found);
}

#define EAGER(frame, more) "{\"frame\": \"" frame "\", \"lines\": [6, 7], \"entries\": []" more "}"

static void a_frame_that_runs_in_eager_says_so_when_and_why(void **state)
{
	struct found found = find(BROKEN(
	    "{\"stage\": \"capture\", \"kind\": \"k\", \"outcome\": \"skip\", \"call\": 0, "
	    "\"message\": \"m\", \"count\": 1, \"stack\": [], \"because\": {\"message\": \"the "
	    "whole function runs in eager, because the break is in a loop\"}}",
	    ", \"tree\": [" EAGER("model", ", \"skipped\": true, \"broke\": 0") ", " EAGER(
		"torch_dynamo_resume_in_gate_at_6",
		", \"run_only\": true") ", " EAGER("a_at_b", ", \"skipped\": true, \"broke\": "
							     "7") ", {\"frame\": \"f\", "
								  "\"entries\": []}]"));
	const struct report_findings_frame *f =
	    report_get(found.f->points.at[0].modes, "static")->frames.at;

	(void)state;
	assert_string_equal(f[0].eager,
			    "`model` runs in eager in every call, op by op, because the "
			    "break is in a loop.");
	assert_string_equal(f[1].eager, "`gate` from line 6 on runs in eager where no cache entry "
					"matches: it hit the recompile limit.");
	assert_string_equal(f[2].eager, "`a_at_b` runs in eager in every call, op by op.");
	assert_null(f[3].eager);
	done(&found);
}

#define PASSED                                                                                     \
	"{\"breakeven\": 1, \"modes\": {\"static\": {\"breaks\": [], \"recompiles\": [], "         \
	"\"graphs\": "                                                                             \
	"[{\"ops\": [\"mul\", \"add\", \"add\"], \"kernels\": [\"k\"], \"passes\": [{\"part\": "   \
	"\"\", "                                                                                   \
	"\"nodes\": 3, \"left_out_bytes\": 2000, \"steps\": [{\"pass\": \"fold\", \"off\": "       \
	"false, "                                                                                  \
	"\"changed\": true, \"nodes\": 2, \"us\": 1, \"rules\": [{\"rule\": \"r\", \"count\": 2, " \
	"\"at\": []}], \"rules_left_out\": 3}, {\"pass\": \"cse\", \"off\": true, \"changed\": "   \
	"false, "                                                                                  \
	"\"nodes\": 2, \"us\": 0}]}]}]}}}"

static void what_passes_made_of_graphs_and_how_often_ops_are_there(void **state)
{
	struct found found = find(PASSED);
	const struct report_findings_mode *m = report_get(found.f->points.at[0].modes, "static");

	(void)state;
	says(&m->passes->sentence,
	     "3 nodes became 2 nodes in 1 kernel: 1 of 2 passes changed the graph of static.");
	assert_string_equal(
	    m->passes->how,
	    "Rules fired 5 times. The passes were run again for this view; no figure includes "
	    "that. Switched off in this run: cse. 2 kB of graphs are left "
	    "out of the report: they are over its limits.");
	assert_string_equal(m->graphs.at[0].op_counts, "2 add, mul");
	done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_recording_is_told_in_sentences_and_what_could_not_be_recorded_with_the_reason),
		cmocka_unit_test(a_graph_and_its_kernels_are_told_in_shared_units),
		cmocka_unit_test(breaks_are_told_once_each_with_what_they_cost),
		cmocka_unit_test(a_cost_has_its_evidence_beside_it),
		cmocka_unit_test(distinct_breaks_have_their_costs_and_kinds_the_dearest_first),
		cmocka_unit_test(a_cost_whose_interval_holds_0_is_no_figure),
		cmocka_unit_test(no_part_claims_more_than_the_sentence_on_all),
		cmocka_unit_test(what_timed_calls_do_not_meet_says_so),
		cmocka_unit_test(what_follows_a_break_and_what_a_rewrite_gains_is_said),
		cmocka_unit_test(recompiles_are_told_with_what_they_took),
		cmocka_unit_test(what_would_fit_depends_on_what_failed_and_on_the_mode),
		cmocka_unit_test(a_frame_that_runs_in_eager_says_so_when_and_why),
		cmocka_unit_test(versions_are_told_with_the_guards_that_failed),
		cmocka_unit_test(what_passes_made_of_graphs_and_how_often_ops_are_there),
	};

	return cmocka_run_group_tests_name("findings of what was captured", tests, NULL, NULL);
}
