/* fusion/backends/plan/executor_reduce.c -- kernels that reduce: along the tile axis (ROWS) and
 * across it (COLS).
 */
#include <string.h>

#include "fusion/backends/plan/plan.h"

/* ---- kernels that reduce along the tile axis
 *
 * A row is cut into chunks of CHUNK points whose partial results are joined in
 * order, whether one thread runs them all or several share them: the result
 * does not depend on the number of threads.
 */

struct reduce_rows {
	struct plan *plan;
	void *const *buffers;
	int stage; /* of the row that is shared by chunks */
};

/* Reduces one chunk of the owner's row into `partial`. */
static void run_chunk(const struct plan_run *run, int stage, int64_t chunk, union number *partial)
{
	const struct plan *p = run->plan;
	struct plan_worker *self = run->self;
	const struct part *body = &p->parts[part_body(stage)];
	int64_t begin = chunk * CHUNK, end = begin + CHUNK < p->points ? begin + CHUNK : p->points;

	for (int r = 0; r < body->n_reduces; r++)
		partial[r] = body->reducers[r]->first;
	for (; begin < end; begin += p->tile) {
		int64_t n = end - begin < p->tile ? end - begin : p->tile;

		for (int r = 0; r < body->n_reduces; r++) /* bools do not fill the vector */
			if (body->reduces[r]->dtype == DTYPE_BOOL)
				number_fill(DTYPE_BOOL, self->acc[r], body->reducers[r]->first,
					    VECTOR_MAX);
		executor_part(run, part_body(stage),
			      &(struct plan_span){ .begin = begin, .n = n, .slot = begin });
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->gather(&partial[r], self->acc[r], body->lanes[r]);
	}
}

/* Writes n wide values rounded to the dtype. */
static void number_narrow(enum dtype dtype, void *to, const union number *from, long n)
{
	switch (dtype) {
	case DTYPE_F32:
		for (long j = 0; j < n; j++)
			((float *)to)[j] = (float)from[j].f;
		return;
	case DTYPE_F64:
		for (long j = 0; j < n; j++)
			((double *)to)[j] = from[j].f;
		return;
	case DTYPE_I64:
		for (long j = 0; j < n; j++)
			((int64_t *)to)[j] = from[j].i;
		return;
	default:
		for (long j = 0; j < n; j++)
			((uint8_t *)to)[j] = from[j].i != 0;
	}
}

/* Rounds the row's results into their registers. */
static void finish_stage(const struct plan *p, int stage, const struct plan_worker *owner)
{
	const struct part *body = &p->parts[part_body(stage)];

	for (int r = 0; r < body->n_reduces; r++) {
		const struct inst *inst = body->reduces[r];
		unsigned char value[8];

		number_narrow(inst->dtype, value, &owner->total[r], 1);
		p->kernels->splat(owner->reg[inst->dst], value, (unsigned)dtype_bytes(inst->dtype));
	}
}

static void share_chunks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct reduce_rows *rows = context;
	struct plan *p = rows->plan;
	const struct plan_run run = { p, &p->workers[0], &p->workers[thread], rows->buffers };

	for (int64_t c = end - 1; c >= begin; c--)
		run_chunk(&run, rows->stage, c, p->chunks + c * p->most_reduces);
}

static void run_stage(struct plan *p, int stage, struct plan_worker *w, void *const *buffers,
		      struct pool *pool)
{
	const struct plan_run run = { p, w, w, buffers };
	const struct part *body = &p->parts[part_body(stage)];
	int64_t chunks = (p->points + CHUNK - 1) / CHUNK;

