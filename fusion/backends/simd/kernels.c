/* fusion/backends/simd/kernels.c -- the interpreter's loops, made from ops.def.
 *
 * Compiled once per vector unit (Makefile: -DVECTOR_UNIT=avx2 and the flags of
 * that unit), so nothing here may run before kernels_here() has looked at the
 * processor, and nothing may be shared with other files through inline code.
 */
#define CAT2_(a, b) a##b
#define CAT2(a, b) CAT2_(a, b)
#define CAT3_(a, b, c) a##_##b##_##c
#define CAT3(a, b, c) CAT3_(a, b, c)
#define BYTES_OF_sse 16
#define BYTES_OF_avx2 32
#define BYTES_OF_avx512 64
#define VECTOR_BYTES CAT2(BYTES_OF_, VECTOR_UNIT)

#include "fusion/backends/simd/vec.h"
#include "fusion/backends/simd/simd.h"

/* The words of ops.def for the TYPE at hand. */
#define WORD_OF(name) CAT2(CAT2(name, _), TYPE)
#define K(x) WORD_OF(K)(x)
#define LOWEST WORD_OF(LOWEST)
#define HIGHEST WORD_OF(HIGHEST)
#define sel(mask, yes, no) WORD_OF(sel)(mask, yes, no)
#define head(v, n, rest) WORD_OF(head)(v, n, rest)
#define v_abs(a) WORD_OF(v_abs)(a)
#define v_sin(a) WORD_OF(v_sin)(a)
#define v_cos(a) WORD_OF(v_cos)(a)
#define v_tan(a) WORD_OF(v_tan)(a)
#define v_exp(a) WORD_OF(v_exp)(a)
#define v_exp2(a) WORD_OF(v_exp2)(a)
#define v_expm1(a) WORD_OF(v_expm1)(a)
#define v_log(a) WORD_OF(v_log)(a)
#define v_log2(a) WORD_OF(v_log2)(a)
#define v_log1p(a) WORD_OF(v_log1p)(a)
#define v_tanh(a) WORD_OF(v_tanh)(a)
#define v_erf(a) WORD_OF(v_erf)(a)
#define v_log10(a) WORD_OF(v_log10)(a)
#define v_sinh(a) WORD_OF(v_sinh)(a)
#define v_cosh(a) WORD_OF(v_cosh)(a)
#define v_asin(a) WORD_OF(v_asin)(a)
#define v_acos(a) WORD_OF(v_acos)(a)
#define v_atan(a) WORD_OF(v_atan)(a)
#define v_asinh(a) WORD_OF(v_asinh)(a)
#define v_acosh(a) WORD_OF(v_acosh)(a)
#define v_atanh(a) WORD_OF(v_atanh)(a)
#define v_erfc(a) WORD_OF(v_erfc)(a)
#define v_sqrt(a) WORD_OF(v_sqrt)(a)
#define v_floor(a) WORD_OF(v_floor)(a)
#define v_ceil(a) WORD_OF(v_ceil)(a)
#define v_round(a) WORD_OF(v_round)(a)
#define v_pow(a, b) WORD_OF(v_pow)(a, b)
#define v_atan2(a, b) WORD_OF(v_atan2)(a, b)
#define v_floordiv(a, b) WORD_OF(v_floordiv)(a, b)
#define v_fmod(a, b) WORD_OF(v_fmod)(a, b)
#define v_mod(a, b) WORD_OF(v_mod)(a, b)
#define v_and(a, b) WORD_OF(v_and)(a, b)
#define v_or(a, b) WORD_OF(v_or)(a, b)
#define v_xor(a, b) WORD_OF(v_xor)(a, b)
#define v_shl(a, b) WORD_OF(v_shl)(a, b)
#define v_shr(a, b) WORD_OF(v_shr)(a, b)
#define v_gcd(a, b) WORD_OF(v_gcd)(a, b)
#define v_lgamma(a) WORD_OF(v_lgamma)(a)
#define v_not(a) WORD_OF(v_not)(a)

/* On the bits of floats: every row is compiled for every type, and inference
 * refuses these. */
