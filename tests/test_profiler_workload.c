/* tests/test_profiler_workload.c -- what a workload may hold, and how it is
 * refused: each message names the field, and the limit where there is one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fusion/passes/passes.h"
#include "fusion/vm/value.h"
#include "profiler/workload/python_input.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/value_json.h"
#include "profiler/workload/workload.h"

#define MODEL "import torch\\ndef model(x):\\n    return torch.sin(x)\\n"
#define SWEPT "import torch\\ndef model(x):\\n    ...\\n    return x.sum()\\n"
#define INPUT "[[{\"random\": {\"shape\": [2, 3]}}]]"

/* Parses text with ' for "; NULL and *err where it is refused. */
static struct workload *parse(const char *text, struct err *err)
{
	char *json_text = strdup(text);
	json_error_t at;
	json_t *json;
	struct workload *w;

	for (char *c = json_text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(json_text, 0, &at);
	if (!json)
		fail_msg("the test's JSON is wrong: %s", at.text);
	*err = (struct err){ 0 };
	w = workload_parse(json, err);
	json_decref(json);
	free(json_text);
	return w;
}

static void refused(const char *text, enum err_code code, const char *part)
{
	struct err err;
	struct workload *w = parse(text, &err);

	if (w || err.code != code || !strstr(err.message, part))
		fail_msg("%s\ngave %s \"%s\", not %s with \"%s\"", text,
			 w ? "a workload" : err_name(err.code), w ? "" : err.message,
			 err_name(code), part);
}

static void smallest_workload_has_every_mode_and_one_point(void **state)
{
	struct err err;
	struct workload *w = parse("{'source': '" MODEL "', 'calls': " INPUT "}", &err);

	(void)state;
	assert_non_null(w);
	assert_int_equal(w->n_modes, 3); /* eager, static, dynamic */
	assert_int_equal(w->modes[0], FUSION_EAGER);
	assert_int_equal(w->n_points, 1);
	assert_string_equal(workload_name(w), "workload");
	workload_destroy(w);
}

static void unknown_field_is_refused_with_the_nearest_name(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'mods': ['eager']}", ERR_WORKLOAD,
		"'mods' is unknown; did you mean 'modes'?");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'quantum': 1}", ERR_WORKLOAD,
		"'quantum' is unknown; a workload has");
}

static void missing_and_wrong_fields_are_named(void **state)
{
	(void)state;
	refused("[]", ERR_WORKLOAD, "JSON object");
	refused("{'calls': " INPUT "}", ERR_WORKLOAD, "source is missing");
	refused("{'source': 3, 'calls': " INPUT "}", ERR_WORKLOAD, "source must be a string");
	refused("{'source': '" MODEL "'}", ERR_WORKLOAD, "calls must be a list");
	refused("{'source': '" MODEL "', 'calls': [3]}", ERR_WORKLOAD, "calls[0] must be a list");
	refused("{'source': '" MODEL "', 'calls': [[3]]}", ERR_WORKLOAD, "calls[0][0] must be");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'threads': 'two'}", ERR_WORKLOAD,
		"threads must be an integer");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'time': {'static': [1]}}",
		ERR_WORKLOAD, "time.static[0] must be the index of a call");
}

static void what_later_versions_have_is_refused_by_name(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'device': 'tpu'}", ERR_WORKLOAD,
		"device 'tpu' is unknown; there are cpu and cuda");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'device': 'cuda', 'backend': 'cpu'}",
		ERR_WORKLOAD, "backend 'cpu' does not run on device cuda");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'grad': 1}", ERR_WORKLOAD,
		"grad must be true or false");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'policy': 'wild'}", ERR_WORKLOAD,
		"policy 'wild' is unknown; there are dynamo and native");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'autotune': 'hard'}", ERR_WORKLOAD,
		"autotune 'hard' is unknown; there are off, fast and max");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'autotune': 'fast'}", ERR_WORKLOAD,
		"autotune tries kernels of a GPU: leave it out, or take device cuda");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'deny': [3]}", ERR_WORKLOAD,
		"deny[0] must be the name of an op");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'params': {'w': 3}}", ERR_WORKLOAD,
		"params.w must be");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'backend': 'rocm'}", ERR_WORKLOAD,
		"backend 'rocm' is not available");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'autocast': true}", ERR_WORKLOAD,
		"autocast must be a string");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'autocast': 'float32'}", ERR_WORKLOAD,
		"autocast 'float32' is no dtype of torch.autocast; it takes bfloat16, float16");
}

