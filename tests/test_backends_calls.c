/* tests/test_backends_calls.c -- pass pattern_match: what it takes for a call, that the call has
 * the values of the ops that it replaces (on the interpreter), and what it leaves alone.
 */
#include <math.h>

#include "tests/backends_help.h"

enum { HEADS = 2, ROWS = 5, KEYS = 7, WIDTH = 4, OUT = 2 * HEADS * ROWS * WIDTH };

struct world {
	struct builder b;
	int q, k, v, mask, bias; /* mask: [ROWS, KEYS] of bools, bias: [HEADS, 1, KEYS] */
	enum dtype dtype;
};

static struct world world_create(enum dtype dtype)
{
	struct world w = { .b = builder_create(), .dtype = dtype };
	struct builder *b = &w.b;

	w.q = INPUT(b, dtype, NUM(b, 2), NUM(b, HEADS), NUM(b, ROWS), NUM(b, WIDTH));
	w.k = INPUT(b, dtype, NUM(b, 2), NUM(b, HEADS), NUM(b, KEYS), NUM(b, WIDTH));
	w.v = INPUT(b, dtype, NUM(b, 2), NUM(b, HEADS), NUM(b, KEYS), NUM(b, WIDTH));
	w.mask = INPUT(b, DTYPE_BOOL, NUM(b, ROWS), NUM(b, KEYS));
	w.bias = INPUT(b, dtype, NUM(b, HEADS), NUM(b, 1), NUM(b, KEYS));
	return w;
}

static int scores(struct world *w)
{
	struct builder *b = &w->b;
	int turned = ADD(b, OP_transpose, T(w->k), I(b, -1), I(b, -2));

	return ADD(b, OP_matmul, T(w->q), T(turned));
}

static int scaled(struct world *w, double scale)
{
	return ADD(&w->b, OP_mul, T(scores(w)), F(scale));
}

static int shares(struct world *w, int x)
{
	return ADD(&w->b, OP_softmax, T(x), I(&w->b, -1));
}

static int of_values(struct world *w, int x)
{
	return ADD(&w->b, OP_matmul, T(x), T(w->v));
}

/* ---- the ways in which it is written */

static int plain(struct world *w)
{
	return of_values(w, shares(w, scaled(w, 0.5)));
}

static int divided(struct world *w)
{
	int x = ADD(&w->b, OP_truediv, T(scores(w)), F(1.7));

	return of_values(w, ADD(&w->b, OP_softmax, T(x), I(&w->b, 3)));
}

static int unscaled(struct world *w)
{
	return of_values(w, shares(w, scores(w)));
}

static int added(struct world *w)
{
	return of_values(w, shares(w, ADD(&w->b, OP_add, T(scaled(w, 0.5)), T(w->bias))));
}

static int added_first(struct world *w)
{
	return of_values(w, shares(w, ADD(&w->b, OP_add, T(w->bias), T(scaled(w, 0.5)))));
}

static int filled(struct world *w)
{
	return of_values(
	    w, shares(w, ADD(&w->b, OP_masked_fill, T(scaled(w, 0.5)), T(w->mask), F(-INFINITY))));
}

static int kept(struct world *w)
{
	return of_values(w, shares(w, ADD(&w->b, OP_where, T(w->mask), T(scaled(w, 0.5)), F(-3))));
}

static int chosen(struct world *w)
{
	return of_values(w, shares(w, ADD(&w->b, OP_where, T(w->mask), F(0.25), T(scores(w)))));
}

static int turned(struct world *w)
{
	return ADD(&w->b, OP_transpose, T(plain(w)), I(&w->b, 1), I(&w->b, 2));
}

static int permuted(struct world *w)
{
	struct builder *b = &w->b;

	return ADD(b, OP_permute, T(plain(w)), DIMS(b, NUM(b, 0), NUM(b, 2), NUM(b, 1), NUM(b, 3)));
}

static int one_op(struct world *w, struct arg mask, bool causal, struct arg scale)
{
	return ADD(&w->b, OP_scaled_dot_product_attention, T(w->q), T(w->k), T(w->v), mask, F(0),
		   arg_bool(causal), scale);
}

static int of_torch(struct world *w)
{
	return one_op(w, NONE, false, NONE);
}

static int causal(struct world *w)
{
	return one_op(w, NONE, true, F(0.3));
}

static int with_mask(struct world *w)
{
	return one_op(w, T(w->mask), false, NONE);
}

static int with_bias(struct world *w)
{
	return one_op(w, T(w->bias), true, NONE);
}

/* ---- what is no call */

static int read_twice(struct world *w)
{
	int p = shares(w, scaled(w, 0.5));

	return ADD(&w->b, OP_add, T(of_values(w, p)),
		   T(ADD(&w->b, OP_sum, T(p), DIM(&w->b, -1), arg_bool(true))));
}

static int along_rows(struct world *w)
{
	return of_values(w, ADD(&w->b, OP_softmax, T(scaled(w, 0.5)), I(&w->b, 2)));
}

static int negative(struct world *w)
{
	return of_values(w, shares(w, scaled(w, -0.5)));
}

static int dropped(struct world *w)
{
	return ADD(&w->b, OP_scaled_dot_product_attention, T(w->q), T(w->k), T(w->v), NONE, F(0.5),
		   arg_bool(false), NONE);
}

