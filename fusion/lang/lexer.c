/* fusion/lang/lexer.c -- cuts the source into tokens; see token.h.
 *
 * Each step looks at one character and hands over to the function for what
 * starts there.  Inside brackets line ends and indentation do not count; in
 * the text of an f-string nothing counts but {, } and the closing quote.
 */
#include "fusion/lang/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/utf8.h"

const struct token_info token_table[TOK_COUNT] = {
#define TOKEN(id, text) [TOK_##id] = { CLASS_SPECIAL, text, 0, BIN_COUNT },
#define KEYWORD(id, text) [TOK_##id] = { CLASS_KEYWORD, text, 0, BIN_COUNT },
#define OPERATOR(id, text, prec, binop) [TOK_##id] = { CLASS_OPERATOR, text, prec, binop },
#define AUGMENTED(id, text, binop) [TOK_##id] = { CLASS_AUGMENTED, text, 0, binop },
#include "fusion/lang/tokens.def"
};

int lex_column(struct lexer *lx, size_t pos)
{
	if (pos < lx->column_pos) {
		lx->column_pos = lx->line_start;
		lx->column = 1;
	}
	lx->column += utf8_count(lx->source + lx->column_pos, lx->source + pos);
	lx->column_pos = pos;
	return lx->column;
}

void lex_line_begins(struct lexer *lx)
{
	lx->line++;
	lx->line_start = lx->column_pos = lx->pos;
	lx->column = 1;
}

void lex_begin(struct lexer *lx)
{
	lx->start =
	    (struct token){ .line = lx->line, .column = lex_column(lx, lx->pos), .start = lx->pos };
}

struct token *lex_emit(struct lexer *lx, enum token_kind kind)
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

bool lex_fault(struct lexer *lx, enum err_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fault(lx, code, lx->start.line, lx->start.column, format, args);
	va_end(args);
	return false;
}

bool lex_fault_at(struct lexer *lx, enum err_code code, int line, int column, const char *format,
		  ...)
{
	va_list args;

	va_start(args, format);
	fault(lx, code, line, column, format, args);
	va_end(args);
	return false;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool lex_name(struct lexer *lx)
{
	struct token *token;
	struct name *name;
	uint32_t point;
	int n;

	while (lx->pos < lx->len && is_plain(lx->source[lx->pos]))
		lx->pos++;
	while ((n = utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point)) &&
	       utf8_continues_name(point))
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
				 b->line, wanted);
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

static enum token_kind longest_operator(const struct lexer *lx)
{
	unsigned char c = (unsigned char)lx->source[lx->pos];
	enum token_kind best = TOK_COUNT;
	size_t best_len = 0;

	for (int k = c < sizeof(lx->first) ? lx->first[c] : 0; k; k = lx->next[k]) {
		const char *text = token_table[k].text;
		size_t len = strlen(text);

		if (len > best_len && lx->len - lx->pos >= len &&
		    memcmp(text, lx->source + lx->pos, len) == 0) {
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
	const char *instead = utf8_lookalike(point);

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
	if (strchr("([{", c) && !open_bracket(lx, c))
		return false;
	if (strchr(")]}", c) && !close_bracket(lx, c))
		return false;
	lx->pos += strlen(token_table[kind].text);
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
	if (c == '\\')
		return lex_backslash(lx);
	if (c == '\n')
		return lex_newline(lx);
	prefix = lex_string_prefix(lx);
	if (prefix >= 0)
		return lex_string(lx, (size_t)prefix);
	if ((c >= '0' && c <= '9') ||
	    (c == '.' && lex_peek(lx, 1) >= '0' && lex_peek(lx, 1) <= '9'))
		return lex_number(lx);
	if (utf8_decode(lx->source + lx->pos, lx->len - lx->pos, &point) && utf8_starts_name(point))
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
	if (c == ' ' || c == '\t' || c == '\f') {
		lx->pos++;
		return true;
	}
	if (is_plain(c) && !(c >= '0' && c <= '9') && !strchr("rRuUbBfF", c)) {
		lex_begin(lx);
		return lex_name(lx);
	}
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

bool lex(const char *source, size_t len, struct arena *arena, struct names *names,
	 struct token_list *list, struct err *err)
{
	struct lexer *lx = ARENA_NEW(arena, struct lexer);
	struct err memory = { 0 };
	bool ok = true;

	*list = (struct token_list){ 0 };
	if (lx)
		lx->names = names;
	if (!lx || !load_table(lx))
		return err_set(err, ERR_MEMORY, "out of memory for the lexer");
	lx->source = source;
	lx->len = len;
	lx->arena = arena;
	lx->list = list;
	lx->err = &memory;
	lx->at_line_start = true;
	lx->n_indents = 1;
	lex_line_begins(lx);
	while (ok && lx->pos < len)
		ok = lex_step(lx);
	if (ok)
		lex_finish(lx);
	if (memory.code)
		*err = memory;
	return !memory.code;
}
