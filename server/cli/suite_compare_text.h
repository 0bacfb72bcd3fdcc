/* server/cli/suite_compare_text.h -- a comparison of two suites as text. */
#ifndef SERVER_CLI_SUITE_COMPARE_TEXT_H
#define SERVER_CLI_SUITE_COMPARE_TEXT_H

#include "fusion/base/buf.h"

struct report_suite_comparison;

/* Appends a comparison of two (profiler/suite/suite.h): what broke and was fixed, a table
 * of columns with the geomeans of their changes, and the speedups that changed. */
void suite_compare_text(struct buf *out, const struct report_suite_comparison *comparison);

#endif
