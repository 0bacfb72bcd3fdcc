/* fusion/vm/format.c -- format specifications: f"{x:>8.2f}", format().
 *
 * [[fill]align][sign][#][0][width][,|_][.precision][type], as in Python; fill
 * and width count characters, not bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/format.h"
#include "fusion/vm/operators.h"

enum { WIDEST = 100000, FINEST = 400 };

static size_t char_bytes(const char *p, size_t left)
{
	size_t n = 1;

	while (n < left && ((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static bool is_align(char c)
{
	return c == '<' || c == '>' || c == '=' || c == '^';
}

static const char *number(const char *p, const char *end, int *out)
{
	for (*out = 0; p < end && *p >= '0' && *p <= '9'; p++)
		if (*out <= WIDEST)
			*out = *out * 10 + (*p - '0');
	return p;
}

static bool bad_spec(struct vm *vm, const char *spec, size_t len, struct value v, struct err *err)
{
	if (!value_is_number(v) && !value_is_hosted(v) && !value_is_text(v))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"unsupported format string passed to %s.__format__",
				value_type_name(v));
	return vm_raise(vm, CLASS_VALUE_ERROR, err,
			"Invalid format specifier '%.*s' for object of type '%s'",
			(int)(len < 60 ? len : 60), spec, value_type_name(v));
}

/* False where the text is no specification. */
static bool parse_spec(const char *p, size_t len, struct format_spec *s)
{
	const char *end = p + len;
	size_t first = len > 0 ? char_bytes(p, len) : 0;
	bool filled = false;

	*s = (struct format_spec){ .fill = " ", .fill_bytes = 1, .precision = -1 };
	if (first > 0 && first < len && is_align(p[first])) {
		s->fill = p;
		s->fill_bytes = first;
		filled = true;
		s->align = p[first];
		p += first + 1;
	} else if (p < end && is_align(*p)) {
		s->align = *p++;
	}
	if (p < end && (*p == '+' || *p == '-' || *p == ' '))
		s->sign = *p++;
	if (p < end && *p == 'z') {
		s->no_negative_zero = true;
		p++;
	}
	if (p < end && *p == '#')
		s->alternate = *p++;
	if (p < end && *p == '0') { /* zeros, unless there is a fill */
		if (!filled) {
			s->fill = "0";
			s->zeros = !s->align;
		}
		p++;
	}
	p = number(p, end, &s->width);
	if (p < end && (*p == ',' || *p == '_'))
		s->grouping = *p++;
	if (p < end && *p == '.') {
		const char *digits = ++p;

		p = number(p, end, &s->precision);
		if (p == digits)
			return false;
	}
	if (p < end)
		s->type = *p++;
	return p == end && s->width <= WIDEST && s->precision <= WIDEST;
}

static void fill(struct buf *out, const struct format_spec *s, int64_t n)
{
	for (; n > 0 && !out->failed; n--)
		buf_add(out, s->fill, s->fill_bytes);
}

/* `prefix` (sign, 0x) stays at the left of an '=' padding. */
void format_pad(struct buf *out, const struct format_spec *s, char usual, const char *prefix,
		const char *text, size_t len)
{
	char align = s->align ? s->align : s->zeros && usual == '>' ? '=' : usual;
	int64_t chars = (int64_t)strlen(prefix), gap, left;

	chars += utf8_count(text, text + len);
	gap = s->width > chars ? s->width - chars : 0;
	left = align == '>' ? gap : align == '^' ? gap / 2 : 0;
	fill(out, s, left);
	buf_puts(out, prefix);
	if (align == '=')
		fill(out, s, gap);
	buf_add(out, text, len);
	if (align != '=')
		fill(out, s, gap - left);
}

/* Digits with separators between groups, zeros before them up to `width`. */
static void group(struct buf *out, const char *digits, size_t n, char separator, size_t size,
		  size_t width)
{
	size_t zeros = 0;

	while (n + zeros + (n + zeros - 1) / size < width)
		zeros++;
	for (size_t i = 0; i < n + zeros; i++) {
		if (i > 0 && (n + zeros - i) % size == 0)
			buf_putc(out, separator);
		buf_putc(out, i < zeros ? '0' : digits[i - zeros]);
	}
}

static const char *sign_of(const struct format_spec *s, bool negative)
{
	return negative ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";
}

