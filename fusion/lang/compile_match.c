/* fusion/lang/compile_match.c -- match: patterns of literals, names and sequences.
 *
 * The subject stays on the stack until a case is taken; a pattern takes a copy
 * and goes to `fail` with it gone.  Names are bound as the pattern comes to
 * them, also where it fails later, which Python leaves open.
 */
#include "fusion/lang/compile.h"

#include <string.h>

static bool match_pattern(struct builder *b, const struct node *pattern, struct label *fail);

static bool is_wildcard(const struct node *pattern)
{
	return pattern->kind == NODE_NAME && strcmp(pattern->name, "_") == 0;
}

static bool match_value(struct builder *b, const struct node *pattern, struct label *fail)
{
	bool only_one = pattern->kind == NODE_NONE || pattern->kind == NODE_TRUE ||
			pattern->kind == NODE_FALSE;
	struct place at = place_of(pattern);

	return compile_expr(b, pattern) &&
	       emit(b, at, CODE_COMPARE_OP, only_one ? CMP_IS : CMP_EQ) &&
	       emit_jump(b, at, CODE_JUMP_IF_FALSE, fail);
}

/* a | b */
static bool match_either(struct builder *b, const struct node *pattern, struct label *fail)
{
	struct label next = label_new(), done = label_new();
	struct place at = place_of(pattern);

	if (!emit(b, at, CODE_COPY, 1) || !match_pattern(b, pattern->binary.left, &next) ||
	    !emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, &done))
		return false;
	label_bind(b, &next);
	if (!match_pattern(b, pattern->binary.right, fail))
		return false;
	label_bind(b, &done);
	return true;
}

static bool emit_int(struct builder *b, struct place at, int64_t i)
{
	return emit_const(b, at, (struct lang_const){ .kind = CONST_INT, .i = i });
}

/* *rest: a list of what lies from `before` to `after` items before the end. */
static bool match_rest(struct builder *b, const struct node *name, int before, int after)
{
	struct place at = place_of(name);

	if (is_wildcard(name))
		return true;
	if (name->kind != NODE_NAME)
		return refuse_at(b, name->line, name->column, "* before what is not a name",
				 "name the rest");
	return emit(b, at, CODE_BUILD_LIST, 0) && emit(b, at, CODE_COPY, 2) &&
	       emit_int(b, at, before) &&
	       (after ? emit_int(b, at, -after) : emit_const(b, at, const_none())) &&
	       emit(b, at, CODE_BUILD_SLICE, 2) && emit(b, at, CODE_BINARY_SUBSCR, 0) &&
	       emit(b, at, CODE_LIST_EXTEND, 1) && compile_store_name(b, at, name->name);
}

static bool match_items(struct builder *b, const struct node_list *items, int star,
			struct label *fail)
{
	for (int i = 0; i < items->n; i++) {
		const struct node *item = items->at[i];
		struct place at = place_of(item);

		if (i == star) {
			if (!match_rest(b, item->value, i, items->n - i - 1))
				return false;
		} else if (!is_wildcard(item) &&
			   (!emit(b, at, CODE_COPY, 1) ||
			    !emit_int(b, at, i > star ? i - items->n : i) ||
			    !emit(b, at, CODE_BINARY_SUBSCR, 0) || !match_pattern(b, item, fail))) {
			return false;
		}
	}
	return true;
}

static bool match_sequence(struct builder *b, const struct node *pattern, struct label *fail)
{
	const struct node_list *items = &pattern->list;
	struct label drop = label_new(), done = label_new();
	struct place at = place_of(pattern);
	int star = items->n;

	for (int i = 0; i < items->n; i++) {
		if (items->at[i]->kind != NODE_STARRED)
			continue;
		if (star < items->n)
			return err_at(
			    b->c->err, ERR_SYNTAX, items->at[i]->line, items->at[i]->column,
			    "one starred name is allowed in a pattern; this is the second");
		star = i;
	}
	if (!emit(b, at, CODE_MATCH_SEQUENCE,
		  star < items->n ? 2 * (items->n - 1) + 1 : 2 * items->n) ||
	    !emit_jump(b, at, CODE_JUMP_IF_FALSE, &drop) || !match_items(b, items, star, &drop) ||
	    !emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, &done))
		return false;
	label_bind(b, &drop);
	if (!emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, fail))
		return false;
	label_bind(b, &done);
	return true;
}

static bool match_class(struct builder *b, const struct node *pattern, struct label *fail)
{
	const struct node_list *arguments = &pattern->call.arguments;
	struct place at = place_of(pattern);

	if (arguments->n)
		return refuse_at(
		    b, arguments->at[0]->line, arguments->at[0]->column,
		    "a class pattern with arguments",
		    "match the class alone, `case Point():`, and test the rest in the case");
	return compile_expr(b, pattern->call.callee) && emit(b, at, CODE_MATCH_CLASS, 0) &&
	       emit_jump(b, at, CODE_JUMP_IF_FALSE, fail);
}

static bool match_pattern(struct builder *b, const struct node *pattern, struct label *fail)
{
	struct lang_const value;

	switch (pattern->kind) {
	case NODE_NAME:
		return is_wildcard(pattern)
			   ? emit(b, place_of(pattern), CODE_POP, 0)
			   : compile_store_name(b, place_of(pattern), pattern->name);
	case NODE_TUPLE:
	case NODE_LIST:
		return match_sequence(b, pattern, fail);
	case NODE_CALL:
		return match_class(b, pattern, fail);
	case NODE_ATTRIBUTE:
		return match_value(b, pattern, fail);
	case NODE_BINARY:
		if (pattern->binary.op == BIN_OR)
			return match_either(b, pattern, fail);
		break;
	default:
		if (pattern->kind != NODE_ELLIPSIS && constant_of(NULL, pattern, &value))
			return match_value(b, pattern, fail);
	}
	return refuse_at(b, pattern->line, pattern->column, "this pattern", "write if and elif");
}

static bool compile_case(struct builder *b, const struct match_case *one, struct label *end)
{
	struct place at = { one->line, one->column, one->column + (int)strlen("case") };
	struct label next = label_new();

	if (!emit(b, at, CODE_COPY, 1) || !match_pattern(b, one->pattern, &next) ||
	    (one->name && (!emit(b, at, CODE_COPY, 1) || !compile_store_name(b, at, one->name))) ||
	    (one->guard && !compile_jump(b, one->guard, &next, false)) ||
	    !emit(b, at, CODE_POP, 0) || !compile_statements(b, &one->body) ||
	    !emit_jump(b, at, CODE_JUMP, end))
		return false;
	label_bind(b, &next);
	return true;
}

bool compile_match(struct builder *b, const struct node *node)
{
	struct label end = label_new();

	if (!compile_expr(b, node->match.subject))
		return false;
	for (int i = 0; i < node->match.n; i++) {
		const struct match_case *one = &node->match.cases[i];

		if (one->pattern->kind == NODE_NAME && !one->guard && i + 1 < node->match.n)
			return err_at(b->c->err, ERR_SYNTAX, one->pattern->line,
				      one->pattern->column,
				      "the pattern %s matches all; no case after it can be taken",
				      one->pattern->name);
		if (!compile_case(b, one, &end))
			return false;
	}
	if (!emit(b, place_of(node->match.subject), CODE_POP, 0))
		return false;
	label_bind(b, &end);
	return true;
}
