/* profiler/compare/lines.h -- two texts line by line. */
#ifndef PROFILER_COMPARE_LINES_H
#define PROFILER_COMPARE_LINES_H

#include <jansson.h>

/* {"added", "gone", "lines": [{"sign": " ", "+" or "-", "a": number in a or null, "b":
 * likewise, "text"}]}: the fewest lines added and gone (longest common subsequence).
 * Past 2,000 lines on a side, and where both are alike, "lines" is null; "added" and "gone"
 * are then null or 0.  NULL when out of memory. */
json_t *lines_compare(const char *a, const char *b);

/* Line `number`, from 1, of a text without the space around it: *len bytes; "" where there
 * is none. */
const char *lines_at(const char *text, int number, int *len);

#endif
