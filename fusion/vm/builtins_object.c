/* fusion/vm/builtins_object.c -- builtins about objects: attributes by
 * name, decorators of methods, iterators, and what every object can do. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/namedtuple.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

static const struct value UNSET = { .kind = VALUE_UNSET };

static bool attribute_name(struct vm *vm, struct value v, struct err *err)
{
	return v.kind == VALUE_STR ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "attribute name must be string, not '%s'",
			value_type_name(v));
}

static bool builtin_getattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	bool found;

	if (!attribute_name(vm, call->args[1], err))
		return false;
	if (call->n == 2)
		return op_attribute(vm, NULL, call->args[0], call->args[1].str->text, out, err);
	if (!op_find_attribute(vm, call->args[0], call->args[1].str->text, out, &found, err))
		return false;
	if (!found)
		*out = value_ref(call->args[2]);
	return true;
}

static bool builtin_hasattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value v;
	bool found;

	if (!attribute_name(vm, call->args[1], err) ||
	    !op_find_attribute(vm, call->args[0], call->args[1].str->text, &v, &found, err))
		return false;
	if (found)
		value_unref(v);
	*out = value_bool(found);
	return true;
}

static bool builtin_setattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	*out = value_none();
	return attribute_name(vm, call->args[1], err) &&
	       op_store_attribute(vm, call->args[0], call->args[1].str->text, call->args[2], err);
}

static bool builtin_delattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	*out = value_none();
	return attribute_name(vm, call->args[1], err) &&
	       op_delete_attribute(vm, call->args[0], call->args[1].str->text, err);
}

/* What is written in fusion/vm/prelude: Bytes for bytes, str_encode for a method. */
static bool builtin_of_prelude(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	const char *scope = call->row->scope;
	char name[32];
	struct value f;
	bool found, ok;

	snprintf(name, sizeof(name), "%s%s%s", scope, scope[0] ? "_" : "", call->row->name);
	if (!scope[0])
		name[0] = (char)toupper((unsigned char)name[0]);
	if (!prelude_attribute(vm, "_bases", name, &f, &found, err))
		return false;
	ok = call_with_self(
	    vm, f, builtin_is_static(call->row) ? (struct value){ 0 } : call->self,
	    &(struct arguments){ call->args, call->n + (call->kw ? call->kw->n : 0), call->kw },
	    out, err);
	value_unref(f);
	return ok;
}

static bool builtin_vars(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	bool found;

	if (!op_find_attribute(vm, call->args[0], "__dict__", out, &found, err))
		return false;
	return found ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "vars() argument must have __dict__ attribute");
}

static bool has_base(struct vm *vm, struct value class, struct class *base, bool *has,
		     struct err *err)
{
	struct value bases;

	if (!op_attribute(vm, NULL, class, "__bases__", &bases, err))
		return false;
	*has = false;
	for (int i = 0; i < bases.list->len; i++)
		*has |= bases.list->at[i].class == base;
	value_unref(bases);
	return true;
}

