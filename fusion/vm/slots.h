/* fusion/vm/slots.h -- special methods of values that no class of a program made. */
#ifndef FUSION_VM_SLOTS_H
#define FUSION_VM_SLOTS_H

#include "fusion/vm/frame.h"

/* o.__name__ of a row of slots.def; *found false, and no error: it has none. */
bool slot_attribute(struct vm *vm, struct value o, const char *name, struct value *out, bool *found,
		    struct err *err);

#endif
