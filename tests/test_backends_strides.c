/* tests/test_backends_strides.c -- inputs that are views: transposed, sliced, expanded.
 *
 * The reference of lower_reference.h walks the same strides point by point.
 * cumsum, which has a function of its own, is checked against a formula.
 */
#include "tests/backends_help.h"

static const char *const names[] = { "interp", "cpu" };

struct view {
	int64_t size[2], stride[2];
};

static const struct view views[] = {
	{ { 40, 50 }, { 50, 1 } },    { { 40, 50 }, { 1, 40 } },    { { 33, 70 }, { 200, 2 } },
	{ { 33, 70 }, { 0, 1 } },     { { 33, 70 }, { 1, 0 } },     { { 1, 3000 }, { 9, 1 } },
	{ { 3000, 1 }, { 1, 7 } },    { { 5, 1500 }, { 1600, 1 } }, { { 1300, 3 }, { 3, 1 } },
	{ { 1300, 3 }, { 5, 1 } },    { { 64, 64 }, { 1, 64 } },    { { 2, 2 }, { 1, 2 } },
	{ { 139, 150 }, { 1, 139 } },
};

static int strided_input(struct builder *b, enum dtype dtype, const struct view *v)
{
	struct shape shape = { .rank = 2, .size = { NUM(b, v->size[0]), NUM(b, v->size[1]) } };
	const struct sym *stride[MAX_RANK] = { NUM(b, v->stride[0]), NUM(b, v->stride[1]) };
	int id = graph_input(b->g, dtype, &shape, stride);

	assert_true(id >= 0);
	return id;
}

/* Pointwise with a dense tensor and a broadcast row, and reductions of both. */
static struct builder make_graph(const struct view *v)
{
	struct builder b = builder_create();
	int x = strided_input(&b, DTYPE_F32, v);
	int y = INPUT(&b, DTYPE_F32, NUM(&b, v->size[0]), NUM(&b, v->size[1]));
	int row = INPUT(&b, DTYPE_F32, NUM(&b, v->size[1]));
	int z = ADD(&b, OP_add, T(ADD(&b, OP_mul, T(x), T(y))), T(row));
	int mask = ADD(&b, OP_gt, T(x), T(row));

	RETURN(&b, z, ADD(&b, OP_sum, T(z), DIM(&b, 0)), ADD(&b, OP_amax, T(z), DIM(&b, 1)),
	       ADD(&b, OP_any, T(mask), DIM(&b, 0)), ADD(&b, OP_softmax, T(z), I(&b, 1)),
	       ADD(&b, OP_to, T(x), arg_dtype(DTYPE_F64)));
	return b;
}

static double value_at(const void *memory, enum dtype dtype, int64_t i)
{
	struct ref_value v = ref_get(memory, dtype, i);

	return ref_is_float(dtype) ? v.f : (double)v.i;
}

static void check_view(const struct view *v, const char *backend)
{
	enum { OUTPUTS = 6 };
	struct builder b = make_graph(v);
	const struct lowered *l = lower_passed(&b, false);
	int64_t span = 1 + (v->size[0] - 1) * v->stride[0] + (v->size[1] - 1) * v->stride[1];
	int64_t n = v->size[0] * v->size[1];
	float *x = help_alloc((size_t)span * 4), *y = help_alloc((size_t)n * 4);
	float *row = help_alloc((size_t)v->size[1] * 4);
	void *got[OUTPUTS], *want[OUTPUTS];

	for (int64_t i = 0; i < span; i++)
		x[i] = ref_sample(i);
	for (int64_t i = 0; i < n; i++)
		y[i] = ref_sample(3 * i + 5);
	for (int64_t i = 0; i < v->size[1]; i++)
		row[i] = ref_sample(i + 9);
	for (int i = 0; i < OUTPUTS; i++) {
		got[i] = calloc((size_t)n + 1, 8);
		want[i] = calloc((size_t)n + 1, 8);
	}
	ref_execute(l, b.vars, (const void *[]){ x, y, row }, want);
	help_execute(backend, l, b.vars, (const void *[]){ x, y, row }, got, NULL);
	for (int i = 0; i < OUTPUTS; i++) {
		const struct buffer *out = &l->buffers[l->outputs[i]];

		for (int64_t j = 0; j < sym_eval(out->numel, b.vars); j++)
			assert_near(value_at(got[i], out->dtype, j),
				    value_at(want[i], out->dtype, j), 1e-5);
		free(got[i]);
		free(want[i]);
	}
	free(x);
	free(y);
	free(row);
	builder_destroy(&b);
}

