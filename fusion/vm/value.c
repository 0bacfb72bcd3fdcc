/* fusion/vm/value.c -- making, growing and freeing values, and the heap that counts them.
 *
 * Freeing is a loop over a list that is threaded through the dead objects, not
 * a recursion: a list nested a million deep must not end the process. */
#include "fusion/vm/value.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/generator.h"

static const struct value UNSET = { .kind = VALUE_UNSET };

/* What was freed last is at hand for malloc() alone: glibc's calloc() looks for memory each time.
 */
static inline void *object_new(enum value_kind kind, size_t bytes)
{
	struct object *o = malloc(bytes);

	if (!o)
		return NULL;
	memset(o, 0, bytes);
	o->refs = 1;
	o->kind = kind;
	return o;
}

static struct value object_value(void *object)
{
	return object ? value_of(object) : UNSET;
}

struct value value_str(const char *text, size_t len)
{
	struct str *s = object_new(VALUE_STR, sizeof(*s) + len + 1);

	if (s) {
		s->len = len;
		if (text && len)
			memcpy(s->text, text, len);
	}
	return object_value(s);
}

struct value value_sequence(enum value_kind kind, int room)
{
	struct list *list = object_new(kind, sizeof(*list));

	if (!list)
		return UNSET;
	if (room > 0) {
		list->at = malloc(sizeof(struct value) * (size_t)room);
		if (!list->at) {
			free(list);
			return UNSET;
		}
		list->cap = room;
	}
	return value_of(list);
}

static struct value sequence(enum value_kind kind, const struct value *items, int n)
{
	struct value v = value_sequence(kind, n);

	if (v.kind == kind) {
		for (int i = 0; i < n; i++)
			v.list->at[i] = value_ref(items[i]);
		v.list->len = n;
	}
	return v;
}

struct value value_tuple(const struct value *items, int n)
{
	return sequence(VALUE_TUPLE, items, n);
}

struct value value_list(const struct value *items, int n)
{
	return sequence(VALUE_LIST, items, n);
}

struct value value_dict(void)
{
	return object_value(object_new(VALUE_DICT, sizeof(struct dict)));
}

struct value value_range(int64_t start, int64_t stop, int64_t step)
{
	struct range *r = object_new(VALUE_RANGE, sizeof(*r));

	if (r) {
		r->start = start;
		r->stop = stop;
		r->step = step;
	}
	return object_value(r);
}

struct value value_slice(struct value start, struct value stop, struct value step)
{
	struct slice *s = object_new(VALUE_SLICE, sizeof(*s));

	if (s) {
		s->start = value_ref(start);
		s->stop = value_ref(stop);
		s->step = value_ref(step);
	}
	return object_value(s);
}

struct value value_iter(enum iter_kind kind, struct value over)
{
	struct iter *it = object_new(VALUE_ITER, sizeof(*it));

	if (it) {
		it->iter_kind = kind;
		it->over = value_ref(over);
		it->length = -1;
	}
	return object_value(it);
}

struct value value_cell(struct value content)
{
	struct cell *c = object_new(VALUE_CELL, sizeof(*c));

	if (c)
		c->content = value_ref(content);
	return object_value(c);
}

struct value value_generator(size_t bytes)
{
	struct generator *g = object_new(VALUE_GENERATOR, sizeof(*g));

	if (g)
		g->bytes = bytes;
	return object_value(g);
}

struct value value_function(const struct code *code)
{
	struct function *f = object_new(VALUE_FUNCTION, sizeof(*f));

	if (f)
		f->code = code;
	return object_value(f);
}

struct value value_module(const char *name)
{
	struct module *m = object_new(VALUE_MODULE, sizeof(*m));

	if (m)
		m->name = name;
	return object_value(m);
}

struct value value_native(const char *name, int id, bool builtin, struct value self)
{
	struct native *f = object_new(VALUE_NATIVE, sizeof(*f));

