/* tests/test_passes_order.c -- kernels in the order that holds the least memory. */
#include "fusion/passes/passes.h"
#include "tests/graph_builder.h"

enum { SIDE = 64 };

static struct pass_result ordered(struct builder *b, const bool *given_up)
{
	const struct pass_options options = { .verify = true, .given_up = given_up };
	struct pass_result out;
	struct err err = { 0 };

	if (!passes_run(b->g, &options, &out, &err))
		fail_msg("%s", err.message);
	return out;
}

static int matrix(struct builder *b)
{
	return INPUT(b, DTYPE_F32, NUM(b, SIDE), NUM(b, SIDE));
}

/* The group of the n-th node (from 0) that is this op. */
static int group_of(const struct pass_result *r, enum op op, int n)
{
	for (int id = 0; id < r->graph->n_nodes; id++)
		if (r->graph->nodes[id]->op == op && n-- == 0)
			return r->group[id];
	fail_msg("there is no such node");
	return -1;
}

/* All products first would hold all of them. */
static void a_value_is_computed_shortly_before_it_is_read(void **state)
{
	struct builder b = builder_create();
	int x = matrix(&b), product[4], sum[4];
	struct pass_result r;

	(void)state;
	for (int i = 0; i < 4; i++)
		product[i] = ADD(&b, OP_matmul, T(x), T(matrix(&b)));
	for (int i = 0; i < 4; i++)
		sum[i] = ADD(&b, OP_sum, T(product[i]));
	RETURN(&b, sum[0], sum[1], sum[2], sum[3]);
	r = ordered(&b, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(group_of(&r, OP_sum, i), group_of(&r, OP_matmul, i) + 1);
	builder_destroy(&b);
}

/* What was drawn for the first must not be drawn for the second. */
static void random_numbers_are_drawn_in_the_order_of_the_source(void **state)
{
	struct builder b = builder_create();
	int x = matrix(&b), drawn[3], y = x;
	struct pass_result r;

	(void)state;
	for (int i = 0; i < 3; i++)
		drawn[i] = ADD(&b, OP_uniform, DIMS(&b, NUM(&b, SIDE), NUM(&b, SIDE)),
			       arg_dtype(DTYPE_F32));
	for (int i = 2; i >= 0; i--) /* the last is used first */
		y = ADD(&b, OP_matmul, T(y), T(drawn[i]));
	RETURN(&b, y);
	r = ordered(&b, NULL);
	assert_true(group_of(&r, OP_uniform, 0) < group_of(&r, OP_uniform, 1));
	assert_true(group_of(&r, OP_uniform, 1) < group_of(&r, OP_uniform, 2));
	builder_destroy(&b);
}

/* Nor is a draw left out that nothing reads: the next one would be another. */
static void equal_draws_are_two_and_unused_ones_stay(void **state)
{
	struct builder b = builder_create();
	struct pass_result r;
	int drawn[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		drawn[i] = ADD(&b, OP_uniform, DIM(&b, SIDE), arg_dtype(DTYPE_F32));
	RETURN(&b, ADD(&b, OP_sub, T(drawn[2]), T(drawn[1])));
	r = ordered(&b, NULL);
	for (int i = 0; i < 3; i++)
		assert_true(group_of(&r, OP_uniform, i) >= 0);
	builder_destroy(&b);
}

/* h.t() @ g and g @ w * (h > 0): h can go before the second product is there, if
 * its mask is made first. */
static void masked_product(struct builder *b, int ids[3])
{
	int h = matrix(b), g = matrix(b), w = matrix(b);
	int mask = ADD(b, OP_le, T(h), F(0));

	ids[0] = ADD(b, OP_matmul, T(ADD(b, OP_t, T(h))), T(g));
	ids[1] = ADD(b, OP_matmul, T(g), T(w));
	ids[2] = ADD(b, OP_where, T(mask), F(0), T(ids[1]));
	RETURN(b, ids[0], ids[2]);
}

static void a_mask_frees_what_it_is_made_of(void **state)
{
	static const bool given_up[] = { true, true, false };
	struct builder b = builder_create();
	struct pass_result r;
	int ids[3];

	(void)state;
	masked_product(&b, ids);
	r = ordered(&b, given_up);
	assert_int_not_equal(group_of(&r, OP_le, 0), group_of(&r, OP_where, 0));
	assert_true(group_of(&r, OP_le, 0) < group_of(&r, OP_matmul, 1));
	assert_true(group_of(&r, OP_matmul, 0) < group_of(&r, OP_matmul, 1));
	builder_destroy(&b);
}

static void a_mask_of_what_stays_is_part_of_its_reader(void **state)
{
	struct builder b = builder_create();
	struct pass_result r;
	int ids[3];

	(void)state;
	masked_product(&b, ids);
	r = ordered(&b, NULL);
	assert_int_equal(group_of(&r, OP_le, 0), group_of(&r, OP_where, 0));
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_computed_shortly_before_it_is_read),
		cmocka_unit_test(random_numbers_are_drawn_in_the_order_of_the_source),
		cmocka_unit_test(equal_draws_are_two_and_unused_ones_stay),
		cmocka_unit_test(a_mask_frees_what_it_is_made_of),
		cmocka_unit_test(a_mask_of_what_stays_is_part_of_its_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
