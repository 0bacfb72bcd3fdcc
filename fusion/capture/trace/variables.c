/* fusion/capture/trace/variables.c -- stand-ins for the objects that a piece reads.
 *
 * A capture must not change what it looks at, and what it never looks at must
 * not be guarded.  So each object from outside gets a STAND-IN when the program
 * reads it: the same kind of object, whose contents are LAZY.  The same object
 * gets the same stand-in, whichever way the program came to it.  What cannot
 * change (numbers, strings, functions without a closure) stands for itself.
 */
#include "fusion/capture/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/namedtuple.h"

/* ---- Which places that a piece reads hold one object.
 *
 * An object, and all that an instance holds (its __dict__) are each one, by whatever way the
 * program comes to them.  Two tensors with the same memory are two (trace/view.c). */

/* an earlier source that holds the same object, -1; the dict of all that an
 * instance from outside holds becomes a source; whose dict a source is, is found.
 *
 * An earlier source that holds the same object. */
static int variables_same(struct trace *t, int source)
{
	return pointers_get(&t->reals, t->sources->at[source].value.object);
}

/* The dict of an instance from outside is a place of its own: which names it has is
 * guarded, and who gets it later gets the real one. */
bool variables_whole(void *self, struct value o, struct err *err)
{
	struct trace *t = self;
	int parent = variables_source(t, o), source = -1;
	struct value real, stand_in;

	if (parent < 0 || t->sources->at[parent].kind != VALUE_INSTANCE ||
	    variables_source(t, value_of(o.instance->attributes)) >= 0)
		return true; /* made here, or known already */
	for (int i = parent + 1; i < t->sources->n && source < 0; i++)
		if (t->sources->at[i].parent == parent && t->sources->at[i].access == SOURCE_DICT)
			source = i; /* of an earlier attempt */
	if (source < 0) {
		real = source_load(&(struct source){ .access = SOURCE_DICT },
				   t->sources->at[parent].value, NULL);
		if (real.kind == VALUE_UNSET)
			return trace_no_memory(err);
		source = sources_add(t->sources, parent, SOURCE_DICT, 0,
				     (struct value){ .kind = VALUE_UNSET }, real);
	}
	if (source < 0)
		return variables_too_many(t, err);
	if (!sources_describe(t->sources, source))
		return trace_no_memory(err);
	t->sources->at[source].live = true;
	stand_in = value_of(o.instance->attributes);
	return variables_claim(t, source, stand_in) || trace_no_memory(err);
}

/* A dict that is all that an instance holds, which has been read: not a second stand-in. */
static bool variables_note_owner(struct trace *t, int source, struct err *err)
{
	const struct dict *dict = t->sources->at[source].value.dict;

	for (int i = 0; i < t->sources->n; i++) {
		struct value stand_in = t->sources->at[i].stand_in;

		if (i != source && t->sources->at[i].kind == VALUE_INSTANCE &&
		    stand_in.kind == VALUE_INSTANCE && t->sources->at[i].same_as < 0 &&
		    t->sources->at[i].value.instance->attributes == dict &&
		    stand_in.object != t->sources->at[i].value.object)
			return variables_whole(t, stand_in, err);
	}
	return true;
}

static const struct value unset = { .kind = VALUE_UNSET };

bool variables_too_many(struct trace *t, struct err *err)
{
	if (t->sources->n < MAX_SOURCES)
		return trace_no_memory(err);
	return err_set(err, ERR_BOUND, "the call reads more than %d values", MAX_SOURCES);
}

bool variables_lazy(struct trace *t, int source, struct value *out)
{
	(void)t;
	*out = (struct value){ .kind = VALUE_LAZY, .i = source };
	return source >= 0;
}

/* What children a value has: each is a place that may be read by itself. */
static bool add_items(struct sources *s, int source, enum source_access access,
		      const struct list *list)
{
	for (int i = 0; list && i < list->len; i++)
		if (sources_add(s, source, access, i, unset, list->at[i]) < 0)
			return false;
	return true;
}

static bool add_entries(struct sources *s, int source, enum source_access access,
			const struct dict *dict)
{
	for (int i = 0; dict && i < dict->len; i++)
		if (sources_add(s, source, access, i, dict->keys[i], dict->values[i]) < 0)
			return false;
	return true;
}

