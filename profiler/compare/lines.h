/* profiler/compare/lines.h -- two texts line by line. */
#ifndef PROFILER_COMPARE_LINES_H
#define PROFILER_COMPARE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/arena.h"

struct line_change {
	const char *sign; /* " " both have it, "-" a alone, "+" b alone */
	int in_a, in_b;   /* its number there, from 1; 0: it is not there */
	const char *text;
};

/* The fewest lines added and gone (longest common subsequence). */
struct lines {
	bool counted; /* false past 2,000 lines on a side: then the rest is 0 */
	int added, gone;
	struct line_change *at; /* NULL where both are alike, too */
	size_t n;
};

/* Lines live in the arena.  False when out of memory. */
bool lines_compare(const char *a, const char *b, struct arena *arena, struct lines *out);

/* Line `number`, from 1, of a text without the space around it: *len bytes; "" where there
 * is none. */
const char *lines_at(const char *text, int number, int *len);

#endif
