/* fusion/backends/library.h -- ops with a function of their own.  Private to backends/.
 *
 * A LIBRARY row of ops.def has a struct library_op in the table of library.c.
 * bind() does once for a set of symbol values what needs memory or may fail;
 * run() computes, and cannot fail.
 */
#ifndef FUSION_BACKENDS_LIBRARY_H
#define FUSION_BACKENDS_LIBRARY_H

#include <stdatomic.h>
#include <stdlib.h>

#include "fusion/backends/plan.h"
#include "fusion/backends/reduce.h"
#include "fusion/backends/simd/kernels.h"
#include "fusion/base/pool.h"
#include "fusion/lower/lower.h"

/* A tensor argument, or the result; strides and offset in elements. */
struct operand {
	int buffer; /* -1: the argument is no tensor */
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK], stride[MAX_RANK], offset, numel;
};

struct library_op;

/* The first index out of bounds that a launch met; kept by the executable. */
struct library_fault {
	atomic_int raised;
	const struct node *node;
	int64_t index, size;
};

struct library_call {
	const struct library_op *op;
	const struct graph *graph;
	const struct node *node; /* its arguments that are no tensors */
	const struct kernel_table *kernels;
	struct blas *blas; /* NULL: not to be used */
	struct operand arg[MAX_ARGS], out;
	int64_t number[MAX_ARGS]; /* the value of an int or bool argument */
	const int64_t *vars;      /* of the symbols; while bind() runs */
	struct library_fault *fault;
	struct generators *random; /* NULL: always the same numbers */
	/* What the kernel does behind its product (lower.h).  `rows`: it reduces rows;
	 * set before bind(), which sets `threads`, the most that run() uses, where it
	 * can run `behind` on blocks; set before run(), NULL: the caller runs it. */
	bool rows;
	int64_t cost; /* plan_cost() of it; 0: nothing is behind */
	int threads;
	struct plan *behind;
	void *state; /* bind()'s; one block, freed by the caller */
	/* Within it: what run() need not find as it left it. */
	struct {
		void *at;
		size_t bytes;
	} room[2];
};

/* A contraction as a product of matrices: its dims by what they are, and where
 * elements lie in the first operand, the second and the result (see gemm.h); `axes`
 * has KINDS entries. */
enum axis_kind { BATCH, ROW, COLUMN, SUMMED, KINDS };
struct axis_dims;
bool library_contraction(const struct library_call *call, struct axis_dims *axes, struct err *err);

struct library_op {
	bool (*bind)(struct library_call *call, struct err *err); /* NULL: nothing to do */
	void (*run)(const struct library_call *call, void *const *buffers, struct pool *pool);
};

/* The rooms of a call whose state is a product's. */
struct gemm;
void library_gemm_rooms(struct library_call *call, const struct gemm *g);

/* Before run(), where memory is watched (fence.h): each room is as fresh. */
void library_poison(const struct library_call *call);

/* The first element of an operand. */
static inline void *operand_start(const struct operand *x, void *const *buffers)
{
	return (char *)buffers[x->buffer] + x->offset * (int64_t)dtype_bytes(x->dtype);
}

/* An int argument that counts dims from the end where it is negative. */
int library_dim(const struct library_call *call, int arg, int rank);

/* Notes an index that is out of bounds; the first one counts. */
void library_fault(const struct library_call *call, int64_t index, int64_t size);

/* Entry i of an int[] argument that may hold one for all; `otherwise` where it is
 * () or missing. */
int64_t library_entry(const struct library_call *call, const char *name, int i, int64_t otherwise);

/* False with VALUE, the place and the index, if one was noted since the last question. */
bool library_faulted(struct library_fault *fault, struct err *err);

bool library_no_memory(struct err *err); /* always false */

/* library_matmul.c: runs the gemm that is the call's state, and what is behind it. */
void library_product(const struct library_call *call, const void *a, const void *b,
		     void *const *buffers, struct pool *pool);

/* The offset of the element at a row-major position over dims [first, last). */
static inline int64_t library_offset(const struct operand *x, int first, int last, int64_t index)
{
	int64_t at = 0;

	for (int d = last - 1; d >= first; d--) {
		at += index % x->size[d] * x->stride[d];
		index /= x->size[d];
	}
	return at;
}

#define LIBRARY(id, spellings, signature, ...) extern const struct library_op library_##id;
#include "fusion/graph/ops_some.h"

/* Called by executable.c: the op's check, its numbers, its run. */
bool library_check(const struct kernel *k, struct err *err);
bool library_bind(struct library_call *call, const struct lowered *l, const struct kernel *k,
		  const struct kernel_table *kernels, struct blas *blas, struct generators *random,
		  const int64_t *vars, struct err *err);

#endif
