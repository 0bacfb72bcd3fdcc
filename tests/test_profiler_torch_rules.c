/* tests/test_profiler_torch_rules.c -- the rules by which a TORCH_TRACE is counted.
 *
 * Graphs are dynamo_output_graph records; breaks are places of the user's source, from
 * dynamo_graph_break_reason and from restart_reasons that no such record states; a
 * recompile is a compilation with reasons.  Each log here is written as a release writes
 * it, and what is expected of it is what one counts by hand.
 */
#include "tests/import_file.h"

#include "fusion/base/buf.h"

static void assert_text(const json_t *json, const char *path, const char *wanted)
{
	assert_string_equal(text_at(json, path), wanted);
}

static void assert_size(const json_t *json, const char *path, size_t wanted)
{
	assert_int_equal(json_array_size(at_path(json, path)), wanted);
}

/* ---- a log, record by record ---- */

struct log {
	struct buf text;
	int pid;
	const char *rank; /* ", \"rank\": 1"; "" */
};

static struct log begin_log(int pid, const char *rank)
{
	struct log l = { .pid = pid, .rank = rank };

	buf_init(&l.text, 0);
	return l;
}

/* A record; `id` "0/1_2" is frame, compilation and attempt, "" none. */
static void record(struct log *l, const char *kind, const char *id, const char *payload)
{
	int frame, compile, attempt = 0;

	buf_printf(&l->text, "V1121 10:00:00.000000 %d torch/_dynamo/x.py:1] {%s", l->pid, kind);
	if (sscanf(id, "%d/%d_%d", &frame, &compile, &attempt) >= 2)
		buf_printf(&l->text,
			   ", \"frame_id\": %d, \"frame_compile_id\": %d, \"attempt\": %d", frame,
			   compile, attempt);
	buf_printf(&l->text, "%s%s}\n", l->rank,
		   payload ? ", \"has_payload\": \"00000000000000000000000000000000\"" : "");
	while (payload) {
		size_t len = strcspn(payload, "\n");

		buf_printf(&l->text, "\t%.*s\n", (int)len, payload);
		payload = payload[len] ? payload + len + 1 : NULL;
	}
}

static void string(struct log *l, int number, const char *text)
{
	buf_printf(&l->text,
		   "V1121 10:00:00.000000 %d torch/_logging/structured.py:28] {\"str\": "
		   "[\"%s\", %d]}\n",
		   l->pid, text, number);
}

static void start(struct log *l, const char *id, const char *name, int file, int line)
{
	char kind[256];

	snprintf(
	    kind, sizeof(kind),
	    "\"dynamo_start\": {\"stack\": [{\"line\": 1, \"name\": \"<module>\", \"filename\": "
	    "%d}, {\"line\": %d, \"name\": \"%s\", \"filename\": %d, \"loc\": null}]}",
	    file, line, name, file);
	record(l, kind, id, NULL);
}

static void graph(struct log *l, const char *id)
{
	record(l, "\"dynamo_output_graph\": {\"sizes\": {\"l_x_\": [4]}}", id,
	       "class GraphModule(torch.nn.Module):\n    pass\n");
}

static void artifact(struct log *l, const char *name, const char *id, const char *payload)
{
	char kind[160];

	snprintf(kind, sizeof(kind), "\"artifact\": {\"name\": \"%s\", \"encoding\": \"string\"}",
		 name);
	record(l, kind, id, payload);
}

/* compilation_metrics with the fields that matter and what else is said. */
static void metrics(struct log *l, const char *id, const char *name, int line, const char *rest)
{
	char kind[1024];

	snprintf(kind, sizeof(kind),
		 "\"compilation_metrics\": {\"compile_id\": \"%.*s\", \"co_name\": \"%s\", "
		 "\"co_filename\": \"/w/t.py\", \"co_firstlineno\": %d, \"is_forward\": true%s}",
		 (int)strcspn(id, "_"), id, name, line, rest);
	record(l, kind, id, NULL);
}

