/* fusion/runtime/trace.h -- private to runtime/: the host that builds a graph.
 *
 * The VM runs the function once on tensors without memory; each op appends a
 * node.  In-place ops become ordinary nodes: the tensor object then stands for
 * the new node, and what an argument stands for at the end is written back
 * after the kernels (FUNCTIONALISATION).
 *
 * Sizes may be symbols.  Where the program needs more than a symbol gives (a
 * number, or that two are equal), the attempt ends with `restart` set, the fact
 * is noted in the slots, and the capture begins anew.
 */
#ifndef FUSION_RUNTIME_TRACE_H
#define FUSION_RUNTIME_TRACE_H

#include "fusion/base/vec.h"
#include "fusion/capture/vm.h"
#include "fusion/graph/graph.h"
#include "fusion/runtime/compose.h"
#include "fusion/runtime/slots.h"
#include "fusion/runtime/view.h"
#include "fusion/runtime/torch_host.h"

enum { MAX_TRACE_NODES = 100000 };

/* A tensor that the program holds in a global: a graph input beside the
 * arguments, the same in every call. */
struct lifted {
	struct value value; /* a reference */
	int node;           /* its value now */
	bool written;
	int writes;
};

/* A comparison of sizes that the program branched on. */
struct size_condition {
	enum cmpop op;
	const struct sym *a, *b;
	bool outcome;
};

static inline bool sizes_compare(enum cmpop op, int64_t a, int64_t b)
{
	switch (op) {
	case CMP_LT:
		return a < b;
	case CMP_LE:
		return a <= b;
	case CMP_NE:
		return a != b;
	case CMP_GT:
		return a > b;
	case CMP_GE:
		return a >= b;
	default:
		return a == b;
	}
}

struct trace_input { /* what a graph input is read from */
	int slot;    /* -1: not an argument */
	int lifted;  /* -1: not a global */
};

struct trace {
	struct vm_host host;
	struct torch_names *names;
	const struct torch_operators *operators;
	struct slots *slots;
	bool dynamic;

	/* of one attempt */
	struct graph *graph;
	void *serial;          /* tells this attempt's tensors from older ones */
	struct value *tensors; /* by slot: the tensor that stands for it; references */
	int *homes;            /* by symbol: the dim that gives its value */
	int n_homes;
	bool restart; /* the attempt failed, but taught the slots something */
	int n_ops;    /* nodes that FX would call */
	VEC(struct lifted) lifted;
	VEC(struct size_condition) conditions;
	VEC(struct trace_input) inputs;
	int print_line, print_column; /* of the first print(); 0: none */
	struct composer composer;
};

/* Zeroed first; everything is borrowed. */
void trace_init(struct trace *t, struct torch_names *names, const struct torch_operators *operators,
		struct slots *slots, bool dynamic);

/* Runs `callee` on stand-ins for the slots into a new graph in `arena`.  On
 * success *out is the caller's, with tensors of this attempt inside.  On
 * failure trace->restart says whether to try again. */
bool trace_run(struct trace *t, struct arena *arena, struct vm *vm, struct value callee,
	       struct value *out, struct err *err);
void trace_finish(struct trace *t); /* drops what trace_run() left */

/* The node that is a tensor's value now (an input is made at its first use);
 * -1 with *err. */
int trace_node(struct trace *t, struct value tensor, struct err *err);

/* A new tensor value that stands for the node. */
bool trace_wrap(struct trace *t, int node, struct value *out, struct err *err);
bool trace_no_memory(struct err *err); /* always false */

/* Which slot or lifted global a tensor is; -1: neither. */
int trace_slot(const struct trace *t, struct value tensor);
int trace_lifted(const struct trace *t, struct value tensor);

/* trace_size.c: sizes of a tensor value. */
bool trace_shape(struct trace *t, struct value tensor, struct shape *out, enum dtype *dtype,
		 struct err *err);

/* Sizes as numbers of the program. */
struct value trace_size_value(const struct sym *s);
bool trace_size_binary(struct trace *t, enum binop op, struct value a, struct value b,
		       struct value *out, struct err *err);
bool trace_size_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err);
bool trace_size_number(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		       struct err *err);

/* The program needs the value of `s`, or that a and b are equal: notes it and
 * asks for another attempt.  Always false. */
bool trace_pin(struct trace *t, const struct sym *s, struct err *err);
bool trace_equal(struct trace *t, const struct sym *a, const struct sym *b, struct err *err);
/* Pins without asking; true if that changed anything. */
bool trace_pin_quietly(struct trace *t, const struct sym *s);

/* trace_view.c.  A new tensor value for node `node` of a view op, whose first
 * argument is the value `of`. */
bool trace_wrap_view(struct trace *t, struct value of, int node, struct value *out,
		     struct err *err);
/* The node of a view, made anew where its base was written; -1 with *err. */
int trace_view_node(struct trace *t, struct value view, struct err *err);
/* A write through a view: `node` has its new elements. */
bool trace_view_write(struct trace *t, struct value view, int node, struct err *err);
/* How the view lies in the memory of its base, which is *base (borrowed); false
 * where it does not (an expanded copy): then it is a tensor of its own. */
bool trace_view_layout(struct trace *t, struct value view, struct value *base,
		       struct view_layout *out, struct err *err);

/* The tensor object stands for another node from here on. */
bool trace_rewrite(struct trace *t, struct value tensor, int node, bool written);

/* trace_host.c: fills in the callbacks. */
void trace_host_init(struct trace *t);

/* trace.c: one op as the user called it. */
bool trace_op(struct trace *t, enum op op, const char *name, bool inplace,
	      const struct value *values, int n, const struct keywords *kw, struct value *out,
	      struct err *err);

#endif
