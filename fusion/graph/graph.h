/* fusion/graph/graph.h -- the graph: tensor ops on values with dtype and shape.
 *
 * A graph is a list of nodes in an order in which every node comes after its
 * arguments (ids ascend).  Node ids index graph->nodes.  Everything lives in
 * the graph's arena: passes make new nodes and rewire, arena_finish() drops
 * the lot.  A graph is used by one thread at a time.
 *
 * An argument is as the op's signature (ops.def) names it: tensors by node
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
#include "fusion/dtype.h"
#include "fusion/graph/op.h"
#include "fusion/graph/sym.h"

enum { MAX_ARGS = 8 };

enum arg_kind {
	ARG_NONE,  /* Python None, or an optional argument left out */
	ARG_NODE,  /* .node: a tensor */
	ARG_INT,   /* .sym: an int, perhaps symbolic */
	ARG_FLOAT, /* .f */
	ARG_REAL,  /* .sym: a symbol whose value is the bits of a float */
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

struct loop;       /* loop.h */
struct pass_log;   /* passes/passes.h */
struct custom_ops; /* custom.h */

struct node {
	int id;
	enum op op;
	enum dtype dtype;
	struct shape shape;
	/* Operands are converted to `compute` first (but the mask of where);
	 * reductions accumulate in it. */
	enum dtype compute;
	/* All of op_info(op)->n_params: what was left out has its default. */
	int n_args;
	struct arg args[MAX_ARGS];
	int line, column;                   /* in the user's source; 0: nowhere */
	const char *module;                 /* whose call it is part of (vm/call_path.h); NULL */
	const char *name;                   /* SSA name for printing, unique in the graph */
	const char *fx;                     /* FX target name, for reports: op_info(op)->fx unless
					     * graph_set_fx() said otherwise */
	int input;                          /* OP_input: its index in the call, else -1 */
	const struct sym *stride[MAX_RANK]; /* OP_input: in elements */
	int64_t pitch;                      /* pass views: its rows begin so many elements apart,
					     * which may be more than they have; 0: as many */
	bool channels_last;                 /* pass views: its dim 1 is the innermost in memory */
	uint32_t order;                     /* lay.h: how it lies in PyTorch's memory */
	const void *data;                   /* OP_constant, OP_tensor: elements, row-major */
	const struct loop *loop;            /* OP_while_loop: what it runs; shared by copies */
	bool detached;                      /* capture: made while gradients are off */
	int takes_over;                     /* capture: a write without gradients made it of this
					     * node, and that one gets its gradient; -1 */
	int function;  /* capture: the torch.autograd.Function whose result it is; -1 */
	int memory;    /* capture: the node whose memory this one lies in; -1: its own */
	bool merged;   /* capture: it is the one or the other tensor that it chooses from */
	bool in_place; /* capture: it writes what its first argument was */
	int overwrite; /* capture: the last op that wrote into its own memory; -1 */
	bool weak;     /* the value is a wrapped Python number: promotes by category */
};

/* What inference cannot prove of symbolic sizes and takes for granted because it
 * holds at the sizes of the capture.  Capture guards it. */
struct size_fact {
	bool equal; /* a == b, else a >= b */
	const struct sym *a, *b;
};
enum { MAX_FACTS = 8 };

struct graph {
	bool calls;          /* of a GPU, which has calls of its own (pass pattern_match) */
	bool divides_freely; /* ints by 0 give a number, as on GPUs, where PyTorch looks at none */
	struct arena *arena; /* borrowed */
	struct symtab *syms;
	struct node **nodes;
	int n_nodes, cap_nodes;
	int *inputs; /* node ids, by position */
	int n_inputs;
	int *outputs; /* node ids; one node may be there twice */
	int n_outputs;
	const char *module;                /* of the nodes that are added now; in the arena */
	int *name_counts;                  /* by op: how many names it has given */
	const struct sym *conflict[2];     /* see graph_add() */
	struct size_fact facts[MAX_FACTS]; /* what graph_add() took for granted */
	int n_facts;
	enum dtype real;                 /* what floats without a dtype are: the default dtype */
	bool ordered;                    /* torch.are_deterministic_algorithms_enabled() */
	const struct custom_ops *custom; /* of plugins, that nodes may use; NULL: none */
	struct pass_log *log;            /* who watches the passes; NULL: nobody; not copied */
};

