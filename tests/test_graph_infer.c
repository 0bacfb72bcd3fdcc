/* tests/test_graph_infer.c -- dtypes and shapes, against what PyTorch gives.
 *
 * Promotion: the examples of pytorch.org/docs/stable/tensor_attributes.html and
 * torch.result_type.
 */
#include "tests/graph_help.h"

#define B DTYPE_BOOL
#define U8 DTYPE_U8
#define I8 DTYPE_I8
#define I16 DTYPE_I16
#define I32 DTYPE_I32
#define I64 DTYPE_I64
#define F16 DTYPE_F16
#define BF DTYPE_BF16
#define F32 DTYPE_F32
#define F64 DTYPE_F64

static void tensors_with_dims_promote_to_the_wider_type(void **state)
{
	/* torch.promote_types, in the order of dtypes.def */
	static const enum dtype want[DTYPE_COUNT][DTYPE_COUNT] = {
		{ B, U8, I8, I16, I32, I64, F16, BF, F32, F64 },
		{ U8, U8, I16, I16, I32, I64, F16, BF, F32, F64 },
		{ I8, I16, I8, I16, I32, I64, F16, BF, F32, F64 },
		{ I16, I16, I16, I16, I32, I64, F16, BF, F32, F64 },
		{ I32, I32, I32, I32, I32, I64, F16, BF, F32, F64 },
		{ I64, I64, I64, I64, I64, I64, F16, BF, F32, F64 },
		{ F16, F16, F16, F16, F16, F16, F16, F32, F32, F64 },
		{ BF, BF, BF, BF, BF, BF, F32, BF, F32, F64 },
		{ F32, F32, F32, F32, F32, F32, F32, F32, F32, F64 },
		{ F64, F64, F64, F64, F64, F64, F64, F64, F64, F64 },
	};
	struct world *w = *state;

	for (int a = 0; a < DTYPE_COUNT; a++)
		for (int b = 0; b < DTYPE_COUNT; b++) {
			struct arg x = input(w, (enum dtype)a, SIZES(4));
			struct arg y = input(w, (enum dtype)b, SIZES(4));

			assert_value(w, ADD(w, OP_add, x, y), want[a][b], "[4]");
			assert_value(w, ADD(w, OP_lt, x, y), DTYPE_BOOL, "[4]");
		}
}

static void zero_dim_tensors_promote_by_category_only(void **state)
{
	/* want[with dims][0-d] */
	static const enum dtype want[DTYPE_COUNT][DTYPE_COUNT] = {
		[B] = { [B] = B, [I64] = I64, [F32] = F32, [F64] = F64 },
		[I64] = { [B] = I64, [I64] = I64, [F32] = F32, [F64] = F64 },
		[F32] = { [B] = F32, [I64] = F32, [F32] = F32, [F64] = F32 },
		[F64] = { [B] = F64, [I64] = F64, [F32] = F64, [F64] = F64 },
	};
	struct world *w = *state;

	for (int a = 0; a < DTYPE_COUNT; a++)
		for (int b = 0; b < DTYPE_COUNT; b++) {
			if (want[a][a] != (enum dtype)a || want[b][b] != (enum dtype)b)
				continue; /* a narrow one */
			struct arg x = input(w, (enum dtype)a, SIZES(4));
			struct arg y = input(w, (enum dtype)b, 0, NULL);

			assert_value(w, ADD(w, OP_mul, x, y), want[a][b], "[4]");
			assert_value(w, ADD(w, OP_mul, y, x), want[a][b], "[4]");
		}
}

static void python_numbers_promote_by_category_to_the_default_dtype(void **state)
{
	struct world *w = *state;
	const struct arg numbers[3] = { arg_bool(true), arg_int(w->g, 2), arg_float(1e300) };
	static const enum dtype want[DTYPE_COUNT][3] = {
		{ B, I64, F32 },   { U8, U8, F32 },   { I8, I8, F32 },   { I16, I16, F32 },
		{ I32, I32, F32 }, { I64, I64, F32 }, { F16, F16, F16 }, { BF, BF, BF },
		{ F32, F32, F32 }, { F64, F64, F64 },
	};

	for (int a = 0; a < DTYPE_COUNT; a++)
		for (int k = 0; k < 3; k++) {
			struct arg x = input(w, (enum dtype)a, SIZES(4));
			struct arg scalar = input(w, (enum dtype)a, 0, NULL);

			assert_value(w, ADD(w, OP_add, x, numbers[k]), want[a][k], "[4]");
			assert_value(w, ADD(w, OP_add, numbers[k], scalar), want[a][k], "[]");
		}
	assert_value(w, ADD(w, OP_add, numbers[1], numbers[2]), DTYPE_F32, "[]");
}

