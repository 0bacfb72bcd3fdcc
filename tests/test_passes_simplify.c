/* tests/test_passes_simplify.c -- every rule, and that the bits stay. */
#include "tests/passes_help.h"

static const float floats[16] = { 0.0f,  -0.0f,  1.0f,  -1.0f,    0.3f,      -2.7f, 1e-40f, -1e-40f,
				  3e38f, -3e38f, 65.5f, INFINITY, -INFINITY, NAN,   0.5f,   1.5f };
static const int64_t longs[16] = { 0,  1,   -1,      2,         -2,        3,
				   7,  -9,  1 << 20, INT64_MAX, INT64_MIN, INT64_MAX - 1,
				   12, -13, 100,     -100 };
static const uint8_t bools[16] = { 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0 };

static const void *values_for(enum dtype dtype)
{
	static double doubles[16];

	for (int i = 0; i < 16; i++)
		doubles[i] = (double)floats[i];
	return dtype == DTYPE_F32   ? (const void *)floats
	       : dtype == DTYPE_F64 ? (const void *)doubles
	       : dtype == DTYPE_I64 ? (const void *)longs
				    : (const void *)bools;
}

enum { EXACT, NEAR };

/* After simplify and dce the ops are `ops`, and the values what they were. */
static void check(struct world *w, struct arg out, const char *ops, int how)
{
	const void *inputs[8];
	void *before, *after;
	enum dtype dtype = w->g->nodes[out.node]->dtype;
	int64_t n = element_count(w->g->nodes[out.node]);

	for (int i = 0; i < w->g->n_inputs; i++)
		inputs[i] = values_for(w->g->nodes[w->g->inputs[i]]->dtype);
	RETURN(w, out);
	before = values_of(w, 0, inputs);
	RUN_PASS(w, pass_simplify);
	RUN_PASS(w, pass_dce);
	assert_ops(w->g, ops);
	after = values_of(w, 0, inputs);
	assert_int_equal(w->g->nodes[w->g->outputs[0]]->dtype, dtype);
	if (how == EXACT)
		assert_same_values(dtype, before, after, n);
	for (int64_t i = 0; how == NEAR && i < n; i++) {
		union element x, y;

		element_convert(DTYPE_F64, &x, dtype, after, i);
		element_convert(DTYPE_F64, &y, dtype, before, i);
		assert_near(x.f64, y.f64, 1e-6);
	}
	free(before);
	free(after);
	world_end(w);
	world_begin(w);
}

static struct world world;

static struct arg x_of(enum dtype dtype)
{
	return input(&world, dtype, SIZES(16));
}
#define X x_of(DTYPE_F32)
#define IX x_of(DTYPE_I64)
#define BX x_of(DTYPE_BOOL)
#define UN(op, x) ADD(&world, OP_##op, x)
#define BIN(op, x, y) ADD(&world, OP_##op, x, y)
#define CAST(x, dtype) ADD(&world, OP_to, x, arg_dtype(dtype))
#define CHECK(x, ops) check(&world, x, ops, EXACT)

static int begin(void **state)
{
	(void)state;
	world_begin(&world);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_end(&world);
	return 0;
}

static void multiplying_by_one_does_nothing(void **state)
{
	(void)state;
	CHECK(BIN(mul, X, arg_float(1)), "");
	CHECK(BIN(mul, number(&world, 1), IX), "");
	CHECK(BIN(truediv, X, number(&world, 1)), "");
	CHECK(BIN(pow, X, arg_float(1)), "");
	CHECK(BIN(mul, IX, arg_float(1)), "mul"); /* makes a float of it */
	CHECK(BIN(truediv, IX, number(&world, 1)), "truediv");
}

static void adding_zero_stays_where_it_changes_minus_zero(void **state)
{
	(void)state;
	CHECK(BIN(add, IX, number(&world, 0)), "");
	CHECK(BIN(add, X, arg_float(-0.0)), "");
	CHECK(BIN(add, X, number(&world, 0)), "add");
	CHECK(BIN(add, X, arg_float(0)), "add");
	CHECK(BIN(sub, X, number(&world, 0)), "");
	CHECK(BIN(sub, X, arg_float(0)), "");
	CHECK(BIN(sub, X, arg_float(-0.0)), "sub");
	CHECK(BIN(sub, arg_float(0), X), "sub");
	CHECK(BIN(mul, X, number(&world, 0)), "mul"); /* inf, NaN */
}

