/* fusion/lang/lexer.c -- cuts the source into tokens; see token.h.
 *
 * Each step looks at one character and hands over to the function for what
 * starts there.  Inside brackets line ends and indentation do not count; in
 * the text of an f-string nothing counts but {, } and the closing quote.
 */
#include "fusion/lang/token.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fusion/base/refused.h"
#include "fusion/base/utf8.h"

struct bracket {
	char open;
	int line, column;
};

/* An f-string that is open.  Its text is cut by fields, {...}; a field has an
 * expression and, after a colon, text again, which may have fields. */
struct fstring {
	char quote;
	unsigned char flags;
	int line, column;
	int n_fields;
	struct {
		int brackets; /* open when the field's own { is the innermost */
		bool in_spec; /* past the colon */
	} field[LEX_FIELDS];
};

struct lexer {
	const char *source;
	size_t len, pos;
	int line;
	size_t line_start;
	bool ascii;        /* all of it: a column is a count of bytes */
	size_t column_pos; /* else: a place on this line whose column is known */
	int column;
	struct arena *arena;
	struct lang_names *names;
	struct token_list *list;
	struct err *err; /* out of memory */
	bool at_line_start;
	int n_indents;
	int indent[LEX_INDENTS], alt_indent[LEX_INDENTS];
	int n_brackets;
	struct bracket bracket[LEX_BRACKETS];
	int n_fstrings;
	struct fstring fstring[LEX_FSTRINGS];
	/* Operators by first character: chains through `next`, 0 ends one. */
	unsigned char first[128], next[TOK_COUNT];
	struct token start; /* where the token under way begins */
};

static inline char lex_peek(const struct lexer *lx, size_t ahead)
{
	return lx->pos + ahead < lx->len ? lx->source[lx->pos + ahead] : '\0';
}

