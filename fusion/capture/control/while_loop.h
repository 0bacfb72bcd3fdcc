/* fusion/capture/control/while_loop.h -- private to while_loop.c and its kin: loops on tensors. */
#ifndef FUSION_RUNTIME_FORK_LOOP_H
#define FUSION_RUNTIME_FORK_LOOP_H

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

/* while_loop.c: the innermost open loop that the branch is in, in its frame; or NULL. */
struct while_loop *while_loop_around(const struct cond *k);
struct while_loop_note *while_loop_noted(struct trace *t,
					 const struct lang_inst *inst); /* or NULL */

int while_add(struct while_loop *l, enum op op, const struct arg *args, int n, const char *fx,
	      struct err *err); /* a node where the loop stands; -1 */

enum value_kind while_number_type(struct value v); /* UNSET: none */

bool while_place_find(struct while_loop *l, struct carried *c, struct err *err); /* its start */
bool while_place_now(struct while_loop *l, const struct carried *c, struct value *out,
		     struct err *err); /* borrowed */
/* The node is there from here on, in a round or after the loop. */
bool while_place_put(struct while_loop *l, const struct carried *c, int node, bool after,
		     struct err *err);

/* Where the frame is at the end of a round, or has left the loop: it then is
 * after the loop. */
bool while_close(struct while_loop *l, struct while_verdict *out, struct err *err);
/* condition and yes, or not condition and no. */
bool while_choose(struct while_loop *l, int condition, const struct while_verdict *yes,
		  const struct while_verdict *no, struct while_verdict *out, struct err *err);
int while_add_two(struct while_loop *l, enum op op, int a, int b, struct err *err); /* of bools */
int while_invert(struct while_loop *l, int node, struct err *err);

int while_flatten(struct while_loop *l, int node, struct err *err); /* one element: of no dims */
/* A place that no round reads before it sets it; `next` is what a round leaves. */
bool while_carry_only(struct while_loop *l, enum carried_kind kind, int index, int init, int next,
		      struct err *err);

/* while_round.c: notes what is to be carried too (*found), and carries what no round
 * reads; *again: whether there is another round.  False with *err, or the branch says
 * why not. */
bool while_round_check(struct while_loop *l, int *again, bool *found, struct err *err);

#endif