static bool add_keys(struct sources *s, int source, const struct dict *dict)
{
	for (int i = 0; i < dict->len; i++)
		if (source_key_is_object(dict->keys[i]) &&
		    sources_add(s, source, SOURCE_KEY, i, unset, dict->keys[i]) < 0)
			return false;
	return true;
}

/* Classes that nothing changes: Python's own and those of the prelude. */
static bool is_fixed(const struct class *class)
{
	return class->builtin != CLASS_PROGRAM || class->hidden;
}

/* A named tuple of a class of the program, which is read with it. */
static bool has_read_class(const struct list *list)
{
	return list->class && !is_fixed(list->class);
}

static bool add_children(struct sources *s, int source, struct value v)
{
	switch (v.kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
		return add_items(s, source, SOURCE_ITEM, v.list) &&
		       (!has_read_class(v.list) || sources_add(s, source, SOURCE_CLASS, 0, unset,
							       value_of(v.list->class)) >= 0);
	case VALUE_DICT:
		return add_entries(s, source, SOURCE_ENTRY, v.dict) && add_keys(s, source, v.dict);
	case VALUE_SET:
		return add_keys(s, source, v.dict);
	case VALUE_CELL:
		return sources_add(s, source, SOURCE_CONTENT, 0, unset, v.cell->content) >= 0;
	case VALUE_FUNCTION:
		return add_items(s, source, SOURCE_DEFAULT, v.function->defaults) &&
		       add_entries(s, source, SOURCE_KWDEFAULT, v.function->kwdefaults) &&
		       add_items(s, source, SOURCE_CLOSURE, v.function->closure) &&
		       add_entries(s, source, SOURCE_ATTRIBUTE, v.function->attributes);
	case VALUE_INSTANCE:
		return add_entries(s, source, SOURCE_ATTRIBUTE, v.instance->attributes) &&
		       sources_add(s, source, SOURCE_CLASS, 0, unset,
				   value_of(v.instance->class)) >= 0 &&
		       sources_add(s, source, SOURCE_PAYLOAD, 0, unset, v.instance->payload) >= 0;
	case VALUE_CLASS:
		return add_entries(s, source, SOURCE_ATTRIBUTE, v.class->attributes) &&
		       add_items(s, source, SOURCE_BASE, v.class->mro) &&
		       (!v.class->meta || sources_add(s, source, SOURCE_CLASS, 0, unset,
						      value_of(v.class->meta)) >= 0);
	case VALUE_METHOD:
		return sources_add(s, source, SOURCE_FUNCTION, 0, unset, v.method->function) >= 0 &&
		       sources_add(s, source, SOURCE_SELF, 0, unset, v.method->self) >= 0;
	case VALUE_DESCRIPTOR:
		return sources_add(s, source, SOURCE_FUNCTION, 0, unset, v.descriptor->get) >= 0 &&
		       sources_add(s, source, SOURCE_FUNCTION, 1, unset, v.descriptor->set) >= 0 &&
		       sources_add(s, source, SOURCE_FUNCTION, 2, unset, v.descriptor->del) >= 0;
	case VALUE_NATIVE:
		return sources_add(s, source, SOURCE_SELF, 0, unset, v.native->self) >= 0;
	case VALUE_ITER:
		return sources_add(s, source, SOURCE_OVER, 0, unset, v.iter->over) >= 0;
	case VALUE_TENSOR:
		return add_entries(s, source, SOURCE_ATTRIBUTE, v.tensor->attributes) &&
		       sources_add(s, source, SOURCE_GRAD, 0, unset, autograd_gradient(v)) >= 0;
	default:
		return true;
	}
}

static bool make_children(struct trace *t, int source, struct err *err)
{
	struct sources *s = t->sources;
	int first = s->n;

	if (s->at[source].first_child >= 0 ||
	    (s->at[source].kind == VALUE_TENSOR && !t->autograd->recording &&
	     !s->at[source].value.tensor->attributes))
		return true;
	if (!add_children(s, source, s->at[source].value))
		return variables_too_many(t, err);
	s->at[source].first_child = first;
	s->at[source].n_children = s->n - first;
	return true;
}

