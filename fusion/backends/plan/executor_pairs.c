/* fusion/backends/plan/executor_pairs.c -- COLS whose rows of one operand meet rows of another.
 *
 * A worker puts the rows that columns stand for side by side once, point by point: a panel.
 * Then each row of the other operand meets all of it, REDUCE_RUN points a call, with the
 * columns' sums in registers.
 */
#include <string.h>

#include "fusion/backends/plan/plan.h"

enum { PANEL_BYTES = 64 << 10, LANES = VECTOR_MAX / 4, PANEL_STRIP = 16 };

struct pairs {
	struct plan *plan;
	void *const *buffers;
	int64_t rows;  /* of the other operand: the last of the outer dims */
	int64_t tiles; /* of columns */
};

static int64_t whole_vectors(int64_t columns)
{
	return (columns + LANES - 1) / LANES * LANES;
}

int64_t pairs_width(const struct plan *p)
{
	int64_t width = PANEL_BYTES / 4 / (p->points + 1) / LANES * LANES;

	width = width < LANES ? LANES : width;
	width = width > p->tile ? p->tile : width;
	return width < p->columns ? width : p->columns;
}

size_t pairs_panel_bytes(const struct plan *p)
{
	return (size_t)(p->points + 1) * (size_t)whole_vectors(p->width) * 4;
}

static bool is_panel(const struct plan_place *at)
{
	return at->column_step != 0;
}

/* panel[point * width + column]; the columns that fill up the last vector are 0. */
static void fill_panel(const struct plan *p, const struct plan_place *at, const float *from,
		       int64_t columns, float *panel)
{
	int64_t width = whole_vectors(columns);

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

static void run_body(const struct plan *p, struct plan_worker *w, void *const *buffers,
		     int64_t columns)
{
	const struct part *body = &p->parts[part_body(0)];
	const struct tile_code *code = &p->code[part_body(0)];
	const int64_t *base = w->base + (body->places - p->places);
	int64_t width = whole_vectors(columns);
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
static void items_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct pairs *pairs = context;
	struct plan *p = pairs->plan;
	struct plan_worker *w = &p->workers[thread];
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
			executor_part(p, PART_PROLOGUE, w, w, pairs->buffers, &post);
		run_body(p, w, pairs->buffers, post.n);
		if (p->parts[part_post(0)].n)
			executor_part(p, part_post(0), w, w, pairs->buffers, &post);
	}
}

void executor_pairs(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct pairs pairs = { .plan = p, .buffers = buffers };
	int64_t items, grain;

	if (p->columns == 0 || p->rows == 0)
		return;
	pairs.rows = p->outer_extent[p->n_outer_dims - 1];
	pairs.tiles = (p->columns + p->width - 1) / p->width;
	items = p->rows * pairs.tiles;
	if (p->n_workers == 1) {
		items_range(&pairs, 0, items, 0);
		return;
	}
	grain = p->grain / (p->points * p->width + 1);
	if (grain < (items + p->n_workers - 1) / p->n_workers)
		grain = (items + p->n_workers - 1) / p->n_workers;
	pool_run(pool, items, grain, items_range, &pairs);
}
