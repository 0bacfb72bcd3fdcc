/* fusion/vm/unread.c -- see unread.h. */
#include "fusion/vm/unread.h"

#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/vm/placement.h"

enum { MANY = 64 };

static const struct {
	const char *module, *function, *parameter, *why;
} any[] = {
#define ANY(module, function, parameter, why) { module, function, parameter, why },
#include "fusion/vm/unread.def"
#undef ANY
};

static bool fits(const char *pattern, const char *name)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static bool is_free(const char *module, const char *function, const char *parameter)
{
	const char *method = strchr(function, '.');

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		if (fits(any[i].module, module) && fits(any[i].parameter, parameter) &&
		    (fits(any[i].function, function) ||
		     (method && strcmp(any[i].function, method + 1) == 0)))
			return true;
	return false;
}

/* Of a method, or of a function that is a tensor's: the call gives it. */
static bool is_self(const struct code *code)
{
	return code->n_positional > 0 && (code->owner || strcmp(code->locals[0], "self") == 0);
}

uint64_t unread_refused(const struct code *code, const char *module)
{
	uint64_t refused = code->unread;
	char function[160];

	if (!refused || !module)
		return 0;
	snprintf(function, sizeof(function), "%s%s%s", code->owner ? code->owner : "",
		 code->owner ? "." : "", code->name);
	for (int i = 0; i < code->n_locals && i < MANY; i++)
		if ((refused >> i & 1) &&
		    (is_free(module, function, code->locals[i]) || (i == 0 && is_self(code))))
			refused &= ~((uint64_t)1 << i);
	return refused;
}

/* The default of parameter i; UNSET where a call has to give it. */
static struct value default_of(const struct frame *f, int i)
{
	const struct function *fn = f->function;
	int first = f->code->n_positional - (fn->defaults ? fn->defaults->len : 0);
	struct value none = { .kind = VALUE_UNSET }, name, v;
	bool found;

	if (i < f->code->n_positional)
		return i >= first ? fn->defaults->at[i - first] : none;
	name = fn->kwdefaults ? value_str(f->code->locals[i], strlen(f->code->locals[i]))
			      : value_none();
	found = name.kind == VALUE_STR && value_dict_get(fn->kwdefaults, name, &v);
	value_unref(name);
	return found ? v : none;
}

static const char *called(const struct code *code)
{
	return code->owner && strcmp(code->name, "__init__") == 0 ? code->owner : code->name;
}

static bool refuse_value(const struct frame *f, int i, struct err *err)
{
	const char *name = f->code->locals[i];
	struct value otherwise = default_of(f, i);
	struct buf text = { 0 };

	if (otherwise.kind != VALUE_UNSET)
		value_print(&text, otherwise, false);
	if (text.data)
		err_set(err, ERR_UNSUPPORTED,
			"%s(): %s is not supported here, but for %s=%s; leave it out",
			called(f->code), name, name, text.data);
	else
		err_set(err, ERR_UNSUPPORTED, "%s(): %s is not supported here", called(f->code),
			name);
	buf_finish(&text);
	return false;
}

/* Of *args and **keywords that nothing reads there may be none. */
static bool is_empty(const struct frame *f, int i, struct err *err)
{
	struct value v = f->locals[i];

	if (v.kind == VALUE_TUPLE && v.list->len > 0)
		return err_set(err, ERR_TYPE, "%s() takes fewer positional arguments here",
			       called(f->code));
	if (v.kind == VALUE_DICT && v.dict->len > 0)
		return err_set(err, ERR_UNSUPPORTED, "%s(): %s is not supported here; leave it out",
			       called(f->code),
			       v.dict->keys[0].kind == VALUE_STR ? v.dict->keys[0].str->text
								 : "a keyword");
	return true;
}

static bool same(struct value a, struct value b)
{
	return a.kind == b.kind && a.kind != VALUE_TENSOR ? value_equal(a, b) : false;
}

bool unread_keeps_defaults(const struct frame *f, struct err *err)
{
	const struct code *code = f->code;
	int named = code->n_positional + code->n_keyword_only;
	int n = named + code->has_varargs + code->has_kwargs;

	for (int i = 0; i < n && i < MANY; i++) {
		if (!(f->unit->refused >> i & 1))
			continue;
		if (i >= named) {
			if (!is_empty(f, i, err))
				return false;
			continue;
		}
		if (placement_is(code->locals[i])) {
			if (!placement_fits(called(code), code->locals[i], f->locals[i], err))
				return false;
			continue;
		}
		if (!same(f->locals[i], default_of(f, i)))
			return refuse_value(f, i, err);
	}
	return true;
}
