/* fusion/capture/sources/sources.c -- places where values are found, their names and loads.
 *
 * Two sources are the same tensor where they are the same memory seen the same
 * way, whether or not they are the same object.
 */
#include "fusion/capture/sources/sources.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/base/vec.h"
#include "fusion/eager/autograd.h"

bool sources_same_tensor(const struct tensor *a, const struct tensor *b)
{
	return a == b ||
	       (a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
		a->rank == b->rank &&
		memcmp(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank) == 0 &&
		memcmp(a->stride, b->stride, sizeof(a->stride[0]) * (size_t)a->rank) == 0);
}

bool sources_alias(const struct sources *s, int source)
{
	int whole = s->at[source].view_of;

	return whole >= 0 && sources_same_tensor(s->at[source].value.tensor->memory,
						 s->at[whole].value.tensor->memory);
}

static bool grow(void **at, int *cap, int n, size_t bytes)
{
	size_t room = (size_t)*cap;

	if (n < *cap)
		return true;
	if (!vec_grow(at, &room, (size_t)n, bytes))
		return false;
	*cap = (int)room;
	return true;
}

int sources_add(struct sources *s, int parent, enum source_access access, int index,
		struct value key, struct value real)
{
	if (s->n == MAX_SOURCES || !grow((void **)&s->at, &s->cap, s->n, sizeof(*s->at)))
		return -1;
	s->at[s->n] = (struct source){
		.parent = parent,
		.access = access,
		.index = index,
		.key = value_ref(key),
		.value = value_ref(real),
		.kind = real.kind,
		.first_child = -1,
		.same_as = -1,
		.view_of = -1,
		.var = -1,
	};
	return s->n++;
}

/* The module's own dicts stay out of the name: self.up, not self._modules['up']. */
static bool is_registry(const struct source *s)
{
	static const char *const names[] = { "_modules", "_parameters", "_buffers" };

	if (s->access != SOURCE_ATTRIBUTE || s->key.kind != VALUE_STR)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(s->key.str->text, names[i]) == 0)
			return true;
	return false;
}

static const char *entry_name(struct sources *s, const struct source *parent, struct value key)
{
	struct buf text;
	const char *name;

	if (is_registry(parent) && key.kind == VALUE_STR) {
		const char *owner = s->at[parent->parent].name;

		return arena_printf(s->arena, "%s.%s", owner ? owner : "self", key.str->text);
	}
	buf_init(&text, 128);
	value_print(&text, key, false);
	name = arena_printf(s->arena, "%s[%s]", parent->name, text.data ? text.data : "...");
	buf_finish(&text);
	return name;
}

static const char *part_name(struct sources *s, const struct source *source)
{
	const struct source *parent = &s->at[source->parent];
	const struct code *code;

	switch (source->access) {
	case SOURCE_ITEM:
		return arena_printf(s->arena, "%s[%d]", parent->name, source->index);
	case SOURCE_ENTRY:
		return entry_name(s, parent, source->key);
	case SOURCE_ATTRIBUTE:
		return arena_printf(s->arena, "%s.%s", parent->name,
				    source->key.kind == VALUE_STR ? source->key.str->text : "?");
	case SOURCE_CLOSURE:
		code = parent->value.function->code;
		return arena_strdup(s->arena, code->cells[code->n_own_cells + source->index]);
	case SOURCE_DEFAULT:
	case SOURCE_KWDEFAULT:
		return arena_printf(s->arena, "a default of %s", parent->name);
	case SOURCE_CLASS:
		return arena_printf(s->arena, "type(%s)", parent->name);
	case SOURCE_SELF:
		return arena_printf(s->arena, "%s.__self__", parent->name);
	case SOURCE_FUNCTION:
		return arena_printf(s->arena, "%s.__func__", parent->name);
	case SOURCE_KEY:
		return arena_printf(s->arena, "list(%s)[%d]", parent->name, source->index);
	case SOURCE_DICT:
		return arena_printf(s->arena, "%s.__dict__", parent->name);
	case SOURCE_GRAD:
		return arena_printf(s->arena, "%s.grad", parent->name);
	default: /* the content of a cell, what an iterator is over */
		return parent->name;
	}
}

static const struct frame *outer(const struct frame *f, int calls)
{
	while (calls-- > 0)
		f = f->up;
	return f;
}

/* Of a frame that the innermost was called from, as Python qualifies names. */
static const char *outer_name(struct sources *s, const struct source *source)
{
	const struct code *code = outer(s->frame, source->frame)->code;

	if (source->access == SOURCE_OUTER_STACK)
		return arena_printf(s->arena, "operand %d of %s", source->index, code->name);
	return arena_printf(s->arena, "%s.<locals>.%s", code->name,
			    source->access == SOURCE_OUTER_LOCAL ? code->locals[source->index]
								 : code->cells[source->index]);
}

