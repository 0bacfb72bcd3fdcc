/* tests/test_profiler_run.c -- a run's report has the fields of the contract,
 * and figures that agree with one another.  How long anything takes is never
 * asserted, only what must hold on any machine. */
#include <stdio.h>

#include "tests/report_help.h"

#define CHAIN                                                                                      \
	"{'name': 'chain', 'threads': 1, 'backend': 'interp', 'source': 'import torch\\ndef "      \
	"model(x):\\n    x = x * 2\\n    x = torch.sin(x)\\n    return x.sum()\\n', 'calls': "     \
	"[[{'random': {'shape': [4, 8], 'seed': 1}}], [{'random': {'shape': [6, 8], 'seed': 2}}]]"

static void untimed_run_has_outputs_graphs_and_no_latency(void **state)
{
	json_t *report = run(CHAIN "}", false);

	(void)state;
	assert_int_equal(json_integer_value(at(report, "breakeven")), 1);
	assert_int_equal(json_array_size(at(report, "points")), 0);
	assert_int_equal(json_integer_value(at(report, "modes.eager.calls.0.new_graphs")), 0);
	assert_int_equal(json_integer_value(at(report, "modes.static.calls.0.new_graphs")), 1);
	assert_int_equal(json_integer_value(at(report, "modes.static.calls.1.new_graphs")), 1);
	assert_int_equal(json_integer_value(at(report, "modes.dynamic.calls.1.new_graphs")), 0);
	assert_int_equal(json_array_size(at(report, "modes.static.graphs.0.ops")), 3);
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.ops.1")), "sin");
	assert_int_equal(json_integer_value(at(report, "modes.static.graphs.0.placeholders")), 1);
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.1.compile")), "0/1");
	assert_true(json_array_size(at(report, "modes.static.graphs.0.nodes")) >= 4);
	assert_true(json_array_size(at(report, "modes.static.graphs.0.kernels")) >= 1);
	assert_int_equal(json_array_size(at(report, "modes.static.breaks")), 0);
	assert_int_equal(json_array_size(at(report, "modes.static.recompiles")), 1);
	assert_true(json_array_size(at(report, "modes.static.guards")) > 0);
	assert_string_equal(json_string_value(at(report, "modes.eager.calls.0.stdout")), "");
	assert_int_equal(json_array_size(at(report, "modes.eager.calls.0.inputs_after")), 1);
	assert_null(json_object_get(at(report, "modes.static"), "latency"));
	assert_true(number(report, "modes.static.max_abs_error") <= 1e-4);
	assert_true(number(report, "modes.eager.peak_bytes") >= 2 * 4 * 8 * 4);
	assert_string_equal(json_string_value(at(report, "environment.breakeven")), "test");
	json_decref(report);
}

static void check_latency(const json_t *m)
{
	double median = number(m, "latency.median_us"), parts = 0;
	static const char *const split[] = { "guards", "dispatch", "alloc",
					     "launch", "kernel",   "rest" };

	assert_true(median > 0);
	assert_true(number(m, "latency.ci_us.0") <= median);
	assert_true(number(m, "latency.ci_us.1") >= median);
	assert_true(number(m, "latency.n") > 0);
	assert_int_equal(json_array_size(at(m, "latency.samples_ns")),
			 (size_t)number(m, "latency.n"));
	assert_true(json_is_null(at(m, "latency.noise")) || json_is_string(at(m, "latency.noise")));
	for (size_t i = 0; i < sizeof(split) / sizeof(split[0]); i++) {
		double part = number(at(m, "split_us"), split[i]);

		assert_true(part >= 0);
		parts += part;
	}
	/* Each phase is at most the watched call, which is scaled to the latency. */
	assert_true(parts >= median * (1 - 1e-9));
	assert_true(number(m, "split_us.rest") == 0 || parts <= median * (1 + 1e-9));
	assert_true(number(m, "split_us.observed") > 0);
	assert_true(number(m, "launches") >= 1);
	assert_non_null(strstr(json_string_value(at(m, "reproduce")), "breakeven run chain.json"));
}