static void views_are_read_where_they_lie(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
			check_view(&views[i], names[k]);
}

static void check_cumsum(const struct view *v, int dim, const char *backend)
{
	struct builder b = builder_create();
	int x = strided_input(&b, DTYPE_F32, v), whole = ADD(&b, OP_to, T(x), arg_dtype(DTYPE_I64));
	int64_t span = 1 + (v->size[0] - 1) * v->stride[0] + (v->size[1] - 1) * v->stride[1];
	size_t n = (size_t)(v->size[0] * v->size[1]);
	float *in = help_alloc((size_t)span * 4), *out = calloc(n, 4);
	int64_t *ints = calloc(n, 8);
	struct pool *pool = pool_create(2);

	RETURN(&b, ADD(&b, OP_cumsum, T(x), I(&b, dim)), ADD(&b, OP_cumsum, T(whole), I(&b, dim)));
	for (int64_t i = 0; i < span; i++)
		in[i] = ref_sample(i) * 3;
	help_execute(backend, lower_passed(&b, false), b.vars, (const void *[]){ in },
		     (void *[]){ out, ints }, pool);
	for (int64_t i = 0; i < v->size[0]; i++)
		for (int64_t j = 0; j < v->size[1]; j++) {
			double sum = 0;
			int64_t count = 0;

			for (int64_t k = 0; k <= (dim ? j : i); k++) {
				float e =
				    in[(dim ? i : k) * v->stride[0] + (dim ? k : j) * v->stride[1]];
				sum += (double)e;
				count += (int64_t)e;
			}
			assert_true(out[i * v->size[1] + j] == (float)sum);
			assert_true(ints[i * v->size[1] + j] == count);
		}
	pool_destroy(pool);
	free(in);
	free(out);
	free(ints);
	builder_destroy(&b);
}

static void a_running_sum_is_kept_in_float64_along_any_dim(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
			check_cumsum(&views[i], 0, names[k]);
			check_cumsum(&views[i], 1, names[k]);
		}
}

static void a_running_sum_takes_any_rank(void **state)
{
	static const int64_t size[3] = { 3, 4, 300 }, after[3] = { 1200, 300, 1 };

	(void)state;
	for (int dim = 0; dim < 3; dim++) {
		struct builder b = builder_create();
		int x = INPUT(&b, DTYPE_F64, NUM(&b, 3), NUM(&b, 4), NUM(&b, 300));
		double *in = help_alloc(3600 * 8), *out = calloc(3600, 8);

		RETURN(&b, ADD(&b, OP_cumsum, T(x), I(&b, dim - 3)));
		for (int64_t i = 0; i < 3600; i++)
			in[i] = (double)ref_sample(i);
		help_execute("interp", lower_passed(&b, false), b.vars, (const void *[]){ in },
			     (void *[]){ out }, NULL);
		for (int64_t i = 0; i < 3600; i++) {
			int64_t first = i / after[dim] % size[dim] == 0;

			assert_near(out[i], in[i] + (first ? 0 : out[i - after[dim]]), 1e-12);
		}
		free(in);
		free(out);
		builder_destroy(&b);
	}
}

