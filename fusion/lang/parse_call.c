/* fusion/lang/parse_call.c -- arguments of calls, and indices. */
#include "fusion/lang/parser.h"

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

struct node *parse_index(struct parser *p)
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
