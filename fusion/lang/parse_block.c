/* fusion/lang/parse_block.c -- statements that have blocks. */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

/* What the block is of, for messages. */
struct head {
	const char *word; /* "if" */
	int line;
};

static bool file_ends(const struct parser *p)
{
	size_t i = 0;

	while (token_at(p, i)->kind == TOK_DEDENT)
		i++;
	return token_at(p, i)->kind == TOK_END;
}

static bool indented_block(struct parser *p, const struct head *head)
{
	const struct token *before = token_before(p);

	if (file_ends(p)) /* nothing to point at but the head's own end */
		return fault_at(p, ERR_SYNTAX, before->line, before->column,
				"an indented block is expected after this '%s'", head->word);
	if (!at(p, TOK_INDENT))
		return unexpected(p, "an indented block is expected after the '%s' of line %d",
				  head->word, head->line - p->list->lines_before);
	advance(p);
	while (!at(p, TOK_DEDENT)) {
		if (at(p, TOK_ERROR))
			return unexpected(p, "a statement is expected");
		if (!parse_statement(p))
			return false;
	}
	advance(p);
	return true;
}

/* ":" and what belongs to it: an indented block, or statements on the line. */
static bool parse_block(struct parser *p, struct head head, const char *after,
			struct node_list *body)
{
	size_t mark = p->scratch.len;
	int saved;
	bool ok;

	if (!accept(p, TOK_COLON))
		return colon_missing(p, after);
	if (!parser_enter(p, &saved))
		return false;
	ok = accept(p, TOK_NEWLINE) ? indented_block(p, &head) : parse_simple_line(p);
	parser_leave(p, saved);
	return ok && list_take(p, mark, body);
}

static struct head head_now(const struct parser *p)
{
	return (struct head){ token_table[token_now(p)->kind].text, token_now(p)->line };
}

static bool parse_else(struct parser *p, struct node_list *otherwise)
{
	struct head head = head_now(p);

	if (!accept(p, TOK_ELSE))
		return true;
	if (at(p, TOK_IF))
		return unexpected(p, "Python has no 'else if'; write elif");
	return parse_block(p, head, "else", otherwise);
}

/* A loop's body: break and continue are at home there. */
static bool parse_loop(struct parser *p, struct head head, const char *after,
		       struct node_list *body, struct node_list *otherwise)
{
	bool ok;

	p->loops++;
	ok = parse_block(p, head, after, body);
	p->loops--;
	return ok && parse_else(p, otherwise);
}

struct branches {
	VEC(struct branch) branches;
};

static bool parse_branches(struct parser *p, struct branches *out)
{
	do {
		struct head head = head_now(p);
		struct branch one = { 0 };

		advance(p);
		one.test = parse_named(p);
		if (!one.test || !parse_block(p, head, "the condition", &one.body))
			return false;
		if (!VEC_PUSH(&out->branches, one))
			return no_memory(p);
	} while (at(p, TOK_ELIF));
	return true;
}

static struct ast_node *parse_if(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_IF, token_now(p));
	struct branches list = { 0 };
	size_t n;
	bool ok;

	if (!node)
		return NULL;
	ok = parse_branches(p, &list);
	n = list.branches.len;
	if (ok) {
		node->conditional.branches = PARSER_ARRAY(p, struct branch, n);
		node->conditional.n = (int)n;
		ok = node->conditional.branches != NULL;
	}
	if (ok)
		memcpy(node->conditional.branches, list.branches.at, n * sizeof(struct branch));
	VEC_FREE(&list.branches);
	return ok && parse_else(p, &node->conditional.otherwise) ? node_end(p, node) : NULL;
}

static struct ast_node *parse_while(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_WHILE, token_now(p));
	struct head head = head_now(p);

	if (!node)
		return NULL;
	advance(p);
	node->loop.test = parse_named(p);
	if (!node->loop.test ||
	    !parse_loop(p, head, "the condition", &node->loop.body, &node->loop.otherwise))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_for(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_FOR, token_now(p));
	struct head head = head_now(p);

	if (!node)
		return NULL;
	advance(p);
	node->iteration.target = parse_targets(p);
	if (!node->iteration.target)
		return NULL;
	if (!accept(p, TOK_IN))
		return unexpected(p, "'in' is expected: a loop is written `for name in values:`");
	node->iteration.over = parse_expressions(p);
	if (!node->iteration.over || !parse_loop(p, head, "what the loop runs over",
						 &node->iteration.body, &node->iteration.otherwise))
		return NULL;
	return node_end(p, node);
}

