/* tests/test_passes_why.c -- the bounds of a kernel, its bytes, and the words that
 * say why it is one of its own.
 */
#include "fusion/backends/plan/plan.h"
#include "tests/lower_passed.h"

static const struct kernel *find_kernel(const struct lowered *l, const char *why)
{
	for (int k = 0; k < l->n_kernels; k++)
		if (strstr(l->kernels[k].why, why))
			return &l->kernels[k];
	for (int k = 0; k < l->n_kernels; k++)
		print_message("%s: %s\n", l->kernels[k].name, l->kernels[k].why);
	fail_msg("no kernel says: %s", why);
	return NULL;
}

static int count_loads_and_stores(const struct kernel *k)
{
	int n = 0;

	for (int i = 0; i < k->stages[0].n_body; i++)
		n += k->stages[0].body[i].kind == INST_LOAD ||
		     k->stages[0].body[i].kind == INST_STORE;
	return n;
}

static void a_sum_of_many_tensors_stays_within_what_a_part_may_read(void **state)
{
	struct builder b = builder_create();
	int sum = INPUT(&b, DTYPE_F32, NUM(&b, 64));

	(void)state;
	for (int i = 0; i < 300; i++)
		sum = ADD(&b, OP_add, T(sum), T(INPUT(&b, DTYPE_F32, NUM(&b, 64))));
	RETURN(&b, sum);
	const struct lowered *l = lower_passed(&b, false);
	assert_int_equal(l->n_kernels, 2);
	for (int k = 0; k < l->n_kernels; k++)
		assert_in_range(count_loads_and_stores(&l->kernels[k]), 1, MAX_PLACES);
	find_kernel(l, "tensors read and written at once, more than a kernel may have");
	builder_destroy(&b);
}

static void one_tensor_read_by_many_ops_is_one_access(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 64)), y = x;

	(void)state;
	for (int i = 0; i < 300; i++)
		y = ADD(&b, i % 2 ? OP_sub : OP_mul, T(y), T(x));
	RETURN(&b, y);
	assert_int_equal(lower_passed(&b, false)->n_kernels, 1);
	builder_destroy(&b);
}

static void reductions_of_one_walk_stay_within_the_bound(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 8), NUM(&b, 64)), total = -1;

	(void)state;
	for (int i = 0; i < 60; i++) {
		int one = ADD(&b, OP_sum, T(ADD(&b, OP_mul, T(x), F(1 + i))), DIM(&b, 1));

		total = total < 0 ? one : ADD(&b, OP_add, T(total), T(one));
	}
	RETURN(&b, total);
	const struct lowered *l = lower_passed(&b, false);
	for (int k = 0; k < l->n_kernels; k++)
		for (int s = 0; s < l->kernels[k].n_stages; s++) {
			int n = 0;

			for (int i = 0; i < l->kernels[k].stages[s].n_body; i++)
				n += l->kernels[k].stages[s].body[i].kind == INST_REDUCE;
			assert_in_range(n, 0, MAX_REDUCES);
		}
	find_kernel(l, "reductions, more than a kernel may have");
	builder_destroy(&b);
}

/* All values stay alive until the last is there: each wants a tile. */
static void values_alive_at_once_are_bounded_by_the_cache(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 4096)), alive[240];

	(void)state;
	for (int i = 0; i < 240; i++)
		alive[i] = ADD(&b, OP_mul, T(i ? alive[i - 1] : x), F(1.0 + i));
	for (int i = 239; i >= 0; i--)
		x = ADD(&b, OP_add, T(x), T(alive[i]));
	RETURN(&b, x);
	const struct lowered *l = lower_passed(&b, false);
	assert_in_range(l->n_kernels, 2, 239);
	find_kernel(l, "values alive at once, whose tiles would fill the second cache");
	builder_destroy(&b);
}