static int lex_column(struct lexer *lx, size_t pos);
static void lex_line_begins(struct lexer *lx);
static void lex_begin(struct lexer *lx);
static struct token *lex_emit(struct lexer *lx, enum token_kind kind);
static bool lex_fault(struct lexer *lx, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool lex_fault_at(struct lexer *lx, enum err_code code, int line, int column,
			 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- the characters of names, which are compared byte by byte, without normalization. */

/* What an ASCII character may be part of. */
enum { NAME_PART = 1, DIGIT = 2, PREFIX = 4 };

static const unsigned char parts[256] = {
	['0' ... '9'] = NAME_PART | DIGIT, ['A'] = NAME_PART,          ['B'] = NAME_PART | PREFIX,
	['C' ... 'E'] = NAME_PART,         ['F'] = NAME_PART | PREFIX, ['G' ... 'Q'] = NAME_PART,
	['R'] = NAME_PART | PREFIX,        ['S' ... 'T'] = NAME_PART,  ['U'] = NAME_PART | PREFIX,
	['V' ... 'Z'] = NAME_PART,         ['_'] = NAME_PART,          ['a'] = NAME_PART,
	['b'] = NAME_PART | PREFIX,        ['c' ... 'e'] = NAME_PART,  ['f'] = NAME_PART | PREFIX,
	['g' ... 'q'] = NAME_PART,         ['r'] = NAME_PART | PREFIX, ['s' ... 't'] = NAME_PART,
	['u'] = NAME_PART | PREFIX,        ['v' ... 'z'] = NAME_PART,
};

static inline int part_of(char c)
{
	return parts[(unsigned char)c];
}

static bool starts_name(uint32_t point)
{
	return point < 0x80 ? (part_of((char)point) & (NAME_PART | DIGIT)) == NAME_PART
			    : utf8_is_letter(point);
}

static bool continues_name(uint32_t point)
{
	if (point < 0x80)
		return part_of((char)point) & NAME_PART;
	return utf8_is_letter(point) || (point >= 0x300 && point <= 0x36f); /* combining accents */
}

static const struct {
	uint32_t point;
	const char *instead;
} lookalikes[] = {
	{ 0x2018, "'" },
	{ 0x2019, "'" },
	{ 0x201c, "\"" },
	{ 0x201d, "\"" },
	{ 0x2013, "-" },
	{ 0x2014, "-" },
	{ 0x2212, "-" },
	{ 0x2010, "-" },
	{ 0xd7, "*" },
	{ 0xf7, "/" },
	{ 0x2264, "<=" },
	{ 0x2265, ">=" },
	{ 0x2260, "!=" },
	{ 0x2026, "..." },
	{ 0xff08, "(" },
	{ 0xff09, ")" },
	{ 0xff0c, "," },
	{ 0xff1a, ":" },
	{ 0xff1b, ";" },
	{ 0xff1d, "=" },
	{ 0xa0, "a space" },
	{ 0x3000, "a space" },
	{ 0xb5, "\xce\xbc (U+03BC)" },
	{ 0x200b, "nothing" },
};

/* What to type instead of a character that only looks like Python; NULL where nothing comes to
 * mind. */
static const char *lookalike(uint32_t point)
{
	for (size_t i = 0; i < sizeof(lookalikes) / sizeof(lookalikes[0]); i++)
		if (lookalikes[i].point == point)
			return lookalikes[i].instead;
	return NULL;
}

/* ---- line ends, indentation and the end of the file.
 *
 * Indentation is measured twice, with tabs of eight and of one column; where
 * the two disagree about deeper or not, the file mixes tabs and spaces in a
 * way that only its author's editor could tell.
 */

enum { TAB = 8 };

static bool lex_newline(struct lexer *lx)
{
	size_t n = lx->list->tokens.len;
	enum token_kind last = n ? lx->list->tokens.at[n - 1].kind : TOK_NEWLINE;

	if (!lx->n_brackets) {
		bool blank = last == TOK_NEWLINE || last == TOK_INDENT || last == TOK_DEDENT;

		lx->at_line_start = true;
		if (!blank && !lex_emit(lx, TOK_NEWLINE))
			return false;
	}
	lx->pos++;
	lex_line_begins(lx);
	return true;
}

static bool mixed(struct lexer *lx)
{
	return lex_fault(lx, ERR_SYNTAX,
			 "this line's indent mixes tabs and spaces; use spaces in all lines");
}

static bool dedent(struct lexer *lx, int column, int alt)
{
	while (lx->indent[lx->n_indents - 1] > column) {
		lx->n_indents--;
		if (!lex_emit(lx, TOK_DEDENT))
			return false;
	}
	if (lx->indent[lx->n_indents - 1] != column)
		return lex_fault(lx, ERR_SYNTAX,
				 "this indent of %d fits no block above; the nearest has %d",
				 column, lx->indent[lx->n_indents - 1]);
	return lx->alt_indent[lx->n_indents - 1] == alt || mixed(lx);
}

static bool indent_to(struct lexer *lx, int column, int alt)
{
	int top = lx->n_indents - 1;

	lex_begin(lx);
	if (column == lx->indent[top])
		return alt == lx->alt_indent[top] || mixed(lx);
	if (column < lx->indent[top])
		return dedent(lx, column, alt);
	if (alt <= lx->alt_indent[top])
		return mixed(lx);
	if (lx->n_indents == LEX_INDENTS)
		return lex_fault(
		    lx, ERR_BOUND,
		    "blocks are nested more than %d deep; move the inner ones to a function",
		    LEX_INDENTS - 1);
	lx->indent[lx->n_indents] = column;
	lx->alt_indent[lx->n_indents++] = alt;
	return lex_emit(lx, TOK_INDENT) != NULL;
}

/* indentation */
static bool lex_line_start(struct lexer *lx)
{
	int column = 0, alt = 0;
	char c;

	for (; (c = lex_peek(lx, 0)) == ' ' || c == '\t' || c == '\f'; lx->pos++) {
		if (c == '\f') {
			column = alt = 0;
		} else {
			column = c == '\t' ? (column / TAB + 1) * TAB : column + 1;
			alt++;
		}
	}
	lx->at_line_start = false;
	if (c == '#' || c == '\n' || lx->pos == lx->len)
		return true; /* blank: its indent means nothing */
	return indent_to(lx, column, alt);
}

/* Each handles what is at pos; false on a fault. */
static bool lex_finish(struct lexer *lx)
{
	size_t n = lx->list->tokens.len;

	lex_begin(lx);
	if (lx->n_fstrings) {
		const struct fstring *f = &lx->fstring[lx->n_fstrings - 1];

		return lex_fault_at(lx, ERR_SYNTAX, f->line, f->column,
				    "the f-string that starts here is never closed");
	}
	if (lx->n_brackets) {
		const struct bracket *b = &lx->bracket[lx->n_brackets - 1];

		lx->list->open_line = b->line;
		lx->list->open_column = b->column;
		return lex_fault_at(lx, ERR_SYNTAX, b->line, b->column,
				    "the '%c' that opens here is never closed", b->open);
	}
	if (n && lx->list->tokens.at[n - 1].kind != TOK_NEWLINE && !lex_emit(lx, TOK_NEWLINE))
		return false;
	while (lx->n_indents > 1) {
		lx->n_indents--;
		if (!lex_emit(lx, TOK_DEDENT))
			return false;
	}
	return lex_emit(lx, TOK_END) != NULL;
}

/* ---- numeric literals, as CPython takes them.
 *
 * -9223372036854775808 is a minus and 9223372036854775808: that one magnitude above
 * INT64_MAX is checked where the minus is known.  What 64 bits cannot hold is UINT64_MAX
 * here, which the compiler refuses.
 */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits with single underscores between them. */
static bool decimal_digits(struct lexer *lx)
{
	if (!is_digit(lex_peek(lx, 0)))
		return false;
	while (is_digit(lex_peek(lx, 0)) || (lex_peek(lx, 0) == '_' && is_digit(lex_peek(lx, 1))))
		lx->pos++;
	return true;
}

/* A number may be followed by a keyword (1if x else 2), by no other name. */
static bool ends_well(struct lexer *lx)
{
	static const char *const keywords[] = {
		"and", "else", "for", "if", "in", "is", "not", "or"
	};
	uint32_t point;

	if (lx->pos == lx->len || !utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point) ||
	    !continues_name(point))
		return true;
	if ((point == 'j' || point == 'J') && !(lx->start.flags & NUMBER_COMPLEX)) {
		lx->start.flags |= NUMBER_COMPLEX;
		lx->pos++;
		return ends_well(lx);
	}
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		size_t len = strlen(keywords[i]);

		if (lx->len - lx->pos >= len && memcmp(lx->source + lx->pos, keywords[i], len) == 0)
			return true;
	}
	return lex_fault(lx, ERR_SYNTAX,
			 point == '_' ? "an underscore in a number stands between two digits"
				      : "a number runs into a name; put a space or an operator "
					"between them, or start the name with a letter");
}

