/* fusion/backends/library/library.h -- ops with a function of their own.
 *
 * A LIBRARY row of ops.def has a struct library_op, library_<id>, in the file that it names.
 * That file defines FUNCTION_<file>(id) before it includes this, and has a table of its own
 * at its end; library.c finds an op's in them.
 * bind() does once for a set of symbol values what needs memory or may fail;
 * run() computes, and cannot fail.
 */
#ifndef FUSION_BACKENDS_LIBRARY_LIBRARY_H
#define FUSION_BACKENDS_LIBRARY_LIBRARY_H

#include <stdlib.h>

#include "fusion/backends/cuda/library/args.h"
#include "fusion/backends/library/library.h"
#include "fusion/backends/plan/plan.h"
#include "fusion/backends/plan/reduce.h"
#include "fusion/backends/simd/simd.h"
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

/* Memory that functions of one executable work in, one after another: so a chain of kernels finds
 * it in the nearest caches. */
struct library_room {
	void *at; /* at a multiple of 64 */
	size_t bytes;
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
	struct launch_fault *fault;
	struct generators *random; /* NULL: always the same numbers */
	/* What the kernel does after its product (lower.h).  `rows`: it reduces rows;
	 * set before bind(), which sets `threads`, the most that run() uses, where it
	 * can run `epilogue` on blocks; set before run(), NULL: the caller runs it. */
	bool rows;
	int64_t cost; /* plan_cost() of it; 0: it has no epilogue */
	int threads;
	struct plan *epilogue;
	void *state; /* bind()'s; one block, freed by the caller */
	/* What run() need not find as it left it: bind() says how much, library_take_room() has
	 * it. */
	size_t room_bytes;
	const struct library_room *room;
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

/* The first element of an operand. */
static inline void *operand_start(const struct operand *x, void *const *buffers)
{
	return (char *)buffers[x->buffer] + x->offset * (int64_t)dtype_bytes(x->dtype);
}

/* An int argument that counts dims from the end where it is negative. */
int library_dim(const struct library_call *call, int arg, int rank);

/* Notes an index that is out of bounds; the first one counts. */
static inline void library_fault(const struct library_call *call, int64_t index, int64_t size)
{
	launch_fault_raise(call->fault, call->node, index, size);
}

/* Entry i of an int[] argument that may hold one for all; `otherwise` where it is
 * () or missing. */
int64_t library_entry(const struct library_call *call, const char *name, int i, int64_t otherwise);

/* False with VALUE, the place and the index, if one was noted since the last question. */
bool library_faulted(struct launch_fault *fault, struct err *err);

/* Gives a bound call its executable's room, made larger where it needs more; no call may run
 * meanwhile.  False with MEMORY. */
bool library_take_room(struct library_call *call, struct library_room *room, struct err *err);

/* Always false. */
static inline bool library_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left for a library call.");
}

/* products.c: runs the gemm that is the call's state, and its epilogue. */
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

/* library_<id> of each LIBRARY row whose function is in that file, by op; else NULL. */
extern const struct library_op *const conv_back_functions[OP_COUNT],
    *const create_functions[OP_COUNT], *const index_functions[OP_COUNT],
					   *const linalg_functions[OP_COUNT],
					       *const loss_functions[OP_COUNT],
						   *const products_functions[OP_COUNT],
						       *const random_functions[OP_COUNT],
							   *const scan_functions[OP_COUNT],
							       *const windows_functions[OP_COUNT];
#ifndef FUNCTION_conv_back
#define FUNCTION_conv_back(id) NULL
#endif
#ifndef FUNCTION_create
#define FUNCTION_create(id) NULL
#endif
#ifndef FUNCTION_index
#define FUNCTION_index(id) NULL
#endif
#ifndef FUNCTION_library
#define FUNCTION_library(id) NULL
#endif
#ifndef FUNCTION_linalg
#define FUNCTION_linalg(id) NULL
#endif
#ifndef FUNCTION_loss
#define FUNCTION_loss(id) NULL
#endif
#ifndef FUNCTION_products
#define FUNCTION_products(id) NULL
#endif
#ifndef FUNCTION_random
#define FUNCTION_random(id) NULL
#endif
#ifndef FUNCTION_scan
#define FUNCTION_scan(id) NULL
#endif
#ifndef FUNCTION_windows
#define FUNCTION_windows(id) NULL
#endif

