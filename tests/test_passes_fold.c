/* tests/test_passes_fold.c -- folded values against plain C. */
#include "tests/passes_help.h"

/* Folds a graph that returns x; its elements as doubles. */
static double at(struct world *w, struct arg x, int64_t index)
{
	union element e;
	enum dtype dtype = w->g->nodes[x.node]->dtype;
	void *data;

	RETURN(w, x);
	data = values_of(w, 0, NULL);
	element_convert(DTYPE_F64, &e, dtype, data, index);
	free(data);
	return e.f64;
}

static struct arg f32(struct world *w, float f)
{
	return constant(w, DTYPE_F32, 0, NULL, &f);
}

static struct arg i64(struct world *w, int64_t i)
{
	return constant(w, DTYPE_I64, 0, NULL, &i);
}

static void arithmetic_is_rounded_to_the_op_s_dtype(void **state)
{
	struct world *w = *state;
	const double third = 1.0 / 3;
	struct arg d = constant(w, DTYPE_F64, 0, NULL, &third);

	assert_true(at(w, ADD(w, OP_add, f32(w, 0.1f), f32(w, 0.2f)), 0) == (double)(0.1f + 0.2f));
	assert_true(at(w, ADD(w, OP_mul, f32(w, 16777216), arg_float(1.1)), 0) ==
		    (double)(16777216.0f * 1.1f));
	assert_true(at(w, ADD(w, OP_mul, d, arg_float(3)), 0) == third * 3);
	assert_true(at(w, ADD(w, OP_truediv, i64(w, 1), number(w, 3)), 0) == (double)(1.0f / 3.0f));
	assert_true(at(w, ADD(w, OP_rsqrt, f32(w, 3)), 0) == (double)(1.0f / sqrtf(3.0f)));
}

static void ints_wrap_and_divide_like_python(void **state)
{
	struct world *w = *state;

	assert_true(
	    at(w, ADD(w, OP_eq, ADD(w, OP_add, i64(w, INT64_MAX), number(w, 1)), i64(w, INT64_MIN)),
	       0) == 1);
	assert_true(at(w, ADD(w, OP_floordiv, i64(w, -7), number(w, 2)), 0) == -4);
	assert_true(at(w, ADD(w, OP_mod, i64(w, -7), number(w, 3)), 0) == 2);
	assert_true(at(w, ADD(w, OP_mod, i64(w, 7), number(w, -3)), 0) == -2);
	assert_true(at(w, ADD(w, OP_pow, i64(w, 3), number(w, 20)), 0) == 3486784401.0);
	assert_true(at(w, ADD(w, OP_pow, i64(w, 2), i64(w, -1)), 0) == 0);
	assert_true(at(w, ADD(w, OP_abs, i64(w, -5)), 0) == 5);
	assert_true(at(w, ADD(w, OP_sign, i64(w, -5)), 0) == -1);
	assert_true(at(w, ADD(w, OP_relu, i64(w, -5)), 0) == 0);
	assert_true(at(w, ADD(w, OP_lt, i64(w, -5), number(w, 3)), 0) == 1);
	assert_true(at(w, ADD(w, OP_minimum, i64(w, -5), number(w, 3)), 0) == -5);
	assert_true(at(w, ADD(w, OP_invert, i64(w, 5)), 0) == -6);
	assert_true(at(w, ADD(w, OP_xor_, i64(w, 6), number(w, 3)), 0) == 5);
}

static void bools_are_true_or_false(void **state)
{
	struct world *w = *state;
	const uint8_t yes = 1, no = 0;
	struct arg t = constant(w, DTYPE_BOOL, 0, NULL, &yes);
	struct arg f = constant(w, DTYPE_BOOL, 0, NULL, &no);

	assert_true(at(w, ADD(w, OP_add, t, t), 0) == 1);
	assert_true(at(w, ADD(w, OP_mul, t, f), 0) == 0);
	assert_true(at(w, ADD(w, OP_invert, t), 0) == 0);
	assert_true(at(w, ADD(w, OP_invert, f), 0) == 1);
	assert_true(at(w, ADD(w, OP_xor_, t, f), 0) == 1);
	assert_true(at(w, ADD(w, OP_or_, f, f), 0) == 0);
	assert_true(at(w, ADD(w, OP_maximum, f, t), 0) == 1);
	assert_true(at(w, ADD(w, OP_logical_xor, f32(w, NAN), t), 0) == 0); /* NaN is true */
	assert_true(at(w, ADD(w, OP_logical_not, f32(w, 0.5f)), 0) == 0);
	assert_true(at(w, ADD(w, OP_where, f, arg_float(1), arg_float(2)), 0) == 2);
	assert_true(at(w, ADD(w, OP_isnan, f32(w, NAN)), 0) == 1);
}

