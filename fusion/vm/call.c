/* fusion/vm/call.c -- calls, and what they call: functions and classes.
 *
 * A call of a program's function is a frame on the VM's stack; the evaluator is
 * asked once its arguments are bound.  A generator function's frame goes into a
 * generator instead. */
#include <stdlib.h>

#include <stdio.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/base/buf.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/call_host.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/namedtuple.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/run.h"

static bool vm_call_native(struct vm *vm, struct value callee, const struct arguments *args,
			   struct value *out, struct err *err);

/* Net.forward, as three texts: a function's name with its class before it. */
#define CALLED(code) (code)->owner ? (code)->owner : "", (code)->owner ? "." : "", (code)->name

/* ---- arguments to parameters, as CPython binds them.
 *
 * The order of the checks decides which message a wrong call gets, so it is
 * CPython's: keywords, too many, missing, defaults.
 */

static int count_given(const struct frame *f, int from, int to)
{
	int n = 0;

	for (int i = from; i < to; i++)
		n += f->locals[i].kind != VALUE_UNSET;
	return n;
}

static int count_defaults(const struct function *fn)
{
	return fn->defaults ? fn->defaults->len : 0;
}

static bool too_many(const struct frame *f, int given, struct err *err)
{
	const struct code *code = f->code;
	int most = code->n_positional, least = most - count_defaults(f->function);
	int kw = count_given(f, most, most + code->n_keyword_only);
	char takes[48], and_kw[80] = "";

	if (least < most)
		snprintf(takes, sizeof(takes), "from %d to %d", least, most);
	else
		snprintf(takes, sizeof(takes), "%d", most);
	if (kw > 0)
		snprintf(and_kw, sizeof(and_kw),
			 " positional argument%s (and %d keyword-only argument%s)",
			 given == 1 ? "" : "s", kw, kw == 1 ? "" : "s");
	return err_set(err, ERR_TYPE, "%s%s%s() takes %s positional argument%s but %d%s %s given",
		       CALLED(code), takes, most == 1 && least == most ? "" : "s", given, and_kw,
		       given == 1 && kw == 0 ? "was" : "were");
}

/* "missing 2 required positional arguments: 'x' and 'y'" */
static bool missing(const struct frame *f, int from, int to, const char *kind, struct err *err)
{
	struct buf names = { 0 };
	int n = to - from - count_given(f, from, to), seen = 0;

	for (int i = from; i < to; i++) {
		if (f->locals[i].kind != VALUE_UNSET)
			continue;
		if (seen > 0)
			buf_puts(&names, seen < n - 1 ? ", " : n > 2 ? ", and " : " and ");
		buf_printf(&names, "'%s'", f->code->locals[i]);
		seen++;
	}
	err_set(err, ERR_TYPE, "%s%s%s() missing %d required %s argument%s: %s", CALLED(f->code), n,
		kind, n == 1 ? "" : "s", names.data ? names.data : "");
	buf_finish(&names);
	return false;
}

/* As CPython says it, with the parameter that was meant. */
static bool unexpected(const struct code *code, const char *name, struct err *err)
{
	struct nearest n = nearest_to(name);

	for (int i = code->n_positional_only; i < code->n_positional + code->n_keyword_only; i++)
		nearest_offer(&n, code->locals[i]);
	if (n.best)
		return err_set(
		    err, ERR_TYPE,
		    "%s%s%s() got an unexpected keyword argument '%s'. Did you mean '%s'?",
		    CALLED(code), name, n.best);
	return err_set(err, ERR_TYPE, "%s%s%s() got an unexpected keyword argument '%s'",
		       CALLED(code), name);
}

/* A keyword that names no parameter: wrong, but those for positional-only ones come first. */
static bool not_a_keyword(const struct code *code, const struct keywords *kw, const char *name,
			  struct err *err)
{
	struct buf names = { 0 };