static struct value lazy(int source)
{
	return (struct value){ .kind = VALUE_LAZY, .i = source };
}

/* Takes a fresh object into the VM's heap, so that a ring of stand-ins can go. */
static bool keep(struct trace *t, struct value fresh, struct value *out, struct err *err)
{
	return vm_keep(t->vm, fresh, out, err);
}

static struct value lazy_sequence(const struct list *real, int child)
{
	struct value v = value_sequence(real->head.kind, real->len);

	if (v.kind == VALUE_UNSET)
		return v;
	for (int i = 0; i < real->len; i++)
		v.list->at[v.list->len++] = lazy(child + i);
	v.list->is_size = real->is_size;
	v.list->fields = real->fields;
	v.list->type_name = real->type_name;
	v.list->class = real->class;
	if (real->class)
		value_ref(value_of(real->class));
	return v;
}

static struct value lazy_dict(const struct dict *real, int child)
{
	struct value v = value_dict();

	for (int i = 0; v.kind != VALUE_UNSET && real && i < real->len; i++)
		if (!value_dict_set(v.dict, real->keys[i], lazy(child + i))) {
			value_unref(v);
			v = unset;
		}
	return v;
}

/* What a sequence of parts holds cannot change under a function. */
static bool is_plain(struct value v)
{
	return v.kind < VALUE_STR || v.kind == VALUE_STR || v.kind == VALUE_MODULE;
}

static bool all_plain(const struct value *v, int n)
{
	for (int i = 0; i < n; i++)
		if (!is_plain(v[i]))
			return false;
	return true;
}

static bool stand_ins_for_itself(struct value v)
{
	const struct function *f;

	switch (v.kind) {
	case VALUE_FUNCTION:
		f = v.function;
		return (!f->closure || f->closure->len == 0) &&
		       (!f->attributes || f->attributes->len == 0) &&
		       (!f->defaults || all_plain(f->defaults->at, f->defaults->len)) &&
		       (!f->kwdefaults || all_plain(f->kwdefaults->values, f->kwdefaults->len));
	case VALUE_NATIVE:
		return v.native->self.kind == VALUE_UNSET; /* else its self is guarded */
	case VALUE_CLASS:
		return is_fixed(v.class);
	case VALUE_DESCRIPTOR: /* of functions that are no closures, mostly */
		return v.descriptor->descriptor_kind == DESCRIPTOR_SUPER ||
		       (stand_ins_for_itself(v.descriptor->get) &&
			stand_ins_for_itself(v.descriptor->set) &&
			stand_ins_for_itself(v.descriptor->del));
	case VALUE_INSTANCE: /* a mark of the prelude: its globals are no stand-ins either */
		return v.instance->class->hidden && !v.instance->class->is_module &&
		       (!v.instance->attributes || v.instance->attributes->len == 0) &&
		       v.instance->payload.kind == VALUE_UNSET;
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_DICT:
	case VALUE_SET:
	case VALUE_CELL:
	case VALUE_METHOD:
	case VALUE_ITER:
	case VALUE_TENSOR:
	case VALUE_GENERATOR:
		return false;
	default:
		return true;
	}
}

static bool read_child(struct trace *t, int child, struct value *out, struct err *err)
{
	struct value v;

	if (!variables_read(t, child, &v, err))
		return false;
	*out = value_ref(v);
	return true;
}

/* A named tuple is of its class's stand-in: the program may ask. */
static bool stand_in_sequence(struct trace *t, const struct list *real, int child,
			      struct value *out, struct err *err)
{
	struct value class;

	if (!keep(t, lazy_sequence(real, child), out, err))
		return false;
	if (!has_read_class(real))
		return true;
	if (!variables_read(t, child + real->len, &class, err))
		return false;
	value_ref(class);
	value_unref(value_of(out->list->class));
	out->list->class = class.class;
	return true;
}

/* Keys that are objects are their stand-ins. */
static bool stand_in_dict(struct trace *t, const struct dict *real, int child, struct value *out,
			  struct err *err)
{
	int key = child + real->len;

