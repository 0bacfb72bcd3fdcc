/* fusion/capture/control/while_place.c -- the places that change from round to round of a loop.
 *
 * A place is found anew in each attempt: a local by its number, a global by the VM's,
 * an item or attribute of an object by the slot of the object or, where the capture
 * made that, by when it did.
 */
#include <stdlib.h>

#include "fusion/capture/control/while_loop.h"

struct value fork_loop_root(const struct trace *t, struct value tensor)
{
	if (tensor.tensor->owner == t->serial && tensor.tensor->view)
		return tensor.tensor->view->base;
	return tensor;
}

enum value_kind loop_number_type(struct value v)
{
	return v.kind == VALUE_SYMINT ? VALUE_INT : late_type(v);
}

int loop_object_index(const struct trace *t, struct value object)
{
	int slot = world_slot(t, object);

	return slot >= 0 ? slot : -1 - (int)(object.object->birth - t->birth);
}

static struct value find_object(const struct trace *t, int index)
{
	const struct heap *heap = t->vm->heap;

	for (struct object *o = heap->list.next; o != &heap->list; o = o->next)
		if (o->birth >= t->birth && (int)(o->birth - t->birth) == -1 - index)
			return value_of(o);
	return (struct value){ .kind = VALUE_UNSET };
}

/* The object, and what its item is: both borrowed. */
static bool find_part(struct looper *l, const struct fork_place_note *note, struct value *object,
		      struct value *item, struct err *err)
{
	struct fork_content c;
	bool ok;

	if (note->index < 0)
		*object = find_object(l->t, note->index);
	else if (!world_read(l->t, note->index, object, err))
		return false;
	if (!fork_may_change(*object))
		return fork_refuse(&l->k, "what it changes is not found again");
	ok = fork_content_read(*object, &c);
	*item = (struct value){ .kind = VALUE_UNSET };
	if (ok && note->item < c.n)
		*item = c.values[note->item];
	fork_content_drop(&c);
	return ok || trace_no_memory(err);
}

static bool find_global(struct trace *t, int index, struct value *out, struct err *err)
{
	const struct global *g = &t->vm->globals[index];

	if (!world_load_global(t, index, g->name, g->value, out, err))
		return false;
	value_unref(*out); /* the table of globals has it */
	return true;
}

static struct value *find_local(const struct looper *l, const struct fork_place_note *note)
{
	return &l->k.frame->locals[note->index];
}

bool loop_place_now(struct looper *l, const struct carried *c, struct value *out, struct err *err)
{
	struct value object;

	*out = c->start;
	if (c->note.kind == CARRIED_LOCAL || c->note.kind == CARRIED_FIRST)
		*out = *find_local(l, &c->note);
	else if (c->note.kind == CARRIED_GLOBAL)
		return find_global(l->t, c->note.index, out, err);
	else if (c->note.kind == CARRIED_PART)
		return find_part(l, &c->note, &object, out, err);
	return true;
}

bool loop_place_find(struct looper *l, struct carried *c, struct err *err)
{
	const struct fork_place_note *note = &c->note;
	struct trace *t = l->t;
	struct value v = { .kind = VALUE_UNSET };

	if (note->kind == CARRIED_SLOT)
		v = t->slots->at[note->index].stand;
	else if (note->kind == CARRIED_LIFTED && note->index < (int)t->lifted.len)
		v = t->lifted.at[note->index].value;
	else if (note->kind == CARRIED_ROOT)
		v = *find_local(l, note);
	else if (note->kind != CARRIED_LIFTED && !loop_place_now(l, c, &v, err))
		return false;
	if (v.kind == VALUE_LAZY && !world_read(t, (int)v.i, &v, err))
		return false;
	if (v.kind != VALUE_TENSOR &&
	    (note->kind >= CARRIED_ROOT || loop_number_type(v) == VALUE_UNSET))
		return fork_refuse(&l->k, "a %s is something else in a later round",
				   value_type_name(v));
	c->start = value_ref(note->kind == CARRIED_ROOT ? fork_loop_root(t, v) : v);
	return true;
}

static bool set_part(struct looper *l, const struct fork_place_note *note, struct value v,
		     struct err *err)
{
	struct value object, old;
	struct fork_content c;
	bool ok;

	if (!find_part(l, note, &object, &old, err))
		return false;
	ok = fork_content_read(object, &c);
	if (ok && note->item < c.n) {
		value_unref(c.values[note->item]);
		c.values[note->item] = value_ref(v);
		ok = fork_content_write(&c);
	}
	fork_content_drop(&c);
	return ok || trace_no_memory(err);
}

static bool set(struct looper *l, const struct fork_place_note *note, struct value v,
		struct err *err)
{
	struct value *local, old;

	if (note->kind == CARRIED_PART)
		return set_part(l, note, v, err);
	if (note->kind == CARRIED_GLOBAL)
		return world_store_global(l->t, note->index, l->t->vm->globals[note->index].name, v,
					  err);
	local = find_local(l, note);
	old = *local;
	*local = value_ref(v);
	value_unref(old);
	return true;
}

/* An in-place op on what a round found in a place would be one on that very object,
 * which another name may have. */
static bool add_choice(struct looper *l, struct value merged, struct value a, struct value b,
		       struct err *err)
{
	struct fork_choice c = {
		.merged = merged, .condition = l->k.condition, .of = { a, b }, .inst = l->k.inst
	};

	if (!VEC_PUSH(&l->t->choices, c))
		return trace_no_memory(err);
	value_ref(c.merged);
	value_ref(c.condition);
	value_ref(c.of[0]);
	value_ref(c.of[1]);
	return true;
}

static bool put_tensor(struct looper *l, const struct carried *c, int node, bool behind,
		       struct err *err)
{
	struct value v, other = { .kind = VALUE_UNSET };
	bool ok;

	if (!trace_wrap(l->t, node, &v, err))
		return false;
	ok = !behind || trace_wrap(l->t, node, &other, err);
	if (ok && c->start.kind == VALUE_TENSOR)
		ok = add_choice(l, v, behind ? other : c->start, c->start, err);
	ok = ok && set(l, &c->note, v, err);
	value_unref(v);
	value_unref(other);
	return ok;
}

bool loop_place_put(struct looper *l, const struct carried *c, int node, bool behind,
		    struct err *err)
{
	switch (c->note.kind) {
	case CARRIED_CHECK: /* an assertion of a round did not hold: eager raises it */
		return late_expect(l->t, node, true, err);
	case CARRIED_MORE: /* it has ended: a loop is run, be its results read or not */
		return late_expect(l->t, node, false, err);
	case CARRIED_ROOT:
	case CARRIED_SLOT:
	case CARRIED_LIFTED:
		return trace_rewrite(l->t, c->start, node, true) || trace_no_memory(err);
	default:
		return c->number ? set(l, &c->note, late_value(l->t, node), err)
				 : put_tensor(l, c, node, behind, err);
	}
}