/* A number's digits (with what follows the first `whole` of them) in its field. */
static void put_number(struct buf *out, const struct format_spec *s, const char *prefix,
		       const char *digits, size_t whole, size_t group_size)
{
	struct buf text = { .limit = out->limit };
	size_t len = strlen(digits), rest = len - whole, used = strlen(prefix) + rest, width = 0;

	if (s->grouping) {
		if ((s->align == '=' || s->zeros) && s->fill[0] == '0' && (size_t)s->width > used)
			width = (size_t)s->width - used;
		group(&text, digits, whole, s->grouping, group_size, width);
		buf_add(&text, digits + whole, rest);
		format_pad(out, s, '>', prefix, text.data ? text.data : "", text.len);
	} else {
		format_pad(out, s, '>', prefix, digits, len);
	}
	out->failed = out->failed || text.failed;
	buf_finish(&text);
}

static void format_int(struct buf *out, const struct format_spec *s, int64_t i)
{
	uint64_t n = i < 0 ? -(uint64_t)i : (uint64_t)i;
	int base = s->type == 'b'   ? 2
		   : s->type == 'o' ? 8
		   : s->type == 'x' ? 16
		   : s->type == 'X' ? 16
				    : 10;
	char digits[72], *p = digits + sizeof(digits) - 1, prefix[8];

	*p = '\0';
	do {
		int d = (int)(n % (unsigned)base);

		*--p = (char)(d < 10 ? '0' + d : (s->type == 'X' ? 'A' : 'a') + d - 10);
		n /= (unsigned)base;
	} while (n > 0);
	snprintf(prefix, sizeof(prefix), "%s%s%c", sign_of(s, i < 0),
		 s->alternate && base != 10 ? "0" : "", s->alternate && base != 10 ? s->type : 0);
	put_number(out, s, prefix, p, strlen(p), base == 10 ? 3 : 4);
}

/* 'g' without a type takes an exponent one digit earlier: there is ".0" to come. */
static void leave_room_for_point(char *digits, size_t size, const struct format_spec *s,
				 int precision, double f)
{
	size_t whole = strspn(digits, "0123456789"), n;
	char *exponent, *last;

	precision = precision > 0 ? precision : 1;
	if (whole != (size_t)precision || strchr(digits, 'e') || (digits[0] == '0' && f != 0))
		return;
	snprintf(digits, size, "%.*e", precision - 1, f);
	exponent = strchr(digits, 'e');
	n = strlen(exponent) + 1;
	last = exponent;
	if (strchr(digits, '.') && !s->alternate) {
		while (last[-1] == '0')
			last--;
		last -= last[-1] == '.';
	}
	memmove(last, exponent, n);
}

/* What follows Python where C's printf differs: "1e-05" is the same, but a
 * float without a type keeps its ".0", and an inf has no digits to group. */
static void format_float(struct buf *out, const struct format_spec *s, double f)
{
	char conversion[16], digits[1024];
	char type = s->type == '%' ? 'f' : !s->type || s->type == 'n' ? 'g' : s->type;
	int precision = s->precision < 0 ? 6 : s->precision;
	size_t whole;

	if (precision > FINEST)
		precision = FINEST;
	if (s->type == '%')
		f *= 100;
	if (!s->type && s->precision < 0) {
		struct buf text = { 0 };

		value_print(&text, value_float(fabs(f)), false);
		snprintf(digits, sizeof(digits), "%s", text.data ? text.data : "");
		buf_finish(&text);
	} else {
		snprintf(conversion, sizeof(conversion), "%%%s.*%c", s->alternate ? "#" : "", type);
		/* the conversion is one of these: e f g E F G */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(digits, sizeof(digits) - 2, conversion, precision, fabs(f));
#pragma GCC diagnostic pop
		if (!s->type && isfinite(f))
			leave_room_for_point(digits, sizeof(digits) - 2, s, precision, fabs(f));
		if (!s->type && isfinite(f) && !strpbrk(digits, ".eni"))
			strcat(digits, ".0");
	}
	if (s->type == '%' && strlen(digits) < sizeof(digits) - 1)
		strcat(digits, "%");
	whole = strspn(digits, "0123456789");
	if (s->no_negative_zero && isfinite(f) && !strpbrk(digits, "123456789"))
		f = 0;
	put_number(out, s, sign_of(s, signbit(f) && !isnan(f)), digits,
		   whole ? whole : strlen(digits), whole ? 3 : 1000);
}

