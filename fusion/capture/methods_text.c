/* fusion/capture/methods_text.c -- the rarer methods of strings, and builtins
 * between characters, numbers and text.  Letters and blanks are those of ASCII. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/classes.h"
#include "fusion/capture/format.h"
#include "fusion/capture/operators.h"

static bool need_text(struct vm *vm, const struct builtin_call *call, int i, struct err *err)
{
	return call->args[i].kind == VALUE_STR ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() argument %d must be str, not %s",
			call->row->name, i + 1, value_type_name(call->args[i]));
}

static bool keep_text(struct vm *vm, const char *text, size_t len, struct value *out,
		      struct err *err)
{
	return vm_room(vm, (int64_t)len, 1, err) && vm_keep(vm, value_str(text, len), out, err);
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

bool builtin_chr(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
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

bool builtin_ord(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value v = call->args[0];

	if (v.kind != VALUE_STR || str_length(v.str) != 1)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "ord() expected a character");
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

bool builtin_bin(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return in_base(vm, call, 'b', out, err);
}

bool builtin_oct(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return in_base(vm, call, 'o', out, err);
}

bool builtin_hex(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return in_base(vm, call, 'x', out, err);
}

bool builtin_ascii(struct vm *vm, const struct builtin_call *call, struct value *out,
		   struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes }, ascii = { .limit = text.limit };
	bool ok = builtin_text(vm, call->args[0], false, &text, err);

	if (ok && text_has_gaps(&text)) {
		struct value late;

		return builtin_take_text(vm, &text, &late, err) && text_needed(vm, late, err);
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

bool float_is_integer(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	(void)vm, (void)err;
	*out = value_bool(call->self.f == (double)(int64_t)call->self.f);
	return true;
}

bool int_bit_length(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	int64_t i = value_as_int(call->self), n = 0;

	(void)vm, (void)err;
	for (uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i; u; u >>= 1)
		n++;
	*out = value_int(n);
	return true;
}

/* ---- tests of all characters; a string without any fails them */

static bool all_are(const struct str *s, int (*test)(int))
{
	for (size_t i = 0; i < s->len; i++)
		if (!test((unsigned char)s->text[i]))
			return false;
	return s->len > 0;
}

/* Whether there are letters, none of the other case. */
static bool of_case(const struct str *s, int (*wanted)(int), int (*other)(int))
{
	bool found = false;

	for (size_t i = 0; i < s->len; i++) {
		if (other((unsigned char)s->text[i]))
			return false;
		found = found || wanted((unsigned char)s->text[i]);
	}
	return found;
}

static int name_part(int c)
{
	return isalnum(c) || c == '_' || c >= 0x80;
}

#define TEST(name, expression)                                                                     \
	bool name(struct vm *vm, const struct builtin_call *call, struct value *out,               \
		  struct err *err)                                                                 \
	{                                                                                          \
		const struct str *s = call->self.str;                                              \
                                                                                                   \
		(void)vm, (void)err;                                                               \
		*out = value_bool(expression);                                                     \
		return true;                                                                       \
	}
TEST(str_isalnum, all_are(s, isalnum))
TEST(str_isalpha, all_are(s, isalpha))
TEST(str_isdigit, all_are(s, isdigit))
TEST(str_isspace, all_are(s, isspace))
TEST(str_isidentifier, all_are(s, name_part) && !isdigit((unsigned char)s->text[0]))
TEST(str_islower, of_case(s, islower, isupper))
TEST(str_isupper, of_case(s, isupper, islower))
#undef TEST

/* ---- case */

static int swap_case(int c)
{
	return isupper(c) ? tolower(c) : toupper(c);
}

/* `first` for the first letter (of each word), `rest` for the others. */
static bool recase(struct vm *vm, const struct builtin_call *call, int (*first)(int),
		   int (*rest)(int), bool words, struct value *out, struct err *err)
{
	const struct str *s = call->self.str;
	bool begin = true;

	if (!keep_text(vm, s->text, s->len, out, err))
		return false;
	for (size_t i = 0; i < s->len; i++) {
		unsigned char c = (unsigned char)s->text[i];

		if (c < 0x80)
			out->str->text[i] = (char)(begin ? first(c) : rest(c));
		begin = words && !isalpha(c);
	}
	return true;
}

bool str_capitalize(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	return recase(vm, call, toupper, tolower, false, out, err);
}

bool str_title(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return recase(vm, call, toupper, tolower, true, out, err);
}

