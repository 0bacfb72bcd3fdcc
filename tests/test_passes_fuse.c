/* tests/test_passes_fuse.c -- which nodes share a kernel, and that what they
 * compute stays right.
 *
 * The programs are those of the oracle.  Each goes through all the passes and
 * the lowering; the reference runs the kernels and formulas give the values.
 */
#include <stdio.h>

#include "tests/lower_passed.h"

static const struct lowered *lower(struct builder *b)
{
	return lower_passed(b, false);
}

static void assert_kernels(const struct lowered *l, int n)
{
	struct buf text = { 0 };
	lower_print(&text, l);
	if (l->n_kernels != n)
		print_message("%s", text.data);
	buf_finish(&text);
	assert_int_equal(l->n_kernels, n);
}

static void assert_form(const struct lowered *l, int kernel, enum kernel_form form, int stages)
{
	assert_int_equal(l->kernels[kernel].form, form);
	assert_int_equal(l->kernels[kernel].n_stages, stages);
}

/* The first ten statements of the published sweep; `f` is the same in C. */
static int chain(struct builder *b, int x)
{
	x = ADD(b, OP_sin, T(ADD(b, OP_add, T(x), F(0.1))));
	x = ADD(b, OP_cos, T(ADD(b, OP_mul, T(x), F(1.1))));
	x = ADD(b, OP_relu, T(ADD(b, OP_add, T(x), F(0.2))));
	x = ADD(b, OP_sub, T(x), F(0.1));
	x = ADD(b, OP_exp, T(ADD(b, OP_mul, T(x), F(0.5))));
	return ADD(b, OP_sigmoid, T(ADD(b, OP_add, T(x), F(0.3))));
}

static double chain_value(double x)
{
	x = cos(sin(x + 0.1) * 1.1) + 0.2;
	x = (x > 0 ? x : 0) - 0.1;
	x = exp(x * 0.5) + 0.3;
	return 1 / (1 + exp(-x));
}

static void the_published_chain_is_one_kernel_of_one_walk(void **state)
{
	struct builder b = builder_create();
	float total;
	double want = 0;

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 8), SYM(&b, 16));
	RETURN(&b, ADD(&b, OP_sum, T(chain(&b, chain(&b, chain(&b, in))))));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_ROWS, 1);
	assert_int_equal(l->kernels[0].n_outer, 0);
	assert_int_equal(l->kernels[0].n_dims, 1); /* [8, 16] is one row of 128 */
	float *x = samples(&b, 128, 0);
	for (int i = 0; i < 128; i++)
		want += chain_value(chain_value(chain_value(x[i])));
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ &total });
	assert_near(total, want, 1e-6);
	builder_destroy(&b);
}

static void without_fusion_every_op_is_a_kernel(void **state)
{
	struct builder b = builder_create();
	float total;
	double want = 0;

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 8), NUM(&b, 16));
	RETURN(&b, ADD(&b, OP_sum, T(chain(&b, in))));
	const struct lowered *l = lower_passed(&b, true);
	assert_kernels(l, 12);
	for (int i = 0; i < l->n_buffers; i++)
		if (l->buffers[i].kind == BUFFER_TEMP)
			assert_int_equal(l->buffers[i].last_kernel, l->buffers[i].first_kernel + 1);
	float *x = samples(&b, 128, 0);
	for (int i = 0; i < 128; i++)
		want += chain_value(x[i]);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ &total });
	assert_near(total, want, 1e-6);
	builder_destroy(&b);
}

static void two_branches_of_one_input_join(void **state)
{
	struct builder b = builder_create();
	float y[12];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int relu = ADD(&b, OP_relu, T(in)), sigmoid = ADD(&b, OP_sigmoid, T(in));
	RETURN(&b, ADD(&b, OP_add, T(relu), T(sigmoid)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_MAP, 1);
	float *x = samples(&b, 12, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 12; i++)
		assert_near(y[i], (x[i] > 0 ? x[i] : 0) + 1 / (1 + exp(-x[i])), 1e-6);
	builder_destroy(&b);
}

static void gelu_by_hand_is_one_map(void **state)
{
	struct builder b = builder_create();
	float y[10];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 10));
	int cube = ADD(&b, OP_mul, F(0.044715), T(ADD(&b, OP_pow, T(in), I(&b, 3))));
	int inner = ADD(&b, OP_mul, F(0.7978845608), T(ADD(&b, OP_add, T(in), T(cube))));
	int gate = ADD(&b, OP_add, F(1), T(ADD(&b, OP_tanh, T(inner))));
	RETURN(&b, ADD(&b, OP_mul, T(ADD(&b, OP_mul, F(0.5), T(in))), T(gate)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_MAP, 1);
	float *x = samples(&b, 10, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 10; i++) {
		double u = 0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
		assert_near(y[i], 0.5 * x[i] * (1 + tanh(u)), 1e-6);
	}
	builder_destroy(&b);
}