	for (int r = 0; r < body->n_reduces; r++)
		w->total[r] = body->reducers[r]->first;
	if (pool) {
		struct reduce_rows rows = { .plan = p, .buffers = buffers, .stage = stage };
		int64_t grain = (chunks + p->n_workers - 1) / p->n_workers;

		pool_run_towards(pool, chunks, grain, true, share_chunks, &rows);
	}
	/* From the end: what the kernel before wrote last is still in the cache. */
	for (int64_t c = chunks - 1; c >= 0; c--) {
		union number *partial = pool ? p->chunks + c * p->most_reduces : w->partial;

		if (!pool)
			run_chunk(&run, stage, c, partial);
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->join(&w->total[r], &partial[r], 1);
	}
	finish_stage(p, stage, w);
	if (p->parts[part_post(stage)].n)
		executor_part(&run, part_post(stage), &(struct plan_span){ .n = 1 });
}

/* With a pool the row is shared; w is then the first worker. */
static void run_row(struct plan *p, struct plan_worker *w, void *const *buffers, int64_t row,
		    struct pool *pool)
{
	const struct plan_run run = { p, w, w, buffers };

	executor_row(p, w, row);
	if (p->parts[PART_PROLOGUE].n)
		executor_part(&run, PART_PROLOGUE, &(struct plan_span){ .n = 1 });
	for (int s = 0; s < p->kernel->n_stages; s++)
		run_stage(p, s, w, buffers, pool);
}

/* ---- rows of one tile each: nothing is looked up twice */

/* Where the places of the row lie that `w` is at. */
static void quick_open(const struct plan *p, struct plan_worker *w, void *const *buffers)
{
	for (int i = PART_PROLOGUE; i < p->n_parts; i++) {
		const struct part *part = &p->parts[i];

		for (int k = 0; k < part->n_places; k++) {
			const struct plan_place *at = &part->places[k];
			long index = at - p->places;
			bool slot = at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE;

			w->quick[index] = slot ? (char *)w->slot[at->inst->slot]
					       : place_start(p, at, w->base[index], buffers);
		}
	}
}

/* A part whose accesses are one element each: through a vector of copies. */
static void quick_ones(const struct plan *p, int index, struct plan_worker *w,
		       const struct tile *tile)
{
	const struct part *part = &p->parts[index];
	char **row = w->quick + (part->places - p->places);
	void *at[MAX_PLACES];
	struct tile ones = *tile;

	ones.at = at;
	for (int k = 0; k < part->n_places; k++) {
		at[k] = w->staging + k * VECTOR_MAX;
		if (!part->places[k].store)
			p->kernels->splat(at[k], row[k], part->places[k].bytes);
	}
	p->code[index].run(p->code[index].code, &ones);
	for (int k = 0; k < part->n_places; k++)
		if (part->places[k].store)
			memcpy(row[k], at[k], part->places[k].bytes);
}

static void quick_body(const struct plan *p, int stage, struct plan_worker *w, struct tile *tile)
{
	const struct part *body = &p->parts[part_body(stage)];
	const struct tile_code *code = &p->code[part_body(stage)];

	for (int r = 0; r < body->n_reduces; r++)
		if (body->reduces[r]->dtype == DTYPE_BOOL)
			number_fill(DTYPE_BOOL, w->acc[r], body->reducers[r]->first, VECTOR_MAX);
	tile->at = (void *const *)(w->quick + (body->places - p->places));
	tile->n = p->points;
	code->run(code->code, tile);
	for (int r = 0; r < body->n_reduces; r++) {
		w->total[r] = w->partial[r] = body->reducers[r]->first;
		body->reducers[r]->gather(&w->partial[r], w->acc[r], body->lanes[r]);
		body->reducers[r]->join(&w->total[r], &w->partial[r], 1);
	}
	finish_stage(p, stage, w);
}

/* The same results as run_row(), to the bit. */
static void quick_row(const struct plan *p, struct plan_worker *w, struct tile *tile)
{
	tile->n = 1;
	if (p->parts[PART_PROLOGUE].n)
		quick_ones(p, PART_PROLOGUE, w, tile);
	for (int s = 0; s < p->kernel->n_stages; s++) {
		quick_body(p, s, w, tile);
		tile->n = 1;
		if (p->parts[part_post(s)].n)
			quick_ones(p, part_post(s), w, tile);
	}
}

