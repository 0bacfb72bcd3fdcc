/* fusion/capture/reconstruction.h -- private to capture/: how what a piece left is made again.
 *
 * A piece leaves values: its result, or the locals and operands where it
 * stopped, and what it stored in objects from outside.  Each is a tree with a
 * note at each leaf: output i of the graph, a source, a size, or a plain value.
 * Following the reconstruction makes fresh containers for each call, and keeps what was
 * one object one object.
 */
#ifndef FUSION_CAPTURE_RECONSTRUCTION_H
#define FUSION_CAPTURE_RECONSTRUCTION_H

#include <string.h>

#include "fusion/capture/trace/trace.h"

enum reconstruction_kind {
	RECONSTRUCT_VALUE,  /* a plain value: a reference */
	RECONSTRUCT_SOURCE, /* an object from outside; n: a tensor that is a parameter, as below */
	RECONSTRUCT_LIFTED, /* a tensor that no source leads to */
	RECONSTRUCT_OUTPUT, /* a result of the graph */
	RECONSTRUCT_FLOAT,  /* the same as a Python number */
	RECONSTRUCT_AGAIN,  /* the same object as step `index` */
	RECONSTRUCT_VIEW,   /* a view of the next step */
	RECONSTRUCT_CHOICE, /* one of two; output `index` tells which */
	RECONSTRUCT_TEXT,   /* of the values in its gaps, which follow */
	RECONSTRUCT_SIZE,   /* numbers of symbols */
	RECONSTRUCT_REAL,
	RECONSTRUCT_BOOL,
	/* of the steps that follow: */
	RECONSTRUCT_SEQUENCE, /* tuple or list, n */
	RECONSTRUCT_DICT,     /* n values; `value` has the keys */
	RECONSTRUCT_KEYED,    /* n pairs of key and value */
	RECONSTRUCT_SET,      /* `value`, copied, and n members */
	RECONSTRUCT_SLICE,    /* 3 */
	RECONSTRUCT_ITER,     /* what it is over */
	RECONSTRUCT_CELL,     /* the content; n 0: none */
	RECONSTRUCT_FUNCTION, /* defaults, kwdefaults, closure: None or a container */
	RECONSTRUCT_METHOD,   /* function, self */
	RECONSTRUCT_NATIVE,   /* self */
	RECONSTRUCT_NUMBER,   /* NumPy's, of the one element of the next step */
	RECONSTRUCT_INSTANCE, /* class, attributes (None or a dict), payload (n 3: it has one) */
	RECONSTRUCT_COUNT
};

struct entry;
struct grad_node;

struct reconstruction_step {
	enum reconstruction_kind kind;
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

struct reconstruction {
	struct reconstruction_step *steps;
	int n;
	struct value *made; /* by step, while following */
};

struct reconstruction_builder {
	struct trace *trace;
	VEC(struct reconstruction_step) steps;
	VEC(int) outputs;        /* nodes */
	VEC(int) viewed;         /* nodes of views that are handed out */
	struct pointers made;    /* objects of the capture: their step */
	VEC(struct value) given; /* tensors of the capture that have attributes: borrowed */
	VEC(struct value) kept;  /* made while building: references */
	bool of_method;          /* what a method is called on is added */
	bool returns;            /* the frame is left: its own cells are not those of the call */
	struct err *err;
};

/* Notes how `v` is made; its first step, or -1.  VALUE, BOUND: it cannot be
 * (a generator, something too deep); MEMORY. */
int reconstruction_add(struct reconstruction_builder *b, struct value v);

/* Moves the steps into `arena`; frees the builder in any case. */
bool reconstruction_create(struct reconstruction *r, struct reconstruction_builder *b,
			   struct arena *arena, bool ok);
static inline void reconstruction_finish(struct reconstruction *r)
{
	for (int i = 0; i < r->n; i++)
		value_unref(r->steps[i].value);
	r->n = 0;
}

struct reconstruction_call {
	const struct sources *sources;
	const struct roots *roots;
	struct vm *vm;
	struct tensor **outputs; /* taken: each is NULL afterwards */
	const int64_t *vars;
	const struct entry *entry;
	struct grad_node *node;    /* of outputs that have a gradient; NULL: none has */
	struct autograd *autograd; /* NULL: views are not noted */
};

/* The first element. */
static inline struct value reconstruction_element(const struct tensor *t)
{
	if (t->dtype == DTYPE_I64)
		return value_int(*(const int64_t *)tensor_data(t));
	if (t->dtype == DTYPE_BOOL)
		return value_bool(tensor_get_double(t, 0) != 0);
	if (dtype_category(t->dtype) != CATEGORY_FLOAT)
		return value_int((int64_t)tensor_get_double(t, 0));
	return value_float(tensor_get_double(t, 0));
}

/* NumPy's number of the element of a tensor, or of the array that holds it.  UNSET: it has none. */
static inline struct value reconstruction_number(struct value v)
{
	struct value made = { .kind = VALUE_UNSET };
	const struct tensor *t;

	if (v.kind == VALUE_INSTANCE) /* one that an earlier piece left */
		v = *value_dict_find(v.instance->attributes, "_tensor");
	if (v.kind != VALUE_TENSOR || !tensor_check_memory(v, NULL))
		return made;
	t = v.tensor->memory;
	made = reconstruction_element(t);
	for (int i = SCALAR_PYTHON + 1; i < SCALAR_COUNT; i++)
		if (strcmp(strchr(scalar_infos[i].name, '.') + 1, dtype_name(t->dtype)) == 0)
			made.scalar = (enum scalar_type)i;
	return made;
}

/* Makes all of it: r->made holds references until reconstruction_drop().  MEMORY. */
bool reconstruction_follow(struct reconstruction *r, const struct reconstruction_call *call,
			   struct err *err);
static inline void reconstruction_drop(struct reconstruction *r)
{
	for (int i = 0; i < r->n; i++) {
		struct value v = r->made[i];

		r->made[i] = (struct value){ .kind = VALUE_UNSET };
		value_unref(v);
	}
}

#endif
