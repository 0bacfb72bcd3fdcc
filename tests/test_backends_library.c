/* tests/test_backends_library.c -- ops with a function of their own, against plain loops. */
#include "tests/backends_help.h"

#include <math.h>

#include "fusion/backends/host/executable.h"

static const char *const backends[] = { "interp", "cpu" };

/* Runs a graph of float inputs on both backends and compares with `want`. */
static void check(struct builder *b, const void *const *inputs, const double *want, int64_t n,
		  double tolerance)
{
	const struct lowered *l = lower_passed(b, false);
	struct pool *pool = pool_create(3);

	for (int i = 0; i < 2; i++) {
		float *out = calloc((size_t)n + 1, sizeof(*out));

		help_execute(backends[i], l, b->vars, inputs, (void *[]){ out }, pool);
		for (int64_t k = 0; k < n; k++)
			if (!(fabs(out[k] - want[k]) <= tolerance * (1 + fabs(want[k]))))
				fail_msg("%s: element %lld is %g, not %g", backends[i],
					 (long long)k, (double)out[k], want[k]);
		free(out);
	}
	pool_destroy(pool);
}

/* Inputs lie in memory with the slack that backends.h asks for. */
static float *input(int64_t n, int64_t shift)
{
	float *x = help_alloc((size_t)n * sizeof(*x));

	for (int64_t i = 0; i < n; i++)
		x[i] = (float)sin((double)(i + shift) * 0.7);
	return x;
}

/* x[m, k] by y[k, n]; transposed: by y[n, k]. */
struct sizes {
	int64_t m, n, k;
	bool transposed;
};

static void product(const float *x, const float *y, double *out, struct sizes s)
{
	int64_t m = s.m, n = s.n, k = s.k;

	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			double sum = 0;

			for (int64_t p = 0; p < k; p++)
				sum += (double)x[i * k + p] *
				       (double)(s.transposed ? y[j * k + p] : y[p * n + j]);
			out[i * n + j] = sum;
		}
}

static void check_matmul(int64_t m, int64_t n, int64_t k, bool transposed, bool dynamic)
{
	struct builder b = builder_create();
	float *x = input(m * k, 0), *y = input(k * n, 9);
	double *want = calloc((size_t)(m * n) + 1, sizeof(*want));
	const struct sym *rows = dynamic ? SYM(&b, m) : NUM(&b, m);
	int x_id = INPUT(&b, DTYPE_F32, rows, NUM(&b, k)), y_id;

	if (transposed)
		y_id = INPUT(&b, DTYPE_F32, NUM(&b, n), NUM(&b, k));
	else
		y_id = INPUT(&b, DTYPE_F32, NUM(&b, k), NUM(&b, n));
	RETURN(&b, ADD(&b, transposed ? OP_linear : OP_matmul, T(x_id), T(y_id)));
	product(x, y, want, (struct sizes){ m, n, k, transposed });
	check(&b, (const void *[]){ x, y }, want, m * n, 1e-5);
	free(want);
	free(x);
	free(y);
	builder_destroy(&b);
}

static void test_matmul_sizes(void **state)
{
	static const int64_t sizes[][3] = {
		{ 1, 1, 1 },      { 4, 16, 8 },      { 7, 3, 5 }, { 1, 33, 300 }, { 65, 1, 17 },
		{ 130, 600, 70 }, { 121, 513, 257 }, { 3, 4, 0 }, { 0, 4, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int mode = 0; mode < 4; mode++)
			check_matmul(sizes[i][0], sizes[i][1], sizes[i][2], mode & 1, mode & 2);
}

/* x: [2, 1, 3, 4], y: [5, 4, 2] -> [2, 5, 3, 2] */
static void test_matmul_broadcasts(void **state)
{
	struct builder b = builder_create();
	float *x = input(24, 0), *y = input(40, 5);
	double want[60];
	int a = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 1), NUM(&b, 3), NUM(&b, 4));
	int c = INPUT(&b, DTYPE_F32, NUM(&b, 5), NUM(&b, 4), NUM(&b, 2));

	(void)state;
	RETURN(&b, ADD(&b, OP_matmul, T(a), T(c)));
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 5; j++)
			product(x + i * 12, y + j * 8, want + (i * 5 + j) * 6,
				(struct sizes){ 3, 2, 4, false });
	check(&b, (const void *[]){ x, y }, want, 60, 1e-5);
	free(x);
	free(y);
	builder_destroy(&b);
}