static void add_digit(struct lexer *lx, int base, int digit)
{
	uint64_t *n = &lx->start.integer;

	if (!__builtin_mul_overflow(*n, (uint64_t)base, n) &&
	    !__builtin_add_overflow(*n, (uint64_t)digit, n) && *n <= (uint64_t)INT64_MAX + 1)
		return;
	*n = UINT64_MAX; /* and stays */
}

static bool based_integer(struct lexer *lx, int base, const char *what)
{
	int n = 0;

	lx->pos += 2;
	for (;; lx->pos++) {
		char c = lex_peek(lx, 0);

		if (c == '_' && digit_value(lex_peek(lx, 1)) < base)
			continue;
		if (is_digit(c) && c - '0' >= base)
			return lex_fault_at(lx, ERR_SYNTAX, lx->line, lex_column(lx, lx->pos),
					    "the digit %c is not %s", c, what);
		if (digit_value(c) >= base)
			break;
		add_digit(lx, base, digit_value(c));
		n++;
	}
	if (!n)
		return lex_fault(lx, ERR_SYNTAX, "this %s number has no digits", what);
	return ends_well(lx) && lex_emit(lx, TOK_INTEGER);
}

static bool decimal_integer(struct lexer *lx)
{
	const char *text = lx->source + lx->start.start;
	size_t len = lx->pos - lx->start.start;

	if (!ends_well(lx))
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] != '_')
			add_digit(lx, 10, text[i] - '0');
	if (text[0] == '0' && lx->start.integer)
		return lex_fault(lx, ERR_SYNTAX,
				 "a decimal number does not start with 0; octal is written 0o17");
	return lex_emit(lx, TOK_INTEGER) != NULL;
}

static bool emit_float(struct lexer *lx)
{
	const char *text = lx->source + lx->start.start;
	size_t len = lx->pos - lx->start.start, n = 0;
	char *digits;

	if (!ends_well(lx))
		return false;
	digits = arena_alloc(lx->arena, len + 1);
	if (!digits)
		return err_set(lx->err, ERR_MEMORY, "out of memory for a number");
	for (size_t i = 0; i < len; i++)
		if (text[i] != '_')
			digits[n++] = text[i];
	lx->start.real = strtod(digits, NULL);
	return lex_emit(lx, TOK_FLOAT) != NULL;
}

