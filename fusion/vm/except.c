/* fusion/vm/except.c -- exceptions on their way, and with statements.
 *
 * C code fails with a struct err; what a program may catch of that becomes an
 * exception here, where a frame handles it, and an exception that goes on is
 * an error again.  vm->raised is the exception that *err stands for. */
#include <string.h>

#include <stdarg.h>
#include <stdio.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/except.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"

/* ---- exceptions: making them, and failing with them.
 *
 * Errors travel as struct err; what an except clause catches travels beside it
 * in vm->raised.
 */

bool exception_with(struct vm *vm, struct class *class, const struct value *args, int n,
		    struct value *out, struct err *err)
{
	struct value v, payload;

	if (!vm_keep(vm, value_instance(class), &v, err))
		return false;
	if (!vm_keep(vm, value_tuple(args, n), &payload, err)) {
		value_unref(v);
		return false;
	}
	v.instance->payload = payload;
	*out = v;
	return true;
}

bool exception_new(struct vm *vm, enum class_id id, const char *text, struct value *out,
		   struct err *err)
{
	struct class *class = class_builtin(vm, id, err);
	struct value argument;
	bool ok;

	if (!class || !vm_keep(vm, value_str(text, strlen(text)), &argument, err))
		return false;
	ok = exception_with(vm, class, &argument, 1, out, err);
	value_unref(argument);
	return ok;
}

bool exception_from(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	if (v.kind == VALUE_CLASS && class_derives_from(v.class, CLASS_BASE_EXCEPTION))
		return class_call(vm, v.class, &(struct arguments){ NULL, 0, NULL }, out, err);
	if (v.kind == VALUE_INSTANCE &&
	    class_derives_from(v.instance->class, CLASS_BASE_EXCEPTION)) {
		*out = value_ref(v);
		return true;
	}
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "exceptions must derive from BaseException");
}

bool exception_realize(struct vm *vm, struct value e, struct err *err)
{
	return realize(vm, &e.instance->payload, err) &&
	       realize_inside(vm, e.instance->payload, err);
}

bool exception_text(struct vm *vm, struct value e, struct buf *text, struct err *err)
{
	const struct list *args;
	bool key;

	if (e.kind != VALUE_INSTANCE)
		return true;
	if (!exception_realize(vm, e, err))
		return false;
	if (e.instance->payload.kind != VALUE_TUPLE)
		return true;
	args = e.instance->payload.list;
	key = class_derives_from(e.instance->class, CLASS_KEY_ERROR); /* prints the repr */
	if (args->len == 0)
		return true;
	if (args->len == 1)
		return builtin_text(vm, args->at[0], !key, text, err);
	return builtin_text(vm, e.instance->payload, false, text, err);
}

enum err_code class_error(const struct class *class)
{
	static const struct {
		enum class_id id;
		enum err_code code;
	} codes[] = {
		{ CLASS_TYPE_ERROR, ERR_TYPE },           { CLASS_NAME_ERROR, ERR_NAME },
		{ CLASS_ATTRIBUTE_ERROR, ERR_NAME },      { CLASS_MODULE_NOT_FOUND, ERR_NAME },
		{ CLASS_RECURSION_ERROR, ERR_RECURSION },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (class_derives_from(class, codes[i].id))
			return codes[i].code;
	return ERR_VALUE;
}

/* For a message: each gap becomes "...". */
static void text_close_gaps(struct buf *text)
{
	char *to = text->data;

	if (!text_has_gaps(text))
		return;
	for (size_t i = 0; i < text->len;) {
		if ((unsigned char)text->data[i] != TEXT_GAP) {
			*to++ = text->data[i++];
			continue;
		}
		memcpy(to, "...", 3);
		to += 3;
		i += TEXT_GAP_BYTES;
	}
	*to = '\0';
	text->len = (size_t)(to - text->data);
}

/* What a program sees of a message: without the suggestion of what was meant. */
static const char *exception_words(const char *message, char text[ERR_MESSAGE_BYTES])
{
	char *end;

	snprintf(text, ERR_MESSAGE_BYTES, "%s", message);
	end = strstr(text, "; did you mean");
	if (end)
		*end = '\0';
	return text;
}

void vm_forget_raised(struct vm *vm)
{
	struct value old = vm->raised;

	vm->raised = (struct value){ .kind = VALUE_UNSET };
	value_unref(old);
}

#undef vm_raise /* the words of tests/analyzer.h for it */
bool vm_raise(struct vm *vm, enum class_id id, struct err *err, const char *format, ...)
{
	char text[ERR_MESSAGE_BYTES], words[ERR_MESSAGE_BYTES];
	struct value e;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!exception_new(vm, id, exception_words(text, words), &e, err))
		return false;
	vm_forget_raised(vm);
	vm->raised = e;
	return err_set(err, class_error(e.instance->class), "%s", text);
}