static void a_dtype_of_autocast_is_taken(void **state)
{
	struct err err;
	struct workload *w = parse(
	    "{'source': '" MODEL "', 'calls': " INPUT ", 'autocast': 'torch.float16'}", &err);

	(void)state;
	assert_non_null(w);
	assert_int_equal(w->autocast, DTYPE_F16);
	workload_destroy(w);
}

static void default_values_of_later_fields_are_taken(void **state)
{
	struct err err;
	struct workload *w = parse("{'source': '" MODEL "', 'calls': " INPUT
				   ", 'grad': false, 'autocast': null, 'deny': [], 'params': {}, "
				   "'policy': 'dynamo', 'device': 'cpu', 'backend': null}",
				   &err);

	(void)state;
	assert_non_null(w);
	workload_destroy(w);
}

static void sizes_over_the_limit_are_refused_before_memory_is_taken(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [1000000, 1000000]}}]]}",
		ERR_BOUND, "calls[0][0].random.shape asks for more than 2^31");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [9223372036854775807, "
		"9223372036854775807]}}]]}",
		ERR_BOUND, "2^31");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [1000000000]}}]]}",
		ERR_BOUND, "1 GiB");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [1,1,1,1,1,1,1,1,1]}}]]}",
		ERR_BOUND, "9 dimensions; the limit is 8");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'threads': 100000}", ERR_BOUND,
		"threads is 100000; the limit is 256");
}

static void passes_are_switched_off_by_name(void **state)
{
	const struct pass_list *list = pass_list_default();
	struct err err;
	struct workload *w = parse("{'source': '" MODEL "', 'calls': " INPUT
				   ", 'passes': {'cse': false, 'fuse': false, 'fold': true, "
				   "'decompose': true}}",
				   &err);

	(void)state;
	assert_non_null(w);
	assert_true(w->passes_disabled == ((uint64_t)1 << pass_list_find(list, "cse") |
					   (uint64_t)1 << pass_list_find(list, "fuse")));
	workload_destroy(w);
#define PASSES(text) "{'source': '" MODEL "', 'calls': " INPUT ", 'passes': " text "}"
	refused(PASSES("{'views': false}"), ERR_WORKLOAD,
		"pass views cannot be switched off: pass fuse needs a graph in which every view is "
		"an offset and strides into memory");
	refused(PASSES("{'simplfy': false}"), ERR_WORKLOAD, "did you mean 'simplify'?");
	refused(PASSES("{'simplfy': true}"), ERR_WORKLOAD, "did you mean 'simplify'?");
	refused(PASSES("{'cse': 0}"), ERR_WORKLOAD, "passes.cse must be true or false");
	refused(PASSES("['cse']"), ERR_WORKLOAD, "passes must be an object");
#undef PASSES
}

static void long_source_and_many_calls_are_refused(void **state)
{
	char *source = malloc(WORKLOAD_MAX_SOURCE_BYTES + 2);
	struct err err = { 0 };
	json_t *calls = json_array(), *json;

	(void)state;
	memset(source, '#', WORKLOAD_MAX_SOURCE_BYTES + 1);
	source[WORKLOAD_MAX_SOURCE_BYTES + 1] = '\0';
	json = json_pack("{s:s, s:[[]]}", "source", source, "calls");
	assert_null(workload_parse(json, &err));
	assert_int_equal(err.code, ERR_BOUND);
	assert_non_null(strstr(err.message, "the limit is 1048576"));
	json_decref(json);
	free(source);

	for (int i = 0; i < WORKLOAD_MAX_CALLS + 1; i++)
		json_array_append_new(calls, json_array());
	json = json_pack("{s:s, s:o}", "source", "import torch\n", "calls", calls);
	assert_null(workload_parse(json, &err));
	assert_non_null(strstr(err.message, "calls has 1001 entries; the limit is 1000"));
	json_decref(json);
}