#define v_and_f32(a, b) ((f32)((m4)(a) & (m4)(b)))
#define v_or_f32(a, b) ((f32)((m4)(a) | (m4)(b)))
#define v_xor_f32(a, b) ((f32)((m4)(a) ^ (m4)(b)))
#define v_not_f32(a) ((f32)(~(m4)(a)))
#define v_and_f64(a, b) ((f64)((m8)(a) & (m8)(b)))
#define v_or_f64(a, b) ((f64)((m8)(a) | (m8)(b)))
#define v_xor_f64(a, b) ((f64)((m8)(a) ^ (m8)(b)))
#define v_not_f64(a) ((f64)(~(m8)(a)))
#define v_shl_f32 v_and_f32
#define v_shr_f32 v_and_f32
#define v_gcd_f32 v_and_f32
#define v_shl_f64 v_and_f64
#define v_shr_f64 v_and_f64
#define v_gcd_f64 v_and_f64

/* Rows of other kinds have no loops here. */
#define COMPOSITE(id, spellings, signature, ...)
#define CAST(id, spellings, signature, ...)
#define CONSTANT(id, spellings, doc)
#define CREATE(id, spellings, signature, ...)
#define LIBRARY(id, spellings, signature, ...)
#define VIEW(id, spellings, signature, ...)
#define JOIN(id, spellings, signature, ...)
#define CONTROL(id, signature, ...)
#define INTERNAL(id, kind, doc)

#define NAME(id, what) CAT3(id, what, TYPE)

/* One function, two loops: without splat operands the addresses need no masks. */
#define POINT(id, ...)                                                                             \
	static void NAME(id, point)(void *dst, const void *pa, const void *pb, const void *pc,     \
				    long n, unsigned splat)                                        \
	{                                                                                          \
		if (!splat) {                                                                      \
			enum { keep0 = -1, keep1 = -1, keep2 = -1 };                               \
			for (long i = 0; i < n; i += LANES) {                                      \
				__VA_ARGS__;                                                       \
			}                                                                          \
		} else {                                                                           \
			const long keep0 = (splat & 1) - 1L, keep1 = (splat >> 1 & 1) - 1L,        \
				   keep2 = (splat >> 2 & 1) - 1L;                                  \
			(void)keep1, (void)keep2;                                                  \
			for (long i = 0; i < n; i += LANES) {                                      \
				__VA_ARGS__;                                                       \
			}                                                                          \
		}                                                                                  \
	}

#define TYPE f32
#define ELEMENT float
#define WIDTH 4
#define IS_FLOAT 1
#include "fusion/backends/simd/for_type.h"
#undef TYPE
#undef ELEMENT
#undef WIDTH
#undef IS_FLOAT

#define TYPE f64
#define ELEMENT double
#define WIDTH 8
#define IS_FLOAT 1
#include "fusion/backends/simd/for_type.h"
#undef TYPE
#undef ELEMENT
#undef IS_FLOAT

#define TYPE i64
#define ELEMENT long
#define IS_FLOAT 0
#include "fusion/backends/simd/for_type.h"
#undef TYPE
#undef ELEMENT
#undef WIDTH
#undef IS_FLOAT

/* Bools alone: bytes in, masks between, bytes out. */
#define TYPE m1
#define LANES L1
#define BOOL_AT(k, p, i) MASK(1, LOAD(b1, (const unsigned char *)(p), (i)&keep##k))
#define PUT(value) SAVE(b1, (unsigned char *)dst, i, BYTES(1, (value)))
#define v_and_m1 v_and_mask
#define v_or_m1 v_or_mask
#define v_xor_m1 v_xor_mask
#define v_not_m1 v_not_mask
#define ON_ONE(id, value) POINT(id, m1 a = BOOL_AT(0, pa, i); (void)pb; (void)pc; PUT(value))
#define ON_TWO(id, value)                                                                          \
	POINT(id, m1 a = BOOL_AT(0, pa, i); m1 b = BOOL_AT(1, pb, i); (void)pc; PUT(value))
#define UNARY(id, heavy, rule, spellings, value, ...) UNARY_##rule(id, value)
#define BINARY(id, heavy, rule, spellings, value, ...) BINARY_##rule(id, value)
#define TERNARY(id, heavy, spellings, signature, value, ...)                                       \
	POINT(id, m1 a = BOOL_AT(0, pa, i); m1 b = BOOL_AT(1, pb, i); m1 c = BOOL_AT(2, pc, i);    \
	      PUT(value))
