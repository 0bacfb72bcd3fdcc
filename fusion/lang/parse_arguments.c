/* fusion/lang/parse_arguments.c -- arguments of calls and classes, parameters of functions. */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments. ---- */

/* What has been seen, for the rules of order. */
struct order {
	bool keyword, unpacked_dict;
	struct name_map names; /* of keywords */
};

static struct ast_node *keyword_node(struct parser *p, const struct token *start, const char *name)
{
	struct ast_node *node = node_start(p, NODE_KEYWORD, start);

	if (!node)
		return NULL;
	node->keyword.name = name;
	node->keyword.value = parse_expression(p);
	return node->keyword.value ? node_end(p, node) : NULL;
}

static struct ast_node *parse_keyword(struct parser *p, struct order *seen)
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

static struct ast_node *parse_positional(struct parser *p, const struct order *seen, bool first)
{
	const struct token *start = token_now(p);
	struct ast_node *node = parse_named(p);

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

static struct ast_node *parse_argument(struct parser *p, struct order *seen, bool first)
{
	const struct token *start = token_now(p);
	struct ast_node *node;

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

static bool lay_out(struct parser *p, const struct gathered *g, struct ast_parameters *out)
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

bool parse_parameters(struct parser *p, enum token_kind close, struct ast_parameters *out)
{
	struct gathered g = { .annotated = close == TOK_RIGHT_PAREN };
	bool ok = gather(p, close, &g) && lay_out(p, &g, out);

	VEC_FREE(&g.positional);
	VEC_FREE(&g.keyword_only);
	return ok;
}
