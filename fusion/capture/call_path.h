/* fusion/capture/call_path.h -- which module of the program is at work. */
#ifndef FUSION_CAPTURE_CALL_PATH_H
#define FUSION_CAPTURE_CALL_PATH_H

#include "fusion/base/buf.h"
#include "fusion/capture/vm.h"

/* Appends the modules (nn.Module) whose methods are under way, outermost first:
 * "GPT/blocks.0:Block/attn:Attention".  Each but the first has its name in the one before
 * it, as named_modules() gives it, and its class; the class alone where that one does not
 * hold it.  Nothing where there is none.  `real` (NULL: there are no stand-ins) gives the
 * object that one of a capture stands for, itself where it stands for none. */
void vm_call_path(const struct vm *vm, struct value (*real)(const void *self, struct value v),
		  const void *self, struct buf *out);

#endif