/* Called by executable.c: the op's check, its numbers, its run. */
bool library_check(const struct kernel *k, struct err *err);
struct library_site {
	const struct lowered *lowered;
	const struct kernel *kernel;
	const struct kernel_table *kernels; /* the next four: see struct library_call */
	struct blas *blas;
	struct generators *random;
	const int64_t *vars;
};
bool library_bind(struct library_call *call, const struct library_site *site, struct err *err);

/* ---- what gather, x[i] and scatter walk over
 *
 * bind() of these ops leaves a struct lookup as the call's state: library/index.c
 * walks it on the host, cuda/library/index.c has a kernel walk it.
 */

enum { MAX_WALKED = 5 };

/* A walk over a space with some operands' offsets. */
struct odometer {
	int rank, n;
	int64_t size[MAX_RANK], index[MAX_RANK];
	int64_t stride[MAX_WALKED][MAX_RANK], at[MAX_WALKED];
};

/* What an index op does, made ready by bind(). */
struct lookup {
	struct odometer walk; /* 0: the source's strides, 1: the target's, 2..: the indices' */
	int64_t points, run;  /* run: points at the end for which the indices are the same */
	int n;                /* indices */
	int64_t least[3];     /* that each may be; below 0: counts from the end of its dim */
	int64_t size[3], stride[3]; /* of the dims that they name */
	bool writes;                /* the indices are places of the target, else of the source */
	const struct operand *index[3], *from, *to;
};

/* ---- which numbers PyTorch's kernels draw on a GPU
 *
 * Each thread of a grid has a counter of Philox.  Where an element's number comes from
 * depends on how many threads PyTorch starts, so on the GPU, and on the kernel.  `draws`:
 *	gpu      its distributions: numbers of a thread lie as many elements apart as there are
 *	         threads; ints are of 64 bits where their range is 2^28 or more
 *	narrow, wide   likewise, ints of 32 and 64 bits
 *	open     a number itself, above 0 and up to 1
 *	log      its logarithm
 *	cauchy, geometric   of median a and scale b; of probability a
 *	exp      of a normal number, e to its power
 *	line     a number itself, one after the other of the first thread: a dropout within
 *	         PyTorch's memory-efficient attention
 *	fours    four side by side of a thread: bernoulli() of a tensor
 *	rows     one of a thread, and so many threads for a row: multinomial()
 * and OP_keep's and OP_drop's, as many side by side as a dropout's kernel loads at once.
 */

struct draw {
	struct draw_args args;
	uint64_t taken; /* the generator's offset moves on by so many */
};

/* What is made of a number, by an op's name for it (NULL: it has none). */
enum draw_how draw_how(enum op op, const char *draws);
/* Whether numbers have 32 bits, whatever the dtype. */
static inline bool draw_alone(const char *draws)
{
	return strcmp(draws, "rows") == 0 || strcmp(draws, "fours") == 0 ||
	       strcmp(draws, "line") == 0;
}

/* Of a call that drops elements: by OP_keep what it is multiplied by, by OP_drop the product. */
static inline bool draw_is_dropout(const struct library_call *call)
{
	return call->node->op == OP_keep || call->node->op == OP_drop;
}

/* Whether a call draws from the GPU's generator. */
bool draw_on_gpu(const struct library_call *call);

/* For such a call, but of OP_permutation; sizes are bound. */
void draw_plan(const struct library_call *call, struct draw *d);

/* Before the numbers of one run are made: takes them from the generator. */
void draw_take(struct draw *d, struct generators *g, void *out);

#endif
