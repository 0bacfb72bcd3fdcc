/* fusion/lower/lower.h -- from a graph to kernels: the tile program.
 *
 * A kernel walks an iteration space and works on TILES: runs of at most
 * TILE_ELEMENTS consecutive points along its vector axis.  Its body is a list
 * of instructions over registers.  The interpreter executes the list
 * instruction by instruction; the C emitter turns it into loops.  Neither
 * needs to know more of the graph than this file says.
 *
 * FORMS
 *   MAP   all dims are parallel (n_outer == n_dims); the vector axis is the
 *         whole space, flattened in row-major order.  One stage with a body
 *         only.  n_dims may be 0: one point.
 *   ROWS  dims[0..n_outer) are parallel ("rows", perhaps none: one row),
 *         dims[n_outer..n_dims) are reduced, at least one; the vector axis is
 *         the reduced space, flattened in row-major order.
 *   COLS  the same dims, n_outer >= 1, but the vector axis is dim n_outer-1
 *         (usually the one with unit strides); a row is one index of the dims
 *         before it and one tile of columns; the reduced space is walked point
 *         by point in row-major order.
 *         `pairs`: one stage over one reduced dim, of float32 alone; each load of the body
 *         stands still along dim n_outer-1 or n_outer-2, so that rows of one operand meet
 *         rows of another, as distances do.
 *   LIBRARY  one node run by its own function (cumsum): no dims, no stages.
 * A MAP or ROWS may begin with a product of matrices (`library`): its function is
 * run first, and the rest walks its result, which the kernel loads from
 * `out_buffer`.  Who runs it may take turns: a block of the product, then the rest
 * on that block.  Then a row of the rest is a row of the product.
 * Dims of size 1 are dropped and dims are collapsed where every access allows,
 * so contiguous operands give one dim.  An access need not be linear along a
 * flattened axis (broadcasting, strided inputs): a backend gathers then, by
 * counters over the dims.  Extents may be 0: a MAP does nothing, a row without
 * points runs no body but all of its posts.
 *
 * ORDER   setup, once a launch (each thread may repeat it); then for each row:
 *   prologue, then for each stage: body over the whole row, then its post.
 *   MAP has no prologue and no posts.
 *
 * REGISTERS are written by exactly one instruction of the list that they belong
 * to.  Who keeps tiles in memory maps registers to tiles by their last use.
 *   LEVEL_ONE    one value for the launch; written in setup
 *   LEVEL_ROW    ROWS: one value for the row; COLS: one for each column of the
 *                tile.  Written in prologue, in a post, or by a body's REDUCE
 *                (then it has its value when that body has ended)
 *   LEVEL_POINT  a tile.  Written in a body, read in the same body only
 * An instruction reads registers of its own list, and ONE and ROW registers of
 * lists before it; a ONE or ROW source in a body is splat.  A bool
 * is 0 or 1, whatever the backend keeps it as.
 *
 * WHERE INSTRUCTIONS ARE
 *   setup     IMM, LOAD (no stride), OP, CAST           -> ONE
 *   prologue  LOAD (outer strides only), OP, CAST       -> ROW
 *   body      LOAD, OP, CAST, RESTORE, SCAN -> POINT; REDUCE -> ROW; SAVE, STORE
 *   post      LOAD, OP, CAST -> ROW; STORE (outer strides only)
 * A LOAD may read a buffer to which an earlier stage stored the same point.
 * A LOAD by indices (`lookup`) may be in any of these; its level is that of all its dims.
 * A STORE writes each element once; its source may be ONE (a fill) or ROW.
 *
 * DTYPES  Casts are explicit: the sources of an OP have its compute dtype, see
 * the rules in ops.def, and dst has the result's.
 *   SAME, FLOAT  sources and dst: one dtype
 *   BOOL         sources: one dtype, never bool but for isnan; dst: bool
 *   LOGIC        sources and dst: bool
 *   where        src[0] bool; src[1], src[2] and dst: one dtype
 * The only OPs whose sources are bools: LOGIC, where, isnan, and_, or_, xor_,
 * invert.  Arithmetic, comparisons, amax and amin of bools are done in int64.
 * CAST: float to int cuts the fraction off (NaN and what does not fit:
 * INT64_MIN, as the processor gives); to bool is `x != 0` (NaN is true).
 * Every result is rounded to its dtype; nothing is contracted.
 * float16, bfloat16 and ints below int64 are only loaded, stored, kept and cast:
 * to and from their dtype_wide(), in which ops on them are done.
 *
 * REDUCE  dst = `first` (ops.def) joined by `step` with each point's src[0].
 * src[0] and dst have one dtype (any, all: bool), but of a search.  int64 wraps.  amax and amin
 * keep NaN.  Sums and products of float32 must not lose accuracy with the
 * length: ROWS adds in float32 lanes within a tile, COLS in float32 for at most
 * REDUCE_RUN points; those partial results are joined in float64 and rounded to
 * float32 once, at the end of the row.  A backend may give parts of one row to
 * several threads (body by body) and must join them in order, with parts that
 * do not depend on the number of threads, so that a result can be repeated.
 *
 * A search (argmax, argmin) is a REDUCE for a GPU alone: src[0] is a float32, dst an int64,
 * which point of the row has the largest (smallest) one: NaN before all, of equals the first.
 *
 * SCAN  a sum of float32, added up in float64 and rounded at each point.  One body of a ROWS
 * has one, for a GPU alone; it may read its points twice.
 */
