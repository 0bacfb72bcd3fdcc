/* fusion/lang/names.h -- names held once, and maps keyed by them.
 *
 * Two names are the same name exactly when their pointers are equal, so the
 * parser, the scopes and the compiler compare and hash pointers.  Private to
 * fusion/lang.
 */
#ifndef FUSION_LANG_NAMES_H
#define FUSION_LANG_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/arena.h"

struct name {
	const char *text; /* NUL terminated, in the arena */
	size_t len;
	int keyword; /* the token kind where the name is a keyword, else 0 */
};

/* Strings by content.  A zeroed struct with its arena set is ready. */
struct lang_names {
	struct arena *arena;
	struct name **slots;
	size_t cap, len;
};

/* The one entry for this text; NULL when out of memory. */
struct name *names_intern(struct lang_names *names, const char *text, size_t len);

/* Interned pointers to numbers.  A zeroed struct with its arena set is ready. */
struct name_map {
	struct arena *arena;
	const void **keys;
	int *values;
	size_t cap, len;
};

/* -1 where the key is not in the map. */
int name_map_get(const struct name_map *map, const void *key);
bool name_map_set(struct name_map *map, const void *key, int value); /* false: out of memory */

#endif
