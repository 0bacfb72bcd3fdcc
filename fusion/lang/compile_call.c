/* fusion/lang/compile_call.c -- calls: plain, with keywords, with * and **.
 *
 * As in CPython all positional arguments come first, wherever a *values stands.
 */
#include "fusion/lang/compile.h"

#include <string.h>

struct arguments {
	struct node **positional, **keywords;
	int n_positional, n_keywords;
	bool unpacks; /* a * or a ** is among them */
};

static bool sort_arguments(struct builder *b, const struct node_list *list, struct arguments *out)
{
	*out = (struct arguments){ 0 };
	out->positional = ARENA_ARRAY(b->c->scratch, struct node *, (size_t)list->n);
	out->keywords = ARENA_ARRAY(b->c->scratch, struct node *, (size_t)list->n);
	if (!out->positional || !out->keywords)
		return out_of_memory(b);
	for (int i = 0; i < list->n; i++) {
		struct node *one = list->at[i];
		bool keyword = one->kind == NODE_KEYWORD;

		if (keyword)
			out->keywords[out->n_keywords++] = one;
		else
			out->positional[out->n_positional++] = one;
		out->unpacks |= keyword ? !one->keyword.name : one->kind == NODE_STARRED;
	}
	return true;
}

static struct lang_const keyword_name(const struct node *keyword)
{
	return const_str(keyword->keyword.name, strlen(keyword->keyword.name));
}

static bool keyword_names(struct builder *b, struct place at, const struct arguments *arguments)
{
	int n = arguments->n_keywords;
	struct lang_const names = { .kind = CONST_TUPLE, .n = n };
	struct lang_const *items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)n);

	if (!items)
		return out_of_memory(b);
	for (int i = 0; i < n; i++)
		items[i] = keyword_name(arguments->keywords[i]);
	names.items = items;
	return emit_const(b, at, names);
}

static bool call_plain(struct builder *b, struct place at, const struct arguments *arguments)
{
	for (int i = 0; i < arguments->n_positional; i++)
		if (!compile_expr(b, arguments->positional[i]))
			return false;
	if (!arguments->n_keywords)
		return emit(b, at, CODE_CALL, arguments->n_positional);
	for (int i = 0; i < arguments->n_keywords; i++)
		if (!compile_expr(b, arguments->keywords[i]->keyword.value))
			return false;
	return keyword_names(b, at, arguments) &&
	       emit(b, at, CODE_CALL_KW, arguments->n_positional + arguments->n_keywords);
}

static bool keyword_dict(struct builder *b, struct place at, const struct arguments *arguments)
{
	bool spread = false;

	if (!arguments->n_keywords)
		return emit_const(b, at, const_none());
	if (!emit(b, at, CODE_BUILD_MAP, 0))
		return false;
	for (int i = 0; i < arguments->n_keywords; i++) {
		const struct node *one = arguments->keywords[i];
		bool named = one->keyword.name != NULL;
		bool adds = named && !spread; /* behind a ** it may be there already */

		if ((named && !emit_const(b, place_of(one), keyword_name(one))) ||
		    !compile_expr(b, one->keyword.value) ||
		    (named && spread && !emit(b, place_of(one), CODE_BUILD_MAP, 1)) ||
		    !emit(b, place_of(one), adds ? CODE_MAP_ADD : CODE_DICT_MERGE, 1))
			return false;
		spread = spread || !named;
	}
	return true;
}

static bool call_unpacked(struct builder *b, struct place at, const struct arguments *arguments)
{
	return compile_starred_list(b, at, arguments->positional, arguments->n_positional) &&
	       keyword_dict(b, at, arguments) && emit(b, at, CODE_CALL_EX, 0);
}

/* super() inside a method: super(__class__, its first parameter). */
static bool call_super(struct builder *b, const struct node *node)
{
	const char *class = b->c->known->class_cell, *first = b->scope->host->first_parameter;
	const struct symbol *cell = scope_find(b->scope, class);
	struct place at = place_of(node);

	if (!first || !cell || (cell->kind != SYMBOL_FREE && cell->kind != SYMBOL_CELL))
		return err_at(b->c->err, ERR_UNSUPPORTED, node->line, node->column,
			      "super() stands outside a method; write super(Class, self)");
	return compile_load_name(b, at, node->call.callee->name) &&
	       compile_load_name(b, at, class) && compile_load_name(b, at, first) &&
	       emit(b, at, CODE_CALL, 2);
}

bool compile_call(struct builder *b, const struct node *node)
{
	const struct node *callee = node->call.callee;
	struct place at = callee->kind == NODE_ATTRIBUTE ? attribute_place(callee) : place_of(node);
	struct arguments arguments;

	if (callee->kind == NODE_NAME && callee->name == b->c->known->super &&
	    !node->call.arguments.n)
		return call_super(b, node);
	at.end_column = node->end_column;
	if (!compile_expr(b, callee) || !sort_arguments(b, &node->call.arguments, &arguments))
		return false;
	return arguments.unpacks ? call_unpacked(b, at, &arguments) : call_plain(b, at, &arguments);
}
