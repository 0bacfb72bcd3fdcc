/* fusion/vm/generator.h -- frames that pause.
 *
 * A generator's frame lies in memory of its own and is linked onto the VM's
 * stack while it runs.  One that the program drops before its end is closed, for its
 * finally blocks to run: not where the last reference goes, which may be anywhere in
 * the machine's C code, but before the next instruction.
 */
#ifndef FUSION_VM_GENERATOR_H
#define FUSION_VM_GENERATOR_H

#include <stdlib.h>

#include "fusion/vm/frame.h"

/* The innermost frame f, its arguments bound, moves into a new generator. */
bool generator_make(struct vm *vm, struct frame *f, struct value *out, struct err *err);

/* Runs it to its next yield; *more is false at its end, *out then untouched. */
bool generator_next(struct vm *vm, struct generator *g, struct value *out, bool *more,
		    struct err *err);

/* Fails with StopIteration, whose value is what the generator returned; `over` may be
 * any iterator. */
bool generator_ended(struct vm *vm, struct value over, struct err *err);

/* Closes those that the program dropped since the last time. */
bool generators_close(struct vm *vm, struct err *err);

/* Drops them instead: those of a capture that is over, or all, where a run is over. */
void generators_forget(struct vm *vm, bool all);

/* Whether a generator that the running capture made is still to be closed. */
bool generators_wait(const struct vm *vm);

/* For value.c: the last reference to it went.  True: it lives on, to be closed. */
bool generator_dropped(struct generator *g);

/* For value.c: the frame's values, and its memory. */
void generator_visit(struct generator *g, object_visit_fn *visit, void *context);

static inline void generator_release(struct generator *g)
{
	free(g->frame);
}

#endif
