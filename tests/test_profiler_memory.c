/* tests/test_profiler_memory.c -- what a report says of tensor memory over a call. */
#include "profiler/measure/memory.h"
#include "tests/report_help.h"

static json_t *run_source(const char *source, json_t *calls, const char *modes)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:o, s:s, s:o, s:f}", "name", "memory", "threads",
				 1, "backend", "interp", "modes", load(modes), "source", source,
				 "calls", calls, "seconds", 0.2);

	return run_whole(json, true);
}

static json_t *floats(int rows, int columns)
{
	return json_pack("{s:{s:[i, i], s:i}}", "random", "shape", rows, columns, "seed", 1);
}

static int64_t whole(const json_t *memory, const char *path)
{
	json_t *value = at(memory, path);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

/* What holds of any call: rows, curve and totals tell one story. */
static void check_sums(const json_t *memory)
{
	const json_t *bytes = at(memory, "curve.bytes"), *at_us = at(memory, "curve.at_us");
	int64_t held = whole(memory, "held_bytes"), high = held, listed = 0;
	int64_t peak = whole(memory, "held_at_peak_bytes");
	double last = 0;
	const json_t *t;
	size_t i;

	json_array_foreach(at(memory, "tensors"), i, t)
	{
		const json_t *to = json_object_get(t, "to_us");

		if (json_is_true(json_object_get(t, "at_peak")))
			peak += whole(t, "bytes");
		assert_true(json_is_null(to) || number(t, "from_us") <= json_number_value(to));
	}
	assert_int_equal(peak + whole(memory, "left_out.peak_bytes"), whole(memory, "peak_bytes"));
	json_array_foreach(bytes, i, t)
	{
		double now = json_number_value(json_array_get(at_us, i));

		assert_true(now >= last);
		last = now;
		high = json_integer_value(t) > high ? json_integer_value(t) : high;
	}
	assert_int_equal(json_array_size(bytes), json_array_size(at_us));
	assert_true(json_array_size(bytes) <= MEMORY_MAX_STEPS);
	assert_int_equal(high, whole(memory, "peak_bytes"));
	assert_true(number(memory, "peak_us") <= number(memory, "duration_us"));
	json_array_foreach(at(memory, "held"), i, t) listed += whole(t, "bytes");
	assert_int_equal(
	    listed + whole(memory, "other_inputs_bytes") + whole(memory, "other_bytes"), held);
}

static void eager_holds_what_fusion_never_makes(void **state)
{
	json_t *report = run_source("import torch\n"
				    "def model(x):\n"
				    "    y = torch.sin(x)\n"
				    "    return torch.cos(y) * y\n",
				    json_pack("[[o]]", floats(64, 64)), "['eager', 'static']"),
	       *eager = at(report, "modes.eager.memory"),
	       *compiled = at(report, "modes.static.memory");

	(void)state;
	check_sums(eager);
	check_sums(compiled);
	assert_int_equal(whole(eager, "held_bytes"), 64 * 64 * 4);
	assert_int_equal(whole(eager, "held_at_peak_bytes"), 64 * 64 * 4);
	assert_int_equal(whole(eager, "peak_bytes"), 4 * 64 * 64 * 4); /* x, y, cos and result */
	assert_int_equal(whole(compiled, "peak_bytes"), 2 * 64 * 64 * 4);
	assert_int_equal(json_array_size(at(eager, "tensors")), 3);
	assert_string_equal(json_string_value(at(eager, "tensors.1.op")), "cos");
	assert_int_equal(whole(eager, "tensors.1.line"), 4);
	assert_true(json_is_null(at(eager, "tensors.1.graph")));
	assert_true(json_is_number(at(eager, "tensors.1.to_us")));
	assert_true(json_is_null(at(eager, "tensors.2.to_us"))); /* it is the output */
	assert_int_equal(whole(compiled, "tensors.0.graph"), 0);
	assert_int_equal(whole(compiled, "tensors.0.line"), 4);
	assert_string_equal(json_string_value(at(compiled, "held.0.name")), "x");
	assert_string_equal(json_string_value(at(compiled, "held.0.kind")), "input");
	json_decref(report);
}

static void the_call_with_the_highest_peak_is_shown(void **state)
{
	json_t *report = run_source(
		   "def model(x):\n    return x + 1\n",
		   json_pack("[[o], [o], [o]]", floats(4, 4), floats(32, 32), floats(8, 8)),
		   "['eager']"),
	       *memory = at(report, "modes.eager.memory");

	(void)state;
	check_sums(memory);
	assert_int_equal(whole(memory, "call"), 1);
	assert_int_equal(whole(memory, "other_inputs_bytes"), (16 + 64) * 4);
	json_decref(report);
}

static void what_a_program_keeps_has_its_name(void **state)
{
	json_t *report = run_source(
	    "import torch\n"
	    "net = torch.nn.Linear(16, 8)\n"
	    "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
	    "def model(x):\n"
	    "    opt.zero_grad()\n"
	    "    loss = net(x).sum()\n"
	    "    loss.backward()\n"
	    "    opt.step()\n"
	    "    return loss\n",
	    json_pack("[[o]]", floats(4, 16)), "['eager', 'static']");
	const json_t *memory = at(report, "modes.static.memory"), *row;
	int parameters = 0, gradients = 0, states = 0;
	size_t i;

	(void)state;
	check_sums(at(report, "modes.eager.memory"));
	check_sums(memory);
	json_array_foreach(at(memory, "held"), i, row)
	{
		const char *kind = json_string_value(json_object_get(row, "kind"));
		const char *name = json_string_value(json_object_get(row, "name"));

		parameters += strcmp(kind, "parameter") == 0 && strncmp(name, "net.", 4) == 0;
		gradients += strcmp(kind, "gradient") == 0 && strncmp(name, "net.", 4) == 0;
		states += strcmp(kind, "state") == 0 && strncmp(name, "opt.", 4) == 0;
	}
	/* the gradients of the call before are dropped when it begins */
	assert_int_equal(whole(memory, "held_at_peak_bytes"),
			 whole(memory, "held_bytes") - (16 * 8 + 8) * 4);
	assert_int_equal(parameters, 2);
	assert_int_equal(gradients, 2);
	assert_int_equal(states, 2);
	json_decref(report);
}

static void rows_and_curve_are_bounded(void **state)
{
	json_t *report = run_source("def model(x):\n"
				    "    kept = [x]\n"
				    "    for i in range(400):\n"
				    "        kept.append(kept[-1] + 1)\n"
				    "    for i in range(400):\n"
				    "        x = x * 2\n"
				    "    return x + kept[-1]\n",
				    json_pack("[[o]]", floats(4, 4)), "['eager']"),
	       *memory = at(report, "modes.eager.memory");

	(void)state;
	check_sums(memory);
	assert_true(whole(memory, "events") > MEMORY_MAX_STEPS);
	assert_int_equal(json_array_size(at(memory, "tensors")), MEMORY_MOST_ROWS);
	assert_int_equal(whole(memory, "left_out.tensors"), 801 - MEMORY_MOST_ROWS);
	assert_int_equal(whole(memory, "left_out.bytes"), 64 * (801 - MEMORY_MOST_ROWS));
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eager_holds_what_fusion_never_makes),
		cmocka_unit_test(the_call_with_the_highest_peak_is_shown),
		cmocka_unit_test(what_a_program_keeps_has_its_name),
		cmocka_unit_test(rows_and_curve_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
