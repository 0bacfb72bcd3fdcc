/* fusion/lang/parser.c -- what all rules of the grammar use; see parser.h.
 *
 * The first fault wins.  Where a bracket is never closed, whatever looks odd
 * after it is a consequence: unexpected() then reports the bracket.
 */
#include "fusion/lang/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct node_info node_table[NODE_COUNT] = {
#define NODE(id, called, instead) [NODE_##id] = { called, instead },
#include "fusion/lang/nodes.def"
#undef NODE
};

__attribute__((format(printf, 5, 0))) static void *
fault(struct parser *p, enum err_code code, int line, int column, const char *format, va_list args)
{
	char message[ERR_MESSAGE_BYTES];

	if (p->failed)
		return NULL;
	p->failed = true;
	vsnprintf(message, sizeof(message), format, args);
	err_at(p->err, code, line, column, "%s", message);
	return NULL;
}

void *fault_at(struct parser *p, enum err_code code, int line, int column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fault(p, code, line, column, format, args);
	va_end(args);
	return NULL;
}

static bool bracket_is_open(const struct parser *p)
{
	const struct token *now = token_now(p);
	int line = p->list->open_line;

	return line &&
	       (line < now->line || (line == now->line && p->list->open_column < now->column));
}

void *unexpected(struct parser *p, const char *format, ...)
{
	const struct token *now = token_now(p);
	const struct err *lexer = &p->list->fault;
	va_list args;

	if (now->kind == TOK_ERROR || bracket_is_open(p))
		return fault_at(p, lexer->code, lexer->line, lexer->column, "%s", lexer->message);
	va_start(args, format);
	fault(p, ERR_SYNTAX, now->line, now->column, format, args);
	va_end(args);
	return NULL;
}

bool expect(struct parser *p, enum token_kind kind, const char *where)
{
	if (accept(p, kind))
		return true;
	return unexpected(p, "'%s' is expected %s", token_table[kind].text, where);
}

bool starts_expression(enum token_kind kind)
{
	switch (kind) {
	case TOK_NAME:
	case TOK_INTEGER:
	case TOK_FLOAT:
	case TOK_STRING:
	case TOK_FSTRING_START:
	case TOK_FALSE:
	case TOK_NONE:
	case TOK_TRUE:
	case TOK_AWAIT:
	case TOK_LAMBDA:
	case TOK_NOT:
	case TOK_YIELD:
	case TOK_PLUS:
	case TOK_MINUS:
	case TOK_STAR:
	case TOK_TILDE:
	case TOK_LEFT_PAREN:
	case TOK_LEFT_BRACKET:
	case TOK_LEFT_BRACE:
	case TOK_ELLIPSIS:
		return true;
	default:
		return false;
	}
}

void *parser_alloc(struct parser *p, size_t count, size_t bytes)
{
	void *memory = arena_array(p->arena, count, bytes);

	return memory ? memory : no_memory(p);
}

static struct ast_node *node_new(struct parser *p, enum node_kind kind, int line, int column)
{
	struct ast_node *node;

	if (++p->nodes > p->max_nodes)
		return fault_at(p, ERR_BOUND, line, column,
				"the program is larger than %d syntax nodes; split it",
				p->max_nodes);
	node = parser_alloc(p, 1, sizeof(*node));
	if (!node)
		return NULL;
	node->kind = kind;
	node->line = node->end_line = line;
	node->column = node->end_column = column;
	return node;
}

struct ast_node *node_start(struct parser *p, enum node_kind kind, const struct token *first)
{
	return node_new(p, kind, first->line, first->column);
}

struct ast_node *node_end(struct parser *p, struct ast_node *node)
{
	const struct token *last = token_before(p);

	while (last->kind == TOK_NEWLINE || last->kind == TOK_DEDENT)
		last--; /* of a block */
	node->end_line = last->end_line;
	node->end_column = last->end_column;
	return node;
}

bool list_push(struct parser *p, struct ast_node *node)
{
	if (!node)
		return false;
	return VEC_PUSH(&p->scratch, node) || no_memory(p);
}

bool list_take(struct parser *p, size_t mark, struct node_list *list)
{
	size_t n = p->scratch.len - mark;

	list->at = PARSER_ARRAY(p, struct ast_node *, n);
	if (!list->at)
		return false;
	if (n)
		memcpy(list->at, p->scratch.at + mark, n * sizeof(*list->at));
	list->n = (int)n;
	p->scratch.len = mark;
	return true;
}

bool parser_enter(struct parser *p, int *saved)
{
	*saved = p->height;
	p->height = 0;
	if (++p->depth <= p->max_depth)
		return true;
	return fault_at(p, ERR_BOUND, token_now(p)->line, token_now(p)->column,
			"the program is nested more than %d deep here; use names for the parts",
			p->max_depth);
}

void parser_leave(struct parser *p, int saved)
{
	p->depth--;
	p->height++;
	if (p->height < saved)
		p->height = saved;
}

static bool parse_module(struct parser *p, struct node_list *module)
{
	while (!at(p, TOK_END))
		if (!parse_statement(p))
			return false;
	return list_take(p, 0, module);
}

bool ast_parse(const struct ast_source *source, struct arena *arena, struct lang_names *names,
	       struct node_list *module, struct err *err)
{
	enum { HEIGHT_PER_DEPTH = 5 };
	struct parser p = {
		.source = source->text,
		.list = source->tokens,
		.arena = arena,
		.names = names,
		.err = err,
		.max_depth = source->limits.depth,
		.max_height = source->limits.depth * HEIGHT_PER_DEPTH,
		.max_nodes = source->limits.nodes,
	};
	bool ok = parse_module(&p, module);

	VEC_FREE(&p.scratch);
	VEC_FREE(&p.ops);
	return ok;
}