	if (!keep(t, value_dict(), out, err))
		return false;
	for (int i = 0; i < real->len; i++) {
		struct value k = real->keys[i];

		if (source_key_is_object(k) && !variables_read(t, key++, &k, err))
			return false;
		if (!value_dict_set(out->dict, k, lazy(child + i)))
			return trace_no_memory(err);
	}
	return true;
}

/* PyTorch ends a graph before a set of tensors, whose order is that of their addresses. */
static bool stand_in_set(struct trace *t, const struct dict *real, int child, struct value *out,
			 struct err *err)
{
	for (int i = 0; i < real->len && !t->native; i++)
		if (real->keys[i].kind == VALUE_TENSOR)
			return trace_break(t, BREAK_UNSUPPORTED, "a set of tensors from outside",
					   err);
	if (!keep(t, value_set(real->frozen), out, err))
		return false;
	for (int i = 0; i < real->len; i++) {
		struct value k = real->keys[i];

		if (source_key_is_object(k) && !variables_read(t, child++, &k, err))
			return false;
		if (!value_dict_set(out->dict, k, value_none()))
			return trace_no_memory(err);
	}
	return true;
}

static bool stand_in_closure(struct trace *t, struct function *f, const struct function *real,
			     int child, struct err *err)
{
	struct value v;

	if (!real->closure)
		return true;
	if (!keep(t, value_sequence(VALUE_TUPLE, real->closure->len), &v, err))
		return false;
	f->closure = v.list;
	for (int i = 0; i < real->closure->len; i++) {
		if (!read_child(t, child + i, &f->closure->at[i], err))
			return false;
		f->closure->len++;
	}
	return true;
}

static bool stand_in_function(struct trace *t, struct function *real, int child, struct value *out,
			      struct err *err)
{
	struct function *f;
	struct value v;

	if (!keep(t, value_function(real->code), out, err))
		return false;
	f = out->function;
	f->unit = real->unit;
	f->disabled = real->disabled;
	f->grad = real->grad;
	if (real->defaults) {
		if (!keep(t, lazy_sequence(real->defaults, child), &v, err))
			return false;
		f->defaults = v.list;
		child += real->defaults->len;
	}
	if (real->kwdefaults) {
		if (!keep(t, lazy_dict(real->kwdefaults, child), &v, err))
			return false;
		f->kwdefaults = v.dict;
		child += real->kwdefaults->len;
	}
	if (!stand_in_closure(t, f, real, child, err))
		return false;
	child += real->closure ? real->closure->len : 0;
	if (real->attributes) {
		if (!keep(t, lazy_dict(real->attributes, child), &v, err))
			return false;
		f->attributes = v.dict;
	}
	return true;
}

bool variables_is_sparse(struct value v)
{
	return v.kind == VALUE_INSTANCE && v.instance->class->hidden &&
	       strcmp(v.instance->class->name, "_Sparse") == 0;
}

/* Whether a sparse tensor comes from outside of the function: none that an earlier piece made. */
static bool is_given_sparse(const struct trace *t, struct value v, int source)
{
	const struct sources *s = t->sources;
	const struct code *code = s->code;

	if (t->native || !variables_is_sparse(v))
		return false;
	while (s->at[source].parent >= 0)
		source = s->at[source].parent;
	return s->at[source].access == SOURCE_GLOBAL || s->at[source].access == SOURCE_CELL ||
	       (s->at[source].access == SOURCE_LOCAL &&
		s->at[source].index < code->n_positional + code->n_keyword_only);
}

static bool stand_in_instance(struct trace *t, struct instance *real, int child, struct value *out,
			      struct err *err)
{
	int n = real->attributes ? real->attributes->len : 0;
	struct class *class = real->class;
	struct value v;

	if (!is_fixed(class)) {
		if (!variables_read(t, child + n, &v, err))
			return false;
		class = v.class;
	}
	if (!keep(t, value_instance(class), out, err))
		return false;
	if (real->attributes) {
		int whole = pointers_get(&t->reals, real->attributes); /* read before */

		if (whole >= 0)
			v = value_ref(t->sources->at[whole].stand_in);
		else if (!keep(t, lazy_dict(real->attributes, child), &v, err))
			return false;
		out->instance->attributes = v.dict;
	}
	out->instance->line = real->line;
	out->instance->column = real->column;
	return real->payload.kind == VALUE_UNSET ||
	       read_child(t, child + n + 1, &out->instance->payload, err);
}