static void a_value_that_several_kernels_read_says_what_it_costs(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 64), NUM(&b, 64));
	int e = ADD(&b, OP_exp, T(ADD(&b, OP_mul, T(x), F(2))));

	(void)state;
	RETURN(&b, ADD(&b, OP_cumsum, T(e), I(&b, 0)), ADD(&b, OP_cumsum, T(e), I(&b, 1)));
	const struct lowered *l = lower_passed(&b, false);
	assert_string_equal(l->kernels[0].why,
			    "the first kernel: it reads inputs alone; %exp is stored: 2 kernels "
			    "read it, and to compute it again costs 16 units an element");
	assert_string_equal(l->kernels[1].why, "cumsum is a library call, which is never fused");
	builder_destroy(&b);
}

static void a_row_statistic_that_is_stored_is_not_stored_for_every_point(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 8));
	int y = INPUT(&b, DTYPE_F32, NUM(&b, 8));
	int row = ADD(&b, OP_mul, T(y), F(2));

	(void)state;
	RETURN(&b, row, ADD(&b, OP_add, T(x), T(row)));
	const struct lowered *l = lower_passed(&b, false);
	assert_int_equal(l->n_kernels, 2);
	find_kernel(l, "is stored, and with kernel 0 it would be for every point of a larger walk");
	builder_destroy(&b);
}

static void with_fusion_off_that_is_the_reason(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 4));

	(void)state;
	RETURN(&b, ADD(&b, OP_sin, T(ADD(&b, OP_add, T(x), F(1)))));
	assert_string_equal(lower_passed(&b, true)->kernels[1].why,
			    "fusion is off: every op is a kernel");
	builder_destroy(&b);
}

static void bytes_count_each_element_once(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 10), NUM(&b, 100));
	int g = INPUT(&b, DTYPE_F32, NUM(&b, 100));
	int e = ADD(&b, OP_exp, T(x));
	int y = ADD(&b, OP_truediv, T(e), T(ADD(&b, OP_sum, T(e), DIM(&b, 1), arg_bool(true))));

	(void)state;
	RETURN(&b, ADD(&b, OP_mul, T(y), T(g)));
	const struct lowered *l = lower_passed(&b, false);
	assert_int_equal(l->n_kernels, 1);
	assert_int_equal(l->kernels[0].read_bytes, 4000 + 400);
	assert_int_equal(l->kernels[0].written_bytes, 4000);
	/* exp written and read twice, the sum and the quotient once each. */
	assert_int_equal(l->kernels[0].saved_bytes, 3 * 4000 + 2 * 40 + 2 * 4000);
	assert_false(l->kernels[0].copies);
	builder_destroy(&b);
}

static void chains_of_views_are_addresses_and_no_copies(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 6), NUM(&b, 8), NUM(&b, 4));
	int t = ADD(&b, OP_transpose, T(x), I(&b, 0), I(&b, 2));
	int s = ADD(&b, OP_slice, T(t), I(&b, 1), I(&b, 2), I(&b, 6));
	int u = ADD(&b, OP_unsqueeze, T(s), I(&b, 0));
	int e = ADD(
	    &b, OP_expand, T(u),
	    arg_ints((const struct sym *[]){ NUM(&b, 3), NUM(&b, 4), NUM(&b, 4), NUM(&b, 6) }, 4));

	(void)state;
	RETURN(&b, ADD(&b, OP_mul, T(e), F(2)));
	const struct lowered *l = lower_passed(&b, false);
	assert_int_equal(l->n_kernels, 1);
	assert_false(l->kernels[0].copies);
	assert_int_equal(l->kernels[0].read_bytes, 4 * 4 * 6 * 4); /* once, whatever expands */
	builder_destroy(&b);
}

static void a_reshape_of_what_lies_across_copies_and_says_so(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 6), NUM(&b, 8));
	int t = ADD(&b, OP_transpose, T(x), I(&b, 0), I(&b, 1));
	int r = ADD(&b, OP_reshape, T(t), DIMS(&b, NUM(&b, 48)));

	(void)state;
	RETURN(&b, ADD(&b, OP_cumsum, T(r), I(&b, 0)));
	const struct lowered *l = lower_passed(&b, false);
	assert_int_equal(l->n_kernels, 2);
	assert_true(l->kernels[0].copies);
	builder_destroy(&b);
}

