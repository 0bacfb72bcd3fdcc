/* fusion/lang/lex_string.c -- the extent of strings and f-strings.
 *
 * Escapes are not read here but skipped (decode.c reads them when the parser
 * asks).  An f-string is cut as Python 3.12 does: its fields hold ordinary
 * tokens, so they may hold any expression, quotes and all.
 */
#include "fusion/lang/lexer.h"

#include <string.h>
#include <strings.h>

bool lex_in_fstring_text(const struct lexer *lx)
{
	const struct fstring *f = lx->n_fstrings ? &lx->fstring[lx->n_fstrings - 1] : NULL;

	return f && (!f->n_fields || (f->field[f->n_fields - 1].in_spec &&
				      f->field[f->n_fields - 1].brackets == lx->n_brackets));
}

bool lex_at_field_level(const struct lexer *lx)
{
	const struct fstring *f = lx->n_fstrings ? &lx->fstring[lx->n_fstrings - 1] : NULL;

	return f && f->n_fields && f->field[f->n_fields - 1].brackets == lx->n_brackets;
}

int lex_string_prefix(const struct lexer *lx)
{
	static const char *const prefixes[] = { "", "r", "u", "b", "f", "br", "rb", "fr", "rf" };
	size_t n = 0;

	while (n < 3 && lex_peek(lx, n) && strchr("rRuUbBfF", lex_peek(lx, n)))
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

bool lex_string(struct lexer *lx, size_t prefix_len)
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

bool lex_fstring_text(struct lexer *lx)
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