#define UNARY_LOGIC(id, value) ON_ONE(id, value)
#define BINARY_LOGIC(id, value) ON_TWO(id, value)
#define UNARY_SAME(id, value) KERNEL_OF(BOOLS_##id)(id, value)
#define BINARY_SAME(id, value) KERNEL_OF(BOOLS_##id)(id, value)
#define UNARY_FLOAT(id, value)
#define BINARY_FLOAT(id, value)
#define UNARY_BOOL(id, value) ON_ONE(id, value)
#define BINARY_BOOL(id, value)
#define REDUCE(id, rule, spellings, first, step, signature, ...) REDUCE_##rule(id, first, step)
#define REDUCE_SAME(id, first, step)
#define REDUCE_INTSUM(id, first, step)
#define REDUCE_LOGIC(id, first, step)                                                              \
	static m1 NAME(id, join)(m1 a, m1 b)                                                       \
	{                                                                                          \
		return step;                                                                       \
	}                                                                                          \
	static void NAME(id, reduce)(void *acc, const void *src, long n)                           \
	{                                                                                          \
		const unsigned char *p = src;                                                      \
		m1 all = first;                                                                    \
		long i = 0;                                                                        \
		for (; i + L1 <= n; i += L1)                                                       \
			all = NAME(id, join)(all, MASK(1, LOAD(b1, p, i)));                        \
		if (i < n)                                                                         \
			all = NAME(id, join)(all, head(MASK(1, LOAD(b1, p, i)), n - i, first));    \
		SAVE(b1, (unsigned char *)acc, 0, BYTES(1, all));                                  \
	}                                                                                          \
	static void NAME(id, fold)(void *acc, const void *src, long n, long width)                 \
	{                                                                                          \
		unsigned char *to = acc;                                                           \
		const unsigned char *p = src;                                                      \
		for (long j = 0; j < width; j += L1) {                                             \
			m1 all = MASK(1, LOAD(b1, to, j));                                         \
			for (long k = 0; k < n; k += width)                                        \
				all = NAME(id, join)(all, MASK(1, LOAD(b1, p, k + j)));            \
			SAVE(b1, to, j, BYTES(1, all));                                            \
		}                                                                                  \
	}
/* The rows with rule SAME that bools have: ~ & | ^ and copies.  KERNEL_OF() gives what
 * follows the comma of a row's line here, and NO_KERNEL where there is no line. */
#define BOOLS_clone , ON_ONE
#define BOOLS_contiguous , ON_ONE
#define BOOLS_invert , ON_ONE
#define BOOLS_and_ , ON_TWO
#define BOOLS_or_ , ON_TWO
#define BOOLS_xor_ , ON_TWO
#define SECOND(first, second, ...) second
#define KERNEL_OF(...) SECOND(__VA_ARGS__, NO_KERNEL, )
#define NO_KERNEL(id, value)
#include "fusion/graph/ops.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE
#undef UNARY_SAME
#undef BINARY_SAME
#undef UNARY_FLOAT
#undef BINARY_FLOAT
#undef UNARY_BOOL
#undef BINARY_BOOL
#undef UNARY_LOGIC
#undef BINARY_LOGIC
#undef REDUCE_SAME
#undef REDUCE_INTSUM
#undef REDUCE_LOGIC
#undef TYPE
#undef LANES

/* Casts, in a loop of the wider side's lanes.  to and from name vector types. */
#define CAST_LOOP(name, lanes, to, to_element, from, from_element, value)                          \
	static void cast_##name(void *dst, const void *pa, const void *pb, const void *pc, long n, \
				unsigned splat)                                                    \
	{                                                                                          \
		const long keep = (splat & 1) - 1L;                                                \
		(void)pb, (void)pc;                                                                \
		for (long i = 0; i < n; i += (lanes)) {                                            \
			from a = LOAD(from, (const from_element *)pa, i & keep);                   \
			SAVE(to, (to_element *)dst, i, value);                                     \
		}                                                                                  \
	}