static bool builtin_subclasses(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	struct heap *heap = vm->heap;
	struct value list;
	bool ok, has;

	if (!vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	ok = true;
	for (struct object *o = heap->list.next; ok && o != &heap->list; o = o->next) {
		struct value v = { .kind = VALUE_CLASS, .class = (struct class *)o };

		if (o->kind != VALUE_CLASS || v.class->hidden ||
		    !class_derives(v.class, call->self.class))
			continue;
		ok = has_base(vm, v, call->self.class, &has, err) &&
		     (!has || value_list_push(list.list, v) || vm_out_of_memory(vm, err));
	}
	if (!ok)
		value_unref(list);
	else
		*out = list;
	return ok;
}

static bool builtin_callable(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	struct value v = call->args[0];

	(void)vm, (void)err;
	*out = value_bool(
	    v.kind == VALUE_FUNCTION || v.kind == VALUE_METHOD || v.kind == VALUE_CLASS ||
	    (v.kind == VALUE_NATIVE && strcmp(v.native->name, "NotImplemented") != 0) ||
	    (v.kind == VALUE_INSTANCE && class_lookup(v.instance->class, "__call__") != NULL));
	return true;
}

static bool builtin_id(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct value v = call->args[0];

	(void)vm, (void)err;
	*out = value_int(value_counted(v) ? (int64_t)(uintptr_t)v.object
					  : (int64_t)v.kind * 16 + v.i * 32);
	return true;
}

static bool descriptor(struct vm *vm, enum descriptor_kind kind, struct value get, struct value set,
		       struct value *out, struct err *err)
{
	return vm_keep(vm, value_descriptor(kind, get, set), out, err);
}

static bool builtin_staticmethod(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	return descriptor(vm, DESCRIPTOR_STATIC, call->args[0], UNSET, out, err);
}

static bool builtin_classmethod(struct vm *vm, const struct builtin_call *call, struct value *out,
				struct err *err)
{
	return descriptor(vm, DESCRIPTOR_CLASS, call->args[0], UNSET, out, err);
}

static bool builtin_property(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	static const char *const names[] = { "fget", "fset", "fdel" };
	struct value parts[] = { UNSET, UNSET, UNSET };

	for (int i = 0; i < 3; i++) {
		if (i < call->n)
			parts[i] = call->args[i];
		else
			builtin_keyword(call, names[i], &parts[i]);
		if (parts[i].kind == VALUE_NONE)
			parts[i] = UNSET;
	}
	if (!descriptor(vm, DESCRIPTOR_PROPERTY, parts[0], parts[1], out, err))
		return false;
	out->descriptor->del = value_ref(parts[2]);
	return true;
}

/* A property with one part exchanged. */
static bool with_part(struct vm *vm, const struct builtin_call *call, int part, struct value *out,
		      struct err *err)
{
	const struct descriptor *d = call->self.descriptor;

	if (!descriptor(vm, DESCRIPTOR_PROPERTY, part == 0 ? call->args[0] : d->get,
			part == 1 ? call->args[0] : d->set, out, err))
		return false;
	out->descriptor->del = value_ref(part == 2 ? call->args[0] : d->del);
	return true;
}

static bool property_getter(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	return with_part(vm, call, 0, out, err);
}

static bool property_setter(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	return with_part(vm, call, 1, out, err);
}

static bool property_deleter(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	return with_part(vm, call, 2, out, err);
}

/* type.__new__(metaclass, name, bases, attributes, keywords) */
static bool prelude_make_class(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	const struct value *a = call->args;

	if (a[0].kind != VALUE_CLASS || a[1].kind != VALUE_STR || a[2].kind != VALUE_TUPLE ||
	    a[3].kind != VALUE_DICT || a[4].kind != VALUE_DICT)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"type.__new__() takes a metaclass, a name, a tuple of bases and a "
				"dict of attributes");
	return class_make(vm,
			  &(struct class_parts){ a[1], a[2].list->at, a[2].list->len, a[3].dict,
						 a[4].dict, a[0].class },
			  out, err);
}

/* type.__call__(class, *args, **keywords) */
static bool prelude_call_class(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	if (call->n < 1 || call->args[0].kind != VALUE_CLASS)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "type.__call__() takes a class");
	return class_call_plain(vm, call->args[0].class,
				&(struct arguments){ call->args + 1,
						     call->n - 1 + (call->kw ? call->kw->n : 0),
						     call->kw },
				out, err);
}

static bool builtin_super(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value class = call->args[0], self = call->args[1];

	if (class.kind != VALUE_CLASS || (self.kind != VALUE_INSTANCE && self.kind != VALUE_CLASS))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"super() takes a class and an instance of it");
	if (!class_derives(self.kind == VALUE_CLASS ? self.class : self.instance->class,
			   class.class) &&
	    !(self.kind == VALUE_CLASS && self.class->meta &&
	      class_derives(self.class->meta, class.class)))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"super(type, obj): obj must be an instance or subtype of type");
	return descriptor(vm, DESCRIPTOR_SUPER, class, self, out, err);
}

/* iter(function, sentinel) */
static bool iter_until(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct arguments args = { call->args, 2, NULL };
	struct value module, class;
	bool ok;

	if (!vm_module(vm, "_iterators", &module, err) ||
	    !op_attribute(vm, NULL, module, "callable_iterator", &class, err))
		return false;
	ok = vm_call(vm, class, &args, out, err);
	value_unref(class);
	return ok;
}

static bool builtin_iter(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	if (call->n == 2)
		return iter_until(vm, call, out, err);
	if (call->args[0].kind == VALUE_GENERATOR) { /* its own iterator */
		*out = value_ref(call->args[0]);
		return true;
	}
	if (!op_iter(vm, call->args[0], out, err))
		return false;
	if (out->iter->iter_kind == ITER_NEXT) { /* the object that __iter__ gave */
		struct value o = value_ref(out->iter->over);

		value_unref(*out);
		*out = o;
	}
	return true;
}