/* From the row on that w->quick is at. */
static inline void quick_rows(const struct plan *p, struct plan_worker *w, int64_t rows)
{
	struct tile tile = { .reg = w->reg, .acc = w->acc, .scratch = w->scratch };
	int first = (int)(p->parts[PART_PROLOGUE].places - p->places);

	for (int64_t row = 0; row < rows; row++) {
		quick_row(p, w, &tile);
		for (int k = first; k < p->n_places; k++)
			w->quick[k] += p->places[k].row_bytes;
	}
}

static void quick_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct reduce_rows *rows = context;
	const struct plan *p = rows->plan;
	struct plan_worker *w = &p->workers[thread];

	for (int64_t row = begin; row < end;) {
		int64_t next = row - row % p->row_run + p->row_run;

		executor_row(p, w, row);
		quick_open(p, w, rows->buffers);
		next = next < end ? next : end;
		quick_rows(p, w, next - row);
		row = next;
	}
}

void executor_rows_from(const struct plan *p, char *const *start)
{
	struct plan_worker *w = &p->workers[0];

	memcpy(w->quick, start, sizeof(*start) * (size_t)p->n_places);
	quick_rows(p, w, p->rows);
}

static void rows_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct reduce_rows *rows = context;

	for (int64_t row = begin; row < end; row++)
		run_row(rows->plan, &rows->plan->workers[thread], rows->buffers, row, NULL);
}

void executor_some_rows(struct plan *p, void *const *buffers, int64_t begin, int64_t end,
			int thread)
{
	struct reduce_rows rows = { .plan = p, .buffers = buffers };

	(p->quick ? quick_range : rows_range)(&rows, begin, end, thread);
}

void executor_rows(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct reduce_rows rows = { .plan = p, .buffers = buffers };
	int64_t grain = p->points ? p->grain / p->points : p->grain;
	pool_fn *range = p->quick ? quick_range : rows_range;

	if (p->n_workers == 1) {
		range(&rows, 0, p->rows, 0);
		return;
	}
	if (p->chunks && p->rows < pool_threads(pool)) {
		for (int64_t row = 0; row < p->rows; row++)
			run_row(p, &p->workers[0], buffers, row, pool);
		return;
	}
	if (grain < (p->rows + p->n_workers - 1) / p->n_workers)
		grain = (p->rows + p->n_workers - 1) / p->n_workers;
	pool_run(pool, p->rows, grain, range, &rows);
}

/* ---- kernels that reduce across the tile axis
 *
 * A tile of columns walks the reduced points.  Where the columns are few, a call
 * takes several points: n is then a multiple of the width.  Sums stay in the
 * dtype for REDUCE_RUN points and are then joined to wide ones; chunks of
 * points are joined in order, so threads change no result.
 */

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

static void widen(const struct part *body, struct plan_worker *self, union number *partial,
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

	if (p->block_points)
		return p->block_points;
	if (t.width < p->columns)
		return 1;
	while (group < REDUCE_RUN && group * 2 * t.width <= p->tile)
		group *= 2;
	return group;
}

/* Joins points [point, end) in the accumulators: REDUCE_RUN or fewer, where they round. */
static void run_points(const struct plan_run *run, int stage, struct tile_of_columns t,
		       int64_t point, int64_t end, int64_t slot)
{
	const struct plan *p = run->plan;
	const struct part *body = &p->parts[part_body(stage)];
	int64_t group = group_of(p, t);

	for (int r = 0; r < body->n_reduces; r++)
		number_fill(body->reduces[r]->dtype, run->self->acc[r], body->reducers[r]->first,
			    t.width);
	for (; point < end; point += group) {
		int64_t n = end - point < group ? end - point : group;
		struct plan_span span = { .begin = point * p->columns + t.column,
					  .n = n * t.width,
					  .slot = point * t.width + slot,
					  .width = t.width };

		if (p->block_points) {
			span.begin = t.column;
			span.point = point;
			span.block = true;
		}
		executor_part(run, part_body(stage), &span);
	}
}