static void values_that_do_not_fit_their_shape_or_dtype_are_refused(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': [[{'tensor': {'shape': [3], 'dtype': 'float32', "
		"'data': [1, 2]}}]]}",
		ERR_WORKLOAD, "calls[0][0].tensor.data has 2 numbers, but its shape holds 3");
	refused("{'source': '" MODEL "', 'calls': [[{'tensor': {'shape': [1], 'dtype': 'int64', "
		"'data': [1.5]}}]]}",
		ERR_WORKLOAD, "data[0] is not a number that int64 can hold");
	refused("{'source': '" MODEL "', 'calls': [[{'tensor': {'shape': [1], 'dtype': 'float8', "
		"'data': [1]}}]]}",
		ERR_WORKLOAD, "'float8' is not available");
	refused("{'source': '" MODEL
		"', 'calls': [[{'random': {'shape': [1], 'kind': 'normal'}}]]}",
		ERR_WORKLOAD, "kind 'normal' is unknown");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [1], 'kind': 'randint', "
		"'low': 5, 'high': 5}}]]}",
		ERR_WORKLOAD, "low (5) must be below high (5)");
	refused("{'source': '" MODEL
		"', 'calls': [[{'random': {'shape': [1], 'dtype': 'int64'}}]]}",
		ERR_WORKLOAD, "use randint");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [1], 'sede': 1}}]]}",
		ERR_WORKLOAD, "unknown field 'sede'");
}

static void nested_values_are_bounded(void **state)
{
	char text[2048] = "{'source': '" MODEL "', 'calls': [[";

	(void)state;
	for (int i = 0; i < SPEC_MAX_DEPTH + 2; i++)
		strcat(text, "{'list': [");
	strcat(text, "{'value': 1}");
	for (int i = 0; i < SPEC_MAX_DEPTH + 2; i++)
		strcat(text, "]}");
	strcat(text, "]]}");
	refused(text, ERR_BOUND, "nested deeper than 16");
}

static void statements_replace_the_dots_at_their_indentation(void **state)
{
	struct err err;
	struct workload *w = parse("{'source': '" SWEPT "', 'calls': " INPUT
				   ", 'sweep': {'statements': {'pool': "
				   "['x = x + 1', 'x = torch.sin(x)'], 'counts': [3, 1]}}}",
				   &err);

	(void)state;
	if (!w)
		fail_msg("%s", err.message);
	assert_int_equal(w->n_points, 2);
	assert_int_equal(w->points[0].n, 1);
	assert_string_equal(w->points[0].source,
			    "import torch\ndef model(x):\n    x = x + 1\n    return x.sum()\n");
	assert_string_equal(w->points[1].source,
			    "import torch\ndef model(x):\n    x = x + 1\n    x = torch.sin(x)\n"
			    "    x = x + 1\n    return x.sum()\n");
	workload_destroy(w);
}

static void fault_in_the_pool_names_the_pool_line(void **state)
{
	struct err err;
	struct workload *w = parse("{'source': '" SWEPT "', 'calls': " INPUT
				   ", 'sweep': {'statements': {'pool': "
				   "['x = x + 1', 'x = torch.sinn(x)'], 'counts': [1, 2]}}}",
				   &err);

	(void)state;
	assert_null(w);
	assert_int_equal(err.code, ERR_NAME);
	assert_int_equal(err.line, 3);
	assert_non_null(strstr(err.message, "pool line 2"));
}

static void fault_after_the_dots_keeps_its_line_in_the_posted_source(void **state)
{
	struct err err;
	struct workload *w = parse(
	    "{'source': 'import torch\\ndef model(x):\\n    ...\\n    return "
	    "torch.summ(x)\\n', 'calls': " INPUT ", 'sweep': {'statements': {'pool': "
	    "['x = x + 1'], 'counts': [30]}}}",
	    &err);

	(void)state;
	assert_null(w);
	assert_int_equal(err.line, 4);
	assert_null(strstr(err.message, "pool"));
}

