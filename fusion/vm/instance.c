/* fusion/vm/instance.c -- attributes of instances and classes.
 *
 * Python's order: a property of the class, what the instance holds, what the
 * class holds (functions become methods), then __getattr__. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/files.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/namedtuple.h"
#include "fusion/vm/operators.h"

static bool instance_lacks(struct vm *vm, struct value o, const char *name, struct err *err);
static bool instance_dict(struct vm *vm, struct value o, struct value *out, struct err *err);
static bool is_child_kind(struct value v);
static bool instance_has_child(struct vm *vm, const struct instance *i, const char *name, bool *out,
			       struct err *err);

/* ---- o.name = v and del o.name. ---- */

static const struct value UNSET = { .kind = VALUE_UNSET };

bool store_named(struct vm *vm, struct dict *dict, const char *name, struct value v,
		 struct err *err)
{
	struct value *place = value_dict_find(dict, name), key, old;
	bool ok;

	if (place) {
		old = *place;
		*place = value_ref(v);
		value_unref(old);
		return true;
	}
	if (!heap_adopt(vm->heap, &dict->head))
		return vm_out_of_memory(vm, err);
	if (!vm_keep(vm, value_str(name, strlen(name)), &key, err))
		return false;
	ok = value_dict_set(dict, key, v) || vm_out_of_memory(vm, err);
	value_unref(key);
	return ok;
}

static bool delete_named(struct dict *dict, const char *name)
{
	struct value key;
	bool ok;

	if (!dict || !value_dict_find(dict, name))
		return false;
	key = value_str(name, strlen(name));
	ok = key.kind == VALUE_STR && value_dict_remove(dict, key);
	value_unref(key);
	return ok;
}

/* Whether __slots__ of the class or a base has the name: a string, or several. */
static bool in_slots(struct vm *vm, const struct class *c, const char *name, bool *found,
		     struct err *err)
{
	int n = c->mro ? c->mro->len : 0;
	struct value text;
	bool ok = true;

	*found = false;
	if (!vm_keep(vm, value_str(name, strlen(name)), &text, err))
		return false;
	for (int i = -1; ok && !*found && i < n; i++) {
		struct dict *own = i < 0 ? c->attributes : c->mro->at[i].class->attributes;
		struct value *slots = value_dict_find(own, "__slots__");

		ok = !slots || realize(vm, slots, err);
		if (ok && slots && slots->kind == VALUE_STR)
			*found = value_equal(*slots, text);
		else if (ok && slots)
			ok = op_contains(vm, *slots, text, found, err);
	}
	value_unref(text);
	return ok;
}

static bool set_property(struct vm *vm, struct value o, const char *name,
			 const struct descriptor *d, struct value v, struct err *err)
{
	struct value args[] = { o, v }, set = value_ref(d->set), none;
	bool ok;

	if (set.kind == VALUE_UNSET)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"property '%s' of '%s' object has no setter", name,
				o.instance->class->name);
	ok = vm_invoke(vm, set, &(struct arguments){ args, 2, NULL }, &none, err);
	value_unref(set);
	if (ok)
		value_unref(none);
	return ok;
}

/* What a data descriptor of the class, which has some, does with o.name = v (UNSET: del
 * o.name); not *found where none has the name. */
static bool ask_descriptor(struct vm *vm, struct value o, const char *name, struct value v,
			   bool *found, struct err *err)
{
	bool deletes = v.kind == VALUE_UNSET;
	struct value *place = NULL, descriptor, args[] = { o, v }, none;
	bool ok;

	*found = false;
	if (!class_find(vm, o.instance->class, name, &place, err))
		return false;
	if (!place || !is_data_descriptor(*place))
		return true;
	*found = true;
	descriptor = value_ref(*place);
	if (descriptor.kind == VALUE_INSTANCE) {
		ok = instance_call(vm,
				   &(struct method_call){ &descriptor,
							  deletes ? "__delete__" : "__set__", args,
							  deletes ? 1 : 2 },
				   &none, found, err);
		if (ok && !*found)
			ok = vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "%s",
				      deletes ? "__delete__" : "__set__");
		else if (ok)
			value_unref(none);
	} else if (!deletes) {
		ok = set_property(vm, o, name, descriptor.descriptor, v, err);
	} else if (descriptor.descriptor->del.kind == VALUE_UNSET) {
		ok = vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
			      "property '%s' of '%s' object has no deleter", name,
			      o.instance->class->name);
	} else {
		ok = vm_invoke(vm, descriptor.descriptor->del, &(struct arguments){ &o, 1, NULL },
			       &none, err);
		if (ok)
			value_unref(none);
	}
	value_unref(descriptor);
	return ok;
}