static json_t *import_logs(struct log *logs, int n)
{
	const char *texts[8];
	json_t *r;

	for (int i = 0; i < n; i++)
		texts[i] = logs[i].text.data;
	r = import_texts(texts, n, 4096);
	for (int i = 0; i < n; i++)
		buf_finish(&logs[i].text);
	assert_non_null(r);
	return r;
}

static const json_t *compile_of(const json_t *r, const char *id, int process)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(r, "compiles"), i, row)
	{
		if (strcmp(text_at(row, "compile"), id) == 0 &&
		    json_integer_value(json_object_get(row, "process")) == process)
			return row;
	}
	fail_msg("there is no compilation %s of process %d", id, process);
	return NULL;
}

/* ---- the rules ---- */

#define TYPED(type, link)                                                                          \
	type "\n  Explanation: why.\n  Hint: do.\n\n  Developer debug context: x\n\n For more "    \
	     "details about this graph break, please visit: " link "\n"
#define SITE "https://meta-pytorch.github.io/compile-graph-break-site/gb/"
#define STACK "\nUser code traceback:\n  File \"/w/t.py\", line 3, in train\n    f(x)\n"

/* A break in a function that was inlined: the caller restarts and says it, then the callee,
 * as a frame of its own, says it again.  2.14. */
static void an_inlined_break_is_one(void **state)
{
	static const char cause[] = TYPED("Data-dependent branching", SITE "gb0170.html");
	struct log l = begin_log(7, "");
	char text[1024];
	json_t *r;

	(void)state;
	string(&l, 0, "/w/t.py");
	artifact(&l, "torch_version", "",
		 "{\n\"pytorch_version\": \"2.14.1\",\n\"commit\": \"x\",\n\"oss\": true\n}");
	start(&l, "0/0", "train", 0, 3);
	snprintf(text, sizeof(text),
		 "Graph break in user code at /w/t.py:20\nGraph Break Reason: Encountered graph "
		 "break when attempting to trace CALL: a function call, e.g. f(x, y):\n\n%s" STACK,
		 cause);
	artifact(&l, "dynamo_graph_break_reason", "0/0", text);
	start(&l, "0/0_1", "train", 0, 3);
	graph(&l, "0/0_1");
	metrics(&l, "0/0_1", "train", 3,
		", \"graph_op_count\": 2, \"fail_type\": null, \"restart_reasons\": [\"Encountered "
		"graph "
		"break when attempting to trace CALL: a function call, e.g. f(x, "
		"y):\\n\\nData-dependent "
		"branching\\n  Explanation: why.\"]");
	start(&l, "1/0", "f", 0, 18);
	snprintf(text, sizeof(text),
		 "Graph break in user code at /w/t.py:20\nGraph Break Reason: %s" STACK, cause);
	artifact(&l, "dynamo_graph_break_reason", "1/0", text);
	graph(&l, "1/0");
	metrics(&l, "1/0", "f", 18, ", \"graph_op_count\": 1, \"restart_reasons\": []");
	start(&l, "2/0", "torch_dynamo_resume_in_f_at_20", 0, 20);
	graph(&l, "2/0");
	metrics(&l, "2/0", "torch_dynamo_resume_in_f_at_20", 20,
		", \"graph_op_count\": 1, \"restart_reasons\": []");
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 3);
	assert_size(r, "breaks", 1);
	assert_text(r, "breaks.0.file", "/w/t.py");
	assert_count(r, "breaks.0.line", 20);
	assert_count(r, "breaks.0.count", 2);
	assert_text(r, "breaks.0.kind", "data-dependent-branch");
	assert_text(r, "breaks.0.gb", "GB0170");
	assert_text(r, "breaks.0.message", "Data-dependent branching");
	assert_size(r, "recompiles", 0);
	assert_text(r, "processes.0.version", "2.14.1");
	assert_text(compile_of(r, "0/0", 0), "outcome", "break");
	assert_count(compile_of(r, "0/0", 0), "attempts", 2);
	assert_text(compile_of(r, "2/0", 0), "outcome", "ok");
	assert_count(r, "ledger.kept.breaks_without_place", 0);
	json_decref(r);
}

