/* fusion/vm/methods_generator.c -- send, throw and close. */
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"

static const struct value UNSET = { .kind = VALUE_UNSET };

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

bool generator_send(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	struct value v = call->args[0];
	bool more, ok = generator_resume(vm, call->self.generator, v.kind == VALUE_NONE ? UNSET : v,
					 UNSET, out, &more, err);

	return yielded(vm, call, ok, more, err);
}

bool generator_throw(struct vm *vm, const struct builtin_call *call, struct value *out,
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
	ok = generator_resume(vm, call->self.generator, UNSET, e, out, &more, err);
	value_unref(e);
	return yielded(vm, call, ok, more, err);
}

bool generator_close(struct vm *vm, const struct builtin_call *call, struct value *out,
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
	ok = generator_resume(vm, g, UNSET, e, &v, &more, err);
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
