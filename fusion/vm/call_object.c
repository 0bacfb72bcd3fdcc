/* fusion/vm/call_object.c -- calls of methods, classes and instances.
 *
 * What ends in a program's function is told by vm_callable(), so that the
 * interpreter can switch frames; all else is called from here. */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/namedtuple.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/outside.h"

static const struct value UNSET = { .kind = VALUE_UNSET };

enum { FEW = 16 };

bool call_with_self(struct vm *vm, struct value f, struct value self, const struct arguments *args,
		    struct value *out, struct err *err)
{
	struct value few[FEW + 1], *all = few;
	bool ok;

	if (self.kind == VALUE_UNSET)
		return vm_invoke(vm, f, args, out, err);
	if (args->n > FEW)
		all = malloc(sizeof(*all) * ((size_t)args->n + 1));
	if (!all)
		return vm_out_of_memory(vm, err);
	all[0] = self;
	if (args->n > 0)
		memcpy(all + 1, args->at, sizeof(*all) * (size_t)args->n);
	ok = vm_invoke(vm, f, &(struct arguments){ all, args->n + 1, args->kw }, out, err);
	if (all != few)
		free(all);
	return ok;
}

/* It needs no frame of its own. */
bool is_module_call(struct value f)
{
	return f.kind == VALUE_NATIVE && f.native->builtin &&
	       strcmp(builtin_row(f.native->id)->scope, "object") == 0 &&
	       strcmp(f.native->name, "forward") == 0;
}

/* What o.name is when it is called at once: the function and its self. */
static bool own_method(struct vm *vm, struct value o, const char *name, struct value *function,
		       struct value *self)
{
	struct dict *own = o.instance->attributes;
	struct value *place = own ? value_dict_find(own, name) : NULL;
	struct err ignored;

	*self = place ? UNSET : o;
	if (!place)
		place = class_lookup(o.instance->class, name);
	if (!place || !op_force(vm, place, &ignored))
		return false;
	*function = *place;
	return true;
}

/* The same of o(). */
static bool own_call(struct vm *vm, struct value o, struct value *function, struct value *self)
{
	struct value *place = class_lookup(o.instance->class, "__call__");
	struct dict *own = o.instance->attributes;
	struct err ignored;

	if (!place || !op_force(vm, place, &ignored))
		return false;
	*function = *place;
	*self = o;
	if (!is_module_call(*place))
		return true;
	return own_method(vm, o, own && value_dict_find(own, "_hooks") ? "_call_impl" : "forward",
			  function, self);
}

bool vm_callable(struct vm *vm, struct value callee, struct value *function, struct value *self)
{
	struct value f = callee, s = UNSET;

	if (callee.kind == VALUE_INSTANCE && !own_call(vm, callee, &f, &s))
		return false;
	if (f.kind == VALUE_METHOD && s.kind == VALUE_UNSET) {
		s = f.method->self;
		f = f.method->function;
	}
	if (f.kind != VALUE_FUNCTION)
		return false;
	*function = value_ref(f);
	*self = value_ref(s);
	return true;
}

static bool not_callable(struct vm *vm, struct value v, struct err *err)
{
	if (!outside_refused(v, err))
		return false;
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object is not callable",
			value_type_name(v));
}

static bool call_instance(struct vm *vm, struct value o, const struct arguments *args,
			  struct value *out, struct err *err)
{
	struct value f, self, *place;
	bool ok;

	if (vm_callable(vm, o, &f, &self)) {
		ok = call_with_self(vm, f, self, args, out, err);
		value_unref(self);
		value_unref(f);
		return ok;
	}
	place = class_lookup(o.instance->class, "__call__");
	if (!place)
		return not_callable(vm, o, err);
	if (!op_force(vm, place, err) ||
	    !instance_attribute(vm, o, is_module_call(*place) ? "forward" : "__call__", &f, err))
		return false;
	ok = vm_invoke(vm, f, args, out, err);
	value_unref(f);
	return ok;
}

bool object_call(struct vm *vm, struct value callee, const struct arguments *args,
		 struct value *out, struct err *err)
{
	bool ok;