static void timed_run_has_latency_split_and_break_even_against_eager(void **state)
{
	json_t *report = run(CHAIN "}", true);
	static const char *const compiled[] = { "static", "dynamic" };

	(void)state;
	check_latency(at(report, "modes.eager"));
	for (int i = 0; i < 2; i++) {
		const json_t *b = json_object_get(at(report, "break_even"), compiled[i]);

		check_latency(json_object_get(at(report, "modes"), compiled[i]));
		assert_true(number(b, "speedup_ci.0") <= number(b, "speedup"));
		assert_true(number(b, "speedup") <= number(b, "speedup_ci.1"));
		assert_true(json_is_string(at(b, "verdict")));
		if (strcmp(json_string_value(at(b, "repay")), "after") == 0)
			assert_true(number(b, "calls_to_repay") >= 0);
		else
			assert_true(json_is_null(at(b, "calls_to_repay")));
	}
	assert_null(json_object_get(at(report, "break_even"), "eager"));
	/* one kernel a call where three ops were */
	assert_true(number(report, "modes.static.launches") <
		    number(report, "modes.eager.launches"));
	json_decref(report);
}

/* A rate that each call changes is a guard in static, of which a frame may have eight
 * versions: samples begin after them.  A trace has no such limit. */
#define RATE                                                                                       \
	"{'name': 'rate', 'threads': 1, 'source': 'import torch\\nrate = [1.0]\\ndef "             \
	"model(x):\\n    "                                                                         \
	"rate[0] = rate[0] * 0.999\\n    return x * rate[0]\\n', 'calls': [[{'random': {'shape': " \
	"[4, 8], 'seed': 1}}]]"

/* An int is part of a trace's key. */
#define COUNT                                                                                      \
	"{'name': 'count', 'threads': 1, 'source': 'import torch\\ncount = [1]\\ndef "             \
	"model(x):\\n    "                                                                         \
	"count[0] = count[0] + 1\\n    return x * count[0]\\n', 'calls': [[{'random': {'shape': "  \
	"[4, 8], 'seed': 1}}]]"

static void samples_begin_when_nothing_compiles_any_more(void **state)
{
	json_t *limited = run(RATE ", 'modes': ['static'], 'backend': 'interp'}", true);
	json_t *lazy = run(RATE ", 'modes': ['lazy'], 'backend': 'interp'}", true);
	json_t *endless = run(COUNT ", 'modes': ['lazy'], 'backend': 'interp'}", true);

	(void)state;
	assert_int_equal(number(limited, "modes.static.latency.compiled"), 0);
	/* The one call of the workload met no limit: the calls that were timed did. */
	assert_string_equal(json_string_value(at(limited, "modes.static.breaks.0.kind")),
			    "recompile-limit");
	assert_int_equal(number(limited, "modes.static.counts.breaks"), 1);
	assert_int_equal(number(limited, "modes.static.counts.captured"),
			 json_array_size(at(limited, "modes.static.graphs")));
	assert_true(json_array_size(at(limited, "modes.static.recompiles")) >=
		    json_array_size(at(limited, "modes.static.graphs")) - 1);
	assert_int_equal(number(lazy, "modes.lazy.latency.compiled"), 0);
	assert_int_equal(json_array_size(at(lazy, "modes.lazy.graphs")), 1);
	assert_true(number(endless, "modes.lazy.latency.compiled") > 0);
	assert_non_null(
	    strstr(json_string_value(at(endless, "modes.lazy.latency.noise")), "still compile"));
	json_decref(limited);
	json_decref(lazy);
	json_decref(endless);
}

/* Momentum is there from the second step on: the step that is timed is another graph. */
static void what_warming_up_compiled_is_among_the_graphs(void **state)
{
	json_t *report = run(
	    "{'name': 'step', 'threads': 1, 'modes': ['static'], 'backend': 'interp', 'source': "
	    "'import torch\\nw = torch.ones(4, requires_grad=True)\\n"
	    "opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)\\ndef model(x):\\n"
	    "    loss = (x * w).sum()\\n    loss.backward()\\n    opt.step()\\n    return "
	    "loss\\n', "
	    "'calls': [[{'random': {'shape': [4], 'seed': 1}}]]}",
	    true);
	const json_t *graphs = at(report, "modes.static.graphs"), *graph;
	int64_t of_call = number(report, "modes.static.calls.0.new_graphs");
	size_t i, later = 0;

	(void)state;
	json_array_foreach(graphs, i, graph)
	{
		later += json_is_true(json_object_get(graph, "later"));
		assert_int_equal(json_integer_value(json_object_get(graph, "id")), i);
	}
	assert_true(later > 0);
	assert_int_equal(json_array_size(graphs), of_call + (int64_t)later);
	json_decref(report);
}

