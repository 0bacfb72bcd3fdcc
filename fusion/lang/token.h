/* fusion/lang/token.h -- tokens, and the lexer that makes them.
 *
 * The whole source is cut into tokens first.  A fault does not stop the parser
 * before it gets there: it becomes the last token (TOK_ERROR) with its message
 * kept, so that of two faults the first in the source is reported.
 * Private to fusion/lang.
 */
#ifndef FUSION_LANG_TOKEN_H
#define FUSION_LANG_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "fusion/lang/lang.h"
#include "fusion/lang/names.h"

enum token_kind {
#define TOKEN(id, text) TOK_##id,
#define KEYWORD(id, text) TOK_##id,
#define OPERATOR(id, text, precedence, binop) TOK_##id,
#define AUGMENTED(id, text, binop) TOK_##id,
#include "fusion/lang/tokens.def"
	TOK_COUNT
};

enum token_class { CLASS_SPECIAL, CLASS_KEYWORD, CLASS_OPERATOR, CLASS_AUGMENTED };

struct token_info {
	enum token_class class;
	const char *text;  /* spelling, or how a message calls it */
	unsigned char len; /* of it */
	int precedence;
	enum binop binop;
};

extern const struct token_info token_table[TOK_COUNT];

enum { PREFIX_RAW = 1, PREFIX_BYTES = 2, TRIPLE_QUOTED = 4, NUMBER_COMPLEX = 8 };

struct token {
	enum token_kind kind;
	unsigned char flags;      /* of strings and parts of f-strings */
	int line, column;         /* 1-based, in characters */
	int end_line, end_column; /* one past the last character */
	size_t start, len;        /* bytes of the source */
	union {
		const char *name; /* NAME and keywords: interned */
		uint64_t integer; /* INTEGER: as written, without a sign */
		double real;      /* FLOAT */
	};
};

struct token_list {
	int lines_before;           /* of the files before this one; its first line is one more */
	VEC(struct token) tokens;   /* ends with END or ERROR */
	struct err fault;           /* of an ERROR token */
	int open_line, open_column; /* the bracket that the fault says is never closed, or 0 */
};

enum {
	LEX_INDENTS = 100,  /* as CPython */
	LEX_BRACKETS = 200, /* as CPython */
	LEX_FSTRINGS = 50,
	LEX_FIELDS = 3, /* a field in a format spec in a format spec */
};

/* `source` is valid UTF-8, lines end in \n, source[len] is NUL; of *list, lines_before is set.
 * False only
 * when out of memory.  The caller frees list->tokens with VEC_FREE either way. */
bool lex(const char *source, size_t len, struct arena *arena, struct lang_names *names,
	 struct token_list *list, struct err *err);

#endif