static void sweeps_that_cannot_be_are_refused(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'sweep': {'statements': {'pool': "
		"['x = x'], 'counts': [1]}}}",
		ERR_WORKLOAD, "source has none");
	refused("{'source': '" SWEPT "', 'calls': " INPUT ", 'sweep': {'statements': {'pool': [], "
		"'counts': [1]}}}",
		ERR_WORKLOAD, "pool must be a list");
	refused("{'source': '" SWEPT "', 'calls': " INPUT ", 'sweep': {'statements': {'pool': "
		"['x = x'], 'counts': [1, 1]}}}",
		ERR_WORKLOAD, "holds 1 twice");
	refused("{'source': '" SWEPT "', 'calls': " INPUT ", 'sweep': {'statements': {'pool': "
		"['x = x'], 'counts': [20000]}}}",
		ERR_BOUND, "limit is 10000");
	refused("{'source': '" MODEL "', 'calls': " INPUT
		", 'sweep': {'input': {'arg': 1, 'dim': 0, "
		"'sizes': [4]}}}",
		ERR_WORKLOAD, "sweep.input.arg is 1, but calls[0] has 1 argument");
	refused("{'source': '" MODEL "', 'calls': " INPUT
		", 'sweep': {'input': {'arg': 0, 'dim': 5, "
		"'sizes': [4]}}}",
		ERR_WORKLOAD, "sweep.input.dim is 5");
	refused("{'source': '" MODEL "', 'calls': " INPUT
		", 'sweep': {'input': {'arg': 0, 'dim': 0, "
		"'sizes': [1, 2000000000]}}}",
		ERR_BOUND, "calls[0][0].random.shape");
	refused("{'source': '" MODEL "', 'calls': " INPUT ", 'sweep': {'sizes': [1]}}",
		ERR_WORKLOAD, "sweep must have one of");
}

static void input_sweep_changes_one_size_and_repeats_given_numbers(void **state)
{
	struct err err;
	struct workload *w = parse("{'source': '" MODEL
				   "', 'calls': [[{'tensor': {'shape': [2, 2], "
				   "'dtype': 'int64', 'data': [1, 2, 3, 4]}}]], 'sweep': {'input': "
				   "{'arg': 0, 'dim': 0, 'sizes': [1, 3]}}}",
				   &err);
	struct allocator *a = allocator_create(1 << 20, NULL);
	json_t *calls;
	struct value v;

	(void)state;
	assert_non_null(w);
	calls = workload_calls(w, &w->points[1], &err);
	v = value_from_json(json_array_get(json_array_get(calls, 0), 0), a, &err);
	assert_int_equal(v.tensor->memory->size[0], 3);
	for (int i = 0; i < 6; i++)
		assert_int_equal(tensor_get_int(v.tensor->memory, i), i % 4 + 1);
	value_unref(v);
	json_decref(calls);
	allocator_destroy(a);
	workload_destroy(w);
}

/* A value through JSON and back is the same text. */
static void round_trip(struct allocator *a, const char *text)
{
	json_error_t at;
	struct err err = { 0 };
	json_t *in = json_loads(text, 0, &at), *out;
	struct value v;
	char *got;

	v = value_from_json(in, a, &err);
	assert_int_not_equal(v.kind, VALUE_UNSET);
	out = value_to_json(v, false);
	got = json_dumps(out, 0);
	assert_string_equal(got, text);
	free(got);
	value_unref(v);
	json_decref(in);
	json_decref(out);
}

static void values_survive_a_round_trip_through_json(void **state)
{
	struct allocator *a = allocator_create(1 << 20, NULL);

	(void)state;
	round_trip(a, "{\"tensor\": {\"shape\": [2, 2], \"dtype\": \"float32\", \"data\": [1.5, "
		      "\"nan\", \"inf\", \"-inf\"]}}");
	round_trip(a,
		   "{\"tensor\": {\"shape\": [2], \"dtype\": \"bool\", \"data\": [true, false]}}");
	round_trip(a, "{\"tensor\": {\"shape\": [], \"dtype\": \"int64\", \"data\": [-7]}}");
	round_trip(a, "{\"tensor\": {\"shape\": [0, 3], \"dtype\": \"float64\", \"data\": []}}");
	round_trip(a, "{\"tuple\": [{\"value\": null}, {\"list\": [{\"value\": true}, {\"value\": "
		      "3}]}, {\"dict\": {\"k\": {\"value\": \"text\"}}}, {\"value\": 2.5}]}");
	allocator_destroy(a);
}

static void large_tensor_is_summed_up(void **state)
{
	struct allocator *a = allocator_create(1 << 20, NULL);
	struct err err = { 0 };
	json_t *spec = json_pack("{s:{s:[i], s:s}}", "random", "shape", 5000, "kind", "ones"), *out;
	struct value v = value_from_json(spec, a, &err);
	const json_t *fields;

	(void)state;
	out = value_to_json(v, false);
	fields = json_object_get(out, "tensor");
	assert_null(json_object_get(fields, "data"));
	assert_true(json_number_value(json_object_get(fields, "sum")) == 5000);
	assert_non_null(json_object_get(fields, "hash"));
	json_decref(out);
	out = value_to_json(v, true);
	assert_int_equal(json_array_size(json_object_get(json_object_get(out, "tensor"), "data")),
			 5000);
	json_decref(out);
	value_unref(v);
	json_decref(spec);
	allocator_destroy(a);
}

static void python_inputs_become_values(void **state)
{
	static const char *const inputs[] = { "x=float32[8,16]", "i=int64[]", "s=3.5",        "n=4",
					      "b=True",          "o=None",    "k=int64[4]<50" };
	struct err err = { 0 };
	json_t *json = workload_from_python("m", "def model(x, i, s, n, b, o, k): pass\n", NULL,
					    inputs, 7, &err);
	const json_t *args = json_array_get(json_object_get(json, "calls"), 0);

	(void)state;
	assert_non_null(json);
	assert_int_equal(json_array_size(args), 7);
	for (size_t i = 1; i <= 6; i += 5)
		assert_int_equal(json_integer_value(json_object_get(
				     json_object_get(json_array_get(args, i), "random"), "high")),
				 i == 1 ? 10 : 50);
	assert_int_equal(json_array_size(json_object_get(
			     json_object_get(json_array_get(args, 0), "random"), "shape")),
			 2);
	assert_true(json_real_value(json_object_get(json_array_get(args, 2), "value")) == 3.5);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(args, 3), "value")), 4);
	assert_true(json_is_true(json_object_get(json_array_get(args, 4), "value")));
	json_decref(json);
}

