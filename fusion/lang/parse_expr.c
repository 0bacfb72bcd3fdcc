/* fusion/lang/parse_expr.c -- expressions, from lambda down to attributes.
 *
 * Lowest to highest: walrus, ternary and lambda, or, and, not, comparisons,
 * the binary operators of tokens.def by their precedence, unary, **, then
 * calls, subscripts and attributes.
 */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments of calls, and indices. ---- */

/* What has been seen, for the rules of order. */
struct order {
	bool keyword, unpacked_dict;
	struct name_map names; /* of keywords */
};

static struct node *keyword_node(struct parser *p, const struct token *start, const char *name)
{
	struct node *node = node_start(p, NODE_KEYWORD, start);

	if (!node)
		return NULL;
	node->keyword.name = name;
	node->keyword.value = parse_expression(p);
	return node->keyword.value ? node_end(p, node) : NULL;
}

static struct node *parse_keyword(struct parser *p, struct order *seen)
{
	const struct token *name = token_now(p);

	if (name_map_get(&seen->names, name->name) >= 0)
		return fault_at(p, ERR_SYNTAX, name->line, name->column,
				"the argument %s is given twice in this call", name->name);
	if (!name_map_set(&seen->names, name->name, 1))
		return no_memory(p);
	advance(p);
	advance(p);
	seen->keyword = true;
	return keyword_node(p, name, name->name);
}

static struct node *parse_positional(struct parser *p, const struct order *seen, bool first)
{
	const struct token *start = token_now(p);
	struct node *node = parse_named(p);

	if (!node)
		return NULL;
	if (at(p, TOK_EQUAL))
		return unexpected(p,
				  "the name of an argument is a plain name, not %s; to compare, "
				  "write ==",
				  node_table[node->kind].called);
	if (at(p, TOK_FOR) || at(p, TOK_ASYNC)) {
		node = parse_comprehension(p, NODE_GENERATOR, node, NULL);
		if (node && (!first || !at(p, TOK_RIGHT_PAREN)) &&
		    (at(p, TOK_COMMA) || at(p, TOK_RIGHT_PAREN)))
			return fault_at(p, ERR_SYNTAX, start->line, start->column,
					"a generator expression beside other arguments needs "
					"brackets of its own");
		return node;
	}
	if (seen->keyword || seen->unpacked_dict)
		return fault_at(
		    p, ERR_SYNTAX, start->line, start->column,
		    "a positional argument follows a keyword argument; move it to the front");
	return node;
}

static struct node *parse_argument(struct parser *p, struct order *seen, bool first)
{
	const struct token *start = token_now(p);
	struct node *node;

	if (accept(p, TOK_DOUBLE_STAR)) {
		seen->unpacked_dict = true;
		return keyword_node(p, start, NULL);
	}
	if (at(p, TOK_STAR)) {
		if (seen->unpacked_dict)
			return unexpected(p, "*values stands before **values in a call");
		node = node_start(p, NODE_STARRED, start);
		advance(p);
		if (!node || !(node->value = parse_expression(p)))
			return NULL;
		return node_end(p, node);
	}
	if (token_at(p, 1)->kind == TOK_EQUAL) {
		if (start->kind == TOK_NAME)
			return parse_keyword(p, seen);
		if (token_table[start->kind].class == CLASS_KEYWORD)
			return unexpected(p,
					  "'%s' is a keyword of Python and cannot name an argument",
					  token_table[start->kind].text);
	}
	return parse_positional(p, seen, first);
}

bool parse_arguments(struct parser *p, struct node_list *arguments)
{
	struct order seen = { .names.arena = p->arena };
	const struct token *open = token_before(p);
	size_t mark = p->scratch.len;

	while (!at(p, TOK_RIGHT_PAREN)) {
		if (!list_push(p, parse_argument(p, &seen, p->scratch.len == mark)))
			return false;
		if (!accept(p, TOK_COMMA))
			break;
	}
	if (!accept(p, TOK_RIGHT_PAREN))
		return item_not_closed(p, ")");
	if (!list_take(p, mark, arguments))
		return false;
	if (arguments->n == 1 && arguments->at[0]->kind == NODE_GENERATOR &&
	    !arguments->at[0]->in_brackets) { /* the call's brackets are its own, too */
		arguments->at[0]->line = open->line;
		arguments->at[0]->column = open->column;
		node_end(p, arguments->at[0]);
	}
	return true;
}

static bool slice_part(struct parser *p, struct node **part)
{
	if (at(p, TOK_COLON) || at(p, TOK_COMMA) || at(p, TOK_RIGHT_BRACKET))
		return true;
	*part = parse_expression(p);
	return *part != NULL;
}

