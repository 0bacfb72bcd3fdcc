/* fusion/capture/format_text.c -- str.format and the % operator. */
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/classes.h"
#include "fusion/capture/format.h"
#include "fusion/capture/operators.h"

enum { WIDEST = 100000 };

/* ---- "%d of %s" % args */

struct percent {
	struct vm *vm;
	struct value args; /* a tuple, a dict, or one value */
	int next;
	struct buf *out;
};

static bool next_argument(struct percent *p, struct value *out, struct err *err)
{
	if (p->args.kind == VALUE_TUPLE) {
		if (p->next >= p->args.list->len)
			return vm_raise(p->vm, CLASS_TYPE_ERROR, err,
					"not enough arguments for format string");
		*out = p->args.list->at[p->next++];
		return true;
	}
	if (p->next++ > 0)
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err,
				"not enough arguments for format string");
	*out = p->args;
	return true;
}

/* (name) of a mapping; *at is behind it. */
static bool named_argument(struct percent *p, const char **at, const char *end, struct value *out,
			   struct err *err)
{
	const char *from = *at, *to = memchr(from, ')', (size_t)(end - from));
	struct value key;
	bool ok;

	if (!to)
		return vm_raise(p->vm, CLASS_VALUE_ERROR, err, "incomplete format key");
	if (p->args.kind != VALUE_DICT)
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err, "format requires a mapping");
	*at = to + 1;
	if (!vm_keep(p->vm, value_str(from, (size_t)(to - from)), &key, err))
		return false;
	ok = op_subscript(p->vm, p->args, key, out, err);
	if (ok)
		value_unref(*out); /* the dict holds it */
	value_unref(key);
	return ok;
}

static const char *count(struct percent *p, const char *at, const char *end, int *out,
			 struct err *err)
{
	struct value v;

	*out = 0;
	if (at < end && *at == '*') {
		if (!next_argument(p, &v, err) ||
		    (value_is_hosted(v) &&
		     !vm_host_here(p->vm)->to_number(p->vm->host->self, VALUE_INT, v, &v, err)))
			return NULL;
		if (!value_is_integer(v) || value_as_int(v) < 0 || value_as_int(v) > WIDEST) {
			vm_raise(p->vm, CLASS_VALUE_ERROR, err,
				 "a width or precision of %% formatting is from 0 to %d", WIDEST);
			return NULL;
		}
		*out = (int)value_as_int(v);
		return at + 1;
	}
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		if (*out < WIDEST / 10)
			*out = *out * 10 + (*at - '0');
	return at;
}

/* A number as the conversion wants it, which the graph may compute. */
static bool cast(struct percent *p, enum value_kind kind, struct value *v, struct err *err)
{
	struct vm_host *host = vm_host_here(p->vm);

	if (!value_is_hosted(*v)) {
		if (kind == VALUE_INT && !value_is_integer(*v))
			return number_whole(p->vm, v->f, v, err);
		if (kind == VALUE_FLOAT)
			*v = value_float(value_as_double(*v));
		return true;
	}
	return (host->cast ? host->cast : host->to_number)(host->self, kind, *v, v, err);
}

/* %s, %r, %a: the text in its field. */
static bool put_text(struct percent *p, struct format_spec *s, char type, struct value v,
		     struct err *err)
{
	struct buf text = { .limit = p->out->limit };
	bool ok = builtin_text(p->vm, v, type == 's' || type == 'c', &text, err) &&
		  builtin_take_text(p->vm, &text, &v, err);

	buf_finish(&text);
	if (!ok)
		return false;
	s->type = 0;
	ok = s->width == 0 && s->precision < 0 ? text_append(p->vm, v, p->out, err)
					       : format_any(p->vm, s, v, p->out, err);
	value_unref(v);
	return ok;
}

static bool convert(struct percent *p, struct format_spec *s, char type, struct value v,
		    struct err *err)
{
	bool number = value_is_number(v) || value_is_hosted(v);

