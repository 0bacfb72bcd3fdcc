/* fusion/graph/scalar.h -- the words of ops.def over single numbers.
 *
 * The same words as backends/simd/vec.h, for whoever evaluates a row one element at
 * a time (pass fold, tests).  Before the rows are included, T must name the
 * compute type: float, double, uint64_t for int64 (it wraps; comparisons and
 * division are signed) or int8_t for bools (any value but 0 is true).
 *
 * Basic arithmetic has the bits of the kernels.  Functions of the math library
 * are rounded once from double, so they are at least as exact as the vector
 * library's (4 ulp) and may differ from it by that.
 */
#ifndef FUSION_GRAPH_SCALAR_H
#define FUSION_GRAPH_SCALAR_H

#include <math.h>
#include <stdint.h>

#define K(x) ((T)(x))
#define LOWEST _Generic((T)0, uint64_t : (uint64_t)INT64_MIN, int8_t : 0, default : -INFINITY)
#define HIGHEST _Generic((T)0, uint64_t : INT64_MAX, int8_t : 1, default : INFINITY)

/* Masks are ints, 0 or 1. */
#define SIGNED_(a) _Generic((a), uint64_t : (int64_t)(a), default : (a))
#define lt(a, b) (SIGNED_(a) < SIGNED_(b))
#define le(a, b) (SIGNED_(a) <= SIGNED_(b))
#define gt(a, b) (SIGNED_(a) > SIGNED_(b))
#define ge(a, b) (SIGNED_(a) >= SIGNED_(b))
#define eq(a, b) ((a) == (b))
#define ne(a, b) ((a) != (b))
#define isnan_(a) ((a) != (a))
#define inv(m) (!(m))
#define both(a, b) ((a) && (b))
#define either(a, b) ((a) || (b))
#define differ(a, b) (!(a) != !(b))
#define sel(m, yes, no) ((m) ? (yes) : (no))

static inline int8_t bool_same(int8_t a)
{
	return a;
}
static inline int8_t bool_not(int8_t a)
{
	return !a;
}
static inline uint64_t i64_same(uint64_t a)
{
	return a;
}
static inline uint64_t i64_not(uint64_t a)
{
	return ~a;
}
static inline uint64_t i64_abs(uint64_t a)
{
	return (int64_t)a < 0 ? 0 - a : a;
}

