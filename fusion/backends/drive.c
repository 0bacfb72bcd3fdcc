/* fusion/backends/drive.c -- runs parts on tiles, and kernels without reductions.
 *
 * A launch of one tile is the common small case: it goes from plan_launch() to
 * the code through a handful of pointer additions.
 */
#include "fusion/backends/plan.h"

enum { NARROW = 256 }; /* points of a run for which a call of the code is much */

struct launch {
	struct plan *plan;
	void *const *buffers;
	pool_fn *range; /* MAP: forward over tiles */
};

void drive_part(const struct plan *p, int part, const struct worker *owner, struct worker *self,
		void *const *buffers, const struct span *span)
{
	const struct part *what = &p->parts[part];
	const struct tile_code *code = &p->code[part];
	const int64_t *base = owner->base + (what->places - p->places);
	size_t stage_bytes = (size_t)p->tile * 8 + VECTOR_MAX;
	int64_t vector_bytes = p->kernels->vector_bytes;
	void *at[MAX_PLACES];
	const struct tile tile = { .at = at,
				   .reg = owner->reg,
				   .acc = self->acc,
				   .scratch = self->scratch,
				   .n = span->n,
				   .width = span->width };

	for (int k = 0; k < what->n_places; k++) {
		const struct place *place = &what->places[k];

		if (place->plain && (!place->store || span->n * place->bytes % vector_bytes == 0))
			at[k] = place_start(p, place, base[k] + span->begin, buffers);
		else
			at[k] = place_open(p, place, owner, base[k], buffers,
					   self->staging + (size_t)k * stage_bytes, span);
	}
	code->run(code->code, &tile);
	if (!what->stores)
		return;
	for (int k = 0; k < what->n_places; k++)
		if (at[k] == self->staging + (size_t)k * stage_bytes && what->places[k].store)
			place_close(p, &what->places[k], base[k], buffers, at[k], span);
}

void drive_row(const struct plan *p, struct worker *w, int64_t row)
{
	int64_t index[MAX_RANK] = { 0 };

	for (int d = p->n_outer_dims - 1; d >= 0; d--) {
		index[d] = d && row ? row % p->outer_extent[d] : row;
		row = row ? row / p->outer_extent[d] : 0; /* extents of row 0 may be 0 */
	}
	for (int k = 0; k < p->n_places; k++) {
		const struct place *at = &p->places[k];
		int64_t base = at->offset;

		for (int d = 0; d < at->n_outer; d++)
			base += index[d] * at->outer[d].stride;
		w->base[k] = base;
	}
}

static void map_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	struct plan *p = launch->plan;
	struct worker *w = &p->workers[thread];

	drive_row(p, w, 0);
	begin *= p->tile;
	end = end * p->tile < p->points ? end * p->tile : p->points;
	for (; begin < end; begin += p->tile) {
		int64_t n = end - begin < p->tile ? end - begin : p->tile;

		drive_part(p, part_body(0), w, w, launch->buffers,
			   &(struct span){ .begin = begin, .n = n });
	}
}

static void flat_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	const struct plan *p = launch->plan;
	const struct part *body = &p->parts[part_body(0)];
	const struct tile_code *code = &p->code[part_body(0)];
	const struct worker *w = &p->workers[thread];
	char *at[MAX_PLACES];
	struct tile tile = { .at = (void *const *)at, .reg = w->reg, .scratch = w->scratch };

	begin *= p->tile;
	end = end * p->tile < p->points ? end * p->tile : p->points;
	for (int k = 0; k < body->n_places; k++) {
		const struct place *place = &body->places[k];

		at[k] = place_start(p, place, place->offset + begin, launch->buffers);
	}
	for (; begin < end; begin += tile.n) {
		tile.n = end - begin < p->tile ? end - begin : p->tile;
		code->run(code->code, &tile);
		for (int k = 0; k < body->n_places; k++)
			at[k] += tile.n * body->places[k].bytes;
	}
}

/* From the end, a few tiles at a time. */
static void backward_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	int64_t step = BACKWARD_POINTS / launch->plan->tile, from;

	for (; end > begin; end = from) {
		from = end - begin > step ? end - step : begin;
		launch->range(context, from, end, thread);
	}
}

