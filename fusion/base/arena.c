/* fusion/base/arena.c -- chunks of growing size, freed as one. */
#include "fusion/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	size_t used;
	_Alignas(ALIGN) unsigned char data[];
};

void arena_finish(struct arena *arena)
{
	struct arena_chunk *chunk, *next;

	if (!arena)
		return;
	for (chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	arena->chunks = NULL;
	arena->used_bytes = 0;
}

static struct arena_chunk *chunk_for(struct arena *arena, size_t bytes)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t size;

	if (chunk && chunk->size - chunk->used >= bytes)
		return chunk;
	size = chunk ? chunk->size * 2 : FIRST_CHUNK;
	if (size > LARGEST_CHUNK)
		size = LARGEST_CHUNK;
	if (size < bytes)
		size = bytes;
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->used = 0;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	struct arena_chunk *chunk;
	void *memory;

	if (bytes > SIZE_MAX - LARGEST_CHUNK)
		return NULL;
	bytes = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
	if (arena->limit_bytes && bytes > arena->limit_bytes - arena->used_bytes)
		return NULL;
	chunk = chunk_for(arena, bytes);
	if (!chunk)
		return NULL;
	memory = memset(chunk->data + chunk->used, 0, bytes); /* only what is used is touched */
	chunk->used += bytes;
	arena->used_bytes += bytes;
	return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t element_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, element_bytes, &bytes))
		return NULL;
	return arena_alloc(arena, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	char few[256], *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(few, sizeof(few), format, args);
	va_end(args);
	if (len < 0 || !(text = arena_alloc(arena, (size_t)len + 1)))
		return NULL;
	if ((size_t)len < sizeof(few)) {
		memcpy(text, few, (size_t)len + 1);
		return text;
	}
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}
