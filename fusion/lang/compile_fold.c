/* fusion/lang/compile_fold.c -- literals, and what is as good as one.
 *
 * Folded are a sign before a number and a tuple of literals, as in CPython;
 * arithmetic is left to the run, which reports its errors with their place.
 */
#include "fusion/lang/compile.h"

static bool fold_number(const struct node *node, bool negative, struct lang_const *out)
{
	if (node->kind == NODE_FLOAT) {
		*out = (struct lang_const){ .kind = CONST_FLOAT,
					    .f = negative ? -node->real : node->real };
		return true;
	}
	if (node->kind != NODE_INTEGER || node->integer > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (struct lang_const){ .kind = CONST_INT };
	out->i = negative ? (int64_t)(0 - node->integer) : (int64_t)node->integer;
	return true;
}

/* Looks before memory is taken. */
static bool is_constant(const struct node *node)
{
	struct lang_const ignored;

	if (node->kind != NODE_TUPLE)
		return constant_of(NULL, node, &ignored);
	for (int i = 0; i < node->list.n; i++)
		if (!is_constant(node->list.at[i]))
			return false;
	return true;
}

static bool fold_tuple(struct builder *b, const struct node *node, struct lang_const *out)
{
	struct lang_const *items;

	if (!is_constant(node))
		return false;
	items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)node->list.n);
	if (!items)
		return false;
	for (int i = 0; i < node->list.n; i++)
		if (!constant_of(b, node->list.at[i], &items[i]))
			return false;
	*out = (struct lang_const){ .kind = CONST_TUPLE, .n = node->list.n, .items = items };
	return true;
}

bool constant_of(struct builder *b, const struct node *node, struct lang_const *out)
{
	switch (node->kind) {
	case NODE_NONE:
		*out = const_none();
		return true;
	case NODE_TRUE:
	case NODE_FALSE:
		*out = (struct lang_const){ .kind = CONST_BOOL, .b = node->kind == NODE_TRUE };
		return true;
	case NODE_ELLIPSIS:
		*out = (struct lang_const){ .kind = CONST_ELLIPSIS };
		return true;
	case NODE_STRING:
		*out = const_str(node->string.text, node->string.len);
		return true;
	case NODE_INTEGER:
	case NODE_FLOAT:
		return fold_number(node, false, out);
	case NODE_UNARY:
		return node->unary.op == UN_NEG && fold_number(node->unary.operand, true, out);
	case NODE_TUPLE:
		return fold_tuple(b, node, out);
	default:
		return false;
	}
}

int constant_truth(const struct node *node)
{
	switch (node->kind) {
	case NODE_TRUE:
	case NODE_ELLIPSIS:
		return 1;
	case NODE_FALSE:
	case NODE_NONE:
		return 0;
	case NODE_INTEGER:
		return node->integer != 0;
	case NODE_FLOAT:
		return node->real != 0;
	case NODE_STRING:
		return node->string.len != 0;
	default:
		return -1;
	}
}
