/* server/cli/suite_text.h -- the report of a suite (profiler/suite/suite.h) as text. */
#ifndef SERVER_SUITE_TEXT_H
#define SERVER_SUITE_TEXT_H

#include <jansson.h>

#include "fusion/base/buf.h"

/* Appends a sentence for each column, the table of columns, a row for each workload, and
 * the reasons of what did not pass. */
void suite_text(struct buf *out, const json_t *report);

/* Appends a comparison of two (server/api/compare_suites.h): what broke and was fixed, a table
 * of columns with the geomeans of their changes, and the speedups that changed. */
void suite_compare_text(struct buf *out, const json_t *comparison);

#endif
