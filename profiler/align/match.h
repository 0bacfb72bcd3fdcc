/* profiler/align/match.h -- private: the model units of two sides, item by item. */
#ifndef PROFILER_ALIGN_MATCH_H
#define PROFILER_ALIGN_MATCH_H

#include "profiler/align/side.h"

/* Items of A's model unit against some of B's: a pair, a group of which one side was made of the
 * other, or what one side alone has (n or m 0). */
struct match {
	size_t a, b; /* the first of them in the lists below */
	uint32_t n, m;
	bool moved; /* a pair that is launched at another place */
};

/* Zeroed is empty. */
struct matches {
	VEC(struct match) list;
	VEC(uint32_t) a, b; /* items of the model units, match by match */
};

static inline void matches_finish(struct matches *m)
{
	VEC_FREE(&m->list);
	VEC_FREE(&m->a);
	VEC_FREE(&m->b);
}

/* False when out of memory; finish in any case. */
bool match_units(const struct align_side *a, const struct align_side *b, struct matches *out);

#endif
