/* server/text/run_table.h -- a report as text: the answer first, then its table. */
#ifndef SERVER_RUN_TABLE_H
#define SERVER_RUN_TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/buf.h"

/* Appends the verdict of each compiled mode as a sentence, a table with a row
 * for each point and mode, and how it was measured.  A report without timing
 * gives calls, graphs and kernels instead. */
void run_table_print(struct buf *out, const json_t *report);

/* Whether every mode at every point gives eager's values. */
bool run_table_agrees(const json_t *report);

/* The verdicts alone, a line each. */
void run_table_sentences(struct buf *out, const json_t *report);

#endif