static bool parse_handler(struct parser *p, struct handler *out)
{
	struct head head = head_now(p);

	*out = (struct handler){ .line = token_now(p)->line, .column = token_now(p)->column };
	advance(p);
	if (at(p, TOK_STAR))
		return fault_at(p, ERR_UNSUPPORTED, out->line, out->column,
				"except* is outside the language; write except");
	if (!at(p, TOK_COLON)) {
		out->type = parse_expression(p);
		if (!out->type)
			return false;
		if (at(p, TOK_COMMA))
			return unexpected(p,
					  "several exceptions stand in brackets: except (A, B):");
		if (accept(p, TOK_AS)) {
			if (!at(p, TOK_NAME))
				return not_a_name(p, "an exception");
			out->name = token_now(p)->name;
			advance(p);
		}
	}
	return parse_block(p, head, "except", &out->body);
}

struct handlers {
	VEC(struct handler) handlers;
};

static bool parse_handlers(struct parser *p, struct handlers *out)
{
	while (at(p, TOK_EXCEPT)) {
		struct handler one;
		size_t n = out->handlers.len;

		if (n && !out->handlers.at[n - 1].type)
			return unexpected(p, "the 'except:' without a type is the last one");
		if (!parse_handler(p, &one))
			return false;
		if (!VEC_PUSH(&out->handlers, one))
			return no_memory(p);
	}
	return true;
}

static bool parse_try_parts(struct parser *p, struct try_parts *parts, struct head head,
			    struct handlers *list)
{
	size_t n;

	if (!parse_block(p, head, "try", &parts->body) || !parse_handlers(p, list))
		return false;
	n = list->handlers.len;
	parts->handlers = PARSER_ARRAY(p, struct handler, n);
	if (!parts->handlers)
		return false;
	if (n)
		memcpy(parts->handlers, list->handlers.at, n * sizeof(struct handler));
	parts->n_handlers = (int)n;
	if (n && !parse_else(p, &parts->otherwise))
		return false;
	head = head_now(p);
	if (accept(p, TOK_FINALLY))
		return parse_block(p, head, "finally", &parts->finally);
	return n || unexpected(p, "'except' or 'finally' is expected after the block of 'try'");
}

static struct ast_node *parse_try(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_TRY, token_now(p));
	struct head head = head_now(p);
	struct handlers list = { 0 };
	bool ok;

	if (!node || !(node->attempt = PARSER_ARRAY(p, struct try_parts, 1)))
		return NULL;
	advance(p);
	ok = parse_try_parts(p, node->attempt, head, &list);
	VEC_FREE(&list.handlers);
	return ok ? node_end(p, node) : NULL;
}

static bool parse_with_item(struct parser *p, struct with_item *item)
{
	item->context = parse_expression(p);
	if (!item->context)
		return false;
	if (!accept(p, TOK_AS))
		return true;
	item->target = parse_operand(p);
	return item->target && check_target(p, item->target);
}

/* Are the brackets here around items, rather than around an expression? */
static bool items_in_brackets(const struct parser *p)
{
	bool several = false;
	int depth = 0;

	if (!at(p, TOK_LEFT_PAREN))
		return false;
	for (size_t i = 0;; i++) {
		enum token_kind kind = token_at(p, i)->kind;

		if (kind == TOK_END || kind == TOK_ERROR || kind == TOK_NEWLINE)
			return false;
		if (kind == TOK_LEFT_PAREN || kind == TOK_LEFT_BRACKET || kind == TOK_LEFT_BRACE)
			depth++;
		if (kind == TOK_RIGHT_PAREN || kind == TOK_RIGHT_BRACKET || kind == TOK_RIGHT_BRACE)
			depth--;
		if (!depth)
			return several && token_at(p, i + 1)->kind == TOK_COLON;
		several |= depth == 1 && (kind == TOK_COMMA || kind == TOK_AS);
	}
}

struct with_items {
	VEC(struct with_item) items;
};

static bool parse_with_items(struct parser *p, struct with_items *out)
{
	bool brackets = items_in_brackets(p);

	if (brackets)
		advance(p);
	do {
		struct with_item item = { 0 };

		if (brackets && at(p, TOK_RIGHT_PAREN))
			break;
		if (!parse_with_item(p, &item))
			return false;
		if (!VEC_PUSH(&out->items, item))
			return no_memory(p);
	} while (accept(p, TOK_COMMA));
	return !brackets || accept(p, TOK_RIGHT_PAREN) || item_not_closed(p, ")");
}

