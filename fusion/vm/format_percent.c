/* fusion/vm/format_percent.c -- the % operator of strings. */
#include <stdio.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/format.h"
#include "fusion/vm/letters.h"
#include "fusion/vm/operators.h"

enum { WIDEST = 100000 };

/* ---- "%d of %s" % args */

struct percent {
	struct vm *vm;
	struct value args;       /* a tuple, a dict, or one value */
	const char *begin, *end; /* of the template */
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

/* (name) of a mapping; *at is after it. */
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
		if (!value_is_integer(v)) {
			vm_raise(p->vm, CLASS_TYPE_ERROR, err, "* wants int");
			return NULL;
		}
		if (value_as_int(v) < 0 || value_as_int(v) > WIDEST) {
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

/* The text in its field. */
static bool put_text(struct percent *p, struct format_spec *s, struct value v, struct err *err)
{
	s->type = s->sign = s->alternate = 0;
	s->fill = " ";
	s->align = s->align == '<' ? '<' : '>';
	if (s->width == 0 && s->precision < 0)
		return text_append(p->vm, v, p->out, err);
	return format_any(p->vm, s, v, p->out, err);
}

/* %s, %r, %a: the text of any value. */
static bool put_any(struct percent *p, struct format_spec *s, char type, struct value v,
		    struct err *err)
{
	struct builtin_call call = { .args = &v, .n = 1 };
	struct buf text = { .limit = p->out->limit };
	struct value made;
	bool ok;

	if (type == 'a')
		ok = builtin_ascii(p->vm, &call, &made, err);
	else
		ok = builtin_text(p->vm, v, type == 's', &text, err) &&
		     builtin_take_text(p->vm, &text, &made, err);
	buf_finish(&text);
	if (!ok)
		return false;
	ok = put_text(p, s, made, err);
	value_unref(made);
	return ok;
}

/* %c: a character, or its code point. */
static bool put_character(struct percent *p, struct format_spec *s, struct value v, struct err *err)
{
	struct value c;
	bool ok;

	s->precision = -1;
	if (v.kind == VALUE_STR && str_length(v.str) == 1)
		return put_text(p, s, v, err);
	if (!value_is_integer(v) && v.kind != VALUE_DEFERRED_INT && v.kind != VALUE_SYMINT)
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err, "%%c requires int or char");
	if (!cast(p, VALUE_INT, &v, err))
		return false;
	if (v.kind == VALUE_DEFERRED_INT) { /* the graph computes it */
		s->type = 'c';
		return format_any(p->vm, s, v, p->out, err);
	}
	v = value_int(value_as_int(v));
	if (v.i < 0 || v.i > 0x10ffff)
		return vm_raise(p->vm, CLASS_OVERFLOW_ERROR, err, "%%c arg not in range(0x110000)");
	if (!chr_of(p->vm, v.i, &c, err))
		return false;
	ok = put_text(p, s, c, err);
	value_unref(c);
	return ok;
}

/* A whole number with at least s->precision digits. */
static bool put_digits(struct percent *p, struct format_spec *s, int64_t i)
{
	unsigned long n = i < 0 ? -(unsigned long)i : (unsigned long)i;
	struct buf text = { .limit = p->out->limit };
	char digits[32], prefix[8];

	snprintf(digits, sizeof(digits),
		 s->type == 'o'   ? "%lo"
		 : s->type == 'x' ? "%lx"
		 : s->type == 'X' ? "%lX"
				  : "%lu",
		 n);
	snprintf(prefix, sizeof(prefix), "%s%s%.*s",
		 i < 0            ? "-"
		 : s->sign == '+' ? "+"
		 : s->sign == ' ' ? " "
				  : "",
		 s->alternate && s->type != 'd' ? "0" : "", s->alternate && s->type != 'd',
		 &s->type);
	for (int k = (int)strlen(digits); k < s->precision && !text.failed; k++)
		buf_putc(&text, '0');
	buf_puts(&text, digits);
	if (!text.failed)
		format_pad(p->out, s, '>', prefix, text.data, text.len);
	p->out->failed = p->out->failed || text.failed;
	buf_finish(&text);
	return true;
}

static bool put_whole(struct percent *p, struct format_spec *s, char type, struct value v,
		      struct err *err)
{
	bool decimal = strchr("diu", type) != NULL;
	bool whole = value_is_integer(v) || v.kind == VALUE_SYMINT ||
		     v.kind == VALUE_DEFERRED_INT || v.kind == VALUE_DEFERRED_BOOL;

