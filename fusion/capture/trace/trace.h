/* fusion/capture/trace/trace.h -- private to capture/: the host that builds a graph.
 *
 * The VM runs a piece of the program once on stand-ins; each op appends a node.
 * In-place ops become ordinary nodes: the tensor object then stands for the new
 * node, and what a source's tensor stands for at the end is written back after
 * the kernels (FUNCTIONALISATION).
 *
 * Where the program needs more than the capture knows, the attempt ends: with
 * `restart` set where a fact was noted that helps the next one (a size is
 * pinned, two are equal), or with a BREAK noted where no attempt gets further.
 */
#ifndef FUSION_CAPTURE_TRACE_TRACE_H
#define FUSION_CAPTURE_TRACE_TRACE_H

#include "fusion/base/vec.h"
#include "fusion/vm/format.h"
#include "fusion/base/arena.h"
#include "fusion/lang/lang.h"
#include "fusion/vm/vm.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/symreal.h"
#include "fusion/torch/autocast.h"
#include "fusion/torch/decomposition.h"
#include "fusion/mode.h"
#include "fusion/report/report.h"
#include "fusion/capture/sources/sources.h"
#include "fusion/tensor/view.h"
#include "fusion/torch/torch_host.h"
#include "fusion/eager/autograd.h"

enum { MAX_TRACE_NODES = 100000 };

/* A tensor that no source leads to (a constant of the prelude): a graph input
 * beside the sources, the same in every call. */
struct lifted {
	struct value value; /* a reference */
	int node;           /* its value now */
	bool written;
	int writes;
};

/* A comparison of numbers that are symbols: a with b, or the floats x with y; or
 * (`fits`) that `a` is computed in 64 bits: Python's ints have more, these raise. */
struct size_condition {
	bool fits;
	enum cmpop op;
	const struct sym *a, *b;     /* NULL: x and y */
	const struct symreal *x, *y; /* y NULL: x is no further from 0 than `most` */
	double most;
	bool outcome; /* at the capture */
};

static inline bool floats_compare(enum cmpop op, double a, double b)
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

struct trace_input {                /* what a graph input is read from */
	int source;                 /* -1: no source */
	int lifted;                 /* -1: a source */
	const struct symreal *real; /* a float that is computed; NULL: none */
};

/* Where a symbol's value comes from. */
struct trace_home {
	int dim;    /* of sources->dims; -1: an int */
	int source; /* of the int */
};

/* The node by which tensor ops take a symbolic float. */
struct float_operand {
	int node, operand;
};

/* A global as the piece sees it. */
struct variables_global {
	int index; /* of the VM's globals */
	int source;
	struct value stand_in; /* a reference; LAZY until it is read; UNSET: none */
	bool written;
};

/* What the .grad of a tensor is since the piece set it. */
struct traced_grad {
	struct value of, grad; /* references; None: none */
};

/* A value of a leaf since the piece wrote to it without record, or made it. */
struct leaf_value {
	int node;
	struct value of; /* the tensor: a reference */
};

/* A call of torch.autograd.Function that has begun: forward() is next. */
struct traced_context {
	struct value ctx;  /* a reference */
	int begin, n_ops;  /* nodes, and those of FX, before it */
	const int *inputs; /* the nodes of its tensors */
};

/* One that the graph holds.  Its nodes are the RESULTS, and what its backward() made of SEEDS,
 * which stand for their gradients: nothing else reads those (backward/function.h).
 */
struct traced_function {
	int n_inputs, n_results, n_saved;
	const int *inputs;  /* the nodes of its tensors */
	const int *saved;   /* of what ctx has saved */
	const int *results; /* -1: it has no gradient */
	const int *seeds;   /* by result */
	const int *grads;   /* by input: what backward() gave; -1: None */
	int from;           /* the first result that has a gradient */
	int first, end;     /* of the seeds and what is made of them; -1: backward() runs */
};

/* A side of a branch on a tensor: its nodes, and when the program would have taken it.  What a
 * gradient has there is none of the program's elsewhere. */
struct traced_side {
	int first, end;
	int condition; /* a node: a bool of 0 dims */
	bool holds;    /* the side is for where that holds */
};