static void run_column_chunk(const struct plan_run *run, int stage, struct tile_of_columns t,
			     int64_t chunk, union number *partial)
{
	const struct plan *p = run->plan;
	const struct part *body = &p->parts[part_body(stage)];
	int64_t point = chunk * p->column_chunk;
	int64_t end = point + p->column_chunk < p->points ? point + p->column_chunk : p->points;

	first_values(body, partial, t.width);
	for (int64_t wide; point < end; point = wide) {
		wide = point + REDUCE_RUN < end && !body->exact ? point + REDUCE_RUN : end;
		run_points(run, stage, t, point, wide, chunk * COLUMN_PAD);
		widen(body, run->self, partial, t.width);
	}
}

/* Body code reads row registers as tiles of n points: repeats the columns. */
static void repeat_rows(const struct plan *p, struct plan_worker *w, struct tile_of_columns t)
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

static void share_column_chunks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct cols *cols = context;
	struct plan *p = cols->plan;
	const struct plan_run run = { p, &p->workers[0], &p->workers[thread], cols->buffers };
	struct tile_of_columns t = { cols->column, cols->width };

	for (int64_t c = begin; c < end; c++)
		run_column_chunk(&run, cols->stage, t, c,
				 p->chunks + c * p->most_reduces * p->width);
}

/* So few points that what the accumulators hold is the result. */
static void run_few_points(const struct plan_run *run, int stage, struct tile_of_columns t)
{
	const struct plan *p = run->plan;
	const struct part *body = &p->parts[part_body(stage)];

	run_points(run, stage, t, 0, p->points, 0);
	for (int r = 0; r < body->n_reduces; r++)
		memcpy(run->self->reg[body->reduces[r]->dst], run->self->acc[r],
		       (size_t)t.width * dtype_bytes(body->reduces[r]->dtype));
}

/* As many as there are, chunk by chunk; with a pool threads share the chunks. */
static void run_all_points(struct plan *p, int stage, struct plan_worker *w, void *const *buffers,
			   struct tile_of_columns t, struct pool *pool)
{
	const struct plan_run run = { p, w, w, buffers };
	const struct part *body = &p->parts[part_body(stage)];
	int64_t chunks = (p->points + p->column_chunk - 1) / p->column_chunk;

	first_values(body, w->total, t.width);
	if (pool) {
		struct cols cols = { .plan = p,
				     .buffers = buffers,
				     .stage = stage,
				     .column = t.column,
				     .width = t.width };

		pool_run(pool, chunks, (chunks + p->n_workers - 1) / p->n_workers,
			 share_column_chunks, &cols);
	}
	for (int64_t c = 0; c < chunks; c++) {
		union number *partial = pool ? p->chunks + c * p->most_reduces * p->width
					     : w->partial;

		if (!pool)
			run_column_chunk(&run, stage, t, c, partial);
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->join(w->total + r * t.width, partial + r * t.width,
						t.width);
	}
	for (int r = 0; r < body->n_reduces; r++)
		number_narrow(body->reduces[r]->dtype, w->reg[body->reduces[r]->dst],
			      w->total + r * t.width, t.width);
}

static void run_column_stage(struct plan *p, int stage, struct plan_worker *w, void *const *buffers,
			     struct tile_of_columns t, struct pool *pool)
{
	const struct plan_run run = { p, w, w, buffers };

	repeat_rows(p, w, t);
	if (p->points <= REDUCE_RUN) /* one chunk */
		run_few_points(&run, stage, t);
	else
		run_all_points(p, stage, w, buffers, t, pool);
	if (p->parts[part_post(stage)].n)
		executor_part(&run, part_post(stage),
			      &(struct plan_span){ .begin = t.column, .n = t.width });
}

