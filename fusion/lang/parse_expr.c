/* fusion/lang/parse_expr.c -- expressions, from lambda down to attributes.
 *
 * Lowest to highest: walrus, ternary and lambda, or, and, not, comparisons,
 * the binary operators of tokens.def by their precedence, unary, **, then
 * calls, subscripts and attributes.
 */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

static struct ast_node *parse_disjunction(struct parser *p); /* `or`, and all that binds more */
static struct ast_node *parse_atom(struct parser *p);
static struct ast_node *parse_leaf(struct parser *p, enum node_kind kind);

static struct ast_node *parse_lambda(struct parser *p)
{
	struct ast_node *body, *node = node_start(p, NODE_LAMBDA, token_now(p));
	int loops = p->loops;
	size_t mark;

	if (!node || !(node->function = PARSER_ARRAY(p, struct ast_function, 1)))
		return NULL;
	advance(p);
	node->function->name = "<lambda>";
	if (!parse_parameters(p, TOK_COLON, &node->function->parameters) ||
	    !expect(p, TOK_COLON, "after the parameters of a lambda"))
		return NULL;
	mark = p->scratch.len;
	p->functions++;
	p->loops = 0;
	body = parse_expression(p);
	p->functions--;
	p->loops = loops;
	if (!list_push(p, body) || !list_take(p, mark, &node->function->body))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_unary(struct parser *p);

static struct ast_node *parse_ternary(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *then = parse_disjunction(p);

	if (!then || !at(p, TOK_IF))
		return then;
	node = node_start(p, NODE_TERNARY, start);
	if (!node)
		return NULL;
	advance(p);
	node->ternary.then = then;
	node->ternary.test = parse_disjunction(p);
	if (!node->ternary.test)
		return NULL;
	if (!accept(p, TOK_ELSE))
		return unexpected(p, "an 'else' is expected: a conditional expression is "
				     "written `a if test else b`");
	node->ternary.otherwise = parse_expression(p);
	return node->ternary.otherwise ? node_end(p, node) : NULL;
}

/* pattern as name, inside a pattern: an assignment expression, the other way round. */
static struct ast_node *parse_capture(struct parser *p, struct ast_node *pattern,
				      const struct token *start)
{
	struct ast_node *node = node_start(p, NODE_WALRUS, start);

	if (!node || !accept(p, TOK_AS))
		return NULL;
	if (!at(p, TOK_NAME))
		return not_a_name(p, "what a pattern matches");
	node->walrus.target = parse_leaf(p, NODE_NAME);
	node->walrus.value = pattern;
	return node->walrus.target ? node_end(p, node) : NULL;
}

struct ast_node *parse_expression(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node;
	int saved;

	if (!parser_enter(p, &saved))
		return NULL;
	node = at(p, TOK_LAMBDA) ? parse_lambda(p) : parse_ternary(p);
	parser_leave(p, saved);
	return node && p->in_pattern && at(p, TOK_AS) ? parse_capture(p, node, start) : node;
}

struct ast_node *parse_named(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *value = parse_expression(p);

	if (!value || !at(p, TOK_WALRUS))
		return value;
	if (value->kind != NODE_NAME || value->in_brackets)
		return unexpected(p, "':=' assigns to a plain name, not to %s",
				  node_table[value->kind].called);
	node = node_start(p, NODE_WALRUS, start);
	if (!node)
		return NULL;
	advance(p);
	node->walrus.target = value;
	node->walrus.value = parse_expression(p);
	return node->walrus.value ? node_end(p, node) : NULL;
}

static struct ast_node *parse_starred(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_STARRED, token_now(p));

	if (!node)
		return NULL;
	advance(p);
	node->value = parse_operand(p);
	return node->value ? node_end(p, node) : NULL;
}

struct ast_node *parse_list_item(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_named(p);
}

static struct ast_node *parse_item(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_expression(p);
}

static struct ast_node *parse_target(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_operand(p);
}

/* One item, or a tuple where commas follow. */
static struct ast_node *parse_tuple_of(struct parser *p, struct ast_node *(*item)(struct parser *))
{
	const struct token *start = token_now(p);
	struct ast_node *node, *first = item(p);
	size_t mark = p->scratch.len;