static void floats_divide_and_round_like_torch(void **state)
{
	struct world *w = *state;

	assert_true(at(w, ADD(w, OP_floordiv, f32(w, -7), arg_float(2)), 0) == -4);
	assert_true(at(w, ADD(w, OP_mod, f32(w, -7), arg_float(3)), 0) == 2);
	assert_true(isinf(at(w, ADD(w, OP_floordiv, f32(w, 1), arg_float(0)), 0)));
	assert_true(at(w, ADD(w, OP_round, f32(w, 2.5f)), 0) == 2);
	assert_true(at(w, ADD(w, OP_floor, f32(w, -0.5f)), 0) == -1);
	assert_true(isnan(at(w, ADD(w, OP_relu, f32(w, NAN)), 0)));
	assert_true(isnan(at(w, ADD(w, OP_maximum, f32(w, 1), f32(w, NAN)), 0)));
	assert_true(isnan(at(w, ADD(w, OP_minimum, f32(w, NAN), f32(w, 1)), 0)));
}

static void the_math_library_is_rounded_once(void **state)
{
	static const struct {
		enum op op;
		double (*f)(double);
	} cases[] = {
		{ OP_sin, sin },     { OP_cos, cos },     { OP_tan, tan }, { OP_exp, exp },
		{ OP_exp2, exp2 },   { OP_expm1, expm1 }, { OP_log, log }, { OP_log2, log2 },
		{ OP_log1p, log1p }, { OP_tanh, tanh },   { OP_erf, erf }, { OP_sqrt, sqrt }
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (float x = 0.1f; x < 4; x += 0.7f)
			assert_true(at(w, ADD(w, cases[i].op, f32(w, x)), 0) ==
				    (double)(float)cases[i].f((double)x));
	assert_true(at(w, ADD(w, OP_pow, f32(w, 2.3f), arg_float(1.7)), 0) ==
		    (double)(float)pow((double)2.3f, (double)1.7f));
	assert_true(at(w, ADD(w, OP_atan2, f32(w, 1), f32(w, -2)), 0) ==
		    (double)(float)atan2(1, -2));
	assert_near(at(w, ADD(w, OP_sigmoid, f32(w, 0.5f)), 0), 1 / (1 + exp(-0.5)), 1e-7);
}

static void operands_broadcast(void **state)
{
	struct world *w = *state;
	const float column[2] = { 10, 20 }, row[3] = { 1, 2, 3 };
	struct arg a = constant(w, DTYPE_F32, SIZES(2, 1), column);
	struct arg b = constant(w, DTYPE_F32, SIZES(3), row);
	struct arg sum = ADD(w, OP_add, a, b);

	for (int i = 0; i < 6; i++)
		assert_true(at(w, sum, i) == (double)(column[i / 3] + row[i % 3]));
}

static void casts_convert_as_the_kernels_do(void **state)
{
	struct world *w = *state;

	assert_true(at(w, ADD(w, OP_to, f32(w, -2.7f), arg_dtype(DTYPE_I64)), 0) == -2);
	assert_true(at(w, ADD(w, OP_to, f32(w, NAN), arg_dtype(DTYPE_BOOL)), 0) == 1);
	assert_true(at(w, ADD(w, OP_to, f32(w, INFINITY), arg_dtype(DTYPE_I64)), 0) == -0x1p63);
	assert_true(at(w, ADD(w, OP_to, i64(w, 16777217), arg_dtype(DTYPE_F32)), 0) == 16777216);
	assert_true(at(w, ADD(w, OP_full, arg_ints(NULL, 0), arg_float(2.7), arg_dtype(DTYPE_I64)),
		       0) == 2);
}

static void reductions_go_over_their_dims(void **state)
{
	struct world *w = *state;
	const float x[6] = { 1, -2, 3, 4, 5, -6 };
	const int64_t k[3] = { 3, -4, 5 };
	const uint8_t m[2] = { 1, 0 };
	struct arg a = constant(w, DTYPE_F32, SIZES(2, 3), x);
	struct arg i = constant(w, DTYPE_I64, SIZES(3), k);
	struct arg b = constant(w, DTYPE_BOOL, SIZES(2), m);

	assert_true(at(w, ADD(w, OP_sum, a), 0) == 5);
	assert_true(at(w, ADD(w, OP_sum, a, number(w, 0)), 2) == -3);
	assert_true(at(w, ADD(w, OP_sum, a, number(w, 1)), 1) == 3);
	assert_true(at(w, ADD(w, OP_amax, a, number(w, -1), arg_bool(true)), 1) == 5);
	assert_true(at(w, ADD(w, OP_amin, i), 0) == -4);
	assert_true(at(w, ADD(w, OP_prod, i), 0) == -60);
	assert_true(at(w, ADD(w, OP_sum, b), 0) == 1);
	assert_true(at(w, ADD(w, OP_any, b), 0) == 1);
	assert_true(at(w, ADD(w, OP_all, b), 0) == 0);
	assert_true(at(w, ADD(w, OP_amax, b), 0) == 1);
	assert_true(at(w, ADD(w, OP_any, a), 0) == 1);
	assert_true(at(w, ADD(w, OP_sum, constant(w, DTYPE_F32, SIZES(0), x)), 0) == 0);
	assert_true(isnan(at(w, ADD(w, OP_amax, ADD(w, OP_mul, a, arg_float(NAN))), 0)));
}

static void a_uniform_result_is_a_full_of_any_size(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 4));
	struct arg ones = ADD(w, OP_ones_like, x);
	struct arg y = ADD(w, OP_mul, ADD(w, OP_add, ones, arg_float(0.5)), f32(w, 2));

	RETURN(w, ADD(w, OP_add, x, y));
	RUN_PASS(w, pass_decompose);
	RUN_PASS(w, pass_fold);
	RUN_PASS(w, pass_simplify);
	RUN_PASS(w, pass_dce);
	assert_graph(w->g, "%arg0: float32[s0, 4] = input(0)\n"
			   "%add_1: float32[s0, 4] = add(%arg0, 3.0)\n"
			   "return %add_1\n");
}

