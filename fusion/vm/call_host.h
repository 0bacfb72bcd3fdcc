/* fusion/vm/call_host.h -- calls of the host's functions, as torch.sin. */
#ifndef FUSION_VM_CALL_HOST_H
#define FUSION_VM_CALL_HOST_H

#include "fusion/vm/vm.h"

/* Calls f, a native of the host's; *out is the caller's.  An argument whose class has
 * __torch_function__ is asked for the result, an array of numpy is the tensor that it is around,
 * and generator= draws while it runs. */
bool call_host(struct vm *vm, const struct native *f, const struct arguments *args,
	       struct value *out, struct err *err);

#endif
