/* fusion/vm/generator.c -- frames that pause. */
#include "fusion/vm/generator.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/except.h"
#include "fusion/vm/run.h"

/* What a generator goes on with, each UNSET or not: its yield gives `sent`, or raises `thrown`. */
struct resumption {
	struct value sent, thrown;
};

static bool generator_resume(struct vm *vm, struct generator *g, const struct resumption *with,
			     struct value *out, bool *more, struct err *err);

/* ---- send, throw and close. ---- */

static const struct value UNSET = { .kind = VALUE_UNSET };
static const struct resumption GO_ON = { { .kind = VALUE_UNSET }, { .kind = VALUE_UNSET } };

bool generator_ended(struct vm *vm, struct value over, struct err *err)
{
	struct value v = over.kind == VALUE_GENERATOR ? over.generator->returned : UNSET, e;
	bool has = v.kind != VALUE_UNSET && v.kind != VALUE_NONE;
	struct class *class = class_builtin(vm, CLASS_STOP_ITERATION, err);

	if (!class || !exception_with(vm, class, &v, has, &e, err))
		return false;
	vm_forget_raised(vm);
	vm->raised = e;
	return err_set(err, class_error(class), "StopIteration: the iterator has no more items");
}

/* The value that it yields next, or StopIteration. */
static bool yielded(struct vm *vm, const struct builtin_call *call, bool ok, bool more,
		    struct err *err)
{
	return ok && (more || generator_ended(vm, call->self, err));
}

static bool generator_send(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value v = call->args[0];
	bool more,
	    ok = generator_resume(vm, call->self.generator,
				  &(struct resumption){ v.kind == VALUE_NONE ? UNSET : v, UNSET },
				  out, &more, err);

	return yielded(vm, call, ok, more, err);
}

static bool generator_throw(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value e, class = call->args[0];
	bool more, ok;

	if (call->n > 1 && class.kind == VALUE_CLASS && call->args[1].kind != VALUE_NONE)
		ok = call->args[1].kind == VALUE_INSTANCE &&
			     class_derives(call->args[1].instance->class, class.class)
			 ? exception_from(vm, call->args[1], &e, err)
			 : vm_invoke(vm, class, &(struct arguments){ &call->args[1], 1, NULL }, &e,
				     err);
	else
		ok = exception_from(vm, class, &e, err);
	if (!ok)
		return false;
	ok = generator_resume(vm, call->self.generator, &(struct resumption){ UNSET, e }, out,
			      &more, err);
	value_unref(e);
	return yielded(vm, call, ok, more, err);
}

static bool generator_close(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct generator *g = call->self.generator;
	struct value e, v;
	bool more, ok;

	*out = value_none();
	if (!g->frame)
		return true;
	if (!exception_new(vm, CLASS_GENERATOR_EXIT, "", &e, err))
		return false;
	ok = generator_resume(vm, g, &(struct resumption){ UNSET, e }, &v, &more, err);
	value_unref(e);
	if (ok && more) {
		value_unref(v);
		return vm_raise(vm, CLASS_RUNTIME_ERROR, err, "generator ignored GeneratorExit");
	}
	if (ok)
		return true;
	if (!vm_failed_with(vm, err, CLASS_GENERATOR_EXIT))
		return false;
	vm_forget_raised(vm);
	*err = (struct err){ 0 };
	return true;
}

/* The struct and its values lie in one block, so moving is copying. */
static struct frame *frame_move(const struct frame *f)
{
	struct frame *own = malloc(f->bytes);
	struct value *values = (struct value *)(own + 1);

	if (!own)
		return NULL;
	memcpy(own, f, f->bytes);
	own->locals = values;
	own->cells = values + (f->cells - f->locals);
	own->stack = values + (f->stack - f->locals);
	own->top = values + (f->top - f->locals);
	own->up = NULL;
	return own;
}

bool generator_make(struct vm *vm, struct frame *f, struct value *out, struct err *err)
{
	struct value v = value_generator(f->bytes), g;
	struct frame *own;

	if (!vm_keep(vm, v, &g, err)) {
		frame_pop(vm);
		return false;
	}
	own = frame_move(f);
	if (!own) {
		value_unref(g);
		frame_pop(vm);
		return vm_out_of_memory(vm, err);
	}
	own->generator = g.generator;
	g.generator->capture = vm->host->realize ? vm->host : NULL;
	g.generator->frame = own;
	g.generator->code = own->code;
	vm->generators_handle |= own->unit->handler != NULL;
	frame_forget(vm);
	*out = g;
	return true;
}

