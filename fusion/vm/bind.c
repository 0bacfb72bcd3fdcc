/* fusion/vm/bind.c -- arguments to parameters, as CPython binds them.
 *
 * The order of the checks decides which message a wrong call gets, so it is
 * CPython's: keywords, too many, missing, defaults. */
#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/unread.h"

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
	return err_set(err, ERR_TYPE, "%s() takes %s positional argument%s but %d%s %s given",
		       code->name, takes, most == 1 && least == most ? "" : "s", given, and_kw,
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
	err_set(err, ERR_TYPE, "%s() missing %d required %s argument%s: %s", f->code->name, n, kind,
		n == 1 ? "" : "s", names.data ? names.data : "");
	buf_finish(&names);
	return false;
}

/* A keyword that names no parameter: wrong, but those for positional-only ones are told first. */
static bool not_a_keyword(const struct code *code, const struct keywords *kw, const char *name,
			  struct err *err)
{
	struct buf names = { 0 };

	for (int i = 0; i < code->n_positional_only; i++)
		for (int k = 0; k < kw->n; k++)
			if (strcmp(code->locals[i], kw->names[k].str->text) == 0)
				buf_printf(&names, "%s%s", names.len ? ", " : "", code->locals[i]);
	if (names.len)
		err_set(err, ERR_TYPE,
			"%s() got some positional-only arguments passed as keyword arguments: '%s'",
			code->name, names.data);
	else
		err_set(err, ERR_TYPE, "%s() got an unexpected keyword argument '%s'", code->name,
			name);
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
			return err_set(err, ERR_TYPE, "%s() got multiple values for argument '%s'",
				       code->name, name.str->text);
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
	if (__builtin_expect(f->unit->refused != 0, 0) && !unread_keeps_defaults(f, err))
		return false;
	return frame_enter(vm, f, err);
}