/* NULL when out of memory (every function here that returns a pointer). */
struct graph *graph_create(struct arena *arena);

/* Adds an input with sizes and strides from `shape`, `stride` (NULL: row-major)
 * and the name arg<i>.  Returns its node id, -1 when out of memory. */
int graph_input(struct graph *g, enum dtype dtype, const struct shape *shape,
		const struct sym *const *stride);

/* Adds a constant tensor, OP_tensor (elements copied; sizes are constants).
 * Its id, -1 when out of memory. */
int graph_constant(struct graph *g, enum dtype dtype, const struct shape *shape, const void *data);

/* A node to be: an op on arguments, called at a place of the source. */
struct node_spec {
	enum op op;
	const struct arg *args; /* in the order of the signature, keywords too; ARG_NONE where
				 * one is skipped, which then has its default */
	int n_args;
	int line, column; /* 0: nowhere */
};

/* Adds a node: checks the arguments against the op's row, fills in what was
 * left out, infers dtype and shape.  The arguments are copied; an ARG_INT may
 * be given for int[], an int for a float.  Returns the id, or -1 with the fault
 * (SHAPE, TYPE, VALUE, BOUND, MEMORY) worded for the user, at line:column.
 * `weak` of operands is honoured.
 *
 * After a SHAPE error over two sizes of which at least one is symbolic,
 * g->conflict holds the two that would have to be equal (else NULLs): capture
 * may guard them equal and capture again.  After success g->facts holds what
 * the caller must guard. */
int graph_add(struct graph *g, const struct node_spec *spec, struct err *err);

/* The name that reports give to the node's call ("multiply"); copied. */
bool graph_set_fx(struct graph *g, int id, const char *fx);

/* Of a dropout, whose kernel on a GPU loads so much at once where it may. */
enum { DROPOUT_LOAD_BYTES = 16 };

/* Whether the node takes numbers from the run's random sequence: it is computed once,
 * in its place among the others, whether or not anything reads it. */
static inline bool graph_draws(const struct node *n)
{
	return op_draws(n->op) || n->op == OP_dropped ||
	       (n->op == OP_dropout && n->args[2].b && n->args[1].kind == ARG_FLOAT &&
		n->args[1].f > 0);
}

/* While capturing: the node whose memory this one is in, perhaps itself. */
int graph_memory(const struct graph *g, int node);

/* The nodes that are added from here on are of this module; copied, NULL: of none. */
bool graph_set_module(struct graph *g, const char *module);

/* Prints the node as %name from here on (capture: the user's name for an
 * input).  Copied, and changed where an op may take the name. */
bool graph_set_name(struct graph *g, int id, const char *name);

/* Marks the outputs, in order.  Copies the ids. */
bool graph_set_outputs(struct graph *g, const int *ids, int n);

/* For graphs made from parts of others.  A copy of the node at the end, with the same
 * operands.  False when out of memory. */
bool graph_copy_node(struct graph *to, const struct node *from);
/* The node, a copy, gets a name of its own. */
bool graph_rename(struct graph *g, int id);
/* The symbols and the custom ops of a graph, into one that has none.  False when out of
 * memory. */
bool graph_copy_symbols(struct graph *to, const struct graph *from);

/* A deep copy into another arena (same ids). */
struct graph *graph_copy(const struct graph *g, struct arena *arena);

/* The part of a graph that computes the nodes `outputs`, as a graph in `arena`.
 * Nodes that are not `inside` (by id; NULL: all are) become inputs, constants
 * are copied.  (*inputs)[i] is the node of g that input i was.  Symbols
 * keep their indices. */