/* Why the attempt could not go on, and where. */
struct trace_break {
	enum break_id id; /* BREAK_NONE: it could */
	char subject[96];
	char message[512];             /* instead of the table's; may be empty */
	VEC(struct fusion_line) stack; /* innermost first; functions are the program's */
	int column, end_column;
	int depth; /* of its frame: 1 is the outermost of the piece; 0: none of them */
};

/* A branch that cannot be followed both ways, or only the one way: outlasts attempts. */
struct trace_refused_branch {
	const struct lang_inst *inst;
	char why[160];
};

/* A tensor that is one of two objects: an in-place op on it is one on them. */
struct trace_choice {
	struct value merged, condition, of[2]; /* references */
	const struct lang_inst *inst;
};

struct trace;

/* What a body may do. */
struct trace_body {
	bool writes_tensors; /* write to older tensors */
	int tensor_birth;    /* those born before are older */
	bool native;         /* whether policy native looks at what it does, too */
};

/* What a trace asks of control flow on tensors: control/control.h. */
struct trace_control {
	/* vm_host.branch, vm_host.any */
	bool (*branch)(void *self, struct vm *vm, struct frame *f, bool *handled, struct err *err);
	bool (*any)(void *self, const struct any_call *call, bool *handled, struct value *out,
		    struct err *err);
	/* The call args->at[0](*rest), whose callee is a body of torch's. */
	bool (*body)(struct trace *t, const struct trace_body *body, const struct arguments *args,
		     struct value *out, struct err *err);
	/* An in-place op on the tensor.  False with *err: it may mean another one. */
	bool (*may_write)(struct trace *t, struct value tensor, struct err *err);
	/* A tensor object is about to stand for another node; false when out of memory. */
	bool (*note_write)(struct trace *t, struct value tensor);
	/* A new stand-in: open branches must know what it began with. */
	bool (*note_stand_in)(struct trace *t, struct value stand_in);
	/* Where the innermost open branch is; one is open. */
	const struct lang_inst *(*innermost)(const struct trace *t);
	/* Why the loop is none of the graph; NULL: it has not been tried, or is. */
	const char *(*loop_refusal)(const struct trace *t, const struct lang_inst *inst);
};

struct gradient_sweep; /* backward/sweep.h */
struct traced_function;

/* What a trace and its sweeps ask of torch.autograd.Function: backward/function.h. */
struct trace_functions {
	/* (ctx, tensors): forward() is next */
	bool (*begin)(struct trace *t, const struct arguments *args, struct err *err);
	/* What torch._C._function is given. */
	bool (*end)(struct trace *t, const struct arguments *args, struct err *err);
	/* A tensor is about to be written.  False with *err: a Function gave a view of it. */
	bool (*may_write)(struct trace *t, struct value tensor, struct err *err);
	/* Adds what backward() makes of the nodes `seeds`, by result.  made[i] is the gradient of
	 * input i: -1, it has none, or none is asked for. */
	bool (*replay)(struct gradient_sweep *s, const struct traced_function *f, const int *seeds,
		       int *made);
};

/* What a trace asks of backward passes: backward/backward.h. */
struct trace_backward {
	/* backward(), torch.autograd.backward(), torch.autograd.grad().  False, with a break or
	 * *err, where eager has to run it. */
	bool (*call)(struct trace *t, const struct native *f, const struct arguments *args,
		     struct value *out, struct err *err);
	/* Whether each node of the graph has a gradient with respect to the inputs `wanted`; in
	 * the graph's arena.  `whole`: or with respect to leaves that the piece makes, or had
	 * one, that a backward pass of the piece has used up.  NULL with *err. */
	bool *(*tracked)(struct trace *t, const struct graph *g, const bool *wanted, bool whole,
			 struct err *err);
	const struct trace_functions *functions;
};

struct autograd; /* autograd.h */
struct cond;     /* cond.h */
struct while_loop_note;
struct traced_print; /* trace.h */
struct text_gap;     /* trace.h */
struct deferred_text;

