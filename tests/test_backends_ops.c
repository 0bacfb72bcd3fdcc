/* tests/test_backends_ops.c -- every pointwise loop against libm, unit by unit.
 *
 * The interpreter's tables are called directly, so that each vector unit that
 * the machine has is tested, not only the one that kernels_here() picks.  The
 * reference is <math.h> in long double; bounds are in units of the last place.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/backends/simd/simd.h"

typedef long double real;

enum { HARD = 4096, COUNT = 8192, SPECIALS = 24 }; /* samples from HARD on are hard ones */

static const double specials[SPECIALS] = {
	0.0,      -0.0,      1.0,     -1.0,   0.5,    -0.5,     2.0,        -2.0,
	1e-40,    -1e-40,    1.5e-45, 1e-310, 3.0e38, -3.0e38,  88.7,       -103.9,
	INFINITY, -INFINITY, NAN,     1e10,   -1e10,  0.999999, 3.14159265, -87.4,
};

#define REFERENCE(name, value)                                                                     \
	static real r_##name(real a, real b)                                                       \
	{                                                                                          \
		(void)b;                                                                           \
		return value;                                                                      \
	}
REFERENCE(neg, -a)
REFERENCE(clone, a)
REFERENCE(abs, fabsl(a))
REFERENCE(relu, a < 0 ? 0 : a)
REFERENCE(sin, sinl(a))
REFERENCE(cos, cosl(a))
REFERENCE(tan, tanl(a))
REFERENCE(exp, expl(a))
REFERENCE(exp2, exp2l(a))
REFERENCE(expm1, expm1l(a))
REFERENCE(log, logl(a))
REFERENCE(log2, log2l(a))
REFERENCE(log1p, log1pl(a))
REFERENCE(log10, log10l(a))
REFERENCE(sinh, sinhl(a))
REFERENCE(cosh, coshl(a))
REFERENCE(asin, asinl(a))
REFERENCE(acos, acosl(a))
REFERENCE(atan, atanl(a))
REFERENCE(asinh, asinhl(a))
REFERENCE(acosh, acoshl(a))
REFERENCE(atanh, atanhl(a))
REFERENCE(erfc, erfcl(a))
REFERENCE(lgamma, lgammal(a))
REFERENCE(trunc, truncl(a))
REFERENCE(fmod, fmodl(a, b))
REFERENCE(tanh, tanhl(a))
REFERENCE(sigmoid, 1 / (1 + expl(-a)))
REFERENCE(erf, erfl(a))
REFERENCE(sqrt, sqrtl(a))
REFERENCE(rsqrt, 1 / sqrtl(a))
REFERENCE(reciprocal, 1 / a)
REFERENCE(square, a *a)
REFERENCE(floor, floorl(a))
REFERENCE(ceil, ceill(a))
REFERENCE(round, rintl(a))
REFERENCE(sign, (a > 0) - (a < 0))
REFERENCE(add, a + b)
REFERENCE(sub, a - b)
REFERENCE(mul, a *b)
REFERENCE(truediv, a / b)
REFERENCE(pow, powl(a, b))
REFERENCE(atan2, atan2l(a, b))
REFERENCE(minimum, isnan(a) || a < b ? a : b)
REFERENCE(maximum, isnan(a) || a > b ? a : b)
REFERENCE(mod, fmodl(a, b) != 0 && (fmodl(a, b) < 0) != (b < 0) ? fmodl(a, b) + b : fmodl(a, b))
REFERENCE(lt, a < b)
REFERENCE(le, a <= b)
REFERENCE(gt, a > b)
REFERENCE(ge, a >= b)
REFERENCE(eq, a == b)
REFERENCE(ne, a != b)
REFERENCE(isnan, isnan(a))

/* glibc promises 4 ulp for its vector functions; what is made of several
 * roundings gets a little more.  -1: a bool. */
