/* fusion/backends/cuda/kernel/kernel.h -- a kernel of the tile program as CUDA C.
 *
 * A point of a kernel is a thread's work:
 *   MAP   threads stride over the points, `lanes` of them side by side at a time, or `each` of
 *         them a block's threads apart, whose loads are under way at once; where operands lie
 *         along another dim than the walk's last, a block has a square of both dims, which such
 *         operands pass turned, through shared memory
 *   ROWS  `threads` of one block share a row; a block has `rows_a_block` of them at a time,
 *         and `rows_each` times as many where rows are short: their loads are under way at once;
 *         rows that no vector divides are `staged`: a block's, which are one piece of memory,
 *         pass through shared memory;
 *         with blocks to spare, several share a row (`split`), and the last one
 *         to finish joins what they have found, in order
 *   COLS  a block has `columns` columns side by side and `threads` on each of them; of
 *         `pairs`, a square of CUDA_PAIR_SIDE rows and columns, a thread several of them
 * Sizes that are known are literals of the text, others are parameters.
 */
#ifndef FUSION_BACKENDS_CUDA_KERNEL_KERNEL_H
#define FUSION_BACKENDS_CUDA_KERNEL_KERNEL_H

#include "fusion/backends/backends.h"
#include "fusion/backends/cuda/device/device.h"
#include "fusion/backends/cuda/kernel/kernel.h"
#include "fusion/base/buf.h"
#include "fusion/base/vec.h"
#include "fusion/lower/lower.h"

enum {
	CUDA_COLUMNS = 32, /* of a block; more where few threads share one */
	CUDA_COLUMNS_THREADS = 128,
	/* A thread on a column has so many points; more where so many blocks keep the device
	 * busy: on an H200 the largest of columns of 512, 65,536 of them, took 35 us after 47. */
	CUDA_COLUMN_POINTS = 16,
	CUDA_MANY_COLUMN_POINTS = 64,
	CUDA_MANY_BLOCKS = 1024,
	CUDA_MAP_THREADS = 256,
	CUDA_MAX_THREADS = 1024,
	CUDA_MAX_LANES = 8,
	/* A slot of a row is kept in registers where a thread has no more points; so is
	 * what several stages load. */
	CUDA_SLOT_POINTS = 32,
	CUDA_MAX_KEPT = 4,
	/* And what only later stages load, if a thread then keeps no more points: on an H200
	 * that took 7 % off a layer norm of 1024, whose threads keep 48. */
	CUDA_EARLY_POINTS = 48,
	/* A lane adds up the float32 of so many steps before it is joined with others in
	 * float64: a conversion for each step and sum less took 2 % off a layer norm of 1024 on
	 * an H200.  Fewer steps gained nothing there (softmax, rms norm); more would round
	 * more often. */
	CUDA_FEW_STEPS_FROM = 3,
	CUDA_FEW_STEPS_TO = 4,
	CUDA_VECTOR_BYTES = 16,
	CUDA_SHORT_DIM =
	    8, /* a thread may have so many elements that it loads from as many places */
	/* A square that turns: a warp's line of it is of 32 lanes of a word or more. */
	CUDA_TURN_THREADS = 32,
	CUDA_TURN_WARPS = 8,
	CUDA_TURN_LEAST = 16, /* of both dims */
	CUDA_TURN_POINTS = 1 << 14,
	CUDA_TURN_MOST = 4, /* accesses of a kernel that turn */
	/* COLS of pairs: rows and columns of a block, of its threads along each, of a thread. */
	CUDA_PAIR_SIDE = 64,
	CUDA_PAIR_THREADS = 16,
	CUDA_PAIR_EACH = 4,
	CUDA_PAIR_LOADS = 4, /* each has 8 KiB of shared memory */
	/* Of an access of so many only the end is in the cache after it (60 MB on an H200). */
	CUDA_PASSING_BYTES = 64 << 20,
	/* Rows of so many points have threads of two loads each, where that is at most these
	 * threads, or of four: on an H200 softmax of 1024 took a fifth less with 128 threads
	 * than with 64 or 256.  Of four too where later stages load more, but for the longest
	 * rows: a layer norm of 1024 took 7 % less with 64 threads, rows of 4096 1 % more with
	 * 256 and a quarter more with 1024. */
	CUDA_LONG_ROW = 1024,
	CUDA_LONG_THREADS = 512,
	/* So many shorter rows have a warp each, of up to four loads: on an H200 blocks of two
	 * warps with a row each came and went too often to keep memory busy. */
	CUDA_MANY_ROWS = 8192,
	/* So many elements that are loaded one by one, and so much of them by a thread. */
	CUDA_APART_POINTS = 1 << 18,
	CUDA_APART_BYTES = 16,
	CUDA_MOST_APART = 4,
	/* Elements that are loaded one by one are small: of so many rows a thread has so many. */
	CUDA_SOME_ROWS = 1024,
	CUDA_SINGLE_LOADS = 8,
	/* Rows that a warp or less has in one step and one stage: threads have several, as long as
	 * there are so many blocks: on an H200 sums of rows of 64 took a sixth less, and a layer
	 * norm of 96, which has more stages, a quarter more. */
	CUDA_ROWS_EACH = 4,
	/* Rows that no vector divides: a block has so many threads, and so much of them in shared
	 * memory, or up to the most where a few rows are more; a thread has so many points, or
	 * more than a warp would have fewer. */
	CUDA_MAX_STAGED = 6,
	CUDA_STAGED_THREADS = 256,
	CUDA_STAGED_BYTES = 24 << 10,
	CUDA_STAGED_MOST = 40 << 10,
	CUDA_STAGED_POINTS = 12,
	CUDA_STAGED_MANY_POINTS = 25,
	CUDA_STAGED_BLOCKS = 264,
	CUDA_STAGED_WALKED = 64, /* points of a row that several stages walk */
	CUDA_ENOUGH_BLOCKS = 4096,
};