static bool run_on(struct vm *vm, struct generator *g, struct value thrown, struct value *out,
		   bool *more, struct err *err)
{
	struct frame *f = g->frame;
	struct value handled = vm->handled, v;
	bool ok;

	f->up = vm->frame;
	vm->frame = f;
	vm->depth++;
	g->running = true;
	vm->handled = g->handled;
	ok = vm_run_generator(vm, f, thrown, &v, more, err);
	if (ok && *more)
		*out = v;
	else if (ok)
		store(&g->returned, v);
	g->handled = vm->handled;
	vm->handled = handled;
	g->running = false;
	if (*more && ok) { /* paused: its frame is the innermost still */
		vm->frame = f->up;
		vm->depth--;
		f->up = NULL;
		return true;
	}
	if (!ok && vm_failed_with(vm, err, CLASS_STOP_ITERATION)) {
		int line = err->line, column = err->column;

		vm_raise(vm, CLASS_RUNTIME_ERROR, err, "generator raised StopIteration");
		err->line = line;
		err->column = column;
	}
	return ok;
}

/* The iterator whose items f hands on by `yield from`; NULL: none. */
static const struct iter *handed_on(const struct frame *f)
{
	if (f->inst == f->code->insts || f->inst[-1].op != CODE_YIELD || f->inst[-1].arg == 0 ||
	    f->top[-2].kind != VALUE_ITER)
		return NULL;
	return f->top[-2].iter;
}

static struct generator *inner(const struct frame *f)
{
	const struct iter *it = handed_on(f);

	return it && it->over.kind == VALUE_GENERATOR ? it->over.generator : NULL;
}

/* A value is sent to an iterator that takes none: f goes on with an error. */
static bool cannot_send(struct vm *vm, struct generator *g, struct value *out, bool *more,
			struct err *err)
{
	struct err why = { 0 };
	struct value own = { .kind = VALUE_UNSET };
	bool ok;

	vm_raise(vm, CLASS_ATTRIBUTE_ERROR, &why, "'%s' object has no attribute 'send'",
		 value_type_name(g->frame->top[-2]));
	if (!except_value(vm, &why, &own)) {
		if (err)
			*err = why;
		return false;
	}
	ok = run_on(vm, g, own, out, more, err);
	value_unref(own);
	return ok;
}

/* What is sent or thrown goes to the inner generator first.  *done: it has paused
 * again.  Else f goes on after the `yield from`, or where it is with an
 * exception of its own (with->thrown, a reference). */
static bool delegate(struct vm *vm, struct frame *f, struct resumption *with, struct value *out,
		     bool *done, struct err *err)
{
	struct err why = { 0 };

	if (generator_resume(vm, inner(f), with, out, done, &why)) {
		with->thrown.kind = VALUE_UNSET;
		if (*done)
			return true;
		value_unref(*--f->top); /* None, and the iterator */
		value_unref(*--f->top);
		f->inst = f->code->insts + f->inst[-2].arg;
		return true;
	}
	if (except_value(vm, &why, &with->thrown))
		return true;
	if (err)
		*err = why;
	return false;
}

static bool resume(struct vm *vm, struct generator *g, const struct resumption *with,
		   struct value *out, bool *more, struct err *err)
{
	struct generator *to = inner(g->frame);
	bool sends = with->sent.kind != VALUE_UNSET, done = false, ok;
	struct resumption own;

	if (to && to->frame && (sends || with->thrown.kind != VALUE_UNSET)) {
		own = *with;
		if (vm->depth >= vm->limits.depth)
			return frame_too_deep(vm, g->frame->code, err);
		g->running = true;
		vm->depth++;
		ok = delegate(vm, g->frame, &own, out, &done, err);
		vm->depth--;
		g->running = false;
		*more = done;
		if (!ok || done)
			return ok;
		ok = run_on(vm, g, own.thrown, out, more, err);
		value_unref(own.thrown);
		return ok;
	}
	if (sends && with->sent.kind != VALUE_NONE && !to && handed_on(g->frame))
		return cannot_send(vm, g, out, more, err);
	if (sends)
		store(&g->frame->top[-1], value_ref(with->sent)); /* what the yield gives */
	return run_on(vm, g, with->thrown, out, more, err);
}

