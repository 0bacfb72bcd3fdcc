/* fusion/lang/names.c -- names held once, and maps keyed by them: open addressing, at most half
 * full.
 *
 * A table that grows leaves its old slots in the arena: at most as much again.
 */
#include "fusion/lang/names.h"

#include <stdint.h>
#include <string.h>

#include "fusion/base/hash.h"

enum { FIRST_CAP = 64, FIRST_MAP_CAP = 8 };

static size_t find_text(const struct lang_names *names, const char *text, size_t len)
{
	size_t i = hash_bytes(text, len, 0) & (names->cap - 1);

	while (names->slots[i] &&
	       (names->slots[i]->len != len || memcmp(names->slots[i]->text, text, len) != 0))
		i = (i + 1) & (names->cap - 1);
	return i;
}

static bool grow_names(struct lang_names *names)
{
	struct lang_names bigger = { .arena = names->arena, .len = names->len };

	bigger.cap = names->cap ? names->cap * 2 : FIRST_CAP;
	bigger.slots = ARENA_ARRAY(names->arena, struct name *, bigger.cap);
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < names->cap; i++) {
		struct name *name = names->slots[i];

		if (name)
			bigger.slots[find_text(&bigger, name->text, name->len)] = name;
	}
	*names = bigger;
	return true;
}

struct name *names_intern(struct lang_names *names, const char *text, size_t len)
{
	struct name *name;
	size_t i;

	if (names->len * 2 >= names->cap && !grow_names(names))
		return NULL;
	i = find_text(names, text, len);
	if (names->slots[i])
		return names->slots[i];
	name = ARENA_NEW(names->arena, struct name);
	if (!name || !(name->text = arena_strndup(names->arena, text, len)))
		return NULL;
	name->len = len;
	names->slots[i] = name;
	names->len++;
	return name;
}

static size_t find_key(const struct name_map *map, const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (map->cap - 1);

	while (map->keys[i] && map->keys[i] != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

int name_map_get(const struct name_map *map, const void *key)
{
	size_t i;

	if (!map->cap)
		return -1;
	i = find_key(map, key);
	return map->keys[i] ? map->values[i] : -1;
}

static bool grow_map(struct name_map *map)
{
	struct name_map bigger = { .arena = map->arena, .len = map->len };

	bigger.cap = map->cap ? map->cap * 2 : FIRST_MAP_CAP;
	bigger.keys = ARENA_ARRAY(map->arena, const void *, bigger.cap);
	bigger.values = ARENA_ARRAY(map->arena, int, bigger.cap);
	if (!bigger.keys || !bigger.values)
		return false;
	for (size_t i = 0; i < map->cap; i++) {
		if (map->keys[i]) {
			size_t j = find_key(&bigger, map->keys[i]);

			bigger.keys[j] = map->keys[i];
			bigger.values[j] = map->values[i];
		}
	}
	*map = bigger;
	return true;
}

bool name_map_set(struct name_map *map, const void *key, int value)
{
	size_t i;

	if (map->len * 2 >= map->cap && !grow_map(map))
		return false;
	i = find_key(map, key);
	if (!map->keys[i]) {
		map->keys[i] = key;
		map->len++;
	}
	map->values[i] = value;
	return true;
}
