/* fusion/capture/control/join.h -- private to capture/: where the two sides of a branch meet. */
#ifndef FUSION_RUNTIME_JOIN_H
#define FUSION_RUNTIME_JOIN_H

#include "fusion/base/arena.h"
#include "fusion/lang/lang.h"

enum { JOIN_MAX_INSTS = 8192 };

struct join {
	int at;            /* the first instruction that both sides come to; -1: they return */
	const bool *stops; /* by instruction: `at`, and all ways out of the frame: RETURN, YIELD */
	bool raises[2];    /* the side that does not jump, the one that does: it only raises */
};

/* Of the JUMP_IF_* at `inst`, in `arena`.  False where the code is too long, or
 * out of memory. */
bool join_find(const struct code *code, int inst, struct arena *arena, struct join *out);

#endif
