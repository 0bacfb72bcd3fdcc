/* tests/test_backends_fused.c -- all that fusion does, on both backends, with any
 * number of threads: the bits are those of one kernel an op.
 *
 * Sums are over whole numbers, which no order of adding changes; a second test lets
 * them be any floats and asks that threads change nothing.
 */
#include "tests/backends_help.h"

enum { OUTPUTS = 4, NODES = 26, ROWS = 12, COLUMNS = 96 };

struct made {
	int ids[64], n;
	unsigned seed;
	bool whole_sums;
};

static unsigned pick(struct made *m, unsigned n)
{
	return (unsigned)rand_r(&m->seed) % n;
}

/* A view of x that the lowering has to see through. */
static int random_view(struct builder *b, struct made *m, int x)
{
	const struct shape *s = &b->g->nodes[x]->shape;
	int rank = s->rank;

	if (rank < 2)
		return ADD(b, OP_unsqueeze, T(x), I(b, 0));
	switch (pick(m, 4)) {
	case 0:
		return ADD(b, OP_transpose, T(x), I(b, 0), I(b, rank - 1));
	case 1:
		return ADD(b, OP_reshape, T(ADD(b, OP_unsqueeze, T(x), I(b, 0))),
			   arg_ints(s->size, rank));
	case 2:
		if (!sym_is_const(s->size[0]) || s->size[0]->value < 3)
			return ADD(b, OP_unsqueeze, T(x), I(b, 0));
		return ADD(b, OP_slice, T(x), I(b, 0), I(b, 1), I(b, 3));
	default:
		return ADD(b, OP_squeeze, T(ADD(b, OP_unsqueeze, T(x), I(b, rank))), I(b, rank));
	}
}

static int random_reduction(struct builder *b, struct made *m, int x)
{
	static const enum op ops[] = { OP_sum, OP_amax, OP_amin };
	int rank = b->g->nodes[x]->shape.rank;
	enum op op = ops[pick(m, 3)];

	if (rank == 0)
		return ADD(b, OP_abs, T(x));
	if (op == OP_sum && m->whole_sums)
		x = ADD(b, OP_floor, T(x));
	int id = ADD(b, op, T(x), DIM(b, (int)pick(m, (unsigned)rank)), arg_bool(pick(m, 3) != 0));
	return op == OP_sum ? ADD(b, OP_mul, T(id), F(0.0625)) : id;
}

static int random_node(struct builder *b, struct made *m)
{
	static const enum op unary[] = { OP_sin, OP_relu, OP_exp, OP_sigmoid, OP_erf, OP_neg };
	static const enum op binary[] = { OP_add, OP_sub, OP_mul, OP_maximum };
	int x = m->ids[pick(m, (unsigned)m->n)], y = m->ids[pick(m, (unsigned)m->n)];
	struct shape out;

	switch (pick(m, 8)) {
	case 0:
	case 1:
		return ADD(b, OP_tanh, T(ADD(b, unary[pick(m, 6)], T(x))));
	case 2:
	case 3:
		return random_reduction(b, m, x);
	case 4:
		return random_view(b, m, x);
	default:
		if (!shape_broadcast(b->g->syms, &b->g->nodes[x]->shape, &b->g->nodes[y]->shape,
				     &out, NULL))
			return ADD(b, OP_add, T(x), F(0.25));
		return ADD(b, binary[pick(m, 4)], T(x), T(y));
	}
}

/* The graph of a trial, always the same. */
static void build(struct builder *b, struct made *m, unsigned trial)
{
	*m = (struct made){ .seed = trial, .whole_sums = m->whole_sums };
	m->ids[m->n++] = INPUT(b, DTYPE_F32, NUM(b, ROWS), NUM(b, COLUMNS));
	m->ids[m->n++] = INPUT(b, DTYPE_F32, NUM(b, COLUMNS));
	m->ids[m->n++] = INPUT(b, DTYPE_F32, NUM(b, ROWS), NUM(b, 1));
	while (m->n < NODES)
		m->ids[m->n++] = random_node(b, m);
	RETURN(b, m->ids[NODES - 1], m->ids[NODES - 2], m->ids[17], m->ids[9]);
}

struct results {
	float *out[OUTPUTS];
	int64_t count[OUTPUTS];
	int kernels;
};

static struct results run(const char *backend, struct made *m, unsigned trial, bool no_fusion,
			  struct pool *pool)
{
	struct builder b = builder_create();
	struct results r;

	build(&b, m, trial);
	const struct lowered *l = lower_passed(&b, no_fusion);
	const void *inputs[3];
	const int64_t sizes[3] = { ROWS * COLUMNS, COLUMNS, ROWS };

