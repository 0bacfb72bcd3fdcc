/* fusion/capture/sources/memory.h -- private to capture/: what a point has been given before.
 *
 * Mode auto compiles for the values that it sees; a size or number that differs
 * from the ones before becomes a symbol at the next compile (AUTOMATIC DYNAMIC
 * SHAPES, as torch's).
 */
#ifndef FUSION_RUNTIME_MEMORY_H
#define FUSION_RUNTIME_MEMORY_H

#include "fusion/base/vec.h"
#include "fusion/capture/sources/sources.h"

struct seen {
	char *name; /* the slot's */
	uint64_t hash;
	struct value number;
	bool number_changed;
	int rank; /* -1: not seen as a tensor */
	int64_t size[MAX_RANK];
	bool changed[MAX_RANK];
};

struct memory {
	VEC(struct seen) list;
	size_t next; /* behind the one that was asked for last */
};

/* Notes the slot's value, a number or tensor, and says what has changed so far.
 * NULL when out of memory. */
const struct seen *memory_note(struct memory *m, const struct slot *slot);
void memory_finish(struct memory *m);

#endif