bool vm_raise_key(struct vm *vm, struct value key, struct err *err, const char *text)
{
	struct class *class = class_builtin(vm, CLASS_KEY_ERROR, err);
	struct value e;

	if (!class || !exception_with(vm, class, &key, 1, &e, err))
		return false;
	vm_forget_raised(vm);
	vm->raised = e;
	return err_set(err, ERR_VALUE, "%s", text);
}

bool vm_failed_with(const struct vm *vm, const struct err *err, enum class_id id)
{
	if (vm->raised.kind == VALUE_INSTANCE)
		return class_derives_from(vm->raised.instance->class, id);
	return (id == CLASS_ATTRIBUTE_ERROR && err->code == ERR_NAME) ||
	       (id == CLASS_INDEX_ERROR && err->code == ERR_INDEX);
}

static bool catchable(enum err_code code)
{
	switch (code) {
	case ERR_NAME:
	case ERR_TYPE:
	case ERR_SHAPE:
	case ERR_VALUE:
	case ERR_OP:
	case ERR_DTYPE:
	case ERR_INDEX:
	case ERR_RECURSION:
	case ERR_BOUND:
		return true;
	default: /* limits, breaks and internal faults end the run */
		return false;
	}
}

/* Whether the exit of a manager, by its code, may say that the error ends there: unless all it
 * does is to go to its end, or to a `return False`. */
static bool may_end_error(struct value leave)
{
	struct value f = leave.kind == VALUE_METHOD ? leave.method->function : leave;
	const struct code *code;

	if (f.kind != VALUE_FUNCTION)
		return true;
	code = f.function->unit->code;
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i], *before = inst - 1;
		const struct lang_const *c;

		if (inst->op == CODE_JUMP)
			return true;
		if (inst->op != CODE_RETURN)
			continue;
		c = i && before->op == CODE_LOAD_CONST ? &code->consts[before->arg] : NULL;
		if (!c || !(c->kind == CONST_NONE || (c->kind == CONST_BOOL && !c->b)))
			return true;
	}
	return false;
}

bool frame_is_tried(const struct frame *f)
{
	ptrdiff_t at = f->inst - f->code->insts;

	for (int k = 0; k < f->code->n_handlers; k++) {
		const struct lang_handler *h = &f->code->handlers[k];

		if (at < h->start || at >= h->end || h->kind == HANDLER_CLEANUP)
			continue;
		if (h->kind == HANDLER_TRY || (h->depth >= 1 && f->top - f->stack >= h->depth &&
					       may_end_error(f->stack[h->depth - 1])))
			return true;
	}
	return false;
}

/* Fails with exception e: the error that leaves the program if nothing catches
 * it.  What the VM itself raised keeps its words. */
bool except_throw(struct vm *vm, struct value e, struct err *err)
{
	struct instance *i = e.instance;
	struct buf text = { 0 };
	struct value held = value_ref(e);

	if (!exception_text(vm, e, &text, err)) {
		buf_finish(&text);
		value_unref(held);
		return false;
	}
	text_close_gaps(&text);
	if (i->code != ERR_NONE && text.len)
		err_set(err, i->code, "%s", text.data);
	else
		err_set(err, i->code != ERR_NONE ? i->code : class_error(i->class), "%s%s%s",
			i->class->name, text.len ? ": " : "", text.len ? text.data : "");
	buf_finish(&text);
	err->line = i->line;
	err->column = i->column;
	vm_forget_raised(vm);
	vm->raised = held;
	return false;
}