static struct ast_node *parse_with(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_WITH, token_now(p));
	struct head head = head_now(p);
	struct with_items list = { 0 };
	size_t n;
	bool ok;

	if (!node)
		return NULL;
	advance(p);
	ok = parse_with_items(p, &list);
	n = list.items.len;
	if (ok) {
		node->with.items = PARSER_ARRAY(p, struct with_item, n);
		node->with.n = (int)n;
		ok = node->with.items != NULL;
	}
	if (ok)
		memcpy(node->with.items, list.items.at, n * sizeof(struct with_item));
	VEC_FREE(&list.items);
	return ok && parse_block(p, head, "the context", &node->with.body) ? node_end(p, node)
									   : NULL;
}

/* A pattern is read as an expression; what it may be, compile_block.c says. */
static struct ast_node *parse_pattern_item(struct parser *p)
{
	struct ast_node *node;

	if (!at(p, TOK_STAR))
		return parse_operand(p);
	node = node_start(p, NODE_STARRED, token_now(p));
	advance(p);
	if (!node || !(node->value = parse_operand(p)))
		return NULL;
	return node_end(p, node);
}

/* One, or several with commas: a sequence. */
static struct ast_node *parse_pattern(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *first = parse_pattern_item(p), *node;
	size_t mark = p->scratch.len;

	if (!first || (!at(p, TOK_COMMA) && first->kind != NODE_STARRED))
		return first;
	node = node_start(p, NODE_TUPLE, start);
	if (!node || !list_push(p, first))
		return NULL;
	while (accept(p, TOK_COMMA) && !at(p, TOK_COLON) && !at(p, TOK_IF) && !at(p, TOK_AS))
		if (!list_push(p, parse_pattern_item(p)))
			return NULL;
	return list_take(p, mark, &node->list) ? node_end(p, node) : NULL;
}

static bool parse_case(struct parser *p, struct match_case *out)
{
	struct head head = { "case", token_now(p)->line };

	*out = (struct match_case){ .line = token_now(p)->line, .column = token_now(p)->column };
	if (!at(p, TOK_NAME) || strcmp(token_now(p)->name, "case") != 0)
		return unexpected(p, "'case' is expected in the block of 'match'");
	advance(p);
	p->in_pattern = true;
	out->pattern = parse_pattern(p);
	p->in_pattern = false;
	if (!out->pattern)
		return false;
	if (accept(p, TOK_AS)) {
		if (!at(p, TOK_NAME))
			return not_a_name(p, "what a pattern matches");
		out->name = token_now(p)->name;
		advance(p);
	}
	if (accept(p, TOK_IF) && !(out->guard = parse_named(p)))
		return false;
	return parse_block(p, head, "the pattern", &out->body);
}

struct match_cases {
	VEC(struct match_case) cases;
};

static bool parse_cases(struct parser *p, struct match_cases *out)
{
	if (!accept(p, TOK_COLON))
		return colon_missing(p, "what is matched");
	if (!accept(p, TOK_NEWLINE) || !accept(p, TOK_INDENT))
		return unexpected(p, "an indented block of 'case' is expected after this 'match'");
	do {
		struct match_case one;

		if (!parse_case(p, &one))
			return false;
		if (!VEC_PUSH(&out->cases, one))
			return no_memory(p);
	} while (!accept(p, TOK_DEDENT));
	return true;
}

static struct ast_node *parse_match(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_MATCH, token_now(p));
	struct match_cases list = { 0 };
	int saved;
	bool ok;

	if (!node)
		return NULL;
	advance(p);
	node->match.subject = parse_expressions(p);
	if (!node->match.subject || !parser_enter(p, &saved))
		return NULL;
	ok = parse_cases(p, &list);
	parser_leave(p, saved);
	if (ok) {
		node->match.n = (int)list.cases.len;
		node->match.cases = PARSER_ARRAY(p, struct match_case, list.cases.len);
		ok = node->match.cases != NULL;
	}
	if (ok && list.cases.at)
		memcpy(node->match.cases, list.cases.at,
		       list.cases.len * sizeof(struct match_case));
	VEC_FREE(&list.cases);
	return ok ? node_end(p, node) : NULL;
}

/* A def's or class's body: loops around it are not its own. */
static bool parse_body(struct parser *p, struct head head, const char *after, int functions,
		       struct node_list *body)
{
	int outer_functions = p->functions, outer_loops = p->loops;
	bool ok;

