/* fusion/vm/classes.c -- making classes, and finding what they define.
 *
 * A class looks its attributes up in itself, then in the classes of its mro,
 * which is linearised as Python does (C3). */
#include "fusion/vm/classes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/prelude.h"

static const struct {
	const char *name;
	enum class_id base;
} rows[CLASS_COUNT] = {
#define CLASS(id, name, base) [CLASS_##id] = { name, CLASS_##base },
#include "fusion/vm/classes.def"
#undef CLASS
};

enum { MOST_BASES = 100, DEEPEST = 200 };

enum class_id class_named(const char *name)
{
	for (int i = 1; i < CLASS_COUNT; i++)
		if (rows[i].name[0] == name[0] && strcmp(rows[i].name, name) == 0)
			return (enum class_id)i;
	return CLASS_PROGRAM;
}

static bool keep_class(struct vm *vm, struct value fresh, struct value *out, struct err *err)
{
	if (fresh.kind == VALUE_CLASS && !heap_adopt(vm->heap, &fresh.class->attributes->head)) {
		value_unref(fresh);
		return vm_out_of_memory(vm, err);
	}
	return vm_keep(vm, fresh, out, err);
}

/* The tuple (base, what base derives from). */
static bool chain(struct vm *vm, struct class *base, struct value *out, struct err *err)
{
	const struct list *rest = base->mro;
	struct value v = value_sequence(VALUE_TUPLE, 1 + (rest ? rest->len : 0));

	if (v.kind == VALUE_TUPLE) {
		v.list->at[v.list->len++] = value_ref(value_of(base));
		for (int i = 0; rest && i < rest->len; i++)
			v.list->at[v.list->len++] = value_ref(rest->at[i]);
	}
	return vm_keep(vm, v, out, err);
}

struct class *class_builtin(struct vm *vm, enum class_id id, struct err *err)
{
	struct value mro = { .kind = VALUE_UNSET }, name, v;
	struct class *base;
	bool ok;

	if (!vm->classes)
		vm->classes = calloc(CLASS_COUNT, sizeof(struct class *));
	if (!vm->classes) {
		vm_out_of_memory(vm, err);
		return NULL;
	}
	if (vm->classes[id])
		return vm->classes[id];
	if (rows[id].base != CLASS_PROGRAM) {
		base = class_builtin(vm, rows[id].base, err);
		if (!base || !chain(vm, base, &mro, err))
			return NULL;
	}
	ok = vm_keep(vm, value_str(rows[id].name, strlen(rows[id].name)), &name, err);
	if (ok) {
		ok = keep_class(vm, value_class(name, mro), &v, err);
		value_unref(name);
	}
	value_unref(mro);
	if (!ok)
		return NULL;
	v.class->builtin = id;
	vm->classes[id] = v.class;
	return v.class;
}

void classes_release(struct vm *vm)
{
	for (int i = 0; vm->classes && i < CLASS_COUNT; i++)
		if (vm->classes[i])
			value_unref(value_of(vm->classes[i]));
	free(vm->classes);
	vm->classes = NULL;
}

struct value *class_lookup(struct class *class, const char *name)
{
	struct value *found = value_dict_find(class->attributes, name);

	for (int i = 0; !found && class->mro && i < class->mro->len; i++)
		found = value_dict_find(class->mro->at[i].class->attributes, name);
	return found;
}

bool class_derives(const struct class *class, const struct class *base)
{
	if (class == base || base->builtin == CLASS_OBJECT)
		return true;
	for (int i = 0; class->mro && i < class->mro->len; i++)
		if (class->mro->at[i].class == base)
			return true;
	return base->builtin != CLASS_PROGRAM && class_derives_from(class, base->builtin);
}

bool class_derives_from(const struct class *class, enum class_id id)
{
	if (class->builtin == id || id == CLASS_OBJECT)
		return true;
	for (int i = 0; class->mro && i < class->mro->len; i++)
		if (class->mro->at[i].class->builtin == id)
			return true;
	return false;
}

/* C3: the sequences that are left to merge, each with how far it was used. */
struct merge {
	const struct list *of[MOST_BASES + 1];
	int at[MOST_BASES + 1];
	int n;
};

