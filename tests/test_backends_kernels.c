/* tests/test_backends_kernels.c -- how few kernels norms and losses are, and their values. */
#include "tests/backends_help.h"

static const struct lowered *lower(struct builder *b, int kernels)
{
	const struct lowered *l = lower_passed(b, false);
	struct buf text = { 0 };

	lower_print(&text, l);
	if (l->n_kernels != kernels)
		print_message("%s", text.data);
	buf_finish(&text);
	assert_int_equal(l->n_kernels, kernels);
	return l;
}

enum { N = 3, C = 8, SIDE = 5, GROUPS = 4, PER = C / GROUPS, ALL = N * C * SIDE * SIDE };

/* x less the mean of its group over its deviation, and by channel w and v. */
static double grouped(const float *x, const float *w, const float *v, int i)
{
	int size = PER * SIDE * SIDE, channel = i / (SIDE * SIDE) % C;
	const float *group = x + i / size * size;
	double mean = 0, var = 0;

	for (int j = 0; j < size; j++)
		mean += group[j] / (double)size;
	for (int j = 0; j < size; j++)
		var += (group[j] - mean) * (group[j] - mean) / size;
	return (x[i] - mean) / sqrt(var + 1e-5) * w[channel] + v[channel];
}

static int norm_input(struct builder *b, int *w, int *v)
{
	*w = INPUT(b, DTYPE_F32, NUM(b, C));
	*v = INPUT(b, DTYPE_F32, NUM(b, C));
	return INPUT(b, DTYPE_F32, NUM(b, N), NUM(b, C), NUM(b, SIDE), NUM(b, SIDE));
}

static void a_group_norm_is_one_kernel(void **state)
{
	struct builder b = builder_create();
	float y[ALL];
	int w, v, in = norm_input(&b, &w, &v);

	(void)state;
	RETURN(&b, ADD(&b, OP_group_norm, T(in), I(&b, GROUPS), T(w), T(v)));
	const struct lowered *l = lower(&b, 1);
	float *x = samples(&b, ALL, 0), *ws = samples(&b, C, 3), *vs = samples(&b, C, 9);
	ref_execute(l, b.vars, (const void *[]){ ws, vs, x }, (void *[]){ y });
	for (int i = 0; i < ALL; i++)
		assert_near(y[i], grouped(x, ws, vs, i), 1e-5);
	builder_destroy(&b);
}

/* silu(norm(x)) + x: the ops after the norm, and what they read besides, are in its
 * kernel, in the shape of the groups. */
static void what_follows_a_group_norm_is_in_its_kernel(void **state)
{
	struct builder b = builder_create();
	float y[ALL];
	int w, v, in = norm_input(&b, &w, &v);

	(void)state;
	int norm = ADD(&b, OP_group_norm, T(in), I(&b, GROUPS), T(w), T(v));
	RETURN(&b, ADD(&b, OP_add, T(ADD(&b, OP_silu, T(norm))), T(in)));
	const struct lowered *l = lower(&b, 1);
	float *x = samples(&b, ALL, 0), *ws = samples(&b, C, 3), *vs = samples(&b, C, 9);
	ref_execute(l, b.vars, (const void *[]){ ws, vs, x }, (void *[]){ y });
	for (int i = 0; i < ALL; i++) {
		double z = grouped(x, ws, vs, i);

		assert_near(y[i], z / (1 + exp(-z)) + x[i], 1e-5);
	}
	builder_destroy(&b);
}

static void an_instance_norm_is_one_kernel(void **state)
{
	struct builder b = builder_create();
	float y[ALL];
	int w, v, in = norm_input(&b, &w, &v);

	(void)state;
	RETURN(&b, ADD(&b, OP_instance_norm, T(in), arg_none(), arg_none(), T(w), T(v)));
	const struct lowered *l = lower(&b, 1);
	float *x = samples(&b, ALL, 0), *ws = samples(&b, C, 3), *vs = samples(&b, C, 9);
	ref_execute(l, b.vars, (const void *[]){ ws, vs, x }, (void *[]){ y });
	for (int i = 0; i < ALL; i++) {
		const float *plane = x + i / (SIDE * SIDE) * SIDE * SIDE;
		int channel = i / (SIDE * SIDE) % C;
		double mean = 0, var = 0;

		for (int j = 0; j < SIDE * SIDE; j++)
			mean += plane[j] / (double)(SIDE * SIDE);
		for (int j = 0; j < SIDE * SIDE; j++)
			var += (plane[j] - mean) * (plane[j] - mean) / (SIDE * SIDE);
		assert_near(y[i], (x[i] - mean) / sqrt(var + 1e-5) * ws[channel] + vs[channel],
			    1e-5);
	}
	builder_destroy(&b);
}

/* A reshape of what a kernel computes is its memory; of what is an output too it is
 * a copy, a kernel of its own. */