struct trace {
	const struct trace_control *control;
	const struct trace_backward *backward;
	struct vm_host host;
	struct torch_names *names;
	const struct torch_operators *operators;
	struct sources *sources;
	struct memory *memory;
	struct vm *vm;
	enum fusion_mode mode; /* static, dynamic or auto */

	bool no_leaves;    /* what makes a leaf ends the piece */
	bool no_functions; /* so does a torch.autograd.Function that has a gradient */
	bool native;       /* the policy: branches on tensors are followed both ways */
	bool in_round;     /* the piece is what follows a break in a round of a for loop */
	VEC(struct trace_refused_branch) refused;
	VEC(struct while_loop_note) loops;

	/* of one attempt */
	struct frame *base;           /* the outermost frame of the piece: a stand-in */
	struct frame *below;          /* the real one that called what it stands for; NULL */
	struct graph *graph;          /* in the entry's arena */
	void *serial;                 /* tells this attempt's tensors from older ones */
	VEC(struct trace_home) homes; /* by symbol */
	bool restart;                 /* the attempt failed, but taught the sources something */
	int n_ops;                    /* nodes that FX would call */
	int n_number_ops;             /* nodes of FX that read symbols and compute with them */
	bool computes_sizes;          /* the program did something with a symbol: nodes of FX too */
	bool specialises;             /* ... of which this attempt, or one before, pinned one */
	bool told_of_capture;         /* it asked torch.compiler.is_compiling(): eager differs */
	VEC(struct lifted) lifted;
	VEC(struct size_condition) conditions;
	VEC(int) asserts; /* nodes of one element that the program asserts */
	VEC(struct trace_input) inputs;
	VEC(struct variables_global) globals;
	VEC(struct traced_grad) grads;
	VEC(struct traced_grad) hooks; /* `grad`: the list of those that the piece has added */
	VEC(struct value) leaves;      /* made by the piece: references */
	VEC(struct leaf_value) leaf_values;
	VEC(struct traced_side) sides; /* those inside of another before it */
	VEC(struct traced_context) contexts;
	VEC(struct traced_function) functions;
	VEC(struct value) function_views; /* results that were views, and their bases: references */
	VEC(int) spent;                   /* nodes that a backward pass of the piece has used up */
	bool unrecorded;                  /* a write goes through x.detach() or x.data */
	int writer;                       /* the node of the in-place op under way */
	VEC(struct float_operand) float_operands;
	struct pointers reals, stand_ins; /* objects from outside and their stand-ins: sources */
	struct cond *cond;                /* the innermost that is open */
	struct cond *bodies;              /* calls of bodies under way, the innermost first */
	VEC(struct trace_choice) choices;
	VEC(struct traced_print) prints;
	VEC(struct text_gap) gaps;
	VEC(struct deferred_text) texts;
	size_t text_bytes; /* of all of them */
	bool failed;       /* out of memory, where nothing could say so */
	unsigned birth;    /* objects of the heap that are younger belong to the attempt */
	int n_tensors, n_writes;
	unsigned char derivatives; /* as torch_modes.derivatives, now */
	unsigned char function_modes_first, function_modes_at_stop;
	bool grad_off;            /* the grad mode now */
	const struct node *ruled; /* whose gradient is made: what that adds is of its module;
				   * NULL: the program runs */
	bool erased_marks;        /* two that set it were next to each other: no nodes */
	bool grad_off_first;      /* ... outside the block or function that the piece begins in */
	bool grad_off_at_stop;    /* ... where it ends */
	unsigned autocast_mode;   /* now; the marks of a piece do not change it */
	struct autocast autocast;
	struct autograd *autograd; /* the session's */
	struct trace_break brk;
	struct decomposer decomposer;
};

/* Zeroed first; everything is borrowed. */
void trace_init(struct trace *t, struct torch_names *names, const struct torch_operators *operators,
		struct sources *sources, struct memory *memory, enum fusion_mode mode);

/* A new graph in `arena`; forgets what the last attempt did. */
bool trace_begin(struct trace *t, struct arena *arena, struct vm *vm);
void trace_finish(struct trace *t);

/* The node that is a tensor's value now (an input is made at its first use);
 * -1 with *err. */
