/* profiler/align/names.c -- when two names mean the same. */
#include "profiler/align/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

enum { NAME_BYTES = 2048, HEX_CHARS = 8, HASH_CHARS = 16 };

/* ---- a name as it counts ---- */

struct word {
	const char *at;
	size_t len;
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* Digits alone; at least HEX_CHARS hex digits, or HASH_CHARS letters, with digits among them. */
static bool is_made(const struct word *w)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < w->len; i++) {
		unsigned char c = (unsigned char)w->at[i];

		digits += isdigit(c) != 0;
		hex += isxdigit(c) != 0 && !isupper(c);
	}
	if (w->len > 2 && w->at[0] == '0' && w->at[1] == 'x' && hex == w->len - 1)
		return true;
	return digits == w->len || (digits && hex == w->len && w->len >= HEX_CHARS) ||
	       (digits && digits < w->len && w->len >= HASH_CHARS &&
		!isupper((unsigned char)w->at[0]));
}

static bool is_number(const struct word *w)
{
	for (size_t i = 0; i < w->len; i++)
		if (!isdigit((unsigned char)w->at[i]))
			return false;
	return true;
}

/* Writes the name as it counts; cut at `size`. */
static void name_normal(char *out, size_t size, const char *name)
{
	size_t len = 0;

	while (*name && len + 1 < size) {
		struct word w = { name, 0 };

		while (in_word(name[w.len]))
			w.len++;
		if (!w.len) {
			out[len++] = *name++;
			continue;
		}
		name += w.len;
		if (is_number(&w) || is_made(&w))
			w = (struct word){ "#",
					   len == 0 || out[len - 1] != '#' }; /* "Step#3" too */
		for (size_t i = 0; i < w.len && len + 1 < size; i++)
			out[len++] = w.at[i];
	}
	out[len] = '\0';
}

/* ---- numbers of names ---- */

void name_ids_finish(struct name_ids *t)
{
	arena_finish(&t->arena);
	VEC_FREE(&t->texts);
	free(t->slots);
	*t = (struct name_ids){ 0 };
}

/* The slot that has the text, or is free for it. */
static uint32_t *slot_of(const struct name_ids *t, const char *text)
{
	size_t at = hash_bytes(text, strlen(text), 0) & (t->n_slots - 1);

	while (t->slots[at] && strcmp(t->texts.at[t->slots[at] - 1], text) != 0)
		at = (at + 1) & (t->n_slots - 1);
	return &t->slots[at];
}

static bool grow(struct name_ids *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	for (size_t i = 0; i < t->texts.len; i++)
		*slot_of(t, t->texts.at[i]) = (uint32_t)i + 1;
	return true;
}

uint32_t name_ids_find(struct name_ids *t, const char *name)
{
	char text[NAME_BYTES];
	const char *kept;
	uint32_t *slot;

	name_normal(text, sizeof(text), name);
	if (2 * t->texts.len >= t->n_slots && !grow(t))
		return NAMES_NONE;
	slot = slot_of(t, text);
	if (*slot)
		return *slot;
	kept = arena_strdup(&t->arena, text);
	if (!kept || !VEC_PUSH(&t->texts, kept))
		return NAMES_NONE;
	return *slot = (uint32_t)t->texts.len;
}

/* ---- likeness ---- */

static int by_hash(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void name_words_of(struct name_words *to, const char *name)
{
	const char *end = name + strnlen(name, NAME_BYTES);
	int depth = 0;

	to->n = 0;
	while (name < end && to->n < NAMES_MOST_WORDS) {
		struct word w = { name, 0 };

		depth += (*name == '<') - (*name == '>' && depth > 0);
		while (in_word(name[w.len]))
			w.len++;
		name += w.len ? w.len : 1;
		if (w.len && depth == 0 && !is_number(&w))
			to->hash[to->n++] = (uint32_t)hash_bytes(w.at, w.len, 0);
	}
	qsort(to->hash, (size_t)to->n, sizeof(*to->hash), by_hash);
}

double name_likeness(const struct name_words *a, const struct name_words *b)
{
	int i = 0, k = 0, both = 0;

	while (i < a->n && k < b->n) {
		uint32_t x = a->hash[i], y = b->hash[k];

		both += x == y;
		i += x <= y;
		k += y <= x;
	}
	return a->n + b->n ? 2.0 * both / (a->n + b->n) : 0;
}
