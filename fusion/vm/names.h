/* fusion/vm/names.h -- what is said of names that do not exist. */
#ifndef FUSION_VM_NAMES_H
#define FUSION_VM_NAMES_H

#include "fusion/vm/frame.h"

/* NAME, with the nearest global, builtin or local of the frame that runs;
 * UNSUPPORTED for Python's builtins that the language leaves out. */
bool vm_unknown_name(struct vm *vm, const char *name, struct err *err);

#endif
