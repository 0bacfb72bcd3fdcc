/* fusion/capture/sources/memory.c -- compares what a point is given with what it was given. */
#include "fusion/capture/sources/sources.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

static struct seen *find(struct memory *m, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	struct seen fresh = { .hash = hash, .rank = -1, .number = { .kind = VALUE_UNSET } };

	for (size_t i = 0; i < m->list.len; i++) { /* they come in the same order, mostly */
		struct seen *seen = &m->list.at[(m->next + i) % m->list.len];

		if (seen->hash == hash && strcmp(seen->name, name) == 0) {
			m->next = (m->next + i + 1) % m->list.len;
			return seen;
		}
	}
	fresh.name = strdup(name);
	if (!fresh.name || !VEC_PUSH(&m->list, fresh)) {
		free(fresh.name);
		return NULL;
	}
	return &m->list.at[m->list.len - 1];
}

static void note_sizes(struct seen *seen, const struct source *source)
{
	bool same_rank = seen->rank == source->rank;

	for (int d = 0; d < source->rank; d++)
		if (same_rank)
			seen->changed[d] |= seen->size[d] != source->size[d];
		else /* of another rank nothing is known to stay */
			seen->changed[d] = seen->rank >= 0;
	seen->rank = source->rank;
	memcpy(seen->size, source->size, sizeof(seen->size));
}

const struct seen *memory_note(struct memory *m, const struct source *source)
{
	struct seen *seen = find(m, source->name);

	if (!seen)
		return NULL;
	if (source->kind == VALUE_TENSOR) {
		note_sizes(seen, source);
		for (int d = 0; seen->number.kind != VALUE_UNSET && d < source->rank; d++)
			seen->changed[d] = true; /* nothing stays where it was a number */
		return seen;
	}
	seen->number_changed |= seen->rank >= 0;
	if (seen->number.kind != VALUE_UNSET)
		seen->number_changed |= seen->number.kind != source->kind ||
					seen->number.i != source->value.i;
	seen->number = source->value;
	return seen;
}

void memory_finish(struct memory *m)
{
	for (size_t i = 0; i < m->list.len; i++)
		free(m->list.at[i].name);
	VEC_FREE(&m->list);
}
