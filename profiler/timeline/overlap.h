/* profiler/timeline/overlap.h -- private: how long a lane was busy, overlaps counted once.
 *
 * Told of spans in any order.  Those that come in the order of their starts are joined at once;
 * a file may hold others, which wait and are merged many at a time.  Memory is bounded: of more
 * spans apart than OVERLAP_MOST_SPANS the earliest are kept as a sum, and only one that begins
 * among those makes the answer a least one, and says so.
 */
#ifndef PROFILER_TIMELINE_OVERLAP_H
#define PROFILER_TIMELINE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/vec.h"

/* Of all lanes that share a room: 16 MB, and as much again while some are merged. */
enum { OVERLAP_MOST_SPANS = 1 << 20 };

struct overlap_span {
	int64_t from_ns, to_ns;
};

/* What several of them may keep together. */
struct overlap_room {
	size_t most, used; /* most 0: OVERLAP_MOST_SPANS */
};

struct overlap {
	VEC(struct overlap_span) spans; /* apart from each other, in order */
	VEC(struct overlap_span) late;  /* not merged yet */
	int64_t summed_ns;              /* of the spans that are not kept */
	int64_t kept_ns;                /* from where on they are kept */
	bool cut;                       /* some are not */
	bool at_least;                  /* overlap_ns() may be too small */
};

void overlap_finish(struct overlap *o); /* zeroed is fine */

/* False: out of memory. */
bool overlap_add(struct overlap *o, struct overlap_room *room, int64_t from_ns, int64_t to_ns);

/* False: out of memory. */
bool overlap_ns(struct overlap *o, struct overlap_room *room, int64_t *ns);

#endif
