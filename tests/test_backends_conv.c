/* tests/test_backends_conv.c -- convolutions against plain loops. */
#include "tests/backends_help.h"

#include <math.h>

/* conv2d of [n, c, h, w] by [o, c / groups, kh, kw]. */
struct conv {
	int64_t n, c, h, w, o, kh, kw, stride[2], padding[2], dilation[2], groups;
	bool turned; /* the image lies as [n, c, w, h] */
};

static float *numbers(int64_t n, int64_t shift)
{
	float *x = help_alloc((size_t)n * sizeof(*x));

	for (int64_t i = 0; i < n; i++)
		x[i] = (float)sin((double)(i + shift) * 0.7);
	return x;
}

static int64_t out_size(const struct conv *c, int axis)
{
	int64_t size = axis ? c->w : c->h, kernel = axis ? c->kw : c->kh;

	return (size + 2 * c->padding[axis] - c->dilation[axis] * (kernel - 1) - 1) /
		   c->stride[axis] +
	       1;
}

/* The element of the result at image n, channel o, row i and column j. */
struct element {
	int64_t n, o, i, j;
};

static double value_at(const struct conv *c, const float *x, const float *w, struct element e)
{
	int64_t n = e.n, o = e.o, i = e.i, j = e.j;
	int64_t in = c->c / c->groups, first = o / (c->o / c->groups) * in;
	double sum = 0;

	for (int64_t k = 0; k < in * c->kh * c->kw; k++) {
		int64_t plane = n * c->c + first + k / c->kw / c->kh;
		int64_t y = i * c->stride[0] - c->padding[0] + k / c->kw % c->kh * c->dilation[0];
		int64_t z = j * c->stride[1] - c->padding[1] + k % c->kw * c->dilation[1];

		if (y >= 0 && y < c->h && z >= 0 && z < c->w)
			sum +=
			    (double)
				x[plane * c->h * c->w + (c->turned ? z * c->h + y : y * c->w + z)] *
			    (double)w[o * in * c->kh * c->kw + k];
	}
	return sum;
}

static struct arg pair(struct builder *b, const int64_t *values)
{
	const struct sym **ints = ARENA_ARRAY(b->arena, const struct sym *, 2);

	ints[0] = NUM(b, values[0]);
	ints[1] = NUM(b, values[1]);
	return arg_ints(ints, 2);
}

static const struct lowered *lower(struct builder *b, const struct conv *c)
{
	int x = INPUT(b, DTYPE_F32, NUM(b, c->n), NUM(b, c->c), NUM(b, c->turned ? c->w : c->h),
		      NUM(b, c->turned ? c->h : c->w));
	int w = INPUT(b, DTYPE_F32, NUM(b, c->o), NUM(b, c->c / c->groups), NUM(b, c->kh),
		      NUM(b, c->kw));

	if (c->turned)
		x = ADD(b, OP_transpose, T(x), arg_int(b->g, 2), arg_int(b->g, 3));
	RETURN(b,
	       ADD(b, OP_conv2d, T(x), T(w), (struct arg){ .kind = ARG_NONE }, pair(b, c->stride),
		   pair(b, c->padding), pair(b, c->dilation), arg_int(b->g, c->groups)));
	return lower_passed(b, false);
}

static void check(const struct conv *c)
{
	struct builder b = builder_create();
	float *x = numbers(c->n * c->c * c->h * c->w, 0);
	float *w = numbers(c->o * c->c / c->groups * c->kh * c->kw, 5);
	const struct lowered *l = lower(&b, c);
	int64_t rows = out_size(c, 0), columns = out_size(c, 1), i = 0;
	float *out = calloc((size_t)(c->n * c->o * rows * columns) + 1, sizeof(*out));
	struct pool *pool = pool_create(3);

	help_execute("interp", l, b.vars, (const void *[]){ x, w }, (void *[]){ out }, pool);
	for (int64_t n = 0; n < c->n; n++)
		for (int64_t o = 0; o < c->o; o++)
			for (int64_t r = 0; r < rows; r++)
				for (int64_t k = 0; k < columns; k++, i++) {
					double want = value_at(c, x, w,
							       (struct element){ n, o, r, k });

					if (!(fabs(out[i] - want) <= 1e-5 * (1 + fabs(want))))
						fail_msg("element %lld of %lldx%lld is %g, not %g",
							 (long long)i, (long long)c->h,
							 (long long)c->w, (double)out[i], want);
				}
	pool_destroy(pool);
	free(out);
	free(x);
	free(w);
	builder_destroy(&b);
}

static void test_conv2d(void **state)
{
	static const struct conv convs[] = {
		{ 1, 1, 1, 1, 1, 1, 1, { 1, 1 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 2, 3, 8, 7, 4, 3, 3, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, false },
		{ 1, 5, 40, 37, 9, 3, 2, { 1, 1 }, { 0, 1 }, { 1, 1 }, 1, false },
		{ 2, 6, 9, 11, 4, 3, 3, { 2, 1 }, { 1, 0 }, { 1, 2 }, 2, false },
		{ 1, 8, 12, 12, 8, 3, 3, { 1, 1 }, { 2, 2 }, { 2, 2 }, 8, false },
		{ 3, 20, 14, 14, 30, 1, 1, { 1, 1 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 1, 4, 15, 15, 6, 1, 1, { 2, 2 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 2, 3, 6, 9, 5, 3, 3, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, true },
		{ 2, 4, 6, 9, 5, 2, 3, { 1, 2 }, { 0, 0 }, { 1, 1 }, 1, true },
		{ 1, 16, 33, 65, 70, 5, 5, { 1, 1 }, { 2, 2 }, { 1, 1 }, 1, false },
		{ 1, 2, 4, 5, 2, 3, 2, { 1, 1 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 3, 5, 14, 14, 33, 3, 3, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, false },
		{ 2, 40, 9, 13, 16, 3, 3, { 2, 2 }, { 1, 1 }, { 1, 1 }, 1, false },
		{ 1, 3, 30, 300, 20, 1, 7, { 1, 1 }, { 0, 0 }, { 1, 2 }, 1, false },
		{ 2, 64, 20, 28, 64, 3, 3, { 1, 3 }, { 0, 2 }, { 2, 1 }, 1, false },
		{ 1, 1, 1, 40, 17, 1, 3, { 1, 1 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 2, 1, 40, 5, 17, 3, 2, { 1, 1 }, { 0, 0 }, { 1, 1 }, 1, false },
		{ 2, 5, 28, 29, 5, 7, 7, { 1, 1 }, { 3, 3 }, { 1, 1 }, 5, false },
		{ 1, 6, 9, 300, 12, 3, 5, { 1, 2 }, { 1, 2 }, { 2, 3 }, 6, false },
		{ 2, 6, 21, 17, 9, 3, 3, { 3, 3 }, { 1, 1 }, { 1, 1 }, 3, true },
		{ 1, 4, 1, 500, 4, 1, 9, { 1, 1 }, { 0, 4 }, { 1, 1 }, 4, false },
		{ 1, 80, 6, 7, 4, 3, 3, { 1, 1 }, { 1, 1 }, { 1, 1 }, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(convs) / sizeof(convs[0]); i++)
		check(&convs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_conv2d) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