int trace_node(struct trace *t, struct value tensor, struct err *err);

/* A new tensor value that stands for the node. */
bool trace_wrap(struct trace *t, int node, struct value *out, struct err *err);

/* Always false. */
static inline bool trace_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while capturing the call");
}

/* Which source or lifted tensor a tensor is; -1: neither. */
int trace_source(const struct trace *t, struct value tensor);
int trace_lifted(const struct trace *t, struct value tensor);

/* Notes why and where, seen from the frame f, the capture cannot go on.  `subject` as session_break
 * has it; may be NULL. */
void trace_break_at(struct trace *t, enum break_id id, const char *subject, const struct frame *f);

/* The same of the innermost frame.  Always false, with BREAK. */
static inline bool trace_break(struct trace *t, enum break_id id, const char *subject,
			       struct err *err)
{
	trace_break_at(t, id, subject, t->vm->frame);
	return err_set(err, ERR_BREAK, "the graph ends here");
}

/* trace/size.c: sizes of a tensor value. */
bool trace_shape(struct trace *t, struct value tensor, struct shape *out, enum dtype *dtype,
		 struct err *err);

/* Sizes as numbers of the program. */
struct value trace_size_value(const struct sym *s);
bool trace_size_binary(struct trace *t, enum binop op, struct value a, struct value b,
		       struct value *out, struct err *err);
bool trace_size_unary(struct trace *t, enum unop op, struct value a, struct value *out,
		      struct err *err);

/* An int, bool or symbolic size; NULL for all else, and when out of memory. */
const struct sym *trace_size(struct trace *t, struct value v);

/* An int of the call as it is: no node of FX reads it, as one reads a size. */
static inline bool trace_is_of_call(const struct trace *t, struct value v)
{
	return v.kind == VALUE_SYMINT && v.sym->kind == SYM_VAR &&
	       t->homes.at[v.sym->value].dim < 0;
}

/* The program needs the plain number: it is specialised.  False, and another
 * attempt is asked for. */
bool trace_pin_value(struct trace *t, struct value v, struct err *err);
bool trace_pin_both(struct trace *t, struct value a, struct value b, struct err *err);
bool trace_pin_value_quietly(struct trace *t, struct value v); /* as trace_pin_quietly() */

/* trace/size.c: what a comparison says is a SYMBOOL until it is asked for;
 * then it is decided at the sizes of the capture, and guarded. */
bool trace_size_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err);
bool trace_size_truth(struct trace *t, struct value a, bool *out, struct err *err);
/* A SYMBOOL becomes True or False. */
bool trace_settle(struct trace *t, struct value *v, struct err *err);
bool trace_size_not(struct trace *t, struct value a, struct value *out, struct err *err);
/* Guards that a float that is computed stays within +-most; pins where it is not. */
bool trace_guard_most(struct trace *t, const struct symreal *x, double most, struct err *err);
bool size_condition_holds(const struct size_condition *c, const int64_t *vars);

/* The program needs the value of `s`, or that a and b are equal: notes it and
 * asks for another attempt.  Always false. */
bool trace_pin(struct trace *t, const struct sym *s, struct err *err);
bool trace_equal(struct trace *t, const struct sym *a, const struct sym *b, struct err *err);
/* Pins without asking; true if that changed anything. */
bool trace_pin_quietly(struct trace *t, const struct sym *s);

/* trace/size.c: numbers from outside that are no constants. */
bool trace_note_number(struct trace *t, int source); /* whether it is a symbol; false: no memory */
bool trace_symbolic_number(struct trace *t, int source, struct value *out, struct err *err);
int trace_float_operand(struct trace *t, struct value v, struct err *err); /* a node; -1 */

/* trace/real.c: floats that are computed of symbols. */
static inline bool trace_is_real(struct value v)
{
	return v.kind == VALUE_FLOAT || v.kind == VALUE_SYMREAL || v.kind == VALUE_SYMFLOAT;
}
/* A number that is not deferred as a float's expression; NULL when out of memory. */
const struct symreal *trace_real(struct trace *t, struct value v);
struct value trace_real_value(const struct symreal *r);
int trace_real_node(struct trace *t, const struct symreal *r, struct err *err); /* -1 */
bool trace_real_binary(struct trace *t, enum binop op, struct value a, struct value b,
		       struct value *out, struct err *err);

