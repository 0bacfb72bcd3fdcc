/* fusion/capture/control/cond_state.c -- what a side of a branch may change, saved and put back.
 *
 * Objects from outside are stand-ins, made in this attempt like all others that
 * may change, so those that the heap took in since the attempt began are all
 * there is: their contents are copied.  Tensors are noted as they are written.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/capture/control/cond.h"

enum { MAX_SAVED = 1 << 20 }; /* values of objects */
enum { RUNS = -2 };           /* the position of a generator that nobody can resume */

static const struct value unset = { .kind = VALUE_UNSET };

bool fork_refuse(struct fork *k, const char *format, ...)
{
	va_list args;

	if (k->why[0])
		return false;
	va_start(args, format);
	vsnprintf(k->why, sizeof(k->why), format, args);
	va_end(args);
	return false;
}

/* Where the attributes of an object are. */
static struct dict **attributes_of(struct value object)
{
	switch (object.kind) {
	case VALUE_INSTANCE:
		return &object.instance->attributes;
	case VALUE_CLASS:
		return &object.class->attributes;
	default:
		return &object.function->attributes;
	}
}

static bool is_dict(struct value object)
{
	return object.kind == VALUE_DICT || object.kind == VALUE_SET;
}

static struct value *copy(const struct value *from, int n)
{
	struct value *to = malloc(sizeof(*to) * ((size_t)n + 1));

	for (int i = 0; to && i < n; i++)
		to[i] = value_ref(from[i]);
	return to;
}

bool fork_may_change(struct value v)
{
	switch (v.kind) {
	case VALUE_LIST:
	case VALUE_DICT:
	case VALUE_SET:
	case VALUE_CELL:
	case VALUE_ITER:
	case VALUE_INSTANCE:
	case VALUE_CLASS:
	case VALUE_FUNCTION:
	case VALUE_GENERATOR:
		return true;
	default:
		return false;
	}
}

bool fork_content_read(struct value object, struct fork_content *out)
{
	struct value none = unset;
	const struct dict *dict = NULL;

	*out = (struct fork_content){ .object = value_ref(object) };
	switch (object.kind) {
	case VALUE_LIST:
		out->n = object.list->len;
		out->values = copy(object.list->at, out->n);
		return out->values != NULL;
	case VALUE_CELL:
		out->n = 1;
		out->values = copy(&object.cell->content, 1);
		return out->values != NULL;
	case VALUE_ITER:
		out->position = object.iter->position;
		out->values = copy(&object.iter->over, 1);
		out->n = 1;
		return out->values != NULL;
	case VALUE_GENERATOR:
		out->position = object.generator->running ? RUNS
				: object.generator->frame
				    ? (int64_t)(object.generator->frame->inst -
						object.generator->frame->code->insts)
				    : -1;
		out->values = copy(&none, 0);
		return out->values != NULL;
	default:
		dict = is_dict(object) ? object.dict : *attributes_of(object);
	}
	out->n = dict ? dict->len : -1;
	out->keys = copy(dict ? dict->keys : NULL, dict ? dict->len : 0);
	out->values = copy(dict ? dict->values : NULL, dict ? dict->len : 0);
	return out->keys && out->values;
}

void fork_content_drop(struct fork_content *c)
{
	for (int i = 0; i < c->n; i++) {
		if (c->keys)
			value_unref(c->keys[i]);
		if (c->values)
			value_unref(c->values[i]);
	}
	free(c->keys);
	free(c->values);
	value_unref(c->object);
}