/* As PyTorch's: what has `training` of its own is past Module.__init__. */
bool module_begin(struct vm *vm, struct value o, struct err *err)
{
	struct value dict;
	bool ok;

	if (!instance_dict(vm, o, &dict, err))
		return false;
	ok = store_named(vm, dict.dict, "training", value_bool(true), err);
	value_unref(dict);
	return ok;
}

/* A module takes no children before Module.__init__; layers of the prelude begin without it. */
static bool may_hold(struct vm *vm, struct value o, struct value v, struct err *err)
{
	if (o.instance->attributes && value_dict_find(o.instance->attributes, "training"))
		return true;
	if (vm->frame && vm->frame->unit->hidden)
		return module_begin(vm, o, err);
	if (v.kind == VALUE_INSTANCE && v.instance->class->is_module)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"cannot assign module before Module.__init__() call");
	if (v.kind == VALUE_TENSOR && v.tensor->is_parameter)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"cannot assign parameters before Module.__init__() call");
	return true;
}

/* The places of children that are None now: {name: "modules" or "parameters"}. */
static bool vacant_place(struct vm *vm, const struct instance *i, const char *name,
			 struct value **place, struct err *err)
{
	struct value *vacant = i->attributes ? value_dict_find(i->attributes, "_vacant") : NULL;

	*place = NULL;
	if (!vacant)
		return true;
	if (!realize(vm, vacant, err))
		return false;
	*place = vacant->kind == VALUE_DICT ? value_dict_find(vacant->dict, name) : NULL;
	return !*place || realize(vm, *place, err);
}

/* An entry of a table of the module's: {name: v}. */
static bool note_child(struct vm *vm, struct instance *i, const char *table, const char *name,
		       struct value v, struct err *err)
{
	struct value *place = value_dict_find(i->attributes, table), fresh;
	bool ok = true;

	if (!place) {
		if (!vm_keep(vm, value_dict(), &fresh, err))
			return false;
		ok = store_named(vm, i->attributes, table, fresh, err);
		value_unref(fresh);
		place = value_dict_find(i->attributes, table);
	}
	return ok && realize(vm, place, err) && store_named(vm, place->dict, name, v, err);
}

static bool note_vacant(struct vm *vm, struct instance *i, const char *name, const char *kind,
			struct err *err)
{
	struct value text;
	bool ok;

	if (!vm_keep(vm, value_str(kind, strlen(kind)), &text, err))
		return false;
	ok = note_child(vm, i, "_vacant", name, text, err);
	value_unref(text);
	return ok;
}

/* What a module keeps as a child is exchanged for another, or for None. */
static bool may_exchange(struct vm *vm, struct instance *i, const char *name, struct value v,
			 struct err *err)
{
	struct value *place = i->attributes ? value_dict_find(i->attributes, name) : NULL;
	struct value *kind = NULL;
	bool module;

	if (!place || is_child_kind(v) || (vm->frame && vm->frame->unit->hidden))
		return true;
	if (!realize(vm, place, err) ||
	    (place->kind == VALUE_NONE && !vacant_place(vm, i, name, &kind, err)))
		return false;
	if (!is_child_kind(*place) && !kind)
		return true;
	if (v.kind == VALUE_LAZY) { /* may stand for a child */
		value_ref(v);
		module = realize(vm, &v, err) && may_exchange(vm, i, name, v, err);
		value_unref(v);
		return module;
	}
	module = kind ? strcmp(kind->str->text, "modules") == 0 : place->kind == VALUE_INSTANCE;
	if (v.kind == VALUE_NONE)
		return note_vacant(vm, i, name, module ? "modules" : "parameters", err);
	return vm_raise(vm, CLASS_TYPE_ERROR, err,
			"cannot assign '%s%s' as %s '%s' (%s or None expected)",
			v.kind == VALUE_TENSOR ? "torch.Float" : "", value_type_name(v),
			module ? "child module" : "parameter", name,
			module ? "torch.nn.Module" : "torch.nn.Parameter");
}

