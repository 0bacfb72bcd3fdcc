/* fusion/backends/host/emit.h -- from plans to C.
 *
 * Each part of a kernel becomes a function k<kernel>p<part> on a struct tile.
 * Nothing of the user's reaches the text: names are numbers, values literals.
 */
#ifndef FUSION_BACKENDS_HOST_EMIT_H
#define FUSION_BACKENDS_HOST_EMIT_H

#include <stdlib.h>

#include "fusion/backends/plan/plan.h"
#include "fusion/base/buf.h"

/* A loop over the tile: instructions whose values stay in registers. */
struct emit_loop {
	int width;  /* bytes of a lane: 4, 8, or 1 for bools alone; 0: any so far */
	bool heavy; /* calls the vector math library */
	bool reduces;
	int n; /* instructions */
};

/* How a part is cut into loops. */
struct schedule {
	const struct plan *plan;
	const struct part *part;
	struct emit_loop *loops;
	int n_loops;
	bool folds;          /* COLS: the one loop goes down the points of some columns */
	int *loop_of;        /* of each instruction; -1: none (loads, folds) */
	int *def;            /* of each register: the instruction here that writes it, -1 */
	int *depth;          /* of each instruction: the chain in its loop that it ends */
	int *place_of;       /* of each instruction, -1 */
	int *memory_at;      /* of each register: the place that holds it too, -1 */
	int *temp;           /* of each register: its tile in scratch, -1 */
	int *reduction;      /* of each instruction: which REDUCE it is, -1 */
	size_t *temp_offset; /* of each tile, and the bytes of its elements */
	size_t *temp_bytes;
	int *busy_until; /* of each tile: the last loop that reads it */
	int n_temps;
	size_t scratch_bytes;
	int *memory; /* the one block of memory of the above */
};

/* False: out of memory.  To be finished either way. */
bool schedule_part(struct schedule *s, const struct plan *plan, const struct part *part);

static inline void schedule_finish(struct schedule *s)
{
	free(s->memory);
	free(s->loops);
	free(s->temp_offset);
}

/* Whether a part has anything to run. */
static inline bool part_has_code(const struct part *part)
{
	for (int i = 0; i < part->n; i++)
		if (part->insts[i].kind != INST_IMM)
			return true;
	return false;
}

/* The whole translation unit.  `scratch[k]` is filled for plan k's parts in
 * turn, by plan->code[i].scratch_bytes.  False: out of memory. */
bool emit_source(struct buf *out, struct plan *const *plans, int n_plans, int vector_bytes,
		 struct err *err);

#endif
