/* tests/test_backends_sizes.c -- sizes around vectors, tiles and chunks; threads.
 *
 * The interpreter and generated C give the same bits for pointwise chains of
 * every length; reductions agree with sums in float64, and do not change with
 * the number of threads.
 */
#include "tests/backends_help.h"

static const int64_t sizes[] = {
	0, 1, 7, 8, 9, 15, 16, 17, 127, 128, 1023, 1024, 1025, 4099, 70001
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static struct builder chain(int64_t unused)
{
	struct builder b = builder_create();
	const struct sym *n = SYM(&b, unused);
	int x = INPUT(&b, DTYPE_F32, n), y = INPUT(&b, DTYPE_F32, n);
	int z = ADD(&b, OP_sin, T(ADD(&b, OP_mul, T(x), F(1.25))));
	int mask = ADD(&b, OP_lt, T(z), T(y));
	int wide = ADD(&b, OP_to, T(ADD(&b, OP_exp, T(z))), arg_dtype(DTYPE_F64));
	int whole = ADD(&b, OP_to, T(ADD(&b, OP_mul, T(wide), F(100))), arg_dtype(DTYPE_I64));
	int back = ADD(&b, OP_to, T(ADD(&b, OP_mod, T(whole), I(&b, 7))), arg_dtype(DTYPE_F32));
	int pick = ADD(&b, OP_where, T(mask), T(back), T(z));

	RETURN(&b, pick, mask, wide, whole);
	return b;
}

static const size_t chain_bytes[4] = { 4, 1, 8, 8 };

static void run_chain(const char *backend, int64_t n, unsigned char *out[4], struct pool *pool)
{
	struct builder b = chain(n);
	const struct lowered *l = lower_passed(&b, false);
	float *x = help_alloc((size_t)n * 4), *y = help_alloc((size_t)n * 4);

	for (int64_t i = 0; i < n; i++) {
		x[i] = ref_sample(i) * 3;
		y[i] = ref_sample(i * 3 + 1);
	}
	help_execute(backend, l, b.vars, (const void *[]){ x, y }, (void *const *)out, pool);
	free(x);
	free(y);
	builder_destroy(&b);
}

static void both_backends_give_the_same_bits_at_every_size(void **state)
{
	(void)state;
	for (int s = 0; s < SIZES; s++) {
		unsigned char *interp[4], *cpu[4];

		for (int i = 0; i < 4; i++) {
			interp[i] = calloc((size_t)sizes[s] + 1, chain_bytes[i]);
			cpu[i] = calloc((size_t)sizes[s] + 1, chain_bytes[i]);
		}
		run_chain("interp", sizes[s], interp, NULL);
		run_chain("cpu", sizes[s], cpu, NULL);
		for (int i = 0; i < 4; i++) {
			assert_memory_equal(interp[i], cpu[i], (size_t)sizes[s] * chain_bytes[i]);
			free(interp[i]);
			free(cpu[i]);
		}
	}
}

/* A matrix, what is done with it, and the result for each number of threads. */
struct problem {
	int64_t rows, columns;
	int dim; /* of the reduction; 2: all */
	bool softmax;
};

static struct builder make_problem(const struct problem *p)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, p->rows), SYM(&b, p->columns));
	int y = ADD(&b, OP_mul, T(x), F(0.5));

	if (p->softmax)
		RETURN(&b, ADD(&b, OP_softmax, T(y), I(&b, p->dim)));
	else if (p->dim == 2)
		RETURN(&b, ADD(&b, OP_sum, T(y)));
	else
		RETURN(&b, ADD(&b, OP_sum, T(y), DIM(&b, p->dim)));
	return b;
}

static double want_at(const struct problem *p, const float *x, int64_t at)
{
	int64_t step = p->dim == 1 ? 1 : p->columns, count = p->dim == 1 ? p->columns : p->rows;
	int64_t begin = p->dim == 1 ? at * p->columns : at;
	double sum = 0, most = -INFINITY;

	if (p->dim == 2) {
		step = 1;
		count = p->rows * p->columns;
	}
	if (p->softmax)
		begin = p->dim == 1 ? at / p->columns * p->columns : at % p->columns;
	for (int64_t i = 0; i < count; i++)
		most = fmax(most, (double)x[begin + i * step] * 0.5);
	for (int64_t i = 0; i < count; i++) {
		double v = (double)x[begin + i * step] * 0.5;
		sum += p->softmax ? exp(v - most) : v;
	}
	return p->softmax ? exp((double)x[at] * 0.5 - most) / sum : sum;
}

