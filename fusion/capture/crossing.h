/* fusion/capture/crossing.h -- private to capture/: tensors that a break lies
 * between.
 *
 * For an observer that wants to know: what the frames hold where a piece ends, and
 * which of it the next piece reads again.  Nothing is kept for others.
 */
#ifndef FUSION_RUNTIME_CROSSING_H
#define FUSION_RUNTIME_CROSSING_H

#include <stdlib.h>

#include "fusion/base/vec.h"
#include "fusion/vm/value.h"

struct entry;
struct session;
struct storage;

struct storages {
	VEC(const struct storage *) list;
};

struct crossing {              /* zeroed: nothing was met */
	struct storages given; /* with the call */
	struct storages held;  /* by the frames, where the last break was met */
	size_t used_bytes;     /* before the call */
	int index;             /* of that break; -1: none yet */
};

/* A call begins; all three are for s->observer->crossed alone. */
void crossing_begin(struct session *s, const struct value *args, int n);
/* The frames stand where a break was met. */
void crossing_leave(struct session *s, int index);
/* An entry will run on what its guards have found. */
void crossing_enter(struct session *s, const struct entry *e);
void crossing_finish(struct crossing *c);

#endif