bool fork_same(const struct trace *t, struct value before, struct value now)
{
	if (before.kind == VALUE_LAZY && now.kind != VALUE_LAZY) /* it was read, no more */
		before = t->slots->at[before.i].stand;
	else if (now.kind == VALUE_LAZY && before.kind != VALUE_LAZY)
		now = t->slots->at[now.i].stand;
	if (before.kind != now.kind)
		return false;
	if (before.kind == VALUE_UNSET || before.kind == VALUE_NONE ||
	    before.kind == VALUE_ELLIPSIS)
		return true;
	if (before.kind == VALUE_STR)
		return value_equal(before, now);
	if (before.kind == VALUE_BOOL)
		return before.b == now.b;
	return before.kind == VALUE_DTYPE ? before.dtype == now.dtype : before.i == now.i;
}

bool fork_content_same(const struct trace *t, const struct fork_content *before,
		       const struct fork_content *now)
{
	bool same = before->n == now->n && before->position == now->position &&
		    !before->keys == !now->keys;

	for (int i = 0; same && i < before->n; i++)
		same = fork_same(t, before->values[i], now->values[i]) &&
		       (!now->keys || fork_same(t, before->keys[i], now->keys[i]));
	return same;
}

static void put(struct value *place, struct value v)
{
	struct value old = *place;

	*place = value_ref(v);
	value_unref(old);
}

static bool write_dict(struct dict **place, const struct fork_content *c)
{
	struct value fresh;
	bool ok = true;

	if (c->n < 0) {
		if (*place)
			value_unref(value_of(*place));
		*place = NULL;
		return true;
	}
	if (!*place) {
		fresh = value_dict();
		if (fresh.kind == VALUE_UNSET)
			return false;
		*place = fresh.dict;
	}
	while ((*place)->len > 0)
		value_dict_remove(*place, (*place)->keys[(*place)->len - 1]);
	for (int i = 0; ok && i < c->n; i++)
		ok = value_dict_set(*place, c->keys[i], c->values[i]);
	return ok;
}

bool fork_content_write(const struct fork_content *c)
{
	struct dict *dict = c->object.dict;
	struct list *list = c->object.list;
	bool ok = true;

	switch (c->object.kind) {
	case VALUE_LIST:
		while (list->len > 0)
			value_unref(list->at[--list->len]);
		for (int i = 0; ok && i < c->n; i++)
			ok = value_list_push(list, c->values[i]);
		return ok;
	case VALUE_CELL:
		put(&c->object.cell->content, c->values[0]);
		return true;
	case VALUE_ITER:
		c->object.iter->position = c->position;
		put(&c->object.iter->over, c->values[0]);
		return true;
	case VALUE_GENERATOR:
		return true;
	default:
		ok = write_dict(is_dict(c->object) ? &dict : attributes_of(c->object), c);
		if (c->object.kind == VALUE_CLASS)
			class_note(c->object.class);
		return ok;
	}
}

/* The dicts that are the contents of an object: saved with it, and only once. */
static bool find_attributes(const struct fork *k, struct pointers *found)
{
	const struct heap *heap = k->trace->vm->heap;

	for (struct object *o = heap->list.next; o != &heap->list; o = o->next) {
		struct value v = value_of(o);

		if (o->birth < k->trace->birth ||
		    (v.kind != VALUE_INSTANCE && v.kind != VALUE_CLASS &&
		     v.kind != VALUE_FUNCTION) ||
		    !*attributes_of(v))
			continue;
		if (!pointers_set(found, *attributes_of(v), 1))
			return false;
	}
	return true;
}

/* Contents of the objects of this attempt. */
static bool save_objects(struct fork *k, const struct pointers *attributes)
{
	struct heap *heap = k->trace->vm->heap;
	int64_t saved = 0;

	for (struct object *o = heap->list.next; o != &heap->list; o = o->next) {
		struct fork_content c;

		if (o->birth < k->trace->birth || !fork_may_change(value_of(o)) ||
		    (o->kind == VALUE_DICT && pointers_get(attributes, o) >= 0) ||
		    (o->kind == VALUE_FUNCTION && !((struct function *)o)->attributes))
			continue;
		if (!fork_content_read(value_of(o), &c) || !VEC_PUSH(&k->contents, c)) {
			fork_content_drop(&c);
			return false;
		}
		saved += c.n;
		if (saved > MAX_SAVED)
			return fork_refuse(k, "the objects of the capture hold over %d values",
					   MAX_SAVED);
	}
	return true;
}

