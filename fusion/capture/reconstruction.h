/* fusion/capture/reconstruction.h -- private to capture/: how what a piece left is made again.
 *
 * A piece leaves values: its result, or the locals and operands where it
 * stopped, and what it stored in objects from outside.  Each is a tree with a
 * note at each leaf: output i of the graph, a slot, a size, or a plain value.
 * Following the recipe makes fresh containers for each call, and keeps what was
 * one object one object.
 */
#ifndef FUSION_RUNTIME_RECIPE_H
#define FUSION_RUNTIME_RECIPE_H

#include "fusion/capture/trace/trace.h"

enum recipe_kind {
	RECIPE_VALUE,  /* a plain value: a reference */
	RECIPE_SLOT,   /* an object from outside; n: a tensor that is a parameter, as below */
	RECIPE_LIFTED, /* a tensor that no slot leads to */
	RECIPE_OUTPUT, /* a result of the graph */
	RECIPE_FLOAT,  /* the same as a Python number */
	RECIPE_AGAIN,  /* the same object as step `index` */
	RECIPE_VIEW,   /* a view of the next step */
	RECIPE_CHOICE, /* one of two; output `index` tells which */
	RECIPE_TEXT,   /* of the values in its gaps, which follow */
	RECIPE_SIZE,   /* numbers of symbols */
	RECIPE_REAL,
	RECIPE_BOOL,
	/* of the steps that follow: */
	RECIPE_SEQUENCE, /* tuple or list, n */
	RECIPE_DICT,     /* n values; `value` has the keys */
	RECIPE_KEYED,    /* n pairs of key and value */
	RECIPE_SET,      /* `value`, copied */
	RECIPE_SLICE,    /* 3 */
	RECIPE_ITER,     /* what it is over */
	RECIPE_CELL,     /* the content; n 0: none */
	RECIPE_FUNCTION, /* defaults, kwdefaults, closure: None or a container */
	RECIPE_METHOD,   /* function, self */
	RECIPE_NATIVE,   /* self */
	RECIPE_INSTANCE, /* class, attributes (None or a dict), payload (n 3: it has one) */
	RECIPE_COUNT
};

struct entry;
struct grad_node;

struct recipe_step {
	enum recipe_kind kind;
	int index, n;
	struct value value;
	union {
		const struct sym *size;
		const struct symreal *real;
		const struct size_condition *condition;
	};
	const struct view_layout *layout; /* VIEW */
	const struct entry_text *text;    /* TEXT */
	bool part, stale;                 /* VIEW: autograd_note_part() */
	bool requires_grad;               /* OUTPUT, VIEW: it would require a gradient */
	bool detached;                    /* VIEW: no gradient goes through it */
	bool of_detached;                 /* VIEW: after its base comes the result of detach() that
					     it is a view of for writes to come */
	bool leaf;                        /* OUTPUT, VIEW: it requires a gradient of its own */
};

struct recipe {
	struct recipe_step *steps;
	int n;
	struct value *made; /* by step, while following */
};

struct recipe_builder {
	struct trace *trace;
	VEC(struct recipe_step) steps;
	VEC(int) outputs;       /* nodes */
	VEC(int) viewed;        /* nodes of views that are handed out */
	struct pointers made;   /* objects of the capture: their step */
	VEC(struct value) kept; /* made while building: references */
	bool returns;           /* the frame is left: its own cells are not those of the call */
	struct err *err;
};

/* Notes how `v` is made; its first step, or -1.  VALUE, BOUND: it cannot be
 * (a generator, something too deep); MEMORY. */
int recipe_add(struct recipe_builder *b, struct value v);

/* Moves the steps into `arena`; frees the builder in any case. */
bool recipe_create(struct recipe *r, struct recipe_builder *b, struct arena *arena, bool ok);
void recipe_finish(struct recipe *r);

struct recipe_call {
	const struct slots *slots;
	const struct roots *roots;
	struct vm *vm;
	struct tensor **outputs; /* taken: each is NULL afterwards */
	const int64_t *vars;
	const struct entry *entry;
	struct grad_node *node;    /* of outputs that have a gradient; NULL: none has */
	struct autograd *autograd; /* NULL: views are not noted */
};

/* Makes all of it: r->made holds references until recipe_drop().  MEMORY. */
bool recipe_follow(struct recipe *r, const struct recipe_call *call, struct err *err);
void recipe_drop(struct recipe *r);

#endif