/* The calls as text with ' for ". */
static char *calls_text(const json_t *json)
{
	char *text = json_dumps(json_object_get(json, "calls"), JSON_COMPACT | JSON_SORT_KEYS);

	for (char *c = text; c && *c; c++)
		*c = *c == '"' ? '\'' : *c;
	return text;
}

static void an_input_may_be_an_expression(void **state)
{
	static const char *const inputs[] = { "a=torch.randint(0, 50257, (8, 1024))",
					      "b= {'k': [1]}", "c=bool[2]" };
	static const char want[] = "[[{'python':'torch.randint(0, 50257, (8, 1024))'},{'python':' "
				   "{'k': [1]}'},{'random':{'dtype':'bool','high':2,'kind':"
				   "'randint','seed':2,'shape':[2]}}]]";
	struct err err = { 0 };
	json_t *json = workload_from_python("m", "", NULL, inputs, 3, &err);
	char *text = json ? calls_text(json) : NULL;

	(void)state;
	if (!text)
		fail_msg("%s", err.message);
	assert_string_equal(text, want);
	free(text);
	json_decref(json);
}

static void python_inputs_that_make_no_sense_are_refused(void **state)
{
	static const char *const bad[] = { "x",
					   "x=",
					   "=3",
					   "x y=3",
					   "x=float32[8",
					   "x=float99[8]",
					   "x=float32[8]]",
					   "x=float32[-1]",
					   "x=int64[4]<",
					   "x=int64[4]<0",
					   "x=int64[4]<5x",
					   "x=bool[4]<5",
					   "x=float32[4]<5",
					   "x=float32[8 8]" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { 0 };

		assert_null(workload_from_python("m", "", NULL, &bad[i], 1, &err));
		if (!strstr(err.message, bad[i]))
			fail_msg("%s: %s", bad[i], err.message);
	}
}

static void an_input_says_where_it_is_wrong(void **state)
{
	static const char *const bad[] = { "x=float33[8]" }, *const below[] = { "x=int64[4]<x" };
	struct err err = { 0 };

	(void)state;
	assert_null(workload_from_python("m", "", NULL, bad, 1, &err));
	assert_string_equal(err.message, "--input 'x=float33[8]', column 3: 'float33' is no dtype; "
					 "did you mean float32?");
	assert_null(workload_from_python("m", "", NULL, below, 1, &err));
	assert_string_equal(
	    err.message, "--input 'x=int64[4]<x', column 12: after < comes a whole number from 1 "
			 "on; write a dtype with a shape, as float32[8, 16] or int64[4]<50");
}

