/* tests/test_session_host.c -- names, binding and the cache of eager plans, alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/torch/bind.h"
#include "fusion/eager/eager.h"
#include "fusion/eager/plan.h"
#include "fusion/torch/torch_host.h"

static const char *const known[] = {
#define KNOWN(name) #name,
#include "fusion/torch/torch_names.def"
#undef KNOWN
};

static void names_not_covered_are_sorted_and_are_no_ops(void **state)
{
	const char *const owners[] = { "torch", "torch.nn.functional", "Tensor" };
	char spelling[96];
	enum op op;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (i > 0)
			assert_true(strcmp(known[i - 1], known[i]) < 0);
		assert_true(torch_knows(known[i]));
		for (int k = 0; k < 3; k++) {
			snprintf(spelling, sizeof(spelling), "%s.%s", owners[k], known[i]);
			if (op_find(spelling, &op))
				fail_msg("%s is an op and must leave torch_names.def", spelling);
		}
	}
	assert_false(torch_knows("relu"));
}

static void operators_reach_their_ops(void **state)
{
	struct torch_operators t;

	(void)state;
	torch_operators_init(&t);
	assert_int_equal(t.binary[BIN_ADD], OP_add);
	assert_int_equal(t.binary[BIN_TRUEDIV], OP_truediv);
	assert_int_equal(t.binary[BIN_MATMUL], OP_matmul);
	assert_int_equal(t.unary[UN_NEG], OP_neg);
	assert_int_equal(t.unary[UN_INVERT], OP_invert);
	assert_int_equal(t.compare[CMP_GE], OP_ge);
	assert_int_equal(t.compare[CMP_IS], -1);
}

static void a_method_is_looked_up_once_and_bound_each_time(void **state)
{
	struct torch_names names;
	struct value tensor = value_tensor(), a, b;
	struct err err = { 0 };

	(void)state;
	torch_names_init(&names);
	assert_true(torch_method(&names, tensor, "sum", &a, &err));
	assert_true(torch_method(&names, tensor, "sum", &b, &err));
	assert_ptr_equal(a.native->name, b.native->name);
	assert_int_equal(a.native->id, OP_sum);
	assert_ptr_equal(a.native->self.tensor, tensor.tensor);
	assert_false(torch_method(&names, tensor, "summ", &b, &err));
	assert_int_equal(err.code, ERR_NAME);
	value_unref(a);
	value_unref(b);
	value_unref(tensor);
	torch_names_finish(&names);
}

static int no_node(void *self, struct value tensor, struct err *err)
{
	(void)self, (void)tensor, (void)err;
	return 0;
}

struct binding {
	struct arena arena;
	struct graph *g;
	struct arg args[MAX_ARGS];
	struct value tensor;
};

static void open_binding(struct binding *b)
{
	struct shape shape = { 0 };

	memset(b, 0, sizeof(*b));
	b->g = graph_create(&b->arena);
	shape.rank = 2;
	shape.size[0] = shape.size[1] = sym_const(b->g->syms, 4);
	assert_int_equal(graph_input(b->g, DTYPE_F32, &shape, NULL), 0);
	b->tensor = value_tensor();
}

static bool bind_values(struct binding *b, enum op op, const char *name,
			const struct arguments *args)
{
	struct bind_target target = { .graph = b->g, .node = no_node };
	struct err err = { 0 };

	return bind_call(&target, op, name, args, b->args, &err);
}

static void close_binding(struct binding *b)
{
	value_unref(b->tensor);
	arena_finish(&b->arena);
}

static void keywords_and_positions_bind_alike(void **state)
{
	struct value key = value_str("dim", 3), axis = value_str("axis", 4);
	struct keywords by_dim = { 1, &key }, by_axis = { 1, &axis };
	const struct keywords *ways[] = { NULL, &by_dim, &by_axis };
	struct binding b;

	(void)state;
	open_binding(&b);
	for (int i = 0; i < 3; i++) {
		struct value values[2] = { b.tensor, value_int(1) };

		assert_true(bind_values(&b, OP_sum, "torch.sum",
					&(struct arguments){ values, 2, ways[i] }));
		assert_int_equal(b.args[0].kind, ARG_NODE);
		assert_int_equal(b.args[1].kind, ARG_INTS);
		assert_int_equal(b.args[1].n, 1);
		assert_true(sym_is(b.args[1].ints[0], 1));
		assert_int_equal(b.args[2].kind, ARG_NONE);
	}
	close_binding(&b);
	value_unref(key);
	value_unref(axis);
}

static void sizes_may_be_spread_or_a_tuple(void **state)
{
	struct value sizes[2] = { value_int(2), value_int(3) }, tuple = value_tuple(sizes, 2);
	struct binding b;

	(void)state;
	open_binding(&b);
	assert_true(
	    bind_values(&b, OP_zeros, "torch.zeros", &(struct arguments){ sizes, 2, NULL }));
	assert_int_equal(b.args[0].n, 2);
	assert_true(
	    bind_values(&b, OP_zeros, "torch.zeros", &(struct arguments){ &tuple, 1, NULL }));
	assert_int_equal(b.args[0].n, 2);
	assert_true(
	    bind_values(&b, OP_zeros, "torch.zeros", &(struct arguments){ sizes, 1, NULL }));
	assert_int_equal(b.args[0].n, 1);
	close_binding(&b);
	value_unref(tuple);
}

static void a_bool_is_no_dim_but_is_an_operand(void **state)
{
	struct binding b;
	struct value values[2];

	(void)state;
	open_binding(&b);
	values[0] = b.tensor;
	values[1] = value_bool(true);
	assert_false(bind_values(&b, OP_sum, "torch.sum", &(struct arguments){ values, 2, NULL }));
	assert_true(bind_values(&b, OP_mul, "op:*", &(struct arguments){ values, 2, NULL }));
	assert_int_equal(b.args[1].kind, ARG_BOOL);
	close_binding(&b);
}

static void literals_choose_torchs_dtype(void **state)
{
	const struct value rows[][2] = { { value_int(1), value_int(2) },
					 { value_int(1), value_float(2) },
					 { value_bool(true), value_bool(false) },
					 { value_bool(true), value_int(2) } };
	const enum dtype want[] = { DTYPE_I64, DTYPE_COUNT, DTYPE_BOOL, DTYPE_I64 };
	const enum dtype defaults[] = { DTYPE_F32, DTYPE_F64 }; /* what floats are */

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct value list = value_list(rows[i % 4], 2);
		struct arena arena = { 0 };
		struct bound_literal literal = { .dtype = DTYPE_COUNT, .real = defaults[i / 4] };

		assert_true(bind_literal(&arena, list, &literal, NULL));
		assert_int_equal(literal.dtype,
				 want[i % 4] == DTYPE_COUNT ? literal.real : want[i % 4]);
		assert_int_equal(literal.rank, 1);
		assert_int_equal(literal.size[0], 2);
		arena_finish(&arena);
		value_unref(list);
	}
}

