/* server/api/compare_suites.h -- suites of the store and in files, to be compared. */
#ifndef SERVER_COMPARE_SUITES_H
#define SERVER_COMPARE_SUITES_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"

/* Suite `after` against `before`: each the number of one in the store at `db`, which a server
 * may be using, or a file: what `breakeven suite --json` printed, or GET /suites/{id} answered.
 * The object of suite_compare() (profiler/suite/suite.h) with "before" and "after", each {"name"}
 * and its "id" or "file".  New; NULL with IO, JSON, NOT_FOUND or STORAGE. */
json_t *compare_suites(const char *before, const char *after, const char *db, struct err *err);

/* Whether a workload that passed does not, or the speedups of a column are SLOWER together. */
bool compare_suites_lost(const json_t *comparison);

#endif
