/* fusion/vm/call_host.c -- calls of the host's functions: what instances among their arguments
 * change of them. */
#include "fusion/vm/call_host.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/run.h"

/* torch.Tensor.add(x, y) is x.add(y). */
static __attribute__((noinline)) bool call_unbound(struct vm *vm, const struct native *f,
						   const struct arguments *args, struct value *out,
						   struct err *err)
{
	struct vm_host *host = vm->host;
	struct native bound;

	if (args->n == 0 || args->at[0].kind != VALUE_TENSOR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"%s() wants a tensor as its first argument", f->name);
	bound = *f;
	bound.self = args->at[0];
	return host->call(host->self, &bound,
			  &(struct arguments){ args->at + 1, args->n - 1, args->kw }, out, err);
}

static inline bool call_of_host(struct vm *vm, const struct native *f, const struct arguments *args,
				struct value *out, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (__builtin_expect(f->self.kind == VALUE_UNSET && f->name[0] == 'T', 0) &&
	    strncmp(f->name, "Tensor.", strlen("Tensor.")) == 0)
		return call_unbound(vm, f, args, out, err);
	return host->call(host->self, f, args, out, err);
}

static bool holds_instance(struct value v)
{
	if (v.kind != VALUE_LIST && v.kind != VALUE_TUPLE)
		return v.kind == VALUE_INSTANCE;
	return v.list->len > 0 && (v.list->at[0].kind == VALUE_INSTANCE ||
				   v.list->at[v.list->len - 1].kind == VALUE_INSTANCE);
}

/* As instance_argument(), and a list of arrays as one tensor; *out is the caller's. */
static bool open_array(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	bool found = false;

	if (v.kind == VALUE_INSTANCE || !holds_instance(v) || v.list->at[0].kind != VALUE_INSTANCE)
		return instance_argument(vm, v, out, err);
	if (!instance_call(vm, &(struct method_call){ &v.list->at[0], "_of_list", &v, 1 }, out,
			   &found, err))
		return false;
	if (!found)
		*out = value_ref(v);
	return true;
}

