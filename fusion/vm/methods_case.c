/* fusion/vm/methods_case.c -- methods of strings that look at letters and their case. */
#include "fusion/base/utf8.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/letters.h"
#include "fusion/vm/operators.h"

/* The characters of a string, one after the other. */
struct characters {
	const char *at, *end;
};

static struct characters characters_of(const struct builtin_call *call)
{
	const struct str *s = call->self.str;

	return (struct characters){ s->text, s->text + s->len };
}

static bool unknown(const struct builtin_call *call, const char *at, size_t bytes, struct err *err)
{
	return err_set(
	    err, ERR_UNSUPPORTED,
	    "str.%s() of '%.*s' is outside the language: the letters whose case is known "
	    "are those of Latin-1 and Cyrillic; keep other text as it is",
	    call->row->name, (int)bytes, at);
}

/* *more false: at the end. */
static bool next(const struct builtin_call *call, struct characters *c, uint32_t *point,
		 unsigned *kind, bool *more, struct err *err)
{
	size_t bytes;

	*more = c->at < c->end;
	if (!*more)
		return true;
	*point = char_at(c->at, c->end, &bytes);
	*kind = char_kind(*point);
	if (*kind & CHAR_UNKNOWN)
		return unknown(call, c->at, bytes, err);
	c->at += bytes;
	return true;
}

/* Whether each character is of one of the kinds, and there are any (or `empty`). */
static bool all_are(const struct builtin_call *call, unsigned kinds, bool empty, struct value *out,
		    struct err *err)
{
	struct characters c = characters_of(call);
	bool all = true, more;
	uint32_t point;
	unsigned kind;

	do {
		if (!next(call, &c, &point, &kind, &more, err))
			return false;
		/* which han characters are numbers is not known here */
		if (more && (kinds & CHAR_NUMERIC) && point >= 0x3000 && !(kinds & CHAR_ALPHA))
			return unknown(call, c.at - 3, 3, err);
		all = all && (!more || (kind & kinds));
	} while (more);
	*out = value_bool(all && (empty || call->self.str->len > 0));
	return true;
}

/* Whether there are letters with case, none of the other case. */
static bool of_case(const struct builtin_call *call, unsigned wanted, struct value *out,
		    struct err *err)
{
	struct characters c = characters_of(call);
	bool found = false, other = false, more = true;
	uint32_t point;
	unsigned kind;

	while (more) {
		if (!next(call, &c, &point, &kind, &more, err))
			return false;
		found = found || (more && (kind & wanted));
		other = other || (more && (kind & CHAR_CASED & ~wanted));
	}
	*out = value_bool(found && !other);
	return true;
}

#define TEST(name, expression)                                                                     \
	static bool name(struct vm *vm, const struct builtin_call *call, struct value *out,        \
			 struct err *err)                                                          \
	{                                                                                          \
		(void)vm;                                                                          \
		return expression;                                                                 \
	}
TEST(str_isalnum, all_are(call, CHAR_ALPHA | CHAR_NUMERIC, false, out, err))
TEST(str_isalpha, all_are(call, CHAR_ALPHA, false, out, err))
TEST(str_isdigit, all_are(call, CHAR_DIGIT, false, out, err))
TEST(str_isdecimal, all_are(call, CHAR_DECIMAL, false, out, err))
TEST(str_isnumeric, all_are(call, CHAR_NUMERIC, false, out, err))
TEST(str_isspace, all_are(call, CHAR_BLANK, false, out, err))
TEST(str_isprintable, all_are(call, CHAR_PRINTABLE, true, out, err))
TEST(str_islower, of_case(call, CHAR_LOWER, out, err))
TEST(str_isupper, of_case(call, CHAR_UPPER, out, err))
#undef TEST

static bool str_isidentifier(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	struct characters c = characters_of(call);
	bool name = c.at < c.end, first = true, more;
	uint32_t point;
	unsigned kind;

	(void)vm;
	do {
		if (!next(call, &c, &point, &kind, &more, err))
			return false;
		name = name && (!more || point == '_' || (kind & CHAR_ALPHA) ||
				(!first && ((kind & CHAR_DECIMAL) || point == 0xb7)));
		first = false;
	} while (more);
	*out = value_bool(name);
	return true;
}