static const char *source_name(struct sources *s, const struct source *source)
{
	switch (source->access) {
	case SOURCE_OUTER_LOCAL:
	case SOURCE_OUTER_CELL:
	case SOURCE_OUTER_STACK:
		return outer_name(s, source);
	case SOURCE_LOCAL:
		return s->code->locals[source->index];
	case SOURCE_CELL:
		return s->code->cells[source->index];
	case SOURCE_STACK:
		return arena_printf(s->arena, "operand %d", source->index);
	case SOURCE_GLOBAL:
		return source->key.kind == VALUE_STR ? arena_strdup(s->arena, source->key.str->text)
						     : "a global";
	default:
		return part_name(s, source);
	}
}

static bool describe_tensor(struct sources *s, int index)
{
	struct source *source = &s->at[index];
	const struct tensor *t = source->value.tensor->memory;

	source->dtype = t->dtype;
	source->rank = t->rank;
	source->contiguous = tensor_contiguous(t);
	source->first_dim = s->n_dims;
	for (int d = 0; d < t->rank; d++) {
		if (!grow((void **)&s->dims, &s->cap_dims, s->n_dims, sizeof(*s->dims)))
			return false;
		s->dims[s->n_dims] = (struct source_dim){
			.source = index, .dim = d, .size = t->size[d], .class = s->n_dims, .var = -1
		};
		source->size[d] = t->size[d];
		s->n_dims++;
	}
	return true;
}

bool sources_describe(struct sources *s, int source)
{
	if (s->at[source].name)
		return true;
	s->at[source].name = source_name(s, &s->at[source]);
	return s->at[source].name &&
	       (s->at[source].kind != VALUE_TENSOR || describe_tensor(s, source));
}

void sources_finish(struct sources *s)
{
	for (int i = 0; i < s->n; i++) {
		value_unref(s->at[i].value);
		value_unref(s->at[i].key);
		value_unref(s->at[i].stand_in);
	}
	free(s->at);
	free(s->dims);
	*s = (struct sources){ 0 };
}

/* The keys of a dict alone: its values may be tensors. */
static struct value keys_of(const struct dict *dict)
{
	struct value keys = value_dict();

	for (int i = 0; keys.kind == VALUE_DICT && i < dict->len; i++)
		if (!value_dict_set(keys.dict, dict->keys[i], value_none())) {
			value_unref(keys);
			return (struct value){ .kind = VALUE_UNSET };
		}
	return keys;
}

/* A set that the program may change later: what it held when it was captured. */
static struct value members_of(const struct dict *set)
{
	struct value copy = value_set(set->frozen);

	for (int i = 0; copy.kind == VALUE_SET && i < set->len; i++)
		if (!value_dict_set(copy.dict, set->keys[i], value_none())) {
			value_unref(copy);
			return (struct value){ .kind = VALUE_UNSET };
		}
	return copy;
}

/* What guards still need of a value once the capture is done: not its tensors,
 * which would stay in memory as long as the entry. */
static struct value essence(const struct source *s)
{
	struct value v = s->value;

	if (!s->live)
		return value_none();
	switch (v.kind) {
	case VALUE_DICT:
		return keys_of(v.dict);
	case VALUE_SET:
		return members_of(v.dict);
	case VALUE_NATIVE: /* its name outlives it; its self is another source */
		return value_native(v.native->name, v.native->id, v.native->builtin, value_none());
	case VALUE_TENSOR:
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_ITER:
	case VALUE_CELL:
	case VALUE_GENERATOR:
	case VALUE_METHOD:
		return value_none();
	case VALUE_INSTANCE: /* its class must not go, nor another come in its place */
		return value_ref(value_of(v.instance->class));
	case VALUE_FUNCTION:
		return v.function->defaults &&
			       (!v.function->closure || v.function->closure->len == 0)
			   ? value_ref(value_of(v.function->defaults))
			   : value_none();
	default:
		return value_ref(v);
	}
}

bool sources_release(struct sources *s)
{
	for (int i = 0; i < s->n; i++) {
		struct source *source = &s->at[i];
		struct value kept = essence(source);

		if (kept.kind == VALUE_UNSET && source->kind != VALUE_UNSET)
			return false;
		value_unref(source->value);
		value_unref(source->stand_in);
		source->value = kept;
		source->stand_in = (struct value){ .kind = VALUE_UNSET };
	}
	return true;
}

static struct value unset(void)
{
	return (struct value){ .kind = VALUE_UNSET };
}

static struct value load_entry(const struct dict *dict, int index, struct value key)
{
	struct value out;

