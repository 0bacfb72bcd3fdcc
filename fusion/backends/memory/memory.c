/* fusion/backends/memory/memory.c -- memory that is watched (--poison). */
#include "fusion/backends/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"

/* Each 16 bits of it: a quiet NaN of float16, bfloat16, float32 and float64 alike. */
enum { FRESH = 0x7ffa7ffa, FREED = 0x7ffb7ffb };

struct guarded {
	char *memory; /* between its guard words */
	size_t bytes;
	char what[120];
	char writer[200];
};

struct fence {
	const struct device_memory *device;
	VEC(struct guarded) open; /* by address; what is opened within a block comes after it */
	struct err found;
	struct fence_counts counts;
};

struct memory_words { /* as they are to be */
	unsigned char at[FENCE_BYTES];
};

/* Other bytes than poison has, so that to copy that over them is seen; NaNs all the same,
 * for whoever reads past an end. */
static struct memory_words intact(void)
{
	struct memory_words w;

	for (int i = 0; i < FENCE_BYTES; i++)
		w.at[i] = i % 2 ? 0xff : 0xf4;
	return w;
}

struct fence *fence_create(void)
{
	return calloc(1, sizeof(struct fence));
}

void fence_destroy(struct fence *g)
{
	if (!g)
		return;
	VEC_FREE(&g->open);
	free(g);
}

void fence_use(struct fence *g, const struct device_memory *device)
{
	g->device = device;
}

bool fence_on_device(const struct fence *g)
{
	return g->device != NULL;
}

struct fence_counts fence_counts(const struct fence *g)
{
	return g->counts;
}

/* ---- which blocks are open */

/* How many begin at `memory` or before it. */
static size_t count_before(const struct fence *g, const void *memory)
{
	size_t low = 0, high = g->open.len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((uintptr_t)g->open.at[middle].memory <= (uintptr_t)memory)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The innermost that `memory` lies in; an empty one has its address too. */
static struct guarded *find(const struct fence *g, const void *memory)
{
	for (size_t i = count_before(g, memory); i > 0; i--) {
		struct guarded *at = &g->open.at[i - 1];

		if ((const char *)memory < at->memory + at->bytes || memory == at->memory)
			return at;
	}
	return NULL;
}

static bool insert(struct fence *g, char *memory, size_t bytes)
{
	size_t at = count_before(g, memory);

	if (!VEC_PUSH(&g->open, (struct guarded){ 0 }))
		return err_set(&g->found, ERR_MEMORY,
			       "out of memory for a list of blocks that are watched");
	memmove(&g->open.at[at + 1], &g->open.at[at], sizeof(*g->open.at) * (g->open.len - 1 - at));
	g->open.at[at] = (struct guarded){ .memory = memory, .bytes = bytes };
	return true;
}

/* ---- bytes, here or there */

static void fill(const struct fence *g, char *memory, uint32_t word, size_t bytes)
{
	size_t words = (bytes + sizeof(word) - 1) / sizeof(word); /* the rest is a guard's */

	if (g->device) {
		g->device->fill(g->device->self, memory, word, words * sizeof(word));
		return;
	}
	for (size_t i = 0; i < words; i++)
		memcpy(memory + i * sizeof(word), &word, sizeof(word));
}

/* The last word may be cut. */
void fence_poison_here(void *memory, size_t bytes)
{
	const uint32_t word = FRESH;

	for (size_t i = 0; i < bytes; i += sizeof(word))
		memcpy((char *)memory + i, &word,
		       bytes - i < sizeof(word) ? bytes - i : sizeof(word));
}

static void set_words(const struct fence *g, char *at)
{
	const struct memory_words w = intact();

	if (g->device)
		g->device->write(g->device->self, at, w.at, sizeof(w.at));
	else
		memcpy(at, w.at, sizeof(w.at));
}

void *fence_open(struct fence *g, void *block, size_t bytes)
{
	char *memory = (char *)block + FENCE_BYTES;

	g->counts.blocks++;
	fill(g, memory, FRESH, bytes);
	set_words(g, block);
	set_words(g, memory + bytes);
	insert(g, memory, bytes);
	return memory;
}

void fence_poison(struct fence *g, void *memory, size_t bytes)
{
	const struct guarded *at = find(g, memory);

	fill(g, memory, FRESH, bytes);
	if (at && at->memory + at->bytes == (char *)memory + bytes)
		set_words(g, at->memory + at->bytes); /* the last word may have gone beyond */
}

/* ---- guard words */

static void note(struct fence *g, const struct guarded *at, bool after, int first, int last)
{
	char place[64];

	if (after)
		snprintf(place, sizeof(place), "bytes %d to %d past the end", first, last);
	else
		snprintf(place, sizeof(place), "bytes %d to %d before the first byte",
			 FENCE_BYTES - last, FENCE_BYTES - first);
	if (!g->found.code)
		err_set(&g->found, ERR_INTERNAL,
			"memory outside of a buffer was overwritten: %s of %s, %zu bytes; the "
			"buffer was last written by %s",
			place, at->what[0] ? at->what : "a buffer of no known tensor", at->bytes,
			at->writer[0] ? at->writer : "no kernel that is known of");
}

/* One side of a block; once it was reported it is filled again. */
static void look_at(struct fence *g, const struct guarded *at, bool after)
{
	char *where = after ? at->memory + at->bytes : at->memory - FENCE_BYTES;
	const struct memory_words want = intact();
	struct memory_words have;
	int first = 0, last = FENCE_BYTES - 1;

	if (g->device)
		g->device->read(g->device->self, have.at, where, sizeof(have.at));
	else
		memcpy(have.at, where, sizeof(have.at));
	if (memcmp(have.at, want.at, sizeof(want.at)) == 0)
		return;
	while (have.at[first] == want.at[first])
		first++;
	while (have.at[last] == want.at[last])
		last--;
	note(g, at, after, first, last);
	set_words(g, where);
}

static void look(struct fence *g, const struct guarded *at)
{
	g->counts.looks++;
	look_at(g, at, false);
	look_at(g, at, true);
}

void *fence_close(struct fence *g, void *memory)
{
	size_t at = count_before(g, memory);

	if (at > 0 && g->open.at[at - 1].memory == memory) {
		struct guarded *block = &g->open.at[at - 1];

		look(g, block);
		fill(g, memory, FREED, block->bytes);
		memmove(block, block + 1, sizeof(*block) * (g->open.len - at));
		g->open.len--;
	}
	return (char *)memory - FENCE_BYTES;
}

void fence_look(struct fence *g, const void *memory)
{
	const struct guarded *at = find(g, memory);

	if (at)
		look(g, at);
}

bool fence_check(struct fence *g, struct err *err)
{
	for (size_t i = 0; i < g->open.len; i++)
		look(g, &g->open.at[i]);
	if (!g->found.code)
		return true;
	if (err)
		*err = g->found;
	g->found = (struct err){ 0 };
	return false;
}

/* ---- for messages */

void fence_describe(struct fence *g, void *memory, const char *what)
{
	struct guarded *at = find(g, memory);

	if (at)
		snprintf(at->what, sizeof(at->what), "%s", what);
}

void fence_wrote(struct fence *g, const void *memory, const char *writer)
{
	struct guarded *at = find(g, memory);

	if (at)
		snprintf(at->writer, sizeof(at->writer), "%s", writer);
}