static void format_str(struct buf *out, const struct format_spec *s, const char *text, size_t len)
{
	size_t bytes = len;

	if (s->precision >= 0) {
		int left = s->precision;

		for (bytes = 0; bytes < len && left > 0; left--)
			bytes += char_bytes(text + bytes, len - bytes);
	}
	format_pad(out, s, '<', "", text, bytes);
}

static bool wrong_code(struct vm *vm, char type, struct value v, struct err *err)
{
	return vm_raise(vm, CLASS_VALUE_ERROR, err,
			"Unknown format code '%c' for object of type '%s'", type,
			value_type_name(v));
}

/* Separators between the digits of numbers, and of those in other bases underscores alone. */
static bool groups_well(struct vm *vm, const struct format_spec *s, struct value v, struct err *err)
{
	char type = s->type ? s->type : v.kind == VALUE_STR ? 's' : 'd';

	if (!s->grouping || strchr("defgEG%F", type) ||
	    (s->grouping == '_' && strchr("boxX", type)))
		return true;
	return vm_raise(vm, CLASS_VALUE_ERROR, err, "Cannot specify '%c' with '%c'.", s->grouping,
			type);
}

static bool format_text(struct vm *vm, const struct format_spec *s, const struct str *text,
			struct buf *out, struct err *err)
{
	if (s->sign)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "%s",
				s->sign == ' ' ? "Space not allowed in string format specifier"
					       : "Sign not allowed in string format specifier");
	if (s->no_negative_zero)
		return vm_raise(
		    vm, CLASS_VALUE_ERROR, err,
		    "Negative zero coercion (z) not allowed in string format specifier");
	if (s->alternate)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"Alternate form (#) not allowed in string format specifier");
	if (s->align == '=')
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"'=' alignment not allowed in string format specifier");
	format_str(out, s, text->text, text->len);
	return true;
}

static bool format_character(struct vm *vm, const struct format_spec *s, int64_t point,
			     struct buf *out, struct err *err)
{
	struct value c;

	if (s->sign || s->alternate)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"%s not allowed with integer format specifier 'c'",
				s->sign ? "Sign" : "Alternate form (#)");
	if (point < 0 || point > 0x10ffff)
		return vm_raise(vm, CLASS_OVERFLOW_ERROR, err, "%%c arg not in range(0x110000)");
	if (!chr_of(vm, point, &c, err))
		return false;
	format_pad(out, s, '>', "", c.str->text, c.str->len);
	value_unref(c);
	return true;
}

static bool format_whole(struct vm *vm, const struct format_spec *s, int64_t i, struct buf *out,
			 struct err *err)
{
	if (s->precision >= 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"Precision not allowed in integer format specifier");
	if (s->no_negative_zero)
		return vm_raise(
		    vm, CLASS_VALUE_ERROR, err,
		    "Negative zero coercion (z) not allowed in integer format specifier");
	if (s->type == 'c')
		return format_character(vm, s, i, out, err);
	format_int(out, s, i);
	return true;
}

bool format_value(struct vm *vm, const struct format_spec *s, struct value v, struct buf *out,
		  struct err *err)
{
	if (v.kind != VALUE_STR && !value_is_number(v))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"unsupported format string passed to %s.__format__",
				value_type_name(v));
	if (!groups_well(vm, s, v, err))
		return false;
	if (v.kind == VALUE_STR && (!s->type || s->type == 's'))
		return format_text(vm, s, v.str, out, err);
	if (value_is_integer(v) && (!s->type || strchr("bcdoxXn", s->type)))
		return format_whole(vm, s, value_as_int(v), out, err);
	if (value_is_number(v) &&
	    (s->type ? strchr("eEfFgGn%", s->type) != NULL : v.kind == VALUE_FLOAT)) {
		format_float(out, s, value_as_double(v));
		return true;
	}
	return wrong_code(vm, s->type, v, err);
}

/* Numbers and text that are there when the graph has run: what is wrong with the
 * specification is wrong for all of their kind. */
static bool deferred_format(struct vm *vm, const struct format_spec *s, struct value v, bool *known,
			    struct buf *text, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value like = value_int(0), empty;
	struct buf none = { .limit = text->limit };
	bool ok;

	*known = false;
	if (!host->format || v.kind == VALUE_TENSOR || s->type == 'c')
		return true;
	if (!vm_keep(vm, value_str("", 0), &empty, err))
		return false;
	if (v.kind == VALUE_SYMFLOAT || v.kind == VALUE_SYMREAL)
		like = value_float(0);
	else if (v.kind == VALUE_DEFERRED_BOOL || v.kind == VALUE_SYMBOOL)
		like = value_bool(false);
	else if (v.kind == VALUE_DEFERRED_TEXT)
		like = empty;
	ok = format_value(vm, s, like, &none, err) &&
	     host->format(host->self, s, v, known, text, err);
	value_unref(empty);
	buf_finish(&none);
	return ok;
}