static bool stand_in_class(struct trace *t, const struct class *real, int child, struct value *out,
			   struct err *err)
{
	struct value mro = unset, meta = unset, attributes;
	int n_bases = real->mro ? real->mro->len : 0;
	struct class *c;
	bool ok = true;

	if (real->mro && !keep(t, value_sequence(VALUE_TUPLE, n_bases), &mro, err))
		return false;
	for (int i = 0; ok && mro.kind == VALUE_TUPLE && i < n_bases; i++) {
		ok = read_child(t, child + real->attributes->len + i, &mro.list->at[i], err);
		mro.list->len += ok;
	}
	if (ok && real->meta)
		ok = read_child(t, child + real->attributes->len + n_bases, &meta, err);
	ok = ok && keep(t, value_class(real->text, mro), out, err);
	value_unref(mro);
	if (!ok) {
		value_unref(meta);
		return false;
	}
	c = out->class;
	c->meta = real->meta ? meta.class : NULL;
	c->name = real->name;
	c->data = real->data;
	c->has_getattr = real->has_getattr;
	c->has_getattribute = real->has_getattribute;
	c->is_module = real->is_module;
	c->has_setattr = real->has_setattr;
	c->has_slots = real->has_slots;
	if (!class_copy_names(c, real))
		return trace_no_memory(err);
	if (!keep(t, lazy_dict(real->attributes, child), &attributes, err))
		return false;
	value_unref(value_of(c->attributes));
	c->attributes = attributes.dict;
	return true;
}

static bool stand_in_method(struct trace *t, int child, struct value *out, struct err *err)
{
	struct value function, self;

	return variables_read(t, child, &function, err) &&
	       variables_read(t, child + 1, &self, err) &&
	       keep(t, value_method(function, self), out, err);
}

static bool stand_in_descriptor(struct trace *t, const struct descriptor *real, int child,
				struct value *out, struct err *err)
{
	struct value get, set, del;

	if (!variables_read(t, child, &get, err) || !variables_read(t, child + 1, &set, err) ||
	    !variables_read(t, child + 2, &del, err) ||
	    !keep(t, value_descriptor(real->descriptor_kind, get, set), out, err))
		return false;
	out->descriptor->del = value_ref(del);
	return true;
}

static bool stand_in_native(struct trace *t, const struct native *real, int child,
			    struct value *out, struct err *err)
{
	struct value self;

	return variables_read(t, child, &self, err) &&
	       keep(t, value_native(real->name, real->id, real->builtin, self), out, err);
}

static bool stand_in_iter(struct trace *t, const struct iter *real, int child, struct value *out,
			  struct err *err)
{
	struct value over;

	if (real->iter_kind == ITER_NEXT && real->over.kind != VALUE_INSTANCE)
		return trace_break(t, BREAK_UNSUPPORTED, "a generator from outside", err);
	if (!variables_read(t, child, &over, err) ||
	    !keep(t, value_iter(real->iter_kind, over), out, err))
		return false;
	out->iter->view = real->view;
	out->iter->position = real->position;
	out->iter->length = real->length;
	out->iter->nested = real->nested;
	return true;
}

/* What the program has given a tensor: x.foo = 1. */
static bool stand_in_given(struct trace *t, int source, struct value out, struct err *err)
{
	const struct dict *real = t->sources->at[source].value.tensor->attributes;
	struct value v;

	if (!real)
		return true;
	if (!heap_adopt(t->vm->heap, out.object))
		return trace_no_memory(err);
	if (!keep(t, lazy_dict(real, t->sources->at[source].first_child), &v, err))
		return false;
	out.tensor->attributes = v.dict;
	return true;
}

static bool stand_in_tensor(struct trace *t, int source, struct value *out, struct err *err)
{
	if (!t->sources->at[source].value.tensor->memory)
		return err_set(err, ERR_TYPE, "the tensor %s has no memory",
			       t->sources->at[source].name);
	if (t->sources->at[source].view_of >= 0)
		return overlap_stand_in(t, source, out, err) &&
		       stand_in_given(t, source, *out, err);
	*out = value_tensor();
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	out->tensor->owner = t->serial;
	out->tensor->input = source;
	out->tensor->is_parameter = t->sources->at[source].value.tensor->is_parameter;
	return stand_in_given(t, source, *out, err);
}

