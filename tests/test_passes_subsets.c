/* tests/test_passes_subsets.c -- values are the same whatever passes are left out.
 *
 * Random graphs of ops whose rewrites keep every bit run through the reference with
 * all passes and with random subsets of them.
 */
#include "tests/lower_passed.h"

static int random_op(struct builder *b, const int *ids, int n, unsigned *seed)
{
	static const enum op unary[] = { OP_relu, OP_abs, OP_neg, OP_relu, OP_abs };
	static const enum op binary[] = { OP_add, OP_sub, OP_mul, OP_maximum, OP_minimum };
	int x = ids[(unsigned)rand_r(seed) % (unsigned)n];
	int y = ids[(unsigned)rand_r(seed) % (unsigned)n];
	struct shape out;

	switch (rand_r(seed) % 10) {
	case 0:
	case 1:
		return ADD(b, OP_clamp, T(ADD(b, unary[rand_r(seed) % 5], T(x))), F(-8), F(8));
	case 2:
		return ADD(b, OP_mul, T(x), F(rand_r(seed) % 2));
	case 3:
		return ADD(b, OP_truediv, T(x), F(2));
	case 4:
		return ADD(b, OP_clamp, T(ADD(b, OP_mul, T(x), T(x))), F(-8), F(8));
	case 5:
		if (b->g->nodes[x]->shape.rank == 2)
			return ADD(b, OP_transpose, T(x), arg_int(b->g, 0), arg_int(b->g, 1));
		return ADD(b, OP_sub, T(x), F(0));
	case 6:
		if (b->g->nodes[x]->shape.rank > 0)
			return ADD(b, OP_mean, T(x), DIM(b, 0), arg_bool(true));
		return ADD(b, OP_clone, T(x));
	default:
		if (!shape_broadcast(b->g->syms, &b->g->nodes[x]->shape, &b->g->nodes[y]->shape,
				     &out, NULL))
			return ADD(b, OP_add, T(x), F(0.25));
		return ADD(b, binary[rand_r(seed) % 5], T(x), T(y));
	}
}

enum { NODES = 26, OUTPUTS = 4 };

/* The outputs of the trial's graph where the passes of `disabled` are left out. */
static void outputs_of(unsigned trial, uint64_t disabled, float *out[OUTPUTS],
		       int64_t count[OUTPUTS])
{
	struct pass_options options = { .disabled = disabled, .verify = true };
	struct builder b = builder_create();
	struct pass_result result = { 0 };
	const struct lowered *l;
	struct err err = { 0 };
	unsigned seed = trial;
	int ids[NODES], n = 0;
	float *x, *y;

	ids[n++] = INPUT(&b, DTYPE_F32, NUM(&b, 5), NUM(&b, 5));
	ids[n++] = INPUT(&b, DTYPE_F32, NUM(&b, 5));
	ids[n++] = ADD(&b, OP_full, arg_ints((const struct sym *[]){ NUM(&b, 5) }, 1), F(1.5));
	while (n < NODES) {
		ids[n] = random_op(&b, ids, n, &seed);
		n++;
	}
	RETURN(&b, ids[25], ids[24], ids[17], ids[11]);
	if (!passes_run(b.g, &options, &result, &err))
		fail_msg("graph %u without %llx: %s", trial, (unsigned long long)disabled,
			 err.message);
	l = lower_graph(result.graph, result.group, result.why, false, b.arena, &err);
	if (!l)
		fail_msg("%s", err.message);
	for (int i = 0; i < OUTPUTS; i++) {
		count[i] = sym_eval(l->buffers[l->outputs[i]].numel, b.vars);
		out[i] = calloc((size_t)count[i] + 1, sizeof(float));
	}
	x = samples(&b, 25, 0);
	y = samples(&b, 5, 7);
	ref_execute(l, b.vars, (const void *[]){ x, y }, (void *const *)out);
	builder_destroy(&b);
}

static void values_are_the_same_with_any_subset_of_passes(void **state)
{
	unsigned seed = 4;

	(void)state;
	for (unsigned trial = 0; trial < 120; trial++) {
		float *all[OUTPUTS], *some[OUTPUTS];
		int64_t count[OUTPUTS];

		outputs_of(trial, 0, all, count);
		for (int subset = 0; subset < 6; subset++) {
			uint64_t disabled = subset == 5 ? ~(uint64_t)0 : (uint64_t)rand_r(&seed);

			outputs_of(trial, disabled, some, count);
			for (int i = 0; i < OUTPUTS; i++) {
				for (int64_t j = 0; j < count[i]; j++)
					if (all[i][j] != some[i][j] &&
					    !(isnan(all[i][j]) && isnan(some[i][j])))
						fail_msg("graph %u without %llx, output %d: %g is "
							 "%g",
							 trial, (unsigned long long)disabled, i,
							 (double)all[i][j], (double)some[i][j]);
				free(some[i]);
			}
		}
		for (int i = 0; i < OUTPUTS; i++)
			free(all[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_the_same_with_any_subset_of_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