/* As a child it is the last one, if the module had something else of that name. */
static bool make_last(struct vm *vm, struct instance *i, const char *name, struct err *err)
{
	struct value *kind;
	bool child;

	if (!i->attributes)
		return true;
	if (!instance_has_child(vm, i, name, &child, err) ||
	    (!child && !vacant_place(vm, i, name, &kind, err)))
		return false;
	if (child)
		return true;
	if (!kind)
		delete_named(i->attributes, name);
	return true;
}

bool instance_store(struct vm *vm, struct value o, const char *name, struct value v,
		    struct err *err)
{
	struct instance *i = o.instance;
	struct value dict, *vacant = NULL;
	bool ok;

	if (i->payload.kind == VALUE_TUPLE && strcmp(name, "args") == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "the args of an exception are not in the language to be set; make "
			       "another exception");
	/* a module keeps its children apart, whatever the class has of that name */
	if (i->class->is_module &&
	    (!may_hold(vm, o, v, err) || !may_exchange(vm, i, name, v, err) ||
	     (v.kind == VALUE_NONE && !vacant_place(vm, i, name, &vacant, err))))
		return false;
	if (class_data(i->class, name) && (!i->class->is_module || !(is_child_kind(v) || vacant))) {
		if (!ask_descriptor(vm, o, name, v, &ok, err))
			return false;
		if (ok)
			return true;
	}
	if (i->class->has_slots && !in_slots(vm, i->class, name, &ok, err))
		return false;
	if (i->class->has_slots && !ok)
		return instance_lacks(vm, o, name, err);
	if ((i->class->is_module && is_child_kind(v) && !make_last(vm, i, name, err)) ||
	    !instance_dict(vm, o, &dict, err))
		return false;
	ok = store_named(vm, dict.dict, name, v, err);
	if (ok && i->class->is_module && v.kind == VALUE_TENSOR && v.tensor->is_buffer)
		ok = note_child(vm, i, "_buffer_names", name, value_bool(v.tensor->persistent),
				err);
	value_unref(dict);
	return ok;
}

static bool ask_setattr(struct vm *vm, struct value o, const char *name, struct value v,
			struct err *err)
{
	struct value args[] = { UNSET, v }, none;
	bool found, ok;

	if (!vm_keep(vm, value_str(name, strlen(name)), &args[0], err))
		return false;
	ok = instance_call(vm, &(struct method_call){ &o, "__setattr__", args, 2 }, &none, &found,
			   err);
	value_unref(args[0]);
	if (ok)
		value_unref(none);
	return ok;
}

static bool class_store(struct vm *vm, struct class *c, const char *name, struct value v,
			struct err *err)
{
	if (c->builtin != CLASS_PROGRAM)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"cannot set '%s' attribute of immutable type '%s'", name, c->name);
	if (!store_named(vm, c->attributes, name, v, err))
		return false;
	class_note(c);
	return true;
}

static bool function_store(struct vm *vm, struct function *f, const char *name, struct value v,
			   struct err *err)
{
	struct value fresh;

	if (!f->attributes) {
		if (!vm_keep(vm, value_dict(), &fresh, err))
			return false;
		f->attributes = fresh.dict;
	}
	return store_named(vm, f->attributes, name, v, err);
}

/* x.grad and its like are the host's; a tensor keeps any other. */
static bool store_of_tensor(struct vm *vm, struct value o, const char *name, struct value v,
			    struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct dict *attributes;
	struct err why = { 0 };

	if (!host->store_attr)
		return err_set(err, ERR_TYPE, "attribute '%s' of '%s' objects cannot be set", name,
			       value_type_name(o));
	if (host->store_attr(host->self, o, name, v, &why))
		return true;
	if (why.code != ERR_NAME) {
		*err = why;
		return false;
	}
	attributes = tensor_attributes(vm->heap, o);
	return attributes ? store_named(vm, attributes, name, v, err) : vm_out_of_memory(vm, err);
}

/* P.__new__ of a namedtuple P. */
static bool is_new_of_named(struct value v)
{
	return v.native->builtin && v.native->self.kind == VALUE_CLASS &&
	       v.native->self.class->names && strcmp(v.native->name, "__new__") == 0;
}

/* What the program finds in the module from now on: a global whose owner is the module. */
static bool module_store(struct vm *vm, struct value module, const char *name, struct value v,
			 struct err *err)
{
	const struct module *m = module.module;
	const char *kept = arena_strdup(&vm->arena, name);
	int slot = kept ? vm_global_slot(vm, m, kept) : -1;

	if (slot < 0)
		return vm_out_of_memory(vm, err);
	vm->epoch++; /* what was asked of modules before is forgotten */
	return global_store(vm, slot, v, err);
}