/* 2.6 has no record of what it steps over: restart_reasons alone tell; two of one frame are
 * two, and one that is met again when the frame is compiled again stays one. */
static void restart_reasons_that_nothing_states_are_breaks(void **state)
{
	static const char reasons[] =
	    ", \"graph_op_count\": 2, \"restart_reasons\": [\"builtin: print [<class 'X'>] "
	    "False\", "
	    "\"call torch._dynamo.disable() wrapped function <function g>\", "
	    "\"Tensor.item\", \"Unknown fail_and_restart_analysis\", \"<class "
	    "'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>\"]";
	struct log l = begin_log(7, "");
	json_t *r;

	(void)state;
	string(&l, 0, "/w/t.py");
	for (int i = 0; i < 2; i++) {
		char id[16];

		snprintf(id, sizeof(id), "0/%d_2", i);
		start(&l, id, "f", 0, 3);
		artifact(
		    &l, "dynamo_graph_break_reason", id,
		    "Graph break in user code at /w/t.py:9\nReason: Unsupported: Tensor.item\n"
		    "User code traceback:\n  File \"/w/t.py\", line 9, in f\n    v = x.item()\n\n"
		    "Traceback (most recent call last):\n  File \"/t.py\", line 1, in x\n"
		    "torch._dynamo.exc.Unsupported: Tensor.item\n");
		graph(&l, id);
		metrics(&l, id, "f", 3, reasons);
	}
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 2);
	assert_size(r, "breaks", 4);
	assert_count(r, "breaks.0.line", 9);
	assert_text(r, "breaks.0.kind", "scalar-read");
	assert_count(r, "breaks.0.count", 2);
	assert_count(r, "breaks.1.line", 3);
	assert_text(r, "breaks.1.kind", "host-call");
	assert_text(r, "breaks.1.outcome", "step");
	assert_count(r, "breaks.1.count", 2);
	assert_text(r, "breaks.2.kind", "disabled-function");
	assert_count(r, "breaks.3.count", 2); /* of which not even the reason is known */
	assert_count(r, "ledger.kept.breaks_without_place", 6);
	assert_count(r, "ledger.kept.other_restarts", 2);
	json_decref(r);
}

/* The link of 2025's builds has the id in capitals and no .html. */
static void the_registry_id_is_read_from_every_link(void **state)
{
#define ITEM "Unsupported Tensor.item() call with capture_scalar_outputs=False"
	static const struct {
		const char *type, *link, *gb, *kind;
	} links[] = {
		{ ITEM, SITE "gb0124.html", "GB0124", "scalar-read" },
		{ "a type of ours", SITE "gb0055.html", "GB0055", "unsupported" },
		{ "a type of ours", "https://compile-graph-break-site.vercel.app/gb/GB0055",
		  "GB0055", "unsupported" },
		{ "another name for it", "https://compile-graph-break-site.vercel.app/gb/GB0124",
		  "GB0124", "scalar-read" },
		{ ITEM, "nowhere", "GB0124", "scalar-read" }, /* 2.7: by the type */
	};
#undef ITEM

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct log l = begin_log(7, "");
		char text[1024];
		json_t *r;

		snprintf(
		    text, sizeof(text),
		    "Graph break in user code at /w/t.py:5\nGraph Break Reason: %s\n  Explanation: "
		    "no.\n\n For more details about this graph break, please visit: %s\n" STACK,
		    links[i].type, links[i].link);
		artifact(&l, "dynamo_graph_break_reason", "0/0", text);
		r = import_logs(&l, 1);
		assert_text(r, "breaks.0.gb", links[i].gb);
		assert_text(r, "breaks.0.kind", links[i].kind);
		json_decref(r);
	}
}

/* A step of training under 2.6 and 2.14: graphs of the forward and the backward are not
 * graphs of Dynamo, the backward's metrics are not a compilation of their own. */
