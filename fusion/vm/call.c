/* fusion/vm/call.c -- calls, and what they call: functions and classes.
 *
 * A call of a program's function is a frame on the VM's stack; the evaluator is
 * asked once its arguments are bound.  A generator function's frame goes into a
 * generator instead. */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/run.h"

void vm_set_evaluator(struct vm *vm, const struct vm_evaluator *e)
{
	vm->evaluator = e ? *e : (struct vm_evaluator){ 0 };
}

void vm_get_evaluator(const struct vm *vm, struct vm_evaluator *e)
{
	*e = vm->evaluator;
}

/* Frame f, the innermost, has its arguments: *done where it needs no run. */
static bool evaluate(struct vm *vm, struct frame *f, bool *done, struct value *out, struct err *err)
{
	struct vm_evaluator *e = &vm->evaluator;
	struct frame *caller = f->up;

	*done = false;
	if (__builtin_expect(f->code->is_generator, 0)) {
		*done = true;
		return generator_make(vm, f, out, err);
	}
	if (!e->evaluate || e->evaluate(e->self, vm, f, done, out, err)) {
		if (!*done)
			frame_mark(vm, f);
		return true;
	}
	while (vm->frame != caller)
		frame_pop(vm);
	return false;
}

static struct frame *bound_frame(struct vm *vm, struct function *fn, const struct arguments *args,
				 struct err *err)
{
	struct frame *f = frame_push(vm, fn->unit, fn, err);

	if (f && !frame_bind(vm, f, args, err)) {
		frame_pop(vm);
		return NULL;
	}
	return f;
}

/* The operands of f from `bottom` on are the call's; its result takes their
 * place, or its frame is the innermost. */
static inline bool call_function(struct vm *vm, struct frame *f, struct function *fn,
				 const struct arguments *args, struct value *bottom,
				 struct err *err)
{
	struct frame *g = bound_frame(vm, fn, args, err);
	struct value r;
	bool done;

	if (!g)
		return false;
	drop(f, bottom);
	if (!vm->evaluator.evaluate && !g->code->is_generator) {
		frame_mark(vm, g);
		return true;
	}
	if (!evaluate(vm, g, &done, &r, err))
		return false;
	if (done)
		*f->top++ = r;
	return true;
}

/* Any callee.  args[-1] is its slot on the operand stack or in an array: where
 * it stands for a function with a first argument (a bound method, an instance
 * with __call__), that takes the slot. */
static bool call(struct vm *vm, struct frame *f, struct value *args, int n,
		 const struct keywords *kw, struct value *bottom, struct err *err)
{
	struct value function, self, callee = args[-1], r;
	bool ok;

	if (callee.kind == VALUE_FUNCTION)
		return call_function(vm, f, callee.function, &(struct arguments){ args, n, kw },
				     bottom, err);
	if (callee.kind > VALUE_NATIVE && vm_callable(vm, callee, &function, &self)) {
		if (self.kind != VALUE_UNSET) {
			store(--args, self);
			n++;
		}
		ok = call_function(vm, f, function.function, &(struct arguments){ args, n, kw },
				   bottom, err);
		value_unref(function);
		return ok;
	}
	if (!vm_call_native(vm, callee, &(struct arguments){ args, n, kw }, &r, err))
		return false;
	drop(f, bottom);
	*f->top++ = r;
	return force(vm, &f->top[-1], err);
}

bool inst_call(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value *args = f->top - n;

	return call(vm, f, args, n, NULL, args - 1, err);
}

bool inst_call_kw(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value names = f->top[-1], *args = f->top - 1 - n;
	struct keywords kw;
	bool ok;

	if (names.kind != VALUE_TUPLE || names.list->len > n)
		return err_set(err, ERR_INTERNAL, "CALL_KW without its names");
	kw = (struct keywords){ names.list->len, names.list->at };
	f->top--;
	ok = call(vm, f, args, n, &kw, args - 1, err);
	value_unref(names);
	return ok;
}

/* f(*args, **kwargs): all arguments are put side by side, behind the callee's
 * slot, in an array of their own. */
bool inst_call_ex(struct vm *vm, struct frame *f, struct err *err)
{
	struct value callee = f->top[-3], args = f->top[-2], named = f->top[-1], *all;
	const struct dict *dict = named.kind == VALUE_DICT ? named.dict : NULL;
	int positional, n;
	struct keywords kw;
	bool ok;

	if (args.kind != VALUE_TUPLE && args.kind != VALUE_LIST)
		return err_set(err, ERR_INTERNAL, "CALL_EX without its arguments");
	positional = args.list->len;
	n = positional + (dict ? dict->len : 0);
	if (!vm_spend(vm, n, err) || !vm_room(vm, n + 1, sizeof(*all), err))
		return false;
	all = malloc(sizeof(*all) * ((size_t)n + 1));
	if (!all)
		return vm_out_of_memory(vm, err);
	all[0] = value_ref(callee);
	for (int i = 0; i < n; i++) {
		struct value *from = i < positional ? &args.list->at[i]
						    : &dict->values[i - positional];

		all[i + 1] = value_ref(*from);
	}
	if (dict)
		kw = (struct keywords){ dict->len, dict->keys };
	/* the dict is held until its keys were read: its operand goes with the others */
	value_ref(named);
	ok = call(vm, f, all + 1, n, dict && dict->len ? &kw : NULL, f->top - 3, err);
	value_unref(named);
	for (int i = 0; i <= n; i++)
		value_unref(all[i]);
	free(all);
	return ok;
}

