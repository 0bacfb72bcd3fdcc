/* profiler/compare/sentences.h -- private: a comparison in words. */
#ifndef PROFILER_COMPARE_SENTENCES_H
#define PROFILER_COMPARE_SENTENCES_H

#include "fusion/base/arena.h"
#include "profiler/fields/fields.h"

/* Fills in `sentence` and `how` by the other fields, which are set.  The words claim what the
 * interval holds, and no cause.  False when out of memory. */
bool compared_say(struct report_compared *to, double margin, struct arena *arena);

#endif