static void training_counts_its_forward_and_backward(void **state)
{
	static const char *const kinds[] = { "\"aot_joint_graph\": {}", "\"aot_forward_graph\": {}",
					     "\"aot_backward_graph\": {}" };
	struct log l = begin_log(7, "");
	const json_t *row;
	json_t *r;

	(void)state;
	string(&l, 0, "/w/t.py");
	start(&l, "0/0", "forward", 0, 3);
	graph(&l, "0/0");
	for (size_t i = 0; i < 3; i++)
		record(&l, kinds[i], "0/0", "class GraphModule: pass");
	record(&l, "\"inductor_output_code\": {\"filename\": \"/c/f.py\"}", "0/0", "# forward");
	metrics(&l, "0/0", "forward", 3,
		", \"graph_op_count\": 4, \"graph_node_count\": 9, \"graph_input_count\": 3, "
		"\"guard_count\": 12, \"duration_us\": 900000, \"backend_compile_time_s\": 0.5, "
		"\"restart_reasons\": []");
	/* At the first backward(), by the same compilation. */
	record(&l, "\"inductor_output_code\": {\"filename\": \"/c/b.py\"}", "0/0", "# backward");
	record(
	    &l,
	    "\"bwd_compilation_metrics\": {\"compile_id\": \"0/0\", \"is_forward\": false, "
	    "\"duration_us\": 300000, \"cudagraph_skip_reason\": \"skipping cudagraphs due to x\"}",
	    "0/0", NULL);
	/* 2.5 says it where no compilation is under way, some builds under the forward's name. */
	record(&l, "\"bwd_compilation_metrics\": {\"compile_id\": \"0/0\", \"duration_us\": 1000}",
	       "", NULL);
	record(&l,
	       "\"compilation_metrics\": {\"compile_id\": \"0/0\", \"is_forward\": false, "
	       "\"duration_us\": 20, \"graph_op_count\": null}",
	       "0/0", NULL);
	record(&l,
	       "\"compilation_metrics_runtime\": {\"compile_id\": \"0/0\", \"duration_us\": 70}",
	       "0/0", NULL);
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 1);
	assert_size(r, "breaks", 0);
	assert_size(r, "recompiles", 0);
	assert_size(r, "compiles", 1);
	row = compile_of(r, "0/0", 0);
	assert_text(row, "outcome", "ok");
	assert_count(row, "graphs", 1);
	assert_count(row, "aot_graphs.aot_joint_graph", 1);
	assert_count(row, "aot_graphs.aot_forward_graph", 1);
	assert_count(row, "aot_graphs.aot_backward_graph", 1);
	assert_count(row, "code_files", 2);
	assert_count(row, "duration_us", 900000);
	assert_count(row, "ops", 4);
	assert_count(row, "guards", 12);
	assert_count(row, "later_us.bwd_compilation_metrics", 301000);
	assert_count(row, "later_us.compilation_metrics", 20);
	assert_count(row, "later_us.compilation_metrics_runtime", 70);
	assert_text(row, "cudagraph_skips.0", "skipping cudagraphs due to x");
	assert_count(r, "records.bwd_compilation_metrics", 2);
	assert_count(r, "ledger.kept.without_compile_id", 0);
	assert_count(r, "ledger.kept.unknown_kind", 0);
	json_decref(r);
}

/* A sum that no integer holds is a number all the same. */
static void a_sum_has_no_bound(void **state)
{
	struct log l = begin_log(7, "");
	json_t *r;

	(void)state;
	start(&l, "0/0", "forward", 0, 3);
	graph(&l, "0/0");
	for (int i = 0; i < 2; i++)
		record(&l,
		       "\"compilation_metrics_runtime\": {\"compile_id\": \"0/0\", "
		       "\"duration_us\": 9223372036854775807}",
		       "0/0", NULL);
	r = import_logs(&l, 1);
	assert_true(json_number_value(at_path(compile_of(r, "0/0", 0),
					      "later_us.compilation_metrics_runtime")) == 0x1p64);
	json_decref(r);
}