bool op_store_attribute(struct vm *vm, struct value o, const char *name, struct value v,
			struct err *err)
{
	if (o.kind == VALUE_MODULE && o.module->file)
		return files_store(vm, o, name, v, err);
	switch (o.kind) {
	case VALUE_MODULE:
		return module_store(vm, o, name, v, err);
	case VALUE_INSTANCE:
		if (o.instance->class->has_setattr)
			return ask_setattr(vm, o, name, v, err);
		return instance_store(vm, o, name, v, err);
	case VALUE_CLASS:
		return class_store(vm, o.class, name, v, err);
	case VALUE_FUNCTION:
		return (!vm->host->may_store || vm->host->may_store(vm->host->self, o, err)) &&
		       function_store(vm, o.function, name, v, err);
	case VALUE_TENSOR:
		return store_of_tensor(vm, o, name, v, err);
	case VALUE_METHOD:
	case VALUE_STR:
	case VALUE_LIST:
	case VALUE_TUPLE:
	case VALUE_DICT:
	case VALUE_SET:
	case VALUE_RANGE:
	case VALUE_SLICE:
	case VALUE_ITER:
	case VALUE_GENERATOR:
	case VALUE_INT:
	case VALUE_FLOAT:
	case VALUE_BOOL:
	case VALUE_NONE:
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "'%s' object has no attribute '%s'",
				value_type_name(o), name);
	default:
		if (o.kind == VALUE_NATIVE && is_new_of_named(o) &&
		    strcmp(name, "__defaults__") == 0)
			return namedtuple_set_defaults(vm, o.native->self.class, v, err);
		return err_set(err, ERR_TYPE, "attribute '%s' of '%s' objects cannot be set", name,
			       value_type_name(o));
	}
}

/* Past __delattr__. */
bool instance_delete(struct vm *vm, struct value o, const char *name, struct err *err)
{
	bool found = false;

	if (o.instance->class->is_module && !instance_has_child(vm, o.instance, name, &found, err))
		return false;
	if (o.instance->class->is_module && found)
		return delete_named(o.instance->attributes, name);
	if (class_data(o.instance->class, name) && !ask_descriptor(vm, o, name, UNSET, &found, err))
		return false;
	if (found || delete_named(o.instance->attributes, name))
		return true;
	return instance_lacks(vm, o, name, err);
}

static bool ask_delattr(struct vm *vm, struct value o, const char *name, bool *found,
			struct err *err)
{
	struct value text, none;
	bool ok;

	*found = class_lookup(o.instance->class, "__delattr__") != NULL;
	if (!*found)
		return true;
	if (!vm_keep(vm, value_str(name, strlen(name)), &text, err))
		return false;
	ok = instance_call(vm, &(struct method_call){ &o, "__delattr__", &text, 1 }, &none, found,
			   err);
	value_unref(text);
	if (ok)
		value_unref(none);
	return ok;
}

bool op_delete_attribute(struct vm *vm, struct value o, const char *name, struct err *err)
{
	bool found;

	if (o.kind == VALUE_MODULE && o.module->file)
		return files_store(vm, o, name, UNSET, err);
	switch (o.kind) {
	case VALUE_INSTANCE:
		if (!ask_delattr(vm, o, name, &found, err))
			return false;
		return found || instance_delete(vm, o, name, err);
	case VALUE_CLASS:
		return delete_named(o.class->attributes, name) || instance_lacks(vm, o, name, err);
	case VALUE_FUNCTION:
		if (delete_named(o.function->attributes, name))
			return true;
		break;
	case VALUE_TENSOR:
		if (vm->host->may_store && !vm->host->may_store(vm->host->self, o, err))
			return false;
		if (delete_named(o.tensor->attributes, name))
			return true;
		break;
	default:
		break;
	}
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "'%s' object has no attribute '%s'",
			value_type_name(o), name);
}

static void offer_keys(struct nearest *n, const struct dict *dict)
{
	for (int i = 0; dict && i < dict->len; i++)
		if (dict->keys[i].kind == VALUE_STR && dict->keys[i].str->text[0] != '_')
			nearest_offer(n, dict->keys[i].str->text);
}

