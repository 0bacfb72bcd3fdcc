/* fusion/vm/call_host.h -- calls of the host's functions, as torch.sin. */
#ifndef FUSION_VM_CALL_HOST_H
#define FUSION_VM_CALL_HOST_H

#include "fusion/vm/frame.h"

/* Calls f, a native of the host's; *out is the caller's.  An argument whose class has
 * __torch_function__ is asked for the result, an array of numpy is the tensor that it is around,
 * and generator= draws while it runs. */
bool call_host(struct vm *vm, const struct native *f, const struct arguments *args,
	       struct value *out, struct err *err);

/* A with statement on a TorchFunctionMode is open, and it is not its own code that calls. */
static inline bool in_function_mode(const struct vm *vm)
{
	const char *module = vm->frame ? vm->frame->unit->module : NULL;

	return __builtin_expect(vm->modes.function_modes > 0, 0) &&
	       (!module || strcmp(module, "_tensor_class") != 0);
}

/* What the mode makes of an operator, as __add__, of at most three operands. */
bool call_host_operator(struct vm *vm, const char *name, const struct value *operands, int n,
			struct value *out, struct err *err);

/* The same of f, a function of the prelude; *found false: none is asked, and f is to be called. */
bool call_host_overridden(struct vm *vm, struct value f, const struct arguments *args,
			  struct value *out, bool *found, struct err *err);

#endif
