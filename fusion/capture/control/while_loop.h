/* fusion/capture/control/while_loop.h -- private to while_loop.c and its kin: loops on tensors. */
#ifndef FUSION_RUNTIME_FORK_LOOP_H
#define FUSION_RUNTIME_FORK_LOOP_H

#include "fusion/capture/control/cond.h"

/* Where a loop stands in its code. */
struct loop_shape {
	int body;          /* where a round begins */
	int last;          /* the last jump back to the loop's begin */
	int end;           /* where the program goes on behind the loop */
	int below;         /* operands of the test below what the first jump takes */
	const bool *entry; /* by instruction: what ends a part of a test */
	const bool *again; /* what ends a round */
	const bool *tests; /* jumps of tests */
};

struct carried {
	struct fork_place_note note;
	struct value start; /* what it is in the first round: a reference */
	bool number;        /* of the program, no tensor */
	int init, value;    /* nodes: before the loop, in its body (-1: not read there) */
	int next;           /* what it is in the next round */
};

/* Whether the loop goes on, as far as it is known without the graph. */
struct loop_verdict {
	bool known, holds;
	int node; /* not known: a bool of no dims */
};

struct looper {
	struct fork k; /* first: a fork that is_loop is one of these */
	struct trace *t;
	struct loop_shape at;
	VEC(struct carried) carried;
	int first;                  /* node of the body */
	int test;                   /* node: whether the program goes into the first round */
	size_t n_asserts, n_prints; /* before it */
	struct loop_verdict closed; /* of a round whose ways have met behind the loop */
	bool is_closed;
};

/* while_loop.c: the innermost open loop that the fork stands in, in its frame; or NULL. */
struct looper *fork_loop_around(const struct fork *k);
struct fork_loop *fork_loop_note(struct trace *t, const struct lang_inst *inst); /* or NULL */

int loop_add(struct looper *l, enum op op, const struct arg *args, int n, const char *fx,
	     struct err *err); /* a node where the loop stands; -1 */

enum value_kind loop_number_type(struct value v); /* UNSET: none */

bool loop_place_find(struct looper *l, struct carried *c, struct err *err); /* its start */
bool loop_place_now(struct looper *l, const struct carried *c, struct value *out,
		    struct err *err); /* borrowed */
/* The node is there from here on, in a round or behind the loop. */
bool loop_place_put(struct looper *l, const struct carried *c, int node, bool behind,
		    struct err *err);

/* Where the frame stands at the end of a round, or has left the loop: it then stands
 * behind the loop. */
bool loop_close(struct looper *l, struct loop_verdict *out, struct err *err);
/* condition and yes, or not condition and no. */
bool loop_choose(struct looper *l, int condition, const struct loop_verdict *yes,
		 const struct loop_verdict *no, struct loop_verdict *out, struct err *err);
int loop_add_two(struct looper *l, enum op op, int a, int b, struct err *err); /* of bools */
int loop_invert(struct looper *l, int node, struct err *err);

int loop_flatten(struct looper *l, int node, struct err *err); /* one element: of no dims */
/* A place that no round reads before it sets it; `next` is what a round leaves. */
bool loop_carry_only(struct looper *l, enum carried_kind kind, int index, int init, int next,
		     struct err *err);

/* while_round.c: notes what is to be carried too (*found), and carries what no round
 * reads; *again: whether there is another round.  False with *err, or the fork says
 * why not. */
bool loop_round_check(struct looper *l, int *again, bool *found, struct err *err);

#endif