	p->functions = functions;
	p->loops = 0;
	ok = parse_block(p, head, after, body);
	p->functions = outer_functions;
	p->loops = outer_loops;
	return ok;
}

static bool no_type_parameters(struct parser *p)
{
	if (!at(p, TOK_LEFT_BRACKET))
		return true;
	return fault_at(p, ERR_UNSUPPORTED, token_now(p)->line, token_now(p)->column,
			"type parameters are outside the language; leave them out");
}

static struct ast_node *parse_def(struct parser *p, const struct node_list *decorators)
{
	struct ast_node *node = node_start(p, NODE_FUNCTION, token_now(p));
	struct head head = head_now(p);
	struct ast_function *f;

	if (!node || !(f = node->function = PARSER_ARRAY(p, struct ast_function, 1)))
		return NULL;
	advance(p);
	if (!at(p, TOK_NAME))
		return not_a_name(p, "a function");
	f->name = token_now(p)->name;
	f->name_line = token_now(p)->line;
	f->name_column = token_now(p)->column;
	f->decorators = *decorators;
	advance(p);
	if (!no_type_parameters(p) ||
	    !expect(p, TOK_LEFT_PAREN,
		    "after the name of a function; one without parameters has ()") ||
	    !parse_parameters(p, TOK_RIGHT_PAREN, &f->parameters))
		return NULL;
	advance(p);
	if (accept(p, TOK_ARROW) && !(f->returns = parse_expression(p)))
		return NULL;
	if (!parse_body(p, head, "the parameters", p->functions + 1, &f->body))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_class(struct parser *p, const struct node_list *decorators)
{
	struct ast_node *node = node_start(p, NODE_CLASS, token_now(p));
	struct head head = head_now(p);

	if (!node || !(node->class = PARSER_ARRAY(p, struct class, 1)))
		return NULL;
	advance(p);
	if (!at(p, TOK_NAME))
		return not_a_name(p, "a class");
	node->class->name = token_now(p)->name;
	node->class->decorators = *decorators;
	advance(p);
	if (!no_type_parameters(p))
		return NULL;
	if (accept(p, TOK_LEFT_PAREN) && !parse_arguments(p, &node->class->arguments))
		return NULL;
	if (!parse_body(p, head, "the name of the class", 0, &node->class->body))
		return NULL;
	return node_end(p, node);
}

/* async def, for or with: parsed as the plain form, which the compiler refuses. */
static struct ast_node *parse_async(struct parser *p, const struct node_list *decorators)
{
	struct ast_node *node;

	advance(p);
	if (at(p, TOK_DEF)) {
		node = parse_def(p, decorators);
		if (node)
			node->function->is_async = true;
		return node;
	}
	if (!at(p, TOK_FOR) && !at(p, TOK_WITH))
		return unexpected(p, "'def', 'for' or 'with' is expected after async");
	node = at(p, TOK_FOR) ? parse_for(p) : parse_with(p);
	if (node)
		node->kind = NODE_ASYNC;
	return node;
}

static struct ast_node *parse_decorated(struct parser *p)
{
	struct node_list decorators;
	size_t mark = p->scratch.len;

	while (accept(p, TOK_AT)) {
		if (!list_push(p, parse_named(p)))
			return NULL;
		if (!accept(p, TOK_NEWLINE))
			return unexpected(p, "a decorator stands on a line of its own");
	}
	if (!list_take(p, mark, &decorators))
		return NULL;
	if (at(p, TOK_DEF))
		return parse_def(p, &decorators);
	if (at(p, TOK_CLASS))
		return parse_class(p, &decorators);
	if (at(p, TOK_ASYNC))
		return parse_async(p, &decorators);
	return unexpected(p, "'def' or 'class' is expected after a decorator");
}

struct ast_node *parse_compound(struct parser *p)
{
	static const struct node_list none;

	switch (token_now(p)->kind) {
	case TOK_IF:
		return parse_if(p);
	case TOK_WHILE:
		return parse_while(p);
	case TOK_FOR:
		return parse_for(p);
	case TOK_TRY:
		return parse_try(p);
	case TOK_WITH:
		return parse_with(p);
	case TOK_DEF:
		return parse_def(p, &none);
	case TOK_CLASS:
		return parse_class(p, &none);
	case TOK_ASYNC:
		return parse_async(p, &none);
	case TOK_NAME:
		return parse_match(p);
	default:
		return parse_decorated(p);
	}
}