typedef unsigned char byte;
CAST_LOOP(F32_F32, L4, f32, float, f32, float, a)
CAST_LOOP(F64_F64, L8, f64, double, f64, double, a)
CAST_LOOP(I64_I64, L8, i64, long, i64, long, a)
CAST_LOOP(BOOL_BOOL, L1, b1, byte, b1, byte, a)
CAST_LOOP(F32_F64, L8, h8, float, f64, double, __builtin_convertvector(a, h8))
CAST_LOOP(F32_I64, L8, h8, float, i64, long, __builtin_convertvector(a, h8))
CAST_LOOP(F64_F32, L8, f64, double, h8, float, __builtin_convertvector(a, f64))
CAST_LOOP(F64_I64, L8, f64, double, i64, long, __builtin_convertvector(a, f64))
CAST_LOOP(I64_F32, L8, i64, long, h8, float, __builtin_convertvector(a, i64))
CAST_LOOP(I64_F64, L8, i64, long, f64, double, __builtin_convertvector(a, i64))
CAST_LOOP(F32_BOOL, L4, f32, float, b4, byte, sel_f32(MASK(4, a), K_f32(1), K_f32(0)))
CAST_LOOP(F64_BOOL, L8, f64, double, b8, byte, sel_f64(MASK(8, a), K_f64(1), K_f64(0)))
CAST_LOOP(I64_BOOL, L8, i64, long, b8, byte, sel_i64(MASK(8, a), K_i64(1), K_i64(0)))
CAST_LOOP(BOOL_F32, L4, b4, byte, f32, float, BYTES(4, ne(a, K_f32(0))))
CAST_LOOP(BOOL_F64, L8, b8, byte, f64, double, BYTES(8, ne(a, K_f64(0))))
CAST_LOOP(BOOL_I64, L8, b8, byte, i64, long, BYTES(8, ne(a, K_i64(0))))

typedef unsigned short half;
typedef half halfs __attribute__((vector_size(VECTOR_BYTES)));
typedef half halfsu __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
enum { L2 = VECTOR_BYTES / 2 };
CAST_LOOP(F16_F16, L2, halfs, half, halfs, half, a)
CAST_LOOP(F32_F16, L4, f32, float, e4, half, half_to_f32(a))
CAST_LOOP(F16_F32, L4, e4, half, f32, float, f32_to_half(a))
CAST_LOOP(F32_BF16, L4, f32, float, e4, half, bfloat_to_f32(a))
CAST_LOOP(BF16_F32, L4, e4, half, f32, float, f32_to_bfloat(a))
CAST_LOOP(I32_I32, L4, m4, int, m4, int, a)
CAST_LOOP(I64_I32, L8, i64, long, d8, int, __builtin_convertvector(a, i64))
CAST_LOOP(I32_I64, L8, d8, int, i64, long, __builtin_convertvector(a, d8))
CAST_LOOP(I64_I16, L8, i64, long, s8, short, __builtin_convertvector(a, i64))
CAST_LOOP(I16_I64, L8, s8, short, i64, long, __builtin_convertvector(a, s8))
CAST_LOOP(I64_I8, L8, i64, long, c8, signed char, __builtin_convertvector(a, i64))
CAST_LOOP(I8_I64, L8, c8, signed char, i64, long, __builtin_convertvector(a, c8))
CAST_LOOP(I64_U8, L8, i64, long, b8, byte, __builtin_convertvector(a, i64))
CAST_LOOP(U8_I64, L8, b8, byte, i64, long, __builtin_convertvector(a, b8))

static void splat(void *to, const void *from, unsigned bytes)
{
	byte *p = to;

	for (int i = 0; i < 64; i += VECTOR_BYTES)
		if (bytes == 4)
			SAVE(f32, p, i, SPLAT(f32, *(const float *)from));
		else if (bytes == 8)
			SAVE(i64, p, i, SPLAT(i64, *(const long *)from));
		else if (bytes == 2)
			SAVE(halfs, p, i, SPLAT(halfs, *(const half *)from));
		else
			SAVE(b1, p, i, SPLAT(b1, *(const byte *)from));
}

#include "fusion/backends/simd/gemm.h"
#include "fusion/backends/simd/windows.h"
#include "fusion/backends/simd/order.h"

