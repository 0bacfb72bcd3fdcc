/* server/cli/compare_text.h -- a comparison as text: the answer first, then its table. */
#ifndef SERVER_COMPARE_TEXT_H
#define SERVER_COMPARE_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends, for each run beside A: the verdict as a sentence, the figures that have an
 * interval or differ, breaks and kernels that came, went or changed, and in what the two
 * differ otherwise. */
void compare_text_print(struct buf *out, const json_t *comparison);

#endif
