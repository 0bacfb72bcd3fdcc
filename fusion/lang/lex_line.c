/* fusion/lang/lex_line.c -- line ends, indentation and the end of the file.
 *
 * Indentation is measured twice, with tabs of eight and of one column; where
 * the two disagree about deeper or not, the file mixes tabs and spaces in a
 * way that only its author's editor could tell.
 */
#include "fusion/lang/lexer.h"

#include <string.h>

enum { TAB = 8 };

bool lex_newline(struct lexer *lx)
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

bool lex_line_start(struct lexer *lx)
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

bool lex_finish(struct lexer *lx)
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