struct launch_fault;
struct library_call;

/* An index of a load that may be out of bounds: of a node, for a dim of this size. */
struct cuda_site {
	int node;
	const struct sym *size;
};

struct cuda_kernel {
	const struct lowered *lowered;
	const struct kernel *kernel; /* MAP, ROWS, COLS */
	int index;                   /* in the graph */
	int threads, rows_a_block, rows_each, columns;
	int lanes; /* of a thread, side by side; 1: any alignment will do */
	int each;  /* MAP: points of a thread that lie apart, where lanes are 1 */
	/* Lanes end after the last dim does: so many points it would have if they did not; what
	 * they have there lies between rows, and is nobody's.  NULL: they divide it. */
	const struct sym *padded;
	bool splits;   /* several blocks may share a row or columns */
	int n_reduces; /* of its first stage */
	/* No thread is without a row or column, for any symbols, nor, in any of its steps,
	 * without points. */
	bool all_live, whole;
	bool turns;     /* its blocks can begin at the end, where much is in memory */
	bool registers; /* slots are in registers */
	bool few_steps; /* a thread's sums of float32 are joined after its steps */
	bool pairs;     /* COLS: a block has rows of two operands, see above */
	int turned_dim; /* MAP: the dim along which some accesses lie; -1: none turn */
	int n_kept;     /* accesses that a thread keeps from stage to stage */
	const struct access *kept[CUDA_MAX_KEPT];
	/* ROWS: accesses of whole rows that pass through shared memory, and points of a row. */
	int n_staged, staged_points;
	const struct access *staged[CUDA_MAX_STAGED];
	bool narrow;             /* it stores float16 and bfloat16 alone, and cuts nothing off */
	bool *stored;            /* by buffer: it is written here */
	int n_buffers, *buffers; /* parameters: first the addresses, b0, b1, ..., */
	int *places;             /* by buffer: which of them it is */
	VEC(const struct sym *) numbers; /* then the numbers, 8 bytes each; */
	/* then, where indices may be out of bounds, the device's fault and the launch's sites; */
	VEC(struct cuda_site) sites;
	/* then, where it splits: partial results, counters; where slots are not in registers: the
	 * memory of slots, or NULL for shared memory; where it turns: whether to begin at the
	 * end. */
};

/* What a plan may differ in from that of the rules here, to be tried (tune.h). */
enum cuda_choice {
	CHOICE_PLANNED,
	CHOICE_HALF_THREADS,
	CHOICE_TWICE_THREADS,
	CHOICE_OTHER_ROWS, /* staged where they were not, or the other way round */
	CHOICE_HALF_LANES,
	CUDA_CHOICES
};

/* Decides how it is cut; `lanes` is an upper bound, 1 where memory may lie
 * anywhere.  False: out of memory. */
bool cuda_kernel_plan(struct cuda_kernel *c, const struct lowered *l, int index, int lanes,
		      enum cuda_choice choice);
void cuda_kernel_finish(struct cuda_kernel *c); /* zeroed is fine */

/* The function of a planned kernel from its parameters on, in which nothing says which kernel of
 * the graph it is; fills in `numbers`.  out->failed when out of memory. */
void cuda_kernel_emit(struct buf *out, struct cuda_kernel *c);

/* Threads of a block. */
static inline int cuda_kernel_block(const struct cuda_kernel *c)
{
	return c->threads * (c->kernel->form == FORM_COLS ? c->columns : c->rows_a_block);
}

/* Points of the vector axis, and what they are repeated over: rows of a ROWS,
 * outer rows of a COLS; columns: of a COLS, else 1. */
