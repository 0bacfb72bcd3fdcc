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
enum { RUNS = -2 };           /* the position of a generator that cannot be resumed */

static const struct value unset = { .kind = VALUE_UNSET };

bool cond_refuse(struct cond *k, const char *format, ...)
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

bool cond_may_change(struct value v)
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

bool cond_content_read(struct value object, struct cond_content *out)
{
	struct value none = unset;
	const struct dict *dict = NULL;

	*out = (struct cond_content){ .object = value_ref(object) };
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

void cond_content_drop(struct cond_content *c)
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

bool cond_same(const struct trace *t, struct value before, struct value now)
{
	if (before.kind == VALUE_LAZY && now.kind != VALUE_LAZY) /* it was read, no more */
		before = t->sources->at[before.i].stand_in;
	else if (now.kind == VALUE_LAZY && before.kind != VALUE_LAZY)
		now = t->sources->at[now.i].stand_in;
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

bool cond_content_same(const struct trace *t, const struct cond_content *before,
		       const struct cond_content *now)
{
	bool same = before->n == now->n && before->position == now->position &&
		    !before->keys == !now->keys;

	for (int i = 0; same && i < before->n; i++)
		same = cond_same(t, before->values[i], now->values[i]) &&
		       (!now->keys || cond_same(t, before->keys[i], now->keys[i]));
	return same;
}

static void put(struct value *place, struct value v)
{
	struct value old = *place;

	*place = value_ref(v);
	value_unref(old);
}

static bool write_dict(struct dict **place, const struct cond_content *c)
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

bool cond_content_write(const struct cond_content *c)
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
static bool find_attributes(const struct cond *k, struct pointers *found)
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
static bool save_objects(struct cond *k, const struct pointers *attributes)
{
	struct heap *heap = k->trace->vm->heap;
	int64_t saved = 0;

	for (struct object *o = heap->list.next; o != &heap->list; o = o->next) {
		struct cond_content c;

		if (o->birth < k->trace->birth || !cond_may_change(value_of(o)) ||
		    (o->kind == VALUE_DICT && pointers_get(attributes, o) >= 0) ||
		    (o->kind == VALUE_FUNCTION && !((struct function *)o)->attributes))
			continue;
		if (!cond_content_read(value_of(o), &c) || !VEC_PUSH(&k->contents, c)) {
			cond_content_drop(&c);
			return false;
		}
		saved += c.n;
		if (saved > MAX_SAVED)
			return cond_refuse(k, "the objects of the capture hold over %d values",
					   MAX_SAVED);
	}
	return true;
}

static bool save_contents(struct cond *k)
{
	struct pointers attributes = { 0 };
	bool ok = find_attributes(k, &attributes) && save_objects(k, &attributes);

	pointers_finish(&attributes);
	return ok;
}

static bool save_place(struct cond *k, struct cond_place *p)
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
		if (!VEC_PUSH(&p->globals, t->globals.at[i].stand_in))
			return false;
		value_ref(t->globals.at[i].stand_in);
	}
	return true;
}

static void drop_place(struct cond_place *p)
{
	for (int i = 0; p->locals && i < p->n_fixed + p->n_stack; i++)
		value_unref(p->locals[i]);
	free(p->locals);
	for (size_t i = 0; i < p->globals.len; i++)
		value_unref(p->globals.at[i]);
	VEC_FREE(&p->globals);
	*p = (struct cond_place){ 0 };
}

bool cond_save(struct cond *k)
{
	return save_contents(k) && save_place(k, &k->before);
}

/* A global that was read in a side first began as its source. */
struct value cond_global_before(const struct cond *k, size_t i)
{
	const struct trace *t = k->trace;
	int source = t->globals.at[i].source;

	if (i < k->before.globals.len)
		return k->before.globals.at[i];
	if (t->sources->at[source].value.kind == VALUE_UNSET)
		return unset;
	return (struct value){ .kind = VALUE_LAZY, .i = source };
}

static void put_place(struct cond *k)
{
	const struct cond_place *p = &k->before;
	struct frame *f = k->frame;
	struct trace *t = k->trace;

	for (int i = 0; i < p->n_fixed; i++)
		put(&f->locals[i], p->locals[i]);
	while (f->top > f->stack)
		value_unref(*--f->top);
	for (int i = 0; i < p->n_stack; i++)
		*f->top++ = value_ref(p->stack[i]);
	for (size_t i = 0; i < t->globals.len; i++)
		if (!cond_same(t, cond_global_before(k, i), t->globals.at[i].stand_in))
			put(&t->globals.at[i].stand_in, cond_global_before(k, i));
	t->grad_off = p->grad_off;
	t->autocast_mode = p->autocast;
	f->inst = k->inst;
}

/* Notes what the side changed in objects, where `keep`, and puts it back. */
static bool put_contents(struct cond *k, bool keep)
{
	bool ok = true;

	for (size_t i = 0; i < k->contents.len && ok; i++) {
		const struct cond_content *before = &k->contents.at[i];
		struct cond_content now;

		ok = cond_content_read(before->object, &now);
		if (ok && !cond_content_same(k->trace, before, &now)) {
			if (before->object.kind == VALUE_GENERATOR)
				ok = cond_refuse(k, "a side of the branch runs a generator on");
			ok = ok && cond_content_write(before);
			if (ok && keep && VEC_PUSH(&k->changed, now))
				continue;
			ok &= !keep;
		}
		cond_content_drop(&now);
	}
	return ok;
}