/* Each handles what is at pos; false on a fault. */
static bool lex_number(struct lexer *lx)
{
	bool is_float = false;
	char second = (char)tolower((unsigned char)lex_peek(lx, 1));
	size_t sign;

	if (lex_peek(lx, 0) == '0') {
		if (second == 'x')
			return based_integer(lx, 16, "hexadecimal");
		if (second == 'o')
			return based_integer(lx, 8, "octal");
		if (second == 'b')
			return based_integer(lx, 2, "binary");
	}
	decimal_digits(lx);
	if (lex_peek(lx, 0) == '.') {
		is_float = true;
		lx->pos++;
		decimal_digits(lx);
	}
	sign = lex_peek(lx, 1) == '+' || lex_peek(lx, 1) == '-';
	if ((lex_peek(lx, 0) == 'e' || lex_peek(lx, 0) == 'E') &&
	    is_digit(lex_peek(lx, 1 + sign))) {
		is_float = true;
		lx->pos += 1 + sign;
		decimal_digits(lx);
	}
	return is_float ? emit_float(lx) : decimal_integer(lx);
}

/* ---- the extent of strings and f-strings.
 *
 * Escapes are not read here but skipped (parse_string.c reads them when the parser
 * asks).  An f-string is cut as Python 3.12 does: its fields hold ordinary
 * tokens, so they may hold any expression, quotes and all.
 */

/* The innermost f-string is in its text, not in an expression. */
static bool lex_in_fstring_text(const struct lexer *lx)
{
	const struct fstring *f = lx->n_fstrings ? &lx->fstring[lx->n_fstrings - 1] : NULL;

	return f && (!f->n_fields || (f->field[f->n_fields - 1].in_spec &&
				      f->field[f->n_fields - 1].brackets == lx->n_brackets));
}

/* pos is inside a field's own braces and in no bracket within them. */
static bool lex_at_field_level(const struct lexer *lx)
{
	const struct fstring *f = lx->n_fstrings ? &lx->fstring[lx->n_fstrings - 1] : NULL;

	return f && f->n_fields && f->field[f->n_fields - 1].brackets == lx->n_brackets;
}

/* Is there a string prefix (or just a quote) here?  Its length, or -1. */
static int lex_string_prefix(const struct lexer *lx)
{
	static const char *const prefixes[] = { "", "r", "u", "b", "f", "br", "rb", "fr", "rf" };
	size_t n = 0;

	while (n < 3 && (part_of(lex_peek(lx, n)) & PREFIX))
		n++;
	if (lex_peek(lx, n) != '"' && lex_peek(lx, n) != '\'')
		return -1;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strlen(prefixes[i]) == n &&
		    strncasecmp(prefixes[i], lx->source + lx->pos, n) == 0)
			return (int)n;
	return -1;
}

static bool closes(const struct lexer *lx, char quote, bool triple)
{
	return lex_peek(lx, 0) == quote &&
	       (!triple || (lex_peek(lx, 1) == quote && lex_peek(lx, 2) == quote));
}

static bool field_not_closed(struct lexer *lx, const struct fstring *f)
{
	return lex_fault_at(lx, ERR_SYNTAX, f->line, f->column,
			    "a field of this f-string is not closed; a '}' is missing");
}

static bool unterminated(struct lexer *lx, char quote, bool triple)
{
	const struct fstring *f = lx->n_fstrings ? &lx->fstring[lx->n_fstrings - 1] : NULL;

	if (f && f->n_fields && f->quote == quote)
		return field_not_closed(lx, f); /* the quote was meant to close f */
	if (triple)
		return lex_fault(lx, ERR_SYNTAX,
				 "the string that starts here is never closed; end it with %c%c%c",
				 quote, quote, quote);
	return lex_fault(lx, ERR_SYNTAX,
			 "this string has no closing %c on its line; a string of several lines "
			 "starts and ends with %c%c%c",
			 quote, quote, quote, quote);
}

/* One character of a string, or a backslash and what it escapes. */
static void skip_character(struct lexer *lx)
{
	if (lex_peek(lx, 0) == '\\' && lx->pos + 1 < lx->len)
		lx->pos++;
	lx->pos++;
	if (lx->source[lx->pos - 1] == '\n')
		lex_line_begins(lx);
}