static void cheap_ops_on_a_broadcast_operand_join_the_larger_space(void **state)
{
	struct builder b = builder_create();
	float y[24];

	(void)state;
	const struct sym *n = SYM(&b, 6);
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 4), n);
	int bias = INPUT(&b, DTYPE_F32, n), s = INPUT(&b, DTYPE_F32);
	int left = ADD(&b, OP_mul, T(ADD(&b, OP_add, T(in), T(bias))), T(s));
	int down = ADD(&b, OP_add, T(ADD(&b, OP_abs, T(bias))), F(1.0));
	RETURN(&b, ADD(&b, OP_sub, T(left), T(ADD(&b, OP_truediv, T(in), T(down)))));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_MAP, 1);
	float *x = samples(&b, 24, 0), *w = samples(&b, 6, 5), scale = 1.5f;
	ref_execute(l, b.vars, (const void *[]){ x, w, &scale }, (void *[]){ y });
	for (int i = 0; i < 24; i++)
		assert_near(y[i], (x[i] + w[i % 6]) * scale - x[i] / (fabs(w[i % 6]) + 1), 2e-6);
	builder_destroy(&b);
}

static void costly_ops_on_a_small_operand_are_not_repeated_for_a_large_one(void **state)
{
	static const enum op ops[] = { OP_exp, OP_rsqrt, OP_sqrt, OP_reciprocal };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct builder b = builder_create();
		char want[160];
		int in = INPUT(&b, DTYPE_F32, NUM(&b, 4096), NUM(&b, 256));
		int bias = INPUT(&b, DTYPE_F32, NUM(&b, 256));

		RETURN(&b, ADD(&b, OP_mul, T(in), T(ADD(&b, ops[i], T(bias)))));
		const struct lowered *l = lower(&b);
		assert_kernels(l, 2);
		snprintf(want, sizeof(want),
			 "with kernel 0, %%%s would be computed 4096 times for each element: "
			 "1.57e+07 units of work more, and a launch costs 1000",
			 op_info(ops[i])->id);
		assert_string_equal(l->kernels[1].why, want);
		builder_destroy(&b);
	}
}

static void where_and_clamp_are_one_map(void **state)
{
	struct builder b = builder_create();
	float z[20];

	(void)state;
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 20)), y = INPUT(&b, DTYPE_F32, NUM(&b, 20));
	int gt = ADD(&b, OP_gt, T(x), T(y));
	int w = ADD(&b, OP_clamp, T(ADD(&b, OP_where, T(gt), T(x), T(y))), F(-0.5), F(0.5));
	RETURN(&b, ADD(&b, OP_add, T(ADD(&b, OP_minimum, T(w), T(x))),
		       T(ADD(&b, OP_maximum, T(w), T(y)))));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	float *xs = samples(&b, 20, 0), *ys = samples(&b, 20, 50);
	ref_execute(l, b.vars, (const void *[]){ xs, ys }, (void *[]){ z });
	for (int i = 0; i < 20; i++) {
		double c = fmin(fmax(fmax(xs[i], ys[i]), -0.5), 0.5);
		assert_near(z[i], fmin(c, xs[i]) + fmax(c, ys[i]), 1e-6);
	}
	builder_destroy(&b);
}

static void softmax_is_three_walks_over_each_row(void **state)
{
	struct builder b = builder_create();
	float y[320], z[320];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 5), SYM(&b, 64));
	int m = ADD(&b, OP_amax, T(in), DIM(&b, 1), arg_bool(true));
	int e = ADD(&b, OP_exp, T(ADD(&b, OP_sub, T(in), T(m))));
	int s = ADD(&b, OP_sum, T(e), DIM(&b, 1), arg_bool(true));
	RETURN(&b, ADD(&b, OP_truediv, T(e), T(s)), ADD(&b, OP_softmax, T(in), I(&b, 1)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1); /* the op and its spelling by hand are one value after cse */
	assert_form(l, 0, FORM_ROWS, 3);
	assert_int_equal(l->kernels[0].n_slots, 1);
	float *x = samples(&b, 320, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y, z });
	for (int i = 0; i < 320; i++) {
		double sum = 0;
		for (int j = 0; j < 64; j++)
			sum += exp(x[i - i % 64 + j]);
		assert_near(y[i], exp(x[i]) / sum, 2e-6);
		assert_true(z[i] == y[i]);
	}
	builder_destroy(&b);
}