struct cond_write cond_write_read(const struct trace *t, struct value tensor)
{
	int lifted = trace_lifted(t, tensor), source = trace_source(t, tensor);
	const struct vtensor *v = tensor.tensor;
	struct cond_write w = { .tensor = tensor,
				.node = v->node,
				.writes = v->writes,
				.written = v->written,
				.source_written = source >= 0 && t->sources->at[source].written };

	if (lifted >= 0) {
		w.node = t->lifted.at[lifted].node;
		w.writes = t->lifted.at[lifted].writes;
		w.written = t->lifted.at[lifted].written;
	}
	return w;
}

/* An in-place operator under way, whose result is stored where others see it. */
static bool stores_result(const struct frame *f)
{
	enum code_op next = f->inst->op == CODE_INPLACE_OP ? f->inst[1].op : CODE_POP;

	return next == CODE_STORE_DEREF || next == CODE_STORE_GLOBAL || next == CODE_STORE_ATTR;
}

/* The graph input of a tensor that was not asked for before. */
static int input_node(const struct trace *t, int source)
{
	for (size_t i = 0; i < t->inputs.len; i++)
		if (t->inputs.at[i].source == source)
			return t->graph->inputs[i];
	return -1;
}

void cond_write_put(struct trace *t, const struct cond_write *w)
{
	int lifted = trace_lifted(t, w->tensor), source = trace_source(t, w->tensor);
	struct vtensor *v = w->tensor.tensor;

	if (lifted >= 0) {
		t->lifted.at[lifted].node = w->node;
		t->lifted.at[lifted].writes = w->writes;
		t->lifted.at[lifted].written = w->written;
		return;
	}
	v->node = w->node < 0 && source >= 0 ? input_node(t, source) : w->node;
	v->writes = w->writes;
	v->written = w->written;
	if (source >= 0)
		t->sources->at[source].written = w->source_written;
}

static bool note_write(const struct trace *t, struct cond *innermost, struct value tensor)
{
	for (struct cond *k = innermost; k; k = k->up) {
		struct cond_write w = cond_write_read(t, tensor);
		bool known = tensor.tensor->owner == t->serial &&
			     tensor.tensor->birth >= k->tensor_birth;

		for (size_t i = 0; i < k->writes.len && !known; i++)
			known = k->writes.at[i].tensor.tensor == tensor.tensor;
		if (known)
			continue;
		k->stores_again |= stores_result(t->vm->frame);
		if (!VEC_PUSH(&k->writes, w))
			return false;
		value_ref(tensor);
	}
	return true;
}

bool cond_note_write(struct trace *t, struct value tensor)
{
	return note_write(t, t->cond, tensor) && note_write(t, t->bodies, tensor);
}

static bool note_stand_in(struct cond *innermost, struct value stand_in)
{
	for (struct cond *k = innermost; k; k = k->up) {
		struct cond_content c;

		if (!cond_content_read(stand_in, &c) || !VEC_PUSH(&k->contents, c)) {
			cond_content_drop(&c);
			return false;
		}
	}
	return true;
}

bool cond_note_stand_in(struct trace *t, struct value stand_in)
{
	return !cond_may_change(stand_in) ||
	       (note_stand_in(t->cond, stand_in) && note_stand_in(t->bodies, stand_in));
}

/* What tensors stand for after the first side goes to first_writes. */
static bool put_writes(struct cond *k, bool keep)
{
	for (size_t i = 0; i < k->writes.len; i++) {
		struct cond_write now = cond_write_read(k->trace, k->writes.at[i].tensor);

		if (keep) {
			if (!VEC_PUSH(&k->first_writes, now))
				return false;
			value_ref(now.tensor);
		}
		cond_write_put(k->trace, &k->writes.at[i]);
	}
	return true;
}

bool cond_switch(struct cond *k)
{
	if (!save_place(k, &k->first) || !put_contents(k, true) || !put_writes(k, true))
		return false;
	put_place(k);
	return true;
}

bool cond_restore(struct cond *k)
{
	bool ok = put_contents(k, false) && put_writes(k, false);

	put_place(k);
	return ok;
}

static void drop_contents(cond_contents *list)
{
	for (size_t i = 0; i < list->len; i++)
		cond_content_drop(&list->at[i]);
	VEC_FREE(list);
}

static void drop_writes(cond_writes *list)
{
	for (size_t i = 0; i < list->len; i++)
		value_unref(list->at[i].tensor);
	VEC_FREE(list);
}

void cond_finish(struct cond *k)
{
	drop_place(&k->before);
	drop_place(&k->first);
	drop_contents(&k->contents);
	drop_contents(&k->changed);
	drop_writes(&k->writes);
	drop_writes(&k->first_writes);
	value_unref(k->condition);
}
