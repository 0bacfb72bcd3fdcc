/* tests/test_profiler_roofline.c -- operations and bytes of kernels, and what they achieve. */
#include "profiler/roofline/copy_curve.h"
#include "tests/report_help.h"

static json_t *run_source(const char *source, json_t *calls, const char *mode)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:[s], s:s, s:o}", "name", "kernels", "threads",
				 1, "backend", "interp", "modes", mode, "source", source, "calls",
				 calls);

	return run_whole(json, true);
}

static json_t *floats(int rows, int columns)
{
	return json_pack("{s:{s:[i, i], s:i}}", "random", "shape", rows, columns, "seed", 1);
}

static const json_t *kernels_of(const json_t *report, const char *mode)
{
	const json_t *m = json_object_get(json_object_get(report, "modes"), mode);

	return json_object_get(json_array_get(json_object_get(m, "graphs"), 0), "kernel_details");
}

/* The operations of all kernels of a function of x [8, 16] and w [16, 32]; -1: unknown. */
static int64_t operations_of(const char *body)
{
	char source[512];
	json_t *report;
	const json_t *kernels;
	int64_t total = 0;

	snprintf(source, sizeof(source), "import torch\ndef model(x, w):\n    return %s\n", body);
	report = run_source(source, json_pack("[[o, o]]", floats(8, 16), floats(16, 32)), "static");
	kernels = kernels_of(report, "static");
	for (size_t i = 0; i < json_array_size(kernels); i++) {
		const json_t *n = json_object_get(json_array_get(kernels, i), "operations");

		if (json_is_null(n)) {
			total = -1;
			break;
		}
		assert_true(json_is_integer(n));
		total += json_integer_value(n);
	}
	json_decref(report);
	return total;
}

static void operations_are_those_of_the_graph(void **state)
{
	(void)state;
	assert_int_equal(operations_of("torch.sin(x) * 2"), 2 * 128);
	assert_int_equal(operations_of("(x + 1).sum()"), 128 + 128);
	assert_int_equal(operations_of("x @ w"), 2 * 8 * 16 * 32);
	assert_int_equal(operations_of("torch.relu(x @ w)"), 2 * 8 * 16 * 32 + 8 * 32);
	assert_int_equal(operations_of("torch.einsum('ij,jk->i', x, w)"), 2 * 8 * 16 * 32);
	assert_int_equal(operations_of("torch.einsum('ij->j', x)"), 128);
	/* 4 rows of 2 channels, 3 wide, from 8 rows of 8: 2 * 8 * 3 * 14 * 4 */
	assert_int_equal(operations_of("torch.conv1d(x.reshape(1, 8, 16), torch.ones(4, 8, 3))"),
			 2 * (8 * 3) * (4 * 14));
	assert_int_equal(operations_of("x.t().contiguous()"), 0);
	assert_int_equal(operations_of("x.sort(dim=1)[0]"), -1);
}

static void a_run_says_what_a_kernel_achieves(void **state)
{
	json_t *report = run_source("def model(x):\n    return x * 2 + 1\n",
				    json_pack("[[o]]", floats(64, 64)), "static"),
	       *device = json_object_get(report, "device");
	const json_t *k = json_array_get(kernels_of(report, "static"), 0), *ci;
	double us = number(k, "median_us"), bytes = 2 * 4 * 4096;

	(void)state;
	ci = json_object_get(k, "ci_us");
	assert_true(json_number_value(json_array_get(ci, 0)) <= us);
	assert_true(json_number_value(json_array_get(ci, 1)) >= us);
	assert_true(number(k, "seen") >= 3);
	assert_float_equal(number(k, "intensity"), 2 * 4096 / bytes, 1e-9);
	assert_float_equal(number(k, "bandwidth_gbps"), bytes / us / 1e3, 1e-6);
	assert_float_equal(number(k, "rate_gflops"), 2 * 4096 / us / 1e3, 1e-6);
	assert_true(number(k, "copy_share") > 0);
	assert_null(json_object_get(k, "occupancy")); /* of a GPU alone */
	ci = json_object_get(device, "copy_curve");
	assert_true(number(device, "copy_curve.6.0") >= bytes); /* as far as this run needs */
	assert_int_equal(json_array_size(ci), 7);
	assert_null(json_object_get(device, "copy_gbps"));
	json_decref(report);
}

/* Memory that a run does not need is not touched: that takes longer than the run. */
static void the_curve_reaches_what_a_run_holds(void **state)
{
	const struct copy_curve whole = { .n = 1, .bytes = { 100 }, .whole = true };
	json_t *json = load("{'source': 'def model(x):\\n    return x\\n', 'backend': 'interp', "
			    "'calls': [[{'value': 1}]]}");
	struct err err = { 0 };
	struct workload *w = workload_parse(json, &err);
	struct copy_curve c = { 0 };

	(void)state;
	assert_non_null(w);
	assert_false(copy_curve_reaches(&c, 0));
	assert_true(copy_curve_measure(&c, w, 3000000, 32 << 20, &err));
	assert_int_equal(c.n, 8);
	assert_true(c.bytes[7] >= 3000000 && c.bytes[6] < 3000000);
	assert_true(copy_curve_reaches(&c, 3000000));
	assert_false(copy_curve_reaches(&c, c.bytes[7] + 1));
	assert_true(copy_curve_reaches(&whole, 1000));
	workload_destroy(w);
	json_decref(json);
}

/* The bytes are those of the capture. */
static void calls_of_several_sizes_have_no_bandwidth(void **state)
{
	json_t *calls = json_pack("[[o], [o]]", floats(4, 8), floats(6, 8));
	json_t *report = run_source("def model(x):\n    return x * 2\n", calls, "dynamic");
	const json_t *k = json_array_get(kernels_of(report, "dynamic"), 0);

	(void)state;
	assert_true(json_is_integer(json_object_get(k, "operations")));
	assert_null(json_object_get(k, "bandwidth_gbps"));
	json_decref(report);
}

static void the_curve_is_a_power_between_points_and_flat_or_straight_beyond(void **state)
{
	const struct copy_curve c = { .n = 3,
				      .bytes = { 100, 1000, 100000 },
				      .ns = { 50, 50, 5000 } };
	const struct copy_curve none = { 0 };

	(void)state;
	assert_float_equal(copy_curve_ns(&c, 0), 50, 1e-9);
	assert_float_equal(copy_curve_ns(&c, 400), 50, 1e-9);
	assert_float_equal(copy_curve_ns(&c, 10000), 500, 1e-6);
	assert_float_equal(copy_curve_ns(&c, 300000), 15000, 1e-6);
	assert_float_equal(copy_curve_bandwidth(&c), 20e9, 1);
	assert_float_equal(copy_curve_ns(&none, 100), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_those_of_the_graph),
		cmocka_unit_test(a_run_says_what_a_kernel_achieves),
		cmocka_unit_test(the_curve_reaches_what_a_run_holds),
		cmocka_unit_test(calls_of_several_sizes_have_no_bandwidth),
		cmocka_unit_test(the_curve_is_a_power_between_points_and_flat_or_straight_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
