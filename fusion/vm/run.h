/* fusion/vm/run.h -- the interpreter loop, for vm.c. */
#ifndef FUSION_VM_RUN_H
#define FUSION_VM_RUN_H

#include "fusion/vm/frame.h"

/* Runs from vm->frame, which is `base` or was called from it, until `base`
 * returns.  On an error all frames down to `base` are gone, and *err has the
 * place of the instruction that raised it. */
bool vm_run(struct vm *vm, struct frame *base, struct value *out, struct err *err);

/* The same for a generator's frame: *more where it yields, and it is paused; at
 * its end *out is untouched.  `thrown`: an exception that its yield raises, or
 * UNSET. */
bool vm_run_generator(struct vm *vm, struct frame *base, struct value thrown, struct value *out,
		      bool *more, struct err *err);

/* Runs a module's code, of which the evaluator is not asked.  *out: what an expression gives; NULL:
 * it is no expression. */
bool vm_run_unit(struct vm *vm, struct unit *unit, struct value *out, struct err *err);

#endif
