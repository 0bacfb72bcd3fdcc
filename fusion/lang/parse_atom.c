/* fusion/lang/parse_atom.c -- names, literals, displays and comprehensions.
 *
 * A node in round brackets keeps its own place and is only marked; a tuple
 * includes its brackets, as in CPython, where tracebacks show the same.
 */
#include "fusion/lang/parser.h"

static struct node *parse_leaf(struct parser *p, enum node_kind kind)
{
	const struct token *token = token_now(p);
	struct node *node = node_start(p, kind, token);

	if (!node)
		return NULL;
	if (kind == NODE_NAME)
		node->name = token->name;
	else if (kind == NODE_INTEGER)
		node->integer = token->integer;
	else if (kind == NODE_FLOAT)
		node->real = token->real;
	advance(p);
	return node_end(p, node);
}

struct node *parse_yield(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node = node_start(p, NODE_YIELD, start);

	if (!node)
		return NULL;
	if (!p->functions)
		return fault_at(p, ERR_SYNTAX, start->line, start->column,
				"'yield' stands outside a function");
	advance(p);
	if (accept(p, TOK_FROM)) {
		node->kind = NODE_YIELD_FROM;
		node->value = parse_expression(p);
	} else if (starts_expression(token_now(p)->kind)) {
		node->value = parse_expressions(p);
	}
	return p->failed ? NULL : node_end(p, node);
}

static bool parse_clause(struct parser *p, struct for_clause *clause)
{
	size_t mark;

	advance(p); /* for */
	clause->target = parse_targets(p);
	if (!clause->target)
		return false;
	if (!accept(p, TOK_IN))
		return unexpected(p, "'in' is expected: a comprehension is written "
				     "`... for name in values`");
	clause->over = parse_disjunction(p);
	if (!clause->over)
		return false;
	mark = p->scratch.len;
	while (accept(p, TOK_IF)) {
		struct node *test = parse_disjunction(p);

		if (!list_push(p, test))
			return false;
	}
	return list_take(p, mark, &clause->conditions);
}

static bool parse_clauses(struct parser *p, struct comprehension *c)
{
	enum { MOST = 20 };

	c->clauses = PARSER_ARRAY(p, struct for_clause, MOST);
	if (!c->clauses)
		return false;
	while (at(p, TOK_FOR)) {
		if (c->n_clauses == MOST)
			return fault_at(p, ERR_BOUND, token_now(p)->line, token_now(p)->column,
					"a comprehension may have %d 'for' parts; write loops",
					MOST);
		if (!parse_clause(p, &c->clauses[c->n_clauses++]))
			return false;
	}
	if (at(p, TOK_ASYNC))
		return async_refused(p);
	return true;
}

struct node *parse_comprehension(struct parser *p, enum node_kind kind, struct node *element,
				 struct node *value)
{
	struct node *node = node_new(p, kind, element->line, element->column);

	if (!node)
		return NULL;
	if (element->kind == NODE_STARRED)
		return fault_at(p, ERR_SYNTAX, element->line, element->column,
				"a comprehension cannot unpack with *; add another 'for'");
	node->comprehension = PARSER_ARRAY(p, struct comprehension, 1);
	if (!node->comprehension)
		return NULL;
	node->comprehension->element = element;
	node->comprehension->value = value;
	return parse_clauses(p, node->comprehension) ? node_end(p, node) : NULL;
}

/* Items with commas up to a closing bracket, which stays. */
static bool parse_items(struct parser *p, struct node *first, const char *close,
			struct node_list *list)
{
	size_t mark = p->scratch.len;

	if (first && !list_push(p, first))
		return false;
	while (first && accept(p, TOK_COMMA) && starts_expression(token_now(p)->kind))
		if (!list_push(p, parse_list_item(p)))
			return false;
	if (!at(p, *close == ')'   ? TOK_RIGHT_PAREN
		   : *close == ']' ? TOK_RIGHT_BRACKET
				   : TOK_RIGHT_BRACE))
		return item_not_closed(p, close);
	return list_take(p, mark, list);
}

/* The node starts at the bracket and ends after its partner. */
static struct node *close_display(struct parser *p, struct node *node, const struct token *open)
{
	node->line = open->line;
	node->column = open->column;
	advance(p);
	return node_end(p, node);
}

static struct node *finish_bracketed(struct parser *p, struct node *inner)
{
	if (!inner)
		return NULL;
	if (!accept(p, TOK_RIGHT_PAREN))
		return item_not_closed(p, ")");
	inner->in_brackets = true;
	return inner;
}

static struct node *parse_paren(struct parser *p)
{
	const struct token *open = token_now(p);
	struct node *node, *first = NULL;

	advance(p);
	if (at(p, TOK_YIELD))
		return finish_bracketed(p, parse_yield(p));
	if (!at(p, TOK_RIGHT_PAREN)) {
		first = parse_list_item(p);
		if (!first)
			return NULL;
		if (at(p, TOK_FOR) || at(p, TOK_ASYNC)) {
			node = parse_comprehension(p, NODE_GENERATOR, first, NULL);
			if (!node || !at(p, TOK_RIGHT_PAREN))
				return node ? item_not_closed(p, ")") : NULL;
			node->in_brackets = true;
			return close_display(p, node, open);
		}
		if (!at(p, TOK_COMMA) && first->kind == NODE_STARRED && at(p, TOK_RIGHT_PAREN))
			return fault_at(
			    p, ERR_SYNTAX, first->line, first->column,
			    "a starred expression in brackets needs a comma after it to "
			    "be a tuple");
		if (!at(p, TOK_COMMA))
			return finish_bracketed(p, first);
	}
	node = node_start(p, NODE_TUPLE, open);
	if (!node || !parse_items(p, first, ")", &node->list))
		return NULL;
	node->in_brackets = true;
	return close_display(p, node, open);
}

