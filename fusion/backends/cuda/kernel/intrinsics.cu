// fusion/backends/cuda/kernel/intrinsics.cu -- the words of ops.def for one element, on a GPU.
//
// Pasted in front of all generated CUDA C, as vec.h is in front of generated C.
// Built with --fmad=false: a fused kernel gives the bits of its ops one by one.
// No includes: they would be most of a compile.
#define WORD static __device__ __forceinline__
typedef float f32;
typedef double f64;
typedef long long i64;
typedef unsigned u32;
typedef unsigned long long u64;

#define K_f32(x) ((f32)(x))
#define K_f64(x) ((f64)(x))
#define K_i64(x) ((i64)(x))
#define K_mask(x) ((bool)(x))
#define INF_f32 __int_as_float(0x7f800000)
#define INF_f64 __longlong_as_double(0x7ff0000000000000LL)
#define NAN_f32 __int_as_float(0x7fc00000)
#define NAN_f64 __longlong_as_double(0x7ff8000000000000LL)
#define LOWEST_f32 (-INF_f32)
#define LOWEST_f64 (-INF_f64)
#define LOWEST_i64 (-0x7fffffffffffffffLL - 1)
#define HIGHEST_f32 INF_f32
#define HIGHEST_f64 INF_f64
#define HIGHEST_i64 0x7fffffffffffffffLL

#define lt(a, b) ((a) < (b))
#define le(a, b) ((a) <= (b))
#define gt(a, b) ((a) > (b))
#define ge(a, b) ((a) >= (b))
#define eq(a, b) ((a) == (b))
#define ne(a, b) ((a) != (b))
#define isnan_(a) ((a) != (a))
#define inv(m) (!(m))
#define both(a, b) ((bool)((a) & (b)))
#define either(a, b) ((bool)((a) | (b)))
#define differ(a, b) ((bool)((a) ^ (b)))
#define sel_f32(m, yes, no) ((m) ? (f32)(yes) : (f32)(no))
#define sel_f64(m, yes, no) ((m) ? (f64)(yes) : (f64)(no))
#define sel_i64(m, yes, no) ((m) ? (i64)(yes) : (i64)(no))
#define sel_mask(m, yes, no) ((bool)((m) ? (yes) : (no)))

#define v_and_i64(a, b) ((a) & (b))
#define v_or_i64(a, b) ((a) | (b))
#define v_xor_i64(a, b) ((a) ^ (b))
#define v_not_i64(a) (~(a))
#define v_and_mask(a, b) both(a, b)
#define v_or_mask(a, b) either(a, b)
#define v_xor_mask(a, b) differ(a, b)
#define v_not_mask(a) inv(a)
#define v_abs_f32(a) fabsf(a)
#define v_abs_f64(a) fabs(a)
#define v_abs_i64(a) ((a) < 0 ? (i64)(0 - (unsigned long long)(a)) : (a))
#define v_floor_i64(a) (a)
#define v_ceil_i64(a) (a)
#define v_round_i64(a) (a)
#define v_floor_f32(a) floorf(a)
#define v_floor_f64(a) floor(a)
#define v_ceil_f32(a) ceilf(a)
#define v_ceil_f64(a) ceil(a)
#define v_round_f32(a) rintf(a)
#define v_round_f64(a) rint(a)
#define v_sqrt_f32(a) sqrtf(a)
#define v_sqrt_f64(a) sqrt(a)

