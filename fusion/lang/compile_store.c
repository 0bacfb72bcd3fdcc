/* fusion/lang/compile_store.c -- variables, and the left side of assignments. */
#include "fusion/lang/compile.h"

/* The module's own names, and those that no function binds, are global. */
static const struct symbol *variable(const struct builder *b, const char *name)
{
	const struct symbol *symbol = scope_find(b->scope, name);

	return symbol && symbol->kind != SYMBOL_GLOBAL ? symbol : NULL;
}

bool compile_load_name(struct builder *b, struct place at, const char *name)
{
	const struct symbol *symbol = variable(b, name);

	if (!symbol)
		return emit_name(b, at, CODE_LOAD_GLOBAL, name);
	return emit(b, at, symbol->kind == SYMBOL_LOCAL ? CODE_LOAD_FAST : CODE_LOAD_DEREF,
		    symbol->index);
}

bool compile_store_name(struct builder *b, struct place at, const char *name)
{
	const struct symbol *symbol = variable(b, name);

	if (!symbol)
		return emit_name(b, at, CODE_STORE_GLOBAL, name);
	return emit(b, at, symbol->kind == SYMBOL_LOCAL ? CODE_STORE_FAST : CODE_STORE_DEREF,
		    symbol->index);
}

static bool store_items(struct builder *b, const struct node *target)
{
	for (int i = 0; i < target->list.n; i++)
		if (target->list.at[i]->kind == NODE_STARRED)
			return refuse(b, target->list.at[i]);
	if (!emit(b, place_of(target), CODE_UNPACK_SEQUENCE, target->list.n))
		return false;
	for (int i = 0; i < target->list.n; i++)
		if (!compile_store(b, target->list.at[i]))
			return false;
	return true;
}

bool compile_store(struct builder *b, const struct node *target)
{
	struct place at = place_of(target);

	switch (target->kind) {
	case NODE_NAME:
		return compile_store_name(b, at, target->name);
	case NODE_ATTRIBUTE:
		return compile_expr(b, target->attribute.value) &&
		       emit_name(b, at, CODE_STORE_ATTR, target->attribute.name);
	case NODE_SUBSCRIPT:
		return compile_expr(b, target->subscript.value) &&
		       compile_expr(b, target->subscript.index) &&
		       emit(b, at, CODE_STORE_SUBSCR, 0);
	case NODE_TUPLE:
	case NODE_LIST:
		return store_items(b, target);
	default:
		return refuse(b, target);
	}
}

/* value op= right, with the value on the stack */
static bool in_place(struct builder *b, const struct node *node)
{
	return compile_expr(b, node->augmented.value) &&
	       emit(b, place_of(node), CODE_INPLACE_OP, (int)node->augmented.op);
}

bool compile_augmented(struct builder *b, const struct node *node)
{
	const struct node *target = node->augmented.target;
	struct place at = place_of(target);

	if (target->kind == NODE_NAME)
		return compile_load_name(b, at, target->name) && in_place(b, node) &&
		       compile_store_name(b, at, target->name);
	if (target->kind == NODE_ATTRIBUTE)
		return compile_expr(b, target->attribute.value) && emit(b, at, CODE_COPY, 1) &&
		       emit_name(b, at, CODE_LOAD_ATTR, target->attribute.name) &&
		       in_place(b, node) && emit(b, at, CODE_SWAP, 2) &&
		       emit_name(b, at, CODE_STORE_ATTR, target->attribute.name);
	return compile_expr(b, target->subscript.value) &&
	       compile_expr(b, target->subscript.index) && emit(b, at, CODE_COPY, 2) &&
	       emit(b, at, CODE_COPY, 2) && emit(b, at, CODE_BINARY_SUBSCR, 0) &&
	       in_place(b, node) && emit(b, at, CODE_SWAP, 3) && emit(b, at, CODE_SWAP, 2) &&
	       emit(b, at, CODE_STORE_SUBSCR, 0);
}
