/* fusion/capture/sources/sources.h -- private to capture/: the values that a piece reads.
 *
 * A SOURCE is a place where a value is found when a piece begins: a local, a
 * global, or a part of another source's value, parents before children.  Sources
 * come to be while a capture runs, as the program gets to them; guards check
 * what was read, graph inputs and results are read from sources.
 *
 * Each dimension of a tensor belongs to a class of equal dimensions; a class
 * is one symbol, or a constant once it is PINNED (the program needs its
 * number, or the mode wants no symbol) or has size 0 or 1.  Sources, pins and
 * merges outlast an attempt at capture: the next one starts with what the last
 * one learned.
 */
#ifndef FUSION_CAPTURE_SOURCES_SOURCES_H
#define FUSION_CAPTURE_SOURCES_SOURCES_H

#include "fusion/base/vec.h"
#include <stddef.h>
#include <stdbool.h>
#include "fusion/base/arena.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/value.h"
#include "fusion/graph/graph.h"
#include "fusion/lang/lang.h"
#include "fusion/tensor/tensor.h"

enum { MAX_SOURCES = 1 << 18, MAX_NESTING = 64 };

enum source_access {
	SOURCE_LOCAL, /* roots, by index */
	SOURCE_CELL,  /* the cell itself */
	SOURCE_STACK,
	SOURCE_OUTER_LOCAL, /* the same of a frame that the innermost was called from */
	SOURCE_OUTER_CELL,
	SOURCE_OUTER_STACK,
	SOURCE_GLOBAL,
	SOURCE_ITEM,      /* of a tuple or list */
	SOURCE_ENTRY,     /* of a dict, by key */
	SOURCE_ATTRIBUTE, /* of an instance or class, by name */
	SOURCE_CONTENT,   /* of a cell */
	SOURCE_CLOSURE,   /* a cell of a function */
	SOURCE_DEFAULT,   /* of a function's parameter */
	SOURCE_KWDEFAULT, /* by name */
	SOURCE_CLASS,     /* of an instance, a class or a named tuple */
	SOURCE_PAYLOAD,   /* of an exception */
	SOURCE_BASE,      /* of a class */
	SOURCE_FUNCTION,  /* of a method; of a property: 0 its getter, 1 setter, 2 deleter */
	SOURCE_SELF,      /* of a method or bound native */
	SOURCE_OVER,      /* what an iterator is over */
	SOURCE_KEY,       /* of a dict: an object, by place */
	SOURCE_DICT,      /* all that an instance holds */
	SOURCE_GRAD,      /* the .grad of a tensor; None where it has none */
};

/* A key that is found by what object it is: while capturing, its stand-in is the key. */
static inline bool source_key_is_object(struct value key)
{
	return key.kind == VALUE_INSTANCE || key.kind == VALUE_TENSOR || key.kind == VALUE_CLASS ||
	       key.kind == VALUE_FUNCTION;
}

/* Where root sources are found in a call. */
struct roots {
	const struct value *locals;
	const struct value *cells; /* from number `first_cell` on */
	int first_cell;
	const struct value *stack;
	const struct frame *frame; /* the innermost, that the others called; NULL: alone */
	const struct vm *vm;       /* globals */
};

struct source {
	int parent; /* -1: a root */
	enum source_access access;
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
	int first_dim;     /* of sources->dims */
	int same_as;       /* an earlier source that is the same object; -1 */
	int view_of;       /* a source whose memory this one lies in (trace.h); -1 */
	bool keeps_memory; /* a tensor whose .data is set: the piece ends there */
	/* of the last attempt at capture */
	struct value stand_in; /* what stands for it; a reference.  UNSET: not read */
	bool live;             /* it was read */
	bool may_be_unset;     /* a local that has a value, and may have none in another call */
	bool found_distinct;   /* the program asked whether it is another object that it is not */
	bool touched;          /* a tensor: its sizes, dtype or elements mattered */
	bool grad_read;        /* a tensor: whether it requires a gradient mattered */
	bool leaf_read;        /* a tensor: whether it is a leaf mattered */
	bool written;          /* a tensor: an in-place op changed it; else: entry_describe.c */
	int replaced; /* a tensor: which of the piece's writes gave it other memory; 0: none */
	int var;      /* of a symbolic int: its symbol; -1 */
};

struct source_dim {
	int source, dim;
	int64_t size;
	int class;   /* a dim of the same class, or itself: a union-find forest */
	bool pinned; /* of the class's root: a constant */
	bool own;    /* has changed before: shares no symbol just because sizes agree */
	int var;     /* of the class's root: its symbol in this attempt; -1 */
};

struct sources {
	struct arena *arena;
	const struct code *code;   /* names of locals and cells */
	const struct frame *frame; /* the innermost of the call, while it is captured */
	struct source *at;
	int n, cap;
	struct source_dim *dims;
	int n_dims, cap_dims;
};

void sources_finish(struct sources *s); /* drops references */

/* A new source, not read yet; -1 when out of memory or past MAX_SOURCES.  Takes
 * references. */
int sources_add(struct sources *s, int parent, enum source_access access, int index,
		struct value key, struct value real);

/* Its name and, of a tensor, its dims; before the first use. */
bool sources_describe(struct sources *s, int source);

/* Lets go of what the capture alone needed; what guards compare with stays. */
bool sources_release(struct sources *s);

/* LOCAL, CELL or STACK of the frame so many calls out. */
static inline enum source_access source_root_access(enum source_access access, int calls)
{
	return calls > 0 ? access + (SOURCE_OUTER_LOCAL - SOURCE_LOCAL) : access;
}
static inline bool source_is_root(const struct source *s, enum source_access access, int calls,
				  int index)
{
	return s->access == source_root_access(access, calls) && s->frame == calls &&
	       s->index == index;
}

/* The value of a source in another call, borrowed; `parent` is its parent's.
 * UNSET where there is none. */
struct value source_load(const struct source *s, struct value parent, const struct roots *roots);

/* The same through all its parents. */
struct value source_value(const struct sources *s, int source, const struct roots *roots);

/* The class of a dim. */
int sources_root(const struct sources *s, int dim);

/* Puts two classes together. */
void sources_merge(struct sources *s, int a, int b);

/* The same memory seen the same way. */
bool sources_same_tensor(const struct tensor *a, const struct tensor *b);
/* Whether the source is a view of another one, and that of all of it as it lies. */
bool sources_alias(const struct sources *s, int source);

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

/* keeps its memory */
static inline void pointers_clear(struct pointers *p)
{
	if (p->len > 0)
		memset(p->keys, 0, p->cap * sizeof(*p->keys));
	p->len = 0;
}

void pointers_finish(struct pointers *p);

/* ---- What a point has been given before.
 *
 * Mode auto compiles for the values that it sees; a size or number that differs
 * from the ones before becomes a symbol at the next compile (AUTOMATIC DYNAMIC
 * SHAPES, as torch's). */

struct seen {
	char *name; /* the source's */
	uint64_t hash;
	struct value number;
	bool number_changed;
	int rank; /* -1: not seen as a tensor */
	int64_t size[MAX_RANK];
	bool changed[MAX_RANK];
};

struct memory {
	VEC(struct seen) list;
	uint32_t *slots; /* by hash: 1 + the index in `list`; 0: free */
	size_t n_slots;  /* 0, or a power of 2 that is more than twice as many as the list has */
};

/* Notes the source's value, a number or tensor, and says what has changed so far.
 * NULL when out of memory. */
const struct seen *memory_note(struct memory *m, const struct source *source);
void memory_finish(struct memory *m);

#endif
