/* fusion/capture/backward/joint.h -- private to capture/: a graph and its gradient as one.
 *
 * A captured graph is copied; after its nodes come inputs for the gradients of
 * its results (TANGENTS), and what the rules of _grads make of them, run by the
 * VM under the capturing host.  A cut then says which values the forward part
 * hands to the backward part: all else that the backward part reads is computed
 * again there.
 */
#ifndef FUSION_CAPTURE_BACKWARD_JOINT_H
#define FUSION_CAPTURE_BACKWARD_JOINT_H

#include "fusion/capture/trace/trace.h"

struct joint {
	struct graph *g;
	int *map;          /* by node of the captured graph: its node here, while it is built */
	int *outputs;      /* by output of the captured graph: its node */
	int *tangents;     /* by output of the captured graph: a node, -1: it has no gradient */
	int *grads;        /* by input of the captured graph: a node, -1: none is asked for, or 0 */
	uint64_t *reached; /* by node of the captured graph: the outputs (grad_bit) whose backward
			    * pass comes there */
	uint64_t *saved;   /* by node of the captured graph: the outputs (grad_bit) for whose
			    * backward pass eager would save what lies in this memory */
	int n_forward;     /* nodes of the copy: those after it are tangents and of rules */
	bool any;          /* some input has a gradient */
};

/* Whether each node of the captured graph has a gradient with respect to the
 * inputs `wanted`; in the graph's arena.  `whole`: or with respect to leaves that the
 * piece makes, or had one, that a backward pass of the piece has used up.  NULL with *err. */
bool *joint_tracked(struct trace *t, const struct graph *g, const bool *wanted, bool whole,
		    struct err *err);

/* Differentiates the outputs of `captured`.  `t` is a capture that has succeeded: its
 * graph is another one while the rules run.  BREAK or others as a capture has
 * them; t->restart may be set. */
bool joint_build(struct joint *j, struct trace *t, const struct graph *captured, const bool *wanted,
		 struct err *err);

/* What the backward part shall read besides tangents: nodes that are saved.  Where
 * *save[node] the forward part hands it over (inputs too). */
bool min_cut(const struct joint *j, const struct graph *captured, bool **save, struct err *err);

#endif