static void run_tile(struct plan *p, struct plan_worker *w, void *const *buffers, int64_t row,
		     struct tile_of_columns t, struct pool *pool)
{
	const struct plan_run run = { p, w, w, buffers };

	executor_row(p, w, row);
	if (p->parts[PART_PROLOGUE].n)
		executor_part(&run, PART_PROLOGUE,
			      &(struct plan_span){ .begin = t.column, .n = t.width });
	for (int s = 0; s < p->kernel->n_stages; s++)
		run_column_stage(p, s, w, buffers, t, pool);
}

static void run_item(const struct cols *cols, struct plan_worker *w, int64_t item,
		     struct pool *pool)
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

/* ---- COLS whose rows of one operand meet rows of another
 *
 * A worker puts the rows that columns stand for side by side once, point by point: a panel.
 * Then each row of the other operand meets all of it, REDUCE_RUN points a call, with the
 * columns' sums in registers.
 */

enum { PANEL_STRIP = 16 };

struct column_pairs {
	struct plan *plan;
	void *const *buffers;
	int64_t rows;  /* of the other operand: the last of the outer dims */
	int64_t tiles; /* of columns */
};

static bool is_panel(const struct plan_place *at)
{
	return at->column_step != 0;
}

/* panel[point * width + column]; the columns that fill up the last vector are 0. */
static void fill_panel(const struct plan *p, const struct plan_place *at, const float *from,
		       int64_t columns, float *panel)
{
	int64_t width = plan_whole_vectors(columns);

	for (int64_t j = 0; j < width; j += PANEL_STRIP)
		for (int64_t k = 0; k < p->points; k++) {
			const float *in = from + j * at->column_step + k * at->point_step;
			float *out = panel + k * width + j;

			for (int64_t i = 0; i < PANEL_STRIP; i++)
				out[i] = j + i < columns ? in[i * at->column_step] : 0;
		}
}

static void fill_panels(const struct plan *p, struct plan_worker *w, void *const *buffers,
			int64_t column, int64_t width)
{
	const struct part *body = &p->parts[part_body(0)];
	const int64_t *base = w->base + (body->places - p->places);

	for (int k = 0; k < body->n_places; k++) {
		const struct plan_place *at = &body->places[k];

		if (is_panel(at))
			fill_panel(p, at,
				   (const float *)place_start(
				       p, at, base[k] + column * at->column_step, buffers),
				   width, w->panel[k]);
	}
}

/* The points of a row side by side. */
static float *open_row(const struct plan *p, const struct plan_place *at, int64_t base,
		       void *const *buffers, float *room)
{
	float *from = (float *)place_start(p, at, base, buffers);

	if (at->point_step == 1)
		return from;
	for (int64_t k = 0; k < p->points; k++)
		room[k] = from[k * at->point_step];
	return room;
}

static void run_pairs_body(const struct plan *p, struct plan_worker *w, void *const *buffers,
			   int64_t columns)
{
	const struct part *body = &p->parts[part_body(0)];
	const struct tile_code *code = &p->code[part_body(0)];
	const int64_t *base = w->base + (body->places - p->places);
	int64_t width = plan_whole_vectors(columns);
	void *at[MAX_PLACES];
	struct tile tile = { .at = at, .reg = w->reg, .acc = w->acc, .width = width };

	for (int k = 0; k < body->n_places; k++)
		at[k] = is_panel(&body->places[k])
			    ? w->panel[k]
			    : open_row(p, &body->places[k], base[k], buffers, w->panel[k]);
	for (int r = 0; r < body->n_reduces; r++)
		for (int64_t j = 0; j < columns; j++)
			w->total[r * columns + j] = body->reducers[r]->first;
	for (int64_t point = 0; point < p->points; point += tile.n) {
		tile.n = p->points - point < REDUCE_RUN ? p->points - point : REDUCE_RUN;
		for (int r = 0; r < body->n_reduces; r++)
			number_fill(DTYPE_F32, w->acc[r], body->reducers[r]->first, width);
		code->run(code->code, &tile);
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->widen(w->total + r * columns, w->acc[r], columns);
		for (int k = 0; k < body->n_places; k++)
			at[k] = (float *)at[k] + tile.n * (is_panel(&body->places[k]) ? width : 1);
	}
	for (int r = 0; r < body->n_reduces; r++)
		number_narrow(DTYPE_F32, w->reg[body->reduces[r]->dst], w->total + r * columns,
			      columns);
}

