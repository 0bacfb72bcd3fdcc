/* fusion/vm/inst.h -- instructions that the interpreter loop hands on.
 *
 * Each takes its operands from f's stack and leaves its result there; on
 * failure what is left on the stack is what the frame still owns.
 */
#ifndef FUSION_CAPTURE_INST_H
#define FUSION_CAPTURE_INST_H

#include "fusion/vm/frame.h"

/* The top n operands become one value; their references are dropped. */
static inline void replace(struct frame *f, int n, struct value v)
{
	struct value *bottom = f->top - n;

	while (f->top > bottom)
		value_unref(*--f->top);
	*f->top++ = v;
}

static inline void drop(struct frame *f, struct value *bottom)
{
	while (f->top > bottom)
		value_unref(*--f->top);
}

static inline void store(struct value *slot, struct value v) /* takes the reference */
{
	struct value old = *slot;

	*slot = v;
	value_unref(old);
}

/* force.c: a value that capture has not read yet.  Only ever true work under a
 * host with force(). */
bool force_place(struct vm *vm, struct value *place, struct err *err);
static inline bool force(struct vm *vm, struct value *place, struct err *err)
{
	return __builtin_expect(place->kind != VALUE_LAZY, 1) || force_place(vm, place, err);
}
/* All that lies in tuples, lists and dicts, for who looks inside them. */
bool force_contents(struct vm *vm, struct value v, struct err *err);
static inline bool force_inside(struct vm *vm, struct value v, struct err *err)
{
	return !vm->host->force || force_contents(vm, v, err);
}
/* The operands that an instruction of f looks at. */
bool force_operands(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

/* What a native may look at; only under a host with force(). */
bool force_arguments(struct vm *vm, const struct native *f, const struct value *args, int n,
		     struct err *err);

/* replace() with a result that may be lazy. */
static inline bool result(struct vm *vm, struct frame *f, int n, struct value v, struct err *err)
{
	replace(f, n, v);
	return force(vm, &f->top[-1], err);
}

/* inst.c: displays, comprehensions, unpacking, and all that is rare. */
bool inst_other(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

/* force.c: a JUMP_IF_* that a capture may follow both ways; *handled as the host
 * says. */
bool inst_fork(struct vm *vm, struct frame *f, bool *handled, struct err *err);
static inline bool may_fork(const struct vm *vm, struct value condition)
{
	return __builtin_expect(
		   condition.kind == VALUE_TENSOR ||
		       (condition.kind >= VALUE_SYMFLOAT && condition.kind <= VALUE_DEFERRED_BOOL),
		   0) &&
	       vm->host->fork;
}

/* variables.c */
bool unset_local(struct vm *vm, const struct frame *f, int arg, struct err *err);
bool inst_load_fast(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_load_global(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_store_global(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_delete_global(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_load_deref(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_delete_fast(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_delete_deref(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_load_name(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_store_name(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_delete_name(struct vm *vm, struct frame *f, int arg, struct err *err);

/* call.c: a call of a program's function leaves its frame as vm->frame, unless
 * the evaluator ran it; any other is done when this returns. */
bool inst_call(struct vm *vm, struct frame *f, int n, struct err *err);
bool inst_call_kw(struct vm *vm, struct frame *f, int n, struct err *err);
bool inst_call_ex(struct vm *vm, struct frame *f, struct err *err);
bool inst_make_function(struct vm *vm, struct frame *f, int arg, struct err *err);
bool inst_make_class(struct vm *vm, struct frame *f, int n, struct err *err);

/* except.c */
bool inst_raise(struct vm *vm, struct frame *f, int n, struct err *err);
bool inst_reraise(struct vm *vm, struct frame *f, struct err *err);
void inst_push_exc(struct vm *vm, struct frame *f);
void inst_pop_exc(struct vm *vm, struct frame *f);
bool inst_exc_match(struct vm *vm, struct frame *f, struct err *err);
bool inst_before_with(struct vm *vm, struct frame *f, struct err *err);
bool inst_with_exit(struct vm *vm, struct frame *f, struct err *err);
bool inst_with_except(struct vm *vm, struct frame *f, struct err *err);

/* Fails with exception e. */
bool except_throw(struct vm *vm, struct value e, struct err *err);
/* The exception that *err stands for, a reference; vm->raised is then empty. False: no
 * program may catch it. */
bool except_value(struct vm *vm, const struct err *err, struct value *out);

/* Whether a frame between vm->frame and `base` handles the error: then it is
 * vm->frame, at its handler, with the exception on its stack, and *err is
 * clear again.  Else no frame is gone. */
bool except_catch(struct vm *vm, const struct frame *base, struct err *err);

#endif