static int widened(struct world *w) /* by a mask with more dims of its own */
{
	struct builder *b = &w->b;
	int mask = INPUT(b, w->dtype, NUM(b, 3), NUM(b, 2), NUM(b, HEADS), NUM(b, ROWS),
			 NUM(b, KEYS));

	return of_values(w, shares(w, ADD(b, OP_add, T(scaled(w, 0.5)), T(mask))));
}

typedef int program(struct world *w);

/* ---- */

static int count(const struct graph *g, enum op op)
{
	int n = 0;

	for (int i = 0; i < g->n_nodes; i++)
		n += g->nodes[i]->op == op;
	return n;
}

static const struct lowered *passed(struct world *w, program *make, bool calls)
{
	struct pass_options options = { .verify = true, .calls = calls };
	struct pass_result result = { 0 };
	const struct lowered *l = NULL;
	struct err err = { 0 };

	RETURN(&w->b, make(w));
	if (!passes_run(w->b.g, &options, &result, &err) ||
	    !(l = lower_graph(result.graph, result.group, result.why, true, w->b.arena, &err)))
		fail_msg("%s", err.message);
	return l;
}

/* Row 2 sees no key. */
static void fill_mask(uint8_t *mask, bool is_kept)
{
	for (int i = 0; i < ROWS * KEYS; i++)
		mask[i] = (uint8_t)(i / KEYS == 2 ? !is_kept : i % 3 == 0);
}

static void evaluate(program *make, bool calls, bool keeps, float *out)
{
	struct world w = world_create(DTYPE_F32);
	const struct lowered *l = passed(&w, make, calls);
	uint8_t mask[ROWS * KEYS + 64];

	fill_mask(mask, keeps);
	assert_int_equal(count(l->graph, OP_attention), calls);
	if (calls)
		assert_true(l->n_kernels <= 2);
	help_execute("interp", l, w.b.vars,
		     (const void *[]){ samples(&w.b, 400, 0), samples(&w.b, 400, 7),
				       samples(&w.b, 400, 3), mask, samples(&w.b, 100, 5) },
		     (void *[]){ out }, NULL);
	builder_destroy(&w.b);
}

static void a_call_has_the_values_of_its_ops(void **state)
{
	static program *const programs[] = { plain,    divided, unscaled,  added,    added_first,
					     filled,   kept,    chosen,    turned,   permuted,
					     of_torch, causal,  with_mask, with_bias };
	float have[OUT + 16], want[OUT + 16];
	int nans = 0;

	(void)state;
	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		bool keeps = programs[p] == kept || programs[p] == with_mask;

		evaluate(programs[p], false, keeps, want);
		evaluate(programs[p], true, keeps, have);
		for (int i = 0; i < OUT; i++) {
			nans += isnan(want[i]) != 0;
			if (isnan(have[i]) != isnan(want[i]) ||
			    fabsf(have[i] - want[i]) > 1e-5f * fmaxf(1, fabsf(want[i])))
				fail_msg("program %d, element %d: %g for %g", (int)p, i,
					 (double)have[i], (double)want[i]);
		}
	}
	assert_int_equal(nans, 2 * HEADS * WIDTH); /* of `filled`, whose row 2 has no key */
}

static void what_is_no_call_stays(void **state)
{
	static program *const programs[] = { read_twice, along_rows, negative, dropped, widened };

	(void)state;
	for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
		struct world w = world_create(DTYPE_BF16);

		assert_int_equal(count(passed(&w, programs[p], true)->graph, OP_attention), 0);
		builder_destroy(&w.b);
	}
	struct world w = world_create(DTYPE_F64);
	assert_int_equal(count(passed(&w, plain, true)->graph, OP_attention), 0);
	builder_destroy(&w.b);
}

/* Its product is cuBLAS's in float32 while memory holds the scores; narrow it is not. */
static void many_scores_of_float32_stay_in_memory(void **state)
{
	static const int64_t rows[] = { 512, 512, 16384 };
	static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F32 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world w = { .b = builder_create(), .dtype = dtypes[i] };
		struct builder *b = &w.b;

		w.q = INPUT(b, w.dtype, NUM(b, 64), NUM(b, rows[i]), NUM(b, 96));
		w.k = INPUT(b, w.dtype, NUM(b, 64), NUM(b, rows[i]), NUM(b, 96));
		w.v = INPUT(b, w.dtype, NUM(b, 64), NUM(b, rows[i]), NUM(b, 96));
		assert_int_equal(count(passed(&w, plain, true)->graph, OP_attention), i > 0);
		builder_destroy(b);
	}
}

static int linear(struct world *w)
{
	struct builder *b = &w->b;
	int weight = INPUT(b, w->dtype, NUM(b, 3), NUM(b, WIDTH));
	int bias = INPUT(b, w->dtype, NUM(b, 3));

	return ADD(b, OP_linear, T(w->q), T(weight), T(bias));
}

static void a_narrow_linear_layer_is_one_call(void **state)
{
	static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16 };

	(void)state;
	for (int i = 0; i < 3; i++)
		for (int calls = 0; calls < 2; calls++) {
			struct world w = world_create(dtypes[i]);
			const struct lowered *l = passed(&w, linear, calls);

			assert_int_equal(count(l->graph, OP_biased), calls && i > 0);
			assert_int_equal(l->n_kernels, 1);
			builder_destroy(&w.b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_the_values_of_its_ops),
		cmocka_unit_test(what_is_no_call_stays),
		cmocka_unit_test(many_scores_of_float32_stay_in_memory),
		cmocka_unit_test(a_narrow_linear_layer_is_one_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
