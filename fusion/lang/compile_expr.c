/* fusion/lang/compile_expr.c -- expressions, evaluated left to right.
 *
 * An instruction stands at its whole expression, as in CPython; an attribute
 * on a line of its own (a chain in brackets) stands at its name.
 */
#include "fusion/lang/compile.h"

struct place attribute_place(const struct node *node)
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
	case NODE_LIST:
	case NODE_SET:
	case NODE_DICT:
		return compile_display(b, node);
	case NODE_LIST_COMP:
	case NODE_SET_COMP:
	case NODE_DICT_COMP:
		return compile_comprehension(b, node);
	case NODE_GENERATOR:
		return compile_generator(b, node);
	case NODE_FSTRING:
		return compile_fstring(b, node);
	case NODE_YIELD:
	case NODE_YIELD_FROM:
		return compile_yield(b, node);
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