/* Compiled autograd has ids of its own: !0 and !0/3/0 are other compilations than 3/0. */
static void compiled_autograd_is_apart(void **state)
{
	struct log l = begin_log(7, "");
	json_t *r;

	(void)state;
	graph(&l, "3/0");
	record(&l, "\"compiled_autograd_graph\": {}, \"compiled_autograd_id\": 0", "", "graph");
	record(&l, "\"dynamo_output_graph\": {\"sizes\": {}}, \"compiled_autograd_id\": 0", "3/0",
	       "class GraphModule: pass");
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 2);
	assert_size(r, "compiles", 3);
	compile_of(r, "3/0", 0);
	compile_of(r, "!0", 0);
	assert_count(compile_of(r, "!0/3/0", 0), "graphs", 1);
	json_decref(r);
}

/* DDPOptimizer cuts a graph where its buckets end: one record for the whole, one for each piece. */
static void pieces_of_ddp_are_counted_and_are_no_graphs(void **state)
{
	struct log l = begin_log(7, ", \"rank\": 0");
	json_t *r;

	(void)state;
	graph(&l, "0/0");
	record(&l, "\"optimize_ddp_split_graph\": {}", "0/0", "class GraphModule");
	record(&l, "\"optimize_ddp_split_child\": {\"name\": \"submod_0\"}", "0/0",
	       "class submod_0");
	record(&l, "\"optimize_ddp_split_child\": {\"name\": \"submod_1\"}", "0/0",
	       "class submod_1");
	record(&l, "\"optimize_ddp_split_child\": {\"name\": \"submod_0\"}", "",
	       "of no compilation");
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 1);
	assert_count(compile_of(r, "0/0", 0), "ddp_pieces", 2);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(r, "counted"),
							    "pieces that DDP split graphs into")),
			 2);
	assert_count(r, "records.optimize_ddp_split_child", 3);
	assert_count(r, "ledger.kept.unknown_kind", 0);
	json_decref(r);
}

/* Reasons are a list in 2.6, one bare text in 2.14; the ninth compilation is refused and
 * has nothing but its reasons. */
static void a_recompile_is_a_compilation_with_reasons(void **state)
{
	struct log l = begin_log(7, "");
	json_t *r;

	(void)state;
	string(&l, 0, "/w/t.py");
	start(&l, "4/0", "f", 0, 3);
	graph(&l, "4/0");
	metrics(&l, "4/0", "f", 3, ", \"cache_size\": 0");
	artifact(&l, "recompile_reasons", "4/1",
		 "[\n\"4/0: tensor 'L['x']' size mismatch at index 0. expected 4, actual 5\"\n]");
	start(&l, "4/1", "f", 0, 3);
	graph(&l, "4/1");
	metrics(&l, "4/1", "f", 3, ", \"cache_size\": 1");
	artifact(&l, "recompile_reasons", "4/2", "4/1: k == 3  # a line\nUser stack trace:\n  x");
	start(&l, "4/2", "f", 0, 3);
	graph(&l, "4/2");
	artifact(&l, "recompile_reasons", "4/3",
		 "[\n\"4/2: GLOBAL_STATE changed: grad_mode \",\n\"4/1: k == 3\"\n]");
	r = import_logs(&l, 1);
	assert_count(r, "graphs", 3);
	assert_size(r, "recompiles", 3);
	assert_text(r, "recompiles.0.frame", "f");
	assert_text(r, "recompiles.0.reason",
		    "4/0: tensor 'L['x']' size mismatch at index 0. expected 4, actual 5");
	assert_text(r, "recompiles.1.reason", "4/1: k == 3  # a line\nUser stack trace:\n  x");
	assert_text(r, "recompiles.2.frame", "f");
	assert_size(r, "recompiles.2.reasons", 2);
	json_decref(r);
}

/* Two ranks, one of which was started again: three files, each a process; what they share
 * is one break. */