/* (x - mean) / sqrt(var + eps) of row i of 64. */
static double normalised(const float *x, int i, double eps)
{
	const float *row = x + i / 64 * 64;
	double mean = 0, var = 0;
	for (int j = 0; j < 64; j++)
		mean += row[j] / 64.0;
	for (int j = 0; j < 64; j++)
		var += (row[j] - mean) * (row[j] - mean) / 64;
	return (x[i] - mean) / sqrt(var + eps);
}

static void layer_norm_by_hand_is_one_kernel(void **state)
{
	struct builder b = builder_create();
	float y[256];

	(void)state;
	const struct sym *n = SYM(&b, 64);
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 4), n);
	int g = INPUT(&b, DTYPE_F32, n), w = INPUT(&b, DTYPE_F32, n);
	int mu = ADD(&b, OP_mean, T(in), DIM(&b, 1), arg_bool(true));
	int d = ADD(&b, OP_sub, T(in), T(mu));
	int square = ADD(&b, OP_pow, T(d), I(&b, 2));
	int var = ADD(&b, OP_mean, T(square), DIM(&b, 1), arg_bool(true));
	int r = ADD(&b, OP_rsqrt, T(ADD(&b, OP_add, T(var), F(1e-5))));
	int y1 = ADD(&b, OP_mul, T(ADD(&b, OP_mul, T(d), T(r))), T(g));
	RETURN(&b, ADD(&b, OP_add, T(y1), T(w)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_ROWS, 3);
	assert_int_equal(l->kernels[0].n_slots, 0); /* x - mean is cheap to do again */
	float *x = samples(&b, 256, 0), *gs = samples(&b, 64, 3), *ws = samples(&b, 64, 9);
	ref_execute(l, b.vars, (const void *[]){ x, gs, ws }, (void *[]){ y });
	for (int i = 0; i < 256; i++)
		assert_near(y[i], normalised(x, i, 1e-5) * gs[i % 64] + ws[i % 64], 1e-5);
	builder_destroy(&b);
}

static void layer_norm_and_gelu_are_one_kernel(void **state)
{
	struct builder b = builder_create();
	float y[256];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 64));
	int g = INPUT(&b, DTYPE_F32, NUM(&b, 64)), w = INPUT(&b, DTYPE_F32, NUM(&b, 64));
	int norm = ADD(&b, OP_layer_norm, T(in), DIM(&b, 64), T(g), T(w));
	RETURN(&b, ADD(&b, OP_gelu, T(norm)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_ROWS, 3);
	float *x = samples(&b, 256, 0), *gs = samples(&b, 64, 3), *ws = samples(&b, 64, 9);
	ref_execute(l, b.vars, (const void *[]){ x, gs, ws }, (void *[]){ y });
	for (int i = 0; i < 256; i++) {
		double v = normalised(x, i, 1e-5) * gs[i % 64] + ws[i % 64];
		assert_near(y[i], v * 0.5 * (1 + erf(v / sqrt(2))), 1e-5);
	}
	builder_destroy(&b);
}

static void rms_norm_is_two_walks(void **state)
{
	struct builder b = builder_create();
	float y[192], z[192];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 64));
	int g = INPUT(&b, DTYPE_F32, NUM(&b, 64));
	int square = ADD(&b, OP_pow, T(in), I(&b, 2));
	int mean = ADD(&b, OP_mean, T(square), DIM(&b, 1), arg_bool(true));
	int r = ADD(&b, OP_rsqrt, T(ADD(&b, OP_add, T(mean), F(1e-6))));
	RETURN(&b, ADD(&b, OP_mul, T(ADD(&b, OP_mul, T(in), T(r))), T(g)),
	       ADD(&b, OP_rms_norm, T(in), DIM(&b, 64), T(g), F(1e-6)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_ROWS, 2);
	float *x = samples(&b, 192, 0), *gs = samples(&b, 64, 3);
	ref_execute(l, b.vars, (const void *[]){ x, gs }, (void *[]){ y, z });
	for (int i = 0; i < 192; i++) {
		double sum = 0;
		for (int j = 0; j < 64; j++)
			sum += (double)x[i - i % 64 + j] * x[i - i % 64 + j];
		assert_near(y[i], x[i] / sqrt(sum / 64 + 1e-6) * gs[i % 64], 1e-5);
		assert_near(z[i], y[i], 1e-6);
	}
	builder_destroy(&b);
}

