/* fusion/lang/ast.c -- what an expression is made of. */
#include "fusion/lang/ast.h"

static void visit_all(const struct node_list *list, ast_visit_fn *visit, void *self)
{
	for (int i = 0; i < list->n; i++)
		visit(self, list->at[i]);
}

static void visit_two(const struct ast_node *a, const struct ast_node *b, ast_visit_fn *visit,
		      void *self)
{
	visit(self, a);
	visit(self, b);
}

void ast_operands(const struct ast_node *n, ast_visit_fn *visit, void *self)
{
	switch (n->kind) {
	case NODE_CALL:
		visit(self, n->call.callee);
		visit_all(&n->call.arguments, visit, self);
		break;
	case NODE_KEYWORD:
		visit(self, n->keyword.value);
		break;
	case NODE_ATTRIBUTE:
		visit(self, n->attribute.value);
		break;
	case NODE_SUBSCRIPT:
		visit_two(n->subscript.value, n->subscript.index, visit, self);
		break;
	case NODE_BINARY:
		visit_two(n->binary.left, n->binary.right, visit, self);
		break;
	case NODE_UNARY:
		visit(self, n->unary.operand);
		break;
	case NODE_COMPARE:
		visit_all(&n->compare.operands, visit, self);
		break;
	case NODE_BOOLEAN:
		visit_all(&n->boolean.operands, visit, self);
		break;
	case NODE_TERNARY:
		visit_two(n->ternary.then, n->ternary.otherwise, visit, self);
		break;
	case NODE_TUPLE:
	case NODE_LIST:
	case NODE_SET:
	case NODE_FSTRING:
		visit_all(&n->list, visit, self);
		break;
	case NODE_FIELD:
		visit(self, n->field.value);
		break;
	case NODE_STARRED:
		visit(self, n->value);
		break;
	case NODE_DICT:
		visit_all(&n->dict.values, visit, self);
		break;
	default:
		break;
	}
}