static void drive_map(struct plan *p, void *const *buffers, struct pool *pool, bool backward)
{
	struct launch launch = { p, buffers, p->flat ? flat_range : map_range };
	pool_fn *range = launch.range;

	if (backward && p->points > BACKWARD_POINTS)
		range = backward_range;
	if (p->n_workers == 1)
		range(&launch, 0, p->tiles, 0);
	else
		pool_run_towards(pool, p->tiles, p->tiles_grain, backward, range, &launch);
}

void plan_setup(struct plan *p, void *const *buffers)
{
	if (!p->has_setup)
		return;
	drive_row(p, &p->workers[0], 0);
	drive_part(p, PART_SETUP, &p->workers[0], &p->workers[0], buffers,
		   &(struct span){ .n = 1 });
}

bool plan_suits_blocks(const struct plan *p, int64_t columns, int64_t numel)
{
	if (numel == 0)
		return false;
	if (p->kernel->form == FORM_MAP)
		return p->points == numel;
	return p->kernel->form == FORM_ROWS && p->points == columns && p->rows * p->points == numel;
}

void plan_begin_blocks(struct plan *p, void *const *buffers)
{
	if (__builtin_expect(p->exact, 0))
		plan_poison(p);
	plan_setup(p, buffers);
}

/* Short runs: as many as a tile holds are put side by side, so that the code is not
 * called for each. */
static void run_runs(const struct plan *p, struct worker *w, void *const *buffers,
		     struct plan_block at)
{
	const struct part *body = &p->parts[part_body(0)];
	const struct tile_code *code = &p->code[part_body(0)];
	size_t stage_bytes = (size_t)p->tile * 8 + VECTOR_MAX;
	int64_t left = at.rows, most = p->tile / at.n;
	void *opened[MAX_PLACES];
	struct tile tile = { .at = opened, .reg = w->reg, .acc = w->acc, .scratch = w->scratch };

	for (; left > 0; left -= at.rows, at.begin += at.rows * at.step) {
		at.rows = left < most ? left : most;
		for (int k = 0; k < body->n_places; k++) {
			opened[k] = w->staging + (size_t)k * stage_bytes;
			place_gather(p, &body->places[k], buffers, opened[k], &at);
		}
		tile.n = at.rows * at.n;
		code->run(code->code, &tile);
		for (int k = 0; k < body->n_places; k++)
			if (body->places[k].store)
				place_scatter(p, &body->places[k], buffers, opened[k], &at);
	}
}

void plan_run_block(struct plan *p, void *const *buffers, const struct plan_block *block,
		    int thread)
{
	struct worker *w = &p->workers[thread];
	struct plan_block at = *block;

	if (at.step == at.n) {
		at.n *= at.rows;
		at.rows = 1;
	}
	if (p->kernel->form == FORM_ROWS) {
		for (; at.rows > 0; at.rows--, at.begin += at.step)
			drive_some_rows(p, buffers, at.begin / p->points,
					(at.begin + at.n) / p->points, thread);
		return;
	}
	drive_row(p, w, 0);
	if (at.n <= NARROW && at.rows > 1) {
		run_runs(p, w, buffers, at);
		return;
	}
	for (; at.rows > 0; at.rows--, at.begin += at.step)
		for (int64_t done = 0; done < at.n; done += p->tile) {
			int64_t n = at.n - done < p->tile ? at.n - done : p->tile;

			drive_part(p, part_body(0), w, w, buffers,
				   &(struct span){ .begin = at.begin + done, .n = n });
		}
}

void plan_launch(struct plan *p, void *const *buffers, struct pool *pool, bool backward)
{
	if (__builtin_expect(p->exact, 0))
		plan_poison(p);
	plan_setup(p, buffers);
	switch (p->kernel->form) {
	case FORM_MAP:
		drive_map(p, buffers, pool, backward);
		return;
	case FORM_ROWS:
		drive_rows(p, buffers, pool);
		return;
	case FORM_COLS:
		drive_cols(p, buffers, pool);
		return;
	case FORM_LIBRARY:
		return;
	}
}
