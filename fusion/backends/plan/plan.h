/* fusion/backends/plan/plan.h -- a kernel of the tile program, ready to be driven.
 *
 * Both backends run a kernel the same way: executor*.c walk its space, turn
 * accesses into addresses and join reductions; the backend gives code that
 * computes one tile at a time (struct tile in vec.h).  A plan is made once by
 * plan_create() and filled with numbers by plan_bind() for given symbols.
 *
 * Parts of a kernel, in order: setup, prologue, then body and post per stage.
 */
#ifndef FUSION_BACKENDS_PLAN_PLAN_H
#define FUSION_BACKENDS_PLAN_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/backends/plan/reduce.h"
#include "fusion/backends/simd/simd.h"
#include "fusion/backends/simd/vec.h"
#include "fusion/base/pool.h"
#include "fusion/lower/lower.h"

enum {
	VECTOR_MAX = 64,          /* bytes of the widest vector */
	MAX_PLACES = 192,         /* accesses in one part */
	MAX_REDUCES = 32,         /* reductions in one part */
	LONG_TILE = 4096,         /* points of a tile where nothing but registers holds them */
	CHUNK = 32 * 1024,        /* points of a row that one thread reduces in one go */
	COLUMN_CHUNK = 2048,      /* COLS: the same, reduced points, at most */
	COLUMN_CHUNK_LEAST = 128, /* ... and at least, where that makes COLUMN_CHUNKS */
	COLUMN_CHUNKS = 64,
	PANEL_BYTES = 64 << 10,      /* pairs: of the rows that columns stand for */
	BACKWARD_POINTS = 32 * 1024, /* MAP: walked in one go where the whole is walked backward */
	LEAST_TURNED = 4,            /* COLS: points side by side that are turned into a tile */
	COLUMN_PAD = 64,             /* COLS: elements between the chunks of a slot */
	MAX_WORKERS = 64,
	PART_SETUP = 0,
	PART_PROLOGUE = 1,
};

/* One dim of a walk, in elements. */
struct plan_walk {
	int64_t extent, stride;
};

/* Where a LOAD, STORE, SAVE or RESTORE of a part goes. */
struct plan_place {
	const struct inst *inst;
	unsigned bytes; /* of an element */
	bool store;     /* STORE, SAVE */
	bool one;       /* one element: the others of its vector are copies */
	bool shared;    /* other tiles of the kernel write to the same buffer */
	/* Bound.  Outer dims (of rows) first to last; inner ones, of the tile axis,
	 * coalesced: none means that all points are the same element. */
	int64_t offset;
	int n_outer, n_inner;
	struct plan_walk outer[MAX_RANK], inner[MAX_RANK];
	int64_t points; /* of the inner dims */
	int64_t point_step,
	    column_step;   /* COLS of pairs: from a reduced point, or a column, to the next */
	int64_t row_bytes; /* quick ROWS: from one row of a run to the next */
	int64_t turn_step,
	    line_step;         /* turned: from a row of a block to the next, from a point of it */
	bool direct;           /* one run of stride 1 */
	bool whole;            /* ... and all of its buffer */
	bool plain;            /* ... of a tensor, and reads may overrun */
	struct joined *joined; /* LOAD of a join; then the rest is unused */
	struct looked_up *looked_up; /* LOAD by indices; likewise */
	int buffer;                  /* -1: none */
};

/* A LOAD of a join: its parts as places of their own. */
struct joined {
	int n;
	int64_t width;            /* points of all parts at one index of the outer dims */
	int64_t begin[MAX_PARTS]; /* of each part, among these */
	struct plan_place *places;
};

/* A LOAD by indices: x first, then each index. */
struct looked_up {
	int n; /* indices */
	int n_outer, n_inner;
	int buffer[1 + MAX_INDICES];
	int64_t offset[1 + MAX_INDICES], outer[1 + MAX_INDICES][MAX_RANK];
	int64_t extent[MAX_RANK], stride[1 + MAX_INDICES][MAX_RANK]; /* of the inner dims */
	int64_t least[MAX_INDICES], size[MAX_INDICES], step[MAX_INDICES];
};

/* The first index out of bounds that a launch met; kept by the executable. */
struct launch_fault {
	atomic_int raised;
	const struct node *node;
	int64_t index, size;
};

