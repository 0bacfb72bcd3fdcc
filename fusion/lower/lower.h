/* fusion/lower/lower.h -- from a graph to kernels: the tile program.
 *
 * A kernel walks an iteration space and works on TILES: runs of at most
 * TILE_ELEMENTS consecutive points along its vector axis.  Its body is a list
 * of instructions over registers, each holding one tile (or, for `row`
 * registers, one value for the row).  The interpreter executes the list
 * instruction by instruction; the C emitter turns it into loops.  Neither
 * needs to know more of the graph than this file says.
 *
 * Forms:
 *   MAP   dims are all parallel; the vector axis is the flattened space.
 *         One stage, no row registers but loads with no varying stride.
 *   ROWS  dims[0..n_outer) are parallel ("rows"), dims[n_outer..n_dims) are
 *         reduced; the vector axis is the flattened reduced space.  Stages
 *         follow each other for each row: a stage walks the whole row once,
 *         feeding its reductions, then runs its `post` once on row registers.
 *   COLS  the same, but the vector axis is the last outer dim (it is the one
 *         with unit strides): row registers hold a tile of columns, and the
 *         reduced space is walked point by point.
 *   LIBRARY  one node run by its own function (cumsum).
 */
#ifndef FUSION_LOWER_LOWER_H
#define FUSION_LOWER_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/graph/graph.h"

enum { TILE_ELEMENTS = 1024 };

enum buffer_kind {
	BUFFER_INPUT,  /* memory of graph input `index`, with its strides */
	BUFFER_OUTPUT, /* memory of graph output `index`, row-major */
	BUFFER_TEMP,   /* between two kernels, row-major */
	BUFFER_CONST,  /* `data`, row-major */
};

struct buffer {
	enum buffer_kind kind;
	int index;
	int node; /* the graph node whose value it holds */
	enum dtype dtype;
	struct shape shape;
	const struct sym *numel;
	const void *data;
	int first_kernel, last_kernel; /* BUFFER_TEMP: its lifetime */
};

/* Where an element lies: offset + sum over the kernel's dims of index*stride,
 * in elements.  A dim that does not vary has stride 0. */
struct access {
	int buffer;
	const struct sym *offset;
	const struct sym *stride[MAX_RANK];
};

enum inst_kind {
	INST_LOAD,    /* dst = buffer[access] */
	INST_IMM,     /* dst = imm (or `sym`, converted to dtype) for all points */
	INST_OP,      /* dst = op(src...): a pointwise row of ops.def */
	INST_CAST,    /* dst = (dtype)src[0], as Tensor.to does */
	INST_REDUCE,  /* accumulate src[0] into row register dst with reduction op */
	INST_SAVE,    /* keep src[0] for later stages of the same row in `slot` */
	INST_RESTORE, /* dst = what an earlier stage saved in `slot` */
	INST_STORE,   /* buffer[access] = src[0] */
};

struct inst {
	enum inst_kind kind;
	enum op op;          /* INST_OP, INST_REDUCE */
	enum dtype dtype;    /* of dst (STORE, SAVE: of src[0]) */
	int dst;             /* register; -1 for STORE, SAVE */
	int src[3];          /* registers; -1 where unused */
	struct access at;    /* LOAD, STORE */
	double imm_f;        /* IMM of a float dtype */
	int64_t imm_i;       /* IMM of an int or bool dtype */
	const struct sym *sym; /* IMM: the symbolic value, else NULL */
	int slot;            /* SAVE, RESTORE */
	int node;            /* the graph node that it stands for, -1: none */
};

struct reg {
	enum dtype dtype;
	bool row; /* ROWS, COLS: one value for the row (COLS: for each column) */
};

struct stage {
	struct inst *body; /* over the row; row registers in src are splat */
	int n_body;
	struct inst *post; /* once a row, after the body: row registers only */
	int n_post;
};

enum kernel_form { FORM_MAP, FORM_ROWS, FORM_COLS, FORM_LIBRARY };

struct kernel {
	enum kernel_form form;
	const char *name;  /* "fused_add_sin_sum", unique in the graph */
	int n_dims, n_outer;
	const struct sym *extent[MAX_RANK];
	struct inst *prologue; /* ROWS, COLS: row loads and ops before stage 0 */
	int n_prologue;
	struct stage *stages;
	int n_stages;
	struct reg *regs;
	int n_regs;
	int n_slots; /* SAVE slots; each holds one row (COLS: rows x columns) */
	const enum dtype *slot_dtype;
	enum op op;            /* FORM_LIBRARY */
	const struct node *library; /* its node, for the other arguments */
	int arg_buffer[MAX_ARGS];   /* FORM_LIBRARY: buffer of each tensor arg, -1 */
	int out_buffer;             /* FORM_LIBRARY */
	const int *nodes; /* graph nodes computed here, in order */
	int n_nodes;
	const char *why; /* one line: why it is a kernel of its own */
};

struct lowered {
	const struct graph *graph; /* borrowed: the graph after the passes */
	struct buffer *buffers;
	int n_buffers;
	struct kernel *kernels; /* in launch order */
	int n_kernels;
	int *outputs; /* buffer of each graph output (may be an INPUT or CONST) */
	int n_outputs;
};

/* Lowers a graph that passes_run() has been over (no COMPOSITE left; `group`
 * gives the fusion).  Everything lives in `arena`, which must outlive it, as
 * must the graph.  NULL with *err when it cannot be lowered. */
struct lowered *lower_graph(const struct graph *g, const int *group, struct arena *arena,
			    struct err *err);

/* The tile program as text, for tests and for people. */
void lower_print(struct buf *out, const struct lowered *l);

#endif
