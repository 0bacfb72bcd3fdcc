/* fusion/vm/evaluate.h -- the texts that a program evaluates while it runs. */
#ifndef FUSION_VM_EVALUATE_H
#define FUSION_VM_EVALUATE_H

#include "fusion/vm/vm.h"

/* Releases what eval() and exec() have compiled: no function of theirs may run afterwards. */
void evaluated_release(struct vm *vm);

#endif
