/* fusion/backends/plan/executor.c -- runs parts on tiles, and kernels without reductions.
 *
 * A launch of one tile is the common small case: it goes from plan_launch() to
 * the code through a handful of pointer additions.
 */
#include "fusion/backends/plan/plan.h"
#include "fusion/backends/memory/memory.h"

#include <string.h>

/* ---- from an access to an address
 *
 * Most tiles lie in memory as code wants them and get a plain pointer.  Others
 * are gathered into a staging tile before the code runs, or scattered from one
 * after it.  A vector may read past the last point (buffers have slack, see
 * backends.h) but must not write there, unless it is the end of the buffer.
 */

/* Where in a worker's `base` those of a lookup are: of x, then of each index. */
static int lookup_base(const struct plan *p, const struct looked_up *l)
{
	return p->n_places + (int)(l - p->looked_up) * (1 + MAX_INDICES);
}

/* Elements are moved as words of their size, whatever their dtype. */
typedef uint8_t __attribute__((may_alias)) word1;
typedef uint16_t __attribute__((may_alias)) word2;
typedef uint32_t __attribute__((may_alias)) word4;
typedef uint64_t __attribute__((may_alias)) word8;

#define STRIDED(word)                                                                              \
	static void strided_##word(void *to, int64_t to_stride, const void *from,                  \
				   int64_t from_stride, int64_t n)                                 \
	{                                                                                          \
		word *out = to;                                                                    \
		const word *in = from;                                                             \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[i * to_stride] = in[i * from_stride];                                  \
	}
STRIDED(word1)
STRIDED(word2)
STRIDED(word4)
STRIDED(word8)

/* n elements; strides in elements, one of them 1. */
static void copy_run(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
		     unsigned bytes)
{
	if (to_stride == 1 && from_stride == 1)
		memcpy(to, from, (size_t)n * bytes);
	else if (bytes == 4)
		strided_word4(to, to_stride, from, from_stride, n);
	else if (bytes == 8)
		strided_word8(to, to_stride, from, from_stride, n);
	else if (bytes == 2)
		strided_word2(to, to_stride, from, from_stride, n);
	else
		strided_word1(to, to_stride, from, from_stride, n);
}

/* n copies of one element into a tile; writes up to 15 bytes more, which a tile
 * has room for and what follows overwrites. */
static void fill_run(char *to, const char *from, int64_t n, unsigned bytes)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));
	uint64_t word = bytes == 8   ? *(const word8 *)from
			: bytes == 4 ? *(const word4 *)from * 0x100000001u
			: bytes == 2 ? *(const word2 *)from * 0x1000100010001u
				     : *(const word1 *)from * 0x0101010101010101u;
	pair value = { word, word };

	for (int64_t i = 0; i < n * bytes; i += 16)
		*(pair *)(to + i) = value;
}

/* Fills [done, n) elements with copies of the first `done`. */
static void repeat(char *tile, int64_t done, int64_t n, unsigned bytes)
{
	while (done < n) {
		int64_t more = done < n - done ? done : n - done;

		memcpy(tile + done * bytes, tile, (size_t)more * bytes);
		done += more;
	}
}

/* Walks points [begin, begin + n) and copies between them and `tile`, which is
 * dense.  The innermost dim gives runs, an odometer the rest. */
static void walk_copy(const struct plan_place *at, char *memory, char *tile, int64_t begin,
		      int64_t n, bool out)
{
	const struct plan_walk *inner = at->inner, last = inner[at->n_inner - 1];
	int64_t index[MAX_RANK] = { 0 }, where = 0, rest = begin;
	unsigned bytes = at->bytes;

	for (int d = at->n_inner - 1; d >= 0; d--) {
		index[d] = rest % inner[d].extent;
		rest /= inner[d].extent;
		where += index[d] * inner[d].stride;
	}
	while (n > 0) {
		int d = at->n_inner - 1;
		int64_t run = last.extent - index[d];

		if (run > n)
			run = n;
		if (out)
			copy_run(memory + where * bytes, last.stride, tile, 1, run, bytes);
		else
			executor_copy_run(tile, memory + where * bytes, last.stride, run, bytes);
		tile += run * bytes;
		n -= run;
		where += (run - 1) * last.stride;
		index[d] += run - 1;
		while (d >= 0 && ++index[d] == inner[d].extent) {
			where -= (inner[d].extent - 1) * inner[d].stride;
			index[d--] = 0;
		}
		if (d >= 0)
			where += inner[d].stride;
	}
}

