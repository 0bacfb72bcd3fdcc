/* server/text/mixed_text.h -- what autocast saved, as text: for the table of a run. */
#ifndef SERVER_MIXED_TEXT_H
#define SERVER_MIXED_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends a table with a row for each point and mode; nothing for a report whose
 * workload has no autocast. */
void mixed_text_print(struct buf *out, const json_t *report);

#endif