static void small_powers_are_products(void **state)
{
	(void)state;
	CHECK(BIN(pow, X, number(&world, 2)), "square");
	CHECK(BIN(pow, IX, number(&world, 2)), "square");
	CHECK(BIN(pow, IX, number(&world, 3)), "square mul");
	CHECK(BIN(pow, IX, number(&world, 1)), "");
	CHECK(BIN(pow, IX, number(&world, 0)), "ones");
	CHECK(BIN(pow, X, arg_float(0)), "ones"); /* of NaN too */
	check(&world, BIN(pow, X, number(&world, 3)), "square mul", NEAR);
	CHECK(BIN(pow, BX, number(&world, 2)), "to square");
	CHECK(BIN(pow, IX, arg_float(2)), "to square");
}

/* Of positive numbers: below 0 torch's sqrt differs from pow, as ours does. */
static void roots_and_inverses_are_no_powers(void **state)
{
	static const struct {
		double power;
		const char *ops;
	} cases[] = { { 0.5, "square sqrt" },
		      { -0.5, "square rsqrt" },
		      { -1, "square reciprocal" },
		      { -2, "square square reciprocal" } };

	(void)state;
	for (int i = 0; i < 4; i++)
		check(&world, BIN(pow, UN(square, X), arg_float(cases[i].power)), cases[i].ops,
		      NEAR);
	CHECK(BIN(pow, X, arg_float(2.5)), "pow");
	CHECK(BIN(pow, IX, number(&world, 4)), "pow");
	CHECK(BIN(pow, arg_float(2), X), "pow");
}

static void division_by_a_power_of_two_multiplies(void **state)
{
	(void)state;
	CHECK(BIN(truediv, X, number(&world, 64)), "mul");
	CHECK(BIN(truediv, X, arg_float(-0.125)), "mul");
	CHECK(BIN(truediv, IX, number(&world, 4)), "mul");
	CHECK(BIN(truediv, x_of(DTYPE_F64), arg_float(0x1p500)), "mul");
	CHECK(BIN(truediv, X, arg_float(3)), "truediv");
	CHECK(BIN(truediv, X, number(&world, 0)), "truediv");
	CHECK(BIN(truediv, X, arg_float(0x1p127)), "truediv"); /* 1 / y is subnormal */
	CHECK(BIN(truediv, X, arg_float(INFINITY)), "truediv");
	CHECK(BIN(truediv, X, arg_float(NAN)), "truediv");
}

static void one_over_x_is_a_reciprocal(void **state)
{
	(void)state;
	CHECK(BIN(truediv, number(&world, 1), X), "reciprocal");
	CHECK(BIN(truediv, arg_float(1), UN(sqrt, X)), "rsqrt");
	CHECK(UN(reciprocal, UN(sqrt, X)), "rsqrt");
	CHECK(BIN(truediv, number(&world, 1), IX), "truediv");
	CHECK(UN(reciprocal, UN(sqrt, IX)), "rsqrt");
}

static void what_is_done_twice_is_undone_or_done_once(void **state)
{
	(void)state;
	CHECK(UN(neg, UN(neg, X)), "");
	CHECK(UN(neg, UN(neg, IX)), "");
	CHECK(UN(invert, UN(invert, IX)), "");
	CHECK(UN(logical_not, UN(logical_not, BX)), "");
	CHECK(UN(logical_not, UN(logical_not, X)), "logical_not logical_not");
	CHECK(UN(relu, UN(relu, X)), "relu");
	CHECK(UN(abs, UN(abs, IX)), "abs");
	CHECK(UN(sign, UN(sign, X)), "sign");
	CHECK(UN(floor, UN(ceil, X)), "ceil");
	CHECK(UN(round, UN(floor, X)), "floor");
	CHECK(UN(round, IX), "");
	CHECK(UN(relu, UN(abs, X)), "abs");
	CHECK(UN(abs, UN(square, X)), "square");
	CHECK(UN(relu, UN(abs, IX)), "abs relu"); /* of the lowest int it is negative */
	CHECK(UN(abs, UN(neg, X)), "abs");
	CHECK(UN(square, UN(neg, X)), "square");
	CHECK(UN(square, UN(abs, IX)), "square");
	CHECK(UN(clone, X), "");
}

static void negated_equality_is_the_other_one(void **state)
{
	(void)state;
	CHECK(UN(logical_not, BIN(eq, X, arg_float(0.3))), "ne");
	CHECK(UN(invert, BIN(ne, X, arg_float(NAN))), "eq");
	CHECK(UN(logical_not, BIN(lt, X, arg_float(0))), "lt logical_not"); /* NaN */
}

