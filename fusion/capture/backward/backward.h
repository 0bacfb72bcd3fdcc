/* fusion/capture/backward/backward.h -- entries with a backward part, and backward passes within a
 * trace.
 *
 * Where inputs of a piece require a gradient, its graph is differentiated when it
 * is captured (joint.h): the forward part hands out what the backward part reads,
 * and the results of a call share a node of the tape, which runs the backward
 * part.  That one is compiled when it is first asked for.
 */
#ifndef FUSION_CAPTURE_BACKWARD_BACKWARD_H
#define FUSION_CAPTURE_BACKWARD_BACKWARD_H

#include "fusion/eager/autograd.h"
#include "fusion/compile/compile.h"
#include "fusion/capture/trace/trace.h"

struct entry;
struct attempt;
struct entry_options;

enum back_kind { BACK_INPUT, BACK_SAVED, BACK_TANGENT };

struct back_input {
	enum back_kind kind;
	int index;   /* of the entry's inputs, the forward part's outputs, the node's results */
	uint64_t by; /* the node's results (grad_bit) whose gradients it is computed with */
};

struct double_backward;

/* An input (BACK_INPUT) or result (BACK_SAVED) of a piece in whose memory lies what eager
 * would save for the backward pass. */
struct watched_memory {
	enum back_kind kind;
	int index;   /* of the entry's inputs or outputs */
	uint64_t by; /* the outputs whose backward pass needs it: grad_bit() */
};

struct entry_grad {
	struct autograd *autograd;
	struct graph *forward, *backward;
	int *forward_inputs; /* by input of `forward`: the entry's */
	struct tensor **inputs;
	int n_outputs; /* of the forward part: the entry's, then what is saved */
	struct tensor **outputs;
	int n_results_of; /* how many outputs result_of has */
	int *result_of;   /* by the entry's outputs: of the node's results, -1: no gradient */
	int n_results;
	int *wanted;       /* the entry's inputs that have a gradient, in the order of `backward` */
	uint64_t *made_of; /* as grad_custom.made_of */
	int n_wanted;
	const struct view_layout *
	    *repeats;             /* by wanted: how its output is expanded; NULL: it is not */
	struct back_input *reads; /* by input of `backward` */
	int n_reads, n_saved;     /* n_saved: those that are no tangents */
	struct watched_memory *watched;
	int n_watched;
	bool *keeps; /* by input of `backward`: one of the entry's that eager would not have
		      * saved, so that the program may write to it */
	/* for the gradient of the gradient; NULL where the program cannot ask for it */
	struct double_backward *double_backward;

	/* to compile the backward part */
	const struct exec_env *env;
	const struct backend *backend;
	uint64_t passes_disabled;
	struct lowering lowering;
	struct arena *arena;
	struct exec *exec;             /* NULL: not compiled yet */
	struct record_memory *record;  /* mode graphs; NULL */
	struct exec_recorded recorded; /* of the backward part */
	int n_vars;
	int64_t compile_ns;
	int64_t uses;
};

/* Whether the graph's results depend on inputs that require a gradient; if so,
 * e->grad is made.  e->captured has its outputs.  As joint_build(). */
bool entry_grad_make(struct entry *e, struct attempt *a, const struct entry_options *options,
		     struct err *err);

/* NULL is fine */
static inline void entry_grad_finish(struct entry_grad *g)
{
	if (g)
		exec_destroy(g->exec);
}

/* split.c.  Which of the entry's inputs a node is, -1: none. */
struct joint;
int entry_grad_input(const struct entry *e, const struct joint *j, int node);

/* What is kept of the joint graph for gradients of gradients;
 * `save` as min_cut() has it, `reads` the nodes that the backward part reads.
 * NULL when out of memory. */
struct double_backward *double_backward_make(const struct entry *e, const struct entry_grad *g,
					     const struct joint *j, const bool *save,
					     const int *reads);

/* What a call's node keeps for it, while the inputs are as they were. */
struct double_backward_call {
	struct value *inputs; /* of the entry: references */
	unsigned *versions;
	int n;
};

/* The gradients of a call op by op, each with its place on the tape; as
 * grad_custom.run.  The whole forward part is computed again: what was saved has
 * lost its place. */
struct double_backward_run {
	const struct entry_grad *g;
	const struct double_backward_call *call;
	struct grad_node *node;
	const int64_t *vars; /* the call's symbolic sizes */
	const struct value *given;
};

/* Versions as a call has left them: after entry_grad_note() and all that the call writes. */
struct watch_call {
	struct storage_watch **storages;
	unsigned *versions;
	int n; /* of g->watched; storages[i] NULL: an output that was written back */
};
bool entry_grad_watch(const struct entry *e, struct grad_node *node, struct err *err);

/* The node of a call that has run: e->output_tensors are its results, and the
 * inputs are still as they were.  Each result is then given by entry_grad_give(). */
struct grad_node *entry_grad_note(struct entry *e, struct err *err);
bool entry_grad_give(const struct entry *e, struct grad_node *node, int output, struct value t,
		     struct err *err);

/* Runs the forward part on e->input_tensors. */
bool entry_grad_run(struct entry *e, const struct fusion_observer *observer, struct err *err);

/* Policy native: what backward() computes are nodes of the graph that is being
 * captured, after those of the forward pass; .grad is set when the piece has run. */
extern const struct trace_backward backward_in_trace;

#endif
