/* fusion/backends/words.h -- writes an expression of ops.def for a compute type. */
#ifndef FUSION_BACKENDS_WORDS_H
#define FUSION_BACKENDS_WORDS_H

#include <stdbool.h>

#include "fusion/base/buf.h"

/* The text with a, b and c replaced by `args`.  Words that exist for each type
 * (K, sel, v_sin, ...) get "_" and `type`; of bools, those of v_ get "_mask". */
void words_put(struct buf *out, const char *text, const char *type, bool bools,
	       const char *const args[3]);

#endif
