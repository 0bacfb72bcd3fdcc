/* fusion/backends/simd/vec.h -- the words of ops.def over vectors.
 *
 * Compiled into the interpreter once per vector unit (simd/kernels.c) and pasted
 * in front of all generated C, so that both give the same bits.  It is parsed
 * for each compile: no includes, macros before functions.  Without VECTOR_BYTES
 * (16, 32 or 64) only struct tile is declared.
 *
 * A loop has one lane width: 4 (f32) or 8 (f64, i64) bytes, or 1 where there
 * are only bools.  The suffix of a type or word names it: m4 is a mask in a loop
 * of 4-byte lanes, as f32 comparisons give it; b4 the bytes of as many bools, as
 * they lie in memory; h8 floats in a loop of 8-byte lanes, which are only
 * loaded, cast and stored.  So are e4, the bits of float16 and bfloat16 in a
 * loop of floats, and c8, s8, d8 (b8): ints of 1, 2, 4 bytes in a loop of int64.
 */
#ifndef FUSION_BACKENDS_SIMD_VEC_H
#define FUSION_BACKENDS_SIMD_VEC_H

/* What a part of a kernel is called with.  All memory may be read and written
 * up to the next multiple of the vector size. */
struct tile {
	void *const *at;  /* of each access of the part: its first element */
	void *const *reg; /* of each register above LEVEL_POINT: one vector of equal
			   * lanes, or (COLS, LEVEL_ROW) a tile */
	void *const *acc; /* of each REDUCE of the body: a vector to be written (bools:
			   * bytes), or (COLS) a row of columns to be joined to */
	void *scratch;    /* as much as the part's code asked for */
	long n;           /* points */
	long width;       /* COLS, body: columns; n is a multiple of it */
};

#ifdef VECTOR_BYTES

#define VEC_TYPE(name, element, lanes)                                                             \
	typedef element name __attribute__((vector_size(sizeof(element) * (lanes))));              \
	typedef element name##u                                                                    \
	    __attribute__((vector_size(sizeof(element) * (lanes)), aligned(1), may_alias))
enum { L1 = VECTOR_BYTES, L4 = VECTOR_BYTES / 4, L8 = VECTOR_BYTES / 8 };
VEC_TYPE(f32, float, L4);
VEC_TYPE(m4, int, L4);
VEC_TYPE(b4, unsigned char, L4);
VEC_TYPE(n4, signed char, L4);
VEC_TYPE(f64, double, L8);
VEC_TYPE(i64, long, L8);
VEC_TYPE(h8, float, L8);
VEC_TYPE(b8, unsigned char, L8);
VEC_TYPE(n8, signed char, L8);
VEC_TYPE(b1, unsigned char, L1);
VEC_TYPE(e4, unsigned short, L4);
VEC_TYPE(c8, signed char, L8);
VEC_TYPE(s8, short, L8);
VEC_TYPE(d8, int, L8);
VEC_TYPE(m1, signed char, L1);
typedef i64 m8;
typedef m1 n1;

#define WORD static inline __attribute__((always_inline, unused))
#define LOAD_(type, base, i) (*(const type##u *)((base) + (i)))
#define SAVE_(type, base, i, value) (*(type##u *)((base) + (i)) = (value))
#define LOAD(type, base, i) LOAD_(type, base, i)
#define SAVE(type, base, i, value) SAVE_(type, base, i, value)

/* At the end of a function, and before scalar library calls: code for older
 * units is slow while the upper halves of registers are in use, and gcc -O1
 * does not see to it. */
#if VECTOR_BYTES == 16
#define DONE() ((void)0)
#else
#define DONE() __builtin_ia32_vzeroupper()
#endif