	for (int i = 0; i < code->n_positional_only; i++)
		for (int k = 0; k < kw->n; k++)
			if (strcmp(code->locals[i], kw->names[k].str->text) == 0)
				buf_printf(&names, "%s%s", names.len ? ", " : "", code->locals[i]);
	if (names.len)
		err_set(
		    err, ERR_TYPE,
		    "%s%s%s() got some positional-only arguments passed as keyword arguments: '%s'",
		    CALLED(code), names.data);
	else
		unexpected(code, name, err);
	buf_finish(&names);
	return false;
}

static bool bind_keyword(struct vm *vm, struct frame *f, const struct keywords *kw,
			 struct value name, struct value v, struct err *err)
{
	const struct code *code = f->code;
	int named = code->n_positional + code->n_keyword_only;

	for (int i = code->n_positional_only; i < named; i++) {
		if (strcmp(code->locals[i], name.str->text) != 0)
			continue;
		if (f->locals[i].kind != VALUE_UNSET)
			return err_set(err, ERR_TYPE,
				       "%s%s%s() got multiple values for argument '%s'",
				       CALLED(code), name.str->text);
		f->locals[i] = value_ref(v);
		return true;
	}
	if (!code->has_kwargs)
		return not_a_keyword(code, kw, name.str->text, err);
	if (!value_dict_set(f->locals[named + code->has_varargs].dict, name, v))
		return vm_out_of_memory(vm, err);
	return true;
}

static bool fill_defaults(struct frame *f, struct err *err)
{
	const struct code *code = f->code;
	const struct function *fn = f->function;
	int n = code->n_positional, first = n - count_defaults(fn);
	int named = n + code->n_keyword_only;
	bool complete = true;

	if (count_given(f, 0, first) < first)
		return missing(f, 0, first, "positional", err);
	for (int i = first; i < n; i++)
		if (f->locals[i].kind == VALUE_UNSET)
			f->locals[i] = value_ref(fn->defaults->at[i - first]);
	for (int i = n; i < named; i++) {
		struct value name, v;

		if (f->locals[i].kind != VALUE_UNSET)
			continue;
		name = fn->kwdefaults ? value_str(code->locals[i], strlen(code->locals[i]))
				      : value_none();
		if (name.kind == VALUE_STR && value_dict_get(fn->kwdefaults, name, &v))
			f->locals[i] = value_ref(v);
		else
			complete = false;
		value_unref(name);
	}
	return complete || missing(f, n, named, "keyword-only", err);
}

static bool bind_all(struct vm *vm, struct frame *f, const struct arguments *args, struct err *err)
{
	const struct code *code = f->code;
	int named = code->n_positional + code->n_keyword_only;
	int taken = args->n < code->n_positional ? args->n : code->n_positional;

	for (int i = 0; i < taken; i++)
		f->locals[i] = value_ref(args->at[i]);
	if (code->has_varargs &&
	    !vm_keep(vm, value_tuple(args->at + taken, args->n - taken), &f->locals[named], err))
		return false;
	if (code->has_kwargs &&
	    !vm_keep(vm, value_dict(), &f->locals[named + code->has_varargs], err))
		return false;
	for (int i = 0; args->kw && i < args->kw->n; i++)
		if (!bind_keyword(vm, f, args->kw, args->kw->names[i], args->at[args->n + i], err))
			return false;
	if (args->n > taken && !code->has_varargs)
		return too_many(f, args->n, err);
	return fill_defaults(f, err);
}

bool frame_bind(struct vm *vm, struct frame *f, const struct arguments *args, struct err *err)
{
	const struct code *code = f->code;
	int n_kw = args->kw ? args->kw->n : 0;

	if (n_kw || args->n != code->n_positional || code->n_keyword_only || code->has_varargs ||
	    code->has_kwargs) {
		if (!bind_all(vm, f, &(struct arguments){ args->at, args->n - n_kw, args->kw },
			      err))
			return false;
	} else {
		for (int i = 0; i < args->n; i++)
			f->locals[i] = value_ref(args->at[i]);
	}
	if (__builtin_expect(f->unit->refused != 0, 0) && !unused_keep_defaults(f, err))
		return false;
	return frame_enter(vm, f, err);
}

