/* tests/test_backends_narrow.c -- float16, bfloat16 and narrow ints, on every vector unit. */
#include "tests/backends_help.h"

#include <math.h>

#include "fusion/base/narrow.h"

static const char *const units[] = { "sse", "avx2", "avx512" };

/* Runs a graph of one input on both backends, with each unit of this machine;
 * results must be the bits of `want`. */
static void check(struct builder *b, const void *input, const void *want, size_t bytes)
{
	const struct lowered *l = lower_passed(b, false);
	unsigned char *out = malloc(bytes + 1);

	for (int i = 0; i < 6; i++) {
		struct backend_env env = { .cache_dir = shared_kernels(),
					   .compile_timeout_ms = 600000,
					   .vector_unit = units[i / 2] };
		const struct backend *backend = backend_find(i % 2 ? "cpu" : "interp");
		struct executable *exe;
		struct err err = { 0 };

		exe = backend->compile(&env, l, &(struct compile_stats){ 0 }, &err);
		if (!exe) { /* no such unit here */
			if (err.code != ERR_UNSUPPORTED)
				fail_msg("%s", err.message);
			continue;
		}
		help_run(backend, exe, l, b->vars, &input, (void *[]){ out }, NULL);
		for (size_t k = 0; k < bytes; k++)
			if (out[k] != ((const unsigned char *)want)[k])
				fail_msg("%s %s: byte %zu is %02x, not %02x", backend->name,
					 env.vector_unit, k, out[k],
					 ((const unsigned char *)want)[k]);
		backend->destroy(exe);
	}
	free(out);
}

enum { ALL = 1 << 16 };

/* Every float16 and bfloat16 becomes the same float32. */
static void test_widens(void **state)
{
	uint16_t *in = help_alloc(ALL * sizeof(*in));
	float *want = malloc(ALL * sizeof(*want));

	(void)state;
	for (int dtype = 0; dtype < 2; dtype++) {
		struct builder b = builder_create();
		int x = INPUT(&b, dtype ? DTYPE_BF16 : DTYPE_F16, NUM(&b, ALL));

		RETURN(&b, ADD(&b, OP_to, T(x), arg_dtype(DTYPE_F32)));
		for (int i = 0; i < ALL; i++) {
			in[i] = (uint16_t)i;
			want[i] = dtype ? bfloat_to_float(in[i]) : half_to_float(in[i]);
		}
		check(&b, in, want, ALL * sizeof(*want));
		builder_destroy(&b);
	}
	free(want);
	free(in);
}

/* Rounding agrees with the definition: the nearest, ties to even. */
static uint16_t nearest_half(float f)
{
	uint16_t best = 0;
	double away = INFINITY;

	if (isnan(f))
		return (uint16_t)(0x7e00 | (signbit(f) ? 0x8000 : 0));
	if (fabsf(f) >= 65520)
		return (uint16_t)(0x7c00 | (signbit(f) ? 0x8000 : 0));
	for (int i = 0; i < 0x7c00; i++) {
		double d = fabs((double)half_to_float((uint16_t)i) - fabs((double)f));

		if (d < away || (d == away && i % 2 == 0)) {
			away = d;
			best = (uint16_t)i;
		}
	}
	return (uint16_t)(best | (signbit(f) ? 0x8000 : 0));
}

static void test_narrows(void **state)
{
	enum { N = 403 };
	float *in = help_alloc(N * sizeof(*in));
	uint16_t want[N];

	(void)state;
	for (int i = 0; i < N; i++)
		in[i] = (float)sin(i * 1.7) * powf(2, (float)(i % 50 - 30));
	in[0] = INFINITY, in[1] = -NAN, in[2] = 65519.9f, in[3] = 65520, in[4] = -0.0f;
	in[5] = 0x1.002p0f, in[6] = 0x1.006p0f, in[7] = 0x1p-25f, in[8] = 0x1.8p-25f;
	for (int i = 0; i < N; i++) {
		want[i] = nearest_half(in[i]);
		assert_int_equal(float_to_half(in[i]), want[i]);
	}
	for (int dtype = 0; dtype < 2; dtype++) {
		struct builder b = builder_create();
		int x = INPUT(&b, DTYPE_F32, NUM(&b, N));

		for (int i = 0; dtype && i < N; i++)
			want[i] = float_to_bfloat(in[i]);
		RETURN(&b, ADD(&b, OP_to, T(x), arg_dtype(dtype ? DTYPE_BF16 : DTYPE_F16)));
		check(&b, in, want, sizeof(want));
		builder_destroy(&b);
	}
	free(in);
}