static const struct {
	enum op op;
	int operands, ulp;
	real (*reference)(real, real);
} ops[] = {
#define OP1(id, ulp) { OP_##id, 1, ulp, r_##id },
#define OP2(id, ulp) { OP_##id, 2, ulp, r_##id },
	OP1(neg, 0) OP1(clone, 0) OP1(abs, 0) OP1(relu, 0) OP1(sin, 4) OP1(cos, 4) OP1(tan, 4)
	    OP1(exp, 4) OP1(exp2, 4) OP1(expm1, 4) OP1(log, 4) OP1(log2, 4) OP1(log1p, 4)
		OP1(tanh, 4) OP1(sigmoid, 6) OP1(erf, 4) OP1(sqrt, 0) OP1(rsqrt, 1)
		    OP1(reciprocal, 0) OP1(square, 0) OP1(floor, 0) OP1(ceil, 0) OP1(round, 0)
			OP1(sign, 0) OP1(isnan, -1) OP2(add, 0) OP2(sub, 0) OP2(mul, 0)
			    OP2(truediv, 0) OP2(pow, 4) OP2(atan2, 4) OP2(minimum, 0)
				OP2(maximum, 0) OP2(mod, 1) OP2(lt, -1) OP2(le, -1) OP2(gt, -1)
				    OP2(ge, -1) OP2(eq, -1) OP2(ne, -1) OP1(log10, 4) OP1(sinh, 4)
					OP1(cosh, 4) OP1(asin, 4) OP1(acos, 4) OP1(atan, 4)
					    OP1(asinh, 4) OP1(acosh, 4) OP1(atanh, 4) OP1(erfc, 4)
						OP1(lgamma, 4) OP1(trunc, 0) OP2(fmod, 0)
};

enum { OPS = sizeof(ops) / sizeof(ops[0]) };

/* The units that this machine can run. */
static int units(const struct kernel_table *out[3])
{
	int n = 0;

	out[n++] = &kernels_sse;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		out[n++] = &kernels_avx2;
	if (kernels_here() == &kernels_avx512)
		out[n++] = &kernels_avx512;
	return n;
}

/* Where functions are steep, nearly 0, out of range or denormal, and where arguments are
 * reduced: a few steps around such a point, or along it. */
static double hard(int i)
{
	static const double around[] = { 1,        -1,        0.5,       88.7228,
					 -87.3365, -103.9721, 709.7827,  -708.396,
					 -745.133, 0.6931472, 2.3025851, 475.0 / 512,
					 9.01,     -9.01,     5.9,       26.5 };
	int k = i / 24 - 85;

	switch (i % 24) {
	case 16:
		return k * 1.57079632679489662; /* zeros and poles */
	case 17:
		return k * 1.4e-45; /* denormal floats */
	case 18:
		return k * 5e-324;
	case 19:
		return ldexp(1 + i % 7 * 0.125, k); /* every power of two */
	case 20:
		return -ldexp(1 + i % 7 * 0.125, 6 * k);
	case 21:
		return k * 12345.678; /* far out */
	case 22:
		return k * 9.8765e15;
	case 23:
		return k * 0.5; /* halves: ties */
	default:
		return around[i % 24] * (1 + k * (i % 2 ? 0x1p-24 : 0x1p-12));
	}
}

static double sample(int i)
{
	static const double scales[] = { 1, 10, 100, 1e-3, 1e5, 1e-20 };

	if (i < SPECIALS * SPECIALS)
		return specials[i % SPECIALS];
	if (i >= HARD)
		return hard(i - HARD);
	return ((double)(i * 7919 % 100003) / 50001.5 - 1) * scales[i % 6];
}

static double second_sample(int i)
{
	if (i < SPECIALS * SPECIALS)
		return specials[i / SPECIALS];
	return ((double)(i * 104729 % 100019) / 50009.5 - 1) * (i % 3 ? 3 : 40);
}

/* Distance in representable values; infinity is the value after the largest. */
static double ulps_f32(float got, real want)
{
	float w = (float)want;
	int32_t a, b;

	if (isnan(got) || isnan(w))
		return isnan(got) && isnan(w) ? 0 : INFINITY;
	memcpy(&a, &got, 4);
	memcpy(&b, &w, 4);
	a = a < 0 ? INT32_MIN - a : a;
	b = b < 0 ? INT32_MIN - b : b;
	return fabs((double)a - (double)b);
}

