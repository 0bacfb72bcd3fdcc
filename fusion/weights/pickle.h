/* fusion/weights/pickle.h -- private to weights/: reads a pickle without executing it.
 *
 * A pickle is a program of a stack machine.  This one makes numbers, text, tuples, lists, dicts and
 * sets; what a pickle names of a module is the reader's: it knows a few names, and what a call of
 * one gives.  A container is changed only until it is part of another, as pickles do, so
 * that none holds itself and no depth is unbounded.
 */
#ifndef FUSION_WEIGHTS_PICKLE_H
#define FUSION_WEIGHTS_PICKLE_H

#include "fusion/vm/value.h"

/* What stands for a name of a module, or for what only the reader knows, until it is used: no
 * value of a program. */
static inline struct value pickle_mark(int id)
{
	return (struct value){ .kind = VALUE_LAZY, .i = id };
}
static inline bool pickle_is_mark(struct value v)
{
	return v.kind == VALUE_LAZY;
}

struct pickle_reader {
	void *self;
	/* "collections", "OrderedDict": a mark, or a value; what it does not know it refuses. */
	bool (*name)(void *self, const char *module, const char *name, struct value *out,
		     struct err *err);
	/* callee(*args); `args` is a tuple, which may hold marks. */
	bool (*call)(void *self, struct value callee, struct value args, struct value *out,
		     struct err *err);
	/* What is kept apart from the pickle. */
	bool (*persistent)(void *self, struct value id, struct value *out, struct err *err);
	/* Takes what is beside an object's items: `made` is what call() gave. */
	bool (*build)(void *self, struct value made, struct value state, struct err *err);
	/* The dict whose entries an object's items are, borrowed; NULL: it has none. */
	struct dict *(*items)(void *self, struct value made);
};

/* Messages say at which byte; OP. */
bool pickle_read(const struct pickle_reader *r, const void *bytes, size_t len, struct value *out,
		 struct err *err);

#endif