/* Bools: masks in registers, bytes 0 and 1 in memory. */
#define MASK_(w, bytes) __builtin_convertvector((n##w)((bytes) != 0), m##w)
#define BYTES_(w, mask) ((b##w)(bytes##w(mask) & 1))
#define MASK(w, bytes) MASK_(w, bytes)
#define BYTES(w, mask) BYTES_(w, mask)
#define bytes1(mask) (mask)
#if VECTOR_BYTES == 64
#define bytes4(mask) __builtin_convertvector(mask, n4)
#define bytes8(mask) __builtin_convertvector(mask, n8)
#else
typedef int i32x4 __attribute__((vector_size(16)));
typedef short i16x8 __attribute__((vector_size(16)));
typedef signed char i8x16 __attribute__((vector_size(16)));
WORD i8x16 pack(i32x4 low, i32x4 high) /* gcc 12 goes lane by lane on its own */
{
	i16x8 half = (i16x8)__builtin_ia32_packssdw128(low, high);

	return (i8x16)__builtin_ia32_packsswb128(half, half);
}
#if VECTOR_BYTES == 32
WORD i8x16 pack_all(m4 m)
{
	return pack(__builtin_shufflevector(m, m, 0, 1, 2, 3),
		    __builtin_shufflevector(m, m, 4, 5, 6, 7));
}
#define bytes4(mask) __builtin_shufflevector(pack_all(mask), (i8x16){ 0 }, 0, 1, 2, 3, 4, 5, 6, 7)
#define bytes8(mask) __builtin_shufflevector(pack_all((m4)(mask)), (i8x16){ 0 }, 0, 2, 4, 6)
#else
#define bytes4(mask) __builtin_shufflevector(pack(mask, mask), (i8x16){ 0 }, 0, 1, 2, 3)
#define bytes8(mask) __builtin_shufflevector((i8x16)(mask), (i8x16){ 0 }, 0, 8)
#endif
#endif

/* Numbers.  x - 0 is x, the sign of zero included; x + 0 is not. */
#define K_f32(x) ((float)(x) - (f32){ 0 })
#define K_f64(x) ((double)(x) - (f64){ 0 })
#define K_i64(x) ((long)(x) - (i64){ 0 })
#define K_m4(x) ((x) ? ~(m4){ 0 } : (m4){ 0 })
#define K_m8(x) ((x) ? ~(m8){ 0 } : (m8){ 0 })
#define K_m1(x) ((x) ? ~(m1){ 0 } : (m1){ 0 })
#define LOWEST_f32 K_f32(-__builtin_inff())
#define LOWEST_f64 K_f64(-__builtin_inf())
#define LOWEST_i64 K_i64(-0x7fffffffffffffffL - 1)
#define HIGHEST_f32 K_f32(__builtin_inff())
#define HIGHEST_f64 K_f64(__builtin_inf())
#define HIGHEST_i64 K_i64(0x7fffffffffffffffL)
#define SPLAT(type, x) ((x) - (type){ 0 })

/* Masks. */
#define lt(a, b) ((a) < (b))
#define le(a, b) ((a) <= (b))
#define gt(a, b) ((a) > (b))
#define ge(a, b) ((a) >= (b))
#define eq(a, b) ((a) == (b))
#define ne(a, b) ((a) != (b))
#define isnan_(a) ((a) != (a))
#define inv(m) (~(m))
#define both(a, b) ((a) & (b))
#define either(a, b) ((a) | (b))
#define differ(a, b) ((a) ^ (b))

#define SELECT(type, mask)                                                                         \
	WORD type sel_##type(mask m, type yes, type no)                                            \
	{                                                                                          \
		return (type)((m & (mask)yes) | (~m & (mask)no));                                  \
	}
SELECT(f32, m4)
SELECT(f64, m8)
SELECT(i64, m8)
SELECT(m4, m4)
SELECT(m1, m1)
#define sel_m8 sel_i64

#define v_and_i64(a, b) ((a) & (b))
#define v_or_i64(a, b) ((a) | (b))
#define v_xor_i64(a, b) ((a) ^ (b))
#define v_not_i64(a) (~(a))
#define v_and_mask(a, b) ((a) & (b))
#define v_or_mask(a, b) ((a) | (b))
#define v_xor_mask(a, b) ((a) ^ (b))
#define v_not_mask(a) (~(a))

#define v_abs_f32(a) ((f32)((m4)(a)&0x7fffffff))
#define v_abs_f64(a) ((f64)((m8)(a)&0x7fffffffffffffffL))
#define v_abs_i64(a) sel_i64((a) < 0, -(a), (a))
#define v_floor_i64(a) (a)
#define v_ceil_i64(a) (a)
#define v_round_i64(a) (a)