bool str_swapcase(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	return recase(vm, call, swap_case, swap_case, false, out, err);
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

bool str_center(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return justify(vm, call, '^', out, err);
}

bool str_ljust(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return justify(vm, call, '<', out, err);
}

bool str_rjust(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return justify(vm, call, '>', out, err);
}

bool str_zfill(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
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

/* ---- searching from either end */

static const char *last_of(const struct str *s, const struct str *part)
{
	if (part->len > s->len)
		return NULL;
	for (size_t at = s->len - part->len + 1; at-- > 0;)
		if (memcmp(s->text + at, part->text, part->len) == 0)
			return s->text + at;
	return NULL;
}

static bool partition(struct vm *vm, const struct builtin_call *call, bool last, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *part;
	const char *at, *end = s->text + s->len;
	struct value three[3];
	bool ok;

	if (!need_text(vm, call, 0, err))
		return false;
	part = call->args[0].str;
	if (part->len == 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "empty separator");
	at = last ? last_of(s, part) : memmem(s->text, s->len, part->text, part->len);
	if (at) {
		three[0] = value_str(s->text, (size_t)(at - s->text));
		three[1] = value_ref(call->args[0]);
		three[2] = value_str(at + part->len, (size_t)(end - at) - part->len);
	} else {
		three[0] = last ? value_str("", 0) : value_ref(call->self);
		three[1] = value_str("", 0);
		three[2] = last ? value_ref(call->self) : value_str("", 0);
	}
	ok = vm_keep(vm, value_tuple(three, 3), out, err);
	for (int i = 0; i < 3; i++)
		value_unref(three[i]);
	return ok;
}

bool str_partition(struct vm *vm, const struct builtin_call *call, struct value *out,
		   struct err *err)
{
	return partition(vm, call, false, out, err);
}

bool str_rpartition(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	return partition(vm, call, true, out, err);
}

bool str_removeprefix(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text(vm, call, 0, err))
		return false;
	p = call->args[0].str;
	cut = s->len >= p->len && memcmp(s->text, p->text, p->len) == 0 ? p->len : 0;
	return keep_text(vm, s->text + cut, s->len - cut, out, err);
}

bool str_removesuffix(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text(vm, call, 0, err))
		return false;
	p = call->args[0].str;
	cut = s->len >= p->len && memcmp(s->text + s->len - p->len, p->text, p->len) == 0 ? p->len
											  : 0;
	return keep_text(vm, s->text, s->len - cut, out, err);
}

/* ---- stripping and splitting */

/* Whether the byte goes: a blank, or one of the given characters. */
static bool goes(const struct builtin_call *call, char c)
{
	if (call->n == 0 || call->args[0].kind == VALUE_NONE)
		return isspace((unsigned char)c);
	return memchr(call->args[0].str->text, c, call->args[0].str->len) != NULL;
}

static bool strip(struct vm *vm, const struct builtin_call *call, bool left, bool right,
		  struct value *out, struct err *err)
{
	const char *from = call->self.str->text, *to = from + call->self.str->len;

	if (call->n > 0 && call->args[0].kind != VALUE_NONE && !need_text(vm, call, 0, err))
		return false;
	while (left && from < to && goes(call, *from))
		from++;
	while (right && to > from && goes(call, to[-1]))
		to--;
	return keep_text(vm, from, (size_t)(to - from), out, err);
}

bool str_strip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, true, true, out, err);
}

bool str_lstrip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, true, false, out, err);
}

bool str_rstrip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, false, true, out, err);
}

bool str_splitlines(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	const char *at = call->self.str->text, *end = at + call->self.str->len;
	struct value keep = call->n ? call->args[0] : value_bool(false);
	bool ok = vm_keep(vm, value_list(NULL, 0), out, err);

	if (!ok)
		return false;
	builtin_keyword(call, "keepends", &keep);
	while (ok && at < end) {
		size_t len = strcspn(at, "\r\n"), mark = at + len < end;
		struct value line;

		if (mark && at[len] == '\r' && at[len + 1] == '\n')
			mark = 2;
		ok = keep_text(vm, at, (keep.kind == VALUE_BOOL && keep.b) ? len + mark : len,
			       &line, err);
		if (ok) {
			ok = value_list_push(out->list, line) || vm_out_of_memory(vm, err);
			value_unref(line);
		}
		at += len + mark;
	}
	if (!ok)
		value_unref(*out);
	return ok && vm_spend(vm, out->list->len, err);
}

bool str_encode(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	(void)vm, (void)call, (void)out;
	return err_set(err, ERR_UNSUPPORTED, "bytes are not in the language; keep text as a str");
}

bool str_expandtabs(struct vm *vm, const struct builtin_call *call, struct value *out,
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

bool str_isascii(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	bool ascii = true;

	(void)vm, (void)err;
	for (size_t i = 0; i < call->self.str->len; i++)
		ascii &= (unsigned char)call->self.str->text[i] < 0x80;
	*out = value_bool(ascii);
	return true;
}