/* On failure *out may hold a part, which the caller drops. */
/* A module whose __init__ has only begun. */
static bool is_before_init(const struct instance *i)
{
	return i->class->is_module && (!i->attributes || i->attributes->len == 0);
}

static bool make_stand_in(struct trace *t, int source, struct value *out, struct err *err)
{
	struct value real = t->sources->at[source].value;
	int child;

	if (!make_children(t, source, err))
		return false;
	child = t->sources->at[source].first_child;
	switch (real.kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
		return stand_in_sequence(t, real.list, child, out, err);
	case VALUE_DICT:
		return stand_in_dict(t, real.dict, child, out, err);
	case VALUE_SET:
		return stand_in_set(t, real.dict, child, out, err);
	case VALUE_CELL:
		return keep(t, value_cell(lazy(child)), out, err) &&
		       (real.cell->content.kind != VALUE_UNSET ||
			(out->cell->content = unset, true));
	case VALUE_FUNCTION:
		return stand_in_function(t, real.function, child, out, err);
	case VALUE_INSTANCE:
		if (is_given_sparse(t, real, source))
			return trace_break(t, BREAK_SPARSE, NULL, err);
		if (!t->native && is_before_init(real.instance))
			return trace_break(t, BREAK_MODULE_BEFORE_INIT, real.instance->class->name,
					   err);
		return stand_in_instance(t, real.instance, child, out, err);
	case VALUE_CLASS:
		return stand_in_class(t, real.class, child, out, err);
	case VALUE_METHOD:
		return stand_in_method(t, child, out, err);
	case VALUE_DESCRIPTOR:
		return stand_in_descriptor(t, real.descriptor, child, out, err);
	case VALUE_NATIVE:
		return stand_in_native(t, real.native, child, out, err);
	case VALUE_ITER:
		return stand_in_iter(t, real.iter, child, out, err);
	case VALUE_TENSOR:
		return stand_in_tensor(t, source, out, err);
	default:
		return trace_break(t, BREAK_UNSUPPORTED, "a generator from outside", err);
	}
}

bool variables_claim(struct trace *t, int source, struct value stand_in)
{
	struct source *s = &t->sources->at[source];

	value_unref(s->stand_in);
	s->stand_in = value_ref(stand_in);
	if (!value_counted(stand_in))
		return true;
	return pointers_set(&t->stand_ins, stand_in.object, source) &&
	       (s->value.kind == VALUE_UNSET || pointers_set(&t->reals, s->value.object, source));
}

/* As torch: the sizes of parameters and buffers are constants. */
static bool is_of_module(const struct sources *s, const struct source *at)
{
	const struct source *in = at->parent >= 0 ? &s->at[at->parent] : NULL;
	struct value *names;

	if (at->value.tensor->is_parameter)
		return true;
	if (in && in->access == SOURCE_DICT)
		in = &s->at[in->parent];
	if (!in || in->kind != VALUE_INSTANCE || !in->value.instance->class->is_module ||
	    at->key.kind != VALUE_STR)
		return false;
	names = value_dict_find(in->value.instance->attributes, "_buffer_names");
	return names && names->kind == VALUE_DICT &&
	       value_dict_find(names->dict, at->key.str->text);
}

/* Sizes that are no constants; which share a symbol (DUCK SHAPING). */
static void share_symbols(struct trace *t, int source, const struct seen *seen)
{
	struct sources *s = t->sources;
	const struct source *at = &s->at[source];
	bool fixed = is_of_module(s, at);

	for (int d = 0; d < at->rank; d++) {
		int dim = at->first_dim + d;
		bool wanted = (t->mode == FUSION_DYNAMIC && !fixed) ||
			      (at->value.tensor->dynamic_dims >> d & 1) ||
			      (t->mode == FUSION_AUTO && seen->changed[d] && !fixed);

		/* where the strides are constants, so are the sizes */
		s->dims[dim].pinned = !wanted || !at->contiguous;
		s->dims[dim].own = t->mode != FUSION_DYNAMIC || seen->changed[d];
		if (s->dims[dim].own) /* what changes, changes by itself */
			continue;
		for (int j = 0; j < dim && !s->dims[dim].pinned && at->size[d] > 1; j++)
			if (s->dims[j].size == at->size[d] && s->dims[j].class == j &&
			    !s->dims[j].pinned && !s->dims[j].own) {
				sources_merge(s, dim, j);
				break;
			}
	}
}