/* ---- calls of methods, classes and instances.
 *
 * vm_callable() says what ends in a program's function, so that the
 * interpreter can switch frames; all else is called from here.
 */

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
	if (!place || !realize(vm, place, &ignored))
		return false;
	*function = *place;
	return true;
}

/* The same of o(). */
static bool own_call(struct vm *vm, struct value o, struct value *function, struct value *self)
{
	struct value *place = class_lookup(o.instance->class, "__call__");
	struct err ignored;

	if (!place || !realize(vm, place, &ignored))
		return false;
	*function = *place;
	*self = o;
	return !is_module_call(*place) || own_method(vm, o, module_call_name(o), function, self);
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
	if (!absent_module_refused(vm, v, err))
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
	if (!realize(vm, place, err) ||
	    !instance_attribute(vm, o, is_module_call(*place) ? "forward" : "__call__", &f, err))
		return false;
	ok = vm_invoke(vm, f, args, out, err);
	value_unref(f);
	return ok;
}

/* Calls what is neither a program's function nor a native. */
static bool object_call(struct vm *vm, struct value callee, const struct arguments *args,
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
	else if (absent_module_is(vm, callee) && absent_module_may_wait(vm))
		*out = value_ref(callee), ok = true;
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

/* What the program's __new__ gives; it is static, whether it says so or not. */
static bool ask_new(struct vm *vm, struct class *class, const struct arguments *args,
		    struct value *out, struct err *err)
{
	struct value *place = class_lookup(class, "__new__"), f;
	bool ok;

	if (!realize(vm, place, err))
		return false;
	f = value_ref(place->kind == VALUE_DESCRIPTOR ? place->descriptor->get : *place);
	ok = call_with_self(vm, f, value_of(class), args, out, err);
	value_unref(f);
	return ok;
}

/* An instance before its __init__; an exception has its args by then. */
static bool allocate(struct vm *vm, struct class *class, const struct arguments *args,
		     struct value *out, struct err *err)
{
	if (class_derives_from(class, CLASS_BASE_EXCEPTION))
		return exception_with(vm, class, args->at, args->n - (args->kw ? args->kw->n : 0),
				      out, err);
	if (class->is_module && vm->host->makes_module &&
	    !vm->host->makes_module(vm_host_here(vm)->self, err))
		return false;
	if (class_lookup(class, "__new__"))
		return ask_new(vm, class, args, out, err);
	return vm_keep(vm, value_instance(class), out, err);
}

/* Whether a call of `class` made v, so that its __init__ is to run. */
static bool is_new_of(struct value v, const struct class *class)
{
	if (v.kind == VALUE_CLASS)
		return v.class->meta && class_derives(v.class->meta, class);
	return v.kind == VALUE_INSTANCE && class_derives(v.instance->class, class);
}

bool class_call(struct vm *vm, struct class *class, const struct arguments *args, struct value *out,
		struct err *err)
{
	struct value *place = class->meta ? class_lookup(class->meta, "__call__") : NULL, f;
	bool ok;

	if (place && !realize(vm, place, err))
		return false;
	if (!place || place->kind != VALUE_FUNCTION)
		return class_call_plain(vm, class, args, out, err);
	f = value_ref(*place);
	ok = call_with_self(vm, f, value_of(class), args, out, err);
	value_unref(f);
	return ok;
}

/* What of a class derived from abc.ABC is still to be written. */
static bool is_abstract(struct vm *vm, const struct class *class, struct err *err)
{
	struct value *left = value_dict_find(class->attributes, "__abstractmethods__");
	struct buf text = { .limit = 1000 };

	if (left && !realize(vm, left, err))
		return false;
	if (!left || left->kind != VALUE_SET || left->dict->len == 0)
		return true;
	for (int i = 0; i < left->dict->len; i++)
		buf_printf(&text, "%s'%s'", i ? ", " : "",
			   left->dict->keys[i].kind == VALUE_STR ? left->dict->keys[i].str->text
								 : "?");
	vm_raise(vm, CLASS_TYPE_ERROR, err,
		 "Can't instantiate abstract class %s without an implementation for abstract "
		 "method%s %s",
		 class->name, left->dict->len > 1 ? "s" : "", text.data ? text.data : "");
	buf_finish(&text);
	return false;
}

bool class_call_plain(struct vm *vm, struct class *class, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct value v, init, *place;
	bool ok = true;

	if (class->meta && !is_abstract(vm, class, err))
		return false;
	if (class->names)
		return namedtuple_new(vm, class, args, out, err);
	if (!class_find(vm, class, "__class_call__", &place, err)) /* the prelude's enum */
		return false;
	if (place && place->kind == VALUE_DESCRIPTOR)
		return call_with_self(vm, place->descriptor->get, value_of(class), args, out, err);
	if (!allocate(vm, class, args, &v, err))
		return false;
	if (!is_new_of(v, class)) {
		*out = v; /* of a __new__ that makes something else */
		return true;
	}
	place = class_lookup(class, "__init__");
	if (place) {
		ok = realize(vm, place, err);
		init = ok ? value_ref(*place) : UNSET;
		ok = ok && run_init(vm, v, init, args, err);
		value_unref(init);
	} else if (v.kind == VALUE_INSTANCE && args->n > 0 &&
		   v.instance->payload.kind == VALUE_UNSET && !class_lookup(class, "__new__")) {
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() takes no arguments", class->name);
	}
	if (ok)
		*out = v;
	else
		value_unref(v);
	return ok;
}

/* A class as the object that is called: by a method of its metaclass. */
static bool meta_call(struct vm *vm, const struct method_call *m, struct value *out, bool *found,
		      struct err *err)
{
	struct value *place = class_lookup(m->self->class->meta, m->name), f;
	bool ok;

	if (place && !realize(vm, place, err))
		return false;
	*found = place && place->kind == VALUE_FUNCTION;
	if (!*found)
		return true;
	f = value_ref(*place);
	ok = call_with_self(vm, f, *m->self, &(struct arguments){ m->args, m->n, NULL }, out, err);
	value_unref(f);
	return ok;
}

bool instance_call(struct vm *vm, const struct method_call *m, struct value *out, bool *found,
		   struct err *err)
{
	struct arguments args = { m->args, m->n, NULL };
	struct value *place, f;
	bool ok;

	*found = false;
	if (m->self->kind != VALUE_INSTANCE)
		return m->self->kind != VALUE_CLASS || !m->self->class->meta ||
		       meta_call(vm, m, out, found, err);
	place = class_lookup(m->self->instance->class, m->name);
	if (!place)
		return true;
	*found = true;
	if (!realize(vm, place, err))
		return false;
	f = value_ref(*place);
	if (f.kind == VALUE_FUNCTION) {
		ok = call_with_self(vm, f, *m->self, &args, out, err);
	} else {
		value_unref(f);
		if (!instance_attribute(vm, *m->self, m->name, &f, err))
			return false;
		ok = vm_invoke(vm, f, &args, out, err);
	}
	value_unref(f);
	return ok;
}

bool instance_argument(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	bool found = false;

	if (v.kind == VALUE_INSTANCE &&
	    !instance_call(vm, &(struct method_call){ &v, "_as_argument", NULL, 0 }, out, &found,
			   err))
		return false;
	if (!found)
		*out = value_ref(v);
	return true;
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

/* Where frames are captured each function is one of them. */
static __attribute__((noinline)) bool call_as_op(struct vm *vm, const struct function *fn,
						 const struct arguments *args, bool *known,
						 struct value *out, struct err *err)
{
	struct vm_host *host;

	*known = false;
	if (!vm->host->as_op || vm->evaluator.evaluate)
		return true;
	host = vm_host_here(vm);
	return host->as_op(host->self, fn->op, args, known, out, err);
}

/* The operands of f from `bottom` on are the call's; its result takes their
 * place, or its frame is the innermost. */
static inline bool call_function(struct vm *vm, struct frame *f, struct function *fn,
				 const struct arguments *args, struct value *bottom,
				 struct err *err)
{
	struct frame *g;
	struct value r;
	bool done;

	if (__builtin_expect(fn->op != NULL, 0)) {
		if (!call_as_op(vm, fn, args, &done, &r, err))
			return false;
		if (done) {
			drop(f, bottom);
			*f->top++ = r;
			return true;
		}
	}
	g = bound_frame(vm, fn, args, err);
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

/* f(..., out=y) of a function of torch that is written in the prelude and does not read `out`. */
static bool gives_out(const struct function *fn, const struct arguments *args)
{
	const struct code *code = fn->code;
	int n = args->kw ? args->kw->n : 0, named = code->n_positional + code->n_keyword_only;

	while (n > 0 && strcmp(args->kw->names[n - 1].str->text, "out") != 0)
		n--;
	if (n == 0 || !fn->unit->hidden)
		return false;
	for (int i = 0; i < named && i < 64; i++)
		if (strcmp(code->locals[i], "out") == 0)
			return code->unused >> i & 1;
	return false;
}

/* The same as write_out(f, ..., out=y). */
static bool call_writing(struct vm *vm, struct frame *f, struct value *slot, struct arguments *args,
			 struct value *bottom, struct err *err)
{
	struct value writer;
	bool found, ok;

	if (!prelude_attribute(vm, "_bases", "write_out", &writer, &found, err))
		return false;
	args->at = slot;
	args->n++;
	ok = call_function(vm, f, writer.function, args, bottom, err);
	value_unref(writer);
	return ok;
}

/* Any callee.  `slot`, before its arguments, is on the operand stack or in an array: where
 * the callee stands for a function with a first argument (a bound method, an instance
 * with __call__), that takes the slot. */
static bool call(struct vm *vm, struct frame *f, struct value *slot, struct arguments *args,
		 struct value *bottom, struct err *err)
{
	struct value function, self, callee = *slot, r;
	bool ok;

	if (callee.kind == VALUE_FUNCTION &&
	    __builtin_expect(vm->has_tensor_classes && callee.function->unit->hidden, 0)) {
		if (!call_host_overridden(vm, callee, args, &r, &ok, err))
			return false;
		if (ok) {
			drop(f, bottom);
			*f->top++ = r;
			return true;
		}
	}
	if (callee.kind == VALUE_FUNCTION)
		return __builtin_expect(args->kw && gives_out(callee.function, args), 0)
			   ? call_writing(vm, f, slot, args, bottom, err)
			   : call_function(vm, f, callee.function, args, bottom, err);
	if (callee.kind > VALUE_NATIVE && vm_callable(vm, callee, &function, &self)) {
		if (self.kind != VALUE_UNSET) {
			store(slot, self);
			args->at = slot;
			args->n++;
		}
		ok = call_function(vm, f, function.function, args, bottom, err);
		value_unref(function);
		return ok;
	}
	if (!vm_call_native(vm, callee, args, &r, err))
		return false;
	drop(f, bottom);
	*f->top++ = r;
	return realize(vm, &f->top[-1], err);
}

static bool call_with_names(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value names = f->top[-1], *args = f->top - 1 - n;
	struct keywords kw;
	bool ok;

	if (names.kind != VALUE_TUPLE || names.list->len > n)
		return err_set(err, ERR_INTERNAL, "CALL_KW without its names");
	kw = (struct keywords){ names.list->len, names.list->at };
	f->top--;
	ok = call(vm, f, args - 1, &(struct arguments){ args, n, &kw }, args - 1, err);
	value_unref(names);
	return ok;
}

/* f(*args, **kwargs): all arguments are put side by side, after the callee's
 * slot, in an array of their own. */
static bool call_spread(struct vm *vm, struct frame *f, struct err *err)
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
	ok = call(vm, f, all, &(struct arguments){ all + 1, n, dict && dict->len ? &kw : NULL },
		  f->top - 3, err);
	value_unref(named);
	for (int i = 0; i <= n; i++)
		value_unref(all[i]);
	free(all);
	return ok;
}

bool inst_call(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	struct value *slot = f->top - inst->arg - 1;
	struct arguments args = { slot + 1, inst->arg, NULL };

	if (__builtin_expect(inst->op == CODE_CALL_KW, 0))
		return call_with_names(vm, f, inst->arg, err);
	if (__builtin_expect(inst->op == CODE_CALL_EX, 0))
		return call_spread(vm, f, err);
	if (slot->kind == VALUE_FUNCTION && !vm->has_tensor_classes)
		return call_function(vm, f, slot->function, &args, slot, err);
	return call(vm, f, slot, &args, slot, err);
}

/* Builtins that only hand on what they get from argument `first` on, keywords
 * too, or know such text. */
static bool hands_on(const struct builtin *row, int index, bool keyword)
{
	static const struct {
		const char *name;
		int first;
	} rows[] = {
		{ "print", 0 },    { "str", 0 },
		{ "repr", 0 },     { "join", 0 },
		{ "append", 0 },   { "isinstance", 0 },
		{ "callable", 0 }, { "insert", 1 },
		{ "get", 1 },      { "setdefault", 1 },
		{ "setattr", 2 },  { "getattr", 2 },
		{ "next", 1 },     { "with_traceback", 0 },
		{ "type", 0 },     { "bool", 0 },
	};

	if (strcmp(row->name, "format") == 0)
		return index == 0 || row->scope[0] != '\0';
	if (strcmp(row->name, "dict") == 0 || strcmp(row->name, "update") == 0)
		return keyword;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(row->name, rows[i].name) == 0)
			return index >= rows[i].first;
	return false;
}

/* Text that a builtin looks at, or whose method it is, must be there. */
static bool text_arguments(struct vm *vm, const struct native *f, const struct arguments *args,
			   struct err *err)
{
	int positional = args->kw ? args->n - args->kw->n : args->n;

	if (f->self.kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, f->self, err);
	for (int i = 0; f->builtin && i < args->n; i++)
		if (args->at[i].kind == VALUE_DEFERRED_TEXT &&
		    !hands_on(builtin_row(f->id), i, i >= positional))
			return text_needed(vm, args->at[i], err);
	return true;
}

/* Builtins that store, hand on or count, but look at nothing inside. */
static bool looks_outside(const struct native *f)
{
	static const char *const names[] = {
		"append",     "callable",   "clear", "copy",    "delattr", "dict",     "enumerate",
		"extend",     "filter",     "get",   "getattr", "hasattr", "id",       "insert",
		"isinstance", "issubclass", "items", "iter",    "keys",    "len",      "list",
		"map",        "next",       "pop",   "range",   "reverse", "reversed", "setattr",
		"setdefault", "super",      "tuple", "type",    "update",  "values",   "zip",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->name, names[i]) == 0)
			return true;
	return false;
}

