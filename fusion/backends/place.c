/* fusion/backends/place.c -- from an access to an address.
 *
 * Most tiles lie in memory as code wants them and get a plain pointer.  Others
 * are gathered into a staging tile before the code runs, or scattered from one
 * after it.  A vector may read past the last point (buffers have slack, see
 * backend.h) but must not write there, unless it is the end of the buffer.
 */
#include <string.h>

#include "fusion/backends/plan.h"

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
static void walk_copy(const struct place *at, char *memory, char *tile, int64_t begin, int64_t n,
		      bool out)
{
	const struct walk *inner = at->inner, last = inner[at->n_inner - 1];
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
		else if (last.stride == 0)
			fill_run(tile, memory + where * bytes, run, bytes);
		else
			copy_run(tile, 1, memory + where * bytes, last.stride, run, bytes);
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
static inline bool may_overrun(const struct plan *p, const struct place *at, int64_t begin,
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
static inline bool one_run(const struct place *at, int64_t begin, int64_t n, int64_t *where)
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

/* Copies points [begin, begin + n) into the tile `stage`. */
static void gather(const struct place *at, char *memory, char *stage, int64_t begin, int64_t n)
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
static void gather_run(const struct place *at, char *memory, char *stage, int64_t begin, int64_t n)
{
	int64_t where;

	if (one_run(at, begin, n, &where))
		memcpy(stage, memory + where * at->bytes, (size_t)n * at->bytes);
	else
		gather(at, memory, stage, begin, n);
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
		const struct place *part = &joined->places[k];
		int64_t end = k + 1 < joined->n ? joined->begin[k + 1] : joined->width;
		int64_t row = end - joined->begin[k], run = end - at < n ? end - at : n;

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

void *place_open(const struct plan *p, const struct place *at, const struct worker *owner,
		 int64_t base, void *const *buffers, void *stage, const struct span *span)
{
	char *memory;
	int64_t where;

	if (at->joined) {
		gather_joined(p, at->joined, buffers, stage, span->begin, span->n);
		return stage;
	}
	if (at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE)
		return owner->slot[at->inst->slot] + span->slot * at->bytes;
	memory = place_start(p, at, base, buffers);
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

void place_close(const struct plan *p, const struct place *at, int64_t base, void *const *buffers,
		 void *opened, const struct span *span)
{
	char *memory = place_start(p, at, base, buffers);

	if (at->one || at->n_inner == 0)
		memcpy(memory, opened, at->bytes);
	else
		walk_copy(at, memory, opened, span->begin, span->n, true);
}

void place_gather(const struct plan *p, const struct place *at, void *const *buffers, char *stage,
		  const struct plan_block *block)
{
	char *memory = place_start(p, at, at->offset, buffers);

	if (at->store)
		return;
	if (at->one) {
		p->kernels->splat(stage, memory, at->bytes);
		return;
	}
	for (int64_t r = 0; r < block->rows; r++)
		gather_run(at, memory, stage + r * block->n * at->bytes,
			   block->begin + r * block->step, block->n);
}

void place_scatter(const struct plan *p, const struct place *at, void *const *buffers,
		   const char *stage, const struct plan_block *block)
{
	char *memory = place_start(p, at, at->offset, buffers);
	int64_t where;

	for (int64_t r = 0; r < block->rows; r++) {
		const char *run = stage + r * block->n * at->bytes;
		int64_t begin = block->begin + r * block->step;

		if (one_run(at, begin, block->n, &where))
			memcpy(memory + where * at->bytes, run, (size_t)block->n * at->bytes);
		else
			walk_copy(at, memory, (char *)(uintptr_t)run, begin, block->n, true);
	}
}