static bool plain_string(struct lexer *lx, char quote)
{
	bool triple = lx->start.flags & TRIPLE_QUOTED;

	while (lx->pos < lx->len && !closes(lx, quote, triple)) {
		if (lex_peek(lx, 0) == '\n' && !triple)
			break;
		skip_character(lx);
	}
	if (lx->pos >= lx->len || !closes(lx, quote, triple))
		return unterminated(lx, quote, triple);
	lx->pos += triple ? 3 : 1;
	return lex_emit(lx, TOK_STRING) != NULL;
}

/* Each handles what is at pos; false on a fault. */
static bool lex_string(struct lexer *lx, size_t prefix_len)
{
	bool is_fstring = false, triple;
	char quote;

	for (size_t i = 0; i < prefix_len; i++) {
		char c = lex_peek(lx, i) | 0x20;

		lx->start.flags |= c == 'r' ? PREFIX_RAW : c == 'b' ? PREFIX_BYTES : 0;
		is_fstring |= c == 'f';
	}
	lx->pos += prefix_len;
	quote = lex_peek(lx, 0);
	triple = closes(lx, quote, true);
	lx->start.flags |= triple ? TRIPLE_QUOTED : 0;
	lx->pos += triple ? 3 : 1;
	if (!is_fstring)
		return plain_string(lx, quote);
	if (lx->n_fstrings == LEX_FSTRINGS)
		return lex_fault(lx, ERR_BOUND,
				 "f-strings are nested more than %d deep; use names for the parts",
				 LEX_FSTRINGS);
	lx->fstring[lx->n_fstrings++] = (struct fstring){ .quote = quote,
							  .flags = lx->start.flags,
							  .line = lx->start.line,
							  .column = lx->start.column };
	return lex_emit(lx, TOK_FSTRING_START) != NULL;
}

/* What ends a stretch of f-string text. */
static bool text_ends(const struct lexer *lx, const struct fstring *f)
{
	char c = lex_peek(lx, 0);

	if (c == '{')
		return f->n_fields || lex_peek(lx, 1) != '{';
	if (c == '}')
		return f->n_fields || lex_peek(lx, 1) != '}';
	if (c == '\n')
		return !(f->flags & TRIPLE_QUOTED);
	return closes(lx, f->quote, f->flags & TRIPLE_QUOTED);
}

static void skip_text(struct lexer *lx, const struct fstring *f)
{
	const char *close;

	if (lex_peek(lx, 0) == '{' || lex_peek(lx, 0) == '}') {
		lx->pos += 2; /* doubled */
	} else if (lex_peek(lx, 0) == '\\' && (lex_peek(lx, 1) == '{' || lex_peek(lx, 1) == '}')) {
		lx->pos++; /* the brace is still a brace */
	} else if (!(f->flags & PREFIX_RAW) && lex_peek(lx, 0) == '\\' && lex_peek(lx, 1) == 'N' &&
		   lex_peek(lx, 2) == '{' &&
		   (close = memchr(lx->source + lx->pos, '}', lx->len - lx->pos)) &&
		   !memchr(lx->source + lx->pos, '\n', (size_t)(close - lx->source) - lx->pos)) {
		lx->pos = (size_t)(close - lx->source) + 1;
	} else {
		skip_character(lx);
	}
}

static bool open_field(struct lexer *lx, struct fstring *f)
{
	if (f->n_fields == LEX_FIELDS)
		return lex_fault(lx, ERR_BOUND, "f-string fields are nested more than %d deep",
				 LEX_FIELDS);
	if (lx->n_brackets == LEX_BRACKETS)
		return lex_fault(lx, ERR_BOUND,
				 "brackets are nested more than %d deep; use names for the parts",
				 LEX_BRACKETS);
	lx->bracket[lx->n_brackets++] = (struct bracket){ '{', lx->start.line, lx->start.column };
	f->field[f->n_fields].brackets = lx->n_brackets;
	f->field[f->n_fields++].in_spec = false;
	lx->pos++;
	return lex_emit(lx, TOK_LEFT_BRACE) != NULL;
}

/* Where text ended: a field opens, the field that this spec belongs to closes,
 * or the string does. */