static void a_whole_view_of_a_result_is_no_copy(void **state)
{
	struct builder b = builder_create();
	float y[24], z[24], flat[24];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 6));
	int twice = ADD(&b, OP_mul, T(in), F(2));
	int sums = ADD(&b, OP_cumsum, T(in), I(&b, 0));
	RETURN(&b, ADD(&b, OP_reshape, T(sums), DIMS(&b, NUM(&b, 24))), twice,
	       ADD(&b, OP_reshape, T(twice), DIMS(&b, NUM(&b, 24))));
	const struct lowered *l = lower(&b, 3);
	assert_int_equal(l->buffers[l->outputs[0]].kind, BUFFER_OUTPUT);
	assert_int_not_equal(l->outputs[1], l->outputs[2]);
	float *x = samples(&b, 24, 0);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y, z, flat });
	for (int i = 0; i < 24; i++) {
		double sum = 0;

		for (int j = i % 6; j <= i; j += 6)
			sum += x[j];
		assert_near(y[i], sum, 1e-6);
		assert_true(z[i] == 2 * x[i] && flat[i] == z[i]);
	}
	builder_destroy(&b);
}

enum { ROWS = 6, CLASSES = 9 };

/* Class losses of raw scores, and what each target weighs. */
static double class_losses(const float *x, const int64_t *t, const float *w, double smooth,
			   double *weights)
{
	double loss = 0;

	*weights = 0;
	for (int i = 0; i < ROWS; i++) {
		double sum = 0, even = 0;

		if (t[i] == 3)
			continue;
		for (int c = 0; c < CLASSES; c++)
			sum += exp(x[i * CLASSES + c]);
		for (int c = 0; c < CLASSES; c++)
			even -= w[c] * (x[i * CLASSES + c] - log(sum)) / CLASSES;
		loss += smooth * even - (1 - smooth) * w[t[i]] * (x[i * CLASSES + t[i]] - log(sum));
		*weights += w[t[i]];
	}
	return loss;
}

/* As many as there are, and room for a vector after them. */
static float *padded(struct builder *b, int64_t n, int64_t shift)
{
	return samples(b, n + 32, shift);
}

/* A LIBRARY call has no plain reading: the kernels are run by a backend. */
static void a_cross_entropy_is_two_kernels(void **state)
{
	static const int64_t targets[ROWS] = { 0, 8, 3, 5, 5, 1 };

	(void)state;
	for (int smooth = 0; smooth < 2; smooth++) {
		struct builder b = builder_create();
		float loss = 0;
		double weights, want;
		int in = INPUT(&b, DTYPE_F32, NUM(&b, ROWS), NUM(&b, CLASSES));
		int t = INPUT(&b, DTYPE_I64, NUM(&b, ROWS));
		int w = INPUT(&b, DTYPE_F32, NUM(&b, CLASSES));

		RETURN(&b, ADD(&b, OP_cross_entropy, T(in), T(t), T(w), NONE, I(&b, 3), NONE,
			       arg_str("mean"), F(smooth ? 0.1 : 0)));
		const struct lowered *l = lower(&b, 2);
		float *x = padded(&b, ROWS * CLASSES, 0), *ws = padded(&b, CLASSES, 3);
		for (int c = 0; c < CLASSES; c++)
			ws[c] = fabsf(ws[c]) + 0.5f;
		want = class_losses(x, targets, ws, smooth ? 0.1 : 0, &weights);
		help_execute("cpu", l, b.vars, (const void *[]){ x, targets, ws },
			     (void *[]){ &loss }, NULL);
		assert_near(loss, want / weights, 1e-5);
		builder_destroy(&b);
	}
}

static void a_loss_of_classes_is_one_kernel(void **state)
{
	static const int64_t targets[ROWS] = { 0, 8, 3, 5, 5, 1 };
	struct builder b = builder_create();
	float loss = 0;
	double want = 0, weights = 0;

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, ROWS), NUM(&b, CLASSES));
	int t = INPUT(&b, DTYPE_I64, NUM(&b, ROWS)), w = INPUT(&b, DTYPE_F32, NUM(&b, CLASSES));
	RETURN(&b, ADD(&b, OP_nll_loss, T(in), T(t), T(w), NONE, I(&b, 3)));
	const struct lowered *l = lower(&b, 1);
	float *x = padded(&b, ROWS * CLASSES, 0), *ws = padded(&b, CLASSES, 3);
	for (int i = 0; i < ROWS; i++) {
		if (targets[i] == 3)
			continue;
		want -= ws[targets[i]] * x[i * CLASSES + targets[i]];
		weights += ws[targets[i]];
	}
	help_execute("cpu", l, b.vars, (const void *[]){ x, targets, ws }, (void *[]){ &loss },
		     NULL);
	assert_near(loss, want / weights, 1e-5);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_norm_is_one_kernel),
		cmocka_unit_test(what_follows_a_group_norm_is_in_its_kernel),
		cmocka_unit_test(an_instance_norm_is_one_kernel),
		cmocka_unit_test(a_whole_view_of_a_result_is_no_copy),
		cmocka_unit_test(a_cross_entropy_is_two_kernels),
		cmocka_unit_test(a_loss_of_classes_is_one_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