// As macros: a function that nobody calls still takes time to read.
#define v_tan_f32(a) tanf(a)
#define v_tan_f64(a) tan(a)
#define v_exp_f32(a) exp_f32(a)
#define v_exp_f64(a) exp(a)
#define v_exp2_f32(a) exp2f(a)
#define v_exp2_f64(a) exp2(a)
#define v_expm1_f32(a) expm1f(a)
#define v_expm1_f64(a) expm1(a)
#define v_log_f32(a) logf(a)
#define v_log_f64(a) log(a)
#define v_log2_f32(a) log2f(a)
#define v_log2_f64(a) log2(a)
#define v_log1p_f32(a) log1pf(a)
#define v_log1p_f64(a) log1p(a)
#define v_log10_f32(a) log10f(a)
#define v_log10_f64(a) log10(a)
#define v_tanh_f32(a) tanhf(a)
#define v_tanh_f64(a) tanh(a)
#define v_sinh_f32(a) sinhf(a)
#define v_sinh_f64(a) sinh(a)
#define v_cosh_f32(a) coshf(a)
#define v_cosh_f64(a) cosh(a)
#define v_asin_f32(a) asinf(a)
#define v_asin_f64(a) asin(a)
#define v_acos_f32(a) acosf(a)
#define v_acos_f64(a) acos(a)
#define v_atan_f32(a) atanf(a)
#define v_atan_f64(a) atan(a)
#define v_asinh_f32(a) asinhf(a)
#define v_asinh_f64(a) asinh(a)
#define v_acosh_f32(a) acoshf(a)
#define v_acosh_f64(a) acosh(a)
#define v_atanh_f32(a) atanhf(a)
#define v_atanh_f64(a) atanh(a)
#define v_erf_f32(a) fast_erf(a)
#define v_erf_f64(a) erf(a)
#define v_erfc_f32(a) erfcf(a)
#define v_erfc_f64(a) erfc(a)
#define v_lgamma_f32(a) lgammaf(a)
#define v_lgamma_f64(a) lgamma(a)
#define v_pow_f32(a, b) powf(a, b)
#define v_pow_f64(a, b) pow(a, b)
#define v_atan2_f32(a, b) atan2f(a, b)
#define v_atan2_f64(a, b) atan2(a, b)
#define v_fmod_f32(a, b) fmodf(a, b)
#define v_fmod_f64(a, b) fmod(a, b)

// x = n pi + r, |r| <= pi/2, and sin(x) is sin(r) or its negative: one polynomial for
// all quarters (minimax to 6e-9), since a choice between two costs more than its higher
// degree.  cos(x) is sin(x + pi/2): n is a whole number and a half.  To add 1.5 * 2^23
// rounds to a whole number t, whose last bit is that of the sum: conversions run at an
// eighth of the speed.  Within 1.9 ulp.
//
// In PTX, as exp: to NVRTC's passes it is one step, where C is twelve calls to be inlined
// and cleaned up.  A kernel of 25 statements compiles in a fifth less time.
//
// y = sin(r), negative where t is odd: r + r^3 (-0x1.55554cp-3 + r^2 (0x1.110ed4p-7 +
// r^2 (-0x1.9f6ec4p-13 + r^2 0x1.5d9c74p-19))).
#define HALF_WAVE                                                                                  \
	"mul.rn.f32 s, r, r; fma.rn.f32 y, s, 0f362ECE3A, 0fB94FB762;"                             \
	"fma.rn.f32 y, y, s, 0f3C08876A; fma.rn.f32 y, y, s, 0fBE2AAAA6;"                          \
	"mul.rn.f32 y, y, s; fma.rn.f32 y, y, r, r;"                                               \
	"mov.b32 b, y; shl.b32 t, t, 31; xor.b32 b, b, t; mov.b32 y, b;"
// |x| < 16384, or NaN: pi in three parts, 0x1.921fb4p1 + 0x1.4442d0p-23 + 0x1.846988p-47.
#define NEAR(name, whole_and_n)                                                                    \
	WORD f32 near_##name(f32 x)                                                                \
	{                                                                                          \
		f32 y;                                                                             \
                                                                                                   \
		asm("{.reg .f32 w, n, r, s, y; .reg .b32 b, t;" whole_and_n                        \
		    "mov.b32 t, w; fma.rn.f32 r, n, 0fC0490FDA, %1;"                               \
		    "fma.rn.f32 r, n, 0fB4222168, r; fma.rn.f32 r, n, 0fA84234C4, r;"              \
		    HALF_WAVE "mov.f32 %0, y;}"                                                    \
		    : "=f"(y)                                                                      \
		    : "f"(x));                                                                     \
		return y;                                                                          \
	}