struct part {
	const struct inst *insts;
	int n;
	bool body;
	struct plan_place *places; /* in the order of the instructions */
	int n_places;
	const struct inst *reduces[MAX_REDUCES];
	const struct reducer *reducers[MAX_REDUCES];
	int lanes[MAX_REDUCES]; /* what the code leaves of each reduction */
	int n_reduces;
	bool exact;  /* no reduction rounds: its dtype is as good as a wide one */
	bool stores; /* has a STORE */
};

/* Code for one part. */
struct tile_code {
	void (*run)(const void *code, const struct tile *t);
	const void *code;
	size_t scratch_bytes; /* tiles in memory; then n <= TILE_ELEMENTS */
	/* The body of pairs: a place is the points of a row, or of so many columns side by side,
	 * and the accumulators' columns fill whole vectors. */
	bool pairs;
};

/* What one thread needs. */
struct plan_worker {
	void **reg; /* see struct tile */
	void **acc;
	unsigned char *staging; /* a tile for each place of a part */
	void *scratch;
	int64_t *base; /* of each place of each part: the row's offset; then of each lookup's */
	unsigned char **slot;
	char **quick;          /* of each place: where its row lies now */
	float **panel;         /* pairs: of each place of the body, the points that it meets */
	union number *partial; /* of a chunk: [reduce] or [reduce][column] */
	union number *total;   /* of a row, likewise */
	size_t room_bytes;     /* from `staging` on, all that no launch finds as another left it */
};

/* A MAP where loads lie along another dim than the last: it is walked in blocks of both dims,
 * so that lines of memory that such a load reads are read once.  The dims: outer, turned,
 * between, lines. */
struct plan_turn {
	int64_t outer, extent, between, line; /* points of each */
	int64_t rows, width;                  /* of a block, along the turned dim and the last */
};

struct plan {
	const struct lowered *lowered;
	const struct kernel *kernel;
	struct kernel *by_rows;             /* NULL, or that kernel in another form */
	const struct kernel_table *kernels; /* of the unit that the code is for */
	bool exact; /* no store goes beyond the last element of a buffer: set after plan_create() */
	struct part *parts;
	struct plan_place *places;
	struct joined *joined;       /* of all loads of joins; with their places after them */
	struct looked_up *looked_up; /* of all loads by indices */
	int n_parts, n_places, n_joined, n_looked_up;
	struct launch_fault *fault;    /* where some load by indices; set before a launch */
	int most_places, most_reduces; /* of one part */
	bool has_setup;                /* code to run, beyond constants */
	struct tile_code *code;        /* of each part; filled by the backend */
	unsigned char *ones;           /* one vector for each register at LEVEL_ONE */
	void **const_data;             /* of each buffer: a padded copy of a CONST */

	/* Bound. */
	int64_t rows, points, columns; /* points: of the tile axis; COLS: reduced */
	int64_t tile;                  /* points a call at most */
	int64_t width;                 /* COLS: columns of a tile */
	int64_t column_chunk;          /* COLS: points that one thread reduces in one go */
	int64_t block_points; /* COLS: a call takes so many points of some columns; 0: of all */
	int64_t grain;        /* points that are worth a thread */
	int64_t tiles, tiles_grain; /* MAP: the same in tiles */
	bool turned;                /* MAP: walked by `turn` */
	struct plan_turn turn;
	bool flat;       /* MAP: every place is a plain pointer */
	bool quick;      /* ROWS: likewise, a row is one tile */
	int64_t row_run; /* quick: as many rows follow each other in even steps */
	int n_outer_dims;
	int64_t outer_extent[MAX_RANK];
	struct plan_worker *workers;
	int n_workers;
	int least_workers;    /* set before plan_bind(): threads of the product; else 0 */
	void *memory;         /* all that workers point to */
	union number *chunks; /* partial results of one row cut up: [chunk][...] */
};

/* `kernels` of the unit that the code is for; `consts` as const_data.  NULL with
 * MEMORY or UNSUPPORTED (more accesses or reductions than a part may have). */
struct plan *plan_create(const struct lowered *l, const struct kernel *k,
			 const struct kernel_table *kernels, void **consts, struct err *err);
bool plan_bind(struct plan *p, const int64_t *vars, struct err *err);
/* Of a bound plan: the symbols that are numbers alone have other values. */
void plan_bind_numbers(struct plan *p, const int64_t *vars);
void plan_destroy(struct plan *p); /* NULL is fine */

static inline int part_body(int stage)
{
	return 2 + 2 * stage;
}
static inline int part_post(int stage)
{
	return 3 + 2 * stage;
}

/* What a kernel's body costs for a point, in cheap ops. */
int64_t plan_cost(const struct kernel *k);