static bool builtin_next(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value v = call->args[0];
	bool more, found;

	if (v.kind == VALUE_INSTANCE && !class_lookup(v.instance->class, "__next__"))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object is not an iterator",
				value_type_name(v));
	if (v.kind == VALUE_INSTANCE) {
		struct err why = { 0 };

		if (instance_call(vm, &(struct method_call){ &v, "__next__", NULL, 0 }, out, &found,
				  &why))
			return true;
		if (call->n == 1 || !vm_failed_with(vm, &why, CLASS_STOP_ITERATION)) {
			if (err)
				*err = why;
			return false;
		}
		vm_forget_raised(vm);
		*out = value_ref(call->args[1]);
		return true;
	}
	if (v.kind == VALUE_ITER && !v.iter->view) {
		if (!op_next(vm, v.iter, out, &more, err))
			return false;
	} else if (v.kind == VALUE_GENERATOR) {
		struct value it;

		if (!op_iter(vm, v, &it, err))
			return false;
		found = op_next(vm, it.iter, out, &more, err);
		value_unref(it);
		if (!found)
			return false;
	} else {
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object is not an iterator",
				value_type_name(v));
	}
	if (more)
		return true;
	if (call->n == 1)
		return generator_ended(vm, v.kind == VALUE_ITER ? v.iter->over : v, err);
	*out = value_ref(call->args[1]);
	return true;
}

static bool builtin_method(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value f = call->args[0];

	if (f.kind != VALUE_FUNCTION && f.kind != VALUE_NATIVE)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"first argument must be a function, not '%s'", value_type_name(f));
	return vm_keep(vm, value_method(f, call->args[1]), out, err);
}

static bool builtin_slice(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value none = value_none();

	if (call->n == 1)
		return vm_keep(vm, value_slice(none, call->args[0], none), out, err);
	return vm_keep(
	    vm, value_slice(call->args[0], call->args[1], call->n == 3 ? call->args[2] : none), out,
	    err);
}

/* The object that a row of scope "object" is about: bound, or the first
 * argument; the rest of the arguments. */
static bool subject(struct vm *vm, const struct builtin_call *call, struct value *self,
		    const struct value **args, int *n, struct err *err)
{
	bool bound = call->self.kind != VALUE_UNSET;

	*self = UNSET;
	*args = NULL;
	*n = 0;
	if (!bound && call->n == 0)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s of 'object' needs an argument",
				call->row->name);
	*self = bound ? call->self : call->args[0];
	*args = call->args + !bound;
	*n = call->n - !bound;
	return true;
}

static bool object_new(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (self.kind == VALUE_CLASS && self.class->names && n > 0 &&
	    args[0].kind == VALUE_CLASS) /* P.__new__(P, 1, 2) of a namedtuple */
		return namedtuple_new(
		    vm, args[0].class,
		    &(struct arguments){ args + 1, n - 1 + (call->kw ? call->kw->n : 0), call->kw },
		    out, err);
	if (self.kind == VALUE_INSTANCE) /* super().__new__(cls) where there is an instance */
		self = n > 0 ? args[0] : self;
	if (self.kind != VALUE_CLASS)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"object.__new__(X): X is not a type object (%s)",
				value_type_name(self));
	return vm_keep(vm, value_instance(self.class), out, err);
}

static bool object_init(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value self, payload;
	const struct value *args;
	int n;

	*out = value_none();
	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (self.kind == VALUE_INSTANCE && self.instance->payload.kind != VALUE_TUPLE &&
	    n + (call->kw ? call->kw->n : 0) > 0)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"object.__init__() takes exactly one argument (the instance to "
				"initialize)");
	if (self.kind != VALUE_INSTANCE || self.instance->payload.kind != VALUE_TUPLE)
		return true;
	if (!vm_keep(vm, value_tuple(args, n), &payload, err))
		return false;
	value_unref(self.instance->payload);
	self.instance->payload = payload;
	return true;
}

static bool object_setattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	*out = value_none();
	if (!subject(vm, call, &self, &args, &n, err) || !attribute_name(vm, args[0], err))
		return false;
	if (n != 2)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"__setattr__() takes an instance, a name and a value");
	if (self.kind != VALUE_INSTANCE)
		return op_store_attribute(vm, self, args[0].str->text, args[1], err);
	return instance_store(vm, self, args[0].str->text, args[1], err);
}

static bool object_delattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	*out = value_none();
	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (n != 1 || !attribute_name(vm, args[0], err))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "__delattr__() takes a name");
	if (self.kind == VALUE_INSTANCE)
		return instance_delete(vm, self, args[0].str->text, err);
	return op_delete_attribute(vm, self, args[0].str->text, err);
}