static bool stands_later(const struct merge *m, const struct class *c)
{
	for (int i = 0; i < m->n; i++)
		for (int k = m->at[i] + 1; k < m->of[i]->len; k++)
			if (m->of[i]->at[k].class == c)
				return true;
	return false;
}

/* The next class of the order; NULL with *done at the end, without it where
 * the bases contradict one another. */
static struct class *merge_next(struct merge *m, bool *done)
{
	struct class *c = NULL;

	*done = true;
	for (int i = 0; i < m->n && !c; i++) {
		if (m->at[i] == m->of[i]->len)
			continue;
		*done = false;
		c = m->of[i]->at[m->at[i]].class;
		if (stands_later(m, c))
			c = NULL;
	}
	for (int i = 0; c && i < m->n; i++)
		if (m->at[i] < m->of[i]->len && m->of[i]->at[m->at[i]].class == c)
			m->at[i]++;
	return c;
}

static bool linearise(struct vm *vm, struct merge *m, struct value *out, struct err *err)
{
	struct value list, v;
	struct class *c;
	bool done, ok;

	if (!vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	while ((c = merge_next(m, &done)))
		if (!value_list_push(list.list, value_of(c))) {
			value_unref(list);
			return vm_out_of_memory(vm, err);
		}
	if (done)
		ok = vm_keep(vm, value_tuple(list.list->at, list.list->len), &v, err);
	else
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err,
			      "cannot create a consistent method resolution order of these bases");
	value_unref(list);
	if (ok)
		*out = v;
	return ok;
}

/* dict, list and their kin: the class of fusion/vm/prelude/bases.py that stands for the type. */
static bool base_of_type(struct vm *vm, struct value type, struct value *out, bool *found,
			 struct err *err)
{
	char name[16];

	*found = false;
	if (!type.native->builtin && strcmp(type.native->name, "torch.Tensor") == 0) {
		vm->has_tensor_classes = true;
		return prelude_attribute(vm, "_tensor_class", "Tensor", out, found, err);
	}
	if (!type.native->builtin || strlen(type.native->name) >= sizeof(name))
		return true;
	if (strstr(type.native->name, "Mapping") || strstr(type.native->name, "Sequence"))
		return prelude_attribute(vm, "_bases", type.native->name, out, found, err);
	if (strcmp(type.native->name, "TypedDict") == 0)
		return prelude_attribute(vm, "_bases", "Dict", out, found, err);
	if (!native_is_type(type.native))
		return true;
	snprintf(name, sizeof(name), "%s", type.native->name);
	name[0] = (char)toupper((unsigned char)name[0]);
	if (!prelude_attribute(vm, "_bases", name, out, found, err))
		return false;
	if (*found)
		out->class->name = type.native->name; /* it prints as the type that it stands for */
	return true;
}

/* A class of tuples, as namedtuple() makes them: what a class that derives from it has. */
static bool base_of_named(struct vm *vm, struct value named, struct value *out, bool *found,
			  struct err *err)
{
	struct value args[2] = { named, value_none() }, f;
	bool ok;

	if (named.class->defaults)
		args[1] = value_of(named.class->defaults);
	if (!prelude_attribute(vm, "_bases", "base_of_named", &f, found, err))
		return false;
	ok = vm_invoke(vm, f, &(struct arguments){ args, 2, NULL }, out, err);
	value_unref(f);
	return ok;
}

static bool bad_base(struct vm *vm, struct value base, struct err *err)
{
	if (base.kind == VALUE_NATIVE)
		return err_set(err, ERR_UNSUPPORTED,
			       "a class cannot derive from %s here; keep one in an attribute of "
			       "the class instead",
			       base.native->name);
	if (!absent_module_refused(vm, base, err))
		return false;
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "a class cannot derive from a %s",
			value_type_name(base));
}

/* object, and ABC, Generic, Protocol and their like, which are only promises. */
static bool is_everyones(struct value base)
{
	if (base.kind == VALUE_CLASS)
		return base.class->builtin == CLASS_OBJECT;
	return base.kind == VALUE_NATIVE && native_is_typing(base.native);
}

