/* fusion/lang/parse_lambda.c -- parameters of functions and lambdas.
 *
 * They are read in the order of the source and stored in that of struct code:
 * positional, keyword-only, *args, **kwargs.
 */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

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

struct node *parse_lambda(struct parser *p)
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