	if (f) {
		f->name = name;
		f->id = id;
		f->builtin = builtin;
		f->self = value_ref(self);
	}
	return object_value(f);
}

struct value value_tensor(void)
{
	struct vtensor *t = object_new(VALUE_TENSOR, sizeof(*t));

	if (t)
		t->node = t->input = -1;
	return object_value(t);
}

struct value value_set(bool frozen)
{
	struct dict *set = object_new(VALUE_SET, sizeof(*set));

	if (set)
		set->frozen = frozen;
	return object_value(set);
}

struct value value_class(struct value name, struct value mro)
{
	struct class *c = object_new(VALUE_CLASS, sizeof(*c));

	if (!c)
		return UNSET;
	c->attributes = value_dict().dict;
	if (!c->attributes) {
		free(c);
		return UNSET;
	}
	c->text = value_ref(name);
	c->name = name.str->text;
	if (mro.kind == VALUE_TUPLE)
		c->mro = value_ref(mro).list;
	return value_of(c);
}

struct value value_instance(struct class *class)
{
	struct instance *i = object_new(VALUE_INSTANCE, sizeof(*i));

	if (i) {
		class->head.refs++;
		i->class = class;
	}
	return object_value(i);
}

struct value value_method(struct value function, struct value self)
{
	struct method *m = object_new(VALUE_METHOD, sizeof(*m));

	if (m) {
		m->function = value_ref(function);
		m->self = value_ref(self);
	}
	return object_value(m);
}

struct value value_descriptor(enum descriptor_kind kind, struct value get, struct value set)
{
	struct descriptor *d = object_new(VALUE_DESCRIPTOR, sizeof(*d));

	if (d) {
		d->descriptor_kind = kind;
		d->get = value_ref(get);
		d->set = value_ref(set);
	}
	return object_value(d);
}

size_t object_bytes(const struct object *o)
{
	const struct list *list = (const struct list *)o;
	const struct dict *dict = (const struct dict *)o;

	switch (o->kind) {
	case VALUE_STR:
		return sizeof(struct str) + ((const struct str *)o)->len + 1;
	case VALUE_TUPLE:
	case VALUE_LIST:
		return sizeof(*list) + sizeof(struct value) * (size_t)list->cap;
	case VALUE_DICT:
	case VALUE_SET:
		return sizeof(*dict) + 2 * sizeof(struct value) * (size_t)dict->cap +
		       sizeof(int) * (size_t)dict->index_cap;
	case VALUE_FUNCTION:
		return sizeof(struct function);
	case VALUE_GENERATOR:
		return sizeof(struct generator) + ((const struct generator *)o)->bytes;
	case VALUE_CLASS:
		return sizeof(struct class);
	case VALUE_DESCRIPTOR:
		return sizeof(struct descriptor);
	default:
		return sizeof(struct iter); /* none of the small ones is larger */
	}
}

static void visit_all(const struct value *at, int n, object_visit_fn *visit, void *context)
{
	for (int i = 0; i < n; i++)
		visit(at[i], context);
}

static void visit_function(struct function *f, object_visit_fn *visit, void *context)
{
	if (f->defaults)
		visit(value_of(f->defaults), context);
	if (f->kwdefaults)
		visit(value_of(f->kwdefaults), context);
	if (f->closure)
		visit(value_of(f->closure), context);
	if (f->attributes)
		visit(value_of(f->attributes), context);
	if (f->op)
		visit(value_of(f->op), context);
}

static void visit_object(void *o, object_visit_fn *visit, void *context)
{
	if (o)
		visit(value_of(o), context);
}

static void visit_class(struct class *c, object_visit_fn *visit, void *context)
{
	visit(c->text, context);
	visit_object(c->mro, visit, context);
	visit_object(c->meta, visit, context);
	visit_object(c->attributes, visit, context);
	visit_object(c->defaults, visit, context);
}