/* Callbacks of the host. */
bool trace_math(void *self, const struct native *f, const struct arguments *args, bool *known,
		struct value *out, struct err *err);
bool trace_extreme(void *self, bool least, const struct value *two, bool *known, struct value *out,
		   struct err *err);
bool trace_cast(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		struct err *err);

/* deferred.c: numbers that the graph computes, read when it has run (policy native).
 * A SYMFLOAT is one where it does not come from outside as it is. */
static inline bool trace_is_deferred(const struct trace *t, struct value v)
{
	return v.kind == VALUE_DEFERRED_INT || v.kind == VALUE_DEFERRED_BOOL ||
	       (v.kind == VALUE_SYMFLOAT && t->native && t->graph->nodes[v.i]->input < 0);
}
/* A tensor's number, as item() (kind UNSET), int(), float() or bool() give it.
 * *known false: it is not followed. */
bool deferred_read(struct trace *t, enum value_kind kind, struct value a, bool *known,
		   struct value *out, struct err *err);
/* Its elements in nested lists, as tolist() gives them. */
bool deferred_list(struct trace *t, struct value tensor, bool *known, struct value *out,
		   struct err *err);
/* int(), float(), bool() of a deferred number; `not` of it. */
bool deferred_cast(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		   struct err *err);
bool deferred_not(struct trace *t, struct value a, struct value *out, struct err *err);
bool deferred_binary(struct trace *t, enum binop op, struct value a, struct value b,
		     struct value *out, struct err *err);
bool deferred_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
		      struct value *out, struct err *err);
bool deferred_invert(struct trace *t, struct value a, struct value *out, struct err *err);
/* deferred.c: trace_math() and trace_extreme() of deferred numbers; vm_host.pick */
bool deferred_math(struct trace *t, const struct native *f, const struct arguments *args,
		   bool *known, struct value *out, struct err *err);
bool deferred_extreme(struct trace *t, bool least, const struct value *two, bool *known,
		      struct value *out, struct err *err);
bool deferred_pick(void *self, const struct host_choice *c, bool *known, struct value *out,
		   struct err *err);
bool deferred_full(struct trace *t, const struct op_call *call, bool *known, struct value *out,
		   struct err *err);
/* One of two numbers of one type, by a tensor's truth; *known false: they are not. */
bool deferred_choose(struct trace *t, const struct host_choice *c, bool *known, struct value *out,
		     struct err *err);
/* An operation failed that had one of these among its operands: then it is a
 * break there, and true. */
bool deferred_fault(struct trace *t, struct err *why);
/* A number of any of these types as a node (-1 with *err), and a node as a number;
 * which type of Python's it is (UNSET: none). */
int deferred_node(struct trace *t, struct value v, struct err *err);
struct value deferred_value(const struct trace *t, int node);
enum value_kind deferred_type(struct value v);
/* The graph's answer must be `expected`, or eager runs the piece. */
bool deferred_expect(struct trace *t, int node, bool expected, struct err *err);

/* trace/view.c.  A new tensor value for node `node` of a view op, whose first
 * argument is the value `of`. */
bool trace_wrap_view(struct trace *t, struct value of, int node, struct value *out,
		     struct err *err);
/* The node of a view, made again where its base was written; -1 with *err. */
int trace_view_node(struct trace *t, struct value view, struct err *err);
/* Whether the base of a view was written since the view was made. */
bool trace_view_stale(const struct trace *t, struct value view);
/* A write through a view: `node` has its new elements. */
bool trace_view_write(struct trace *t, struct value view, int node, struct err *err);
/* How the view lies in the memory of its base, which is *base (borrowed); false
 * where it does not (an expanded copy): then it is a tensor of its own. */
bool trace_view_layout(struct trace *t, struct value view, struct value *base,
		       struct view_layout *out, struct err *err);

/* Whether the piece made it as an expanded tensor that is no view, as the gradient of a sum is:
 * how it lies in what it repeats. */
