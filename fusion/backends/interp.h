/* fusion/backends/interp.h -- the interpreter's programs.  Private to backends/. */
#ifndef FUSION_BACKENDS_INTERP_H
#define FUSION_BACKENDS_INTERP_H

#include "fusion/backends/executable.h"

enum {
	MAX_LOCATIONS = 1024,
	/* A tile of 8-byte elements; the rest spreads tiles over the cache's sets. */
	TEMP_BYTES = TILE_ELEMENTS * 8 + 128,
};

enum step_kind {
	STEP_POINT,  /* dst = point(src...) */
	STEP_REDUCE, /* accumulator dst = reduce(src[0]) */
	STEP_FOLD,   /* COLS: accumulator dst joined by src[0] */
	STEP_SPLAT,  /* repeat the first `splat` bytes of dst */
};

struct step {
	enum step_kind kind;
	union {
		point_fn *point;
		reduce_fn *reduce;
		fold_fn *fold;
		splat_fn *spread;
	};
	int dst, src[3]; /* locations */
	unsigned splat;
};

struct program {
	int n_places, n_temps;
	int n_regs, *regs; /* registers above LEVEL_POINT that it names */
	int n_steps;
	struct step *steps;
};

/* One block of memory, to be freed.  NULL with MEMORY, UNSUPPORTED or INTERNAL. */
struct program *program_create(const struct plan *plan, int part,
			       const struct kernel_table *kernels, struct err *err);

extern const struct backend backend_interp;

#endif
