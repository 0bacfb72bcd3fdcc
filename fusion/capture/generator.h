/* fusion/capture/generator.h -- frames that pause.
 *
 * A generator's frame lies in memory of its own and is linked onto the VM's
 * stack while it runs.  What is not run to its end is dropped when the
 * generator is: its finally blocks do not run then.
 */
#ifndef FUSION_CAPTURE_GENERATOR_H
#define FUSION_CAPTURE_GENERATOR_H

#include "fusion/capture/frame.h"

/* The innermost frame f, its arguments bound, moves into a new generator. */
bool generator_make(struct vm *vm, struct frame *f, struct value *out, struct err *err);

/* Runs it to its next yield; *more is false at its end, *out then untouched. */
bool generator_next(struct vm *vm, struct generator *g, struct value *out, bool *more,
		    struct err *err);

/* The same, but the yield where it pauses raises `thrown`, or gives `sent`
 * (each UNSET: not). */
bool generator_resume(struct vm *vm, struct generator *g, struct value sent, struct value thrown,
		      struct value *out, bool *more, struct err *err);

/* Fails with StopIteration, whose value is what the generator returned; `over` may be
 * any iterator. */
bool generator_ended(struct vm *vm, struct value over, struct err *err);

/* RETURNED. */
void inst_returned(struct frame *f);

/* For value.c: the frame's values, and its memory. */
void generator_visit(struct generator *g, object_visit_fn *visit, void *context);
void generator_release(struct generator *g);

#endif
