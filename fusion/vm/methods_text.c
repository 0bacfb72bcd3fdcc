/* fusion/vm/methods_text.c -- the rarer methods of strings, and builtins
 * between characters, numbers and text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/format.h"
#include "fusion/vm/operators.h"

static bool need_text(struct vm *vm, const struct builtin_call *call, int i, struct err *err)
{
	return call->args[i].kind == VALUE_STR ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() argument %d must be str, not %s",
			call->row->name, i + 1, value_type_name(call->args[i]));
}

bool chr_of(struct vm *vm, int64_t c, struct value *out, struct err *err)
{
	char t[5] = { 0 };
	int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (c < 0 || c > 0x10ffff)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "chr() arg not in range(0x110000)");
	if (n == 1)
		t[0] = (char)c;
	for (int i = n - 1; n > 1 && i > 0; i--, c >>= 6)
		t[i] = (char)(0x80 | (c & 0x3f));
	if (n > 1)
		t[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return vm_keep(vm, value_str(t, (size_t)n), out, err);
}

static bool builtin_chr(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	int64_t c;

	return op_index(vm, call->args[0], "the argument of chr()", &c, err) &&
	       chr_of(vm, c, out, err);
}

static long code_point(const unsigned char *t, size_t n)
{
	long c = n == 1 ? t[0] : t[0] & (0xff >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (t[i] & 0x3f);
	return c;
}

static bool builtin_ord(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value v = call->args[0];

	if (v.kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"ord() expected string of length 1, but %s found",
				value_type_name(v));
	if (str_length(v.str) != 1)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"ord() expected a character, but string of length %lld found",
				(long long)str_length(v.str));
	*out = value_int(code_point((const unsigned char *)v.str->text, v.str->len));
	return true;
}

static bool in_base(struct vm *vm, const struct builtin_call *call, char type, struct value *out,
		    struct err *err)
{
	struct format_spec s = {
		.fill = " ", .fill_bytes = 1, .precision = -1, .alternate = '#', .type = type
	};
	struct buf text = { 0 };
	int64_t i;

	if (!op_index(vm, call->args[0], "the argument", &i, err))
		return false;
	if (format_value(vm, &s, value_int(i), &text, err))
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

static bool builtin_bin(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return in_base(vm, call, 'b', out, err);
}

static bool builtin_oct(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return in_base(vm, call, 'o', out, err);
}

static bool builtin_hex(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return in_base(vm, call, 'x', out, err);
}

bool builtin_ascii(struct vm *vm, const struct builtin_call *call, struct value *out,
		   struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes }, ascii = { .limit = text.limit };
	bool ok = builtin_text(vm, call->args[0], false, &text, err);

	if (ok && text_has_gaps(&text)) {
		struct value made;

		return builtin_take_text(vm, &text, &made, err) && text_needed(vm, made, err);
	}
	for (size_t i = 0; ok && i < text.len;) {
		size_t n = 1;
		long c;

		while (i + n < text.len && ((unsigned char)text.data[i + n] & 0xc0) == 0x80)
			n++;
		c = code_point((const unsigned char *)text.data + i, n);
		if (c < 0x80)
			buf_putc(&ascii, (char)c);
		else
			buf_printf(&ascii,
				   c < 0x100     ? "\\x%02lx"
				   : c < 0x10000 ? "\\u%04lx"
						 : "\\U%08lx",
				   (unsigned long)c);
		i += n;
	}
	buf_finish(&text);
	if (ok)
		return builtin_take_text(vm, &ascii, out, err);
	buf_finish(&ascii);
	return false;
}

/* The number that a method is of: where a host has it, the program needs it as it is. */
static bool plain_self(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	*out = call->self;
	return !value_is_hosted(*out) ||
	       host->to_number(host->self, value_plain_kind(*out), *out, out, err);
}

static bool float_is_integer(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	struct value v;

	if (!plain_self(vm, call, &v, err))
		return false;
	*out = value_bool(isfinite(v.f) && floor(v.f) == v.f);
	return true;
}

static bool number_conjugate(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	(void)vm, (void)err;
	*out = call->self.kind == VALUE_BOOL ? value_int(value_as_int(call->self))
					     : value_ref(call->self);
	return true;
}

static bool number_ratio(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value v, two[2] = { value_int(0), value_int(1) };
	int exponent;
	double m;

	if (!plain_self(vm, call, &v, err))
		return false;
	if (value_is_integer(v)) {
		two[0] = value_int(value_as_int(v));
		return vm_keep(vm, value_tuple(two, 2), out, err);
	}
	if (!isfinite(v.f))
		return vm_raise(vm, isnan(v.f) ? CLASS_VALUE_ERROR : CLASS_OVERFLOW_ERROR, err,
				"cannot convert %s to integer ratio",
				isnan(v.f) ? "NaN" : "Infinity");
	m = frexp(v.f, &exponent);
	for (; m != floor(m); exponent--)
		m *= 2;
	if (m != 0 && (exponent > 62 || exponent < -62 || fabs(ldexp(m, exponent)) > 0x1p62))
		return err_set(err, ERR_BOUND, "the ratio of %g has more than 63 bits", v.f);
	for (; exponent < 0 && m != 0; exponent++)
		two[1].i *= 2;
	two[0] = value_int((int64_t)(exponent > 0 ? ldexp(m, exponent) : m));
	return vm_keep(vm, value_tuple(two, 2), out, err);
}