/* Items are rows of one tile of columns, then the next tile's. */
static void pairs_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct column_pairs *pairs = context;
	struct plan *p = pairs->plan;
	struct plan_worker *w = &p->workers[thread];
	const struct plan_run run = { p, w, w, pairs->buffers };
	int64_t filled = -1;

	for (int64_t item = begin; item < end; item++) {
		int64_t square = item / pairs->rows, tile = square % pairs->tiles;
		int64_t row = square / pairs->tiles * pairs->rows + item % pairs->rows;
		int64_t column = tile * p->width;
		struct plan_span post = { .begin = column };

		post.n = p->columns - column < p->width ? p->columns - column : p->width;
		executor_row(p, w, row);
		if (square != filled)
			fill_panels(p, w, pairs->buffers, column, post.n);
		filled = square;
		if (p->parts[PART_PROLOGUE].n)
			executor_part(&run, PART_PROLOGUE, &post);
		run_pairs_body(p, w, pairs->buffers, post.n);
		if (p->parts[part_post(0)].n)
			executor_part(&run, part_post(0), &post);
	}
}

static void run_pairs(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct column_pairs pairs = { .plan = p, .buffers = buffers };
	int64_t items, grain;

	if (p->columns == 0 || p->rows == 0)
		return;
	pairs.rows = p->outer_extent[p->n_outer_dims - 1];
	pairs.tiles = (p->columns + p->width - 1) / p->width;
	items = p->rows * pairs.tiles;
	if (p->n_workers == 1) {
		pairs_range(&pairs, 0, items, 0);
		return;
	}
	grain = p->grain / (p->points * p->width + 1);
	if (grain < (items + p->n_workers - 1) / p->n_workers)
		grain = (items + p->n_workers - 1) / p->n_workers;
	pool_run(pool, items, grain, pairs_range, &pairs);
}

/* Tiles of columns, all rows'. */
static int64_t count_items(const struct plan *p, int64_t width)
{
	return p->rows * ((p->columns + width - 1) / width);
}

void executor_cols(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct cols cols = { .plan = p, .buffers = buffers, .width = p->width };
	int64_t items, grain;
	int threads = p->n_workers > 1 ? pool_threads(pool) : 1;

	if (plan_has_pairs(p)) {
		run_pairs(p, buffers, pool);
		return;
	}
	if (p->columns == 0)
		return;
	/* Narrower tiles where that gives each thread some: columns are independent. */
	while (cols.width >= 256 && count_items(p, cols.width) < threads)
		cols.width = (cols.width / 2 + 63) / 64 * 64;
	items = count_items(p, cols.width);
	if (threads > 1 && items < threads && p->chunks) {
		cols.width = p->width;
		cols.tiles = (p->columns + cols.width - 1) / cols.width;
		items = p->rows * cols.tiles;
		for (int64_t item = 0; item < items; item++)
			run_item(&cols, &p->workers[0], item, pool);
		return;
	}
	cols.tiles = (p->columns + cols.width - 1) / cols.width;
	if (p->n_workers == 1) {
		items_range(&cols, 0, items, 0);
		return;
	}
	grain = p->grain / (p->points * cols.width + 1);
	if (grain < (items + p->n_workers - 1) / p->n_workers)
		grain = (items + p->n_workers - 1) / p->n_workers;
	pool_run(pool, items, grain, items_range, &cols);
}