static void what_depends_on_an_input_or_is_too_large_stays(void **state)
{
	struct world *w = *state;
	const float x[2] = { 1, 2 };
	struct arg big = ADD(w, OP_zeros, ints(w, SIZES(1 << 17)));
	struct arg c = constant(w, DTYPE_F32, SIZES(2, 1), x), s = input(w, DTYPE_F32, SIZES(2));

	RETURN(w, ADD(w, OP_add, c, big), ADD(w, OP_sum, big), ADD(w, OP_sin, s),
	       ADD(w, OP_add, number(w, 1), arg_sym(size_of(w, -1))),
	       ADD(w, OP_cumsum, c, number(w, 0)));
	RUN_PASS(w, pass_fold);
	assert_ops(w->g, "zeros tensor add sum sin add cumsum");
}

static void a_folded_constant_keeps_name_and_line(void **state)
{
	struct world *w = *state;
	const float x[2] = { 1, 2 };
	struct arg c = constant(w, DTYPE_F32, SIZES(2), x);
	int id = graph_add(w->g, &(struct node_spec){ OP_neg, &c, 1, 12, 3 }, &w->err);

	RETURN(w, arg_node(id));
	RUN_PASS(w, pass_fold);
	RUN_PASS(w, pass_dce);
	assert_graph(w->g, "%neg: float32[2] = constant(-1, -2)  # line 12\nreturn %neg\n");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(arithmetic_is_rounded_to_the_op_s_dtype),
		CASE(ints_wrap_and_divide_like_python),
		CASE(bools_are_true_or_false),
		CASE(floats_divide_and_round_like_torch),
		CASE(the_math_library_is_rounded_once),
		CASE(operands_broadcast),
		CASE(casts_convert_as_the_kernels_do),
		CASE(reductions_go_over_their_dims),
		CASE(a_uniform_result_is_a_full_of_any_size),
		CASE(what_depends_on_an_input_or_is_too_large_stays),
		CASE(a_folded_constant_keeps_name_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