static void a_wrapped_number_is_weak_as_a_tensor_too(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4)), zero = input(w, DTYPE_F64, 0, NULL);
	struct arg i = input(w, DTYPE_I64, 0, NULL);

	assert_value(w, ADD(w, OP_add, i, zero), DTYPE_F64, "[]");
	w->g->nodes[zero.node]->weak = true;
	assert_value(w, ADD(w, OP_add, i, zero), DTYPE_F32, "[]");
	assert_value(w, ADD(w, OP_add, x, zero), DTYPE_F32, "[4]");
}

static void float_rules_turn_ints_into_float32(void **state)
{
	static const enum op unary[] = { OP_sin,     OP_cos, OP_tan,  OP_exp,   OP_exp2,
					 OP_expm1,   OP_log, OP_log2, OP_log1p, OP_tanh,
					 OP_sigmoid, OP_erf, OP_sqrt, OP_rsqrt, OP_reciprocal };
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), b = input(w, DTYPE_BOOL, SIZES(4));
	struct arg d = input(w, DTYPE_F64, SIZES(4));

	for (size_t k = 0; k < sizeof(unary) / sizeof(unary[0]); k++) {
		assert_value(w, ADD(w, unary[k], i), DTYPE_F32, "[4]");
		assert_value(w, ADD(w, unary[k], b), DTYPE_F32, "[4]");
		assert_value(w, ADD(w, unary[k], d), DTYPE_F64, "[4]");
	}
	assert_value(w, ADD(w, OP_truediv, i, i), DTYPE_F32, "[4]");
	assert_value(w, ADD(w, OP_truediv, i, number(w, 2)), DTYPE_F32, "[4]");
	assert_value(w, ADD(w, OP_atan2, i, b), DTYPE_F32, "[4]");
}

static void same_rules_keep_the_dtype_and_refuse_what_torch_refuses(void **state)
{
	static const enum op no_bool[] = { OP_neg, OP_abs, OP_relu, OP_floor, OP_ceil, OP_round };
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), b = input(w, DTYPE_BOOL, SIZES(4));
	struct arg f = input(w, DTYPE_F32, SIZES(4));

	for (size_t k = 0; k < sizeof(no_bool) / sizeof(no_bool[0]); k++) {
		assert_value(w, ADD(w, no_bool[k], i), DTYPE_I64, "[4]");
		assert_value(w, ADD(w, no_bool[k], f), DTYPE_F32, "[4]");
		assert_refused(w, no_bool[k], ARGS(b), ERR_DTYPE, "x.to(torch.int64)");
	}
	assert_value(w, ADD(w, OP_sign, b), DTYPE_BOOL, "[4]");
	assert_value(w, ADD(w, OP_clone, b), DTYPE_BOOL, "[4]");
	assert_value(w, ADD(w, OP_square, b), DTYPE_I64, "[4]"); /* as pow(x, 2) */
	assert_value(w, ADD(w, OP_invert, b), DTYPE_BOOL, "[4]");
	assert_refused(w, OP_invert, ARGS(f), ERR_DTYPE, "bitwise ops take ints and bools");
	assert_refused(w, OP_and_, ARGS(b, f), ERR_DTYPE, "this is float32");
	assert_value(w, ADD(w, OP_or_, b, i), DTYPE_I64, "[4]");
	assert_value(w, ADD(w, OP_xor_, b, b), DTYPE_BOOL, "[4]");
	assert_value(w, ADD(w, OP_maximum, b, b), DTYPE_BOOL, "[4]");
	assert_value(w, ADD(w, OP_minimum, i, f), DTYPE_F32, "[4]");
}