/* The bases without those. */
static bool merge_bases(struct vm *vm, const struct value *bases, int n, struct value *mro,
			struct err *err)
{
	struct value own = value_sequence(VALUE_TUPLE, n), chains[MOST_BASES];
	struct merge m = { 0 };
	bool ok = vm_keep(vm, own, &own, err);

	if (!ok)
		return false;
	for (int i = 0; ok && i < n; i++) {
		for (int k = 0; ok && k < i; k++)
			if (value_equal(bases[k], bases[i]))
				ok = vm_raise(vm, CLASS_TYPE_ERROR, err, "duplicate base class %s",
					      bases[i].kind == VALUE_CLASS
						  ? bases[i].class->name
						  : value_type_name(bases[i]));
		if (ok && is_everyones(bases[i]))
			continue;
		if (!ok)
			break;
		if (bases[i].kind != VALUE_CLASS)
			ok = bad_base(vm, bases[i], err);
		else
			ok = chain(vm, bases[i].class, &chains[m.n], err);
		if (!ok)
			break;
		if (chains[m.n].list->len > DEEPEST) {
			ok = err_set(err, ERR_BOUND, "a class derives from at most %d others",
				     DEEPEST);
			value_unref(chains[m.n]);
			break;
		}
		own.list->at[own.list->len++] = value_ref(bases[i]);
		m.of[m.n] = chains[m.n].list;
		m.n++;
	}
	n = m.n;
	m.of[m.n++] = own.list;
	if (ok && n > 0)
		ok = linearise(vm, &m, mro, err);
	while (n > 0)
		value_unref(chains[--n]);
	value_unref(own);
	return ok;
}

static bool order_bases(struct vm *vm, const struct class_parts *parts, struct value *mro,
			struct err *err)
{
	struct value bases[MOST_BASES];
	bool ok = true, found;
	int n = 0;

	for (; ok && n < parts->n_bases; n++) {
		bases[n] = parts->bases[n];
		found = false;
		if (bases[n].kind == VALUE_NATIVE)
			ok = base_of_type(vm, bases[n], &bases[n], &found, err);
		else if (bases[n].kind == VALUE_CLASS && bases[n].class->names)
			ok = base_of_named(vm, bases[n], &bases[n], &found, err);
		if (ok && !found)
			value_ref(bases[n]);
		if (!ok)
			break;
	}
	ok = ok && merge_bases(vm, bases, n, mro, err);
	while (n > 0)
		value_unref(bases[--n]);
	return ok;
}

/* What an attribute of that name and value means for lookups. */
static void note_attribute(struct class *c, const char *name, struct value v)
{
	if (is_data_descriptor(v))
		c->data |= name_bit(name, strlen(name));
	if (strcmp(name, "__call__") == 0 && is_module_call(v))
		c->is_module = true;
	if (strcmp(name, "__getattribute__") == 0)
		c->has_getattribute = true;
	if (strcmp(name, "__getattr__") == 0)
		c->has_getattr = true;
	if (strcmp(name, "__setattr__") == 0)
		c->has_setattr = true;
}

static void note_all(struct class *c)
{
	c->has_slots = value_dict_find(c->attributes, "__slots__") != NULL;
	for (int i = 0; i < c->attributes->len; i++)
		if (c->attributes->keys[i].kind == VALUE_STR)
			note_attribute(c, c->attributes->keys[i].str->text,
				       c->attributes->values[i]);
	for (int i = 0; c->mro && i < c->mro->len; i++) {
		const struct class *base = c->mro->at[i].class;

		c->data |= base->data;
		c->has_getattr = c->has_getattr || base->has_getattr;
		c->has_setattr = c->has_setattr || base->has_setattr;
		c->has_getattribute = c->has_getattribute || base->has_getattribute;
		c->is_module = c->is_module || base->is_module;
		c->has_slots = c->has_slots && (base->has_slots || base->builtin == CLASS_OBJECT);
	}
}

