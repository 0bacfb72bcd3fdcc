/* fusion/compile/partition.h -- private to compile/: a graph that runs in pieces.
 *
 * STAGE LOWERING.  Not every backend can lower every op, and a workload may deny
 * ops to see what another backend would do.  Such an op becomes a FALLBACK, a
 * call of its own as eager would make it, between pieces that are lowered.  The
 * number of lowered pieces is the least that is possible: they are cut by how
 * often a path through the graph leaves a backend and comes back.
 */
#ifndef FUSION_RUNTIME_PARTITION_H
#define FUSION_RUNTIME_PARTITION_H

#include "fusion/report/report.h"
#include "fusion/compile/exec.h"

/* What a backend must not lower beside what it says itself; borrowed. */
struct lowering {
	const char *const *deny; /* ops: by id, FX target name or spelling */
	int n_deny;
};

enum piece_kind {
	PIECE_LOWERED,  /* passes, kernels of the backend */
	PIECE_FALLBACK, /* one op, as eager runs it */
	PIECE_LOOP,     /* a graph of its own, round after round */
};

enum fallback_cause { FALLBACK_OP, FALLBACK_TYPE, FALLBACK_DENIED };

/* A value is a graph input, by its index, or what a piece has made. */
struct piece {
	enum piece_kind kind;
	struct exec *exec;
	int *inputs; /* values */
	int n_inputs;
	int *outputs; /* values */
	int n_outputs;
	int *dead; /* values that nothing reads behind it */
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

/* As exec_create(), in pieces where the backend or `how` (NULL: nothing denied)
 * asks for it.  The exec then has `parts`; its kernels are those of all pieces. */
struct exec *partition_create(const struct exec_env *env, const struct backend *backend,
			      struct graph *g, const struct pass_options *options,
			      const struct lowering *how, struct arena *arena, struct err *err);

/* Whether partition_create() would make one piece of it: the backend lowers every
 * op as it stands. */
bool partition_is_whole(const struct backend *backend, struct graph *g, const struct lowering *how);

/* For exec.c: what its functions do where exec->parts is not NULL. */
void partition_destroy(struct partition *p);
bool partition_bind(struct partition *p, const int64_t *vars, struct err *err);
bool partition_run(struct exec *e, struct tensor *const *inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err);

/* partition_loop.c: runs a loop to its end. */
bool loop_run(struct exec *e, const struct piece *piece, const struct fusion_observer *observer,
	      int graph, struct err *err);

/* A tensor of the same elements, row by row in memory of its own; NULL with *err. */
struct tensor *partition_copy(const struct exec *e, struct tensor *t, struct err *err);

/* The kernels of an exec, and of what it is made of, are numbered from `first` on. */
void partition_number(struct exec *e, int first);

/* How many lowered pieces an exec has: 1 for one that was not cut, 0 for one
 * that computes nothing. */
int exec_lowered_count(const struct exec *e);

/* partition_report.c: counts the lowered pieces of a session's graph, and notes a
 * break for each fallback, which tells the observer of it from then on; `function` is where its
 * nodes stand.  False when out of memory. */
bool partition_report(struct exec *e, struct session_report *r, int graph, const char *function);

#endif