static struct signature number_signature(int64_t number)
{
	struct value v = value_int(number);
	struct signature s;

	signature_make(&s, 7, false, &(struct arguments){ &v, 1, NULL });
	return s;
}

static void plans_are_found_by_signature_wherever_the_call_stands(void **state)
{
	struct plans *plans = calloc(1, sizeof(*plans));
	struct signature one = number_signature(1), two = number_signature(2);
	struct eager_plan *plan;

	(void)state;
	assert_null(plans_find(plans, &one, 5));
	plan = plans_add(plans, &one, 5);
	assert_ptr_equal(plans_find(plans, &one, 5), plan);
	assert_ptr_equal(plans_find(plans, &one, 6), plan);
	assert_null(plans_find(plans, &two, 5));
	plans_finish(plans);
	free(plans);
}

/* 0.5 and 3.0 are of one plan; 0 may be refused, an int is another op than a float. */
static void numbers_apart_are_no_part_of_a_signature(void **state)
{
	struct value v[] = { value_float(0.5), value_float(3), value_int(3), value_int(0),
			     value_bool(true) };
	struct plans *plans = calloc(1, sizeof(*plans));
	struct signature s[5];

	(void)state;
	for (int i = 0; i < 5; i++)
		signature_make(&s[i], 7, true, &(struct arguments){ &v[i], 1, NULL });
	assert_non_null(plans_add(plans, &s[0], 0));
	assert_int_equal(s[1].n_numbers, 1);
	assert_int_equal(s[1].numbers[0], v[1].i);
	assert_non_null(plans_find(plans, &s[1], 0));
	for (int i = 2; i < 5; i++)
		assert_null(plans_find(plans, &s[i], 0));
	assert_int_equal(s[3].n_numbers, 0);
	plans_finish(plans);
	free(plans);
}

static void the_cache_of_plans_is_bounded_and_keeps_those_in_use(void **state)
{
	struct plans *plans = calloc(1, sizeof(*plans));
	struct signature kept = number_signature(-1);
	int found = 0;

	(void)state;
	plans_add(plans, &kept, 0);
	for (int i = 0; i < 3 * PLAN_GENERATION; i++) {
		struct signature s = number_signature(i);

		assert_non_null(plans_add(plans, &s, 1 + (unsigned)i));
		if (i % 100 == 0)
			assert_non_null(plans_search(plans, &kept, 0));
	}
	assert_non_null(plans_search(plans, &kept, 0));
	for (int i = 0; i < 3 * PLAN_GENERATION; i++) {
		struct signature s = number_signature(i);

		if (plans_search(plans, &s, 0))
			found++;
	}
	assert_in_range(found, PLAN_GENERATION - 100, 2 * PLAN_GENERATION);
	plans_finish(plans);
	free(plans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_not_covered_are_sorted_and_are_no_ops),
		cmocka_unit_test(operators_reach_their_ops),
		cmocka_unit_test(a_method_is_looked_up_once_and_bound_each_time),
		cmocka_unit_test(keywords_and_positions_bind_alike),
		cmocka_unit_test(sizes_may_be_spread_or_a_tuple),
		cmocka_unit_test(a_bool_is_no_dim_but_is_an_operand),
		cmocka_unit_test(literals_choose_torchs_dtype),
		cmocka_unit_test(plans_are_found_by_signature_wherever_the_call_stands),
		cmocka_unit_test(numbers_apart_are_no_part_of_a_signature),
		cmocka_unit_test(the_cache_of_plans_is_bounded_and_keeps_those_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
