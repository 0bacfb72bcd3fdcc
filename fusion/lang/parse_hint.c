/* fusion/lang/parse_hint.c -- what the author may have meant.
 *
 * Each function is called where the grammar has no way on, and looks at the
 * tokens around that place for the mistakes that people make there.
 */
#include "fusion/lang/parser.h"

#include <stdio.h>
#include <string.h>

static bool keyword(enum token_kind kind)
{
	return token_table[kind].class == CLASS_KEYWORD;
}

/* A token as a message shows it: 'x', 'if', ')', the end of the line. */
static const char *shown(const struct parser *p, char out[40])
{
	const struct token *now = token_now(p);

	if (now->kind == TOK_NAME)
		snprintf(out, 40, "'%.30s'", now->name);
	else if (token_table[now->kind].class != CLASS_SPECIAL)
		snprintf(out, 40, "'%s'", token_table[now->kind].text);
	else
		snprintf(out, 40, "%s", token_table[now->kind].text);
	return out;
}

/* class = 3 */
static bool keyword_assigned(const struct parser *p)
{
	return at(p, TOK_EQUAL) && keyword(token_before(p)->kind);
}

static void *refuse_keyword_target(struct parser *p)
{
	const struct token *word = token_before(p);

	return fault_at(p, ERR_SYNTAX, word->line, word->column,
			"'%s' is a keyword of Python and cannot be assigned to; use another name",
			token_table[word->kind].text);
}

void *not_a_name(struct parser *p, const char *of_what)
{
	char text[40];

	if (keyword_assigned(p))
		return refuse_keyword_target(p);
	if (keyword(token_now(p)->kind))
		return unexpected(p, "%s is a keyword of Python and cannot name %s", shown(p, text),
				  of_what);
	return unexpected(p, "the name of %s is expected, not %s", of_what, shown(p, text));
}

/* Spellings of other languages. */
static const char *foreign(const struct parser *p)
{
	enum token_kind now = token_now(p)->kind, before = token_before(p)->kind;

	if (now == TOK_EXCLAMATION)
		return "Python has no !; write not";
	if (now == TOK_AMPERSAND && before == TOK_AMPERSAND)
		return "Python has no &&; write and";
	if (now == TOK_PIPE && before == TOK_PIPE)
		return "Python has no ||; write or";
	if (now == TOK_EQUAL && before == TOK_EQUAL_EQUAL)
		return "Python has no ===; write ==";
	if ((now == TOK_NEWLINE || now == TOK_RIGHT_PAREN || now == TOK_SEMICOLON) && p->i >= 2 &&
	    p->list->tokens.at[p->i - 2].kind == before &&
	    (before == TOK_PLUS || before == TOK_MINUS))
		return before == TOK_PLUS ? "Python has no ++; write += 1"
					  : "Python has no --; write -= 1";
	return NULL;
}

void *not_an_expression(struct parser *p)
{
	const char *known = foreign(p);
	enum token_kind now = token_now(p)->kind;
	char text[40];

	if (known)
		return unexpected(p, "%s", known);
	if (keyword_assigned(p))
		return refuse_keyword_target(p);
	if (now == TOK_NEWLINE)
		return unexpected(p, "the line ends where an expression is expected");
	if (now == TOK_INDENT)
		return unexpected(p, "this line is indented more than the lines of its block");
	if (now == TOK_FSTRING_MIDDLE || now == TOK_FSTRING_END)
		return unexpected(p, "a lambda or a dict in a field of an f-string needs brackets");
	if (keyword(now))
		return unexpected(p, "an expression is expected, not the keyword %s",
				  shown(p, text));
	return unexpected(p, "an expression is expected, not %s", shown(p, text));
}