static bool missing(struct vm *vm, const char *what, const struct class *class,
		    const struct dict *own, const char *name, struct err *err)
{
	struct nearest n = nearest_to(name);

	offer_keys(&n, own);
	offer_keys(&n, class->attributes);
	for (int i = 0; class->mro && i < class->mro->len; i++)
		offer_keys(&n, class->mro->at[i].class->attributes);
	if (n.best)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"%s has no attribute '%s'; did you mean '%s'?", what, name, n.best);
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "%s has no attribute '%s'", what, name);
}

/* Fails: the instance or class has no such attribute. */
static bool instance_lacks(struct vm *vm, struct value o, const char *name, struct err *err)
{
	bool is_class = o.kind == VALUE_CLASS;
	const struct class *class = is_class ? o.class : o.instance->class;
	char what[200];

	snprintf(what, sizeof(what), is_class ? "type object '%.150s'" : "'%.150s' object",
		 class->name);
	return missing(vm, what, class, is_class ? NULL : o.instance->attributes, name, err);
}

bool is_data_descriptor(struct value v)
{
	if (v.kind == VALUE_INSTANCE)
		return class_lookup(v.instance->class, "__set__") ||
		       class_lookup(v.instance->class, "__delete__");
	return v.kind == VALUE_DESCRIPTOR && v.descriptor->descriptor_kind == DESCRIPTOR_PROPERTY;
}

static bool get_property(struct vm *vm, struct value v, struct value self, struct value *out,
			 struct err *err)
{
	if (v.descriptor->get.kind == VALUE_UNSET)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"property of '%s' object has no getter", value_type_name(self));
	return vm_invoke(vm, v.descriptor->get, &(struct arguments){ &self, 1, NULL }, out, err);
}

/* What the attribute `v` of a class is, asked of `self` (UNSET: of the class). */
static bool bind_attribute(struct vm *vm, struct value v, struct value self, struct class *class,
			   struct value *out, struct err *err)
{
	if (is_module_call(v) && self.kind == VALUE_INSTANCE)
		return instance_attribute(vm, self, module_call_name(self), out, err);
	if (v.kind == VALUE_NATIVE && v.native->builtin && self.kind != VALUE_UNSET &&
	    strcmp(builtin_row(v.native->id)->scope, "object") == 0)
		return vm_keep(vm, builtin_value(v.native->id, self), out, err);
	if (v.kind == VALUE_FUNCTION && self.kind != VALUE_UNSET)
		return vm_keep(vm, value_method(v, self), out, err);
	if (v.kind == VALUE_DESCRIPTOR) {
		switch (v.descriptor->descriptor_kind) {
		case DESCRIPTOR_PROPERTY:
			if (self.kind != VALUE_UNSET)
				return get_property(vm, v, self, out, err);
			break;
		case DESCRIPTOR_STATIC:
			v = v.descriptor->get;
			break;
		case DESCRIPTOR_CLASS:
			return vm_keep(vm, value_method(v.descriptor->get, value_of(class)), out,
				       err);
		case DESCRIPTOR_SUPER:
			break;
		}
	}
	if (v.kind == VALUE_INSTANCE) {
		struct value args[] = { self.kind == VALUE_UNSET ? value_none() : self,
					value_of(class) };
		bool found;

		if (!instance_call(vm, &(struct method_call){ &v, "__get__", args, 2 }, out, &found,
				   err))
			return false;
		if (found)
			return true;
	}
	*out = value_ref(v);
	return true;
}

static bool bind_place(struct vm *vm, struct value *place, struct value self, struct class *class,
		       struct value *out, struct err *err)
{
	struct value v;
	bool ok;

	if (!realize(vm, place, err))
		return false;
	v = value_ref(*place); /* the class may change meanwhile */
	ok = bind_attribute(vm, v, self, class, out, err);
	value_unref(v);
	return ok;
}

/* Methods that every object has: rows of builtins.def, scope "object". */
static bool object_method(struct vm *vm, struct value self, const char *name, struct value *out,
			  bool *found, struct err *err)
{
	bool has = name[0] == '_' ||
		   (self.kind == VALUE_INSTANCE && self.instance->payload.kind == VALUE_TUPLE &&
		    strcmp(name, "with_traceback") == 0);
	int id = has ? builtin_find("object", name) : -1;

	*found = id >= 0;
	return !*found || vm_keep(vm, builtin_value(id, self), out, err);
}

/* Its own attributes, made where there are none yet; a new reference. */
static bool instance_dict(struct vm *vm, struct value o, struct value *out, struct err *err)
{
	struct instance *i = o.instance;

	if (!i->attributes) {
		struct value fresh;

		if (!vm_keep(vm, value_dict(), &fresh, err))
			return false;
		i->attributes = fresh.dict;
	}
	*out = value_ref(value_of(i->attributes));
	return true;
}