static void minus_refuses_a_bool_on_either_side(void **state)
{
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), b = input(w, DTYPE_BOOL, SIZES(4));

	assert_refused(w, OP_sub, ARGS(i, b), ERR_DTYPE, "`-` is not defined on a bool");
	assert_refused(w, OP_sub, ARGS(number(w, 1), b), ERR_DTYPE, "~x");
	assert_refused(w, OP_sub, ARGS(i, arg_bool(true)), ERR_DTYPE, "x ^ y");
	assert_refused(w, OP_sub_alpha, ARGS(b, b, number(w, 2)), ERR_DTYPE, "sub: ");
}

static void pow_follows_torch(void **state)
{
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), f = input(w, DTYPE_F32, SIZES(4));
	struct arg b = input(w, DTYPE_BOOL, SIZES(4));

	assert_value(w, ADD(w, OP_pow, i, number(w, 2)), DTYPE_I64, "[4]");
	assert_value(w, ADD(w, OP_pow, i, arg_float(0.5)), DTYPE_F32, "[4]");
	assert_value(w, ADD(w, OP_pow, number(w, 2), i), DTYPE_I64, "[4]");
	assert_value(w, ADD(w, OP_pow, f, number(w, -2)), DTYPE_F32, "[4]");
	assert_value(w, ADD(w, OP_pow, b, number(w, 2)), DTYPE_I64, "[4]");
	assert_refused(w, OP_pow, ARGS(i, number(w, -2)), ERR_OP, "x.to(torch.float32) ** -2");
	assert_refused(w, OP_pow, ARGS(b, b), ERR_DTYPE, "pow: a bool tensor");
}

static void an_int_tensor_is_not_divided_by_zero(void **state)
{
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), f = input(w, DTYPE_F32, SIZES(4));

	assert_refused(w, OP_floordiv, ARGS(i, number(w, 0)), ERR_SHAPE, "ZeroDivisionError");
	assert_refused(w, OP_mod, ARGS(i, number(w, 0)), ERR_SHAPE, "ZeroDivisionError");
	assert_value(w, ADD(w, OP_floordiv, f, number(w, 0)), DTYPE_F32, "[4]");
	assert_value(w, ADD(w, OP_mod, i, number(w, 3)), DTYPE_I64, "[4]");
}

static void comparisons_and_logic_give_bools(void **state)
{
	static const enum op binary[] = { OP_lt,          OP_le,         OP_gt,
					  OP_ge,          OP_eq,         OP_ne,
					  OP_logical_and, OP_logical_or, OP_logical_xor };
	struct world *w = *state;
	struct arg i = input(w, DTYPE_I64, SIZES(4)), f = input(w, DTYPE_F32, SIZES(3, 1));

	for (size_t k = 0; k < sizeof(binary) / sizeof(binary[0]); k++) {
		assert_value(w, ADD(w, binary[k], i, f), DTYPE_BOOL, "[3, 4]");
		assert_int_equal(w->g->nodes[w->g->n_nodes - 1]->compute, DTYPE_F32);
	}
	assert_value(w, ADD(w, OP_logical_not, f), DTYPE_BOOL, "[3, 1]");
	assert_value(w, ADD(w, OP_isnan, i), DTYPE_BOOL, "[4]");
}

static void where_promotes_its_values_and_wants_a_bool(void **state)
{
	struct world *w = *state;
	struct arg m = input(w, DTYPE_BOOL, SIZES(3, 1)), i = input(w, DTYPE_I64, SIZES(4));
	struct arg f = input(w, DTYPE_F32, SIZES(4));

	assert_value(w, ADD(w, OP_where, m, i, f), DTYPE_F32, "[3, 4]");
	assert_value(w, ADD(w, OP_where, m, i, arg_float(0)), DTYPE_F32, "[3, 4]");
	assert_value(w, ADD(w, OP_where, m, number(w, 1), number(w, 0)), DTYPE_I64, "[3, 1]");
	assert_value(w, ADD(w, OP_where, m, arg_float(1), arg_float(0)), DTYPE_F32, "[3, 1]");
	assert_refused(w, OP_where, ARGS(f, f, f), ERR_DTYPE, "the condition is float32");
}