static bool save_contents(struct fork *k)
{
	struct pointers attributes = { 0 };
	bool ok = find_attributes(k, &attributes) && save_objects(k, &attributes);

	pointers_finish(&attributes);
	return ok;
}

static bool save_place(struct fork *k, struct fork_place *p)
{
	const struct frame *f = k->frame;
	const struct trace *t = k->trace;

	p->n_fixed = f->code->n_locals + f->code->n_cells;
	p->n_stack = (int)(f->top - f->stack);
	p->locals = copy(f->locals, p->n_fixed + p->n_stack); /* they lie in one row */
	if (!p->locals)
		return false;
	p->cells = p->locals + f->code->n_locals;
	p->stack = p->locals + p->n_fixed;
	p->grad_off = t->grad_off;
	p->autocast = t->autocast_mode;
	for (size_t i = 0; i < t->globals.len; i++) {
		if (!VEC_PUSH(&p->globals, t->globals.at[i].stand))
			return false;
		value_ref(t->globals.at[i].stand);
	}
	return true;
}

static void drop_place(struct fork_place *p)
{
	for (int i = 0; p->locals && i < p->n_fixed + p->n_stack; i++)
		value_unref(p->locals[i]);
	free(p->locals);
	for (size_t i = 0; i < p->globals.len; i++)
		value_unref(p->globals.at[i]);
	VEC_FREE(&p->globals);
	*p = (struct fork_place){ 0 };
}

bool fork_save(struct fork *k)
{
	return save_contents(k) && save_place(k, &k->before);
}

/* A global that was read in a side first began as its slot. */
struct value fork_global_before(const struct fork *k, size_t i)
{
	const struct trace *t = k->trace;
	int slot = t->globals.at[i].slot;

	if (i < k->before.globals.len)
		return k->before.globals.at[i];
	if (t->slots->at[slot].value.kind == VALUE_UNSET)
		return unset;
	return (struct value){ .kind = VALUE_LAZY, .i = slot };
}

static void put_place(struct fork *k)
{
	const struct fork_place *p = &k->before;
	struct frame *f = k->frame;
	struct trace *t = k->trace;

	for (int i = 0; i < p->n_fixed; i++)
		put(&f->locals[i], p->locals[i]);
	while (f->top > f->stack)
		value_unref(*--f->top);
	for (int i = 0; i < p->n_stack; i++)
		*f->top++ = value_ref(p->stack[i]);
	for (size_t i = 0; i < t->globals.len; i++)
		if (!fork_same(t, fork_global_before(k, i), t->globals.at[i].stand))
			put(&t->globals.at[i].stand, fork_global_before(k, i));
	t->grad_off = p->grad_off;
	t->autocast_mode = p->autocast;
	f->inst = k->inst;
}

/* Notes what the side changed in objects, where `keep`, and puts it back. */
static bool put_contents(struct fork *k, bool keep)
{
	bool ok = true;

	for (size_t i = 0; i < k->contents.len && ok; i++) {
		const struct fork_content *before = &k->contents.at[i];
		struct fork_content now;

		ok = fork_content_read(before->object, &now);
		if (ok && !fork_content_same(k->trace, before, &now)) {
			if (before->object.kind == VALUE_GENERATOR)
				ok = fork_refuse(k, "a side of the branch runs a generator on");
			ok = ok && fork_content_write(before);
			if (ok && keep && VEC_PUSH(&k->changed, now))
				continue;
			ok &= !keep;
		}
		fork_content_drop(&now);
	}
	return ok;
}

