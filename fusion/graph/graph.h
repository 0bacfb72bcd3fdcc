/* fusion/graph/graph.h -- the graph: tensor ops on values with dtype and shape.
 *
 * A graph is a list of nodes in an order in which every node comes after its
 * arguments (ids ascend).  Node ids index graph->nodes.  Everything lives in
 * the graph's arena: passes make new nodes and rewire, arena_finish() drops
 * the lot.  A graph is used by one thread at a time.
 *
 * An argument stands as the op's signature (ops.def) names it: tensors by node
 * id, all else as plain values, as in an FX graph.  `x + 0.1` is one add node
 * whose second argument is the float 0.1.
 */
#ifndef FUSION_GRAPH_GRAPH_H
#define FUSION_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/graph/dtype.h"
#include "fusion/graph/op.h"
#include "fusion/graph/sym.h"

enum { MAX_RANK = 8, MAX_ARGS = 8 };

enum arg_kind {
	ARG_NONE,  /* Python None, or an optional argument left out */
	ARG_NODE,  /* .node: a tensor */
	ARG_INT,   /* .sym: an int, perhaps symbolic */
	ARG_FLOAT, /* .f */
	ARG_BOOL,  /* .b */
	ARG_DTYPE, /* .dtype */
	ARG_INTS,  /* .ints, .n: dims or sizes (symbolic entries allowed) */
	ARG_STR,   /* .str */
};

struct arg {
	enum arg_kind kind;
	int n; /* ARG_INTS */
	union {
		int node;
		const struct sym *sym;
		double f;
		bool b;
		enum dtype dtype;
		const struct sym *const *ints;
		const char *str;
	};
};

struct shape {
	int rank;
	const struct sym *size[MAX_RANK];
};

struct node {
	int id;
	enum op op;
	enum dtype dtype;
	struct shape shape;
	int n_args;
	struct arg args[MAX_ARGS]; /* as many as op_info(op)->n_params */
	int line, column;          /* in the user's source; 0: made by a pass */
	const char *name;          /* SSA name for printing, unique in the graph */
	int input;                 /* OP_input: its index in the call, else -1 */
	const struct sym *stride[MAX_RANK]; /* OP_input: in elements */
	const void *data;          /* OP_constant, OP_tensor: elements, row-major */
	bool weak;  /* the value is a wrapped Python number: promotes by category */
};

struct graph {
	struct arena *arena; /* borrowed */
	struct symtab *syms;
	struct node **nodes;
	int n_nodes, cap_nodes;
	int *inputs; /* node ids, by position */
	int n_inputs;
	int *outputs; /* node ids; one node may stand twice */
	int n_outputs;
};

/* NULL when out of memory (every function here that returns a pointer). */
struct graph *graph_create(struct arena *arena);

/* Adds an input with sizes and strides from `shape`, `stride`.  Returns its
 * node id, -1 when out of memory. */
int graph_input(struct graph *g, enum dtype dtype, const struct shape *shape,
		const struct sym *const *stride);

/* Adds a constant tensor (elements copied; sizes are constants). */
int graph_constant(struct graph *g, enum dtype dtype, const struct shape *shape, const void *data);

/* Adds a node: checks the arguments against the op's row, infers dtype and
 * shape.  Returns its id, or -1 with the fault (SHAPE, TYPE, VALUE) worded for
 * the user, at line:column.  `weak` of operands is honoured. */
int graph_add(struct graph *g, enum op op, const struct arg *args, int n_args, int line, int column,
	      struct err *err);

/* Marks the outputs, in order.  Copies the ids. */
bool graph_set_outputs(struct graph *g, const int *ids, int n);

/* A deep copy into another arena (same ids). */
struct graph *graph_copy(const struct graph *g, struct arena *arena);

/* Every invariant: args before uses, ids in range, argument kinds as the row
 * says, dtype and shape as inference gives them, outputs present. */
bool graph_verify(const struct graph *g, struct err *err);

/* One line a node: "%mul: float32[s0, 16] = mul(%x, 1.1)  # line 4". */
void graph_print(struct buf *out, const struct graph *g);

/* Shape helpers. */
bool shape_equal(const struct shape *a, const struct shape *b);
const struct sym *shape_numel(struct symtab *t, const struct shape *s);
void shape_print(struct buf *out, const struct shape *s); /* "[s0, 16]" */

/* NumPy broadcasting of two shapes; SHAPE error naming both when they do not
 * fit.  Two different symbolic sizes do not fit: capture guards them equal
 * first. */
bool shape_broadcast(struct symtab *t, const struct shape *a, const struct shape *b,
		     struct shape *out, struct err *err);

static inline struct arg arg_node(int id)
{
	return (struct arg){ .kind = ARG_NODE, .node = id };
}

#endif
