/* fusion/capture/sources/sources.h -- private to capture/: the values that a piece reads.
 *
 * A SLOT is a place where a value is found when a piece begins: a local, a
 * global, or a part of another slot's value, parents before children.  Slots
 * come to be while a capture runs, as the program gets to them; guards check
 * what was read, graph inputs and results are read from slots.
 *
 * Each dimension of a tensor belongs to a class of equal dimensions; a class
 * is one symbol, or a constant once it is PINNED (the program needs its
 * number, or the mode wants no symbol) or has size 0 or 1.  Slots, pins and
 * merges outlast an attempt at capture: the next one starts with what the last
 * one learned.
 */
#ifndef FUSION_RUNTIME_SLOTS_H
#define FUSION_RUNTIME_SLOTS_H

#include "fusion/base/vec.h"
#include <stddef.h>
#include <stdbool.h>
#include "fusion/base/arena.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/value.h"
#include "fusion/graph/graph.h"
#include "fusion/lang/lang.h"
#include "fusion/tensor/tensor.h"

enum { MAX_SLOTS = 1 << 18, MAX_NESTING = 64 };

enum slot_access {
	SLOT_LOCAL, /* roots, by index */
	SLOT_CELL,  /* the cell itself */
	SLOT_STACK,
	SLOT_OUTER_LOCAL, /* the same of a frame that the innermost was called from */
	SLOT_OUTER_CELL,
	SLOT_OUTER_STACK,
	SLOT_GLOBAL,
	SLOT_ITEM,      /* of a tuple or list */
	SLOT_ENTRY,     /* of a dict, by key */
	SLOT_ATTRIBUTE, /* of an instance or class, by name */
	SLOT_CONTENT,   /* of a cell */
	SLOT_CLOSURE,   /* a cell of a function */
	SLOT_DEFAULT,   /* of a function's parameter */
	SLOT_KWDEFAULT, /* by name */
	SLOT_CLASS,     /* of an instance */
	SLOT_PAYLOAD,   /* of an exception */
	SLOT_BASE,      /* of a class */
	SLOT_FUNCTION,  /* of a method */
	SLOT_SELF,      /* of a method or bound native */
	SLOT_OVER,      /* what an iterator is over */
	SLOT_KEY,       /* of a dict: an object, by place */
	SLOT_DICT,      /* all that an instance holds */
	SLOT_GRAD,      /* the .grad of a tensor; None where it has none */
};

/* A key that is found by what object it is: while capturing, its stand-in is the key. */
static inline bool slot_key_is_object(struct value key)
{
	return key.kind == VALUE_INSTANCE || key.kind == VALUE_TENSOR;
}

/* Where root slots are found in a call. */
struct roots {
	const struct value *locals;
	const struct value *cells; /* from number `first_cell` on */
	int first_cell;
	const struct value *stack;
	const struct frame *frame; /* the innermost, that the others called; NULL: alone */
	const struct vm *vm;       /* globals */
};

struct slot {
	int parent; /* -1: a root */
	enum slot_access access;
	int index;          /* of an entry: where it was at capture */
	int frame;          /* OUTER: how many calls out; else 0 */
	struct value key;   /* a reference; UNSET: by index */
	const char *name;   /* "x", "xs[0]", "cfg['act']": as the user would write it; once read */
	struct value value; /* at capture; a reference */
	enum value_kind kind;
	int first_child, n_children; /* -1: not made */
	/* numbers */
	bool symbolic; /* an int or float that is no constant of the graph */
	bool pinned;   /* it has to be */
	/* VALUE_TENSOR: as it was at capture */
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK];
	bool contiguous;
	int first_dim; /* of slots->dims */
	int same_as;   /* an earlier slot that is the same object; -1 */
	int view_of;   /* a slot whose memory this one lies in (trace.h); -1 */
	/* of the last attempt at capture */
	struct value stand; /* what stands for it; a reference.  UNSET: not read */
	bool live;          /* it was read */
	bool may_be_unset;  /* a local that has a value, and may have none in another call */
	bool told_apart;    /* the program asked whether it is another object that it is not */
	bool touched;       /* a tensor: its sizes, dtype or elements mattered */
	bool grad_read;     /* a tensor: whether it requires a gradient mattered */
	bool leaf_read;     /* a tensor: whether it is a leaf mattered */
	bool written;       /* a tensor: an in-place op changed it; else: side_effects.c */
	int var;            /* of a symbolic int: its symbol; -1 */
};