/* The step of an optimiser over parameters of one size: one launch. */
static void small_kernels_of_one_size_share_a_launch(void **state)
{
	(void)state;
	for (int large = 0; large < 2; large++) {
		struct builder b = builder_create();
		int64_t n = large ? 1 << 20 : 256;
		int out[3];

		for (int i = 0; i < 3; i++) {
			int x = INPUT(&b, DTYPE_F32, NUM(&b, n));
			int g = INPUT(&b, DTYPE_F32, NUM(&b, n));

			out[i] = ADD(&b, OP_sub, T(x), T(ADD(&b, OP_mul, T(g), F(0.1))));
		}
		RETURN(&b, out[0], out[1], out[2]);
		assert_int_equal(lower_passed(&b, false)->n_kernels, large ? 3 : 1);
		builder_destroy(&b);
	}
}

static void small_kernels_that_wait_for_each_other_do_not(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 256));
	int y = ADD(&b, OP_cumsum, T(ADD(&b, OP_sin, T(x))), I(&b, 0));

	(void)state;
	RETURN(&b, ADD(&b, OP_cos, T(y)));
	assert_int_equal(lower_passed(&b, false)->n_kernels, 3);
	builder_destroy(&b);
}

/* A batch norm after a convolution whose result the cache holds: a kernel of its
 * own; of a larger one, and a bias alone, on its blocks. */
static void what_repeats_along_rows_is_not_copied_for_each_block(void **state)
{
	static const struct {
		int side, repeats, kernels;
	} cases[] = { { 16, 4, 2 }, { 16, 1, 1 }, { 256, 4, 1 } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct builder b = builder_create();
		const struct sym *side = NUM(&b, cases[i].side);
		int x = INPUT(&b, DTYPE_F32, NUM(&b, 1), NUM(&b, 8), side, side);
		int w = INPUT(&b, DTYPE_F32, NUM(&b, 8), NUM(&b, 8), NUM(&b, 1), NUM(&b, 1));
		int y = ADD(&b, OP_conv2d, T(x), T(w));

		for (int k = 0; k < cases[i].repeats; k++)
			y = ADD(&b, OP_add, T(y),
				T(INPUT(&b, DTYPE_F32, NUM(&b, 8), NUM(&b, 1), NUM(&b, 1))));
		RETURN(&b, ADD(&b, OP_relu, T(y)));
		const struct lowered *l = lower_passed(&b, false);
		assert_int_equal(l->n_kernels, cases[i].kernels);
		if (cases[i].kernels == 2)
			assert_string_equal(
			    l->kernels[0].why,
			    "conv_windows is a library call; the ops after it read 4 operands "
			    "that repeat along its rows, which would be copied out for each "
			    "block, and its result stays in the cache anyway");
		builder_destroy(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_of_many_tensors_stays_within_what_a_part_may_read),
		cmocka_unit_test(one_tensor_read_by_many_ops_is_one_access),
		cmocka_unit_test(reductions_of_one_walk_stay_within_the_bound),
		cmocka_unit_test(values_alive_at_once_are_bounded_by_the_cache),
		cmocka_unit_test(a_value_that_several_kernels_read_says_what_it_costs),
		cmocka_unit_test(a_row_statistic_that_is_stored_is_not_stored_for_every_point),
		cmocka_unit_test(with_fusion_off_that_is_the_reason),
		cmocka_unit_test(bytes_count_each_element_once),
		cmocka_unit_test(chains_of_views_are_addresses_and_no_copies),
		cmocka_unit_test(small_kernels_of_one_size_share_a_launch),
		cmocka_unit_test(small_kernels_that_wait_for_each_other_do_not),
		cmocka_unit_test(what_repeats_along_rows_is_not_copied_for_each_block),
		cmocka_unit_test(a_reshape_of_what_lies_across_copies_and_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
