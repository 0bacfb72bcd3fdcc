/* fusion/backends/drive_cols.c -- kernels that reduce across the tile axis.
 *
 * A tile of columns walks the reduced points.  Where the columns are few, a call
 * takes several points: n is then a multiple of the width.  Sums stay in the
 * dtype for REDUCE_RUN points and are then joined to wide ones; chunks of
 * COLUMN_CHUNK points are joined in order, so threads change no result.
 */
#include <string.h>

#include "fusion/backends/plan.h"

struct cols {
	struct plan *plan;
	void *const *buffers;
	int stage;
	int64_t column, width; /* of the tile whose points are shared */
	int64_t tiles;         /* a row */
};

/* A tile of columns that starts at `column`. */
struct tile_of_columns {
	int64_t column, width;
};

static void widen(const struct part *body, struct worker *self, union number *partial,
		  int64_t width)
{
	for (int r = 0; r < body->n_reduces; r++)
		body->reducers[r]->widen(partial + r * width, self->acc[r], width);
}

static void first_values(const struct part *body, union number *to, int64_t width)
{
	for (int r = 0; r < body->n_reduces; r++)
		for (int64_t j = 0; j < width; j++)
			to[r * width + j] = body->reducers[r]->first;
}

/* Points that one call may take: a power of two, so that runs divide evenly. */
static int64_t group_of(const struct plan *p, struct tile_of_columns t)
{
	int64_t group = 1;

	if (t.width < p->columns)
		return 1;
	while (group < REDUCE_RUN && group * 2 * t.width <= p->tile)
		group *= 2;
	return group;
}

static void run_chunk(const struct plan *p, int stage, const struct worker *owner,
		      struct worker *self, void *const *buffers, struct tile_of_columns t,
		      int64_t chunk, union number *partial)
{
	const struct part *body = &p->parts[part_body(stage)];
	int64_t point = chunk * COLUMN_CHUNK, group = group_of(p, t);
	int64_t end = point + COLUMN_CHUNK < p->points ? point + COLUMN_CHUNK : p->points;

	first_values(body, partial, t.width);
	while (point < end) {
		int64_t run = point + REDUCE_RUN < end ? point + REDUCE_RUN : end;

		for (int r = 0; r < body->n_reduces; r++)
			number_fill(body->reduces[r]->dtype, self->acc[r], body->reducers[r]->first,
				    t.width);
		for (; point < run; point += group) {
			int64_t n = run - point < group ? run - point : group;

			drive_part(p, part_body(stage), owner, self, buffers,
				   &(struct span){ .begin = point * p->columns + t.column,
						   .n = n * t.width,
						   .slot = point * t.width + chunk * COLUMN_PAD,
						   .width = t.width });
		}
		point = run;
		widen(body, self, partial, t.width);
	}
}

/* Body code reads row registers as tiles of n points: repeats the columns. */
static void repeat_rows(const struct plan *p, struct worker *w, struct tile_of_columns t)
{
	int64_t group = group_of(p, t);

	if (group == 1)
		return;
	for (int r = 0; r < p->kernel->n_regs; r++) {
		const struct reg *reg = &p->kernel->regs[r];
		size_t bytes = dtype_bytes(reg->dtype) * (size_t)t.width;

		if (reg->level != LEVEL_ROW)
			continue;
		for (int64_t g = 1; g < group; g++)
			memcpy((char *)w->reg[r] + (size_t)g * bytes, w->reg[r], bytes);
	}
}

static void share_chunks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct cols *cols = context;
	struct plan *p = cols->plan;
	struct tile_of_columns t = { cols->column, cols->width };

	for (int64_t c = begin; c < end; c++)
		run_chunk(p, cols->stage, &p->workers[0], &p->workers[thread], cols->buffers, t, c,
			  p->chunks + c * p->most_reduces * p->width);
}

static void run_stage(struct plan *p, int stage, struct worker *w, void *const *buffers,
		      struct tile_of_columns t, struct pool *pool)
{
	const struct part *body = &p->parts[part_body(stage)];
	int64_t chunks = (p->points + COLUMN_CHUNK - 1) / COLUMN_CHUNK;

	repeat_rows(p, w, t);
	first_values(body, w->total, t.width);
	if (pool) {
		struct cols cols = { .plan = p,
				     .buffers = buffers,
				     .stage = stage,
				     .column = t.column,
				     .width = t.width };

		pool_run(pool, chunks, (chunks + p->n_workers - 1) / p->n_workers, share_chunks,
			 &cols);
	}
	for (int64_t c = 0; c < chunks; c++) {
		union number *partial = pool ? p->chunks + c * p->most_reduces * p->width
					     : w->partial;

		if (!pool)
			run_chunk(p, stage, w, w, buffers, t, c, partial);
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->join(w->total + r * t.width, partial + r * t.width,
						t.width);
	}
	for (int r = 0; r < body->n_reduces; r++)
		number_narrow(body->reduces[r]->dtype, w->reg[body->reduces[r]->dst],
			      w->total + r * t.width, t.width);
	if (p->parts[part_post(stage)].n)
		drive_part(p, part_post(stage), w, w, buffers,
			   &(struct span){ .begin = t.column, .n = t.width });
}

static void run_tile(struct plan *p, struct worker *w, void *const *buffers, int64_t row,
		     struct tile_of_columns t, struct pool *pool)
{
	drive_row(p, w, row);
	if (p->parts[PART_PROLOGUE].n)
		drive_part(p, PART_PROLOGUE, w, w, buffers,
			   &(struct span){ .begin = t.column, .n = t.width });
	for (int s = 0; s < p->kernel->n_stages; s++)
		run_stage(p, s, w, buffers, t, pool);
}

static void run_item(const struct cols *cols, struct worker *w, int64_t item, struct pool *pool)
{
	struct plan *p = cols->plan;
	int64_t column = item % cols->tiles * cols->width;
	int64_t width = p->columns - column < cols->width ? p->columns - column : cols->width;

	run_tile(p, w, cols->buffers, item / cols->tiles, (struct tile_of_columns){ column, width },
		 pool);
}

static void items_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct cols *cols = context;

	for (int64_t item = begin; item < end; item++)
		run_item(cols, &cols->plan->workers[thread], item, NULL);
}

void drive_cols(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct cols cols = { .plan = p, .buffers = buffers, .width = p->width };
	int64_t items, grain;
	int threads = p->n_workers > 1 ? pool_threads(pool) : 1;

	if (p->columns == 0)
		return;
	/* Narrower tiles where that gives each thread some: columns are independent. */
	while (cols.width >= 256 &&
	       p->rows * ((p->columns + cols.width - 1) / cols.width) < threads)
		cols.width = (cols.width / 2 + 63) / 64 * 64;
	cols.tiles = (p->columns + cols.width - 1) / cols.width;
	items = p->rows * cols.tiles;
	if (threads > 1 && items < threads && p->chunks) {
		for (int64_t item = 0; item < items; item++)
			run_item(&cols, &p->workers[0], item, pool);
		return;
	}
	if (p->n_workers == 1) {
		items_range(&cols, 0, items, 0);
		return;
	}
	grain = p->grain / (p->points * cols.width + 1);
	if (grain < (items + p->n_workers - 1) / p->n_workers)
		grain = (items + p->n_workers - 1) / p->n_workers;
	pool_run(pool, items, grain, items_range, &cols);
}
