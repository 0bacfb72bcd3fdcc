/* server/text/change_text.h -- what a change of the program did, as text: for the table of a run.
 */
#ifndef SERVER_CHANGE_TEXT_H
#define SERVER_CHANGE_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends a line for each point and mode; nothing for a report whose workload has no
 * `before`. */
void change_text_print(struct buf *out, const json_t *report);

#endif