static void what_is_no_shape_and_no_number_is_an_expression(void **state)
{
	static const char *const texts[] = {
		"x", "nan", "[3]", "float32", "int64(4)", "1 + 2", "-x"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err err = { 0 };
		json_t *spec = NULL;

		assert_true(input_plain(texts[i], 0, "here", &spec, &err));
		assert_null(spec);
	}
}

static void calls_are(const char *entry, const char *const *inputs, int n, const char *want)
{
	static const char source[] = "class Net:\n    def forward(self, a, *, k=1): pass\n"
				     "def model(a, b): pass\ndef other(*all): pass\n";
	struct err err = { 0 };
	json_t *json = workload_from_python("m", source, entry, inputs, n, &err);
	char *text = json ? calls_text(json) : strdup(err.message);

	assert_string_equal(text, want);
	free(text);
	json_decref(json);
}

static void python_inputs_go_by_the_names_of_the_parameters(void **state)
{
	static const char *const swapped[] = { "b=1", "a=2" }, *const most[] = { "a=1", "b=2" },
				 *const wrong[] = { "a=1", "bb=2" },
				 *const twice[] = { "a=1", "a=2" },
				 *const named[] = { "a=1", "k=2" };

	(void)state;
	calls_are(NULL, most, 2, "[[{'value':1},{'value':2}]]");
	calls_are("model", swapped, 2, "[{'args':[],'kwargs':{'a':{'value':2},'b':{'value':1}}}]");
	calls_are("other", most, 2, "[[{'value':1},{'value':2}]]");
	calls_are("Net", named, 2, "[{'args':[{'value':1}],'kwargs':{'k':{'value':2}}}]");
	calls_are("model", wrong, 2, "--input 'bb=2': model() has no parameter 'bb'; it has a, b");
	calls_are("model", twice, 2, "the input 'a=2' gives a a second time");
}

static void add_message(void *self, const struct err *problem, bool certain)
{
	struct buf *all = self;

	if (certain)
		buf_printf(all, "%s:%d:%d %.30s\n", problem->file, problem->line, problem->column,
			   problem->message);
}

static void all_that_is_wrong_is_said_at_once(void **state)
{
	static const char text[] =
	    "{\"nmae\": \"x\", \"modes\": [\"eager\", \"fast\"], \"threads\": -1, \"source\": "
	    "\"import torch\\ndef model(x):\\n    y = torch.sinn(x)\\n    return nothing(y)\\n\", "
	    "\"calls\": [[{\"python\": \"torch.rand(2\"}, {\"python\": \"float33[2]\"}, "
	    "{\"list\": [{\"python\": \"nobody\"}]}, {\"random\": {\"shape\": [-1]}}]]}";
	static const char want[] = ":0:0 the field 'nmae' is unknown; d\n"
				   ":0:0 threads must be an integer >= \n"
				   ":0:0 modes[1] 'fast' is not availab\n"
				   "calls[0][1]:1:1 'float33' is no dtype; did you\n"
				   ":3:9 torch has no attribute sinn; d\n"
				   ":4:12 name 'nothing' is not defined\n"
				   ":0:0 calls[0][3].random.shape[0] mu\n"
				   "calls[0][0]:1:11 the '(' that opens here is nev\n"
				   "calls[0][2].0:1:1 name 'nobody' is not defined\n";
	json_t *json = json_loads(text, 0, NULL);
	struct buf all;

	(void)state;
	assert_non_null(json);
	buf_init(&all, 1 << 16);
	workload_problems(json, NULL, add_message, &all);
	assert_string_equal(all.data, want);
	buf_finish(&all);
	json_decref(json);
}

