/* fusion/capture/backward/sweep.h -- private to capture/: the rules of _grads over a graph.
 *
 * A sweep goes from the last node of a graph to the first, and runs the rule of each
 * whose gradient is known: under the capturing host, so that gradients are nodes as
 * well.  joint.c sweeps over a copy of a captured graph, traced.c over the graph that
 * is being captured.
 */
#ifndef FUSION_CAPTURE_BACKWARD_SWEEP_H
#define FUSION_CAPTURE_BACKWARD_SWEEP_H

#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/capture/trace/trace.h"

struct cover;

struct gradient_sweep {
	struct trace *t;
	struct autograd *a;
	const struct graph *from; /* whose nodes are differentiated */
	int n;                    /* how many of them */
	const int *map;           /* by node of `from`: its node in t->graph */
	const bool *tracked;      /* by node of `from`: it leads to a tensor that is asked for */
	const int *leaf;          /* by node of `from`: -1, or a leaf's value: nothing after it */
	struct value *given;      /* by node of `from`: its gradient, UNSET */
	bool *ran;                /* by node of `from`: its rule was run; may be NULL */
	/* its own */
	struct cover *covers;
	const bool **shared;     /* by side of a branch and node of it: others read it, too */
	const struct node *node; /* of t->graph: whose rule runs */
	struct err *err;
};

/* Whether a rule reads elements that were written after its op ran, on the way from the
 * nodes for which reached[i] has bits; sets those of all that is reached from there, and
 * saved[i] (may be NULL) of the memory in which elements lie that some rule reads.  Eager says
 * what is wrong.  False with *err. */
bool sweep_spoiled(const struct gradient_sweep *s, uint64_t *reached, uint64_t *saved,
		   bool *spoiled, struct err *err);

/* Adds g to what is known of node `to`. */
bool sweep_give(struct gradient_sweep *s, int to, struct value g);

/* Runs it; the gradients are s->given then, which the caller drops. */
bool sweep_run(struct gradient_sweep *s);

/* tracked[i] for all nodes that are computed from those for which it is set; not through
 * a node that detaches, nor one that `stops` (may be NULL).  False with *err. */
bool sweep_spread(const struct trace *t, const struct graph *g, bool *tracked, const bool *stops,
		  struct err *err);

/* x.detach(), x.data and what was made while gradients were off. */
static inline bool sweep_detaches(const struct node *n)
{
	return n->detached || n->op == OP_detach;
}

/* An argument of a node that is no tensor and no size, as a program has it: a number, a bool, a
 * dtype, a text; else None.  Kind UNSET when out of memory. */
static inline struct value sweep_literal(const struct arg *arg)
{
	switch (arg->kind) {
	case ARG_FLOAT:
		return value_float(arg->f);
	case ARG_BOOL:
		return value_bool(arg->b);
	case ARG_DTYPE:
		return (struct value){ .kind = VALUE_DTYPE, .dtype = arg->dtype };
	case ARG_STR:
		return value_str(arg->str, strlen(arg->str));
	default:
		return value_none();
	}
}

#endif
