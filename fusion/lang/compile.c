/* fusion/lang/compile.c -- the module, and how the compiler refuses.
 *
 * What is Python but not in this language fails where it is reached, as Python does: the
 * statement becomes an instruction that says so (builder_refuse).  What is not Python never
 * gets this far.
 */
#include "fusion/lang/compile.h"

bool refuse_at(struct builder *b, int line, int column, const char *what, const char *instead)
{
	return err_at(b->c->err, ERR_UNSUPPORTED, line, column,
		      "%s is outside the language so far; %s", what, instead);
}

bool refuse(struct builder *b, const struct node *node)
{
	const struct node_info *info = &node_table[node->kind];

	return refuse_at(b, node->line, node->column, info->called, info->instead);
}

const struct code *compile_module(struct compiler *c, const struct node_list *statements,
				  const struct scope *scope)
{
	struct place end = { 1, 1, 1 };
	struct code *code = NULL;
	struct builder b;

	if (statements->n)
		end = place_of(statements->at[statements->n - 1]);
	builder_init(&b, c, scope);
	if (compile_statements(&b, statements) && emit_const(&b, end, const_none()) &&
	    emit(&b, end, CODE_RETURN, 0))
		code = builder_code(&b, "<module>", 1);
	builder_finish(&b);
	return code;
}
