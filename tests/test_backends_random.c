/* tests/test_backends_random.c -- backends compute what the tile program means.
 *
 * Random graphs of pointwise ops, broadcasts and reductions over sizes around
 * vector and tile edges, run by the reference of lower_reference.h and by each
 * backend, on one thread and on several.
 */
#include "tests/backends_help.h"
#include "tests/effort.h"

#include <stdio.h>

enum { NODES = 26, OUTPUTS = 5 };

static int random_op(struct builder *b, const int *ids, int n, unsigned *seed)
{
	static const enum op unary[] = { OP_sin, OP_relu, OP_abs, OP_exp, OP_neg, OP_sigmoid };
	static const enum op binary[] = { OP_add, OP_sub, OP_mul, OP_maximum, OP_minimum };
	static const enum op reduce[] = { OP_sum, OP_amax, OP_amin };
	static const enum op compare[] = { OP_lt, OP_ge, OP_ne };
	static const enum dtype dtypes[] = { DTYPE_F64, DTYPE_I64, DTYPE_F32 };
	int x = ids[(unsigned)rand_r(seed) % (unsigned)n];
	int y = ids[(unsigned)rand_r(seed) % (unsigned)n];
	const struct shape *sx = &b->g->nodes[x]->shape, *sy = &b->g->nodes[y]->shape;
	bool fits = shape_broadcast(b->g->syms, sx, sy, &(struct shape){ 0 }, NULL);
	int rank = sx->rank;

	switch (rand_r(seed) % 9) {
	case 0:
	case 1:
		return ADD(b, OP_tanh, T(ADD(b, unary[rand_r(seed) % 6], T(x))));
	case 2:
		if (rank > 0)
			return ADD(
			    b, OP_tanh,
			    T(ADD(b, reduce[rand_r(seed) % 3], T(x), DIM(b, rand_r(seed) % rank),
				  arg_bool(rand_r(seed) % 3 != 0))));
		return ADD(b, OP_mul, T(x), F(0.5));
	case 3: { /* there and back through another dtype; only what is exact to ints */
		enum dtype dtype = dtypes[rand_r(seed) % 3];
		int id = ADD(b, OP_to, T(dtype == DTYPE_I64 ? ids[n % 3] : x), arg_dtype(dtype));
		return ADD(b, OP_to, T(ADD(b, OP_mul, T(id), T(id))), arg_dtype(DTYPE_F32));
	}
	case 4: { /* of an input: a last bit must not decide */
		int mask = ADD(b, compare[rand_r(seed) % 3], T(ids[n % 3]), F(0.25));
		const struct shape *sm = &b->g->nodes[mask]->shape;
		if (shape_broadcast(b->g->syms, sm, sx, &(struct shape){ 0 }, NULL))
			return ADD(b, OP_where, T(mask), T(x), F(0.75));
		return ADD(b, OP_mul, T(x), F(0.25));
	}
	default:
		if (!fits)
			return ADD(b, OP_add, T(x), F(0.25));
		return ADD(b, binary[rand_r(seed) % 5], T(x), T(y));
	}
}

struct trial {
	struct builder b;
	const struct lowered *l;
	const void *inputs[3];
	int64_t count[OUTPUTS];
};

static struct trial make_trial(unsigned trial, bool no_fusion)
{
	static const int64_t sizes[] = { 1, 2, 5, 7, 8, 9, 16, 17, 33, 64, 100, 130 };
	struct trial t = { .b = builder_create() };
	unsigned seed = trial;
	int ids[NODES], n = 0;
	int64_t rows = sizes[rand_r(&seed) % 12], columns = sizes[rand_r(&seed) % 12];
	const struct sym *s = SYM(&t.b, rows), *c = NUM(&t.b, columns);

	ids[n++] = INPUT(&t.b, DTYPE_F32, s, c);
	ids[n++] = INPUT(&t.b, DTYPE_F32, c);
	ids[n++] = INPUT(&t.b, DTYPE_F32, NUM(&t.b, 3), s, NUM(&t.b, 1));
	for (; n < NODES; n++)
		ids[n] = random_op(&t.b, ids, n, &seed);
	RETURN(&t.b, ids[25], ids[24], ids[23], ids[17], ids[11]);
	t.l = lower_passed(&t.b, no_fusion);
	for (int i = 0; i < OUTPUTS; i++)
		t.count[i] = sym_eval(t.l->buffers[t.l->outputs[i]].numel, t.b.vars);
	int64_t numel[3] = { rows * columns, columns, 3 * rows };
	for (int i = 0; i < 3; i++) {
		float *x = help_alloc((size_t)numel[i] * sizeof(float));
		for (int64_t j = 0; j < numel[i]; j++)
			x[j] = ref_sample(j + 7 * i);
		t.inputs[i] = x;
	}
	return t;
}

static void end_trial(struct trial *t)
{
	for (int i = 0; i < 3; i++)
		free((void *)(uintptr_t)t->inputs[i]);
	builder_destroy(&t->b);
}

static void make_outputs(const struct trial *t, float **out)
{
	for (int i = 0; i < OUTPUTS; i++)
		out[i] = help_alloc((size_t)t->count[i] * sizeof(float));
}

static void compare(const struct trial *t, unsigned trial, const char *what, float **got,
		    float **want, double tolerance)
{
	for (int i = 0; i < OUTPUTS; i++)
		for (int64_t j = 0; j < t->count[i]; j++) {
			double x = (double)got[i][j], y = (double)want[i][j];

			if (!(fabs(x - y) <= tolerance * (1 + fabs(y))) &&
			    !(isnan(x) && isnan(y))) {
				struct buf text;
				buf_init(&text, 0);
				lower_print(&text, t->l);
				fprintf(stderr, "%s\n", text.data);
				fail_msg("trial %u, %s, output %d, element %lld: %.9g, not %.9g",
					 trial, what, i, (long long)j, x, y);
			}
		}
}

static void free_outputs(float **out)
{
	for (int i = 0; i < OUTPUTS; i++)
		free(out[i]);
}

static void run_trials(const char *backend, unsigned trials)
{
	struct pool *pool = pool_create(3);

	for (unsigned trial = 0; trial < trials; trial += (unsigned)case_step(3))
		for (int no_fusion = 0; no_fusion < 2; no_fusion++) {
			struct trial t = make_trial(trial, no_fusion);
			float *want[OUTPUTS], *got[OUTPUTS], *shared[OUTPUTS];

			make_outputs(&t, want);
			make_outputs(&t, got);
			make_outputs(&t, shared);
			ref_execute(t.l, t.b.vars, t.inputs, (void *const *)want);
			help_execute(backend, t.l, t.b.vars, t.inputs, (void *const *)got, NULL);
			compare(&t, trial, backend, got, want, 2e-5);
			help_execute(backend, t.l, t.b.vars, t.inputs, (void *const *)shared, pool);
			compare(&t, trial, "three threads", shared, got, 0);
			free_outputs(want);
			free_outputs(got);
			free_outputs(shared);
			end_trial(&t);
		}
	pool_destroy(pool);
}

static void the_interpreter_computes_what_the_program_means(void **state)
{
	(void)state;
	run_trials("interp", 300);
}

static void generated_c_computes_what_the_program_means(void **state)
{
	(void)state;
	run_trials("cpu", 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interpreter_computes_what_the_program_means),
		cmocka_unit_test(generated_c_computes_what_the_program_means),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