static bool object_getattribute(struct vm *vm, const struct builtin_call *call, struct value *out,
				struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (n != 1 || !attribute_name(vm, args[0], err))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "__getattribute__() takes a name");
	if (self.kind == VALUE_INSTANCE)
		return instance_attribute(vm, self, args[0].str->text, out, err);
	return op_attribute(vm, NULL, self, args[0].str->text, out, err);
}

static bool plain_text(struct vm *vm, const struct builtin_call *call, bool plain,
		       struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (self.kind != VALUE_INSTANCE)
		buf_printf(&text, "<%s object>", value_type_name(self));
	else if (self.instance->payload.kind != VALUE_TUPLE)
		buf_printf(&text, "<%s object>", self.instance->class->name);
	else if (!plain)
		buf_printf(&text, "%s", self.instance->class->name);
	if (self.kind == VALUE_INSTANCE && self.instance->payload.kind == VALUE_TUPLE &&
	    !exception_text(vm, self, &text, err)) {
		buf_finish(&text);
		return false;
	}
	return builtin_take_text(vm, &text, out, err);
}

static bool object_repr(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return plain_text(vm, call, false, out, err);
}

static bool object_str(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return plain_text(vm, call, true, out, err);
}

static bool same_object(struct vm *vm, const struct builtin_call *call, bool *same, struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (n != 1)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() takes one argument",
				call->row->name);
	*same = op_is(vm, self, args[0]);
	return true;
}

static bool object_eq(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	bool same;

	*out = value_bool(true);
	return same_object(vm, call, &same, err) &&
	       (same || vm_keep(vm,
				builtin_value(builtin_find("", "NotImplemented"),
					      (struct value){ .kind = VALUE_UNSET }),
				out, err)); /* it leaves the answer to the other one */
}

static bool object_ne(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	bool same;

	if (!same_object(vm, call, &same, err))
		return false;
	*out = value_bool(!same);
	return true;
}

static bool object_hash(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	*out = value_int((int64_t)(value_hash_of(self) >> 3));
	return true;
}

static bool object_format(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	return plain_text(vm, call, true, out, err);
}

static bool object_init_subclass(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	(void)vm, (void)call, (void)err;
	*out = value_none();
	return true;
}

static bool object_unordered(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	(void)call;
	return vm_keep(vm, builtin_value(builtin_find("", "NotImplemented"), (struct value){ 0 }),
		       out, err);
}

static bool object_unpickled(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	(void)vm, (void)out;
	return err_set(err, ERR_UNSUPPORTED,
		       "%s() of an object is not in the language; use repr(), dir() or vars()",
		       call->row->name);
}

static bool exception_with_traceback(struct vm *vm, const struct builtin_call *call,
				     struct value *out, struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	*out = value_ref(self);
	return true;
}

static bool object_getattr(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value self;
	const struct value *args;
	int n;

	(void)out;
	if (!subject(vm, call, &self, &args, &n, err))
		return false;
	if (n != 1 || !attribute_name(vm, args[0], err))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "__getattr__() takes a name");
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "'%s' object has no attribute '%s'",
			value_type_name(self), args[0].str->text);
}

/* What a parameter is made of: the tensor, or, where others have it or it was computed, one that
 * lies where it lies.  A capture ends here, and eager comes back. */
static bool parameter_data(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	enum { OF_THE_CALL = 1 };
	struct value method, requires = value_bool(false);
	bool ok = true;

	*out = value_ref(v);
	if (vm->host->realize || !v.tensor->memory)
		return true;
	if (v.object->refs <= OF_THE_CALL + 1) {
		ok = op_attribute(vm, NULL, v, "requires_grad", &requires, err);
		if (!ok || !requires.b)
			return ok;
	}
	value_unref(*out);
	if (!op_attribute(vm, NULL, v, "detach", &method, err))
		return false;
	ok = vm_invoke(vm, method, &(struct arguments){ NULL, 0, NULL }, out, err);
	value_unref(method);
	return ok;
}

static bool prelude_parameter(struct vm *vm, const struct builtin_call *call, struct value *out,
			      struct err *err)
{
	struct value on = value_bool(true);
	struct vm_host *host = vm->host;
	bool found;