struct slot_dim {
	int slot, dim;
	int64_t size;
	int class;   /* a dim of the same class, or itself: a union-find forest */
	bool pinned; /* of the class's root: a constant */
	bool own;    /* has changed before: shares no symbol just because sizes agree */
	int var;     /* of the class's root: its symbol in this attempt; -1 */
};

struct slots {
	struct arena *arena;
	const struct code *code;   /* names of locals and cells */
	const struct frame *frame; /* the innermost of the call, while it is captured */
	struct slot *at;
	int n, cap;
	struct slot_dim *dims;
	int n_dims, cap_dims;
};

void slots_finish(struct slots *s); /* drops references */

/* A new slot, not read yet; -1 when out of memory or past MAX_SLOTS.  Takes
 * references. */
int slots_add(struct slots *s, int parent, enum slot_access access, int index, struct value key,
	      struct value real);

/* Its name and, of a tensor, its dims; before the first use. */
bool slots_describe(struct slots *s, int slot);

/* Lets go of what the capture alone needed; what guards compare with stays. */
bool slots_release(struct slots *s);

/* LOCAL, CELL or STACK of the frame so many calls out. */
static inline enum slot_access slot_root_access(enum slot_access access, int calls)
{
	return calls > 0 ? access + (SLOT_OUTER_LOCAL - SLOT_LOCAL) : access;
}
static inline bool slot_is_root(const struct slot *s, enum slot_access access, int calls, int index)
{
	return s->access == slot_root_access(access, calls) && s->frame == calls &&
	       s->index == index;
}

/* The value of a slot in another call, borrowed; `parent` is its parent's.
 * UNSET where there is none. */
struct value slot_load(const struct slot *s, struct value parent, const struct roots *roots);

/* The same through all its parents. */
struct value slot_value(const struct slots *s, int slot, const struct roots *roots);

/* The class of a dim. */
int slots_root(const struct slots *s, int dim);

/* Puts two classes together. */
void slots_merge(struct slots *s, int a, int b);

/* The same memory seen the same way. */
bool slots_same_tensor(const struct tensor *a, const struct tensor *b);
/* Whether the slot is a view of another one, and that of all of it as it lies. */
bool slots_alias(const struct slots *s, int slot);

/* ---- A map from objects to numbers.
 *
 * A capture asks of each object that it meets whether it is known; chains of
 * comparisons would make that quadratic. */

struct pointers { /* zeroed: empty */
	const void **keys;
	int *numbers;
	size_t len, cap;
};

/* The number of `key`, -1 where it has none. */
int pointers_get(const struct pointers *p, const void *key);

/* False when out of memory. */
bool pointers_set(struct pointers *p, const void *key, int number);
void pointers_clear(struct pointers *p); /* keeps its memory */
void pointers_finish(struct pointers *p);

/* ---- What a point has been given before.
 *
 * Mode auto compiles for the values that it sees; a size or number that differs
 * from the ones before becomes a symbol at the next compile (AUTOMATIC DYNAMIC
 * SHAPES, as torch's). */

struct seen {
	char *name; /* the slot's */
	uint64_t hash;
	struct value number;
	bool number_changed;
	int rank; /* -1: not seen as a tensor */
	int64_t size[MAX_RANK];
	bool changed[MAX_RANK];
};

struct memory {
	VEC(struct seen) list;
	size_t next; /* behind the one that was asked for last */
};

/* Notes the slot's value, a number or tensor, and says what has changed so far.
 * NULL when out of memory. */
const struct seen *memory_note(struct memory *m, const struct slot *slot);
void memory_finish(struct memory *m);

#endif