static void note_derived(const struct class *c)
{
	const struct object *list = c->head.heap ? &c->head.heap->list : NULL;

	for (struct object *o = list ? list->next : NULL; list && o != list; o = o->next)
		if (o->kind == VALUE_CLASS && o != &c->head && class_derives((struct class *)o, c))
			note_all((struct class *)o);
}

/* Those that derive from it learn of it, too. */
void class_note(struct class *c)
{
	struct class before = *c;

	note_all(c);
	if (c->data != before.data || c->has_getattr != before.has_getattr ||
	    c->has_setattr != before.has_setattr || c->has_getattribute != before.has_getattribute)
		note_derived(c);
}

/* Methods that Python binds to the class of their own accord. */
static bool bind_class_methods(struct vm *vm, struct class *c, struct err *err)
{
	static const char *const names[] = { "__init_subclass__", "__class_getitem__",
					     "__class_call__", "__class_iter__", "__class_len__" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct value *f = value_dict_find(c->attributes, names[i]), v;

		if (!f || f->kind != VALUE_FUNCTION)
			continue;
		if (!vm_keep(vm,
			     value_descriptor(DESCRIPTOR_CLASS, *f,
					      (struct value){ .kind = VALUE_UNSET }),
			     &v, err))
			return false;
		value_unref(*f);
		*f = v;
	}
	return true;
}

/* The bases' __init_subclass__. */
static bool tell_bases(struct vm *vm, struct value class, const struct dict *keywords,
		       struct err *err)
{
	const struct list *mro = class.class->mro;
	struct value *place = NULL, none, *args;
	struct keywords kw;
	bool ok;

	for (int i = 0; mro && !place && i < mro->len; i++)
		place = value_dict_find(mro->at[i].class->attributes, "__init_subclass__");
	if (!place || place->kind != VALUE_DESCRIPTOR)
		return !keywords || keywords->len == 0 ||
		       vm_raise(vm, CLASS_TYPE_ERROR, err,
				"%s.__init_subclass__() takes no keyword arguments",
				class.class->name);
	kw = (struct keywords){ keywords ? keywords->len : 0, keywords ? keywords->keys : NULL };
	args = malloc(sizeof(*args) * ((size_t)kw.n + 1));
	if (!args)
		return vm_out_of_memory(vm, err);
	args[0] = class;
	for (int i = 0; i < kw.n; i++)
		args[i + 1] = keywords->values[i];
	ok = vm_invoke(vm, place->descriptor->get,
		       &(struct arguments){ args, kw.n + 1, kw.n ? &kw : NULL }, &none, err);
	free(args);
	if (ok)
		value_unref(none);
	return ok;
}

/* All keywords but the metaclass, and TypedDict's total=False, a promise: neither is for
 * __init_subclass__. */
static bool take_own_keywords(struct vm *vm, const struct class_parts *parts, struct value *out,
			      struct err *err)
{
	if (!vm_keep(vm, value_dict(), out, err))
		return false;
	for (int i = 0; parts->keywords && i < parts->keywords->len; i++) {
		struct value key = parts->keywords->keys[i], v = parts->keywords->values[i];

		if (strcmp(key.str->text, "metaclass") == 0 || strcmp(key.str->text, "total") == 0)
			continue;
		if (!value_dict_set(out->dict, key, v)) {
			value_unref(*out);
			return vm_out_of_memory(vm, err);
		}
	}
	return true;
}

/* __set_name__ of the attributes that have it. */
static bool tell_attributes(struct vm *vm, struct value class, const struct dict *attributes,
			    struct err *err)
{
	struct value none;
	bool found, ok = true;

	for (int i = 0; ok && i < attributes->len; i++) {
		struct value args[] = { class, attributes->keys[i] };

		ok = instance_call(
		    vm, &(struct method_call){ &attributes->values[i], "__set_name__", args, 2 },
		    &none, &found, err);
		if (ok && found)
			value_unref(none);
	}
	return ok;
}