static void without_eager_there_is_no_break_even(void **state)
{
	json_t *report = run(CHAIN ", 'modes': ['static']}", false);

	(void)state;
	assert_null(json_object_get(report, "break_even"));
	assert_null(json_object_get(at(report, "modes"), "eager"));
	json_decref(report);
}

#define SWEEP                                                                                      \
	"{'name': 'chain', 'threads': 1, 'backend': 'interp', 'source': 'import torch\\ndef "      \
	"model(x):\\n    ...\\n    return x.sum()\\n', 'calls': [[{'random': {'shape': [8]}}]],"   \
	" 'sweep': {'statements': {'pool': ['x = x + 1', 'x = torch.sin(x)'], 'counts': [1, 6]}}"

static void sweep_fills_points_and_the_crossover_on_top(void **state)
{
	json_t *report = run(SWEEP "}", true);
	const json_t *top = at(report, "break_even.static");

	(void)state;
	assert_int_equal(json_object_size(at(report, "modes")), 0);
	assert_int_equal(json_array_size(at(report, "points")), 2);
	assert_int_equal(json_integer_value(at(report, "points.0.n")), 1);
	assert_int_equal(json_integer_value(at(report, "points.1.n")), 6);
	assert_non_null(strstr(json_string_value(at(report, "points.1.source")), "torch.sin"));
	assert_true(json_is_number(at(report, "points.1.break_even.static.speedup")));
	assert_true(json_is_number(at(top, "crossover_n")) || json_is_null(at(top, "crossover_n")));
	assert_true(json_is_string(at(top, "side")));
	assert_non_null(
	    strstr(json_string_value(at(report, "points.1.modes.static.reproduce")), "--at 6"));
	json_decref(report);
}

static void one_point_of_a_sweep_can_be_run_alone(void **state)
{
	struct profiler_options options = { .only = true, .at = 6 };
	struct err err;
	json_t *report = run_with(SWEEP "}", &options, &err);

	(void)state;
	assert_non_null(report);
	assert_int_equal(json_array_size(at(report, "points")), 1);
	assert_int_equal(json_integer_value(at(report, "points.0.n")), 6);
	json_decref(report);
	options.at = 5;
	assert_null(run_with(SWEEP "}", &options, &err));
	assert_int_equal(err.code, ERR_VALUE);
}

static void time_restricts_what_a_mode_cycles_over(void **state)
{
	json_t *report = run(CHAIN ", 'time': {'static': [0]}}", true);

	(void)state;
	assert_true(number(report, "modes.static.latency.median_us") > 0);
	assert_int_equal(json_array_size(at(report, "modes.static.calls")), 2);
	json_decref(report);
}

static void fault_in_the_program_has_its_line(void **state)
{
	struct profiler_options options = { 0 };
	struct err err;

	(void)state;
	assert_null(run_with("{'backend': 'interp', 'source': 'import torch\\ndef model(x, y):\\n  "
			     "  return x + y\\n', "
			     "'calls': [[{'random': {'shape': [3]}}, {'random': {'shape': [4]}}]]}",
			     &options, &err));
	assert_int_equal(err.code, ERR_SHAPE);
	assert_int_equal(err.line, 3);
}

static void fault_in_a_pool_line_names_it(void **state)
{
	struct profiler_options options = { 0 };
	struct err err;

	(void)state;
	assert_null(run_with("{'backend': 'interp', 'source': 'import torch\\ndef model(x, y):\\n  "
			     "  ...\\n    return "
			     "x\\n', 'calls': [[{'random': {'shape': [3]}}, {'random': {'shape': "
			     "[4]}}]], 'sweep': {'statements': {'pool': ['x = x + 1', 'x = x + "
			     "y'], 'counts': [4]}}}",
			     &options, &err));
	assert_int_equal(err.line, 3);
	assert_non_null(strstr(err.message, "pool line 2"));
}

static void endless_loop_ends_with_its_line(void **state)
{
	struct profiler_options options = { 0 };
	struct err err;

	(void)state;
	assert_null(run_with(
	    "{'backend': 'interp', 'source': 'def model(x):\\n    while True:\\n        pass\\n', "
	    "'calls': [[{'value': 1}]], 'modes': ['eager']}",
	    &options, &err));
	assert_int_equal(err.code, ERR_STEPS);
	assert_true(err.line >= 2);
}

