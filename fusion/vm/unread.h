/* fusion/vm/unread.h -- nothing that a call gives to the prelude is ignored.
 *
 * The compiler notes which parameters the code of a function never loads
 * (code->unread).  A function of the prelude refuses every value of these but the
 * default, by name and at the place of the call, unless unread.def says why any
 * value will do.  So a parameter that is in a signature for PyTorch's sake alone
 * needs no check in its function, and none can be forgotten. */
#ifndef FUSION_CAPTURE_UNREAD_H
#define FUSION_CAPTURE_UNREAD_H

#include "fusion/vm/frame.h"

/* The parameters of a function of `module` that must keep their default. */
uint64_t unread_refused(const struct code *code, const char *module);

/* Whether frame f, whose arguments are bound, has the defaults there: else
 * UNSUPPORTED. */
bool unread_keeps_defaults(const struct frame *f, struct err *err);

#endif
