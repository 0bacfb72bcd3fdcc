/* fusion/vm/call_host.c -- calls of the host's functions: what instances among their arguments
 * change of them. */
#include "fusion/vm/call_host.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"
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

/* Of numpy: torch takes it for a tensor, and it is none. */
static bool is_array(struct value v)
{
	return v.kind == VALUE_INSTANCE && class_lookup(v.instance->class, "_of_list");
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

	if (strcmp(f->name, "torch.is_tensor") == 0 && args->n == 1 && is_array(args->at[0]))
		return call_of_host(vm, f, args, out, err);
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

/* The function without what it is bound to, the positional arguments as a tuple, the others as a
 * dict; x.add(y) has x as its first. */
static bool packed(struct vm *vm, struct value f, const struct arguments *args, struct value out[3],
		   struct err *err)
{
	struct value self = f.kind == VALUE_NATIVE ? f.native->self
						   : (struct value){ .kind = VALUE_UNSET };
	int named = args->kw ? args->kw->n : 0, bound = self.kind != VALUE_UNSET;
	int n = args->n - named;
	bool ok;

	out[0] = f.kind == VALUE_NATIVE ? value_native(f.native->name, f.native->id, false,
						       (struct value){ .kind = VALUE_UNSET })
					: value_ref(f);
	out[1] = value_sequence(VALUE_TUPLE, bound + n);
	out[2] = value_dict();
	ok = out[0].kind == f.kind && out[1].kind == VALUE_TUPLE && out[2].kind == VALUE_DICT;
	if (ok && bound)
		out[1].list->at[out[1].list->len++] = value_ref(self);
	for (int i = 0; ok && i < n; i++)
		out[1].list->at[out[1].list->len++] = value_ref(args->at[i]);
	for (int i = 0; ok && i < named; i++)
		ok = value_dict_set(out[2].dict, args->kw->names[i], args->at[n + i]);
	return ok || vm_out_of_memory(vm, err);
}

/* __torch_function__(func, types, args, kwargs) of a class of the prelude. */
static bool ask_class(struct vm *vm, struct value of, const struct value given[3],
		      struct value *out, struct err *err)
{
	struct value hook = value_none(), types = value_sequence(VALUE_TUPLE, 1);
	struct value all[4] = { given[0], types, given[1], given[2] };
	bool ok = types.kind == VALUE_TUPLE || vm_out_of_memory(vm, err);

	if (ok)
		types.list->at[types.list->len++] = value_ref(value_of(of.instance->class));
	ok = ok && instance_attribute(vm, of, "__torch_function__", &hook, err) &&
	     vm_invoke(vm, hook, &(struct arguments){ all, 4, NULL }, out, err);
	value_unref(hook);
	value_unref(types);
	return ok;
}

/* What the classes of the arguments, and modes, make of f; `of` is one of them, UNSET: a mode is.
 */
static bool call_override(struct vm *vm, struct value of, struct value f,
			  const struct arguments *args, struct value *out, struct err *err)
{
	struct value given[3], handle = value_none();
	bool found, ok = packed(vm, f, args, given, err);

	if (ok && of.kind == VALUE_INSTANCE && of.instance->class->hidden)
		ok = ask_class(vm, of, given, out, err);
	else
		ok = ok && prelude_attribute(vm, "_tensor_class", "handle", &handle, &found, err) &&
		     vm_invoke(vm, handle, &(struct arguments){ given, 3, NULL }, out, err);
	value_unref(handle);
	for (int i = 0; i < 3; i++)
		value_unref(given[i]);
	return ok;
}

bool call_host_operator(struct vm *vm, const char *name, const struct value *operands, int n,
			struct value *out, struct err *err)
{
	struct value all[4], f;
	bool found, ok;

	if (!vm_keep(vm, value_str(name, strlen(name)), all, err))
		return false;
	memcpy(all + 1, operands, sizeof(*all) * (size_t)n);
	ok = prelude_attribute(vm, "_tensor_class", "operate", &f, &found, err);
	if (ok) {
		ok = vm_invoke(vm, f, &(struct arguments){ all, n + 1, NULL }, out, err);
		value_unref(f);
	}
	value_unref(all[0]);
	return ok;
}

/* A function of torch that is written in the prelude. */
static bool is_of_torch(const struct function *f)
{
	static const char *const modules[] = { "torch", "torch.nn.functional", "torch.linalg",
					       "torch.fft", "torch.special" };
	const char *module = f->unit->module;

	for (size_t i = 0; module && i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strcmp(modules[i], module) == 0)
			return f->code->name[0] != '_' || f->code->name[1] == '_';
	return false;
}

bool call_host_overridden(struct vm *vm, struct value f, const struct arguments *args,
			  struct value *out, bool *found, struct err *err)
{
	struct value of = { .kind = VALUE_UNSET };

	*found = is_of_torch(f.function) && in_function_mode(vm);
	if (!*found && is_of_torch(f.function)) {
		of = find_override(args);
		*found = of.kind == VALUE_INSTANCE && !of.instance->class->hidden;
	}
	return !*found || call_override(vm, of, f, args, out, err);
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
	struct value of = { .kind = VALUE_UNSET };

	if (in_function_mode(vm) && strncmp(f->name, "torch._C.", strlen("torch._C.")) != 0)
		return call_override(vm, of, value_of((void *)f), args, out, err);
	for (int i = 0; i < args->n; i++) {
		if (!holds_instance(args->at[i]))
			continue;
		of = find_override(args);
		return of.kind == VALUE_INSTANCE
			   ? call_override(vm, of, value_of((void *)f), args, out, err)
			   : call_with_arrays(vm, f, args, out, err);
	}
	if (call_of_host(vm, f, args, out, err))
		return true;
	if (!err || err->code != ERR_TYPE || !has_iterator(f, args))
		return false;
	*err = (struct err){ 0 };
	return call_with_lists(vm, f, args, out, err);
}