	s->type = decimal ? 'd' : type;
	if (decimal ? !value_is_number(v) && !value_is_hosted(v) : !whole)
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err, "%%%c format: %s is required, not %s",
				type, decimal ? "a real number" : "an integer", value_type_name(v));
	if (!whole && !(cast(p, VALUE_FLOAT, &v, err) && cast(p, VALUE_INT, &v, err)))
		return false;
	if (s->precision >= 0 && !value_is_integer(v) &&
	    !vm_host_here(p->vm)->to_number(p->vm->host->self, VALUE_INT, v, &v, err))
		return false;
	if (value_is_integer(v))
		return put_digits(p, s, value_as_int(v));
	return format_any(p->vm, s, v, p->out, err);
}

static bool put_float(struct percent *p, struct format_spec *s, char type, struct value v,
		      struct err *err)
{
	if (!value_is_number(v) && !value_is_hosted(v))
		return vm_raise(p->vm, CLASS_TYPE_ERROR, err, "must be real number, not %s",
				value_type_name(v));
	s->type = type;
	return cast(p, VALUE_FLOAT, &v, err) && format_any(p->vm, s, v, p->out, err);
}

static bool convert(struct percent *p, struct format_spec *s, const char *type, struct value v,
		    struct err *err)
{
	size_t bytes;
	unsigned c;
	int64_t at = 0;

	if (strchr("sra", *type))
		return put_any(p, s, *type, v, err);
	if (*type == 'c')
		return put_character(p, s, v, err);
	if (strchr("diuxXo", *type))
		return put_whole(p, s, *type, v, err);
	if (strchr("eEfFgG", *type))
		return put_float(p, s, *type, v, err);
	c = char_at(type, p->end, &bytes);
	for (const char *b = p->begin; b < type; b++)
		at += ((unsigned char)*b & 0xc0) != 0x80;
	return vm_raise(p->vm, CLASS_VALUE_ERROR, err,
			"unsupported format character '%c' (0x%x) at index %lld",
			c > 31 && c < 127 ? *type : '?', c, (long long)at);
}

/* One conversion, `at` after its %; NULL on failure. */
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
			s.align = '<', s.fill = " ";
		else if (*at == '0' && s.align != '<')
			s.align = '=', s.fill = "0";
		else if (*at == '#')
			s.alternate = '#';
		else if (*at == '+' || (*at == ' ' && !s.sign))
			s.sign = *at;
	}
	at = count(p, at, end, &s.width, err);
	if (at && at < end && *at == '.')
		at = count(p, at + 1, end, &s.precision, err);
	if (!at)
		return NULL;
	at += at < end && strchr("hlL", *at) != NULL;
	if (at == end) {
		vm_raise(p->vm, CLASS_VALUE_ERROR, err, "incomplete format");
		return NULL;
	}
	if (v.kind == VALUE_UNSET && !next_argument(p, &v, err))
		return NULL;
	return convert(p, &s, at, v, err) ? at + 1 : NULL;
}

/* What may have been meant for %(key)s: all that has items, but text and tuples. */
static bool is_mapping(struct value v)
{
	return v.kind == VALUE_DICT || v.kind == VALUE_LIST || v.kind == VALUE_RANGE ||
	       v.kind == VALUE_TENSOR ||
	       (v.kind == VALUE_INSTANCE && class_lookup(v.instance->class, "__getitem__"));
}

bool format_percent(struct vm *vm, const struct str *template, struct value args, struct value *out,
		    struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	const char *at = template->text, *end = at + template->len;
	struct percent p = { vm, args, at, end, 0, &text };

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
		   (args.kind != VALUE_TUPLE && !is_mapping(args) && p.next == 0))) {
		vm_raise(vm, CLASS_TYPE_ERROR, err,
			 "not all arguments converted during string formatting");
		at = NULL;
	}
	if (at)
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}