/* Python's // and %; 0 where b is 0. */
static inline uint64_t i64_floordiv(uint64_t x, uint64_t y)
{
	int64_t a = (int64_t)x, b = (int64_t)y;

	if (b == 0 || b == -1)
		return b ? 0 - x : 0;
	return (uint64_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
static inline uint64_t i64_mod(uint64_t x, uint64_t y)
{
	int64_t a = (int64_t)x, b = (int64_t)y;

	if (b == 0 || b == -1)
		return 0;
	return (uint64_t)(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}
static inline uint64_t i64_fmod(uint64_t x, uint64_t y)
{
	int64_t a = (int64_t)x, b = (int64_t)y;

	return b == 0 || b == -1 ? 0 : (uint64_t)(a % b);
}
static inline uint64_t i64_pow(uint64_t base, uint64_t y)
{
	uint64_t power = 1;

	if ((int64_t)y < 0)
		return base == 1 ? 1 : base == UINT64_MAX ? (y & 1 ? base : 1) : 0;
	for (; y; y >>= 1, base *= base)
		power *= y & 1 ? base : 1;
	return power;
}

/* torch.remainder and torch.floor_divide of floats. */
#define DIVISION_(T_, name, MOD_, FLOOR_)                                                          \
	static inline T_ name##_mod(T_ a, T_ b)                                                    \
	{                                                                                          \
		T_ m = MOD_(a, b);                                                                 \
		return m != 0 && (m < 0) != (b < 0) ? m + b : m;                                   \
	}                                                                                          \
	static inline T_ name##_floordiv(T_ a, T_ b)                                               \
	{                                                                                          \
		T_ m = MOD_(a, b), q = (a - m) / b, f;                                             \
		if (b == 0)                                                                        \
			return a / b;                                                              \
		if (m != 0 && (m < 0) != (b < 0))                                                  \
			q -= 1;                                                                    \
		if (q == 0)                                                                        \
			return (T_)copysign(0, a / b);                                             \
		f = FLOOR_(q);                                                                     \
		return q - f > (T_)0.5 ? f + 1 : f;                                                \
	}
DIVISION_(float, f32, fmodf, floorf)
DIVISION_(double, f64, fmod, floor)
#undef DIVISION_

#define v_floordiv(a, b)                                                                           \
	_Generic((a), float : f32_floordiv, double : f64_floordiv, default : i64_floordiv)(a, b)
#define v_fmod(a, b) _Generic((a), float : fmodf, double : fmod, default : i64_fmod)(a, b)
#define v_mod(a, b) _Generic((a), float : f32_mod, double : f64_mod, default : i64_mod)(a, b)

/* Exact functions; on ints they change nothing but the sign. */
#define EXACT_(a, name, whole)                                                                     \
	_Generic((a), float : name##f, double : name, uint64_t : whole, default : bool_same)(a)
#define v_abs(a) EXACT_(a, fabs, i64_abs)
#define v_floor(a) EXACT_(a, floor, i64_same)
#define v_ceil(a) EXACT_(a, ceil, i64_same)
#define v_round(a) EXACT_(a, rint, i64_same)
#define v_sqrt(a) _Generic((a), float : sqrtf, default : sqrt)(a)

#define LIBRARY1_(name)                                                                            \
	static inline float f32_##name(float a)                                                    \
	{                                                                                          \
		return (float)name((double)a);                                                     \
	}
#define LIBRARY2_(name)                                                                            \
	static inline float f32_##name(float a, float b)                                           \
	{                                                                                          \
		return (float)name((double)a, (double)b);                                          \
	}
LIBRARY1_(sin)
LIBRARY1_(cos)
LIBRARY1_(tan)
LIBRARY1_(exp)
LIBRARY1_(exp2)
LIBRARY1_(expm1)
LIBRARY1_(log)
LIBRARY1_(log2)
LIBRARY1_(log1p)
LIBRARY1_(tanh)
LIBRARY1_(erf)
LIBRARY1_(log10)
LIBRARY1_(sinh)
LIBRARY1_(cosh)
LIBRARY1_(asin)
LIBRARY1_(acos)
LIBRARY1_(atan)
LIBRARY1_(asinh)
LIBRARY1_(acosh)
LIBRARY1_(atanh)
LIBRARY1_(erfc)
LIBRARY1_(lgamma)
LIBRARY2_(pow)
LIBRARY2_(atan2)
#undef LIBRARY1_
#undef LIBRARY2_
#define ROUNDED_(a, name) _Generic((a), float : f32_##name, default : name)(a)
#define v_sin(a) ROUNDED_(a, sin)
#define v_cos(a) ROUNDED_(a, cos)
#define v_tan(a) ROUNDED_(a, tan)
#define v_exp(a) ROUNDED_(a, exp)
#define v_exp2(a) ROUNDED_(a, exp2)
#define v_expm1(a) ROUNDED_(a, expm1)
#define v_log(a) ROUNDED_(a, log)
#define v_log2(a) ROUNDED_(a, log2)
#define v_log1p(a) ROUNDED_(a, log1p)
#define v_tanh(a) ROUNDED_(a, tanh)
#define v_erf(a) ROUNDED_(a, erf)
#define v_log10(a) ROUNDED_(a, log10)
#define v_sinh(a) ROUNDED_(a, sinh)
#define v_cosh(a) ROUNDED_(a, cosh)
#define v_asin(a) ROUNDED_(a, asin)
#define v_acos(a) ROUNDED_(a, acos)
#define v_atan(a) ROUNDED_(a, atan)
#define v_asinh(a) ROUNDED_(a, asinh)
#define v_acosh(a) ROUNDED_(a, acosh)
#define v_atanh(a) ROUNDED_(a, atanh)
#define v_erfc(a) ROUNDED_(a, erfc)
#define v_lgamma(a) ROUNDED_(a, lgamma)
#define v_atan2(a, b) _Generic((a), float : f32_atan2, default : atan2)(a, b)
#define v_pow(a, b) _Generic((a), float : f32_pow, double : pow, default : i64_pow)(a, b)

/* Bitwise words are for ints and bools; inference refuses floats. */
#define BITS_(a) _Generic((a), float : 0, double : 0, default : (a))
#define v_and(a, b) (BITS_(a) & BITS_(b))
#define v_or(a, b) (BITS_(a) | BITS_(b))
#define v_xor(a, b) (BITS_(a) ^ BITS_(b))
static inline uint64_t bits_shl(uint64_t a, uint64_t b)
{
	return b > 63 ? 0 : a << b;
}
static inline uint64_t bits_shr(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
}
static inline uint64_t bits_gcd(uint64_t a, uint64_t b)
{
	uint64_t x = (int64_t)a < 0 ? 0 - a : a, y = (int64_t)b < 0 ? 0 - b : b, rest;

	for (; y; x = y, y = rest)
		rest = x % y;
	return x;
}
#define v_shl(a, b) bits_shl((uint64_t)BITS_(a), (uint64_t)BITS_(b))
#define v_shr(a, b) bits_shr((uint64_t)BITS_(a), (uint64_t)BITS_(b))
#define v_gcd(a, b) bits_gcd((uint64_t)BITS_(a), (uint64_t)BITS_(b))
#define v_not(a) _Generic((a), int8_t : bool_not, default : i64_not)((uint64_t)(a))

#endif
