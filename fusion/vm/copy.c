/* fusion/vm/copy.c -- the module copy.
 *
 * deepcopy() keeps a dict from each object, by identity, to its copy, so that
 * what is shared stays shared and what holds itself ends. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum { DEEPEST = 1000 };

struct copying {
	struct vm *vm;
	struct dict *memo; /* by address; NULL: shallow */
	int depth;
};

static bool copy_value(struct copying *c, struct value v, struct value *out, struct err *err);

static struct value key_of(struct value v)
{
	return value_int((int64_t)(uintptr_t)v.object);
}

/* A shallow copy takes items as they are. */
static bool copy_item(struct copying *c, struct value *place, struct value *out, struct err *err)
{
	if (!c->memo) {
		*out = value_ref(*place);
		return true;
	}
	return realize(c->vm, place, err) && copy_value(c, *place, out, err);
}

static bool remember(struct copying *c, struct value v, struct value copy, struct err *err)
{
	return !c->memo || value_dict_set(c->memo, key_of(v), copy) || vm_out_of_memory(c->vm, err);
}

static bool copy_list(struct copying *c, struct value v, struct value *out, struct err *err)
{
	bool ok = vm_keep(c->vm, value_sequence(v.kind, v.list->len), out, err);

	if (!ok)
		return false;
	ok = v.kind == VALUE_TUPLE || remember(c, v, *out, err);
	for (int i = 0; ok && i < v.list->len; i++) {
		ok = copy_item(c, &v.list->at[i], &out->list->at[i], err);
		out->list->len += ok;
	}
	if (!ok) {
		value_unref(*out);
		return false;
	}
	out->list->is_size = v.list->is_size;
	out->list->fields = v.list->fields;
	out->list->type_name = v.list->type_name;
	if (v.list->class)
		out->list->class = value_ref(value_of(v.list->class)).class;
	return true;
}

static bool fill_dict(struct copying *c, struct dict *from, struct dict *to, struct err *err)
{
	for (int i = 0; i < from->len; i++) {
		struct value item;
		bool ok;

		if (!copy_item(c, &from->values[i], &item, err))
			return false;
		ok = value_dict_set(to, from->keys[i], item) || vm_out_of_memory(c->vm, err);
		value_unref(item);
		if (!ok)
			return false;
	}
	return vm_spend(c->vm, from->len, err);
}

static bool copy_dict(struct copying *c, struct value v, struct value *out, struct err *err)
{
	struct value fresh = v.kind == VALUE_SET ? value_set(v.dict->frozen) : value_dict();

	if (!vm_keep(c->vm, fresh, out, err))
		return false;
	if (remember(c, v, *out, err) && fill_dict(c, v.dict, out->dict, err))
		return true;
	value_unref(*out);
	return false;
}

static bool copy_instance(struct copying *c, struct value v, struct value *out, struct err *err)
{
	struct value dict;
	bool ok;

	if (!vm_keep(c->vm, value_instance(v.instance->class), out, err))
		return false;
	out->instance->payload = value_ref(v.instance->payload);
	ok = remember(c, v, *out, err);
	if (ok && v.instance->attributes) {
		ok = vm_keep(c->vm, value_dict(), &dict, err);
		if (ok) {
			out->instance->attributes = dict.dict;
			ok = fill_dict(c, v.instance->attributes, dict.dict, err);
		}
	}
	if (!ok)
		value_unref(*out);
	return ok;
}

/* v.name() */
static bool call_method(struct copying *c, struct value v, const char *name, struct value *out,
			struct err *err)
{
	struct value f;
	bool ok;

	if (!op_attribute(c->vm, NULL, v, name, &f, err))
		return false;
	ok = vm_invoke(c->vm, f, &(struct arguments){ NULL, 0, NULL }, out, err);
	value_unref(f);
	return ok;
}

/* A bool of a tensor. */
static bool read_flag(struct copying *c, struct value tensor, const char *name, bool *out,
		      struct err *err)
{
	struct value v;

	if (!op_attribute(c->vm, NULL, tensor, name, &v, err))
		return false;
	*out = v.kind == VALUE_BOOL && v.b;
	value_unref(v);
	return true;
}

/* *out = *out.name(), a new tensor or itself. */
static bool replace(struct copying *c, const char *name, struct value *out, struct err *err)
{
	struct value old = *out;
	bool ok = call_method(c, old, name, out, err);

	value_unref(old);
	if (!ok)
		*out = (struct value){ .kind = VALUE_UNSET };
	return ok;
}

