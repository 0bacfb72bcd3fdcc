/* fusion/vm/except.h -- from errors to exceptions, and the instructions of try and with. */
#ifndef FUSION_VM_EXCEPT_H
#define FUSION_VM_EXCEPT_H

#include "fusion/vm/frame.h"

/* Fails with exception e. */
bool except_throw(struct vm *vm, struct value e, struct err *err);

/* The exception that *err stands for, a reference; vm->raised is then empty.  False: no
 * program may catch it. */
bool except_value(struct vm *vm, const struct err *err, struct value *out);

/* raise, and what try and with compile to. */
bool inst_exception(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

#endif
