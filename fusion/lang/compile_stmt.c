/* fusion/lang/compile_stmt.c -- statements. */
#include "fusion/lang/compile.h"

static bool compile_statement(struct builder *b, const struct node *node);

bool compile_statements(struct builder *b, const struct node_list *statements)
{
	for (int i = 0; i < statements->n; i++)
		if (!compile_statement(b, statements->at[i]))
			return false;
	return true;
}

static bool compile_expression(struct builder *b, const struct node *node)
{
	struct lang_const value;

	if (constant_of(b, node->value, &value)) /* a docstring, or ... */
		return true;
	return compile_expr(b, node->value) && emit(b, place_of(node), CODE_POP, 0);
}

static bool compile_assign(struct builder *b, const struct node *node)
{
	const struct node_list *targets = &node->assign.targets;

	if (!compile_expr(b, node->assign.value))
		return false;
	for (int i = 0; i < targets->n; i++) {
		if (i < targets->n - 1 && !emit(b, place_of(node), CODE_COPY, 1))
			return false;
		if (!compile_store(b, targets->at[i]))
			return false;
	}
	return true;
}

static bool compile_annotated(struct builder *b, const struct node *node)
{
	if (!node->annotated.value)
		return true;
	return compile_expr(b, node->annotated.value) && compile_store(b, node->annotated.target);
}

static bool compile_return(struct builder *b, const struct node *node)
{
	struct place at = place_of(node);

	if (!(node->value ? compile_expr(b, node->value) : emit_const(b, at, const_none())))
		return false;
	return emit(b, at, CODE_RETURN, 0);
}

static bool compile_if(struct builder *b, const struct node *node)
{
	struct label end = label_new();

	for (int i = 0; i < node->conditional.n; i++) {
		const struct branch *branch = &node->conditional.branches[i];
		bool last = i == node->conditional.n - 1 && !node->conditional.otherwise.n;
		struct label next = label_new();

		if (!compile_jump(b, branch->test, &next, false) ||
		    !compile_statements(b, &branch->body) ||
		    (!last && !emit_jump(b, place_of(branch->test), CODE_JUMP, &end)))
			return false;
		label_bind(b, &next);
	}
	if (!compile_statements(b, &node->conditional.otherwise))
		return false;
	label_bind(b, &end);
	return true;
}

static bool compile_loop_body(struct builder *b, const struct node_list *body, struct loop *loop)
{
	bool ok;

	loop->outer = b->loop;
	b->loop = loop;
	ok = compile_statements(b, body);
	b->loop = loop->outer;
	return ok;
}

static bool compile_while(struct builder *b, const struct node *node)
{
	struct label next = label_new(), done = label_new(), out = label_new();
	struct loop loop = { .next = &next, .out = &out };

	label_bind(b, &next);
	if (!compile_jump(b, node->loop.test, &done, false) ||
	    !compile_loop_body(b, &node->loop.body, &loop) ||
	    !emit_jump(b, place_of(node->loop.test), CODE_JUMP, &next))
		return false;
	label_bind(b, &done);
	if (!compile_statements(b, &node->loop.otherwise))
		return false;
	label_bind(b, &out);
	return true;
}

static bool compile_for(struct builder *b, const struct node *node)
{
	struct label next = label_new(), done = label_new(), out = label_new();
	struct loop loop = { .next = &next, .out = &out, .iterates = true };
	struct place over = place_of(node->iteration.over);

	if (!compile_expr(b, node->iteration.over) || !emit(b, over, CODE_GET_ITER, 0))
		return false;
	label_bind(b, &next);
	if (!emit_jump(b, over, CODE_FOR_ITER, &done) ||
	    !compile_store(b, node->iteration.target) ||
	    !compile_loop_body(b, &node->iteration.body, &loop) ||
	    !emit_jump(b, over, CODE_JUMP, &next))
		return false;
	label_bind(b, &done);
	if (!compile_statements(b, &node->iteration.otherwise))
		return false;
	label_bind(b, &out);
	return true;
}

static bool compile_break(struct builder *b, const struct node *node)
{
	struct place at = place_of(node);

	return (!b->loop->iterates || emit(b, at, CODE_POP, 0)) &&
	       emit_jump(b, at, CODE_JUMP, b->loop->out);
}

static bool compile_statement(struct builder *b, const struct node *node)
{
	switch (node->kind) {
	case NODE_EXPRESSION:
		return compile_expression(b, node);
	case NODE_ASSIGN:
		return compile_assign(b, node);
	case NODE_AUG_ASSIGN:
		return compile_augmented(b, node);
	case NODE_ANN_ASSIGN:
		return compile_annotated(b, node);
	case NODE_RETURN:
		return compile_return(b, node);
	case NODE_PASS:
	case NODE_GLOBAL:
	case NODE_NONLOCAL:
		return true;
	case NODE_BREAK:
		return compile_break(b, node);
	case NODE_CONTINUE:
		return emit_jump(b, place_of(node), CODE_JUMP, b->loop->next);
	case NODE_IMPORT:
	case NODE_IMPORT_FROM:
		return compile_import(b, node);
	case NODE_IF:
		return compile_if(b, node);
	case NODE_WHILE:
		return compile_while(b, node);
	case NODE_FOR:
		return compile_for(b, node);
	case NODE_FUNCTION:
		return compile_function(b, node);
	default:
		return refuse(b, node);
	}
}