static void a_mean_over_dim_1_reads_its_count_from_the_sizes(void **state)
{
	struct builder b = builder_create();
	float y[3];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 3), SYM(&b, 40));
	RETURN(&b, ADD(&b, OP_mean, T(in), DIM(&b, 1)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 1);
	assert_form(l, 0, FORM_ROWS, 1);
	float *x = samples(&b, 120, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 3; i++) {
		double sum = 0;
		for (int j = 0; j < 40; j++)
			sum += x[40 * i + j];
		assert_near(y[i], sum / 40, 1e-6);
	}
	builder_destroy(&b);
}

static void reductions_over_the_same_dims_share_a_kernel_and_cumsum_stands_alone(void **state)
{
	struct builder b = builder_create();
	float c[24], v[6], s, p, n;

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 6));
	RETURN(&b, ADD(&b, OP_cumsum, T(in), I(&b, 0)), ADD(&b, OP_var, T(in), DIM(&b, 0)),
	       ADD(&b, OP_std, T(in)), ADD(&b, OP_prod, T(in)), ADD(&b, OP_norm, T(in)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 3);
	assert_string_equal(l->kernels[1].why, "no kernel before it folds dim 0 of [4, 6]");
	assert_string_equal(l->kernels[2].why, "no kernel before it folds all dims of [4, 6]");
	float *x = samples(&b, 24, 1);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ c, v, &s, &p, &n });
	double mean = 0, var = 0, prod = 1, norm = 0;
	for (int i = 0; i < 24; i++) {
		mean += x[i] / 24.0;
		prod *= x[i];
		norm += (double)x[i] * x[i];
	}
	for (int i = 0; i < 24; i++)
		var += (x[i] - mean) * (x[i] - mean) / 23;
	assert_near(s, sqrt(var), 1e-6);
	assert_near(p, prod, 1e-6);
	assert_near(n, sqrt(norm), 1e-6);
	for (int j = 0; j < 6; j++) {
		double m = 0, q = 0;
		for (int i = 0; i < 4; i++) {
			m += x[6 * i + j];
			assert_near(c[6 * i + j], m, 1e-6);
		}
		for (int i = 0; i < 4; i++)
			q += (x[6 * i + j] - m / 4) * (x[6 * i + j] - m / 4);
		assert_near(v[j], q / 3, 1e-6);
	}
	builder_destroy(&b);
}

static void
a_full_reduction_and_its_consumer_share_a_kernel_only_where_the_row_is_short(void **state)
{
	(void)state;
	for (int large = 0; large < 2; large++) {
		struct builder b = builder_create();
		int64_t n = large ? 1 << 20 : 256;
		int in = INPUT(&b, DTYPE_F32, SYM(&b, n));
		int e = ADD(&b, OP_exp, T(in));
		RETURN(&b, ADD(&b, OP_truediv, T(e), T(ADD(&b, OP_sum, T(e)))));
		const struct lowered *l = lower(&b);
		assert_kernels(l, large ? 2 : 1);
		if (large)
			assert_string_equal(l->kernels[1].why, "the sum over all dims in "
							       "kernel 0 must end before it "
							       "starts: all threads share its "
							       "one row of 1048576 points");
		builder_destroy(&b);
	}
}

static void reductions_over_different_dims_are_different_kernels(void **state)
{
	struct builder b = builder_create();
	float rows[4], columns[4];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 4));
	int e = ADD(&b, OP_exp, T(in));
	RETURN(&b, ADD(&b, OP_sum, T(e), DIM(&b, 1)), ADD(&b, OP_sum, T(e), DIM(&b, 0)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 2);
	float *x = samples(&b, 16, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ rows, columns });
	for (int i = 0; i < 4; i++) {
		double r = 0, c = 0;
		for (int j = 0; j < 4; j++) {
			r += exp(x[4 * i + j]);
			c += exp(x[4 * j + i]);
		}
		assert_near(rows[i], r, 1e-6);
		assert_near(columns[i], c, 1e-6);
	}
	builder_destroy(&b);
}