static struct node *parse_list(struct parser *p)
{
	const struct token *open = token_now(p);
	struct node *node, *first = NULL;

	advance(p);
	if (!at(p, TOK_RIGHT_BRACKET) && !(first = parse_list_item(p)))
		return NULL;
	if (first && (at(p, TOK_FOR) || at(p, TOK_ASYNC))) {
		node = parse_comprehension(p, NODE_LIST_COMP, first, NULL);
		if (!node || !at(p, TOK_RIGHT_BRACKET))
			return node ? item_not_closed(p, "]") : NULL;
		return close_display(p, node, open);
	}
	node = node_start(p, NODE_LIST, open);
	if (!node || !parse_items(p, first, "]", &node->list))
		return NULL;
	return close_display(p, node, open);
}

/* key: value, or ** value with a NULL key; one pair is two items of scratch. */
static bool parse_pair(struct parser *p, struct node **key, struct node **value)
{
	*key = NULL;
	if (accept(p, TOK_DOUBLE_STAR)) {
		*value = parse_operand(p);
		return *value != NULL;
	}
	*key = parse_expression(p);
	if (!*key)
		return false;
	if (!accept(p, TOK_COLON))
		return unexpected(p, "':' is expected after the key of a dict");
	*value = parse_expression(p);
	return *value != NULL;
}

static bool take_pairs(struct parser *p, size_t mark, struct node *node)
{
	struct node_list both;
	int n;

	if (!list_take(p, mark, &both))
		return false;
	n = both.n / 2;
	node->dict.keys.at = PARSER_ARRAY(p, struct node *, n);
	node->dict.values.at = PARSER_ARRAY(p, struct node *, n);
	if (!node->dict.keys.at || !node->dict.values.at)
		return false;
	node->dict.keys.n = node->dict.values.n = n;
	for (int i = 0; i < n; i++) {
		node->dict.keys.at[i] = both.at[2 * i];
		node->dict.values.at[i] = both.at[2 * i + 1];
	}
	return true;
}

static bool push_pair(struct parser *p, struct node *key, struct node *value)
{
	if (VEC_PUSH(&p->scratch, key) && VEC_PUSH(&p->scratch, value))
		return true;
	return no_memory(p);
}

/* The first pair has been read. */
static struct node *parse_dict(struct parser *p, const struct token *open, struct node *key,
			       struct node *value)
{
	struct node *node;
	size_t mark = p->scratch.len;

	if (key && (at(p, TOK_FOR) || at(p, TOK_ASYNC))) {
		node = parse_comprehension(p, NODE_DICT_COMP, key, value);
	} else {
		node = node_start(p, NODE_DICT, open);
		if (!node || !push_pair(p, key, value))
			return NULL;
		while (accept(p, TOK_COMMA) && !at(p, TOK_RIGHT_BRACE))
			if (!parse_pair(p, &key, &value) || !push_pair(p, key, value))
				return NULL;
		if (!take_pairs(p, mark, node))
			return NULL;
	}
	if (!node || !at(p, TOK_RIGHT_BRACE))
		return node ? item_not_closed(p, "}") : NULL;
	return close_display(p, node, open);
}

static struct node *parse_brace(struct parser *p)
{
	const struct token *open = token_now(p);
	struct node *node, *first, *value;

	advance(p);
	if (at(p, TOK_RIGHT_BRACE)) {
		node = node_start(p, NODE_DICT, open);
		return node ? close_display(p, node, open) : NULL;
	}
	if (at(p, TOK_DOUBLE_STAR))
		return parse_pair(p, &first, &value) ? parse_dict(p, open, NULL, value) : NULL;
	first = parse_list_item(p);
	if (!first)
		return NULL;
	if (first->kind != NODE_STARRED && (first->kind != NODE_WALRUS || first->in_brackets) &&
	    accept(p, TOK_COLON)) {
		value = parse_expression(p);
		return value ? parse_dict(p, open, first, value) : NULL;
	}
	if (at(p, TOK_FOR) || at(p, TOK_ASYNC)) {
		node = parse_comprehension(p, NODE_SET_COMP, first, NULL);
		if (!node || !at(p, TOK_RIGHT_BRACE))
			return node ? item_not_closed(p, "}") : NULL;
		return close_display(p, node, open);
	}
	node = node_start(p, NODE_SET, open);
	if (!node || !parse_items(p, first, "}", &node->list))
		return NULL;
	return close_display(p, node, open);
}

struct node *parse_atom(struct parser *p)
{
	switch (token_now(p)->kind) {
	case TOK_NAME:
		return parse_leaf(p, NODE_NAME);
	case TOK_INTEGER:
		return parse_leaf(p, NODE_INTEGER);
	case TOK_FLOAT:
		return parse_leaf(p, NODE_FLOAT);
	case TOK_NONE:
		return parse_leaf(p, NODE_NONE);
	case TOK_TRUE:
		return parse_leaf(p, NODE_TRUE);
	case TOK_FALSE:
		return parse_leaf(p, NODE_FALSE);
	case TOK_ELLIPSIS:
		return parse_leaf(p, NODE_ELLIPSIS);
	case TOK_STRING:
	case TOK_FSTRING_START:
		return parse_strings(p);
	case TOK_LEFT_PAREN:
		return parse_paren(p);
	case TOK_LEFT_BRACKET:
		return parse_list(p);
	case TOK_LEFT_BRACE:
		return parse_brace(p);
	case TOK_AWAIT:
		return async_refused(p);
	default:
		return not_an_expression(p);
	}
}