/* Those of classes and their instances. */
static void visit_more(struct value v, object_visit_fn *visit, void *context)
{
	switch (v.kind) {
	case VALUE_CLASS:
		visit_class(v.class, visit, context);
		break;
	case VALUE_INSTANCE:
		visit_object(v.instance->class, visit, context);
		visit_object(v.instance->attributes, visit, context);
		visit(v.instance->payload, context);
		break;
	case VALUE_TENSOR:
		visit_object(v.tensor->attributes, visit, context);
		break;
	case VALUE_METHOD:
		visit(v.method->function, context);
		visit(v.method->self, context);
		break;
	case VALUE_DESCRIPTOR:
		visit(v.descriptor->get, context);
		visit(v.descriptor->set, context);
		visit(v.descriptor->del, context);
		break;
	default:
		break;
	}
}

static void object_visit(struct object *o, object_visit_fn *visit, void *context)
{
	struct value v = value_of(o);

	switch (o->kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
		visit_all(v.list->at, v.list->len, visit, context);
		visit_object(v.list->class, visit, context);
		break;
	case VALUE_DICT:
	case VALUE_SET:
		visit_all(v.dict->keys, v.dict->len, visit, context);
		visit_all(v.dict->values, v.dict->len, visit, context);
		break;
	case VALUE_SLICE:
		visit(v.slice->start, context);
		visit(v.slice->stop, context);
		visit(v.slice->step, context);
		break;
	case VALUE_ITER:
		visit(v.iter->over, context);
		break;
	case VALUE_FUNCTION:
		visit_function(v.function, visit, context);
		break;
	case VALUE_NATIVE:
		visit(v.native->self, context);
		break;
	case VALUE_CELL:
		visit(v.cell->content, context);
		break;
	case VALUE_GENERATOR:
		generator_visit(v.generator, visit, context);
		break;
	default:
		visit_more(v, visit, context);
	}
}

void object_clear(struct object *o)
{
	struct value v = value_of(o), content;

	switch (o->kind) {
	case VALUE_LIST:
		while (v.list->len > 0)
			value_unref(v.list->at[--v.list->len]);
		break;
	case VALUE_DICT:
	case VALUE_SET:
		while (v.dict->len > 0) {
			v.dict->len--;
			value_unref(v.dict->keys[v.dict->len]);
			value_unref(v.dict->values[v.dict->len]);
		}
		if (v.dict->index)
			memset(v.dict->index, 0xff, sizeof(int) * (size_t)v.dict->index_cap);
		break;
	case VALUE_CELL:
		content = v.cell->content;
		v.cell->content = UNSET;
		value_unref(content);
		break;
	default:
		break;
	}
}

/* ---- The heap.  During a collection `mark` counts the references from outside of it that are
 * not yet explained. */

enum { FIRST_THRESHOLD = 10000, REACHED = -1, SUSPECT = -2 };

struct heap *heap_create(size_t limit_bytes)
{
	struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return NULL;
	heap->limit_bytes = limit_bytes;
	heap->threshold = FIRST_THRESHOLD;
	heap->list.next = heap->list.prev = &heap->list;
	return heap;
}

static void link_last(struct object *list, struct object *o)
{
	o->prev = list->prev;
	o->next = list;
	list->prev->next = o;
	list->prev = o;
}

static void unlink_object(struct object *o)
{
	o->prev->next = o->next;
	o->next->prev = o->prev;
}

static void explain(struct value v, void *context)
{
	if (value_counted(v) && v.object->heap == context)
		v.object->mark--;
}

struct heap_sweep {
	struct heap *heap;
	struct object suspects; /* sentinel: no reference from outside seen so far */
};