/* Whether whole vectors may be used on n points from `offset` elements on. */
static inline bool may_overrun(const struct plan *p, const struct plan_place *at, int64_t begin,
			       int64_t n)
{
	if ((n * at->bytes) % p->kernels->vector_bytes == 0)
		return true;
	if (!at->store)
		return !at->shared;
	/* The end of the buffer: what follows is slack, and no one else's. */
	return at->whole && !p->exact && begin + n == at->points;
}

/* The offset of `begin` where [begin, begin + n) is one run of stride 1. */
static inline bool one_run(const struct plan_place *at, int64_t begin, int64_t n, int64_t *where)
{
	int64_t offset = 0, rest;

	if (at->direct) {
		*where = begin;
		return true;
	}
	if (at->n_inner == 0 || at->inner[at->n_inner - 1].stride != 1 ||
	    begin % at->inner[at->n_inner - 1].extent + n > at->inner[at->n_inner - 1].extent)
		return false;
	rest = begin;
	for (int d = at->n_inner - 1; d >= 0; d--) {
		offset += rest % at->inner[d].extent * at->inner[d].stride;
		rest /= at->inner[d].extent;
	}
	*where = offset;
	return true;
}

typedef uint32_t quad __attribute__((vector_size(16), aligned(1), may_alias));

/* Words in reverse order, and every other word, four at a time. */
static void reverse_words(char *to, const char *from, int64_t n)
{
	int64_t i = 0;

	for (; i + 4 <= n; i += 4) {
		quad four = *(const quad *)(from - (i + 3) * 4);

		*(quad *)(to + i * 4) = __builtin_shufflevector(four, four, 3, 2, 1, 0);
	}
	strided_word4(to + i * 4, 1, from - i * 4, -1, n - i);
}

static void every_other_word(char *to, const char *from, int64_t n)
{
	int64_t i = 0;

	for (; i + 4 < n; i += 4) {
		quad first = *(const quad *)(from + i * 8),
		     rest = *(const quad *)(from + i * 8 + 16);

		*(quad *)(to + i * 4) = __builtin_shufflevector(first, rest, 0, 2, 4, 6);
	}
	strided_word4(to + i * 4, 1, from + i * 8, 2, n - i);
}

void executor_copy_run(char *to, const char *from, int64_t step, int64_t n, unsigned bytes)
{
	if (step == 0)
		fill_run(to, from, n, bytes);
	else if (step == -1 && bytes == 4)
		reverse_words(to, from, n);
	else if (step == 2 && bytes == 4)
		every_other_word(to, from, n);
	else
		copy_run(to, 1, from, step, n, bytes);
}

/* Copies points [begin, begin + n) into the tile `stage`. */
static void gather(const struct plan_place *at, char *memory, char *stage, int64_t begin, int64_t n)
{
	int64_t period = n;

	if (at->n_inner == 0) {
		fill_run(stage, memory, n, at->bytes);
		return;
	}
	if (at->inner[0].stride == 0 && at->points / at->inner[0].extent < n)
		period = at->points / at->inner[0].extent; /* a broadcast repeats itself */
	walk_copy(at, memory, stage, begin, period, false);
	repeat(stage, period, n, at->bytes);
}

/* One run of points, dense or not. */
static void gather_run(const struct plan_place *at, char *memory, char *stage, int64_t begin,
		       int64_t n)
{
	int64_t where;

	if (one_run(at, begin, n, &where))
		memcpy(stage, memory + where * at->bytes, (size_t)n * at->bytes);
	else
		gather(at, memory, stage, begin, n);
}

enum { NARROW_JOIN = 16 };

/* Whole rows of a narrow join, as torch.stack along the last dim makes them: each part's
 * points at once, and then apart. */
static void gather_rows_joined(const struct plan *p, const struct joined *joined,
			       void *const *buffers, char *stage, int64_t outer, int64_t rows)
{
	char run[TILE_ELEMENTS * 8 + VECTOR_MAX];
	int64_t width = joined->width;

	for (int k = 0; k < joined->n; k++) {
		const struct plan_place *part = &joined->places[k];
		int64_t end = k + 1 < joined->n ? joined->begin[k + 1] : width;
		int64_t row = end - joined->begin[k], bytes = part->bytes;

		if (row > 0)
			gather_run(part, place_start(p, part, part->offset, buffers), run,
				   outer * row, rows * row);
		for (int64_t j = 0; j < row; j++)
			copy_run(stage + (joined->begin[k] + j) * bytes, width, run + j * bytes,
				 row, rows, part->bytes);
	}
}

