/* fusion/lang/lex_number.c -- numeric literals, as CPython takes them.
 *
 * A literal that 64 bits cannot hold is refused.  -9223372036854775808 is a
 * minus and 9223372036854775808: that one magnitude above INT64_MAX passes
 * here and is judged where the minus is known.
 */
#include "fusion/lang/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/utf8.h"

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
	    !utf8_continues_name(point))
		return true;
	if (point == 'j' || point == 'J')
		return lex_fault(lx, ERR_UNSUPPORTED,
				 "complex numbers are outside the language; use floats");
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

static bool add_digit(struct lexer *lx, int base, int digit)
{
	uint64_t *n = &lx->start.integer;

	if (!__builtin_mul_overflow(*n, (uint64_t)base, n) &&
	    !__builtin_add_overflow(*n, (uint64_t)digit, n) && *n <= (uint64_t)INT64_MAX + 1)
		return true;
	return lex_fault(lx, ERR_UNSUPPORTED,
			 "this integer needs more than 64 bits; write it as a float, 1e20");
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
		if (!add_digit(lx, base, digit_value(c)))
			return false;
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
		if (text[i] != '_' && !add_digit(lx, 10, text[i] - '0'))
			return false;
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

bool lex_number(struct lexer *lx)
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