struct canceller {
	int calls, at;
};

static bool cancel(void *self, double share, const char *what, double left_s)
{
	struct canceller *c = self;

	(void)left_s;
	assert_true(share >= 0 && share <= 1);
	assert_true(strlen(what) > 0);
	return ++c->calls < c->at;
}

static void progress_can_cancel_between_samples(void **state)
{
	struct canceller canceller = { .at = 3 };
	struct profiler_options options = { .timing = true,
					    .progress = cancel,
					    .self = &canceller };
	struct err err;

	(void)state;
	assert_null(run_with(CHAIN "}", &options, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_int_equal(canceller.calls, 3);
}

static void a_break_of_a_run_has_the_rewrite_that_was_run(void **state)
{
	json_t *report = run("{'source': 'import torch\\ndef model(x):\\n    if x.sum() > 100:\\n"
			     "        x = x * 2\\n    return x + 1\\n', 'modes': ['auto'],"
			     "'calls': [[{'random': {'shape': [4]}}]]}",
			     false);

	(void)state;
	assert_non_null(strstr(json_string_value(at(report, "modes.auto.breaks.0.rewrite")),
			       "x = torch.where(x.sum() > 100, x * 2, x)"));
	assert_int_equal(
	    json_integer_value(at(report, "modes.auto.breaks.0.rewrite_gain.graphs.1")), 1);
	json_decref(report);
}

/* Mode lazy: each run of a trace with its cause, its hash and whether it was known. */
static void a_lazy_run_tells_its_traces(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n    s = x.sum()\\n"
	    "    return x * s.item()\\n', 'modes': ['eager', 'lazy'],"
	    "'calls': [[{'random': {'shape': [4]}}], [{'random': {'shape': [4]}}]]}",
	    false);

	(void)state;
	assert_int_equal(json_array_size(at(report, "modes.lazy.lazy.runs")), 4);
	assert_string_equal(json_string_value(at(report, "modes.lazy.lazy.runs.0.cause")),
			    "most likely user code trying to access tensor value before "
			    "torch_xla.sync");
	assert_int_equal(json_integer_value(at(report, "modes.lazy.lazy.runs.0.line")), 4);
	assert_true(json_is_true(at(report, "modes.lazy.lazy.runs.0.compiled")));
	assert_true(json_is_false(at(report, "modes.lazy.lazy.runs.2.compiled")));
	assert_true(json_equal(at(report, "modes.lazy.lazy.runs.0.hash"),
			       at(report, "modes.lazy.lazy.runs.2.hash")));
	assert_true(json_is_null(at(report, "modes.lazy.lazy.runs.3.message")));
	assert_null(json_object_get(at(report, "modes.eager"), "lazy"));
	json_decref(report);
}

/* Mode graphs: what became of each graph's launches, and why there are two. */
static void a_run_of_graphs_tells_its_recordings(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n    return (x * 2).sum()\\n',"
	    "'modes': ['static', 'graphs'],"
	    "'calls': [[{'random': {'shape': [4]}}], [{'random': {'shape': [5]}}],"
	    "[{'random': {'shape': [4]}}]]}",
	    false);

	(void)state;
	assert_int_equal(json_array_size(at(report, "modes.graphs.graphs")), 2);
	assert_true(json_is_true(at(report, "modes.graphs.graphs.0.recording.recorded")));
	assert_int_equal(json_integer_value(at(report, "modes.graphs.graphs.0.recording.replays")),
			 2);
	assert_true(json_is_null(at(report, "modes.graphs.graphs.0.recording.because")));
	assert_true(json_is_null(at(report, "modes.graphs.graphs.0.backward_recording")));
	assert_string_equal(
	    json_string_value(at(report, "modes.graphs.graphs.1.recording.because")),
	    "x.size(0) is 5, was 4");
	assert_null(json_object_get(at(report, "modes.static.graphs.0"), "recording"));
	json_decref(report);
}

static json_t *step_named(const json_t *part, const char *name)
{
	json_t *step;
	size_t i;

	json_array_foreach(at(part, "steps"), i, step)
	{
		if (strcmp(json_string_value(at(step, "pass")), name) == 0)
			return step;
	}
	fail_msg("no step %s", name);
	return NULL;
}

