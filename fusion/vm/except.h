/* fusion/vm/except.h -- from errors to exceptions, and the instructions of try and with. */
#ifndef FUSION_VM_EXCEPT_H
#define FUSION_VM_EXCEPT_H

#include "fusion/vm/frame.h"

/* Fails with exception e. */
bool except_throw(struct vm *vm, struct value e, struct err *err);

/* The exception that *err stands for, a reference; vm->raised is then empty.  False: no
 * program may catch it. */
bool except_value(struct vm *vm, const struct err *err, struct value *out);

/* Whether a frame between vm->frame and `base` handles the error: then it is
 * vm->frame, at its handler, with the exception on its stack, and *err is
 * clear again.  Else no frame is gone. */
bool except_catch(struct vm *vm, const struct frame *base, struct err *err);

/* raise, and what try and with compile to. */
bool inst_exception(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

#endif