static void check_einsum(const char *equation, const int64_t *out_size, int out_rank,
			 double (*element)(const float *x, const float *y, int i, int j, int k))
{
	struct builder b = builder_create();
	float *x = input(24, 0), *y = input(24, 3);
	double want[64];
	int a = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 3), NUM(&b, 4));
	int c = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 4), NUM(&b, 3)), id, n = 0;

	id = ADD(&b, OP_einsum, arg_str(equation), T(a), T(c));
	assert_int_equal(b.g->nodes[id]->shape.rank, out_rank);
	RETURN(&b, id);
	for (int i = 0; i < out_size[0]; i++)
		for (int j = 0; j < out_size[1]; j++)
			for (int k = 0; k < out_size[2]; k++)
				want[n++] = element(x, y, i, j, k);
	check(&b, (const void *[]){ x, y }, want, n, 1e-5);
	free(x);
	free(y);
	builder_destroy(&b);
}

static double batched(const float *x, const float *y, int i, int j, int k)
{
	double sum = 0;

	for (int p = 0; p < 4; p++)
		sum += (double)x[i * 12 + j * 4 + p] * (double)y[i * 12 + p * 3 + k];
	return sum;
}

static double all_of_batch(const float *x, const float *y, int i, int j, int k)
{
	double sum = 0;

	(void)j, (void)k;
	for (int p = 0; p < 3; p++)
		for (int q = 0; q < 4; q++)
			sum += (double)x[i * 12 + p * 4 + q] * (double)y[i * 12 + q * 3 + p];
	return sum;
}

static double swapped(const float *x, const float *y, int i, int j, int k)
{
	return batched(x, y, j, k, i);
}

static void test_einsum(void **state)
{
	(void)state;
	check_einsum("bij,bjk->bik", (const int64_t[]){ 2, 3, 3 }, 3, batched);
	check_einsum("bij,bji->b", (const int64_t[]){ 2, 1, 1 }, 1, all_of_batch);
	check_einsum("bij, bjk -> kbi", (const int64_t[]){ 3, 2, 3 }, 3, swapped);
	check_einsum("...ij,...jk->...ik", (const int64_t[]){ 2, 3, 3 }, 3, batched);
}

static void test_matmul_errors(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 3));
	int y = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 3));
	int half = INPUT(&b, DTYPE_F64, NUM(&b, 3), NUM(&b, 3));
	struct err err = { 0 };

	(void)state;
	assert_int_equal(
	    graph_add(b.g, &(struct node_spec){ OP_matmul, (struct arg[]){ T(x), T(y) }, 2, 0, 0 },
		      &err),
	    -1);
	assert_int_equal(err.code, ERR_SHAPE);
	err.code = ERR_NONE;
	assert_int_equal(
	    graph_add(b.g,
		      &(struct node_spec){ OP_matmul, (struct arg[]){ T(x), T(half) }, 2, 0, 0 },
		      &err),
	    -1);
	assert_int_equal(err.code, ERR_DTYPE);
	err.code = ERR_NONE;
	assert_int_equal(
	    graph_add(b.g,
		      &(struct node_spec){
			  OP_einsum, (struct arg[]){ arg_str("ij,jk"), T(x), T(y) }, 3, 0, 0 },
		      &err),
	    -1);
	assert_int_equal(err.code, ERR_SHAPE);
	builder_destroy(&b);
}

/* A chain of products packs its matrix into the same memory, which so stays in the nearest caches.
 */
static void products_of_a_graph_work_in_one_room(void **state)
{
	struct builder b = builder_create();
	const struct backend *backend = backend_find("interp");
	const struct lowered *l;
	struct executable *exe;
	struct err err = { 0 };
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 16), NUM(&b, 128)), most = 0;
	int w = INPUT(&b, DTYPE_F32, NUM(&b, 128), NUM(&b, 128));
	int wide = INPUT(&b, DTYPE_F32, NUM(&b, 128), NUM(&b, 256));

	(void)state;
	x = ADD(&b, OP_matmul, T(x), T(w));
	x = ADD(&b, OP_matmul, T(x), T(w));
	RETURN(&b, ADD(&b, OP_matmul, T(x), T(wide)));
	l = lower_passed(&b, false);
	exe = help_compile(backend, &(struct backend_env){ 0 }, l);
	assert_true(backend->bind(exe, b.vars, &err));
	assert_int_equal(l->n_kernels, 3);
	for (int k = 0; k < 3; k++) {
		const struct library_call *call = &exe->libraries[k];

		assert_true(call->room_bytes > 0);
		assert_ptr_equal(call->room, &exe->room);
		if (call->room_bytes > exe->libraries[most].room_bytes)
			most = k;
	}
	assert_non_null(exe->room.at);
	assert_int_equal(exe->room.bytes, exe->libraries[most].room_bytes);
	backend->destroy(exe);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matmul_sizes),
		cmocka_unit_test(test_matmul_broadcasts),
		cmocka_unit_test(test_einsum),
		cmocka_unit_test(test_matmul_errors),
		cmocka_unit_test(products_of_a_graph_work_in_one_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
