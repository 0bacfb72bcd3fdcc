/* tests/test_profiler_explain.c -- what `explain` and POST /check answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "profiler/fields/breaks.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"

#define INPUTS "[[{\"random\": {\"shape\": [4, 8]}}]]"

static json_t *explain_with(const char *source, const char *calls, const char *more,
			    const struct explain_options *options)
{
	json_t *json = json_pack("{s:s, s:s, s:o}", "name", "test", "source", source, "calls",
				 json_loads(calls, 0, NULL));
	json_t *extra = more ? json_loads(more, 0, NULL) : NULL, *out = NULL;
	struct report_draft draft = { 0 };
	struct err err = { 0 };
	struct workload *w;

	if (extra)
		json_object_update(json, extra);
	w = workload_parse(json, &err);
	if (w)
		out = report_write_explain(profiler_explain(w, options, &draft, &err));
	if (!out)
		fail_msg("%s", err.message);
	report_draft_finish(&draft);
	workload_destroy(w);
	json_decref(extra);
	json_decref(json);
	return out;
}

static json_t *explain(const char *source, const char *calls, const char *more,
		       enum fusion_mode mode)
{
	struct explain_options options = { .mode = mode, .sizes_ms = -1, .rewrites_ms = -1 };

	return explain_with(source, calls, more, &options);
}

static int number(const json_t *json, const char *key)
{
	return (int)json_integer_value(json_object_get(json, key));
}

static const char *text(const json_t *json, const char *key)
{
	const char *found = json_string_value(json_object_get(json, key));

	return found ? found : "";
}

static const json_t *item(const json_t *json, const char *key, size_t i)
{
	return json_array_get(json_object_get(json, key), i);
}

static void counts_graphs_and_ops(void **state)
{
	json_t *e = explain("import torch\ndef model(x):\n    return torch.sin(x) * 2 + 1\n",
			    INPUTS, NULL, FUSION_STATIC);

	(void)state;
	assert_int_equal(number(e, "graph_count"), 1);
	assert_int_equal(number(e, "graph_break_count"), 0);
	assert_int_equal(number(e, "op_count"), 3);
	assert_true(json_is_null(json_object_get(e, "error")));
	assert_int_equal(number(item(e, "calls", 0), "new_graphs"), 1);
	json_decref(e);
}

/* The result of the try whose change is `change`. */
static const json_t *try_of(const json_t *e, const char *change)
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(e, "sizes"), i, row)
	{
		if (strcmp(text(row, "change"), change) == 0)
			return row;
	}
	fail_msg("%s was not tried", change);
	return NULL;
}

static void other_sizes_are_tried(void **state)
{
	const char *source = "import torch\ndef model(x):\n    return torch.sin(x)\n";
	json_t *fixed = explain(source, INPUTS, NULL, FUSION_STATIC);
	json_t *symbolic = explain(source, INPUTS, NULL, FUSION_DYNAMIC);

	(void)state;
	assert_string_equal(text(try_of(fixed, "8 to 9"), "result"), "recompiled");
	assert_non_null(strstr(text(try_of(fixed, "8 to 9"), "reason"), "9"));
	assert_string_equal(text(try_of(fixed, "8 to 9"), "then"), "recompiled again");
	assert_string_equal(text(try_of(symbolic, "8 to 9"), "result"), "same entry");
	assert_string_equal(text(try_of(symbolic, "8 to 1"), "result"), "recompiled");
	assert_string_equal(text(try_of(symbolic, "float32 to float64"), "result"), "recompiled");
	json_decref(fixed);
	json_decref(symbolic);
}

static void sizes_of_two_arguments_change_together(void **state)
{
	json_t *e = explain("import torch\ndef model(x, y):\n    return x + y\n",
			    "[[{\"random\": {\"shape\": [4]}}, {\"random\": {\"shape\": [4]}}]]",
			    NULL, FUSION_STATIC);
	const json_t *row = try_of(e, "4 to 5");

	(void)state;
	assert_string_equal(text(row, "result"), "recompiled");
	assert_int_equal(json_array_size(json_object_get(row, "where")), 2);
	assert_string_equal(json_string_value(item(row, "where", 1)), "y.size(0)");
	json_decref(e);
}

