/* profiler/align/match.h -- private: the model units of two sides, item by item. */
#ifndef PROFILER_ALIGN_MATCH_H
#define PROFILER_ALIGN_MATCH_H

#include "profiler/align/side.h"

/* Items [a, a + n) of A's model unit against [b, b + m) of B's: a pair, a group of which one side
 * was made of the other, or what one side alone has (n or m 0). */
struct match {
	size_t a, b;
	uint32_t n, m;
	bool moved; /* a pair that is launched at another place */
};

struct matches {
	VEC(struct match) list;
};

/* False when out of memory; free the list in any case. */
bool match_units(const struct align_side *a, const struct align_side *b, struct matches *out);

#endif