/* Runs the kernel; forms other than LIBRARY.  `backward`: see backends.h. */
void plan_launch(struct plan *p, void *const *buffers, struct pool *pool, bool backward);

/* The part of a kernel after its product (lower.h) that walks one block of the
 * product's result.  plan_suits_blocks(): whether the bound kernel can be run so,
 * on a product whose rows have `columns` elements of `numel`.  Then, for a launch,
 * plan_begin_blocks() once, and plan_run_block() on each by any thread below
 * n_workers: `rows` runs of n points, the first at point `begin` of the result in
 * row-major order, each `step` points after the one before.  What reduces must
 * get whole rows. */
struct plan_block {
	int64_t begin, rows, step, n;
	bool turned; /* its rows lie side by side in some places: see struct plan_turn */
};
void plan_begin_blocks(struct plan *p, void *const *buffers);
void plan_run_block(struct plan *p, void *const *buffers, const struct plan_block *block,
		    int thread);

/* For recordings: what plan_launch() does before the body's code, where there is any. */
void plan_setup(struct plan *p, void *const *buffers);

/* by_rows.c: a MAP as a ROWS where that is quicker, to be freed; NULL elsewhere.  Its nodes,
 * accesses and extents are k's.  False: out of memory. */
bool kernel_by_rows(const struct lowered *l, const struct kernel *k, struct kernel **made);

/* ---- private to the executor */

/* executor_reduce.c: rows [begin, end). */
void executor_some_rows(struct plan *p, void *const *buffers, int64_t begin, int64_t end,
			int thread);

/* Points [begin, begin + n) of the tile axis.  `slot`: where they lie in slots.
 * `width`: see struct tile.  COLS in blocks: `width` columns from `begin` on, n / width
 * reduced points from `point` on. */
struct plan_span {
	int64_t begin, n, slot, width, point;
	bool block;
};

/* Who runs parts of a launch: `self`, with its staging and its accumulators, on the row
 * that `owner` is at, which may be itself. */
struct plan_run {
	const struct plan *plan;
	const struct plan_worker *owner;
	struct plan_worker *self;
	void *const *buffers;
};

/* Notes an index of `node` that is out of bounds; the first one counts. */
void launch_fault_raise(struct launch_fault *fault, const struct node *node, int64_t index,
			int64_t size);

/* lookup.c: the dims of a kernel that a place has, as plan_bind() has them; `inner`: which
 * dims those of the tile axis are. */
struct lookup_dims {
	int n_outer, n_inner, inner[MAX_RANK];
	int64_t extent[MAX_RANK]; /* of the inner ones */
};
void lookup_bind(struct looked_up *l, const struct lower_lookup *lookup, const struct access *x,
		 const struct lookup_dims *dims, const int64_t *vars);
/* Points [begin, begin + n) of a row that is at `base`, into the tile `to`. */
void lookup_gather(const struct plan_run *run, const struct plan_place *at, const int64_t *base,
		   char *to, int64_t begin, int64_t n);
/* n elements, `step` from one to the next, side by side; may write 15 bytes more. */
void executor_copy_run(char *to, const char *from, int64_t step, int64_t n, unsigned bytes);

void executor_part(const struct plan_run *run, int part, const struct plan_span *span);
/* Moves `w` to a row. */
void executor_row(const struct plan *p, struct plan_worker *w, int64_t row);
void executor_rows(struct plan *p, void *const *buffers, struct pool *pool);
void executor_cols(struct plan *p, void *const *buffers, struct pool *pool);
/* Whether it is a COLS whose body's code is of pairs. */
static inline bool plan_has_pairs(const struct plan *p)
{
	return p->kernel->pairs && p->code[part_body(0)].pairs;
}

/* Columns of float32 that fill vectors of any size. */
static inline int64_t plan_whole_vectors(int64_t columns)
{
	const int64_t lanes = VECTOR_MAX / 4;

	return (columns + lanes - 1) / lanes * lanes;
}
/* A quick ROWS of one worker, for recordings: `start` is where the first row of each
 * place lies. */
void executor_rows_from(const struct plan *p, char *const *start);

static inline char *plan_memory(const struct plan *p, int buffer, void *const *buffers)
{
	return p->const_data[buffer] ? p->const_data[buffer] : buffers[buffer];
}

/* Where element `base` of the place's buffer lies. */
static inline char *place_start(const struct plan *p, const struct plan_place *at, int64_t base,
				void *const *buffers)
{
	return plan_memory(p, at->buffer, buffers) + base * (int64_t)at->bytes;
}

#endif
