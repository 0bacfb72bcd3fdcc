/* tests/test_session_memory.c -- when an exec takes memory, and when it gives it back. */
#include <math.h>

#include "tests/cpu_folder.h"
#include "tests/exec_fixture.h"

enum { SIDE = 256, BYTES = SIDE * SIDE * 4 };

/* A kernel for each product: x @ x @ x @ ... */
static struct exec *products(struct fixture *f, struct builder *b, int n)
{
	const struct compile_options options = { .env = &f->env,
						 .backend = backend_find("interp"),
						 .passes = { .verify = true } };
	int x = INPUT(b, DTYPE_F32, NUM(b, SIDE), NUM(b, SIDE)), y = x;
	struct err err = { 0 };
	struct exec *e;

	for (int i = 0; i < n; i++)
		y = ADD(b, OP_matmul, T(y), T(y));
	RETURN(b, y);
	e = compile_piece(&options, graph_copy(b->g, b->arena), b->arena, &err);
	if (!e || !exec_bind(e, NULL, &err))
		fail_msg("%s", err.message);
	return e;
}

static struct tensor *filled(struct fixture *f, float value)
{
	struct err err = { 0 };
	struct tensor *t = tensor_create(f->env.allocator, DTYPE_F32, 2, (int64_t[]){ SIDE, SIDE },
					 &err);

	assert_non_null(t);
	for (int i = 0; i < SIDE * SIDE; i++)
		((float *)tensor_data(t))[i] = i / SIDE == i % SIDE ? value : 0;
	return t;
}

static void large_temporaries_live_as_long_as_kernels_need_them(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	struct exec *e = products(f, &b, 4);
	struct tensor *x = filled(f, 2), *y;
	struct err err = { 0 };

	assert_true(e->stepwise);
	allocator_reset_peak(f->env.allocator);
	assert_true(exec_run(e, &(struct exec_call){ .inputs = &x, .outputs = &y }, &err));
	/* x, and two at a time of the three in between and the result */
	assert_in_range(allocator_peak_bytes(f->env.allocator), 3 * BYTES, 3 * BYTES + 1024);
	assert_true(((float *)tensor_data(y))[SIDE + 1] == 65536);
	tensor_unref(x);
	tensor_unref(y);
	exec_destroy(e);
	builder_destroy(&b);
}

static void inputs_that_are_given_up_go_with_their_last_kernel(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	struct exec *e = products(f, &b, 4);
	struct tensor *x = filled(f, 2), *y;
	struct err err = { 0 };

	allocator_reset_peak(f->env.allocator);
	assert_true(exec_run_last(e, &x, &y, NULL, 0, &err));
	assert_null(x);
	assert_in_range(allocator_peak_bytes(f->env.allocator), 2 * BYTES, 2 * BYTES + 1024);
	assert_true(((float *)tensor_data(y))[SIDE + 1] == 65536);
	tensor_unref(y);
	exec_destroy(e);
	builder_destroy(&b);
}

static void an_input_that_someone_else_holds_stays(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	struct exec *e = products(f, &b, 2);
	struct tensor *x = filled(f, 3), *given = tensor_ref(x), *y;
	struct err err = { 0 };

	assert_true(exec_run_last(e, &given, &y, NULL, 0, &err));
	assert_true(((float *)tensor_data(x))[0] == 3);
	assert_true(((float *)tensor_data(y))[0] == 81);
	tensor_unref(x);
	tensor_unref(y);
	exec_destroy(e);
	builder_destroy(&b);
}

/* One that is a result as it is has to be there after the last kernel. */
static void a_given_up_input_that_is_returned_is_copied_first(void **state)
{
	struct fixture *f = *state;
	const struct compile_options options = { .env = &f->env,
						 .backend = backend_find("interp"),
						 .passes = { .verify = true } };
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SIDE), NUM(&b, SIDE));
	struct tensor *in = filled(f, 5), *out[2];
	struct err err = { 0 };
	struct exec *e;

	RETURN(&b, ADD(&b, OP_matmul, T(x), T(x)), x);
	e = compile_piece(&options, graph_copy(b.g, b.arena), b.arena, &err);
	assert_true(e && exec_bind(e, NULL, &err));
	assert_true(exec_run_last(e, &in, out, NULL, 0, &err));
	assert_true(((float *)tensor_data(out[0]))[0] == 25);
	assert_true(((float *)tensor_data(out[1]))[0] == 5);
	tensor_unref(out[0]);
	tensor_unref(out[1]);
	exec_destroy(e);
	builder_destroy(&b);
}

static struct exec *compiled(struct fixture *f, struct builder *b)
{
	const struct compile_options options = { .env = &f->env,
						 .backend = backend_find("interp"),
						 .passes = { .verify = true } };
	struct err err = { 0 };
	struct exec *e = compile_piece(&options, graph_copy(b->g, b->arena), b->arena, &err);

	if (!e || !exec_bind(e, NULL, &err))
		fail_msg("%s", err.message);
	return e;
}

/* The bytes held at the highest; x begins with [[2, 3], [1, 2]], and y[1, 1] goes
 * to *at. */
static size_t peak_between(struct fixture *f, struct exec *e, float *at)
{
	struct tensor *x = filled(f, 2), *y;
	struct err err = { 0 };
	size_t peak;

	((float *)tensor_data(x))[1] = 3;
	((float *)tensor_data(x))[SIDE] = 1;
	allocator_reset_peak(f->env.allocator);
	if (!exec_run(e, &(struct exec_call){ .inputs = &x, .outputs = &y }, &err))
		fail_msg("%s", err.message);
	peak = allocator_peak_bytes(f->env.allocator);
	*at = ((float *)tensor_data(y))[SIDE + 1];
	tensor_unref(x);
	tensor_unref(y);
	return peak;
}

