/* fusion/capture/sources/memory.c -- compares what a point is given with what it was given. */
#include "fusion/capture/sources/sources.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

/* Where the name stands, or would. */
static uint32_t *slot_of(const struct memory *m, uint64_t hash, const char *name)
{
	for (size_t i = hash & (m->n_slots - 1);; i = (i + 1) & (m->n_slots - 1)) {
		const struct seen *seen = m->slots[i] ? &m->list.at[m->slots[i] - 1] : NULL;

		if (!seen || (seen->hash == hash && strcmp(seen->name, name) == 0))
			return &m->slots[i];
	}
}

/* For one more name. */
static bool make_room(struct memory *m)
{
	size_t n = m->n_slots ? 2 * m->n_slots : 16;
	uint32_t *slots;

	if (2 * (m->list.len + 1) < m->n_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(m->slots);
	m->slots = slots;
	m->n_slots = n;
	for (size_t i = 0; i < m->list.len; i++)
		*slot_of(m, m->list.at[i].hash, m->list.at[i].name) = (uint32_t)i + 1;
	return true;
}

static struct seen *find(struct memory *m, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	struct seen fresh = { .hash = hash, .rank = -1, .number = { .kind = VALUE_UNSET } };
	uint32_t *slot;

	if (!make_room(m))
		return NULL;
	slot = slot_of(m, hash, name);
	if (*slot)
		return &m->list.at[*slot - 1];
	fresh.name = strdup(name);
	if (!fresh.name || !VEC_PUSH(&m->list, fresh)) {
		free(fresh.name);
		return NULL;
	}
	*slot = (uint32_t)m->list.len;
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
	free(m->slots);
}