/* Once a capture: names it, and compares it with earlier compiles. */
static bool describe(struct trace *t, int source, struct err *err)
{
	struct source *s = &t->sources->at[source];
	const struct seen *seen;

	if (s->name)
		return true;
	if (s->kind == VALUE_TENSOR && !s->value.tensor->memory)
		return err_set(err, ERR_UNSUPPORTED, "a tensor without memory is used here");
	if (!sources_describe(t->sources, source))
		return trace_no_memory(err);
	if (s->kind != VALUE_TENSOR && s->kind != VALUE_INT && s->kind != VALUE_FLOAT)
		return true;
	if (s->kind != VALUE_TENSOR)
		return trace_note_number(t, source) || trace_no_memory(err);
	seen = memory_note(t->memory, s);
	if (!seen)
		return trace_no_memory(err);
	share_symbols(t, source, seen);
	return true;
}

static bool read_object(struct trace *t, int source, struct err *err)
{
	struct source *s = &t->sources->at[source];
	struct value stand_in = unset;
	int same;

	if (s->kind == VALUE_DICT && !variables_note_owner(t, source, err))
		return false;
	s = &t->sources->at[source];
	same = variables_same(t, source);
	s->same_as = same;
	if (same >= 0) {
		s->stand_in = value_ref(t->sources->at[same].stand_in);
		return true;
	}
	if (stand_ins_for_itself(s->value)) {
		s->stand_in = value_ref(s->value);
		return s->kind == VALUE_STR || variables_claim(t, source, s->value) ||
		       trace_no_memory(err);
	}
	if (!make_stand_in(t, source, &stand_in, err)) { /* sources may have moved */
		value_unref(stand_in);
		return false;
	}
	if (!variables_claim(t, source, stand_in) || !t->control->note_stand_in(t, stand_in)) {
		value_unref(stand_in);
		return trace_no_memory(err);
	}
	value_unref(stand_in);
	return true;
}

bool variables_read(struct trace *t, int source, struct value *out, struct err *err)
{
	struct source *s = &t->sources->at[source];

	if (s->stand_in.kind != VALUE_UNSET) {
		*out = s->stand_in;
		return true;
	}
	if (!describe(t, source, err))
		return false;
	s->live = true;
	if (s->symbolic && !s->pinned) {
		if (!trace_symbolic_number(t, source, &s->stand_in, err))
			return false;
	} else if (!value_counted(s->value)) {
		s->stand_in = s->value;
	} else if (!read_object(t, source, err)) {
		return false;
	}
	*out = t->sources->at[source].stand_in;
	return true;
}

bool variables_realize(void *self, struct value *place, struct err *err)
{
	struct value v;

	if (!variables_read(self, (int)place->i, &v, err))
		return false;
	*place = value_ref(v);
	return true;
}

/* ---- Globals as a piece sees them.
 *
 * What it stores stays in a table of its own until the kernels are done.  A
 * global or attribute that is not there is a source, too. */

static struct variables_global *find_global(struct trace *t, int index, const char *name,
					    struct value real, struct err *err)
{
	struct variables_global fresh = { .index = index };
	struct value key;

	for (size_t i = 0; i < t->globals.len; i++)
		if (t->globals.at[i].index == index)
			return &t->globals.at[i];
	for (int i = 0; i < t->sources->n && fresh.source == 0; i++) /* of an earlier attempt */
		if (t->sources->at[i].access == SOURCE_GLOBAL && t->sources->at[i].index == index)
			fresh.source = i + 1;
	if (fresh.source == 0) {
		key = value_str(name, strlen(name));
		fresh.source = sources_add(t->sources, -1, SOURCE_GLOBAL, index, key, real) + 1;
		value_unref(key);
	}
	fresh.source--;
	if (fresh.source < 0) {
		variables_too_many(t, err);
		return NULL;
	}
	fresh.stand_in = real.kind == VALUE_UNSET
			     ? real
			     : (struct value){ .kind = VALUE_LAZY, .i = fresh.source };
	if (!VEC_PUSH(&t->globals, fresh)) {
		trace_no_memory(err);
		return NULL;
	}
	return &t->globals.at[t->globals.len - 1];
}