static void sums_of_ints_are_int64_and_dtype_wins(void **state)
{
	struct world *w = *state;
	struct arg b = input(w, DTYPE_BOOL, SIZES(2, 3)), f = input(w, DTYPE_F32, SIZES(2, 3));

	assert_value(w, ADD(w, OP_sum, b), DTYPE_I64, "[]");
	assert_value(w, ADD(w, OP_prod, b, number(w, 0)), DTYPE_I64, "[3]");
	assert_value(w, ADD(w, OP_sum, f), DTYPE_F32, "[]");
	assert_value(w, ADD(w, OP_sum, f, arg_none(), arg_bool(false), arg_dtype(DTYPE_F64)),
		     DTYPE_F64, "[]");
	assert_value(w, ADD(w, OP_cumsum, b, number(w, 1)), DTYPE_I64, "[2, 3]");
	assert_value(w, ADD(w, OP_cumsum, f, number(w, -1)), DTYPE_F32, "[2, 3]");
	assert_value(w, ADD(w, OP_amax, b), DTYPE_BOOL, "[]");
	assert_value(w, ADD(w, OP_amin, f, number(w, 0)), DTYPE_F32, "[3]");
	assert_value(w, ADD(w, OP_any, f), DTYPE_BOOL, "[]");
	assert_value(w, ADD(w, OP_all, b, number(w, 1)), DTYPE_BOOL, "[2]");
}

static void dims_may_be_negative_none_many_or_kept(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 3, 4)), zero = input(w, DTYPE_F32, 0, NULL);
	const struct arg yes = arg_bool(true);

	assert_value(w, ADD(w, OP_sum, x, number(w, -1)), DTYPE_F32, "[s0, 3]");
	assert_value(w, ADD(w, OP_sum, x, ints(w, SIZES(0, -1))), DTYPE_F32, "[3]");
	assert_value(w, ADD(w, OP_sum, x, ints(w, SIZES(0, -1)), yes), DTYPE_F32, "[1, 3, 1]");
	assert_value(w, ADD(w, OP_sum, x, arg_none(), yes), DTYPE_F32, "[1, 1, 1]");
	assert_value(w, ADD(w, OP_sum, x, arg_ints(NULL, 0)), DTYPE_F32, "[]");
	assert_value(w, ADD(w, OP_sum, zero, number(w, -1)), DTYPE_F32, "[]");
	assert_int_equal(node_reduced(w->g, w->g->nodes[w->g->n_nodes - 1]), 0);
	x = ADD(w, OP_amax, x, ints(w, SIZES(0, -1)), yes);
	assert_int_equal(node_reduced(w->g, w->g->nodes[x.node]), 5);
	assert_true(node_keepdim(w->g->nodes[x.node]));
}

static void wrong_dims_are_named(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(8, 16)), empty = input(w, DTYPE_F32, SIZES(0, 3));

	assert_refused(w, OP_sum, ARGS(x, number(w, 2)), ERR_INDEX,
		       "sum: dimension out of range (expected -2 to 1, but got 2): the tensor's "
		       "sizes are [8, 16]");
	assert_refused(w, OP_softmax, ARGS(x, number(w, -3)), ERR_INDEX, "but got -3");
	assert_refused(w, OP_mean, ARGS(x, ints(w, SIZES(0, -2))), ERR_OP, "dim 0 appears twice");
	assert_refused(w, OP_amax, ARGS(empty), ERR_SHAPE, "dim 0 has size 0");
	assert_value(w, ADD(w, OP_amax, empty, number(w, 1)), DTYPE_F32, "[0]");
	assert_refused(w, OP_sum, ARGS(x, arg_sym(size_of(w, -1))), ERR_TYPE, "fixed ints");
}

static void broadcasting_follows_numpy(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 1, 4)), y = input(w, DTYPE_F32, SIZES(3, 1));
	struct arg z = input(w, DTYPE_F32, SIZES(1)), zero = input(w, DTYPE_F32, SIZES(0));

	assert_value(w, ADD(w, OP_add, x, y), DTYPE_F32, "[s0, 3, 4]");
	assert_value(w, ADD(w, OP_add, z, x), DTYPE_F32, "[s0, 1, 4]");
	assert_value(w, ADD(w, OP_add, zero, z), DTYPE_F32, "[0]");
}

