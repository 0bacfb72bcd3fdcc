/* fusion/vm/inst.h -- instructions that the interpreter loop hands on.
 *
 * Each takes its operands from f's stack and leaves its result there; on
 * failure what is left on the stack is what the frame still owns.
 */
#ifndef FUSION_VM_INST_H
#define FUSION_VM_INST_H

#include "fusion/vm/frame.h"
#include "fusion/vm/realize.h"

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

/* replace() with a result that may be lazy. */
static inline bool result(struct vm *vm, struct frame *f, int n, struct value v, struct err *err)
{
	replace(f, n, v);
	return realize(vm, &f->top[-1], err);
}

/* A global as the host has it: a reference, or UNSET; and its new value, UNSET to delete it. */
static inline bool global_load(struct vm *vm, int slot, struct value *out, struct err *err)
{
	const struct global *g = &vm->globals[slot];
	struct vm_host *host = vm->host;

	*out = g->value;
	if (!host->load_global || global_is_fixed(g)) {
		value_ref(*out);
		return true;
	}
	vm_host_here(vm);
	return host->load_global(host->self, slot, g->name, g->value, out, err) &&
	       realize(vm, out, err);
}

static inline bool global_store(struct vm *vm, int slot, struct value v, struct err *err)
{
	struct vm_host *host = vm->host;
	struct global *g = &vm->globals[slot];

	if (host->store_global && !g->ours) {
		vm_host_here(vm);
		return host->store_global(host->self, slot, g->name, v, err);
	}
	store(&g->value, value_ref(v));
	return true;
}

/* Any instruction that the loop does not run itself: displays, comprehensions, unpacking,
 * definitions; and the slow way of LOAD_FAST, LOAD_GLOBAL and LOAD_DEREF. */
bool inst_other(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

/* call.c: CALL, CALL_KW and CALL_EX.  A call of a program's function leaves its frame as
 * vm->frame, unless the evaluator ran it; any other is done when this returns. */
bool inst_call(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

#endif