/* Runs a graph of inputs of float32 and compares all of its outputs with the reference's. */
static void check_outputs(struct builder *b, const void *const *in)
{
	const struct lowered *l = lower_passed(b, false);
	struct pool *pool = pool_create(3);

	for (int k = 0; k < 2; k++) {
		void *got[4], *want[4];

		assert_true(l->n_outputs <= 4);
		for (int i = 0; i < l->n_outputs; i++) {
			size_t n = (size_t)sym_eval(l->buffers[l->outputs[i]].numel, b->vars) + 8;

			got[i] = calloc(n, 8);
			want[i] = calloc(n, 8);
		}
		ref_execute(l, b->vars, in, want);
		help_execute(names[k], l, b->vars, in, got, pool);
		for (int i = 0; i < l->n_outputs; i++) {
			const struct buffer *out = &l->buffers[l->outputs[i]];

			for (int64_t j = 0; j < sym_eval(out->numel, b->vars); j++)
				assert_near(value_at(got[i], out->dtype, j),
					    value_at(want[i], out->dtype, j), 1e-5);
			free(got[i]);
			free(want[i]);
		}
	}
	pool_destroy(pool);
}

/* Windows that overlap, summed: few points side by side, many columns. */
static void short_rows_are_reduced_across_columns(void **state)
{
	static const struct view windows[] = { { { 700, 9 }, { 4, 1 } },
					       { { 2100, 31 }, { 31, 1 } },
					       { { 301, 4 }, { 1, 1 } },
					       { { 299, 32 }, { 33, 1 } } };

	(void)state;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		for (int dtype = 0; dtype < 3; dtype++) {
			static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_F64, DTYPE_BF16 };
			const struct view *v = &windows[i];
			struct builder b = builder_create();
			int x = strided_input(&b, dtypes[dtype], v);
			size_t span = (size_t)((v->size[0] - 1) * v->stride[0] +
					       v->size[1] * v->stride[1]);
			void *in = help_alloc(span * 8);

			for (size_t k = 0; k < span; k++)
				dtype_put_double(dtypes[dtype], in, (int64_t)k,
						 (double)ref_sample((int64_t)k));
			RETURN(&b, ADD(&b, OP_sum, T(x), DIM(&b, 1)),
			       ADD(&b, OP_amax, T(x), DIM(&b, 1)));
			check_outputs(&b, (const void *[]){ in });
			free(in);
			builder_destroy(&b);
		}
}

/* What a channel is multiplied with and moved by is one value for its pixels. */
static void operands_that_stand_still_are_read_once_a_row(void **state)
{
	enum { SAMPLES = 8, CHANNELS = 9, PIXELS = 307 };
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, SAMPLES), NUM(&b, CHANNELS), NUM(&b, PIXELS));
	int scale = INPUT(&b, DTYPE_F32, NUM(&b, CHANNELS), NUM(&b, 1));
	int bias = INPUT(&b, DTYPE_F32, NUM(&b, SAMPLES), NUM(&b, 1), NUM(&b, 1));
	int factor = ADD(&b, OP_exp, T(scale));
	int y = ADD(&b, OP_add, T(ADD(&b, OP_mul, T(x), T(factor))), T(bias));
	float *in[3] = { help_alloc(SAMPLES * CHANNELS * PIXELS * 4), help_alloc(CHANNELS * 4),
			 help_alloc(SAMPLES * 4) };

	(void)state;
	for (int64_t i = 0; i < SAMPLES * CHANNELS * PIXELS; i++)
		in[0][i] = ref_sample(i);
	for (int64_t i = 0; i < CHANNELS; i++)
		in[1][i] = ref_sample(i + 3);
	for (int64_t i = 0; i < SAMPLES; i++)
		in[2][i] = ref_sample(i + 5);
	RETURN(&b, y, ADD(&b, OP_gt, T(y), T(bias)));
	check_outputs(&b, (const void *[]){ in[0], in[1], in[2] });
	for (int i = 0; i < 3; i++)
		free(in[i]);
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_read_where_they_lie),
		cmocka_unit_test(short_rows_are_reduced_across_columns),
		cmocka_unit_test(operands_that_stand_still_are_read_once_a_row),
		cmocka_unit_test(a_running_sum_is_kept_in_float64_along_any_dim),
		cmocka_unit_test(a_running_sum_takes_any_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