static bool after_text(struct lexer *lx, struct fstring *f)
{
	bool triple = f->flags & TRIPLE_QUOTED;

	lex_begin(lx);
	lx->start.flags = f->flags;
	switch (lex_peek(lx, 0)) {
	case '{':
		return open_field(lx, f);
	case '}':
		if (!f->n_fields)
			return lex_fault(
			    lx, ERR_SYNTAX,
			    "a single '}' stands in an f-string; write }} for the character");
		f->n_fields--;
		lx->n_brackets--;
		lx->pos++;
		return lex_emit(lx, TOK_RIGHT_BRACE) != NULL;
	default:
		break;
	}
	if (f->n_fields)
		return field_not_closed(lx, f);
	if (!closes(lx, f->quote, triple)) {
		lx->start.line = f->line;
		lx->start.column = f->column;
		return unterminated(lx, f->quote, triple);
	}
	lx->pos += triple ? 3 : 1;
	lx->n_fstrings--;
	return lex_emit(lx, TOK_FSTRING_END) != NULL;
}

/* Each handles what is at pos; false on a fault. */
static bool lex_fstring_text(struct lexer *lx)
{
	struct fstring *f = &lx->fstring[lx->n_fstrings - 1];

	lex_begin(lx);
	lx->start.flags = f->flags;
	while (lx->pos < lx->len && !text_ends(lx, f))
		skip_text(lx, f);
	if (lx->pos > lx->start.start && !lex_emit(lx, TOK_FSTRING_MIDDLE))
		return false;
	if (lx->pos >= lx->len) /* lex_finish() says which f-string is open */
		return true;
	return after_text(lx, f);
}

const struct token_info token_table[TOK_COUNT] = {
#define ROW(id, class, text, prec, binop)                                                          \
	[TOK_##id] = { class, text, sizeof(text) - 1, prec, binop },
#define TOKEN(id, text) ROW(id, CLASS_SPECIAL, text, 0, BIN_COUNT)
#define KEYWORD(id, text) ROW(id, CLASS_KEYWORD, text, 0, BIN_COUNT)
#define OPERATOR(id, text, prec, binop) ROW(id, CLASS_OPERATOR, text, prec, binop)
#define AUGMENTED(id, text, binop) ROW(id, CLASS_AUGMENTED, text, 0, binop)
#include "fusion/lang/tokens.def"
};

/* The column of a place on the current line. */
static int lex_column(struct lexer *lx, size_t pos)
{
	if (lx->ascii)
		return (int)(pos - lx->line_start) + 1;
	if (pos < lx->column_pos) {
		lx->column_pos = lx->line_start;
		lx->column = 1;
	}
	lx->column += utf8_count(lx->source + lx->column_pos, lx->source + pos);
	lx->column_pos = pos;
	return lx->column;
}

/* After a \n at pos - 1. */
static void lex_line_begins(struct lexer *lx)
{
	lx->line++;
	lx->line_start = lx->column_pos = lx->pos;
	lx->column = 1;
}

/* lex_begin() marks the start; lex_emit() appends [start, pos). */
static void lex_begin(struct lexer *lx)
{
	lx->start =
	    (struct token){ .line = lx->line, .column = lex_column(lx, lx->pos), .start = lx->pos };
}

/* NULL: out of memory */
static struct token *lex_emit(struct lexer *lx, enum token_kind kind)
{
	struct token *token = &lx->start;

	token->kind = kind;
	token->len = lx->pos - token->start;
	token->end_line = lx->line;
	token->end_column = lex_column(lx, lx->pos);
	if (!VEC_PUSH(&lx->list->tokens, *token)) {
		err_set(lx->err, ERR_MEMORY, "out of memory for the tokens of the source");
		return NULL;
	}
	return &lx->list->tokens.at[lx->list->tokens.len - 1];
}

__attribute__((format(printf, 5, 0))) static bool
fault(struct lexer *lx, enum err_code code, int line, int column, const char *format, va_list args)
{
	struct err *err = &lx->list->fault;

	err->code = code;
	err->line = line;
	err->column = column;
	vsnprintf(err->message, sizeof(err->message), format, args);
	lx->start.line = line;
	lx->start.column = column;
	lx->start.start = lx->pos;
	lex_emit(lx, TOK_ERROR);
	return false;
}

/* Record the fault and return false: at the start of the token, or at a place. */
static bool lex_fault(struct lexer *lx, enum err_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fault(lx, code, lx->start.line, lx->start.column, format, args);
	va_end(args);
	return false;
}

/* Record the fault and return false: at the start of the token, or at a place. */
static bool lex_fault_at(struct lexer *lx, enum err_code code, int line, int column,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fault(lx, code, line, column, format, args);
	va_end(args);
	return false;
}

static bool lex_name(struct lexer *lx)
{
	struct token *token;
	struct name *name;
	uint32_t point;
	int n;

	while (part_of(lx->source[lx->pos]) & NAME_PART) /* a NUL is at the end */
		lx->pos++;
	while (!lx->ascii && (n = utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point)) &&
	       continues_name(point))
		lx->pos += (size_t)n;
	name = names_intern(lx->names, lx->source + lx->start.start, lx->pos - lx->start.start);
	if (!name)
		return err_set(lx->err, ERR_MEMORY, "out of memory for the names");
	lx->start.name = name->text;
	token = lex_emit(lx, name->keyword ? (enum token_kind)name->keyword : TOK_NAME);
	return token != NULL;
}

