/* fusion/capture/live.h -- private to capture/: which locals a frame still needs. */
#ifndef FUSION_RUNTIME_LIVE_H
#define FUSION_RUNTIME_LIVE_H

#include "fusion/base/arena.h"
#include "fusion/lang/lang.h"

/* live[i]: local i may be read from instruction `inst` on, before it is stored
 * to.  In `arena`; NULL when out of memory. */
const bool *live_locals(const struct code *code, int inst, struct arena *arena);

/* Whether a local may be without a value at instruction `inst`: on some path no store comes
 * before it.  True, too, when out of memory. */
bool local_may_be_unset(const struct code *code, int inst, int local);

#endif