static void a_report_has_what_each_pass_did_to_each_graph(void **state)
{
	const char *text = "{'source': 'import torch\\ndef model(x):\\n    y = torch.relu(x * 1)\\n"
			   "    return torch.relu(y), torch.relu(x)\\n', 'modes': ['eager', "
			   "'static', 'lazy'], 'passes': {'fold': false}, "
			   "'calls': [[{'random': {'shape': [8]}}]]}";
	struct profiler_options options = { .passes = true, .version = "test" };
	struct err err;
	json_t *report = run_with(text, &options, &err), *part, *step;

	(void)state;
	if (!report)
		fail_msg("%s", err.message);
	part = at(report, "modes.static.graphs.0.passes.0");
	assert_non_null(strstr(json_string_value(at(part, "before")), "= mul(%x, 1)  # line 3"));
	step = step_named(part, "simplify");
	assert_string_equal(json_string_value(at(step, "rules.0.rule")), "x * 1 is x");
	assert_int_equal(json_integer_value(at(step, "rules.0.count")), 1);
	assert_int_equal(json_integer_value(at(step, "rules.0.at.0.line")), 3);
	assert_null(strstr(json_string_value(at(step, "after")), "mul("));
	assert_true(json_is_true(at(step_named(part, "cse"), "changed")));
	assert_true(json_is_false(at(step_named(part, "hoist_views"), "changed")));
	assert_true(json_is_null(at(step_named(part, "hoist_views"), "after")));
	assert_true(json_is_true(at(step_named(part, "fold"), "off")));
	assert_non_null(
	    strstr(json_string_value(at(step_named(part, "fuse"), "after")), "kernel 0: "));
	assert_int_equal(json_integer_value(at(part, "left_out_bytes")), 0);
	at(report, "modes.lazy.graphs.0.passes.0.before");
	json_decref(report);
	options.passes = false;
	report = run_with(text, &options, &err);
	assert_null(json_object_get(at(report, "modes.static.graphs.0"), "passes"));
	json_decref(report);
}

static void what_nothing_reads_may_stay_where_dce_is_left_out(void **state)
{
	static const char *const offs[] = { "'dce': false", "'dce': false, 'simplify': false",
					    ("'fold': false, 'simplify': false, 'cse': false, "
					     "'lift': false, 'dce': false, 'fuse': false") };
	char text[1024];

	(void)state;
	for (int i = 0; i < 3; i++) {
		json_t *report;

		snprintf(text, sizeof(text),
			 "{'source': 'import torch\\ndef model(x):\\n    b = torch.zeros(8)\\n"
			 "    a, *rest = (x, x + 1, x + 2, torch.ones(3) * 2)\\n"
			 "    return a + rest[1] + b\\n', 'modes': ['eager', 'static', 'lazy'], "
			 "'passes': {%s}, 'calls': [[{'random': {'shape': [8]}}]]}",
			 offs[i]);
		report = run(text, false);
		assert_true(json_equal(at(report, "modes.static.calls.0.output"),
				       at(report, "modes.eager.calls.0.output")));
		assert_true(json_equal(at(report, "modes.lazy.calls.0.output"),
				       at(report, "modes.eager.calls.0.output")));
		json_decref(report);
	}
}

static void a_graph_in_pieces_has_the_passes_of_each(void **state)
{
	struct profiler_options options = { .passes = true, .version = "test" };
	struct err err;
	json_t *report = run_with(
	    "{'source': 'import torch\\ndef model(x):\\n    y = torch.tanh(x * 1)\\n"
	    "    return torch.exp(y) * 1\\n', 'modes': ['static'], 'deny': ['tanh'], "
	    "'calls': [[{'random': {'shape': [8]}}]]}",
	    &options, &err);

	(void)state;
	if (!report)
		fail_msg("%s", err.message);
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.passes.0.part")),
			    "piece 0");
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.passes.1.part")),
			    "piece 2");
	assert_non_null(
	    strstr(json_string_value(at(report, "modes.static.graphs.0.passes.1.before")), "exp("));
	json_decref(report);
}