	if (vm->depth >= vm->limits.depth)
		return err_set(err, ERR_RECURSION,
			       "maximum recursion depth exceeded: %d calls are open", vm->depth);
	vm->depth++;
	if (callee.kind == VALUE_METHOD)
		ok = call_with_self(vm, callee.method->function, callee.method->self, args, out,
				    err);
	else if (callee.kind == VALUE_CLASS)
		ok = class_call(vm, callee.class, args, out, err);
	else if (callee.kind == VALUE_INSTANCE)
		ok = call_instance(vm, callee, args, out, err);
	else if (callee.kind == VALUE_DESCRIPTOR &&
		 callee.descriptor->descriptor_kind == DESCRIPTOR_STATIC)
		ok = vm_invoke(vm, callee.descriptor->get, args, out, err);
	else
		ok = not_callable(vm, callee, err);
	vm->depth--;
	return ok;
}

static bool run_init(struct vm *vm, struct value self, struct value init,
		     const struct arguments *args, struct err *err)
{
	struct value none;

	if (!call_with_self(vm, init, self, args, &none, err))
		return false;
	if (none.kind == VALUE_NONE)
		return true;
	vm_raise(vm, CLASS_TYPE_ERROR, err, "__init__() should return None, not '%s'",
		 value_type_name(none));
	value_unref(none);
	return false;
}

/* An instance before its __init__; an exception has its args by then. */
static bool allocate(struct vm *vm, struct class *class, const struct arguments *args,
		     struct value *out, struct err *err)
{
	if (class_derives_from(class, CLASS_BASE_EXCEPTION))
		return exception_with(vm, class, args->at, args->n - (args->kw ? args->kw->n : 0),
				      out, err);
	if (class_lookup(class, "__new__"))
		return err_set(err, ERR_UNSUPPORTED,
			       "the class %s defines __new__, which is not in the language; make "
			       "what it makes in a function instead",
			       class->name);
	return vm_keep(vm, value_instance(class), out, err);
}

bool class_call(struct vm *vm, struct class *class, const struct arguments *args, struct value *out,
		struct err *err)
{
	struct value v, init, *place;
	bool ok = true;

	if (class->names)
		return namedtuple_new(vm, class, args, out, err);
	if (!class_find(vm, class, "__class_call__", &place, err)) /* the prelude's enum */
		return false;
	if (place && place->kind == VALUE_DESCRIPTOR)
		return call_with_self(vm, place->descriptor->get, value_of(class), args, out, err);
	if (!allocate(vm, class, args, &v, err))
		return false;
	place = class_lookup(class, "__init__");
	if (place) {
		ok = op_force(vm, place, err);
		init = ok ? value_ref(*place) : UNSET;
		ok = ok && run_init(vm, v, init, args, err);
		value_unref(init);
	} else if (args->n > 0 && v.instance->payload.kind == VALUE_UNSET) {
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() takes no arguments", class->name);
	}
	if (ok)
		*out = v;
	else
		value_unref(v);
	return ok;
}

bool instance_method(struct vm *vm, struct value v, const char *name, struct value *out,
		     struct err *err)
{
	struct value *place;

	if (v.kind != VALUE_INSTANCE)
		return false;
	place = class_lookup(v.instance->class, name);
	if (!place || !op_force(vm, place, err))
		return false;
	if (place->kind == VALUE_FUNCTION)
		return vm_keep(vm, value_method(*place, v), out, err);
	if (place->kind == VALUE_NONE) /* __hash__ = None */
		return false;
	return instance_attribute(vm, v, name, out, err);
}

bool instance_call(struct vm *vm, struct value v, const char *name, const struct value *args, int n,
		   struct value *out, bool *found, struct err *err)
{
	struct value *place, f;
	bool ok;

	*found = false;
	if (v.kind != VALUE_INSTANCE)
		return true;
	place = class_lookup(v.instance->class, name);
	if (!place)
		return true;
	*found = true;
	if (!op_force(vm, place, err))
		return false;
	f = value_ref(*place);
	if (f.kind == VALUE_FUNCTION) {
		ok = call_with_self(vm, f, v, &(struct arguments){ args, n, NULL }, out, err);
	} else {
		value_unref(f);
		if (!instance_attribute(vm, v, name, &f, err))
			return false;
		ok = vm_invoke(vm, f, &(struct arguments){ args, n, NULL }, out, err);
	}
	value_unref(f);
	return ok;
}