static void ranks_and_restarts_are_processes(void **state)
{
	struct log logs[3] = { begin_log(70, ", \"rank\": 0"), begin_log(71, ", \"rank\": 1"),
			       begin_log(70, ", \"rank\": 0") };
	json_t *r;

	(void)state;
	for (int i = 0; i < 3; i++) {
		string(&logs[i], 0, "/w/t.py");
		start(&logs[i], "0/0", "f", 0, 3);
		artifact(&logs[i], "dynamo_graph_break_reason", "0/0",
			 "Graph break in user code at /w/t.py:5\nReason: Data-dependent jump\n"
			 "User code traceback:\n  File \"/w/t.py\", line 5, in f\n");
		graph(&logs[i], "0/0");
		metrics(&logs[i], "0/0", "f", 3, ", \"graph_op_count\": 1");
	}
	r = import_logs(logs, 3);
	assert_count(r, "graphs", 3);
	assert_size(r, "processes", 3);
	assert_count(r, "processes.1.rank", 1);
	assert_count(r, "processes.2.rank", 0);
	assert_count(r, "processes.2.pid", 70);
	assert_size(r, "compiles", 3);
	assert_size(r, "breaks", 1);
	assert_count(r, "breaks.0.count", 3);
	assert_text(r, "breaks.0.outcome", "jump");
	json_decref(r);
}

/* One file: a process and what it forked, by turns and by one table of strings; then the
 * same number again, whose table begins again. */
static void a_file_may_hold_several_processes(void **state)
{
	struct log l = begin_log(7, "");
	json_t *r;

	(void)state;
	string(&l, 0, "/w/a.py");
	start(&l, "0/0", "f", 0, 3);
	l.pid = 8;
	start(&l, "0/0", "child", 0, 6); /* by its parent's table */
	string(&l, 1, "/w/b.py");
	graph(&l, "0/0");
	l.pid = 7;
	graph(&l, "0/0");
	l.pid = 8;
	start(&l, "1/0", "g", 1, 9);
	l.pid = 7;
	string(&l, 0, "/w/c.py");
	start(&l, "0/0", "again", 0, 4);
	graph(&l, "0/0");
	r = import_logs(&l, 1);
	assert_size(r, "processes", 3);
	assert_count(r, "graphs", 3);
	assert_size(r, "compiles", 4);
	assert_text(compile_of(r, "0/0", 0), "file", "/w/a.py");
	assert_text(compile_of(r, "0/0", 1), "file", "/w/a.py");
	assert_text(compile_of(r, "1/0", 1), "file", "/w/b.py");
	assert_text(compile_of(r, "0/0", 2), "file", "/w/c.py");
	assert_text(compile_of(r, "0/0", 2), "frame", "again");
	for (int i = 0; i < 3; i++)
		assert_count(compile_of(r, "0/0", i), "graphs", 1);
	assert_count(r, "ledger.kept.unknown_string", 0);
	json_decref(r);
}

/* What the design asks of every import is in every answer. */
static void every_answer_has_the_fields_of_the_contract(void **state)
{
	static const char *const fields[] = { "kind",       "graphs",  "breaks",
					      "recompiles", "kernels", "ledger" };
	static const char *const logs[] = {
		"V1121 10:00:00.000000 7 torch/x.py:1] {\"link\": {}}\n",
		"{\"traceEvents\": []}",
		"Metric: CompileTime\n  TotalSamples: 2\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		json_t *r = import_one(logs[i]);

		assert_non_null(r);
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			assert_non_null(json_object_get(r, fields[k]));
		assert_count(r, "kernels.count", 0);
		assert_us(r, "kernels.total_us", 0);
		assert_size(r, "kernels.by_name", 0);
		json_decref(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inlined_break_is_one),
		cmocka_unit_test(restart_reasons_that_nothing_states_are_breaks),
		cmocka_unit_test(the_registry_id_is_read_from_every_link),
		cmocka_unit_test(training_counts_its_forward_and_backward),
		cmocka_unit_test(a_sum_has_no_bound),
		cmocka_unit_test(compiled_autograd_is_apart),
		cmocka_unit_test(pieces_of_ddp_are_counted_and_are_no_graphs),
		cmocka_unit_test(a_recompile_is_a_compilation_with_reasons),
		cmocka_unit_test(ranks_and_restarts_are_processes),
		cmocka_unit_test(a_file_may_hold_several_processes),
		cmocka_unit_test(every_answer_has_the_fields_of_the_contract),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