static void reach(struct value v, void *context)
{
	struct heap_sweep *sweep = context;
	struct object *o;

	if (!value_counted(v) || v.object->heap != sweep->heap)
		return;
	o = v.object;
	if (o->mark == SUSPECT) { /* cleared of suspicion: to be scanned after all */
		unlink_object(o);
		link_last(&sweep->heap->list, o);
		o->mark = 1;
	} else if (o->mark == 0) {
		o->mark = 1;
	}
}

/* Leaves the dead in sweep->suspects, the living in the heap's list. */
static void find_dead(struct heap_sweep *sweep)
{
	struct heap *heap = sweep->heap;
	struct object *o, *next;

	for (o = heap->list.next; o != &heap->list; o = o->next)
		o->mark = o->refs;
	for (o = heap->list.next; o != &heap->list; o = o->next)
		object_visit(o, explain, heap);
	for (o = heap->list.next; o != &heap->list; o = next) {
		if (o->mark > 0) {
			o->mark = REACHED;
			object_visit(o, reach, sweep); /* may append to the list */
			next = o->next;
		} else {
			next = o->next;
			unlink_object(o);
			link_last(&sweep->suspects, o);
			o->mark = SUSPECT;
		}
	}
}

static void collect(struct heap *heap)
{
	struct heap_sweep sweep = { .heap = heap };
	struct object *o;

	sweep.suspects.next = sweep.suspects.prev = &sweep.suspects;
	heap->objects++; /* it must outlive its last object */
	heap->collecting = true;
	find_dead(&sweep);
	for (o = sweep.suspects.next; o != &sweep.suspects; o = o->next)
		o->refs++;
	/* Every cycle passes through a list, a dict or a cell. */
	for (o = sweep.suspects.next; o != &sweep.suspects; o = o->next)
		object_clear(o);
	while ((o = sweep.suspects.next) != &sweep.suspects) {
		unlink_object(o); /* another dead object may hold it a moment longer */
		link_last(&heap->list, o);
		value_unref(value_of(o));
	}
	heap->objects--;
	heap->collecting = false;
	heap->threshold = heap->objects * 2 > FIRST_THRESHOLD ? heap->objects * 2 : FIRST_THRESHOLD;
}

void heap_close(struct heap *heap)
{
	collect(heap);
	heap->closed = true;
	if (heap->objects == 0)
		free(heap);
}

bool heap_charge(struct heap *heap, size_t bytes)
{
	if (bytes > heap->limit_bytes)
		return false;
	if (heap->used_bytes > heap->limit_bytes - bytes) {
		collect(heap);
		if (heap->used_bytes > heap->limit_bytes - bytes)
			return false;
	}
	heap->used_bytes += bytes;
	return true;
}

bool heap_adopt(struct heap *heap, struct object *object)
{
	if (object->heap)
		return true;
	if (!heap_charge(heap, object_bytes(object)))
		return false;
	object->heap = heap;
	object->birth = heap->births++;
	link_last(&heap->list, object);
	heap->objects++;
	return true;
}

struct dict *object_attributes(struct value object)
{
	struct dict **own = object.kind == VALUE_FUNCTION ? &object.function->attributes
			    : object.kind == VALUE_TENSOR ? &object.tensor->attributes
							  : &object.instance->attributes;
	struct value fresh;

	if (*own)
		return *own;
	fresh = value_dict();
	if (fresh.kind == VALUE_UNSET)
		return NULL;
	if (object.object->heap && !heap_adopt(object.object->heap, fresh.object)) {
		value_unref(fresh);
		return NULL;
	}
	return *own = fresh.dict;
}

static void heap_forget(struct object *object)
{
	struct heap *heap = object->heap;

	if (!heap)
		return;
	unlink_object(object);
	heap->used_bytes -= object_bytes(object);
	object->heap = NULL;
	if (--heap->objects == 0 && heap->closed)
		free(heap);
}

void heap_collect_if_due(struct heap *heap)
{
	if (heap->objects > heap->threshold)
		collect(heap);
}

/* ---- The end of an object. */