static bool copy_gradient(struct copying *c, struct value v, struct value to, struct err *err)
{
	struct value grad, copied;
	bool ok;

	if (!op_attribute(c->vm, NULL, v, "grad", &grad, err))
		return false;
	ok = grad.kind != VALUE_TENSOR;
	if (!ok && copy_value(c, grad, &copied, err)) {
		ok = op_store_attribute(c->vm, to, "grad", copied, err);
		value_unref(copied);
	}
	value_unref(grad);
	return ok;
}

/* A leaf, over the same memory or, of deepcopy(), over its own; a parameter where the tensor is
 * one. */
static bool copy_tensor(struct copying *c, struct value v, struct value *out, struct err *err)
{
	bool requires, leaf, ok;

	if (!read_flag(c, v, "requires_grad", &requires, err) ||
	    !read_flag(c, v, "is_leaf", &leaf, err))
		return false;
	if (c->memo && !leaf)
		return err_set(err, ERR_OP,
			       "Only Tensors created explicitly by the user (graph leaves) support "
			       "the deepcopy protocol at the moment; write x.detach().clone()");
	if (!call_method(c, v, "detach", out, err))
		return false;
	ok = (!c->memo || replace(c, "clone", out, err)) &&
	     (!requires || replace(c, "requires_grad_", out, err));
	if (ok && out->kind == VALUE_TENSOR)
		out->tensor->is_parameter = v.tensor->is_parameter;
	if (ok && c->memo && requires && !v.tensor->is_parameter)
		ok = copy_gradient(c, v, *out, err);
	if (ok && !remember(c, v, *out, err))
		ok = false;
	if (!ok)
		value_unref(*out);
	return ok;
}

/* By the __copy__ or __deepcopy__ of its class, where that has one. */
static bool copy_by_method(struct copying *c, struct value v, struct value *out, bool *found,
			   struct err *err)
{
	struct value memo = { .kind = VALUE_DICT, .dict = c->memo };
	struct method_call call = { &v, c->memo ? "__deepcopy__" : "__copy__", &memo,
				    c->memo ? 1 : 0 };

	return instance_call(c->vm, &call, out, found, err) &&
	       (!*found || remember(c, v, *out, err));
}

/* A deep copy of a method is that of the copy: a hook that an object gave is its copy's. */
static bool copy_method(struct copying *c, struct value v, struct value *out, struct err *err)
{
	struct value self;
	bool ok;

	if (!copy_value(c, v.method->self, &self, err))
		return false;
	ok = vm_keep(c->vm, value_method(v.method->function, self), out, err);
	value_unref(self);
	return ok;
}

static bool copy_value(struct copying *c, struct value v, struct value *out, struct err *err)
{
	struct value known;
	bool ok, found;

	if (c->memo && value_counted(v) && value_dict_get(c->memo, key_of(v), &known)) {
		*out = value_ref(known);
		return true;
	}
	if (++c->depth > DEEPEST)
		return err_set(err, ERR_RECURSION, "deepcopy: nested more than %d deep", DEEPEST);
	switch (v.kind) {
	case VALUE_LIST:
	case VALUE_TUPLE:
		ok = copy_list(c, v, out, err);
		break;
	case VALUE_DICT:
	case VALUE_SET:
		ok = copy_dict(c, v, out, err);
		break;
	case VALUE_TENSOR:
		ok = copy_tensor(c, v, out, err);
		break;
	case VALUE_INSTANCE:
		found = false;
		ok = copy_by_method(c, v, out, &found, err);
		if (ok && !found)
			ok = copy_instance(c, v, out, err);
		break;
	case VALUE_METHOD:
		ok = !c->memo || copy_method(c, v, out, err);
		if (!c->memo)
			*out = value_ref(v);
		break;
	default:
		*out = value_ref(v);
		ok = true;
	}
	c->depth--;
	return ok;
}

static bool copy_copy(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	struct copying c = { .vm = vm };

	return copy_value(&c, call->args[0], out, err);
}

static bool copy_deepcopy(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct copying c = { .vm = vm };
	struct value memo;
	bool ok;

	if (call->n > 1 && call->args[1].kind == VALUE_DICT)
		memo = value_ref(call->args[1]);
	else if (!vm_keep(vm, value_dict(), &memo, err))
		return false;
	c.memo = memo.dict;
	ok = copy_value(&c, call->args[0], out, err);
	value_unref(memo);
	return ok;
}

#define BUILTINS_OF_COPY
const struct builtin copy_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