	r.kernels = l->n_kernels;
	for (int i = 0; i < OUTPUTS; i++) {
		r.count[i] = sym_eval(l->buffers[l->outputs[i]].numel, b.vars);
		r.out[i] = calloc((size_t)r.count[i] + 1, sizeof(float));
	}
	for (int i = 0; i < 3; i++) {
		float *x = help_alloc((size_t)sizes[i] * sizeof(float));

		for (int64_t j = 0; j < sizes[i]; j++)
			x[j] = ref_sample(j + 31 * i);
		inputs[i] = x;
	}
	help_execute(backend, l, b.vars, inputs, (void *const *)r.out, pool);
	for (int i = 0; i < 3; i++)
		help_free((void *)(uintptr_t)inputs[i], (size_t)sizes[i] * sizeof(float));
	builder_destroy(&b);
	return r;
}

static void drop(struct results *r)
{
	for (int i = 0; i < OUTPUTS; i++)
		free(r->out[i]);
}

static void assert_same(const struct results *want, struct results got, unsigned trial,
			const char *how)
{
	for (int i = 0; i < OUTPUTS; i++) {
		assert_int_equal(got.count[i], want->count[i]);
		for (int64_t j = 0; j < want->count[i]; j++)
			if (memcmp(&got.out[i][j], &want->out[i][j], sizeof(float)) != 0 &&
			    !(isnan(got.out[i][j]) && isnan(want->out[i][j])))
				fail_msg("graph %u, %s, output %d, element %lld: %a, want %a",
					 trial, how, i, (long long)j, (double)got.out[i][j],
					 (double)want->out[i][j]);
	}
	drop(&got);
}

static bool can_compile(void)
{
	char why[512];

	return backend_find("cpu")->available(&(struct backend_env){ 0 }, why, sizeof(why));
}

static void random_graphs_have_the_bits_of_one_kernel_an_op(void **state)
{
	struct made m = { .whole_sums = true };
	int saved = 0;

	(void)state;
	for (unsigned trial = 0; trial < 150; trial++) {
		struct results want = run("interp", &m, trial, true, NULL);
		struct results fused = run("interp", &m, trial, false, NULL);

		saved += want.kernels - fused.kernels;
		assert_same(&want, fused, trial, "interp, fused");
		if (trial < 12 && can_compile())
			assert_same(&want, run("cpu", &m, trial, false, NULL), trial, "cpu, fused");
		drop(&want);
	}
	assert_true(saved > 150);
}

static void threads_change_no_bit(void **state)
{
	static const int counts[] = { 2, 7 };
	struct made m = { 0 };

	(void)state;
	for (int c = 0; c < 2; c++) {
		struct pool *pool = pool_create(counts[c]);

		for (unsigned trial = 200; trial < 240; trial++) {
			struct results want = run("interp", &m, trial, false, NULL);

			assert_same(&want, run("interp", &m, trial, false, pool), trial, "threads");
			drop(&want);
		}
		pool_destroy(pool);
	}
}

/* A full reduction, one of rows, one of columns, large enough to be shared out. */
static void large_reductions_are_the_same_with_any_number_of_threads(void **state)
{
	static const int64_t shapes[][2] = { { 1, 1 << 18 }, { 3000, 100 }, { 5000, 24 } };

	(void)state;
	for (int s = 0; s < 3; s++)
		for (int dim = 0; dim < 3; dim++) {
			float *out[3];
			static const int counts[] = { 1, 2, 7 };

			for (int c = 0; c < 3; c++) {
				struct pool *pool = pool_create(counts[c]);
				struct builder b = builder_create();
				int64_t n = shapes[s][0] * shapes[s][1];
				int x = INPUT(&b, DTYPE_F32, NUM(&b, shapes[s][0]),
					      NUM(&b, shapes[s][1]));
				int e = ADD(&b, OP_exp, T(x));
				int sum = dim < 2 ? ADD(&b, OP_sum, T(e), DIM(&b, dim))
						  : ADD(&b, OP_sum, T(e));
				RETURN(&b, sum);
				const struct lowered *l = lower_passed(&b, false);
				float *in = help_alloc((size_t)n * sizeof(float));

				for (int64_t i = 0; i < n; i++)
					in[i] = ref_sample(i);
				out[c] = calloc(1 << 18, sizeof(float));
				help_execute("interp", l, b.vars, (const void *[]){ in },
					     (void *[]){ out[c] }, pool);
				help_free(in, (size_t)n * sizeof(float));
				builder_destroy(&b);
				pool_destroy(pool);
			}
			assert_memory_equal(out[0], out[1], sizeof(float) << 18);
			assert_memory_equal(out[0], out[2], sizeof(float) << 18);
			for (int c = 0; c < 3; c++)
				free(out[c]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_have_the_bits_of_one_kernel_an_op),
		cmocka_unit_test(threads_change_no_bit),
		cmocka_unit_test(large_reductions_are_the_same_with_any_number_of_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