bool inst_make_function(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const struct unit *unit = &f->unit->nested[arg];
	struct value defaults = f->top[-3], kw = f->top[-2], closure = f->top[-1], v;
	int free_cells = unit->code->n_cells - unit->code->n_own_cells;

	if ((closure.kind == VALUE_TUPLE ? closure.list->len : 0) != free_cells)
		return err_set(err, ERR_INTERNAL, "the closure of %s does not fit its code",
			       unit->code->name);
	if (!vm_keep(vm, value_function(unit->code), &v, err))
		return false;
	v.function->unit = unit;
	if (defaults.kind == VALUE_TUPLE)
		v.function->defaults = value_ref(defaults).list;
	if (kw.kind == VALUE_DICT)
		v.function->kwdefaults = value_ref(kw).dict;
	if (closure.kind == VALUE_TUPLE)
		v.function->closure = value_ref(closure).list;
	replace(f, 3, v);
	return true;
}

/* The class body runs as a call whose names go to the class's dict. */
static bool run_body(struct vm *vm, struct function *body, struct value namespace,
		     struct value *out, struct err *err)
{
	struct frame *g = frame_push(vm, body->unit, body, err);

	if (!g)
		return false;
	g->namespace = value_ref(namespace).dict;
	if (!frame_enter(vm, g, err)) {
		frame_pop(vm);
		return false;
	}
	return vm_run(vm, g, out, err);
}

bool inst_make_class(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value *bases = f->top - n, body = bases[-2], namespace, cell, r;
	bool ok;

	if (body.kind != VALUE_FUNCTION || !body.function->code->has_namespace)
		return err_set(err, ERR_INTERNAL, "MAKE_CLASS without a class body");
	if (vm->host->may_define && !f->unit->hidden &&
	    !vm->host->may_define(vm_host_here(vm)->self, body.function->code->name, err))
		return false;
	if (!vm_keep(vm, value_dict(), &namespace, err))
		return false;
	ok = run_body(vm, body.function, namespace, &cell, err);
	if (ok) {
		ok = class_make(vm, bases[-1], bases, n, namespace.dict, &r, err);
		if (ok)
			r.class->hidden = f->unit->hidden;
		if (ok && cell.kind == VALUE_CELL) /* __class__ of its methods */
			store(&cell.cell->content, value_ref(r));
		value_unref(cell);
	}
	value_unref(namespace);
	if (ok)
		replace(f, n + 2, r);
	return ok;
}

/* round(x, ndigits=2): the same by place. */
static bool rounds_to(const struct native *f, int n, const struct keywords *kw)
{
	return n == 2 && kw->n == 1 && strcmp(f->name, "round") == 0 &&
	       strcmp(kw->names[0].str->text, "ndigits") == 0;
}

/* A function of math, abs() or round(), that meets a number of the host. */
static bool is_symbolic(const struct native *f, const struct value *args, int n)
{
	const struct builtin *row = builtin_row(f->id);

	if (strcmp(row->scope, "math") != 0 &&
	    (row->scope[0] != '\0' ||
	     (strcmp(row->name, "abs") != 0 && strcmp(row->name, "round") != 0)))
		return false;
	for (int i = 0; i < n; i++)
		if (args[i].kind != VALUE_TENSOR && value_is_hosted(args[i]))
			return true;
	return false;
}

/* torch.Tensor.add(x, y) is x.add(y). */
static bool call_of_host(struct vm *vm, const struct native *f, const struct arguments *args,
			 struct value *out, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct native bound;

	if (f->self.kind != VALUE_UNSET || f->name[0] != 'T' ||
	    strncmp(f->name, "Tensor.", strlen("Tensor.")) != 0)
		return host->call(host->self, f, args, out, err);
	if (args->n == 0 || args->at[0].kind != VALUE_TENSOR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"%s() wants a tensor as its first argument", f->name);
	bound = *f;
	bound.self = args->at[0];
	return host->call(host->self, &bound,
			  &(struct arguments){ args->at + 1, args->n - 1, args->kw }, out, err);
}

bool vm_call_native(struct vm *vm, struct value callee, const struct arguments *args,
		    struct value *out, struct err *err)
{
	struct vm_host *host;
	bool known;

	if (callee.kind != VALUE_NATIVE)
		return object_call(vm, callee, args, out, err);
	if (vm->host->force && (!force_arguments(vm, callee.native, args->at, args->n, err) ||
				!text_arguments(vm, callee.native, args, err)))
		return false;
	if (!callee.native->builtin)
		return call_of_host(vm, callee.native, args, out, err);
	if (vm->host->math &&
	    (!args->kw || args->kw->n == 0 || rounds_to(callee.native, args->n, args->kw)) &&
	    is_symbolic(callee.native, args->at, args->n)) {
		host = vm_host_here(vm);
		if (!host->math(host->self, callee.native, args->at, args->n, &known, out, err))
			return false;
		if (known)
			return true;
	}
	return builtin_call(vm, callee.native, args, out, err);
}

bool vm_invoke(struct vm *vm, struct value callee, const struct arguments *args, struct value *out,
	       struct err *err)
{
	struct frame *f;
	bool done;

	if (callee.kind != VALUE_FUNCTION)
		return vm_call_native(vm, callee, args, out, err) && force(vm, out, err);
	f = bound_frame(vm, callee.function, args, err);
	if (!f || !evaluate(vm, f, &done, out, err))
		return false;
	return done || vm_run(vm, f, out, err);
}