static void release_tensor(struct vtensor *t)
{
	if (t->release)
		t->release(t);
	free(t);
}

static void release(struct object *o)
{
	struct value v = value_of(o);

	switch (o->kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
		free(v.list->at);
		break;
	case VALUE_DICT:
	case VALUE_SET:
		free(v.dict->keys);
		free(v.dict->values);
		free(v.dict->index);
		break;
	case VALUE_TENSOR:
		release_tensor(v.tensor);
		return;
	case VALUE_GENERATOR:
		generator_release(v.generator);
		break;
	case VALUE_CLASS:
		free((void *)(uintptr_t)v.class->names);
		break;
	default:
		break;
	}
	free(o);
}

static void bury(struct object **dead, struct object *o)
{
	if (o->kind == VALUE_GENERATOR && generator_dropped((struct generator *)o))
		return;
	heap_forget(o);
	o->next = *dead;
	*dead = o;
}

static void drop(struct value v, void *context)
{
	if (value_counted(v) && --v.object->refs == 0)
		bury(context, v.object);
}

void value_free(struct value v)
{
	struct object *dead = NULL, *o;

	if (v.kind == VALUE_TENSOR && !v.tensor->attributes) { /* it has no values to visit */
		heap_forget(v.object);
		release_tensor(v.tensor);
		return;
	}
	bury(&dead, v.object);
	while ((o = dead)) {
		dead = o->next;
		object_visit(o, drop, &dead);
		release(o);
	}
}

/* Charges the growth first: a collection that this starts sees the object in
 * its old, consistent state. */
static void *grow(struct object *o, void *at, int from, int to)
{
	size_t more = sizeof(struct value) * (size_t)(to - from);
	void *grown;

	if (o->heap && !heap_charge(o->heap, more))
		return NULL;
	grown = realloc(at, sizeof(struct value) * (size_t)to);
	if (!grown && o->heap)
		heap_uncharge(o->heap, more);
	return grown;
}

bool value_list_push(struct list *list, struct value v)
{
	if (list->len == list->cap) {
		int cap = list->cap ? list->cap + list->cap / 2 + 1 : 4;
		struct value *at;

		if (list->cap > (1 << 29))
			return false;
		at = grow(&list->head, list->at, list->cap, cap);
		if (!at)
			return false;
		list->at = at;
		list->cap = cap;
	}
	list->at[list->len++] = value_ref(v);
	return true;
}

static const char *iterator_type_name(const struct iter *iter)
{
	static const char *const names[] = {
		[ITER_SEQUENCE] = "iterator",
		[ITER_REVERSED] = "reversed",
		[ITER_ENUMERATE] = "enumerate",
		[ITER_ZIP] = "zip",
		[ITER_MAP] = "map",
		[ITER_FILTER] = "filter",
		[ITER_VALUES] = "dict_values",
		[ITER_ITEMS] = "dict_items",
	};

	return iter->view && iter->iter_kind == ITER_SEQUENCE ? "dict_keys"
							      : names[iter->iter_kind];
}