static double ulps_f64(double got, real want)
{
	double w = (double)want;
	int64_t a, b;

	if (isnan(got) || isnan(w))
		return isnan(got) && isnan(w) ? 0 : INFINITY;
	memcpy(&a, &got, 8);
	memcpy(&b, &w, 8);
	a = a < 0 ? INT64_MIN - a : a;
	b = b < 0 ? INT64_MIN - b : b;
	return (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
}

static void test_f32(const struct kernel_table *unit, int o)
{
	static _Alignas(64) float a[COUNT + 16], b[COUNT + 16], out[COUNT + 16];
	const uint8_t *bits = (const uint8_t *)out;

	for (int i = 0; i < COUNT; i++) {
		a[i] = (float)sample(i);
		b[i] = (float)second_sample(i);
	}
	unit->point[ops[o].op][DTYPE_F32](out, a, b, b, COUNT, 0);
	for (int i = 0; i < COUNT; i++) {
		real want = ops[o].reference((real)a[i], (real)b[i]);
		double error = ops[o].ulp < 0 ? (bits[i] != want) : ulps_f32(out[i], want);

		if (ops[o].op == OP_sigmoid && want < FLT_MIN && out[i] == 0)
			continue; /* exp(-x) overflows, in PyTorch too */
		if (error > (ops[o].ulp > 0 ? ops[o].ulp : 0))
			fail_msg("%s float32 %s(%a, %a): %.9g, not %.9g (%g ulp)", unit->unit,
				 op_info(ops[o].op)->id, (double)a[i], (double)b[i], (double)out[i],
				 (double)want, error);
	}
}

static void test_f64(const struct kernel_table *unit, int o)
{
	static _Alignas(64) double a[COUNT + 8], b[COUNT + 8], out[COUNT + 8];
	const uint8_t *bits = (const uint8_t *)out;

	for (int i = 0; i < COUNT; i++) {
		a[i] = sample(i);
		b[i] = second_sample(i);
	}
	unit->point[ops[o].op][DTYPE_F64](out, a, b, b, COUNT, 0);
	for (int i = 0; i < COUNT; i++) {
		real want = ops[o].reference((real)a[i], (real)b[i]);
		double error = ops[o].ulp < 0 ? (bits[i] != want) : ulps_f64(out[i], want);

		if (ops[o].op == OP_sigmoid && want < DBL_MIN && out[i] == 0)
			continue;
		/* The reference is rounded twice. */
		if (error > (ops[o].ulp > 0 ? ops[o].ulp : ops[o].ulp == 0))
			fail_msg("%s float64 %s(%a, %a): %.17g, not %.17g (%g ulp)", unit->unit,
				 op_info(ops[o].op)->id, a[i], b[i], out[i], (double)want, error);
	}
}

static void every_float_op_is_as_close_as_the_library_promises(void **state)
{
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int u = 0; u < n; u++)
		for (int o = 0; o < OPS; o++) {
			test_f32(unit[u], o);
			test_f64(unit[u], o);
		}
}

/* No function that the vector math library computes is left out above. */
static void every_transcendental_op_is_measured(void **state)
{
	(void)state;
	for (int op = 0; op < OP_COUNT; op++) {
		bool found = op_info(op)->kind != KIND_POINTWISE || !op_info(op)->transcendental;

		for (int o = 0; o < OPS && !found; o++)
			found = ops[o].op == (enum op)op;
		if (!found)
			fail_msg("%s has no reference in this file", op_info(op)->id);
	}
}

/* No row of ops.def is left out above, or below for ints and bools. */
static void every_pointwise_op_has_a_loop_for_its_dtypes(void **state)
{
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int u = 0; u < n; u++)
		for (int op = 0; op < OP_COUNT; op++) {
			const struct op_info *info = op_info(op);

			if (info->kind != KIND_POINTWISE || op == OP_to)
				continue;
			if (info->rule == RULE_LOGIC) {
				assert_non_null(unit[u]->point[op][DTYPE_BOOL]);
				continue;
			}
			assert_non_null(unit[u]->point[op][DTYPE_F32]);
			assert_non_null(unit[u]->point[op][DTYPE_F64]);
			if (info->rule != RULE_FLOAT)
				assert_non_null(unit[u]->point[op][DTYPE_I64]);
		}
}