/* Words begin with a capital letter, and have no other. */
static bool str_istitle(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct characters c = characters_of(call);
	bool found = false, holds = true, inside = false, more;
	uint32_t point;
	unsigned kind;

	(void)vm;
	do {
		if (!next(call, &c, &point, &kind, &more, err))
			return false;
		if (!more)
			break;
		if (kind & CHAR_CASED) {
			holds = holds && inside == !!(kind & CHAR_LOWER);
			found = true;
		}
		inside = kind & CHAR_CASED;
	} while (more);
	*out = value_bool(found && holds);
	return true;
}

/* ---- case */

enum letter_case { CASE_LOWER, CASE_UPPER, CASE_TITLE, CASE_FOLD };

static uint32_t other_case(uint32_t c)
{
	if (c >= 0x400 && c <= 0x40f)
		return c + 0x50;
	if (c >= 0x450 && c <= 0x45f)
		return c - 0x50;
	if (c == 0xb5)
		return 0x39c;
	if (c == 0xff)
		return 0x178;
	if (c == 0xaa || c == 0xba)
		return c;
	return c ^ 0x20; /* ASCII, Latin-1; Cyrillic is 0x20 higher */
}

static void put_character(struct buf *out, uint32_t c)
{
	char bytes[4];

	buf_add(out, bytes, (size_t)utf8_encode(c, bytes));
}

/* Appends the character in that case. */
static void put_in_case(struct buf *out, uint32_t c, enum letter_case how)
{
	unsigned kind = char_kind(c);
	bool raise = how == CASE_UPPER || how == CASE_TITLE;

	if (c == 0xdf && how != CASE_LOWER)
		buf_puts(out, how == CASE_UPPER ? "SS" : how == CASE_TITLE ? "Ss" : "ss");
	else if (c == 0xb5 && how == CASE_FOLD)
		put_character(out, 0x3bc);
	else if (c >= 0x410 && c <= 0x44f && (kind & (raise ? CHAR_LOWER : CHAR_UPPER)))
		put_character(out, raise ? c - 0x20 : c + 0x20);
	else if (kind & (raise ? CHAR_LOWER : CHAR_UPPER))
		put_character(out, other_case(c));
	else
		put_character(out, c);
}

/* `first` for the first character (of each word), `rest` for the others. */
struct casing {
	enum letter_case first, rest;
	bool words; /* `first` is the first letter of each word; else of the text */
};

static bool recase(struct vm *vm, const struct builtin_call *call, struct casing to,
		   struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct characters c = characters_of(call);
	bool begin = true, more;
	uint32_t point;
	unsigned kind;

	do {
		if (!next(call, &c, &point, &kind, &more, err)) {
			buf_finish(&text);
			return false;
		}
		if (!more)
			break;
		put_in_case(&text, point, begin ? to.first : to.rest);
		begin = to.words && !(kind & CHAR_CASED);
	} while (more);
	return builtin_take_text(vm, &text, out, err);
}

static bool str_lower(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return recase(vm, call, (struct casing){ CASE_LOWER, CASE_LOWER, false }, out, err);
}

static bool str_upper(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return recase(vm, call, (struct casing){ CASE_UPPER, CASE_UPPER, false }, out, err);
}

static bool str_casefold(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	return recase(vm, call, (struct casing){ CASE_FOLD, CASE_FOLD, false }, out, err);
}

static bool str_capitalize(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return recase(vm, call, (struct casing){ CASE_TITLE, CASE_LOWER, false }, out, err);
}

static bool str_title(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return recase(vm, call, (struct casing){ CASE_TITLE, CASE_LOWER, true }, out, err);
}

static bool str_swapcase(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct characters c = characters_of(call);
	uint32_t point;
	unsigned kind;
	bool more;

	do {
		if (!next(call, &c, &point, &kind, &more, err)) {
			buf_finish(&text);
			return false;
		}
		if (more)
			put_in_case(&text, point, kind & CHAR_UPPER ? CASE_LOWER : CASE_UPPER);
	} while (more);
	return builtin_take_text(vm, &text, out, err);
}

#define BUILTINS_OF_METHODS_CASE
const struct builtin methods_case_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