bool variables_load_global(void *self, int index, const char *name, struct value real,
			   struct value *out, struct err *err)
{
	struct trace *t = self;
	struct variables_global *g;
	size_t at;

	if (global_is_fixed(&t->vm->globals[index])) {
		*out = value_ref(real);
		return true;
	}
	g = find_global(t, index, name, real, err);
	if (!g)
		return false;
	if (g->stand_in.kind == VALUE_UNSET && !g->written &&
	    t->vm->globals[index].builtin.kind == VALUE_UNSET) { /* it may come to be */
		if (!sources_describe(t->sources, g->source))
			return trace_no_memory(err);
		t->sources->at[g->source].live = true;
	}
	at = (size_t)(g - t->globals.at);
	if (g->stand_in.kind == VALUE_LAZY &&
	    !variables_realize(t, &t->globals.at[at].stand_in, err))
		return false;
	*out = value_ref(t->globals.at[at].stand_in);
	return true;
}

bool variables_store_global(void *self, int index, const char *name, struct value v,
			    struct err *err)
{
	struct trace *t = self;
	struct global *real = &t->vm->globals[index];
	struct variables_global *g;
	struct value old;

	if (real->ours) { /* the prelude is being loaded */
		old = real->value;
		real->value = value_ref(v);
		value_unref(old);
		return true;
	}
	g = find_global(t, index, name, real->value, err);
	if (!g)
		return false;
	old = g->stand_in;
	g->stand_in = value_ref(v);
	g->written = true;
	value_unref(old);
	return true;
}

bool variables_absent(void *self, struct value o, const char *name, struct err *err)
{
	struct trace *t = self;
	int parent = variables_source(t, o), source = -1;
	const struct dict *attributes;
	struct value key;

	if (parent < 0 || (t->sources->at[parent].kind != VALUE_INSTANCE &&
			   t->sources->at[parent].kind != VALUE_TENSOR))
		return true; /* made here */
	attributes = o.kind == VALUE_TENSOR ? t->sources->at[parent].value.tensor->attributes
					    : t->sources->at[parent].value.instance->attributes;
	if (attributes && value_dict_find((struct dict *)attributes, name))
		return true; /* the piece deleted it */
	for (int i = parent + 1; i < t->sources->n && source < 0; i++)
		if (t->sources->at[i].parent == parent && t->sources->at[i].kind == VALUE_UNSET &&
		    t->sources->at[i].access == SOURCE_ATTRIBUTE &&
		    strcmp(t->sources->at[i].key.str->text, name) == 0)
			source = i;
	if (source < 0) {
		key = value_str(name, strlen(name));
		if (key.kind == VALUE_UNSET)
			return trace_no_memory(err);
		source = sources_add(t->sources, parent, SOURCE_ATTRIBUTE,
				     attributes ? attributes->len : 0, key,
				     (struct value){ .kind = VALUE_UNSET });
		value_unref(key);
	}
	if (source < 0)
		return variables_too_many(t, err);
	if (!sources_describe(t->sources, source))
		return trace_no_memory(err);
	t->sources->at[source].live = true;
	return true;
}

bool variables_may_store(void *self, struct value of, struct err *err)
{
	struct trace *t = self;

	if (of.kind == VALUE_TENSOR)
		return (!t->cond && of.tensor->owner == t->serial) ||
		       trace_break(t, BREAK_UNSUPPORTED, "an attribute of a tensor that is set",
				   err);
	return of.object->birth >= t->birth || variables_source(t, of) < 0 ||
	       t->sources->at[variables_source(t, of)].value.object != of.object ||
	       trace_break(t, BREAK_FUNCTION_STORE, of.function->code->name, err);
}