static int64_t divide(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void int64_ops_wrap_and_never_trap(void **state)
{
	static const int64_t values[] = {
		0, 1, -1, 2, -2, 7, -7, 3, -3, 10, 64, 63, 100, INT64_MAX, INT64_MIN, INT64_MIN + 1
	};
	enum { N = 256 };
	static _Alignas(64) int64_t a[N + 8], b[N + 8], out[6][N + 8];
	static const enum op names[] = { OP_add, OP_mul, OP_floordiv, OP_mod, OP_pow, OP_sub };
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int i = 0; i < N; i++) {
		a[i] = values[i % 16];
		b[i] = values[i / 16];
	}
	for (int u = 0; u < n; u++) {
		for (int o = 0; o < 6; o++)
			unit[u]->point[names[o]][DTYPE_I64](out[o], a, b, b, N, 0);
		for (int i = 0; i < N; i++) {
			uint64_t x = (uint64_t)a[i], y = (uint64_t)b[i], power = 1;

			assert_true(out[0][i] == (int64_t)(x + y));
			assert_true(out[1][i] == (int64_t)(x * y));
			assert_true(out[5][i] == (int64_t)(x - y));
			if (b[i] == 0 || b[i] == -1) {
				assert_true(out[2][i] == (b[i] ? (int64_t)(0 - x) : 0));
				assert_true(out[3][i] == 0);
			} else {
				assert_true(out[2][i] == divide(a[i], b[i]));
				assert_true(out[3][i] ==
					    (int64_t)(x - (uint64_t)divide(a[i], b[i]) * y));
			}
			if (b[i] < 0 || b[i] > 100)
				continue;
			for (int64_t k = 0; k < b[i]; k++)
				power *= x;
			assert_true(out[4][i] == (int64_t)power);
		}
	}
}

static void negative_int_powers_are_whole_numbers(void **state)
{
	static _Alignas(64) int64_t a[8] = { 1, -1, -1, 2, 0, 5, 1, -1 };
	static _Alignas(64) int64_t b[8] = { -3, -3, -2, -1, -1, INT64_MIN, INT64_MIN, -1 };
	static const int64_t want[8] = { 1, -1, 1, 0, 0, 0, 1, -1 };
	_Alignas(64) int64_t out[8];
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int u = 0; u < n; u++) {
		unit[u]->point[OP_pow][DTYPE_I64](out, a, b, b, 8, 0);
		assert_memory_equal(out, want, sizeof(want));
	}
}

/* torch.floor_divide of floats, from its documentation: floor(a / b), and what
 * a / b is where b is 0. */
static void float_floor_division_follows_python(void **state)
{
	static const struct {
		float a, b, want;
	} cases[] = { { 7, 2, 3 },    { -7, 2, -4 },      { 7, -2, -4 },
		      { -7, -2, 3 },  { 1, 0, INFINITY }, { -1, 0, -INFINITY },
		      { 0, 0, NAN },  { 6, 3, 2 },        { -0.5f, 3, -1 },
		      { 0.5f, 3, 0 }, { NAN, 1, NAN },    { 1e30f, 1e-5f, 1e35f } };
	enum { N = sizeof(cases) / sizeof(cases[0]) };
	_Alignas(64) float a[N + 16], b[N + 16], out[N + 16];
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int i = 0; i < N + 16; i++) {
		a[i] = i < N ? cases[i].a : 1;
		b[i] = i < N ? cases[i].b : 1;
	}
	for (int u = 0; u < n; u++) {
		unit[u]->point[OP_floordiv][DTYPE_F32](out, a, b, b, N, 0);
		for (int i = 0; i < N; i++)
			assert_true(isnan(cases[i].want)
					? isnan(out[i])
					: fabsf(out[i] - cases[i].want) <= 1e-6f * fabsf(out[i]) ||
					      out[i] == cases[i].want);
	}
}

static void bool_ops_give_bytes_of_zero_and_one(void **state)
{
	static const struct {
		enum op op;
		uint8_t want[4]; /* of 00, 01, 10, 11 */
	} cases[] = { { OP_logical_and, { 0, 0, 0, 1 } }, { OP_logical_or, { 0, 1, 1, 1 } },
		      { OP_logical_xor, { 0, 1, 1, 0 } }, { OP_and_, { 0, 0, 0, 1 } },
		      { OP_or_, { 0, 1, 1, 1 } },         { OP_xor_, { 0, 1, 1, 0 } },
		      { OP_logical_not, { 1, 1, 0, 0 } }, { OP_invert, { 1, 1, 0, 0 } },
		      { OP_clone, { 0, 0, 1, 1 } },       { OP_isnan, { 0, 0, 0, 0 } } };
	_Alignas(64) uint8_t a[128], b[128], out[128];
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int i = 0; i < 128; i++) {
		a[i] = i >> 1 & 1;
		b[i] = i & 1;
	}
	for (int u = 0; u < n; u++)
		for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
			unit[u]->point[cases[c].op][DTYPE_BOOL](out, a, b, b, 128, 0);
			for (int i = 0; i < 128; i++)
				assert_int_equal(out[i], cases[c].want[i & 3]);
		}
}