/* As CPython writes it: 0x1.8000000000000p+1. */
static bool float_hex(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	char text[40];
	struct value v;
	int exponent;
	double m;

	if (!plain_self(vm, call, &v, err))
		return false;
	m = frexp(fabs(v.f), &exponent);
	if (!isfinite(v.f))
		snprintf(text, sizeof(text), "%s", isnan(v.f) ? "nan" : v.f < 0 ? "-inf" : "inf");
	else if (v.f == 0)
		snprintf(text, sizeof(text), "%s0x0.0p+0", signbit(v.f) ? "-" : "");
	else if (exponent - 1 < -1022)
		snprintf(text, sizeof(text), "%s0x0.%013llxp-1022", v.f < 0 ? "-" : "",
			 (unsigned long long)ldexp(m, exponent + 1074));
	else
		snprintf(text, sizeof(text), "%s0x1.%013llxp%+d", v.f < 0 ? "-" : "",
			 (unsigned long long)((m * 2 - 1) * 0x1p52), exponent - 1);
	return vm_keep(vm, value_str(text, strlen(text)), out, err);
}

static bool int_bit_length(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value v;
	int64_t i, n = 0;

	if (!plain_self(vm, call, &v, err))
		return false;
	i = value_as_int(v);
	for (uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i; u; u >>= 1)
		n++;
	*out = value_int(n);
	return true;
}

/* ---- fields of a width */

/* Whether there is memory, and are steps, for that many characters. */
static bool wide_enough(struct vm *vm, int64_t width, struct err *err)
{
	if (width > INT32_MAX / 8)
		return vm_out_of_memory(vm, err);
	return width <= 0 || (vm_room(vm, width, 1, err) && vm_spend(vm, width / 16, err));
}

static bool justify(struct vm *vm, const struct builtin_call *call, char align, struct value *out,
		    struct err *err)
{
	struct format_spec s = { .fill = " ", .fill_bytes = 1, .align = align, .precision = -1 };
	struct buf text = { .limit = vm->limits.object_bytes };
	int64_t width, gap;

	if (!op_index(vm, call->args[0], "the width", &width, err))
		return false;
	if (call->n == 2) {
		if (!need_text(vm, call, 1, err))
			return false;
		if (str_length(call->args[1].str) != 1)
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"The fill character must be exactly one character long");
		s.fill = call->args[1].str->text;
		s.fill_bytes = call->args[1].str->len;
	}
	if (!wide_enough(vm, width, err))
		return false;
	s.width = width < 0 ? 0 : (int)width;
	gap = s.width - str_length(call->self.str);
	if (align == '^' && gap > 0 &&
	    (gap & s.width & 1)) { /* center() leans left, a spec right */
		buf_add(&text, s.fill, s.fill_bytes);
		s.width--;
	}
	format_pad(&text, &s, align, "", call->self.str->text, call->self.str->len);
	return builtin_take_text(vm, &text, out, err);
}

static bool str_center(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return justify(vm, call, '^', out, err);
}

static bool str_ljust(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return justify(vm, call, '<', out, err);
}

static bool str_rjust(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return justify(vm, call, '>', out, err);
}

static bool str_zfill(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	struct format_spec s = { .fill = "0", .fill_bytes = 1, .align = '=', .precision = -1 };
	const struct str *t = call->self.str;
	struct buf text = { .limit = vm->limits.object_bytes };
	char sign[2] = { 0 };
	int64_t width;

	if (!op_index(vm, call->args[0], "the width", &width, err))
		return false;
	if (!wide_enough(vm, width, err))
		return false;
	s.width = width < 0 ? 0 : (int)width;
	if (t->len > 0 && (t->text[0] == '-' || t->text[0] == '+'))
		sign[0] = t->text[0];
	format_pad(&text, &s, '=', sign, t->text + (sign[0] != 0), t->len - (sign[0] != 0));
	return builtin_take_text(vm, &text, out, err);
}

static bool str_expandtabs(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct value size = call->n ? call->args[0] : value_int(8);
	int64_t width, column = 0;

	builtin_keyword(call, "tabsize", &size);
	if (!op_index(vm, size, "tabsize", &width, err))
		return false;
	for (const char *c = call->self.str->text; *c; c++) {
		int64_t n = width > 0 ? width - column % width : 0;

		if (*c != '\t') {
			buf_putc(&text, *c);
			column = *c == '\n' || *c == '\r'
				     ? 0
				     : column + (((unsigned char)*c & 0xc0) != 0x80);
			continue;
		}
		if (!vm_spend(vm, n, err)) {
			buf_finish(&text);
			return false;
		}
		for (column += n; n > 0 && !text.failed; n--)
			buf_putc(&text, ' ');
	}
	return builtin_take_text(vm, &text, out, err);
}

static bool str_isascii(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	bool ascii = true;

	(void)vm, (void)err;
	for (size_t i = 0; i < call->self.str->len; i++)
		ascii &= (unsigned char)call->self.str->text[i] < 0x80;
	*out = value_bool(ascii);
	return true;
}

static bool builtin_format(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct value spec = call->n == 2 ? call->args[1] : value_none();
	bool ok;

	if (call->n == 2 && spec.kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"format() argument 2 must be str, not %s", value_type_name(spec));
	ok = op_format(vm, call->args[0], call->n == 2 ? spec.str->text : "",
		       call->n == 2 ? spec.str->len : 0, &text, err);
	if (ok)
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

#define BUILTINS_OF_METHODS_TEXT
const struct builtin methods_text_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