static bool open_bracket(struct lexer *lx, char c)
{
	if (lx->n_brackets == LEX_BRACKETS)
		return lex_fault(lx, ERR_BOUND,
				 "brackets are nested more than %d deep; use names for the parts",
				 LEX_BRACKETS);
	lx->bracket[lx->n_brackets++] = (struct bracket){ c, lx->start.line, lx->start.column };
	return true;
}

static bool close_bracket(struct lexer *lx, char c)
{
	const struct bracket *b = lx->bracket;
	char wanted;

	if (!lx->n_brackets)
		return lex_fault(lx, ERR_SYNTAX,
				 "'%c' closes nothing: no bracket is open here; remove it", c);
	b += lx->n_brackets - 1;
	wanted = b->open == '(' ? ')' : b->open == '[' ? ']' : '}';
	if (c != wanted && b->line == lx->line)
		return lex_fault(lx, ERR_SYNTAX,
				 "'%c' does not close the '%c' of column %d; '%c' would", c,
				 b->open, b->column, wanted);
	if (c != wanted)
		return lex_fault(lx, ERR_SYNTAX,
				 "'%c' does not close the '%c' of line %d; '%c' would", c, b->open,
				 b->line - lx->list->lines_before, wanted);
	if (lex_at_field_level(lx))
		lx->fstring[lx->n_fstrings - 1].n_fields--;
	lx->n_brackets--;
	return true;
}

/* The colon of {value:spec}: what follows is text. */
static bool field_colon(struct lexer *lx)
{
	struct fstring *f = &lx->fstring[lx->n_fstrings - 1];

	f->field[f->n_fields - 1].in_spec = true;
	lx->pos++;
	return lex_emit(lx, TOK_COLON) != NULL;
}

static bool is_spelt(const struct lexer *lx, const char *text, size_t len)
{
	return lx->len - lx->pos >= len && memcmp(text, lx->source + lx->pos, len) == 0;
}

static enum token_kind longest_operator(const struct lexer *lx)
{
	unsigned char c = (unsigned char)lx->source[lx->pos];
	enum token_kind best = TOK_COUNT;
	size_t best_len = 0;

	for (int k = c < sizeof(lx->first) ? lx->first[c] : 0; k; k = lx->next[k]) {
		size_t len = token_table[k].len;

		if (len > best_len && (len == 1 || is_spelt(lx, token_table[k].text, len))) {
			best = (enum token_kind)k;
			best_len = len;
		}
	}
	return best;
}

static bool unknown_character(struct lexer *lx)
{
	uint32_t point = 0;
	int n = utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point);
	const char *instead = lookalike(point);

	if (instead)
		return lex_fault(lx, ERR_SYNTAX,
				 "the character '%.*s' (U+%04X) is not Python; write %s", n,
				 lx->source + lx->pos, point, instead);
	if (point == '?')
		return lex_fault(lx, ERR_SYNTAX, "'?' is not Python; write `a if test else b`");
	if (point < ' ' || point == 0x7f)
		return lex_fault(lx, ERR_SYNTAX,
				 "a control character (U+%04X) stands here; remove it", point);
	return lex_fault(lx, ERR_SYNTAX,
			 "the character '%.*s' (U+%04X) has no meaning in Python here", n,
			 lx->source + lx->pos, point);
}

static bool lex_operator(struct lexer *lx)
{
	char c = lx->source[lx->pos];
	enum token_kind kind;

	if (lex_at_field_level(lx) && c == ':')
		return field_colon(lx);
	kind = longest_operator(lx);
	if (kind == TOK_COUNT)
		return unknown_character(lx);
	if ((c == '(' || c == '[' || c == '{') && !open_bracket(lx, c))
		return false;
	if ((c == ')' || c == ']' || c == '}') && !close_bracket(lx, c))
		return false;
	lx->pos += token_table[kind].len;
	return lex_emit(lx, kind) != NULL;
}

