/* fusion/capture/control/while_loop.h -- private to control/: loops on tensors. */
#ifndef FUSION_CAPTURE_CONTROL_WHILE_LOOP_H
#define FUSION_CAPTURE_CONTROL_WHILE_LOOP_H

#include "fusion/capture/control/cond.h"

/* Where a loop is in its code. */
struct while_shape {
	int body;          /* where a round begins */
	int last;          /* the last jump back to the loop's begin */
	int end;           /* where the program goes on after the loop */
	int below;         /* operands of the test below what the first jump takes */
	const bool *entry; /* by instruction: what ends a part of a test */
	const bool *again; /* what ends a round */
	const bool *tests; /* jumps of tests */
};

struct carried {
	struct carried_place note;
	struct value start; /* what it is in the first round: a reference */
	bool number;        /* of the program, no tensor */
	int init, value;    /* nodes: before the loop, in its body (-1: not read there) */
	int next;           /* what it is in the next round */
};

/* Whether the loop goes on, as far as it is known without the graph. */
struct while_verdict {
	bool known, holds;
	int node; /* not known: a bool of no dims */
};

struct while_loop {
	struct cond k; /* first: a branch that is_loop is one of these */
	struct trace *t;
	struct while_shape at;
	VEC(struct carried) carried;
	int first;                   /* node of the body */
	int test;                    /* node: whether the program goes into the first round */
	size_t n_asserts, n_prints;  /* before it */
	struct while_verdict closed; /* of a round whose ways have met after the loop */
	bool is_closed;
};

/* The innermost open loop that the branch is in, in its frame; NULL: it is in none. */
static inline struct while_loop *while_loop_around(const struct cond *k)
{
	const struct cond *up = k->up;

	while (up && (!up->is_loop || up->frame != k->frame))
		up = up->up;
	return (struct while_loop *)up;
}

/* Adds a node at the line of the loop, which FX calls `fx`; -1 with *err. */
int while_add(struct while_loop *l, enum op op, const struct arg *args, int n, const char *fx,
	      struct err *err);

/* Of two bools; -1 where one of them is, or with *err. */
static inline int while_add_two(struct while_loop *l, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	return a < 0 || b < 0 ? -1 : while_add(l, op, args, op_info(op)->n_params, "", err);
}
static inline int while_invert(struct while_loop *l, int node, struct err *err)
{
	return node < 0 ? -1 : while_add_two(l, OP_logical_not, node, node, err);
}

/* ---- while_test.c */

/* Finds the loop that the JUMP_IF_* that f is at may go on or leave.  False: there is none,
 * or no memory. */
bool while_shape_find(const struct frame *f, struct arena *arena, struct while_shape *out);

/* Follows all ways through the test from the jump that the frame is at; `depth` is 0. */
bool while_decide(struct while_loop *l, int depth, struct while_verdict *out, struct err *err);

/* Where the frame is at the end of a round, or has left the loop: it then is after the loop. */
bool while_close(struct while_loop *l, struct while_verdict *out, struct err *err);

/* condition and yes, or not condition and no. */
bool while_choose(struct while_loop *l, int condition, const struct while_verdict *yes,
		  const struct while_verdict *no, struct while_verdict *out, struct err *err);

#endif