struct cuda_extent {
	int64_t points, rows, columns;
};
struct cuda_extent cuda_kernel_extent(const struct kernel *k, const int64_t *vars);

/* Whether a thread of a row or column has one step of points at most, for any symbols:
 * what is no loop compiles in less time. */
bool cuda_kernel_is_one_step(const struct cuda_kernel *c);

/* Whether threads of a MAP have several steps, where a grid is bounded (launch.c). */
static inline bool cuda_kernel_strides(const struct cuda_kernel *c)
{
	return c->lanes == 1;
}

/* lookup.c: where it loads by indices, what it calls, after intrinsics.cu; else NULL. */
const char *cuda_looks_up(const struct kernel *k);
/* emit.c: whether it has a scan; text.c: what all of these kernels call, after intrinsics.cu. */
bool cuda_scans_rows(const struct kernel *k);
void cuda_kernel_words(struct buf *out, const struct kernel *kernels, int n);

/* Whether an access of a body passes through shared memory (turned_dim). */
bool cuda_is_turned(const struct cuda_kernel *c, const struct inst *inst);

/* Whether a run of lanes of an access ends after its row does, in memory that is not the row's: of
 * a kernel whose lanes do not divide its rows, a load that stays from row to row. */
bool cuda_is_open(const struct cuda_kernel *c, const struct access *at);

/* Which of these accesses it is; -1: none. */
int cuda_find(const struct kernel *k, const struct access *const *list, int n,
	      const struct access *at);

/* Which of the kept accesses a load is; which of the staged ones an access is. */
static inline int cuda_kept(const struct cuda_kernel *c, const struct inst *inst)
{
	return inst_loads(inst) ? cuda_find(c->kernel, c->kept, c->n_kept, &inst->at) : -1;
}
static inline int cuda_staged(const struct cuda_kernel *c, const struct access *at)
{
	return cuda_find(c->kernel, c->staged, c->n_staged, at);
}

/* bounds.c: whether a float32 can be no farther from 0 than sines without a reduction
 * of their own go, by what computes it; it may be NaN. */
bool cuda_is_near(const struct kernel *k, int reg);

/* bounds.c: the float32 that a narrow register was rounded from; -1: none. */
int cuda_rounded_from(const struct kernel *k, int reg);

/* ---- a kernel with all that a launch needs prepared */

struct cuda_launch {
	const struct cuda_kernel *kernel;
	CUfunction function;
	unsigned grid[2], block[2], shared_bytes;
	int resident;     /* blocks that a multiprocessor has at once, as the driver says */
	uint64_t *values; /* of the parameters: addresses first */
	void **params;    /* addresses of the values */
	int n_params;
	struct library_call *sites; /* of the kernel's: what a fault there says */
	bool wide;                  /* addresses must be multiples of CUDA_VECTOR_BYTES */
};

/* Memory of one graph's kernels beside its buffers; grows as bindings ask for it. */
struct cuda_scratch {
	uint64_t parts, counts, slots; /* addresses on the device, 0: none */
	size_t parts_bytes, counts_bytes, slots_bytes;
};

/* Of a kernel's function; `fault` is told of indices out of bounds.  False with MEMORY. */
bool cuda_launch_create(struct cuda_launch *l, const struct cuda_kernel *k, CUfunction function,
			struct device *d, struct launch_fault *fault, struct err *err);
void cuda_launch_finish(struct cuda_launch *l); /* zeroed is fine */

/* Its grid and its numbers under these symbols.  False with MEMORY. */
bool cuda_launch_bind(struct cuda_launch *l, struct device *d, struct cuda_scratch *s,
		      const int64_t *vars, struct err *err);
/* Once all kernels are bound: the scratch has its place. */
void cuda_launch_use_scratch(struct cuda_launch *l, const struct cuda_scratch *s);
void cuda_scratch_finish(struct cuda_scratch *s, struct device *d);

/* Its parameters are these addresses. */
static inline void cuda_launch_point(struct cuda_launch *l, void *const *buffers)
{
	for (int i = 0; i < l->kernel->n_buffers; i++)
		l->values[i] = (uint64_t)buffers[l->kernel->buffers[i]];
}

/* Where `backward` asks for it and the kernel can, it begins at its end. */
static inline void cuda_launch_turn(struct cuda_launch *l, bool backward)
{
	if (l->kernel->turns)
		*(uint64_t *)l->params[l->n_params - 1] = backward;
}

/* One driver call.  A failure is the device's to keep. */
void cuda_launch_run(struct cuda_launch *l, struct device *d, void *const *buffers, bool backward);

/* What the driver says of its registers, memory and occupancy.  False: nothing. */
bool cuda_launch_use(const struct cuda_launch *l, struct device *d, struct kernel_use *out);

/* Whether these addresses suit it. */
bool cuda_launch_fits(const struct cuda_launch *l, void *const *buffers);

#endif