	s->type = type;
	if (strchr("diu", type) && number) {
		if (!value_is_integer(v) && v.kind != VALUE_SYMINT && v.kind != VALUE_LATEINT &&
		    v.kind != VALUE_LATEBOOL &&
		    !(cast(p, VALUE_FLOAT, &v, err) && cast(p, VALUE_INT, &v, err)))
			return false;
		s->type = 'd';
		s->precision = -1;
		return format_any(p->vm, s, v, p->out, err);
	}
	if (strchr("eEfFgG", type) && number)
		return cast(p, VALUE_FLOAT, &v, err) && format_any(p->vm, s, v, p->out, err);
	if (strchr("xXoc", type) && (value_is_integer(v) || v.kind == VALUE_LATEINT))
		return format_any(p->vm, s, v, p->out, err);
	if (!strchr("srac", type))
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err,
				"%%%c format: a real number is required, not %s", type,
				value_type_name(v));
	return put_text(p, s, type, v, err);
}

/* One conversion, `at` behind its %; NULL on failure. */
static const char *conversion(struct percent *p, const char *at, const char *end, struct err *err)
{
	struct format_spec s = { .fill = " ", .fill_bytes = 1, .align = '>', .precision = -1 };
	struct value v = { .kind = VALUE_UNSET };

	if (at < end && *at == '(') {
		at++;
		if (!named_argument(p, &at, end, &v, err))
			return NULL;
	}
	for (; at < end && strchr("-+ #0", *at); at++) {
		if (*at == '-')
			s.align = '<';
		else if (*at == '0' && s.align != '<')
			s.align = '=', s.fill = "0";
		else if (*at == '#')
			s.alternate = '#';
		else if (*at != '0')
			s.sign = *at;
	}
	at = count(p, at, end, &s.width, err);
	if (at && at < end && *at == '.')
		at = count(p, at + 1, end, &s.precision, err);
	if (!at)
		return NULL;
	if (at == end) {
		vm_raise(p->vm, CLASS_VALUE_ERROR, err, "incomplete format");
		return NULL;
	}
	if (v.kind == VALUE_UNSET && !next_argument(p, &v, err))
		return NULL;
	return convert(p, &s, *at, v, err) ? at + 1 : NULL;
}

bool format_percent(struct vm *vm, const struct str *template, struct value args, struct value *out,
		    struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct percent p = { vm, args, 0, &text };
	const char *at = template->text, *end = at + template->len;

	while (at && at < end) {
		if (*at != '%') {
			buf_putc(&text, *at++);
		} else if (at + 1 < end && at[1] == '%') {
			buf_putc(&text, '%');
			at += 2;
		} else {
			at = conversion(&p, at + 1, end, err);
		}
	}
	if (at && ((args.kind == VALUE_TUPLE && p.next < args.list->len) ||
		   (args.kind != VALUE_TUPLE && args.kind != VALUE_DICT && p.next == 0))) {
		vm_raise(vm, CLASS_TYPE_ERROR, err,
			 "not all arguments converted during string formatting");
		at = NULL;
	}
	if (at)
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

/* ---- "{0} {name!r:>8}".format(args) */

struct template
{
	struct vm *vm;
	const struct builtin_call *call;
	int next; /* the number of the next field without one */
	struct buf *out;
};

static bool first_part(struct template *t, const char *name, size_t len, struct value *out,
		       struct err *err)
{
	char *end, text[120];
	long i;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, name, len);
	text[len] = '\0';
	i = len == 0 ? t->next++ : strtol(text, &end, 10);
	if (len == 0 || *end == '\0') {
		if (i < 0 || i >= t->call->n)
			return vm_raise(t->vm, CLASS_INDEX_ERROR, err,
					"Replacement index %ld out of range for positional args "
					"tuple",
					i);
		*out = value_ref(t->call->args[i]);
		return true;
	}
	if (!builtin_keyword(t->call, text, out))
		return vm_raise(t->vm, CLASS_KEY_ERROR, err, "%s", text);
	value_ref(*out);
	return true;
}

