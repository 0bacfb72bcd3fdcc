/* fusion/backends/cuda/library/library.h -- ops with a function of their own, on the device.
 *
 * Such an op is a call of a library (cuBLAS, cuDNN), or kernels of our own: templates
 * in index.cu, scan.cu, sort.cu, window.cu, create.cu, attention.cu and random.cu, of which the
 * graph's module has those functions that the op's dtypes ask for, named l<kernel>_<function>.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_LIBRARY_H
#define FUSION_BACKENDS_CUDA_LIBRARY_LIBRARY_H

#include "fusion/backends/cuda/library/args.h"
#include "fusion/backends/cuda/device/device.h"
#include "fusion/backends/library/library.h"

/* WANTS_KERNELS: bind() is to be called again with a module. */
enum placing { ON_DEVICE, WANTS_KERNELS, ON_HOST, NOWHERE };

/* Which text the functions need after library.cu; PART_SORT comes after PART_SCAN. */
enum cuda_part {
	PART_NONE,
	PART_INDEX,
	PART_SCAN,
	PART_SORT,
	PART_WINDOW,
	PART_CREATE,
	PART_ATTENTION,
	PART_RANDOM,
	PARTS
};

/* What a kernel does after its product: out = product + bias + rest. */
struct cuda_sum {
	int out;        /* the buffer that it writes, row by row */
	int bias, rest; /* buffers; -1: none */
	const struct sym *bias_offset, *rest_offset;
	const struct sym *rows, *columns; /* rows NULL: all of them are one line */
};

/* Whether that is all that the kernel does, with what has the product's dtype, and nobody else
 * wants the product.  Of float32 such sums are rounded once an op, whoever makes them; of 16 bits
 * once in all, where the product's library adds. */
bool cuda_epilogue_sum(const struct lowered *l, int kernel, struct cuda_sum *sum);

struct executable;

/* A call that is bound, and where its functions are. */
struct cuda_call {
	const struct library_call *call;
	struct device *device;
	CUmodule module; /* NULL: it has none */
	int kernel;      /* of the graph: in the names of functions, and for faults */
	struct executable *exe;
	/* What the kernel does after the function, in a kernel of our own. */
	void (*walk)(struct executable *exe, int kernel, void *const *buffers, bool backward);
	const struct cuda_sum
	    *sum;        /* the epilogue, where it is such a sum; NULL: it is something else */
	bool *takes_sum; /* bind() says here that run() does it too */
};

struct cuda_library {
	enum cuda_part part;
	/* Writes the functions that a node may want; NULL, or nothing written: it calls
	 * a library. */
	void (*emit)(struct buf *out, const struct graph *g, const struct node *n, int kernel);

	/* Once for a set of symbol values: ON_HOST where these operands are not for it;
	 * NOWHERE with *err. */
	enum placing (*bind)(const struct cuda_call *c, void **state, struct err *err);
	void (*run)(const struct cuda_call *c, void *state, void *const *buffers);
	void (*drop)(struct device *d, void *state); /* NULL: free() will do */
	bool looks_up;                               /* it may note a fault */
	bool draws; /* run() takes from a generator: no two are the same */
	bool late;  /* its functions are compiled when bind() wants them */
	/* NULL, or the same of such nodes. */
	bool (*late_for)(const struct graph *g, const struct node *n);
};

/* NULL: the op runs on the host. */
const struct cuda_library *cuda_library_find(enum op op);

extern const struct cuda_library cuda_contraction; /* matmul, matmul_nt, biased, einsum */
extern const struct cuda_library cuda_lookups;     /* gather, index_select, index */
extern const struct cuda_library cuda_puts;        /* scatter, index_put */
extern const struct cuda_library cuda_adds;        /* scatter_add */
extern const struct cuda_library cuda_put_view;
extern const struct cuda_library cuda_scans;    /* cumsum and the like, cummax and cummin */
extern const struct cuda_library cuda_extremes; /* argmax, argmin */
extern const struct cuda_library cuda_sorts;    /* sort, topk */
extern const struct cuda_library cuda_windows;  /* pools, im2col */
extern const struct cuda_library cuda_convolution, cuda_convolution_back;
extern const struct cuda_library cuda_arange, cuda_linspace, cuda_eye;
extern const struct cuda_library cuda_triangle; /* tril, triu */
extern const struct cuda_library cuda_losses;   /* class_loss */
extern const struct cuda_library cuda_attention, cuda_attention_back;
extern const struct cuda_library cuda_draws; /* uniform, normal, random_ints, keep */

/* ---- for those */

/* "E_f32": the dtype as a type of library.cu; and an unsigned one of so many bytes. */
const char *cuda_element(enum dtype dtype);
const char *cuda_bits(size_t bytes);

/* A function of kernel `kernel`, and the most threads of a block that it is started with: the
 * compiler gives it no more registers than a block of so many has.  0: who starts it asks it
 * for its most (CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK). */
struct cuda_function_name {
	int kernel;
	const char *name;
	int threads;
};

/* extern "C" __global__ void l<kernel>_<name>(const <args> a) { <body>(a); } */
void cuda_emit_function(struct buf *out, struct cuda_function_name f, const char *args,
			const char *body, ...) __attribute__((format(printf, 4, 5)));

/* A function of a call's module.  False with DEVICE. */
bool cuda_function(const struct cuda_call *c, const char *name, CUfunction *out, struct err *err);

/* One launch, of blocks that want so many bytes of shared memory on request; the driver copies
 * `args`. */
void cuda_start_shared(const struct cuda_call *c, CUfunction f, int64_t blocks, unsigned threads,
		       unsigned shared_bytes, void *args);

/* The same without. */
static inline void cuda_start(const struct cuda_call *c, CUfunction f, int64_t blocks,
			      unsigned threads, void *args)
{
	cuda_start_shared(c, f, blocks, threads, 0, args);
}

/* So many that each thread has a point, or the device is full. */
int64_t cuda_blocks(const struct cuda_call *c, int64_t points);

/* Whether the elements of an operand lie one after the other, the last dim fastest. */
bool cuda_row_by_row(const struct operand *x);
/* The dims [first, last) of an operand as strides `k` of a walk's dims from `at` on. */
static inline void cuda_walk_dims(struct walk_args *w, int at, int k, const struct operand *x,
				  int first, int last)
{
	for (int d = first; d < last; d++)
		w->stride[k][at + d - first] = x->stride[d];
}

/* Drops dims of size 1 and puts those together that all operands may walk as one. */
void cuda_walk_fold(struct walk_args *w, int operands);

void *cuda_state(size_t bytes, struct err *err); /* zeros; NULL with MEMORY */

#endif