bool trace_expanded(const struct trace *t, struct value tensor, struct view_layout *out);
/* trace/grad.c.  Whether it is the program's, and several of its elements are one in memory. */
bool trace_repeats(const struct trace *t, struct value tensor);
/* The tensor object stands for another node from here on. */
bool trace_rewrite(struct trace *t, struct value tensor, int node, bool written);

/* scaled.c: *done where alpha= or value= of the call is a symbol: it is captured as several. */
bool trace_scaled(struct trace *t, const struct op_call *call, bool *done, struct value *out,
		  struct err *err);

/* trace/mark.c.  The grad mode changes: a node of FX, which computes nothing. */
bool trace_mark_grad(struct trace *t, bool enabled, struct err *err);
bool trace_mark_inference(struct trace *t, bool enters, struct err *err);
bool trace_mark_call(struct trace *t, const char *fx, struct err *err); /* any other of FX alone */
/* Calls that are several nodes to FX: marks for all but the last, whose name goes to *name. */
bool trace_mark_parts(struct trace *t, enum op op, bool inplace, const struct keywords *kw,
		      const char **name, struct err *err);
/* Whether a function of the prelude is being run that is one node to FX. */
bool trace_within_call(const struct trace *t);
/* The calls of autocast: so are its beginning and end. */
bool trace_autocast(struct trace *t, const struct native *f, const struct value *args, int n,
		    struct value *out, struct err *err);
/* Where a piece begins in the frame `real`, called from `base` on, and where it ends. */
bool trace_marks_begin(struct trace *t, const struct frame *real, const struct frame *base,
		       struct err *err);
bool trace_marks_end(struct trace *t, bool stopped, struct err *err);

/* The truth of a tensor that the instruction asserts: *held, and the graph computes
 * it.  Whether it holds is looked at when that has run. */
bool trace_assert(struct trace *t, struct value a, bool *held, struct err *err);

/* trace/grad.c.  x.requires_grad and its kin: *known false for another name. */
bool trace_grad_attr(struct trace *t, struct value tensor, const char *name, bool *known,
		     struct value *out, struct err *err);
/* Leaves that the piece makes, and backward passes, are of the graph: by policy native, and
 * inside a derivative of torch.func. */
static inline bool trace_differentiates(const struct trace *t)
{
	return t->native || t->derivatives > 0;
}
/* trace/grad.c: whether what is computed now gets gradients. */
static inline bool trace_records(const struct trace *t)
{
	return t->autograd->recording && !t->grad_off;
}

/* trace/grad.c: which nodes so far require a gradient, in the graph's arena; NULL with *err. */
bool *trace_tracked(struct trace *t, struct err *err);
bool trace_grad_call(struct trace *t, const struct native *f, const struct arguments *args,
		     struct value *out, struct err *err);
bool trace_makes_leaf(const struct trace *t,
		      const struct arguments *args); /* torch.zeros(3, requires_grad=True) */
bool trace_requires_grad(struct trace *t, struct value tensor, struct value on, struct value *out,
			 struct err *err);
bool trace_store_attr(void *self, struct value tensor, const char *name, struct value v,
		      struct err *err);
/* The .grad of a tensor now, borrowed; another one.  A break where it is not followed. */
bool trace_read_grad(struct trace *t, struct value tensor, struct value *out, struct err *err);
bool trace_write_grad(struct trace *t, struct value tensor, struct value grad, struct err *err);
void trace_forget_grads(struct trace *t);

/* trace/grad.c: leaves, tensors that require a gradient and were not computed.  By node of
 * g, a graph of the piece: -1, or the leaf whose value it is since it was made or written;
 * numbers below g->n_inputs are inputs, others t->leaves.  In its arena; NULL when out of
 * memory. */
int *trace_leaf_map(const struct trace *t, const struct graph *g);
bool trace_is_leaf(const struct trace *t, struct value tensor);
bool trace_shows_leaf(const struct trace *t, struct value tensor); /* its text says so */
bool trace_is_parameter(const struct trace *t, struct value tensor);
/* Whether it requires a gradient, by what the piece has done; guarded. */
bool trace_requires(struct trace *t, struct value tensor, bool *out, struct err *err);
/* Whether split(), chunk() or unbind() gave it: see autograd_note_part(). */
bool trace_is_part(const struct trace *t, struct value tensor);

