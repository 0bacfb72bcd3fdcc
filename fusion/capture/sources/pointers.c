/* fusion/capture/sources/pointers.c -- open addressing over a table of a power of two. */
#include "fusion/capture/sources/sources.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t place(const struct pointers *p, const void *key)
{
	uint64_t hash = (uint64_t)(uintptr_t)key >> 4;
	size_t at;

	hash *= 0x9e3779b97f4a7c15u;
	at = (size_t)(hash >> 32) & (p->cap - 1);
	while (p->keys[at] && p->keys[at] != key)
		at = (at + 1) & (p->cap - 1);
	return at;
}

int pointers_get(const struct pointers *p, const void *key)
{
	size_t at;

	if (p->len == 0)
		return -1;
	at = place(p, key);
	return p->keys[at] ? p->numbers[at] : -1;
}

static bool grow(struct pointers *p)
{
	struct pointers bigger = { .cap = p->cap ? p->cap * 2 : 64, .len = p->len };

	bigger.keys = calloc(bigger.cap, sizeof(*bigger.keys));
	bigger.numbers = calloc(bigger.cap, sizeof(*bigger.numbers));
	if (!bigger.keys || !bigger.numbers) {
		pointers_finish(&bigger);
		return false;
	}
	for (size_t i = 0; i < p->cap; i++) {
		size_t at;

		if (!p->keys[i])
			continue;
		at = place(&bigger, p->keys[i]);
		bigger.keys[at] = p->keys[i];
		bigger.numbers[at] = p->numbers[i];
	}
	pointers_finish(p);
	*p = bigger;
	return true;
}

bool pointers_set(struct pointers *p, const void *key, int number)
{
	size_t at;

	if (p->len * 2 >= p->cap && !grow(p))
		return false;
	at = place(p, key);
	p->len += !p->keys[at];
	p->keys[at] = key;
	p->numbers[at] = number;
	return true;
}

void pointers_finish(struct pointers *p)
{
	free(p->keys);
	free(p->numbers);
	*p = (struct pointers){ 0 };
}
