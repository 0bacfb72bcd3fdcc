/* fusion/vm/realize.h -- values that a capture has not read yet.
 *
 * A VALUE_LAZY stands for a value of the caller that the program has only passed on so far:
 * nothing is guarded until the program looks at it.  Dynamo calls this
 * LazyVariableTracker.realize(). */
#ifndef FUSION_VM_REALIZE_H
#define FUSION_VM_REALIZE_H

#include "fusion/vm/frame.h"

/* Puts what a VALUE_LAZY stands for in its place; any other value stays. */
bool realize_lazy(struct vm *vm, struct value *place, struct err *err);
static inline bool realize(struct vm *vm, struct value *place, struct err *err)
{
	return __builtin_expect(place->kind != VALUE_LAZY, 1) || realize_lazy(vm, place, err);
}

/* Also all that lies in a tuple, list or dict, at any depth, for an instruction that looks
 * inside. */
bool realize_contents(struct vm *vm, struct value v, struct err *err);
static inline bool realize_inside(struct vm *vm, struct value v, struct err *err)
{
	return !vm->host->realize || realize_contents(vm, v, err);
}

/* ---- text that is made when the graph has run: VALUE_DEFERRED_TEXT. ---- */

/* Appends a STR or DEFERRED_TEXT as it is. */
bool text_append(struct vm *vm, struct value v, struct buf *text, struct err *err);
/* The program looks at the characters of a DEFERRED_TEXT, which are not there yet: the
 * capture ends.  Always false. */
bool text_needed(struct vm *vm, struct value v, struct err *err);
#ifdef TOLD /* what the analyzer is told of it (tests/analyzer.h) */
TOLD text_needed(struct vm *vm, struct value v, struct err *err)
{
	return (void)vm, (void)v, err_set(err, ERR_VALUE, "a text is needed");
}
#endif

static inline bool text_has_gaps(const struct buf *text)
{
	return text->data && memchr(text->data, TEXT_GAP, text->len);
}

#endif