/* What eager does alone, for it raises an error or keeps what the piece does not: a write to a
 * leaf, or a view of one, where gradients are recorded; one that makes a detached view require a
 * gradient; an op on parts of split(), the first of which it may write; one on arguments that
 * require a gradient which it has none for. */
bool trace_check_grads(struct trace *t, enum op op, bool inplace, const struct arguments *call,
		       const struct arg *args, struct err *err);

/* *node is what lies in the memory of `before` from now on (-1: that of none); `written`:
 * by an op, t->writer.  False when out of memory. */
bool trace_note_memory(struct trace *t, int before, int *node, bool written);
/* What an in-place op without a gradient leaves, as zero_(), requires one where the tensor
 * did: *result, made of `before` too. */
bool trace_keep_history(struct trace *t, enum op op, int before, int *result, struct err *err);
/* The same for a view, where its base was written. */
bool trace_note_view(struct trace *t, struct value view, int *node);
/* requires_grad of a tensor of the piece (policy native); a break where it is not followed. */
bool trace_make_leaf(struct trace *t, struct value tensor, struct err *err);
/* A leaf that requires a gradient, as it came: for autocast. */
bool trace_keeps_cast(void *self, struct value tensor);

/* trace/host.c: fills in the callbacks. */
void trace_host_init(struct trace *t);

/* trace.c: one op as the user called it. */
bool trace_op(struct trace *t, const struct op_call *call, struct value *out, struct err *err);

/* variables.c: the objects of the program, copied as they are read.  A LAZY value
 * is the number of a source. */
bool variables_lazy(struct trace *t, int source, struct value *out);
bool variables_realize(void *self, struct value *place, struct err *err);
bool variables_read(struct trace *t, int source, struct value *out, struct err *err); /* borrowed */
bool variables_load_global(void *self, int index, const char *name, struct value real,
			   struct value *out, struct err *err);

bool variables_whole(void *self, struct value o, struct err *err);

/* An instance from outside has no attribute of that name: guarded. */
bool variables_absent(void *self, struct value o, const char *name, struct err *err);
bool variables_store_global(void *self, int index, const char *name, struct value v,
			    struct err *err);
bool variables_too_many(struct trace *t, struct err *err); /* sources; always false */
/* A function without attributes stands for itself: its first one ends the graph.  What becomes of
 * those of a tensor on one side of a branch is not followed. */
bool variables_may_store(void *self, struct value of, struct err *err);
/* The source that an object of the capture stands for; -1: it is new. */
static inline int variables_source(const struct trace *t, struct value stand_in)
{
	return value_counted(stand_in) ? pointers_get(&t->stand_ins, stand_in.object) : -1;
}

bool variables_is_sparse(struct value v); /* a tensor of torch.sparse */

/* The stand-in for a source that is a cell of a frame under capture. */
bool variables_claim(struct trace *t, int source, struct value stand_in);

/* trace/view.c: tensors from outside that share memory. */

/* Of tensors of which one is written, once an attempt is through. */
enum trace_overlap {
	OVERLAP_NONE,    /* or the attempt knew of it */
	OVERLAP_COVERED, /* sources are views of one another: the next attempt knows */
	OVERLAP_UNKNOWN, /* no tensor covers the others */
};
enum trace_overlap overlap_find(struct trace *t);

/* The stand-in of a source that is a view of another one. */
bool overlap_stand_in(struct trace *t, int source, struct value *out, struct err *err);

/* ---- branches */

/* Why the branch is not followed both ways; NULL: it has not been tried. */
const char *trace_branch_refusal(const struct trace *t, const struct lang_inst *inst);

/* The next attempt ends the graph at the branch.  Always false. */
bool trace_refuse_branch(struct trace *t, const struct lang_inst *inst, const char *why,
			 struct err *err);

