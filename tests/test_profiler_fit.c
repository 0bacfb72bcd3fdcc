/* tests/test_profiler_fit.c -- inputs that are found by calling a program with others until it
 * runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/profiler.h"
#include "profiler/run/fit.h"

#define TORCH "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

/* "x=float32[8,16] w=..." of the first proposal that has run; "" where there is none. */
static char *fitted(json_t *workload, const json_t *free_names)
{
	json_t *list = profiler_proposals(workload, free_names, NULL, 600000), *input;
	json_t *first = json_array_get(list, 0);
	struct buf out;
	size_t i;

	buf_init(&out, 0);
	buf_puts(&out, "");
	if (json_is_true(json_object_get(first, "runs")))
		json_array_foreach(json_object_get(first, "inputs"), i, input)
		    buf_printf(&out, "%s%s=%s", i ? " " : "",
			       json_string_value(json_object_get(input, "name")),
			       json_string_value(json_object_get(input, "text")));
	json_decref(list);
	return buf_steal(&out);
}

struct fit_case {
	const char *source, *want;
};

static void check(const struct fit_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_t *workload = json_pack("{s:s, s:s}", "source", cases[i].source, "entry", "f");
		char *said = fitted(workload, NULL);

		if (strcmp(said, cases[i].want) != 0)
			print_error("%s\n", cases[i].source);
		assert_string_equal(said, cases[i].want);
		free(said);
		json_decref(workload);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

/* No layer, name or annotation says it: a weight of a list, an assertion, an index. */
static void failures_say_sizes(void **state)
{
	static const struct fit_case cases[] = {
		{ TORCH "w = [torch.randn(24, 3)]\ndef f(x):\n    return torch.relu(x) @ w[0]\n",
		  "x=float32[8,24]" },
		{ TORCH "def f(x):\n    assert x.dim() == 3\n    return x * 2\n",
		  "x=float32[4,8,16]" },
		{ TORCH "net = nn.Sequential(nn.Linear(33, 7), nn.Linear(7, 2))\n"
			"def f(x):\n    return net(x).log_softmax(-1)\n",
		  "x=float32[8,33]" },
		{ TORCH "def f(x):\n    b, h, t, d = x.size()\n    return x.view(b, h * t, d)\n",
		  "x=float32[2,32,16,64]" },
		{ TORCH "def f(a, b):\n    return a @ b\n", "a=float32[8,16] b=float32[16,16]" },
	};

	(void)state;
	CHECK(cases);
}

/* No number of the message is the size: what is needed follows from what it grows with. */
static void sizes_are_solved_for(void **state)
{
	static const struct fit_case cases[] = {
		{ TORCH "c = nn.Conv2d(2, 4, 3)\nl = nn.Linear(4 * 7 * 7, 5)\n"
			"def f(x):\n    y = F.max_pool2d(c(x), 2)\n    return l(y.flatten(1))\n",
		  "x=float32[2,2,16,16]" },
		{ TORCH "l = nn.Linear(60, 5)\n"
			"def f(x):\n    return l(torch.cat([x, x, x], dim=1))\n",
		  "x=float32[8,20]" },
	};

	(void)state;
	CHECK(cases);
}

static void failures_say_types(void **state)
{
	static const struct fit_case cases[] = {
		{ TORCH "e = nn.Embedding(6, 4)\ndef f(words):\n    z = words\n    return e(z)\n",
		  "words=int64[8,16]<6" },
		{ TORCH "def f(x, times):\n    for i in range(times):\n        x = x + 1\n"
			"    return x\n",
		  "x=float32[8,16] times=2" },
		{ TORCH "def f(x, m):\n    return torch.where(m, x, 0.0)\n",
		  "x=float32[8,16] m=bool[8,16]" },
	};

	(void)state;
	CHECK(cases);
}

/* What holds for the numbers of one seed by chance is not proposed. */
static void chance_is_no_fit(void **state)
{
	static const struct fit_case cases[] = {
		{ TORCH "def f(x):\n    return x[x[:, 0] > 0].sum(1) + torch.zeros(5)\n", "" },
		{ TORCH "def f(x):\n    return undefined_name(x)\n", "" },
		{ TORCH "def f(x):\n    raise ValueError('never')\n", "" },
	};

	(void)state;
	CHECK(cases);
}

/* What somebody typed stays, and the others follow it. */
static void typed_inputs_stay(void **state)
{
	json_t *workload = json_pack("{s:s, s:s, s:[[{s:{s:[ii]}}, {s:{s:[ii]}}]]}", "source",
				     TORCH "def f(x, w):\n    return x @ w\n", "entry", "f",
				     "calls", "random", "shape", 3, 11, "random", "shape", 8, 16);
	json_t *names = json_pack("[s]", "w"), *none = json_array(), *list;
	char *said = fitted(workload, names);

	(void)state;
	assert_string_equal(said, "w=float32[11,16]");
	free(said);
	list = profiler_proposals(workload, names, NULL, 600000);
	assert_int_equal(
	    3, json_integer_value(json_array_get(
		   json_object_get(
		       json_object_get(
			   json_array_get(
			       json_array_get(json_object_get(json_array_get(list, 0), "calls"), 0),
			       0),
			   "random"),
		       "shape"),
		   0)));
	said = fitted(workload, none);
	assert_string_equal(said, "");
	free(said);
	json_decref(list);
	json_decref(none);
	json_decref(names);
	json_decref(workload);
}

static void each_change_has_its_failure(void **state)
{
	json_t *workload = json_pack(
	    "{s:s, s:s}", "source",
	    TORCH "w = [torch.randn(24, 3)]\ndef f(x):\n    return x @ w[0]\n", "entry", "f");
	json_t *list = profiler_proposals(workload, NULL, NULL, 600000);
	json_t *input = json_array_get(json_object_get(json_array_get(list, 0), "inputs"), 0);
	const char *why = json_string_value(json_object_get(input, "because"));

	(void)state;
	assert_non_null(why);
	assert_non_null(strstr(why, "with float32[8,16] line 6 fails: matmul: sizes [8, 16] and "
				    "[24, 3] do not fit together"));
	json_decref(list);
	json_decref(workload);
}

static void an_input_goes_to_a_spec_and_back(void **state)
{
	json_t *spec = json_pack("{s:{s:[ii], s:s, s:s, s:i, s:i}}", "random", "shape", 4, 5,
				 "dtype", "int64", "kind", "randint", "high", 9, "seed", 3);
	struct fit_input in = fit_input_from(spec);
	json_t *back = fit_input_spec(&in, 3);
	struct buf text;

	(void)state;
	assert_true(json_equal(spec, back));
	json_decref(back);
	in.dtype = DTYPE_F32;
	in.rank = 1;
	back = fit_input_spec(&in, 3);
	buf_init(&text, 0);
	fit_input_text(&in, &text);
	assert_string_equal(text.data, "float32[4]");
	assert_string_equal(
	    "randn", json_string_value(json_object_get(json_object_get(back, "random"), "kind")));
	assert_null(json_object_get(json_object_get(back, "random"), "high"));
	buf_finish(&text);
	json_decref(back);
	json_decref(spec);
}

static void a_try_says_how_far_the_call_came(void **state)
{
	json_t *workload = json_pack("{s:s, s:s, s:s, s:[[{s:{s:[ii]}}]]}", "name", "f", "source",
				     TORCH "def f(x):\n    y = x.sin().cos()\n    return y @ y\n",
				     "entry", "f", "calls", "random", "shape", 2, 3);
	struct err err = { 0 };
	struct workload *w = workload_parse(workload, &err);
	struct fit_program program;
	struct fit_state s = { .parent = -1 };

	(void)state;
	assert_non_null(w);
	assert_true(fit_open(&program, w, &err));
	assert_string_equal(program.names[0], "x");
	s.at[0] = fit_input_from(
	    json_array_get(json_array_get(json_object_get(workload, "calls"), 0), 0));
	fit_try(&program, 0, &s);
	assert_false(s.ok);
	assert_true(s.ops >= 2);
	assert_int_equal(s.err.line, 6);
	fit_close(&program);
	workload_destroy(w);
	json_decref(workload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_say_sizes),
		cmocka_unit_test(sizes_are_solved_for),
		cmocka_unit_test(failures_say_types),
		cmocka_unit_test(chance_is_no_fit),
		cmocka_unit_test(typed_inputs_stay),
		cmocka_unit_test(each_change_has_its_failure),
		cmocka_unit_test(an_input_goes_to_a_spec_and_back),
		cmocka_unit_test(a_try_says_how_far_the_call_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