/* Points [begin, begin + n) of a join: a run of each part in turn. */
static void gather_joined(const struct plan *p, const struct joined *joined, void *const *buffers,
			  char *stage, int64_t begin, int64_t n)
{
	int64_t outer = begin / joined->width, at = begin % joined->width;
	int k = joined->n - 1;

	while (joined->begin[k] > at)
		k--;
	while (n > 0) {
		const struct plan_place *part = &joined->places[k];
		int64_t end = k + 1 < joined->n ? joined->begin[k + 1] : joined->width;
		int64_t row = end - joined->begin[k], run = end - at < n ? end - at : n;
		int64_t rows = n / joined->width;

		if (at == 0 && k == 0 && joined->width <= NARROW_JOIN && rows > 1 &&
		    n <= TILE_ELEMENTS) {
			gather_rows_joined(p, joined, buffers, stage, outer, rows);
			stage += rows * joined->width * part->bytes;
			n -= rows * joined->width;
			outer += rows;
			continue;
		}
		if (run > 0)
			gather_run(part, place_start(p, part, part->offset, buffers), stage,
				   outer * row + at - joined->begin[k], run);
		stage += run * part->bytes;
		n -= run;
		at = end;
		if (++k == joined->n) {
			k = 0;
			at = 0;
			outer++;
		}
	}
}

/* What indices name at points of the row that the owner is at. */
static void look_up(const struct plan_run *run, const struct plan_place *at, char *stage,
		    const struct plan_span *span)
{
	const struct plan *p = run->plan;
	const int64_t *base = run->owner->base + lookup_base(p, at->looked_up);
	uint64_t one[3]; /* a run may write beyond its end */

	if (!at->one) {
		lookup_gather(run, at, base, stage, span->begin, span->n);
		return;
	}
	lookup_gather(run, at, base, (char *)one, 0, 1);
	p->kernels->splat(stage, one, at->bytes);
}

/* The address of points [begin, begin + n), gathered into `stage` where they do not lie side
 * by side. */
static void *place_open(const struct plan_run *run, const struct plan_place *at, int64_t base,
			void *stage, const struct plan_span *span)
{
	const struct plan *p = run->plan;
	char *memory;
	int64_t where;

	if (at->joined) {
		gather_joined(p, at->joined, run->buffers, stage, span->begin, span->n);
		return stage;
	}
	if (at->looked_up) {
		look_up(run, at, stage, span);
		return stage;
	}
	if (at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE)
		return run->owner->slot[at->inst->slot] + span->slot * at->bytes;
	memory = place_start(p, at, base, run->buffers);
	if (at->one) {
		if (!at->store)
			p->kernels->splat(stage, memory, at->bytes);
		return stage;
	}
	if (one_run(at, span->begin, span->n, &where) && may_overrun(p, at, span->begin, span->n))
		return memory + where * at->bytes;
	if (!at->store)
		gather(at, memory, stage, span->begin, span->n);
	return stage;
}

static void place_close(const struct plan *p, const struct plan_place *at, int64_t base,
			void *const *buffers, void *opened, const struct plan_span *span)
{
	char *memory = place_start(p, at, base, buffers);

	if (at->one || at->n_inner == 0)
		memcpy(memory, opened, at->bytes);
	else
		walk_copy(at, memory, opened, span->begin, span->n, true);
}

/* rows[r * n + j] = lines[j * step + r]: lines of memory become columns. */
#define TURN(word)                                                                                 \
	static void turn_##word(void *to, const void *from, int64_t step, int64_t rows, int64_t n) \
	{                                                                                          \
		word *out = to;                                                                    \
		for (int64_t j = 0; j < n; j++) {                                                  \
			const word *in = (const word *)from + j * step;                            \
			for (int64_t r = 0; r < rows; r++)                                         \
				out[r * n + j] = in[r];                                            \
		}                                                                                  \
	}
TURN(word1)
TURN(word2)
TURN(word8)