/* The same, but the yield where it pauses raises or gives what `with` says. */
static bool generator_resume(struct vm *vm, struct generator *g, const struct resumption *with,
			     struct value *out, bool *more, struct err *err)
{
	struct frame *f = g->frame;
	bool ok;

	*more = false;
	if (g->running)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "generator already executing");
	if (!f) { /* what it returned is given once only */
		store(&g->returned, (struct value){ .kind = VALUE_UNSET });
		return with->thrown.kind == VALUE_UNSET || except_throw(vm, with->thrown, err);
	}
	if (vm->depth >= vm->limits.depth)
		return frame_too_deep(vm, f->code, err);
	if (with->sent.kind != VALUE_UNSET && f->inst == f->code->insts)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"can't send non-None value to a just-started generator");
	g->head.refs++; /* the program may drop it meanwhile */
	ok = resume(vm, g, with, out, more, err);
	value_unref(value_of(g));
	return ok;
}

bool generator_next(struct vm *vm, struct generator *g, struct value *out, bool *more,
		    struct err *err)
{
	return generator_resume(vm, g, &GO_ON, out, more, err);
}

/* Paused where a try or with statement is around it. */
static bool has_more(const struct generator *g)
{
	const struct frame *f = g->frame;

	return f && !g->running && f->unit->handler && f->inst > f->code->insts &&
	       f->unit->handler[f->inst - 1 - f->code->insts] >= 0;
}

bool generator_dropped(struct generator *g)
{
	struct heap *heap = g->head.heap;
	struct vm *vm = heap ? heap->vm : NULL;

	if (!vm || !vm->frame || heap->collecting || g->dropped || !has_more(g) ||
	    (g->capture && g->capture != vm->host))
		return false;
	g->dropped = true;
	g->head.refs = 1;
	g->next = vm->dropped;
	vm->dropped = g;
	return true;
}

/* No code catches what it raises then; what no program may catch ends the run. */
static bool close_dropped(struct vm *vm, struct generator *g, struct err *err)
{
	struct value e, v;
	struct err why = { 0 };
	bool more, ok;

	if (!exception_new(vm, CLASS_GENERATOR_EXIT, "", &e, err))
		return false;
	ok = generator_resume(vm, g, &(struct resumption){ UNSET, e }, &v, &more, &why);
	value_unref(e);
	if (ok && more)
		value_unref(v);
	if (ok)
		return true;
	ok = except_value(vm, &why, &v);
	if (ok)
		value_unref(v);
	else if (err)
		*err = why;
	return ok;
}

bool generators_close(struct vm *vm, struct err *err)
{
	bool ok = true;
	struct generator *list = vm->dropped, *first = NULL, *g;

	vm->dropped = NULL;
	while ((g = list)) { /* in the order in which they were dropped */
		list = g->next;
		g->next = first;
		first = g;
	}
	while ((g = first)) {
		first = g->next;
		ok = ok && close_dropped(vm, g, err);
		value_unref(value_of(g));
	}
	return ok;
}

void generators_forget(struct vm *vm, bool all)
{
	struct generator **place = &vm->dropped, *g;

	while ((g = *place)) {
		if (!all && !g->capture) {
			place = &g->next;
			continue;
		}
		*place = g->next;
		value_unref(value_of(g));
	}
}

bool generators_wait(const struct vm *vm)
{
	const struct object *list = &vm->heap->list;

	for (const struct object *o = list->next; o != list; o = o->next)
		if (o->kind == VALUE_GENERATOR) {
			const struct generator *g = (const struct generator *)o;

			if (g->capture && g->capture == vm->host && has_more(g))
				return true;
		}
	return false;
}

void generator_visit(struct generator *g, object_visit_fn *visit, void *context)
{
	struct frame *f = g->frame;

	visit(g->handled, context);
	visit(g->returned, context);
	if (!f)
		return;
	for (struct value *v = f->locals; v < f->top; v++)
		visit(*v, context);
	if (f->function)
		visit(value_of(f->function), context);
	if (f->module)
		visit(value_of(f->module), context);
}

#define BUILTINS_OF_GENERATOR
const struct builtin generator_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
