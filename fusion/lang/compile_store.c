/* fusion/lang/compile_store.c -- variables, and the left side of assignments. */
#include "fusion/lang/compile.h"

/* The module's own names, and those that no function binds, are global. */
static const struct symbol *variable(const struct builder *b, const char *name)
{
	const struct symbol *symbol = scope_find(b->scope, name);

	return symbol && symbol->kind != SYMBOL_GLOBAL ? symbol : NULL;
}

/* One thing done with a variable, for each place where it may lie. */
struct store_access {
	enum code_op global, namespace, fast, deref;
};

static bool access_name(struct builder *b, struct code_place at, const char *name,
			const struct store_access *access)
{
	const struct symbol *symbol = variable(b, name);

	if (!symbol)
		return emit_name(b, at, access->global, name);
	if (symbol->kind == SYMBOL_NAMESPACE)
		return emit_name(b, at, access->namespace, name);
	return emit(b, at, symbol->kind == SYMBOL_LOCAL ? access->fast : access->deref,
		    symbol->index);
}

bool compile_load_name(struct builder *b, struct code_place at, const char *name)
{
	static const struct store_access load = { CODE_LOAD_GLOBAL, CODE_LOAD_NAME, CODE_LOAD_FAST,
						  CODE_LOAD_DEREF };

	return access_name(b, at, name, &load);
}

bool compile_store_name(struct builder *b, struct code_place at, const char *name)
{
	static const struct store_access store = { CODE_STORE_GLOBAL, CODE_STORE_NAME,
						   CODE_STORE_FAST, CODE_STORE_DEREF };

	return access_name(b, at, name, &store);
}

bool compile_delete_name(struct builder *b, struct code_place at, const char *name)
{
	static const struct store_access delete = { CODE_DELETE_GLOBAL, CODE_DELETE_NAME,
						    CODE_DELETE_FAST, CODE_DELETE_DEREF };

	return access_name(b, at, name, &delete);
}

static bool unpack(struct builder *b, const struct ast_node *target)
{
	enum { MOST_BEFORE = 255 };
	int n = target->list.n, before = 0;

	while (before < n && target->list.at[before]->kind != NODE_STARRED)
		before++;
	if (before == n)
		return emit(b, place_of(target), CODE_UNPACK_SEQUENCE, n);
	if (before > MOST_BEFORE)
		return err_at(b->c->err, ERR_BOUND, target->line, target->column,
			      "%d names stand before the starred one; at most %d are allowed",
			      before, MOST_BEFORE);
	return emit(b, place_of(target), CODE_UNPACK_EX, before + 256 * (n - before - 1));
}

static bool store_items(struct builder *b, const struct ast_node *target)
{
	if (!unpack(b, target))
		return false;
	for (int i = 0; i < target->list.n; i++) {
		const struct ast_node *item = target->list.at[i];

		if (!compile_store(b, item->kind == NODE_STARRED ? item->value : item))
			return false;
	}
	return true;
}

bool compile_store(struct builder *b, const struct ast_node *target)
{
	struct code_place at = place_of(target);

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