/* The same, four lines of four words at a time. */
static void turn_quads(char *to, const char *from, int64_t step, int64_t rows, int64_t n)
{
	int64_t whole_rows = rows / 4 * 4, whole = n / 4 * 4;

	for (int64_t j = 0; j < whole; j += 4)
		for (int64_t r = 0; r < whole_rows; r += 4) {
			const char *in = from + (j * step + r) * 4;
			char *out = to + (r * n + j) * 4;
			quad a = *(const quad *)in, b = *(const quad *)(in + step * 4);
			quad c = *(const quad *)(in + step * 8),
			     d = *(const quad *)(in + step * 12);
			quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
			quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
			quad rest_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
			quad rest_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);

			*(quad *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
			*(quad *)(out + n * 4) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
			*(quad *)(out + n * 8) = __builtin_shufflevector(rest_ab, rest_cd, 0, 1, 4,
									 5);
			*(quad *)(out + n * 12) = __builtin_shufflevector(rest_ab, rest_cd, 2, 3, 6,
									  7);
		}
	for (int64_t j = 0; j < n; j++)
		for (int64_t r = j < whole ? whole_rows : 0; r < rows; r++)
			memcpy(to + (r * n + j) * 4, from + (j * step + r) * 4, 4);
}

static void turn_lines(char *to, const char *from, int64_t step, int64_t rows, int64_t n,
		       unsigned bytes)
{
	if (bytes == 4)
		turn_quads(to, from, step, rows, n);
	else if (bytes == 8)
		turn_word8(to, from, step, rows, n);
	else if (bytes == 2)
		turn_word2(to, from, step, rows, n);
	else
		turn_word1(to, from, step, rows, n);
}

/* Where a point of a walk over the inner dims lies. */
static int64_t offset_of(const struct plan_place *at, int64_t point)
{
	int64_t offset = 0;

	for (int d = at->n_inner - 1; d >= 0; d--) {
		offset += point % at->inner[d].extent * at->inner[d].stride;
		point /= at->inner[d].extent;
	}
	return offset;
}

/* A block of a turned walk: from a row to the next it is one step in any place. */
static void gather_turned(const struct plan_place *at, const char *memory, char *stage,
			  const struct plan_block *block)
{
	const char *from = memory + offset_of(at, block->begin) * (int64_t)at->bytes;
	int64_t row = at->turn_step * at->bytes, n = block->n;

	if (at->line_step == 0 || at->line_step == 1) {
		for (int64_t r = 0; r < block->rows; r++)
			if (at->line_step)
				memcpy(stage + r * n * at->bytes, from + r * row,
				       (size_t)n * at->bytes);
			else
				fill_run(stage + r * n * at->bytes, from + r * row, n, at->bytes);
		return;
	}
	turn_lines(stage, from, at->line_step, block->rows, n, at->bytes);
}

static void scatter_turned(const struct plan_place *at, char *memory, const char *stage,
			   const struct plan_block *block)
{
	char *to = memory + offset_of(at, block->begin) * (int64_t)at->bytes;
	size_t bytes = (size_t)block->n * at->bytes;

	for (int64_t r = 0; r < block->rows; r++)
		memcpy(to + r * at->turn_step * at->bytes, stage + (size_t)r * bytes, bytes);
}

static void place_gather(const struct plan *p, const struct plan_place *at, void *const *buffers,
			 char *stage, const struct plan_block *block)
{
	char *memory = place_start(p, at, at->offset, buffers);

	if (at->store)
		return;
	if (at->one) {
		p->kernels->splat(stage, memory, at->bytes);
		return;
	}
	if (block->turned) {
		gather_turned(at, memory, stage, block);
		return;
	}
	for (int64_t r = 0; r < block->rows; r++)
		gather_run(at, memory, stage + r * block->n * at->bytes,
			   block->begin + r * block->step, block->n);
}

static void place_scatter(const struct plan *p, const struct plan_place *at, void *const *buffers,
			  const char *stage, const struct plan_block *block)
{
	char *memory = place_start(p, at, at->offset, buffers);
	int64_t where;

	if (block->turned) {
		scatter_turned(at, memory, stage, block);
		return;
	}
	for (int64_t r = 0; r < block->rows; r++) {
		const char *run = stage + r * block->n * at->bytes;
		int64_t begin = block->begin + r * block->step;

		if (one_run(at, begin, block->n, &where))
			memcpy(memory + where * at->bytes, run, (size_t)block->n * at->bytes);
		else
			walk_copy(at, memory, (char *)(uintptr_t)run, begin, block->n, true);
	}
}

/* ---- tiles */

enum { NARROW = 256 }; /* points of a run for which a call of the code is much */

struct launch {
	struct plan *plan;
	void *const *buffers;
	pool_fn *range; /* MAP: forward over tiles */
};