static void an_error_keeps_its_place(void **state)
{
	json_t *e = explain("import torch\ndef model(x):\n    return x + torch.ones(3, 3, 3)\n",
			    INPUTS, NULL, FUSION_STATIC);
	const json_t *error = json_object_get(e, "error");

	(void)state;
	assert_string_equal(text(error, "code"), "shape");
	assert_int_equal(number(error, "line"), 3);
	assert_int_equal(number(error, "call"), 0);
	assert_null(json_object_get(e, "sizes"));
	json_decref(e);
}

static void a_denied_op_is_a_break_of_the_lowering(void **state)
{
	json_t *e = explain(
	    "import torch\ndef model(x):\n    return torch.relu(torch.sin(x)).sum()\n", INPUTS,
	    "{\"deny\": [\"relu\"]}", FUSION_STATIC);
	const json_t *found = item(e, "breaks", 0);

	(void)state;
	assert_int_equal(number(e, "graph_break_count"), 0);
	assert_int_equal(json_array_size(json_object_get(e, "breaks")), 1);
	assert_string_equal(text(found, "stage"), "lowering");
	assert_string_equal(text(found, "kind"), "denied-op");
	assert_string_equal(text(found, "outcome"), "fallback");
	assert_int_equal(number(item(found, "stack", 0), "line"), 3);
	json_decref(e);
}

/* Offered because it was run: fewer graphs, the same values and text. */
static void a_rewrite_is_offered_where_it_holds(void **state)
{
	json_t *e = explain("import torch\ndef model(x):\n    if x.sum() > 0:\n        x = x * 2\n"
			    "    return x + 1\n",
			    INPUTS, NULL, FUSION_LAZY);
	const json_t *found = item(e, "breaks", 0), *gain = json_object_get(found, "rewrite_gain");

	(void)state;
	assert_string_equal(text(found, "kind"), "data-dependent-branch");
	assert_string_equal(
	    text(found, "rewrite"),
	    "import torch\ndef model(x):\n    x = torch.where(x.sum() > 0, x * 2, x)\n"
	    "    return x + 1\n");
	assert_int_equal(json_integer_value(item(gain, "graphs", 0)), 2);
	assert_int_equal(json_integer_value(item(gain, "graphs", 1)), 1);
	assert_int_equal(json_integer_value(item(gain, "breaks", 1)), 0);
	json_decref(e);
}

/* where() would broadcast to the larger side: the result has another shape. */
static void a_rewrite_that_changes_the_result_is_not_offered(void **state)
{
	json_t *e = explain("import torch\ndef model(x):\n    if x.sum() > 1000:\n        y = x\n"
			    "    else:\n        y = x[0] * 2\n    return y\n",
			    INPUTS, NULL, FUSION_LAZY);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(e, "breaks")), 1);
	assert_true(json_is_null(json_object_get(item(e, "breaks", 0), "rewrite")));
	json_decref(e);
}

/* Where there is no time for each, all changes are made at once and run as one. */
static void many_rewrites_are_tried_together(void **state)
{
	struct explain_options options = { .mode = FUSION_STATIC };
	struct buf source;
	const json_t *gain = NULL;

	(void)state;
	buf_init(&source, 0);
	buf_puts(&source, "import torch\ndef model(x):\n");
	for (int i = 0; i < 60; i++)
		buf_printf(&source, "    if x.sum() > 100%d:\n        x = x * 2\n", i);
	buf_puts(&source, "    return x\n");
	for (int i = 0; i < 20 && !gain; i++) { /* by the processor's clock, which varies too */
		int64_t begin = clock_cpu_ns();
		json_t *e = explain_with(source.data, INPUTS, NULL, &options);

		options.rewrites_ms = 10e-6 * (double)(clock_cpu_ns() - begin);
		json_decref(e);
		e = explain_with(source.data, INPUTS, NULL, &options);
		options.rewrites_ms = 0;
		gain = json_object_get(item(e, "breaks", 59), "rewrite_gain");
		if (number(gain, "together") == 60) {
			assert_int_equal(json_integer_value(item(gain, "breaks", 1)), 0);
			assert_int_equal(json_integer_value(item(gain, "graphs", 1)), 1);
			assert_non_null(
			    strstr(text(item(e, "breaks", 59), "rewrite"),
				   "    x = torch.where(x.sum() > 10059, x * 2, x)\n    return"));
			assert_non_null(strstr(text(item(e, "breaks", 59), "rewrite"),
					       "    if x.sum() > 10058:\n"));
		} else {
			gain = NULL;
		}
		if (gain)
			gain = json_true();
		json_decref(e);
	}
	assert_non_null(gain);
	buf_finish(&source);
}