static void sizes_that_do_not_broadcast_are_both_named(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(8, 16)), y = input(w, DTYPE_F32, SIZES(4, 16));
	struct arg z = input(w, DTYPE_F32, SIZES(4));

	assert_refused(w, OP_add, ARGS(x, y), ERR_SHAPE,
		       "add: sizes [8, 16] and [4, 16] do not broadcast: dim 0 is 8 and 4; equal "
		       "sizes or a 1 would fit");
	assert_refused(w, OP_mul, ARGS(x, z), ERR_SHAPE,
		       "sizes [8, 16] and [4] do not broadcast: dim -1 is 16 and 4;");
	assert_null(w->g->conflict[0]);
}

static void symbols_that_would_have_to_be_equal_are_handed_out(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 16)), y = input(w, DTYPE_F32, SIZES(-2, 16));
	struct arg z = input(w, DTYPE_F32, SIZES(5, 16));

	assert_refused(w, OP_add, ARGS(x, y), ERR_SHAPE, "dim 0 is s0 and s1");
	assert_ptr_equal(w->g->conflict[0], size_of(w, -1));
	assert_ptr_equal(w->g->conflict[1], size_of(w, -2));
	assert_refused(w, OP_add, ARGS(y, z), ERR_SHAPE, "dim 0 is s1 and 5");
	assert_ptr_equal(w->g->conflict[0], size_of(w, -2));
	assert_true(sym_is(w->g->conflict[1], 5));
	ADD(w, OP_add, x, x);
	assert_null(w->g->conflict[0]);
}

static void statistics_want_floats(void **state)
{
	static const enum op ops[] = { OP_mean, OP_var, OP_std, OP_norm };
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F64, SIZES(2, 3)), i = input(w, DTYPE_I64, SIZES(2, 3));

	for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++) {
		assert_value(w, ADD(w, ops[k], x), DTYPE_F64, "[]");
		assert_refused(w, ops[k], ARGS(i), ERR_DTYPE, "x.to(torch.float32)");
	}
	assert_value(w, ADD(w, OP_mean, i, number(w, 0), arg_bool(true), arg_dtype(DTYPE_F32)),
		     DTYPE_F32, "[1, 3]");
	assert_value(w, ADD(w, OP_var, x, number(w, 0)), DTYPE_F64, "[3]");
	assert_value(w, ADD(w, OP_norm, x, number(w, 1), number(w, 1), arg_bool(true)), DTYPE_F64,
		     "[2, 1]");
	assert_value(w, ADD(w, OP_max, i), DTYPE_I64, "[]");
	assert_value(w, ADD(w, OP_min, x), DTYPE_F64, "[]");
	assert_refused(w, OP_std,
		       ARGS(x, arg_none(), arg_bool(true), arg_bool(false), number(w, 1)), ERR_OP,
		       "`unbiased` or `correction`");
}

static void activations_keep_shape_and_want_floats(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(2, 3)), i = input(w, DTYPE_I64, SIZES(2, 3));

	assert_value(w, ADD(w, OP_gelu, x, arg_str("tanh")), DTYPE_F32, "[2, 3]");
	assert_value(w, ADD(w, OP_silu, x), DTYPE_F32, "[2, 3]");
	assert_value(w, ADD(w, OP_softmax, x, number(w, -1)), DTYPE_F32, "[2, 3]");
	assert_value(w, ADD(w, OP_softmax, i, number(w, -1), arg_dtype(DTYPE_F64)), DTYPE_F64,
		     "[2, 3]");
	assert_value(w, ADD(w, OP_log_softmax, x, number(w, 0)), DTYPE_F32, "[2, 3]");
	assert_refused(w, OP_gelu, ARGS(x, arg_str("tan")), ERR_OP, "approximate='tan'");
	assert_refused(w, OP_gelu, ARGS(i), ERR_DTYPE, "gelu: the tensor is int64");
	assert_refused(w, OP_log_softmax, ARGS(i, number(w, 0)), ERR_DTYPE, "log_softmax");
}

