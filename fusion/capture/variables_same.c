/* fusion/capture/variables_same.c -- which places that a piece reads hold one object.
 *
 * An object, and all that an instance holds (its __dict__) are each one, by whatever way the
 * program comes to them.  Two tensors with the same memory are two (overlap.c). */
#include "fusion/eager/autograd.h"
#include "fusion/capture/trace.h"

/* An earlier slot that holds the same object. */
int world_same(struct trace *t, int slot)
{
	return pointers_get(&t->reals, t->slots->at[slot].value.object);
}

/* The dict of an instance from outside is a place of its own: which names it has is
 * guarded, and who gets it later gets the real one. */
bool world_whole(void *self, struct value o, struct err *err)
{
	struct trace *t = self;
	int parent = world_slot(t, o), slot = -1;
	struct value real, stand;

	if (parent < 0 || t->slots->at[parent].kind != VALUE_INSTANCE ||
	    world_slot(t, value_of(o.instance->attributes)) >= 0)
		return true; /* made here, or known already */
	for (int i = parent + 1; i < t->slots->n && slot < 0; i++)
		if (t->slots->at[i].parent == parent && t->slots->at[i].access == SLOT_DICT)
			slot = i; /* of an earlier attempt */
	if (slot < 0) {
		real = slot_load(&(struct slot){ .access = SLOT_DICT }, t->slots->at[parent].value,
				 NULL);
		if (real.kind == VALUE_UNSET)
			return trace_no_memory(err);
		slot = slots_add(t->slots, parent, SLOT_DICT, 0,
				 (struct value){ .kind = VALUE_UNSET }, real);
	}
	if (slot < 0)
		return world_too_many(t, err);
	if (!slots_describe(t->slots, slot))
		return trace_no_memory(err);
	t->slots->at[slot].live = true;
	stand = value_of(o.instance->attributes);
	return world_claim(t, slot, stand) || trace_no_memory(err);
}

/* A dict that is all that an instance holds, which has been read: not a second stand-in. */
bool world_note_owner(struct trace *t, int slot, struct err *err)
{
	const struct dict *dict = t->slots->at[slot].value.dict;

	for (int i = 0; i < t->slots->n; i++) {
		struct value stand = t->slots->at[i].stand;

		if (i != slot && t->slots->at[i].kind == VALUE_INSTANCE &&
		    stand.kind == VALUE_INSTANCE && t->slots->at[i].same_as < 0 &&
		    t->slots->at[i].value.instance->attributes == dict &&
		    stand.object != t->slots->at[i].value.object)
			return world_whole(t, stand, err);
	}
	return true;
}
