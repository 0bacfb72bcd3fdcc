/* tests/test_backends_views.c -- views, joins and index functions as kernels.
 *
 * Values against formulas on both backends, and how many kernels there are: a
 * view is an access and costs none.
 */
#include "tests/backends_help.h"

enum { ROWS = 37, COLUMNS = 130, N = ROWS * COLUMNS };

/* One input [s0, 130] of ref_sample(), one output of `n` elements. */
static void check(struct builder *b, int64_t n, int kernels, double (*want)(int64_t i))
{
	static const char *const names[] = { "interp", "cpu" };
	const struct lowered *l = lower_passed(b, false);
	float *x = samples(b, N, 0), *out = samples(b, n + 16, 0);

	assert_int_equal(l->n_kernels, kernels);
	for (int k = 0; k < 2; k++) {
		char why[128];

		if (!backend_find(names[k])->available(&(struct backend_env){ 0 }, why,
						       sizeof(why)))
			continue;
		help_execute(names[k], l, b->vars, (const void *[]){ x }, (void *[]){ out }, NULL);
		for (int64_t i = 0; i < n; i++)
			if (fabs(out[i] - want(i)) > 1e-5)
				fail_msg("%s: element %lld is %g, not %g", names[k], (long long)i,
					 out[i], want(i));
	}
	builder_destroy(b);
}

static double at(int64_t row, int64_t column)
{
	return ref_sample(row * COLUMNS + column);
}

static int slice(struct builder *b, int x, int dim, int64_t start, int64_t end, int64_t step)
{
	return ADD(b, OP_slice, T(x), I(b, dim), I(b, start), I(b, end), I(b, step));
}

static double want_difference(int64_t i)
{
	return at(i / (COLUMNS - 1), i % (COLUMNS - 1) + 1) -
	       at(i / (COLUMNS - 1), i % (COLUMNS - 1));
}

static void neighbours_are_two_accesses_of_one_kernel(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));

	(void)state;
	RETURN(&b, ADD(&b, OP_sub, T(slice(&b, x, 1, 1, COLUMNS, 1)),
		       T(slice(&b, x, 1, 0, COLUMNS - 1, 1))));
	check(&b, ROWS * (COLUMNS - 1), 1, want_difference);
}

static double want_transposed(int64_t i)
{
	return 2 * at(i % ROWS, COLUMNS - 1 - i / ROWS) + 1;
}

static void a_view_of_a_product_fuses(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));
	int y = ADD(&b, OP_t, T(ADD(&b, OP_mul, T(x), F(2))));

	(void)state;
	y = ADD(&b, OP_flip, T(y), DIM(&b, 0));
	RETURN(&b, ADD(&b, OP_add, T(y), F(1)));
	check(&b, N, 1, want_transposed);
}

static double want_halves(int64_t i)
{
	int64_t row = i / (COLUMNS / 2), column = i % (COLUMNS / 2);

	return (at(row, column) + at(0, column)) *
	       (at(row, column + COLUMNS / 2) + at(0, column + COLUMNS / 2));
}

static void views_of_parts_of_a_broadcast_sum_are_in_one_kernel(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));
	int y = ADD(&b, OP_add, T(x), T(ADD(&b, OP_select, T(x), I(&b, 0), I(&b, 0))));

	(void)state;
	RETURN(&b, ADD(&b, OP_mul, T(slice(&b, y, 1, 0, COLUMNS / 2, 1)),
		       T(slice(&b, y, 1, COLUMNS / 2, COLUMNS, 1))));
	check(&b, ROWS * (COLUMNS / 2), 1, want_halves);
}

static double want_flat(int64_t i)
{
	return at(i % ROWS, i / ROWS) - 1;
}

static void a_reshape_that_would_copy_is_in_the_kernel_of_what_reads_it_alone(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));

	(void)state;
	RETURN(&b, ADD(&b, OP_sub, T(ADD(&b, OP_flatten, T(ADD(&b, OP_t, T(x))))), F(1)));
	check(&b, N, 1, want_flat);
}

static double want_flat_twice(int64_t i)
{
	return at(i % ROWS, i / ROWS) - fabs(at(i % ROWS, i / ROWS));
}

static void a_reshape_that_copies_is_a_kernel(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));
	int flat = ADD(&b, OP_flatten, T(ADD(&b, OP_t, T(x))));

	(void)state;
	RETURN(&b, ADD(&b, OP_sub, T(flat), T(ADD(&b, OP_abs, T(flat)))));
	check(&b, N, 2, want_flat_twice);
}

static double want_joined(int64_t i)
{
	int64_t row = i / (2 * COLUMNS + 1), column = i % (2 * COLUMNS + 1);

	if (column < COLUMNS)
		return 3 * at(row, column);
	column -= COLUMNS;
	return column == 0 ? 3 * 7 : -3 * at(row, column - 1);
}