/* tanh and its sum; ones, and the gradient: what runs after the call is of it. */
static void launches_of_the_gradient_are_of_the_call(void **state)
{
	struct profiler_options options = { .timing = true, .version = "test" };
	struct err err;
	json_t *report = run_with(
	    "{'source': 'import torch\\ndef model(x):\\n    return "
	    "torch.tanh(x).sum()\\n', 'backend': 'interp', 'seconds': 0.05, 'modes': "
	    "['eager', 'static'], 'grad': true, 'calls': [[{'random': {'shape': [8]}}]]}",
	    &options, &err);

	(void)state;
	if (!report)
		fail_msg("%s", err.message);
	assert_true(json_number_value(at(report, "modes.eager.launches")) == 6);
	assert_true(json_number_value(at(report, "modes.static.launches")) == 3);
	json_decref(report);
}

static void a_gradient_has_the_passes_of_both_directions(void **state)
{
	struct profiler_options options = { .passes = true, .version = "test" };
	struct err err;
	json_t *report = run_with(
	    "{'source': 'import torch\\ndef model(x):\\n    return torch.sin(x) * 1\\n', "
	    "'modes': ['static'], 'grad': true, 'calls': [[{'random': {'shape': [8]}}]]}",
	    &options, &err);

	(void)state;
	if (!report)
		fail_msg("%s", err.message);
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.passes.0.part")),
			    "forward");
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.passes.1.part")),
			    "backward");
	assert_non_null(
	    strstr(json_string_value(at(report, "modes.static.graphs.0.passes.1.before")), "cos("));
	json_decref(report);
}

static void zero_bytes_are_shown_and_what_is_after_them_is_kept(void **state)
{
	json_t *report = run(
	    "{'source': 'import torch\\ndef model(x):\\n"
	    "    print(\\\"a\\\\0b\\\")\\n    print(\\\"c\\\\0\\\")\\n"
	    "    return \\\"q\\\\0r\\\", {\\\"k\\\\0a\\\": 1, \\\"k\\\\0b\\\": 2}\\n', "
	    "'modes': ['eager', 'static'], 'calls': [[{'value': 1}]]}",
	    false);
	char *text = json_dumps(report, 0);
	json_t *again = json_loads(text, 0, NULL);
	const json_t *output = at(again, "modes.static.calls.0.output.tuple");

	(void)state;
	assert_string_equal(json_string_value(at(again, "modes.static.calls.0.stdout")),
			    "a\xe2\x90\x80"
			    "b\nc\xe2\x90\x80\n");
	assert_string_equal(json_string_value(at(json_array_get(output, 0), "repr")), "'q\\x00r'");
	assert_int_equal(json_object_size(at(json_array_get(output, 1), "dict")), 2);
	assert_string_equal(json_string_value(at(again, "modes.static.agreement.verdict")),
			    "exact");
	json_decref(again);
	free(text);
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(untimed_run_has_outputs_graphs_and_no_latency),
		cmocka_unit_test(timed_run_has_latency_split_and_break_even_against_eager),
		cmocka_unit_test(samples_begin_when_nothing_compiles_any_more),
		cmocka_unit_test(what_warming_up_compiled_is_among_the_graphs),
		cmocka_unit_test(without_eager_there_is_no_break_even),
		cmocka_unit_test(zero_bytes_are_shown_and_what_is_after_them_is_kept),
		cmocka_unit_test(sweep_fills_points_and_the_crossover_on_top),
		cmocka_unit_test(one_point_of_a_sweep_can_be_run_alone),
		cmocka_unit_test(time_restricts_what_a_mode_cycles_over),
		cmocka_unit_test(fault_in_the_program_has_its_line),
		cmocka_unit_test(fault_in_a_pool_line_names_it),
		cmocka_unit_test(endless_loop_ends_with_its_line),
		cmocka_unit_test(a_break_of_a_run_has_the_rewrite_that_was_run),
		cmocka_unit_test(a_lazy_run_tells_its_traces),
		cmocka_unit_test(a_run_of_graphs_tells_its_recordings),
		cmocka_unit_test(a_report_has_what_each_pass_did_to_each_graph),
		cmocka_unit_test(what_nothing_reads_may_stay_where_dce_is_left_out),
		cmocka_unit_test(a_graph_in_pieces_has_the_passes_of_each),
		cmocka_unit_test(launches_of_the_gradient_are_of_the_call),
		cmocka_unit_test(a_gradient_has_the_passes_of_both_directions),
		cmocka_unit_test(progress_can_cancel_between_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
