/* fusion/capture/variables_global.c -- globals as a piece sees them.
 *
 * What it stores stays in a table of its own until the kernels are done.  A
 * global or attribute that is not there is a slot, too.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/trace.h"

static struct world_global *find_global(struct trace *t, int index, const char *name,
					struct value real, struct err *err)
{
	struct world_global fresh = { .index = index };
	struct value key;

	for (size_t i = 0; i < t->globals.len; i++)
		if (t->globals.at[i].index == index)
			return &t->globals.at[i];
	for (int i = 0; i < t->slots->n && fresh.slot == 0; i++) /* of an earlier attempt */
		if (t->slots->at[i].access == SLOT_GLOBAL && t->slots->at[i].index == index)
			fresh.slot = i + 1;
	if (fresh.slot == 0) {
		key = value_str(name, strlen(name));
		fresh.slot = slots_add(t->slots, -1, SLOT_GLOBAL, index, key, real) + 1;
		value_unref(key);
	}
	fresh.slot--;
	if (fresh.slot < 0) {
		world_too_many(t, err);
		return NULL;
	}
	fresh.stand = real.kind == VALUE_UNSET
			  ? real
			  : (struct value){ .kind = VALUE_LAZY, .i = fresh.slot };
	if (!VEC_PUSH(&t->globals, fresh)) {
		trace_no_memory(err);
		return NULL;
	}
	return &t->globals.at[t->globals.len - 1];
}

bool world_load_global(void *self, int index, const char *name, struct value real,
		       struct value *out, struct err *err)
{
	struct trace *t = self;
	struct world_global *g;
	size_t at;

	if (t->vm->globals[index].owner) { /* our prelude's: nobody changes them */
		*out = value_ref(real);
		return true;
	}
	g = find_global(t, index, name, real, err);
	if (!g)
		return false;
	if (g->stand.kind == VALUE_UNSET && !g->written &&
	    t->vm->globals[index].builtin.kind == VALUE_UNSET) { /* it may come to be */
		if (!slots_describe(t->slots, g->slot))
			return trace_no_memory(err);
		t->slots->at[g->slot].live = true;
	}
	at = (size_t)(g - t->globals.at);
	if (g->stand.kind == VALUE_LAZY && !world_force(t, &t->globals.at[at].stand, err))
		return false;
	*out = value_ref(t->globals.at[at].stand);
	return true;
}

bool world_store_global(void *self, int index, const char *name, struct value v, struct err *err)
{
	struct trace *t = self;
	struct global *real = &t->vm->globals[index];
	struct world_global *g;
	struct value old;

	if (real->owner) { /* our prelude is being loaded */
		old = real->value;
		real->value = value_ref(v);
		value_unref(old);
		return true;
	}
	g = find_global(t, index, name, real->value, err);
	if (!g)
		return false;
	old = g->stand;
	g->stand = value_ref(v);
	g->written = true;
	value_unref(old);
	return true;
}

bool world_absent(void *self, struct value o, const char *name, struct err *err)
{
	struct trace *t = self;
	int parent = world_slot(t, o), slot = -1;
	const struct dict *attributes;
	struct value key;

	if (parent < 0 || t->slots->at[parent].kind != VALUE_INSTANCE)
		return true; /* made here */
	attributes = t->slots->at[parent].value.instance->attributes;
	if (attributes && value_dict_find((struct dict *)attributes, name))
		return true; /* the piece deleted it */
	for (int i = parent + 1; i < t->slots->n && slot < 0; i++)
		if (t->slots->at[i].parent == parent && t->slots->at[i].kind == VALUE_UNSET &&
		    t->slots->at[i].access == SLOT_ATTRIBUTE &&
		    strcmp(t->slots->at[i].key.str->text, name) == 0)
			slot = i;
	if (slot < 0) {
		key = value_str(name, strlen(name));
		if (key.kind == VALUE_UNSET)
			return trace_no_memory(err);
		slot = slots_add(t->slots, parent, SLOT_ATTRIBUTE, attributes ? attributes->len : 0,
				 key, (struct value){ .kind = VALUE_UNSET });
		value_unref(key);
	}
	if (slot < 0)
		return world_too_many(t, err);
	if (!slots_describe(t->slots, slot))
		return trace_no_memory(err);
	t->slots->at[slot].live = true;
	return true;
}

bool world_may_store(void *self, struct value function, struct err *err)
{
	struct trace *t = self;

	return function.object->birth >= t->birth || world_slot(t, function) < 0 ||
	       t->slots->at[world_slot(t, function)].value.object != function.object ||
	       trace_break(t, BREAK_FUNCTION_STORE, function.function->code->name, err);
}