/* The vector math library of glibc: the letter is its name for the unit. */
#if VECTOR_BYTES == 16
#define v_sqrt_f32(a) ((f32)__builtin_ia32_sqrtps(a))
#define v_sqrt_f64(a) ((f64)__builtin_ia32_sqrtpd(a))
#define ROUND_f32(a, how) ((f32)__builtin_ia32_roundps((a), how))
#define ROUND_f64(a, how) ((f64)__builtin_ia32_roundpd((a), how))
#define MATH_f32(args, name) _ZGVbN4##args##_##name##f
#define MATH_f64(args, name) _ZGVbN2##args##_##name
#elif VECTOR_BYTES == 32
#define v_sqrt_f32(a) ((f32)__builtin_ia32_sqrtps256(a))
#define v_sqrt_f64(a) ((f64)__builtin_ia32_sqrtpd256(a))
#define ROUND_f32(a, how) ((f32)__builtin_ia32_roundps256((a), how))
#define ROUND_f64(a, how) ((f64)__builtin_ia32_roundpd256((a), how))
#define MATH_f32(args, name) _ZGVdN8##args##_##name##f
#define MATH_f64(args, name) _ZGVdN4##args##_##name
#else
#ifdef __clang__
#define v_sqrt_f32(a) ((f32)__builtin_ia32_sqrtps512((a), 4))
#define v_sqrt_f64(a) ((f64)__builtin_ia32_sqrtpd512((a), 4))
#else
#define v_sqrt_f32(a) ((f32)__builtin_ia32_sqrtps512_mask((a), (f32){ 0 }, 0xffff, 4))
#define v_sqrt_f64(a) ((f64)__builtin_ia32_sqrtpd512_mask((a), (f64){ 0 }, 0xff, 4))
#endif
#define ROUND_f32(a, how) ((f32)__builtin_ia32_rndscaleps_mask((a), how, (f32){ 0 }, 0xffff, 4))
#define ROUND_f64(a, how) ((f64)__builtin_ia32_rndscalepd_mask((a), how, (f64){ 0 }, 0xff, 4))
#define MATH_f32(args, name) _ZGVeN16##args##_##name##f
#define MATH_f64(args, name) _ZGVeN8##args##_##name
#endif
#define v_floor_f32(a) ROUND_f32(a, 9)
#define v_floor_f64(a) ROUND_f64(a, 9)
#define v_ceil_f32(a) ROUND_f32(a, 10)
#define v_ceil_f64(a) ROUND_f64(a, 10)
#define v_round_f32(a) ROUND_f32(a, 8)
#define v_round_f64(a) ROUND_f64(a, 8)

#define MATH1(name)                                                                                \
	extern f32 MATH_f32(v, name)(f32);                                                         \
	extern f64 MATH_f64(v, name)(f64)
#define MATH2(name)                                                                                \
	extern f32 MATH_f32(vv, name)(f32, f32);                                                   \
	extern f64 MATH_f64(vv, name)(f64, f64)
MATH1(sin);
MATH1(cos);
MATH1(tan);
MATH1(exp);
MATH1(exp2);
MATH1(expm1);
MATH1(log);
MATH1(log2);
MATH1(log1p);
MATH1(tanh);
MATH1(erf);
MATH1(log10);
MATH1(sinh);
MATH1(cosh);
MATH1(asin);
MATH1(acos);
MATH1(atan);
MATH1(asinh);
MATH1(acosh);
MATH1(atanh);
MATH1(erfc);
MATH2(pow);
MATH2(atan2);
#define v_sin_f32 MATH_f32(v, sin)
#define v_sin_f64 MATH_f64(v, sin)
#define v_cos_f32 MATH_f32(v, cos)
#define v_cos_f64 MATH_f64(v, cos)
#define v_tan_f32 MATH_f32(v, tan)
#define v_tan_f64 MATH_f64(v, tan)
/* Whether any lane of a mask is set. */
#if VECTOR_BYTES == 16
#define ANY_m4(m) (__builtin_ia32_movmskps((f32)(m)) != 0)
#elif VECTOR_BYTES == 32
#define ANY_m4(m) (__builtin_ia32_movmskps256((f32)(m)) != 0)
#else
#define ANY_m4(m) (__builtin_ia32_cvtd2mask512(m) != 0)
#endif

/* libmvec computes lanes beyond 87 one by one, a hundred times slower: half of a
 * masked softmax is exp(-inf).  They are moved by 64, which is exact, and scaled
 * back; what is 0 is not left to a multiplication that underflows. */
