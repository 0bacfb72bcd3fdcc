/* fusion/compile/partition.h -- private to compile/: a graph that runs in pieces.
 *
 * STAGE LOWERING.  Not every backend can lower every op, and a workload may deny
 * ops to see what another backend would do.  Such an op becomes a FALLBACK, a
 * call of its own as eager would make it, between pieces that are lowered.  The
 * number of lowered pieces is the least that is possible: they are cut by how
 * often a path through the graph leaves a backend and comes back.
 */
#ifndef FUSION_COMPILE_PARTITION_H
#define FUSION_COMPILE_PARTITION_H

#include "fusion/report/report.h"
#include "fusion/compile/exec.h"

enum piece_kind {
	PIECE_LOWERED,  /* passes, kernels of the backend */
	PIECE_FALLBACK, /* one op, as eager runs it */
	PIECE_LOOP,     /* a graph of its own, round after round */
};

enum fallback_cause { FALLBACK_OP, FALLBACK_TYPE, FALLBACK_DENIED };

/* A value is a graph input, by its index, or what a piece has made. */
struct piece {
	enum piece_kind kind;
	struct graph *graph; /* of its own, for its exec; of a loop: the body */
	struct exec *exec;   /* compile.c */
	int *inputs;         /* values */
	int n_inputs;
	int *outputs; /* values */
	int n_outputs;
	int *dead; /* values that nothing reads after it */
	int n_dead;
	/* The nodes of the graph that it is made of, by id, and those that outputs are;
	 * NULL of a loop. */
	const bool *inside;
	const int *made;
	/* PIECE_FALLBACK */
	enum fallback_cause cause;
	const struct node *node; /* of the graph as it was captured */
	const char *why;         /* the backend's words; NULL */
	int brk;                 /* the session's break that tells of it; -1: none does */
	/* PIECE_LOOP: inputs are the condition and the operands; exec runs the body, by
	 * the interpreter where the loop is denied: it is a fallback then */
	bool denied;
	const struct loop *loop;
	const int *results;                       /* by output: the operand that it was */
	struct tensor **carried, **round, **next; /* what goes round; the body's inputs, outputs */
};

struct partition {
	struct piece *pieces; /* in the order of execution */
	int n_pieces, n_lowered, n_fallbacks;
	struct tensor **values; /* of the run under way; of inputs: the caller's */
	int n_values;
	int *outputs; /* by graph output: its value */
	bool *copy;   /* by graph output: the value is an input, or an earlier output's */
	struct tensor **handed;
	struct tensor **made;
};

/* Cuts `g` where the backend or options->lowering asks for it.  *out: the pieces, with a graph
 * each and no exec so far; NULL: the graph is one piece.  False when out of memory. */
bool partition_find(const struct compile_options *options, struct graph *g, struct arena *arena,
		    struct partition **out, struct err *err);

#endif
