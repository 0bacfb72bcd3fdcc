/* profiler/fields/breaks.h -- breaks of a report: where one is shown, which of them are the same,
 * what is said of them.
 *
 * The page (through findings), texts and exports ask here alone.  Thread-safe.
 */
#ifndef PROFILER_FIELDS_BREAKS_H
#define PROFILER_FIELDS_BREAKS_H

#include <stdbool.h>

#include "fusion/base/buf.h"
#include "profiler/fields/fields.h"

/* Where a break is to be looked for: its cause, else the innermost line of its stack.  Columns are
 * 0 where they are unknown. */
struct break_place {
	const char *file; /* of the report's; NULL: the program has one */
	int line, column, end_column;
};
struct break_place break_place_of(const struct report_break *b);

/* Whether two are one break, met again for other sizes or values. */
bool break_same(const struct report_break *a, const struct report_break *b);

/* How many there are, each counted once; of one stage, "capture" or "lowering", or of both (NULL).
 * It is the number that lists, tabs, suites and histories show. */
int64_t break_distinct(const struct report_break_list *breaks, const char *stage);

/* What an outcome means for the rest of the program: "the whole function runs in eager"; "" of one
 * that is unknown. */
const char *break_outcome_words(const char *outcome);

/* Writes what the break's rewrite gains: "these calls come out the same, with the other rewrite:
 * graphs 2 → 1, breaks 1 → 0"; nothing where that was not tried. */
void break_gain_print(struct buf *out, const struct report_break *b);

#endif