struct fork_write fork_write_read(const struct trace *t, struct value tensor)
{
	int lifted = trace_lifted(t, tensor), slot = trace_slot(t, tensor);
	const struct vtensor *v = tensor.tensor;
	struct fork_write w = { .tensor = tensor,
				.node = v->node,
				.writes = v->writes,
				.written = v->written,
				.slot_written = slot >= 0 && t->slots->at[slot].written };

	if (lifted >= 0) {
		w.node = t->lifted.at[lifted].node;
		w.writes = t->lifted.at[lifted].writes;
		w.written = t->lifted.at[lifted].written;
	}
	return w;
}

/* The graph input of a tensor that was not asked for before. */
static int input_node(const struct trace *t, int slot)
{
	for (size_t i = 0; i < t->inputs.len; i++)
		if (t->inputs.at[i].slot == slot)
			return t->graph->inputs[i];
	return -1;
}

void fork_write_put(struct trace *t, const struct fork_write *w)
{
	int lifted = trace_lifted(t, w->tensor), slot = trace_slot(t, w->tensor);
	struct vtensor *v = w->tensor.tensor;

	if (lifted >= 0) {
		t->lifted.at[lifted].node = w->node;
		t->lifted.at[lifted].writes = w->writes;
		t->lifted.at[lifted].written = w->written;
		return;
	}
	v->node = w->node < 0 && slot >= 0 ? input_node(t, slot) : w->node;
	v->writes = w->writes;
	v->written = w->written;
	if (slot >= 0)
		t->slots->at[slot].written = w->slot_written;
}

bool fork_note_write(struct trace *t, struct value tensor)
{
	for (struct fork *k = t->fork; k; k = k->up) {
		struct fork_write w = fork_write_read(t, tensor);
		bool known = tensor.tensor->owner == t->serial &&
			     tensor.tensor->birth >= k->tensor_birth;

		for (size_t i = 0; i < k->writes.len && !known; i++)
			known = k->writes.at[i].tensor.tensor == tensor.tensor;
		if (known)
			continue;
		if (!VEC_PUSH(&k->writes, w))
			return false;
		value_ref(tensor);
	}
	return true;
}

bool fork_note_stand(struct trace *t, struct value stand)
{
	if (!fork_may_change(stand))
		return true;
	for (struct fork *k = t->fork; k; k = k->up) {
		struct fork_content c;

		if (!fork_content_read(stand, &c) || !VEC_PUSH(&k->contents, c)) {
			fork_content_drop(&c);
			return false;
		}
	}
	return true;
}

/* What tensors stand for after the first side goes to first_writes. */
static bool put_writes(struct fork *k, bool keep)
{
	for (size_t i = 0; i < k->writes.len; i++) {
		struct fork_write now = fork_write_read(k->trace, k->writes.at[i].tensor);

		if (keep) {
			if (!VEC_PUSH(&k->first_writes, now))
				return false;
			value_ref(now.tensor);
		}
		fork_write_put(k->trace, &k->writes.at[i]);
	}
	return true;
}

bool fork_switch(struct fork *k)
{
	if (!save_place(k, &k->first) || !put_contents(k, true) || !put_writes(k, true))
		return false;
	put_place(k);
	return true;
}

bool fork_restore(struct fork *k)
{
	bool ok = put_contents(k, false) && put_writes(k, false);

	put_place(k);
	return ok;
}

static void drop_contents(fork_contents *list)
{
	for (size_t i = 0; i < list->len; i++)
		fork_content_drop(&list->at[i]);
	VEC_FREE(list);
}

static void drop_writes(fork_writes *list)
{
	for (size_t i = 0; i < list->len; i++)
		value_unref(list->at[i].tensor);
	VEC_FREE(list);
}

void fork_finish(struct fork *k)
{
	drop_place(&k->before);
	drop_place(&k->first);
	drop_contents(&k->contents);
	drop_contents(&k->changed);
	drop_writes(&k->writes);
	drop_writes(&k->first_writes);
	value_unref(k->condition);
}
