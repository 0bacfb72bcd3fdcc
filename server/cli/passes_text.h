/* server/cli/passes_text.h -- what passes did to graphs, as text for a terminal. */
#ifndef SERVER_PASSES_TEXT_H
#define SERVER_PASSES_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* For each graph of `explanation`: each pass that changed it, the rules that fired
 * with their lines, and which lines of the graph went and came. */
void passes_text_print(struct buf *out, const json_t *explanation);

#endif
