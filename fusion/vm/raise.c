/* fusion/vm/raise.c -- exceptions: making them, and failing with them.
 *
 * Errors travel as struct err; what an except clause catches travels beside it
 * in vm->raised. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"

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

bool exception_force(struct vm *vm, struct value e, struct err *err)
{
	return op_force(vm, &e.instance->payload, err) &&
	       force_inside(vm, e.instance->payload, err);
}

bool exception_text(struct vm *vm, struct value e, struct buf *text, struct err *err)
{
	const struct list *args;
	bool key;

	if (e.kind != VALUE_INSTANCE)
		return true;
	if (!exception_force(vm, e, err))
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

const char *exception_words(const char *message, char text[ERR_MESSAGE_BYTES])
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