NEAR(sin, "fma.rn.f32 w, %1, 0f3EA2F983, 0f4B400000; add.rn.f32 n, w, 0fCB400000;")
NEAR(cos, "fma.rn.f32 w, %1, 0f3EA2F983, 0f3F000000; add.rn.f32 w, w, 0f4B400000;"
	  "add.rn.f32 n, w, 0fCB400000; add.rn.f32 n, n, 0fBF000000;")
// |x| >= 16384, from so many digits of 1/pi as there may be before the point and 64
// after it (Payne and Hanek): those from the exponent on (d), by the 24 bits of x (m),
// are h.k.l, 2^95 of it half a turn.  NaN where x is none or infinite.  One function: the
// toolkit's, at each call, is most of the time of a compile.
static __device__ __noinline__ f32 far_sin(f32 x, int quarter)
{
	static const u32 turns[] = { 0,          0x517cc1b7, 0x27220a94, 0xfe13abe8,
				     0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5 };
	f32 y;

	asm("{.reg .b32 b, t, m, e, d0, d1, d2, d3, h, k, l, u; .reg .b64 at;"
	    ".reg .f64 wide; .reg .f32 r, s, y; .reg .pred p;"
	    "mov.b32 b, %1; and.b32 m, b, 0x7fffff; or.b32 m, m, 0x800000;"
	    "bfe.u32 e, b, 23, 8; sub.u32 e, e, 119;" // 150, less a word
	    "shr.u32 t, e, 5; mul.wide.u32 at, t, 4; add.u64 at, at, %3;"
	    "ld.b32 d0, [at]; ld.b32 d1, [at+4]; ld.b32 d2, [at+8]; ld.b32 d3, [at+12];"
	    "shf.l.wrap.b32 d3, d3, d2, e; shf.l.wrap.b32 d2, d2, d1, e;"
	    "shf.l.wrap.b32 d1, d1, d0, e;"
	    "mul.lo.u32 l, m, d3; mul.hi.u32 t, m, d3; mad.lo.cc.u32 k, m, d2, t;"
	    "madc.hi.u32 h, m, d2, 0; mad.lo.u32 h, m, d1, h;"
	    "shf.l.wrap.b32 u, k, h, 1; shf.l.wrap.b32 k, l, k, 1;"
	    // Of a sine: whether the half turns are odd, and x negative; of a cosine u is
	    // a quarter more, and the rest is even.
	    "shr.u32 h, h, 31; shr.u32 b, b, 31; shr.u32 t, u, 31; xor.b32 b, b, t;"
	    "setp.ne.s32 p, %2, 0; selp.b32 b, 1, b, p; xor.b32 t, h, b;"
	    "shl.b32 b, %2, 31; xor.b32 u, u, b; mov.b64 at, {k, u};"
	    "cvt.rn.f64.s64 wide, at; mul.rn.f64 wide, wide, 0d3C0921FB54442D18;" // pi / 2^64
	    "cvt.rn.f32.f64 r, wide;" HALF_WAVE "fma.rn.f32 %0, %1, 0f00000000, y;}"
	    : "=f"(y)
	    : "f"(x), "r"(quarter), "l"(turns));
	return y;
}
#define v_sin_f32(a) (fabsf(a) < 16384.0f ? near_sin(a) : far_sin(a, 0))
#define v_cos_f32(a) (fabsf(a) < 16384.0f ? near_cos(a) : far_sin(a, 1))
#define v_sin_f64(a) sin(a)
#define v_cos_f64(a) cos(a)

// exp(x) by the toolkit's steps: 2^(x / ln 2), in a whole power and the rest.
WORD f32 exp_f32(f32 x)
{
	f32 y;

	asm("{.reg .f32 n, r, s; .reg .b32 b;"
	    "fma.rn.sat.f32 n, %1, 0f3BBB989D, 0f3F000000;"
	    "fma.rm.f32 n, n, 0f437C0000, 0f4B400001;"
	    "add.rn.f32 s, n, 0fCB40007F; neg.f32 s, s;"
	    "fma.rn.f32 r, %1, 0f3FB8AA3B, s; fma.rn.f32 r, %1, 0f32A57060, r;"
	    "mov.b32 b, n; shl.b32 b, b, 23; mov.b32 s, b;"
	    "ex2.approx.ftz.f32 r, r; mul.rn.f32 %0, r, s;}"
	    : "=f"(y)
	    : "f"(x));
	return y;
}

