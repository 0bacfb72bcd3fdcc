/* fusion/lang/lexer.h -- the state that the lexer's files share.
 * Private to lexer.c, lex_line.c, lex_number.c and lex_string.c. */
#ifndef FUSION_LANG_LEXER_H
#define FUSION_LANG_LEXER_H

#include "fusion/lang/token.h"

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
	size_t column_pos; /* a place on this line whose column is known */
	int column;
	struct arena *arena;
	struct names *names;
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

/* The column of a place on the current line. */
int lex_column(struct lexer *lx, size_t pos);

/* After a \n at pos - 1. */
void lex_line_begins(struct lexer *lx);

/* lex_begin() marks the start; lex_emit() appends [start, pos). */
void lex_begin(struct lexer *lx);
struct token *lex_emit(struct lexer *lx, enum token_kind kind); /* NULL: out of memory */

/* Record the fault and return false: at the start of the token, or at a place. */
bool lex_fault(struct lexer *lx, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool lex_fault_at(struct lexer *lx, enum err_code code, int line, int column, const char *format,
		  ...) __attribute__((format(printf, 5, 6)));

/* Each handles what stands at pos; false on a fault. */
bool lex_line_start(struct lexer *lx); /* indentation */
bool lex_newline(struct lexer *lx);
bool lex_finish(struct lexer *lx);
bool lex_number(struct lexer *lx);
bool lex_string(struct lexer *lx, size_t prefix_len);
bool lex_fstring_text(struct lexer *lx);

/* The innermost f-string is in its text, not in an expression. */
bool lex_in_fstring_text(const struct lexer *lx);
/* pos is inside a field's own braces and in no bracket within them. */
bool lex_at_field_level(const struct lexer *lx);

/* Is there a string prefix (or just a quote) here?  Its length, or -1. */
int lex_string_prefix(const struct lexer *lx);

#endif
