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
	if (node->annotated.value &&
	    (!compile_expr(b, node->annotated.value) || !compile_store(b, node->annotated.target)))
		return false;
	return compile_annotation(b, node);
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

static bool compile_delete_all(struct builder *b, const struct node *node)
{
	for (int i = 0; i < node->list.n; i++)
		if (!compile_delete(b, node->list.at[i]))
			return false;
	return true;
}

static bool compile_raise(struct builder *b, const struct node *node)
{
	const struct node *exception = node->raise.exception, *cause = node->raise.cause;

	return (!exception || compile_expr(b, exception)) && (!cause || compile_expr(b, cause)) &&
	       emit(b, place_of(node), CODE_RAISE, (exception != NULL) + (cause != NULL));
}

static bool compile_assert(struct builder *b, const struct node *node)
{
	const struct node *message = node->assertion.message;
	struct place at = place_of(node);
	struct label holds = label_new();

	if (!compile_jump(b, node->assertion.test, &holds, true) ||
	    !emit_name(b, at, CODE_LOAD_GLOBAL, b->c->known->assertion_error) ||
	    (message && !compile_expr(b, message)) || !emit(b, at, CODE_CALL, message != NULL) ||
	    !emit(b, at, CODE_RAISE, 1))
		return false;
	label_bind(b, &holds);
	return true;
}

static bool compile_statement(struct builder *b, const struct node *node)
{
	if (!builder_works(b, place_of(node)))
		return false;
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
		return compile_continue(b, node);
	case NODE_DELETE:
		return compile_delete_all(b, node);
	case NODE_RAISE:
		return compile_raise(b, node);
	case NODE_ASSERT:
		return compile_assert(b, node);
	case NODE_MATCH:
		return compile_match(b, node);
	case NODE_TRY:
		return compile_try(b, node);
	case NODE_WITH:
		return compile_with(b, node);
	case NODE_CLASS:
		return compile_class(b, node);
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
