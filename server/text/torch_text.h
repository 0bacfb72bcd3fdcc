/* server/text/torch_text.h -- what engine torch measured, as text: for the table of a run. */
#ifndef SERVER_TORCH_TEXT_H
#define SERVER_TORCH_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends a table with a row for each point and mode of PyTorch; nothing for a report
 * without that engine. */
void torch_text_print(struct buf *out, const json_t *report);

/* Why it failed, one line; NULL where it did not, or was not asked for. */
const char *torch_text_error(const json_t *report);

#endif