	if (!dict)
		return unset();
	if (index < dict->len && dict->keys[index].kind == key.kind &&
	    dict->keys[index].object == key.object)
		return dict->values[index];
	return value_dict_get(dict, key, &out) ? out : unset();
}

static struct value load_item(const struct list *list, int index)
{
	return list && index < list->len ? list->at[index] : unset();
}

static struct value load_attribute(const struct source *s, struct value parent)
{
	if (parent.kind == VALUE_INSTANCE)
		return load_entry(parent.instance->attributes, s->index, s->key);
	if (parent.kind == VALUE_CLASS)
		return load_entry(parent.class->attributes, s->index, s->key);
	if (parent.kind == VALUE_FUNCTION)
		return load_entry(parent.function->attributes, s->index, s->key);
	if (parent.kind == VALUE_TENSOR)
		return load_entry(parent.tensor->attributes, s->index, s->key);
	return unset();
}

/* An instance that holds nothing has a dict as soon as somebody looks. */
static struct value whole_of(struct instance *i)
{
	struct dict *own = object_attributes(value_of(i));

	return own ? value_of(own) : unset();
}

static struct value *descriptor_part(struct descriptor *d, int index)
{
	return index == 0 ? &d->get : index == 1 ? &d->set : &d->del;
}

static struct value load_part(const struct source *s, struct value parent)
{
	switch (s->access) {
	case SOURCE_CONTENT:
		return parent.cell->content;
	case SOURCE_CLOSURE:
		return load_item(parent.function->closure, s->index);
	case SOURCE_DEFAULT:
		return load_item(parent.function->defaults, s->index);
	case SOURCE_KWDEFAULT:
		return load_entry(parent.function->kwdefaults, s->index, s->key);
	case SOURCE_CLASS:
		if (parent.kind == VALUE_CLASS)
			return parent.class->meta ? value_of(parent.class->meta) : unset();
		if (parent.kind == VALUE_TUPLE)
			return parent.list->class ? value_of(parent.list->class) : unset();
		return value_of(parent.instance->class);
	case SOURCE_PAYLOAD:
		return parent.instance->payload;
	case SOURCE_BASE:
		return load_item(parent.class->mro, s->index);
	case SOURCE_FUNCTION:
		return parent.kind == VALUE_METHOD ? parent.method->function
						   : *descriptor_part(parent.descriptor, s->index);
	case SOURCE_SELF:
		return parent.kind == VALUE_METHOD ? parent.method->self : parent.native->self;
	case SOURCE_OVER:
		return parent.iter->over;
	case SOURCE_KEY:
		return s->index < parent.dict->len ? parent.dict->keys[s->index] : unset();
	case SOURCE_DICT:
		return whole_of(parent.instance);
	case SOURCE_GRAD:
		return autograd_gradient(parent);
	default:
		return unset();
	}
}

struct value source_load(const struct source *s, struct value parent, const struct roots *roots)
{
	switch (s->access) {
	case SOURCE_LOCAL:
		return roots->locals[s->index];
	case SOURCE_CELL:
		return roots->cells[s->index - roots->first_cell];
	case SOURCE_STACK:
		return roots->stack[s->index];
	case SOURCE_OUTER_LOCAL:
		return outer(roots->frame, s->frame)->locals[s->index];
	case SOURCE_OUTER_CELL:
		return outer(roots->frame, s->frame)->cells[s->index];
	case SOURCE_OUTER_STACK:
		return outer(roots->frame, s->frame)->stack[s->index];
	case SOURCE_GLOBAL:
		return roots->vm->globals[s->index].value;
	case SOURCE_ITEM:
		return load_item(parent.list, s->index);
	case SOURCE_ENTRY:
		return load_entry(parent.dict, s->index, s->key);
	case SOURCE_ATTRIBUTE:
		return load_attribute(s, parent);
	default:
		return load_part(s, parent);
	}
}

struct value source_value(const struct sources *s, int source, const struct roots *roots)
{
	const struct source *at = &s->at[source];

	return source_load(at, at->parent < 0 ? unset() : source_value(s, at->parent, roots),
			   roots);
}

int sources_root(const struct sources *s, int dim)
{
	while (s->dims[dim].class != dim)
		dim = s->dims[dim].class;
	return dim;
}

void sources_merge(struct sources *s, int a, int b)
{
	a = sources_root(s, a);
	b = sources_root(s, b);
	if (a == b)
		return;
	if (a > b) { /* the root is the first dim: it names the symbol */
		int swap = a;

		a = b;
		b = swap;
	}
	s->dims[b].class = a;
	s->dims[a].pinned |= s->dims[b].pinned;
}
