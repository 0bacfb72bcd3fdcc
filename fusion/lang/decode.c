/* fusion/lang/decode.c -- escapes of string literals; see decode.h.
 *
 * An escape is never longer decoded than written, so `out` as long as the
 * token is enough.  An unknown escape (\d) stays as it stands, as in Python.
 */
#include "fusion/lang/decode.h"

#include <string.h>

#include "fusion/lang/utf8.h"

struct decoder {
	const struct token *token;
	const char *at, *end;
	char *out;
	struct err *err;
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool wrong(struct decoder *d, const char *message)
{
	return err_at(d->err, ERR_SYNTAX, d->token->line, d->token->column, "%s", message);
}

static bool put_point(struct decoder *d, uint32_t point)
{
	if (point > 0x10ffff)
		return wrong(d, "\\U in this string names no character: 10FFFF is the highest");
	if (point >= 0xd800 && point < 0xe000)
		return err_at(d->err, ERR_UNSUPPORTED, d->token->line, d->token->column,
			      "\\u%04x in this string is half a character (a surrogate); write the "
			      "whole one with \\U",
			      point);
	if (d->token->flags & PREFIX_BYTES)
		*d->out++ = (char)point;
	else
		d->out += utf8_encode(point, d->out);
	return true;
}

static bool hex_escape(struct decoder *d, int digits)
{
	uint32_t point = 0;

	for (int i = 0; i < digits; i++) {
		int value = d->at < d->end ? hex_value(*d->at) : -1;

		if (value < 0)
			return wrong(d, digits == 2 ? "\\x in this string needs two hex digits"
					: digits == 4
					    ? "\\u in this string needs four hex digits"
					    : "\\U in this string needs eight hex digits");
		point = point << 4 | (uint32_t)value;
		d->at++;
	}
	return put_point(d, point);
}

static bool octal_escape(struct decoder *d, char first)
{
	uint32_t point = (uint32_t)(first - '0');

	for (int i = 0; i < 2 && d->at < d->end && *d->at >= '0' && *d->at <= '7'; i++)
		point = point * 8 + (uint32_t)(*d->at++ - '0');
	return put_point(d, point);
}

/* d->at is past the backslash. */
static bool escape(struct decoder *d)
{
	static const char letters[] = "\\'\"abfnrtv";
	static const char meanings[] = "\\'\"\a\b\f\n\r\t\v";
	bool bytes = d->token->flags & PREFIX_BYTES;
	char c = *d->at++;
	const char *known = strchr(letters, c);

	if (c == '\n')
		return true;
	if (known) {
		*d->out++ = meanings[known - letters];
		return true;
	}
	if (c >= '0' && c <= '7')
		return octal_escape(d, c);
	if (c == 'x')
		return hex_escape(d, 2);
	if (!bytes && (c == 'u' || c == 'U'))
		return hex_escape(d, c == 'u' ? 4 : 8);
	if (!bytes && c == 'N')
		return err_at(d->err, ERR_UNSUPPORTED, d->token->line, d->token->column,
			      "\\N{...} in a string is outside the language; write the character "
			      "itself, or \\u and its number");
	*d->out++ = '\\';
	d->at--;
	return true;
}

static bool decode(struct decoder *d)
{
	bool raw = d->token->flags & PREFIX_RAW, doubled = d->token->kind == TOK_FSTRING_MIDDLE;

	while (d->at < d->end) {
		if (*d->at == '\\' && !raw && d->at + 1 < d->end) {
			d->at++;
			if (!escape(d))
				return false;
			continue;
		}
		if ((unsigned char)*d->at >= 0x80 && d->token->flags & PREFIX_BYTES)
			return wrong(d, "bytes hold ASCII alone; write \\x escapes for the rest");
		if (doubled && (*d->at == '{' || *d->at == '}'))
			d->at++;
		*d->out++ = *d->at++;
	}
	return true;
}

bool decode_string(const struct token *token, const char *source, char *out, size_t *len,
		   struct err *err)
{
	struct decoder d = { .token = token, .at = source + token->start, .out = out, .err = err };
	size_t quotes = token->flags & TRIPLE_QUOTED ? 3 : 1;

	d.end = d.at + token->len;
	if (token->kind == TOK_STRING) {
		while (*d.at != '"' && *d.at != '\'')
			d.at++; /* the prefix */
		d.at += quotes;
		d.end -= quotes;
	}
	if (!decode(&d))
		return false;
	*len = (size_t)(d.out - out);
	return true;
}