bool format_any(struct vm *vm, const struct format_spec *s, struct value v, struct buf *text,
		struct err *err)
{
	struct vm_host *host;
	bool known = false;

	if (v.kind == VALUE_DEFERRED_TEXT)
		return deferred_format(vm, s, v, &known, text, err) &&
		       (known || text_needed(vm, v, err));
	if (value_is_hosted(v)) {
		if (!deferred_format(vm, s, v, &known, text, err))
			return false;
		if (known)
			return true;
		host = vm_host_here(vm);
		if (!host->to_number(host->self, value_plain_kind(v), v, &v, err))
			return false;
	}
	return format_value(vm, s, v, text, err);
}

/* v.__format__(spec), where v is an instance that has one. */
static bool ask_format(struct vm *vm, struct value v, struct value spec, struct buf *text,
		       bool *found, struct err *err)
{
	struct value s;
	bool ok;

	ok = instance_call(vm, &(struct method_call){ &v, "__format__", &spec, 1 }, &s, found, err);
	if (!ok || !*found)
		return ok;
	ok = value_is_text(s) && text_append(vm, s, text, err);
	if (!value_is_text(s))
		vm_raise(vm, CLASS_TYPE_ERROR, err, "__format__ must return a str, not %s",
			 value_type_name(s));
	value_unref(s);
	return ok;
}

/* Whether a tensor is formatted as its number: those without dims, but for parameters,
 * as Tensor.__format__ has it. */
static bool is_one_number(struct vm *vm, struct value tensor, bool *out, struct err *err)
{
	struct value rank;

	*out = false;
	if (tensor.tensor->is_parameter)
		return true;
	if (!op_attribute(vm, NULL, tensor, "ndim", &rank, err))
		return false;
	*out = rank.kind == VALUE_INT && rank.i == 0;
	value_unref(rank);
	return true;
}

/* *known: the text is made, or a gap for it. */
static bool tensor_text(struct vm *vm, struct value v, const struct format_spec *s,
			struct buf *text, bool *known, struct err *err)
{
	struct vm_host *host;

	*known = false;
	if (!vm->host->format || !s)
		return true;
	host = vm_host_here(vm);
	return host->format(host->self, s, v, known, text, err);
}

/* The number of a tensor without dims; no reference. */
static bool tensor_number(struct vm *vm, struct value *v, struct err *err)
{
	struct value f;
	bool ok;

	if (!op_attribute(vm, NULL, *v, "item", &f, err))
		return false;
	ok = vm_invoke(vm, f, &(struct arguments){ NULL, 0, NULL }, v, err);
	value_unref(f);
	return ok;
}

bool op_format(struct vm *vm, struct value v, const char *spec, size_t len, struct buf *text,
	       struct err *err)
{
	struct format_spec s;
	struct value argument;
	bool found, ok;

	if (v.kind == VALUE_INSTANCE) {
		if (!vm_keep(vm, value_str(spec, len), &argument, err))
			return false;
		ok = ask_format(vm, v, argument, text, &found, err);
		value_unref(argument);
		if (!ok || found)
			return ok;
	}
	if (v.kind == VALUE_TENSOR) {
		if (!is_one_number(vm, v, &ok, err))
			return false;
		if (!ok && len > 0)
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"unsupported format string passed to %s.__format__",
					v.tensor->is_parameter ? "Parameter" : "Tensor");
		if (!ok)
			return builtin_text(vm, v, true, text, err);
		if (!tensor_text(vm, v, parse_spec(spec, len, &s) ? &s : NULL, text, &found, err))
			return false;
		if (found)
			return true;
		if (!tensor_number(vm, &v, err))
			return false;
	}
	if (v.kind == VALUE_FLOAT)
		v.scalar = SCALAR_PYTHON; /* NumPy formats its floats as Python's of that value */
	if (len == 0)
		return builtin_text(vm, v, true, text, err);
	if (!parse_spec(spec, len, &s))
		return bad_spec(vm, spec, len, v, err);
	return format_any(vm, &s, v, text, err) && (!text->failed || vm_out_of_memory(vm, err));
}