/* A fused chain is rounded after every op. */
static void test_chain(void **state)
{
	enum { N = 1500 };
	uint16_t *in = help_alloc(N * sizeof(*in)), want[N];
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F16, NUM(&b, N)), y;

	(void)state;
	y = ADD(&b, OP_add, T(ADD(&b, OP_mul, T(x), F(2.3))), T(x));
	RETURN(&b, ADD(&b, OP_where, T(ADD(&b, OP_gt, T(y), F(0))), T(y), T(x)));
	for (int i = 0; i < N; i++) {
		float v, w;

		in[i] = float_to_half((float)sin(i) * 9);
		v = half_to_float(in[i]);
		w = half_to_float(float_to_half(v * 2.3f));
		w = half_to_float(float_to_half(w + v));
		want[i] = w > 0 ? float_to_half(w) : in[i];
	}
	check(&b, in, want, sizeof(want));
	builder_destroy(&b);
	free(in);
}

/* Sums add up in float32 and are rounded once; rows, columns, all. */
static void test_sums(void **state)
{
	enum { ROWS = 37, COLUMNS = 70 };
	uint16_t *in = help_alloc(sizeof(*in) * ROWS * COLUMNS), want[COLUMNS];

	(void)state;
	for (int i = 0; i < ROWS * COLUMNS; i++)
		in[i] = float_to_bfloat((float)(i % 7 - 3));
	for (int dim = 0; dim < 2; dim++) {
		struct builder b = builder_create();
		int x = INPUT(&b, DTYPE_BF16, NUM(&b, ROWS), NUM(&b, COLUMNS));
		int n = dim ? ROWS : COLUMNS;

		RETURN(&b, ADD(&b, OP_sum, T(x), DIM(&b, dim)));
		for (int i = 0; i < n; i++) {
			float sum = 0;

			for (int k = 0; k < (dim ? COLUMNS : ROWS); k++)
				sum += bfloat_to_float(in[dim ? i * COLUMNS + k : k * COLUMNS + i]);
			want[i] = float_to_bfloat(sum);
		}
		check(&b, in, want, sizeof(want[0]) * (size_t)n);
		builder_destroy(&b);
	}
	free(in);
}

/* Ints wrap in their own width. */
#define INTS(name, element, dtype)                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		enum { N = 300 };                                                                  \
		element *in = help_alloc(N * sizeof(*in)), want[N];                                \
		struct builder b = builder_create();                                               \
		int x = INPUT(&b, dtype, NUM(&b, N)), y;                                           \
                                                                                                   \
		(void)state;                                                                       \
		y = ADD(&b, OP_mul, T(x), T(x));                                                   \
		RETURN(&b, ADD(&b, OP_floordiv, T(ADD(&b, OP_add, T(y), I(&b, 100))), I(&b, 3)));  \
		for (int i = 0; i < N; i++) {                                                      \
			long sum;                                                                  \
                                                                                                   \
			in[i] = (element)(i * 7919L * 104729);                                     \
			sum = (element)((element)((long)in[i] * in[i]) + 100L);                    \
			want[i] = (element)(sum / 3 - (sum % 3 < 0));                              \
		}                                                                                  \
		check(&b, in, want, sizeof(want));                                                 \
		builder_destroy(&b);                                                               \
		free(in);                                                                          \
	}
INTS(int8, int8_t, DTYPE_I8)
INTS(uint8, uint8_t, DTYPE_U8)
INTS(int16, int16_t, DTYPE_I16)
INTS(int32, int32_t, DTYPE_I32)

static void test_promotion(void **state)
{
	(void)state;
	assert_int_equal(dtype_promote(DTYPE_U8, DTYPE_I8), DTYPE_I16);
	assert_int_equal(dtype_promote(DTYPE_BF16, DTYPE_F16), DTYPE_F32);
	assert_int_equal(dtype_promote(DTYPE_I64, DTYPE_F16), DTYPE_F16);
	assert_int_equal(dtype_promote(DTYPE_I32, DTYPE_U8), DTYPE_I32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widens),    cmocka_unit_test(test_narrows),
		cmocka_unit_test(test_chain),     cmocka_unit_test(test_sums),
		cmocka_unit_test(test_int8),      cmocka_unit_test(test_uint8),
		cmocka_unit_test(test_int16),     cmocka_unit_test(test_int32),
		cmocka_unit_test(test_promotion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