	if (call->n > 1)
		on = call->args[1];
	builtin_keyword(call, "requires_grad", &on);
	if (!instance_call(vm, &(struct method_call){ &call->args[0], "_as_parameter", &on, 1 },
			   out, &found, err))
		return false;
	if (found)
		return true;
	if (call->args[0].kind != VALUE_TENSOR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "a Parameter needs a tensor, not %s",
				value_type_name(call->args[0]));
	if (!parameter_data(vm, call->args[0], out, err))
		return false;
	out->tensor->is_parameter = true;
	if (!host->store_attr || host->store_attr(host->self, *out, "requires_grad", on, err))
		return true;
	value_unref(*out);
	return false;
}

static bool prelude_buffer(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value persistent = value_bool(true), data = call->args[0];

	if (call->n > 1)
		persistent = call->args[1];
	builtin_keyword(call, "persistent", &persistent);
	if (data.kind != VALUE_TENSOR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "a Buffer needs a tensor, not %s",
				value_type_name(data));
	data.tensor->is_buffer = true;
	if (!op_truth(vm, persistent, &data.tensor->persistent, err))
		return false;
	*out = value_ref(data);
	return true;
}

static bool prelude_parameter_of(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	struct value v = call->args[0], *real = NULL;

	(void)vm, (void)err;
	if (v.kind == VALUE_TENSOR && v.tensor->is_parameter)
		real = &v;
	else if (v.kind == VALUE_INSTANCE && v.instance->attributes)
		real = value_dict_find(v.instance->attributes, "_real_parameter");
	*out = real ? value_ref(*real) : value_none();
	return true;
}

static bool prelude_instance(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	return vm_keep(vm, value_instance(call->args[0].class), out, err);
}

static bool prelude_begin(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	*out = value_none();
	return call->args[0].kind != VALUE_INSTANCE || module_begin(vm, call->args[0], err);
}

/* Of a function: its parameters' names, how many of them are given by position, by
 * keyword only, and whether *args and **kwargs follow; what inspect.signature() reads. */
static bool prelude_parameters(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	const struct code *code;
	struct value names, parts[5];
	bool ok = true;
	int n;

	if (call->args[0].kind != VALUE_FUNCTION)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s is not a callable object",
				value_type_name(call->args[0]));
	code = call->args[0].function->code;
	n = code->n_positional + code->n_keyword_only + code->has_varargs + code->has_kwargs;
	if (!vm_keep(vm, value_sequence(VALUE_TUPLE, n), &names, err))
		return false;
	for (; ok && names.list->len < n; names.list->len += ok) {
		const char *name = code->locals[names.list->len];

		ok = vm_keep(vm, value_str(name, strlen(name)), &names.list->at[names.list->len],
			     err);
	}
	parts[0] = names;
	parts[1] = value_int(code->n_positional);
	parts[2] = value_int(code->n_keyword_only);
	parts[3] = value_bool(code->has_varargs);
	parts[4] = value_bool(code->has_kwargs);
	ok = ok && vm_keep(vm, value_tuple(parts, 5), out, err);
	value_unref(names);
	return ok;
}

static bool prelude_is_method(struct vm *vm, const struct builtin_call *call, struct value *out,
			      struct err *err)
{
	enum value_kind kind = call->args[0].kind;

	(void)vm, (void)err;
	*out = value_bool(kind == VALUE_FUNCTION || kind == VALUE_DESCRIPTOR ||
			  kind == VALUE_NATIVE || kind == VALUE_CLASS);
	return true;
}

/* The function itself: the prelude made it, and nobody else has it. */
static bool prelude_of_constants(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	(void)vm, (void)err;
	if (call->args[0].kind == VALUE_FUNCTION)
		call->args[0].function->disabled = DISABLED_FOR_SYMBOLS;
	*out = value_ref(call->args[0]);
	return true;
}

/* As prelude_of_constants(). */
static bool prelude_mostly(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	(void)vm, (void)err;
	if (call->args[0].kind == VALUE_FUNCTION && call->args[1].kind == VALUE_NATIVE)
		call->args[0].function->op = value_ref(call->args[1]).native;
	*out = value_ref(call->args[0]);
	return true;
}

static bool prelude_store_global(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);
	const char *name;
	int slot;

	*out = value_none();
	if (!attribute_name(vm, call->args[0], err))
		return false;
	name = arena_strdup(&vm->arena, call->args[0].str->text);
	slot = name ? vm_global_slot(vm, f ? f->unit->owner : NULL, name) : -1;
	return slot < 0 ? vm_out_of_memory(vm, err) : global_store(vm, slot, call->args[1], err);
}

#define BUILTINS_OF_OBJECT
const struct builtin object_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
