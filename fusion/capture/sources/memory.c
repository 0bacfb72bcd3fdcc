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

static void note_sizes(struct seen *seen, const struct slot *slot)
{
	bool same_rank = seen->rank == slot->rank;

	for (int d = 0; d < slot->rank; d++)
		if (same_rank)
			seen->changed[d] |= seen->size[d] != slot->size[d];
		else /* of another rank nothing is known to stay */
			seen->changed[d] = seen->rank >= 0;
	seen->rank = slot->rank;
	memcpy(seen->size, slot->size, sizeof(seen->size));
}

const struct seen *memory_note(struct memory *m, const struct slot *slot)
{
	struct seen *seen = find(m, slot->name);

	if (!seen)
		return NULL;
	if (slot->kind == VALUE_TENSOR) {
		note_sizes(seen, slot);
		return seen;
	}
	if (seen->number.kind != VALUE_UNSET)
		seen->number_changed |= seen->number.kind != slot->kind ||
					seen->number.i != slot->value.i;
	seen->number = slot->value;
	return seen;
}

void memory_finish(struct memory *m)
{
	for (size_t i = 0; i < m->list.len; i++)
		free(m->list.at[i].name);
	VEC_FREE(&m->list);
}