static void clamp_promotes_over_its_bounds(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_I64, SIZES(2, 3)), y = input(w, DTYPE_F32, SIZES(3));

	assert_value(w, ADD(w, OP_clamp, x, number(w, 0)), DTYPE_I64, "[2, 3]");
	assert_value(w, ADD(w, OP_clamp, x, arg_none(), arg_float(0.5)), DTYPE_F32, "[2, 3]");
	assert_value(w, ADD(w, OP_clamp, y, x, y), DTYPE_F32, "[2, 3]");
	assert_refused(w, OP_clamp, ARGS(x), ERR_OP, "give `min`, `max`, or both");
}

static void normalisations_check_their_shapes(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 4, 8)), v = input(w, DTYPE_F32, SIZES(8));
	struct arg d = input(w, DTYPE_F64, SIZES(8)), v4 = input(w, DTYPE_F32, SIZES(4));
	struct arg n8 = ints(w, SIZES(8)), n48 = ints(w, SIZES(4, 8));

	assert_value(w, ADD(w, OP_layer_norm, x, n8, v, v), DTYPE_F32, "[s0, 4, 8]");
	assert_value(w, ADD(w, OP_layer_norm, x, n48), DTYPE_F32, "[s0, 4, 8]");
	assert_value(w, ADD(w, OP_rms_norm, x, n8, v), DTYPE_F32, "[s0, 4, 8]");
	assert_refused(w, OP_layer_norm, ARGS(x, ints(w, SIZES(4))), ERR_SHAPE,
		       "normalized_shape [4] is not how the input's sizes [s0, 4, 8] end");
	assert_refused(w, OP_layer_norm, ARGS(x, n8, v4), ERR_SHAPE, "`weight` has sizes [4]");
	assert_refused(w, OP_layer_norm, ARGS(x, n8, v, d), ERR_DTYPE,
		       "of its parameters one is float64");
	assert_refused(w, OP_rms_norm, ARGS(x, ints(w, SIZES(2, 2, 4, 8))), ERR_SHAPE,
		       "has 4 sizes");
}

static void alpha_has_torch_s_rules(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4)), i = input(w, DTYPE_I64, SIZES(4));
	struct arg y = ADD(w, OP_add_alpha, x, i);

	assert_int_equal(w->g->nodes[y.node]->op, OP_add); /* alpha is 1 */
	y = ADD(w, OP_sub_alpha, x, i, number(w, 1));
	assert_int_equal(w->g->nodes[y.node]->op, OP_sub);
	y = ADD(w, OP_add_alpha, x, i, arg_float(2));
	assert_int_equal(w->g->nodes[y.node]->op, OP_add_alpha);
	assert_value(w, y, DTYPE_F32, "[4]");
	assert_refused(w, OP_add_alpha, ARGS(i, i, arg_float(2)), ERR_DTYPE, "`alpha` is a float");
	assert_refused(w, OP_add_alpha, ARGS(x, x, arg_bool(true)), ERR_DTYPE, "`alpha` is a bool");
}

static void new_tensors_take_dtype_and_sizes(void **state)
{
	struct world *w = *state;
	const struct sym *sizes[] = { size_of(w, -1), size_of(w, 3) };
	struct arg s = arg_ints(sizes, 2), x = input(w, DTYPE_I64, SIZES(-1, 3));

	assert_value(w, ADD(w, OP_full, s, arg_float(2)), DTYPE_F32, "[s0, 3]");
	assert_value(w, ADD(w, OP_full, s, number(w, 2)), DTYPE_I64, "[s0, 3]");
	assert_value(w, ADD(w, OP_full, s, arg_bool(true)), DTYPE_BOOL, "[s0, 3]");
	assert_value(w, ADD(w, OP_zeros, s), DTYPE_F32, "[s0, 3]");
	assert_value(w, ADD(w, OP_ones, number(w, 3), arg_dtype(DTYPE_F64)), DTYPE_F64, "[3]");
	assert_value(w, ADD(w, OP_zeros_like, x), DTYPE_I64, "[s0, 3]");
	assert_value(w, ADD(w, OP_ones_like, x, arg_dtype(DTYPE_F32)), DTYPE_F32, "[s0, 3]");
	assert_value(w, ADD(w, OP_to, x, arg_dtype(DTYPE_BOOL)), DTYPE_BOOL, "[s0, 3]");
	assert_refused(w, OP_zeros, ARGS(ints(w, SIZES(2, -1))), ERR_OP, "size -1 of dim 1");
	assert_refused(w, OP_zeros, ARGS(ints(w, SIZES(1, 1, 1, 1, 1, 1, 1, 1, 1))), ERR_BOUND,
		       "9 dims");
}