static void a_join_reads_its_parts_and_fuses_with_what_reads_it(void **state)
{
	struct builder b = builder_create();
	const struct sym *rows = SYM(&b, ROWS);
	int x = INPUT(&b, DTYPE_F32, rows, NUM(&b, COLUMNS));
	int seven = ADD(&b, OP_full, DIMS(&b, rows, NUM(&b, 1)), F(7));
	int negative = ADD(&b, OP_neg, T(x));
	int all = ADD(&b, OP_cat, I(&b, 1), T(x), T(seven), T(negative));

	(void)state;
	RETURN(&b, ADD(&b, OP_mul, T(all), F(3)));
	check(&b, ROWS * (2 * COLUMNS + 1), 3, want_joined);
}

static double want_rows_joined(int64_t i)
{
	int64_t row = i / COLUMNS;

	return at(row < 2 ? row + ROWS - 2 : row - 2, i % COLUMNS);
}

static void a_roll_is_one_kernel(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, ROWS), NUM(&b, COLUMNS));

	(void)state;
	RETURN(&b, ADD(&b, OP_roll, T(x), DIM(&b, 2), DIM(&b, 0)));
	check(&b, N, 1, want_rows_joined);
}

static double want_written(int64_t i)
{
	return i / COLUMNS == 3 ? 9 : at(i / COLUMNS, i % COLUMNS);
}

/* x[3] = 9 */
static void a_write_to_a_row_is_a_join(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, ROWS), NUM(&b, COLUMNS));
	int row = ADD(&b, OP_full, DIM(&b, COLUMNS), F(9));

	(void)state;
	RETURN(&b, ADD(&b, OP_put_view, T(x), T(row), DIM(&b, COLUMNS), DIM(&b, 1),
		       I(&b, 3 * COLUMNS)));
	check(&b, N, 1, want_written);
}

static double want_diagonal(int64_t i)
{
	return i / COLUMNS == i % COLUMNS ? 4 : at(i / COLUMNS, i % COLUMNS);
}

static void a_write_by_strides_is_a_function(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, ROWS), NUM(&b, COLUMNS));
	int line = ADD(&b, OP_full, DIM(&b, ROWS), F(4));

	(void)state;
	RETURN(&b,
	       ADD(&b, OP_put_view, T(x), T(line), DIM(&b, ROWS), DIM(&b, COLUMNS + 1), I(&b, 0)));
	check(&b, N, 2, want_diagonal);
}

static double want_chosen(int64_t i)
{
	return at(ROWS - 1 - i / COLUMNS, i % COLUMNS);
}

/* x[arange(ROWS - 1, -1, -1)] */
static void an_index_chooses_rows(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, ROWS), NUM(&b, COLUMNS));
	int i = ADD(&b, OP_arange, I(&b, ROWS - 1), I(&b, -1), I(&b, ROWS), arg_dtype(DTYPE_I64));

	(void)state;
	RETURN(&b, ADD(&b, OP_index, T(x), I(&b, 0), T(i)));
	check(&b, N, 1, want_chosen); /* the range is folded */
}

static void an_index_out_of_bounds_is_a_fault_with_its_place(void **state)
{
	const struct backend *backend = backend_find("interp");
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 2));
	int i = INPUT(&b, DTYPE_I64, NUM(&b, 3));
	int64_t wrong[] = { 1, -5, 0 }, right[] = { 1, -4, 3 };
	struct err err = { 0 };
	float out[6];

	(void)state;
	RETURN(&b, ADD(&b, OP_index, T(x), I(&b, 0), T(i)));
	const struct lowered *l = lower_passed(&b, false);
	struct executable *exe = help_compile(backend, &(struct backend_env){ 0 }, l);
	float *in = samples(&b, 8, 0);
	help_run(backend, exe, l, b.vars, (const void *[]){ in, right }, (void *[]){ out }, NULL);
	assert_true(backend->fault(exe, &err));
	assert_near(out[2], in[0], 1e-6);
	help_run(backend, exe, l, b.vars, (const void *[]){ in, wrong }, (void *[]){ out }, NULL);
	assert_false(backend->fault(exe, &err));
	assert_string_equal(err.message, "index -5 is out of bounds for a dim of size 4");
	assert_true(backend->fault(exe, &err));
	backend->destroy(exe);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_two_accesses_of_one_kernel),
		cmocka_unit_test(a_view_of_a_product_fuses),
		cmocka_unit_test(views_of_parts_of_a_broadcast_sum_are_in_one_kernel),
		cmocka_unit_test(a_reshape_that_would_copy_is_in_the_kernel_of_what_reads_it_alone),
		cmocka_unit_test(a_reshape_that_copies_is_a_kernel),
		cmocka_unit_test(a_join_reads_its_parts_and_fuses_with_what_reads_it),
		cmocka_unit_test(a_roll_is_one_kernel),
		cmocka_unit_test(a_write_to_a_row_is_a_join),
		cmocka_unit_test(a_write_by_strides_is_a_function),
		cmocka_unit_test(an_index_chooses_rows),
		cmocka_unit_test(an_index_out_of_bounds_is_a_fault_with_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