/* A block of a COLS, point by point. */
static void gather_block(const struct plan *p, const struct plan_place *at, int64_t base,
			 void *const *buffers, char *stage, const struct plan_span *span)
{
	int64_t width = span->width, points = span->n / width, bytes = at->bytes;
	const char *from = place_start(
	    p, at, base + span->point * at->point_step + span->begin * at->column_step, buffers);

	if (at->one)
		p->kernels->splat(stage, from, at->bytes);
	else if (at->column_step != 0 && at->column_step != 1 && at->point_step == 1)
		turn_lines(stage, from, at->column_step, points, width, at->bytes);
	else
		for (int64_t k = 0; k < points; k++)
			executor_copy_run(stage + k * width * bytes,
					  from + k * at->point_step * bytes, at->column_step, width,
					  at->bytes);
}

void executor_part(const struct plan_run *run, int part, const struct plan_span *span)
{
	const struct plan *p = run->plan;
	const struct plan_worker *owner = run->owner;
	struct plan_worker *self = run->self;
	void *const *buffers = run->buffers;
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
		const struct plan_place *place = &what->places[k];

		if (__builtin_expect(span->block, 0)) {
			at[k] = self->staging + (size_t)k * stage_bytes;
			gather_block(p, place, base[k], buffers, at[k], span);
		} else if (place->plain &&
			   (!place->store || span->n * place->bytes % vector_bytes == 0))
			at[k] = place_start(p, place, base[k] + span->begin, buffers);
		else
			at[k] = place_open(run, place, base[k],
					   self->staging + (size_t)k * stage_bytes, span);
	}
	code->run(code->code, &tile);
	if (!what->stores)
		return;
	for (int k = 0; k < what->n_places; k++)
		if (at[k] == self->staging + (size_t)k * stage_bytes && what->places[k].store)
			place_close(p, &what->places[k], base[k], buffers, at[k], span);
}

void executor_row(const struct plan *p, struct plan_worker *w, int64_t row)
{
	int64_t index[MAX_RANK] = { 0 };

	for (int d = p->n_outer_dims - 1; d >= 0; d--) {
		index[d] = d && row ? row % p->outer_extent[d] : row;
		row = row ? row / p->outer_extent[d] : 0; /* extents of row 0 may be 0 */
	}
	for (int k = 0; k < p->n_places; k++) {
		const struct plan_place *at = &p->places[k];
		int64_t base = at->offset;

		for (int d = 0; d < at->n_outer; d++)
			base += index[d] * at->outer[d].stride;
		w->base[k] = base;
	}
	for (int i = 0; i < p->n_looked_up; i++) {
		const struct looked_up *l = &p->looked_up[i];
		int64_t *base = w->base + lookup_base(p, l);

		for (int k = 0; k <= l->n; k++) {
			base[k] = l->offset[k];
			for (int d = 0; d < l->n_outer; d++)
				base[k] += index[d] * l->outer[k][d];
		}
	}
}

static void map_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	struct plan *p = launch->plan;
	struct plan_worker *w = &p->workers[thread];
	const struct plan_run run = { p, w, w, launch->buffers };

	executor_row(p, w, 0);
	begin *= p->tile;
	end = end * p->tile < p->points ? end * p->tile : p->points;
	for (; begin < end; begin += p->tile) {
		int64_t n = end - begin < p->tile ? end - begin : p->tile;

		executor_part(&run, part_body(0), &(struct plan_span){ .begin = begin, .n = n });
	}
}