WORD f32 exp_far(f32 x)
{
	m4 low = lt(x, K_f32(-87)), high = gt(x, K_f32(87));
	f32 moved = sel_f32(low, x + K_f32(64), sel_f32(high, x - K_f32(64), x));
	f32 scale = sel_f32(low, K_f32(1.6038108905486379e-28), K_f32(1));
	scale = sel_f32(high, K_f32(6.235149080811617e27), scale);
	scale = sel_f32(lt(x, K_f32(-104)), K_f32(0), scale);
	moved = sel_f32(lt(moved, K_f32(-87)), K_f32(-87), moved);
	moved = sel_f32(gt(moved, K_f32(87)), K_f32(87), moved);
	return MATH_f32(v, exp)(moved) * scale;
}
WORD f32 v_exp_f32(f32 x)
{
	return ANY_m4(gt(v_abs_f32(x), K_f32(87))) ? exp_far(x) : MATH_f32(v, exp)(x);
}
#define v_exp_f64 MATH_f64(v, exp)
#define v_exp2_f32 MATH_f32(v, exp2)
#define v_exp2_f64 MATH_f64(v, exp2)
#define v_expm1_f32 MATH_f32(v, expm1)
#define v_expm1_f64 MATH_f64(v, expm1)
#define v_log_f32 MATH_f32(v, log)
#define v_log_f64 MATH_f64(v, log)
#define v_log2_f32 MATH_f32(v, log2)
#define v_log2_f64 MATH_f64(v, log2)
#define v_log1p_f32 MATH_f32(v, log1p)
#define v_log1p_f64 MATH_f64(v, log1p)
#define v_tanh_f32 MATH_f32(v, tanh)
#define v_tanh_f64 MATH_f64(v, tanh)
#define v_erf_f64 MATH_f64(v, erf)
#define v_log10_f32 MATH_f32(v, log10)
#define v_log10_f64 MATH_f64(v, log10)
#define v_sinh_f32 MATH_f32(v, sinh)
#define v_sinh_f64 MATH_f64(v, sinh)
#define v_cosh_f32 MATH_f32(v, cosh)
#define v_cosh_f64 MATH_f64(v, cosh)
#define v_asin_f32 MATH_f32(v, asin)
#define v_asin_f64 MATH_f64(v, asin)
#define v_acos_f32 MATH_f32(v, acos)
#define v_acos_f64 MATH_f64(v, acos)
#define v_atan_f32 MATH_f32(v, atan)
#define v_atan_f64 MATH_f64(v, atan)
#define v_asinh_f32 MATH_f32(v, asinh)
#define v_asinh_f64 MATH_f64(v, asinh)
#define v_acosh_f32 MATH_f32(v, acosh)
#define v_acosh_f64 MATH_f64(v, acosh)
#define v_atanh_f32 MATH_f32(v, atanh)
#define v_atanh_f64 MATH_f64(v, atanh)
#define v_erfc_f32 MATH_f32(v, erfc)
#define v_erfc_f64 MATH_f64(v, erfc)
#define v_pow_f32 MATH_f32(vv, pow)
#define v_pow_f64 MATH_f64(vv, pow)
#define v_atan2_f32 MATH_f32(vv, atan2)
#define v_atan2_f64 MATH_f64(vv, atan2)

#if VECTOR_BYTES == 64
#define FMA_f32(a, b, c) ((f32)__builtin_ia32_vfmaddps512_mask((a), (b), (c), 0xffff, 4))
#ifdef __clang__
#define MAX_f32(a, b) ((f32)__builtin_ia32_maxps512(a, b, 4))
#else
#define MAX_f32(a, b) ((f32)__builtin_ia32_maxps512_mask(a, b, (f32){ 0 }, 0xffff, 4))
#endif

/* erf in 1 ulp: x + x * p(x * x) up to 475/512, 1 - exp(q(|x|)) past it, both of
 * N. Juffa's (stackoverflow.com/questions/35148198).  The library's reads a
 * table element by element, which 16 lanes wait for (8 lanes less so: there it is the
 * faster one).  exp by 2^n * e^r with
 * |r| <= ln 2 / 2 and the first terms of its series, which 1 - exp() has room for. */
