/* fusion/backends/drive_rows.c -- kernels that reduce along the tile axis.
 *
 * A row is cut into chunks of CHUNK points whose partial results are joined in
 * order, whether one thread runs them all or several share them: the result
 * does not depend on the number of threads.
 */
#include <string.h>

#include "fusion/backends/plan.h"

struct rows {
	struct plan *plan;
	void *const *buffers;
	int stage; /* of the row that is shared by chunks */
};

/* Reduces one chunk of the owner's row into `partial`. */
static void run_chunk(const struct plan *p, int stage, const struct worker *owner,
		      struct worker *self, void *const *buffers, int64_t chunk,
		      union number *partial)
{
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
		drive_part(p, part_body(stage), owner, self, buffers,
			   &(struct span){ .begin = begin, .n = n, .slot = begin });
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->gather(&partial[r], self->acc[r], body->lanes[r]);
	}
}

/* Rounds the row's results into their registers. */
static void finish_stage(const struct plan *p, int stage, const struct worker *owner)
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
	const struct rows *rows = context;
	struct plan *p = rows->plan;

	for (int64_t c = end - 1; c >= begin; c--)
		run_chunk(p, rows->stage, &p->workers[0], &p->workers[thread], rows->buffers, c,
			  p->chunks + c * p->most_reduces);
}

static void run_stage(struct plan *p, int stage, struct worker *w, void *const *buffers,
		      struct pool *pool)
{
	const struct part *body = &p->parts[part_body(stage)];
	int64_t chunks = (p->points + CHUNK - 1) / CHUNK;

	for (int r = 0; r < body->n_reduces; r++)
		w->total[r] = body->reducers[r]->first;
	if (pool) {
		struct rows rows = { .plan = p, .buffers = buffers, .stage = stage };
		int64_t grain = (chunks + p->n_workers - 1) / p->n_workers;

		pool_run(pool, chunks, grain, share_chunks, &rows);
	}
	/* From the end: what the kernel before wrote last is still in the cache. */
	for (int64_t c = chunks - 1; c >= 0; c--) {
		union number *partial = pool ? p->chunks + c * p->most_reduces : w->partial;

		if (!pool)
			run_chunk(p, stage, w, w, buffers, c, partial);
		for (int r = 0; r < body->n_reduces; r++)
			body->reducers[r]->join(&w->total[r], &partial[r], 1);
	}
	finish_stage(p, stage, w);
	if (p->parts[part_post(stage)].n)
		drive_part(p, part_post(stage), w, w, buffers, &(struct span){ .n = 1 });
}

/* With a pool the row is shared; w is then the first worker. */
static void run_row(struct plan *p, struct worker *w, void *const *buffers, int64_t row,
		    struct pool *pool)
{
	drive_row(p, w, row);
	if (p->parts[PART_PROLOGUE].n)
		drive_part(p, PART_PROLOGUE, w, w, buffers, &(struct span){ .n = 1 });
	for (int s = 0; s < p->kernel->n_stages; s++)
		run_stage(p, s, w, buffers, pool);
}

static void rows_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct rows *rows = context;

	for (int64_t row = begin; row < end; row++)
		run_row(rows->plan, &rows->plan->workers[thread], rows->buffers, row, NULL);
}

void drive_rows(struct plan *p, void *const *buffers, struct pool *pool)
{
	struct rows rows = { .plan = p, .buffers = buffers };
	int64_t grain = p->points ? p->grain / p->points : p->grain;

	if (p->n_workers == 1) {
		rows_range(&rows, 0, p->rows, 0);
		return;
	}
	if (p->chunks && p->rows < pool_threads(pool)) {
		for (int64_t row = 0; row < p->rows; row++)
			run_row(p, &p->workers[0], buffers, row, pool);
		return;
	}
	if (grain < (p->rows + p->n_workers - 1) / p->n_workers)
		grain = (p->rows + p->n_workers - 1) / p->n_workers;
	pool_run(pool, p->rows, grain, rows_range, &rows);
}