// 1 / (1 + exp(-x)): the divisor is 1 or more, so an estimate and a step of Newton's are
// as good as a division, in half the instructions.  Past 2^126 the estimate is 0.
WORD f32 near_reciprocal(f32 y)
{
	f32 r;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
	return y < 0x1p126f ? __fmaf_rn(r, __fmaf_rn(-y, r, 1.0f), r) : r;
}
#define sigmoid_f32(a) near_reciprocal(1.0f + exp_f32(-(a)))

// erf(x): below 0.85 x times a polynomial of x^2 (minimax to 7e-9), beyond
// 1 - 2^-(t q(t)) with t = |x| (to 3e-8); at 4 it is 1.  Within 2 ulp.  The toolkit's has
// as many steps again to choose between coefficients, and a branch.
WORD f32 fast_erf(f32 x)
{
	const f32 s = x * x, t = fminf(fabsf(x), 4.0f);
	f32 q = __fmaf_rn(-0x1.258fecp-12f, t, 0x1.23db28p-8f), small, rest;

	q = __fmaf_rn(q, t, -0x1.0ad78cp-5f);
	q = __fmaf_rn(q, t, 0x1.35f4d2p-3f);
	q = __fmaf_rn(q, t, 0x1.d5b868p-1f);
	q = __fmaf_rn(q, t, 0x1.418f88p-1f);
	q = __fmaf_rn(q, -t, -t);
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(rest) : "f"(q));
	small = __fmaf_rn(-0x1.4b19eap-11f, s, 0x1.4b07bap-8f);
	small = __fmaf_rn(small, s, -0x1.b7221cp-6f);
	small = __fmaf_rn(small, s, 0x1.ce23ep-4f);
	small = __fmaf_rn(small, s, -0x1.81271ap-2f);
	small = __fmaf_rn(small, s, 0x1.06eba8p-3f);
	return fabsf(x) > 0x1.b3p-1f ? copysignf(1.0f - rest, x) : __fmaf_rn(x, small, x);
}