WORD f32 v_erf_f32(f32 x)
{
	const m4 sign = (m4)x & (-0x7fffffff - 1);
	f32 t = v_abs_f32(x), s = x * x, r, u, n, e;

	r = FMA_f32(K_f32(-0x1.220000p-16f), t, K_f32(0x1.91cfb2p-12f));
	u = FMA_f32(K_f32(-0x1.fd1438p-9f), t, K_f32(0x1.8d6342p-6f));
	r = FMA_f32(r, s, u);
	r = FMA_f32(r, t, K_f32(-0x1.b55cb8p-4f));
	r = FMA_f32(r, t, K_f32(-0x1.450aa0p-1f));
	r = FMA_f32(r, t, K_f32(-0x1.079d0cp-3f));
	r = MAX_f32(FMA_f32(r, t, -t), K_f32(-80));
	n = FMA_f32(r, K_f32(0x1.715476p0f), K_f32(0x1.8p23f));
	e = n - K_f32(0x1.8p23f);
	r = FMA_f32(e, K_f32(-0x1.62e430p-1f), r);
	e = FMA_f32(r, K_f32(0x1.6850e4p-10f), K_f32(0x1.123bccp-7f));
	e = FMA_f32(e, r, K_f32(0x1.555b98p-5f));
	e = FMA_f32(e, r, K_f32(0x1.55548ep-3f));
	e = FMA_f32(e, r, K_f32(0x1.fffff8p-2f));
	e = FMA_f32(e, r, K_f32(1));
	e = FMA_f32(e, r, K_f32(1));
	e = K_f32(1) - (f32)((m4)e + ((m4)n << 23));

	u = FMA_f32(K_f32(-0x1.38e000p-11f), s, K_f32(0x1.471a58p-8f));
	u = FMA_f32(u, s, K_f32(-0x1.b691b2p-6f));
	u = FMA_f32(u, s, K_f32(0x1.ce1c44p-4f));
	u = FMA_f32(u, s, K_f32(-0x1.812700p-2f));
	u = FMA_f32(u, s, K_f32(0x1.06eba8p-3f));
	u = FMA_f32(u, x, x);
	return sel_f32(gt(t, K_f32(0x1.db0000p-1f)), (f32)((m4)e | sign), u);
}
#else
#define v_erf_f32 MATH_f32(v, erf)
#endif

/* Division as Python and torch have it.  An int divided by zero gives 0 (torch
 * raises there), and nothing traps. */
#define PER_LANE(type, element, lanes, name, scalar)                                               \
	WORD type name(type a, type b)                                                             \
	{                                                                                          \
		element x[lanes], y[lanes];                                                        \
		SAVE(type, x, 0, a);                                                               \
		SAVE(type, y, 0, b);                                                               \
		DONE();                                                                            \
		for (int lane = 0; lane < (lanes); lane++)                                         \
			x[lane] = scalar(x[lane], y[lane]);                                        \
		return LOAD(type, x, 0);                                                           \
	}
PER_LANE(f32, float, L4, fmod_f32, __builtin_fmodf)
PER_LANE(f64, double, L8, fmod_f64, __builtin_fmod)
PER_LANE(f32, float, L4, copysign_f32, __builtin_copysignf)
PER_LANE(f64, double, L8, copysign_f64, __builtin_copysign)

