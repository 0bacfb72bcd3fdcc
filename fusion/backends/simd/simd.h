/* fusion/backends/simd/simd.h -- the interpreter's loops, one table per vector unit.
 *
 * All of them round their count up to whole vectors: source and destination
 * have room for that.  Only what a reduction leaves is exact.
 */
#ifndef FUSION_BACKENDS_SIMD_SIMD_H
#define FUSION_BACKENDS_SIMD_SIMD_H

#include <stdbool.h>

#include "fusion/base/buf.h"
#include "fusion/dtype.h"
#include "fusion/graph/op.h"

/* dst[i] = op(a[i], b[i], c[i]).  Bit k of `splat`: operand k is one vector of
 * equal lanes, read for every i. */
typedef void point_fn(void *dst, const void *a, const void *b, const void *c, long n,
		      unsigned splat);

/* Writes the partial results of n points into the lanes of the vector `acc`
 * (bools: of the bytes); lanes that got nothing hold the op's first value. */
typedef void reduce_fn(void *acc, const void *src, long n);

/* acc[j] = step(acc[j], src[k * width + j]) for the n / width rows k. */
typedef void fold_fn(void *acc, const void *src, long n, long width);

/* Fills 64 bytes with copies of the element at `from`, by whole vectors: a vector
 * load soon after narrower stores would have to wait for them. */
typedef void splat_fn(void *to, const void *from, unsigned bytes);

/* c[r * ld + j] += the sum over k of a[r * row + k * step] * b[k * b_step + j], for
 * rows up to gemm_rows and columns of 1 or 2 vectors.  a: its strides. */
struct gemm_left {
	const void *at;
	long row, step;
	const int64_t *where; /* of each k, in elements, in place of the step; or NULL */
};
typedef void gemm_fn(int rows, int vectors, long k, const struct gemm_left *a, const void *b,
		     long b_step, void *c, long ld);

/* out[r * out_step + i] = the sum over k of weight[k] * in[where[k] + r * in_step + i], for
 * points i below a count.  Whole vectors are read, and no more points than that written. */
struct window_sums {
	const float *in, *weight;
	const int64_t *where; /* of each of n products */
	long n, in_step, out_step;
	/* Products come in chains of so many, each `apart` after the one before it and in_step
	 * farther in the input: what a row reads, those above it read too.  Below 2: they do not.
	 */
	long chain, apart;
	float *out;
};
typedef void window_fn(const struct window_sums *s, long rows, long points);

/* Numbers in the order of KEY_BLOCK floats or fewer, n: -0 is 0, NaN is above all, 0 below
 * all; `turn` is then xored to each and `add` added.  Those from n on are the largest; the
 * least of them is returned. */
enum { KEY_BLOCK = 64 };
typedef unsigned keys_fn(const float *in, long n, unsigned turn, unsigned add, unsigned *key);

struct kernel_table {
	const char *unit;
	int vector_bytes;
	point_fn *point[OP_COUNT][DTYPE_COUNT];   /* by the dtype of the last operand */
	point_fn *cast[DTYPE_COUNT][DTYPE_COUNT]; /* [to][from]; equal: a copy */
	reduce_fn *reduce[OP_COUNT][DTYPE_COUNT];
	fold_fn *fold[OP_COUNT][DTYPE_COUNT];
	splat_fn *splat;
	int gemm_rows;
	gemm_fn *gemm_f32, *gemm_f64;
	gemm_fn *gemm_where_f32; /* its a says where */
	window_fn *window_f32;
	keys_fn *keys_f32;
};

extern const struct kernel_table kernels_sse, kernels_avx2, kernels_avx512;

const struct kernel_table *kernels_named(const char *unit);

/* The best of them that this machine can run; the one called `unit` (NULL: the
 * best), NULL where the machine cannot run it. */
static inline const struct kernel_table *kernels_here(void)
{
	return kernels_named(NULL);
}

/* ---- writes an expression of ops.def for a compute type */

/* "float", "unsigned short": an element in memory, in C. */
const char *intrinsics_element(enum dtype dtype);

/* The text with a, b and c replaced by `args`.  Words that exist for each type
 * (K, sel, v_sin, ...) get "_" and `type`; of bools, those of v_ get "_mask". */
void intrinsics_put(struct buf *out, const char *text, const char *type, bool bools,
		    const char *const args[3]);

#endif