// The larger and the smaller of two, NaN if one is: in one step each from sm_80 on.
#if __CUDA_ARCH__ >= 800
#define EXTREME(name, order)                                                                       \
	WORD f32 name##_nan(f32 a, f32 b)                                                          \
	{                                                                                          \
		f32 most;                                                                          \
		asm(#name ".NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));                   \
		return most;                                                                       \
	}
#else
#define EXTREME(name, order)                                                                       \
	WORD f32 name##_nan(f32 a, f32 b) { return a order b || a != a ? a : b; }
#endif
EXTREME(max, >)
EXTREME(min, <)

// Division as Python and torch have it.
#define DIVISION(type, f)                                                                          \
	WORD type v_mod_##type(type a, type b)                                                     \
	{                                                                                          \
		const type m = fmod##f(a, b);                                                      \
		return m != 0 && (m < 0) != (b < 0) ? m + b : m;                                   \
	}                                                                                          \
	WORD type v_floordiv_##type(type a, type b)                                                \
	{                                                                                          \
		const type m = fmod##f(a, b);                                                      \
		type q = (a - m) / b, r;                                                           \
		if (b == 0)                                                                        \
			return a / b;                                                              \
		if (m != 0 && (m < 0) != (b < 0))                                                  \
			q -= 1;                                                                    \
		r = floor##f(q);                                                                   \
		r = q - r > (type)0.5 ? r + 1 : r;                                                 \
		return q != 0 ? r : copysign##f((type)0, a / b);                                   \
	}
DIVISION(f32, f)
DIVISION(f64, )
WORD i64 v_floordiv_i64(i64 a, i64 b)
{
	if (b == 0 || b == -1)
		return b ? (i64)(0 - (unsigned long long)a) : 0;
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
WORD i64 v_mod_i64(i64 a, i64 b)
{
	if (b == 0 || b == -1)
		return 0;
	return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
WORD i64 v_fmod_i64(i64 a, i64 b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}
WORD i64 v_shl_i64(i64 a, i64 b)
{
	return b < 0 || b > 63 ? 0 : (i64)((unsigned long long)a << b);
}
WORD i64 v_shr_i64(i64 a, i64 b)
{
	return a >> (b < 0 || b > 63 ? 63 : b);
}
WORD i64 v_gcd_i64(i64 a, i64 b)
{
	unsigned long long x = a < 0 ? 0 - (unsigned long long)a : a;
	unsigned long long y = b < 0 ? 0 - (unsigned long long)b : b, rest;

	for (; y; x = y, y = rest)
		rest = x % y;
	return (i64)x;
}
WORD i64 v_pow_i64(i64 a, i64 b)
{
	unsigned long long base = (unsigned long long)a, power = 1;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (; b; b >>= 1, base *= base)
		power *= b & 1 ? base : 1;
	return (i64)power;
}

// float16 and bfloat16 as their bits: to nearest, ties to even.
WORD f32 half_to_f32(unsigned short half)
{
	f32 x;

	asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
	return x;
}
WORD unsigned short f32_to_half(f32 x)
{
	unsigned short half;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
	return half;
}
WORD f32 bfloat_to_f32(unsigned short bfloat)
{
	return __uint_as_float((u32)bfloat << 16);
}
#if __CUDA_ARCH__ >= 800
WORD unsigned short f32_to_bfloat(f32 x)
{
	unsigned short bfloat;

	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bfloat) : "f"(x));
	return bfloat;
}
// As a float32 again: two at a time are of another unit than one alone, which has a quarter of
// the lanes; the upper one of two bfloat16 lies where a float32 has it.
WORD f32 rounded_bfloat(f32 x)
{
	u32 two;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(x), "f"(0.0f));
	return __uint_as_float(two);
}
WORD f32 rounded_half(f32 x)
{
	u32 two;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(0.0f), "f"(x));
	return half_to_f32((unsigned short)two);
}
#else
WORD unsigned short f32_to_bfloat(f32 x)
{
	const u32 bits = __float_as_uint(x);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fc0 | (bits >> 16 & 0x8000);
	return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
WORD f32 rounded_bfloat(f32 x)
{
	return bfloat_to_f32(f32_to_bfloat(x));
}
WORD f32 rounded_half(f32 x)
{
	return half_to_f32(f32_to_half(x));
}
#endif

// For kernels that store float16 and bfloat16 alone: within 2 ulp of float32, in a third of the
// instructions and without a branch.
WORD f32 quick_quotient(f32 a, f32 b)
{
	f32 y;

	asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
	return y;
}
WORD f32 quick_sqrt(f32 x)
{
	f32 y;

	asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
WORD f32 quick_rsqrt(f32 x)
{
	f32 y;

	asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
// To 1e-5 where it is finite: 2^(x / ln 2), whose exponent is rounded once.
WORD f32 quick_exp(f32 x)
{
	const f32 q = x * 1.4426950408889634f;
	f32 rest;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(rest) : "f"(q));
	return rest;
}
WORD f32 quick_sigmoid(f32 x)
{
	const f32 y = 1.0f + quick_exp(-x);
	f32 r;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
	return r;
}
// Below a quarter its series, beyond 1 - 2 / (1 + exp(2x)).
WORD f32 quick_tanh(f32 x)
{
	const f32 s = x * x;
	f32 y = __fmaf_rn(-0x1.ba1ba2p-5f, s, 0x1.111112p-3f);

	y = __fmaf_rn(y, s, -0x1.555556p-2f);
	y = __fmaf_rn(y * s, x, x);
	return fabsf(x) < 0.25f ? y : 1.0f - quick_quotient(2.0f, 1.0f + exp_f32(x + x));
}

// What does not fit, and NaN, is the lowest: as the processor's conversion gives it.
template <class T> WORD i64 to_i64(T x)
{
	return x >= (T)-9223372036854775808.0 && x < (T)9223372036854775808.0 ? (i64)x
									      : LOWEST_i64;
}
template <> __device__ __forceinline__ i64 to_i64(i64 x)
{
	return x;
}

// N elements that lie side by side, in as few accesses as there can be.
template <class T, int N> struct alignas(sizeof(T) * N) pack {
	T v[N];
};
template <class T, int N> WORD void get(T (&to)[N], const T *from)
{
	*(pack<T, N> *)to = *(const pack<T, N> *)from;
}
template <class T, int N> WORD void put(T *to, const T (&from)[N])
{
	*(pack<T, N> *)to = *(const pack<T, N> *)from;
}
// Of no size with a hint that it only passes through the cache.  On an H200 both hints took 1 %
// off rows of 128 MiB, but added 4 % wherever a kernel without them had filled the cache: its
// lines stay, since what passes makes room first, for as long as nothing but hints follows.

// Reductions: the threads of a row lie side by side, R rows in a block; those of a column
// one beside another at a distance of W.  All threads get the same value.  Each join of a
// kernel has memory of its own: one that is made again needs a barrier between.
template <int T, int R, class J, class N> WORD N join_row(N x)
{
#pragma unroll
	for (int o = (T < 32 ? T : 32) / 2; o > 0; o /= 2)
		x = J::join(x, __shfl_xor_sync(0xffffffffu, x, o));
	if (T > 32) {
		__shared__ N warps[R][T > 32 ? T / 32 : 1];

		if (threadIdx.x % 32 == 0)
			warps[threadIdx.y][threadIdx.x / 32] = x;
		__syncthreads();
		x = warps[threadIdx.y][threadIdx.x % (T > 32 ? T / 32 : 1)];
#pragma unroll
		for (int o = T / 64; o > 0; o /= 2)
			x = J::join(x, __shfl_xor_sync(0xffffffffu, x, o));
	}
	return x;
}
template <int T, int W, class J, class N> WORD N join_columns(N x)
{
	__shared__ N found[T][W];

	if (T == 1)
		return x;
	found[threadIdx.y][threadIdx.x] = x;
	__syncthreads();
	x = found[0][threadIdx.x];
#pragma unroll
	for (int y = 1; y < T; y++)
		x = J::join(x, found[y][threadIdx.x]);
	__syncthreads();
	return x;
}

// Blocks with a share each of one row: what they leave, 8 bytes a number, and what a thread of
// the last one gathers of it.
template <int T, int R, class N>
WORD void leave_row(unsigned long long *part, u32 group, int i, int n, N x)
{
	if (threadIdx.x == 0)
		*(N *)(part + (group * gridDim.y + blockIdx.y) * n + i) = x;
}
template <int T, int R, class J, class N>
WORD N gather_row(const unsigned long long *part, u32 group, int i, int n, N x)
{
	x = J::first();
	for (u32 s = threadIdx.x; s < gridDim.y; s += T)
		x = J::join(x, *(volatile N *)(part + (group * gridDim.y + s) * n + i));
	return x;
}
template <int T, int W, class N>
WORD void leave_columns(unsigned long long *part, u32 group, int i, int n, N x)
{
	if (threadIdx.y == 0)
		*(N *)(part + ((group * gridDim.y + blockIdx.y) * n + i) * W + threadIdx.x) = x;
}
template <int T, int W, class J, class N>
WORD N gather_columns(const unsigned long long *part, u32 group, int i, int n, N x)
{
	x = J::first();
	for (u32 s = threadIdx.y; s < gridDim.y; s += T)
		x = J::join(x, *(volatile N *)(part + ((group * gridDim.y + s) * n + i) * W +
					       threadIdx.x));
	return x;
}
// 0, of which the compiler knows nothing: it keeps the loop that sees it as one.
WORD u32 hidden_zero()
{
	u32 zero;

	asm("{mov.u32 %0, 0;}" : "=r"(zero) :);
	return zero;
}
WORD bool last_block(u32 *count, u32 index)
{
	__shared__ bool last;

	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0 && threadIdx.y == 0)
		last = atomicInc(&count[index], gridDim.y - 1) == gridDim.y - 1;
	__syncthreads();
	__threadfence();
	return last;
}