static bool lex_backslash(struct lexer *lx)
{
	if (lex_peek(lx, 1) != '\n')
		return lex_fault(lx, ERR_SYNTAX,
				 "a backslash joins lines only as the last character of its line");
	if (lx->pos + 2 >= lx->len)
		return lex_fault(lx, ERR_SYNTAX,
				 "the file ends after this backslash; remove it or add the line");
	lx->pos += 2;
	lex_line_begins(lx);
	return true;
}

static bool lex_token(struct lexer *lx)
{
	uint32_t point;
	char c = lex_peek(lx, 0);
	int prefix;

	lex_begin(lx);
	if (c == '\n')
		return lex_newline(lx);
	if (c == '"' || c == '\'' || (part_of(c) & PREFIX)) {
		prefix = lex_string_prefix(lx);
		if (prefix >= 0)
			return lex_string(lx, (size_t)prefix);
	}
	if ((part_of(c) & DIGIT) || (c == '.' && (part_of(lex_peek(lx, 1)) & DIGIT)))
		return lex_number(lx);
	if (part_of(c) & NAME_PART)
		return lex_name(lx);
	if (c == '\\')
		return lex_backslash(lx);
	if (!lx->ascii && utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point) &&
	    starts_name(point))
		return lex_name(lx);
	return lex_operator(lx);
}

static bool lex_step(struct lexer *lx)
{
	char c;

	if (lex_in_fstring_text(lx))
		return lex_fstring_text(lx);
	if (lx->at_line_start && !lx->n_brackets)
		return lex_line_start(lx);
	c = lex_peek(lx, 0);
	while (c == ' ' || c == '\t' || c == '\f')
		c = lx->source[++lx->pos];
	if (lx->pos >= lx->len)
		return true;
	if (c == '#') {
		const char *end = memchr(lx->source + lx->pos, '\n', lx->len - lx->pos);

		lx->pos = end ? (size_t)(end - lx->source) : lx->len;
		return true;
	}
	return lex_token(lx);
}

/* Keywords are interned, operators chained by their first character. */
static bool load_table(struct lexer *lx)
{
	_Static_assert(TOK_COUNT <= UINT8_MAX, "the chains hold bytes");

	for (int k = 0; k < TOK_COUNT; k++) {
		const struct token_info *info = &token_table[k];
		unsigned char *first = &lx->first[info->text[0] & 0x7f];
		struct name *name;

		if (info->class >= CLASS_OPERATOR) {
			lx->next[k] = *first;
			*first = (unsigned char)k;
		} else if (info->class == CLASS_KEYWORD) {
			name = names_intern(lx->names, info->text, strlen(info->text));
			if (!name)
				return false;
			name->keyword = k;
		}
	}
	return true;
}

static bool is_ascii(const char *source, size_t len)
{
	uint64_t all = 0, eight;
	size_t i = 0;

	for (; i + sizeof(eight) <= len; i += sizeof(eight)) {
		memcpy(&eight, source + i, sizeof(eight));
		all |= eight;
	}
	for (; i < len; i++)
		all |= (unsigned char)source[i];
	return !(all & 0x8080808080808080u);
}

bool lex(const char *source, size_t len, struct arena *arena, struct lang_names *names,
	 struct token_list *list, struct err *err)
{
	struct lexer *lx = ARENA_NEW(arena, struct lexer);
	struct err memory = { 0 };
	bool ok = true;

	*list = (struct token_list){ .lines_before = list->lines_before };
	if (lx)
		lx->names = names;
	if (!lx || !load_table(lx))
		return err_set(err, ERR_MEMORY, "out of memory for the lexer");
	lx->source = source;
	lx->len = len;
	lx->arena = arena;
	lx->list = list;
	lx->line = list->lines_before;
	lx->err = &memory;
	lx->at_line_start = true;
	lx->n_indents = 1;
	lx->ascii = is_ascii(source, len);
	list->tokens.at = memory_try((len / 4 + 1) *
				     sizeof(*list->tokens.at)); /* a guess, else it grows */
	list->tokens.cap = list->tokens.at ? len / 4 + 1 : 0;
	lex_line_begins(lx);
	while (ok && lx->pos < len)
		ok = lex_step(lx);
	if (ok)
		lex_finish(lx);
	if (memory.code && err)
		*err = memory;
	return !memory.code;
}
