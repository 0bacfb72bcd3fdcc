/* fusion/capture/generator.c -- see generator.h. */
#include "fusion/capture/generator.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/capture/classes.h"
#include "fusion/capture/inst.h"
#include "fusion/capture/run.h"

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
	g.generator->frame = own;
	frame_forget(vm);
	*out = g;
	return true;
}

static bool run_on(struct vm *vm, struct generator *g, struct value thrown, struct value *out,
		   bool *more, struct err *err)
{
	struct frame *f = g->frame;
	struct value handled = vm->handled;
	bool ok;

	f->up = vm->frame;
	vm->frame = f;
	vm->depth++;
	g->running = true;
	vm->handled = g->handled;
	ok = vm_run_generator(vm, f, thrown, out, more, err);
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

bool generator_resume(struct vm *vm, struct generator *g, struct value sent, struct value thrown,
		      struct value *out, bool *more, struct err *err)
{
	struct frame *f = g->frame;
	bool ok;

	*more = false;
	if (g->running)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "generator already executing");
	if (!f)
		return thrown.kind == VALUE_UNSET || except_throw(vm, thrown, err);
	if (vm->depth >= vm->limits.depth)
		return frame_too_deep(vm, f->code, err);
	if (sent.kind != VALUE_UNSET && f->inst == f->code->insts)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"can't send non-None value to a just-started generator");
	if (sent.kind != VALUE_UNSET)
		store(&f->top[-1], value_ref(sent)); /* what the yield gives */
	g->head.refs++;                              /* the program may drop it meanwhile */
	ok = run_on(vm, g, thrown, out, more, err);
	value_unref(value_of(g));
	return ok;
}

bool generator_next(struct vm *vm, struct generator *g, struct value *out, bool *more,
		    struct err *err)
{
	struct value none = { .kind = VALUE_UNSET };

	return generator_resume(vm, g, none, none, out, more, err);
}

void generator_visit(struct generator *g, object_visit_fn *visit, void *context)
{
	struct frame *f = g->frame;

	visit(g->handled, context);
	if (!f)
		return;
	for (struct value *v = f->locals; v < f->top; v++)
		visit(*v, context);
	if (f->function)
		visit(value_of(f->function), context);
}

void generator_release(struct generator *g)
{
	free(g->frame);
}