	if (!first)
		return NULL;
	if (!at(p, TOK_COMMA)) {
		if (first->kind == NODE_STARRED)
			return fault_at(p, ERR_SYNTAX, first->line, first->column,
					"a starred expression stands in a list, a tuple or a call; "
					"a tuple of one needs a comma after it");
		return first;
	}
	node = node_start(p, NODE_TUPLE, start);
	if (!node || !list_push(p, first))
		return NULL;
	while (accept(p, TOK_COMMA) && starts_expression(token_now(p)->kind))
		if (!list_push(p, item(p)))
			return NULL;
	return list_take(p, mark, &node->list) ? node_end(p, node) : NULL;
}

struct ast_node *parse_expressions(struct parser *p)
{
	return parse_tuple_of(p, parse_item);
}

static struct ast_node *parse_yield(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node = node_start(p, NODE_YIELD, start);

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

struct ast_node *parse_yield_or_expressions(struct parser *p)
{
	return at(p, TOK_YIELD) ? parse_yield(p) : parse_expressions(p);
}

struct ast_node *parse_targets(struct parser *p)
{
	struct ast_node *node = parse_tuple_of(p, parse_target);

	return node && check_target(p, node) ? node : NULL;
}

/* `not` binds less than comparisons. */
static struct ast_node *parse_not(struct parser *p);
static struct ast_node *parse_conjunction(struct parser *p);

static struct ast_node *parse_boolean(struct parser *p, enum token_kind word,
				      struct ast_node *(*operand)(struct parser *))
{
	const struct token *start = token_now(p);
	struct ast_node *node, *first = operand(p);
	size_t mark = p->scratch.len;

	if (!first || !at(p, word))
		return first;
	node = node_start(p, NODE_BOOLEAN, start);
	if (!node || !list_push(p, first))
		return NULL;
	node->boolean.is_or = word == TOK_OR;
	while (accept(p, word))
		if (!list_push(p, operand(p)))
			return NULL;
	return list_take(p, mark, &node->boolean.operands) ? node_end(p, node) : NULL;
}

static struct ast_node *parse_disjunction(struct parser *p)
{
	return parse_boolean(p, TOK_OR, parse_conjunction);
}

static struct ast_node *parse_conjunction(struct parser *p)
{
	return parse_boolean(p, TOK_AND, parse_not);
}

/* Takes the comparison at hand; CMP_COUNT where there is none. */
static enum cmpop comparison(struct parser *p)
{
	static const struct {
		enum token_kind kind;
		enum cmpop op;
	} table[] = { { TOK_LESS, CMP_LT },        { TOK_LESS_EQUAL, CMP_LE },
		      { TOK_EQUAL_EQUAL, CMP_EQ }, { TOK_NOT_EQUAL, CMP_NE },
		      { TOK_GREATER, CMP_GT },     { TOK_GREATER_EQUAL, CMP_GE },
		      { TOK_IN, CMP_IN } };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (accept(p, table[i].kind))
			return table[i].op;
	if (accept(p, TOK_IS))
		return accept(p, TOK_NOT) ? CMP_IS_NOT : CMP_IS;
	if (at(p, TOK_NOT) && token_at(p, 1)->kind == TOK_IN) {
		advance(p);
		advance(p);
		return CMP_NOT_IN;
	}
	return CMP_COUNT;
}

static bool take_ops(struct parser *p, size_t mark, enum cmpop **ops)
{
	size_t n = p->ops.len - mark;

	*ops = PARSER_ARRAY(p, enum cmpop, n);
	if (!*ops)
		return false;
	memcpy(*ops, p->ops.at + mark, n * sizeof(**ops));
	p->ops.len = mark;
	return true;
}

static struct ast_node *parse_comparison(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *first = parse_operand(p);
	size_t mark = p->scratch.len, ops_mark = p->ops.len;
	enum cmpop op;

	if (!first || (op = comparison(p)) == CMP_COUNT)
		return first;
	node = node_start(p, NODE_COMPARE, start);
	if (!node || !list_push(p, first))
		return NULL;
	do {
		if (!VEC_PUSH(&p->ops, op))
			return no_memory(p);
		if (!list_push(p, parse_operand(p)))
			return NULL;
	} while ((op = comparison(p)) != CMP_COUNT);
	if (!list_take(p, mark, &node->compare.operands) ||
	    !take_ops(p, ops_mark, &node->compare.ops))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_not(struct parser *p)
{
	struct ast_node *node;
	int saved;

	if (!at(p, TOK_NOT))
		return parse_comparison(p);
	node = node_start(p, NODE_UNARY, token_now(p));
	if (!node || !parser_enter(p, &saved))
		return NULL;
	advance(p);
	node->unary.op = UN_NOT;
	node->unary.operand = parse_not(p);
	parser_leave(p, saved);
	return node->unary.operand ? node_end(p, node) : NULL;
}

/* Another link of a chain: the tree has become one higher. */
static bool parser_link(struct parser *p)
{
	if (++p->height <= p->max_height)
		return true;
	return fault_at(p, ERR_BOUND, token_now(p)->line, token_now(p)->column,
			"this expression chains more than %d operations; use names for its parts",
			p->max_height);
}

/* Operators of at least this precedence; all of them associate to the left. */
static struct ast_node *parse_binary(struct parser *p, int precedence)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *left = parse_unary(p);
	const struct token_info *info;

	while (left && (info = &token_table[token_now(p)->kind])->precedence >= precedence &&
	       info->precedence) {
		node = node_start(p, NODE_BINARY, start);
		if (!node)
			return NULL;
		advance(p);
		node->binary.op = info->binop;
		node->binary.left = left;
		node->binary.right = parse_binary(p, info->precedence + 1);
		if (!node->binary.right || !parser_link(p))
			return NULL;
		left = node_end(p, node);
	}
	return left;
}

struct ast_node *parse_operand(struct parser *p)
{
	int beside = p->height;
	struct ast_node *node;

	p->height = 0;
	node = parse_binary(p, 1);
	if (p->height < beside)
		p->height = beside;
	return node;
}

/* ---- calls, subscripts and attributes. ---- */

static bool slice_part(struct parser *p, struct ast_node **part)
{
	if (at(p, TOK_COLON) || at(p, TOK_COMMA) || at(p, TOK_RIGHT_BRACKET))
		return true;
	*part = parse_expression(p);
	return *part != NULL;
}

static struct ast_node *parse_slice(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *first = NULL;

	if (!at(p, TOK_COLON)) {
		first = parse_list_item(p);
		if (!first || !at(p, TOK_COLON))
			return first;
		if (first->kind == NODE_STARRED ||
		    (first->kind == NODE_WALRUS && !first->in_brackets))
			return unexpected(p, "%s cannot bound a slice; put brackets around it",
					  node_table[first->kind].called);
	}
	node = node_start(p, NODE_SLICE, start);
	if (!node)
		return NULL;
	node->slice.start = first;
	advance(p);
	if (!slice_part(p, &node->slice.stop))
		return NULL;
	if (accept(p, TOK_COLON) && !slice_part(p, &node->slice.step))
		return NULL;
	return node_end(p, node);
}

/* past "[" .. before "]" */
static struct ast_node *parse_index(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *first;
	size_t mark = p->scratch.len;

	if (at(p, TOK_RIGHT_BRACKET))
		return unexpected(p, "an index is expected between [ and ]");
	first = parse_slice(p);
	if (!first || (!at(p, TOK_COMMA) && first->kind != NODE_STARRED))
		return first;
	node = node_start(p, NODE_TUPLE, start);
	if (!node || !list_push(p, first))
		return NULL;
	while (accept(p, TOK_COMMA) && !at(p, TOK_RIGHT_BRACKET))
		if (!list_push(p, parse_slice(p)))
			return NULL;
	return list_take(p, mark, &node->list) ? node_end(p, node) : NULL;
}

static bool parse_attribute(struct parser *p, struct ast_node *node)
{
	const struct token *name = token_at(p, 1);

	advance(p);
	if (name->kind != TOK_NAME)
		return not_a_name(p, "an attribute");
	node->attribute.name = name->name;
	node->attribute.line = name->line;
	node->attribute.column = name->column;
	advance(p);
	return true;
}

static bool parse_subscript(struct parser *p, struct ast_node *node)
{
	advance(p);
	node->subscript.index = parse_index(p);
	return node->subscript.index && (accept(p, TOK_RIGHT_BRACKET) || item_not_closed(p, "]"));
}

/* a.b, a[b] and a(b), as many as follow */
static struct ast_node *parse_trailers(struct parser *p, const struct token *start)
{
	struct ast_node *value = parse_atom(p);

	while (value) {
		enum token_kind kind = token_now(p)->kind;
		struct ast_node *node;
		bool ok;

		if (kind != TOK_DOT && kind != TOK_LEFT_BRACKET && kind != TOK_LEFT_PAREN)
			return value;
		node = node_start(p,
				  kind == TOK_DOT            ? NODE_ATTRIBUTE
				  : kind == TOK_LEFT_BRACKET ? NODE_SUBSCRIPT
							     : NODE_CALL,
				  start);
		if (!node)
			return NULL;
		if (kind == TOK_DOT) {
			node->attribute.value = value;
			ok = parse_attribute(p, node);
		} else if (kind == TOK_LEFT_BRACKET) {
			node->subscript.value = value;
			ok = parse_subscript(p, node);
		} else {
			node->call.callee = value;
			advance(p);
			ok = parse_arguments(p, &node->call.arguments);
		}
		if (!ok || !parser_link(p))
			return NULL;
		value = node_end(p, node);
	}
	return NULL;
}

static struct ast_node *parse_primary(struct parser *p)
{
	int beside = p->height;
	struct ast_node *node;

	p->height = 0;
	node = parse_trailers(p, token_now(p));
	if (p->height < beside)
		p->height = beside;
	return node;
}

/* ** binds tighter than a unary on its left, looser than one on its right. */
static struct ast_node *parse_power(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *left = parse_primary(p);
	int saved;

	if (!left || !at(p, TOK_DOUBLE_STAR))
		return left;
	node = node_start(p, NODE_BINARY, start);
	if (!node || !parser_enter(p, &saved))
		return NULL;
	advance(p);
	node->binary.op = BIN_POW;
	node->binary.left = left;
	node->binary.right = parse_unary(p);
	parser_leave(p, saved);
	return node->binary.right ? node_end(p, node) : NULL;
}

static struct ast_node *parse_unary(struct parser *p)
{
	enum token_kind kind = token_now(p)->kind;
	struct ast_node *node;
	int saved;

	if (kind != TOK_MINUS && kind != TOK_PLUS && kind != TOK_TILDE && kind != TOK_AWAIT)
		return parse_power(p);
	node = node_start(p, kind == TOK_AWAIT ? NODE_AWAIT : NODE_UNARY, token_now(p));
	if (!node || !parser_enter(p, &saved))
		return NULL;
	advance(p);
	node->unary.op = kind == TOK_MINUS ? UN_NEG : kind == TOK_PLUS ? UN_POS : UN_INVERT;
	node->unary.operand = parse_unary(p);
	parser_leave(p, saved);
	return node->unary.operand ? node_end(p, node) : NULL;
}

/* ---- atoms: names, literals, displays and comprehensions.
 *
 * A node in round brackets keeps its own place and is only marked; a tuple
 * includes its brackets, as in CPython, where tracebacks show the same.
 */

static struct ast_node *parse_leaf(struct parser *p, enum node_kind kind)
{
	const struct token *token = token_now(p);
	struct ast_node *node = node_start(p, kind, token);

	if (!node)
		return NULL;
	if (kind == NODE_NAME)
		node->name = token->name;
	else if (kind == NODE_INTEGER)
		node->integer = token->integer;
	else if (kind == NODE_FLOAT || (kind == NODE_COMPLEX && token->kind == TOK_FLOAT))
		node->real = token->real;
	else if (kind == NODE_COMPLEX)
		node->real = (double)token->integer;
	advance(p);
	return node_end(p, node);
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
		struct ast_node *test = parse_disjunction(p);

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
		return fault_at(p, ERR_UNSUPPORTED, token_now(p)->line, token_now(p)->column,
				"async is outside the language; write the plain form without it");
	return true;
}

struct ast_node *parse_comprehension(struct parser *p, enum node_kind kind,
				     struct ast_node *element, struct ast_node *value)
{
	struct ast_node *node = node_start(p, kind, token_now(p));

	if (!node)
		return NULL;
	if (element->kind == NODE_STARRED)
		return fault_at(p, ERR_SYNTAX, element->line, element->column,
				"a comprehension cannot unpack with *; add another 'for'");
	node->comprehension = PARSER_ARRAY(p, struct comprehension, 1);
	if (!node->comprehension)
		return NULL;
	node->line = element->line;
	node->column = element->column;
	node->comprehension->element = element;
	node->comprehension->value = value;
	return parse_clauses(p, node->comprehension) ? node_end(p, node) : NULL;
}

/* Items with commas up to a closing bracket, which stays. */
static bool parse_items(struct parser *p, struct ast_node *first, const char *close,
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
static struct ast_node *close_display(struct parser *p, struct ast_node *node,
				      const struct token *open)
{
	node->line = open->line;
	node->column = open->column;
	advance(p);
	return node_end(p, node);
}

static struct ast_node *finish_bracketed(struct parser *p, struct ast_node *inner)
{
	if (!inner)
		return NULL;
	if (!accept(p, TOK_RIGHT_PAREN))
		return item_not_closed(p, ")");
	inner->in_brackets = true;
	return inner;
}

static struct ast_node *parse_paren(struct parser *p)
{
	const struct token *open = token_now(p);
	struct ast_node *node, *first = NULL;

	advance(p);
	if (at(p, TOK_YIELD))
		return finish_bracketed(p, parse_yield_or_expressions(p));
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

static struct ast_node *parse_list(struct parser *p)
{
	const struct token *open = token_now(p);
	struct ast_node *node, *first = NULL;

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
static bool parse_pair(struct parser *p, struct ast_node **key, struct ast_node **value)
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

static bool take_pairs(struct parser *p, size_t mark, struct ast_node *node)
{
	struct node_list both;
	int n;

	if (!list_take(p, mark, &both))
		return false;
	n = both.n / 2;
	node->dict.keys.at = PARSER_ARRAY(p, struct ast_node *, n);
	node->dict.values.at = PARSER_ARRAY(p, struct ast_node *, n);
	if (!node->dict.keys.at || !node->dict.values.at)
		return false;
	node->dict.keys.n = node->dict.values.n = n;
	for (int i = 0; i < n; i++) {
		node->dict.keys.at[i] = both.at[2 * i];
		node->dict.values.at[i] = both.at[2 * i + 1];
	}
	return true;
}

static bool push_pair(struct parser *p, struct ast_node *key, struct ast_node *value)
{
	if (VEC_PUSH(&p->scratch, key) && VEC_PUSH(&p->scratch, value))
		return true;
	return no_memory(p);
}

/* The first pair has been read. */
static struct ast_node *parse_dict(struct parser *p, const struct token *open, struct ast_node *key,
				   struct ast_node *value)
{
	struct ast_node *node;
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

static struct ast_node *parse_brace(struct parser *p)
{
	const struct token *open = token_now(p);
	struct ast_node *node, *first, *value;

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

static bool is_complex(struct parser *p)
{
	return token_now(p)->flags & NUMBER_COMPLEX;
}

static struct ast_node *parse_atom(struct parser *p)
{
	switch (token_now(p)->kind) {
	case TOK_NAME:
		return parse_leaf(p, NODE_NAME);
	case TOK_INTEGER:
		return parse_leaf(p, is_complex(p) ? NODE_COMPLEX : NODE_INTEGER);
	case TOK_FLOAT:
		return parse_leaf(p, is_complex(p) ? NODE_COMPLEX : NODE_FLOAT);
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
	default:
		return not_an_expression(p);
	}
}
