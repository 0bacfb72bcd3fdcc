/* fusion/capture/live.h -- private to capture/: which locals a frame still needs. */
#ifndef FUSION_RUNTIME_LIVE_H
#define FUSION_RUNTIME_LIVE_H

#include "fusion/base/arena.h"
#include "fusion/lang/lang.h"

/* live[i]: local i may be read from instruction `inst` on, before it is stored
 * to.  In `arena`; NULL when out of memory. */
const bool *live_locals(const struct code *code, int inst, struct arena *arena);

#endif