struct graph *graph_extract(const struct graph *g, const bool *inside, const int *outputs,
			    int n_outputs, struct arena *arena, int **inputs);

/* Every invariant: args before uses, ids in range, argument kinds as the row
 * says, dtype and shape as inference gives them, outputs present. */
bool graph_verify(const struct graph *g, struct err *err);

/* One line a node: "%mul: float32[s0, 16] = mul(%x, 1.1)  # line 4".  Above the first of
 * each module "in GPT/head:Linear", and "in the program" where those of one have ended. */
void graph_print(struct buf *out, const struct graph *g);

/* What inference says of one op: the dtype of the result, the dtype that
 * operands are converted to first, the shape. */
struct op_result {
	enum dtype dtype, compute;
	struct shape shape;
	const struct sym *conflict[2]; /* as graph.conflict; set on failure alone */
	struct size_fact facts[MAX_FACTS];
	int n_facts;
};

/* Dtype and shape of an op on complete, checked arguments (a node's args).
 * False with SHAPE, TYPE, VALUE, BOUND or MEMORY.  Allocates symbols only. */
bool op_infer(const struct graph *g, enum op op, const struct arg *args, struct op_result *out,
	      struct err *err);

/* The dims that a node reduces over, bit i for dim i of its first argument:
 * for KIND_REDUCE and for composites with a `dim`; None and () mean all. */
unsigned node_reduced(const struct graph *g, const struct node *n);

/* Its keepdim argument; false where it has none. */
bool node_keepdim(const struct node *n);

/* The argument under that name in the signature; NULL where there is none. */
const struct arg *node_arg(const struct node *n, const char *name);

/* For passes: puts a node, its arguments already in the list, at the end under
 * a new id.  -1 when out of memory. */
int graph_append(struct graph *g, struct node *n);

bool arg_equal(const struct arg *a, const struct arg *b);

/* Shape helpers. */
bool shape_equal(const struct shape *a, const struct shape *b);
const struct sym *shape_numel(struct symtab *t, const struct shape *s);
void shape_print(struct buf *out, const struct shape *s); /* "[s0, 16]" */

/* NumPy broadcasting of two shapes; SHAPE error naming both when they do not
 * fit.  Two different symbolic sizes do not fit: capture guards them equal
 * first. */
bool shape_broadcast(struct symtab *t, const struct shape *a, const struct shape *b,
		     struct shape *out, struct err *err);

/* The first pair of sizes, from the last dim on, that stops a and b from
 * broadcasting; false where there is none. */
bool shape_conflict(const struct shape *a, const struct shape *b, const struct sym *pair[2]);

static inline struct arg arg_none(void)
{
	return (struct arg){ .kind = ARG_NONE };
}
static inline struct arg arg_node(int id)
{
	return (struct arg){ .kind = ARG_NODE, .node = id };
}
static inline struct arg arg_sym(const struct sym *sym)
{
	return (struct arg){ .kind = ARG_INT, .sym = sym };
}
static inline struct arg arg_int(const struct graph *g, int64_t value)
{
	return (struct arg){ .kind = ARG_INT, .sym = sym_const(g->syms, value) };
}
static inline struct arg arg_float(double f)
{
	return (struct arg){ .kind = ARG_FLOAT, .f = f };
}
static inline struct arg arg_real(const struct sym *sym)
{
	return (struct arg){ .kind = ARG_REAL, .sym = sym };
}
static inline struct arg arg_bool(bool b)
{
	return (struct arg){ .kind = ARG_BOOL, .b = b };
}
static inline struct arg arg_dtype(enum dtype dtype)
{
	return (struct arg){ .kind = ARG_DTYPE, .dtype = dtype };
}
static inline struct arg arg_ints(const struct sym *const *ints, int n)
{
	return (struct arg){ .kind = ARG_INTS, .ints = ints, .n = n };
}
static inline struct arg arg_str(const char *str)
{
	return (struct arg){ .kind = ARG_STR, .str = str };
}

#endif