static struct node *parse_slice(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *first = NULL;

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
static struct node *parse_index(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *first;
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

/* ---- parameters of functions and lambdas.
 *
 * They are read in the order of the source and stored in that of struct code:
 * positional, keyword-only, *args, **kwargs.
 */

struct gathered {
	VEC(struct parameter) positional, keyword_only;
	struct parameter varargs, kwargs; /* name NULL: none */
	bool star;                        /* a * has been seen: keyword-only ones follow */
	bool bare;                        /* and it had no name */
	bool slash;
	bool annotated;
	int n_positional_only;
};

static bool parse_parameter(struct parser *p, bool annotated, bool starred, struct parameter *out)
{
	const struct token *name = token_now(p);

	if (name->kind != TOK_NAME)
		return not_a_name(p, "a parameter");
	*out = (struct parameter){ .name = name->name, .line = name->line, .column = name->column };
	advance(p);
	if (annotated && accept(p, TOK_COLON)) { /* *args: *Ts is a starred one */
		out->annotation = starred ? parse_list_item(p) : parse_expression(p);
		if (!out->annotation)
			return false;
	}
	return true;
}

static bool plain_parameter(struct parser *p, struct gathered *g)
{
	struct parameter one;

	if (!parse_parameter(p, g->annotated, false, &one))
		return false;
	if (accept(p, TOK_EQUAL) && !(one.value = parse_expression(p)))
		return false;
	if (!g->star && !one.value && g->positional.len &&
	    g->positional.at[g->positional.len - 1].value)
		return fault_at(p, ERR_SYNTAX, one.line, one.column,
				"the parameter %s needs a default, since one before it has one",
				one.name);
	if (g->star)
		return VEC_PUSH(&g->keyword_only, one) || no_memory(p);
	return VEC_PUSH(&g->positional, one) || no_memory(p);
}

static bool star_parameter(struct parser *p, struct gathered *g)
{
	if (g->star)
		return unexpected(p, "a second * stands among the parameters; one is allowed");
	advance(p);
	g->star = true;
	g->bare = at(p, TOK_COMMA);
	if (g->bare)
		return true;
	if (!at(p, TOK_NAME))
		return unexpected(p, "after * stands the name of a parameter, or a comma and "
				     "keyword-only parameters");
	if (!parse_parameter(p, g->annotated, true, &g->varargs))
		return false;
	if (at(p, TOK_EQUAL))
		return unexpected(p, "a parameter with * cannot have a default");
	return true;
}

static bool slash(struct parser *p, struct gathered *g)
{
	if (g->slash || g->star || !g->positional.len)
		return unexpected(p, "'/' stands once, after at least one parameter and before *");
	advance(p);
	g->slash = true;
	g->n_positional_only = (int)g->positional.len;
	return true;
}

static bool any_parameter(struct parser *p, struct gathered *g)
{
	if (g->kwargs.name)
		return unexpected(p, "the parameter with ** is the last one");
	if (at(p, TOK_SLASH))
		return slash(p, g);
	if (at(p, TOK_STAR))
		return star_parameter(p, g);
	if (accept(p, TOK_DOUBLE_STAR)) {
		if (!parse_parameter(p, g->annotated, false, &g->kwargs))
			return false;
		if (at(p, TOK_EQUAL))
			return unexpected(p, "a parameter with ** cannot have a default");
		return true;
	}
	return plain_parameter(p, g);
}

static bool gather(struct parser *p, enum token_kind close, struct gathered *g)
{
	const struct token *star = NULL;

	while (!at(p, close)) {
		if (at(p, TOK_STAR))
			star = token_now(p);
		if (!any_parameter(p, g))
			return false;
		if (!accept(p, TOK_COMMA))
			break;
	}
	if (g->bare && star && !g->keyword_only.len)
		return fault_at(p, ERR_SYNTAX, star->line, star->column,
				"named parameters are expected after the bare *");
	if (!at(p, close))
		return unexpected(p, "',' or '%s' is expected after a parameter",
				  token_table[close].text);
	return true;
}

static bool lay_out(struct parser *p, const struct gathered *g, struct parameters *out)
{
	size_t n = g->positional.len, k = g->keyword_only.len;

	out->at = PARSER_ARRAY(p, struct parameter, n + k + 2);
	if (!out->at)
		return false;
	if (n)
		memcpy(out->at, g->positional.at, n * sizeof(*out->at));
	if (k)
		memcpy(out->at + n, g->keyword_only.at, k * sizeof(*out->at));
	out->n = (int)(n + k);
	if (g->varargs.name)
		out->at[out->n++] = g->varargs;
	if (g->kwargs.name)
		out->at[out->n++] = g->kwargs;
	out->n_positional_only = g->n_positional_only;
	out->n_positional = (int)n;
	out->n_keyword_only = (int)k;
	out->has_varargs = g->varargs.name != NULL;
	out->has_kwargs = g->kwargs.name != NULL;
	return true;
}

bool parse_parameters(struct parser *p, enum token_kind close, struct parameters *out)
{
	struct gathered g = { .annotated = close == TOK_RIGHT_PAREN };
	bool ok = gather(p, close, &g) && lay_out(p, &g, out);

	VEC_FREE(&g.positional);
	VEC_FREE(&g.keyword_only);
	return ok;
}

static struct node *parse_lambda(struct parser *p)
{
	struct node *body, *node = node_start(p, NODE_LAMBDA, token_now(p));
	int loops = p->loops;
	size_t mark;

	if (!node || !(node->function = PARSER_ARRAY(p, struct function, 1)))
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

static struct node *parse_unary(struct parser *p);

static struct node *parse_ternary(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *then = parse_disjunction(p);

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

struct node *parse_expression(struct parser *p)
{
	struct node *node;
	int saved;

	if (!parser_enter(p, &saved))
		return NULL;
	node = at(p, TOK_LAMBDA) ? parse_lambda(p) : parse_ternary(p);
	parser_leave(p, saved);
	return node;
}

struct node *parse_named(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *value = parse_expression(p);

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

static struct node *parse_starred(struct parser *p)
{
	struct node *node = node_start(p, NODE_STARRED, token_now(p));

	if (!node)
		return NULL;
	advance(p);
	node->value = parse_operand(p);
	return node->value ? node_end(p, node) : NULL;
}

struct node *parse_list_item(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_named(p);
}

static struct node *parse_item(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_expression(p);
}

static struct node *parse_target(struct parser *p)
{
	return at(p, TOK_STAR) ? parse_starred(p) : parse_operand(p);
}

/* One item, or a tuple where commas follow. */
static struct node *parse_tuple_of(struct parser *p, struct node *(*item)(struct parser *))
{
	const struct token *start = token_now(p);
	struct node *node, *first = item(p);
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

struct node *parse_expressions(struct parser *p)
{
	return parse_tuple_of(p, parse_item);
}

struct node *parse_yield_or_expressions(struct parser *p)
{
	return at(p, TOK_YIELD) ? parse_yield(p) : parse_expressions(p);
}

struct node *parse_targets(struct parser *p)
{
	struct node *node = parse_tuple_of(p, parse_target);

	return node && check_target(p, node) ? node : NULL;
}

/* `not` binds less than comparisons. */
static struct node *parse_not(struct parser *p);
static struct node *parse_conjunction(struct parser *p);

static struct node *parse_boolean(struct parser *p, enum token_kind word,
				  struct node *(*operand)(struct parser *))
{
	const struct token *start = token_now(p);
	struct node *node, *first = operand(p);
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

struct node *parse_disjunction(struct parser *p)
{
	return parse_boolean(p, TOK_OR, parse_conjunction);
}

static struct node *parse_conjunction(struct parser *p)
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

static struct node *parse_comparison(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *first = parse_operand(p);
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

static struct node *parse_not(struct parser *p)
{
	struct node *node;
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

/* Operators of at least this precedence; all of them associate to the left. */
static struct node *parse_binary(struct parser *p, int precedence)
{
	const struct token *start = token_now(p);
	struct node *node, *left = parse_unary(p);
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

struct node *parse_operand(struct parser *p)
{
	int beside = p->height;
	struct node *node;

	p->height = 0;
	node = parse_binary(p, 1);
	if (p->height < beside)
		p->height = beside;
	return node;
}

static bool parse_attribute(struct parser *p, struct node *node)
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

static bool parse_subscript(struct parser *p, struct node *node)
{
	advance(p);
	node->subscript.index = parse_index(p);
	return node->subscript.index && (accept(p, TOK_RIGHT_BRACKET) || item_not_closed(p, "]"));
}

/* a.b, a[b] and a(b), as many as follow */
static struct node *parse_trailers(struct parser *p, const struct token *start)
{
	struct node *value = parse_atom(p);

	while (value) {
		enum token_kind kind = token_now(p)->kind;
		struct node *node;
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

static struct node *parse_primary(struct parser *p)
{
	int beside = p->height;
	struct node *node;

	p->height = 0;
	node = parse_trailers(p, token_now(p));
	if (p->height < beside)
		p->height = beside;
	return node;
}

/* ** binds tighter than a unary on its left, looser than one on its right. */
static struct node *parse_power(struct parser *p)
{
	const struct token *start = token_now(p);
	struct node *node, *left = parse_primary(p);
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

static struct node *parse_unary(struct parser *p)
{
	enum token_kind kind = token_now(p)->kind;
	struct node *node;
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
