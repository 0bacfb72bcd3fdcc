/* fusion/lang/compile_expr.c -- expressions, evaluated left to right.
 *
 * An instruction stands at its whole expression, as in CPython; an attribute
 * on a line of its own (a chain in brackets) stands at its name.
 */
#include "fusion/lang/compile.h"

#include <string.h>

/* Leaves list->n values. */
static bool compile_items(struct builder *b, const struct node_list *list)
{
	for (int i = 0; i < list->n; i++)
		if (!compile_expr(b, list->at[i]))
			return false;
	return true;
}

static bool compile_tuple(struct builder *b, const struct node *at, const struct node_list *items)
{
	return compile_items(b, items) && emit(b, place_of(at), CODE_BUILD_TUPLE, items->n);
}

static bool compile_dict(struct builder *b, const struct node *node)
{
	const struct node_list *keys = &node->dict.keys, *values = &node->dict.values;

	for (int i = 0; i < keys->n; i++) {
		if (!keys->at[i])
			return refuse_at(b, values->at[i]->line, values->at[i]->column,
					 "** in a dict", "write its keys one by one");
		if (!compile_expr(b, keys->at[i]) || !compile_expr(b, values->at[i]))
			return false;
	}
	return emit(b, place_of(node), CODE_BUILD_MAP, keys->n);
}

static struct place attribute_place(const struct node *node)
{
	struct place at = place_of(node);

	if (node->attribute.line != node->line) {
		at.line = node->attribute.line;
		at.column = node->attribute.column;
	}
	return at;
}

static bool compile_slice_part(struct builder *b, const struct node *slice, const struct node *part)
{
	return part ? compile_expr(b, part) : emit_const(b, place_of(slice), const_none());
}

static bool compile_slice(struct builder *b, const struct node *node)
{
	const struct node *step = node->slice.step;

	return compile_slice_part(b, node, node->slice.start) &&
	       compile_slice_part(b, node, node->slice.stop) && (!step || compile_expr(b, step)) &&
	       emit(b, place_of(node), CODE_BUILD_SLICE, step ? 3 : 2);
}

/* The names of the last n arguments, as a constant tuple. */
static bool keyword_names(struct builder *b, struct place at, const struct node_list *arguments,
			  int n)
{
	struct lang_const names = { .kind = CONST_TUPLE, .n = n };
	struct lang_const *items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)n);

	if (!items)
		return out_of_memory(b);
	for (int i = 0; i < n; i++) {
		const char *name = arguments->at[arguments->n - n + i]->keyword.name;

		items[i] = const_str(name, strlen(name));
	}
	names.items = items;
	return emit_const(b, at, names);
}

static bool compile_call(struct builder *b, const struct node *node)
{
	const struct node_list *arguments = &node->call.arguments;
	const struct node *callee = node->call.callee;
	struct place at = callee->kind == NODE_ATTRIBUTE ? attribute_place(callee) : place_of(node);
	int n_keywords = 0;

	at.end_column = node->end_column;
	if (!compile_expr(b, callee))
		return false;
	for (int i = 0; i < arguments->n; i++) {
		const struct node *argument = arguments->at[i];

		if (argument->kind == NODE_KEYWORD) {
			if (!argument->keyword.name)
				return refuse_at(b, argument->line, argument->column,
						 "** in a call", "name the arguments one by one");
			argument = argument->keyword.value;
			n_keywords++;
		}
		if (!compile_expr(b, argument))
			return false;
	}
	if (!n_keywords)
		return emit(b, at, CODE_CALL, arguments->n);
	return keyword_names(b, at, arguments, n_keywords) &&
	       emit(b, at, CODE_CALL_KW, arguments->n);
}

static bool compile_walrus(struct builder *b, const struct node *node)
{
	return compile_expr(b, node->walrus.value) && emit(b, place_of(node), CODE_COPY, 1) &&
	       compile_store(b, node->walrus.target);
}

static bool compile_integer(struct builder *b, const struct node *node)
{
	/* constant_of() has taken all that fit */
	return err_at(b->c->err, ERR_UNSUPPORTED, node->line, node->column,
		      "this integer needs more than 64 bits; write it as a float, 1e20");
}

bool compile_expr(struct builder *b, const struct node *node)
{
	struct place at = place_of(node);
	struct lang_const value;

	if (constant_of(b, node, &value))
		return emit_const(b, at, value);
	switch (node->kind) {
	case NODE_INTEGER:
		return compile_integer(b, node);
	case NODE_NAME:
		return compile_load_name(b, at, node->name);
	case NODE_TUPLE:
		return compile_tuple(b, node, &node->list);
	case NODE_LIST:
		return compile_items(b, &node->list) && emit(b, at, CODE_BUILD_LIST, node->list.n);
	case NODE_DICT:
		return compile_dict(b, node);
	case NODE_ATTRIBUTE:
		return compile_expr(b, node->attribute.value) &&
		       emit_name(b, attribute_place(node), CODE_LOAD_ATTR, node->attribute.name);
	case NODE_SUBSCRIPT:
		return compile_expr(b, node->subscript.value) &&
		       compile_expr(b, node->subscript.index) && emit(b, at, CODE_BINARY_SUBSCR, 0);
	case NODE_SLICE:
		return compile_slice(b, node);
	case NODE_CALL:
		return compile_call(b, node);
	case NODE_BINARY:
		return compile_expr(b, node->binary.left) && compile_expr(b, node->binary.right) &&
		       emit(b, at, CODE_BINARY_OP, (int)node->binary.op);
	case NODE_UNARY:
		return compile_expr(b, node->unary.operand) &&
		       emit(b, at, CODE_UNARY_OP, (int)node->unary.op);
	case NODE_BOOLEAN:
		return compile_boolean(b, node);
	case NODE_COMPARE:
		return compile_compare(b, node);
	case NODE_TERNARY:
		return compile_ternary(b, node);
	case NODE_WALRUS:
		return compile_walrus(b, node);
	case NODE_LAMBDA:
		return compile_function(b, node);
	default:
		return refuse(b, node);
	}
}