static void names_of_an_expression_are_the_programs(void **state)
{
	(void)state;
	refused("{'source': '" MODEL "', 'calls': [[{'python': 'tensr(2)'}]]}", ERR_NAME,
		"name 'tensr' is not defined");
	refused("{'source': '" MODEL "', 'calls': [[{'python': 'x = 2'}]]}", ERR_SYNTAX,
		"this is no expression");
	refused("{'source': '" MODEL "', 'calls': [[{'python': 'torch.zeros(n)'}]]}", ERR_NAME,
		"name 'n' is not defined");
	refused("{'source': '" MODEL "', 'calls': [[{'python': 'torch.zeros(n)'}]], 'sweep': "
		"{'input': {'arg': 0, 'sizes': [2]}}}",
		ERR_WORKLOAD, "leave arg and dim out");
	refused("{'source': '" MODEL "', 'calls': [[{'python': 'torch.zeros(3)'}]], 'sweep': "
		"{'input': {'sizes': [2]}}}",
		ERR_WORKLOAD, "write n in it where its size goes");
	refused("{'source': '" MODEL "', 'calls': [{'args': [], 'kwarg': {}}]}", ERR_WORKLOAD,
		"calls[0] has an unknown field 'kwarg'");
	refused("{'source': '" MODEL "', 'calls': [[{'random': {'shape': [2], 'dtype': 'int64', "
		"'kind': 'randint', 'requires_grad': true}}]]}",
		ERR_WORKLOAD, "can require gradients");
}

/* Whether Python compiles the script; skipped where there is no Python. */
static bool python_accepts(const char *script)
{
	char path[] = "/tmp/breakeven_script_XXXXXX", command[128];
	int fd = mkstemp(path), status;
	size_t len = strlen(script);

	assert_true(fd >= 0 && write(fd, script, len) == (ssize_t)len);
	close(fd);
	snprintf(command, sizeof(command),
		 "python3 -c 'compile(open(\"%s\").read(), \"s\", \"exec\")'", path);
	status = system(command); /* NOLINT: a fixed command */
	unlink(path);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void torch_script_is_python_whatever_the_source_quotes(void **state)
{
	struct err err;
	struct workload *w = parse(
	    "{'name': 'a name', 'source': 'import torch\\n# \\\"\\\"\\\" \\\\\\\\ it\\u0027s "
	    "\\u00e9\\ndef model(x):\\n    return torch.sin(x)\\n', 'calls': " INPUT
	    ", 'tags': ['it\\u0027\\u0027\\u0027s', '\\\"\\\"\\\"']}",
	    &err);
	char *script;

	(void)state;
	if (system("python3 -c pass") != 0) /* NOLINT */
		skip();
	if (!w)
		fail_msg("%s", err.message);
	script = workload_torch_script(w, &err);
	assert_non_null(script);
	assert_non_null(strstr(script, "torch.compile("));
	assert_null(strstr(script, "{{experiment}}"));
	assert_true(python_accepts(script));
	free(script);
	workload_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_workload_has_every_mode_and_one_point),
		cmocka_unit_test(unknown_field_is_refused_with_the_nearest_name),
		cmocka_unit_test(missing_and_wrong_fields_are_named),
		cmocka_unit_test(what_later_versions_have_is_refused_by_name),
		cmocka_unit_test(a_dtype_of_autocast_is_taken),
		cmocka_unit_test(default_values_of_later_fields_are_taken),
		cmocka_unit_test(sizes_over_the_limit_are_refused_before_memory_is_taken),
		cmocka_unit_test(passes_are_switched_off_by_name),
		cmocka_unit_test(long_source_and_many_calls_are_refused),
		cmocka_unit_test(values_that_do_not_fit_their_shape_or_dtype_are_refused),
		cmocka_unit_test(nested_values_are_bounded),
		cmocka_unit_test(statements_replace_the_dots_at_their_indentation),
		cmocka_unit_test(fault_in_the_pool_names_the_pool_line),
		cmocka_unit_test(fault_after_the_dots_keeps_its_line_in_the_posted_source),
		cmocka_unit_test(sweeps_that_cannot_be_are_refused),
		cmocka_unit_test(input_sweep_changes_one_size_and_repeats_given_numbers),
		cmocka_unit_test(values_survive_a_round_trip_through_json),
		cmocka_unit_test(large_tensor_is_summed_up),
		cmocka_unit_test(python_inputs_become_values),
		cmocka_unit_test(an_input_may_be_an_expression),
		cmocka_unit_test(an_input_says_where_it_is_wrong),
		cmocka_unit_test(what_is_no_shape_and_no_number_is_an_expression),
		cmocka_unit_test(all_that_is_wrong_is_said_at_once),
		cmocka_unit_test(names_of_an_expression_are_the_programs),
		cmocka_unit_test(python_inputs_that_make_no_sense_are_refused),
		cmocka_unit_test(python_inputs_go_by_the_names_of_the_parameters),
		cmocka_unit_test(torch_script_is_python_whatever_the_source_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