#ifndef FUSION_LOWER_LOWER_H
#define FUSION_LOWER_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/graph/graph.h"

enum { TILE_ELEMENTS = 1024, REDUCE_RUN = 32 };

enum buffer_kind {
	BUFFER_INPUT,  /* memory of graph input `index`, with its strides */
	BUFFER_OUTPUT, /* memory of graph output `index`, row-major */
	BUFFER_TEMP,   /* between two kernels, row-major; or as node.pitch, node.channels_last */
	BUFFER_CONST,  /* `data`, row-major */
};

struct buffer {
	enum buffer_kind kind;
	int index; /* of the input, or of the first output that it holds; else -1 */
	int node;  /* the graph node whose value it holds */
	enum dtype dtype;
	struct shape shape;
	const struct sym *numel;       /* of its memory: with what rows have after them */
	const void *data;              /* BUFFER_CONST: borrowed from the graph */
	int first_kernel, last_kernel; /* who writes it first, who uses it last; else -1 */
};

/* Where an element lies: offset + sum over the kernel's dims of index*stride,
 * in elements.  A dim that does not vary has stride 0 (the constant); entries
 * from n_dims on are NULL. */
struct access {
	int buffer;
	const struct sym *offset;
	const struct sym *stride[MAX_RANK];
};

/* A load that reads several tensors side by side (KIND_JOIN): point
 * (o, j, i) of a row-major walk over outer, joined and inner dims is element
 * (o, j - begin, i) of the part where begin <= j < begin + length. */
enum { MAX_PARTS = 7 };
struct join_part {
	struct access at;                   /* over its own dims */
	const struct sym *extent[MAX_RANK]; /* of the part */
};
struct lower_join {
	int rank, dim;
	int n;
	struct join_part part[MAX_PARTS];
};

/* A load whose place indices name (gather, x[i]): it is that of the access, and for each
 * index `step` times the number that it has at the point.  Out of bounds, that counts as 0
 * and is a fault of the launch. */
enum { MAX_INDICES = 3 };
struct lower_index {
	struct access at;       /* over the kernel's dims; the buffer has any dtype of ints */
	const struct sym *size; /* of the dim that it names: it is below this, */
	const struct sym *step;
	bool from_end; /* not below -size, and counts from the end below 0; else not below 0 */
	bool known;    /* it is never out of bounds */
};
struct lower_lookup {
	int n;
	struct lower_index index[MAX_INDICES];
};

enum inst_kind {
	INST_LOAD,    /* dst = buffer[access] */
	INST_IMM,     /* dst = imm, or the value of `sym`, converted to dtype */
	INST_OP,      /* dst = op(src...): a pointwise row of ops.def */
	INST_CAST,    /* dst = (dtype)src[0], as Tensor.to does */
	INST_REDUCE,  /* accumulate src[0] into row register dst with reduction op */
	INST_SCAN,    /* dst = src[0] of this point and those before it in the row, joined by op */
	INST_SAVE,    /* keep src[0] for later stages of the same row in `slot` */
	INST_RESTORE, /* dst = what an earlier stage saved in `slot` at this point */
	INST_STORE,   /* buffer[access] = src[0] */
};