/* The choice that a tensor came of; NULL: it is itself. */
const struct trace_choice *trace_choice_of(const struct trace *t, struct value tensor);

bool trace_is_single(struct trace *t, struct value tensor); /* one element, whatever the sizes */

/* Of the arguments of a dropout: whether it draws.  A dropout whose mask is drawn by an op
 * of its own, which can be kept: nodes for it, the last one; -1 with *err. */
bool trace_dropout_draws(const struct arg *args);
int trace_dropout_mask(struct graph *g, const struct arg *given, int n, int line, int column,
		       struct err *err);

/* ---- which locals a frame still needs */

/* live[i]: local i may be read from instruction `inst` on, before it is stored
 * to.  In `arena`; NULL when out of memory. */
const bool *live_locals(const struct code *code, int inst, struct arena *arena);

/* Whether a local may be without a value at instruction `inst`: on some path no store comes
 * before it.  True, too, when out of memory. */
bool local_may_be_unset(const struct code *code, int inst, int local);

/* |number| < most, or eager runs the piece: no NaN either. */
bool deferred_within(struct trace *t, int node, double most, struct err *err);

/* ---- Text that shows what the graph computes.
 *
 * Policy native.  The text of a tensor, or of a number that the graph computes,
 * does not end the graph.  While capturing it is a text with GAPS; each is a
 * value, and how it is shown.  What the piece leaves, and what it prints, is
 * filled in when the graph has run.
 *
 * A text that is another one on each side of a branch is one gap: a choice. */

enum { MAX_GAPS = 10000, MAX_TEXT_BYTES = 1 << 20, MAX_TEXTS_BYTES = 16 << 20 };

enum gap_kind {
	GAP_STR,    /* str(value) */
	GAP_REPR,   /* repr(value) */
	GAP_FORMAT, /* format(value, spec) */
	GAP_CHOICE, /* one of two texts */
};

struct text_gap {
	enum gap_kind kind;
	struct value value; /* a reference; CHOICE: a DEFERRED_BOOL */
	struct value of[2]; /* CHOICE: references */
	bool leaf;          /* of a tensor: it is one that requires a gradient */
	bool is_parameter;
	const struct format_spec *spec;
	const struct lang_inst *branch; /* CHOICE: where the sides begin */
};

struct deferred_text {
	const char *bytes; /* in the graph's arena */
	size_t len;
	bool filled; /* it is not empty, whatever the gaps turn out to be */
};

/* One of two texts. */
bool deferred_text_choose(struct trace *t, const struct host_choice *c,
			  const struct lang_inst *branch, struct value *out, struct err *err);
/* The program needs it now: pins what numbers of the call it shows, gives up a
 * branch, or is a break.  Always false. */
bool deferred_text_need(struct trace *t, struct value v, struct err *err);
void deferred_text_forget(struct trace *t); /* at an attempt's end */

void deferred_text_host(struct vm_host *host); /* fills in what is about text */

/* As the entry keeps it: `gaps` in order of their places, without values. */
struct entry_text {
	const char *bytes;
	size_t len;
	const struct text_gap *gaps;
	int n_gaps;
};
const struct entry_text *deferred_text_keep(const struct trace *t, struct value v,
					    const struct text_gap **gaps);
/* Appends what the gap shows of the value. */
bool deferred_text_show(const struct text_gap *gap, struct value v, struct autograd *a,
			struct vm *vm, struct buf *text);

/* ---- print() inside a piece.
 *
 * Policy native: print() does not end the graph.  Its text is made while
 * capturing, with gaps for what the graph computes (trace.h); when the graph
 * has run, the texts are written, in order, and only where the side of a branch
 * that one is in was taken. */

enum { MAX_PRINTS = 10000 };

struct traced_print {
	struct value text; /* a reference: STR or DEFERRED_TEXT */
	int condition;     /* a bool node; -1: always */
};

/* Of the host.  false: print() is a break. */
static inline bool prints_may(const struct trace *t)
{
	return t->native && t->prints.len < MAX_PRINTS;
}

bool prints_add(struct trace *t, const char *text, size_t len);

/* Forgets those from number n on. */
void prints_drop(struct trace *t, size_t n);

#endif