bool class_make(struct vm *vm, const struct class_parts *parts, struct value *out, struct err *err)
{
	struct dict *attributes = parts->attributes;
	struct value mro = { .kind = VALUE_UNSET }, v, keywords;
	bool ok;

	if (parts->n_bases > MOST_BASES)
		return err_set(err, ERR_BOUND, "a class has at most %d bases", MOST_BASES);
	if (parts->n_bases > 0 && !order_bases(vm, parts, &mro, err))
		return false;
	ok = keep_class(vm, value_class(parts->name, mro), &v, err);
	value_unref(mro);
	if (!ok)
		return false;
	if (!take_own_keywords(vm, parts, &keywords, err)) {
		value_unref(v);
		return false;
	}
	v.class->hidden = vm->frame && vm->frame->unit->hidden;
	if (parts->meta)
		v.class->meta = value_ref(value_of(parts->meta)).class;
	for (int i = 0; ok && i < attributes->len; i++)
		ok = value_dict_set(v.class->attributes, attributes->keys[i],
				    attributes->values[i]) ||
		     vm_out_of_memory(vm, err);
	ok = ok && bind_class_methods(vm, v.class, err);
	if (ok && value_dict_find(v.class->attributes, "__eq__") &&
	    !value_dict_find(v.class->attributes, "__hash__"))
		ok = store_named(vm, v.class->attributes, "__hash__", value_none(), err);
	if (ok)
		class_note(v.class);
	ok = ok && tell_attributes(vm, v, attributes, err) && tell_bases(vm, v, keywords.dict, err);
	value_unref(keywords);
	if (ok)
		*out = v;
	else
		value_unref(v);
	return ok;
}

/* The metaclass that the keywords name, or a base has: of several the most derived. */
static bool find_meta(struct vm *vm, const struct class_parts *parts, struct class **out,
		      struct err *err)
{
	struct value v;

	*out = NULL;
	for (int i = 0; parts->keywords && i < parts->keywords->len; i++) {
		v = parts->keywords->values[i];
		if (strcmp(parts->keywords->keys[i].str->text, "metaclass") != 0 ||
		    v.kind == VALUE_NATIVE)
			continue;
		if (v.kind != VALUE_CLASS)
			return err_set(
			    err, ERR_UNSUPPORTED,
			    "a metaclass that is no class (a %s) is not in the language; "
			    "derive one from type",
			    value_type_name(v));
		*out = v.class;
	}
	for (int i = 0; i < parts->n_bases; i++) {
		struct class *meta = parts->bases[i].kind == VALUE_CLASS
					 ? parts->bases[i].class->meta
					 : NULL;

		if (meta && (!*out || class_derives(meta, *out)))
			*out = meta;
		else if (meta && !class_derives(*out, meta))
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"metaclass conflict: the metaclass of a derived class must "
					"be a (non-strict) subclass of the metaclasses of all its "
					"bases");
	}
	if (*out && class_lookup(*out, "__prepare__"))
		return err_set(err, ERR_UNSUPPORTED,
			       "__prepare__ of a metaclass is not in the language; change the "
			       "attributes in __new__");
	return true;
}

bool class_build(struct vm *vm, const struct class_parts *parts, struct value *out, struct err *err)
{
	struct value keywords = { .kind = VALUE_UNSET }, bases = keywords, *args;
	struct class *meta;
	struct keywords kw;
	bool ok;

	if (!find_meta(vm, parts, &meta, err))
		return false;
	if (!meta)
		return class_make(vm, parts, out, err);
	if (!take_own_keywords(vm, parts, &keywords, err))
		return false;
	ok = vm_keep(vm, value_tuple(parts->bases, parts->n_bases), &bases, err);
	kw = (struct keywords){ keywords.dict->len, keywords.dict->keys };
	args = ok ? malloc(sizeof(*args) * ((size_t)kw.n + 3)) : NULL;
	if (ok && !args)
		ok = vm_out_of_memory(vm, err);
	if (ok) {
		args[0] = parts->name;
		args[1] = bases;
		args[2] = value_of(parts->attributes);
		for (int i = 0; i < kw.n; i++)
			args[i + 3] = keywords.dict->values[i];
		ok = class_call(vm, meta, &(struct arguments){ args, kw.n + 3, kw.n ? &kw : NULL },
				out, err);
	}
	free(args);
	value_unref(bases);
	value_unref(keywords);
	return ok;
}