static void check_problem(const struct problem *p, const char *backend)
{
	static const int threads[] = { 1, 2, 4 };
	struct builder b = make_problem(p);
	const struct lowered *l = lower_passed(&b, false);
	int64_t n = p->rows * p->columns;
	int64_t count = sym_eval(l->buffers[l->outputs[0]].numel, b.vars);
	float *x = help_alloc((size_t)n * 4), *out[3];

	for (int64_t i = 0; i < n; i++)
		x[i] = ref_sample(i) + 0.25f;
	for (int t = 0; t < 3; t++) {
		struct pool *pool = pool_create(threads[t]);

		out[t] = help_alloc((size_t)count * 4);
		help_execute(backend, l, b.vars, (const void *[]){ x }, (void *[]){ out[t] }, pool);
		pool_destroy(pool);
	}
	assert_memory_equal(out[0], out[1], (size_t)count * 4);
	assert_memory_equal(out[0], out[2], (size_t)count * 4);
	for (int64_t i = 0; i < count; i += 1 + count / 50)
		assert_near((double)out[0][i], want_at(p, x, i), p->softmax ? 1e-5 : 1e-6);
	for (int t = 0; t < 3; t++)
		free(out[t]);
	free(x);
	builder_destroy(&b);
}

static const struct problem problems[] = {
	{ 1, 1000003, 2, false }, { 300001, 3, 0, false }, { 300001, 3, 1, false },
	{ 2500, 130, 0, false },  { 2500, 130, 1, false }, { 3, 300001, 1, false },
	{ 7, 100003, 0, false },  { 5, 70001, 1, true },   { 70001, 5, 0, true },
	{ 70001, 5, 1, true },    { 300, 1100, 0, true },  { 300, 1100, 1, true },
	{ 100000, 1, 0, false },  { 1, 100000, 1, true },
};

static void reductions_are_exact_and_do_not_change_with_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
		check_problem(&problems[i], "interp");
		check_problem(&problems[i], "cpu");
	}
}

/* One program, many sizes: bind() again and again. */
static void an_executable_may_be_bound_to_other_sizes(void **state)
{
	static const char *const names[] = { "interp", "cpu" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct problem p = { .rows = 6, .columns = 9, .dim = 1 };
		struct builder b = make_problem(&p);
		const struct lowered *l = lower_passed(&b, false);
		const struct backend *backend = backend_find(names[k]);
		struct backend_env env = { .cache_dir = shared_kernels() };
		struct executable *exe = help_compile(backend, &env, l);

		for (p.columns = 0; p.columns < 5000; p.columns = p.columns * 3 + 2) {
			float *x = help_alloc((size_t)(p.rows * p.columns) * 4), out[6];

			b.vars[0] = p.columns;
			for (int64_t i = 0; i < p.rows * p.columns; i++)
				x[i] = ref_sample(i);
			help_run(backend, exe, l, b.vars, (const void *[]){ x }, (void *[]){ out },
				 NULL);
			for (int i = 0; i < 6; i++)
				assert_near((double)out[i], want_at(&p, x, i), 5e-6);
			free(x);
		}
		backend->destroy(exe);
		builder_destroy(&b);
	}
}

/* One float32 accumulator would be off by 3 %. */
static void a_long_sum_loses_no_accuracy(void **state)
{
	enum { N = 1 << 22 };
	static const char *const names[] = { "interp", "cpu" };
	struct problem p = { .rows = 1, .columns = N, .dim = 2 };
	struct builder b = make_problem(&p);
	const struct lowered *l = lower_passed(&b, false);
	double want = N * (double)(0.2f * 0.5f);
	float *x = help_alloc(N * 4), out;

	(void)state;
	for (int64_t i = 0; i < N; i++)
		x[i] = 0.2f;
	for (int k = 0; k < 2; k++) {
		help_execute(names[k], l, b.vars, (const void *[]){ x }, (void *[]){ &out }, NULL);
		assert_true(fabs((double)out - want) < 2e-6 * want);
	}
	free(x);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_backends_give_the_same_bits_at_every_size),
		cmocka_unit_test(reductions_are_exact_and_do_not_change_with_threads),
		cmocka_unit_test(an_executable_may_be_bound_to_other_sizes),
		cmocka_unit_test(a_long_sum_loses_no_accuracy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