/* One letter wrong, missing, too many, or two swapped. */
static bool nearly(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), i = 0;

	while (i < n && a[i] == b[i])
		i++;
	if (n == m)
		return strcmp(a + i + (i < n), b + i + (i < n)) == 0 ||
		       (i + 1 < n && a[i] == b[i + 1] && a[i + 1] == b[i] &&
			strcmp(a + i + 2, b + i + 2) == 0);
	if (n + 1 == m)
		return strcmp(a + i, b + i + 1) == 0;
	return n == m + 1 && strcmp(a + i + 1, b + i) == 0;
}

static const char *keyword_like(const char *name)
{
	for (int k = 0; k < TOK_COUNT; k++)
		if (keyword((enum token_kind)k) && nearly(name, token_table[k].text))
			return token_table[k].text;
	return NULL;
}

/* print x, exec x */
static void *call_without_brackets(struct parser *p, const char *function)
{
	const struct token *now = token_now(p);
	const char *text = p->source + now->start, *end = strchr(text, '\n');
	int len = end ? (int)(end - text) : (int)strlen(text);

	if (len > 60 || memchr(text, '#', (size_t)len))
		return unexpected(p, "%s is a function: write %s(...)", function, function);
	return unexpected(p, "%s is a function: write %s(%.*s)", function, function, len, text);
}

void *statement_goes_on(struct parser *p, const struct ast_node *last)
{
	const struct ast_node *value = last->kind == NODE_EXPRESSION ? last->value : last;
	enum token_kind now = token_now(p)->kind;
	const char *near = NULL, *known = foreign(p);
	char text[40];

	if (known)
		return unexpected(p, "%s", known);
	if (value->kind == NODE_NAME && token_before(p)->kind == TOK_NAME) {
		if (strcmp(value->name, "print") == 0 && starts_expression(now))
			return call_without_brackets(p, value->name);
		near = keyword_like(value->name);
	}
	if (near && token_now(p)->kind != TOK_ERROR)
		return fault_at(p, ERR_SYNTAX, value->line, value->column,
				"'%s' is no keyword; did you mean %s?", value->name, near);
	if (keyword_assigned(p))
		return refuse_keyword_target(p);
	if (now == TOK_WALRUS)
		return unexpected(p,
				  "a line that assigns is written with =; := stands in brackets");
	if (now == TOK_EQUAL)
		return unexpected(p, "'=' has nothing on its left that can be assigned to here");
	if (now == TOK_COLON)
		return unexpected(p,
				  "':' ends the head of a block (if, for, def ..), and this line "
				  "is none");
	if (now == TOK_COMMA)
		return unexpected(p, "',' cannot follow this statement");
	if (starts_expression(now))
		return unexpected(p, "an operator or a comma is missing before %s", shown(p, text));
	return unexpected(p, "the line cannot go on with %s", shown(p, text));
}

void *colon_missing(struct parser *p, const char *after)
{
	const struct token *now = token_now(p), *before = token_before(p);
	const char *known = foreign(p);
	char text[40];

	if (known)
		return unexpected(p, "%s", known);
	if (now->kind == TOK_EQUAL)
		return unexpected(p,
				  "'=' assigns and cannot stand in a condition; did you mean ==?");
	if (now->kind == TOK_WALRUS)
		return unexpected(p, "':=' assigns to a plain name, in brackets");
	if (now->kind == TOK_NEWLINE)
		return fault_at(p, ERR_SYNTAX, before->end_line, before->end_column,
				"':' is missing after %s", after);
	return unexpected(p, "':' is expected after %s, not %s", after, shown(p, text));
}

void *item_not_closed(struct parser *p, const char *close)
{
	enum token_kind now = token_now(p)->kind;
	const char *known = foreign(p);
	char text[40];

	if (known)
		return unexpected(p, "%s", known);
	if (now == TOK_EQUAL)
		return unexpected(p, "'=' cannot stand in an expression; did you mean == or :=?");
	if (starts_expression(now) || now == TOK_ERROR)
		return unexpected(p, "a comma or an operator is missing before %s", shown(p, text));
	return unexpected(p, "'%s' is expected, not %s", close, shown(p, text));
}