const struct scalar_info scalar_infos[SCALAR_COUNT] = {
#define SCALAR(id, name, letter, bytes, dtype)                                                     \
	[SCALAR_##id] = { "numpy." name, letter, bytes, DTYPE_##dtype },
#include "fusion/scalars.def"
#undef SCALAR
};

const char *value_type_name(struct value v)
{
	static const char *const names[] = {
		[VALUE_UNSET] = "unset",
		[VALUE_NONE] = "NoneType",
		[VALUE_BOOL] = "bool",
		[VALUE_INT] = "int",
		[VALUE_FLOAT] = "float",
		[VALUE_ELLIPSIS] = "ellipsis",
		[VALUE_DTYPE] = "dtype",
		[VALUE_SYMINT] = "int",
		[VALUE_SYMBOOL] = "bool",
		[VALUE_SYMREAL] = "float",
		[VALUE_SYMFLOAT] = "float",
		[VALUE_DEFERRED_INT] = "int",
		[VALUE_DEFERRED_BOOL] = "bool",
		[VALUE_DEFERRED_TEXT] = "str",
		[VALUE_STR] = "str",
		[VALUE_TUPLE] = "tuple",
		[VALUE_LIST] = "list",
		[VALUE_DICT] = "dict",
		[VALUE_SLICE] = "slice",
		[VALUE_RANGE] = "range",
		[VALUE_ITER] = "iterator",
		[VALUE_FUNCTION] = "function",
		[VALUE_NATIVE] = "builtin_function_or_method",
		[VALUE_MODULE] = "module",
		[VALUE_CELL] = "cell",
		[VALUE_TENSOR] = "Tensor",
		[VALUE_GENERATOR] = "generator",
		[VALUE_SET] = "set",
		[VALUE_CLASS] = "type",
		[VALUE_METHOD] = "method",
	};
	static const char *const descriptors[] = {
		[DESCRIPTOR_PROPERTY] = "property",
		[DESCRIPTOR_STATIC] = "staticmethod",
		[DESCRIPTOR_CLASS] = "classmethod",
		[DESCRIPTOR_SUPER] = "super",
	};

	if (v.scalar)
		return scalar_infos[v.scalar].name;
	if (v.kind == VALUE_INSTANCE)
		return v.instance->class->name;
	if (v.kind == VALUE_DESCRIPTOR)
		return descriptors[v.descriptor->descriptor_kind];
	if (v.kind == VALUE_SET && v.dict->frozen)
		return "frozenset";
	if (v.kind == VALUE_TUPLE && v.list->class)
		return v.list->class->name;
	if (v.kind == VALUE_ITER)
		return iterator_type_name(v.iter);
	return names[v.kind];
}

/* ---- for callers of the engine, who do not see the objects */

static bool is_sequence(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

int value_length(struct value v)
{
	return is_sequence(v) ? v.list->len : v.kind == VALUE_DICT ? v.dict->len : 0;
}

struct value value_item(struct value v, int index)
{
	return is_sequence(v) ? v.list->at[index] : v.dict->values[index];
}

struct value value_key(struct value dict, int index)
{
	return dict.dict->keys[index];
}

struct value value_plain(struct value v)
{
	const struct value *kept = NULL;

	if (v.kind != VALUE_INSTANCE || !v.instance->attributes)
		return v;
	kept = value_dict_find(v.instance->attributes, "_plain");
	if (!kept && value_is_array(v))
		kept = value_dict_find(v.instance->attributes, "_tensor");
	return kept ? *kept : v;
}

struct value value_attributes(struct value v)
{
	if (v.kind != VALUE_INSTANCE || !v.instance->attributes)
		return (struct value){ .kind = VALUE_UNSET };
	return value_of(v.instance->attributes);
}

enum { PLAIN_DEPTH = 100 };

static bool is_plain(struct value v, int depth)
{
	bool own = is_sequence(v) && (v.list->fields || v.list->class || v.list->is_size);

	if (v.kind == VALUE_TENSOR)
		return !v.tensor->attributes && !v.tensor->is_parameter;
	if (v.kind == VALUE_STR || v.kind == VALUE_DTYPE || !value_counted(v))
		return true;
	if ((!is_sequence(v) && v.kind != VALUE_DICT) || own || depth > PLAIN_DEPTH)
		return false;
	for (int i = 0; i < value_length(v); i++)
		if (!is_plain(value_item(v, i), depth + 1) ||
		    (v.kind == VALUE_DICT && !is_plain(value_key(v, i), depth + 1)))
			return false;
	return true;
}

bool value_is_plain(struct value v)
{
	return is_plain(v, 0);
}

const char *value_text(struct value v, size_t *len)
{
	if (len)
		*len = v.str->len;
	return v.str->text;
}
