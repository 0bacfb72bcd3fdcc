/* fusion/runtime/recipe.h -- private to runtime/: how a call's result is put together.
 *
 * The function returned a tree: tensors, tuples, dicts, numbers.  A recipe is
 * that tree with a note at each leaf: output i of the graph, an argument, a
 * size, or a plain value.  Following it makes fresh containers for each call.
 */
#ifndef FUSION_RUNTIME_RECIPE_H
#define FUSION_RUNTIME_RECIPE_H

#include "fusion/runtime/trace.h"

enum recipe_kind {
	RECIPE_VALUE,  /* a plain value: a reference */
	RECIPE_SLOT,   /* an argument, or a part of one */
	RECIPE_LIFTED, /* a tensor of a global */
	RECIPE_OUTPUT, /* a result of the graph */
	RECIPE_AGAIN,  /* the same object as step `index` */
	RECIPE_VIEW,   /* a view of the next step */
	RECIPE_SIZE,
	RECIPE_SEQUENCE, /* tuple or list of the next `n` steps */
	RECIPE_DICT,     /* of the next `n` steps */
};

struct recipe_step {
	enum recipe_kind kind;
	enum value_kind sequence;
	bool is_size; /* of a tuple: a torch.Size */
	int index, n;
	struct value value; /* VALUE: it; DICT: one with the keys; LIFTED: the tensor */
	const struct sym *size;
	const struct view_layout *layout; /* VIEW */
	const struct vtensor *made_from;  /* the capture's object, while building */
};

struct recipe {
	struct recipe_step *steps;
	int n;
	struct value *made; /* by step, while following */
};

/* Notes how `result` is made.  Node ids of its tensors are appended to
 * outputs[0..*n_outputs).  VALUE where it is nested too deep. */
struct recipe_builder {
	struct trace *trace;
	VEC(struct recipe_step) steps;
	VEC(int) outputs;
	struct err *err;
};
bool recipe_add(struct recipe_builder *b, struct value result, int depth);

/* Moves the steps into `arena`; frees the builder in any case. */
bool recipe_create(struct recipe *r, struct recipe_builder *b, struct arena *arena, bool ok);
void recipe_finish(struct recipe *r);

struct recipe_call {
	const struct slots *slots;
	const struct value *args;
	struct tensor **outputs; /* taken: each is NULL afterwards */
	const int64_t *vars;
};

/* *out is the caller's.  MEMORY. */
bool recipe_follow(struct recipe *r, const struct recipe_call *call, struct value *out,
		   struct err *err);

#endif
