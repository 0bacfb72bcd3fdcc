/* fusion/lang/compile_jump.c -- tests: and, or, not, comparisons, a if b else c.
 *
 * A test is compiled to jumps right away, never to a bool that is tested
 * again; the shape is CPython 3.12's, since graph breaks are told by it.
 */
#include "fusion/lang/compile.h"

static bool jump_boolean(struct builder *b, const struct node *node, struct label *to, bool when)
{
	const struct node_list *operands = &node->boolean.operands;
	bool decides = node->boolean.is_or; /* the truth of an operand that ends it */
	struct label past = label_new(), *early = decides == when ? to : &past;

	for (int i = 0; i < operands->n - 1; i++)
		if (!compile_jump(b, operands->at[i], early, decides))
			return false;
	if (!compile_jump(b, operands->at[operands->n - 1], to, when))
		return false;
	label_bind(b, &past);
	return true;
}

static bool jump_ternary(struct builder *b, const struct node *node, struct label *to, bool when)
{
	struct label otherwise = label_new(), end = label_new();

	if (!compile_jump(b, node->ternary.test, &otherwise, false) ||
	    !compile_jump(b, node->ternary.then, to, when) ||
	    !emit_jump(b, place_of(node), CODE_JUMP, &end))
		return false;
	label_bind(b, &otherwise);
	if (!compile_jump(b, node->ternary.otherwise, to, when))
		return false;
	label_bind(b, &end);
	return true;
}

/* a < b of a < b < c, with b kept below the result; then a jump to `cleanup`
 * where it is false. */
static bool compare_link(struct builder *b, const struct node *node, int i)
{
	struct place at = place_of(node);

	return compile_expr(b, node->compare.operands.at[i + 1]) && emit(b, at, CODE_SWAP, 2) &&
	       emit(b, at, CODE_COPY, 2) && emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[i]);
}

static bool jump_compare(struct builder *b, const struct node *node, struct label *to, bool when)
{
	struct label cleanup = label_new(), end = label_new();
	struct place at = place_of(node);
	int last = node->compare.operands.n - 1;

	if (!compile_expr(b, node->compare.operands.at[0]))
		return false;
	for (int i = 0; i < last - 1; i++)
		if (!compare_link(b, node, i) || !emit_jump(b, at, CODE_JUMP_IF_FALSE, &cleanup))
			return false;
	if (!compile_expr(b, node->compare.operands.at[last]) ||
	    !emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[last - 1]) ||
	    !emit_jump(b, at, when ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE, to))
		return false;
	if (last == 1)
		return true;
	if (!emit_jump(b, at, CODE_JUMP, &end))
		return false;
	label_bind(b, &cleanup);
	if (!emit(b, at, CODE_POP, 0) || (!when && !emit_jump(b, at, CODE_JUMP, to)))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_jump(struct builder *b, const struct node *test, struct label *to, bool when)
{
	int known = constant_truth(test);

	if (known >= 0)
		return known != when || emit_jump(b, place_of(test), CODE_JUMP, to);
	if (test->kind == NODE_UNARY && test->unary.op == UN_NOT)
		return compile_jump(b, test->unary.operand, to, !when);
	if (test->kind == NODE_BOOLEAN)
		return jump_boolean(b, test, to, when);
	if (test->kind == NODE_TERNARY)
		return jump_ternary(b, test, to, when);
	if (test->kind == NODE_COMPARE)
		return jump_compare(b, test, to, when);
	return compile_expr(b, test) &&
	       emit_jump(b, place_of(test), when ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE, to);
}

bool compile_boolean(struct builder *b, const struct node *node)
{
	const struct node_list *operands = &node->boolean.operands;
	enum code_op jump = node->boolean.is_or ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE;
	struct label end = label_new();
	struct place at = place_of(node);

	for (int i = 0; i < operands->n - 1; i++)
		if (!compile_expr(b, operands->at[i]) || !emit(b, at, CODE_COPY, 1) ||
		    !emit_jump(b, at, jump, &end) || !emit(b, at, CODE_POP, 0))
			return false;
	if (!compile_expr(b, operands->at[operands->n - 1]))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_compare(struct builder *b, const struct node *node)
{
	struct label cleanup = label_new(), end = label_new();
	struct place at = place_of(node);
	int last = node->compare.operands.n - 1;

	if (!compile_expr(b, node->compare.operands.at[0]))
		return false;
	for (int i = 0; i < last - 1; i++)
		if (!compare_link(b, node, i) || !emit(b, at, CODE_COPY, 1) ||
		    !emit_jump(b, at, CODE_JUMP_IF_FALSE, &cleanup) || !emit(b, at, CODE_POP, 0))
			return false;
	if (!compile_expr(b, node->compare.operands.at[last]) ||
	    !emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[last - 1]))
		return false;
	if (last == 1)
		return true;
	if (!emit_jump(b, at, CODE_JUMP, &end))
		return false;
	label_bind(b, &cleanup);
	if (!emit(b, at, CODE_SWAP, 2) || !emit(b, at, CODE_POP, 0))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_ternary(struct builder *b, const struct node *node)
{
	struct label otherwise = label_new(), end = label_new();

	if (!compile_jump(b, node->ternary.test, &otherwise, false) ||
	    !compile_expr(b, node->ternary.then) || !emit_jump(b, place_of(node), CODE_JUMP, &end))
		return false;
	label_bind(b, &otherwise);
	/* the value of the other side is not there yet */
	if (!compile_expr(b, node->ternary.otherwise))
		return false;
	label_bind(b, &end);
	return true;
}