static void a_path_through_a_library_call_keeps_its_ends_apart(void **state)
{
	struct builder b = builder_create();
	float y[5];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 5));
	int twice = ADD(&b, OP_mul, T(in), F(2));
	int sums = ADD(&b, OP_cumsum, T(twice), I(&b, 0));
	RETURN(&b, ADD(&b, OP_add, T(twice), T(sums)));
	const struct lowered *l = lower(&b);
	assert_kernels(l, 3);
	assert_string_equal(l->kernels[2].why, "reads what the library call cumsum wrote");
	float *x = samples(&b, 5, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	double sum = 0;
	for (int i = 0; i < 5; i++) {
		sum += 2 * x[i];
		assert_near(y[i], 2 * x[i] + sum, 1e-6);
	}
	builder_destroy(&b);
}

static void a_filled_tensor_has_memory_only_where_someone_needs_it(void **state)
{
	struct builder b = builder_create();
	float y[6], z[6];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 6));
	int ones = ADD(&b, OP_ones, DIMS(&b, NUM(&b, 6)));
	int twos = ADD(&b, OP_full, DIMS(&b, NUM(&b, 6)), F(2));
	RETURN(&b, ADD(&b, OP_add, T(in), T(ones)), twos);
	const struct lowered *l = lower(&b);
	assert_kernels(l, 2);
	float *x = samples(&b, 6, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y, z });
	for (int i = 0; i < 6; i++) {
		assert_near(y[i], x[i] + 1, 1e-6);
		assert_true(z[i] == 2);
	}
	builder_destroy(&b);
}

/* x - mean(x) again and again: each one is a walk more. */
static void the_walks_of_a_kernel_are_bounded(void **state)
{
	struct builder b = builder_create();
	float y[40];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 20));
	int x = in;
	for (int i = 0; i < 20; i++) {
		int top = ADD(&b, OP_amax, T(x), DIM(&b, 1), arg_bool(true));
		x = ADD(&b, OP_sub, T(ADD(&b, OP_mul, T(x), F(0.5))), T(top));
	}
	RETURN(&b, x);
	const struct lowered *l = lower(&b);
	assert_true(l->n_kernels > 1);
	for (int k = 0; k < l->n_kernels; k++)
		assert_in_range(l->kernels[k].n_stages, 1, 8);
	float *xs = samples(&b, 40, 0);
	ref_execute(l, b.vars, (const void *[]){ xs }, (void *[]){ y });
	for (int i = 0; i < 20; i++)
		for (int r = 0; r < 2; r++) {
			float top = -INFINITY;
			for (int j = 0; j < 20; j++)
				top = fmaxf(top, xs[20 * r + j]);
			for (int j = 0; j < 20; j++)
				xs[20 * r + j] = xs[20 * r + j] * 0.5f - top;
		}
	for (int i = 0; i < 40; i++)
		assert_near(y[i], xs[i], 1e-6);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_chain_is_one_kernel_of_one_walk),
		cmocka_unit_test(without_fusion_every_op_is_a_kernel),
		cmocka_unit_test(two_branches_of_one_input_join),
		cmocka_unit_test(gelu_by_hand_is_one_map),
		cmocka_unit_test(cheap_ops_on_a_broadcast_operand_join_the_larger_space),
		cmocka_unit_test(costly_ops_on_a_small_operand_are_not_repeated_for_a_large_one),
		cmocka_unit_test(where_and_clamp_are_one_map),
		cmocka_unit_test(softmax_is_three_walks_over_each_row),
		cmocka_unit_test(layer_norm_by_hand_is_one_kernel),
		cmocka_unit_test(layer_norm_and_gelu_are_one_kernel),
		cmocka_unit_test(rms_norm_is_two_walks),
		cmocka_unit_test(a_mean_over_dim_1_reads_its_count_from_the_sizes),
		cmocka_unit_test(
		    reductions_over_the_same_dims_share_a_kernel_and_cumsum_stands_alone),
		cmocka_unit_test(
		    a_full_reduction_and_its_consumer_share_a_kernel_only_where_the_row_is_short),
		cmocka_unit_test(reductions_over_different_dims_are_different_kernels),
		cmocka_unit_test(a_path_through_a_library_call_keeps_its_ends_apart),
		cmocka_unit_test(a_filled_tensor_has_memory_only_where_someone_needs_it),
		cmocka_unit_test(the_walks_of_a_kernel_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
