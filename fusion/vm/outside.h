/* fusion/vm/outside.h -- packages that the language leaves out, by outside.def.
 *
 * A program may import them: a published file often imports what its model never
 * uses.  Such a module's attributes are modules of the same kind, and whoever calls
 * one, derives from it or computes with it is told at that line. */
#ifndef FUSION_CAPTURE_OUTSIDE_H
#define FUSION_CAPTURE_OUTSIDE_H

#include "fusion/vm/frame.h"

/* What to write instead of "einops.layers.torch"; NULL where the package is none of them. */
const char *outside_advice(const char *module);

/* Fails, for a use of `v`, with its name and the advice; true where it is no such module. */
bool outside_refused(struct value v, struct err *err);

#endif