/* An assertion that fails: the entry gives up, and eager raises the error. */
static void an_entry_tells_how_often_it_bailed_out(void **state)
{
	json_t *e = explain(
	    "import torch\ndef model(x):\n    assert x.sum() > 0\n    return x + 1\n",
	    "[[{\"tensor\": {\"shape\": [2], \"data\": [1, 1]}}],"
	    " [{\"tensor\": {\"shape\": [2], \"data\": [1, -3]}}]]",
	    NULL, FUSION_STATIC);
	const json_t *entry = item(item(e, "tree", 0), "entries", 0);

	(void)state;
	assert_string_equal(text(json_object_get(e, "error"), "message"), "AssertionError");
	assert_int_equal(number(entry, "uses"), 2);
	assert_int_equal(number(entry, "bail_outs"), 1);
	json_decref(e);
}

/* A loop of the graph launches its kernels in every round. */
static void rounds_of_a_loop_are_launches(void **state)
{
	const char *source = "import torch\ndef model(x):\n    while x.sum() < 1000:\n"
			     "        x = x * 2\n    return x\n";
	json_t *few = explain(source, "[[{\"tensor\": {\"shape\": [2], \"data\": [400, 1]}}]]",
			      "{\"policy\": \"native\"}", FUSION_STATIC);
	json_t *many = explain(source, "[[{\"tensor\": {\"shape\": [2], \"data\": [1, 1]}}]]",
			       "{\"policy\": \"native\"}", FUSION_STATIC);
	int rounds = number(json_object_get(many, "counts"), "launches") -
		     number(json_object_get(few, "counts"), "launches");

	(void)state;
	assert_int_equal(number(few, "graph_count"), 1);
	assert_true(rounds == 7 || rounds == 14); /* a kernel a round, or two */
	json_decref(few);
	json_decref(many);
}

static struct break_place place_of(const json_t *found)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_break *b = report_read_break(found, &arena, &err);
	struct break_place at = { 0 };

	if (b)
		at = break_place_of(b);
	else
		fail_msg("%s", err.message);
	arena_finish(&arena);
	return at;
}

/* As PyTorch: the graph ends before the block, and the break is there. */
static void a_break_in_a_block_has_the_place_of_the_block(void **state)
{
	json_t *e = explain("import torch\ndef model(x):\n    x = x + 1\n    x = x * 2\n    try:\n"
			    "        x = x - 3\n        print('in')\n    except ValueError:\n"
			    "        pass\n    return x\n",
			    INPUTS, NULL, FUSION_STATIC);
	const json_t *found = item(e, "breaks", 0), *cause = json_object_get(found, "cause");
	struct break_place at = place_of(found);

	(void)state;
	assert_string_equal(text(found, "outcome"), "step");
	assert_int_equal(number(item(found, "stack", 0), "line"), 5);
	assert_int_equal(number(found, "column"), 5);
	assert_int_equal(number(cause, "line"), 7);
	assert_string_equal(text(cause, "function"), "model");
	assert_int_equal(at.line, 7);
	assert_int_equal(at.column, 9);
	assert_int_equal(at.end_column, 20);
	json_decref(e);
}