static void flat_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	const struct plan *p = launch->plan;
	const struct part *body = &p->parts[part_body(0)];
	const struct tile_code *code = &p->code[part_body(0)];
	const struct plan_worker *w = &p->workers[thread];
	char *at[MAX_PLACES];
	struct tile tile = { .at = (void *const *)at, .reg = w->reg, .scratch = w->scratch };

	begin *= p->tile;
	end = end * p->tile < p->points ? end * p->tile : p->points;
	for (int k = 0; k < body->n_places; k++) {
		const struct plan_place *place = &body->places[k];

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

void plan_setup(struct plan *p, void *const *buffers)
{
	const struct plan_run run = { p, &p->workers[0], &p->workers[0], buffers };

	if (!p->has_setup)
		return;
	executor_row(p, &p->workers[0], 0);
	executor_part(&run, PART_SETUP, &(struct plan_span){ .n = 1 });
}

/* Before a launch, where memory is watched (memory.h): what threads need is as fresh. */
static void plan_poison(struct plan *p)
{
	for (int i = 0; i < p->n_workers; i++)
		fence_poison_here(p->workers[i].staging, p->workers[i].room_bytes);
}

void plan_begin_blocks(struct plan *p, void *const *buffers)
{
	if (__builtin_expect(p->exact, 0))
		plan_poison(p);
	plan_setup(p, buffers);
}

/* Short runs: as many as a tile holds are put side by side, so that the code is not
 * called for each. */
static void run_runs(const struct plan *p, struct plan_worker *w, void *const *buffers,
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

/* ---- MAPs whose loads lie along another dim than the walk's last */

/* Blocks follow each other along the turned dim: the next one reads the same pages. */
static void turned_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct launch *launch = context;
	const struct plan *p = launch->plan;
	const struct plan_turn *t = &p->turn;
	int64_t down = (t->extent + t->rows - 1) / t->rows;
	int64_t across = (t->line + t->width - 1) / t->width;

	executor_row(p, &p->workers[thread], 0);
	for (int64_t i = begin; i < end; i++) {
		int64_t row = i % down * t->rows, column = i / down % across * t->width;
		int64_t beside = i / down / across;
		int64_t outer = beside / t->between, between = beside % t->between;
		struct plan_block block = { .turned = true, .step = t->between * t->line };

		block.begin = ((outer * t->extent + row) * t->between + between) * t->line + column;
		block.rows = t->extent - row < t->rows ? t->extent - row : t->rows;
		block.n = t->line - column < t->width ? t->line - column : t->width;
		run_runs(p, &p->workers[thread], launch->buffers, block);
	}
}

static void run_turned(struct plan *p, void *const *buffers, struct pool *pool)
{
	const struct plan_turn *t = &p->turn;
	struct launch launch = { .plan = p, .buffers = buffers };
	int64_t blocks = (t->extent + t->rows - 1) / t->rows *
			 ((t->line + t->width - 1) / t->width) * t->outer * t->between;

	if (p->n_workers == 1)
		turned_range(&launch, 0, blocks, 0);
	else
		pool_run(pool, blocks, (blocks + p->n_workers - 1) / p->n_workers, turned_range,
			 &launch);
}

static void run_map(struct plan *p, void *const *buffers, struct pool *pool, bool backward)
{
	struct launch launch = { p, buffers, p->flat ? flat_range : map_range };
	pool_fn *range = launch.range;

	if (p->turned) {
		run_turned(p, buffers, pool);
		return;
	}
	if (backward && p->points > BACKWARD_POINTS)
		range = backward_range;
	if (p->n_workers == 1)
		range(&launch, 0, p->tiles, 0);
	else
		pool_run_towards(pool, p->tiles, p->tiles_grain, backward, range, &launch);
}

void plan_run_block(struct plan *p, void *const *buffers, const struct plan_block *block,
		    int thread)
{
	struct plan_worker *w = &p->workers[thread];
	const struct plan_run run = { p, w, w, buffers };
	struct plan_block at = *block;

	if (at.step == at.n) {
		at.n *= at.rows;
		at.rows = 1;
	}
	if (p->kernel->form == FORM_ROWS) {
		for (; at.rows > 0; at.rows--, at.begin += at.step)
			executor_some_rows(p, buffers, at.begin / p->points,
					   (at.begin + at.n) / p->points, thread);
		return;
	}
	executor_row(p, w, 0);
	if (at.n <= NARROW && at.rows > 1) {
		run_runs(p, w, buffers, at);
		return;
	}
	for (; at.rows > 0; at.rows--, at.begin += at.step)
		for (int64_t done = 0; done < at.n; done += p->tile) {
			int64_t n = at.n - done < p->tile ? at.n - done : p->tile;

			executor_part(&run, part_body(0),
				      &(struct plan_span){ .begin = at.begin + done, .n = n });
		}
}

void plan_launch(struct plan *p, void *const *buffers, struct pool *pool, bool backward)
{
	if (__builtin_expect(p->exact, 0))
		plan_poison(p);
	if (__builtin_expect(p->has_setup, 0))
		plan_setup(p, buffers);
	switch (p->kernel->form) {
	case FORM_MAP:
		run_map(p, buffers, pool, backward);
		return;
	case FORM_ROWS:
		executor_rows(p, buffers, pool);
		return;
	case FORM_COLS:
		executor_cols(p, buffers, pool);
		return;
	case FORM_LIBRARY:
		return;
	}
}