#define CAST_FROM(to, from) [DTYPE_##from] = cast_##to##_##from,
#define CASTS_TO(to, ...)                                                                          \
	[DTYPE_##to] = { __VA_ARGS__[DTYPE_F32] = cast_##to##_F32, [DTYPE_F64] = cast_##to##_F64,  \
			 [DTYPE_I64] = cast_##to##_I64, [DTYPE_BOOL] = cast_##to##_BOOL }

/* Rows of the table, by dtype rule. */
#define ROW_FLOAT(id) [DTYPE_F32] = id##_point_f32, [DTYPE_F64] = id##_point_f64
#define ROW_SAME(id) ROW_FLOAT(id), [DTYPE_I64] = id##_point_i64
#define ROW_BOOL(id) ROW_SAME(id)
#define BOOL_ROW(id) [OP_##id][DTYPE_BOOL] = id##_point_m1
#define ROW_LOGIC(id) [DTYPE_BOOL] = id##_point_m1
#define UNARY(id, heavy, rule, spellings, value, ...) [OP_##id] = { ROW_##rule(id) },
#define BINARY(id, heavy, rule, spellings, value, ...) [OP_##id] = { ROW_##rule(id) },
#define TERNARY(id, heavy, spellings, signature, value, ...)                                       \
	[OP_##id] = { ROW_SAME(id), ROW_LOGIC(id) },
#define FOLD_SAME(id, what)                                                                        \
	[DTYPE_F32] = id##_##what##_f32, [DTYPE_F64] = id##_##what##_f64,                          \
	[DTYPE_I64] = id##_##what##_i64
#define FOLD_INTSUM(id, what) FOLD_SAME(id, what)
#define FOLD_LOGIC(id, what) [DTYPE_BOOL] = id##_##what##_m1

const struct kernel_table CAT2(kernels_, VECTOR_UNIT);
const struct kernel_table CAT2(kernels_, VECTOR_UNIT) = {
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
	.unit = TEXT(VECTOR_UNIT),
	.vector_bytes = VECTOR_BYTES,
	.splat = splat,
	.gemm_rows = GEMM_ROWS,
	.gemm_f32 = gemm_f32,
	.gemm_f64 = gemm_f64,
	.gemm_where_f32 = gemm_where_f32,
	.window_f32 = window_f32,
	.keys_f32 = keys_f32,
	.cast = {
		CASTS_TO(F32, CAST_FROM(F32, F16) CAST_FROM(F32, BF16)),
		CASTS_TO(F64, ),
		CASTS_TO(I64, CAST_FROM(I64, I32) CAST_FROM(I64, I16) CAST_FROM(I64, I8)
			      CAST_FROM(I64, U8)),
		CASTS_TO(BOOL, ),
		[DTYPE_F16] = { CAST_FROM(F16, F32) [DTYPE_F16] = cast_F16_F16 },
		[DTYPE_BF16] = { CAST_FROM(BF16, F32) [DTYPE_BF16] = cast_F16_F16 },
		[DTYPE_I32] = { CAST_FROM(I32, I64) [DTYPE_I32] = cast_I32_I32 },
		[DTYPE_I16] = { CAST_FROM(I16, I64) [DTYPE_I16] = cast_F16_F16 },
		[DTYPE_I8] = { CAST_FROM(I8, I64) [DTYPE_I8] = cast_BOOL_BOOL },
		[DTYPE_U8] = { CAST_FROM(U8, I64) [DTYPE_U8] = cast_BOOL_BOOL },
	},
	.point = {
#define REDUCE(id, rule, spellings, first, step, signature, ...)
#include "fusion/graph/ops.def"
#undef REDUCE
		BOOL_ROW(isnan), BOOL_ROW(clone), BOOL_ROW(contiguous), BOOL_ROW(invert),
		BOOL_ROW(and_),  BOOL_ROW(or_),	  BOOL_ROW(xor_),
	},
#undef UNARY
#undef BINARY
#undef TERNARY
#define UNARY(id, heavy, rule, spellings, value, ...)
#define BINARY(id, heavy, rule, spellings, value, ...)
#define TERNARY(id, heavy, spellings, signature, value, ...)
	.reduce = {
#define REDUCE(id, rule, spellings, first, step, signature, ...)                                   \
	[OP_##id] = { FOLD_##rule(id, reduce) },
#include "fusion/graph/ops.def"
#undef REDUCE
	},
	.fold = {
#define REDUCE(id, rule, spellings, first, step, signature, ...)                                   \
	[OP_##id] = { FOLD_##rule(id, fold) },
#include "fusion/graph/ops.def"
	},
};