/* __class__, __dict__ and what exceptions have. */
static bool special(struct vm *vm, struct value o, const char *name, struct value *out, bool *found,
		    struct err *err)
{
	struct instance *i = o.instance;
	bool exception = i->payload.kind == VALUE_TUPLE;

	*found = true;
	if (strcmp(name, "__class__") == 0) {
		*out = value_ref(value_of(i->class));
		return true;
	}
	if (strcmp(name, "__module__") == 0 && i->class->builtin == CLASS_PROGRAM)
		return vm_keep(vm, value_str("__main__", 8), out, err);
	if (strcmp(name, "__dict__") == 0 && i->attributes &&
	    value_dict_find(i->attributes, "_plain"))
		return err_set(err, ERR_UNSUPPORTED,
			       "the attributes of an object whose class derives from dict, list or "
			       "another type of Python's are not in the language as a dict; use "
			       "getattr() and setattr()");
	if (strcmp(name, "__dict__") == 0 && !i->class->has_slots)
		return instance_dict(vm, o, out, err) &&
		       (!vm->host->whole || vm->host->whole(vm->host->self, o, err) ||
			(value_unref(*out), false));
	if (exception && strcmp(name, "args") == 0) {
		*out = value_ref(i->payload);
		return true;
	}
	if (exception && strcmp(name, "value") == 0 &&
	    class_derives_from(i->class, CLASS_STOP_ITERATION)) {
		*out = i->payload.list->len ? value_ref(i->payload.list->at[0]) : value_none();
		return true;
	}
	if (exception && strcmp(name, "__suppress_context__") == 0) {
		*out = value_bool(false);
		return true;
	}
	if ((exception && (strcmp(name, "__cause__") == 0 || strcmp(name, "__context__") == 0 ||
			   strcmp(name, "__traceback__") == 0)) ||
	    strcmp(name, "__doc__") == 0) {
		*out = value_none();
		return true;
	}
	return object_method(vm, o, name, out, found, err);
}

static bool ask_getattr(struct vm *vm, struct value o, const char *name, struct value *out,
			struct err *err)
{
	struct value text;
	bool found, ok;

	if (!vm_keep(vm, value_str(name, strlen(name)), &text, err))
		return false;
	ok = instance_call(vm, &(struct method_call){ &o, "__getattr__", &text, 1 }, out, &found,
			   err);
	value_unref(text);
	return ok;
}

/* What the class has instead (NULL: nothing) counts as long as the instance has none
 * of its own.  No program gives the modules of the prelude methods of their own. */
static bool note_absent(struct vm *vm, struct value o, const char *name, const struct value *place,
			struct err *err)
{
	const struct frame *f = vm->frame;
	bool prelude = (f && f->unit->hidden) || o.instance->class->hidden;
	bool method = place && (place->kind == VALUE_FUNCTION || place->kind == VALUE_NATIVE ||
				place->kind == VALUE_DESCRIPTOR || place->kind == VALUE_LAZY);

	if (!vm->host->absent || (prelude && method))
		return true;
	return vm->host->absent(vm->host->self, o, name, err);
}

/* A submodule or a parameter: what a module keeps apart from its attributes. */
static bool is_child_kind(struct value v)
{
	return (v.kind == VALUE_INSTANCE && v.instance->class->is_module) ||
	       (v.kind == VALUE_TENSOR && v.tensor->is_parameter);
}

/* Submodules, parameters and buffers: PyTorch keeps them apart from the attributes
 * proper, and finds them where the class has nothing of that name. */
static bool is_child(struct vm *vm, const struct instance *i, const char *name, struct value *place,
		     bool *out, struct err *err)
{
	struct value *names;

	if (!realize(vm, place, err))
		return false;
	*out = is_child_kind(*place);
	if (*out || (place->kind != VALUE_TENSOR && place->kind != VALUE_NONE))
		return true;
	names = value_dict_find(i->attributes,
				place->kind == VALUE_NONE ? "_vacant" : "_buffer_names");
	if (names && !realize(vm, names, err))
		return false;
	*out = names && names->kind == VALUE_DICT && value_dict_find(names->dict, name);
	return true;
}

/* Whether a module holds a submodule, a parameter or a buffer of that name. */
static bool instance_has_child(struct vm *vm, const struct instance *i, const char *name, bool *out,
			       struct err *err)
{
	struct value *place = i->attributes ? value_dict_find(i->attributes, name) : NULL;