/* .name or [index] of *v, which it replaces; `at` is behind it, NULL: failed. */
static const char *next_part(struct template *t, const char *at, const char *end, struct value *v,
			     struct err *err)
{
	bool index = *at++ == '[', ok = false;
	const char *from = at;
	char text[120];
	size_t len;
	struct value part, key;

	while (at < end && (index ? *at != ']' : *at != '.' && *at != '['))
		at++;
	len = (size_t)(at - from) < sizeof(text) ? (size_t)(at - from) : sizeof(text) - 1;
	memcpy(text, from, len);
	text[len] = '\0';
	if (!index) {
		ok = op_attribute(t->vm, NULL, *v, text, &part, err);
	} else {
		char *stop;
		long i = strtol(text, &stop, 10);
		bool number = len > 0 && *stop == '\0';

		key = value_int(i);
		if (number || vm_keep(t->vm, value_str(text, len), &key, err)) {
			ok = op_subscript(t->vm, *v, key, &part, err);
			value_unref(key);
		}
		at += at < end;
	}
	if (!ok)
		return NULL;
	value_unref(*v);
	*v = part;
	return at;
}

static bool put_field(struct template *t, struct value v, char how, const char *spec, size_t len,
		      struct err *err)
{
	struct buf inner = { .limit = t->out->limit };
	struct value text;
	bool ok;

	if (how == 0)
		return op_format(t->vm, v, spec, len, t->out, err);
	ok = builtin_text(t->vm, v, how == 's', &inner, err) &&
	     builtin_take_text(t->vm, &inner, &text, err);
	if (!ok) {
		buf_finish(&inner);
		return false;
	}
	ok = op_format(t->vm, text, spec, len, t->out, err);
	value_unref(text);
	return ok;
}

/* The field between { and }: `at` behind the one, `end` at the other. */
static bool field(struct template *t, const char *at, const char *end, struct err *err)
{
	const char *name = at, *spec;
	char how = 0;
	struct value v;
	bool ok;

	while (at < end && !strchr(".[!:", *at))
		at++;
	if (!first_part(t, name, (size_t)(at - name), &v, err))
		return false;
	while (at && at < end && (*at == '.' || *at == '['))
		at = next_part(t, at, end, &v, err);
	if (at && at + 1 < end && *at == '!') {
		how = at[1];
		at += 2;
	}
	spec = at && at < end && *at == ':' ? at + 1 : end;
	ok = at && put_field(t, v, how, spec, (size_t)(end - spec), err);
	value_unref(v);
	return ok;
}

/* The } that ends a field; a spec may hold fields itself, which are refused. */
static const char *field_end(const char *at, const char *end)
{
	while (at < end && *at != '}' && *at != '{')
		at++;
	return at < end && *at == '}' ? at : NULL;
}

static bool expand(struct template *t, const struct str *s, struct err *err)
{
	const char *at = s->text, *end = at + s->len, *stop;

	while (at < end) {
		if (*at != '{' && *at != '}') {
			buf_putc(t->out, *at++);
			continue;
		}
		if (at + 1 < end && at[1] == *at) {
			buf_putc(t->out, *at);
			at += 2;
			continue;
		}
		stop = *at == '{' ? field_end(at + 1, end) : NULL;
		if (!stop)
			return vm_raise(t->vm, CLASS_VALUE_ERROR, err,
					"Single '%c' encountered in format string, or a field "
					"inside a field",
					*at);
		if (!field(t, at + 1, stop, err))
			return false;
		at = stop + 1;
	}
	return true;
}

bool str_format(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct template t = { vm, call, 0, &text };

	if (expand(&t, call->self.str, err))
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}