static void where_takes_each_side_whatever_is_splat(void **state)
{
	_Alignas(64) uint8_t mask[64 + 64];
	_Alignas(64) float yes[64], no[64], out[64];
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int u = 0; u < n; u++)
		for (unsigned splat = 0; splat < 8; splat++) {
			for (int i = 0; i < 64; i++) {
				mask[i] = splat & 1 ? 1 : i % 3 == 0;
				yes[i] = splat & 2 ? 5 : (float)i;
				no[i] = splat & 4 ? NAN : (float)-i;
			}
			unit[u]->point[OP_where][DTYPE_F32](out, mask, yes, no, 64, splat);
			for (int i = 0; i < 64; i++) {
				float want = mask[i] ? yes[i] : no[i];
				assert_true(out[i] == want || (isnan(out[i]) && isnan(want)));
			}
		}
}

static void casts_convert_as_torch_does(void **state)
{
	_Alignas(64) double d[16] = { 0, -0.0, 1.9, -1.9, NAN, INFINITY, 1e300, 3e9, 0.1, 2, 1, 0 };
	_Alignas(64) int64_t i[16] = { 0, 1, -1, (1LL << 53) + 1, INT64_MIN, 16777217 };
	_Alignas(64) float f[16 + 16];
	_Alignas(64) double back[16];
	_Alignas(64) int64_t whole[16];
	_Alignas(64) uint8_t bits[64];
	const struct kernel_table *unit[3];
	int n = units(unit);

	(void)state;
	for (int u = 0; u < n; u++) {
		unit[u]->cast[DTYPE_I64][DTYPE_F64](whole, d, d, d, 16, 0);
		assert_int_equal(whole[2], 1);
		assert_int_equal(whole[3], -1);
		assert_true(whole[4] == INT64_MIN && whole[6] == INT64_MIN);
		unit[u]->cast[DTYPE_F32][DTYPE_F64](f, d, d, d, 16, 0);
		assert_true(signbit(f[1]) && isnan(f[4]) && isinf(f[6]) && f[8] == 0.1f);
		unit[u]->cast[DTYPE_F64][DTYPE_F32](back, f, f, f, 16, 0);
		assert_true(back[8] == (double)0.1f);
		unit[u]->cast[DTYPE_BOOL][DTYPE_F64](bits, d, d, d, 16, 0);
		assert_true(!bits[0] && !bits[1] && bits[2] == 1 && bits[4] == 1);
		unit[u]->cast[DTYPE_F32][DTYPE_I64](f, i, i, i, 16, 0);
		assert_true(f[5] == 16777216.0f && f[4] == -9223372036854775808.0f);
		unit[u]->cast[DTYPE_F64][DTYPE_I64](back, i, i, i, 16, 0);
		assert_true(back[3] == 9007199254740992.0);
		unit[u]->cast[DTYPE_F32][DTYPE_BOOL](f, bits, bits, bits, 16, 0);
		assert_true(f[0] == 0 && f[2] == 1);
		unit[u]->cast[DTYPE_I64][DTYPE_BOOL](whole, bits, bits, bits, 16, 0);
		assert_true(whole[0] == 0 && whole[2] == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_float_op_is_as_close_as_the_library_promises),
		cmocka_unit_test(every_transcendental_op_is_measured),
		cmocka_unit_test(every_pointwise_op_has_a_loop_for_its_dtypes),
		cmocka_unit_test(int64_ops_wrap_and_never_trap),
		cmocka_unit_test(negative_int_powers_are_whole_numbers),
		cmocka_unit_test(float_floor_division_follows_python),
		cmocka_unit_test(bool_ops_give_bytes_of_zero_and_one),
		cmocka_unit_test(where_takes_each_side_whatever_is_splat),
		cmocka_unit_test(casts_convert_as_torch_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