/* The exception that *err stands for; vm->raised is then empty. */
static bool exception_of(struct vm *vm, const struct err *err, struct value *out, struct err *fault)
{
	static const enum class_id classes[ERR_COUNT] = {
		[ERR_NAME] = CLASS_NAME_ERROR,           [ERR_TYPE] = CLASS_TYPE_ERROR,
		[ERR_SHAPE] = CLASS_RUNTIME_ERROR,       [ERR_VALUE] = CLASS_VALUE_ERROR,
		[ERR_RECURSION] = CLASS_RECURSION_ERROR, [ERR_BOUND] = CLASS_RUNTIME_ERROR,
		[ERR_OP] = CLASS_RUNTIME_ERROR,          [ERR_INDEX] = CLASS_INDEX_ERROR,
		[ERR_DTYPE] = CLASS_RUNTIME_ERROR,
	};
	struct value e = vm->raised;
	char words[ERR_MESSAGE_BYTES];
	struct instance *i;

	vm->raised = (struct value){ .kind = VALUE_UNSET };
	if (e.kind == VALUE_INSTANCE && class_error(e.instance->class) != err->code &&
	    e.instance->code != err->code) { /* of an error that went unnoticed */
		value_unref(e);
		e.kind = VALUE_UNSET;
	}
	if (e.kind != VALUE_INSTANCE) {
		if (!exception_new(vm, classes[err->code], exception_words(err->message, words), &e,
				   fault))
			return false;
	}
	i = e.instance;
	if (i->line == 0) { /* the VM's own: it was not a raise statement */
		i->code = err->code;
		i->line = err->line;
		i->column = err->column;
	}
	*out = e;
	return true;
}

bool except_value(struct vm *vm, const struct err *err, struct value *out)
{
	struct err fault = { 0 };

	return catchable(err->code) && exception_of(vm, err, out, &fault);
}

static const struct lang_handler *handler_of(const struct frame *f)
{
	int at = (int)(f->inst - f->code->insts), which;

	if (!f->unit->handler)
		return NULL;
	which = f->unit->handler[at];
	return which < 0 ? NULL : &f->code->handlers[which];
}

bool vm_catch(struct vm *vm, const struct frame *base, struct err *err)
{
	const struct lang_handler *h;
	struct frame *f = vm->frame;
	struct err fault = { 0 };
	struct value e;

	if (!catchable(err->code) ||
	    (vm->host->not_known && vm->host->not_known(vm->host->self, err)))
		return false;
	while (!(h = handler_of(f)) && f != base)
		f = f->up;
	if (!h)
		return false;
	if (!exception_of(vm, err, &e, &fault)) {
		*err = fault;
		return false;
	}
	while (vm->frame != f)
		frame_pop(vm);
	if (f->top < f->stack + h->depth) {
		value_unref(e);
		return err_set(err, ERR_INTERNAL, "a handler of %s finds too few operands",
			       f->code->name);
	}
	drop(f, f->stack + h->depth);
	*f->top++ = e;
	f->inst = f->code->insts + h->target;
	*err = (struct err){ 0 };
	return true;
}

/* What `from` is given: None, an exception, or a class of them, which is called. */
static bool cause_from(struct vm *vm, struct value *cause, struct err *err)
{
	struct value given = *cause;

	if (given.kind == VALUE_NONE)
		return true;
	*cause = (struct value){ .kind = VALUE_UNSET };
	if (given.kind == VALUE_CLASS
		? !class_derives_from(given.class, CLASS_BASE_EXCEPTION)
		: given.kind != VALUE_INSTANCE ||
		      !class_derives_from(given.instance->class, CLASS_BASE_EXCEPTION))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"exception causes must derive from BaseException");
	return exception_from(vm, given, cause, err);
}

static bool raise_statement(struct vm *vm, struct frame *f, int n, struct err *err)
{
	const struct frame *place;
	struct value e, cause = n == 2 ? f->top[-1] : value_none();
	bool ok;

	if (n == 0) {
		if (vm->handled.kind != VALUE_INSTANCE)
			return vm_raise(vm, CLASS_RUNTIME_ERROR, err,
					"No active exception to reraise");
		return except_throw(vm, vm->handled, err);
	}
	if (!exception_from(vm, f->top[-n], &e, err))
		return false;
	if (n == 2) {
		ok = cause_from(vm, &cause, err) &&
		     op_store_attribute(vm, e, "__cause__", cause, err) &&
		     op_store_attribute(vm, e, "__suppress_context__", value_bool(true), err);
		value_unref(cause);
		if (!ok) {
			value_unref(e);
			return false;
		}
	}
	if (vm->handled.kind == VALUE_INSTANCE && vm->handled.object != e.object &&
	    !op_store_attribute(vm, e, "__context__", vm->handled, err)) {
		value_unref(e);
		return false;
	}
	place = vm_visible_frame(vm);
	if (e.instance->line == 0 && place) {
		e.instance->line = place->inst->line;
		e.instance->column = place->inst->column;
	}
	except_throw(vm, e, err);
	value_unref(e);
	return false;
}

static bool reraise(struct vm *vm, struct frame *f, struct err *err)
{
	if (f->top[-1].kind != VALUE_INSTANCE)
		return err_set(err, ERR_INTERNAL, "RERAISE of what is no exception");
	return except_throw(vm, f->top[-1], err);
}