#define DIVISION(type)                                                                             \
	WORD type v_mod_##type(type a, type b)                                                     \
	{                                                                                          \
		type m = fmod_##type(a, b);                                                        \
		return sel_##type(                                                                 \
		    both(ne(m, K_##type(0)), differ(lt(m, K_##type(0)), lt(b, K_##type(0)))),      \
		    m + b, m);                                                                     \
	}                                                                                          \
	WORD type v_floordiv_##type(type a, type b)                                                \
	{                                                                                          \
		type m = fmod_##type(a, b), q = (a - m) / b, f;                                    \
		q = sel_##type(                                                                    \
		    both(ne(m, K_##type(0)), differ(lt(m, K_##type(0)), lt(b, K_##type(0)))),      \
		    q - K_##type(1), q);                                                           \
		f = v_floor_##type(q);                                                             \
		f = sel_##type(gt(q - f, K_##type(0.5)), f + K_##type(1), f);                      \
		f = sel_##type(ne(q, K_##type(0)), f, copysign_##type(K_##type(0), a / b));        \
		return sel_##type(eq(b, K_##type(0)), a / b, f);                                   \
	}
DIVISION(f32)
DIVISION(f64)

WORD long long_floordiv(long a, long b)
{
	if (b == 0 || b == -1)
		return (long)(b ? 0 - (unsigned long)a : 0);
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
WORD long long_mod(long a, long b)
{
	if (b == 0 || b == -1)
		return 0;
	return a % b + ((a % b != 0 && (a < 0) != (b < 0)) ? b : 0);
}
WORD long long_fmod(long a, long b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}
WORD long long_shl(long a, long b)
{
	return b < 0 || b > 63 ? 0 : (long)((unsigned long)a << b);
}
WORD long long_shr(long a, long b)
{
	return a >> (b < 0 || b > 63 ? 63 : b);
}
WORD long long_gcd(long a, long b)
{
	unsigned long x = a < 0 ? 0 - (unsigned long)a : (unsigned long)a;
	unsigned long y = b < 0 ? 0 - (unsigned long)b : (unsigned long)b, rest;

	for (; y; x = y, y = rest)
		rest = x % y;
	return (long)x;
}
WORD long long_pow(long a, long b)
{
	unsigned long base = (unsigned long)a, power = 1;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (; b; b >>= 1, base *= base)
		power *= b & 1 ? base : 1;
	return (long)power;
}
PER_LANE(i64, long, L8, v_floordiv_i64, long_floordiv)
PER_LANE(i64, long, L8, v_mod_i64, long_mod)
PER_LANE(i64, long, L8, v_fmod_i64, long_fmod)
PER_LANE(i64, long, L8, v_pow_i64, long_pow)
PER_LANE(i64, long, L8, v_shl_i64, long_shl)
PER_LANE(i64, long, L8, v_shr_i64, long_shr)
PER_LANE(i64, long, L8, v_gcd_i64, long_gcd)
#define LGAMMA(a, b) __builtin_lgamma(a)
#define LGAMMA_f(a, b) __builtin_lgammaf(a)
PER_LANE(f32, float, L4, lgamma_f32, LGAMMA_f)
PER_LANE(f64, double, L8, lgamma_f64, LGAMMA)
#define v_lgamma_f32(a) lgamma_f32(a, a)
#define v_lgamma_f64(a) lgamma_f64(a, a)
#define v_fmod_f32 fmod_f32
#define v_fmod_f64 fmod_f64

/* float16 and bfloat16: to nearest, ties to even, as fusion/base/narrow.h has it. */
WORD f32 half_to_f32(e4 half)
{
	m4 bits = __builtin_convertvector(half, m4), rest = bits & 0x7fff,
	   sign = (bits & 0x8000) << 16;
	f32 small = __builtin_convertvector(rest, f32) * 0x1p-24f;
	m4 large = (rest << 13) +
		   sel_m4(rest >= 0x7c00, (m4){ 0 } + 0x70000000, (m4){ 0 } + 0x38000000);

	return (f32)(sel_m4(rest < 0x400, (m4)small, large) | sign);
}
WORD e4 f32_to_half(f32 f)
{
	m4 bits = (m4)f, sign = (bits >> 16) & 0x8000, rest = bits & 0x7fffffff;
	m4 small = (m4)((f32)rest + 0.5f) - 0x3f000000;
	m4 large = (rest + 0xfff + ((rest >> 13) & 1) - 0x38000000) >> 13;
	m4 value = sel_m4(rest < 0x38800000, small, large);

	value = sel_m4(rest >= 0x47800000, (m4){ 0 } + 0x7c00, value);
	value = sel_m4(rest > 0x7f800000, (m4){ 0 } + 0x7e00, value);
	return __builtin_convertvector(value | sign, e4);
}
WORD f32 bfloat_to_f32(e4 bfloat)
{
	return (f32)(__builtin_convertvector(bfloat, m4) << 16);
}
WORD e4 f32_to_bfloat(f32 f)
{
	m4 bits = (m4)f, value = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;

	value = sel_m4((bits & 0x7fffffff) > 0x7f800000, (m4){ 0 } + 0x7fc0, value);
	return __builtin_convertvector(value, e4);
}

/* The first `n` lanes of v, `rest` in the others: the end of a reduction. */
#define HEAD(type, lanes)                                                                          \
	WORD type head_##type(type v, long n, type rest)                                           \
	{                                                                                          \
		for (long lane = n; lane < (lanes); lane++)                                        \
			v[lane] = rest[lane];                                                      \
		return v;                                                                          \
	}
HEAD(f32, L4)
HEAD(f64, L8)
HEAD(i64, L8)
HEAD(m4, L4)
HEAD(m1, L1)
#define head_m8 head_i64

#endif
#endif
