/* fusion/base/arena.h -- memory that dies together.
 *
 * An arena hands out zeroed, 16-byte aligned memory and frees it all at once:
 * one per parsed program, per graph, per request.  Nothing taken from it is
 * freed alone.  A struct arena is used by one thread at a time.
 */
#ifndef FUSION_BASE_ARENA_H
#define FUSION_BASE_ARENA_H

#include <stddef.h>
#include <string.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	size_t used_bytes;          /* handed out since init */
	size_t limit_bytes;         /* 0: no limit */
};

/* A zeroed struct arena is ready to use and has no limit. */
static inline void arena_init(struct arena *arena, size_t limit_bytes)
{
	*arena = (struct arena){ .limit_bytes = limit_bytes };
}

/* Frees everything; the arena may be used again.  NULL is fine. */
void arena_finish(struct arena *arena);

/* Zeroed memory that lives until arena_finish().  NULL when the limit is
 * reached or the system has no more. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* `count` zeroed elements; NULL on overflow too. */
void *arena_array(struct arena *arena, size_t count, size_t element_bytes);

/* Copies with a terminating NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

static inline char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