static void push_handled(struct vm *vm, struct frame *f)
{
	struct value old = vm->handled;

	vm->handled = value_ref(f->top[-1]);
	f->top[0] = f->top[-1];
	f->top[-1] = old.kind == VALUE_UNSET ? value_none() : old;
	f->top++;
}

static void pop_handled(struct vm *vm, struct frame *f)
{
	struct value old = *--f->top;

	if (old.kind == VALUE_NONE)
		old.kind = VALUE_UNSET;
	store(&vm->handled, old);
}

/* One class of an except clause. */
static bool matches(struct vm *vm, struct value e, struct value type, bool *yes, struct err *err)
{
	if (type.kind != VALUE_CLASS || !class_derives_from(type.class, CLASS_BASE_EXCEPTION))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"catching classes that do not inherit from BaseException is not "
				"allowed");
	*yes = e.kind == VALUE_INSTANCE && class_derives(e.instance->class, type.class);
	return true;
}

static bool exc_match(struct vm *vm, struct frame *f, struct err *err)
{
	struct value e = f->top[-2], type = f->top[-1];
	bool yes = false;

	if (type.kind == VALUE_TUPLE) {
		for (int i = 0; i < type.list->len && !yes; i++)
			if (!realize(vm, &type.list->at[i], err) ||
			    !matches(vm, e, type.list->at[i], &yes, err))
				return false;
	} else if (!matches(vm, e, type, &yes, err)) {
		return false;
	}
	replace(f, 1, value_bool(yes));
	return true;
}

static bool context_method(struct vm *vm, struct value m, const char *name, struct value *out,
			   struct err *err)
{
	struct err why = { 0 };

	if (op_attribute(vm, NULL, m, name, out, &why))
		return realize(vm, out, err);
	if (why.code != ERR_NAME) {
		*err = why;
		return false;
	}
	return vm_raise(vm, CLASS_TYPE_ERROR, err,
			"'%s' object does not support the context manager protocol: it has no %s",
			value_type_name(m), name);
}

static bool before_with(struct vm *vm, struct frame *f, struct err *err)
{
	struct value m = f->top[-1], enter, leave, entered;
	bool ok;

	if (!context_method(vm, m, "__enter__", &enter, err))
		return false;
	if (!context_method(vm, m, "__exit__", &leave, err)) {
		value_unref(enter);
		return false;
	}
	ok = vm_invoke(vm, enter, &(struct arguments){ NULL, 0, NULL }, &entered, err);
	value_unref(enter);
	if (!ok) {
		value_unref(leave);
		return false;
	}
	replace(f, 1, leave);
	*f->top++ = entered;
	return true;
}

static bool with_exit(struct vm *vm, struct frame *f, struct err *err)
{
	struct value none[3] = { value_none(), value_none(), value_none() }, r;

	if (!vm_invoke(vm, f->top[-1], &(struct arguments){ none, 3, NULL }, &r, err))
		return false;
	value_unref(r);
	value_unref(*--f->top);
	return true;
}

static bool with_except(struct vm *vm, struct frame *f, struct err *err)
{
	struct value e = f->top[-1], args[3] = { value_none(), e, value_none() }, r;
	bool ok, yes;

	if (e.kind != VALUE_INSTANCE)
		return err_set(err, ERR_INTERNAL, "WITH_EXCEPT without an exception");
	args[0] = value_of(e.instance->class);
	if (!vm_invoke(vm, f->top[-3], &(struct arguments){ args, 3, NULL }, &r, err))
		return false;
	ok = op_truth(vm, r, &yes, err);
	value_unref(r);
	if (ok)
		*f->top++ = value_bool(yes);
	return ok;
}

bool inst_exception(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	switch (inst->op) {
	case CODE_RAISE:
		return raise_statement(vm, f, inst->arg, err);
	case CODE_RERAISE:
		return reraise(vm, f, err);
	case CODE_PUSH_EXC:
		push_handled(vm, f);
		return true;
	case CODE_POP_EXC:
		pop_handled(vm, f);
		return true;
	case CODE_EXC_MATCH:
		return exc_match(vm, f, err);
	case CODE_BEFORE_WITH:
		return before_with(vm, f, err);
	case CODE_WITH_EXIT:
		return with_exit(vm, f, err);
	case CODE_WITH_EXCEPT:
		return with_except(vm, f, err);
	default:
		return err_set(err, ERR_INTERNAL, "instruction %d is unknown to the VM",
			       (int)inst->op);
	}
}
