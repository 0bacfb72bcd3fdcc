/* fusion/runtime/slots.h -- private to runtime/: the arguments of a call, taken apart.
 *
 * A SLOT is one value among the arguments, containers and their contents
 * included, parents before children.  A compiled entry knows its arguments by
 * slots: guards check them, graph inputs are read from them.
 *
 * In dynamic mode each dimension of a tensor slot belongs to a class of equal
 * dimensions; a class becomes one symbol, or a constant once it is PINNED (the
 * program needs its number) or has size 0 or 1.  Pins and merges outlast an
 * attempt at capture: the next attempt starts with what the last one learned.
 */
#ifndef FUSION_RUNTIME_SLOTS_H
#define FUSION_RUNTIME_SLOTS_H

#include "fusion/base/arena.h"
#include "fusion/capture/value.h"
#include "fusion/graph/graph.h"
#include "fusion/lang/lang.h"
#include "fusion/runtime/tensor.h"

enum { MAX_SLOTS = 4096, MAX_NESTING = 64 };

struct slot {
	int parent; /* slot of the container; -1: an argument of the call */
	int index;  /* among the arguments, items, or entries of the dict */
	enum value_kind kind;
	const char *name;   /* "x", "xs[0]", "cfg['act']": as the user would write it */
	struct value value; /* at capture; a reference */
	int n_children;     /* containers */
	/* VALUE_TENSOR: as it was at capture */
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK];
	bool contiguous;
	int same_as;   /* an earlier slot that is the same tensor; -1 */
	int first_dim; /* of slots->dims */
	/* what the last attempt at capture did with it */
	bool touched; /* its type or a value was looked at */
	bool written; /* an in-place op changed it */
};

struct slot_dim {
	int slot, dim;
	int64_t size;
	int class;   /* a dim of the same class, or itself: a union-find forest */
	bool own;    /* has changed before: shares no symbol just because sizes agree */
	bool pinned; /* of the class's root: a constant */
	int var;     /* of the class's root: its symbol in this attempt; -1 */
};

struct slots {
	struct arena *arena;
	struct slot *at;
	int n;
	int n_args;
	struct slot_dim *dims;
	int n_dims;
};

/* Takes the arguments apart; names come from the parameters of `code`.
 * TYPE for a value that cannot be an argument, BOUND for too many. */
bool slots_create(struct slots *s, struct arena *arena, const struct code *code,
		  const struct value *args, int n, struct err *err);
void slots_finish(struct slots *s); /* drops references */

/* Lets go of the tensors and containers of the capture; keys of dicts and plain
 * values stay.  False when out of memory. */
bool slots_release_tensors(struct slots *s);

/* The value of a slot in another call; `args` must have passed the guards of
 * its parents. */
static inline struct value slot_value(const struct slots *s, int slot, const struct value *args)
{
	const struct slot *at = &s->at[slot];
	struct value in;

	if (__builtin_expect(at->parent < 0, 1))
		return args[at->index];
	in = slot_value(s, at->parent, args);
	return in.kind == VALUE_DICT ? in.dict->values[at->index] : in.list->at[at->index];
}

/* The class of a dim. */
int slots_root(const struct slots *s, int dim);

/* Puts two classes together. */
void slots_merge(struct slots *s, int a, int b);

#endif
