/* tests/test_passes_fuse_random.c -- fusion changes no value, whatever the graph.
 *
 * Random graphs of pointwise ops, broadcasts and reductions run twice through
 * the reference: fused, and one kernel an op.  Each op rounds, so the bits must
 * be the same.
 */
#include "tests/lower_passed.h"

/* Any graph of these ops: values fused and one by one must be the same. */
static int random_op(struct builder *b, const int *ids, int n, unsigned *seed)
{
	static const enum op unary[] = { OP_sin, OP_relu, OP_abs, OP_exp, OP_neg, OP_tanh };
	static const enum op binary[] = { OP_add, OP_sub, OP_mul, OP_maximum, OP_minimum };
	static const enum op reduce[] = { OP_sum, OP_amax, OP_amin };
	int x = ids[(unsigned)rand_r(seed) % (unsigned)n];
	int y = ids[(unsigned)rand_r(seed) % (unsigned)n];
	int rank = b->g->nodes[x]->shape.rank;

	switch (rand_r(seed) % 8) {
	case 0:
	case 1: { /* tamed, so that products stay finite */
		int id = ADD(b, unary[rand_r(seed) % 6], T(x));
		return ADD(b, OP_tanh, T(id));
	}
	case 2:
		if (rank > 0) {
			int dim = rand_r(seed) % rank;
			return ADD(b, reduce[rand_r(seed) % 3], T(x), DIM(b, dim),
				   arg_bool(rand_r(seed) % 3 != 0));
		}
		return ADD(b, OP_mul, T(x), F(0.5));
	default: {
		const struct shape *sx = &b->g->nodes[x]->shape, *sy = &b->g->nodes[y]->shape;
		struct shape out;
		if (!shape_broadcast(b->g->syms, sx, sy, &out, NULL))
			return ADD(b, OP_add, T(x), F(0.25));
		return ADD(b, binary[rand_r(seed) % 5], T(x), T(y));
	}
	}
}

static void random_graphs_compute_the_same_fused_and_one_by_one(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < 400; trial++) {
		float *out[2][4];
		int64_t count[4] = { 0 };
		for (int no_fusion = 0; no_fusion < 2; no_fusion++) {
			struct builder b = builder_create();
			unsigned seed = trial;
			int ids[40], n = 0;
			const struct sym *s = SYM(&b, 5);
			ids[n++] = INPUT(&b, DTYPE_F32, s, NUM(&b, 5));
			ids[n++] = INPUT(&b, DTYPE_F32, NUM(&b, 5));
			ids[n++] = INPUT(&b, DTYPE_F32, NUM(&b, 3), s, NUM(&b, 1));
			for (; n < 24; n++)
				ids[n] = random_op(&b, ids, n, &seed);
			RETURN(&b, ids[23], ids[22], ids[17], ids[11]);
			const struct lowered *l = lower_passed(&b, no_fusion);
			for (int i = 0; i < 4; i++) {
				count[i] = sym_eval(l->buffers[l->outputs[i]].numel, b.vars);
				out[no_fusion][i] = calloc((size_t)count[i] + 1, sizeof(float));
			}
			float *x = samples(&b, 25, 0), *y = samples(&b, 5, 7);
			float *z = samples(&b, 15, 20);
			ref_execute(l, b.vars, (const void *[]){ x, y, z },
				    (void *const *)out[no_fusion]);
			builder_destroy(&b);
		}
		for (int i = 0; i < 4; i++) {
			for (int64_t j = 0; j < count[i]; j++)
				if (out[0][i][j] != out[1][i][j] &&
				    !(isnan(out[0][i][j]) && isnan(out[1][i][j])))
					fail_msg("graph %u, output %d, element %lld: %g fused, "
						 "%g one by one",
						 trial, i, (long long)j, (double)out[0][i][j],
						 (double)out[1][i][j]);
			free(out[0][i]);
			free(out[1][i]);
		}
	}
}

/* Thousands of nodes, each reading two at random: the kernels stay within their
 * bounds and every node is in exactly one. */
static void wide_graphs_are_fused_without_loss(void **state)
{
	struct builder b = builder_create();
	unsigned seed = 7;
	static int ids[3000];
	int total = 0;

	(void)state;
	ids[0] = INPUT(&b, DTYPE_F32, NUM(&b, 6), NUM(&b, 7));
	for (int n = 1; n < 3000; n++)
		ids[n] = random_op(&b, ids, n, &seed);
	RETURN(&b, ids[2999], ids[2998], ids[1500], ids[700], ids[300]);
	const struct lowered *l = lower_passed(&b, false);
	for (int k = 0; k < l->n_kernels; k++) {
		total += l->kernels[k].n_nodes;
		assert_in_range(l->kernels[k].n_nodes, 1, 512);
	}
	for (int id = 0; id < l->graph->n_nodes; id++)
		total -= op_info(l->graph->nodes[id]->op)->kind != KIND_INPUT;
	assert_int_equal(total, 0);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_compute_the_same_fused_and_one_by_one),
		cmocka_unit_test(wide_graphs_are_fused_without_loss),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