/* x @ x, its square in the same memory, and the product of that. */
static void a_kernel_writes_over_what_ends_with_it(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SIDE), NUM(&b, SIDE));
	int y = ADD(&b, OP_matmul, T(x), T(x)), z = ADD(&b, OP_square, T(y));
	struct exec *e;
	float at;

	RETURN(&b, ADD(&b, OP_matmul, T(z), T(z)));
	e = compiled(f, &b);
	assert_in_range(peak_between(f, e, &at), 3 * BYTES, 3 * BYTES + 1024);
	assert_true(at == 4705); /* of [[49, 144], [16, 49]] */
	exec_destroy(e);
	builder_destroy(&b);
}

/* y + y.t() reads elements that it would have written already. */
static void what_is_read_elsewhere_is_not_written_over(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SIDE), NUM(&b, SIDE));
	int y = ADD(&b, OP_matmul, T(x), T(x));
	int z = ADD(&b, OP_add, T(y), T(ADD(&b, OP_t, T(y))));
	struct exec *e;
	float at;

	RETURN(&b, ADD(&b, OP_matmul, T(z), T(x)));
	e = compiled(f, &b);
	peak_between(f, e, &at);
	assert_true(at == 76); /* [[14, 16], [16, 14]] @ x */
	exec_destroy(e);
	builder_destroy(&b);
}

/* Of two results of one kernel one alone may lie where the operand was: the other
 * would read it after that. */
static void one_result_takes_the_place_of_an_operand_of_two(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SIDE), NUM(&b, SIDE));
	int y = ADD(&b, OP_matmul, T(x), T(x));
	int u = ADD(&b, OP_sin, T(y)), v = ADD(&b, OP_add, T(y), F(1));
	struct exec *e;
	float at;

	RETURN(&b, ADD(&b, OP_matmul, T(u), T(v)));
	e = compiled(f, &b);
	/* x, the two results, and the product: y is gone, or lies in one of them */
	assert_in_range(peak_between(f, e, &at), 4 * BYTES, 4 * BYTES + 1024);
	assert_true(fabsf(at - (float)(13 * sin(4) + 8 * sin(7))) < 1e-4F);
	exec_destroy(e);
	builder_destroy(&b);
}

/* Where memory ends in the middle, nothing is left. */
static void a_run_that_memory_ends_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct exec_env env = f->env;
	struct builder b = builder_create();
	struct tensor *x, *y = NULL;
	struct err err = { 0 };
	struct exec *e;

	f->env.allocator = allocator_create(3 * BYTES - 1024, NULL);
	e = products(f, &b, 4);
	x = filled(f, 2);
	assert_false(exec_run(e, &(struct exec_call){ .inputs = &x, .outputs = &y }, &err));
	assert_int_equal(err.code, ERR_MEMORY);
	assert_null(y);
	assert_int_equal(allocator_used_bytes(f->env.allocator), BYTES);
	tensor_unref(x);
	exec_destroy(e);
	builder_destroy(&b);
	allocator_destroy(f->env.allocator);
	f->env = env;
}

/* Whether the cache on disk served x + x, compiled so. */
static bool served(struct fixture *f, bool of_eager)
{
	const struct compile_options options = { .env = &f->env,
						 .backend = backend_find("cpu"),
						 .passes = { .verify = true },
						 .of_eager = of_eager };
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SIDE), NUM(&b, SIDE));
	struct err err = { 0 };
	struct exec *e;
	bool cached;

	RETURN(&b, ADD(&b, OP_add, T(x), T(x)));
	e = compile_piece(&options, graph_copy(b.g, b.arena), b.arena, &err);
	if (!e)
		fail_msg("%s", err.message);
	cached = e->stats.cached;
	exec_destroy(e);
	builder_destroy(&b);
	return cached;
}

/* What is compiled again for its time is what compiled modes compile, no op of eager. */
static void an_op_of_eager_comes_from_the_cache(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(make_folder(state), 0);
	f->env.backend_env.cache_dir = folder;
	f->env.backend_env.cache_rebuild = true;
	f->env.backend_env.compile_timeout_ms = 60000;
	assert_false(served(f, true));
	assert_true(served(f, true));
	assert_false(served(f, false));
	f->env.backend_env.cache_rebuild = false;
	assert_true(served(f, false));
	remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_temporaries_live_as_long_as_kernels_need_them,
						begin, end),
		cmocka_unit_test_setup_teardown(inputs_that_are_given_up_go_with_their_last_kernel,
						begin, end),
		cmocka_unit_test_setup_teardown(an_input_that_someone_else_holds_stays, begin, end),
		cmocka_unit_test_setup_teardown(a_given_up_input_that_is_returned_is_copied_first,
						begin, end),
		cmocka_unit_test_setup_teardown(a_kernel_writes_over_what_ends_with_it, begin, end),
		cmocka_unit_test_setup_teardown(what_is_read_elsewhere_is_not_written_over, begin,
						end),
		cmocka_unit_test_setup_teardown(one_result_takes_the_place_of_an_operand_of_two,
						begin, end),
		cmocka_unit_test_setup_teardown(a_run_that_memory_ends_leaves_nothing, begin, end),
		cmocka_unit_test_setup_teardown(an_op_of_eager_comes_from_the_cache, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