	*out = false;
	return !place || is_child(vm, i, name, place, out, err);
}

/* What the instance itself holds under that name; NULL: nothing, or what its class
 * has comes first. */
static bool own_place(struct vm *vm, const struct instance *i, const char *name,
		      struct value **place, struct err *err)
{
	bool child;

	*place = i->attributes ? value_dict_find(i->attributes, name) : NULL;
	if (!*place)
		return true;
	if (!realize(vm, *place, err))
		return false;
	if (!i->class->is_module || !class_may_hold_child(**place) || !class_lookup(i->class, name))
		return true;
	if (!is_child(vm, i, name, *place, &child, err))
		return false;
	if (child)
		*place = NULL;
	return true;
}

/* Python's order, without __getattr__. */
bool instance_find_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			     bool *found, struct err *err)
{
	struct instance *i = o.instance;
	struct value *place = NULL;

	*found = true;
	if (class_data(i->class, name) && !class_find(vm, i->class, name, &place, err))
		return false;
	if (place && is_data_descriptor(*place) &&
	    (place->kind == VALUE_DESCRIPTOR || class_lookup(place->instance->class, "__get__")))
		return bind_place(vm, place, o, i->class, out, err);
	if (!own_place(vm, i, name, &place, err))
		return false;
	if (place) {
		*out = value_ref(*place);
		return true;
	}
	place = class_lookup(i->class, name);
	if (place)
		return note_absent(vm, o, name, place, err) &&
		       bind_place(vm, place, o, i->class, out, err);
	return special(vm, o, name, out, found, err) &&
	       (*found || i->class->has_getattr || note_absent(vm, o, name, NULL, err));
}

/* With the class's __getattr__, asked last; it is too where a property raised AttributeError. */
static bool find_or_ask(struct vm *vm, struct value o, const char *name, struct value *out,
			struct err *err)
{
	struct err why;
	bool found;

	/* all of it would be written at each attribute */
	why.code = ERR_NONE;
	why.line = why.column = why.file[0] = why.message[0] = 0;
	if (instance_find_attribute(vm, o, name, out, &found, &why))
		return found || ask_getattr(vm, o, name, out, err);
	if (vm_failed_with(vm, &why, CLASS_ATTRIBUTE_ERROR)) {
		vm_forget_raised(vm);
		return ask_getattr(vm, o, name, out, err);
	}
	if (err)
		*err = why;
	return false;
}

bool instance_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			struct err *err)
{
	bool found;

	if (o.instance->class->has_getattr)
		return find_or_ask(vm, o, name, out, err);
	return instance_find_attribute(vm, o, name, out, &found, err) &&
	       (found || instance_lacks(vm, o, name, err));
}

/* What Module.__getattr__ finds, which Python asks last: children of a module whose
 * class has the name, too. */
static bool prelude_child(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value o = call->args[0], *place;
	const char *name = call->args[1].str->text;
	bool child;

	place = o.instance->attributes ? value_dict_find(o.instance->attributes, name) : NULL;
	if (place && !is_child(vm, o.instance, name, place, &child, err))
		return false;
	*out = value_ref(place && child ? *place : call->args[2]);
	return true;
}

bool instance_getattribute(struct vm *vm, struct value o, const char *name, struct value *out,
			   struct err *err)
{
	struct err why = { 0 };
	struct value text;
	bool found, ok;

	if (!vm_keep(vm, value_str(name, strlen(name)), &text, err))
		return false;
	ok = instance_call(vm, &(struct method_call){ &o, "__getattribute__", &text, 1 }, out,
			   &found, &why);
	value_unref(text);
	if (ok)
		return true;
	if (o.instance->class->has_getattr && vm_failed_with(vm, &why, CLASS_ATTRIBUTE_ERROR)) {
		vm_forget_raised(vm);
		return ask_getattr(vm, o, name, out, err);
	}
	if (err)
		*err = why;
	return false;
}

/* (class, its bases, object) */
static bool mro_of(struct vm *vm, struct class *c, struct value *out, struct err *err)
{
	struct class *object = class_builtin(vm, CLASS_OBJECT, err);
	struct value list, own = value_of(c);
	bool ok;

	if (!object || !vm_keep(vm, value_list(&own, c != object), &list, err))
		return false;
	ok = !c->mro || op_extend(vm, list.list, value_of(c->mro), err);
	ok = ok && (value_list_push(list.list, value_of(object)) || vm_out_of_memory(vm, err));
	ok = ok && vm_keep(vm, value_tuple(list.list->at, list.list->len), out, err);
	value_unref(list);
	return ok;
}