static void casts_go_where_they_lose_nothing(void **state)
{
	(void)state;
	CHECK(CAST(X, DTYPE_F32), "");
	CHECK(CAST(CAST(X, DTYPE_F64), DTYPE_F32), "");
	CHECK(CAST(CAST(BX, DTYPE_F32), DTYPE_I64), "to");
	CHECK(CAST(CAST(BX, DTYPE_I64), DTYPE_BOOL), "");
	CHECK(CAST(CAST(X, DTYPE_F64), DTYPE_BOOL), "to");
	CHECK(CAST(CAST(IX, DTYPE_F64), DTYPE_I64), "to to");
	CHECK(CAST(CAST(X, DTYPE_I64), DTYPE_F32), "to to");
}

static void equal_operands_collapse(void **state)
{
	struct arg x = X;

	(void)state;
	CHECK(BIN(mul, x, x), "square");
	x = X;
	CHECK(BIN(maximum, x, x), "");
	x = IX;
	CHECK(BIN(and_, x, x), "");
	x = BX;
	CHECK(BIN(mul, x, x), "mul");
	x = X;
	CHECK(ADD(&world, OP_where, BX, x, x), "");
	x = X;
	CHECK(BIN(sub, x, x), "sub"); /* inf, NaN */
}

static void where_with_a_known_mask_takes_its_side(void **state)
{
	const uint8_t yes = 1, no = 0;
	struct arg x = X, wide;

	(void)state;
	CHECK(ADD(&world, OP_where, constant(&world, DTYPE_BOOL, SIZES(1), &yes), x, arg_float(2)),
	      "");
	x = X;
	CHECK(ADD(&world, OP_where, constant(&world, DTYPE_BOOL, SIZES(1), &no), arg_float(2), x),
	      "");
	x = X; /* the side taken is smaller than the result */
	wide = input(&world, DTYPE_F32, SIZES(1, 16));
	CHECK(ADD(&world, OP_where, constant(&world, DTYPE_BOOL, SIZES(1), &yes), x, wide),
	      "tensor where");
}

static void a_constant_of_one_element_becomes_a_number(void **state)
{
	const float f = 0.1f;
	const double d = 0.1;
	const int64_t i = 3;

	(void)state;
	CHECK(BIN(add, X, constant(&world, DTYPE_F32, SIZES(1), &f)), "add");
	CHECK(BIN(mul, constant(&world, DTYPE_I64, 0, NULL, &i), X), "mul");
	CHECK(BIN(add, X, ADD(&world, OP_zeros, ints(&world, SIZES(16)))), "add");
	CHECK(ADD(&world, OP_where, BX, X, constant(&world, DTYPE_F32, SIZES(1), &f)), "where");
	/* A float64 tensor with dims decides the dtype, and sizes must not shrink. */
	CHECK(BIN(add, X, constant(&world, DTYPE_F64, SIZES(1), &d)), "tensor add");
	CHECK(BIN(add, X, constant(&world, DTYPE_F32, SIZES(1, 1), &f)), "tensor add");
	/* x ** tensor is a power in eager mode too. */
	CHECK(BIN(pow, X, constant(&world, DTYPE_I64, 0, NULL, &i)), "tensor pow");
}

static void numbers_stand_on_the_right(void **state)
{
	struct arg x = X;

	(void)state;
	RETURN(&world, BIN(add, arg_float(2), x), BIN(sub, arg_float(2), x));
	RUN_PASS(&world, pass_simplify);
	assert_graph(world.g, "%arg0: float32[16] = input(0)\n"
			      "%add: float32[16] = add(%arg0, 2.0)\n"
			      "%sub: float32[16] = sub(2.0, %arg0)\n"
			      "return %add, %sub\n");
}

static void symbolic_divisors_stay(void **state)
{
	struct arg x = input(&world, DTYPE_F32, SIZES(-1));

	(void)state;
	RETURN(&world, BIN(truediv, x, arg_sym(size_of(&world, -1))));
	RUN_PASS(&world, pass_simplify);
	assert_ops(world.g, "truediv");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(multiplying_by_one_does_nothing),
		CASE(adding_zero_stays_where_it_changes_minus_zero),
		CASE(small_powers_are_products),
		CASE(roots_and_inverses_are_no_powers),
		CASE(division_by_a_power_of_two_multiplies),
		CASE(one_over_x_is_a_reciprocal),
		CASE(what_is_done_twice_is_undone_or_done_once),
		CASE(negated_equality_is_the_other_one),
		CASE(casts_go_where_they_lose_nothing),
		CASE(equal_operands_collapse),
		CASE(where_with_a_known_mask_takes_its_side),
		CASE(a_constant_of_one_element_becomes_a_number),
		CASE(numbers_stand_on_the_right),
		CASE(symbolic_divisors_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