/* dynamic_dims is mark_dynamic: a symbol from the first compilation on. */
static void marked_dims_are_symbols_at_once(void **state)
{
	const char *calls = "[[{\"random\": {\"shape\": [4, 8], \"dynamic_dims\": [0]}}],"
			    " [{\"random\": {\"shape\": [6, 8], \"dynamic_dims\": [-2]}}]]";
	static const enum fusion_mode modes[] = { FUSION_AUTO, FUSION_STATIC };

	(void)state;
	for (int i = 0; i < 2; i++) {
		json_t *e = explain("import torch\ndef model(x):\n    return torch.sin(x)\n", calls,
				    NULL, modes[i]);
		json_t *pinned = explain("def model(x):\n    for i in range(x.shape[0]):\n"
					 "        x = x + i\n    return x\n",
					 calls, NULL, modes[i]);

		assert_int_equal(number(e, "graph_count"), 1);
		assert_int_equal(number(pinned, "graph_count"), 2);
		assert_string_equal(
		    json_string_value(json_object_get(item(pinned, "guards", 2), "text")),
		    "x.size(0) == 4 (marked dynamic, but the program needs the "
		    "number: a ConstraintViolationError in PyTorch)");
		json_decref(e);
		json_decref(pinned);
	}
}

/* As TorchDynamo, which calls no code that might write; natively none is lost. */
static void logging_and_warnings_end_a_graph(void **state)
{
	const char *source = "import logging, warnings\nlog = logging.getLogger('x')\n"
			     "def model(x):\n    x = x + 1\n    log.info('%s', x.shape)\n"
			     "    x = x * 2\n    warnings.warn('slow')\n    x = x - 1\n"
			     "    logging.error('no')\n    return x / 2\n";
	static const char *const gb[] = { "GB0291", "GB0007", "GB0291" };
	json_t *e = explain(source, INPUTS, NULL, FUSION_AUTO);
	json_t *native = explain(source, INPUTS, "{\"policy\": \"native\"}", FUSION_AUTO);

	(void)state;
	assert_int_equal(number(e, "graph_count"), 4);
	for (size_t i = 0; i < 3; i++) {
		const json_t *found = item(e, "breaks", i);

		assert_string_equal(text(found, "gb"), gb[i]);
		assert_string_equal(text(found, "outcome"), "resume");
		assert_int_equal(place_of(found).line, 5 + 2 * (int)i);
	}
	assert_int_equal(number(native, "graph_count"), 1);
	json_decref(e);
	json_decref(native);
}

/* What compiles again whatever the sizes are is said as such. */
static void a_counter_in_a_guard_is_told_apart_from_sizes(void **state)
{
	json_t *e = explain(
	    "import torch\nimport torch.nn as nn\nclass M(nn.Module):\n"
	    "    def __init__(self):\n        super().__init__()\n        self.n = 0\n"
	    "    def forward(self, x):\n        self.n += 1\n        return x * self.n\n"
	    "model = M()\n",
	    INPUTS, NULL, FUSION_AUTO);
	json_t *plain = explain("import torch\ndef model(x):\n    return x + 1\n", INPUTS, NULL,
				FUSION_AUTO);

	(void)state;
	assert_string_equal(text(item(e, "sizes", 0), "change"), "none");
	assert_string_equal(text(item(e, "sizes", 0), "reason"), "self.n is 1, was 0");
	assert_string_equal(text(item(plain, "sizes", 0), "change"), "4 to 1");
	json_decref(e);
	json_decref(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_graphs_and_ops),
		cmocka_unit_test(other_sizes_are_tried),
		cmocka_unit_test(sizes_of_two_arguments_change_together),
		cmocka_unit_test(an_error_keeps_its_place),
		cmocka_unit_test(a_denied_op_is_a_break_of_the_lowering),
		cmocka_unit_test(a_rewrite_is_offered_where_it_holds),
		cmocka_unit_test(a_rewrite_that_changes_the_result_is_not_offered),
		cmocka_unit_test(many_rewrites_are_tried_together),
		cmocka_unit_test(an_entry_tells_how_often_it_bailed_out),
		cmocka_unit_test(rounds_of_a_loop_are_launches),
		cmocka_unit_test(a_break_in_a_block_has_the_place_of_the_block),
		cmocka_unit_test(marked_dims_are_symbols_at_once),
		cmocka_unit_test(logging_and_warnings_end_a_graph),
		cmocka_unit_test(a_counter_in_a_guard_is_told_apart_from_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
