/* fusion/vm/instance_store.c -- o.name = v and del o.name. */
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/vm/instance.h"
#include "fusion/vm/operators.h"

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

		ok = !slots || op_force(vm, slots, err);
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
		ok = instance_call(vm, descriptor, deletes ? "__delete__" : "__set__", args,
				   deletes ? 1 : 2, &none, found, err);
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

/* A module takes no children before Module.__init__; layers of the prelude, which
 * begin without it, store what they hold. */
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
	if (!op_force(vm, vacant, err))
		return false;
	*place = vacant->kind == VALUE_DICT ? value_dict_find(vacant->dict, name) : NULL;
	return !*place || op_force(vm, *place, err);
}

static bool note_vacant(struct vm *vm, struct instance *i, const char *name, const char *kind,
			struct err *err)
{
	struct value *vacant = value_dict_find(i->attributes, "_vacant"), fresh, text;
	bool ok = true;

	if (!vacant) {
		if (!vm_keep(vm, value_dict(), &fresh, err))
			return false;
		ok = store_named(vm, i->attributes, "_vacant", fresh, err);
		value_unref(fresh);
		vacant = value_dict_find(i->attributes, "_vacant");
	}
	if (!ok || !op_force(vm, vacant, err) ||
	    !vm_keep(vm, value_str(kind, strlen(kind)), &text, err))
		return false;
	ok = store_named(vm, vacant->dict, name, text, err);
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
	if (!op_force(vm, place, err))
		return false;
	if (place->kind == VALUE_NONE && !vacant_place(vm, i, name, &kind, err))
		return false;
	if (!is_child_kind(*place) && !kind)
		return true;
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
	if (!instance_has_child(vm, i, name, &child, err))
		return false;
	if (child)
		return true;
	if (!vacant_place(vm, i, name, &kind, err))
		return false;
	if (!kind)
		delete_named(i->attributes, name);
	return true;
}

/* Past __setattr__. */
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
	if (i->class->is_module && (!may_hold(vm, o, v, err) || !may_exchange(vm, i, name, v, err)))
		return false;
	/* a module keeps its children apart, whatever the class has of that name */
	if (i->class->is_module && v.kind == VALUE_NONE && !vacant_place(vm, i, name, &vacant, err))
		return false;
	if (i->class->has_data && (!i->class->is_module || !(is_child_kind(v) || vacant))) {
		if (!ask_descriptor(vm, o, name, v, &ok, err))
			return false;
		if (ok)
			return true;
	}
	if (i->class->has_slots && !in_slots(vm, i->class, name, &ok, err))
		return false;
	if (i->class->has_slots && !ok)
		return instance_lacks(vm, o, name, err);
	if (i->class->is_module && is_child_kind(v) && !make_last(vm, i, name, err))
		return false;
	if (!instance_dict(vm, o, &dict, err))
		return false;
	ok = store_named(vm, dict.dict, name, v, err);
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
	ok = instance_call(vm, o, "__setattr__", args, 2, &none, &found, err);
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

bool op_store_attribute(struct vm *vm, struct value o, const char *name, struct value v,
			struct err *err)
{
	switch (o.kind) {
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
		if (vm->host->store_attr) {
			struct vm_host *host = vm_host_here(vm);

			return host->store_attr(host->self, o, name, v, err);
		}
		return err_set(err, ERR_TYPE, "attribute '%s' of '%s' objects cannot be set", name,
			       value_type_name(o));
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
	if (o.instance->class->has_data && !ask_descriptor(vm, o, name, UNSET, &found, err))
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
	ok = instance_call(vm, o, "__delattr__", &text, 1, &none, found, err);
	value_unref(text);
	if (ok)
		value_unref(none);
	return ok;
}

bool op_delete_attribute(struct vm *vm, struct value o, const char *name, struct err *err)
{
	bool found;

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
	default:
		break;
	}
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "'%s' object has no attribute '%s'",
			value_type_name(o), name);
}