/* torch.tensor() takes any sequence, as a deque: one that is no list becomes one. */
static bool open_sequence(struct vm *vm, const struct native *f, struct value *v, struct err *err)
{
	struct value list;

	if (v->kind != VALUE_INSTANCE || strcmp(f->name, "torch.tensor") != 0 ||
	    !class_lookup(v->instance->class, "__len__") ||
	    !class_lookup(v->instance->class, "__getitem__"))
		return true;
	if (!vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	if (!op_extend(vm, list.list, *v, err)) {
		value_unref(list);
		return false;
	}
	value_unref(*v);
	*v = list;
	return true;
}

/* f(..., generator=g): f draws while the generator's sequence is torch's.  *found false: there is
 * no such argument. */
static bool call_drawing(struct vm *vm, const struct native *f, const struct arguments *args,
			 struct value *out, bool *found, struct err *err)
{
	enum { MOST = 16 };
	struct value at[MOST], names[MOST], generator = { .kind = VALUE_UNSET }, none;
	int n_kw = args->kw ? args->kw->n : 0, first = args->n - n_kw, n = first;
	struct method_call exchange = { &generator, "_exchange", NULL, 0 };
	struct keywords kw = { 0, names };
	struct err ignored = { 0 };
	bool ok;

	for (int i = 0; i < n_kw && args->n <= MOST; i++) {
		if (strcmp(args->kw->names[i].str->text, "generator") == 0) {
			generator = args->at[first + i];
			continue;
		}
		names[kw.n++] = args->kw->names[i];
		at[n++] = args->at[first + i];
	}
	*found = false;
	if (generator.kind != VALUE_INSTANCE)
		return true;
	memcpy(at, args->at, sizeof(*at) * (size_t)first);
	if (!instance_call(vm, &exchange, &none, found, err))
		return false;
	if (!*found)
		return true;
	ok = call_of_host(vm, f, &(struct arguments){ at, n, kw.n ? &kw : NULL }, out, err);
	if (instance_call(vm, &exchange, &none, found, ok ? err : &ignored))
		return ok;
	if (ok)
		value_unref(*out);
	return false;
}

/* A function of torch takes arrays of numpy for tensors. */
static bool call_with_arrays(struct vm *vm, const struct native *f, const struct arguments *args,
			     struct value *out, struct err *err)
{
	VEC(struct value) opened = { 0 };
	struct value v;
	bool ok = true, drawn;

	if (!call_drawing(vm, f, args, out, &drawn, err))
		return false;
	if (drawn)
		return true;
	for (int i = 0; ok && i < args->n; i++) {
		if (!open_array(vm, args->at[i], &v, err)) {
			ok = false;
			break;
		}
		ok = open_sequence(vm, f, &v, err);
		if (!VEC_PUSH(&opened, v)) {
			value_unref(v);
			ok = vm_out_of_memory(vm, err);
		}
	}
	ok = ok &&
	     call_of_host(vm, f, &(struct arguments){ opened.at, args->n, args->kw }, out, err);
	for (size_t i = 0; i < opened.len; i++)
		value_unref(opened.at[i]);
	VEC_FREE(&opened);
	return ok;
}

static struct value *override_of(struct value v)
{
	return v.kind == VALUE_INSTANCE ? class_lookup(v.instance->class, "__torch_function__")
					: NULL;
}

/* Which instance among the arguments, and in lists of them, says itself what a function of torch
 * makes of it; UNSET where none does. */
static struct value find_override(const struct arguments *args)
{
	for (int i = 0; i < args->n; i++) {
		struct value v = args->at[i];

		if (override_of(v))
			return v;
		if (v.kind != VALUE_LIST && v.kind != VALUE_TUPLE)
			continue;
		for (int k = 0; k < v.list->len; k++)
			if (override_of(v.list->at[k]))
				return v.list->at[k];
	}
	return (struct value){ .kind = VALUE_UNSET };
}

/* The positional arguments as a tuple, the others as a dict; x.add(y) has x as its first. */
static bool packed_arguments(const struct native *f, const struct arguments *args,
			     struct value out[2])
{
	int named = args->kw ? args->kw->n : 0, bound = f->self.kind != VALUE_UNSET;
	int n = args->n - named;

	out[0] = value_sequence(VALUE_TUPLE, bound + n);
	out[1] = value_dict();
	if (out[0].kind != VALUE_TUPLE || out[1].kind != VALUE_DICT)
		return false;
	if (bound)
		out[0].list->at[out[0].list->len++] = value_ref(f->self);
	for (int i = 0; i < n; i++)
		out[0].list->at[out[0].list->len++] = value_ref(args->at[i]);
	for (int i = 0; i < named; i++)
		if (!value_dict_set(out[1].dict, args->kw->names[i], args->at[n + i]))
			return false;
	return true;
}

/* __torch_function__(func, types, args, kwargs) of the class of `of`. */
static bool call_override(struct vm *vm, struct value of, const struct native *f,
			  const struct arguments *args, struct value *out, struct err *err)
{
	struct value hook = value_none(),
		     given[4] = { value_native(f->name, f->id, false,
					       (struct value){ .kind = VALUE_UNSET }),
				  value_sequence(VALUE_TUPLE, 1),
				  { .kind = VALUE_UNSET },
				  { .kind = VALUE_UNSET } };
	bool ok;

	ok = (given[0].kind == VALUE_NATIVE && given[1].kind == VALUE_TUPLE &&
	      packed_arguments(f, args, given + 2)) ||
	     vm_out_of_memory(vm, err);
	if (ok)
		given[1].list->at[given[1].list->len++] = value_ref(value_of(of.instance->class));
	ok = ok && instance_attribute(vm, of, "__torch_function__", &hook, err) &&
	     vm_invoke(vm, hook, &(struct arguments){ given, 4, NULL }, out, err);
	value_unref(hook);
	for (int i = 0; i < 4; i++)
		value_unref(given[i]);
	return ok;
}

/* Whether the call takes any iterable of tensors, and was given an iterator: such as
 * torch.autograd.grad(loss, model.parameters()). */
static bool has_iterator(const struct native *f, const struct arguments *args)
{
	if (strncmp(f->name, "torch.autograd.", strlen("torch.autograd.")) != 0 &&
	    strcmp(f->name, "Tensor.backward") != 0)
		return false;
	for (int i = 0; i < args->n; i++)
		if (args->at[i].kind == VALUE_ITER || args->at[i].kind == VALUE_GENERATOR)
			return true;
	return false;
}

static bool call_with_lists(struct vm *vm, const struct native *f, const struct arguments *args,
			    struct value *out, struct err *err)
{
	struct value all = value_sequence(VALUE_TUPLE, args->n), list;
	bool ok = all.kind == VALUE_TUPLE || vm_out_of_memory(vm, err);

	for (int i = 0; ok && i < args->n; i++) {
		struct value v = args->at[i];

		if (v.kind != VALUE_ITER && v.kind != VALUE_GENERATOR) {
			all.list->at[all.list->len++] = value_ref(v);
			continue;
		}
		ok = vm_keep(vm, value_list(NULL, 0), &list, err);
		if (!ok)
			break;
		all.list->at[all.list->len++] = list;
		ok = op_extend(vm, list.list, v, err);
	}
	ok = ok &&
	     call_of_host(vm, f, &(struct arguments){ all.list->at, args->n, args->kw }, out, err);
	value_unref(all);
	return ok;
}

bool call_host(struct vm *vm, const struct native *f, const struct arguments *args,
	       struct value *out, struct err *err)
{
	for (int i = 0; i < args->n; i++) {
		struct value of;

		if (!holds_instance(args->at[i]))
			continue;
		of = find_override(args);
		return of.kind == VALUE_INSTANCE ? call_override(vm, of, f, args, out, err)
						 : call_with_arrays(vm, f, args, out, err);
	}
	if (call_of_host(vm, f, args, out, err))
		return true;
	if (!err || err->code != ERR_TYPE || !has_iterator(f, args))
		return false;
	*err = (struct err){ 0 };
	return call_with_lists(vm, f, args, out, err);
}