/* Those of its bases that no other one before them derives from. */
static bool bases_of(struct vm *vm, const struct class *c, struct value *out, struct err *err)
{
	struct class *object = class_builtin(vm, CLASS_OBJECT, err);
	struct value list, root = { .kind = VALUE_CLASS, .class = object };
	bool ok;

	if (!object || !vm_keep(vm, value_list(&root, c != object && !c->mro), &list, err))
		return false;
	ok = true;
	for (int i = 0; ok && c->mro && i < c->mro->len; i++) {
		bool direct = true;

		for (int j = 0; j < i && direct; j++)
			direct = !class_derives(c->mro->at[j].class, c->mro->at[i].class);
		ok = !direct || value_list_push(list.list, c->mro->at[i]) ||
		     vm_out_of_memory(vm, err);
	}
	ok = ok && vm_keep(vm, value_tuple(list.list->at, list.list->len), out, err);
	value_unref(list);
	return ok;
}

static bool base_of(struct vm *vm, const struct class *c, struct value *out, struct err *err)
{
	struct value bases;

	if (!bases_of(vm, c, &bases, err))
		return false;
	*out = bases.list->len > 0 ? value_ref(bases.list->at[0]) : value_none();
	value_unref(bases);
	return true;
}

bool class_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		     struct err *err)
{
	struct value *place = class_lookup(o.class, name);
	bool found;

	if (strcmp(name, "__annotations__") == 0)
		return typing_annotations(vm, o, out, err);
	if (place)
		return bind_place(vm, place, UNSET, o.class, out, err);
	if (o.class->names && strcmp(name, "_make") == 0)
		return namedtuple_make(vm, o, out, err);
	if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
		return vm_keep(vm, value_str(o.class->name, strlen(o.class->name)), out, err);
	if (strcmp(name, "__module__") == 0)
		return vm_keep(vm, value_str("__main__", 8), out, err);
	if (strcmp(name, "__class__") == 0)
		return value_type(vm, o, out, err);
	if (strcmp(name, "__mro__") == 0)
		return mro_of(vm, o.class, out, err);
	if (strcmp(name, "__bases__") == 0)
		return bases_of(vm, o.class, out, err);
	if (strcmp(name, "__subclasses__") == 0) {
		*out = builtin_value(builtin_find("class", name), o);
		return out->kind != VALUE_UNSET || vm_out_of_memory(vm, err);
	}
	if (strcmp(name, "__base__") == 0)
		return base_of(vm, o.class, out, err);
	if (strcmp(name, "__dict__") == 0) {
		*out = value_ref(value_of(o.class->attributes));
		return true;
	}
	if (strcmp(name, "__doc__") == 0) {
		*out = value_none();
		return true;
	}
	if (!object_method(vm, o.class->names && strcmp(name, "__new__") == 0 ? o : UNSET, name,
			   out, &found, err))
		return false;
	if (found)
		return true;
	place = o.class->meta ? class_lookup(o.class->meta, name) : NULL;
	if (place)
		return bind_place(vm, place, o, o.class->meta, out, err);
	return instance_lacks(vm, o, name, err);
}

/* super(): what comes after its class in the order of the instance's. */
bool super_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		     struct err *err)
{
	struct class *after = o.descriptor->get.class, *class;
	struct value self = o.descriptor->set, bound, *place;
	bool past, found;

	bound = self.kind == VALUE_INSTANCE ? self : UNSET;
	class = self.kind == VALUE_INSTANCE ? self.instance->class : self.class;
	if (self.kind == VALUE_CLASS && !class_derives(class, after) && class->meta) {
		class = class->meta; /* super() in a method of a metaclass */
		bound = self;
	}
	past = class == after;
	for (int i = 0; class->mro && i < class->mro->len; i++) {
		struct class *c = class->mro->at[i].class;

		place = past ? value_dict_find(c->attributes, name) : NULL;
		if (place)
			return bind_place(vm, place, bound, class, out, err);
		past = past || c == after;
	}
	if (!object_method(vm, self, name, out, &found, err))
		return false;
	if (found)
		return true;
	return missing(vm, "'super' object", class, NULL, name, err);
}

#define BUILTINS_OF_INSTANCE
const struct builtin instance_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
