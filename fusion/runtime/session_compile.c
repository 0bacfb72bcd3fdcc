/* fusion/runtime/session_compile.c -- a new entry: why, with which symbols, kept where.
 *
 * Which sizes share a symbol follows torch: equal sizes do (DUCK SHAPING), but a
 * dim that has changed between compiles gets a symbol of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/runtime/session.h"

void session_finish_seen(struct session *s)
{
	for (size_t i = 0; i < s->seen.len; i++)
		free(s->seen.at[i].name);
	VEC_FREE(&s->seen);
}

bool session_note(struct session *s, const char *reason)
{
	struct session_recompile r = { .call = s->calls - 1, .reason = strdup(reason) };

	if (!r.reason || !VEC_PUSH(&s->recompiles, r)) {
		free(r.reason);
		return false;
	}
	if (s->observer && s->observer->recompiled)
		s->observer->recompiled(s->observer->self, s->frame, reason);
	return true;
}

/* Why the most recently used entry did not serve. */
static bool note_miss(struct session *s, const struct value *args, int n)
{
	struct guards *g = &s->entries[0]->guards;
	struct buf text;
	bool ok;

	buf_init(&text, 4096);
	guards_reason(g, guards_check(g, args, n), args, n, &text);
	ok = text.data && session_note(s, text.data);
	buf_finish(&text);
	return ok;
}

static struct session_seen *find_seen(struct session *s, const struct slot *slot)
{
	struct session_seen seen = { .rank = slot->rank };

	for (size_t i = 0; i < s->seen.len; i++)
		if (strcmp(s->seen.at[i].name, slot->name) == 0)
			return &s->seen.at[i];
	memcpy(seen.size, slot->size, sizeof(seen.size));
	seen.name = strdup(slot->name);
	if (!seen.name || !VEC_PUSH(&s->seen, seen)) {
		free(seen.name);
		return NULL;
	}
	return &s->seen.at[s->seen.len - 1];
}

/* Notes how the sizes of a tensor argument differ from those seen before. */
static bool note_sizes(struct session *s, struct slots *slots, int index)
{
	const struct slot *slot = &slots->at[index];
	struct session_seen *seen = find_seen(s, slot);

	if (!seen)
		return false;
	seen->all_changed |= seen->rank != slot->rank;
	for (int d = 0; d < slot->rank; d++) {
		if (d < seen->rank)
			seen->changed[d] |= seen->size[d] != slot->size[d];
		slots->dims[slot->first_dim + d].own = seen->all_changed || seen->changed[d];
	}
	seen->rank = slot->rank;
	memcpy(seen->size, slot->size, sizeof(seen->size));
	return true;
}

static bool share_symbols(struct session *s, struct slots *slots)
{
	for (int i = 0; i < slots->n; i++)
		if (slots->at[i].kind == VALUE_TENSOR && slots->at[i].same_as < 0 &&
		    !note_sizes(s, slots, i))
			return false;
	for (int i = 0; i < slots->n_dims; i++) {
		struct slot_dim *dim = &slots->dims[i];
		const struct slot *slot = &slots->at[dim->slot];

		if (slot->same_as >= 0) /* has the classes of the other */
			continue;
		if (!slot->contiguous) /* its strides are constants, so are its sizes */
			slots->dims[slots_root(slots, i)].pinned = true;
		for (int j = 0; j < i && !dim->own && dim->size > 1; j++)
			if (!slots->dims[j].own && slots->dims[j].size == dim->size) {
				slots_merge(slots, i, j);
				break;
			}
	}
	return true;
}

static void put_first(struct session *s, struct entry *e)
{
	memmove(&s->entries[1], &s->entries[0], sizeof(e) * (size_t)s->n_entries);
	s->entries[0] = e;
	s->n_entries++;
	e->compile_id = s->n_compiled++;
}

static bool count(struct session *s, struct entry *e)
{
	int kernels = e->exec ? e->exec->lowered->n_kernels : 0;

	if (e->exec)
		s->counts.kernels_built += e->exec->stats.kernels_built;
	if (e->graph < 0)
		return true;
	e->graph = (int)s->graphs.len;
	if (!VEC_PUSH(&s->graphs, e))
		return false;
	s->counts.graphs++;
	if (!partition_report(e->exec, s, e->graph, s->frame))
		return false;
	if (s->observer && s->observer->compiled)
		s->observer->compiled(s->observer->self, e->graph, e->compile_ns, kernels,
				      e->exec && e->exec->stats.cached);
	return true;
}

struct entry *session_compile(struct session *s, const struct value *args, int n, struct err *err)
{
	struct entry_options options = { .names = &s->names,
					 .operators = &s->eager.operators,
					 .env = s->options.env,
					 .backend = s->options.backend,
					 .passes_disabled = s->options.passes_disabled,
					 .lowering = { s->options.deny, s->options.n_deny },
					 .dynamic = s->options.dynamic };
	struct entry *e;

	if (s->n_entries > 0 && !note_miss(s, args, n)) {
		entry_no_memory(err);
		return NULL;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		entry_no_memory(err);
		return NULL;
	}
	if (!slots_create(&e->slots, &e->arena, s->callee.function->code, args, n, err)) {
		entry_destroy(e);
		return NULL;
	}
	if (s->options.dynamic && !share_symbols(s, &e->slots)) {
		entry_destroy(e);
		entry_no_memory(err);
		return NULL;
	}
	e = entry_create(&options, e, s->vm, s->callee, err);
	vm_set_host(s->vm, &s->eager.host);
	if (!e)
		return NULL;
	put_first(s, e);
	if (!count(s, e)) {
		entry_no_memory(err);
		return NULL;
	}
	return e;
}
