/* fusion/runtime/grad/entry_grad.h -- private to runtime/: entries with a backward part.
 *
 * Where inputs of a piece require a gradient, its graph is differentiated when it
 * is captured (joint.h): the forward part hands out what the backward part reads,
 * and the results of a call share a node of the tape, which runs the backward
 * part.  That one is compiled when it is first asked for.
 */
#ifndef FUSION_RUNTIME_ENTRY_GRAD_H
#define FUSION_RUNTIME_ENTRY_GRAD_H

#include "fusion/runtime/grad/autograd.h"
#include "fusion/runtime/exec/exec.h"
#include "fusion/runtime/exec/partition.h"
#include "fusion/runtime/trace/trace.h"

struct entry;
struct attempt;
struct entry_options;

enum back_kind { BACK_INPUT, BACK_SAVED, BACK_TANGENT };

struct back_input {
	enum back_kind kind;
	int index; /* of the entry's inputs, the forward part's outputs, the node's results */
};

struct entry_grad {
	struct autograd *autograd;
	struct graph *forward, *backward;
	int *forward_inputs; /* by input of `forward`: the entry's */
	struct tensor **inputs;
	int n_outputs; /* of the forward part: the entry's, then what is saved */
	struct tensor **outputs;
	int *result_of; /* by the entry's outputs: of the node's results, -1: no gradient */
	int n_results;
	int *wanted; /* the entry's inputs that have a gradient, in the order of `backward` */
	int n_wanted;
	struct back_input *reads; /* by input of `backward` */
	int n_reads, n_saved;     /* n_saved: those that are no tangents */

	/* to compile the backward part */
	const struct exec_env *env;
	const struct backend *backend;
	uint64_t passes_disabled;
	struct lowering lowering;
	struct arena *arena;
	struct exec *exec; /* NULL: not compiled yet */
	int n_vars;
	int64_t compile_ns;
	int64_t uses;
};

/* Whether the graph's results depend on inputs that require a gradient; if so,
 * e->grad is made.  e->captured has its outputs.  As joint_build(). */
bool entry_grad_make(struct entry *e, struct attempt *a, const struct entry_options *options,
		     struct err *err);
void entry_grad_finish(struct entry_grad *g); /* NULL is fine */

/* The node of a call that has run: e->output_tensors are its results, and the
 * inputs are still as they were.  Each result is then given by entry_grad_give(). */
struct grad_node *entry_grad_note(struct entry *e, struct err *err);
bool entry_grad_give(const struct entry *e, struct grad_node *node, int output, struct value t,
		     struct err *err);

/* Runs the forward part on e->input_tensors. */
bool entry_grad_run(struct entry *e, const struct fusion_observer *observer, struct err *err);

#endif