struct inst {
	enum inst_kind kind;
	enum op op;            /* INST_OP, INST_REDUCE */
	enum dtype dtype;      /* of dst (STORE, SAVE: of src[0]) */
	int dst;               /* register; -1 for STORE, SAVE */
	int src[3];            /* registers; -1 where unused */
	struct access at;      /* LOAD, STORE; the buffer has the register's dtype */
	double imm_f;          /* IMM of a float dtype */
	int64_t imm_i;         /* IMM of an int or bool dtype */
	const struct sym *sym; /* IMM: the symbolic value, else NULL */
	bool real;             /* IMM of a float dtype: the value is a float's bits */
	int slot;              /* SAVE, RESTORE; else -1 */
	int node;              /* the graph node that it computes, -1: none */
	/* LOAD of a join, in the body of a MAP alone; then `at` has no buffer. */
	const struct lower_join *join;
	struct lower_lookup *lookup; /* LOAD by indices; `at` is where x lies */
};

/* A load of what the access alone says. */
static inline bool inst_loads(const struct inst *inst)
{
	return inst->kind == INST_LOAD && !inst->join && !inst->lookup;
}

enum reg_level { LEVEL_ONE, LEVEL_ROW, LEVEL_POINT };

struct reg {
	enum dtype dtype;
	enum reg_level level;
};

struct stage {
	struct inst *body; /* for each point of the row */
	int n_body;
	struct inst *post; /* once a row, after the body */
	int n_post;
};

enum kernel_form { FORM_MAP, FORM_ROWS, FORM_COLS, FORM_LIBRARY };

struct kernel {
	enum kernel_form form;
	const char *name; /* "fused_add_sin_sum": a C identifier, unique in the graph */
	bool pairs;       /* a COLS, see above */
	int n_dims, n_outer;
	const struct sym *extent[MAX_RANK];
	struct inst *setup; /* once a launch */
	int n_setup;
	struct inst *prologue; /* ROWS, COLS: once a row, before stage 0 */
	int n_prologue;
	struct stage *stages; /* LIBRARY: none */
	int n_stages;
	struct reg *regs;
	int n_regs;
	int n_slots; /* SAVE slots; each holds one row (COLS: reduced points x tile) */
	const enum dtype *slot_dtype;
	/* FORM_LIBRARY, and the product that a kernel begins with; `library` is NULL
	 * and the buffers are -1 elsewhere.  An arg that is an INPUT has its strides.
	 * Its dtype may differ from the result's: the function casts.  A result that
	 * nobody else reads is written where the kernel stores its own, if it may be. */
	enum op op;
	const struct node *library; /* for the arguments that are no tensors */
	int arg_buffer[MAX_ARGS];   /* of each tensor arg, else -1 */
	/* Where its elements lie there: strides over the argument's own dims. */
	struct access arg_at[MAX_ARGS];
	int out_buffer;
	const int *nodes; /* graph nodes computed here, in order */
	int n_nodes;
	const int *lines; /* of the user's source that those come from, each once */
	int n_lines;
	const char *why; /* one line: why it is a kernel of its own; may be empty */
	/* Under the hints of the capture: what its accesses reach, and what its ops
	 * would have moved besides, one kernel each. */
	int64_t read_bytes, written_bytes, saved_bytes;
	bool copies; /* makes row-major what views have put in another order */
};

struct lowered {
	const struct graph *graph; /* borrowed: the graph after the passes */
	struct buffer *buffers;
	int n_buffers;
	struct kernel *kernels; /* in launch order */
	int n_kernels;
	/* The buffer of each graph output.  It may be an INPUT (the caller gives
	 * that very tensor back) or a CONST (to be copied); two outputs may share
	 * one buffer. */
	int *outputs;
	int n_outputs;
};

/* Lowers a graph that passes_run() has been over (no COMPOSITE left; `group`
 * gives the fusion, `reasons` its words for each kernel, or NULL).  Everything lives in `arena`,
 * which must outlive it, as must the graph.  searches: kernels answer them, as a GPU's do.  NULL
 * with *err: INTERNAL (a group without one iteration space, a node that should have been
 * decomposed) or MEMORY.  Interns new expressions in the graph's symtab: no other thread may use g
 * meanwhile. */
struct lowered *lower_graph(const struct graph *g, const int *group, const char *const *reasons,
			    bool searches, struct arena *arena, struct err *err);

/* "map", "rows", "cols", "library". */
const char *lower_form_name(enum kernel_form form);

/* Whether buffer `out`, which the kernel writes, may lie in the memory of `in`, which
 * it reads and nobody needs after it: every element of `in` is read at the point
 * where `out` is written, and for nothing that may be computed after that. */
bool kernel_overwrites(const struct kernel *k, int in, int out);

/* The tile program as text, for tests and for people. */
void lower_print(struct buf *out, const struct lowered *l);

#endif
