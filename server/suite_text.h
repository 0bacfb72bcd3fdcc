/* server/suite_text.h -- the report of a suite (profiler/suite.h) as text. */
#ifndef SERVER_SUITE_TEXT_H
#define SERVER_SUITE_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends a sentence for each column, the table of columns, a row for each workload, and
 * the reasons of what did not pass. */
void suite_text(struct buf *out, const json_t *report);

#endif