static void arguments_of_the_wrong_kind_are_named(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4));

	assert_refused(w, OP_sin, ARGS(arg_float(2)), ERR_TYPE,
		       "sin: `x` is a float; a Tensor is needed here");
	assert_refused(w, OP_sum, ARGS(x, arg_float(1)), ERR_TYPE,
		       "sum: `dim` is a float; an int or a tuple of ints or None is needed here");
	assert_refused(w, OP_cumsum, ARGS(x), ERR_TYPE,
		       "cumsum: `dim` is missing: cumsum(Tensor x");
	assert_refused(w, OP_mul, ARGS(x, x, x), ERR_TYPE, "takes 2 arguments and got 3");
	assert_refused(w, OP_sum, ARGS(x, arg_none(), number(w, 1)), ERR_TYPE,
		       "`keepdim` is an int");
	assert_refused(w, OP_add, ARGS(x, arg_sym(NULL)), ERR_BOUND, "has grown past");
}

static void what_is_left_out_has_its_default(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4));
	const struct node *n;

	n = w->g->nodes[ADD(w, OP_layer_norm, x, number(w, 4)).node];
	assert_int_equal(node_arg(n, "normalized_shape")->kind, ARG_INTS);
	assert_true(node_arg(n, "eps")->f == 1e-05);
	assert_int_equal(node_arg(n, "bias")->kind, ARG_NONE);
	n = w->g->nodes[ADD(w, OP_layer_norm, x, number(w, 4), arg_none(), arg_none(), number(w, 1))
			    .node];
	assert_int_equal(node_arg(n, "eps")->kind, ARG_FLOAT);
	assert_string_equal(node_arg(w->g->nodes[ADD(w, OP_gelu, x).node], "approximate")->str,
			    "none");
	n = w->g->nodes[ADD(w, OP_norm, x).node];
	assert_true(sym_is(node_arg(n, "p")->sym, 2));
	assert_null(node_arg(n, "q"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(tensors_with_dims_promote_to_the_wider_type),
		CASE(zero_dim_tensors_promote_by_category_only),
		CASE(python_numbers_promote_by_category_to_the_default_dtype),
		CASE(a_wrapped_number_is_weak_as_a_tensor_too),
		CASE(float_rules_turn_ints_into_float32),
		CASE(same_rules_keep_the_dtype_and_refuse_what_torch_refuses),
		CASE(minus_refuses_a_bool_on_either_side),
		CASE(pow_follows_torch),
		CASE(an_int_tensor_is_not_divided_by_zero),
		CASE(comparisons_and_logic_give_bools),
		CASE(where_promotes_its_values_and_wants_a_bool),
		CASE(sums_of_ints_are_int64_and_dtype_wins),
		CASE(dims_may_be_negative_none_many_or_kept),
		CASE(wrong_dims_are_named),
		CASE(broadcasting_follows_numpy),
		CASE(sizes_that_do_not_broadcast_are_both_named),
		CASE(symbols_that_would_have_to_be_equal_are_handed_out),
		CASE(statistics_want_floats),
		CASE(activations_keep_shape_and_want_floats),
		CASE(clamp_promotes_over_its_bounds),
		CASE(normalisations_check_their_shapes),
		CASE(alpha_has_torch_s_rules),
		CASE(new_tensors_take_dtype_and_sizes),
		CASE(arguments_of_the_wrong_kind_are_named),
		CASE(what_is_left_out_has_its_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