/* What a builtin may look at; only under a host that realizes lazy values. */
static bool realize_arguments(struct vm *vm, const struct native *f, const struct value *args,
			      int n, struct err *err)
{
	if (f->builtin && looks_outside(f))
		return true;
	for (int i = 0; i < n; i++)
		if (!realize_inside(vm, args[i], err))
			return false;
	return realize_inside(vm, f->self, err);
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

/* Calls anything but a program's function. */
static bool vm_call_native(struct vm *vm, struct value callee, const struct arguments *args,
			   struct value *out, struct err *err)
{
	struct vm_host *host;
	bool known;

	if (callee.kind != VALUE_NATIVE)
		return object_call(vm, callee, args, out, err);
	if (vm->host->realize && (!realize_arguments(vm, callee.native, args->at, args->n, err) ||
				  !text_arguments(vm, callee.native, args, err)))
		return false;
	if (!callee.native->builtin)
		return call_host(vm, callee.native, args, out, err);
	if (vm->host->math &&
	    (!args->kw || args->kw->n == 0 || rounds_to(callee.native, args->n, args->kw)) &&
	    is_symbolic(callee.native, args->at, args->n)) {
		host = vm_host_here(vm);
		if (!host->math(host->self, callee.native, args, &known, out, err))
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
		return vm_call_native(vm, callee, args, out, err) && realize(vm, out, err);
	f = bound_frame(vm, callee.function, args, err);
	if (!f || !evaluate(vm, f, &done, out, err))
		return false;
	return done || vm_run(vm, f, out, err);
}
